//! The Flink adapter against recorded answers of real clusters (1.14.6 to 2.3.0; `tests/fixtures/flink-rest`, paths and
//! host names neutralised) and against everything that can answer in a cluster's place.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, LOCATION};
use axum::response::Response;
use futures::{StreamExt as _, stream};
use jiff::Timestamp;
use serde_json::{Value, json};
use statewarden::adapters::flink_rest::FlinkRest;
use statewarden::config::valid::Endpoint;
use statewarden::config::{ClusterConfig, Credentials, HttpConfig};
use statewarden::domain::{Age, HdfsUri, JobId, JobState};
use statewarden::ports::read::FlinkRead as _;
use statewarden::views::flink::{ClusterKind, Pointer, Restored};
use statewarden::views::{Cause, ClusterView, Gap, GapKind, JobView};
use url::Url;

const VERSIONS: [&str; 5] = ["1.14.6", "1.17.2", "1.20.5", "2.0.2", "2.3.0"];

/// An id that no recording holds.
const ID: &str = "49b5926251bfc0e5166a1c407ccd1050";

/// What the server does for one question.
#[derive(Clone)]
enum Reply {
    Whole {
        status: u16,
        content_type: &'static str,
        body: String,
    },
    Redirect(String),
    /// Never answers.
    Hang,
    /// Breaks off in the middle of the body.
    Cut,
}

impl Reply {
    fn json(status: u16, body: &Value) -> Self {
        Self::Whole { status, content_type: "application/json; charset=UTF-8", body: body.to_string() }
    }

    fn html(status: u16) -> Self {
        let body = "<html><body>Sign in</body></html>".to_owned();
        Self::Whole { status, content_type: "text/html;charset=utf-8", body }
    }

    fn errors(status: u16, text: &str) -> Self {
        Self::json(status, &json!({ "errors": [text] }))
    }

    fn into_response(self) -> Response {
        let (builder, body) = match self {
            Self::Whole { status, content_type, body } => {
                (Response::builder().status(status).header(CONTENT_TYPE, content_type), Body::from(body))
            }
            Self::Redirect(to) => (Response::builder().status(302).header(LOCATION, to), Body::empty()),
            Self::Cut => {
                // The break comes late enough for the head and the first part to be on their way.
                let rest = stream::once(async {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    Err(std::io::Error::other("cut"))
                });
                let part = stream::iter([Ok("{\"jobs\":[")]).chain(rest);
                (Response::builder().header(CONTENT_TYPE, "application/json"), Body::from_stream(part))
            }
            Self::Hang => (Response::builder(), Body::from_stream(stream::pending::<Result<&str, Infallible>>())),
        };
        builder.body(body).expect("a response")
    }
}

/// The answers by path; several for one path come one after the other, the last one again and again.
#[derive(Default, Clone)]
struct Script(BTreeMap<String, Vec<Reply>>);

impl Script {
    fn on(mut self, path: &str, reply: Reply) -> Self {
        self.0.insert(path.to_owned(), vec![reply]);
        self
    }

    fn then(mut self, path: &str, reply: Reply) -> Self {
        self.0.entry(path.to_owned()).or_default().push(reply);
        self
    }

    /// The same answers below a prefix, and nothing elsewhere.
    fn below(self, prefix: &str) -> Self {
        Self(self.0.into_iter().map(|(path, replies)| (format!("{prefix}{path}"), replies)).collect())
    }
}

/// Path and `Authorization` of a request.
type Question = (String, Option<String>);

#[derive(Clone)]
struct Fake {
    script: Arc<Script>,
    asked: Arc<Mutex<Vec<Question>>>,
    url: Url,
}

impl Fake {
    async fn start(script: Script) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let url = Url::parse(&format!("http://{address}")).expect("a url");
        let fake = Self { script: Arc::new(script), asked: Arc::default(), url };
        let app = Router::new().fallback(answer).with_state(fake.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        fake
    }

    fn paths(&self) -> Vec<String> {
        self.asked.lock().expect("a lock").iter().map(|(path, _)| path.clone()).collect()
    }
}

async fn answer(State(fake): State<Fake>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let token = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let before = {
        let mut asked = fake.asked.lock().expect("a lock");
        asked.push((path.clone(), token));
        asked.iter().filter(|(one, _)| *one == path).count() - 1
    };
    let reply = match fake.script.0.get(&path) {
        Some(replies) => replies[before.min(replies.len() - 1)].clone(),
        None => Reply::errors(404, &format!("Unable to load requested file {path}.")),
    };
    if matches!(reply, Reply::Hang) {
        tokio::time::sleep(Duration::from_mins(1)).await;
    }
    reply.into_response()
}

