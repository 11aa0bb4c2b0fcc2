//! World files: one YAML document that describes a small platform, and the configuration of the program that looks at it.
//!
//! Every age in a world counts back from one instant, `t0`, given when the file is loaded. What is not listed is not there.

mod case;
mod fault;
mod to_config;
mod yaml;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Deserializer};

use crate::domain::Age;

pub use case::{Before, Case, Expect, ExpectedAction, ExpectedFinding, ExpectedRequest, Identity, Outcome, PlanAction};
pub use fault::{Cut, Effect, Fault};
pub use to_config::Addresses;
pub use yaml::WorldError;

/// A small platform and the configuration of the program that looks at it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct World {
    /// One sentence.
    pub title: String,
    /// What the operator configured.
    #[serde(default)]
    pub config: WorldConfig,
    /// How the clocks differ.
    #[serde(default)]
    pub clock: Clock,
    /// Flink clusters and history servers.
    #[serde(default)]
    pub flink: Vec<FlinkCluster>,
    /// The file system.
    #[serde(default)]
    pub hdfs: Hdfs,
    /// The DolphinScheduler server; `None`: there is none.
    pub dolphinscheduler: Option<DolphinScheduler>,
    /// Seeded history.
    #[serde(default)]
    pub ledger: Ledger,
    /// The instant all ages count back from, by the clock of the program.
    #[serde(skip, default = "Timestamp::now")]
    pub t0: Timestamp,
}

/// What the operator configured. Values are kept as written, since a world may describe a configuration that is refused.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorldConfig {
    /// Canonical file system; default `hdfs://ns1`.
    pub authority: Option<String>,
    /// Other authorities that are the same file system.
    pub aliases: BTreeMap<String, String>,
    /// Mount tables by name.
    pub viewfs: BTreeMap<String, BTreeMap<String, String>>,
    /// `none`: there is no Flink on purpose.
    pub flink: Option<NoFlink>,
    /// Statements about clusters.
    pub clusters: Vec<ClusterStatement>,
    /// Checkpoint roots.
    pub checkpoint_roots: Vec<Root>,
    /// How the operator sees DolphinScheduler.
    pub ds: Option<DsStatement>,
    /// Limits and graces that are given.
    pub policies: Policies,
    /// Restore-point lines.
    pub registry: Vec<RegistryLine>,
    /// Applications.
    pub applications: Vec<Application>,
    /// Target of a root migration.
    pub migrate_to: Option<String>,
    /// Recorded migrations.
    pub migrations: Vec<Migration>,
}

/// The word that says that a platform has no Flink on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoFlink {
    /// `none`.
    None,
}

/// What the operator says about one cluster.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterStatement {
    /// Name, as in `flink[].cluster`.
    pub name: String,
    /// Directory its own configuration must show.
    pub checkpoint_dir: Option<String>,
    /// Fewer live jobs than this is a gap.
    pub min_live_jobs: Option<u32>,
    /// A silent one vetoes nothing.
    #[serde(default)]
    pub retired: bool,
}

/// A checkpoint root as configured.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Root {
    /// Where, as written; a world may hold one that is refused.
    pub path: String,
    /// How run directories lie below it.
    pub layout: Layout,
    /// Clusters that write there.
    pub clusters: Vec<String>,
}

/// How run directories lie below a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Layout {
    /// `<root>/<job id>`.
    #[serde(rename = "job")]
    Job,
    /// `<root>/<app>/<job id>`.
    #[serde(rename = "app/job")]
    AppJob,
    /// `<root>/<app>/<any name>/<job id>`.
    #[serde(rename = "app/run")]
    AppRun,
}

impl Layout {
    /// The word of the configuration.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Job => "job",
            Self::AppJob => "app/job",
            Self::AppRun => "app/run",
        }
    }
}

/// How the operator sees DolphinScheduler.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DsStatement {
    /// Generation of its resource API.
    pub generation: DsGeneration,
    /// Version text.
    pub version: String,
    /// Base path of the resource center, or a URI of it.
    pub base_path: String,
    /// Tenants to look at.
    pub tenants: Vec<String>,
    /// Whose token the program holds: `admin` or `user:NAME`.
    pub token: TokenOwner,
    /// Entries a page.
    pub page_size: Option<u32>,
    /// Zone of the times the server prints without one.
    pub time_zone: Option<String>,
}

