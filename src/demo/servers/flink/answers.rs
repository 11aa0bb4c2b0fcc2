//! The JSON of each answer, by version. Keys and types are those of the recordings; numbers nobody reads are plausible.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::JobQuestion;
use crate::demo::servers::wire::ServerClock;
use crate::demo::world::{FlinkCluster, FlinkJob, World};
use crate::domain::Age;

/// States of a job in the order of `JobStatus`.
const STATES: [&str; 11] = [
    "INITIALIZING",
    "CREATED",
    "RUNNING",
    "FAILING",
    "FAILED",
    "CANCELLING",
    "CANCELED",
    "FINISHED",
    "RESTARTING",
    "SUSPENDED",
    "RECONCILING",
];

/// States of a task.
const TASK_STATES: [&str; 10] = [
    "CANCELED",
    "CREATED",
    "DEPLOYING",
    "RECONCILING",
    "INITIALIZING",
    "CANCELING",
    "SCHEDULED",
    "FINISHED",
    "RUNNING",
    "FAILED",
];

/// Subtasks of every job here: two vertices of one subtask each.
const SUBTASKS: u64 = 2;

/// What one cluster knows, ready to be asked.
#[derive(Debug, Clone)]
pub struct Answers {
    /// The cluster.
    pub cluster: FlinkCluster,
    /// Major and minor version.
    pub version: (u32, u32),
    /// Its clock.
    pub clock: ServerClock,
    checkpoint_dir: Option<String>,
    times: Vec<JobTimes>,
}

/// When a job started and ended and when its latest checkpoint was complete, in epoch milliseconds; the end is -1 for one that has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct JobTimes {
    start: i64,
    end: i64,
    checkpoint: i64,
}

impl Answers {
    /// Takes what a world says of a cluster.
    pub fn new(world: &World, cluster: &FlinkCluster) -> Self {
        Self {
            cluster: cluster.clone(),
            version: parse_version(&cluster.flink_version),
            clock: ServerClock { behind: world.clock.tool_minus_namenode.0 },
            checkpoint_dir: world.checkpoint_dir(cluster),
            times: cluster.jobs.iter().map(|job| JobTimes::of(world, job)).collect(),
        }
    }

    /// The job of an id.
    pub fn job(&self, id: &str) -> Option<&FlinkJob> {
        self.cluster.jobs.iter().find(|job| job.id.eq_ignore_ascii_case(id))
    }

    /// The job of an id, or a running one that nobody knows.
    pub fn job_or_stranger(&self, id: &str) -> FlinkJob {
        self.job(id).cloned().unwrap_or_else(|| FlinkJob {
            id: id.to_owned(),
            name: "stranger".to_owned(),
            state: "RUNNING".to_owned(),
            started_age: None,
            ended_age: None,
            restored_from: None,
            latest_external_path: None,
        })
    }

    fn times(&self, job: &FlinkJob) -> JobTimes {
        let known = self.cluster.jobs.iter().zip(&self.times).find(|(other, _)| other.id == job.id);
        known.map_or_else(|| JobTimes::running_since(self.clock.now()), |(_, times)| *times)
    }

    fn since(&self, minor: (u32, u32)) -> bool {
        self.version >= minor
    }

    /// `/overview`.
    pub fn overview(&self) -> Value {
        let count = |state: &str| self.cluster.jobs.iter().filter(|job| job.state == state).count();
        let live = self.cluster.jobs.iter().filter(|job| !job.is_terminal()).count();
        let slots = self.cluster.task_managers * 4;
        json!({
            "taskmanagers": self.cluster.task_managers,
            "slots-total": slots,
            "slots-available": usize::try_from(slots).unwrap_or(0).saturating_sub(live),
            "jobs-running": live,
            "jobs-finished": count("FINISHED"),
            "jobs-cancelled": count("CANCELED"),
            "jobs-failed": count("FAILED"),
            "flink-version": self.cluster.flink_version,
            "flink-commit": "0000000",
        })
    }