fn recorded(version: &str, name: &str) -> String {
    let file = format!("{}/tests/fixtures/flink-rest/{version}/{name}.json", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{file}: {e}"))
}

fn recording(version: &str, name: &str) -> Reply {
    let body = recorded(version, name);
    let status = match name {
        "INITIALIZING.checkpoints" if body.contains("errors") => 500,
        _ if body.contains("\"errors\"") => 404,
        _ => 200,
    };
    // A history server sends the files of its archive without a character set.
    Reply::Whole { status, content_type: "application/json", body }
}

/// The id of a job by its name in a recorded `/jobs/overview`.
fn id_of(version: &str, list: &str, name: &str) -> String {
    let body: Value = serde_json::from_str(&recorded(version, list)).expect("json");
    let jobs = body["jobs"].as_array().expect("jobs");
    let job = jobs.iter().find(|job| job["name"] == name).expect("the job");
    job["jid"].as_str().expect("an id").to_owned()
}

/// The moments of a recorded cluster and the job that each of them is about.
const JOB_OF: [(&str, &str); 8] = [
    ("INITIALIZING", "init-job"),
    ("RUNNING", "running-job"),
    ("RUNNING-after-savepoint", "running-job"),
    ("FINISHED", "running-job"),
    ("CANCELED", "cancel-job"),
    ("RESTORED-RUNNING", "restored-job"),
    ("FAILED", "failed-job"),
    ("RESTARTING", "restarting-job"),
];

/// A recorded cluster at one moment. The job that runs from the first moment on was recorded while it started only.
fn moment(version: &str, moment: &str) -> Script {
    let list = format!("{moment}.jobs-overview");
    let live = recorded(version, &list).matches("\"RUNNING\"").count()
        + recorded(version, &list).matches("\"RESTARTING\"").count();
    let mut script = Script::default()
        .on("/config", recording(version, "config"))
        // Both were recorded: with two live jobs, and with one.
        .on("/overview", recording(version, if live == 2 { "overview" } else { "ALL.overview" }))
        .on("/jobmanager/config", recording(version, "jobmanager-config"))
        .on("/jobs", recording(version, &format!("{moment}.jobs")))
        .on("/jobs/overview", recording(version, &list));
    for (earlier, name) in JOB_OF {
        let id = id_of(version, &format!("{earlier}.jobs-overview"), name);
        script = script.on(&format!("/jobs/{id}/checkpoints"), recording(version, &format!("{earlier}.checkpoints")));
        if earlier == moment {
            break;
        }
    }
    script
}

fn history(version: &str) -> Script {
    let mut script = Script::default()
        .on("/config", recording(version, "historyserver.config"))
        .on("/overview", recording(version, "historyserver.overview"))
        .on("/jobs", recording(version, "historyserver.jobs"))
        .on("/jobs/overview", recording(version, "historyserver.jobs-overview"));
    for (state, name) in [
        ("CANCELED", "cancel-job"),
        ("FINISHED", "running-job"),
        ("FAILED", "failed-job"),
        ("RESTORED-CANCELED", "restored-job"),
    ] {
        let id = id_of(version, "historyserver.jobs-overview", name);
        let file = format!("historyserver.{state}.checkpoints");
        script = script.on(&format!("/jobs/{id}/checkpoints"), recording(version, &file));
    }
    script
}

/// A small cluster of the given `(id, state)` jobs with one TaskManager.
fn small(jobs: &[(&str, &str)]) -> Script {
    let live = jobs.iter().filter(|(_, state)| !matches!(*state, "FINISHED" | "CANCELED" | "FAILED")).count();
    let script = Script::default()
        .on("/config", Reply::json(200, &json!({"flink-version": "1.20.5", "features": {"web-history": false}})))
        .on("/overview", overview(1, live))
        .on("/jobmanager/config", directories("hdfs://ns1/flink/ckpt"))
        .on("/jobs", jobs_list(jobs))
        .on("/jobs/overview", overview_list(jobs));
    jobs.iter().fold(script, |script, (id, _)| script.on(&format!("/jobs/{id}/checkpoints"), checkpoints()))
}

fn overview(task_managers: u64, running: usize) -> Reply {
    let body = json!({"taskmanagers": task_managers, "jobs-running": running, "jobs-finished": 9, "jobs-cancelled": 9,
        "jobs-failed": 9, "flink-version": "1.20.5"});
    Reply::json(200, &body)
}

fn directories(checkpoints: &str) -> Reply {
    Reply::json(200, &json!([{"key": "state.checkpoints.dir", "value": checkpoints}]))
}

fn jobs_list(jobs: &[(&str, &str)]) -> Reply {
    let list: Vec<Value> = jobs.iter().map(|(id, state)| json!({"id": id, "status": state})).collect();
    Reply::json(200, &json!({ "jobs": list }))
}

fn overview_list(jobs: &[(&str, &str)]) -> Reply {
    let list: Vec<Value> = jobs.iter().map(|(id, state)| job_details(id, state)).collect();
    Reply::json(200, &json!({ "jobs": list }))
}

fn job_details(id: &str, state: &str) -> Value {
    json!({"jid": id, "name": format!("job-{}", &id[..2]), "state": state, "start-time": 1_795_964_000_000_i64, "end-time": -1})
}

fn checkpoints() -> Reply {
    let entry = json!({"id": 7, "status": "COMPLETED", "is_savepoint": false, "discarded": false,
        "latest_ack_timestamp": 1_795_964_070_336_i64, "external_path": "hdfs:/flink/ckpt/x/chk-7"});
    Reply::json(200, &json!({"latest": {"completed": entry}, "history": [entry]}))
}

fn config(url: &Url) -> ClusterConfig {
    ClusterConfig {
        name: "c1".to_owned(),
        endpoint: Endpoint::Url(url.clone()),
        history: false,
        retired: false,
        checkpoint_dir: None,
        min_live_jobs: 0,
        http: HttpConfig {
            timeout: Age::from_seconds(10),
            ca_file: None,
            credentials: Credentials::None,
            max_concurrency: 4,
            requests_per_second: None,
        },
    }
}

fn reader(config: &ClusterConfig) -> FlinkRest {
    // Several tests may come here first; whoever does installs the same one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    FlinkRest::new(config).expect("a client")
}

async fn read_with(script: Script, set: impl FnOnce(&mut ClusterConfig)) -> ClusterView {
    let fake = Fake::start(script).await;
    let mut config = config(&fake.url);
    set(&mut config);
    reader(&config).fetch_cluster().await
}

async fn read(script: Script) -> ClusterView {
    read_with(script, |_| {}).await
}

fn job<'a>(view: &'a ClusterView, name: &str) -> &'a JobView {
    view.jobs.iter().find(|job| job.name == name).unwrap_or_else(|| panic!("{name} in {view:?}"))
}

