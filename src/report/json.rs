//! JSON, for programs.

use std::fmt::Write as _;

use serde::Serialize;

/// Pretty JSON with a trailing newline.
///
/// Characters that could drive a terminal and that JSON leaves alone (DEL, C1 controls such as the one-character CSI, marks
/// that turn the writing direction) are written as `\uXXXX`: the same value to a parser, harmless on a screen.
pub fn render<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(value)?;
    if text.chars().any(drives_a_terminal) {
        text = escaped(&text);
    }
    text.push('\n');
    Ok(text)
}

/// Such characters occur in JSON text only inside strings, so they can be replaced where they stand.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if drives_a_terminal(c) {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{:04x}", c as u32);
        } else {
            out.push(c);
        }
    }
    out
}

fn drives_a_terminal(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_stays_and_the_terminal_is_safe() {
        let name = "a\u{9b}31m\u{202e}\u{1b}[2J\u{7f}报表\n";
        let text = render(&serde_json::json!({ "name": name })).expect("JSON");
        assert!(!text.contains(['\u{9b}', '\u{202e}', '\u{1b}', '\u{7f}']));
        assert!(text.contains("报表") && text.ends_with("}\n"));
        let back: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(back["name"], name);
    }
}