/// The two kinds of resource API, told apart by how a resource is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DsGeneration {
    /// Rows with ids, up to 3.1.x.
    Db,
    /// A listing of the store, from 3.2.0.
    Storage,
}

/// Whose access token the program holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenOwner {
    /// An administrator.
    Admin,
    /// An ordinary user.
    User(String),
}

impl<'de> Deserialize<'de> for TokenOwner {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.split_once(':') {
            None if text == "admin" => Ok(Self::Admin),
            Some(("user", name)) if !name.is_empty() => Ok(Self::User(name.to_owned())),
            _ => Err(serde::de::Error::custom("a token is `admin` or `user:NAME`")),
        }
    }
}

/// Limits and graces; what is not given is left to the program's defaults.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "named and explained in the configuration, which this only repeats")]
pub struct Policies {
    pub min_age: Option<Age>,
    pub stable_for: Option<Age>,
    pub keep_generations: Option<u32>,
    pub record_grace: Option<Age>,
    pub confirm_after: Option<Age>,
    pub restore_mode: Option<String>,
    pub allow_irreversible: Option<bool>,
    pub allow_unverified_version: Option<bool>,
    pub max_delete_fraction: Option<f64>,
    pub protect: Vec<String>,
    pub plan_ttl: Option<Age>,
    pub rollback_window: Option<Age>,
    pub min_trash_interval: Option<Age>,
    pub quarantine: Option<String>,
    pub trash_restore_window: Option<bool>,
}

/// One restore-point line.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegistryLine {
    /// Application.
    pub app: String,
    /// Environment, such as `prod`.
    pub environment: Option<String>,
    /// The job that wrote the restore point, in any spelling.
    pub flink_job_id: String,
    /// Version of the program that wrote it.
    pub code_version: Option<String>,
    /// Where it lies.
    pub restore_path: Option<String>,
    /// `checkpoint` or `savepoint`.
    pub restore_type: Option<String>,
    /// Claim mode of the jobs restored from it.
    pub claim_mode: Option<String>,
    /// Age.
    pub created_age: Option<Age>,
    /// State.
    pub status: RegistryStatus,
    /// End of the protection, with a sign, from `t0`.
    pub protected_until: Option<Offset>,
    /// Length of the protection, from the creation (from `t0` if that is not said).
    pub protected_for: Option<Age>,
    /// Last state of the job.
    pub job_state: Option<String>,
    /// When it ended.
    pub job_ended_age: Option<Age>,
}

/// State of a registered restore point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
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
    /// The word of the configuration.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Rollback => "rollback",
            Self::PreRelease => "pre-release",
            Self::Expired => "expired",
            Self::Released => "released",
        }
    }
}

/// One application.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Application {
    /// Name.
    pub name: String,
    /// Environment.
    pub environment: Option<String>,
    /// Given up.
    pub retired: Option<bool>,
    /// Its job ids.
    #[serde(default)]
    pub jobs: Vec<String>,
}

/// One recorded root migration.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the words of the configuration")]
pub struct Migration {
    pub app: String,
    pub from: String,
    pub to: String,
    pub state: String,
}

/// How the clocks differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// The program's clock minus that of the servers.
    pub tool_minus_namenode: Offset,
}

/// A signed distance in whole seconds, written `+30d` or `-5m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Offset(pub i64);

impl<'de> Deserialize<'de> for Offset {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let (sign, digits) = match text.split_at_checked(1) {
            Some(("+", rest)) => (1, rest),
            Some(("-", rest)) => (-1, rest),
            _ => return Err(serde::de::Error::custom("a distance has a sign, such as `+30d` or `-5m`")),
        };
        let age = Age::parse(digits).map_err(serde::de::Error::custom)?;
        Ok(Self(sign * whole_seconds(age)))
    }
}

