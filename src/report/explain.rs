//! All that is known of one target, with the source of each fact and the rule behind each finding.
//!
//! Explains, never judges: what no view says is called unknown here too.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layout::{Page, Style};
use super::words;
use crate::compare::{Comparison, Finding, Lang};
use crate::config::Config;
use crate::domain::record::{check_full_name, tenant_directory};
use crate::domain::text::printable;
use crate::domain::{EntryKind, HdfsPath, HdfsUri, JobId, RecordId, ResourceKind, WorkflowCode};
use crate::views::flink::{Pointer, Restored};
use crate::views::hdfs::Look;
use crate::views::resources::{Opinion, OwnerTenant, Reference, Workflow};
use crate::views::{ClusterView, HdfsView, Inventory, JobView, Record, ResourceView};

/// Version of the explanation's JSON form.
pub const SCHEMA: &str = "statewarden/explanation/v1";

/// Children of a directory that are named; the rest is counted.
const CHILDREN_SHOWN: usize = 20;

/// Entries of a section that are printed for a person.
const SECTION_SHOWN: usize = 25;

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
    /// How its path lies to the target; `null` if it names the target by another key.
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
    let look = Looker { inventory, config, comparison, lang };
    let paths = look.paths(&subject);
    Ok(Explanation {
        schema: SCHEMA.to_owned(),
        taken: inventory.taken,
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

/// The path a record maps to: `<base>/<tenant now>/<kind>/<full name>`, as DolphinScheduler 1.3 to 3.1 does it.
fn mapped_path(record: &Record, view: &ResourceView, config: &Config) -> Option<HdfsPath> {
    let base = &config.ds.as_ref()?.base_path;
    let OwnerTenant::Tenant(tenant) = view.tenant_of(record) else { return None };
    let name = check_full_name(&record.full_name).ok()?;
    tenant_directory(base, tenant, record.kind)?.join_relative(name).ok()
}

/// The three views and the findings, asked about one subject.
struct Looker<'a> {
    inventory: &'a Inventory,
    config: &'a Config,
    comparison: &'a Comparison,
    lang: Lang,
}

impl<'a> Looker<'a> {
    fn resources(&self) -> Option<&'a ResourceView> {
        self.inventory.resources.as_ref()
    }

    fn resolve(&self, uri: &HdfsUri) -> Option<HdfsPath> {
        self.config.file_systems.resolve(uri).here().cloned()
    }

    /// The paths a subject leads to.
    fn paths(&self, subject: &Subject) -> Vec<HdfsPath> {
        let mut paths = match subject {
            Subject::Path(path) => vec![path.clone()],
            Subject::Job(id) => self.job_paths(id),
            Subject::Record(id) => self.record_paths(*id),
            Subject::Workflow(code) => self.workflow_paths(*code),
        };
        paths.sort();
        paths.dedup();
        paths
    }

    /// The run directories of this name, and every place the job's REST answers name.
    fn job_paths(&self, id: &JobId) -> Vec<HdfsPath> {
        let listed = self
            .inventory
            .hdfs
            .listings
            .iter()
            .filter_map(|(directory, listing)| listing.find(id.as_str()).map(|entry| directory.join(&entry.name)));
        let shown = self
            .inventory
            .flink
            .jobs()
            .filter(|(_, job)| job.id == *id)
            .flat_map(|(_, job)| pointers(job))
            .filter_map(|(_, pointer)| pointer.uri())
            .filter_map(|uri| self.resolve(uri));
        listed.chain(shown).collect()
    }

    fn record_paths(&self, id: RecordId) -> Vec<HdfsPath> {
        let Some(view) = self.resources() else { return Vec::new() };
        view.records
            .iter()
            .filter(|record| record.id == id)
            .filter_map(|record| mapped_path(record, view, self.config))
            .collect()
    }

    fn workflow_paths(&self, code: WorkflowCode) -> Vec<HdfsPath> {
        let Some(view) = self.resources() else { return Vec::new() };
        let Some(workflow) = view.workflows.iter().find(|workflow| workflow.code == code) else { return Vec::new() };
        let referenced = workflow.references.iter().flat_map(|reference| self.reference_paths(reference, workflow));
        let set = workflow.state_options.iter().filter_map(|option| self.option_path(&option.value));
        referenced.chain(set).collect()
    }

    /// Where a reference may lead: the path of the record with that id or name, or the path the name is.
    fn reference_paths(&self, reference: &Reference, workflow: &Workflow) -> Vec<HdfsPath> {
        match reference {
            Reference::Id(id) => self.record_paths(RecordId(*id)),
            Reference::Name(name) => {
                let by_record = self.named_records(name).collect::<Vec<_>>();
                if by_record.is_empty() { self.name_path(name, workflow).into_iter().collect() } else { by_record }
            }
        }
    }

    fn named_records<'b>(&'b self, name: &'b str) -> impl Iterator<Item = HdfsPath> + 'b {
        self.resources().into_iter().flat_map(move |view| {
            view.records
                .iter()
                .filter(move |record| record.full_name.trim_start_matches('/') == name.trim_start_matches('/'))
                .filter_map(move |record| mapped_path(record, view, self.config))
        })
    }

    /// A name without a record: a URI or absolute path from 3.2 on, else relative to the workflow's tenant.
    fn name_path(&self, name: &str, workflow: &Workflow) -> Option<HdfsPath> {
        let base = &self.config.ds.as_ref()?.base_path;
        let written = HdfsUri::parse(name).ok().and_then(|uri| self.resolve(&uri));
        if let Some(path) = written.filter(|path| path.is_at_or_below(base)) {
            return Some(path);
        }
        let tenant = workflow.tenant.as_deref()?;
        tenant_directory(base, tenant, ResourceKind::File)?.join_relative(check_full_name(name).ok()?).ok()
    }

    fn option_path(&self, value: &str) -> Option<HdfsPath> {
        HdfsUri::parse(value).ok().and_then(|uri| self.resolve(&uri))
    }

    fn path_facts(&self, path: &HdfsPath) -> PathFacts {
        let view = &self.inventory.hdfs;
        let (answer, said) = look_words(view.look(path));
        PathFacts {
            path: path.clone(),
            answer: answer.to_owned(),
            said,
            proven_absent: view.is_proven_absent(path),
            parent: parent_word(view, path).to_owned(),
            role: self.roles(path),
            children: children(view, path),
            total: view
                .summaries
                .get(path)
                .map(|sum| format!("{} bytes in {} files and {} directories", sum.length, sum.files, sum.directories)),
        }
    }

    fn roles(&self, path: &HdfsPath) -> Vec<String> {
        let base = self.config.ds.as_ref().map(|ds| &ds.base_path);
        let inside = base.filter(|base| path.is_at_or_below(base)).map(|base| {
            format!("inside the resource namespace {base}: only the resource API of DolphinScheduler may write here")
        });
        let roots = self.config.roots.iter().filter_map(|root| match Relation::of(&root.path, path)? {
            Relation::At => Some(format!("a checkpoint root of {}", clusters(&root.clusters))),
            Relation::Above => {
                let run = path.ancestor_below(&root.path, root.layout.run_depth());
                let run = run.map(|run| format!("; run directory {run}")).unwrap_or_default();
                Some(format!("in the checkpoint root {} of {}{run}", root.path, clusters(&root.clusters)))
            }
            Relation::Below => Some(format!("holds the checkpoint root {}", root.path)),
        });
        let protected = self
            .config
            .policies
            .protect
            .iter()
            .filter(|text| HdfsPath::parse(text).is_ok_and(|protected| path.is_at_or_below(&protected)));
        inside
            .into_iter()
            .chain(roots)
            .chain(protected.map(|text| format!("protected by `{text}` in the configuration")))
            .collect()
    }

    fn jobs(&self, subject: &Subject, paths: &[HdfsPath]) -> Vec<JobFacts> {
        self.inventory.flink.jobs().filter_map(|(cluster, job)| self.job_facts(cluster, job, subject, paths)).collect()
    }

    fn job_facts(
        &self,
        cluster: &ClusterView,
        job: &JobView,
        subject: &Subject,
        paths: &[HdfsPath],
    ) -> Option<JobFacts> {
        let asked = *subject == Subject::Job(job.id.clone());
        let state_paths: Vec<StatePath> = pointers(job)
            .into_iter()
            .map(|(what, pointer)| StatePath {
                what: what.to_owned(),
                place: pointer_text(pointer),
                relation: pointer.uri().filter(|_| !asked).and_then(|uri| {
                    // Protection matches in any spelling: an undeclared authority may be this file system.
                    let place = self.config.file_systems.resolve(uri);
                    paths.iter().filter_map(|path| Relation::of(place.path(), path)).min()
                }),
            })
            .filter(|state| asked || state.relation.is_some())
            .collect();
        let named = paths.iter().any(|path| path.components().any(|part| part == job.id.as_str()));
        (asked || named || !state_paths.is_empty()).then(|| JobFacts {
            cluster: cluster.name.clone(),
            id: job.id.clone(),
            name: job.name.clone(),
            state: job.state.to_string(),
            live: job.is_live(),
            state_paths,
        })
    }

    fn records(&self, subject: &Subject, paths: &[HdfsPath]) -> Vec<RecordFacts> {
        let Some(view) = self.resources() else { return Vec::new() };
        view.records.iter().filter_map(|record| self.record_facts(view, record, subject, paths)).collect()
    }

    fn record_facts(
        &self,
        view: &ResourceView,
        record: &Record,
        subject: &Subject,
        paths: &[HdfsPath],
    ) -> Option<RecordFacts> {
        let path = mapped_path(record, view, self.config);
        let relation = path.as_ref().and_then(|own| paths.iter().filter_map(|path| Relation::of(own, path)).min());
        if *subject != Subject::Record(record.id) && relation.is_none() {
            return None;
        }
        Some(RecordFacts {
            id: record.id,
            kind: record.kind,
            full_name: record.full_name.to_string(),
            directory: record.directory,
            size: record.size,
            owner: owner_words(view, record),
            tenant: tenant_words(view.tenant_of(record)),
            path,
            relation,
            updated: record.updated.map(|time| time.to_string()),
            opinion: view.opinions.get(&record.id).map(opinion_words),
        })
    }

    fn workflows(&self, subject: &Subject, paths: &[HdfsPath]) -> Vec<WorkflowFacts> {
        let Some(view) = self.resources() else { return Vec::new() };
        view.workflows
            .iter()
            .filter_map(|workflow| {
                let asked = *subject == Subject::Workflow(workflow.code);
                let ties = self.ties(workflow, subject, paths, asked);
                (asked || !ties.is_empty()).then(|| WorkflowFacts {
                    code: workflow.code,
                    name: workflow.name.clone(),
                    project: workflow.project,
                    online: workflow.online,
                    ties,
                })
            })
            .collect()
    }

    fn ties(&self, workflow: &Workflow, subject: &Subject, paths: &[HdfsPath], asked: bool) -> Vec<String> {
        let related = |found: &HdfsPath| paths.iter().filter_map(|path| Relation::of(found, path)).min();
        let references = workflow.references.iter().filter_map(|reference| {
            let found = self.reference_paths(reference, workflow);
            let relation = found.iter().filter_map(related).min();
            let by_id = matches!((reference, subject), (Reference::Id(id), Subject::Record(record)) if *id == record.0);
            if !(asked || by_id || relation.is_some()) {
                return None;
            }
            let leads = found.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let leads = if leads.is_empty() { "nothing that is known".to_owned() } else { leads };
            Some(format!("references {reference}, which leads to {leads}{}", relation_note(relation, asked)))
        });
        let options = workflow.state_options.iter().filter_map(|option| {
            let relation = self.option_path(&option.value).as_ref().and_then(related);
            (asked || relation.is_some()).then(|| {
                let note = relation_note(relation, asked);
                format!("task {} sets {} = {} (in {}){note}", option.task, option.key, option.value, option.field)
            })
        });
        references.chain(options).collect()
    }

    fn findings(&self, subject: &Subject, paths: &[HdfsPath]) -> Vec<FindingFacts> {
        let own = self.comparison.findings.iter().map(|finding| (finding, None));
        let ignored = self.comparison.ignored.iter().map(|ignored| (&ignored.finding, Some(ignored.reason.clone())));
        own.chain(ignored)
            .filter_map(|(finding, reason)| {
                let path = finding.target.path.as_deref().and_then(|path| HdfsPath::parse(path).ok());
                let relation = path.and_then(|own| paths.iter().filter_map(|path| Relation::of(&own, path)).min());
                (is_about(finding, subject) || relation.is_some()).then(|| FindingFacts {
                    relation,
                    ignored: reason,
                    fingerprint: finding.fingerprint(),
                    title: finding.code.title(self.lang).to_owned(),
                    remedy_text: finding.remedy.text(self.lang).to_owned(),
                    finding: finding.clone(),
                })
            })
            .collect()
    }

    /// Gaps that hold for a whole view or cluster, and those with a path at, above or below one of its paths.
    fn gaps(&self, paths: &[HdfsPath]) -> Vec<GapFacts> {
        self.inventory
            .gaps()
            .into_iter()
            .filter(|gap| gap.path.as_ref().is_none_or(|at| paths.iter().any(|path| Relation::of(at, path).is_some())))
            .map(|gap| GapFacts {
                place: [Some(gap.view.to_string()), gap.cluster.clone(), gap.path.as_ref().map(ToString::to_string)]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join(" "),
                cause: gap.cause.to_string(),
                detail: gap.detail.clone(),
            })
            .collect()
    }
}

