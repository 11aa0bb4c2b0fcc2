//! 2.0 and 3.0: records with ids, and what differs from 3.1.

use jiff::civil::date;
use serde_json::{Value, json};
use statewarden::domain::{RecordId, ResourceKind, WorkflowCode};
use statewarden::ports::read::ResourceRead;
use statewarden::views::resources::{Opinion, OwnerTenant, Record, Reference, User};
use statewarden::views::{Cause, Generation, ViewName};

use super::scripted::{Reply, Scripted};
use super::{ids, node, option, read, row, the_gap};

const PROJECT: &str = "/projects/23876655913280";

/// 2.0.9 as recorded; what was not recorded in that run is put beside it by hand.
fn recorded_209() -> Scripted {
    Scripted::recorded("2.0.9", &["008", "015", "016", "020", "022", "029", "057"])
        // The number is none: the answer of the endpoint that takes one.
        .on("/resources/base-dir", &[], [Reply::code(20004)])
        // As 026 answers to an unknown path.
        .on("/resources/0/query", &[], [Reply::not_found_json()])
        .on("/resources", &[("type", "UDF"), ("id", "-1")], [Reply::page(0, &[])])
        .on("/resources", &[("id", "2")], [Reply::page(0, &[])])
        .on("/projects", &[], [Reply::page(0, &[])])
        .on("/resources/udf-func", &[], [Reply::page(0, &[])])
}

/// 3.0.6 as recorded.
fn recorded_306() -> Scripted {
    let numbers = ["008", "015", "016", "020", "022", "029", "046", "048", "049", "055", "057", "069"];
    Scripted::recorded("3.0.6", &numbers)
        .on("/resources/0/query", &[], [Reply::code(20004)])
        .on("/resources", &[("type", "UDF"), ("id", "-1")], [Reply::page(0, &[])])
        .on("/resources", &[("id", "2")], [Reply::page(1, &[row(3, 2, "/ckpt_storage/job-a/_metadata", false)])])
        .on("/resources/udf-func", &[], [Reply::page(0, &[])])
}

/// Id, full name, directory, size and owner.
type Shown<'a> = (i64, &'a str, bool, Option<u64>, Option<i64>);

fn shown(records: &[Record]) -> Vec<Shown<'_>> {
    records.iter().map(|r| (r.id.0, &*r.full_name, r.directory, r.size, r.owner)).collect()
}

#[tokio::test]
async fn recorded_2_0_9_records() {
    let server = recorded_209();
    let (_, view) = read(&server, "2.0.9").await;
    assert_eq!(view.gaps, []);
    assert_eq!((view.generation, view.administrator), (Some(Generation::V20), true));
    assert!(view.records_complete && view.users_complete);
    assert_eq!(
        shown(&view.records),
        [
            (1, "/ckpt_storage", true, Some(9), Some(1)),
            (2, "/ckpt_storage/job-a", true, Some(0), Some(1)),
            (3, "/etl.sh", false, Some(20), Some(1)),
            (4, "/part 1 %25+ü.txt", false, Some(5), Some(1)),
            (5, "/ckpt_storage/two.py", false, Some(9), Some(1)),
        ]
    );
    // Seconds of 2026-11-29 23:28, as printed: +08:00.
    let second = |s: i8| Some(date(2026, 11, 29).at(23, 28, s, 0));
    assert_eq!(view.records.iter().map(|r| r.updated).collect::<Vec<_>>(), [2, 2, 2, 3, 3].map(second));
    assert_eq!(view.users[&2], User { name: "bob".into(), tenant: Some("etl".into()) });
    assert_eq!(view.tenant_of(&view.records[0]), OwnerTenant::Tenant("etl"));
    assert!(server.asked().iter().all(|asked| !asked.contains("/query?") || asked == "/resources/0/query?"));
}

#[tokio::test]
async fn recorded_3_0_6_records() {
    let (_, view) = read(&recorded_306(), "3.0.6").await;
    assert_eq!(view.gaps, []);
    assert_eq!((view.generation, view.administrator), (Some(Generation::V30), true));
    assert!(view.records_complete && view.users_complete);
    assert_eq!(
        shown(&view.records),
        [
            (1, "/ckpt_storage", true, Some(12), Some(1)),
            (2, "/ckpt_storage/job-a", true, Some(3), Some(1)),
            (3, "/ckpt_storage/job-a/_metadata", false, Some(3), Some(1)),
            (4, "/etl.sh", false, Some(20), Some(1)),
            (5, "/part 1 %25+ü.txt", false, Some(5), Some(1)),
            (6, "/ckpt_storage/two.py", false, Some(9), Some(1)),
        ]
    );
    let printed = date(2026, 11, 29).at(15, 39, 33, 0);
    assert_eq!((view.records[5].created, view.records[5].updated), (Some(printed), Some(printed)));
}