fn only_gap(view: &ClusterView) -> &Gap {
    assert_eq!(view.gaps.len(), 1, "{:?}", view.gaps);
    assert_eq!(view.gaps[0].cluster.as_deref(), Some("c1"));
    assert!(!view.gaps[0].detail.contains('\n'));
    &view.gaps[0]
}

fn millis(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).expect("a time")
}

fn path_of(pointer: &Pointer) -> &str {
    match pointer {
        Pointer::Other { text } => text,
        other => panic!("recorded on a local file system, not {other:?}"),
    }
}

/// What a person reads in `RUNNING.*`: version, id of `running-job`, number and end of its latest checkpoint.
const RUNNING: [(&str, &str, i64, i64); 5] = [
    ("1.14.6", "e5aec676a0dbad3a833b87d0c351afac", 4, 1_795_964_070_336),
    ("1.17.2", "bfc77e141a7188cbe8d349f6d8200e66", 3, 1_795_964_080_274),
    ("1.20.5", "09d2d27f01870df1c5256e1e7e562f36", 3, 1_795_963_758_791),
    ("2.0.2", "3167a265e5ee5559cb5fd45363f9f36c", 3, 1_795_964_738_035),
    ("2.3.0", "f519c69900af0570a8ada96ac17ba545", 3, 1_795_964_586_292),
];

#[tokio::test]
async fn a_running_job_of_each_version() {
    for (version, id, number, completed) in RUNNING {
        let view = read(moment(version, "RUNNING")).await;
        assert_eq!(view.gaps, [], "{version}");
        assert_eq!(
            (view.kind, view.version.as_deref(), view.task_managers),
            (ClusterKind::Live, Some(version), Some(1))
        );
        assert_eq!(view.checkpoint_dir, Some(format!("file:/data/flink/rest/{version}/checkpoints")));
        assert_eq!(view.savepoint_dir, Some(format!("file:/data/flink/rest/{version}/savepoints")));
        assert_eq!(view.jobs.len(), 2);
        let job = job(&view, "running-job");
        assert_eq!((job.id.as_str(), &job.state, job.ended), (id, &JobState::Running, None));
        let latest = job.latest.as_ref().expect("a checkpoint");
        assert_eq!((latest.id, latest.savepoint, latest.completed), (number, false, Some(millis(completed))));
        let root = format!("file:/data/flink/rest/{version}/checkpoints/{id}");
        assert_eq!(path_of(&latest.pointer), format!("{root}/chk-{number}"));
        // num-retained is 2 on these clusters, older ones are marked as discarded.
        let retained: Vec<&str> = job.retained.iter().map(|point| path_of(&point.pointer)).collect();
        assert_eq!(retained, [format!("{root}/chk-{number}"), format!("{root}/chk-{}", number - 1)]);
        assert_eq!(job.restored, Restored::NoneShown);
    }
}

#[tokio::test]
async fn start_times_are_those_of_the_recording() {
    let view = read(moment("1.14.6", "CANCELED")).await;
    let canceled = job(&view, "cancel-job");
    assert_eq!(canceled.state, JobState::Canceled);
    assert_eq!(canceled.started, Some(millis(1_795_964_074_498)));
    assert_eq!(canceled.ended, Some(millis(1_795_964_078_456)));
    assert_eq!(canceled.latest.as_ref().map(|point| point.id), Some(2));
    assert_eq!(canceled.retained.len(), 2);
}

#[tokio::test]
async fn a_savepoint_is_retained_beside_the_latest_checkpoint() {
    for (version, latest, retained) in [
        ("1.14.6", 5, vec![6, 5]),
        ("1.17.2", 9, vec![9, 8, 6, 5]),
        ("1.20.5", 8, vec![8, 6, 5, 4]),
        ("2.0.2", 7, vec![7, 5, 4, 3]),
        ("2.3.0", 8, vec![8, 6, 5, 4]),
    ] {
        let view = read(moment(version, "RUNNING-after-savepoint")).await;
        assert_eq!(view.gaps, [], "{version}");
        let job = job(&view, "running-job");
        assert_eq!(job.latest.as_ref().map(|point| (point.id, point.savepoint)), Some((latest, false)), "{version}");
        assert_eq!(job.retained.iter().map(|point| point.id).collect::<Vec<_>>(), retained, "{version}");
        let savepoint = job.retained.iter().find(|point| point.savepoint).expect("a savepoint");
        assert!(path_of(&savepoint.pointer).contains(&format!("savepoint-{}", &job.id.as_str()[..6])));
    }
}

