//! The modified UTF-8 of `java.io.DataOutput.writeUTF`.
//!
//! U+0000 is two bytes, and a character beyond U+FFFF is a pair of surrogates of three bytes each, so neither form is UTF-8.
//! `readUTF` takes overlong forms too; so does this.

use std::borrow::Cow;

/// The text, or `None` where `readUTF` would throw, or where a surrogate stands alone (no path of a file system has one).
/// Text that is plain UTF-8 as well, which is nearly all of it, is borrowed.
pub(super) fn decode(bytes: &[u8]) -> Option<Cow<'_, str>> {
    // Four-byte forms are UTF-8 but not modified UTF-8.
    match str::from_utf8(bytes) {
        Ok(text) if !bytes.iter().any(|byte| *byte >= 0xF0) => Some(Cow::Borrowed(text)),
        _ => decode_units(bytes).map(Cow::Owned),
    }
}

fn decode_units(bytes: &[u8]) -> Option<String> {
    let mut wrong = false;
    let mut rest = bytes;
    let units = std::iter::from_fn(|| {
        let (unit, tail) = split_unit(rest)?;
        rest = tail;
        Some(unit)
    });
    let text = char::decode_utf16(units).map_while(|c| c.inspect_err(|_| wrong = true).ok()).collect();
    (!wrong && rest.is_empty()).then_some(text)
}

/// The first UTF-16 unit and the bytes after it.
fn split_unit(bytes: &[u8]) -> Option<(u16, &[u8])> {
    match *bytes {
        [a @ 0..=0x7F, ref rest @ ..] => Some((u16::from(a), rest)),
        [a @ 0xC0..=0xDF, b @ 0x80..=0xBF, ref rest @ ..] => Some((bits(a, 0x1F) << 6 | bits(b, 0x3F), rest)),
        [a @ 0xE0..=0xEF, b @ 0x80..=0xBF, c @ 0x80..=0xBF, ref rest @ ..] => {
            Some((bits(a, 0x0F) << 12 | bits(b, 0x3F) << 6 | bits(c, 0x3F), rest))
        }
        _ => None,
    }
}

const fn bits(byte: u8, mask: u8) -> u16 {
    (byte & mask) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> Option<String> {
        decode(bytes).map(Cow::into_owned)
    }

    #[test]
    fn plain_text_is_borrowed() {
        assert!(matches!(decode("hdfs://ns1/数据".as_bytes()), Some(Cow::Borrowed("hdfs://ns1/数据"))));
        assert!(matches!(decode(b""), Some(Cow::Borrowed(""))));
    }

    #[test]
    fn what_java_writes_otherwise() {
        // `writeUTF` of "a\0b" and of U+1F600, by the rules of java.io.DataInput.
        assert_eq!(decoded(b"a\xC0\x80b").as_deref(), Some("a\0b"));
        assert_eq!(decoded(b"\xED\xA0\xBD\xED\xB8\x80").as_deref(), Some("\u{1F600}"));
        // An overlong "A", which `readUTF` takes.
        assert_eq!(decoded(b"\xC1\x81").as_deref(), Some("A"));
    }

    #[test]
    fn what_java_does_not_read() {
        for bytes in [
            &b"\xF0\x9F\x98\x80"[..],
            b"\x80",
            b"\xC3",
            b"\xE6\x95",
            b"\xC3A",
            b"\xFF",
            // Surrogates alone and in the wrong order.
            b"\xED\xA0\xBD",
            b"\xED\xB8\x80\xED\xA0\xBD",
            b"x\xED\xA0\xBDy",
        ] {
            assert_eq!(decoded(bytes), None, "{bytes:x?}");
        }
    }
}
