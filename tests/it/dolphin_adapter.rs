//! The DolphinScheduler reader against recorded exchanges, and against servers that fail in known ways.

use jiff::civil::date;
use serde_json::{Value, json};
use statewarden::adapters::dolphin::Dolphin;
use statewarden::domain::{HdfsPath, RecordId, ResourceKind, WorkflowCode};
use statewarden::ports::read::ResourceRead;
use statewarden::views::resources::{Opinion, OwnerTenant, Record, Reference, StateOption, StorageEntry, User};
use statewarden::views::{Cause, Gap, GapKind, Generation, ResourceView, ViewName};

use scripted::{Reply, Scripted};

mod older;
mod scripted;

const BASE: &str = "hdfs://localhost:18020/dolphinscheduler322";

/// A record as a page shows it.
fn row(id: i64, pid: i64, full_name: &str, directory: bool) -> Value {
    json!({
        "id": id, "pid": pid, "alias": "x", "fullName": full_name, "description": "x", "fileName": "x", "userId": 1,
        "type": "FILE", "size": 3, "createTime": "2026-11-29 14:22:29", "updateTime": "2026-11-29 14:22:29",
        "userName": "admin", "directory": directory,
    })
}

/// A record as the tree shows it.
fn node(id: i64, full_name: &str, directory: bool, children: &[Value]) -> Value {
    json!({
        "id": id, "pid": -1, "name": "x", "fullName": full_name, "description": "x", "children": children,
        "type": "FILE", "currentDir": null, "idValue": "x", "dirctory": directory,
    })
}

/// 3.1.9 as recorded; what was not recorded in that run is put beside it by hand.
fn recorded_319() -> Scripted {
    let numbers = ["008", "015", "016", "020", "022", "029", "047", "049", "050", "056", "058", "070"];
    Scripted::recorded("3.1.9", &numbers)
        .on("/resources/0/query", &[], [Reply::code(20004)])
        .on("/cluster/query-cluster-list", &[], [Reply::data(json!([]))])
        .on("/resources", &[("type", "UDF"), ("id", "-1")], [Reply::page(0, &[])])
        .on("/resources", &[("id", "2")], [Reply::page(1, &[row(3, 2, "/ckpt_storage/job-a/_metadata", false)])])
        .on("/resources/udf-func", &[], [Reply::page(0, &[])])
}

/// 3.2.2 as recorded.
fn recorded_322() -> Scripted {
    let numbers = ["005", "008", "020", "026", "027", "042", "043", "044", "052", "059", "064", "065"];
    Scripted::recorded("3.2.2", &numbers)
        .on("/resources", &[("fullName", &format!("{BASE}/../"))], [Reply::code(20020)])
        .on("/projects/191011396198400/task-definition", &[], [Reply::page(0, &[])])
        .on("/resources/udf-func", &[], [Reply::page(0, &[])])
}

/// A 3.1 server with four files in its root, for page stories.
fn four_files() -> Scripted {
    let names = ["a", "b", "c", "d"];
    let tree: Vec<Value> = (1..).zip(names).map(|(id, name)| node(id, &format!("{name}.sh"), false, &[])).collect();
    recorded_319().on("/resources/list", &[("type", "FILE")], [Reply::data(tree)]).on(
        "/users/list-paging",
        &[("pageNo", "2")],
        [Reply::page(2, &[])],
    )
}

fn file(id: i64) -> Value {
    let name = ["a", "b", "c", "d", "e"][usize::try_from(id - 1).expect("a small id")];
    row(id, -1, &format!("/{name}.sh"), false)
}

async fn read(server: &Scripted, version: &str) -> (Dolphin, ResourceView) {
    let dolphin = server.start(version, 100).await;
    let view = dolphin.fetch_resources().await;
    (dolphin, view)
}

async fn read_in_pages(server: &Scripted, page_size: u32) -> ResourceView {
    server.start("3.1.9", page_size).await.fetch_resources().await
}

fn the_gap(gaps: &[Gap]) -> &Gap {
    assert_eq!(gaps.len(), 1, "{gaps:#?}");
    &gaps[0]
}

fn ids(view: &ResourceView) -> Vec<i64> {
    view.records.iter().map(|record| record.id.0).collect()
}

fn path(text: &str) -> HdfsPath {
    HdfsPath::parse(text).expect("a path")
}

fn option(task: &str, field: &str, value: &str) -> StateOption {
    StateOption { key: "state.checkpoints.dir".into(), value: value.into(), field: field.into(), task: task.into() }
}

