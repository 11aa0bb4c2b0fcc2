//! A small inventory put together by hand, for tests of the pure part.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use statewarden::compare::{Comparison, Finding, FindingCode, compare};
use statewarden::config::{CheckpointRoot, Config, Credentials, DsConfig, HttpConfig, Layout, Policies};
use statewarden::domain::{
    Age, Authority, EntryKind, Existence, FileSystems, HdfsPath, JobId, JobState, RecordId, ResourceKind, Status,
    WorkflowCode,
};
use statewarden::views::flink::{ClusterKind, Pointer, Restored, ShownRestorePoint};
use statewarden::views::resources::{Opinion, Reference, User, Workflow};
use statewarden::views::{
    ClusterView, Entry, FlinkView, Generation, HdfsView, Inventory, JobView, Record, ResourceView,
};

/// A hundred days before now.
pub const OLD: i64 = 100 * 86_400;

/// A platform under construction: an `etl` tenant on DolphinScheduler 3.1.9, and whatever a test adds.
#[derive(Clone)]
pub struct World {
    pub config: Config,
    pub inventory: Inventory,
}

pub fn path(text: &str) -> HdfsPath {
    HdfsPath::parse(text).expect("test path")
}

pub fn now() -> Timestamp {
    "2026-11-29T12:00:00Z".parse().expect("test time")
}

pub fn ago(seconds: i64) -> Timestamp {
    now() - SignedDuration::from_secs(seconds)
}

/// A time as DolphinScheduler prints it, in UTC.
pub fn civil(seconds_ago: i64) -> jiff::civil::DateTime {
    TimeZone::UTC.to_datetime(ago(seconds_ago))
}

impl World {
    /// An empty tenant directory, no Flink.
    pub fn new() -> Self {
        let http = HttpConfig {
            timeout: Age::from_seconds(1),
            ca_file: None,
            credentials: Credentials::None,
            max_concurrency: 1,
            requests_per_second: None,
        };
        let ds = DsConfig {
            url: None,
            token: None,
            apply_token: None,
            version: "3.1.9".into(),
            generation: Generation::V31,
            base_path: path("/dolphinscheduler"),
            tenants: vec!["etl".into()],
            page_size: 100,
            time_zone: TimeZone::UTC,
            http,
        };
        let canonical = Some(Authority::parse("hdfs://ns1").expect("test authority"));
        let config = Config {
            file_systems: FileSystems { canonical, ..FileSystems::default() },
            ds: Some(ds),
            flink_none: true,
            policies: Policies::default(),
            ..Config::default()
        };
        let resources = ResourceView {
            generation: Some(Generation::V31),
            administrator: true,
            users_complete: true,
            records_complete: true,
            users: BTreeMap::from([(1, User { name: "u1".into(), tenant: Some("etl".into()) })]),
            ..ResourceView::default()
        };
        let inventory = Inventory {
            inventory_version: 1,
            started: now(),
            taken: now(),
            flink: FlinkView { declared_none: true, clusters: Vec::new() },
            hdfs: HdfsView::default(),
            resources: Some(resources),
        };
        let mut world = Self { config, inventory };
        world.directory("/dolphinscheduler/etl/resources", OLD / 100);
        world
    }

    pub fn resources(&mut self) -> &mut ResourceView {
        self.inventory.resources.as_mut().expect("the world has DolphinScheduler")
    }

    fn add(&mut self, text: &str, kind: EntryKind, length: u64, age: i64) {
        let at = path(text);
        let Some(parent) = at.parent() else { return };
        if !self.inventory.hdfs.listings.contains_key(&parent) {
            self.directory(parent.as_str(), age);
        }
        let status = Status { kind, length, modified: ago(age), owner: "etl".into(), file_id: 0 };
        let listing = self.inventory.hdfs.listings.entry(parent).or_default();
        let entry = Entry { name: at.name().expect("a name").into(), status };
        match listing.entries.binary_search_by(|other| other.name.cmp(&entry.name)) {
            Ok(found) => listing.entries[found] = entry,
            Err(place) => listing.entries.insert(place, entry),
        }
    }