fn relation_note(relation: Option<Relation>, asked: bool) -> String {
    relation.filter(|_| !asked).map(|relation| format!(" ({})", relation.word())).unwrap_or_default()
}

fn is_about(finding: &Finding, subject: &Subject) -> bool {
    let target = &finding.target;
    match subject {
        Subject::Path(_) => false,
        Subject::Job(id) => target.job.as_ref() == Some(id),
        Subject::Record(id) => target.record == Some(*id) || target.reference == Some(Reference::Id(id.0)),
        Subject::Workflow(code) => target.workflow == Some(*code),
    }
}

/// Every place of state a job shows, with what it is.
fn pointers(job: &JobView) -> Vec<(&'static str, &Pointer)> {
    let mut all: Vec<(&'static str, &Pointer)> = Vec::new();
    all.extend(job.latest.iter().map(|point| ("latest", &point.pointer)));
    for point in &job.retained {
        if job.latest.as_ref().is_none_or(|latest| latest.pointer != point.pointer) {
            all.push((if point.savepoint { "savepoint" } else { "retained" }, &point.pointer));
        }
    }
    if let Restored::From { pointer } = &job.restored {
        all.push(("restored from", pointer));
    }
    all
}

fn pointer_text(pointer: &Pointer) -> String {
    match pointer {
        Pointer::Hdfs { uri } => uri.to_string(),
        Pointer::NotAddressable => "in the JobManager, no path".to_owned(),
        Pointer::Other { text } => text.clone(),
    }
}

fn clusters(names: &[String]) -> String {
    if names.is_empty() { "no named cluster".to_owned() } else { names.join(", ") }
}

fn look_words(look: Look<'_>) -> (&'static str, String) {
    match look {
        Look::Present(status) => {
            let kind = match status.kind {
                EntryKind::File => format!("a file of {} bytes", status.length),
                EntryKind::Directory => "a directory".to_owned(),
                EntryKind::Symlink => "a symbolic link (not followed)".to_owned(),
            };
            ("present", format!("there: {kind}, owner {}, modified {}", status.owner, status.modified))
        }
        Look::Absent => ("absent", "the NameNode answers not-found for it or for a directory above it".to_owned()),
        Look::NotListed => {
            ("not-listed", "not in the complete listing above it, but nobody asked for the path itself".to_owned())
        }
        Look::Denied(why) => ("denied", format!("refused: {why}")),
        Look::Unknown(why) => ("unknown", format!("asked without a usable answer: {why}")),
        Look::NotRead => ("not-read", "outside what was read; says nothing about it".to_owned()),
    }
}

fn parent_word(view: &HdfsView, path: &HdfsPath) -> &'static str {
    match path.parent_str().and_then(|parent| view.listings.get(parent)) {
        Some(listing) if listing.complete => "complete",
        Some(_) => "cut-short",
        None => "not-listed",
    }
}