#[tokio::test]
async fn recorded_3_1_9_records() {
    let (_, view) = read(&recorded_319(), "3.1.9").await;
    assert_eq!(view.gaps, []);
    assert_eq!((view.generation, view.administrator), (Some(Generation::V31), true));
    assert_eq!(view.account.as_deref(), Some("admin"));
    assert!(view.records_complete && view.users_complete);
    let second = |s: i8| date(2026, 11, 29).at(14, 22, s, 0);
    let shown: Vec<_> = view
        .records
        .iter()
        .map(|r| (r.id.0, &*r.full_name, r.directory, r.size, r.owner, r.created, r.updated))
        .collect();
    assert_eq!(
        shown,
        [
            (1, "/ckpt_storage", true, Some(12), Some(1), Some(second(28)), Some(second(28))),
            (2, "/ckpt_storage/job-a", true, Some(3), Some(1), Some(second(28)), Some(second(28))),
            (3, "/ckpt_storage/job-a/_metadata", false, Some(3), Some(1), Some(second(29)), Some(second(29))),
            (4, "/etl.sh", false, Some(20), Some(1), Some(second(30)), Some(second(30))),
            (5, "/part 1 %25+ü.txt", false, Some(5), Some(1), Some(second(30)), Some(second(30))),
            (6, "/ckpt_storage/two.py", false, Some(9), Some(1), Some(second(31)), Some(second(31))),
        ]
    );
    assert!(view.records.iter().all(|record| record.kind == ResourceKind::File));
    assert_eq!(view.users[&2], User { name: "bob".into(), tenant: Some("etl".into()) });
    assert_eq!(view.tenant_of(&view.records[0]), OwnerTenant::Tenant("etl"));
}

#[tokio::test]
async fn recorded_3_1_9_workflows() {
    let (dolphin, mut view) = read(&recorded_319(), "3.1.9").await;
    dolphin.fetch_workflows(&mut view).await;
    assert_eq!(view.gaps, []);
    assert_eq!(view.workflows.len(), 1);
    let workflow = &view.workflows[0];
    assert_eq!((workflow.project, workflow.code), (23_876_064_733_760, WorkflowCode(23_876_064_808_768)));
    assert_eq!((workflow.name.as_str(), workflow.online, workflow.tenant.as_deref()), ("wf1", true, Some("etl")));
    assert_eq!(workflow.owner, Some(1));
    assert_eq!(workflow.references, [Reference::Id(6)]);
    let root = "hdfs:///dolphinscheduler/etl/resources/ckpt_storage";
    assert_eq!(workflow.state_options, [option("flink-sql", "initScript", root), option("flink-sql", "others", root)]);
}

#[tokio::test]
async fn recorded_3_1_9_opinions() {
    let server = recorded_319();
    let (dolphin, view) = read(&server, "3.1.9").await;
    let record = |id: i64| view.records.iter().find(|record| record.id == RecordId(id)).expect("a record");
    assert_eq!(dolphin.fetch_opinion(record(4)).await, Opinion::Opens);
    let stale = Scripted::recorded("3.1.9", &["031"]);
    assert_eq!(stale.start("3.1.9", 100).await.fetch_opinion(record(4)).await, Opinion::NotThere);
    let server = server.on("/resources/3/view", &[("skipLineNum", "0"), ("limit", "1")], [Reply::code(20006)]);
    let unasked = dolphin.fetch_opinion(record(3)).await;
    assert_eq!(unasked, Opinion::NoOpinion { why: "code 20006 (it failed)".into() });
    assert!(server.asked().contains(&"/resources/3/view?skipLineNum=0&limit=1".to_owned()));
}

#[tokio::test]
async fn recorded_3_2_2_storage() {
    let server = recorded_322();
    let (dolphin, view) = read(&server, "3.2.2").await;
    assert_eq!(view.gaps, []);
    assert_eq!((view.generation, view.base_dir.as_deref()), (Some(Generation::V322), Some(BASE)));
    assert!(view.users_complete && view.records.is_empty());
    let entry = |name: &str, directory, size| StorageEntry {
        full_name: format!("{BASE}/etl/resources/{name}").into(),
        directory,
        size,
    };
    let listed = dolphin.list_storage(&path("/dolphinscheduler322/etl/resources"), BASE).await;
    assert_eq!(
        listed,
        Ok(vec![
            entry("ckpt_storage/", true, 0),
            entry("ckpt_storagenoslash.txt", false, 1),
            entry("etl.sh", false, 20),
            entry("part 1 %25+ü.txt", false, 5),
        ])
    );
    let run = "ckpt_storage/app/0123456789abcdef0123456789abcdef";
    let listed = dolphin.list_storage(&path(&format!("/dolphinscheduler322/etl/resources/{run}")), BASE).await;
    assert_eq!(
        listed,
        Ok(["chk-7/", "shared/", "taskowned/"].map(|name| entry(&format!("{run}/{name}"), true, 0)).to_vec())
    );
    assert_eq!(dolphin.list_storage(&path("/dolphinscheduler322/etl/resources/none"), BASE).await, Ok(vec![]));
}

#[tokio::test]
async fn recorded_3_2_2_pages() {
    let server = recorded_322();
    let paged = Scripted::recorded("3.2.2", &["022", "023"]);
    let dolphin = paged.on("/resources", &[("pageNo", "3")], [Reply::page(4, &[])]).start("3.2.2", 2).await;
    let in_pages = dolphin.list_storage(&path("/dolphinscheduler322/etl/resources"), BASE).await;
    let whole = server.start("3.2.2", 100).await.list_storage(&path("/dolphinscheduler322/etl/resources"), BASE).await;
    assert_eq!(in_pages.as_ref().map(Vec::len), Ok(4));
    assert_eq!(in_pages, whole);
}

