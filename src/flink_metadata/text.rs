//! The modified UTF-8 of `java.io.DataOutput.writeUTF`.
//!
//! U+0000 is two bytes, and a character beyond U+FFFF is a pair of surrogates of three bytes each, so neither form is UTF-8.
//! Only what `writeUTF` writes is taken. `readUTF` takes more, a zero byte above all; but a text with one was not written as
//! a text, it is a piece of the file that a wrong length made one.

use std::borrow::Cow;

/// The text, or `None` for what `writeUTF` does not write and for a surrogate alone, which no name of a file holds.
/// Text that is plain UTF-8 as well, which is nearly all of it, is borrowed.
pub(super) fn decode(bytes: &[u8]) -> Option<Cow<'_, str>> {
    // Four-byte forms are UTF-8 but not modified UTF-8. Without a way out in the middle the loop takes many bytes at a time.
    let are_both = bytes.iter().fold(true, |so_far, byte| so_far & matches!(*byte, 1..0xF0));
    match str::from_utf8(bytes) {
        Ok(text) if are_both => Some(Cow::Borrowed(text)),
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

/// The first UTF-16 unit and the bytes after it; the shortest form only.
fn split_unit(bytes: &[u8]) -> Option<(u16, &[u8])> {
    let (unit, rest, least) = match *bytes {
        [a @ 1..=0x7F, ref rest @ ..] => (u16::from(a), rest, 1),
        [0xC0, 0x80, ref rest @ ..] => (0, rest, 0),
        [a @ 0xC0..=0xDF, b @ 0x80..=0xBF, ref rest @ ..] => (bits(a, 0x1F) << 6 | bits(b, 0x3F), rest, 0x80),
        [a @ 0xE0..=0xEF, b @ 0x80..=0xBF, c @ 0x80..=0xBF, ref rest @ ..] => {
            (bits(a, 0x0F) << 12 | bits(b, 0x3F) << 6 | bits(c, 0x3F), rest, 0x800)
        }
        _ => return None,
    };
    (unit >= least).then_some((unit, rest))
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
    }

    #[test]
    fn what_java_does_not_write() {
        for bytes in [
            &b"\xF0\x9F\x98\x80"[..],
            b"\x80",
            b"\xC3",
            b"\xE6\x95",
            b"\xC3A",
            b"\xFF",
            // A zero byte, and "A" and U+00FC in longer forms than needed: read by `readUTF`, never written.
            b"a\0b",
            b"\xC1\x81",
            b"\xE0\x83\xBC",
            // Surrogates alone and in the wrong order.
            b"\xED\xA0\xBD",
            b"\xED\xB8\x80\xED\xA0\xBD",
            b"x\xED\xA0\xBDy",
        ] {
            assert_eq!(decoded(bytes), None, "{bytes:x?}");
        }
    }
}
