//! The rules, one situation a test. Expected values come from the rule texts, not from the program.

use proptest::prelude::*;
use statewarden::compare::{FindingCode as Code, Remedy, Severity};
use statewarden::config::{Ignore, Layout};
use statewarden::domain::{HdfsPath, ResourceKind};
use statewarden::views::gap::{Cause, Gap, ViewName};
use statewarden::views::resources::{Opinion, Reference, StateOption, UdfFunction, User};

use crate::world::{OLD, World, ago, civil, path};

const JOB: &str = "49b5926251bfc0e5166a1c407ccd1050";

fn two_healthy() -> World {
    let mut world = World::new();
    world.healthy(1, "/known.sql");
    world.healthy(2, "/other.sql");
    world
}

#[test]
fn a_healthy_world_has_no_findings() {
    assert_eq!(two_healthy().compare().findings, []);
}

#[test]
fn a_record_is_stale_only_with_the_name_nodes_own_not_found() {
    let mut world = two_healthy();
    world.record(3, "/gone.sql", false, 9);
    assert_eq!(world.codes(), [], "a listing alone is no proof");
    world.absent("/dolphinscheduler/etl/resources/gone.sql");
    assert_eq!(world.codes(), [Code::StaleResourceRecord]);
}

#[test]
fn a_young_record_is_not_stale() {
    let mut world = two_healthy();
    world.gone(3, "/gone.sql");
    let young = civil(3600);
    world.resources().records[2].updated = Some(young);
    assert_eq!(world.codes(), []);
}

#[test]
fn an_incompletely_listed_directory_proves_nothing() {
    let mut world = two_healthy();
    world.gone(3, "/gone.sql");
    let top = path("/dolphinscheduler/etl/resources");
    world.inventory.hdfs.listings.get_mut(&top).expect("listed").complete = false;
    assert_eq!(world.codes(), []);
}

#[test]
fn a_file_that_the_server_opens_is_a_contradiction_and_not_stale() {
    let mut world = two_healthy();
    world.gone(3, "/gone.sql");
    world.opinion(3, Opinion::Opens);
    let drift = world.drift();
    assert_eq!(drift.len(), 1);
    assert_eq!(drift[0].code, Code::ViewContradiction);
    assert_eq!(drift[0].target.view, Some(ViewName::Hdfs));
    assert_eq!(drift[0].target.path.as_deref(), Some("/dolphinscheduler/etl/resources/gone.sql"));
}

#[test]
fn use_of_a_record_of_one_above_it_or_below_it_makes_it_an_error() {
    let base = || {
        let mut world = two_healthy();
        world.directory("/dolphinscheduler/etl/resources/conf", OLD);
        world.record(10, "/conf", true, 0);
        world.gone(11, "/conf/x.yaml");
        world.record(12, "/conf/x.yaml/deep", false, 1);
        world
    };
    let severity = |world: &World, id: i64| {
        let found = world.drift();
        let finding =
            found.iter().find(|f| f.code == Code::StaleResourceRecord && f.target.record.is_some_and(|r| r.0 == id));
        finding.map(|f| f.severity)
    };
    assert_eq!(severity(&base(), 11), Some(Severity::Warning));
    for used in [10, 11, 12] {
        let mut world = base();
        world.workflow(9, true, vec![Reference::Id(used)]);
        assert_eq!(severity(&world, 11), Some(Severity::Error), "ONLINE use of {used}");
        let mut world = base();
        world.workflow(9, false, vec![Reference::Id(used)]);
        assert_eq!(severity(&world, 11), Some(Severity::Warning), "OFFLINE use of {used}");
    }
}

#[test]
fn a_bound_function_makes_a_stale_jar_an_error() {
    let mut world = two_healthy();
    world.directory("/dolphinscheduler/etl/udfs", OLD / 100);
    world.absent("/dolphinscheduler/etl/udfs/f.jar");
    world.record(3, "/f.jar", false, 9).kind = ResourceKind::Udf;
    world.resources().functions.push(UdfFunction {
        id: 1,
        name: "f".into(),
        record: Some(statewarden::domain::RecordId(3)),
        resource_name: None,
    });
    let drift = world.drift();
    assert_eq!((drift[0].code, drift[0].severity), (Code::StaleResourceRecord, Severity::Error));
}