fn children(view: &HdfsView, path: &HdfsPath) -> Option<Children> {
    let listing = view.listings.get(path)?;
    Some(Children {
        entries: listing.entries.len(),
        complete: listing.complete,
        first: listing.entries.iter().take(CHILDREN_SHOWN).map(|entry| entry.name.to_string()).collect(),
    })
}

fn owner_words(view: &ResourceView, record: &Record) -> String {
    let Some(owner) = record.owner else { return "not known".to_owned() };
    match view.users.get(&owner) {
        Some(user) => format!("{} (user {owner})", user.name),
        None if view.users_complete => format!("user {owner}, who does not exist any more"),
        None => format!("user {owner}"),
    }
}

fn tenant_words(tenant: OwnerTenant<'_>) -> String {
    match tenant {
        OwnerTenant::Tenant(tenant) => tenant.to_owned(),
        OwnerTenant::NoTenant => "none: the owner belongs to no tenant".to_owned(),
        OwnerTenant::Deleted => "none: the owner is gone".to_owned(),
        OwnerTenant::Unknown => "not known".to_owned(),
    }
}

fn opinion_words(opinion: &Opinion) -> String {
    match opinion {
        Opinion::Opens => "opens it: the file exists where the server looks".to_owned(),
        Opinion::NotThere => "code 20012: not there where the server looks either".to_owned(),
        Opinion::NoOpinion { why } => format!("no opinion: {why}"),
    }
}

