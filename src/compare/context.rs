//! The inventory indexed once, for all rules.

use foldhash::{HashMap, HashMapExt as _, HashSet};
use jiff::Timestamp;
use jiff::civil::DateTime;

use crate::config::{CheckpointRoot, Config, DsConfig};
use crate::domain::record::NameFault;
use crate::domain::{EntryKind, HdfsPath, HdfsUri, Place, RecordId, ResourceKind, Status};
use crate::views::flink::Pointer;
use crate::views::hdfs::Look;
use crate::views::resources::{OwnerTenant, Reference, Workflow};
use crate::views::{ClusterView, Inventory, JobView, Record, ResourceView};

/// What is known about the path of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence<'a> {
    /// Something is there.
    Present(&'a Status),
    /// Proven absent.
    Absent,
    /// Refused, failed, not read, or not proven.
    Unknown,
}

/// One record with what follows from the views.
#[derive(Debug)]
pub struct RecordFacts<'a> {
    /// The record.
    pub record: &'a Record,
    /// Tenant of its owner now.
    pub tenant: OwnerTenant<'a>,
    /// The fault in its name, which is then never looked up.
    pub fault: Option<NameFault>,
    /// Where its file has to be; `None` without a tenant or with a faulty name.
    pub path: Option<HdfsPath>,
    /// What HDFS says of that path.
    pub presence: Presence<'a>,
}

/// How workflows and functions use records.
#[derive(Debug, Default)]
pub struct Uses<'a> {
    by_id: HashMap<i64, Vec<&'a Workflow>>,
    by_name: HashMap<&'a str, Vec<&'a Workflow>>,
    bound: HashSet<RecordId>,
}

impl<'a> Uses<'a> {
    fn new(view: &'a ResourceView) -> Self {
        let mut uses = Self::default();
        for workflow in &view.workflows {
            for reference in &workflow.references {
                match reference {
                    Reference::Id(id) => uses.by_id.entry(*id).or_default().push(workflow),
                    Reference::Name(name) => {
                        uses.by_name.entry(name.trim_start_matches('/')).or_default().push(workflow);
                    }
                }
            }
        }
        uses.bound.extend(view.functions.iter().filter_map(|function| function.record));
        uses
    }

    /// Workflows that reference exactly this record, by id or by name.
    pub fn workflows_of(&self, record: &Record) -> impl Iterator<Item = &'a Workflow> + '_ {
        let name = record.full_name.trim_start_matches('/');
        let by_name = if record.kind == ResourceKind::File { self.by_name.get(name) } else { None };
        self.by_id.get(&record.id.0).into_iter().chain(by_name).flatten().copied()
    }

    /// Whether an ONLINE workflow references exactly this record, or a UDF function is bound to it.
    pub fn matters(&self, record: &Record) -> bool {
        self.bound.contains(&record.id) || self.workflows_of(record).any(|workflow| workflow.online)
    }

    /// Whether a UDF function is bound to this record.
    pub fn is_bound(&self, record: &Record) -> bool {
        self.bound.contains(&record.id)
    }
}

/// The inventory indexed once, for all rules.
#[derive(Debug)]
pub struct Context<'a> {
    /// What was collected.
    pub inventory: &'a Inventory,
    /// What the operator said.
    pub config: &'a Config,
    /// The earlier of our clock and the NameNode's at the end of the collection: what is old by this is old by both.
    pub now: Timestamp,
    /// The resource view and its configuration, where both exist.
    pub resources: Option<(&'a ResourceView, &'a DsConfig)>,
    /// Records of the tenants that are looked at, in id order.
    pub records: Vec<RecordFacts<'a>>,
    /// Position in `records` by id.
    pub by_id: HashMap<RecordId, usize>,
    /// Who uses which record.
    pub uses: Uses<'a>,
    /// Position of every record's parent record, where it has one.
    pub parents: Vec<Option<usize>>,
    /// Paths of the records of tenants that are not looked at.
    pub paths_elsewhere: Vec<HdfsPath>,
}

impl<'a> Context<'a> {
    /// Indexes an inventory.
    pub fn new(inventory: &'a Inventory, config: &'a Config) -> Self {
        let resources = inventory.resources.as_ref().zip(config.ds.as_ref());
        let mut context = Self {
            inventory,
            config,
            now: inventory.server_now().map_or(inventory.taken, |server| server.min(inventory.taken)),
            resources,
            records: Vec::new(),
            by_id: HashMap::new(),
            uses: inventory.resources.as_ref().map(Uses::new).unwrap_or_default(),
            parents: Vec::new(),
            paths_elsewhere: Vec::new(),
        };
        if let Some((view, ds)) = resources {
            context.index_records(view, ds);
        }
        context
    }

    fn index_records(&mut self, view: &'a ResourceView, ds: &'a DsConfig) {
        let tenants = view.tenants_in_scope(&ds.tenants);
        self.records.reserve(view.records.len());
        self.by_id.reserve(view.records.len());
        for record in &view.records {
            let facts = self.facts_of(view, ds, record);
            let in_scope = match facts.tenant {
                OwnerTenant::Tenant(tenant) => tenants.contains(&tenant),
                _ => true,
            };
            if in_scope {
                self.by_id.insert(record.id, self.records.len());
                self.records.push(facts);
            } else {
                self.paths_elsewhere.extend(facts.path);
            }
        }
        self.parents = parents(&self.records);
    }

