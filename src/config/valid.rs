//! The checked configuration. Values here are parsed and in range; what is unsafe is a [`Refusal`] and not in effect.

use std::path::PathBuf;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::domain::{Age, FileSystems, HdfsPath, HdfsUri, JobId};
use crate::views::Generation;

/// Everything a run is told.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The file system that is read, and every other spelling of it.
    pub file_systems: FileSystems,
    /// How to reach HDFS; `None` only where an inventory file is judged.
    pub hdfs: Option<HdfsConfig>,
    /// How to reach DolphinScheduler; `None` if the platform has none.
    pub ds: Option<DsConfig>,
    /// `flink = "none"`: there is no Flink on purpose.
    pub flink_none: bool,
    /// Flink clusters and history servers.
    pub clusters: Vec<ClusterConfig>,
    /// Checkpoint roots. Unsafe ones are refusals and not in here.
    pub roots: Vec<CheckpointRoot>,
    /// Limits and graces.
    pub policies: Policies,
    /// Known restore points.
    pub registry: Vec<RegistryEntry>,
    /// Known applications.
    pub applications: Vec<Application>,
    /// Where checkpoint roots inside a resource namespace should go.
    pub migrate_to: Option<HdfsPath>,
    /// Recorded root migrations.
    pub migrations: Vec<Migration>,
    /// Findings that are expected, with reason and expiry.
    pub ignores: Vec<Ignore>,
    /// What the configuration asks for and will not get: reported as `config-refused`.
    pub refusals: Vec<Refusal>,
    /// The file this was read from, for messages.
    pub source: Option<PathBuf>,
}

impl Config {
    /// The paths a `policies.protect` entry can mean: itself in any authority, or `app/run` below each root.
    pub fn protected_paths(&self, entry: &str) -> Vec<HdfsPath> {
        match HdfsUri::parse(entry) {
            Ok(uri) => vec![self.file_systems.resolve(&uri).path().clone()],
            Err(_) => self.roots.iter().filter_map(|root| root.path.join_relative(entry).ok()).collect(),
        }
    }

    /// The checkpoint root at or above a path.
    pub fn root_of(&self, path: &HdfsPath) -> Option<&CheckpointRoot> {
        self.roots.iter().find(|root| path.is_at_or_below(&root.path))
    }
}

/// A setting that is readable but unsafe. `drift` reports it and goes on without it; writes are refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// File and line, or flag, where it was said.
    pub place: String,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub remedy: String,
}

/// What the HTTP adapters share.
#[derive(Debug, Clone)]
pub struct HttpConfig {
    /// Deadline of one question with all its retries.
    pub timeout: Age,
    /// A private CA (PEM) to trust beside the system's.
    pub ca_file: Option<PathBuf>,
    /// What to present.
    pub credentials: Credentials,
    /// Requests in flight at once, to one system.
    pub max_concurrency: usize,
    /// Requests a second, to one system; `None`: as fast as the answers come.
    pub requests_per_second: Option<u32>,
}

/// Credentials, read from the environment or a file, never from an argument.
#[derive(Debug, Clone, Default)]
pub enum Credentials {
    /// None.
    #[default]
    None,
    /// HTTP basic.
    Basic {
        /// User.
        user: String,
        /// Password.
        password: SecretString,
    },
    /// `Authorization: Bearer`.
    Bearer(SecretString),
}

/// How to reach HDFS over WebHDFS or HttpFS.
#[derive(Debug, Clone)]
pub struct HdfsConfig {
    /// Base URLs without `/webhdfs/v1`, or with a gateway path that ends in it; several are the NameNodes of one HA pair.
    pub urls: Vec<Url>,
    /// `user.name` of the questions; ignored by a cluster with Kerberos.
    pub user: Option<String>,
    /// Impersonated user (`doas`).
    pub doas: Option<String>,
    /// A file with a delegation token, read anew for each run so that it can be rotated.
    pub delegation_token: Option<SecretString>,
    /// Deadlines, trust, limits.
    pub http: HttpConfig,
}