/// Prints an explanation for a person.
pub fn render(explanation: &Explanation, style: Style) -> String {
    let mut page = Page::new(style);
    page.line(&style.strong(&subject_line(&explanation.subject)));
    page.line(&format!("As of {}.", explanation.taken.strftime("%Y-%m-%d %H:%M:%S UTC")));
    print_paths(&mut page, &explanation.paths);
    print_jobs(&mut page, &explanation.jobs);
    print_records(&mut page, &explanation.records);
    print_workflows(&mut page, &explanation.workflows);
    print_findings(&mut page, &explanation.findings);
    print_gaps(&mut page, &explanation.gaps);
    page.into_text()
}

fn subject_line(subject: &Subject) -> String {
    match subject {
        Subject::Path(path) => printable(path.as_str()),
        Subject::Job(id) => format!("job {id}"),
        Subject::Record(id) => format!("record {id}"),
        Subject::Workflow(code) => format!("workflow {code}"),
    }
}

fn print_paths(page: &mut Page, paths: &[PathFacts]) {
    page.heading("HDFS");
    if paths.is_empty() {
        page.item("  ", "it leads to no path that is known");
    }
    for facts in shown(page, paths) {
        page.item("  ", &printable(facts.path.as_str()));
        page.item("    ", &printable(&facts.said));
        let parent = match facts.parent.as_str() {
            "complete" => "its directory was listed to the end",
            "cut-short" => "its directory was listed in part only",
            _ => "its directory was not listed",
        };
        let proof = if facts.proven_absent { "; its absence counts as proven" } else { "" };
        page.item("    ", &format!("{parent}{proof}"));
        for role in &facts.role {
            page.item("    ", &printable(role));
        }
        if let Some(total) = &facts.total {
            page.item("    ", total);
        }
        if let Some(children) = &facts.children {
            print_children(page, children);
        }
    }
}