#[test]
fn a_record_gets_the_first_verdict_that_fits() {
    let mut world = two_healthy();
    world.config.ds.as_mut().expect("ds").tenants = vec!["etl".into(), "ops".into()];
    world.file("/dolphinscheduler/ops/resources/moved.sh", 99, OLD);
    world.gone(10, "/moved.sh");
    world.file("/dolphinscheduler/etl/resources/new.jar", 99, OLD);
    world.gone(11, "/old.jar");
    world.file("/dolphinscheduler/etl/resources/a b.sh", 1, OLD);
    world.record(20, "/a b.sh", false, 1);
    world.gone(12, "/a%20b.sh");
    world.record(13, "/../../ops/resources/x", false, 1);
    world.record(14, "/orphan.sh", false, 1).owner = Some(77);
    world.resources().users.insert(78, User { name: "lost".into(), tenant: None });
    world.record(15, "/lost.sh", false, 1).owner = Some(78);
    let mut found: Vec<(i64, Code)> = world.drift().iter().filter_map(|f| Some((f.target.record?.0, f.code))).collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [
            (10, Code::MovedResourceRecord),
            (11, Code::RenameSplit),
            (12, Code::NameFormConflict),
            (13, Code::IllegalResourceName),
            (14, Code::UndeletableRecord),
            (15, Code::UndeletableRecord),
        ]
    );
    assert!(!world.codes().contains(&Code::UnmanagedHdfsPath), "the other halves are not unmanaged as well");
}

#[test]
fn without_all_records_no_file_counts_as_the_other_half_of_a_rename() {
    let mut world = two_healthy();
    world.file("/dolphinscheduler/etl/resources/somebody-elses.sql", 99, OLD);
    world.gone(3, "/gone.sql");
    assert_eq!(world.drift()[0].code, Code::RenameSplit);
    // What a plain user's token shows: own records only, so the file may well have a record.
    world.resources().records_complete = false;
    assert_eq!(world.codes(), [Code::StaleResourceRecord]);
    world.resources().records_complete = true;
    world.resources().users_complete = false;
    assert_eq!(world.codes(), [Code::StaleResourceRecord]);
}

#[test]
fn a_record_without_a_usable_owner_gets_the_remedy_that_helps() {
    let mut world = two_healthy();
    world.record(14, "/orphan.sh", false, 1).owner = Some(77);
    world.file("/dolphinscheduler/etl/resources/orphan.sh", 1, OLD);
    world.resources().users.insert(78, User { name: "lost".into(), tenant: None });
    world.record(15, "/lost.sh", false, 1).owner = Some(78);
    let drift = world.drift();
    let remedy = |id| drift.iter().find(|f| f.target.record.is_some_and(|r| r.0 == id)).map(|f| f.remedy);
    assert_eq!((remedy(14), remedy(15)), (Some(Remedy::OwnerIsGone), Some(Remedy::AssignTenant)));
    let file = drift.iter().find(|f| f.code == Code::UnmanagedHdfsPath).expect("the file has no record with a path");
    assert!(file.evidence.iter().any(|line| line.starts_with("record 14 has this name")), "{:?}", file.evidence);
}

#[test]
fn owners_that_could_not_be_read_leave_their_records_alone() {
    let mut world = two_healthy();
    world.resources().users_complete = false;
    world.record(14, "/orphan.sh", false, 1).owner = Some(77);
    assert_eq!(world.codes(), []);
}

#[test]
fn nearly_everything_absent_is_one_finding_and_no_stale_record() {
    let mut world = World::new();
    world.gone(1, "/a.sql");
    world.gone(2, "/b.sql");
    world.workflow(9, true, vec![Reference::Id(1)]);
    let drift = world.drift();
    assert_eq!(drift.len(), 1, "{drift:?}");
    assert_eq!((drift[0].code, drift[0].severity), (Code::MassAbsence, Severity::Critical));
    assert_eq!(drift[0].target.path.as_deref(), Some("/dolphinscheduler/etl/resources"));
    assert_eq!(drift[0].remedy, Remedy::UploadSentinel);
}

#[test]
fn what_the_server_opens_below_a_mass_absence_is_evidence_of_that_one_finding() {
    let mut world = World::new();
    world.gone(1, "/a.sql");
    world.gone(2, "/b.sql");
    world.opinion(1, Opinion::Opens);
    world.opinion(2, Opinion::Opens);
    let drift = world.drift();
    assert_eq!(drift.len(), 1, "{drift:?}");
    assert_eq!((drift[0].code, drift[0].remedy), (Code::MassAbsence, Remedy::CheckMapping));
    assert!(drift[0].evidence.iter().any(|line| line.contains("opens 2 of these records")), "{:?}", drift[0].evidence);
}

