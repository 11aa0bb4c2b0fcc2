//! From a deletion in HDFS to a clean resource page: reported, planned, applied, gone, and nothing beside it touched.
//!
//! HDFS and Flink are real, the resource center is the embedded one of each generation with its files in that HDFS, and a job
//! checkpoints into its resources all the while.

use serde_json::{Value, json};

use super::stage::center::Record;
use super::stage::{Center, Home, Stage};
use super::{
    NameNodes, assert_nothing_serious_but, assert_the_drift_is_found, census, configure, is_wanted, records_with, run,
    run_drift, run_json, with_code,
};

#[tokio::test(flavor = "multi_thread")]
async fn what_a_deletion_in_hdfs_left_behind_is_cleaned_up_and_nothing_else() {
    if !is_wanted("cleaning up on real servers") {
        return;
    }
    let mut stage = Stage::start(NameNodes::Single).await.expect("the lab");
    clean(&stage, &stage.center).await;
    let mut center = start(&stage, Home { version: "3.0.6", base: "/ds-3.0" }).await;
    let_a_reader_in(&mut stage, &mut center);
    clean_beside_a_job(&mut stage, &center).await;
    let center = start(&stage, Home { version: "2.0.9", base: "/ds-2.0" }).await;
    clean_beside_a_job(&mut stage, &center).await;
    let storage = start(&stage, Home { version: "3.2.2", base: "/ds-3.2" }).await;
    submit(&mut stage, &storage);
    only_reports(&stage, &storage).await;
    // Last, since a job whose checkpoints fail starts again.
    safe_mode_stops_it_before_the_first_call(&mut stage).await;
}

/// Another resource center in the same HDFS.
async fn start(stage: &Stage, home: Home) -> Center {
    Center::start(&stage.jvm, home).await.expect("a resource center")
}

/// A job that checkpoints into the resources, with a completed checkpoint.
fn submit(stage: &mut Stage, center: &Center) {
    let Home { version, .. } = center.home;
    command(stage, &format!("submit app-{version} {}", center.home.checkpoint_root()));
    command(stage, &format!("checkpoint app-{version}"));
}

async fn clean_beside_a_job(stage: &mut Stage, center: &Center) {
    submit(stage, center);
    clean(stage, center).await;
    command(stage, &format!("cancel app-{}", center.home.version));
}

/// An account without any right but those of the operator guide reads HDFS from now on. Before it has them, it sees gaps and
/// nothing absent.
fn let_a_reader_in(stage: &mut Stage, center: &mut Center) {
    let Home { base, .. } = center.home;
    command(stage, &format!("dfs -chmod -R 700 {base}"));
    "statewarden".clone_into(&mut center.reader);
    let config = configure(stage, center);
    let report = run_drift(center, &config, 3);
    assert_eq!(records_with(&report, "stale-resource-record"), [].into(), "{report:#}");
    assert!(with_code(&report, "view-incomplete").any(|finding| finding["view"] == "hdfs"), "{report:#}");
    command(stage, &format!("dfs -setfacl -m user:statewarden:r-x {base}"));
    let entries = "user:statewarden:r-x,default:user:statewarden:r-x";
    command(stage, &format!("dfs -setfacl -R -m {entries} {base}/etl"));
}

fn command(stage: &mut Stage, line: &str) {
    tokio::task::block_in_place(|| stage.jvm.command(line)).expect("the lab does it");
}

/// Drift, plan, show, apply, drift; then apply and plan again.
async fn clean(stage: &Stage, center: &Center) {
    let config = &configure(stage, center);
    assert_the_drift_is_found(center, config);
    let file = format!("plan-{}.json", center.home.version);
    let planned = run_json(center, config, &["plan", "--only", "records", "--wait", "-o", &file], 2);
    assert_eq!(targets(&planned["plan"]), leaf_first(center), "{planned:#}");
    assert_eq!(planned["plan"]["held_back"], json!([]), "{planned:#}");
    let shown = run(center, config, &["show", &file], 0);
    assert!(shown.contains("It can be applied"), "{shown}");
    assert_eq!(deletes(center), [0; 0]);

    let before = census::take(&stage.jvm).await;
    let applied = run_json(center, config, &["apply", &file, "--yes"], 0);
    assert_eq!(words(&applied), vec!["Done"; center.stale.len()], "{applied:#}");
    assert_untouched(center, &before, &census::take(&stage.jvm).await);
    let ids: Vec<i64> = leaf_first(center).iter().map(|record| record.id).collect();
    assert_eq!(deletes(center), ids, "one call a record, children first");
    assert_eq!(center.list().await.expect("the list"), center.healthy, "gone, and nothing else is");
    let head = applied["audit_head"].as_str().expect("a head");
    run(center, config, &["audit", "verify", "--head", head], 0);

    let report = run_drift(center, config, 2);
    assert_eq!(records_with(&report, "stale-resource-record"), [].into(), "{report:#}");
    assert_nothing_serious_but(&report, center, 0);
    let again = run_json(center, config, &["apply", &file, "--yes"], 0);
    assert_eq!(words(&again), vec!["AlreadyDone"; center.stale.len()], "{again:#}");
    let anew = run_json(center, config, &["plan", "--only", "records", "-o", "anew.json"], 2);
    assert_eq!((&anew["plan"]["actions"], &anew["plan"]["held_back"]), (&json!([]), &json!([])), "{anew:#}");
    assert_eq!(deletes(center), ids, "no call was made again");
    assert_untouched(center, &before, &census::take(&stage.jvm).await);
}

