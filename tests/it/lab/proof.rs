//! The proof of the proof: a run directory that every gate lets go can go, and one that they keep cannot, tried with a real job.
//!
//! A job with incremental RocksDB state is stopped and restored three times. Only Flink decides what is right: it restores the
//! last checkpoint with the one directory moved aside, and fails to with the other.

use std::collections::BTreeSet;
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use reqwest::Client;
use serde_json::Value;
use statewarden::compare::Context;
use statewarden::config::load::{LoadOptions, load};
use statewarden::gates::run::{RunVerdict, verdicts};
use statewarden::gates::{RunGate, Verdict};
use statewarden::views::Inventory;

use super::stage::Stage;
use super::{NameNodes, census, findings, is_wanted, paths_with, run_json};

/// Where the job keeps its run directories.
const ROOT: &str = "/flink/checkpoints";
const APP: &str = "orders";
/// Where directories are moved to see whether anybody misses them.
const ASIDE: &str = "/aside";

#[tokio::test(flavor = "multi_thread")]
async fn what_every_gate_lets_go_can_go_and_what_they_keep_cannot() {
    if !is_wanted("the proof that state is no longer needed, on real servers") {
        return;
    }
    let mut stage = Stage::start(NameNodes::Single).await.expect("the lab");
    let history = History::make(&mut stage);
    for run in history.ended() {
        set_back(&stage, run).await;
    }
    assert_the_program_knows(&stage, &history);

    command(&mut stage, &format!("cancel {APP}"));
    command(&mut stage, &format!("dfs -mkdir {ASIDE}"));
    for unneeded in [&history.first, &history.second] {
        move_to(&mut stage, unneeded, ASIDE);
    }
    assert_restores(&mut stage, &history);
    move_to(&mut stage, &history.third, ASIDE);
    assert_does_not_restore(&mut stage, &history);
    move_to(&mut stage, &format!("{ASIDE}/{}", name(&history.third)), &history.third);
    assert_restores(&mut stage, &history);
}

/// Four jobs of one application, by their run directories. Each is restored from the one before it.
struct History {
    /// Cancelled; the next was restored from its checkpoint with `NO_CLAIM`.
    first: String,
    /// Cancelled; the next was restored from a savepoint of it.
    second: String,
    /// Cancelled; the next was restored from its checkpoint with `CLAIM`.
    third: String,
    /// Runs.
    fourth: String,
    /// The only retained checkpoint of the fourth.
    last: String,
}

impl History {
    fn make(stage: &mut Stage) -> Self {
        let first = command(stage, &format!("hold {APP} {ROOT}"));
        let checkpoint = command(stage, &format!("checkpoint {APP}"));
        command(stage, &format!("cancel {APP}"));
        let second = command(stage, &format!("restore NO_CLAIM {checkpoint} {APP}"));
        command(stage, &format!("checkpoint {APP}"));
        let savepoint = command(stage, &format!("savepoint {APP}"));
        command(stage, &format!("cancel {APP}"));
        let third = command(stage, &format!("restore NO_CLAIM {savepoint} {APP}"));
        let checkpoint = command(stage, &format!("checkpoint {APP}"));
        command(stage, &format!("cancel {APP}"));
        let fourth = command(stage, &format!("restore CLAIM {checkpoint} {APP}"));
        let last = command(stage, &format!("checkpoint {APP}"));
        let run = |job: String| format!("{ROOT}/{APP}/{job}");
        Self { first: run(first), second: run(second), third: run(third), fourth: run(fourth), last }
    }

    /// Run directories of jobs that were cancelled.
    fn ended(&self) -> [&str; 3] {
        [&self.first, &self.second, &self.third]
    }
}