#[tokio::test]
async fn recorded_3_2_2_workflows() {
    let (dolphin, mut view) = read(&recorded_322(), "3.2.2").await;
    dolphin.fetch_workflows(&mut view).await;
    assert_eq!(view.gaps, []);
    let workflow = &view.workflows[0];
    assert_eq!((workflow.name.as_str(), workflow.online, &workflow.tenant), ("wf1", true, &None));
    assert_eq!(workflow.owner, Some(1));
    assert_eq!(workflow.references, [Reference::Name(format!("{BASE}/etl/resources/ckpt_storage/two.py"))]);
    let root = format!("{BASE}/etl/resources/ckpt_storage");
    assert_eq!(
        workflow.state_options,
        [option("flink-sql", "initScript", &root), option("flink-sql", "others", &root)]
    );
}

#[tokio::test]
async fn names_are_encoded_once() {
    let server = recorded_322().on("/resources", &[("pageNo", "1")], [Reply::page(0, &[])]);
    let dolphin = server.start("3.2.2", 100).await;
    let name = "/dolphinscheduler322/etl/resources/a b%20+c#d?e&f=\"\\\n报表/re\u{301}sume";
    assert_eq!(dolphin.list_storage(&path(name), BASE).await, Ok(vec![]));
    let asked = server.asked();
    let wanted = format!("/resources?fullName=hdfs://localhost:18020{name}&tenantCode=&type=FILE&pageNo=1");
    assert!(asked.last().is_some_and(|last| last.starts_with(&wanted)), "{asked:?}");
}

#[tokio::test]
async fn password_hashes_and_credentials_stay_behind() {
    for (server, version) in
        [(recorded_319(), "3.1.9"), (recorded_319().on("/users/list-paging", &[], [Reply::code(10057)]), "3.1.9")]
    {
        let (dolphin, mut view) = read(&server, version).await;
        dolphin.fetch_workflows(&mut view).await;
        let everything = format!("{view:?} {dolphin:?} {}", serde_json::to_string(&view).expect("JSON"));
        assert!(!everything.contains("canary"), "{everything}");
    }
    // The same hash where a number belongs must not come back in the message about it.
    let hash = json!({"id": "canary-password-hash", "userName": "admin", "userType": "ADMIN_USER"});
    let (_, view) = read(&recorded_319().on("/users/get-user-info", &[], [Reply::data(hash)]), "3.1.9").await;
    assert_eq!(the_gap(&view.gaps).cause, Cause::NotUnderstood);
    assert!(!format!("{view:?}").contains("canary"));
}

#[tokio::test]
async fn an_expired_token_is_said_once_a_view_and_not_tried_again() {
    let server = recorded_319().on("/users/get-user-info", &[], [Reply::empty(401)]);
    let (dolphin, mut view) = read(&server, "3.1.9").await;
    let gap = the_gap(&view.gaps).clone();
    assert_eq!((gap.view, gap.kind, gap.cause), (ViewName::Resources, GapKind::Incomplete, Cause::NotAuthorized));
    assert!(gap.detail.contains("401") && gap.detail.contains("expired, disabled or wrong"), "{}", gap.detail);
    dolphin.fetch_workflows(&mut view).await;
    assert_eq!(view.gaps.len(), 2);
    assert_eq!((view.gaps[1].view, view.gaps[1].cause), (ViewName::Workflows, Cause::NotAuthorized));
    let listed = dolphin.list_storage(&path("/x"), "hdfs://ns1/x").await;
    assert_eq!(listed.map_err(|gap| gap.cause), Err(Cause::NotAuthorized));
    assert_eq!(server.asked().len(), 1, "{:?}", server.asked());
}

#[tokio::test]
async fn a_token_that_expires_in_the_middle() {
    let server = recorded_319().on("/resources", &[("id", "1")], [Reply::empty(401)]);
    let dolphin = server.start("3.1.9", 100).await;
    let mut view = dolphin.fetch_resources().await;
    assert_eq!(the_gap(&view.gaps).cause, Cause::NotAuthorized);
    assert!(!view.records_complete && view.users_complete);
    // What the first tree showed is kept, without details where no page came.
    assert_eq!(ids(&view), [1, 2, 3, 4, 5, 6]);
    let asked = server.asked().len();
    dolphin.fetch_workflows(&mut view).await;
    assert_eq!(view.gaps.len(), 2);
    assert_eq!(server.asked().len(), asked);
}

#[tokio::test]
async fn html_under_200_points_at_the_base_path() {
    let server = Scripted::default().on("/users/get-user-info", &[], [Reply::html(200)]);
    let (_, view) = read(&server, "3.1.9").await;
    let gap = the_gap(&view.gaps);
    assert_eq!(gap.cause, Cause::NotUnderstood);
    assert!(gap.detail.contains("text/html") && gap.detail.contains("context path"), "{}", gap.detail);
    assert!(!gap.detail.contains("canary") && !gap.detail.contains("127.0.0.1"));
}

