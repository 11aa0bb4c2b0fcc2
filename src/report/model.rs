//! The report as a value: what `drift` found, what it could not tell, and what it read to say so.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::compare::code::Effect;
use crate::compare::{Comparison, Finding, FindingCode, Lang, Severity, Target};
use crate::ports::ledger::{Difference, RunEntry};
use crate::views::flink::ClusterKind;
use crate::views::{Cause, ClusterView, Gap, Generation, HdfsView, Inventory, ResourceView, ViewName};

/// Version of the report's JSON form. Raised when a reader of the old form would misread the new one.
pub const SCHEMA: &str = "statewarden/report/v1";

/// How a run came out, in one word; if several apply, the last of them. Reports know the first three only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing of severity warning or worse, and every view could be told.
    Clean,
    /// The systems disagree.
    Drift,
    /// A view is incomplete or a guard closed; there may be drift beside it.
    Incomplete,
    /// Refused by safety.
    Refused,
    /// Something was attempted and is not proven done.
    NotProven,
}

impl Verdict {
    /// The worst effect of all findings: what could not be told outweighs what was found.
    pub fn of(findings: &[Finding]) -> Self {
        findings.iter().map(Self::of_finding).max().unwrap_or(Self::Clean)
    }

    fn of_finding(finding: &Finding) -> Self {
        match finding.code.effect() {
            Effect::Drift if finding.severity >= Severity::Warning => Self::Drift,
            Effect::Drift | Effect::Note => Self::Clean,
            // Refusals and outcomes come from acting, never from looking; a report that holds one tells no clean world.
            Effect::Incomplete | Effect::Refused | Effect::NotProven => Self::Incomplete,
        }
    }

    /// The exit code it stands for.
    pub const fn number(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Drift => 2,
            Self::Incomplete => 3,
            Self::Refused => 4,
            Self::NotProven => 5,
        }
    }

    /// The word, as in reports and in the ledger.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Drift => "drift",
            Self::Incomplete => "incomplete",
            Self::Refused => "refused",
            Self::NotProven => "not_proven",
        }
    }
}

/// A report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Name and version of this form: `statewarden/report/v1`.
    pub schema: String,
    /// Version of the program.
    pub version: String,
    /// Language of titles and remedies.
    pub lang: Lang,
    /// When the inventory was taken.
    pub inventory: Times,
    /// Numbers.
    pub summary: Summary,
    /// How the run ends.
    pub exit: Exit,
    /// All findings, worst first; those of `could_not_tell` are among them.
    pub findings: Vec<ReportedFinding>,
    /// What could not be told, by the findings that say so. As long as this is not empty, a short list of findings proves nothing.
    pub could_not_tell: Vec<CouldNotTell>,
    /// Findings that the configuration expects.
    pub ignored: Vec<ReportedIgnored>,
    /// Ignores of the configuration that match nothing: old, or misspelt.
    pub idle_ignores: Vec<String>,
    /// Configured tenants that neither a user nor a directory knows: misspelt, or gone. Nothing was said about them.
    pub unknown_tenants: Vec<String>,
    /// What was read.
    pub views: Views,
    /// Whether the run is in a ledger; left out where none was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<Recording>,
    /// What changed since an earlier run (`--since`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Since>,
}

/// Whether a run is in a ledger.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recording {
    /// Id of the run.
    pub run: String,
    /// Place of the ledger; `null` if none could be opened.
    pub ledger: Option<String>,
    /// What could not be written or looked up; empty if all went well.
    pub trouble: Vec<String>,
}

/// What changed since an earlier run. The findings of the report say by themselves whether they are new.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Since {
    /// The earlier run.
    pub run: String,
    /// When it ended.
    #[schemars(with = "Option<String>")]
    pub ended: Option<Timestamp>,
    /// Findings that it did not have.
    pub new: usize,
    /// Findings that it had.
    pub known: usize,
    /// Its findings that are gone.
    pub gone: Vec<ReportedFinding>,
    /// Its findings that were not seen now, where a gap or another scope does not show that they are gone.
    pub unclear: Vec<ReportedFinding>,
}