/// The first entries of a section, and a line that says how many more there are.
fn shown<'b, T>(page: &mut Page, all: &'b [T]) -> &'b [T] {
    if all.len() <= SECTION_SHOWN {
        return all;
    }
    page.item(
        "  ",
        &format!("{} in all; the first {SECTION_SHOWN} of them, the rest with `--output json`:", all.len()),
    );
    &all[..SECTION_SHOWN]
}

fn print_children(page: &mut Page, children: &Children) {
    let names: Vec<String> = children.first.iter().map(|name| printable(name)).collect();
    let more = children.entries - children.first.len();
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let end = if children.complete { "" } else { " (listed in part only)" };
    let colon = if names.is_empty() { "" } else { ": " };
    let entries = words::count(children.entries, "entry", "entries");
    page.item("    ", &format!("{entries}{end}{colon}{}{more}", names.join(", ")));
}

fn print_jobs(page: &mut Page, jobs: &[JobFacts]) {
    page.heading("Flink");
    if jobs.is_empty() {
        page.item("  ", "no job that was read has state at, above or below it");
    }
    for job in shown(page, jobs) {
        let live = if job.live { "live" } else { "ended" };
        let head = format!("{} on {}: {} ({}, {live})", job.id, job.cluster, job.name, job.state);
        page.item("  ", &printable(&head));
        for state in &job.state_paths {
            let relation = relation_note(state.relation, false);
            page.item("    ", &printable(&format!("{}: {}{relation}", state.what, state.place)));
        }
        if job.state_paths.is_empty() {
            page.item("    ", "shows no restore point here");
        }
    }
}