#[tokio::test]
async fn a_null_code_is_no_success() {
    let null = Reply::json(&json!({"code": null, "msg": "boom", "data": [], "failed": true, "success": false}));
    let server = recorded_319().on("/resources/list", &[("type", "FILE")], [null]);
    let (_, view) = read(&server, "3.1.9").await;
    let gap = the_gap(&view.gaps);
    assert_eq!((gap.kind, gap.cause), (GapKind::Incomplete, Cause::ServerError));
    assert!(gap.detail.contains("code null"), "{}", gap.detail);
    // The pages alone still show what they reach.
    assert_eq!(ids(&view), [1, 2, 3, 4, 5, 6]);
    assert!(!view.records_complete);
}

#[tokio::test]
async fn a_page_with_an_error_code_leaves_the_names_of_the_tree() {
    let server = four_files()
        .on("/resources", &[("type", "FILE"), ("pageNo", "1")], [Reply::page(3, &[file(1), file(2)])])
        .on("/resources", &[("type", "FILE"), ("pageNo", "2")], [Reply::code(10057)])
        .on("/resources/3/query", &[], [Reply::code(10057)])
        .on("/resources/4/query", &[], [Reply::data(file(4))]);
    let view = read_in_pages(&server, 2).await;
    let gap = the_gap(&view.gaps);
    assert_eq!((gap.kind, gap.cause), (GapKind::Incomplete, Cause::ServerError));
    assert!(gap.detail.contains("page 2: code 10057 (it failed)"), "{}", gap.detail);
    assert_eq!(ids(&view), [1, 2, 3, 4]);
    assert_eq!((view.records[2].size, view.records[2].owner), (None, None));
    assert_eq!(&*view.records[2].full_name, "/c.sh");
    assert_eq!(view.records[3].size, Some(3));
    assert!(!view.records_complete);
}

#[tokio::test]
async fn rows_that_shift_between_pages_in_every_pass() {
    // The UDF pages show the same FILE rows; those are not taken, and the view is one contradiction all the same.
    let server = four_files()
        .on("/resources", &[("pageNo", "1"), ("pageSize", "2"), ("id", "-1")], [Reply::page(4, &[file(1), file(2)])])
        .on("/resources", &[("pageNo", "2"), ("id", "-1")], [Reply::page(3, &[file(4)])])
        .on("/resources/3/query", &[], [Reply::data(file(3))]);
    let view = read_in_pages(&server, 2).await;
    let gap = the_gap(&view.gaps);
    assert_eq!((gap.kind, gap.cause), (GapKind::Contradiction, Cause::Shifting));
    assert!(gap.detail.contains("page 1 says 4 entries in all, page 2 says 3"), "{}", gap.detail);
    let second = |asked: &&String| asked.starts_with("/resources?type=FILE&id=-1&pageNo=2");
    let pages = server.asked().iter().filter(second).count();
    assert_eq!(pages, 3, "three passes and no more");
    assert_eq!(ids(&view), [1, 2, 3, 4]);
    assert!(!view.records_complete);
}

#[tokio::test]
async fn a_list_that_calms_down_is_believed() {
    let whole = [Reply::page(4, &[file(1), file(2)]), Reply::page(3, &[file(1), file(3)])];
    let tree: Vec<Value> =
        ["a.sh", "c.sh", "d.sh"].into_iter().zip([1, 3, 4]).map(|(n, id)| node(id, n, false, &[])).collect();
    let server = four_files()
        .on("/resources/list", &[("type", "FILE")], [Reply::data(tree)])
        .on("/resources", &[("type", "FILE"), ("pageNo", "1")], whole)
        .on("/resources", &[("type", "FILE"), ("pageNo", "2")], [Reply::page(3, &[file(4)])]);
    let view = read_in_pages(&server, 2).await;
    assert_eq!(view.gaps, []);
    assert_eq!(ids(&view), [1, 3, 4]);
    assert!(view.records_complete);
}

#[tokio::test]
async fn a_repeated_row_and_a_total_that_is_too_low_are_contradictions() {
    let repeated = four_files()
        .on("/resources", &[("type", "FILE"), ("pageNo", "1")], [Reply::page(4, &[file(1), file(2)])])
        .on("/resources", &[("type", "FILE"), ("pageNo", "2")], [Reply::page(4, &[file(2), file(3)])]);
    let too_low = four_files()
        .on("/resources", &[("type", "FILE"), ("pageNo", "1")], [Reply::page(2, &[file(1), file(2)])])
        .on("/resources", &[("type", "FILE"), ("pageNo", "2")], [Reply::page(2, &[file(3), file(4)])]);
    for (server, how) in [(repeated, "repeats an entry"), (too_low, "2 entries in all, but 4")] {
        let view = read_in_pages(&server, 2).await;
        let gap = view.gaps.iter().find(|gap| gap.kind == GapKind::Contradiction).expect("a contradiction");
        assert!(gap.detail.contains(how), "{}", gap.detail);
        assert!(!view.records_complete);
    }
}

#[tokio::test]
async fn a_total_that_is_not_reached_is_cut_short() {
    let server = four_files()
        .on("/resources", &[("type", "FILE")], [Reply::page(240, &[file(1), file(2)])])
        .on("/resources/3/query", &[], [Reply::data(file(3))])
        .on("/resources/4/query", &[], [Reply::data(file(4))]);
    let view = read_in_pages(&server, 100).await;
    let gap = the_gap(&view.gaps);
    assert_eq!((gap.kind, gap.cause), (GapKind::Incomplete, Cause::CutShort));
    assert!(gap.detail.contains("2 of 240 in all"), "{}", gap.detail);
}

