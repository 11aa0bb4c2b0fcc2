//! Handles that no recorded file has. The objects are those of the Java programs beside the files.

use std::path::Path;

use statewarden::flink_metadata::{Kind, Metadata, Reference, read};

const ROOT: &str = "hdfs://ns1/flink/checkpoints/0123456789abcdef0123456789abcdef";

fn bytes(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/flink-metadata/made-by-hand");
    std::fs::read(folder.join(name).join("_metadata")).expect("a fixture is readable")
}

/// Path, size, number of references and kinds of each file, by path; `~` stands for the root.
fn files(metadata: &Metadata<'_>) -> Vec<String> {
    let line = |file: &Reference<'_>| {
        let kinds: Vec<&str> = file.kinds.iter().map(Kind::word).collect();
        let (path, size) = (file.path.replace(ROOT, "~"), file.size.expect("a size"));
        assert_eq!(file.relative, !path.starts_with('~'));
        format!("{path} {size} x{} {}", file.references, kinds.join("+"))
    };
    let mut lines: Vec<String> = metadata.files.iter().map(line).collect();
    lines.sort();
    lines
}

#[test]
fn version_2() {
    let bytes = bytes("v2");
    let metadata = read(&bytes).expect("readable");
    assert_eq!((metadata.version, metadata.checkpoint_id), (2, 7));
    let operator = &metadata.operators[0];
    assert_eq!(operator.hex_id(), "00000000000000010000000000000002");
    assert_eq!((operator.parallelism, operator.max_parallelism), (2, 8));
    assert_eq!(
        files(&metadata),
        [
            "manifest-4 400 x1 incremental-private",
            "meta 90 x1 incremental-metadata",
            "operator 60 x1 operator-state",
            "timers 50 x1 keyed-state",
            "~/shared/sst-12 1200 x1 incremental-shared",
        ]
    );
    assert_eq!((metadata.inline.handles, metadata.inline.bytes), (1, 13));
}

#[test]
fn a_key_group_handle_as_a_stream() {
    let bytes = bytes("v3-stream-of-key-groups");
    let metadata = read(&bytes).expect("readable");
    assert_eq!(files(&metadata), ["~/shared/nested 40 x1 operator-state"]);
}

#[test]
fn the_changelog_layout_of_1_14() {
    let bytes = bytes("v3-changelog-1.14");
    let metadata = read(&bytes).expect("readable");
    assert_eq!((metadata.version, metadata.checkpoint_id), (3, 7));
    assert_eq!(
        files(&metadata),
        [
            "base 70 x1 keyed-state",
            "manifest-4 400 x1 incremental-private",
            "meta 90 x1 incremental-metadata",
            "~/dstl/log-\0 5000 x1 changelog",
            "~/dstl/log-\u{1F600} 4000 x1 changelog",
            "~/shared/sst-12 1200 x1 incremental-shared",
        ]
    );
    // An SST file of 13 bytes and the changes in memory, 5 and 7 bytes.
    assert_eq!((metadata.inline.handles, metadata.inline.bytes), (2, 25));
}

#[test]
fn plain_channels_of_version_6() {
    let bytes = bytes("v6-plain-channels");
    let metadata = read(&bytes).expect("readable");
    assert_eq!((metadata.version, metadata.checkpoint_id), (6, 9));
    let operator = &metadata.operators[0];
    assert_eq!((operator.name.as_deref(), operator.uid.as_deref()), (Some("Source \u{1F600}"), None));
    assert_eq!(files(&metadata), ["in-flight 500 x2 input-channel", "~/shared/in-flight 600 x1 output-channel"]);
}

#[test]
fn cut_off_anywhere_they_are_errors() {
    for name in ["v2", "v3-stream-of-key-groups", "v3-changelog-1.14", "v6-plain-channels"] {
        let bytes = bytes(name);
        for length in 0..bytes.len() {
            assert!(read(&bytes[..length]).is_err(), "{name} cut to {length}");
        }
    }
}