/// One Flink cluster or history server.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlinkCluster {
    /// Name.
    pub cluster: String,
    /// Version whose answers are given.
    #[serde(default = "default_flink_version")]
    pub flink_version: String,
    /// Whether it answers.
    #[serde(default = "yes")]
    pub reachable: bool,
    /// How it does not answer.
    pub error: Option<Unreachable>,
    /// A history server: terminal jobs only, no `/jobs` and no `/overview`.
    #[serde(default)]
    pub history: bool,
    /// TaskManagers registered.
    #[serde(default = "one")]
    pub task_managers: u32,
    /// What `/jobmanager/config` shows; default: the first root mapped to the cluster.
    pub checkpoint_dir: Option<String>,
    /// Its jobs.
    pub jobs: Vec<FlinkJob>,
    /// Answers that differ.
    #[serde(default)]
    pub faults: Vec<Fault>,
}

/// How a cluster does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unreachable {
    /// Nothing listens.
    Refused,
    /// Connections are taken and never answered.
    Timeout,
}

/// One job.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlinkJob {
    /// 32 hex digits.
    pub id: String,
    /// Name.
    pub name: String,
    /// State word, known or not.
    pub state: String,
    /// Since the start.
    pub started_age: Option<Age>,
    /// Since the end.
    pub ended_age: Option<Age>,
    /// URI of the restore point it was started from; `None`: REST shows no restore.
    pub restored_from: Option<String>,
    /// URI of the latest completed checkpoint; `None`: none completed.
    pub latest_external_path: Option<String>,
}

impl FlinkJob {
    /// Whether the state word is one of the three a job never leaves.
    pub fn is_terminal(&self) -> bool {
        matches!(self.state.as_str(), "FINISHED" | "CANCELED" | "FAILED")
    }
}

/// The file system.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Hdfs {
    /// The NameNode.
    pub server: HdfsServer,
    /// Who asks.
    pub caller: Option<Caller>,
    /// What is there.
    pub listing: Vec<Entry>,
    /// Paths that are said again not to be there.
    pub absent: Vec<String>,
    /// Answers that differ.
    pub faults: Vec<Fault>,
}

/// The NameNode.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HdfsServer {
    /// `fs.trash.interval`.
    pub trash_interval: Age,
    /// Reads work, writes get a SafeModeException.
    pub safemode: bool,
    /// Whether it is the active one.
    pub state: HaState,
}

impl Default for HdfsServer {
    fn default() -> Self {
        Self { trash_interval: Age::from_seconds(0), safemode: false, state: HaState::Active }
    }
}

/// State of a NameNode of an HA pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HaState {
    /// Answers.
    Active,
    /// Refuses every call with a StandbyException.
    Standby,
}

/// Who asks HDFS.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caller {
    /// User.
    pub user: String,
    /// Groups.
    #[serde(default)]
    pub groups: Vec<String>,
    /// Sees and may do everything.
    #[serde(default)]
    pub superuser: bool,
}

/// One listed path.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Where.
    pub path: String,
    /// File or directory.
    #[serde(rename = "type")]
    pub kind: EntryType,
    /// Since the last modification.
    pub mtime_age: Age,
    /// Bytes of a file.
    #[serde(default)]
    pub size: u64,
    /// Owner; default `hdfs`.
    pub owner: Option<String>,
    /// Group; default `supergroup`.
    pub group: Option<String>,
    /// Permissions, as `rwxr-xr-t`.
    pub perms: Option<Permissions>,
    /// So many further opaque entries.
    #[serde(default)]
    pub children: u32,
    /// Still being written.
    #[serde(default)]
    pub open: bool,
    /// Snapshots may be made of it.
    #[serde(default)]
    pub snapshottable: bool,
    /// Names of its snapshots.
    #[serde(default)]
    pub snapshots: Vec<String>,
    /// Paths a `_metadata` names; `None`: nothing outside its own directory.
    pub refers_to: Option<Vec<String>>,
    /// How a `_metadata` is damaged.
    pub metadata: Option<Damage>,
}

/// File or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryType {
    /// Directory.
    Dir,
    /// File.
    File,
}

/// How a `_metadata` is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Damage {
    /// Ends too early.
    Truncated,
    /// Is something else.
    Garbage,
}

/// Permission bits with the sticky bit, at most `0o1777`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permissions(pub u16);

