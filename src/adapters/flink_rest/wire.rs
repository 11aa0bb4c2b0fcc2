//! The answers of Flink's REST API, 1.13 to 2.3, as far as this program reads them.
//!
//! Lenient inside, strict outside: every field is optional, unknown ones are passed over and a leaf of the wrong kind
//! (percentiles can be the *string* `"NaN"`) counts as missing; but an answer that is not the thing that was asked for at
//! all, such as `{"status":"up"}` from a gateway, is refused, since it would read as an empty list.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::domain::{JobId, JobState};

/// The answer is JSON but not the thing named here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WrongShape(pub(super) &'static str);

/// `GET /config`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Server {
    /// `flink-version`.
    pub(super) version: Option<String>,
    /// `features.web-history`; 1.14 does not have the field.
    pub(super) history: Option<bool>,
}

/// `GET /overview`.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Overview {
    #[serde(rename = "flink-version", default, deserialize_with = "text")]
    pub(super) version: Option<String>,
    #[serde(default, deserialize_with = "count")]
    pub(super) taskmanagers: Option<u64>,
    /// Jobs in any state that is not globally terminal (`JobsOverview.numJobsRunningOrPending`). The counts of ended jobs
    /// are not read: `FileExecutionGraphInfoStore` never counts them down when jobs expire from the list.
    #[serde(rename = "jobs-running", default, deserialize_with = "count")]
    pub(super) running: Option<u64>,
}

/// One job as `/jobs`, `/jobs/overview` or `/jobs/<id>` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) id: JobId,
    /// `/jobs` does not tell names.
    pub(super) name: Option<String>,
    pub(super) state: JobState,
    pub(super) started: Option<Timestamp>,
    pub(super) ended: Option<Timestamp>,
}

impl Listed {
    /// Joins two sightings of one job. Alive in either is alive; else the later state counts.
    pub(super) fn join(self, later: Self) -> Self {
        let lives = !self.state.is_terminal();
        let state = if lives && later.state.is_terminal() { self.state } else { later.state };
        let ended = if state.is_terminal() { later.ended.or(self.ended) } else { None };
        Self { id: self.id, name: later.name.or(self.name), state, started: later.started.or(self.started), ended }
    }
}

#[derive(Deserialize)]
struct WireJob {
    #[serde(default, deserialize_with = "text")]
    id: Option<String>,
    #[serde(default, deserialize_with = "text")]
    jid: Option<String>,
    #[serde(default, deserialize_with = "text")]
    name: Option<String>,
    #[serde(default, deserialize_with = "text")]
    status: Option<String>,
    #[serde(default, deserialize_with = "text")]
    state: Option<String>,
    #[serde(rename = "start-time", default, deserialize_with = "time")]
    start: Option<Timestamp>,
    #[serde(rename = "end-time", default, deserialize_with = "time")]
    end: Option<Timestamp>,
}

impl WireJob {
    fn listed(self) -> Option<Listed> {
        Some(Listed {
            id: JobId::parse(&self.id.or(self.jid)?).ok()?,
            name: self.name,
            state: JobState::from(self.status.or(self.state)?),
            started: self.start,
            ended: self.end,
        })
    }
}

/// One entry of `/checkpoints`.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Checkpoint {
    #[serde(default, deserialize_with = "number")]
    pub(super) id: Option<i64>,
    #[serde(default, deserialize_with = "text")]
    pub(super) status: Option<String>,
    #[serde(default, deserialize_with = "flag")]
    pub(super) is_savepoint: Option<bool>,
    #[serde(default, deserialize_with = "text")]
    pub(super) external_path: Option<String>,
    #[serde(default, deserialize_with = "flag")]
    pub(super) discarded: Option<bool>,
    #[serde(rename = "latest_ack_timestamp", default, deserialize_with = "time")]
    pub(super) completed: Option<Timestamp>,
}

/// `latest` of `/checkpoints`.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Latest {
    pub(super) completed: Option<Checkpoint>,
    pub(super) savepoint: Option<Checkpoint>,
    pub(super) restored: Option<Checkpoint>,
}

/// `GET /jobs/<id>/checkpoints`.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Checkpoints {
    pub(super) latest: Option<Latest>,
    pub(super) history: Option<Vec<Checkpoint>>,
}