    fn facts_of(&self, view: &'a ResourceView, ds: &DsConfig, record: &'a Record) -> RecordFacts<'a> {
        let tenant = view.tenant_of(record);
        let (fault, path) = match view.path_of(record, &ds.base_path) {
            Ok(path) => (None, path),
            Err(fault) => (Some(fault), None),
        };
        let presence = path.as_ref().map_or(Presence::Unknown, |path| self.presence(path));
        RecordFacts { record, tenant, fault, path, presence }
    }

    /// Paths of all records, of whatever tenant.
    pub fn owned_paths(&self) -> impl Iterator<Item = &HdfsPath> {
        self.records.iter().filter_map(|facts| facts.path.as_ref()).chain(&self.paths_elsewhere)
    }

    /// What HDFS says of a path, absence only with proof.
    pub fn presence(&self, path: &HdfsPath) -> Presence<'a> {
        let hdfs = &self.inventory.hdfs;
        match hdfs.look(path) {
            Look::Present(status) => Presence::Present(status),
            Look::Absent if hdfs.is_proven_absent(path) => Presence::Absent,
            _ => Presence::Unknown,
        }
    }

    /// Base path of the resource center, if there is one.
    pub fn base_path(&self) -> Option<&'a HdfsPath> {
        self.config.ds.as_ref().map(|ds| &ds.base_path)
    }

    /// Where a URI leads.
    pub fn resolve(&self, uri: &HdfsUri) -> Place {
        self.config.file_systems.resolve(uri)
    }

    /// The configured checkpoint root at or above a path.
    pub fn root_of(&self, path: &HdfsPath) -> Option<&'a CheckpointRoot> {
        self.config.root_of(path)
    }

    /// Places of state of live jobs in the file system that is read: the latest, the retained and the restored ones.
    pub fn live_state(&self) -> impl Iterator<Item = (&'a ClusterView, &'a JobView, HdfsPath)> + '_ {
        self.inventory.flink.live_jobs().flat_map(move |(cluster, job)| {
            state_pointers(job).filter_map(move |pointer| match self.resolve(pointer.uri()?) {
                Place::Here(path) => Some((cluster, job, path)),
                _ => None,
            })
        })
    }

    /// Whether the Flink view has no gap: every cluster that could veto has answered.
    pub fn flink_is_whole(&self) -> bool {
        let flink = &self.inventory.flink;
        (flink.declared_none || !flink.clusters.is_empty())
            && flink.clusters.iter().all(|cluster| cluster.gaps.is_empty())
    }

    /// A time that DolphinScheduler printed without a zone.
    pub fn ds_time(&self, civil: DateTime) -> Option<Timestamp> {
        let (_, ds) = self.resources?;
        ds.time_zone.to_ambiguous_timestamp(civil).compatible().ok()
    }

    /// The newest time of a record.
    pub fn record_time(&self, record: &Record) -> Option<Timestamp> {
        [record.created, record.updated].into_iter().flatten().filter_map(|civil| self.ds_time(civil)).max()
    }

    /// Whether a time is at least `record_grace` ago; an unknown time is not.
    pub fn is_past_grace(&self, time: Option<Timestamp>) -> bool {
        time.is_some_and(|time| self.config.policies.record_grace.has_passed(time, self.now))
    }

    /// Positions of all records at or above the record at `at`, itself first.
    pub fn with_ancestors(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        // A full name is at most 128 characters deep in DolphinScheduler; the bound only guards against a loop.
        std::iter::successors(Some(at), |at| self.parents[*at]).take(256)
    }
}

/// Position of the record one name above each record. Only the names above are looked up: they are few, and records that lie
/// together often come together.
fn parents(records: &[RecordFacts<'_>]) -> Vec<Option<usize>> {
    fn above<'f>(facts: &RecordFacts<'f>) -> Option<(ResourceKind, &'f str)> {
        let (parent, _) = facts.record.full_name.rsplit_once('/')?;
        Some((facts.record.kind, parent))
    }
    let names: Vec<Option<(ResourceKind, &str)>> = records.iter().map(above).collect();
    let mut at_name: HashMap<(ResourceKind, &str), Option<usize>> = HashMap::new();
    for together in names.chunk_by(|a, b| a == b) {
        at_name.extend(together[0].map(|name| (name, None)));
    }
    for (at, facts) in records.iter().enumerate() {
        if let Some(slot) = at_name.get_mut(&(facts.record.kind, &*facts.record.full_name)) {
            *slot = Some(at);
        }
    }
    let found = names.chunk_by(|a, b| a == b).flat_map(|together| {
        let parent = together[0].and_then(|name| at_name.get(&name).copied().flatten());
        std::iter::repeat_n(parent, together.len())
    });
    found.collect()
}

/// All pointers of a job that keep state: latest, retained, restored.
pub fn state_pointers(job: &JobView) -> impl Iterator<Item = &Pointer> {
    let restored = match &job.restored {
        crate::views::flink::Restored::From { pointer } => Some(pointer),
        _ => None,
    };
    job.latest.iter().chain(&job.retained).map(|point| &point.pointer).chain(restored)
}

/// Whether a status is a file.
pub fn is_file(status: &Status) -> bool {
    status.kind == EntryKind::File
}