#[tokio::test]
async fn recorded_3_0_6_workflows() {
    let server = recorded_306();
    let (dolphin, mut view) = read(&server, "3.0.6").await;
    dolphin.fetch_workflows(&mut view).await;
    assert_eq!(view.gaps, []);
    assert_eq!(view.workflows.len(), 1);
    let workflow = &view.workflows[0];
    assert_eq!((workflow.project, workflow.code), (23_876_655_913_280, WorkflowCode(23_876_655_937_856)));
    assert_eq!((workflow.name.as_str(), workflow.online, workflow.tenant.as_deref()), ("wf1", true, Some("etl")));
    assert_eq!(workflow.references, [Reference::Id(6)]);
    let root = "hdfs:///dolphinscheduler/etl/resources/ckpt_storage";
    assert_eq!(workflow.state_options, [option("flink-sql", "initScript", root), option("flink-sql", "others", root)]);
    let tasks: Vec<String> =
        server.asked().into_iter().filter(|asked| asked.starts_with(&format!("{PROJECT}/task-definition?"))).collect();
    assert_eq!(tasks, [format!("{PROJECT}/task-definition?taskType=&pageNo=1&pageSize=100&searchVal=")]);
}

#[tokio::test]
async fn recorded_opinions() {
    for (version, id) in [("2.0.9", 3), ("3.0.6", 4)] {
        let server = if version == "2.0.9" { recorded_209() } else { recorded_306() };
        let (dolphin, view) = read(&server, version).await;
        let record = view.records.iter().find(|record| record.id == RecordId(id)).expect("etl.sh");
        assert_eq!(dolphin.fetch_opinion(record).await, Opinion::Opens, "{version}");
        let stale = Scripted::recorded(version, &["031"]).start(version, 100).await;
        assert_eq!(stale.fetch_opinion(record).await, Opinion::NotThere, "{version}");
    }
}

/// A record as 2.0 shows it by name: times with fraction and offset.
fn by_name(id: i64, full_name: &str) -> Value {
    json!({
        "fileName": "x", "size": 7, "createTime": "2026-11-29T23:28:02.312+0800", "description": "x", "fullName": full_name,
        "alias": "x", "pid": 8, "updateTime": "2026-11-29T15:28:59.999+0000", "id": id, "type": "FILE", "directory": false,
        "userId": 1,
    })
}

#[tokio::test]
async fn orphans_of_2_0_are_asked_for_by_name() {
    let asked_name = [("type", "FILE"), ("fullName", "/lost/a b%.sh")];
    let tree = [node(9, "lost/a b%.sh", false, &[])];
    let server = recorded_209()
        .on("/resources/list", &[("type", "FILE")], [Reply::data(tree.to_vec())])
        .on("/resources", &[("type", "FILE"), ("id", "-1")], [Reply::page(0, &[])])
        .on("/resources/0", &asked_name, [Reply::data(by_name(9, "/lost/a b%.sh"))]);
    let (_, view) = read(&server, "2.0.9").await;
    assert_eq!(view.gaps, []);
    assert_eq!(shown(&view.records), [(9, "/lost/a b%.sh", false, Some(7), Some(1))]);
    let printed = |s| Some(date(2026, 11, 29).at(23, 28, s, 0));
    assert_eq!((view.records[0].created, view.records[0].updated), (printed(2), printed(59)));
    // A database that does not tell upper from lower case finds another one; it is not believed.
    let server = server.on("/resources/0", &asked_name, [Reply::data(by_name(10, "/LOST/a b%.sh"))]);
    let (_, view) = read(&server, "2.0.9").await;
    assert_eq!(the_gap(&view.gaps).cause, Cause::NotUnderstood);
    assert_eq!(shown(&view.records), [(9, "/lost/a b%.sh", false, None, None)]);
}

#[tokio::test]
async fn records_of_deleted_owners_are_only_in_the_tree_of_3_0() {
    let mut record = row(9, -1, "/old.sh", false);
    record["userId"] = json!(77);
    record["userName"] = Value::Null;
    let tree = [node(9, "old.sh", false, &[])];
    let server = recorded_306()
        .on("/resources/list", &[("type", "FILE")], [Reply::data(tree.to_vec())])
        .on("/resources", &[("type", "FILE"), ("id", "-1")], [Reply::page(0, &[])])
        .on("/resources/9/query", &[], [Reply::data(record)]);
    let (_, view) = read(&server, "3.0.6").await;
    assert_eq!(view.gaps, []);
    assert!(view.records_complete);
    assert_eq!(shown(&view.records), [(9, "/old.sh", false, Some(3), Some(77))]);
    assert_eq!(view.tenant_of(&view.records[0]), OwnerTenant::Deleted);
}

