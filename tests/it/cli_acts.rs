//! The real binary on an embedded platform: plan, show, apply, and what the ledger tells afterwards.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use jiff::Timestamp;
use serde_json::Value;
use statewarden::demo::servers::{Options, Platform};
use statewarden::demo::world::World;

/// A directory and the file in it, gone from HDFS; a file that an offline workflow uses, gone too; one that is there.
const WORLD: &str = r#"
title: t
config:
  authority: hdfs://ns1
  flink: none
  ds: {generation: db, version: "3.1.9", base_path: /dolphinscheduler, tenants: [etl], token: admin}
  policies: {record_grace: 1h, confirm_after: 1s, max_delete_fraction: 0.9}
flink: []
hdfs:
  listing:
    - {path: /dolphinscheduler/etl/resources, type: dir, mtime_age: 1d}
    - {path: /dolphinscheduler/etl/resources/known.sql, type: file, size: 12, mtime_age: 30d}
  absent: [/dolphinscheduler/etl/resources/old, /dolphinscheduler/etl/resources/used.sql]
dolphinscheduler:
  generation: db
  records:
    - {id: 10, full_name: /old, dir: true, size: 9, owner: u1, tenant: etl, age: 60d}
    - {id: 11, full_name: /old/a.bin, dir: false, size: 9, owner: u1, tenant: etl, age: 60d}
    - {id: 12, full_name: /known.sql, dir: false, size: 12, owner: u1, tenant: etl, age: 30d}
    - {id: 13, full_name: /used.sql, dir: false, size: 4, owner: u1, tenant: etl, age: 60d}
  workflows: [{code: 9001, name: nightly, release: OFFLINE, resource_ids: [13]}]
"#;

/// The servers and a folder with a configuration, a ledger and what the program writes.
pub struct Bench {
    platform: Platform,
    folder: tempfile::TempDir,
    token: String,
    t0: Timestamp,
}

impl Bench {
    pub fn start() -> Self {
        let t0 = Timestamp::now();
        let world = World::load(WORLD, t0).expect("a world");
        let token = world.ds_token().expect("a token");
        let platform = Platform::start(world, Options::default()).expect("servers");
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("statewarden.toml"), platform.config_toml()).expect("a file");
        Self { platform, folder, token, t0 }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_statewarden"));
        command.env_clear().current_dir(self.folder.path()).args(arguments).stdin(Stdio::null());
        command.env("STATEWARDEN_DS_TOKEN", &self.token).env("STATEWARDEN_LEDGER", "ledger.db");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program")
    }

    /// Runs, and expects this exit code.
    pub fn ends(&self, code: i32, arguments: &[&str]) -> String {
        ended(code, &self.run(arguments))
    }

    /// Runs with JSON on stdout, and expects this exit code.
    fn json(&self, code: i32, arguments: &[&str]) -> Value {
        let text = self.ends(code, &[arguments, &["--output", "json"]].concat());
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    pub fn token(&self) -> &str {
        &self.token
    }

    pub fn deletes(&self) -> usize {
        let log = self.platform.dolphin.as_ref().expect("a server").faults().log();
        log.iter().filter(|seen| seen.request.method == "DELETE").count()
    }

    /// Plans the two records of the directory.
    fn plan(&self) -> Value {
        self.json(2, &["plan", "--wait", "-o", "plan.json"])
    }
}

pub fn ended(code: i32, output: &Output) -> String {
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{stdout}{stderr}");
    stdout
}

fn words(applied: &Value) -> Vec<&str> {
    let outcomes = applied["outcomes"].as_array().expect("outcomes");
    outcomes.iter().map(|outcome| outcome["outcome"].as_str().expect("a word")).collect()
}

fn codes(document: &Value) -> Vec<&str> {
    let findings = document["findings"].as_array().expect("findings");
    findings.iter().map(|finding| finding["code"].as_str().expect("a code")).collect()
}

