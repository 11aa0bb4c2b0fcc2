//! The task scripts in `examples/dolphinscheduler`, run by `sh` as DolphinScheduler would: placeholders filled in, no terminal.

use std::process::{Command, Output, Stdio};

use crate::cli_acts::{Bench, ended};

/// A script with the settings at its head made to fit, and the placeholders that the scheduler fills.
fn script(bench: &Bench, name: &str, filled: &[(&str, &str)]) -> Output {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/dolphinscheduler/").to_owned() + name;
    let text = std::fs::read_to_string(file).expect("a script");
    let settings = [
        ("PROGRAM", env!("CARGO_BIN_EXE_statewarden")),
        ("CONFIG", "statewarden.toml"),
        ("LEDGER", "ledger.db"),
        ("REPORTS", "reports"),
        ("PLANS", "plans"),
    ];
    let set = |line: &str| match line.split_once('=') {
        Some((key, _)) => settings
            .iter()
            .find(|(name, _)| *name == key)
            .map_or(line.to_owned(), |(key, value)| format!("{key}={value}")),
        None => line.to_owned(),
    };
    let mut text: String = text.lines().map(|line| set(line) + "\n").collect();
    for (placeholder, value) in filled {
        text = text.replace(placeholder, value);
    }
    let mut command = Command::new("sh");
    command.env_clear().env("PATH", "/usr/bin:/bin").env("STATEWARDEN_DS_TOKEN", bench.token());
    command.args(["-c", &text]).current_dir(bench.folder()).stdin(Stdio::null()).output().expect("sh")
}

const INSTANCE: (&str, &str) = ("${system.task.instance.id}", "4711");

#[test]
fn the_daily_report_stays_green_on_drift_and_is_kept() {
    let bench = Bench::start();
    let said = ended(0, &script(&bench, "drift-daily.sh", &[INSTANCE]));
    assert!(said.starts_with("DRIFT: "), "{said}");
    let reports: Vec<_> = std::fs::read_dir(bench.file("reports")).expect("a directory").collect();
    assert_eq!(reports.len(), 1);
    // Once more on the same day, now with a run to compare with.
    assert!(ended(0, &script(&bench, "drift-daily.sh", &[])).contains("Since run"));
}

#[test]
fn the_manual_task_plans_first_and_applies_only_the_plan_whose_hash_was_typed() {
    let bench = Bench::start();
    ended(0, &script(&bench, "drift-daily.sh", &[INSTANCE]));
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let said = ended(0, &script(&bench, "apply-manual.sh", &[INSTANCE]));
    let hash = said.split("Hash ").nth(1).and_then(|rest| rest.split('.').next()).expect("a hash").to_owned();
    ended(0, &script(&bench, "apply-manual.sh", &[INSTANCE, ("${plan_hash}", "")]));
    // The second plan took the place of the first.
    ended(4, &script(&bench, "apply-manual.sh", &[INSTANCE, ("${plan_hash}", &hash)]));
    ended(1, &script(&bench, "apply-manual.sh", &[INSTANCE, ("${plan_hash}", "yes")]));
    assert_eq!(bench.deletes(), 0);
    let plan = std::fs::read(bench.file("plans/plan.json")).expect("a plan");
    let plan: serde_json::Value = serde_json::from_slice(&plan).expect("JSON");
    let hash = plan["hash"].as_str().expect("a hash");
    let said = ended(0, &script(&bench, "apply-manual.sh", &[INSTANCE, ("${plan_hash}", hash)]));
    assert!(said.starts_with("DONE: 2 actions: 2 Done"), "{said}");
    assert!(bench.file(&format!("plans/applied-{hash}.json")).exists());
    assert!(bench.ends(0, &["audit", "show"]).contains("ds-task-instance=4711"));
}

#[test]
fn the_scripts_are_posix_shell() {
    for name in ["drift-daily.sh", "apply-manual.sh"] {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/dolphinscheduler/").to_owned() + name;
        let text = std::fs::read_to_string(&file).expect("a script");
        assert!(text.starts_with("#!/bin/sh\n"), "{name}");
        // DolphinScheduler would take `$[...]` for a time; `${...}` is left to its own placeholders.
        assert!(!text.contains("$["), "{name}");
        assert!(Command::new("sh").args(["-n", &file]).status().expect("sh").success(), "{name}");
    }
}