#[tokio::test]
async fn records_that_come_and_go_are_ordinary_changes() {
    let before = [node(1, "a.sh", false, &[]), node(2, "gone", true, &[])];
    let after = [node(1, "a.sh", false, &[]), node(5, "e.sh", false, &[])];
    let server = recorded_319()
        .on("/resources/list", &[("type", "FILE")], [Reply::data(before.to_vec()), Reply::data(after.to_vec())])
        .on("/resources", &[("type", "FILE"), ("id", "-1")], [Reply::page(1, &[file(1)])])
        .on("/resources", &[("type", "FILE"), ("id", "2")], [Reply::code(20004)])
        .on("/resources/5/query", &[], [Reply::data(file(5))]);
    let (_, view) = read(&server, "3.1.9").await;
    assert_eq!(view.gaps, []);
    assert_eq!(ids(&view), [1, 5]);
    assert!(view.records_complete);
}

#[tokio::test]
async fn a_page_with_a_record_no_tree_has_is_a_contradiction() {
    let stranger = four_files().on(
        "/resources",
        &[("type", "FILE"), ("id", "-1")],
        [Reply::page(5, &[file(1), file(2), file(3), file(4), file(5)])],
    );
    let other_directory = four_files().on(
        "/resources",
        &[("type", "FILE"), ("id", "-1")],
        [Reply::page(4, &[file(1), file(2), file(3), row(4, 77, "/d.sh", false)])],
    );
    for (server, how) in [(stranger, "such as 5"), (other_directory, "got the FILE record 4 of directory 77")] {
        let (_, view) = read(&server, "3.1.9").await;
        let gap = the_gap(&view.gaps);
        assert_eq!(gap.kind, GapKind::Contradiction);
        assert!(gap.detail.contains(how), "{}", gap.detail);
        assert!(!view.records_complete);
    }
}

#[tokio::test]
async fn orphans_are_asked_for_by_id() {
    let tree = [node(1, "a.sh", false, &[]), node(9, "lost/x.sh", false, &[])];
    let server = recorded_319()
        .on("/resources/list", &[("type", "FILE")], [Reply::data(tree.to_vec())])
        .on("/resources", &[("type", "FILE"), ("id", "-1")], [Reply::page(1, &[file(1)])])
        .on("/resources/9/query", &[], [Reply::data(row(9, 8, "/lost/x.sh", false))]);
    let (_, view) = read(&server, "3.1.9").await;
    assert_eq!(view.gaps, []);
    assert_eq!((ids(&view), view.records[1].size), (vec![1, 9], Some(3)));
    // A server that answers with another record, as `/resources/{id}` without `/query` does, is not believed.
    let server = server.on("/resources/9/query", &[], [Reply::data(row(8, -1, "/lost", true))]);
    let (_, view) = read(&server, "3.1.9").await;
    assert_eq!(the_gap(&view.gaps).cause, Cause::NotUnderstood);
    assert_eq!((ids(&view), view.records[1].size), (vec![1, 9], None));
}

#[tokio::test]
async fn a_general_user_sees_a_part() {
    let bob = json!({
        "id": 2, "userName": "bob", "userPassword": "canary-password-hash", "userType": "GENERAL_USER", "tenantCode": "etl",
    });
    let server = recorded_319()
        .on("/users/get-user-info", &[], [Reply::data(bob)])
        .on("/resources/list", &[("type", "FILE")], [Reply::data(json!([node(1, "a.sh", false, &[])]))])
        .on("/resources", &[("type", "FILE"), ("id", "-1")], [Reply::page(1, &[file(1)])]);
    let (dolphin, mut view) = read(&server, "3.1.9").await;
    let gap = the_gap(&view.gaps);
    assert_eq!((gap.view, gap.cause), (ViewName::Resources, Cause::PartialRights));
    assert!(!view.administrator && !view.users_complete && !view.records_complete);
    assert_eq!(view.users.len(), 1);
    assert_eq!(view.users[&2].tenant.as_deref(), Some("etl"));
    assert_eq!(view.tenant_of(&view.records[0]), OwnerTenant::Unknown);
    dolphin.fetch_workflows(&mut view).await;
    assert_eq!(view.gaps.len(), 2);
    assert_eq!((view.gaps[1].view, view.gaps[1].cause), (ViewName::Workflows, Cause::PartialRights));
    assert!(!server.asked().iter().any(|asked| asked.starts_with("/users/list-paging")));
}

#[tokio::test]
async fn a_general_user_of_3_2_2_gets_the_base_directory_all_the_same() {
    let bob = json!({"id": 2, "userName": "bob", "userType": "GENERAL_USER", "tenantCode": "etl"});
    let server = Scripted::recorded("3.2.2", &["054"]).on("/users/get-user-info", &[], [Reply::data(bob)]).on(
        "/resources",
        &[("fullName", &format!("{BASE}/etl/resources/../"))],
        [Reply::code(20020)],
    );
    let (_, view) = read(&server, "3.2.2").await;
    assert_eq!(view.base_dir.as_deref(), Some(BASE));
    assert_eq!(the_gap(&view.gaps).cause, Cause::PartialRights);
}