impl Permissions {
    /// Parses the nine characters of `ls -l`, the last one `t` or `T` for the sticky bit.
    fn parse(text: &str) -> Option<Self> {
        if text.len() != 9 {
            return None;
        }
        let mut mode = 0;
        for (at, byte) in text.bytes().enumerate() {
            let bit = 1 << (8 - at);
            mode |= match byte {
                b'-' => 0,
                b't' if at == 8 => bit | 0o1000,
                b'T' if at == 8 => 0o1000,
                _ if byte == b"rwx"[at % 3] => bit,
                _ => return None,
            };
        }
        Some(Self(mode))
    }
}

impl<'de> Deserialize<'de> for Permissions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text)
            .ok_or_else(|| serde::de::Error::custom("permissions are nine characters such as `rwxr-xr-t`"))
    }
}

/// The DolphinScheduler server.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DolphinScheduler {
    /// What the server really is.
    pub generation: DsGeneration,
    /// Rows (`db`), or overrides of the listing (`storage`).
    #[serde(default)]
    pub records: Vec<Record>,
    /// Users that do not follow from the records.
    #[serde(default)]
    pub users: Vec<DsUser>,
    /// Project codes.
    #[serde(default = "first_project")]
    pub projects: Vec<i64>,
    /// Workflows.
    #[serde(default)]
    pub workflows: Vec<Workflow>,
    /// UDF functions.
    #[serde(default)]
    pub functions: Vec<Function>,
    /// Answer of the base directory call in `storage`; default authority and base path.
    pub base_dir: Option<String>,
    /// The paths that exist in the server's own store, if that is not `hdfs`.
    pub store: Option<Vec<String>>,
    /// Answers that differ.
    #[serde(default)]
    pub faults: Vec<Fault>,
}

/// A row, or the override of one listed path.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Row id (`db`).
    pub id: Option<i64>,
    /// Full name.
    pub full_name: Option<String>,
    /// `FILE` or `UDF`.
    #[serde(default)]
    pub kind: RecordKind,
    /// Whether it is a directory.
    pub dir: Option<bool>,
    /// Bytes.
    pub size: Option<u64>,
    /// Owner.
    pub owner: Option<String>,
    /// Tenant of the owner now; `None`: none.
    pub tenant: Option<String>,
    /// Since creation.
    pub age: Option<Age>,
    /// Since the last update; default `age`.
    pub updated: Option<Age>,
    /// Whether it is shown to this token.
    #[serde(default = "yes")]
    pub visible: bool,
    /// The path this is an override for (`storage`).
    pub path: Option<String>,
    /// The listing leaves the path out (`storage`).
    #[serde(default)]
    pub omit: bool,
}

/// Kind of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub enum RecordKind {
    /// Below `resources`.
    #[default]
    #[serde(rename = "FILE")]
    File,
    /// Below `udfs`.
    #[serde(rename = "UDF")]
    Udf,
}

/// A user.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DsUser {
    /// Name.
    pub name: String,
    /// Tenant.
    pub tenant: Option<String>,
    /// Was deleted.
    #[serde(default)]
    pub deleted: bool,
}

/// A workflow definition.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workflow {
    /// Code.
    pub code: i64,
    /// Name.
    pub name: String,
    /// Project code.
    #[serde(default = "one_code")]
    pub project: i64,
    /// Released or not.
    pub release: Release,
    /// Tenant it runs as.
    pub tenant: Option<String>,
    /// Resources its tasks hold by id.
    #[serde(default)]
    pub resource_ids: Vec<i64>,
    /// Resources its tasks hold by name.
    #[serde(default)]
    pub resource_names: Vec<String>,
    /// Its tasks.
    #[serde(default)]
    pub tasks: Vec<Task>,
}

/// Release state of a workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Release {
    /// Runs.
    Online,
    /// Does not.
    Offline,
}

/// A task of a workflow.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// Name.
    pub name: String,
    /// `SHELL`, `FLINK`, ….
    #[serde(rename = "type")]
    pub kind: String,
    /// Script of a shell task.
    pub raw_script: Option<String>,
    /// Initial script of a Flink SQL task.
    pub init_script: Option<String>,
    /// Arguments of the program.
    pub main_args: Option<String>,
    /// Further options of the submit command.
    pub others: Option<String>,
}

/// A UDF function.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Function {
    /// Name.
    pub name: String,
    /// Row it is bound to.
    pub record: i64,
}

/// Seeded history.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ledger {
    /// Whether an earlier run saw the same state.
    pub earlier_observation: EarlierObservation,
    /// A lease held by somebody else.
    pub lease: Option<Lease>,
}

