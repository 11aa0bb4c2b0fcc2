//! The embedded Flink REST against recorded answers of real clusters: asked what was asked, it gives the recorded status,
//! error class and JSON shape.

use jiff::Timestamp;
use serde_json::Value;
use statewarden::demo::servers::{Options, Platform};
use statewarden::demo::world::World;

use crate::raw_http::{Answer, Broken, get, send};
use crate::shape::differences;

const VERSIONS: [&str; 5] = ["1.14.6", "1.17.2", "1.20.5", "2.0.2", "2.3.0"];

/// Job ids of the world below, by the state in the name of a recording.
const JOBS: [(&str, &str); 8] = [
    ("RUNNING", "00000000000000000000000000000001"),
    ("RESTORED-RUNNING", "00000000000000000000000000000002"),
    ("FINISHED", "00000000000000000000000000000003"),
    ("CANCELED", "00000000000000000000000000000004"),
    ("FAILED", "00000000000000000000000000000005"),
    ("INITIALIZING", "00000000000000000000000000000006"),
    ("NO-CHECKPOINTING", "00000000000000000000000000000007"),
    ("EXPIRED", "00000000000000000000000000000004"),
];

/// What a world file cannot say of a job: savepoints, failed checkpoints, the format of a savepoint.
const UNSAID: &[&str] = &["/latest/savepoint", "/latest/failed", "/savepointFormat"];

fn world(version: &str) -> World {
    let checkpoint = |id: &str, n: u32| format!("hdfs://ns1/flink/cp/{id}/chk-{n}");
    let id = |state: &str| JOBS.iter().find(|(name, _)| *name == state).expect("a job").1;
    let (running, restored, finished) = (id("RUNNING"), id("RESTORED-RUNNING"), id("FINISHED"));
    let (canceled, failed, starting, without) =
        (id("CANCELED"), id("FAILED"), id("INITIALIZING"), id("NO-CHECKPOINTING"));
    let text = format!(
        r#"
title: t
config: {{checkpoint_roots: [{{path: /flink/cp, layout: job, clusters: [c, h]}}]}}
flink:
  - cluster: c
    flink_version: "{version}"
    jobs: &jobs
      - {{id: "{running}", name: running, state: RUNNING, started_age: 2h, latest_external_path: "{}"}}
      - {{id: "{restored}", name: restored, state: RUNNING, latest_external_path: "{}", restored_from: "{}"}}
      - {{id: "{finished}", name: finished, state: FINISHED, ended_age: 1h, latest_external_path: "{}"}}
      - {{id: "{canceled}", name: canceled, state: CANCELED, ended_age: 1h, latest_external_path: "{}"}}
      - {{id: "{failed}", name: failed, state: FAILED, ended_age: 1h}}
      - {{id: "{starting}", name: starting, state: INITIALIZING, started_age: 1s}}
      - {{id: "{without}", name: without, state: RUNNING, started_age: 1h}}
  - {{cluster: h, flink_version: "{version}", history: true, jobs: *jobs}}
  - {{cluster: fresh, flink_version: "{version}", task_managers: 0, jobs: []}}
"#,
        checkpoint(running, 3),
        checkpoint(restored, 4),
        checkpoint(canceled, 2),
        checkpoint(finished, 8),
        checkpoint(canceled, 2),
    );
    World::load(&text, Timestamp::now()).expect("a world")
}

fn start(version: &str) -> Platform {
    Platform::start(world(version), Options::default()).expect("the servers")
}

fn url<'a>(platform: &'a Platform, cluster: &str) -> &'a str {
    let found = platform.addresses.flink.iter().find(|(name, _)| name == cluster);
    &found.expect("a cluster").1
}

