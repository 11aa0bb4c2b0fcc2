//! All that is known of one target, with the source of each fact and the rule behind each finding.
//!
//! Explains, never judges: what no view says is called unknown here too.

mod print;
mod runs;
mod search;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use search::Looker;

use crate::compare::{Comparison, Context, Finding, Lang};
use crate::config::Config;
use crate::domain::text::printable;
use crate::domain::{HdfsPath, HdfsUri, JobId, RecordId, ResourceKind, WorkflowCode};
use crate::views::Inventory;

pub use print::render;
pub use runs::{PointFacts, RunFacts};

/// Version of the explanation's JSON form.
pub const SCHEMA: &str = "statewarden/explanation/v1";

/// What somebody asks about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "value", rename_all = "lowercase")]
pub enum Subject {
    /// A path in the file system that is read.
    Path(HdfsPath),
    /// A job.
    Job(JobId),
    /// A resource record.
    Record(RecordId),
    /// A workflow definition.
    Workflow(WorkflowCode),
}

/// The text names nothing that can be explained.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubjectError {
    /// No known form.
    #[error(
        "`{}` names nothing to explain; write an HDFS path (`/base/etl/resources/x.sql` or a URI), a job id (32 hex digits), \
         `record:12`, `workflow:9001`, or the fingerprint of a finding (16 hex digits)",
        printable(.0)
    )]
    NoForm(String),
    /// A path on a file system that is not the one read.
    #[error("`{}` is not on the file system that is read ({read}); declare it in `[aliases]` if it is", printable(.uri))]
    NotHere {
        /// The URI.
        uri: String,
        /// The canonical authority, or that there is none.
        read: String,
    },
    /// A fingerprint that no finding has.
    #[error("no finding of this run has the fingerprint `{0}`; it may be settled, or the inventory is another one")]
    NoSuchFinding(String),
    /// A finding whose target is a whole view.
    #[error(
        "the finding `{0}` is about no path, job, record or workflow; `statewarden drift` prints all that is known of it"
    )]
    NoTarget(String),
}

/// How one path lies to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// The same.
    At,
    /// An ancestor of the target.
    Above,
    /// Inside the target.
    Below,
}

impl Relation {
    /// How `other` lies to `target`; `None` if neither holds the other.
    fn of(other: &HdfsPath, target: &HdfsPath) -> Option<Self> {
        if other == target {
            Some(Self::At)
        } else if target.is_below(other) {
            Some(Self::Above)
        } else if other.is_below(target) {
            Some(Self::Below)
        } else {
            None
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::At => "at it",
            Self::Above => "above it",
            Self::Below => "below it",
        }
    }
}

/// All that is known of one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// Name and version of this form: `statewarden/explanation/v1`.
    pub schema: String,
    /// What was asked about.
    pub subject: Subject,
    /// When the inventory was taken (RFC 3339).
    #[schemars(with = "String")]
    pub taken: Timestamp,
    /// The paths it leads to, and what HDFS says of each.
    pub paths: Vec<PathFacts>,
    /// Run directories at, above or below it, each with its gates.
    #[serde(default)]
    pub runs: Vec<RunFacts>,
    /// Restore points at, above or below it.
    #[serde(default)]
    pub restore_points: Vec<PointFacts>,
    /// Jobs that are it, or whose state lies at, above or below it.
    pub jobs: Vec<JobFacts>,
    /// Records that are it, or map to a path at, above or below it.
    pub records: Vec<RecordFacts>,
    /// Workflows that are it, reference it, or set a state directory at, above or below it.
    pub workflows: Vec<WorkflowFacts>,
    /// Findings on, above and below it.
    pub findings: Vec<FindingFacts>,
    /// Gaps that leave something about it open.
    pub gaps: Vec<GapFacts>,
}

impl Explanation {
    /// Whether no view knows the target: neither explained nor, where a gap covers it, known to be nothing.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
            && self.jobs.is_empty()
            && self.records.is_empty()
            && self.workflows.is_empty()
            && self.findings.is_empty()
    }
}

/// What HDFS says of one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathFacts {
    /// The path.
    pub path: HdfsPath,
    /// `present`, `absent`, `not-listed`, `denied`, `unknown` or `not-read`.
    pub answer: String,
    /// The answer in words.
    pub said: String,
    /// Whether its absence counts as proven: the NameNode's own not-found under a completely listed directory.
    pub proven_absent: bool,
    /// How its parent was listed: `complete`, `cut-short` or `not-listed`.
    pub parent: String,
    /// What it is in the configuration: inside the resource namespace, in a checkpoint root, protected.
    pub role: Vec<String>,
    /// Its entries, if it was listed.
    pub children: Option<Children>,
    /// Bytes and files below it, where they were counted.
    pub total: Option<String>,
}

/// Entries of a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Children {
    /// All of them.
    pub entries: usize,
    /// Whether the server said that this is all.
    pub complete: bool,
    /// The first ones.
    pub first: Vec<String>,
}

/// One job and how its state lies to the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobFacts {
    /// Cluster that shows it.
    pub cluster: String,
    /// Job.
    pub id: JobId,
    /// Name.
    pub name: String,
    /// State as Flink names it.
    pub state: String,
    /// Whether it may still use state.
    pub live: bool,
    /// Its places.
    pub state_paths: Vec<StatePath>,
}

/// One place of a job's state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatePath {
    /// `latest`, `retained`, `savepoint`, `restored from`.
    pub what: String,
    /// As REST wrote it.
    pub place: String,
    /// How it lies to the target; `null` for a place elsewhere, or if the job itself was asked about.
    pub relation: Option<Relation>,
}