/// From 3.2 on there is nothing to delete: what points at nothing is reported with the workflow, its owner and the edit.
async fn only_reports(stage: &Stage, center: &Center) {
    let config = &configure(stage, center);
    let before = census::take(&stage.jvm).await;
    let report = run_drift(center, config, 2);
    let dangling: Vec<(&Value, String, &Value)> = with_code(&report, "dangling-workflow-reference")
        .map(|found| (&found["workflow"], found["reference"].to_string(), &found["severity"]))
        .collect();
    let uri = |name: &str| format!("\"{}{}{name}\"", stage.jvm.addresses().hdfs, center.home.resources());
    let (online, offline) = (json!(9001), json!(9002));
    assert_eq!(
        dangling,
        [(&online, uri("/gone.sql"), &json!("error")), (&offline, uri("/reports/daily.sql"), &json!("warning"))],
        "{report:#}"
    );
    for found in with_code(&report, "dangling-workflow-reference") {
        let said = found.to_string();
        assert!(said.contains("owner admin") && said.contains("bind the task to the resource again"), "{said}");
    }
    assert_nothing_serious_but(&report, center, 2);

    let planned = run_json(center, config, &["plan", "--only", "records", "-o", "plan-3.2.2.json"], 2);
    assert_eq!((&planned["plan"]["actions"], &planned["plan"]["held_back"]), (&json!([]), &json!([])), "{planned:#}");
    let shown = run(center, config, &["show", "plan-3.2.2.json"], 0);
    for word in ["9001", "nightly (ONLINE, project 1, owner admin)", "9002", "weekly (OFFLINE, project 1, owner admin)"]
    {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    let applied = run_json(center, config, &["apply", "plan-3.2.2.json", "--yes"], 0);
    assert_eq!(words(&applied), [""; 0], "{applied:#}");
    assert_eq!(deletes(center), [0; 0]);
    assert_untouched(center, &before, &census::take(&stage.jvm).await);
    let there = center.list().await.expect("the list");
    assert!(center.healthy.is_subset(&there) && center.stale.is_disjoint(&there), "{there:?}");
}

/// A file more is deleted, planned, and then the NameNode goes into safe mode: 3.1 would take the row out and leave the error.
async fn safe_mode_stops_it_before_the_first_call(stage: &mut Stage) {
    let config = configure(stage, &stage.center);
    let calls = deletes(&stage.center);
    let path = format!("{}/known.sql", stage.center.home.resources());
    command(stage, &format!("delete {path}"));
    let file = "plan-safe-mode.json";
    let planned = run_json(&stage.center, &config, &["plan", "--only", "records", "--wait", "-o", file], 2);
    let paths: Vec<String> = targets(&planned["plan"]).into_iter().map(|record| record.path).collect();
    assert_eq!(paths, [path], "{planned:#}");
    let listed = stage.center.list().await.expect("the list");
    command(stage, "safemode on");
    let applied = run_json(&stage.center, &config, &["apply", file, "--yes"], 4);
    command(stage, "safemode off");
    assert_eq!(words(&applied), ["NotStarted"], "{applied:#}");
    assert!(applied.to_string().contains("safe mode"), "{applied:#}");
    assert_eq!(deletes(&stage.center), calls);
    assert_eq!(stage.center.list().await.expect("the list"), listed);
}

/// The stale records, deepest first and then by path, as they have to go.
fn leaf_first(center: &Center) -> Vec<Record> {
    let mut stale: Vec<Record> = center.stale.iter().cloned().collect();
    stale.sort_by_key(|record| (std::cmp::Reverse(record.path.matches('/').count()), record.path.clone()));
    stale
}

fn targets(plan: &Value) -> Vec<Record> {
    let actions = plan["actions"].as_array().expect("actions").iter();
    actions
        .map(|action| Record {
            id: action["record"].as_i64().expect("a record"),
            path: action["path"].as_str().expect("a path").to_owned(),
        })
        .collect()
}

fn words(applied: &Value) -> Vec<&str> {
    let outcomes = applied["outcomes"].as_array().expect("outcomes").iter();
    outcomes.map(|outcome| outcome["outcome"].as_str().expect("a word")).collect()
}

/// Ids in the DELETE calls that reached the server, in order.
fn deletes(center: &Center) -> Vec<i64> {
    let log = center.server.server.faults().log();
    let calls = log.iter().filter(|seen| seen.request.method == "DELETE");
    calls.map(|seen| seen.request.record.unwrap_or_default()).collect()
}

/// The whole file system is as it was: the same entries with the same ids, times and bytes.
fn assert_untouched(center: &Center, before: &census::Census, after: &census::Census) {
    for record in &center.healthy {
        assert!(before.contains_key(&record.path), "{} was there", record.path);
    }
    let changed = |one: &census::Census, other: &census::Census| -> Vec<String> {
        one.iter().filter(|(path, what)| other.get(*path) != Some(*what)).map(|(path, _)| path.clone()).collect()
    };
    assert_eq!((changed(before, after), changed(after, before)), (Vec::new(), Vec::new()));
}