fn recording(version: &str, file: &str) -> Option<Value> {
    let path = format!("{}/tests/fixtures/flink-rest/{version}/{file}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).ok()?;
    Some(serde_json::from_str(&text).expect("JSON"))
}

/// The first two lines of each error, the job id taken out: what tells one error from another.
fn error_class(value: &Value) -> Vec<String> {
    let lines = |text: &str| text.lines().take(2).filter(|line| !line.starts_with('\t')).collect::<Vec<_>>().join("\n");
    value["errors"].as_array().into_iter().flatten().filter_map(Value::as_str).map(lines).collect()
}

fn check(version: &str, file: &str, status: u16, answer: &Answer) {
    let recorded = recording(version, file).unwrap_or_else(|| panic!("no recording {version}/{file}"));
    let ours = answer.json();
    assert_eq!(answer.status, status, "{version}/{file}");
    assert!(answer.header("content-type").is_some_and(|kind| kind.starts_with("application/json")), "{version}/{file}");
    if recorded.get("errors").is_some() {
        assert_eq!(error_class(&ours), error_class(&recorded), "{version}/{file}");
        return;
    }
    let mut unsaid = UNSAID.to_vec();
    if recorded.pointer("/history/0/status") == Some(&Value::from("FAILED")) {
        unsaid.push("/history");
    }
    assert_eq!(differences(&recorded, &ours, &unsaid), Vec::<String>::new(), "{version}/{file}");
}

#[test]
fn cluster_answers() {
    for version in VERSIONS {
        let platform = start(version);
        let base = url(&platform, "c");
        for (file, path) in [
            ("overview", "/overview"),
            ("ALL.overview", "/overview"),
            ("config", "/config"),
            ("config", "/v1/config"),
            ("taskmanagers", "/taskmanagers"),
            ("jobmanager-config", "/jobmanager/config"),
            ("ALL.jobs", "/jobs"),
            ("ALL.jobs", "/v1/jobs"),
            ("ALL.jobs-overview", "/jobs/overview"),
            ("RUNNING.jobs", "/jobs"),
            ("RUNNING.jobs-overview", "/jobs/overview"),
            ("FINISHED.jobs-overview", "/jobs/overview"),
        ] {
            check(version, file, 200, &get(base, path));
        }
        check(version, "unknown-path", 404, &get(base, "/nope"));
    }
}

#[test]
fn a_jobmanager_that_has_just_started() {
    for version in VERSIONS {
        let platform = start(version);
        let base = url(&platform, "fresh");
        check(version, "startup.overview", 200, &get(base, "/overview"));
        check(version, "startup.jobs", 200, &get(base, "/jobs"));
        check(version, "startup-1.jobs-overview", 200, &get(base, "/jobs/overview"));
        check(version, "JM-RESTARTED.jobs", 200, &get(base, "/jobs"));
        check(version, "JM-RESTARTED.overview", 200, &get(base, "/overview"));
        assert_eq!(get(base, "/overview").json()["taskmanagers"], 0);
    }
}

#[test]
fn answers_about_one_job() {
    for version in VERSIONS {
        let platform = start(version);
        let base = url(&platform, "c");
        for (state, id) in JOBS {
            for (what, path) in [("job", ""), ("checkpoints", "/checkpoints")] {
                let file = format!("{state}.{what}");
                let Some(recorded) = recording(version, &file) else {
                    // No cluster of 1.17.2 ran a job without checkpointing.
                    assert_eq!((version, state), ("1.17.2", "NO-CHECKPOINTING"));
                    continue;
                };
                let status = if recorded.get("errors").is_some() { 500 } else { 200 };
                check(version, &file, status, &get(base, &format!("/jobs/{id}{path}")));
            }
        }
    }
}

#[test]
fn an_initializing_job_answers_500_from_1_20_on_and_an_empty_200_before() {
    let status = |version: &str| {
        let platform = start(version);
        get(url(&platform, "c"), "/jobs/00000000000000000000000000000006/checkpoints").status
    };
    assert_eq!(VERSIONS.map(status), [200, 200, 500, 500, 500]);
}

#[test]
fn unknown_and_malformed_jobs() {
    let unknown = "/jobs/00000000000000000000000000000000";
    for version in VERSIONS {
        let platform = start(version);
        let base = url(&platform, "c");
        check(version, "unknown-job", 404, &get(base, unknown));
        check(version, "unknown-job.checkpoints", 404, &get(base, &format!("{unknown}/checkpoints")));
        check(version, "malformed-job-id", 400, &get(base, "/jobs/zzz"));
    }
}

#[test]
fn history_servers_hold_terminal_jobs_only() {
    for version in VERSIONS {
        let platform = start(version);
        let base = url(&platform, "h");
        check(version, "historyserver.config", 200, &get(base, "/config"));
        check(version, "historyserver.jobs-overview", 200, &get(base, "/jobs/overview"));
        check(version, "historyserver.jobs", 404, &get(base, "/jobs"));
        check(version, "historyserver.overview", 404, &get(base, "/overview"));
        check(version, "historyserver.unknown-job", 404, &get(base, "/jobs/00000000000000000000000000000000"));
        for (state, id) in [JOBS[2], JOBS[3], JOBS[4]] {
            let file = format!("historyserver.{state}.checkpoints");
            check(version, &file, 200, &get(base, &format!("/jobs/{id}/checkpoints")));
        }
        check(version, "historyserver.CANCELED.job", 200, &get(base, &format!("/jobs/{}", JOBS[3].1)));
        assert_eq!(get(base, &format!("/jobs/{}", JOBS[0].1)).status, 404);
    }
}

#[test]
fn values_come_from_the_world() {
    let platform = start("1.20.5");
    let base = url(&platform, "c");
    let restored = get(base, &format!("/jobs/{}/checkpoints", JOBS[1].1)).json();
    let path = |id: &str, n: u32| Value::from(format!("hdfs://ns1/flink/cp/{id}/chk-{n}"));
    assert_eq!(restored["latest"]["completed"]["external_path"], path(JOBS[1].1, 4));
    assert_eq!(restored["latest"]["completed"]["id"], 4);
    assert_eq!(restored["latest"]["restored"]["external_path"], path(JOBS[3].1, 2));
    let job = get(base, &format!("/jobs/{}", JOBS[0].1)).json();
    let (began, now) = (job["start-time"].as_i64().expect("a time"), job["now"].as_i64().expect("a time"));
    assert!((7_200_000..7_260_000).contains(&(now - began)), "{}", now - began);
    let key = |url: &str| get(url, "/jobmanager/config").json()[3].clone();
    assert_eq!(key(base), serde_json::json!({"key": "state.checkpoints.dir", "value": "hdfs://ns1/flink/cp"}));
    let newer = start("2.0.2");
    assert_eq!(key(url(&newer, "c"))["key"], "execution.checkpointing.dir");
}

#[test]
fn faults_change_hold_and_break_answers() {
    let text = r#"
title: t
flink:
  - cluster: c
    jobs: [{id: "00000000000000000000000000000001", name: a, state: RUNNING}]
    faults:
      - {op: jobs, nth: 1, ids: []}
      - {op: jobs-overview, cut: mid_body}
      - {op: overview, cut: before_answer}
      - {op: taskmanagers, timeout: true}
      - {op: config, http: 302, location: "http://rm.example:8088/cluster"}
      - {op: checkpoints, job: "00000000000000000000000000000001", http: 404, errors: [Checkpointing is not enabled for this job.]}
  - {cluster: gone, reachable: false, error: refused, jobs: []}
  - {cluster: mute, reachable: false, error: timeout, jobs: []}
"#;
    let platform = Platform::start(World::load(text, Timestamp::now()).expect("a world"), Options::default())
        .expect("the servers");
    let base = url(&platform, "c");
    let broken = |path: &str| send("GET", base, path, b"").expect_err("a broken answer");
    assert_eq!(get(base, "/jobs").json()["jobs"].as_array().map(Vec::len), Some(0));
    assert_eq!(get(base, "/jobs").json()["jobs"].as_array().map(Vec::len), Some(1));
    assert!(matches!(broken("/jobs/overview"), Broken::InBody(1..)));
    assert_eq!(broken("/overview"), Broken::BeforeAnswer);
    assert_eq!(broken("/taskmanagers"), Broken::Silent);
    let redirect = get(base, "/config");
    assert_eq!((redirect.status, redirect.header("location")), (302, Some("http://rm.example:8088/cluster")));
    let refused = get(base, "/jobs/00000000000000000000000000000001/checkpoints");
    assert_eq!(refused.json(), serde_json::json!({"errors": ["Checkpointing is not enabled for this job."]}));
    assert_eq!(send("GET", url(&platform, "gone"), "/jobs", b"").expect_err("refused"), Broken::Refused);
    assert_eq!(send("GET", url(&platform, "mute"), "/jobs", b"").expect_err("silent"), Broken::Silent);
    let seen: Vec<String> = platform.flink[0].1.faults.log().into_iter().map(|seen| seen.request.op).collect();
    assert_eq!(seen, ["jobs", "jobs", "jobs-overview", "overview", "taskmanagers", "config", "checkpoints"]);
}
