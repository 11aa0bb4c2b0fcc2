//! The real program is killed at every point of an apply and started again: nothing is done twice, nothing is lost, and
//! nothing was done that the ledger does not know of. And two at once, and Ctrl-C.
//!
//! Run with `--nocapture` to see the tables.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::{StreamExt as _, stream};
use serde_json::Value;
use statewarden::demo::world::{Effect, Fault, World};
use statewarden::plan::Plan;
use statewarden::ports::ledger::{AuditVerdict, Ledger as _, OutcomeWord};
use tokio::process::{Child, Command};

use crate::acting::{Bench, world};

/// A stale directory with a stale file, and a good file beside them, with a password in a script.
fn platform() -> World {
    world(
        "
title: 'A stale directory with a stale file'
config:
  flink: none
  ds: {generation: db, version: '3.1.9', base_path: /dolphinscheduler, tenants: [etl], token: admin}
  policies: {record_grace: 1h, max_delete_fraction: 0.9}
hdfs:
  listing:
    - {path: /dolphinscheduler/etl/resources, type: dir, mtime_age: 1d}
    - {path: /dolphinscheduler/etl/resources/known.sql, type: file, size: 12, mtime_age: 30d}
dolphinscheduler:
  generation: db
  records:
    - {id: 10, full_name: /old, dir: true, size: 0, owner: u1, tenant: etl, age: 60d}
    - {id: 11, full_name: /old/a.sql, dir: false, size: 9, owner: u1, tenant: etl, age: 60d}
    - {id: 20, full_name: /known.sql, dir: false, size: 12, owner: u1, tenant: etl, age: 60d}
  workflows:
    - code: 9001
      name: nightly
      release: ONLINE
      resource_ids: [20]
      tasks: [{name: t, type: SHELL, raw_script: 'export PASSWORD=canary-7d1f-secret'}]
",
    )
}

/// Nobody may ever print this.
const CANARY: &str = "canary-7d1f-secret";

/// What the plan removes, in this order.
const PLANNED: [i64; 2] = [11, 10];

/// Longest time a process may take to a point.
const PATIENCE: Duration = Duration::from_mins(1);

/// Processes at a time.
const AT_A_TIME: usize = 3;

/// A platform with a confirmed plan in a file.
struct Scene {
    bench: Bench,
    plan: Plan,
    started: AtomicU32,
}