#[test]
fn a_fraction_counts_from_five_records_on_unless_it_is_named() {
    let mut world = World::new();
    world.healthy(1, "/known.sql");
    world.gone(2, "/a.sql");
    world.gone(3, "/b.sql");
    assert_eq!(world.codes(), [Code::StaleResourceRecord, Code::StaleResourceRecord]);
    world.config.policies.max_delete_fraction_named = true;
    assert_eq!(world.codes(), [Code::MassAbsence]);
    let mut world = World::new();
    for id in 1..=2 {
        world.healthy(id, &format!("/known{id}.sql"));
    }
    for id in 3..=5 {
        world.gone(id, &format!("/gone{id}.sql"));
    }
    assert_eq!(world.codes(), [Code::MassAbsence], "three of five");
}

#[test]
fn a_record_newer_than_its_directory_says_that_this_is_not_the_store() {
    let mut world = two_healthy();
    world.gone(3, "/gone.sql");
    let yesterday = civil(7200);
    world.resources().records[2].created = Some(yesterday);
    assert_eq!(world.codes(), [Code::MassAbsence]);
}

#[test]
fn sizes_and_types() {
    let mut world = two_healthy();
    world.file("/dolphinscheduler/etl/resources/lib/a.jar", 90, OLD);
    world.record(10, "/lib", true, 100);
    world.record(11, "/lib/a.jar", false, 100);
    world.file("/dolphinscheduler/etl/resources/v1", 40, OLD);
    world.record(12, "/v1", true, 0);
    let found = world.compare().findings;
    let found: Vec<_> = found.iter().map(|f| (f.code, f.severity, f.target.record.map(|r| r.0))).collect();
    assert_eq!(
        found,
        [
            (Code::TypeMismatch, Severity::Error, Some(12)),
            (Code::SizeMismatch, Severity::Warning, Some(11)),
            (Code::SizeMismatch, Severity::Info, Some(10)),
        ]
    );
}

#[test]
fn unmanaged_files_are_told_one_by_one_and_empty_directories_by_their_top() {
    let mut world = two_healthy();
    world.file("/dolphinscheduler/etl/resources/tree/deep/x.bin", 5, OLD);
    world.directory("/dolphinscheduler/etl/resources/empty/deeper", OLD);
    world.file("/dolphinscheduler/etl/resources/fresh.bin", 5, 60);
    let found = world.compare().findings;
    let found: Vec<_> = found.iter().map(|f| (f.code, f.severity, f.target.path.clone().unwrap_or_default())).collect();
    let at = |name: &str| format!("/dolphinscheduler/etl/resources/{name}");
    assert_eq!(
        found,
        [
            (Code::UnmanagedHdfsPath, Severity::Warning, at("empty")),
            (Code::UnmanagedHdfsPath, Severity::Warning, at("tree/deep/x.bin")),
            (Code::UnmanagedHdfsPath, Severity::Info, at("fresh.bin")),
        ]
    );
    world.resources().records_complete = false;
    assert_eq!(world.compare().findings, [], "a record that was not read is not a record that is not there");
}

#[test]
fn a_drifted_directory_sum_hides_no_unmanaged_file() {
    let mut world = two_healthy();
    world.file("/dolphinscheduler/etl/resources/lib/behind.jar", 90, OLD);
    world.record(10, "/lib", true, 100);
    let found = world.compare().findings;
    let found: Vec<_> = found.iter().map(|f| (f.code, f.target.path.as_deref(), f.remedy)).collect();
    let unmanaged = Some("/dolphinscheduler/etl/resources/lib/behind.jar");
    assert_eq!(
        found,
        [
            (Code::UnmanagedHdfsPath, unmanaged, Remedy::RegisterOrRemoveByHand),
            (Code::SizeMismatch, Some("/dolphinscheduler/etl/resources/lib"), Remedy::LeaveTheSum),
        ]
    );
}

