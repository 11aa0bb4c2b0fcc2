//! What the DolphinScheduler resource center believes, and which workflows use it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};

use super::gap::Gap;
use super::hdfs::Listing;
use crate::domain::authority::UriError;
use crate::domain::record::{NameFault, check_full_name, tenant_directory};
use crate::domain::text::printable;
use crate::domain::{EntryKind, FileSystems, HdfsPath, HdfsUri, Place, RecordId, ResourceKind, WorkflowCode};

/// A generation of the resource API, as found by probing its functions.
///
/// The version text is not used: a 3.2.2 server reports `info.version` 3.3.0 (the version of its database schema).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
pub enum Generation {
    /// 1.3.x: records with ids, verbs in the path.
    #[serde(rename = "1.3")]
    V13,
    /// 2.0.x: records with ids.
    #[serde(rename = "2.0")]
    V20,
    /// 3.0.x: records with ids, `/{id}/query`.
    #[serde(rename = "3.0")]
    V30,
    /// 3.1.x: records with ids, a directory with child records is not deleted (20018).
    #[serde(rename = "3.1")]
    V31,
    /// 3.2.0 and 3.2.1: storage listing, no path check.
    #[serde(rename = "3.2.0")]
    V320,
    /// 3.2.2: storage listing, prefix check (20020).
    #[serde(rename = "3.2.2")]
    V322,
    /// 3.3 and later: storage listing, `workflow-definition`.
    #[serde(rename = "3.3")]
    V33,
}

impl Generation {
    /// The generation a configured version text belongs to (`3.1.9`, `3.2.2`, `dev`).
    pub fn of_version(version: &str) -> Option<Self> {
        let mut parts =
            version.split('.').map(|part| part.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default());
        if version == "dev" {
            return Some(Self::V33);
        }
        let number = |part: Option<&str>| part.and_then(|p| p.parse::<u32>().ok());
        match (number(parts.next()), number(parts.next()), number(parts.next())) {
            (Some(1), Some(3), _) => Some(Self::V13),
            (Some(2), Some(0), _) => Some(Self::V20),
            (Some(3), Some(0), _) => Some(Self::V30),
            (Some(3), Some(1), _) => Some(Self::V31),
            (Some(3), Some(2), Some(0 | 1)) => Some(Self::V320),
            (Some(3), Some(2), _) => Some(Self::V322),
            (Some(3), Some(3..), _) => Some(Self::V33),
            _ => None,
        }
    }

    /// Whether resources are records with ids in a database (up to 3.1) rather than a listing of the storage.
    pub const fn has_records(self) -> bool {
        matches!(self, Self::V13 | Self::V20 | Self::V30 | Self::V31)
    }

    /// Zone of the times the server prints without one, unless configured: +08:00 up to 2.0, UTC from 3.0 on.
    pub const fn default_time_zone(self) -> &'static str {
        match self {
            Self::V13 | Self::V20 => "+08:00",
            _ => "UTC",
        }
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V13 => "1.3",
            Self::V20 => "2.0",
            Self::V30 => "3.0",
            Self::V31 => "3.1",
            Self::V320 => "3.2.0/3.2.1",
            Self::V322 => "3.2.2",
            Self::V33 => "3.3",
        })
    }
}

/// One resource record (`t_ds_resources`), up to 3.1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Record {
    /// Record id.
    pub id: RecordId,
    /// Full name with leading slash, relative to the tenant's directory of this kind; bytes as the server sent them.
    pub full_name: Box<str>,
    /// File or UDF.
    pub kind: ResourceKind,
    /// Whether the record says directory.
    pub directory: bool,
    /// Bytes; `None` if only the tree showed the record.
    pub size: Option<u64>,
    /// Owner; `None` if only the tree showed the record.
    pub owner: Option<i64>,
    /// Creation time as the server prints it, without zone.
    #[schemars(with = "Option<String>")]
    pub created: Option<DateTime>,
    /// Time of the last update as the server prints it, without zone.
    #[schemars(with = "Option<String>")]
    pub updated: Option<DateTime>,
}

/// A user of the server, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct User {
    /// Login name.
    pub name: String,
    /// Code of the tenant the user belongs to now.
    pub tenant: Option<String>,
}

/// What the users view says of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnerTenant<'a> {
    /// The owner exists and belongs to this tenant.
    Tenant(&'a str),
    /// The owner exists and belongs to no tenant (10017, 10181 on every call).
    NoTenant,
    /// The complete user list has no such user (10010 on every call).
    Deleted,
    /// The users could not be read, or the record's owner is not known.
    Unknown,
}