/// The program while it runs, and where it writes to.
struct Running {
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Scene {
    async fn new(timeout: &str) -> Self {
        let bench = Bench::start(&platform(), timeout).await;
        bench.observe().await;
        let mut scene = Self { plan: bench.plan().await.0, bench, started: AtomicU32::new(0) };
        let planned: Vec<i64> = scene.plan.actions.iter().map(|action| action.target.record.0).collect();
        assert_eq!(planned, PLANNED);
        scene.save();
        scene.bench.clear_requests();
        scene
    }

    fn save(&mut self) {
        let text = serde_json::to_string(&self.plan).expect("JSON");
        std::fs::write(self.bench.folder().join("plan.json"), text).expect("written");
    }

    /// A plan made now takes the place of the old one.
    async fn plan_anew(&mut self) {
        self.plan = self.bench.plan().await.0;
        self.save();
    }

    fn mark(&self) -> PathBuf {
        self.bench.folder().join("mark")
    }

    /// Starts the program on the plan; `stop_at`, as in `before:7`, is where it waits for us.
    fn start(&self, stop_at: Option<&str>) -> Running {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let file = |stream: &str| self.bench.folder().join(format!("{stream}-{number}"));
        let (stdout, stderr) = (file("stdout"), file("stderr"));
        let into = |path: &PathBuf| Stdio::from(std::fs::File::create(path).expect("a file"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_statewarden"));
        command.args(["apply", "plan.json", "--yes", "--config", "statewarden.toml", "--ledger", "ledger.db"]);
        command.args(["--output", "json"]).env_clear().current_dir(self.bench.folder());
        // Into files: a pipe that nobody empties would stop it somewhere else.
        command.stdin(Stdio::null()).stdout(into(&stdout)).stderr(into(&stderr)).kill_on_drop(true);
        // The log at its loudest, so that a secret would be seen in it.
        command.env("RUST_LOG", "trace");
        if let Some(stop_at) = stop_at {
            command.env("STATEWARDEN_TEST_KILL_AT", format!("{stop_at}:{}", self.mark().display()));
        }
        Running { child: command.spawn().expect("the program starts"), stdout, stderr }
    }

    /// Waits until the program stands at its point; `None`: it ended before.
    async fn stands(&self, running: &mut Running) -> Option<String> {
        let mark = self.mark();
        let wait = async {
            loop {
                // Made and filled in two steps.
                let text = std::fs::read_to_string(&mark).unwrap_or_default();
                if !text.is_empty() {
                    return Some(text);
                }
                if running.child.try_wait().expect("a child").is_some() {
                    return None;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.expect("the point is reached, or the end")
    }

    /// Kills the program with SIGKILL.
    async fn kill(&self, mut running: Running) {
        running.child.kill().await.expect("it was there");
        drop(std::fs::remove_file(self.mark()));
    }

    /// Lets the program go on from its point.
    fn release(&self) {
        std::fs::remove_file(self.mark()).expect("it stands there");
    }

    /// Applies to the end.
    async fn apply(&self) -> Ended {
        self.end_of(self.start(None)).await
    }

    async fn end_of(&self, mut running: Running) -> Ended {
        let status = tokio::time::timeout(PATIENCE, running.child.wait()).await.expect("an end").expect("a status");
        let text = |path: &PathBuf| std::fs::read_to_string(path).expect("UTF-8");
        let (stdout, stderr) = (text(&running.stdout), text(&running.stderr));
        let token = self.bench.platform.world.ds_token().expect("a token");
        for secret in [CANARY, &token] {
            assert!(!stdout.contains(secret) && !stderr.contains(secret), "a secret is printed");
        }
        let json: Value = serde_json::from_str(&stdout).unwrap_or(Value::Null);
        let outcomes = json["outcomes"].as_array().cloned().unwrap_or_default();
        Ended {
            code: status.code(),
            outcomes: outcomes.iter().filter_map(|it| it["outcome"].as_str().map(str::to_owned)).collect(),
            why: outcomes.iter().filter_map(|it| it["why"].as_str().map(str::to_owned)).collect(),
            codes: codes(&json),
            head: json["audit_head"].as_str().map(str::to_owned),
            stderr: stderr.lines().filter(|line| !line.contains("TRACE") && !line.contains("DEBUG")).collect(),
        }
    }

    /// Every call has an intent and an entry in the audit chain that were written before it.
    async fn every_act_has_an_entry(&self) -> Result<(), String> {
        let intents = self.bench.ledger.intents_of(&self.plan.hash).await.expect("the ledger");
        let entries = self.bench.ledger.audit_entries().await.expect("the ledger");
        for record in self.bench.deletes() {
            if !intents.iter().any(|intent| intent.record.0 == record) {
                return Err(format!("record {record} was deleted without an intent"));
            }
            let named = format!("\"record\":{record},");
            if !entries.iter().any(|entry| entry.what == "intent" && entry.body.contains(&named)) {
                return Err(format!("record {record} was deleted without an entry in the audit chain"));
            }
        }
        Ok(())
    }

    /// What has to hold at the end, however it came about: no call twice, what was planned is gone, the rest untouched, the
    /// chain whole, no intent open, no secret in the ledger.
    async fn all_is_well(&self) -> Result<(), String> {
        let mut deletes = self.bench.deletes();
        let calls = deletes.len();
        deletes.sort_unstable();
        deletes.dedup();
        if deletes.len() != calls || !deletes.iter().all(|id| PLANNED.contains(id)) {
            return Err(format!("called: {:?}", self.bench.deletes()));
        }
        let (inventory, _) = self.bench.look().await;
        let left: Vec<i64> = inventory.resources.expect("a view").records.iter().map(|record| record.id.0).collect();
        if left != [20] {
            return Err(format!("records left: {left:?}"));
        }
        if !self.bench.is_in_hdfs("/dolphinscheduler/etl/resources/known.sql") {
            return Err("the good file is gone".to_owned());
        }
        self.ledger_is_well().await
    }

    async fn ledger_is_well(&self) -> Result<(), String> {
        match self.bench.ledger.verify_audit().await.expect("the ledger") {
            AuditVerdict::Whole { .. } => {}
            AuditVerdict::Broken { number, why } => return Err(format!("audit entry {number}: {why}")),
        }
        if !self.bench.ledger.open_intents().await.expect("the ledger").is_empty() {
            return Err("an intent is still open".to_owned());
        }
        let outcomes: Vec<_> = self.bench.ledger.audit_entries().await.expect("the ledger");
        for intent in self.bench.ledger.intents_of(&self.plan.hash).await.expect("the ledger") {
            let named = format!("\"intent\":{},", intent.intent);
            if !outcomes.iter().any(|entry| entry.what == "outcome" && entry.body.contains(&named)) {
                return Err(format!("the audit chain never tells what became of intent {}", intent.intent));
            }
        }
        let token = self.bench.platform.world.ds_token().expect("a token");
        let text = self.bench.ledger_text();
        if text.contains(CANARY) || text.contains(&token) {
            return Err("a secret is in the ledger".to_owned());
        }
        Ok(())
    }

    fn dolphin(&self) -> &statewarden::demo::servers::fault::Faults {
        self.bench.platform.dolphin.as_ref().expect("a server").faults()
    }
}

fn codes(json: &Value) -> Vec<String> {
    let findings = json["findings"].as_array().cloned().unwrap_or_default();
    findings.iter().filter_map(|finding| finding["code"].as_str().map(str::to_owned)).collect()
}

/// How a run ended.
#[derive(Debug)]
struct Ended {
    code: Option<i32>,
    outcomes: Vec<String>,
    why: Vec<String>,
    codes: Vec<String>,
    head: Option<String>,
    stderr: String,
}

impl Ended {
    fn says(&self, outcomes: [&str; 2]) -> bool {
        self.outcomes == outcomes
    }
}

/// Applies again after a kill, and with a new plan where the old one may not go on.
async fn resume(scene: &mut Scene, called: &[i64]) -> Result<String, String> {
    scene.every_act_has_an_entry().await?;
    let again = scene.apply().await;
    let mut line = format!("again {:?} exit {:?}", again.outcomes, again.code);
    scene.every_act_has_an_entry().await?;
    if again.outcomes.iter().any(|word| word == "Unknown") {
        if scene.bench.deletes() != called {
            return Err(format!("{line}: called although it may not be: {:?}", scene.bench.deletes()));
        }
        if again.code != Some(5) {
            return Err(format!("{line}: not proven ends 5"));
        }
        // From here on each call may be made once more.
        scene.bench.clear_requests();
        scene.plan_anew().await;
        let anew = scene.apply().await;
        line = format!("{line}, new plan {:?} exit {:?}", anew.outcomes, anew.code);
        if anew.code != Some(0) {
            return Err(line);
        }
    } else if again.code != Some(0) || again.outcomes.iter().any(|word| word != "Done" && word != "AlreadyDone") {
        return Err(format!("{line} {:?} {:?} {}", again.codes, again.why, again.stderr));
    }
    match scene.all_is_well().await {
        Ok(()) => Ok(line),
        Err(what) => Err(format!("{line}: {what}")),
    }
}

/// Kills at one side of one commit; `None`: the run has no such commit.
async fn killed_at(point: &str) -> Option<Result<String, String>> {
    let mut scene = Scene::new("10s").await;
    let mut child = scene.start(Some(point));
    let Some(what) = scene.stands(&mut child).await else {
        let ended = scene.end_of(child).await;
        assert!(ended.code == Some(0) && ended.says(["Done", "Done"]), "{ended:?}");
        return None;
    };
    scene.kill(child).await;
    let called = scene.bench.deletes();
    let line = format!("killed {point} ({what}): called {called:?}");
    Some(match resume(&mut scene, &called).await {
        Ok(more) => Ok(format!("{line}; {more}")),
        Err(more) => Err(format!("{line}; {more}")),
    })
}

/// Prints a table and fails with the lines that are wrong.
#[expect(clippy::print_stdout, reason = "the table is looked at by people")]
fn judge(lines: Vec<Result<String, String>>) {
    let mut wrong = Vec::new();
    for line in lines {
        match line {
            Ok(line) => println!("{line}"),
            Err(line) => {
                println!("{line}  WRONG");
                wrong.push(line);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_on_either_side_of_each_ledger_write() {
    let points = (1..100).flat_map(|number| ["before", "after"].map(|side| format!("{side}:{number}")));
    let results = stream::iter(points).map(|point| async move { killed_at(&point).await }).buffered(AT_A_TIME);
    let lines: Vec<_> = results
        .take_while(|result| std::future::ready(result.is_some()))
        .filter_map(std::future::ready)
        .collect()
        .await;
    // Begin, lease, audit; for each action lease, intent, audit, outcome, audit; audit, lease, end.
    assert_eq!(lines.len(), 2 * (3 + 2 * 5 + 3), "each ledger write is a point");
    judge(lines);
}

/// A request of the run at which it is killed while it waits for the answer.
struct At {
    what: &'static str,
    fault: Fault,
}

fn at(what: &'static str, op: &str, record: Option<i64>, effect: Option<Effect>) -> At {
    At { what, fault: Fault { op: Some(op.to_owned()), record, effect, timeout: true, ..Fault::default() } }
}

async fn killed_while_waiting(at: At) -> Result<String, String> {
    let mut scene = Scene::new("30s").await;
    scene.dolphin().set_faults(&[at.fault]);
    let mut child = scene.start(None);
    let met = async {
        while !scene.dolphin().log().iter().any(|seen| seen.faulted) {
            assert!(child.child.try_wait().expect("a child").is_none(), "{}: it ended without the request", at.what);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, met).await.expect("the request comes");
    scene.kill(child).await;
    scene.dolphin().set_faults(&[]);
    let called = scene.bench.deletes();
    let line = format!("killed while waiting for {}: called {called:?}", at.what);
    match resume(&mut scene, &called).await {
        Ok(more) => Ok(format!("{line}; {more}")),
        Err(more) => Err(format!("{line}; {more}")),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_while_an_answer_is_outstanding() {
    let read_back = |nth| Fault { nth: Some(nth), ..at("", "record", Some(11), None).fault };
    let points = vec![
        at("the identity, before all", "whoami", None, None),
        at("the record tree, before all", "list-tree", None, None),
        at("the workflows, before all", "workflows", None, None),
        at("the first delete, which was not begun", "delete", Some(11), Some(Effect::None)),
        at("the first delete, which was done", "delete", Some(11), Some(Effect::Done)),
        at("the first delete, of which the row went", "delete", Some(11), Some(Effect::RowsOnly)),
        at("the second delete, which was not begun", "delete", Some(10), Some(Effect::None)),
        at("the second delete, which was done", "delete", Some(10), Some(Effect::Done)),
        At { what: "the record, right before the first delete", fault: read_back(1) },
        At { what: "the record, read back after the first delete", fault: read_back(2) },
    ];
    judge(stream::iter(points.into_iter().map(killed_while_waiting)).buffered(AT_A_TIME).collect().await);
}

/// The server works off a delete only after the program was killed and started again. It is not sent a second time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delete_that_is_worked_off_late_is_not_repeated() {
    let mut scene = Scene::new("30s").await;
    scene.dolphin().set_faults(&[at("", "delete", Some(11), Some(Effect::None)).fault]);
    let child = scene.start(None);
    while scene.bench.deletes().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    scene.kill(child).await;
    let again = scene.apply().await;
    assert!(again.says(["Unknown", "NotStarted"]) && again.code == Some(5), "{again:?}");
    let mut late = scene.bench.platform.world.clone();
    late.dolphinscheduler.as_mut().expect("a server").records.retain(|record| record.id != Some(11));
    scene.bench.platform.replace_world(late).expect("a world");
    let later = scene.apply().await;
    assert!(later.says(["AlreadyDone", "Done"]) && later.code == Some(0), "seen by looking: {later:?}");
    assert_eq!(scene.bench.deletes(), PLANNED);
    scene.all_is_well().await.expect("well");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_appliers_one_acts() {
    let scene = Scene::new("10s").await;
    // The second commit takes the lease. It is waited behind it, since a transaction that is not over holds the whole file.
    let mut first = scene.start(Some("after:2"));
    assert_eq!(scene.stands(&mut first).await.as_deref(), Some("take the lease"));
    let second = scene.apply().await;
    assert!(second.says(["NotStarted", "NotStarted"]) && second.code == Some(4), "{second:?}");
    assert!(second.codes.contains(&"apply-blocked".to_owned()));
    assert!(scene.bench.deletes().is_empty());
    scene.release();
    let first = scene.end_of(first).await;
    assert!(first.says(["Done", "Done"]) && first.code == Some(0), "{first:?}");
    scene.all_is_well().await.expect("well");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_appliers_in_a_race_call_each_delete_once() {
    for _ in 0..3 {
        let scene = Scene::new("10s").await;
        let both = futures::future::join(scene.apply(), scene.apply()).await;
        let words = |ended: &Ended| ended.outcomes.join(" ");
        let (a, b) = (words(&both.0), words(&both.1));
        let acted = [&a, &b].into_iter().filter(|words| *words == "Done Done").count();
        let other = if a == "Done Done" { &b } else { &a };
        assert!(
            acted == 1 && matches!(other.as_str(), "NotStarted NotStarted" | "AlreadyDone AlreadyDone"),
            "{both:?}"
        );
        assert_eq!(scene.bench.deletes(), PLANNED);
        scene.all_is_well().await.expect("well");
    }
}

/// A process that was stopped for longer than its lease holds finds somebody else in its place, and calls nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_applier_that_lost_its_lease_calls_nothing() {
    let scene = Scene::new("10s").await;
    // The fourth commit renews the lease; the fifth would be the first intent.
    let mut child = scene.start(Some("after:4"));
    assert_eq!(scene.stands(&mut child).await.as_deref(), Some("renew the lease"));
    scene.bench.lend("somebody@elsewhere:1:1:other").await;
    scene.release();
    let ended = scene.end_of(child).await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(scene.bench.deletes().is_empty());
    scene.every_act_has_an_entry().await.expect("entries");
}

fn interrupt(running: &Running) {
    let pid = running.child.id().expect("it runs").to_string();
    let status = std::process::Command::new("sh").args(["-c", &format!("kill -INT {pid}")]).status();
    assert!(status.expect("a shell").success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ctrl_c_finishes_the_action_at_hand_and_begins_no_other() {
    // The eighth commit writes the first outcome.
    let scene = Scene::new("10s").await;
    let mut child = scene.start(Some("before:8"));
    assert_eq!(scene.stands(&mut child).await.as_deref(), Some("write the outcome"));
    interrupt(&child);
    tokio::time::sleep(Duration::from_millis(300)).await;
    scene.release();
    let ended = scene.end_of(child).await;
    assert!(ended.says(["Done", "NotStarted"]) && ended.code == Some(5), "{ended:?}");
    assert_eq!(scene.bench.deletes(), [11]);
    scene.every_act_has_an_entry().await.expect("entries");
    scene.ledger_is_well().await.expect("well");
    let again = scene.apply().await;
    assert!(again.says(["AlreadyDone", "Done"]) && again.code == Some(0), "{again:?}");
    scene.all_is_well().await.expect("well");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ctrl_c_waits_for_a_delete_that_is_not_answered() {
    for (effect, word) in [(Effect::Done, "Done"), (Effect::None, "Unknown")] {
        let scene = Scene::new("2s").await;
        scene.dolphin().set_faults(&[at("", "delete", Some(11), Some(effect)).fault]);
        let child = scene.start(None);
        while scene.bench.deletes().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        interrupt(&child);
        let ended = scene.end_of(child).await;
        assert!(ended.says([word, "NotStarted"]) && ended.code == Some(5), "{ended:?}");
        assert_eq!(scene.bench.deletes(), [11]);
        scene.ledger_is_well().await.expect("well");
    }
}

/// The head that an apply prints covers its newest entries.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_printed_head_is_that_of_the_chain() {
    let scene = Scene::new("10s").await;
    let ended = scene.apply().await;
    let head = ended.head.expect("a head");
    let verdict = scene.bench.ledger.verify_audit_to(&head).await.expect("the ledger");
    assert!(matches!(verdict, AuditVerdict::Whole { head: newest, .. } if newest == head));
    let intents = scene.bench.ledger.intents_of(&scene.plan.hash).await.expect("the ledger");
    let words: Vec<_> = intents.iter().filter_map(|intent| intent.outcome.as_ref()).map(|it| it.outcome).collect();
    assert_eq!(words, [OutcomeWord::Done; 2]);
}