#[tokio::test]
async fn the_tree_of_a_general_user_of_2_0_mixes_the_kinds() {
    let bob = json!({"id": 2, "userName": "bob", "userType": "GENERAL_USER", "tenantCode": "etl"});
    let mut granted = node(8, "f.jar", false, &[]);
    granted["type"] = json!("UDF");
    let mixed = || [Reply::data(json!([node(1, "a.sh", false, &[]), granted.clone()]))];
    let mut udf = row(8, -1, "/f.jar", false);
    udf["type"] = json!("UDF");
    let server = recorded_209()
        .on("/resources/list", &[("type", "FILE")], mixed())
        .on("/resources/list", &[("type", "UDF")], mixed())
        .on("/resources", &[("type", "FILE"), ("id", "-1")], [Reply::page(1, &[row(1, -1, "/a.sh", false)])])
        .on("/resources", &[("type", "UDF"), ("id", "-1")], [Reply::page(1, &[udf])]);
    let as_bob = server.clone().on("/users/get-user-info", &[], [Reply::data(bob)]);
    let (_, view) = read(&as_bob, "2.0.9").await;
    assert_eq!(the_gap(&view.gaps).cause, Cause::PartialRights);
    let kinds: Vec<_> = view.records.iter().map(|record| (record.id.0, record.kind)).collect();
    assert_eq!(kinds, [(1, ResourceKind::File), (8, ResourceKind::Udf)]);
    // To an administrator no such thing happens, so it is a contradiction there.
    let admin = json!({"id": 1, "userName": "admin", "userType": "ADMIN_USER", "tenantCode": null});
    let as_admin = server.on("/users/get-user-info", &[], [Reply::data(admin)]);
    let (_, view) = read(&as_admin, "2.0.9").await;
    assert!(the_gap(&view.gaps).detail.contains("of another kind"), "{:?}", view.gaps);
}

#[tokio::test]
async fn tasks_of_2_0_are_listed_as_whole_definitions() {
    let project = json!({"id": 1, "code": 7, "name": "p1"});
    let workflow = json!({"id": 1, "code": 70, "name": "wf", "releaseState": "OFFLINE", "tenantCode": "etl"});
    let task = |code: i64, record: i64| {
        json!({
            "id": 1, "code": code, "name": "t", "version": 1, "taskType": "SHELL", "flag": "YES", "resourceIds": "",
            "taskParams": {"resourceList": [{"id": record}], "rawScript": "true"},
        })
    };
    let dag = json!({
        "processDefinition": workflow.clone(), "processTaskRelationList": [], "taskDefinitionList": [task(700, 4)],
    });
    let server = recorded_209()
        .on("/projects", &[], [Reply::page(1, &[project])])
        .on("/projects/7/process-definition", &[], [Reply::page(1, &[workflow])])
        .on("/projects/7/process-definition/70", &[], [Reply::data(dag)])
        .on("/projects/7/task-definition", &[("taskType", "")], [Reply::page(2, &[task(700, 4), task(701, 5)])])
        .on("/projects/7/task-definition/701", &[], [Reply::data(task(701, 5))]);
    let (dolphin, mut view) = read(&server, "2.0.9").await;
    dolphin.fetch_workflows(&mut view).await;
    assert_eq!(view.gaps, []);
    let used: Vec<_> = view.workflows.iter().map(|w| (w.code.0, w.online, w.references.clone())).collect();
    assert_eq!(used, [(70, false, vec![Reference::Id(4)]), (701, false, vec![Reference::Id(5)])]);
}

#[tokio::test]
async fn a_code_of_null_is_a_gap_and_not_an_empty_list() {
    let null = json!({"code": null, "msg": "boom", "data": null, "failed": true, "success": false});
    let server = recorded_306().on("/resources", &[("type", "FILE"), ("id", "-1")], [Reply::json(&null)]).on(
        "/projects",
        &[],
        [Reply::json(&null)],
    );
    let (dolphin, mut view) = read(&server, "3.0.6").await;
    let gap = the_gap(&view.gaps);
    assert!(gap.detail.contains("code null (boom)") && !view.records_complete, "{}", gap.detail);
    assert_eq!(ids(&view), [1, 2, 3, 4, 5, 6]);
    dolphin.fetch_workflows(&mut view).await;
    assert_eq!((view.gaps.len(), view.gaps[1].view), (2, ViewName::Workflows));
}

#[tokio::test]
async fn one_old_generation_is_not_taken_for_another() {
    for (server, wrong, found) in [
        (recorded_209(), "3.0.6", "behaves as 2.0"),
        (recorded_306(), "3.1.9", "behaves as 3.0"),
        (recorded_306(), "2.0.9", "behaves as 3.0"),
    ] {
        let (_, view) = read(&server, wrong).await;
        assert!(the_gap(&view.gaps).detail.contains(found), "{:?}", view.gaps);
        assert!(view.records.is_empty());
    }
}