#[tokio::test]
async fn a_stopped_job_left_its_savepoint() {
    for (version, savepoint) in [("1.14.6", 8), ("1.17.2", 10), ("1.20.5", 9), ("2.0.2", 8), ("2.3.0", 9)] {
        let view = read(moment(version, "FINISHED")).await;
        assert_eq!(view.gaps, [], "{version}");
        let job = job(&view, "running-job");
        assert_eq!(job.state, JobState::Finished);
        assert!(job.ended.is_some());
        let latest = job.latest.as_ref().expect("a savepoint");
        assert_eq!((latest.id, latest.savepoint), (savepoint, true), "{version}");
    }
}

#[tokio::test]
async fn a_starting_job_hides_its_restore_path_and_is_no_gap() {
    for version in VERSIONS {
        let view = read(moment(version, "INITIALIZING")).await;
        assert_eq!(view.gaps, [], "{version}");
        let job = job(&view, "init-job");
        assert_eq!(job.state, JobState::Initializing);
        assert!(matches!(job.restored, Restored::Unknown { .. }), "{version}: {:?}", job.restored);
        assert_eq!((&job.latest, job.ended), (&None, None));
    }
}

#[tokio::test]
async fn a_restored_job_names_where_it_came_from() {
    for (version, id, from) in [
        ("1.14.6", "313f07f27552c7ed6ebad859b0424171", "a9c58fc622a2ec15bc4fa3413954d871"),
        ("1.17.2", "8012c19579525795e8d88b8781732ba9", "b1a58e929fe1aa0a21595b3b70d53fdf"),
        ("1.20.5", "58f03d6e4dcaa44f341db5427e944439", "8032394ff68becf75b04509026946e8b"),
        ("2.0.2", "e9bc27164a6d982f227a091f677d174e", "6bb58ea9b63da847900261698785d3c7"),
        ("2.3.0", "3695e741357f2e0eecd149ebed998718", "91f4f9a8ab202103823c46db08269085"),
    ] {
        let view = read(moment(version, "RESTORED-RUNNING")).await;
        assert_eq!(view.gaps, [], "{version}");
        let job = job(&view, "restored-job");
        assert_eq!(job.id.as_str(), id);
        let Restored::From { pointer } = &job.restored else { panic!("{version}: {:?}", job.restored) };
        assert_eq!(path_of(pointer), format!("file:/data/flink/rest/{version}/checkpoints/{from}/chk-2"));
        assert_eq!(job.latest.as_ref().map(|point| point.id), Some(4));
    }
}

#[tokio::test]
async fn failed_and_restarting_jobs_show_nothing_to_restore() {
    for version in VERSIONS {
        let view = read(moment(version, "RESTARTING")).await;
        assert_eq!(view.gaps, [], "{version}");
        let failed = job(&view, "failed-job");
        assert_eq!((&failed.state, &failed.latest, failed.is_live()), (&JobState::Failed, &None, false));
        let restarting = job(&view, "restarting-job");
        assert_eq!(restarting.state, JobState::Other("RESTARTING".to_owned()));
        assert!(restarting.is_live() && restarting.retained.is_empty());
        assert_eq!(restarting.restored, Restored::NoneShown);
    }
}

#[tokio::test]
async fn counts_of_ended_jobs_do_not_contradict_a_list_that_forgot_them() {
    // In 1.14.6 two ended jobs have expired from the list; `/overview` never counts them down.
    let script = moment("1.14.6", "FAILED")
        .on("/jobs", recording("1.14.6", "EXPIRED.jobs"))
        .on("/jobs/overview", recording("1.14.6", "EXPIRED.jobs-overview"));
    let view = read(script).await;
    assert_eq!(view.gaps, []);
    assert_eq!(view.jobs.len(), 6);
}

#[tokio::test]
async fn a_young_job_manager_is_no_empty_cluster() {
    for version in VERSIONS {
        for (jobs, listed, overview) in [
            ("startup.jobs", "startup-1.jobs-overview", "startup.overview"),
            ("JM-RESTARTED.jobs", "startup-1.jobs-overview", "JM-RESTARTED.overview"),
        ] {
            let script = moment(version, "INITIALIZING")
                .on("/overview", recording(version, overview))
                .on("/jobs", recording(version, jobs))
                .on("/jobs/overview", recording(version, listed));
            let view = read(script).await;
            assert_eq!((view.jobs.len(), view.task_managers), (0, Some(0)));
            assert_eq!((only_gap(&view).cause, only_gap(&view).kind), (Cause::TooYoung, GapKind::Incomplete));
        }
    }
}

#[tokio::test]
async fn a_history_server_of_each_version() {
    for (version, savepoint) in [("1.14.6", 8), ("1.17.2", 10), ("1.20.5", 9), ("2.0.2", 8), ("2.3.0", 9)] {
        let view = read_with(history(version), |config| config.history = true).await;
        assert_eq!(view.gaps, [], "{version}");
        assert_eq!((view.kind, view.version.as_deref()), (ClusterKind::History, Some(version)));
        assert!(view.jobs.iter().all(|job| !job.is_live() && job.ended.is_some()));
        let canceled = job(&view, "cancel-job");
        assert_eq!(canceled.latest.as_ref().map(|point| point.id), Some(2));
        assert_eq!(job(&view, "running-job").latest.as_ref().map(|point| point.id), Some(savepoint), "{version}");
        let Restored::From { pointer } = &job(&view, "restored-job").restored else { panic!("{version}") };
        assert!(path_of(pointer).ends_with(&format!("{}/chk-2", canceled.id)));
        assert_eq!(job(&view, "failed-job").latest, None);
        // Not archived: unknown, and no gap.
        assert!(matches!(job(&view, "restarting-job").restored, Restored::Unknown { .. }));
    }
}

