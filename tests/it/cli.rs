//! The real binary: help, usage, exit codes, files.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use statewarden::views::Inventory;

use crate::report::sample;

/// The binary in an empty directory, with nothing of the environment of whoever runs the tests.
fn statewarden(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::cargo_bin("statewarden").expect("the binary");
    command.env_clear().current_dir(directory).args(arguments).output().expect("it ran")
}

fn run(arguments: &[&str]) -> Output {
    let directory = tempfile::tempdir().expect("a directory");
    statewarden(directory.path(), arguments)
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

#[test]
fn help_texts() {
    for command in [
        "",
        "drift",
        "explain",
        "metadata",
        "doctor",
        "plan",
        "show",
        "apply",
        "history",
        "diff",
        "audit",
        "audit show",
        "audit verify",
        "config",
        "schema",
        "completions",
        "demo",
    ] {
        let arguments: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(0));
        let name = if command.is_empty() { "help".to_owned() } else { format!("help_{}", command.replace(' ', "_")) };
        insta::assert_snapshot!(name, stdout(&output));
    }
}

#[test]
fn usage_errors_end_1_since_2_means_drift() {
    for arguments in [&["drift", "--nonsense"][..], &["nonsense"], &[], &["explain"], &["drift", "--lang", "fr"]] {
        assert_eq!(run(arguments).status.code(), Some(1), "{arguments:?}");
    }
    assert_eq!(run(&["--version"]).status.code(), Some(0));
}

#[test]
fn without_a_configuration_the_message_says_how_to_get_one() {
    let output = run(&["drift"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("statewarden config example"), "{}", stderr(&output));
    assert!(stdout(&output).is_empty());
}

#[test]
fn a_secret_in_a_flag_is_not_repeated() {
    for arguments in [&["drift", "--cluster", "http://u:s3cret@h"][..], &["drift", "--cluster", "c1=http://u:s3cret@h"]]
    {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(!stderr(&output).contains("s3cret"), "{}", stderr(&output));
    }
}

/// A directory with the sample inventory and a configuration that fits it.
fn saved(inventory: &Inventory) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let text = serde_json::to_string(inventory).expect("JSON");
    std::fs::write(directory.path().join("inventory.json"), text).expect("written");
    let config = "authority = \"hdfs://ns1\"\n[ds]\nversion = \"3.1.9\"\ntenants = [\"etl\"]\n[[clusters]]\nname = \"c1\"\n\
                  url = \"http://jm:8081\"\n";
    std::fs::write(directory.path().join("statewarden.toml"), config).expect("written");
    directory
}

const FROM: &[&str] = &["drift", "--from", "inventory.json"];