/// Whether an earlier run had a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// It did not.
    New,
    /// It did.
    Known,
}

/// Times of the inventory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Times {
    /// When the collection began, by the program's clock (RFC 3339).
    #[schemars(with = "String")]
    pub started: Timestamp,
    /// When it ended; ages are judged at this time (RFC 3339).
    #[schemars(with = "String")]
    pub taken: Timestamp,
    /// The NameNode's clock minus the program's, in seconds; `null` if it was not read.
    pub namenode_clock_ahead_seconds: Option<i64>,
}

/// Numbers of a report.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Findings that say where the systems disagree, notes of severity info included.
    pub drift: usize,
    /// Findings that say what could not be told.
    pub could_not_tell: usize,
    /// Findings that are ignored.
    pub ignored: usize,
    /// All findings by severity.
    pub by_severity: BTreeMap<Severity, usize>,
    /// All findings by code.
    pub by_code: BTreeMap<FindingCode, usize>,
}

/// How the run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Exit {
    /// In one word.
    pub word: Verdict,
    /// The exit code of the program.
    pub code: u8,
}

impl Exit {
    /// The exit of a verdict.
    pub const fn of(word: Verdict) -> Self {
        Self { word, code: word.number() }
    }
}

/// A finding with its words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedFinding {
    /// Sixteen hex digits that stay the same from run to run.
    pub fingerprint: String,
    /// Title of the code.
    pub title: String,
    /// The remedy in words.
    pub remedy_text: String,
    /// Whether the run named by `--since` had it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
}

impl ReportedFinding {
    /// The words of a finding.
    pub fn new(finding: &Finding, lang: Lang) -> Self {
        Self {
            fingerprint: finding.fingerprint(),
            title: finding.code.title(lang).to_owned(),
            remedy_text: finding.remedy.text(lang).to_owned(),
            change: None,
            finding: finding.clone(),
        }
    }
}

/// Something that could not be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CouldNotTell {
    /// Fingerprint of the finding that says so.
    pub fingerprint: String,
    /// Its code.
    pub code: FindingCode,
    /// What it is on.
    pub target: Target,
    /// Why, as classes; empty for guards, which rest on what was read.
    pub causes: BTreeSet<Cause>,
    /// What was asked and what came back.
    pub evidence: Vec<String>,
    /// What to do, in words.
    pub remedy_text: String,
}

/// A finding that is expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedIgnored {
    /// Why it is expected, from the configuration.
    pub reason: String,
    /// The finding.
    #[serde(flatten)]
    pub finding: ReportedFinding,
}

/// What was read of each view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Views {
    /// Flink.
    pub flink: FlinkRead,
    /// HDFS.
    pub hdfs: HdfsRead,
    /// DolphinScheduler; `null` if the configuration names no server.
    pub dolphinscheduler: Option<ResourcesRead>,
}

/// What was read of Flink.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FlinkRead {
    /// The configuration says that there is no Flink.
    pub declared_none: bool,
    /// Clusters and history servers.
    pub clusters: Vec<ClusterRead>,
}

/// What was read of one cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterRead {
    /// Name.
    pub name: String,
    /// A history server.
    pub history: bool,
    /// Declared gone for good.
    pub retired: bool,
    /// Flink version it reports; `null` if it gave none.
    pub version: Option<String>,
    /// Registered TaskManagers; `null` if not told.
    pub task_managers: Option<u64>,
    /// Jobs that are not globally terminal.
    pub live: usize,
    /// Jobs seen to have ended.
    pub ended: usize,
    /// How often it was read in this run.
    pub readings: usize,
    /// Number of its gaps.
    pub gaps: usize,
}

/// What was read of HDFS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HdfsRead {
    /// The account that looked.
    pub user: Option<String>,
    /// Directories listed to the end.
    pub directories: usize,
    /// Directories of which only a part came.
    pub directories_cut_short: usize,
    /// Entries in all of them.
    pub entries: usize,
    /// Paths asked for one by one.
    pub questions: usize,
    /// Number of gaps.
    pub gaps: usize,
}