/// How to reach DolphinScheduler, and what it is.
#[derive(Debug, Clone)]
pub struct DsConfig {
    /// Base URL with the context path, such as `http://ds:12345/dolphinscheduler`; `None` where an inventory is judged.
    pub url: Option<Url>,
    /// Access token.
    pub token: Option<SecretString>,
    /// The token that deletes, where it is another one. Looked at only by commands that apply; see `LoadOptions::applies`.
    pub apply_token: Option<SecretString>,
    /// Version text in the configuration, for messages.
    pub version: String,
    /// Generation that follows from it; compared with what the probes find.
    pub generation: Generation,
    /// Base path of the resource center in HDFS.
    pub base_path: HdfsPath,
    /// Tenants to look at. Empty: those of all users.
    pub tenants: Vec<String>,
    /// Entries a page.
    pub page_size: u32,
    /// Zone of the times the server prints without one.
    pub time_zone: TimeZone,
    /// Deadlines, trust, limits.
    pub http: HttpConfig,
}

/// One Flink cluster or history server.
#[derive(Debug, Clone)]
pub struct ClusterConfig {
    /// Name, unique.
    pub name: String,
    /// Where it answers.
    pub endpoint: Endpoint,
    /// A history server.
    pub history: bool,
    /// Gone for good: its silence vetoes nothing.
    pub retired: bool,
    /// Checkpoint directory its own configuration must show.
    pub checkpoint_dir: Option<HdfsUri>,
    /// Fewer live jobs than this is a gap.
    pub min_live_jobs: usize,
    /// Deadlines, trust, credentials, limits.
    pub http: HttpConfig,
}

/// Where a cluster answers.
#[derive(Debug, Clone)]
pub enum Endpoint {
    /// A fixed REST base URL, with a path prefix where a proxy adds one.
    Url(Url),
    /// Asked from a YARN ResourceManager at each run, since the address changes with each start.
    Yarn {
        /// ResourceManager URL, such as `http://rm:8088`.
        resource_manager: Url,
        /// Exact application name.
        application: String,
    },
}

/// How run directories lie below a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum Layout {
    /// `<root>/<job id>`.
    #[serde(rename = "job")]
    Job,
    /// `<root>/<app>/<job id>`.
    #[serde(rename = "app/job")]
    AppJob,
    /// `<root>/<app>/<any name>/<job id>`; the unit is the directory of any name.
    #[serde(rename = "app/run")]
    AppRun,
}

impl Layout {
    /// Components between the root and a run directory, the run directory counted.
    pub const fn run_depth(self) -> usize {
        match self {
            Self::Job => 1,
            Self::AppJob | Self::AppRun => 2,
        }
    }
}

/// A directory in which Flink makes run directories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointRoot {
    /// Where.
    pub path: HdfsPath,
    /// How run directories lie below it.
    pub layout: Layout,
    /// Names of the clusters that write there.
    pub clusters: Vec<String>,
}

/// Limits and graces, named as in the configuration.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the configuration with a name of its own")]
pub struct Policies {
    /// Age of the newest time in a run directory before it may go; at least one hour.
    pub min_age: Age,
    /// How long a successor must have been stable.
    pub stable_for: Age,
    /// Newest restorable runs to keep, the running one counted.
    pub keep_generations: u32,
    /// Age of a record, or of a file without a record, before it is drift.
    pub record_grace: Age,
    /// Distance of the two observations a stale record needs.
    pub confirm_after: Age,
    /// Share of a tenant's records that may be stale before it is a mass absence.
    pub max_delete_fraction: f64,
    /// Whether `max_delete_fraction` was named: then it holds below five records too.
    pub max_delete_fraction_named: bool,
    /// Protected paths, as written: a path with or without authority, or `app/run` below a root.
    pub protect: Vec<String>,
    /// Restore mode of jobs for which nothing else says it.
    pub restore_mode: RestoreMode,
    /// Whether deletes without an undo may be planned.
    pub allow_irreversible: bool,
    /// Whether DolphinScheduler versions that nobody recorded may be written to.
    pub allow_unverified_version: bool,
    /// How long a plan may be applied.
    pub plan_ttl: Age,
    /// How long a rollback must stay possible.
    pub rollback_window: Age,
    /// A Trash that empties sooner counts as none.
    pub min_trash_interval: Age,
    /// Directory for what is put aside instead of into the Trash.
    pub quarantine: Option<HdfsPath>,
    /// Whether a copy in a Trash keeps its record from being deleted.
    pub trash_restore_window: bool,
}