/// One entry of the storage listing, from 3.2 on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StorageEntry {
    /// Full name exactly as the server spells it: what has to be sent back.
    pub full_name: Box<str>,
    /// Whether it is a directory.
    pub directory: bool,
    /// Bytes.
    pub size: u64,
}

/// What a task holds that points at a resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(untagged)]
pub enum Reference {
    /// A record id.
    Id(i64),
    /// A full name: relative to the tenant's directory up to 3.1, an absolute URI or path from 3.2 on.
    Name(String),
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Name(name) => f.write_str(name),
        }
    }
}

/// An option or statement in a task that sets a checkpoint or savepoint directory. Only the matched span is kept: scripts
/// hold passwords.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StateOption {
    /// The key, such as `state.checkpoints.dir`.
    pub key: String,
    /// The directory as written.
    pub value: String,
    /// The task field it was found in, such as `rawScript`.
    pub field: String,
    /// Task name.
    pub task: String,
}

/// One workflow (process) definition, current version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Workflow {
    /// Project code.
    pub project: i64,
    /// Definition code.
    pub code: WorkflowCode,
    /// Name.
    pub name: String,
    /// Whether it is released ONLINE.
    pub online: bool,
    /// Code of the tenant it runs as, where the definition says it (up to 3.1).
    #[serde(default)]
    pub tenant: Option<String>,
    /// Id of the user it belongs to.
    #[serde(default)]
    pub owner: Option<i64>,
    /// What its tasks reference, sorted, without doubles.
    #[serde(default)]
    pub references: Vec<Reference>,
    /// Ids of UDF functions its SQL tasks use.
    #[serde(default)]
    pub functions: Vec<i64>,
    /// Where its tasks set a checkpoint or savepoint directory.
    #[serde(default)]
    pub state_options: Vec<StateOption>,
}

/// A UDF function and the resource it is bound to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct UdfFunction {
    /// Function id.
    pub id: i64,
    /// Function name.
    pub name: String,
    /// Record id of its jar (up to 3.1).
    #[serde(default)]
    pub record: Option<RecordId>,
    /// Name of its resource as the function holds it.
    #[serde(default)]
    pub resource_name: Option<String>,
}

/// What DolphinScheduler's own `view` says about a file: the second opinion on absence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "opinion", rename_all = "kebab-case")]
pub enum Opinion {
    /// It opened: the file exists where the server looks.
    Opens,
    /// Code 20012: not there on the server's own file system either.
    NotThere,
    /// The suffix cannot be viewed (20006): no opinion by design.
    NoOpinion {
        /// What came back.
        why: String,
    },
    /// The call failed: storage off, HDFS trouble at the server, no usable answer.
    Failed {
        /// What came back.
        why: String,
    },
}

/// The resource center and the workflows of one DolphinScheduler server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ResourceView {
    /// Generation found by probing; `None` if the probes did not decide.
    #[serde(default)]
    pub generation: Option<Generation>,
    /// Version text the server shows, for display only.
    #[serde(default)]
    pub version_text: Option<String>,
    /// Name of the account.
    #[serde(default)]
    pub account: Option<String>,
    /// Whether the account is an administrator and so sees everything.
    #[serde(default)]
    pub administrator: bool,
    /// Base directory as the server says it (from 3.2 on).
    #[serde(default)]
    pub base_dir: Option<String>,
    /// Users by id.
    #[serde(default)]
    pub users: BTreeMap<i64, User>,
    /// Whether `users` is the complete list.
    #[serde(default)]
    pub users_complete: bool,
    /// Records (up to 3.1), sorted by id.
    #[serde(default)]
    pub records: Vec<Record>,
    /// Whether tree and pages agreed on the complete set of records.
    #[serde(default)]
    pub records_complete: bool,
    /// Storage listing (from 3.2 on) by directory; a directory that could not be listed is a gap and not in here.
    #[serde(default)]
    pub storage: BTreeMap<HdfsPath, Vec<StorageEntry>>,
    /// Second opinions on files that HDFS calls absent, or on one present file a tenant.
    #[serde(default)]
    pub opinions: BTreeMap<RecordId, Opinion>,
    /// Workflow definitions, online and offline, sorted by code.
    #[serde(default)]
    pub workflows: Vec<Workflow>,
    /// UDF functions.
    #[serde(default)]
    pub functions: Vec<UdfFunction>,
    /// What could not be read, of both views of this server.
    #[serde(default)]
    pub gaps: Vec<Gap>,
}

