//! The `_metadata` that embedded worlds hold, read by Flink's own loader: they are as Flink would have written them.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use statewarden::demo::servers::{Options, Platform};
use statewarden::demo::world::World;

use super::is_wanted;
use super::stage::jvm::{java_command, maven};

const RUN: &str = "/flink/checkpoints/a1b2c3d4e5f60718293a4b5c6d7e8f90";
/// Files of this run and of another.
const SHARED: [&str; 2] = [
    "/flink/checkpoints/0f1e2d3c4b5a69788796a5b4c3d2e1f0/shared/one",
    "/flink/checkpoints/a1b2c3d4e5f60718293a4b5c6d7e8f90/shared/two",
];

/// One of each format that is written, the last that 1.20 reads before those that it does not.
const UP_TO_FORMAT_4: [&str; 5] = ["1.13.6", "1.14.6", "1.15.4", "1.17.2", "1.20.5"];
const LATER: [&str; 2] = ["2.0.2", "2.3.0"];

#[test]
fn flink_reads_the_metadata_of_worlds() {
    if !is_wanted("Flink's own loader on the metadata of worlds") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let loader = maven("tests/lab/loader/pom.xml", "lab-loader").expect("the loader is built");
    let classes = loader.join("classes");
    let older = maven("tests/lab/pom.xml", "lab").expect("the lab is built");
    assert_reads(&classes, &older.join("lib"), folder.path(), &UP_TO_FORMAT_4);
    assert_reads(&classes, &loader.join("lib"), folder.path(), &[&UP_TO_FORMAT_4[..], &LATER].concat());
}

fn assert_reads(classes: &Path, jars: &Path, folder: &Path, versions: &[&str]) {
    let cases: Vec<(&str, &[&str])> =
        versions.iter().flat_map(|version| [(*version, &SHARED[..]), (version, &[])]).collect();
    let files = cases.iter().map(|(version, named)| metadata(folder, version, named));
    let class_path = std::env::join_paths([classes, &jars.join("*")]).expect("paths");
    let mut java = java_command();
    java.args(["-Xmx256m", "-XX:+UseSerialGC", "-cp"]).arg(class_path).arg("Loader").args(files);
    let output = java.output().expect("java starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", jars.display());
    let stdout = String::from_utf8(output.stdout).expect("text");
    let expected: Vec<String> = cases
        .iter()
        .map(|(_, named)| named.iter().fold("7".to_owned(), |line, path| format!("{line} hdfs://ns1{path}")))
        .collect();
    assert_eq!(stdout.lines().collect::<Vec<_>>(), expected, "{}: {said}", jars.display());
}

/// The file that a world of this Flink version holds, as a local file.
fn metadata(folder: &Path, version: &str, named: &[&str]) -> PathBuf {
    let yaml = format!(
        "title: 'One checkpoint'
config:
  checkpoint_roots:
    - {{path: /flink/checkpoints, layout: job, clusters: [c1]}}
flink:
  - {{cluster: c1, flink_version: '{version}', jobs: []}}
hdfs:
  listing:
    - {{path: {RUN}/chk-7/_metadata, type: file, mtime_age: 1m, refers_to: [{}]}}
",
        named.join(", ")
    );
    let world = World::load(&yaml, Timestamp::now()).expect("a world");
    let platform = Platform::start(world, Options::default()).expect("servers");
    let bytes = platform.hdfs.file_system.lock().read(&format!("{RUN}/chk-7/_metadata")).expect("a file");
    let file = folder.join(format!("{version}-{}", named.len()));
    std::fs::write(&file, bytes).expect("written");
    file
}