#[tokio::test]
async fn an_archive_says_no_checkpointing_with_status_200() {
    let script = small(&[(ID, "CANCELED")])
        .on("/config", recording("1.20.5", "historyserver.config"))
        .on(&format!("/jobs/{ID}/checkpoints"), Reply::errors(200, "Checkpointing has not been enabled."));
    let view = read_with(script, |config| config.history = true).await;
    assert_eq!((view.gaps.len(), &view.jobs[0].restored), (0, &Restored::NoneShown));
}

#[tokio::test]
async fn the_wrong_kind_of_server_is_named() {
    for version in VERSIONS {
        let archive = read(history(version)).await;
        assert_eq!(archive.kind, ClusterKind::History, "{version}");
        let gap = only_gap(&archive);
        assert!(gap.cause == Cause::NotConfigured && gap.detail.contains("history = true"), "{gap:?}");
        assert!(!archive.jobs.is_empty(), "what it archives still counts");

        let live = read_with(moment(version, "RUNNING"), |config| config.history = true).await;
        assert_eq!(live.kind, ClusterKind::Live, "live jobs must count as such: {version}");
        assert!(only_gap(&live).detail.contains("JobManager"), "{:?}", live.gaps);
        assert_eq!(live.jobs.len(), 2);
    }
}

#[tokio::test]
async fn a_prefix_is_kept_with_or_without_a_slash() {
    for slash in ["", "/"] {
        let fake = Fake::start(moment("1.20.5", "RUNNING").below("/gateway/flink%20a")).await;
        let url = fake.url.join(&format!("/gateway/flink%20a{slash}")).expect("a url");
        let view = reader(&config(&url)).fetch_cluster().await;
        assert_eq!((view.gaps.len(), view.jobs.len()), (0, 2));
        assert!(fake.paths().iter().all(|path| path.starts_with("/gateway/flink%20a/") && !path.contains("//")));
    }
}

#[tokio::test]
async fn each_question_is_asked_once() {
    let fake = Fake::start(small(&[(ID, "RUNNING")])).await;
    reader(&config(&fake.url)).fetch_cluster().await;
    let mut paths = fake.paths();
    paths.sort();
    let checkpoints = format!("/jobs/{ID}/checkpoints");
    assert_eq!(paths, ["/config", "/jobmanager/config", "/jobs", &checkpoints, "/jobs/overview", "/overview"]);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Fake::start(small(&[])).await;
    let to = format!(
        "{}?user=x&token=secret",
        elsewhere.url.join("/cluster/app/application_1700000000000_0042").expect("a url")
    );
    let script = ["/config", "/overview", "/jobs", "/jobs/overview"]
        .into_iter()
        .fold(Script::default(), |script, path| script.on(path, Reply::Redirect(to.clone())));
    let view = read(script).await;
    let gap = only_gap(&view);
    assert_eq!(gap.cause, Cause::NotUnderstood);
    assert!(gap.detail.contains("/cluster/app/application_1700000000000_0042,"), "{}", gap.detail);
    assert!(gap.detail.contains("finished application") && !gap.detail.contains("secret"), "{}", gap.detail);
    assert!(elsewhere.paths().is_empty());
    assert!(view.jobs.is_empty());
}

#[tokio::test]
async fn a_dead_application_id_gets_the_yarn_hint() {
    let fake =
        Fake::start(Script::default().on("/proxy/application_1700000000000_0042/config", Reply::html(404))).await;
    let url = fake.url.join("/proxy/application_1700000000000_0042/").expect("a url");
    let view = reader(&config(&url)).fetch_cluster().await;
    assert!(only_gap(&view).detail.contains("yarn_resource_manager"));
}

#[tokio::test]
async fn what_answers_in_place_of_a_cluster_is_a_typed_gap() {
    let electing = "Service temporarily unavailable due to an ongoing leader election. Please refresh.";
    for (reply, cause) in [
        (Reply::html(200), Cause::NotUnderstood),
        (Reply::html(404), Cause::NotUnderstood),
        (Reply::html(401), Cause::NotAuthorized),
        (Reply::json(403, &json!({})), Cause::NotAuthorized),
        (Reply::html(503), Cause::ServerError),
        (Reply::errors(503, electing), Cause::TooYoung),
        (Reply::Cut, Cause::CutShort),
    ] {
        let view = read(small(&[]).on("/config", reply)).await;
        assert_eq!((only_gap(&view).cause, only_gap(&view).kind), (cause, GapKind::Incomplete));
        assert!(view.jobs.is_empty());
    }
}

#[tokio::test]
async fn nobody_answers() {
    let mut silent = config(&Url::parse("http://127.0.0.1:9/").expect("a url"));
    assert_eq!(only_gap(&reader(&silent).fetch_cluster().await).cause, Cause::Unreachable);
    let fake = Fake::start(small(&[]).on("/config", Reply::Hang)).await;
    silent.endpoint = Endpoint::Url(fake.url.clone());
    silent.http.timeout = Age::from_seconds(1);
    assert_eq!(only_gap(&reader(&silent).fetch_cluster().await).cause, Cause::TimedOut);
}