/// Reads `GET /config`.
pub(super) fn parse_server(body: &Value) -> Result<Server, WrongShape> {
    if !has_any(body, &["flink-version", "features", "refresh-interval"]) {
        return Err(WrongShape("Flink configuration"));
    }
    Ok(Server {
        version: body["flink-version"].as_str().map(str::to_owned),
        history: body["features"]["web-history"].as_bool(),
    })
}

/// Reads `GET /overview`.
pub(super) fn parse_overview(body: &Value) -> Result<Overview, WrongShape> {
    let wrong = WrongShape("Flink overview");
    if !has_any(body, &["taskmanagers", "jobs-running", "flink-version"]) {
        return Err(wrong);
    }
    Overview::deserialize(body).map_err(|_| wrong)
}

/// Reads `GET /taskmanagers` as far as the number of them.
pub(super) fn parse_task_managers(body: &Value) -> Result<u64, WrongShape> {
    let list = body["taskmanagers"].as_array().ok_or(WrongShape("list of TaskManagers"))?;
    Ok(list.len() as u64)
}

/// Reads `GET /jobs` or `GET /jobs/overview`. An entry without a usable id or state spoils the list: it may be a live job.
pub(super) fn parse_jobs(body: &Value) -> Result<Vec<Listed>, WrongShape> {
    let list = body["jobs"].as_array().ok_or(WrongShape("list of jobs"))?;
    list.iter().map(|entry| parse_job(entry).map_err(|_| WrongShape("list of jobs with ids and states"))).collect()
}

/// Reads `GET /jobs/<id>`, or one entry of a list.
pub(super) fn parse_job(body: &Value) -> Result<Listed, WrongShape> {
    WireJob::deserialize(body).ok().and_then(WireJob::listed).ok_or(WrongShape("job with id and state"))
}

/// Reads `GET /jobs/<id>/checkpoints`.
pub(super) fn parse_checkpoints(body: &Value) -> Result<Checkpoints, WrongShape> {
    let wrong = WrongShape("checkpoint statistics");
    if !has_any(body, &["counts", "latest", "history"]) {
        return Err(wrong);
    }
    Checkpoints::deserialize(body).map_err(|_| wrong)
}

/// The directories of `GET /jobmanager/config`: checkpoints and savepoints, as written there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Directories {
    pub(super) checkpoints: Option<String>,
    pub(super) savepoints: Option<String>,
}

/// Names of the checkpoint directory, newest first: where both are set, Flink takes the newer one.
const CHECKPOINT_KEYS: [&str; 3] =
    ["execution.checkpointing.dir", "state.checkpoints.dir", "state.backend.fs.checkpointdir"];

/// Names of the savepoint directory, newest first.
const SAVEPOINT_KEYS: [&str; 3] =
    ["execution.checkpointing.savepoint-dir", "state.savepoints.dir", "savepoints.state.backend.fs.dir"];

/// Reads `GET /jobmanager/config`, a list of `{key, value}`.
pub(super) fn parse_directories(body: &Value) -> Result<Directories, WrongShape> {
    let entries = body.as_array().ok_or(WrongShape("list of configuration entries"))?;
    let value_of = |key: &str| {
        let entry = entries.iter().find(|entry| entry["key"].as_str() == Some(key))?;
        entry["value"].as_str().map(str::trim).filter(|value| !value.is_empty()).map(str::to_owned)
    };
    let first = |keys: &[&str]| keys.iter().find_map(|key| value_of(key));
    Ok(Directories { checkpoints: first(&CHECKPOINT_KEYS), savepoints: first(&SAVEPOINT_KEYS) })
}

fn has_any(body: &Value, keys: &[&str]) -> bool {
    keys.iter().any(|key| body.get(key).is_some())
}

fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::String(text) => Some(text),
        _ => None,
    })
}

fn number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    Ok(Value::deserialize(from)?.as_i64())
}

fn count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    Ok(Value::deserialize(from)?.as_u64())
}

fn flag<'de, D: Deserializer<'de>>(from: D) -> Result<Option<bool>, D::Error> {
    Ok(Value::deserialize(from)?.as_bool())
}

