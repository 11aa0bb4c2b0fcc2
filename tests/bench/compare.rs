//! Compares a million records with a million paths, and does what a person would do by hand beside it: `sort` and `comm` on
//! the two lists. Prints a table: sizes, time, memory.
//!
//! `cargo bench --bench compare [-- RECORDS]`

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints its figures, and a failure is its end")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use statewarden::compare::{FindingCode, compare};
use statewarden::config::{Config, DsConfig, HttpConfig, Policies};
use statewarden::domain::{Age, EntryKind, Existence, FileSystems, HdfsPath, RecordId, ResourceKind, Status};
use statewarden::views::resources::User;
use statewarden::views::{Entry, FlinkView, Generation, HdfsView, Inventory, Listing, Record, ResourceView};

/// Files in one directory, as in a resource center that people sort into folders.
const PER_DIRECTORY: usize = 1000;

/// One record in so many is stale.
const STALE_EVERY: usize = 100;

fn main() {
    let records = std::env::args().find_map(|arg| arg.parse().ok()).unwrap_or(1_000_000);
    let before = resident();
    let inventory = inventory(records);
    let held = resident() - before;
    let config = config();
    let mut times = Vec::new();
    let mut stale = 0;
    for _ in 0..3 {
        let start = Instant::now();
        let comparison = compare(&inventory, &config);
        times.push(start.elapsed());
        stale = comparison.findings.iter().filter(|f| f.code == FindingCode::StaleResourceRecord).count();
    }
    times.sort();
    assert_eq!(stale, records / STALE_EVERY, "the bench compares what it says");
    let peer = by_hand(&inventory);
    println!("records {records}, paths {}, stale found {stale}", records - stale);
    println!("compare: median {:.2} s of {:?}", times[1].as_secs_f64(), times);
    println!(
        "sort + comm on the two lists: {:.2} s, ratio {:.1}",
        peer.as_secs_f64(),
        peer.as_secs_f64() / times[1].as_secs_f64()
    );
    println!("inventory held: {} bytes a record and its path", held / records);
    println!("peak while comparing: {} bytes a record and its path", (peak() - before) / records);
}

fn stamp(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_795_000_000 - seconds).unwrap()
}

fn inventory(records: usize) -> Inventory {
    let base = HdfsPath::parse("/dolphinscheduler/etl/resources").unwrap();
    let status = |kind, at: usize| Status {
        kind,
        length: 100 + at as u64,
        modified: stamp(864_000),
        owner: "etl".into(),
        file_id: at as u64,
        snapshottable: false,
    };
    let mut view = ResourceView {
        generation: Some(Generation::V31),
        administrator: true,
        users: BTreeMap::from([(1, User { name: "admin".into(), tenant: Some("etl".into()) })]),
        users_complete: true,
        records_complete: true,
        ..ResourceView::default()
    };
    let mut hdfs = HdfsView::default();
    let mut top = Vec::new();
    for chunk in 0..records.div_ceil(PER_DIRECTORY) {
        let folder = format!("project_{chunk:05}");
        top.push(Entry { name: folder.clone().into(), status: status(EntryKind::Directory, chunk) });
        let mut entries = Vec::new();
        for at in chunk * PER_DIRECTORY..((chunk + 1) * PER_DIRECTORY).min(records) {
            let name = format!("job_{at:07}_daily.sql");
            if at % STALE_EVERY == 0 {
                hdfs.answers.insert(base.join(&folder).join(&name), Existence::Absent);
            } else {
                entries.push(Entry { name: name.clone().into(), status: status(EntryKind::File, at) });
            }
            view.records.push(record(at, format!("/{folder}/{name}")));
        }
        hdfs.listings.insert(base.join(&folder), Listing { entries, complete: true });
    }
    hdfs.listings.insert(base, Listing { entries: top, complete: true });
    let now = stamp(0);
    Inventory {
        inventory_version: 1,
        started: now,
        taken: now,
        flink: FlinkView { declared_none: true, clusters: Vec::new() },
        hdfs,
        resources: Some(view),
        state: statewarden::views::StateView::default(),
    }
}

fn record(at: usize, full_name: String) -> Record {
    let time = TimeZone::UTC.to_datetime(stamp(8_640_000));
    Record {
        id: RecordId(i64::try_from(at).unwrap()),
        full_name: full_name.into(),
        kind: ResourceKind::File,
        directory: false,
        size: Some(100 + at as u64),
        owner: Some(1),
        created: Some(time),
        updated: Some(time),
    }
}

fn config() -> Config {
    let http = HttpConfig {
        timeout: Age::from_seconds(1),
        ca_file: None,
        credentials: statewarden::config::Credentials::None,
        max_concurrency: 1,
        requests_per_second: None,
    };
    let ds = DsConfig {
        url: None,
        token: None,
        apply_token: None,
        version: "3.1.9".into(),
        generation: Generation::V31,
        base_path: HdfsPath::parse("/dolphinscheduler").unwrap(),
        tenants: vec!["etl".into()],
        page_size: 100,
        time_zone: TimeZone::UTC,
        http,
    };
    Config {
        ds: Some(ds),
        file_systems: FileSystems::default(),
        policies: Policies::default(),
        flink_none: true,
        ..Config::default()
    }
}

/// The same question answered with `sort` and `comm` in the C locale on lists of paths.
fn by_hand(inventory: &Inventory) -> Duration {
    let folder = tempfile::tempdir().unwrap();
    let (records, paths) = (folder.path().join("records"), folder.path().join("paths"));
    let mut file = std::io::BufWriter::new(fs::File::create(&records).unwrap());
    for record in &inventory.resources.as_ref().unwrap().records {
        writeln!(file, "/dolphinscheduler/etl/resources{}", record.full_name).unwrap();
    }
    file.flush().unwrap();
    let mut file = std::io::BufWriter::new(fs::File::create(&paths).unwrap());
    for (directory, listing) in &inventory.hdfs.listings {
        for entry in &listing.entries {
            writeln!(file, "{directory}/{}", entry.name).unwrap();
        }
    }
    file.flush().unwrap();
    let script = format!(
        "sort {0} > {0}.s && sort {1} > {1}.s && comm -23 {0}.s {1}.s | wc -l",
        records.display(),
        paths.display()
    );
    let start = Instant::now();
    let output = Command::new("sh").arg("-c").arg(script).env("LC_ALL", "C").stdout(Stdio::piped()).output().unwrap();
    let time = start.elapsed();
    assert!(output.status.success(), "sort and comm ran");
    time
}

fn memory(key: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(key)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<usize>().ok()).unwrap_or_default() * 1024
}

fn resident() -> usize {
    memory("VmRSS")
}

fn peak() -> usize {
    memory("VmHWM")
}
