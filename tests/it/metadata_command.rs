//! `statewarden metadata`, the real program: on files that Flink wrote, here and in HDFS.

use std::path::{Path, PathBuf};
use std::process::Output;

use jiff::Timestamp;
use serde_json::{Value, json};
use statewarden::cli::args::SchemaOf;
use statewarden::cli::commands::schema::schema;
use statewarden::demo::PLATFORM;
use statewarden::demo::servers::file_system::Maker;
use statewarden::demo::servers::{Options, Platform};
use statewarden::demo::world::World;

fn fixture(case: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/flink-metadata").join(case)
}

fn expected(case: &str) -> Value {
    let text = std::fs::read(fixture(case).join("expected.json")).expect("a fixture is readable");
    serde_json::from_slice(&text).expect("JSON")
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_statewarden"));
    command.env_clear().env("STATEWARDEN_DS_TOKEN", "unused").current_dir(folder).args(arguments);
    command.output().expect("the program")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

fn json_of(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Path as written, relative or not, size, number of references: as Flink's loader told them, and as the program does.
fn by_flink(case: &str) -> Vec<(String, bool, Value, Value)> {
    let expected = expected(case);
    let files = expected["referencedFiles"].as_array().expect("a list").iter().map(|file| {
        let relative = file.get("relativePath");
        let path = relative.unwrap_or(&file["path"]).as_str().expect("a path").to_owned();
        (path, relative.is_some(), file["stateSize"].clone(), file["references"].clone())
    });
    sorted(files.collect())
}

fn by_us(report: &Value) -> Vec<(String, bool, Value, Value)> {
    let files = report["files"].as_array().expect("a list").iter().map(|file| {
        let path = file["path"].as_str().expect("a path").to_owned();
        (path, file["relative"].as_bool().expect("a truth value"), file["size"].clone(), file["references"].clone())
    });
    files.collect()
}

fn sorted(mut files: Vec<(String, bool, Value, Value)>) -> Vec<(String, bool, Value, Value)> {
    files.sort_by(|a, b| a.0.cmp(&b.0));
    files
}

/// One of each kind of file: shared and exclusive, in-flight, merged, changelog, canonical savepoint.
const CASES: [&str; 6] = [
    "1.14.6/unaligned-inflight",
    "1.15.4/changelog-hashmap-filesystem",
    "1.20.5/rocksdb-incr-claim-first",
    "1.20.5/filemerge-rocksdb",
    "2.3.0/savepoint-canonical-hashmap",
    "2.3.0/rocksdb-incr-claim-chain",
];

#[test]
fn a_file_on_this_host_needs_no_configuration() {
    let validator = jsonschema::validator_for(&schema(SchemaOf::Metadata)).expect("a schema");
    let folder = tempfile::tempdir().expect("a folder");
    for case in CASES {
        let file = fixture(case).join("_metadata");
        let name = file.to_str().expect("UTF-8");
        let report = json_of(&run(folder.path(), &["metadata", name, "--output", "json"]));
        validator.validate(&report).unwrap_or_else(|error| panic!("{case}: {error}"));
        let expected = expected(case);
        assert_eq!(by_us(&report), by_flink(case), "{case}");
        assert_eq!(report["checkpoint_id"], expected["checkpointId"], "{case}");
        assert_eq!(report["metadata_version"], expected["metadataVersion"], "{case}");
        assert_eq!(report["directories"], expected["referencedDirectories"], "{case}");
        let ids = |list: &Value, key: &str| -> Vec<Value> {
            list.as_array().expect("a list").iter().map(|operator| operator[key].clone()).collect()
        };
        assert_eq!(ids(&report["operators"], "id"), ids(&expected["operators"], "operatorId"), "{case}");
    }
}

#[test]
fn a_directory_stands_for_the_file_in_it_and_relative_names_lie_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let checkpoint = folder.path().join("chk-5");
    std::fs::create_dir(&checkpoint).expect("a folder");
    std::fs::copy(fixture("1.13.6/hashmap-files").join("_metadata"), checkpoint.join("_metadata")).expect("a copy");
    let report = json_of(&run(folder.path(), &["metadata", "chk-5", "--output", "json"]));
    let file = &report["files"][0];
    let place =
        folder.path().canonicalize().expect("a path").join("chk-5").join(file["path"].as_str().expect("a name"));
    assert_eq!(Path::new(file["place"].as_str().expect("a place")), place);
    let names: Vec<&Value> = report["files"].as_array().expect("a list").iter().map(|file| &file["kinds"]).collect();
    assert!(names.contains(&&json!(["keyed-state"])) && names.contains(&&json!(["operator-state"])), "{names:?}");
}

#[test]
fn for_a_person() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = fixture("2.3.0/rocksdb-incr-claim-chain").join("_metadata");
    let output = run(folder.path(), &["metadata", file.to_str().expect("UTF-8")]);
    let printed = text(&output.stdout).replace(fixture("").to_str().expect("UTF-8"), "FIXTURES/");
    insta::assert_snapshot!(printed);
    let chinese = run(folder.path(), &["metadata", file.to_str().expect("UTF-8"), "--lang", "zh"]);
    assert!(text(&chinese.stdout).contains("个算子"));
}