/// What was read of DolphinScheduler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResourcesRead {
    /// Generation found by probing.
    pub generation: Option<Generation>,
    /// Version text the server shows.
    pub version_text: Option<String>,
    /// Account.
    pub account: Option<String>,
    /// Whether it is an administrator.
    pub administrator: bool,
    /// Records (up to 3.1).
    pub records: usize,
    /// Whether tree and pages agreed on the complete set of records.
    pub records_complete: bool,
    /// Directories of the storage listing (from 3.2 on).
    pub storage_directories: usize,
    /// Entries of the storage listing (from 3.2 on).
    pub storage_entries: usize,
    /// Users.
    pub users: usize,
    /// Workflow definitions.
    pub workflows: usize,
    /// Those of them that are online.
    pub workflows_online: usize,
    /// Gaps of the resource center.
    pub gaps: usize,
    /// Gaps of the workflow definitions.
    pub workflow_gaps: usize,
}

impl Report {
    /// The report on one comparison.
    pub fn new(inventory: &Inventory, comparison: &Comparison, lang: Lang) -> Self {
        let mut sorted: Vec<&Finding> = comparison.findings.iter().collect();
        sorted.sort_by(|a, b| report_order(a).cmp(&report_order(b)));
        let word = Verdict::of(&comparison.findings);
        Self {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            lang,
            inventory: times(inventory),
            summary: summary(comparison),
            exit: Exit::of(word),
            could_not_tell: could_not_tell(inventory, &sorted, lang),
            findings: sorted.into_iter().map(|finding| ReportedFinding::new(finding, lang)).collect(),
            ignored: ignored(comparison, lang),
            idle_ignores: comparison.idle_ignores.clone(),
            unknown_tenants: comparison.unknown_tenants.clone(),
            views: Views::of(inventory),
            recording: None,
            since: None,
        }
    }

    /// The same report, ending at least this badly: acting refuses what a report only tells.
    #[must_use]
    pub fn with_verdict(mut self, verdict: Verdict) -> Self {
        if verdict > self.exit.word {
            self.exit = Exit::of(verdict);
        }
        self
    }

    /// The same report, with what changed since an earlier run.
    #[must_use]
    pub fn with_since(mut self, run: &RunEntry, difference: &Difference) -> Self {
        let lang = self.lang;
        let known: BTreeSet<String> = difference.known.iter().map(Finding::fingerprint).collect();
        for finding in &mut self.findings {
            finding.change = Some(if known.contains(&finding.fingerprint) { Change::Known } else { Change::New });
        }
        let of = |side: &[Finding]| side.iter().map(|finding| ReportedFinding::new(finding, lang)).collect();
        self.since = Some(Since {
            run: run.run.clone(),
            ended: run.ended,
            new: self.findings.iter().filter(|finding| finding.change == Some(Change::New)).count(),
            known: self.findings.iter().filter(|finding| finding.change == Some(Change::Known)).count(),
            gone: of(&difference.gone),
            unclear: of(&difference.unclear),
        });
        self
    }

    /// The same report with another exit code for plain drift (`--drift-exit-code`).
    #[must_use]
    pub fn with_drift_exit_code(mut self, code: u8) -> Self {
        if self.exit.word == Verdict::Drift {
            self.exit.code = code;
        }
        self
    }
}

/// Worst first, then in the order of the codes, then by target.
fn report_order(finding: &Finding) -> (std::cmp::Reverse<Severity>, FindingCode, &Target) {
    (std::cmp::Reverse(finding.severity), finding.code, &finding.target)
}

fn times(inventory: &Inventory) -> Times {
    Times {
        started: inventory.started,
        taken: inventory.taken,
        namenode_clock_ahead_seconds: inventory
            .hdfs
            .clock
            .map(|clock| clock.server.duration_since(clock.local).as_secs()),
    }
}