#[test]
fn live_state_in_the_namespace_is_named_by_its_root() {
    let mut world = two_healthy();
    let run = format!("/dolphinscheduler/etl/resources/ckpt/app1/{JOB}");
    world.file(&format!("{run}/chk-5/_metadata"), 1, 60);
    world.job(JOB, Some(&format!("hdfs://ns1{run}/chk-5")), None);
    let target = |world: &World| {
        world.drift().iter().map(|f| (f.code, f.target.path.clone().unwrap_or_default())).collect::<Vec<_>>()
    };
    assert_eq!(
        target(&world),
        [(Code::CheckpointInResourceNamespace, run.clone())],
        "no root is known: the run directory"
    );
    world.root("/dolphinscheduler/etl/resources/ckpt", Layout::AppJob);
    let root = "/dolphinscheduler/etl/resources/ckpt".to_owned();
    assert_eq!(target(&world), [(Code::CheckpointInResourceNamespace, root)], "and nothing below it is unmanaged");
}

#[test]
fn a_neighbour_with_the_same_prefix_is_outside_the_namespace() {
    let mut world = two_healthy();
    let run = format!("/dolphinscheduler_ckpt/app1/{JOB}");
    world.file(&format!("{run}/chk-5/_metadata"), 1, 60);
    world.job(JOB, Some(&format!("hdfs://ns1{run}/chk-5")), None);
    assert_eq!(world.codes(), []);
}

#[test]
fn a_missing_restore_point_needs_proof_and_the_restored_one_counts_while_nothing_else_is_there() {
    let mut world = World::new();
    world.healthy(1, "/known.sql");
    let run = format!("/flink/app1/{JOB}");
    world.directory(&run, OLD);
    world.job(JOB, Some(&format!("hdfs:{run}/chk-5")), Some("hdfs://ns1/flink/app1/old/chk-1"));
    assert_eq!(world.codes(), [], "nobody has asked yet");
    world.absent(&format!("{run}/chk-5"));
    assert_eq!(world.codes(), [Code::LiveJobCheckpointMissing]);
    world.absent("/flink/app1/old");
    assert_eq!(world.codes(), [Code::LiveJobCheckpointMissing, Code::LiveJobCheckpointMissing]);
    world.inventory.hdfs.answers.clear();
    world.file(&format!("{run}/chk-5/_metadata"), 1, 60);
    world.absent("/flink/app1/old");
    assert_eq!(world.codes(), [], "a restored-from that is gone is normal once an own checkpoint is there");
}

#[test]
fn a_chk_directory_without_metadata_is_a_missing_restore_point() {
    let mut world = World::new();
    world.healthy(1, "/known.sql");
    let run = format!("/flink/app1/{JOB}");
    world.file(&format!("{run}/chk-5/part-1"), 1, 60);
    world.absent(&format!("{run}/chk-5/_metadata"));
    world.job(JOB, Some(&format!("hdfs:{run}/chk-5")), None);
    let drift = world.drift();
    assert_eq!(
        (drift[0].code, drift[0].target.path.clone()),
        (Code::LiveJobCheckpointMissing, Some(format!("{run}/chk-5")))
    );
}

#[test]
fn a_checkpoint_that_is_just_being_replaced_does_not_make_the_restored_one_count() {
    let mut world = World::new();
    world.healthy(1, "/known.sql");
    let run = format!("/flink/app1/{JOB}");
    world.file(&format!("{run}/chk-2299/part-1"), 1, 60);
    world.job(JOB, Some(&format!("hdfs:{run}/chk-2299")), Some(&format!("hdfs:{run}/chk-1823")));
    world.absent(&format!("{run}/chk-1823"));
    // Its directory was there, its `_metadata` was not, and then nobody could list the directory any more.
    world.inventory.hdfs.listings.remove(&path(&format!("{run}/chk-2299")));
    world.absent(&format!("{run}/chk-2299/_metadata"));
    assert_eq!(world.codes(), []);
}

#[test]
fn an_undeclared_authority_is_said_and_never_judged() {
    let mut world = two_healthy();
    world.job(JOB, Some(&format!("hdfs://nn-a:8020/dolphinscheduler/etl/resources/ckpt/{JOB}/chk-5")), None);
    let drift = world.drift();
    assert_eq!(drift.len(), 1);
    assert_eq!(drift[0].code, Code::AuthorityUnresolved);
    assert_eq!(drift[0].target.authority.as_ref().map(ToString::to_string).as_deref(), Some("hdfs://nn-a:8020"));
}

