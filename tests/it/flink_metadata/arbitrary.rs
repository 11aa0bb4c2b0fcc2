//! Bytes that nobody wrote: no panic, and no result that the bytes cannot hold.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index;
use statewarden::flink_metadata::read;

use super::fixtures;

/// Bytes of the smallest handle that names a file: type, size, length of the path, one character.
const LEAST_FILE: usize = 12;

/// Bytes of the smallest operator.
const LEAST_OPERATOR: usize = 29;

/// The smaller half of the recorded files.
static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let files = fixtures::all().into_iter().map(|fixture| fixture.bytes);
    files.filter(|bytes| bytes.len() < 5_000).collect()
});

fn check(bytes: &[u8]) {
    match read(bytes) {
        Ok(metadata) => {
            let handles: usize = metadata.files.iter().map(|file| file.references as usize).sum();
            assert!(handles <= bytes.len() / LEAST_FILE);
            assert!(metadata.operators.len() <= bytes.len() / LEAST_OPERATOR);
            assert!(metadata.inline.bytes <= bytes.len() as u64);
            assert_eq!(metadata.clone().into_owned(), metadata);
        }
        Err(error) => assert!(error.offset <= bytes.len(), "{error}"),
    }
}

/// A header of a version that is read, so that what follows is looked at.
fn after_a_header() -> impl Strategy<Value = Vec<u8>> {
    // Small numbers are common: they are counts and tags that lead on.
    let byte = prop_oneof![4 => Just(0), 4 => 0..20_u8, 1 => any::<u8>()];
    (2..=6_u8, 0..3_u8, prop::collection::vec(byte, 0..600)).prop_map(|(version, operators, rest)| {
        let head = [0x49, 0x60, 0x67, 0x2D, 0, 0, 0, version, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, operators];
        [&head[..], &rest].concat()
    })
}

/// A recorded file with pieces of another one, or of nothing, put in.
fn spliced() -> impl Strategy<Value = Vec<u8>> {
    let piece = (any::<Index>(), any::<Index>(), 0..40_usize, any::<Index>(), 0..40_usize);
    (any::<Index>(), prop::collection::vec(piece, 1..4)).prop_map(|(file, pieces)| {
        let mut bytes = file.get(&FILES).clone();
        for (at, source, taken, from, length) in pieces {
            let source = source.get(&FILES);
            let from = from.index(source.len());
            let piece = &source[from..source.len().min(from + length)];
            let at = at.index(bytes.len());
            bytes.splice(at..bytes.len().min(at + taken), piece.iter().copied());
            if bytes.is_empty() {
                bytes.push(0);
            }
        }
        bytes
    })
}

proptest! {
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        check(&bytes);
    }

    #[test]
    fn any_bytes_after_a_header(bytes in after_a_header()) {
        check(&bytes);
    }

    #[test]
    fn recorded_files_with_foreign_pieces(bytes in spliced()) {
        check(&bytes);
    }
}