    /// `/config`.
    pub fn config(&self) -> Value {
        let manager = !self.cluster.history;
        let mut features = json!({ "web-submit": manager, "web-cancel": manager });
        if self.since((1, 17)) {
            features["web-history"] = json!(!manager);
        }
        if self.since((1, 20)) {
            features["web-rescale"] = json!(manager);
        }
        json!({
            "refresh-interval": if manager { 3000 } else { 10_000 },
            "timezone-name": "Coordinated Universal Time",
            "timezone-offset": 0,
            "flink-version": self.cluster.flink_version,
            "flink-revision": "0000000 @ 2020-01-01T00:00:00+00:00",
            "features": features,
        })
    }

    /// `/taskmanagers`.
    pub fn task_managers(&self) -> Value {
        let now = self.clock.now().as_millisecond();
        let all: Vec<Value> =
            (0..self.cluster.task_managers).map(|number| task_manager(number, now, self.since((2, 3)))).collect();
        json!({ "taskmanagers": all })
    }

    /// `/jobs`.
    #[expect(clippy::unused_self, reason = "asked like every other answer")]
    pub fn jobs(&self, shown: &[FlinkJob]) -> Value {
        let jobs: Vec<Value> = shown.iter().map(|job| json!({ "id": job.id, "status": job.state })).collect();
        json!({ "jobs": jobs })
    }

    /// `/jobs/overview`.
    pub fn jobs_overview(&self, shown: &[FlinkJob]) -> Value {
        let jobs: Vec<Value> = shown.iter().map(|job| self.job_in_overview(job)).collect();
        json!({ "jobs": jobs })
    }

    fn job_in_overview(&self, job: &FlinkJob) -> Value {
        let times = self.times(job);
        let total = if job.state == "INITIALIZING" { 0 } else { SUBTASKS };
        let state = task_state(&job.state).to_lowercase();
        let mut tasks: Map<String, Value> = TASK_STATES.iter().map(|it| (it.to_lowercase(), json!(0))).collect();
        tasks.insert(state, json!(total));
        tasks.insert("total".to_owned(), json!(total));
        let mut value = json!({
            "jid": job.id,
            "name": job.name,
            "state": job.state,
            "start-time": times.start,
            "end-time": times.end,
            "duration": times.duration(self.clock.now()),
            "last-modification": if total == 0 { 0 } else { times.end.max(times.start) },
            "tasks": tasks,
        });
        if self.since((2, 0)) {
            value["pending-operators"] = json!(0);
        }
        if self.since((2, 3)) {
            value["jobType"] = json!("STREAMING");
            value["schedulerType"] = if total == 0 { Value::Null } else { json!("Default") };
        }
        value
    }

    /// `/jobmanager/config`: a list of keys and values.
    pub fn job_manager_config(&self) -> Value {
        let (dir, retained) = if self.since((2, 0)) {
            ("execution.checkpointing.dir", "execution.checkpointing.num-retained")
        } else {
            ("state.checkpoints.dir", "state.checkpoints.num-retained")
        };
        let mut pairs = vec![
            ("jobmanager.rpc.address".to_owned(), "127.0.0.1".to_owned()),
            (retained.to_owned(), "2".to_owned()),
            (
                "execution.checkpointing.externalized-checkpoint-retention".to_owned(),
                "RETAIN_ON_CANCELLATION".to_owned(),
            ),
        ];
        pairs.extend(self.checkpoint_dir.clone().map(|value| (dir.to_owned(), value)));
        pairs.into_iter().map(|(key, value)| json!({ "key": key, "value": value })).collect()
    }

    /// One answer about one job; `None` where the version has no such answer.
    pub fn of_job(&self, what: JobQuestion, job: &FlinkJob) -> Option<Value> {
        Some(match what {
            JobQuestion::Details => self.details(job),
            JobQuestion::Config => self.job_config(job),
            JobQuestion::Checkpoints => self.checkpoints(job),
            JobQuestion::CheckpointsConfig => self.checkpoints_config(job),
            JobQuestion::JobManagerConfig if self.since((1, 16)) => self.job_manager_config(),
            JobQuestion::JobManagerConfig => return None,
        })
    }