/// Whether an earlier run saw the same state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EarlierObservation {
    /// It did.
    #[default]
    Agree,
    /// There was none.
    None,
}

/// A lease held by somebody else.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lease {
    /// Who.
    pub holder: String,
    /// Since when.
    pub age: Age,
}

impl World {
    /// Reads a world file. The keys that only a case has are let through and ignored.
    pub fn load(text: &str, t0: Timestamp) -> Result<Self, WorldError> {
        let (document, _) = yaml::Document::parse(text)?.split_case_keys();
        Self::from_document(&document, t0)
    }

    fn from_document(document: &yaml::Document, t0: Timestamp) -> Result<Self, WorldError> {
        let mut world: Self = document.read()?;
        world.t0 = t0;
        Ok(world)
    }

    /// The instant `age` ago by the clock of the servers, which may run behind the program's.
    pub fn server_time(&self, age: Age) -> Timestamp {
        before(self.server_now(self.t0), age)
    }

    /// What the servers' clock shows when the program's shows `now`.
    pub fn server_now(&self, now: Timestamp) -> Timestamp {
        now.saturating_sub(SignedDuration::from_secs(self.clock.tool_minus_namenode.0)).unwrap_or(now)
    }

    /// The canonical authority.
    pub fn authority(&self) -> &str {
        self.config.authority.as_deref().unwrap_or("hdfs://ns1")
    }

    /// Who asks HDFS; a superuser called `statewarden` unless the world says otherwise.
    pub fn caller(&self) -> Caller {
        self.hdfs.caller.clone().unwrap_or_else(|| Caller {
            user: "statewarden".to_owned(),
            groups: Vec::new(),
            superuser: true,
        })
    }

    /// The access token the embedded DolphinScheduler takes for the owner the world names.
    pub fn ds_token(&self) -> Option<String> {
        self.config.ds.as_ref().map(|ds| token_of(&ds.token))
    }

    /// The Flink version that writes at a path: that of the first cluster of the root around it, else of the first cluster.
    pub fn flink_version_at(&self, path: &str) -> &str {
        let root =
            self.config.checkpoint_roots.iter().find(|root| {
                path.strip_prefix(root.path.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
            });
        let writes = |cluster: &&FlinkCluster| root.is_some_and(|root| root.clusters.contains(&cluster.cluster));
        let cluster = self.flink.iter().find(writes).or_else(|| self.flink.first());
        cluster.map_or("1.20.5", |cluster| &cluster.flink_version)
    }

    /// What `/jobmanager/config` of a cluster shows as its checkpoint directory.
    pub fn checkpoint_dir(&self, cluster: &FlinkCluster) -> Option<String> {
        let root = || self.config.checkpoint_roots.iter().find(|root| root.clusters.contains(&cluster.cluster));
        cluster.checkpoint_dir.clone().or_else(|| root().map(|root| format!("{}{}", self.authority(), root.path)))
    }
}

/// The access token the embedded DolphinScheduler takes for `owner`; made so that a leak is easy to search for.
pub fn token_of(owner: &TokenOwner) -> String {
    match owner {
        TokenOwner::Admin => "embedded-token-of-the-administrator".to_owned(),
        TokenOwner::User(name) => format!("embedded-token-of-user-{name}"),
    }
}

/// `age` before `then`.
fn before(then: Timestamp, age: Age) -> Timestamp {
    then.saturating_sub(SignedDuration::from_secs(whole_seconds(age))).unwrap_or(then)
}

/// Whole seconds, signed.
fn whole_seconds(age: Age) -> i64 {
    i64::try_from(age.seconds()).unwrap_or(i64::MAX)
}

fn default_flink_version() -> String {
    "1.20.5".to_owned()
}

const fn yes() -> bool {
    true
}

const fn one() -> u32 {
    1
}

const fn one_code() -> i64 {
    1
}

fn first_project() -> Vec<i64> {
    vec![1]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t0() -> Timestamp {
        "2026-11-01T12:00:00Z".parse().expect("a time")
    }

    const MINIMAL: &str =
        "title: t\nflink:\n  - cluster: c1\n    jobs:\n      - {id: a, name: n, state: RUNNING, started_age: 2h}\n";

    #[test]
    fn ages_count_back_from_t0_and_skew_shifts_the_servers() {
        let world = World::load(&format!("{MINIMAL}clock: {{tool_minus_namenode: +80h}}\n"), t0()).expect("a world");
        let two_hours = Age::from_hours(2);
        assert_eq!(world.server_time(two_hours).to_string(), "2026-10-29T02:00:00Z");
    }

    #[test]
    fn unknown_keys_are_errors_with_their_place() {
        let wrong = MINIMAL.replace("started_age", "startet_age");
        let error = World::load(&wrong, t0()).expect_err("a wrong key");
        let WorldError::Value { line, place, what } = error else { panic!("{error}") };
        assert_eq!((line, place.as_str()), (5, "flink[0].jobs[0].startet_age"));
        assert!(what.contains("unknown field `startet_age`"), "{what}");
        assert!(World::load("title: t\nhdsf: {}\n", t0()).is_err());
    }

    #[test]
    fn permissions_know_the_sticky_bit() {
        assert_eq!(Permissions::parse("rwxr-xr-t"), Some(Permissions(0o1755)));
        assert_eq!(Permissions::parse("rw-r----T"), Some(Permissions(0o1640)));
        assert_eq!(Permissions::parse("rwxrwxrwz"), None);
        assert_eq!(Permissions::parse("wrxr-xr-x"), None);
    }

    #[test]
    fn every_case_parses_as_a_case_and_as_a_world() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
        let mut seen = 0;
        for file in std::fs::read_dir(folder).expect("the cases") {
            let file = file.expect("a case").path();
            let text = std::fs::read_to_string(&file).expect("text");
            let case = Case::load(&text, t0()).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            let world = World::load(&text, t0()).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            assert_eq!(case.world, world);
            assert_eq!(case.extra, serde_json::Map::new());
            world.to_config_toml(&Addresses::default()).parse::<toml::Table>().expect("a TOML file");
            seen += 1;
        }
        assert!(seen >= 82, "{seen} cases");
    }