#[test]
fn planned_applied_gone_and_written_down() {
    let bench = Bench::start();
    let planned = bench.plan();
    let records: Vec<i64> =
        planned["plan"]["actions"].as_array().expect("actions").iter().filter_map(|a| a["record"].as_i64()).collect();
    assert_eq!(records, [11, 10], "children first");
    assert_eq!(planned["plan"]["held_back"][0]["record"], 13);
    assert_eq!(planned["report"]["exit"], planned["exit"]);
    let file: Value = serde_json::from_slice(&std::fs::read(bench.file("plan.json")).expect("a plan")).expect("JSON");
    assert_eq!(file, planned["plan"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        for private in ["plan.json", "ledger.db"] {
            let mode = std::fs::metadata(bench.file(private)).expect("a file").permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{private}");
        }
    }
    assert!(bench.ends(0, &["show", "plan.json"]).contains("It can be applied"));

    let dry = bench.json(0, &["apply", "plan.json", "--dry-run"]);
    assert_eq!((words(&dry), bench.deletes()), (vec!["NotStarted", "NotStarted"], 0));
    let applied = bench.json(0, &["apply", "plan.json", "--yes"]);
    assert_eq!((words(&applied), bench.deletes()), (vec!["Done", "Done"], 2));
    // Record 13 is another's to decide on; of 10 and 11 nothing is said any more.
    let left = applied["findings"].as_array().expect("findings").iter().filter_map(|f| f["record"].as_i64());
    assert_eq!(left.collect::<Vec<_>>(), [13]);
    let again = bench.json(0, &["apply", "plan.json", "--yes"]);
    assert_eq!((words(&again), bench.deletes()), (vec!["AlreadyDone", "AlreadyDone"], 2));
    assert!(codes(&again).contains(&"plan-already-applied"));

    let shown = bench.json(0, &["show", "plan.json"]);
    assert_eq!(shown["tried"][0]["outcome"]["outcome"], "Done");
    let head = applied["audit_head"].as_str().expect("a head");
    assert!(bench.ends(0, &["audit", "verify", "--head", head]).starts_with("WHOLE"));
    assert_eq!(bench.json(4, &["audit", "verify", "--head", &"ab".repeat(32)])["whole"], false);
    let trail = bench.json(0, &["audit", "show"]);
    let what: Vec<&str> =
        trail["entries"].as_array().expect("entries").iter().filter_map(|e| e["what"].as_str()).collect();
    assert_eq!(what[0], "plan-recorded");
    assert_eq!(what.iter().filter(|what| **what == "intent").count(), 2, "{what:?}");
    let runs = bench.json(0, &["history"]);
    let verbs: Vec<&str> =
        runs["runs"].as_array().expect("runs").iter().filter_map(|run| run["verb"].as_str()).collect();
    assert_eq!(verbs, ["apply", "apply", "apply", "plan", "plan"]);
    let anew = bench.json(2, &["plan", "-o", "next.json"]);
    assert_eq!(anew["plan"]["actions"], serde_json::json!([]), "planning after applying gives nothing to do");
    assert_eq!(words(&bench.json(0, &["apply", "next.json"])), Vec::<&str>::new(), "nothing to ask about");
}

/// Whoever copies a proposed command looks at the same thing as before, and writes into the same ledger.
#[test]
fn proposed_commands_keep_every_option() {
    let bench = Bench::start();
    let given =
        ["--config", "statewarden.toml", "--ds-tenant", "etl", "--ds-time-zone", "UTC", "--ledger", "a ledger.db"];
    let kept = "--config statewarden.toml --ds-tenant etl --ds-time-zone UTC";
    let text = bench.ends(2, &[&["drift"], &given[..]].concat());
    for proposed in [
        format!("explain {kept} record:10\n"),
        format!("plan {kept} --ledger 'a ledger.db' --wait -o plan.json\n"),
        format!("drift {kept} --ledger 'a ledger.db' --output json\n"),
        format!("drift {kept} --ledger 'a ledger.db' --save inventory.json\n"),
    ] {
        assert!(text.contains(&format!("  statewarden {proposed}")), "{proposed}: {text}");
    }
    let text = bench.ends(2, &[&["plan", "--wait", "-o", "plan.json"], &given[..]].concat());
    let apply = format!("  statewarden apply plan.json {kept} --ledger 'a ledger.db'\n");
    assert!(text.contains(&apply), "{text}");
    let text = bench.ends(0, &[&["apply", "plan.json", "--yes"], &given[..]].concat());
    let drift = format!("  statewarden drift {kept} --ledger 'a ledger.db' --since last\n");
    assert!(
        text.contains(&drift) && text.contains("  statewarden audit show") && text.contains("a ledger.db'\n"),
        "{text}"
    );
    let text = bench.ends(2, &[&["drift"], &given[..], &["--since", "last"]].concat());
    assert!(text.contains("gone    stale resource record (stale-resource-record): record 11"), "{text}");
}

#[test]
fn without_an_earlier_run_everything_waits_and_a_dry_look_records_nothing() {
    let bench = Bench::start();
    let text = bench.ends(2, &["plan"]);
    assert!(text.contains("PLAN: nothing to delete; 3 held back") && text.contains("ABSENT_TWICE"), "{text}");
    assert!(text.contains("A dry look: not recorded"), "{text}");
    assert_eq!(bench.json(0, &["history"])["runs"], serde_json::json!([]));
    let planned = bench.json(2, &["plan", "--wait", "--under", "/dolphinscheduler/etl/resources/old/a.bin"]);
    assert_eq!((&planned["recorded_in"], &planned["plan"]["actions"][0]["record"]), (&Value::Null, &11.into()));
    let text = String::from_utf8(bench.run(&["plan", "--wait"]).stderr).expect("UTF-8");
    assert!(text.contains("waiting 1s (`confirm_after`)"), "{text}");
    assert_eq!(bench.run(&["plan", "--under", "hdfs://other/x"]).status.code(), Some(1));
}

#[test]
fn an_earlier_drift_run_counts_as_the_first_look() {
    let bench = Bench::start();
    bench.ends(2, &["drift"]);
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let planned = bench.json(2, &["plan", "-o", "plan.json", "--limit", "1"]);
    assert_eq!(planned["plan"]["actions"].as_array().map(Vec::len), Some(1));
    let by_limit: Vec<i64> = planned["plan"]["held_back"]
        .as_array()
        .expect("held back")
        .iter()
        .filter(|held| held["by_limit"] == true)
        .filter_map(|held| held["record"].as_i64())
        .collect();
    assert_eq!(by_limit, [10]);
}

#[test]
fn nothing_is_applied_that_was_not_confirmed_recorded_and_left_as_it_was() {
    let bench = Bench::start();
    bench.plan();
    let output = bench.run(&["apply", "plan.json", "--output", "json"]);
    let applied: Value = serde_json::from_str(&ended(4, &output)).expect("JSON");
    assert_eq!((words(&applied), codes(&applied)), (vec!["NotStarted"; 2], vec!["apply-blocked"]));
    let asked = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        asked.contains("2 records (1 file, 1 directory) of tenant etl") && asked.contains("cannot be undone"),
        "{asked}"
    );

    let plan = std::fs::read_to_string(bench.file("plan.json")).expect("a plan");
    for (name, edited) in [
        ("edited.json", plan.replacen("\"directory\": false", "\"directory\": true", 1)),
        ("more.json", plan.replacen('{', "{\"note\": \"mine\",", 1)),
    ] {
        std::fs::write(bench.file(name), edited).expect("a file");
        let applied = bench.json(4, &["apply", name, "--yes"]);
        assert_eq!(words(&applied), vec!["NotStarted"; 2], "{name}");
        assert!(bench.ends(0, &["show", name]).contains("the file was changed"), "{name}");
    }
    // Another ledger never recorded it.
    let applied = bench.json(4, &["apply", "plan.json", "--yes", "--ledger", "other.db"]);
    assert_eq!(codes(&applied)[0], "apply-blocked");
    assert!(bench.ends(0, &["show", "plan.json", "--ledger", "other.db"]).contains("did not record it"));
    // Another configuration decides.
    let config = std::fs::read_to_string(bench.file("statewarden.toml")).expect("a file");
    std::fs::write(bench.file("other.toml"), config.replace("1h", "2h")).expect("a file");
    let applied = bench.json(4, &["apply", "plan.json", "--yes", "--config", "other.toml"]);
    assert_eq!(words(&applied), vec!["Stale"; 2]);
    let shown = bench.json(0, &["show", "plan.json", "--config", "other.toml"]);
    assert_eq!(shown["obstacles"], serde_json::json!(["configuration-changed"]));
    assert_eq!(bench.deletes(), 0);
}