#[tokio::test]
async fn one_failing_list_is_a_gap_and_the_other_one_counts() {
    for (path, reply, cause) in [
        ("/jobs", Reply::errors(500, "Internal server error."), Cause::ServerError),
        ("/jobs", Reply::json(200, &json!({"status": "up"})), Cause::NotUnderstood),
        ("/jobs", Reply::json(200, &json!({"jobs": [{"status": "RUNNING"}]})), Cause::NotUnderstood),
        ("/jobs/overview", Reply::html(200), Cause::NotUnderstood),
        ("/jobs/overview", Reply::Cut, Cause::CutShort),
        ("/overview", Reply::errors(500, "Internal server error."), Cause::ServerError),
        ("/config", Reply::errors(500, "Internal server error."), Cause::ServerError),
    ] {
        let view = read(small(&[(ID, "RUNNING")]).on(path, reply)).await;
        assert_eq!(only_gap(&view).cause, cause, "{path}");
        assert_eq!(view.jobs.len(), 1, "{path}");
    }
}

#[tokio::test]
async fn checkpoints_that_cannot_be_read_are_a_gap_for_a_live_job() {
    let path = format!("/jobs/{ID}/checkpoints");
    for reply in [Reply::errors(500, "Internal server error."), Reply::html(200), Reply::json(200, &json!({}))] {
        let view = read(small(&[(ID, "RUNNING")]).on(&path, reply.clone())).await;
        assert!(only_gap(&view).detail.contains(&path));
        assert!(matches!(view.jobs[0].restored, Restored::Unknown { .. }));
        let ended = read(small(&[(ID, "FINISHED")]).on(&path, reply)).await;
        assert_eq!(ended.gaps, []);
    }
    let unknown = read(small(&[(ID, "RUNNING")]).on(&path, recording("2.3.0", "unknown-job.checkpoints"))).await;
    assert_eq!(only_gap(&unknown).cause, Cause::NotUnderstood);
}

#[tokio::test]
async fn no_checkpointing_is_no_gap() {
    let path = format!("/jobs/{ID}/checkpoints");
    for text in ["Checkpointing has not been enabled.", "Checkpointing is not enabled for this job."] {
        let view = read(small(&[(ID, "RUNNING")]).on(&path, Reply::errors(404, text))).await;
        assert_eq!((&view.gaps[..], &view.jobs[0].latest), (&[][..], &None));
        assert_eq!(view.jobs[0].restored, Restored::NoneShown);
    }
}

#[tokio::test]
async fn a_state_that_is_not_addressable_has_no_path() {
    let entry = json!({"id": 7, "status": "COMPLETED", "external_path": "<checkpoint-not-externally-addressable>"});
    let script = small(&[(ID, "RUNNING")]).on(
        &format!("/jobs/{ID}/checkpoints"),
        Reply::json(200, &json!({"latest": {"completed": entry}, "history": null})),
    );
    let view = read(script).await;
    assert_eq!(view.jobs[0].latest.as_ref().map(|point| &point.pointer), Some(&Pointer::NotAddressable));
}

#[tokio::test]
async fn lists_that_differ_once_are_read_again() {
    let other = "a".repeat(32);
    let both = [(ID, "RUNNING"), (other.as_str(), "RUNNING")];
    // The second job started between the two calls.
    let script = small(&both)
        .on("/overview", overview(1, 1))
        .on("/jobs", jobs_list(&both[..1]))
        .then("/jobs", jobs_list(&both))
        .on(&format!("/jobs/{other}"), Reply::json(200, &job_details(&other, "RUNNING")));
    let view = read(script).await;
    assert_eq!((view.gaps.len(), view.jobs.len()), (0, 2));
}

#[tokio::test]
async fn a_job_that_appears_late_is_no_contradiction() {
    let script = small(&[(ID, "RUNNING")])
        .on("/jobs", jobs_list(&[]))
        .then("/jobs", jobs_list(&[(ID, "RUNNING")]))
        .on("/jobs/overview", overview_list(&[]))
        .then("/jobs/overview", overview_list(&[(ID, "RUNNING")]));
    let view = read(script).await;
    assert_eq!((view.gaps.len(), view.jobs.len()), (0, 1));
}

#[tokio::test]
async fn lists_that_keep_differing_are_a_contradiction() {
    let other = "a".repeat(32);
    let both = [(ID, "RUNNING"), (other.as_str(), "RUNNING")];
    let script = small(&both)
        .on("/jobs/overview", overview_list(&both[..1]))
        .on(&format!("/jobs/{other}"), Reply::json(200, &job_details(&other, "RUNNING")));
    let fake = Fake::start(script).await;
    let view = reader(&config(&fake.url)).fetch_cluster().await;
    let gap = only_gap(&view);
    assert_eq!((gap.kind, gap.cause), (GapKind::Contradiction, Cause::Disagreement));
    assert!(gap.detail.contains(&other) && !gap.detail.contains(ID), "{}", gap.detail);
    assert_eq!(job(&view, "job-aa").state, JobState::Running, "asked by its id");
    assert_eq!(fake.paths().iter().filter(|path| *path == "/jobs").count(), 3);
}

