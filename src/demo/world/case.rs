//! Scenario cases: a world with what the program must conclude from it.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::World;
use super::yaml::{Document, WorldError};
use crate::domain::Age;

/// A world and what the program must conclude, plan or do.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// The world as it is.
    pub world: World,
    /// The public report behind it.
    pub source: String,
    /// Class of the fault.
    pub class: String,
    /// `scan`, `plan`, `runs`, `migrate` or `apply`.
    pub phase: String,
    /// The confirmed plan of phase `apply`.
    pub plan_actions: Vec<PlanAction>,
    /// The world at plan time of phase `apply`.
    pub before: Option<Before>,
    /// What must come out.
    pub expect: Expect,
    /// Top-level keys that nobody reads, so that a collection of cases can carry its own notes.
    pub extra: Map<String, Value>,
}

/// The world at plan time.
#[derive(Debug, Clone, PartialEq)]
pub struct Before {
    /// The world with the sections of `before` put over it.
    pub world: World,
    /// The plan is applied once before the world is exchanged.
    pub applied: bool,
}

/// One action of a confirmed plan.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanAction {
    /// Number that the outcomes refer to.
    pub id: i64,
    /// Kind of action.
    pub action: String,
    /// Target: a row.
    pub record: Option<i64>,
    /// Target: a path.
    pub path: Option<String>,
    /// The target as read at plan time.
    pub identity: Identity,
}

/// A target as read at plan time.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the words of a record")]
pub struct Identity {
    pub full_name: Option<String>,
    pub owner: Option<String>,
    pub tenant: Option<String>,
    pub path: Option<String>,
    pub mtime_age: Option<Age>,
}

/// What must come out.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Findings that must be reported.
    pub findings: Vec<ExpectedFinding>,
    /// Findings that may be reported as well.
    #[serde(default)]
    pub may_find: Vec<ExpectedFinding>,
    /// Actions that must be planned.
    pub must_plan: Vec<ExpectedAction>,
    /// Actions that must not.
    pub must_not_plan: Vec<ExpectedAction>,
    /// Outcome of each action.
    #[serde(default)]
    pub outcomes: Vec<Outcome>,
    /// Number of write requests seen.
    #[serde(default)]
    pub requests: Vec<ExpectedRequest>,
    /// Strings that occur in no output.
    #[serde(default)]
    pub must_not_print: Vec<String>,
    /// `clean`, `failure`, `drift`, `incomplete`, `refused` or `not_proven`.
    pub exit_code: String,
    /// The reasoning.
    pub notes: String,
}

/// A finding with the keys that must be equal; what is not given matches anything.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExpectedFinding {
    /// Code.
    pub kind: String,
    /// Severity.
    pub severity: String,
    /// Path.
    pub path: Option<String>,
    /// Row.
    pub record: Option<i64>,
    /// Workflow.
    pub workflow: Option<i64>,
    /// What the task holds: an id or a full name.
    pub reference: Option<Value>,
    /// View.
    pub view: Option<String>,
    /// Cluster.
    pub cluster: Option<String>,
    /// Job.
    pub job: Option<String>,
    /// Authority.
    pub authority: Option<String>,
    /// `many`: one or more findings, at or below `path`.
    pub covers: Option<String>,
    /// For readers; never compared.
    pub other: Option<String>,
    /// For readers; never compared.
    pub by: Option<String>,
    /// For readers; never compared.
    pub candidate: Option<Value>,
}

impl ExpectedFinding {
    /// Whether one entry stands for one or more findings, at or below its path.
    pub fn covers_many(&self) -> bool {
        self.covers.as_deref() == Some("many")
    }
}

/// An action that must, or must not, be planned.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExpectedAction {
    /// Kind, or `hdfs_any`, `any_destructive`.
    pub action: String,
    /// Target: a path, or `*`.
    pub path: Option<String>,
    /// Target: a row.
    pub record: Option<i64>,
    /// Target: a workflow.
    pub workflow: Option<i64>,
    /// Target: what a task holds.
    pub reference: Option<Value>,
    /// Target: a cluster.
    pub cluster: Option<String>,
    /// Target: a job.
    pub job: Option<String>,
    /// Where it goes.
    pub to: Option<String>,
    /// Place in the order.
    pub order: Option<i64>,
    /// For readers; never compared.
    pub what: Option<String>,
    /// For readers; never compared.
    pub why: Option<String>,
    /// Only this path.
    pub exact: bool,
}

/// Outcome of one action.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// The action.
    pub id: i64,
    /// `Done`, `AlreadyDone`, `Stale`, `Refused`, `Failed`, `Unknown` or `NotStarted`.
    pub outcome: String,
}

/// Number of write requests a server saw.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedRequest {
    /// `dolphinscheduler` or `hdfs`.
    pub server: String,
    /// Operation.
    pub op: String,
    /// Path asked about.
    pub path: Option<String>,
    /// Row asked about.
    pub record: Option<i64>,
    /// How many.
    pub count: u64,
}

/// The keys only a case has, but `before` and the extra ones.
#[derive(Deserialize)]
struct CaseKeys {
    source: String,
    class: String,
    phase: String,
    #[serde(default)]
    plan_actions: Vec<PlanAction>,
    before: Option<Map<String, Value>>,
    expect: Expect,
}

/// The top-level keys of a world.
const WORLD_KEYS: [&str; 7] = ["title", "config", "clock", "flink", "hdfs", "dolphinscheduler", "ledger"];

impl Case {
    /// Reads a case file.
    pub fn load(text: &str, t0: Timestamp) -> Result<Self, WorldError> {
        let (world, rest) = Document::parse(text)?.split(|key| !WORLD_KEYS.contains(&key));
        let (extra, case) = rest.split_case_keys();
        let keys: CaseKeys = case.read()?;
        let before = keys.before.map(|over| Before::over(world.clone(), over, t0)).transpose()?;
        Ok(Self {
            world: World::from_document(&world, t0)?,
            source: keys.source,
            class: keys.class,
            phase: keys.phase,
            plan_actions: keys.plan_actions,
            before,
            expect: keys.expect,
            extra: extra.map().cloned().unwrap_or_default(),
        })
    }
}

impl Before {
    fn over(world: Document, mut over: Map<String, Value>, t0: Timestamp) -> Result<Self, WorldError> {
        let applied = over.remove("applied") == Some(Value::Bool(true));
        Ok(Self { world: World::from_document(&world.overlaid(&over), t0)?, applied })
    }
}