fn print_records(page: &mut Page, records: &[RecordFacts]) {
    page.heading("Resource records");
    if records.is_empty() {
        page.item("  ", "no record that was read maps to it");
    }
    for record in shown(page, records) {
        let kind = match (record.kind, record.directory) {
            (_, true) => "directory",
            (ResourceKind::File, false) => "file",
            (ResourceKind::Udf, false) => "UDF file",
        };
        let relation = relation_note(record.relation, false);
        let head = format!("record {} {} ({kind}){relation}", record.id, record.full_name);
        page.item("  ", &printable(&head));
        let path = record.path.as_ref().map_or_else(|| "no path: never looked up".to_owned(), ToString::to_string);
        page.item("    ", &printable(&format!("owner {}, tenant {}; maps to {path}", record.owner, record.tenant)));
        let size = record.size.map_or_else(|| "size not known".to_owned(), |size| format!("{size} bytes"));
        let updated = record.updated.as_deref().unwrap_or("not known");
        page.item("    ", &format!("{size}, last update {updated} (server time)"));
        if let Some(opinion) = &record.opinion {
            page.item("    ", &printable(&format!("DolphinScheduler itself: {opinion}")));
        }
    }
}

fn print_workflows(page: &mut Page, workflows: &[WorkflowFacts]) {
    page.heading("Workflows");
    if workflows.is_empty() {
        page.item("  ", "no workflow that was read references it or sets a state directory there");
    }
    for workflow in shown(page, workflows) {
        let release = if workflow.online { "ONLINE" } else { "OFFLINE" };
        let head = format!("{} {} ({release}, project {})", workflow.code, workflow.name, workflow.project);
        page.item("  ", &printable(&head));
        for tie in &workflow.ties {
            page.item("    ", &printable(tie));
        }
    }
}

fn print_findings(page: &mut Page, findings: &[FindingFacts]) {
    page.heading("Findings");
    if findings.is_empty() {
        page.item("  ", "none on, above or below it");
    }
    for facts in shown(page, findings) {
        let finding = &facts.finding;
        let severity = page.style().severity(finding.severity, &finding.severity.to_string());
        let relation = relation_note(facts.relation, false);
        page.line(&format!("  {severity} {}: {}{relation} [{}]", finding.code, facts.title, facts.fingerprint));
        page.item("    on ", &words::place(&finding.target, Lang::En).join(", "));
        for fact in &finding.evidence {
            page.item("    - ", &printable(fact));
        }
        page.item("    rule ", &finding.rule);
        if let Some(reason) = &facts.ignored {
            page.item("    ignored: ", &printable(reason));
        }
        page.item("    -> ", &facts.remedy_text);
    }
}

fn print_gaps(page: &mut Page, gaps: &[GapFacts]) {
    if gaps.is_empty() {
        return;
    }
    page.heading("What could not be read and may bear on it");
    for gap in shown(page, gaps) {
        page.item("  - ", &printable(&format!("{} ({}): {}", gap.place, gap.cause, gap.detail)));
    }
}
