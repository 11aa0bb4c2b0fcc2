//! The platform of `statewarden demo`: the real program, run against it over HTTP, finds what was put there and nothing else.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;
use statewarden::demo::PLATFORM;
use statewarden::demo::servers::{Options, Platform};
use statewarden::demo::world::World;

/// What the world was made to show.
const EXPECTED: [&str; 12] = [
    "critical checkpoint-in-resource-namespace path=/dolphinscheduler/etl/resources/ckpt_storage",
    "error dangling-workflow-reference workflow=9001 reference=14",
    "error rename-split record=21 path=/dolphinscheduler/etl/resources/conf/regions.csv",
    "error stale-resource-record record=14 path=/dolphinscheduler/etl/resources/sql/close_month.sql",
    "error view-incomplete path=/dolphinscheduler/ops/resources/private",
    "error workflow-writes-checkpoints-into-resources workflow=9002",
    "warning dangling-workflow-reference workflow=9003 reference=77",
    "warning moved-resource-record record=23 path=/dolphinscheduler/etl/resources/models/churn.bin",
    "warning orphan-job-run-dir path=/flink/checkpoints/prod/fraud-scoring/3d94b0f7e1a25c68970f4be2d1c63a58",
    "warning size-mismatch record=19 path=/dolphinscheduler/etl/resources/conf/orders.properties",
    "warning stale-resource-record record=17 path=/dolphinscheduler/etl/resources/jars/orders-etl-1.9.jar",
    "warning unmanaged-hdfs-path path=/dolphinscheduler/etl/resources/exports/orders_full.csv",
];

/// Code, severity and target of each finding of warning and above.
fn found(report: &Value) -> BTreeSet<String> {
    let findings = report["findings"].as_array().expect("findings");
    let text = |finding: &Value, key: &str| match &finding[key] {
        Value::Null => String::new(),
        Value::String(text) => format!(" {key}={text}"),
        other => format!(" {key}={other}"),
    };
    findings
        .iter()
        .filter(|finding| finding["severity"] != "info")
        .map(|finding| {
            let target: String =
                ["record", "workflow", "reference", "path"].iter().map(|key| text(finding, key)).collect();
            format!(
                "{} {}{target}",
                finding["severity"].as_str().unwrap_or("?"),
                finding["code"].as_str().unwrap_or("?")
            )
        })
        .collect()
}

#[test]
fn the_report_shows_what_was_put_there_and_no_healthy_thing() {
    let platform = Platform::start(World::load(PLATFORM, Timestamp::now()).expect("a world"), Options::default());
    let platform = platform.expect("the servers");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("statewarden.toml"), platform.config_toml()).expect("a file");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_statewarden"))
        .args(["drift", "--config", "statewarden.toml", "--output", "json", "--color", "never"])
        .env_clear()
        .env("STATEWARDEN_DS_TOKEN", platform.world.ds_token().expect("a token"))
        .current_dir(folder.path())
        .output()
        .expect("the program");
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(found(&report), EXPECTED.iter().map(|&line| line.to_owned()).collect::<BTreeSet<_>>());
    // Nothing but the one closed directory, and everything else was read.
    assert_eq!(report["could_not_tell"].as_array().map(Vec::len), Some(1), "{report:#}");
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
}
