//! One live job in the resource namespace, a stale record that a workflow uses, a dead cluster, a denied directory.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use statewarden::compare::{Comparison, Finding, FindingCode, Ignored, Severity, Target};
use statewarden::config::{CheckpointRoot, Config, Credentials, DsConfig, HttpConfig, Layout, Policies};
use statewarden::domain::{
    Age, Authority, EntryKind, Existence, FileSystems, HdfsPath, JobId, JobState, RecordId, ResourceKind, Status,
    WorkflowCode,
};
use statewarden::views::flink::{ClusterKind, Pointer, Restored, ShownRestorePoint};
use statewarden::views::hdfs::ClockReading;
use statewarden::views::inventory::INVENTORY_VERSION;
use statewarden::views::resources::{Opinion, Reference, StateOption, User, Workflow};
use statewarden::views::{
    Cause, ClusterView, Entry, FlinkView, Gap, Generation, HdfsView, Inventory, JobView, Listing, Record, ResourceView,
    ViewName,
};

pub const JOB: &str = "7f132d501fb9863844ab51697900d494";
pub const ENDED: &str = "49b5926251bfc0e5166a1c407ccd1050";
pub const BASE: &str = "/dolphinscheduler/etl/resources";

pub fn path(text: &str) -> HdfsPath {
    HdfsPath::parse(text).expect("a path")
}