#[test]
fn what_is_no_metadata_ends_1_and_says_where() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = std::fs::read(fixture("1.20.5/hashmap-files").join("_metadata")).expect("a fixture");
    let cases: [(&str, &[u8], &str); 4] = [
        ("empty", b"", "byte 0: the file ends too early"),
        ("text", b"this is no checkpoint", "byte 0: no checkpoint metadata"),
        ("short", &whole[..400], "the file ends too early"),
        ("newer", b"\x49\x60\x67\x2D\0\0\0\x07", "byte 4: metadata version 7 is not supported"),
    ];
    for (name, bytes, why) in cases {
        std::fs::write(folder.path().join(name), bytes).expect("a file");
        let output = run(folder.path(), &["metadata", name, "--output", "json"]);
        let said = text(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{said}");
        assert!(said.contains(why) && said.contains("nothing can be said of what it needs"), "{name}: {said}");
    }
    let nowhere = run(folder.path(), &["metadata", "no-such-file"]);
    assert_eq!(nowhere.status.code(), Some(1));
    assert!(text(&nowhere.stderr).contains("is no file here, and no place in HDFS"), "{}", text(&nowhere.stderr));
}

#[test]
fn what_is_not_here_is_read_from_hdfs() {
    const CASE: &str = "1.20.5/rocksdb-incr-claim-first";
    const CHECKPOINT: &str = "/flink/checkpoints/prod/app/chk-7";
    let platform = Platform::start(World::load(PLATFORM, Timestamp::now()).expect("a world"), Options::default());
    let platform = platform.expect("the servers");
    let bytes = std::fs::read(fixture(CASE).join("_metadata")).expect("a fixture");
    let mut files = platform.hdfs.file_system.lock();
    files.create(&format!("{CHECKPOINT}/_metadata"), bytes, false, &Maker::new("hdfs")).expect("a file");
    drop(files);
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("statewarden.toml"), platform.config_toml()).expect("a file");
    let authority = platform.world.authority().to_string();
    for target in [
        format!("{authority}{CHECKPOINT}"),
        format!("{authority}{CHECKPOINT}/_metadata"),
        format!("{CHECKPOINT}/_metadata"),
        format!("hdfs:{CHECKPOINT}"),
    ] {
        let report = json_of(&run(folder.path(), &["metadata", &target, "--output", "json"]));
        assert_eq!(by_us(&report), by_flink(CASE), "{target}");
        assert_eq!(report["file"], json!(format!("{authority}{CHECKPOINT}/_metadata")));
        let relative = report["files"].as_array().expect("a list").iter().find(|file| file["relative"] == true);
        let place = relative.expect("a relative one")["place"].as_str().expect("a place");
        assert!(place.starts_with(&format!("{authority}{CHECKPOINT}/")), "{place}");
    }
    for (target, why) in [
        (format!("{authority}/flink/nothing"), "does not exist in HDFS"),
        (format!("{authority}/flink/checkpoints"), "does not exist in HDFS"),
        ("hdfs://elsewhere/flink".to_owned(), "is not the file system that is read"),
        ("s3://bucket/flink".to_owned(), "no place in HDFS"),
    ] {
        let output = run(folder.path(), &["metadata", &target]);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains(why), "{target}: {}", text(&output.stderr));
    }
}