    #[test]
    fn before_is_put_over_the_world_section_by_section() {
        let text = "title: t\nsource: derived\nclass: x\nphase: apply\nhdfs: {server: {safemode: true}, listing: [], faults: [{op: stat, http: 500}]}\n\
                    before: {hdfs: {faults: []}, applied: true}\n\
                    expect: {findings: [], must_plan: [], must_not_plan: [], exit_code: clean, notes: n}\nnote: for readers\n";
        let case = Case::load(text, t0()).expect("a case");
        let before = case.before.expect("a world at plan time");
        assert!(before.applied && before.world.hdfs.server.safemode);
        assert_eq!((before.world.hdfs.faults.len(), case.world.hdfs.faults.len()), (0, 1));
        assert!(case.extra.contains_key("note"));
    }

    #[test]
    fn the_configuration_names_every_cluster_and_turns_ages_into_times() {
        let text = format!(
            "{MINIMAL}config:\n  clusters: [{{name: c1, min_live_jobs: 2}}]\n  policies: {{min_age: 72h, max_delete_fraction: 0.2}}\n  \
             registry: [{{app: a, flink_job_id: b, status: pre-release, created_age: 1d, protected_for: 2d}}]\n"
        );
        let world = World::load(&text, t0()).expect("a world");
        let addresses = Addresses {
            flink: vec![("c1".into(), "http://127.0.0.1:1".into())],
            hdfs: vec!["http://127.0.0.1:2".into()],
            ds: None,
        };
        let written: toml::Table = world.to_config_toml(&addresses).parse().expect("TOML");
        let expected: toml::Table = r#"
            authority = "hdfs://ns1"
            clusters = [{ name = "c1", url = "http://127.0.0.1:1", min_live_jobs = 2 }]
            hdfs = { urls = ["http://127.0.0.1:2"], user = "statewarden" }
            policies = { min_age = "3d", max_delete_fraction = 0.2 }
            registry = [{ app = "a", flink_job_id = "b", status = "pre-release", created = "2026-10-31T12:00:00Z", protected_until = "2026-11-02T12:00:00Z" }]
        "#
        .parse()
        .expect("TOML");
        assert_eq!(written, expected);
    }
}
