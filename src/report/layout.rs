//! Lines, paragraphs and colours of terminal output.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style as Ansi};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::compare::Severity;

/// How to print: colours or none, and the width in columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether escape sequences for colours may be written.
    pub color: bool,
    /// Columns of a line.
    pub width: usize,
}

impl Default for Style {
    fn default() -> Self {
        Self { color: false, width: 100 }
    }
}

impl Style {
    fn paint(self, ansi: Ansi, text: &str) -> String {
        if self.color { format!("{ansi}{text}{ansi:#}") } else { text.to_owned() }
    }

    /// Bold.
    pub fn strong(self, text: &str) -> String {
        self.paint(Ansi::new().bold(), text)
    }

    /// In the colour of a severity.
    pub fn severity(self, severity: Severity, text: &str) -> String {
        let color = match severity {
            Severity::Critical | Severity::Error => AnsiColor::Red,
            Severity::Warning => AnsiColor::Yellow,
            Severity::Info => AnsiColor::Cyan,
        };
        let ansi = Ansi::new().fg_color(Some(color.into()));
        self.paint(if severity == Severity::Critical { ansi.bold() } else { ansi }, text)
    }

    /// In green: what is well.
    pub fn good(self, text: &str) -> String {
        self.paint(Ansi::new().fg_color(Some(AnsiColor::Green.into())), text)
    }
}

/// A page of text that grows downwards.
#[derive(Debug)]
pub struct Page {
    style: Style,
    text: String,
}

impl Page {
    /// An empty page.
    pub fn new(style: Style) -> Self {
        Self { style, text: String::new() }
    }

    /// How it prints.
    pub fn style(&self) -> Style {
        self.style
    }

    /// One line as it is.
    pub fn line(&mut self, text: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "{text}");
    }

    /// An empty line and a heading.
    pub fn heading(&mut self, text: &str) {
        let text = self.style.strong(text);
        let _ = writeln!(self.text, "\n{text}");
    }

    /// A paragraph that begins with `label`; further lines are indented as far as the label is wide.
    pub fn item(&mut self, label: &str, text: &str) {
        self.painted_item(label, label.width(), text);
    }

    /// The same with a label that holds colours and is `indent` columns wide.
    pub fn painted_item(&mut self, label: &str, indent: usize, text: &str) {
        let pad = " ".repeat(indent);
        for (n, line) in wrap(text, self.style.width.saturating_sub(indent).max(20)).iter().enumerate() {
            self.line(&format!("{}{line}", if n == 0 { label } else { &pad }));
        }
    }

    /// The text.
    pub fn into_text(self) -> String {
        self.text
    }
}

/// Breaks `text` into lines of at most `width` columns: at spaces, between wide characters, and where nothing else helps
/// within a word, so that a long path is broken but never cut short.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for piece in pieces(text) {
        let wide = piece.width();
        if used + piece.trim_end().width() > width && used > 0 {
            lines.push(line.trim_end().to_owned());
            line.clear();
            used = 0;
        }
        if wide > width {
            (lines, line) = break_long(piece, width, lines, line);
            used = line.width();
        } else {
            line.push_str(piece);
            used += wide;
        }
    }
    if !line.trim_end().is_empty() || lines.is_empty() {
        lines.push(line.trim_end().to_owned());
    }
    lines
}

/// Breaks one long word, after `/` or `-` if there is one in the later half of the line.
fn break_long(word: &str, width: usize, mut lines: Vec<String>, mut line: String) -> (Vec<String>, String) {
    for c in word.chars() {
        if line.width() + c.width().unwrap_or(0) > width {
            let cut = line.rfind(['/', '-']).map_or(line.len(), |at| at + 1);
            let cut = if cut * 2 < line.len() { line.len() } else { cut };
            let rest = line.split_off(cut);
            lines.push(std::mem::replace(&mut line, rest));
        }
        line.push(c);
    }
    (lines, line)
}

/// Words with the spaces behind them; a wide (CJK) character is a word of its own, closing punctuation stays with it.
fn pieces(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut before: Option<char> = None;
    for (at, c) in text.char_indices() {
        if before.is_some_and(|before| may_break(before, c)) {
            out.push(&text[start..at]);
            start = at;
        }
        before = Some(c);
    }
    out.push(&text[start..]);
    out
}

fn may_break(before: char, c: char) -> bool {
    c != ' ' && (before == ' ' || (!closes(c) && !opens(before) && (is_wide(before) || is_wide(c))))
}

fn is_wide(c: char) -> bool {
    c.width() == Some(2)
}

fn closes(c: char) -> bool {
    matches!(c, '，' | '。' | '；' | '：' | '、' | '）' | '”' | '」' | '？' | '！' | ',' | '.' | ';' | ':' | ')')
}

fn opens(c: char) -> bool {
    matches!(c, '（' | '“' | '「' | '(')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_between_wide_characters_and_in_long_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("资源中心，目录", 9), ["资源中", "心，目录"]);
        assert_eq!(wrap("at /a/very/long/path", 8), ["at", "/a/very/", "long/", "path"]);
        assert_eq!(wrap("0123456789", 8), ["01234567", "89"]);
        assert_eq!(wrap("甲乙（丙）", 6), ["甲乙", "（丙）"]);
        assert_eq!(wrap("", 8), [""]);
    }

    #[test]
    fn colours_only_where_asked_for() {
        assert_eq!(Style::default().severity(Severity::Critical, "critical"), "critical");
        let style = Style { color: true, ..Style::default() };
        assert!(style.severity(Severity::Critical, "critical").contains("\u{1b}["));
    }
}