#[test]
fn a_saved_inventory_is_judged_with_the_exit_code_of_its_findings() {
    let incomplete = saved(&sample::inventory());
    let output = statewarden(incomplete.path(), FROM);
    assert_eq!(output.status.code(), Some(3), "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).starts_with("DRIFT: "), "{}", stdout(&output));

    let drift = saved(&sample::in_sync().0);
    assert_eq!(statewarden(drift.path(), FROM).status.code(), Some(2));
    let green = statewarden(drift.path(), &[FROM, &["--drift-exit-code", "0"]].concat());
    assert_eq!(green.status.code(), Some(0));
    let incomplete = statewarden(incomplete.path(), &[FROM, &["--drift-exit-code", "0"]].concat());
    assert_eq!(incomplete.status.code(), Some(3));
}

#[test]
fn several_outputs_at_once() {
    let directory = saved(&sample::inventory());
    let output = statewarden(
        directory.path(),
        &[FROM, &["--output", "terminal=report.txt", "--output", "json=report.json", "--output", "json"]].concat(),
    );
    let file = |name: &str| std::fs::read_to_string(directory.path().join(name)).expect("a file");
    assert_eq!(stdout(&output), file("report.json"));
    assert!(file("report.txt").starts_with("DRIFT"));
    let report: serde_json::Value = serde_json::from_str(&file("report.json")).expect("JSON");
    assert_eq!(report["schema"], "statewarden/report/v1");
    assert_eq!(report["exit"]["code"], 3);
    let twice = statewarden(directory.path(), &[FROM, &["--output", "json,terminal"]].concat());
    assert_eq!(twice.status.code(), Some(1));
}

#[test]
fn languages_and_the_environment() {
    let directory = saved(&sample::inventory());
    let mut command = Command::cargo_bin("statewarden").expect("the binary");
    command.env_clear().current_dir(directory.path()).arg("drift");
    command.env("STATEWARDEN_FROM", "inventory.json").env("STATEWARDEN_LANG", "zh");
    let output = command.output().expect("it ran");
    assert!(stdout(&output).starts_with("不一致："), "{}", stdout(&output));
}

#[test]
fn explanations_of_a_saved_inventory() {
    let directory = saved(&sample::inventory());
    let output = statewarden(directory.path(), &["explain", "--from", "inventory.json", "record:2"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("its absence counts as proven"), "{}", stdout(&output));
    let unknown = statewarden(directory.path(), &["explain", "--from", "inventory.json", "what?"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(stderr(&unknown).contains("record:12"), "{}", stderr(&unknown));
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    use std::process::{Command, Stdio};
    let directory = saved(&sample::inventory());
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("statewarden"))
        .env_clear()
        .current_dir(directory.path())
        .args(FROM)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it ran");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ended");
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).is_empty(), "{}", stderr(&output));
}

#[test]
fn the_example_configuration_can_be_read() {
    let directory = tempfile::tempdir().expect("a directory");
    let example = statewarden(directory.path(), &["config", "example"]);
    assert!(stdout(&example).starts_with("# statewarden configuration"));
}

#[test]
fn what_is_saved_and_printed_is_as_the_schemas_say() {
    let schema =
        |of: &str| -> serde_json::Value { serde_json::from_slice(&run(&["schema", of]).stdout).expect("JSON") };
    let check = |of: &str, document: &serde_json::Value| {
        let validator = jsonschema::validator_for(&schema(of)).expect("a schema");
        let errors: Vec<String> = validator.iter_errors(document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{of}: {errors:#?}");
    };
    check("inventory", &serde_json::to_value(sample::inventory()).expect("JSON"));
    let directory = saved(&sample::inventory());
    let output = statewarden(directory.path(), &[FROM, &["--output", "json"]].concat());
    check("report", &serde_json::from_slice(&output.stdout).expect("JSON"));
    for of in [
        "plan",
        "planned",
        "shown",
        "applied",
        "history",
        "difference",
        "audit",
        "audit-check",
        "explanation",
        "checkup",
        "config",
    ] {
        assert!(schema(of).is_object());
    }
}

#[test]
fn the_demo_shows_the_important_findings_and_what_could_not_be_told() {
    let output = run(&["demo", "--output", "json"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let found: Vec<(&str, &str)> = report["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .map(|f| (f["code"].as_str().expect("a code"), f["severity"].as_str().expect("a severity")))
        .collect();
    // By the comments in src/demo/platform.yaml.
    let expected = [
        ("checkpoint-in-resource-namespace", "critical"),
        ("stale-resource-record", "error"),
        ("rename-split", "error"),
        ("dangling-workflow-reference", "error"),
        ("workflow-writes-checkpoints-into-resources", "error"),
        ("view-incomplete", "error"),
        ("stale-resource-record", "warning"),
        ("moved-resource-record", "warning"),
        ("unmanaged-hdfs-path", "warning"),
        ("size-mismatch", "warning"),
        ("dangling-workflow-reference", "warning"),
        ("size-mismatch", "info"),
        ("foreign-entry-in-root", "info"),
    ];
    assert_eq!(found, expected);
    let person = stdout(&run(&["demo"]));
    assert!(person.contains("statewarden demo --keep") && !person.contains("embedded-token"), "{person}");
}