fn summary(comparison: &Comparison) -> Summary {
    let mut summary = Summary { ignored: comparison.ignored.len(), ..Summary::default() };
    for finding in &comparison.findings {
        match finding.code.effect() {
            Effect::Drift => summary.drift += 1,
            Effect::Incomplete => summary.could_not_tell += 1,
            Effect::Note | Effect::Refused | Effect::NotProven => {}
        }
        *summary.by_severity.entry(finding.severity).or_default() += 1;
        *summary.by_code.entry(finding.code).or_default() += 1;
    }
    summary
}

fn could_not_tell(inventory: &Inventory, findings: &[&Finding], lang: Lang) -> Vec<CouldNotTell> {
    let gaps = inventory.gaps();
    findings
        .iter()
        .filter(|finding| finding.code.effect() == Effect::Incomplete)
        .map(|finding| CouldNotTell {
            fingerprint: finding.fingerprint(),
            code: finding.code,
            target: finding.target.clone(),
            causes: gaps.iter().filter(|gap| is_behind(gap, &finding.target)).map(|gap| gap.cause).collect(),
            evidence: finding.evidence.clone(),
            remedy_text: finding.remedy.text(lang).to_owned(),
        })
        .collect()
}

/// Whether a finding on this target rests on this gap: the same view, cluster and path.
fn is_behind(gap: &Gap, target: &Target) -> bool {
    target.view == Some(gap.view)
        && target.cluster == gap.cluster
        && target.path.as_deref() == gap.path.as_ref().map(crate::domain::HdfsPath::as_str)
}

fn ignored(comparison: &Comparison, lang: Lang) -> Vec<ReportedIgnored> {
    comparison
        .ignored
        .iter()
        .map(|ignored| ReportedIgnored {
            reason: ignored.reason.clone(),
            finding: ReportedFinding::new(&ignored.finding, lang),
        })
        .collect()
}

impl Views {
    /// What this inventory read.
    pub fn of(inventory: &Inventory) -> Self {
        let flink = &inventory.flink;
        Self {
            flink: FlinkRead {
                declared_none: flink.declared_none,
                clusters: flink.clusters.iter().map(ClusterRead::of).collect(),
            },
            hdfs: HdfsRead::of(&inventory.hdfs),
            dolphinscheduler: inventory.resources.as_ref().map(ResourcesRead::of),
        }
    }
}

impl ClusterRead {
    fn of(cluster: &ClusterView) -> Self {
        let live = cluster.jobs.iter().filter(|job| job.is_live()).count();
        Self {
            name: cluster.name.clone(),
            history: cluster.kind == ClusterKind::History,
            retired: cluster.retired,
            version: cluster.version.clone(),
            task_managers: cluster.task_managers,
            live,
            ended: cluster.jobs.len() - live,
            readings: cluster.read_at.len(),
            gaps: cluster.gaps.len(),
        }
    }
}

impl HdfsRead {
    fn of(view: &HdfsView) -> Self {
        let complete = view.listings.values().filter(|listing| listing.complete).count();
        Self {
            user: view.user.clone(),
            directories: complete,
            directories_cut_short: view.listings.len() - complete,
            entries: view.listings.values().map(|listing| listing.entries.len()).sum(),
            questions: view.answers.len(),
            gaps: view.gaps.len(),
        }
    }
}

impl ResourcesRead {
    fn of(view: &ResourceView) -> Self {
        let workflow_gaps = view.gaps.iter().filter(|gap| gap.view == ViewName::Workflows).count();
        Self {
            generation: view.generation,
            version_text: view.version_text.clone(),
            account: view.account.clone(),
            administrator: view.administrator,
            records: view.records.len(),
            records_complete: view.records_complete,
            storage_directories: view.storage.len(),
            storage_entries: view.storage.values().map(Vec::len).sum(),
            users: view.users.len(),
            workflows: view.workflows.len(),
            workflows_online: view.workflows.iter().filter(|workflow| workflow.online).count(),
            gaps: view.gaps.len() - workflow_gaps,
            workflow_gaps,
        }
    }
}