    fn details(&self, job: &FlinkJob) -> Value {
        let (times, now) = (self.times(job), self.clock.now());
        let starting = job.state == "INITIALIZING";
        let mut value = json!({
            "jid": job.id,
            "name": job.name,
            "isStoppable": false,
            "state": job.state,
            "start-time": times.start,
            "end-time": times.end,
            "duration": times.duration(now),
            "maxParallelism": if starting { -1 } else { 128 },
            "now": now.as_millisecond(),
            "timestamps": timestamps(job, times),
            "vertices": if starting { json!([]) } else { self.vertices(job, times) },
            "status-counts": counts_of(if starting { None } else { Some(job) }, SUBTASKS),
            "plan": if starting { empty_plan(self.version) } else { plan(job) },
        });
        if self.since((1, 20)) {
            value["job-type"] = json!("STREAMING");
        }
        if self.since((2, 0)) {
            value["pending-operators"] = json!(0);
        }
        if self.since((2, 3)) {
            value["application-id"] = if starting { Value::Null } else { json!(job.id) };
            value["schedulerType"] = if starting { Value::Null } else { json!("Default") };
        }
        value
    }

    fn vertices(&self, job: &FlinkJob, times: JobTimes) -> Value {
        let vertex = |id: &str, name: &str| {
            let mut metrics = json!({
                "read-bytes": 0, "read-bytes-complete": true, "write-bytes": 0, "write-bytes-complete": true,
                "read-records": 0, "read-records-complete": true, "write-records": 0, "write-records-complete": true,
            });
            if self.since((1, 17)) {
                metrics["accumulated-backpressured-time"] = json!(0);
                metrics["accumulated-idle-time"] = json!(0);
                metrics["accumulated-busy-time"] = json!(0.0);
            }
            let mut vertex = json!({
                "id": id, "name": name, "maxParallelism": 128, "parallelism": 1, "status": task_state(&job.state),
                "start-time": times.start, "end-time": times.end, "duration": times.duration(self.clock.now()),
                "tasks": counts_of(Some(job), 1), "metrics": metrics,
            });
            if self.since((1, 20)) {
                vertex["slotSharingGroupId"] = json!("00000000000000000000000000000001");
            }
            vertex
        };
        json!([vertex(SOURCE, "Source: Sequence"), vertex(SINK, "Counter -> Sink: Print to Std. Out")])
    }

    fn job_config(&self, job: &FlinkJob) -> Value {
        let mut execution = json!({
            "restart-strategy": "Cluster level default restart strategy",
            "job-parallelism": 1,
            "object-reuse-mode": false,
            "user-config": {},
        });
        if !self.since((2, 0)) {
            execution["execution-mode"] = json!("PIPELINED");
        }
        json!({ "jid": job.id, "name": job.name, "execution-config": execution })
    }

    fn checkpoints(&self, job: &FlinkJob) -> Value {
        let times = self.times(job);
        let completed = job.latest_external_path.as_ref().map(|path| self.completed(path, times));
        let restored = job.restored_from.as_ref().map(|path| {
            json!({
                "id": checkpoint_id(path),
                "restore_timestamp": times.start,
                "is_savepoint": is_savepoint(path),
                "external_path": path,
            })
        });
        let number = i32::from(completed.is_some());
        json!({
            "counts": {
                "restored": i32::from(restored.is_some()), "total": number, "in_progress": 0, "completed": number, "failed": 0,
            },
            "summary": self.summary(completed.is_some()),
            "latest": { "completed": completed, "savepoint": null, "failed": null, "restored": restored },
            "history": completed.into_iter().collect::<Vec<_>>(),
        })
    }

    fn completed(&self, path: &str, times: JobTimes) -> Value {
        let mut value = json!({
            "id": checkpoint_id(path),
            "status": "COMPLETED",
            "is_savepoint": false,
            "trigger_timestamp": times.checkpoint - 400,
            "latest_ack_timestamp": times.checkpoint,
            "state_size": 83_799,
            "end_to_end_duration": 400,
            "alignment_buffered": 0,
            "processed_data": 0,
            "persisted_data": 0,
            "num_subtasks": SUBTASKS,
            "num_acknowledged_subtasks": SUBTASKS,
            "checkpoint_type": "CHECKPOINT",
            "tasks": {},
            "external_path": path,
            "discarded": false,
        });
        if self.since((1, 15)) {
            value["checkpointed_size"] = json!(60_515);
        }
        if self.since((1, 17)) {
            value["className"] = json!("completed");
            value["savepointFormat"] = Value::Null;
        } else {
            value["@class"] = json!("completed");
        }
        value
    }