#[test]
fn references_dangle_without_record_without_file_or_above_a_stale_record() {
    let mut world = two_healthy();
    world.directory("/dolphinscheduler/etl/resources/conf", OLD);
    world.record(10, "/conf", true, 0);
    world.gone(11, "/conf/x.yaml");
    world.workflow(1, true, vec![Reference::Id(10), Reference::Id(404), Reference::Id(1)]);
    world.workflow(2, false, vec![Reference::Name("/conf/x.yaml".into()), Reference::Name("known.sql".into())]);
    let dangling = |world: &World| {
        let mut found: Vec<_> = world
            .drift()
            .into_iter()
            .filter(|f| f.code == Code::DanglingWorkflowReference)
            .map(|f| {
                (
                    f.target.workflow.map(|w| w.0).unwrap_or_default(),
                    f.target.reference.map(|r| r.to_string()).unwrap_or_default(),
                    f.severity,
                )
            })
            .collect();
        found.sort();
        found
    };
    let expected = [
        (1, "10".to_owned(), Severity::Error),
        (1, "404".to_owned(), Severity::Error),
        (2, "/conf/x.yaml".to_owned(), Severity::Warning),
    ];
    assert_eq!(dangling(&world), expected);
    let says = |world: &World, whose: &str| {
        let of_first = world.drift().into_iter().filter(|f| f.target.workflow.is_some_and(|code| code.0 == 1));
        of_first.into_iter().all(|f| f.evidence.iter().any(|text| text == whose))
    };
    assert!(says(&world, "workflow w1 (ONLINE, project 1, owner u1)"));
    world.resources().workflows[0].owner = Some(404);
    assert!(says(&world, "workflow w1 (ONLINE, project 1, owner: user id 404)"));
    world.resources().workflows[0].owner = None;
    assert!(says(&world, "workflow w1 (ONLINE, project 1)"));
    world.resources().records_complete = false;
    assert_eq!(dangling(&world).len(), 2, "404 may be a record that was not read");
}

#[test]
fn a_task_that_writes_below_the_base_path_is_found_in_any_spelling() {
    let mut world = two_healthy();
    world.workflow(1, true, Vec::new());
    let set = |world: &mut World, value: &str| {
        world.resources().workflows[0].state_options = vec![StateOption {
            key: "state.checkpoints.dir".into(),
            value: value.into(),
            field: "others".into(),
            task: "run".into(),
        }];
    };
    for (value, found) in [
        ("hdfs:///dolphinscheduler/etl/resources/ckpt", true),
        ("/dolphinscheduler/etl/resources/${app}", true),
        ("hdfs://ns1/dolphinscheduler", true),
        ("hdfs://ns1/flink/checkpoints", false),
        ("hdfs://ns1/dolphinscheduler_ckpt", false),
        ("s3://bucket/dolphinscheduler/x", false),
        ("${root}/ckpt", false),
    ] {
        set(&mut world, value);
        let expected: &[Code] = if found { &[Code::WorkflowWritesCheckpointsIntoResources] } else { &[] };
        assert_eq!(world.codes(), expected, "{value}");
    }
}

#[test]
fn a_young_run_directory_nobody_knows_points_at_a_forgotten_cluster() {
    let mut world = two_healthy();
    world.job(JOB, None, None);
    world.root("/flink/checkpoints", Layout::AppJob);
    world.directory(&format!("/flink/checkpoints/app1/{JOB}"), 60);
    assert_eq!(world.codes(), [], "its owner is known");
    world.directory("/flink/checkpoints/app2/7f132d501fb9863844ab51697900d494", 60);
    let drift = world.drift();
    assert_eq!(drift.len(), 1);
    assert_eq!((drift[0].code, drift[0].target.view), (Code::ViewIncomplete, Some(ViewName::Flink)));
    assert_eq!(drift[0].target.path.as_deref(), Some("/flink/checkpoints"));
}

