//! What became of a recorded file: cut off, or with a byte changed.

use statewarden::flink_metadata::{Event, Fault, Stream, read, walk};

use super::fixtures::{self, Fixture};

/// Files up to this size are cut at every byte, larger ones at about as many places as a file of this size has bytes.
const EVERY_BYTE_UP_TO: usize = 12_000;

/// Lengths to which a file is cut: all of its body, or an even sample of it.
fn lengths(fixture: &Fixture) -> impl Iterator<Item = usize> + use<> {
    let end = fixture.end_of_body();
    (0..end).step_by(end.div_ceil(EVERY_BYTE_UP_TO).max(1))
}

#[test]
fn a_file_that_was_cut_off_is_an_error() {
    for fixture in fixtures::all() {
        for length in lengths(&fixture) {
            let error = read(&fixture.bytes[..length]).expect_err("a cut file");
            assert!(error.offset <= length, "{} cut to {length}: {error}", fixture.name());
        }
    }
}

#[test]
fn a_trailer_that_was_cut_off_or_goes_on_is_an_error() {
    for fixture in fixtures::all() {
        for length in fixture.end_of_body()..fixture.bytes.len() {
            assert!(read(&fixture.bytes[..length]).is_err(), "{} cut to {length}", fixture.name());
        }
        for more in [&[0][..], &[0x70], &[0xAC, 0xED], b"\xAC\xED\x00\x05p"] {
            let longer = [&fixture.bytes, more].concat();
            let error = read(&longer).expect_err("bytes after the end");
            assert_eq!(error.fault, Fault::Trailing(more.len()), "{}", fixture.name());
            assert_eq!(error.offset, fixture.bytes.len());
        }
    }
}

/// How many handles name a file, and how many directories are named.
fn named(bytes: &[u8]) -> Option<(usize, usize)> {
    let (mut files, mut directories) = (0, 0);
    let tell = |event| match event {
        Event::Stream { stream: Stream::File { .. } | Stream::Relative { .. } | Stream::Segment { .. }, .. } => {
            files += 1;
        }
        Event::Directories { .. } => directories += 1,
        _ => (),
    };
    walk(bytes, tell).ok().map(|_| (files, directories))
}

/// One other value for a byte, not the same at every position: a bit turned, or a value that is a tag or a small number.
fn another_value(byte: u8, at: usize) -> u8 {
    let values: [u8; 12] = std::array::from_fn(|n| match n {
        0..8 => byte ^ (1 << n),
        8 => 0,
        9 => 1,
        10 => 0xFF,
        _ => byte.wrapping_add(1),
    });
    let turn = at.wrapping_mul(0x9E37_79B9) >> 7;
    let mut values = values.iter().cycle().skip(turn % values.len());
    *values.find(|value| **value != byte).expect("eight of them differ")
}

/// The format has no checksum, so a changed byte inside a path, a size or a name goes unseen. But no handle may vanish: a
/// file that is still read names a file as often as before. (It may name another one, and two may become one.)
#[test]
fn a_changed_byte_loses_no_handle() {
    changed_bytes(500, |byte, at| vec![another_value(byte, at)]);
}

/// The same with every other value of every byte; for hours.
#[test]
#[ignore = "takes hours; run it with --release"]
fn no_changed_byte_loses_a_handle() {
    changed_bytes(usize::MAX, |byte, _| (0..=0xFF).filter(|other| *other != byte).collect());
}

fn changed_bytes(places: usize, others: impl Fn(u8, usize) -> Vec<u8>) {
    let mut lost = Vec::new();
    for fixture in fixtures::all() {
        let (files, directories) = named(&fixture.bytes).expect("a recorded file");
        let mut bytes = fixture.bytes.clone();
        let end = fixture.end_of_body();
        for at in (0..end).step_by(end.div_ceil(places)) {
            let original = bytes[at];
            for other in others(original, at) {
                bytes[at] = other;
                if named(&bytes).is_some_and(|(now, dirs_now)| now < files || dirs_now < directories) {
                    lost.push(format!("{} byte {at}: {original} became {other}", fixture.name()));
                }
            }
            bytes[at] = original;
        }
    }
    assert!(lost.is_empty(), "{} times:\n{}", lost.len(), lost[..lost.len().min(40)].join("\n"));
}