    /// Percentiles are the text `NaN` where there is no data, but for `alignment_buffered`.
    fn summary(&self, any: bool) -> Value {
        let statistics = |with_data: bool| {
            let percentile = if with_data { json!(0.0) } else { json!("NaN") };
            json!({
                "min": 0, "max": 0, "avg": 0,
                "p50": percentile, "p90": percentile, "p95": percentile, "p99": percentile, "p999": percentile,
            })
        };
        let mut summary = json!({
            "state_size": statistics(any),
            "end_to_end_duration": statistics(any),
            "alignment_buffered": statistics(true),
            "processed_data": statistics(any),
            "persisted_data": statistics(any),
        });
        if self.since((1, 15)) {
            summary["checkpointed_size"] = statistics(any);
        }
        summary
    }

    fn checkpoints_config(&self, job: &FlinkJob) -> Value {
        let known = |word: &str| if job.state == "INITIALIZING" { "Unknown".to_owned() } else { word.to_owned() };
        let mut value = json!({
            "mode": "exactly_once",
            "interval": 60_000,
            "timeout": 600_000,
            "min_pause": 500,
            "max_concurrent": 1,
            "externalization": { "enabled": true, "delete_on_cancellation": false },
            "state_backend": known("EmbeddedRocksDBStateBackend"),
            "checkpoint_storage": known("FileSystemCheckpointStorage"),
            "unaligned_checkpoints": false,
            "tolerable_failed_checkpoints": 0,
            "aligned_checkpoint_timeout": 0,
            "checkpoints_after_tasks_finish": self.since((1, 15)),
        });
        if self.since((1, 17)) {
            value["state_changelog_enabled"] = json!(false);
            value["changelog_periodic_materialization_interval"] = json!(600_000);
            value["changelog_storage"] = json!(known("memory"));
        }
        value
    }
}

/// Ids of the two vertices.
const SOURCE: &str = "bdf43d92e72155a266ccfc64ebf730c4";
const SINK: &str = "0da08f51eaa85fc298e176a139b3649a";

impl JobTimes {
    fn of(world: &World, job: &FlinkJob) -> Self {
        let hour = Age::from_hours(1);
        let ended = job.is_terminal().then(|| job.ended_age.unwrap_or(hour));
        let started =
            job.started_age.unwrap_or_else(|| Age::from_seconds(ended.map_or(0, Age::seconds) + hour.seconds()));
        let ms = |age| world.server_time(age).as_millisecond();
        let (start, end) = (ms(started), ended.map_or(-1, ms));
        let listed = job.latest_external_path.as_deref().and_then(|path| metadata_age(world, path)).map(ms);
        let guess = if end > 0 { end } else { ms(Age::from_seconds(60)).max(start) };
        Self { start, end, checkpoint: listed.unwrap_or(guess) }
    }

    fn running_since(now: Timestamp) -> Self {
        Self { start: now.as_millisecond(), end: -1, checkpoint: now.as_millisecond() }
    }

    fn duration(self, now: Timestamp) -> i64 {
        let until = if self.end > 0 { self.end } else { now.as_millisecond() };
        (until - self.start).max(0)
    }
}

/// Age of the `_metadata` of a restore point, if the world lists it.
fn metadata_age(world: &World, uri: &str) -> Option<Age> {
    let path = match uri.split_once("://") {
        Some((_, rest)) => &rest[rest.find('/')?..],
        None => uri.strip_prefix("hdfs:").unwrap_or(uri),
    };
    let wanted = format!("{}/_metadata", path.trim_end_matches('/'));
    world.hdfs.listing.iter().find(|entry| entry.path == wanted).map(|entry| entry.mtime_age)
}