#[test]
fn a_plan_of_a_saved_inventory_is_shown_and_never_applied() {
    let bench = Bench::start();
    bench.ends(2, &["drift", "--save", "inventory.json"]);
    let planned = bench.json(2, &["plan", "--from", "inventory.json", "-o", "plan.json"]);
    assert_eq!((&planned["plan"]["from_file"], &planned["recorded_in"]), (&true.into(), &Value::Null));
    assert!(bench.ends(0, &["show", "plan.json"]).contains("made from a saved inventory"));
    assert_eq!(codes(&bench.json(4, &["apply", "plan.json", "--yes"]))[0], "apply-blocked");
    assert_eq!(bench.deletes(), 0);
}

#[test]
fn the_token_that_deletes_can_be_another_one_and_only_apply_needs_it() {
    let bench = Bench::start();
    bench.plan();
    let config = std::fs::read_to_string(bench.file("statewarden.toml")).expect("a file");
    let config = config.replace("[ds]\n", "[ds]\napply_token_file = \"apply.token\"\n");
    std::fs::write(bench.file("statewarden.toml"), config).expect("a file");
    // It is not there: reports go on, doctor says so, apply does not start.
    bench.ends(2, &["drift"]);
    assert!(bench.ends(0, &["doctor"]).contains("its own token cannot be used here"));
    bench.ends(1, &["apply", "plan.json", "--yes"]);
    std::fs::write(bench.file("apply.token"), "0123456789abcdef0123456789abcdef\n").expect("a file");
    // A token that the server does not know.
    let applied = bench.json(5, &["apply", "plan.json", "--yes"]);
    assert_eq!(words(&applied), ["Refused", "NotStarted"]);
    std::fs::write(bench.file("apply.token"), &bench.token).expect("a file");
    assert!(bench.ends(0, &["doctor"]).contains("with a token of its own, an administrator"));
    let output = bench.command(&["apply", "plan.json", "--yes"]).env("STATEWARDEN_DS_TOKEN", &bench.token).output();
    let said = ended(0, &output.expect("the program"));
    assert!(!said.contains(&bench.token), "{said}");
}