    /// A directory, listed completely, with its parents.
    pub fn directory(&mut self, text: &str, age: i64) {
        let at = path(text);
        self.inventory.hdfs.listings.entry(at.clone()).or_default().complete = true;
        if !at.is_root() {
            self.add(text, EntryKind::Directory, 0, age);
        }
    }

    pub fn file(&mut self, text: &str, length: u64, age: i64) {
        self.add(text, EntryKind::File, length, age);
    }

    /// The NameNode was asked for this path and said not-found.
    pub fn absent(&mut self, text: &str) {
        self.inventory.hdfs.answers.insert(path(text), Existence::Absent);
    }

    pub fn record(&mut self, id: i64, full_name: &str, directory: bool, size: u64) -> &mut Record {
        let time = civil(OLD);
        let records = &mut self.resources().records;
        records.push(Record {
            id: RecordId(id),
            full_name: full_name.into(),
            kind: ResourceKind::File,
            directory,
            size: Some(size),
            owner: Some(1),
            created: Some(time),
            updated: Some(time),
        });
        records.last_mut().expect("just added")
    }

    /// A record with its file.
    pub fn healthy(&mut self, id: i64, name: &str) {
        self.file(&format!("/dolphinscheduler/etl/resources{name}"), 12, OLD);
        self.record(id, name, false, 12);
    }

    /// A record whose file the NameNode says is not there.
    pub fn gone(&mut self, id: i64, name: &str) {
        self.absent(&format!("/dolphinscheduler/etl/resources{name}"));
        self.record(id, name, false, 99);
    }

    pub fn opinion(&mut self, id: i64, opinion: Opinion) {
        self.resources().opinions.insert(RecordId(id), opinion);
    }

    pub fn workflow(&mut self, code: i64, online: bool, references: Vec<Reference>) {
        self.resources().workflows.push(Workflow {
            project: 1,
            code: WorkflowCode(code),
            name: format!("w{code}"),
            online,
            tenant: None,
            owner: Some(1),
            references,
            functions: Vec::new(),
            state_options: Vec::new(),
        });
    }

    /// A running job with a latest checkpoint, on cluster c1.
    pub fn job(&mut self, id: &str, latest: Option<&str>, restored: Option<&str>) {
        self.config.flink_none = false;
        self.inventory.flink.declared_none = false;
        if self.inventory.flink.clusters.is_empty() {
            self.inventory.flink.clusters.push(ClusterView::unread("c1", ClusterKind::Live, false));
        }
        let latest = latest.map(|text| ShownRestorePoint {
            id: 5,
            pointer: Pointer::parse(text),
            savepoint: false,
            completed: None,
        });
        self.inventory.flink.clusters[0].jobs.push(JobView {
            id: JobId::parse(id).expect("test job id"),
            name: "app1".into(),
            state: JobState::Running,
            started: Some(ago(OLD)),
            ended: None,
            retained: latest.clone().into_iter().collect(),
            latest,
            restored: restored.map_or(Restored::NoneShown, |text| Restored::From { pointer: Pointer::parse(text) }),
        });
    }

    pub fn root(&mut self, at: &str, layout: Layout) {
        self.config.roots.push(CheckpointRoot { path: path(at), layout, clusters: vec!["c1".into()] });
    }

    pub fn compare(&self) -> Comparison {
        compare(&self.inventory, &self.config)
    }

    /// Findings of warning and above.
    pub fn drift(&self) -> Vec<Finding> {
        let findings = self.compare().findings;
        findings.into_iter().filter(|f| f.severity > statewarden::compare::Severity::Info).collect()
    }

    /// Codes of the findings of warning and above, worst first.
    pub fn codes(&self) -> Vec<FindingCode> {
        self.drift().iter().map(|finding| finding.code).collect()
    }
}