impl ResourceView {
    /// A workflow with its owner: what has to be edited in it is for that user to do.
    pub fn workflow_in_words(&self, workflow: &Workflow) -> String {
        let release = if workflow.online { "ONLINE" } else { "OFFLINE" };
        let owner = workflow.owner.map(|id| match self.users.get(&id) {
            Some(user) => format!(", owner {}", printable(&user.name)),
            None => format!(", owner: user id {id}"),
        });
        let (name, project) = (printable(&workflow.name), workflow.project);
        format!("workflow {name} ({release}, project {project}{})", owner.unwrap_or_default())
    }

    /// The tenant of a record's owner now; it decides the path of the record (delete and view use the owner's current one).
    pub fn tenant_of(&self, record: &Record) -> OwnerTenant<'_> {
        let Some(owner) = record.owner else { return OwnerTenant::Unknown };
        match self.users.get(&owner) {
            Some(User { tenant: Some(tenant), .. }) => OwnerTenant::Tenant(tenant),
            Some(User { tenant: None, .. }) if self.users_complete => OwnerTenant::NoTenant,
            None if self.users_complete => OwnerTenant::Deleted,
            _ => OwnerTenant::Unknown,
        }
    }

    /// Where the file of a record has to be: `<base>/<tenant of the owner now>/<kind>/<full name>`. `Ok(None)` without a tenant.
    pub fn path_of(&self, record: &Record, base: &HdfsPath) -> Result<Option<HdfsPath>, NameFault> {
        let relative = check_full_name(&record.full_name)?;
        let OwnerTenant::Tenant(tenant) = self.tenant_of(record) else { return Ok(None) };
        Ok(tenant_directory(base, tenant, record.kind).and_then(|directory| directory.join_relative(relative).ok()))
    }

    /// Tenants to look at: the configured ones, else those of all users.
    pub fn tenants_in_scope<'a>(&'a self, configured: &'a [String]) -> Vec<&'a str> {
        if configured.is_empty() { self.tenants_of_users() } else { configured.iter().map(String::as_str).collect() }
    }

    /// Tenants that users belong to, sorted.
    pub fn tenants_of_users(&self) -> Vec<&str> {
        let tenants: BTreeSet<&str> = self.users.values().filter_map(|user| user.tenant.as_deref()).collect();
        tenants.into_iter().collect()
    }

    /// Whether the server says that it stores in no HDFS (`s3a://…`, `file:/…`, `oss://…`).
    pub fn stores_elsewhere(&self) -> bool {
        self.base_dir.as_deref().is_some_and(|text| matches!(HdfsUri::parse(text), Err(UriError::OtherFileSystem(_))))
    }

    /// Whether the server says another base directory than `configured` (from 3.2 on). A plain user is told
    /// `<base>/<tenant>/resources`. An authority that leads nowhere known is reported as such; whether the paths agree says
    /// nothing then.
    pub fn has_other_base(&self, file_systems: &FileSystems, configured: &HdfsPath) -> bool {
        let Some(said) = self.base_dir.as_deref() else { return false };
        match HdfsUri::parse(said).map(|uri| file_systems.resolve(&uri)) {
            Ok(Place::Here(path)) => path != *configured && (self.administrator || !path.is_below(configured)),
            Ok(Place::Unresolved(..)) => false,
            _ => true,
        }
    }
}

/// How the server's listing of a directory differs from HDFS's, in words; `None` if they agree on names, types and sizes.
pub fn storage_difference(entries: &[StorageEntry], listing: &Listing) -> Option<String> {
    let name = |entry: &'_ StorageEntry| entry.full_name.trim_end_matches('/').rsplit('/').next().map(str::to_owned);
    let listed: BTreeMap<String, (bool, u64)> =
        entries.iter().filter_map(|entry| Some((name(entry)?, (entry.directory, entry.size)))).collect();
    let held: BTreeMap<&str, (bool, u64)> = listing
        .entries
        .iter()
        .map(|entry| (&*entry.name, (entry.status.kind == EntryKind::Directory, entry.status.length)))
        .collect();
    let only_hdfs = held.keys().filter(|name| !listed.contains_key(**name)).count();
    let only_listed = listed.keys().filter(|name| !held.contains_key(name.as_str())).count();
    let is_alike = |a: (bool, u64), b: (bool, u64)| a.0 == b.0 && (a.0 || a.1 == b.1);
    let unlike = held.iter().filter(|(name, held)| listed.get(**name).is_some_and(|l| !is_alike(*l, **held))).count();
    (only_hdfs + only_listed + unlike > 0).then(|| {
        format!(
            "the server lists {} entries, HDFS holds {}; {only_hdfs} only in HDFS, {only_listed} only listed, {unlike} of another type or size",
            listed.len(),
            held.len(),
        )
    })
}