#[tokio::test]
async fn a_deleted_owner_and_one_without_a_tenant() {
    let users = [
        json!({"id": 1, "userName": "admin", "tenantCode": null}),
        json!({"id": 7, "userName": "x", "tenantCode": ""}),
    ];
    let gone = json!({
        "id": 9, "pid": -1, "type": "FILE", "fullName": "/left.sh", "userId": 77, "size": 1, "directory": false,
        "createTime": "2026-11-29 14:22:29", "updateTime": "2026-11-29 14:22:29",
    });
    let server = recorded_319()
        .on("/users/list-paging", &[], [Reply::page(2, &users)])
        .on(
            "/resources/list",
            &[("type", "FILE")],
            [Reply::data(json!([node(1, "a.sh", false, &[]), node(9, "left.sh", false, &[])]))],
        )
        .on("/resources", &[("type", "FILE"), ("id", "-1")], [Reply::page(2, &[file(1), gone])]);
    let (_, view) = read(&server, "3.1.9").await;
    assert_eq!(view.gaps, []);
    assert_eq!(view.tenant_of(&view.records[0]), OwnerTenant::NoTenant);
    assert_eq!(view.tenant_of(&view.records[1]), OwnerTenant::Deleted);
}

#[tokio::test]
async fn an_account_that_is_not_known_sees_an_unknown_part() {
    let server = recorded_319().on("/users/get-user-info", &[], [Reply::code(10000)]);
    let (dolphin, mut view) = read(&server, "3.1.9").await;
    assert_eq!(the_gap(&view.gaps).cause, Cause::ServerError);
    assert!(!view.records_complete && view.users_complete);
    assert_eq!(ids(&view), [1, 2, 3, 4, 5, 6]);
    dolphin.fetch_workflows(&mut view).await;
    assert_eq!(
        (view.gaps.len(), view.gaps[1].view, view.gaps[1].cause),
        (2, ViewName::Workflows, Cause::PartialRights)
    );
    assert!(view.gaps[1].detail.contains("not known"), "{}", view.gaps[1].detail);
}

#[tokio::test]
async fn users_that_cannot_be_read_leave_owners_unknown() {
    let server = recorded_319().on("/users/list-paging", &[], [Reply::code(10057)]);
    let (_, view) = read(&server, "3.1.9").await;
    assert_eq!((the_gap(&view.gaps).view, view.gaps[0].cause), (ViewName::Resources, Cause::ServerError));
    assert!(!view.users_complete && view.records_complete);
    assert_eq!(view.tenant_of(&view.records[0]), OwnerTenant::Unknown);
}

#[tokio::test]
async fn another_version_than_configured_reads_no_records() {
    let (_, view) = read(&recorded_322(), "3.1.9").await;
    let gap = the_gap(&view.gaps);
    assert_eq!((gap.kind, view.generation), (GapKind::Contradiction, Some(Generation::V322)));
    assert!(gap.detail.contains("configured 3.1.9 (3.1), but the server behaves as 3.2.2"), "{}", gap.detail);
    assert!(view.records.is_empty() && view.base_dir.is_none());
    let (_, view) = read(&recorded_319(), "3.2.2").await;
    assert_eq!((the_gap(&view.gaps).kind, view.generation), (GapKind::Contradiction, Some(Generation::V31)));
    assert!(view.records.is_empty());
}

#[tokio::test]
async fn generations_this_build_does_not_read_are_named() {
    let newer = Scripted::recorded("3.2.2", &["005"]).on(
        "/ui-plugins/query-product-info",
        &[],
        [Reply::data(json!({"version": "3.3.0"}))],
    );
    let lax = recorded_322().on("/resources", &[("fullName", &format!("{BASE}/../"))], [Reply::page(0, &[])]).on(
        "/resources/query-full-name",
        &[],
        [Reply::code(1_400_001)],
    );
    let oldest = Scripted::recorded("3.1.9", &["008", "070"]).on("/resources/list-paging", &[], [Reply::page(0, &[])]);
    for (server, version, generation) in
        [(newer, "3.3.0", Generation::V33), (lax, "3.2.1", Generation::V320), (oldest, "1.3.9", Generation::V13)]
    {
        let (dolphin, mut view) = read(&server, version).await;
        assert_eq!(view.generation, Some(generation), "{version}");
        let gap = the_gap(&view.gaps);
        assert_eq!((gap.kind, gap.cause), (GapKind::Incomplete, Cause::Unsupported), "{version}");
        assert!(gap.detail.contains("this build reads 2.0, 3.0, 3.1 and 3.2.2"), "{}", gap.detail);
        dolphin.fetch_workflows(&mut view).await;
        assert_eq!(
            (view.gaps.len(), view.gaps[1].view, view.gaps[1].cause),
            (2, ViewName::Workflows, Cause::Unsupported)
        );
    }
}