#[test]
fn drift_since_a_run_marks_what_is_new_and_lists_what_is_gone() {
    let mut bench = Bench::start();
    let first = bench.json(2, &["drift", "--since", "last"]);
    assert!(first["recording"]["trouble"][0].as_str().expect("a note").contains("first run"), "{first:#}");
    let second = bench.json(2, &["drift", "--since", "last"]);
    assert_eq!((&second["since"]["new"], &second["since"]["run"]), (&0.into(), &first["recording"]["run"]));
    let mut world =
        World::load(&WORLD.replace("/known.sql, type: file, size: 12", "/known.sql, type: file, size: 13"), bench.t0)
            .expect("a world");
    world.dolphinscheduler.as_mut().expect("a server").records.retain(|record| record.id != Some(11));
    bench.platform.replace_world(world).expect("exchanged");
    let third = bench.json(2, &["drift", "--since", "last"]);
    let new: Vec<&str> = third["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .filter(|finding| finding["change"] == "new")
        .filter_map(|finding| finding["code"].as_str())
        .collect();
    assert_eq!(new, ["size-mismatch"], "{third:#}");
    assert_eq!(third["since"]["gone"][0]["record"], 11);
    let changes = bench.json(0, &["diff", "previous", "last"]);
    assert_eq!((changes["new"].as_array().map(Vec::len), changes["gone"].as_array().map(Vec::len)), (Some(1), Some(1)));
    let id = first["recording"]["run"].as_str().expect("an id");
    assert!(bench.ends(2, &["drift", "--since", &id[..20]]).contains("Since run"));
    assert!(bench.run(&["drift", "--since", "nonsense"]).status.code() == Some(1));
}

#[test]
fn a_ledger_that_cannot_be_opened_stops_no_report_and_every_plan() {
    let bench = Bench::start();
    std::fs::create_dir(bench.file("directory")).expect("a directory");
    let broken = ["--ledger", "directory"];
    let report = bench.json(2, &[&["drift"], &broken[..]].concat());
    assert!(report["recording"]["trouble"][0].as_str().expect("a note").starts_with("NOT RECORDED"), "{report:#}");
    assert!(bench.ends(2, &[&["drift"], &broken[..]].concat()).contains("NOT RECORDED"));
    bench.ends(2, &[&["plan"], &broken[..]].concat());
    bench.ends(1, &[&["plan", "-o", "plan.json"], &broken[..]].concat());
    assert!(!bench.file("plan.json").exists());
    let pure = bench.json(2, &["drift", "--no-ledger"]);
    assert!(pure.get("recording").is_none() && !bench.file("ledger.db").exists());
    for command in [&["history"][..], &["diff", "previous", "last"], &["audit", "show"], &["audit", "verify"]] {
        assert_eq!(bench.run(command).status.code(), Some(1), "{command:?}: an empty ledger is not made up");
    }
    assert!(!bench.file("ledger.db").exists());
}

#[cfg(unix)]
#[test]
fn ctrl_c_finishes_the_action_at_hand_and_begins_no_other() {
    let mut bench = Bench::start();
    let config = std::fs::read_to_string(bench.file("statewarden.toml")).expect("a file");
    std::fs::write(bench.file("statewarden.toml"), config.replace("[ds]\n", "[ds]\ntimeout = \"2s\"\n"))
        .expect("a file");
    bench.plan();
    // The first delete is done and never answered, so that the signal comes while the call is under way.
    let fault = "  faults: [{op: delete, record: 11, effect: done, timeout: true}]\n";
    bench
        .platform
        .replace_world(World::load(&format!("{WORLD}{fault}"), bench.t0).expect("a world"))
        .expect("exchanged");
    let child = bench
        .command(&["apply", "plan.json", "--yes", "--output", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    let begun = std::time::Instant::now();
    while bench.deletes() == 0 {
        assert!(begun.elapsed().as_secs() < 20, "no delete reached the server");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill").success());
    let output = child.wait_with_output().expect("it ended");
    let applied: Value = serde_json::from_str(&ended(5, &output)).expect("JSON");
    assert_eq!((words(&applied), bench.deletes()), (vec!["Done", "NotStarted"], 1));
    assert_eq!(applied["interrupted"], true);
    assert!(String::from_utf8_lossy(&output.stderr).contains("finishing the action at hand"));
}