#[test]
fn entries_of_a_root_are_judged_by_name_alone() {
    let mut world = two_healthy();
    world.job(JOB, None, None);
    world.root("/flink/prod", Layout::Job);
    world.directory(&format!("/flink/prod/{JOB}"), OLD);
    world.directory("/flink/prod/savepoint-ab12cd-0123456789ab", OLD);
    world.directory("/flink/prod/.Trash", OLD);
    world.directory("/flink/prod/00000000000000000000000000000000", OLD);
    let found: Vec<_> =
        world.compare().findings.iter().map(|f| (f.code, f.target.path.clone().unwrap_or_default())).collect();
    assert_eq!(
        found,
        [
            (Code::AmbiguousJobDir, "/flink/prod/00000000000000000000000000000000".to_owned()),
            (Code::ForeignEntryInRoot, "/flink/prod/savepoint-ab12cd-0123456789ab".to_owned()),
        ]
    );
    world.directory("/flink/prod/chk-7", OLD);
    assert_eq!(world.codes(), [Code::AmbiguousJobDir, Code::AmbiguousJobDir], "the root itself as well");
}

#[test]
fn gaps_of_one_view_cluster_or_path_are_one_finding() {
    let mut world = two_healthy();
    let hdfs = |p: &str| Gap::incomplete(ViewName::Hdfs, Cause::NotAuthorized, format!("denied {p}")).at(&path(p));
    world.inventory.hdfs.gaps = vec![hdfs("/a/b/c"), hdfs("/a/b"), hdfs("/z")];
    let ds = |text: &str| Gap::incomplete(ViewName::Resources, Cause::ServerError, text);
    world.resources().gaps = vec![ds("page 2"), ds("record 3").at(&path("/x"))];
    let found: Vec<_> = world.drift().iter().map(|f| (f.code, f.target.view, f.target.path.clone())).collect();
    assert_eq!(
        found,
        [
            (Code::ViewIncomplete, Some(ViewName::Resources), None),
            (Code::ViewIncomplete, Some(ViewName::Hdfs), Some("/a/b".to_owned())),
            (Code::ViewIncomplete, Some(ViewName::Hdfs), Some("/z".to_owned())),
        ]
    );
}

#[test]
fn an_unread_inside_of_one_run_is_a_warning() {
    let mut world = two_healthy();
    let gap = Gap::incomplete(ViewName::Hdfs, Cause::NotAuthorized, "denied").at(&path("/flink/run"));
    world.inventory.hdfs.gaps = vec![Gap { inside_run: true, ..gap }];
    assert_eq!(world.drift()[0].severity, Severity::Warning);
}

#[test]
fn an_ignore_hides_its_finding_until_it_expires_and_is_told_when_idle() {
    let mut world = two_healthy();
    world.gone(3, "/gone.sql");
    let ignore = |record: i64, expires| Ignore {
        code: "stale-resource-record".into(),
        path: None,
        record: Some(record),
        workflow: None,
        cluster: None,
        reason: "restored next week".into(),
        expires,
        place: "statewarden.toml:9".into(),
    };
    world.config.ignores = vec![ignore(3, ago(-60)), ignore(4, ago(-60))];
    let comparison = world.compare();
    assert_eq!(comparison.findings, []);
    assert_eq!(comparison.ignored.len(), 1);
    assert_eq!(comparison.idle_ignores, ["statewarden.toml:9: ignore of stale-resource-record matches nothing"]);
    world.config.ignores = vec![ignore(3, ago(60))];
    assert_eq!(world.codes(), [Code::ConfigRefused, Code::StaleResourceRecord]);
}

#[test]
fn a_tenant_that_nobody_knows_is_told() {
    let mut world = two_healthy();
    world.config.ds.as_mut().expect("ds").tenants = vec!["etl".into(), "nobody".into()];
    assert_eq!(world.compare().unknown_tenants, Vec::<String>::new(), "nobody has asked for its directory");
    world.absent("/dolphinscheduler/nobody");
    assert_eq!(world.compare().unknown_tenants, ["nobody"]);
    world.resources().users.insert(5, User { name: "x".into(), tenant: Some("nobody".into()) });
    assert_eq!(world.compare().unknown_tenants, Vec::<String>::new());
}

#[test]
fn a_protected_path_that_is_not_there_is_refused() {
    let mut world = two_healthy();
    world.job(JOB, None, None);
    world.root("/flink/prod", Layout::AppJob);
    world.directory(&format!("/flink/prod/app1/{JOB}"), OLD);
    world.config.policies.protect = vec![format!("hdfs://ns1/flink/prod/app1/{JOB}/"), format!("app1/{JOB}")];
    assert_eq!(world.codes(), []);
    world.config.policies.protect.push("app1/3f9134f5adeb8d5268617f3bd8a31247".into());
    assert_eq!(world.codes(), [Code::ConfigRefused]);
}