fn parse_version(text: &str) -> (u32, u32) {
    let mut parts = text.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

/// The number of `chk-N`; 1 for anything else.
fn checkpoint_id(path: &str) -> u64 {
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    name.strip_prefix("chk-").and_then(|digits| digits.parse().ok()).unwrap_or(1)
}

fn is_savepoint(path: &str) -> bool {
    path.trim_end_matches('/').rsplit('/').next().is_some_and(|name| name.starts_with("savepoint-"))
}

fn task_state(job_state: &str) -> &'static str {
    match job_state {
        "FINISHED" => "FINISHED",
        "CANCELED" => "CANCELED",
        "FAILED" => "FAILED",
        "CREATED" | "RESTARTING" => "CREATED",
        "CANCELLING" => "CANCELING",
        _ => "RUNNING",
    }
}

fn counts_of(job: Option<&FlinkJob>, subtasks: u64) -> Value {
    let mut counts: Map<String, Value> = TASK_STATES.iter().map(|state| ((*state).to_owned(), json!(0))).collect();
    if let Some(job) = job {
        counts.insert(task_state(&job.state).to_owned(), json!(subtasks));
    }
    Value::Object(counts)
}

/// When the job came into each state; 0 for those it never was in.
fn timestamps(job: &FlinkJob, times: JobTimes) -> Value {
    let starting = job.state == "INITIALIZING";
    let at = |state: &str| match state {
        "INITIALIZING" => times.start,
        "CREATED" | "RUNNING" if !starting => times.start,
        _ if state == job.state => times.end.max(times.start),
        _ => 0,
    };
    Value::Object(STATES.iter().map(|state| ((*state).to_owned(), json!(at(state)))).collect())
}

fn empty_plan(version: (u32, u32)) -> Value {
    if version >= (2, 3) { json!({ "jid": "", "name": "", "type": "", "nodes": [] }) } else { json!({}) }
}

fn plan(job: &FlinkJob) -> Value {
    let node = |id: &str, description: &str, inputs: Value| {
        let mut node = json!({
            "id": id, "parallelism": 1, "operator": "", "operator_strategy": "", "description": description,
            "optimizer_properties": {},
        });
        if !inputs.is_null() {
            node["inputs"] = inputs;
        }
        node
    };
    let input = json!([{ "num": 0, "id": SOURCE, "ship_strategy": "HASH", "exchange": "pipelined_bounded" }]);
    json!({
        "jid": job.id,
        "name": job.name,
        "type": "STREAMING",
        "nodes": [node(SINK, "Counter", input), node(SOURCE, "Source: Sequence", Value::Null)],
    })
}

fn task_manager(number: u32, now: i64, with_assigned_tasks: bool) -> Value {
    let resource = json!({
        "cpuCores": 2.0, "taskHeapMemory": 200, "taskOffHeapMemory": 0, "managedMemory": 900, "networkMemory": 48,
        "extendedResources": {},
    });
    let mut value = json!({
        "id": format!("tm-{number}"),
        "path": format!("pekko.tcp://flink@127.0.0.1:6122/user/rpc/taskmanager_{number}"),
        "dataPort": 41_717,
        "jmxPort": -1,
        "timeSinceLastHeartbeat": now,
        "slotsNumber": 4,
        "freeSlots": 2,
        "totalResource": resource,
        "freeResource": resource,
        "hardware": {
            "cpuCores": 2, "physicalMemory": 25_276_063_744_i64, "freeMemory": 405_471_232, "managedMemory": 943_718_400,
        },
        "memoryConfiguration": {
            "frameworkHeap": 134_217_728, "taskHeap": 209_715_200, "frameworkOffHeap": 134_217_728, "taskOffHeap": 0,
            "networkMemory": 50_331_648, "managedMemory": 943_718_400, "jvmMetaspace": 209_715_200,
            "jvmOverhead": 104_857_600, "totalFlinkMemory": 1_472_200_704, "totalProcessMemory": 1_786_773_504,
        },
    });
    if with_assigned_tasks {
        value["assignedTasks"] = json!(2);
    }
    value
}