/// Findings of the program, and each gate on an inventory that it saved.
fn assert_the_program_knows(stage: &Stage, history: &History) {
    let config = configure(stage);
    let inventory = stage.jvm.dir().join("inventory.json");
    let report = run_json(&stage.center, &config, &["drift", "--save", &inventory.display().to_string()], 2);
    let free = BTreeSet::from([&*history.first, &*history.second]);
    assert_eq!(set(paths_with(&report, "orphan-job-run-dir")), free, "{report:#}");
    assert_eq!(paths_with(&report, "shared-state-dependency"), [&*history.third], "{report:#}");
    let kept = set(paths_with(&report, "protected-job-run-dir"));
    assert!(kept.contains(&*history.third) && kept.contains(&*history.fourth), "{report:#}");
    assert!(findings(&report).all(|finding| finding["severity"] != "error"), "{report:#}");

    let options = LoadOptions { file: Some(config), ..LoadOptions::default() };
    let config = load(&options).expect("a configuration");
    let saved: Value = serde_json::from_slice(&std::fs::read(inventory).expect("written")).expect("JSON");
    let inventory: Inventory = serde_json::from_value(saved).expect("an inventory");
    let context = Context::new(&inventory, &config);
    let verdicts = verdicts(&context);
    for path in &free {
        let verdict = of(&verdicts, path);
        let open = verdict.gates.iter().filter(|result| result.verdict != Verdict::Proved);
        assert_eq!(open.map(|result| result.gate).collect::<Vec<_>>(), [RunGate::Budget], "{verdict:#?}");
    }
    let refused = of(&verdicts, &history.third);
    for gate in [RunGate::Ownership, RunGate::References] {
        let result = refused.of(gate).expect("a gate");
        assert_eq!(result.verdict, Verdict::Refuted, "{refused:#?}");
        assert!(result.evidence.contains(&format!("{}/shared/", history.third)), "{refused:#?}");
    }
}

fn of<'v>(verdicts: &'v [RunVerdict], path: &str) -> &'v RunVerdict {
    verdicts.iter().find(|verdict| verdict.path.to_string() == path).unwrap_or_else(|| panic!("{path}: {verdicts:#?}"))
}

fn set(paths: Vec<&str>) -> BTreeSet<&str> {
    paths.into_iter().collect()
}

/// Nothing was tuned but waiting times: what took days elsewhere took seconds here.
fn configure(stage: &Stage) -> PathBuf {
    let addresses = stage.jvm.addresses();
    let text = format!(
        r#"authority = "{hdfs}"

[hdfs]
urls = {urls:?}
user = "hdfs"

[[clusters]]
name = "lab"
url = "{flink}"

[[checkpoint_roots]]
path = "{ROOT}"
layout = "app/job"
clusters = ["lab"]

[policies]
stable_for = "0s"
rollback_window = "0s"
"#,
        hdfs = addresses.hdfs,
        urls = addresses.webhdfs,
        flink = addresses.flink,
    );
    let file = stage.jvm.dir().join("proof.toml");
    std::fs::write(&file, text).expect("written");
    file
}

/// Makes everything at and below a path 30 days old, so that the age that the policies ask for is reached.
async fn set_back(stage: &Stage, path: &str) {
    let old = (Timestamp::now() - SignedDuration::from_hours(30 * 24)).as_millisecond();
    for at in census::below(&stage.jvm, path).await {
        let mut url = census::url(&stage.jvm, &at, "SETTIMES");
        url.query_pairs_mut().append_pair("modificationtime", &old.to_string());
        let answer = Client::new().put(url).send().await.expect("an answer");
        assert!(answer.status().is_success(), "{at}: {}", answer.status());
    }
}

/// Restores the last checkpoint and takes another, which needs every task to run with its state; the restored one stays.
fn assert_restores(stage: &mut Stage, history: &History) {
    command(stage, &format!("restore NO_CLAIM {} {APP}", history.last));
    command(stage, &format!("checkpoint {APP}"));
    command(stage, &format!("cancel {APP}"));
}

fn assert_does_not_restore(stage: &mut Stage, history: &History) {
    let restore = format!("restore NO_CLAIM {} {APP}", history.last);
    let answer = tokio::task::block_in_place(|| {
        stage.jvm.command(&restore)?;
        stage.jvm.command(&format!("await {APP}"))
    });
    let why = format!("{:#}", answer.expect_err("Flink misses the directory"));
    // Which of the files that it fetches at once Flink misses first, and so what it says of it, differs from run to run.
    assert!(why.contains("FAILED") && why.contains("Could not restore keyed state backend"), "{why}");
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().expect("a name")
}

fn move_to(stage: &mut Stage, from: &str, to: &str) {
    command(stage, &format!("dfs -mv {from} {to}"));
}

fn command(stage: &mut Stage, line: &str) -> String {
    tokio::task::block_in_place(|| stage.jvm.command(line)).expect("the lab does it")
}