#[tokio::test]
async fn a_half_listed_job_is_asked_for_by_its_id() {
    let listed = [(ID, "RUNNING")];
    let path = format!("/jobs/{ID}");
    let differing = || small(&listed).on("/jobs", jobs_list(&[])).then("/jobs", jobs_list(&listed));
    let gone = read(differing().on(&path, recording("1.20.5", "unknown-job"))).await;
    assert_eq!((gone.gaps.len(), gone.jobs.len()), (0, 1), "a negative answer; the union still counts");
    let failed = read(differing().on(&path, Reply::errors(500, "Internal server error."))).await;
    assert_eq!(only_gap(&failed).cause, Cause::ServerError);
    let other_404 = read(differing().on(&path, recording("1.20.5", "unknown-path"))).await;
    assert_eq!(only_gap(&other_404).cause, Cause::NotUnderstood);
}

#[tokio::test]
async fn an_overview_that_counts_more_live_jobs_is_a_contradiction() {
    let view = read(small(&[(ID, "RUNNING")]).on("/overview", overview(1, 2))).await;
    assert_eq!(only_gap(&view).kind, GapKind::Contradiction);
    let lagging = read(small(&[(ID, "RUNNING")]).on("/overview", overview(1, 0))).await;
    assert_eq!(lagging.gaps, []);
    let once = read(small(&[(ID, "RUNNING")]).on("/overview", overview(1, 2)).then("/overview", overview(1, 1))).await;
    assert_eq!(once.gaps, []);
}

#[tokio::test]
async fn few_jobs_and_few_task_managers() {
    let empty = read(small(&[])).await;
    assert_eq!((empty.gaps.len(), empty.jobs.len()), (0, 0), "a session cluster may be idle");
    let waiting = read(small(&[(ID, "CREATED")]).on("/overview", overview(0, 1))).await;
    assert_eq!(waiting.gaps, [], "no TaskManager yet, but a job is listed");
    let few = read_with(small(&[(ID, "RUNNING")]), |config| config.min_live_jobs = 2).await;
    assert_eq!(only_gap(&few).cause, Cause::TooYoung);
    assert!(only_gap(&few).detail.contains("min_live_jobs"));
    let enough = read_with(small(&[(ID, "RUNNING")]), |config| config.min_live_jobs = 1).await;
    assert_eq!(enough.gaps, []);
}

#[tokio::test]
async fn task_managers_are_counted_if_the_overview_does_not_tell() {
    let script = small(&[])
        .on("/overview", Reply::json(200, &json!({"jobs-running": 0})))
        .on("/taskmanagers", recording("1.20.5", "taskmanagers"));
    let view = read(script).await;
    assert_eq!((view.task_managers, view.gaps.len()), (Some(1), 0));
}

#[tokio::test]
async fn a_retired_cluster_may_be_silent_but_its_jobs_count() {
    let retire = |config: &mut ClusterConfig| config.retired = true;
    for script in [small(&[]).on("/config", Reply::html(404)), small(&[]).on("/overview", overview(0, 0))] {
        let view = read_with(script, retire).await;
        assert_eq!((view.gaps.len(), view.jobs.len(), view.retired), (0, 0, true));
    }
    let mut silent = config(&Url::parse("http://127.0.0.1:9/").expect("a url"));
    retire(&mut silent);
    assert_eq!(reader(&silent).fetch_cluster().await.gaps, []);
    let view = read_with(small(&[(ID, "RUNNING")]), retire).await;
    assert_eq!(view.jobs.len(), 1);
}

#[tokio::test]
async fn the_configured_directory_must_be_the_one_shown() {
    let expect = |text: &str| {
        let uri = HdfsUri::parse(text).expect("a uri");
        move |config: &mut ClusterConfig| config.checkpoint_dir = Some(uri)
    };
    let same = read_with(small(&[]), expect("hdfs:///flink/ckpt")).await;
    assert_eq!(same.gaps, []);
    let other = read_with(small(&[]), expect("hdfs://ns1/flink/other")).await;
    let gap = only_gap(&other);
    assert_eq!(gap.kind, GapKind::Contradiction);
    assert!(gap.detail.contains("hdfs://ns1/flink/other") && gap.detail.contains("hdfs://ns1/flink/ckpt"));
    let failing = || small(&[]).on("/jobmanager/config", Reply::errors(500, "Internal server error."));
    assert_eq!(only_gap(&read_with(failing(), expect("hdfs:///flink/ckpt")).await).cause, Cause::ServerError);
    let unasked = read(failing()).await;
    assert_eq!((unasked.gaps.len(), unasked.checkpoint_dir), (0, None));
}

#[tokio::test]
async fn credentials_are_sent_and_never_told() {
    let fake = Fake::start(small(&[]).on("/jobs", Reply::html(401))).await;
    let mut config = config(&fake.url);
    config.http.credentials = Credentials::Bearer("very-secret".to_owned().into());
    let view = reader(&config).fetch_cluster().await;
    assert!(!format!("{view:?}").contains("very-secret"));
    assert_eq!(only_gap(&view).cause, Cause::NotAuthorized);
    let asked = fake.asked.lock().expect("a lock");
    assert!(asked.iter().all(|(_, token)| token.as_deref() == Some("Bearer very-secret")));
}

