//! Text of foreign origin made safe to print.

use std::fmt::Write as _;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Escapes what would change the terminal or look like something else: control characters, escape sequences, bidirectional
/// and invisible marks, and combining characters. Everything else, CJK included, stays as it is.
///
/// For output only. JSON carries the bytes as they are, since its own escapes keep them harmless.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if c.is_control() || is_combining_mark(c) || is_invisible(c) => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
            _ => out.push(c),
        }
    }
    out
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Whether two different names look the same to a person or to one decoding too many: equal after Unicode composition, or
/// equal after one percent decoding of either.
pub fn differs_only_in_form(a: &str, b: &str) -> bool {
    a != b
        && (a.nfc().eq(b.nfc()) || percent_decoded(a).as_deref() == Some(b) || percent_decoded(b).as_deref() == Some(a))
}

/// Unicode composition of `text`, if that changes it.
pub fn composed(text: &str) -> Option<String> {
    if text.is_ascii() || unicode_normalization::is_nfc(text) { None } else { Some(text.nfc().collect()) }
}

/// One percent decoding of `text`, if that changes it and gives UTF-8. A `+` stays a plus, as in paths.
pub fn percent_decoded(text: &str) -> Option<String> {
    if !text.contains('%') {
        return None;
    }
    let decoded = percent_encoding::percent_decode_str(text).decode_utf8().ok()?;
    (decoded != text).then(|| decoded.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_codes_and_line_breaks_are_escaped() {
        assert_eq!(printable("a\u{1b}[31m\nb"), "a\\u{1b}[31m\\nb");
        assert_eq!(printable("报表 \"x\" 100%"), "报表 \"x\" 100%");
        assert_eq!(printable("re\u{301}sume\u{202e}"), "re\\u{301}sume\\u{202e}");
    }

    #[test]
    fn composition_and_decoding_say_nothing_of_plain_names() {
        assert_eq!(composed("re\u{301}sume").as_deref(), Some("r\u{e9}sume"));
        assert_eq!(composed("r\u{e9}sume"), None);
        assert_eq!(composed("\u{62a5}\u{8868}.sql"), None);
        assert_eq!(percent_decoded("a%20b").as_deref(), Some("a b"));
        assert_eq!(percent_decoded("100%"), None);
        assert_eq!(percent_decoded("a b"), None);
    }

    #[test]
    fn forms_of_one_name() {
        assert!(differs_only_in_form("r\u{e9}sume", "re\u{301}sume"));
        assert!(differs_only_in_form("a%20b+c", "a b+c"));
        assert!(!differs_only_in_form("a", "a"));
        assert!(!differs_only_in_form("a+b", "a b"));
    }
}
