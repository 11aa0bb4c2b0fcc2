//! Reads `_metadata` files and compares with Flink's own loader (`Checkpoints.loadCheckpointMetadata` of the lab's Flink, in a
//! JVM that has warmed up), on the same files, from memory, in one thread each. Prints bytes a second and memory.
//!
//! `cargo bench --bench metadata`; needs Maven and a JDK for the peer, and says so if they are missing.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints its figures, and a failure is its end")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use peak_alloc::PeakAlloc;
use statewarden::flink_metadata::{Metadata, read};

/// Counts what is held. Reading makes a dozen allocations a file, so counting them costs nothing that could be measured.
#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// The lab's Flink (1.20) writes version 4 and reads no later one.
const READABLE: u8 = 4;

/// How often the operators of one recorded checkpoint are in the large file: 10 MB, a job of many operators.
const COPIES: usize = 2_500;

const WARM_UP: Duration = Duration::from_millis(500);
const MEASURED: Duration = Duration::from_secs(1);

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = recorded();
    let large = folder.path().join("large").join("_metadata");
    fs::create_dir(large.parent().unwrap()).unwrap();
    fs::write(&large, enlarged(&recorded)).unwrap();
    let sets = [("recorded files", recorded), ("one large file", vec![large])];
    let lists: Vec<PathBuf> = sets.iter().map(|(name, files)| write_list(folder.path(), name, files)).collect();
    let peer = flink(&lists);
    for (at, (name, files)) in sets.iter().enumerate() {
        let contents: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
        let (ours, theirs) = (rate(&contents), peer.as_ref().map(|rates| rates[at]));
        println!("{name}: {} of {} bytes", contents.len(), contents.iter().map(Vec::len).sum::<usize>());
        println!("  read: {:.0} MB/s", ours / 1e6);
        match theirs {
            Some(theirs) => println!("  Flink: {:.0} MB/s, ratio {:.1}", theirs / 1e6, ours / theirs),
            None => println!("  Flink: not measured"),
        }
        println!("  memory with the file itself: at most {:.2} times its size", memory(&contents));
    }
}

/// The recorded files that the lab's Flink reads.
fn recorded() -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/flink-metadata"), &mut found);
    found.retain(|file| read(&fs::read(file).unwrap()).unwrap().version <= READABLE);
    found.sort();
    found
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with("made-by-hand") {
            // What no cluster writes says nothing about speed.
        } else if path.is_dir() {
            collect(&path, found);
        } else if path.ends_with("_metadata") {
            found.push(path);
        }
    }
}

/// One recorded incremental checkpoint with its operators many times over, each time with other file names.
fn enlarged(recorded: &[PathBuf]) -> Vec<u8> {
    let small = recorded.iter().find(|file| file.parent().unwrap().ends_with("1.20.5/rocksdb-incr")).unwrap();
    let bytes = fs::read(small).unwrap();
    let metadata = read(&bytes).unwrap();
    // Magic, version, checkpoint id and number of master states, then the number of operators.
    let (head, body) = bytes.split_at(20);
    let end = bytes.windows(4).rposition(|window| window == b"\xAC\xED\x00\x05").unwrap() - head.len();
    let names = names_in(&metadata, &body[..end]);
    let operators = u32::try_from(metadata.operators.len() * COPIES).unwrap();
    let mut large = [head, &operators.to_be_bytes()].concat();
    for copy in 0..COPIES {
        let start = large.len();
        large.extend_from_slice(&body[4..end]);
        for at in &names {
            // The first digits of a UUID.
            let place = start + at - 4;
            large[place..place + 8].copy_from_slice(format!("{copy:08x}").as_bytes());
        }
    }
    large.extend_from_slice(&body[end..]);
    assert_eq!(read(&large).unwrap().files.len(), metadata.files.len() * COPIES);
    large
}

/// Where in `body` the names of all files are.
fn names_in(metadata: &Metadata<'_>, body: &[u8]) -> Vec<usize> {
    let name = |path: &str| path.rsplit('/').next().unwrap().as_bytes().to_vec();
    let find = |name: Vec<u8>| body.windows(name.len()).position(|window| window == name).unwrap();
    metadata.files.iter().map(|file| find(name(&file.path))).collect()
}

fn write_list(folder: &Path, name: &str, files: &[PathBuf]) -> PathBuf {
    let list = folder.join(name);
    let lines: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    fs::write(&list, lines.join("\n")).unwrap();
    list
}

/// Bytes a second: the median of five measurements.
fn rate(files: &[Vec<u8>]) -> f64 {
    run(files, WARM_UP);
    let mut rates: Vec<f64> = (0..5).map(|_| run(files, MEASURED)).collect();
    rates.sort_by(f64::total_cmp);
    rates[2]
}

fn run(files: &[Vec<u8>], time: Duration) -> f64 {
    let (start, mut bytes) = (Instant::now(), 0);
    while start.elapsed() < time {
        for file in files {
            let metadata = read(std::hint::black_box(file)).unwrap();
            std::hint::black_box(metadata);
            bytes += file.len();
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a rate in round numbers")]
    let bytes = bytes as f64;
    bytes / start.elapsed().as_secs_f64()
}

/// The most memory at one time, the file itself included, over its size.
fn memory(files: &[Vec<u8>]) -> f64 {
    let times = files.iter().map(|file| {
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        let metadata = read(file).unwrap();
        let taken = ALLOCATOR.peak_usage() - before;
        drop(metadata);
        #[expect(clippy::cast_precision_loss, reason = "a ratio in round numbers")]
        let ratio = taken as f64 / file.len() as f64;
        1.0 + ratio
    });
    times.fold(0.0, f64::max)
}

/// Flink's rates on the same lists; `None` without Maven or a JDK.
fn flink(lists: &[PathBuf]) -> Option<Vec<f64>> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| project.join("target"), PathBuf::from).join("lab");
    let mut maven = Command::new("mvn");
    maven.args(["--batch-mode", "--quiet", "--file"]).arg(project.join("tests/lab/pom.xml"));
    maven.arg(format!("-Dlab.target={}", target.display())).arg("compile");
    if !maven.status().is_ok_and(|status| status.success()) {
        println!("the peer needs Maven and a JDK (17 or later)");
        return None;
    }
    let class_path =
        std::env::join_paths([target.join("classes"), project.join("tests/lab/conf"), target.join("lib/*")]).unwrap();
    let output = Command::new("java")
        .args(["-Xmx1g", "-XX:+UseSerialGC", "-cp"])
        .arg(class_path)
        .arg("LoadMetadata")
        .args(lists)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    let rates: Vec<f64> =
        printed.lines().filter_map(|line| line.strip_prefix("RATE ")).map(|rate| rate.parse().unwrap()).collect();
    assert_eq!(rates.len(), lists.len(), "{printed}");
    Some(rates)
}