#[tokio::test]
async fn many_jobs_in_a_session_cluster() {
    let ids: Vec<String> = (0..150).map(|n| format!("{n:032x}")).collect();
    let jobs: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), "RUNNING")).collect();
    let view = read(small(&jobs)).await;
    assert_eq!((view.gaps.len(), view.jobs.len()), (0, 150));
    assert!(view.jobs.is_sorted_by_key(|job| job.id.clone()));
    assert!(view.jobs.iter().all(|job| job.latest.as_ref().is_some_and(|point| point.id == 7)));
}

#[tokio::test]
async fn the_latest_restore_point_can_be_asked_for_again() {
    let id = JobId::parse(ID).expect("an id");
    let path = format!("/jobs/{ID}/checkpoints");
    let fake = Fake::start(small(&[(ID, "RUNNING")])).await;
    let latest = reader(&config(&fake.url)).fetch_latest(&id).await.expect("an answer").expect("a checkpoint");
    assert_eq!((latest.id, latest.pointer), (7, Pointer::parse("hdfs:/flink/ckpt/x/chk-7")));
    assert_eq!(fake.paths(), [path.as_str()]);
    let none = Fake::start(small(&[]).on(&path, Reply::errors(404, "Checkpointing has not been enabled."))).await;
    assert_eq!(reader(&config(&none.url)).fetch_latest(&id).await, Ok(None));
    let failing = Fake::start(small(&[]).on(&path, Reply::html(502))).await;
    let gap = reader(&config(&failing.url)).fetch_latest(&id).await.expect_err("a gap");
    assert_eq!((gap.cause, gap.cluster.as_deref()), (Cause::ServerError, Some("c1")));
}

/// A ResourceManager that knows the given applications, with the cluster behind its proxy.
fn yarn(apps: &Value, cluster: Script) -> Script {
    let mut script = cluster.below("/proxy/application_1700000000000_0007");
    script = script.on("/ws/v1/cluster/apps", Reply::json(200, apps));
    script
}

async fn read_yarn(script: Script, application: &str) -> (ClusterView, Fake) {
    let fake = Fake::start(script).await;
    let mut config = config(&fake.url);
    config.endpoint = Endpoint::Yarn { resource_manager: fake.url.clone(), application: application.to_owned() };
    let rest = reader(&config);
    let view = rest.fetch_cluster().await;
    rest.fetch_cluster().await;
    (view, fake)
}

fn app(number: u32, name: &str, state: &str) -> Value {
    json!({"id": format!("application_1700000000000_000{number}"), "name": name, "state": state,
        "applicationType": "Apache Flink", "trackingUI": "ApplicationMaster",
        "trackingUrl": format!("http://proxy.example:9046/proxy/application_1700000000000_000{number}/"),
        "amHostHttpAddress": "nm1.example:8042"})
}

#[tokio::test]
async fn an_application_is_found_by_its_exact_name() {
    let apps = json!({"apps": {"app": [app(6, "orders-old", "RUNNING"), app(7, "orders", "RUNNING")]}});
    let (view, fake) = read_yarn(yarn(&apps, small(&[(ID, "RUNNING")])), "orders").await;
    assert_eq!((view.gaps.len(), view.jobs.len()), (0, 1));
    let questions = fake.paths().iter().filter(|path| path.starts_with("/ws/")).count();
    assert_eq!(questions, 1, "one question a run");
}

#[tokio::test]
async fn an_application_that_cannot_be_found_is_a_gap() {
    let two = json!({"apps": {"app": [app(6, "orders", "RUNNING"), app(7, "orders", "RUNNING")]}});
    let (view, _) = read_yarn(yarn(&two, small(&[])), "orders").await;
    let gap = only_gap(&view);
    assert_eq!((gap.cause, gap.kind), (Cause::Disagreement, GapKind::Incomplete));
    assert!(gap.detail.contains("application_1700000000000_0006, application_1700000000000_0007"), "{}", gap.detail);
    let none = json!({"apps": null});
    assert_eq!(only_gap(&read_yarn(yarn(&none, small(&[])), "orders").await.0).cause, Cause::Unreachable);
    let accepted = json!({"apps": {"app": [app(7, "orders", "ACCEPTED")]}});
    assert_eq!(only_gap(&read_yarn(yarn(&accepted, small(&[])), "orders").await.0).cause, Cause::TooYoung);
    let dead = json!({"apps": {"app": [app(7, "orders", "RUNNING")]}});
    let (view, _) = read_yarn(yarn(&dead, small(&[]).on("/config", Reply::html(502))), "orders").await;
    assert!(!only_gap(&view).detail.contains("yarn_application"), "it is asked for already");
    let standby = Script::default().on("/ws/v1/cluster/apps", Reply::html(200));
    assert_eq!(only_gap(&read_yarn(standby, "orders").await.0).cause, Cause::NotUnderstood);
}

#[tokio::test]
async fn clusters_can_be_read_side_by_side() {
    let views: Vec<ClusterView> =
        stream::iter(VERSIONS).then(|version| read(moment(version, "RUNNING"))).collect().await;
    assert!(views.iter().all(|view| view.gaps.is_empty()));
    let names: HashMap<_, _> = views.iter().map(|view| (view.version.clone(), view.jobs.len())).collect();
    assert_eq!(names.len(), 5);
}
