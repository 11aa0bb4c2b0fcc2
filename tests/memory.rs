//! How much memory reading `_metadata` takes: less than the file for real ones, and a fixed multiple of it for any bytes.
//!
//! A test binary of its own, because it replaces the allocator.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use peak_alloc::PeakAlloc;
use statewarden::flink_metadata::{MetadataError, read};

#[path = "it/flink_metadata/build.rs"]
mod build;

use build::File;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// The allocator counts for the whole process, so one test measures at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// For any bytes: this many bytes of memory a byte. The worst there is are class fields of the trailer: four bytes make one
/// of 32, in a list that doubles when it grows.
const FACTOR: usize = 24;

/// What small files take beside.
const FIXED: usize = 4096;

/// The most bytes allocated at one time while `bytes` was read, the result included.
fn peak(bytes: &[u8]) -> (usize, Result<usize, MetadataError>) {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let metadata = read(bytes);
    let peak = ALLOCATOR.peak_usage() - before;
    (peak, metadata.map(|metadata| metadata.files.len()))
}

fn recorded(folder: &Path, found: &mut Vec<Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("the fixtures are readable") {
        let path = entry.expect("an entry").path();
        if path.ends_with("made-by-hand") {
            // Smaller than any that a cluster writes.
        } else if path.is_dir() {
            recorded(&path, found);
        } else if path.ends_with("_metadata") {
            found.push(fs::read(path).expect("a fixture is readable"));
        }
    }
}

#[test]
fn a_real_file_takes_less_than_its_own_size() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut files = Vec::new();
    recorded(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/flink-metadata"), &mut files);
    assert!(files.len() >= 153);
    for bytes in files {
        let (peak, outcome) = peak(&bytes);
        outcome.expect("a recorded file");
        assert!(peak <= bytes.len(), "{peak} bytes for a file of {}", bytes.len());
    }
}

fn check(name: &str, bytes: &[u8]) {
    let (peak, _) = peak(bytes);
    assert!(peak <= FACTOR * bytes.len() + FIXED, "{name}: {peak} bytes for {}", bytes.len());
}

#[test]
fn counts_are_not_believed() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let most = i32::MAX;
    check("master states", &File::new(3).0);
    check("operators", &File::new(3).int(most).0);
    check("subtasks", &File::new(3).int(1).operator().int(most).0);
    let operator_state = File::new(3).int(1).operator().int(1).int(0).int(1).byte(4);
    check("operator states", &operator_state.int(most).0);
    check("key groups", &File::new(3).int(1).operator_up_to_keyed().byte(3).int(0).int(most).0);
    let incremental = || File::new(3).int(1).operator_up_to_keyed().byte(5).long(1).utf("b").int(0).int(1).byte(0);
    check("shared files", &incremental().int(most).0);
    check("inline bytes", &incremental().int(1).utf("f").byte(1).utf("n").int(most).0);
    check(
        "materialised handles",
        &File::new(4).int(1).operator_up_to_keyed().byte(14).int(0).int(1).long(9).int(most).0,
    );
}

/// As many files as fit, all of them different and with the shortest of names.
fn many_files(count: u32) -> Vec<u8> {
    let entries = i32::try_from(count).expect("a small number");
    let start = File::new(3).int(1).operator_up_to_keyed().byte(5).long(1).utf("b").int(0).int(1).byte(0).int(entries);
    let file = (0..count).fold(start, |file, n| file.utf("").byte(2).long(1).utf(&format!("{n:x}")));
    file.int(0).end()
}

/// A class with as many fields as there can be.
fn many_fields() -> Vec<u8> {
    let start =
        File::new(4).int(0).raw(b"\xAC\xED\x00\x05sr").utf("C").raw(&[0; 8]).byte(2).raw(&u16::MAX.to_be_bytes());
    (0..u16::MAX).fold(start, |file, _| file.byte(b'Z').utf("a")).byte(0x78).byte(0x70).0
}

#[test]
fn tight_files_take_a_multiple_of_their_size() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let files = many_files(100_000);
    assert_eq!(peak(&files).1.expect("readable"), 100_000);
    check("files", &files);
    check("fields", &many_fields());
    let operators =
        (0..50_000).fold(File::new(3).int(50_000), |file, _| file.raw(&[7; 16]).int(1).int(1).byte(0).int(-1));
    assert!(peak(&operators.0).1.is_ok());
    check("operators", &operators.0);
}