#[tokio::test]
async fn an_account_without_a_tenant_hides_the_generation() {
    let server = Scripted::recorded("3.2.2", &["005", "059", "064", "065"])
        .on("/resources/base-dir", &[], [Reply::code(10181)])
        .on("/resources", &[], [Reply::code(10017)]);
    let (_, view) = read(&server, "3.2.2").await;
    let gap = the_gap(&view.gaps);
    assert_eq!((gap.kind, view.generation), (GapKind::Incomplete, None));
    assert!(gap.detail.contains("10181") && gap.detail.contains("no tenant"), "{}", gap.detail);
}

#[tokio::test]
async fn a_listing_that_lies_does_not_change_the_generation() {
    let above = format!("{BASE}/../");
    for reply in [Reply::page(0, &[]), Reply::code(10057), Reply::page(240, &[])] {
        let (_, view) = read(&recorded_322().on("/resources", &[("fullName", &above)], [reply]), "3.2.2").await;
        assert_eq!((view.generation, view.gaps), (Some(Generation::V322), vec![]));
    }
}

#[tokio::test]
async fn the_version_text_is_for_display() {
    let docs = Reply::json(&json!({"openapi": "3.0.1", "info": {"title": "Api Docs", "version": "3.3.0"}}));
    let (_, view) = read(&recorded_322().on("/v3/api-docs/v1", &[], [docs]), "3.2.2").await;
    assert_eq!((view.version_text.as_deref(), view.generation), (Some("3.3.0"), Some(Generation::V322)));
}

#[tokio::test]
async fn a_listing_of_another_directory_is_a_contradiction() {
    let etl = "/dolphinscheduler322/etl/resources";
    for stray in [
        format!("{BASE}/ops/resources/a.sh"),
        format!("{BASE}/etl/resources/lib/a.sh"),
        "hdfs://other/dolphinscheduler322/etl/resources/a.sh".to_owned(),
    ] {
        let entry = json!({"fullName": stray, "directory": false, "size": 1});
        let dolphin =
            recorded_322().on("/resources", &[("pageNo", "1")], [Reply::page(1, &[entry])]).start("3.2.2", 100).await;
        let gap = dolphin.list_storage(&path(etl), BASE).await.expect_err("a contradiction");
        assert_eq!((gap.view, gap.kind), (ViewName::Resources, GapKind::Contradiction));
        assert!(gap.detail.contains(&format!("asked for {etl}, got entries of ")), "{}", gap.detail);
    }
    let entry = json!({"fullName": format!("{BASE}/etl/resources//lib/"), "directory": true, "size": 0});
    let dolphin =
        recorded_322().on("/resources", &[("pageNo", "1")], [Reply::page(1, &[entry])]).start("3.2.2", 100).await;
    let listed = dolphin.list_storage(&path(etl), BASE).await.expect("doubled slashes name the same entry");
    assert_eq!(&*listed[0].full_name, format!("{BASE}/etl/resources//lib/"), "kept as the server spells it");
}

#[tokio::test]
async fn a_short_storage_listing_and_a_token_that_expires_in_it() {
    let etl = path("/dolphinscheduler322/etl/resources");
    let entry = |n: u32| json!({"fullName": format!("{BASE}/etl/resources/f{n}"), "directory": false, "size": 1});
    let short = recorded_322().on("/resources", &[("pageNo", "1")], [Reply::page(240, &[entry(1)])]).on(
        "/resources",
        &[("pageNo", "2")],
        [Reply::page(240, &[])],
    );
    let gap = short.start("3.2.2", 100).await.list_storage(&etl, BASE).await.expect_err("short");
    assert_eq!((gap.kind, gap.cause), (GapKind::Incomplete, Cause::CutShort));
    let expired = recorded_322().on("/resources", &[("pageNo", "1")], [Reply::page(2, &[entry(1)])]).on(
        "/resources",
        &[("pageNo", "2")],
        [Reply::empty(401)],
    );
    let gap = expired.start("3.2.2", 1).await.list_storage(&etl, BASE).await.expect_err("expired");
    assert_eq!((gap.kind, gap.cause), (GapKind::Incomplete, Cause::NotAuthorized));
}

#[tokio::test]
async fn a_project_that_is_refused_is_named_and_the_others_are_read() {
    let projects = [json!({"code": 23_876_064_733_760_i64}), json!({"code": 3})];
    let server = recorded_319()
        .on("/projects", &[], [Reply::page(2, &projects)])
        .on("/projects/3/process-definition", &[], [Reply::code(30001)])
        .on("/projects/3/task-definition", &[], [Reply::code(30001)]);
    let (dolphin, mut view) = read(&server, "3.1.9").await;
    dolphin.fetch_workflows(&mut view).await;
    let gap = the_gap(&view.gaps);
    assert_eq!((gap.view, gap.kind, gap.cause), (ViewName::Workflows, GapKind::Incomplete, Cause::ServerError));
    assert!(gap.detail.contains("project 3") && gap.detail.contains("30001"), "{}", gap.detail);
    assert_eq!(view.workflows.len(), 1);
}