/// Milliseconds since the epoch; Flink writes -1 or 0 for "not yet".
fn time<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Timestamp>, D::Error> {
    let millis = Value::deserialize(from)?.as_i64().filter(|ms| *ms > 0);
    Ok(millis.and_then(|ms| Timestamp::from_millisecond(ms).ok()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ID: &str = "49b5926251bfc0e5166a1c407ccd1050";

    #[test]
    fn json_of_something_else_is_no_empty_list() {
        assert!(parse_jobs(&json!({"status": "up"})).is_err());
        assert!(parse_jobs(&json!({"jobs": null})).is_err());
        assert!(parse_jobs(&json!([])).is_err());
        assert!(parse_overview(&json!({})).is_err());
        assert!(parse_server(&json!({"version": "2"})).is_err());
        assert!(parse_checkpoints(&json!({"jobs": []})).is_err());
        assert_eq!(parse_jobs(&json!({"jobs": []})), Ok(vec![]));
    }

    #[test]
    fn an_entry_without_an_id_spoils_the_list() {
        assert!(parse_jobs(&json!({"jobs": [{"status": "RUNNING"}]})).is_err());
        assert!(parse_jobs(&json!({"jobs": [{"id": "zzz", "status": "RUNNING"}]})).is_err());
        assert!(parse_jobs(&json!({"jobs": [{"id": ID}]})).is_err());
    }

    #[test]
    fn both_lists_have_their_own_names() {
        let jobs = parse_jobs(&json!({"jobs": [{"id": ID, "status": "SOMETHING_NEW"}]})).expect("a list");
        assert_eq!(jobs[0].state, JobState::Other("SOMETHING_NEW".into()));
        let overview = json!({"jobs": [{"jid": ID, "name": "a", "state": "RUNNING", "start-time": 1_000, "end-time": -1,
            "tasks": {"p50": "NaN"}, "schedulerType": null}]});
        let jobs = parse_jobs(&overview).expect("a list");
        assert_eq!(jobs[0].started, Timestamp::from_millisecond(1_000).ok());
        assert_eq!((jobs[0].ended, jobs[0].name.as_deref()), (None, Some("a")));
    }

    #[test]
    fn a_job_seen_alive_once_is_alive() {
        let seen = |state: &str, end: i64| {
            parse_job(&json!({"jid": ID, "name": "a", "state": state, "end-time": end})).expect("a job")
        };
        let joined = seen("RUNNING", -1).join(seen("FINISHED", 5));
        assert_eq!((joined.state, joined.ended), (JobState::Running, None));
        assert_eq!(seen("FINISHED", 5).join(seen("RUNNING", -1)).state, JobState::Running);
        assert_eq!(seen("INITIALIZING", -1).join(seen("RUNNING", -1)).state, JobState::Running);
        assert_eq!(seen("CANCELED", 5).join(seen("CANCELED", 5)).ended, Timestamp::from_millisecond(5).ok());
    }

    #[test]
    fn the_newer_name_of_a_directory_wins() {
        let body = json!([{"key": "state.checkpoints.dir", "value": "hdfs:///old"},
            {"key": "execution.checkpointing.dir", "value": "hdfs:///new"},
            {"key": "savepoints.state.backend.fs.dir", "value": "hdfs:///s"}, {"key": "x", "value": null}]);
        let found = parse_directories(&body).expect("a list");
        assert_eq!(found.checkpoints.as_deref(), Some("hdfs:///new"));
        assert_eq!(found.savepoints.as_deref(), Some("hdfs:///s"));
        assert!(parse_directories(&json!({"errors": []})).is_err());
    }

    #[test]
    fn leaves_of_the_wrong_kind_count_as_missing() {
        let body = json!({"counts": null, "latest": {"completed": {"id": "NaN", "external_path": 5, "discarded": "x"}},
            "history": null, "summary": {"state_size": {"p50": "NaN"}}});
        let read = parse_checkpoints(&body).expect("statistics");
        let completed = read.latest.and_then(|latest| latest.completed).expect("an entry");
        assert_eq!((completed.id, completed.external_path, completed.discarded), (None, None, None));
    }
}
