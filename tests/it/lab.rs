//! The main job on real servers: HDFS and Flink in a JVM, and a job that checkpoints every two seconds.
//!
//! Runs only if STATEWARDEN_TEST_SERVERS is `required`, since it needs a JDK and Maven; `tests/lab` holds the servers.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

#[path = "../lab/stage/mod.rs"]
mod stage;

use stage::{HdfsAccess, NAMESPACE_ROOT, NameNodes, Record, Stage, TOKEN_ENV};

/// The job completes a checkpoint and deletes the one before every two seconds; several looks in a row give the race between
/// Flink's answer and the look into HDFS a chance to show.
const LOOKS: usize = 10;

#[tokio::test(flavor = "multi_thread")]
async fn drift_finds_the_root_and_the_stale_records_and_nothing_healthy() {
    if !is_wanted("drift on real servers") {
        return;
    }
    let stage = Stage::start(NameNodes::Single).await.expect("the lab");
    let urls = HdfsAccess::Urls(stage.jvm.addresses().webhdfs.clone());
    let config = stage.write_config("statewarden.toml", &urls).expect("a configuration");
    let first = assert_the_drift_is_found(&stage, &config);
    for _ in 1..LOOKS {
        let again = assert_the_drift_is_found(&stage, &config);
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
    let config = stage.write_config("statewarden.toml", &HdfsAccess::ConfDir).expect("a configuration");
    let before = assert_the_drift_is_found(&stage, &config);
    tokio::task::block_in_place(|| stage.jvm.command("failover")).expect("the failover");
    let after = assert_the_drift_is_found(&stage, &config);
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

fn assert_the_drift_is_found(stage: &Stage, config: &Path) -> Value {
    let report = run_drift(stage, config, 2);
    assert_eq!(paths_with(&report, "checkpoint-in-resource-namespace"), [NAMESPACE_ROOT], "{report:#}");
    assert_eq!(records_with(&report, "stale-resource-record"), stage.stale, "{report:#}");
    let expected = 1 + stage.stale.len();
    let serious = findings(&report).filter(|finding| finding["severity"] != "info").count();
    assert_eq!(serious, expected, "something healthy is named: {report:#}");
    let root = findings(&report).find(|finding| finding["code"] == "checkpoint-in-resource-namespace");
    assert_eq!(root.expect("the root")["severity"], "critical");
    report
}

fn assert_nothing_is_absent_without_a_namenode(stage: &Stage) {
    let nobody = HdfsAccess::Urls(vec![format!("http://localhost:{}", free_port())]);
    let config = stage.write_config("no-namenode.toml", &nobody).expect("a configuration");
    let report = run_drift(stage, &config, 3);
    assert!(records_with(&report, "stale-resource-record").is_empty(), "{report:#}");
    assert!(paths_with(&report, "live-job-checkpoint-missing").is_empty(), "{report:#}");
    assert!(with_code(&report, "view-incomplete").any(|finding| finding["view"] == "hdfs"), "{report:#}");
}

fn run_drift(stage: &Stage, config: &Path, exit_code: i32) -> Value {
    let output = statewarden(stage, config);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(exit_code), "stderr:\n{stderr}\nstdout:\n{stdout}");
    serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{e} in:\n{stdout}"))
}

fn statewarden(stage: &Stage, config: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_statewarden"));
    command.args(["drift", "--output", "json", "--config"]).arg(config);
    // Only the configuration file counts, whatever this machine is set up for.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("STATEWARDEN_") || name == "HADOOP_CONF_DIR" {
            command.env_remove(name);
        }
    }
    command.env(TOKEN_ENV, &stage.ds.token).output().expect("the program starts")
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