/// One record and how its path lies to the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordFacts {
    /// Record.
    pub id: RecordId,
    /// File or UDF.
    pub kind: ResourceKind,
    /// Full name.
    pub full_name: String,
    /// Whether the record says directory.
    pub directory: bool,
    /// Bytes in the record.
    pub size: Option<u64>,
    /// Owner, in words.
    pub owner: String,
    /// The owner's tenant now, in words.
    pub tenant: String,
    /// The path it maps to; `null` if the tenant is not known or the name must not be looked up.
    pub path: Option<HdfsPath>,
    /// How that path lies to the target.
    pub relation: Option<Relation>,
    /// Last update as the server prints it, without a zone.
    pub updated: Option<String>,
    /// What DolphinScheduler's own `view` said.
    pub opinion: Option<String>,
}

/// One workflow and what ties it to the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkflowFacts {
    /// Definition code.
    pub code: WorkflowCode,
    /// Name.
    pub name: String,
    /// Project code.
    pub project: i64,
    /// Whether it is online.
    pub online: bool,
    /// What ties it to the target.
    pub ties: Vec<String>,
}

/// One finding and how it lies to the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FindingFacts {
    /// How its path, or the path its reference leads to, lies to the target; `null` if it names the target by another key.
    pub relation: Option<Relation>,
    /// The reason, if the configuration ignores it.
    pub ignored: Option<String>,
    /// Its fingerprint.
    pub fingerprint: String,
    /// Title.
    pub title: String,
    /// The remedy in words.
    pub remedy_text: String,
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
}

/// One gap that bears on the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GapFacts {
    /// View, cluster and path.
    pub place: String,
    /// Why, as a class.
    pub cause: String,
    /// What was asked and what came back.
    pub detail: String,
}

/// Finds all that is known of `target`.
pub fn explain(
    inventory: &Inventory,
    config: &Config,
    comparison: &Comparison,
    target: &str,
    lang: Lang,
) -> Result<Explanation, SubjectError> {
    let subject = parse_subject(target, inventory, config, comparison)?;
    let look = Looker::new(inventory, config, comparison, lang);
    let paths = look.paths(&subject);
    let context = Context::new(inventory, config);
    Ok(Explanation {
        schema: SCHEMA.to_owned(),
        taken: inventory.taken,
        runs: runs::runs(&context, &paths),
        restore_points: runs::points(&context, &paths),
        jobs: look.jobs(&subject, &paths),
        records: look.records(&subject, &paths),
        workflows: look.workflows(&subject, &paths),
        findings: look.findings(&subject, &paths),
        gaps: look.gaps(&paths),
        paths: paths.iter().map(|path| look.path_facts(path)).collect(),
        subject,
    })
}

fn parse_subject(
    text: &str,
    inventory: &Inventory,
    config: &Config,
    comparison: &Comparison,
) -> Result<Subject, SubjectError> {
    let text = text.trim();
    let no_form = || SubjectError::NoForm(text.to_owned());
    if let Some(id) = text.strip_prefix("record:") {
        return id.parse().map(|id| Subject::Record(RecordId(id))).map_err(|_| no_form());
    }
    if let Some(code) = text.strip_prefix("workflow:") {
        return code.parse().map(|code| Subject::Workflow(WorkflowCode(code))).map_err(|_| no_form());
    }
    if let Ok(job) = JobId::parse(text.strip_prefix("job:").unwrap_or(text)) {
        return Ok(Subject::Job(job));
    }
    if text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return by_fingerprint(text, comparison).or_else(|error| by_number(text, inventory).ok_or(error));
    }
    if let Ok(number) = text.parse::<i64>() {
        return Ok(by_number(text, inventory).unwrap_or(Subject::Record(RecordId(number))));
    }
    let uri = HdfsUri::parse(text).map_err(|_| no_form())?;
    match config.file_systems.resolve(&uri).here() {
        Some(path) => Ok(Subject::Path(path.clone())),
        None => Err(SubjectError::NotHere {
            uri: text.to_owned(),
            read: config
                .file_systems
                .canonical
                .as_ref()
                .map_or_else(|| "no authority is configured".to_owned(), ToString::to_string),
        }),
    }
}

/// A bare number is a record, or a workflow if only that exists.
fn by_number(text: &str, inventory: &Inventory) -> Option<Subject> {
    let number: i64 = text.parse().ok()?;
    let view = inventory.resources.as_ref()?;
    if view.records.iter().any(|record| record.id.0 == number) {
        return Some(Subject::Record(RecordId(number)));
    }
    let found = view.workflows.iter().find(|workflow| workflow.code.0 == number)?;
    Some(Subject::Workflow(found.code))
}

fn by_fingerprint(text: &str, comparison: &Comparison) -> Result<Subject, SubjectError> {
    let wanted = text.to_ascii_lowercase();
    let ignored = comparison.ignored.iter().map(|ignored| &ignored.finding);
    let finding = comparison
        .findings
        .iter()
        .chain(ignored)
        .find(|finding| finding.fingerprint() == wanted)
        .ok_or_else(|| SubjectError::NoSuchFinding(wanted.clone()))?;
    let target = &finding.target;
    let path = target.path.as_deref().and_then(|path| HdfsPath::parse(path).ok());
    target
        .record
        .map(Subject::Record)
        .or(target.workflow.map(Subject::Workflow))
        .or(path.map(Subject::Path))
        .or(target.job.clone().map(Subject::Job))
        .ok_or(SubjectError::NoTarget(wanted))
}