#[tokio::test]
async fn a_definition_or_a_task_that_is_not_understood_is_a_gap() {
    let project = "/projects/23876064733760";
    let definition = |params: Value| {
        json!({
            "processDefinition": {"code": 23_876_064_808_768_i64, "name": "wf1", "releaseState": "ONLINE"},
            "processTaskRelationList": [],
            "taskDefinitionList": [{"code": 1, "name": "sh", "taskParams": params, "resourceIds": "4"}],
        })
    };
    let detail = format!("{project}/process-definition/23876064808768");
    let refused = recorded_319().on(&detail, &[], [Reply::code(50003)]);
    let garbled = recorded_319().on(&detail, &[], [Reply::data(definition(json!("{canary")))]);
    for (server, cause) in [(refused, Cause::ServerError), (garbled, Cause::NotUnderstood)] {
        let (dolphin, mut view) = read(&server, "3.1.9").await;
        dolphin.fetch_workflows(&mut view).await;
        let gap = the_gap(&view.gaps);
        assert_eq!((gap.view, gap.cause), (ViewName::Workflows, cause));
        assert!(gap.detail.contains("23876064733760") && !gap.detail.contains("canary"), "{}", gap.detail);
    }
    let old = definition(json!("{\"resourceList\":[{\"res\":\"x.sh\"}],\"udfs\":\"8\"}"));
    let (dolphin, mut view) = read(&recorded_319().on(&detail, &[], [Reply::data(old)]), "3.1.9").await;
    dolphin.fetch_workflows(&mut view).await;
    assert_eq!(view.workflows[0].references, [Reference::Id(4), Reference::Name("x.sh".into())]);
    assert_eq!(view.workflows[0].functions, [8]);
}

#[tokio::test]
async fn tasks_without_a_workflow_count_too() {
    let tasks = "/projects/23876064733760/task-definition";
    let lines = [
        json!({"taskCode": 23_876_064_747_456_i64, "processDefinitionCode": 23_876_064_808_768_i64}),
        json!({"taskCode": 500, "processDefinitionCode": 0}),
    ];
    let task = json!({
        "code": 500, "name": "stream", "taskType": "FLINK_STREAM", "taskExecuteType": "STREAM", "flag": "YES", "resourceIds": "",
        "taskParams": {"mainJar": {"id": 4}, "others": "-Dstate.checkpoints.dir=hdfs:///c"},
    });
    let server = recorded_319()
        // The total counts the rows of a join, here three for two tasks.
        .on(tasks, &[("taskExecuteType", "STREAM")], [Reply::page(3, &lines)])
        .on("/projects/23876064733760/task-definition/500", &[], [Reply::data(task)]);
    let (dolphin, mut view) = read(&server, "3.1.9").await;
    dolphin.fetch_workflows(&mut view).await;
    assert_eq!(view.gaps, []);
    assert_eq!(view.workflows.iter().map(|w| w.code.0).collect::<Vec<_>>(), [500, 23_876_064_808_768]);
    let lone = &view.workflows[0];
    assert_eq!((lone.name.as_str(), lone.online), ("stream", true));
    assert_eq!(lone.references, [Reference::Id(4)]);
    assert_eq!(lone.state_options, [option("stream", "others", "hdfs:///c")]);
}

#[tokio::test]
async fn udf_functions_are_bound_by_id_or_by_name() {
    let function = |id: i64, name: &str| json!({"id": 1, "funcName": "f", "resourceId": id, "resourceName": name});
    let functions = |record, name| [Reply::page(1, &[function(record, name)])];
    let (dolphin, mut view) =
        read(&recorded_319().on("/resources/udf-func", &[], functions(11, "/f.jar")), "3.1.9").await;
    dolphin.fetch_workflows(&mut view).await;
    assert_eq!(
        (view.functions[0].record, view.functions[0].resource_name.as_deref()),
        (Some(RecordId(11)), Some("/f.jar"))
    );
    let (dolphin, mut view) =
        read(&recorded_322().on("/resources/udf-func", &[], functions(-1, "hdfs://h/f.jar")), "3.2.2").await;
    dolphin.fetch_workflows(&mut view).await;
    assert_eq!((view.functions[0].record, view.functions[0].resource_name.as_deref()), (None, Some("hdfs://h/f.jar")));
    let (dolphin, mut view) = read(&recorded_319().on("/resources/udf-func", &[], [Reply::code(10070)]), "3.1.9").await;
    dolphin.fetch_workflows(&mut view).await;
    assert_eq!((the_gap(&view.gaps).view, view.gaps[0].cause), (ViewName::Workflows, Cause::ServerError));
}

#[tokio::test]
async fn a_server_that_is_down_is_asked_a_few_times_only() {
    let record = Record {
        id: RecordId(1),
        full_name: "/a.sh".into(),
        kind: ResourceKind::File,
        directory: false,
        size: None,
        owner: None,
        created: None,
        updated: None,
    };
    let mut config = scripted::config_of_a_closed_port("3.1.9");
    config.http.timeout = "1s".parse().expect("an age");
    let dolphin = Dolphin::new(&config).expect("a reader");
    let mut view = dolphin.fetch_resources().await;
    assert_eq!(the_gap(&view.gaps).cause, Cause::Unreachable);
    dolphin.fetch_workflows(&mut view).await;
    assert_eq!(view.gaps.len(), 2);
    dolphin.fetch_opinion(&record).await;
    let Opinion::Failed { why } = dolphin.fetch_opinion(&record).await else { panic!("nobody answered") };
    assert!(why.contains("not asked"), "{why}");
}