fn time(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

fn job(text: &str) -> JobId {
    JobId::parse(text).expect("a job id")
}

fn status(kind: EntryKind, length: u64) -> Status {
    Status { kind, length, modified: time("2026-07-01T08:00:00Z"), owner: "etl".into(), file_id: 1 }
}

fn entry(name: &str, kind: EntryKind, length: u64) -> Entry {
    Entry { name: name.into(), status: status(kind, length) }
}

fn checkpoint(id: i64) -> ShownRestorePoint {
    ShownRestorePoint {
        id,
        pointer: Pointer::parse(&format!("hdfs://ns1{BASE}/ckpt_storage/{JOB}/chk-{id}")),
        savepoint: false,
        completed: Some(time("2026-07-31T23:59:00Z")),
    }
}

fn live_job() -> JobView {
    JobView {
        id: job(JOB),
        name: "orders".into(),
        state: JobState::Running,
        started: Some(time("2026-07-01T00:00:00Z")),
        ended: None,
        latest: Some(checkpoint(42)),
        retained: vec![checkpoint(42), checkpoint(41)],
        restored: Restored::NoneShown,
    }
}

fn ended_job() -> JobView {
    JobView {
        id: job(ENDED),
        name: "orders".into(),
        state: JobState::Canceled,
        ended: Some(time("2026-07-01T00:00:00Z")),
        latest: None,
        retained: vec![],
        ..live_job()
    }
}

fn flink() -> FlinkView {
    let c1 = ClusterView {
        version: Some("1.20.5".into()),
        task_managers: Some(1),
        jobs: vec![ended_job(), live_job()],
        read_at: vec![time("2026-08-01T00:00:00Z"), time("2026-08-01T00:00:05Z")],
        ..ClusterView::unread("c1", ClusterKind::Live, false)
    };
    let mut c2 = ClusterView::unread("c2", ClusterKind::Live, false);
    c2.gaps.push(cluster_gap());
    FlinkView { declared_none: false, clusters: vec![c1, c2] }
}

fn cluster_gap() -> Gap {
    Gap::incomplete(
        ViewName::Flink,
        Cause::Unreachable,
        "GET /overview of cluster c2: connection refused; check that the JobManager runs and that its URL is right",
    )
    .of_cluster("c2")
}

fn denied_gap() -> Gap {
    Gap::incomplete(ViewName::Hdfs, Cause::NotAuthorized, "LISTSTATUS of the directory: AccessControlException")
        .at(&path("/dolphinscheduler/etl/resources/private"))
}

fn hdfs() -> HdfsView {
    let entries = vec![
        entry("ckpt_storage", EntryKind::Directory, 0),
        entry("known.sql", EntryKind::File, 12),
        entry("private", EntryKind::Directory, 0),
    ];
    let runs = vec![entry(JOB, EntryKind::Directory, 0)];
    HdfsView {
        user: Some("statewarden".into()),
        listings: BTreeMap::from([
            (path(BASE), Listing { entries, complete: true }),
            (path(&format!("{BASE}/ckpt_storage")), Listing { entries: runs, complete: true }),
        ]),
        answers: BTreeMap::from([(path(&format!("{BASE}/gone.sql")), Existence::Absent)]),
        clock: Some(ClockReading { server: time("2026-08-01T00:00:02Z"), local: time("2026-08-01T00:00:03Z") }),
        gaps: vec![denied_gap()],
        ..HdfsView::default()
    }
}

fn record(id: i64, full_name: &str, directory: bool, size: u64) -> Record {
    Record {
        id: RecordId(id),
        full_name: full_name.into(),
        kind: ResourceKind::File,
        directory,
        size: Some(size),
        owner: Some(7),
        created: None,
        updated: Some("2026-06-01T10:00:00".parse().expect("a time")),
    }
}

fn resources() -> ResourceView {
    ResourceView {
        generation: Some(Generation::V31),
        version_text: Some("3.1.9".into()),
        account: Some("admin".into()),
        administrator: true,
        users: BTreeMap::from([(7, User { name: "u1".into(), tenant: Some("etl".into()) })]),
        users_complete: true,
        records: vec![
            record(1, "/known.sql", false, 12),
            record(2, "/gone.sql", false, 9),
            record(3, "/ckpt_storage", true, 0),
        ],
        records_complete: true,
        opinions: BTreeMap::from([(RecordId(2), Opinion::NotThere)]),
        workflows: vec![Workflow {
            project: 1,
            code: WorkflowCode(9001),
            name: "nightly".into(),
            online: true,
            tenant: Some("etl".into()),
            owner: Some(1),
            references: vec![Reference::Id(2)],
            functions: vec![],
            state_options: vec![StateOption {
                key: "state.checkpoints.dir".into(),
                value: format!("hdfs://ns1{BASE}/ckpt_storage"),
                field: "rawScript".into(),
                task: "start".into(),
            }],
        }],
        ..ResourceView::default()
    }
}

pub fn inventory() -> Inventory {
    Inventory {
        inventory_version: INVENTORY_VERSION,
        started: time("2026-08-01T00:00:00Z"),
        taken: time("2026-08-01T00:00:06Z"),
        flink: flink(),
        hdfs: hdfs(),
        resources: Some(resources()),
    }
}

fn finding(code: FindingCode, severity: Severity, target: Target) -> Finding {
    Finding::new(code, severity, target, "compare::rules::sample")
}

/// The findings a person would expect on that inventory, in no order.
pub fn comparison() -> Comparison {
    let gone = path(&format!("{BASE}/gone.sql"));
    let root = path(&format!("{BASE}/ckpt_storage"));
    let findings = vec![
        finding(FindingCode::StaleResourceRecord, Severity::Warning, Target::record(RecordId(2), Some(&gone)))
            .because(
                "the NameNode answers not-found; the directory above it was listed to the end and does not hold it",
            )
            .because("DolphinScheduler's own view answers 20012"),
        finding(
            FindingCode::DanglingWorkflowReference,
            Severity::Error,
            Target { workflow: Some(WorkflowCode(9001)), reference: Some(Reference::Id(2)), ..Target::default() },
        )
        .because("the workflow `nightly` is ONLINE and references record 2, which is stale"),
        finding(FindingCode::CheckpointInResourceNamespace, Severity::Critical, Target::path(&root))
            .because(format!("job {JOB} (`orders`, RUNNING) on cluster c1 keeps its latest checkpoint in it")),
        finding(
            FindingCode::ViewIncomplete,
            Severity::Error,
            Target { view: Some(ViewName::Flink), cluster: Some("c2".into()), ..Target::default() },
        )
        .because(cluster_gap().detail),
        finding(
            FindingCode::ViewIncomplete,
            Severity::Error,
            Target {
                view: Some(ViewName::Hdfs),
                path: denied_gap().path.map(|path| path.to_string()),
                ..Target::default()
            },
        )
        .because(denied_gap().detail),
    ];
    let ignored =
        finding(FindingCode::UnmanagedHdfsPath, Severity::Warning, Target::path(&path(&format!("{BASE}/private"))));
    Comparison {
        findings,
        ignored: vec![Ignored { finding: ignored, reason: "moves to another tenant in August".into() }],
        idle_ignores: vec!["statewarden.toml:40: ignore of size-mismatch matches nothing".into()],
        unknown_tenants: Vec::new(),
    }
}

/// An inventory and a comparison without any finding.
pub fn in_sync() -> (Inventory, Comparison) {
    let mut inventory = inventory();
    inventory.flink.clusters.truncate(1);
    inventory.hdfs.gaps.clear();
    (inventory, Comparison::default())
}

pub fn config() -> Config {
    let http = HttpConfig {
        timeout: Age::from_seconds(30),
        ca_file: None,
        credentials: Credentials::None,
        max_concurrency: 8,
        requests_per_second: None,
    };
    Config {
        file_systems: FileSystems {
            canonical: Some(Authority::parse("hdfs://ns1").expect("authority")),
            ..FileSystems::default()
        },
        hdfs: None,
        ds: Some(DsConfig {
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
        }),
        flink_none: false,
        clusters: vec![],
        roots: vec![CheckpointRoot {
            path: path(&format!("{BASE}/ckpt_storage")),
            layout: Layout::Job,
            clusters: vec!["c1".into()],
        }],
        policies: Policies::default(),
        registry: vec![],
        applications: vec![],
        migrate_to: None,
        migrations: vec![],
        ignores: vec![],
        refusals: vec![],
        source: None,
    }
}