#[test]
fn clocks_more_than_five_minutes_apart_are_told() {
    let mut world = two_healthy();
    world.inventory.hdfs.clock = Some(statewarden::views::hdfs::ClockReading { server: ago(299), local: ago(0) });
    assert_eq!(world.codes(), []);
    world.inventory.hdfs.clock = Some(statewarden::views::hdfs::ClockReading { server: ago(301), local: ago(0) });
    assert_eq!(world.codes(), [Code::ClockSkew]);
}

#[test]
fn residue_holds_nothing_live() {
    let mut world = two_healthy();
    world.root("/dolphinscheduler/etl/resources/ckpt", Layout::AppJob);
    world.directory(&format!("/dolphinscheduler/etl/resources/ckpt/app1/{JOB}"), OLD);
    world.job("7f132d501fb9863844ab51697900d494", None, None);
    assert_eq!(world.codes(), [Code::MigrationResidue]);
    world.job(JOB, None, None);
    assert_eq!(world.codes(), [], "a live job's directory, even before its first checkpoint");
}

/// What a random world can hold at one name.
#[derive(Debug, Clone, Copy)]
enum Thing {
    Healthy,
    Gone,
    NotAsked,
    Denied,
    Unmanaged,
}

fn things() -> impl Strategy<Value = Vec<Thing>> {
    let one = prop_oneof![
        3 => Just(Thing::Healthy),
        2 => Just(Thing::Gone),
        1 => Just(Thing::NotAsked),
        1 => Just(Thing::Denied),
        1 => Just(Thing::Unmanaged),
    ];
    prop::collection::vec(one, 1..20)
}

fn random_world(things: &[Thing]) -> World {
    let mut world = World::new();
    for (id, thing) in (1_i64..).zip(things) {
        let name = format!("/f{id}.sql");
        let at = format!("/dolphinscheduler/etl/resources{name}");
        match thing {
            Thing::Healthy => world.healthy(id, &name),
            Thing::Gone => world.gone(id, &name),
            Thing::NotAsked => {
                world.record(id, &name, false, 99);
            }
            Thing::Denied => {
                world.record(id, &name, false, 99);
                let why = "AccessControlException".to_owned();
                world.inventory.hdfs.answers.insert(path(&at), statewarden::domain::Existence::Denied { why });
            }
            Thing::Unmanaged => world.file(&at, 1000 + u64::try_from(id).expect("small"), OLD),
        }
    }
    world
}

proptest! {
    #[test]
    fn only_what_the_name_node_called_absent_is_ever_called_absent(things in things()) {
        let world = random_world(&things);
        for finding in world.drift() {
            if finding.code == Code::StaleResourceRecord {
                let id = finding.target.record.expect("a record").0;
                let thing = things[usize::try_from(id - 1).expect("small")];
                prop_assert!(matches!(thing, Thing::Gone), "{thing:?}");
            }
        }
    }

    #[test]
    fn the_order_of_records_and_workflows_does_not_matter(things in things(), turn in 0_usize..20) {
        let mut world = random_world(&things);
        world.workflow(1, true, vec![Reference::Id(1), Reference::Id(2)]);
        world.workflow(2, false, vec![Reference::Id(3)]);
        let before = world.compare();
        let view = world.resources();
        let turn = turn % view.records.len().max(1);
        view.records.rotate_left(turn);
        view.workflows.reverse();
        prop_assert_eq!(before, world.compare());
    }

    #[test]
    fn an_inventory_survives_its_file(things in things()) {
        let world = random_world(&things);
        let text = serde_json::to_string(&world.inventory).expect("an inventory can be written");
        let again: statewarden::views::Inventory = serde_json::from_str(&text).expect("and read");
        prop_assert_eq!(&again, &world.inventory);
    }

    #[test]
    fn paths_survive_parsing(parts in prop::collection::vec("[^/\\x00]{1,12}", 1..6)) {
        prop_assume!(parts.iter().all(|part| part != "." && part != ".."));
        let text = format!("/{}", parts.join("/"));
        let parsed = HdfsPath::parse(&text).expect("an absolute path");
        prop_assert_eq!(parsed.as_str(), text.as_str());
        prop_assert_eq!(parsed.components().collect::<Vec<_>>(), parts);
    }
}