impl Default for Policies {
    fn default() -> Self {
        Self {
            min_age: Age::from_hours(72),
            stable_for: Age::from_hours(1),
            keep_generations: 1,
            record_grace: Age::from_hours(24),
            confirm_after: Age::from_seconds(600),
            max_delete_fraction: 0.5,
            max_delete_fraction_named: false,
            protect: Vec::new(),
            restore_mode: RestoreMode::Unknown,
            allow_irreversible: false,
            allow_unverified_version: false,
            plan_ttl: Age::from_hours(1),
            rollback_window: Age::from_hours(24),
            min_trash_interval: Age::from_hours(24),
            quarantine: None,
            trash_restore_window: true,
        }
    }
}

/// Who owns the files of a restore point after a restore (Flink `RestoreMode`, `RecoveryClaimMode` from 2.0).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum RestoreMode {
    /// The restored job owns them and may delete them.
    #[serde(rename = "CLAIM")]
    Claim,
    /// Nobody deletes them; the job needs them until its first own full checkpoint.
    #[serde(rename = "NO_CLAIM")]
    NoClaim,
    /// As before Flink 1.15: nobody deletes them, the job may need them for good.
    #[serde(rename = "LEGACY")]
    Legacy,
    /// Not known: treated as the worst of them.
    #[serde(rename = "unknown")]
    Unknown,
}

/// What a restore point is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RestoreType {
    /// A retained checkpoint.
    Checkpoint,
    /// A savepoint.
    Savepoint,
}

/// State of a registered restore point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RegistryStatus {
    /// In use.
    Current,
    /// Kept for a rollback.
    Rollback,
    /// Made for a release that is not out yet.
    PreRelease,
    /// Over.
    Expired,
    /// Given up.
    Released,
}

impl RegistryStatus {
    /// Whether somebody counts on the restore point.
    pub const fn protects(self) -> bool {
        matches!(self, Self::Current | Self::Rollback | Self::PreRelease)
    }
}

/// One registered restore point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryEntry {
    /// Application.
    pub app: String,
    /// Environment.
    pub environment: Option<String>,
    /// Version of the application's code.
    pub code_version: Option<String>,
    /// The job that wrote the restore point.
    pub job: Option<JobId>,
    /// Where it lies; `None`: the line is about the run directory of its job.
    pub restore_path: Option<HdfsUri>,
    /// Checkpoint or savepoint.
    pub restore_type: Option<RestoreType>,
    /// Restore mode of the jobs that were restored from it.
    pub claim_mode: Option<RestoreMode>,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// State.
    pub status: RegistryStatus,
    /// Protected at least until then.
    pub protected_until: Option<Timestamp>,
    /// Last state of the job, as somebody saw it.
    pub job_state: Option<crate::domain::JobState>,
    /// When it ended.
    pub job_ended: Option<Timestamp>,
}

/// One application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    /// Name.
    pub name: String,
    /// Environment.
    pub environment: Option<String>,
    /// Given up.
    pub retired: bool,
    /// Its job ids.
    pub jobs: Vec<JobId>,
}

/// One recorded root migration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migration {
    /// Application.
    pub app: String,
    /// Old root.
    pub from: HdfsPath,
    /// New root.
    pub to: HdfsPath,
    /// Whether it is over.
    pub finished: bool,
}

/// A finding that is expected. All keys that are given must match; paths match themselves and everything below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignore {
    /// Finding code, kebab-case.
    pub code: String,
    /// Path, with everything below.
    pub path: Option<HdfsPath>,
    /// Record id.
    pub record: Option<i64>,
    /// Workflow code.
    pub workflow: Option<i64>,
    /// Cluster name.
    pub cluster: Option<String>,
    /// Why it is expected.
    pub reason: String,
    /// Until when; an expired one hides nothing and is reported.
    pub expires: Timestamp,
    /// File and line, for messages.
    pub place: String,
}
