//! The program on real servers: HDFS and Flink in a JVM, and a job that checkpoints every two seconds.
//!
//! Runs only if STATEWARDEN_TEST_SERVERS is `required`, since it needs a JDK and Maven; `tests/lab` holds the servers.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

#[path = "../lab/stage/mod.rs"]
mod stage;

mod census;
mod cleaning;

use stage::center::Record;
use stage::{Center, HdfsAccess, NameNodes, Stage, TOKEN_ENV};

/// The job completes a checkpoint and deletes the one before every two seconds; several looks in a row give the race between
/// Flink's answer and the look into HDFS a chance to show.
const LOOKS: usize = 10;

#[tokio::test(flavor = "multi_thread")]
async fn drift_finds_the_root_and_the_stale_records_and_nothing_healthy() {
    if !is_wanted("drift on real servers") {
        return;
    }
    let stage = Stage::start(NameNodes::Single).await.expect("the lab");
    let config = configure(&stage, &stage.center);
    let first = assert_the_drift_is_found(&stage.center, &config);
    for _ in 1..LOOKS {
        let again = assert_the_drift_is_found(&stage.center, &config);
        assert_eq!(fingerprints(&first), fingerprints(&again), "fingerprints stay the same from run to run");
    }
    assert_nothing_is_absent_without_a_namenode(&stage);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failover_changes_nothing() {
    if !is_wanted("drift after a failover") {
        return;
    }
    let mut stage = Stage::start(NameNodes::Pair).await.expect("the lab");
    let config = stage.write_config("statewarden.toml", &HdfsAccess::ConfDir, &stage.center).expect("a configuration");
    let before = assert_the_drift_is_found(&stage.center, &config);
    tokio::task::block_in_place(|| stage.jvm.command("failover")).expect("the failover");
    let after = assert_the_drift_is_found(&stage.center, &config);
    assert_eq!(fingerprints(&before), fingerprints(&after));
}

/// Whether real servers were asked for. If not, says what is left out past the capture of the test harness.
fn is_wanted(what: &str) -> bool {
    match std::env::var("STATEWARDEN_TEST_SERVERS").as_deref() {
        Ok("required") => true,
        Err(_) | Ok("") => {
            let _ = writeln!(
                std::io::stderr(),
                "left out: {what} (set STATEWARDEN_TEST_SERVERS=required; needs a JDK and Maven)"
            );
            false
        }
        Ok(other) => panic!("STATEWARDEN_TEST_SERVERS is `{other}`; the only value is `required`"),
    }
}

/// A port on which nobody listens.
fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

/// A configuration for a resource center, HDFS named by its address.
fn configure(stage: &Stage, center: &Center) -> PathBuf {
    let urls = HdfsAccess::Urls(stage.jvm.addresses().webhdfs.clone());
    let name = format!("statewarden-{}.toml", center.home.version);
    stage.write_config(&name, &urls, center).expect("a configuration")
}

fn assert_the_drift_is_found(center: &Center, config: &Path) -> Value {
    let report = run_drift(center, config, 2);
    assert_eq!(records_with(&report, "stale-resource-record"), center.stale, "{report:#}");
    assert_nothing_serious_but(&report, center, center.stale.len());
    report
}

/// The root that is not where it should be is found, and beside it so many more that matter.
fn assert_nothing_serious_but(report: &Value, center: &Center, more: usize) {
    let root = center.home.checkpoint_root();
    assert_eq!(paths_with(report, "checkpoint-in-resource-namespace"), [root.as_str()], "{report:#}");
    let serious = findings(report).filter(|finding| finding["severity"] != "info").count();
    assert_eq!(serious, 1 + more, "something healthy is named: {report:#}");
    let root = findings(report).find(|finding| finding["code"] == "checkpoint-in-resource-namespace");
    assert_eq!(root.expect("the root")["severity"], "critical");
}

fn assert_nothing_is_absent_without_a_namenode(stage: &Stage) {
    let nobody = HdfsAccess::Urls(vec![format!("http://localhost:{}", free_port())]);
    let config = stage.write_config("no-namenode.toml", &nobody, &stage.center).expect("a configuration");
    let report = run_drift(&stage.center, &config, 3);
    assert!(records_with(&report, "stale-resource-record").is_empty(), "{report:#}");
    assert!(paths_with(&report, "live-job-checkpoint-missing").is_empty(), "{report:#}");
    assert!(with_code(&report, "view-incomplete").any(|finding| finding["view"] == "hdfs"), "{report:#}");
}

fn run_drift(center: &Center, config: &Path, exit_code: i32) -> Value {
    run_json(center, config, &["drift"], exit_code)
}

/// Runs the program with JSON on stdout, and expects this exit code.
fn run_json(center: &Center, config: &Path, arguments: &[&str], exit_code: i32) -> Value {
    let text = run(center, config, &[arguments, &["--output", "json"]].concat(), exit_code);
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e} in:\n{text}"))
}

/// Runs the program in the directory of the configuration, and expects this exit code; returns what it printed.
fn run(center: &Center, config: &Path, arguments: &[&str], exit_code: i32) -> String {
    let folder = config.parent().expect("a directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_statewarden"));
    command.args(arguments).current_dir(folder);
    // Only the configuration file counts, whatever this machine is set up for.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("STATEWARDEN_") || name == "HADOOP_CONF_DIR" {
            command.env_remove(name);
        }
    }
    command.env("STATEWARDEN_CONFIG", config).env("STATEWARDEN_LEDGER", folder.join("ledger.db"));
    let output = command.env(TOKEN_ENV, &center.token).output().expect("the program starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(exit_code), "{arguments:?}\nstderr:\n{stderr}\nstdout:\n{stdout}");
    assert!(!stdout.contains(&center.token) && !stderr.contains(&center.token), "{arguments:?} prints the token");
    stdout
}

fn findings(report: &Value) -> impl Iterator<Item = &Value> {
    report["findings"].as_array().expect("findings").iter()
}

fn with_code<'a>(report: &'a Value, code: &'a str) -> impl Iterator<Item = &'a Value> {
    findings(report).filter(move |finding| finding["code"] == code)
}

fn paths_with<'a>(report: &'a Value, code: &'a str) -> Vec<&'a str> {
    with_code(report, code).map(|finding| finding["path"].as_str().expect("a path")).collect()
}

fn records_with(report: &Value, code: &str) -> BTreeSet<Record> {
    with_code(report, code)
        .map(|finding| Record {
            id: finding["record"].as_i64().expect("a record"),
            path: finding["path"].as_str().expect("a path").to_owned(),
        })
        .collect()
}

fn fingerprints(report: &Value) -> BTreeSet<&str> {
    findings(report).map(|finding| finding["fingerprint"].as_str().expect("a fingerprint")).collect()
}
