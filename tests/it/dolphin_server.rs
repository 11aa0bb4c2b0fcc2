//! The embedded DolphinScheduler beyond the recordings: who sees what, what a delete refuses, faults, and its file stores.
//! Codes and rules are those of the 3.1.9 and 3.2.2 sources.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use jiff::Timestamp;
use serde_json::Value;
use statewarden::demo::servers::dolphin::{
    DolphinError, DolphinOptions, DolphinServer, EmbeddedStore, FileStore, RemoteHdfs, store_of_world,
};
use statewarden::demo::servers::file_system::{FileSystem, SharedFileSystem};
use statewarden::demo::servers::{Options, Platform};
use statewarden::demo::world::{TokenOwner, World};
use statewarden::domain::HdfsPath;

const DB: &str = r#"
title: t
config: {flink: none, ds: {generation: db, version: "3.1.9", base_path: /dolphinscheduler, tenants: [etl], token: admin}}
hdfs:
  listing:
    - {path: /dolphinscheduler/etl/resources/used.sql, type: file, size: 3, mtime_age: 3d}
    - {path: /dolphinscheduler/etl/resources/dir/unknown, type: file, size: 3, mtime_age: 3d}
    - {path: /dolphinscheduler/etl/udfs/f.jar, type: file, size: 3, mtime_age: 3d}
dolphinscheduler:
  generation: db
  users: [{name: gone, deleted: true}, {name: loose}]
  records:
    - {id: 1, full_name: /dir, dir: true, size: 0, owner: u1, tenant: etl, age: 9d}
    - {id: 2, full_name: /used.sql, dir: false, size: 3, owner: u1, tenant: etl, age: 9d, updated: 1d}
    - {id: 3, full_name: /other.sh, dir: false, size: 3, owner: u2, tenant: etl, age: 9d, updated: 2d}
    - {id: 4, full_name: /hidden.sh, dir: false, size: 3, owner: u1, tenant: etl, age: 9d, visible: false}
    - {id: 5, full_name: /left.sh, dir: false, size: 3, owner: gone, tenant: null, age: 9d, updated: 3d}
    - {id: 6, full_name: /homeless.sh, dir: false, size: 3, owner: loose, tenant: null, age: 9d, updated: 4d}
    - {id: 7, full_name: /f.jar, kind: UDF, dir: false, size: 3, owner: u1, tenant: etl, age: 9d}
    - {id: 8, full_name: /idle.sql, dir: false, size: 3, owner: u1, tenant: etl, age: 9d, updated: 5d}
  workflows:
    - {code: 11, name: on, release: ONLINE, resource_ids: [2]}
    - {code: 12, name: off, release: OFFLINE, resource_ids: [8]}
  functions: [{name: f, record: 7}]
"#;

fn world(text: &str) -> World {
    World::load(text, Timestamp::now()).expect("a world")
}

struct Asked {
    server: DolphinServer,
    files: SharedFileSystem,
}

/// What came back: status, and the JSON if it is JSON.
type Came = (u16, Value);

impl Asked {
    fn new(text: &str) -> Self {
        Self::with(text, |options| options)
    }

    fn with(text: &str, change: impl FnOnce(DolphinOptions) -> DolphinOptions) -> Self {
        let world = world(text);
        let files = SharedFileSystem::new(FileSystem::from_world(&world));
        let store = store_of_world(&world, Arc::new(EmbeddedStore::new(files.clone(), world.hdfs.server.safemode)));
        let tokens = vec![
            ("a".to_owned(), TokenOwner::Admin),
            ("u".to_owned(), TokenOwner::User("u1".to_owned())),
            ("g".to_owned(), TokenOwner::User("gone".to_owned())),
        ];
        let options = change(DolphinOptions { tokens, ..DolphinOptions::of_world(&world, store) });
        Self { server: DolphinServer::new(&world, options).expect("a server"), files }
    }

    async fn ask(&self, method: &str, token: &str, path: &str) -> Came {
        let request = Request::builder().method(method).uri(format!("/dolphinscheduler/{path}")).header("token", token);
        let response = self.server.answer(request.body(Body::empty()).expect("a request")).await;
        let status = response.status().as_u16();
        let body = to_bytes(response.into_body(), 1 << 20).await.unwrap_or_default();
        (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
    }

    async fn get(&self, path: &str) -> Value {
        self.ask("GET", "a", path).await.1
    }

    async fn code(&self, method: &str, token: &str, path: &str) -> Option<i64> {
        self.ask(method, token, path).await.1["code"].as_i64()
    }

    fn exists(&self, path: &str) -> bool {
        self.files.lock().exists(path)
    }
}

fn ids(list: &Value) -> Vec<i64> {
    list.as_array().expect("a list").iter().map(|entry| entry["id"].as_i64().expect("an id")).collect()
}

const PAGE: &str = "resources?type=FILE&id=-1&pageNo=1&pageSize=10&searchVal=";

#[tokio::test]
async fn pages_are_newest_update_first() {
    let asked = Asked::new(DB);
    assert_eq!(ids(&asked.get(PAGE).await["data"]["totalList"]), [2, 3, 5, 6, 8, 1]);
    let owners = asked.get(PAGE).await["data"]["totalList"].clone();
    // The owner of record 5 was deleted: the row stays and shows no name.
    assert_eq!((&owners[0]["userName"], &owners[2]["userName"]), (&Value::from("u1"), &Value::Null));
    assert_eq!(asked.code("GET", "a", "resources?type=FILE&id=77&pageNo=1&pageSize=10").await, Some(20004));
}

#[tokio::test]
async fn a_user_sees_the_own_records_and_no_accounts_or_projects() {
    let asked = Asked::new(DB);
    assert_eq!(ids(&asked.ask("GET", "u", PAGE).await.1["data"]["totalList"]), [2, 8, 1]);
    assert_eq!(ids(&asked.ask("GET", "u", "resources/list?type=FILE").await.1["data"]), [1, 2, 8]);
    assert_eq!(asked.code("GET", "u", "users/list-paging?pageNo=1&pageSize=10").await, Some(30001));
    assert_eq!(asked.ask("GET", "u", "tenants/list").await.1["data"], Value::Array(Vec::new()));
    assert_eq!(asked.ask("GET", "u", "projects?pageNo=1&pageSize=10").await.1["data"]["total"], 0);
    assert_eq!(asked.code("GET", "u", "projects/1/process-definition/list").await, Some(30002));
    assert_eq!(asked.code("GET", "u", "resources/3/query").await, Some(1_400_001));
    let me = asked.ask("GET", "u", "users/get-user-info").await.1;
    assert_eq!(
        (&me["data"]["userType"], &me["data"]["tenantCode"]),
        (&Value::from("GENERAL_USER"), &Value::from("etl"))
    );
    // A token of a deleted user is as good as none.
    assert_eq!(asked.ask("GET", "g", "users/get-user-info").await, (401, Value::Null));
}

#[tokio::test]
async fn a_record_by_id_has_the_keys_of_a_page_and_the_other_call_answers_its_parent() {
    let asked = Asked::new(&DB.replace("full_name: /other.sh", "full_name: /dir/other.sh"));
    let keys = |value: &Value| value.as_object().expect("a map").keys().cloned().collect::<Vec<_>>();
    let record = asked.get("resources/3/query").await["data"].clone();
    assert_eq!(keys(&record), keys(&asked.get(PAGE).await["data"]["totalList"][0]));
    assert_eq!((&record["id"], &record["pid"], &record["fullName"]), (&3.into(), &1.into(), &"/dir/other.sh".into()));
    assert_eq!(asked.get("resources/3?type=FILE").await["data"]["id"], 1);
    assert_eq!(asked.get("resources/0?type=FILE&fullName=%2Fused.sql").await["data"]["id"], 2);
    assert_eq!(asked.code("GET", "a", "resources/2?type=FILE").await, Some(20004));
    assert_eq!(asked.code("GET", "a", "resources/99/query").await, Some(20004));
}

#[tokio::test]
async fn view_looks_where_the_owner_belongs_now() {
    let asked = Asked::new(DB);
    let view = |id: i64| format!("resources/{id}/view?skipLineNum=0&limit=10");
    assert_eq!(asked.code("GET", "a", &view(2)).await, Some(0));
    assert_eq!(asked.code("GET", "a", &view(3)).await, Some(20012));
    assert_eq!(asked.code("GET", "a", &view(5)).await, Some(10010));
    assert_eq!(asked.code("GET", "a", &view(6)).await, Some(10181));
    assert_eq!(asked.code("GET", "a", &view(7)).await, Some(20006));
    assert_eq!(asked.code("GET", "a", &view(99)).await, Some(20004));
}

#[tokio::test]
async fn delete_refuses_as_3_1_does() {
    let asked = Asked::new(DB);
    for (id, code) in [(2, 20014), (5, 10010), (6, 10181), (7, 20013), (99, 20004), (8, 0)] {
        assert_eq!(asked.code("DELETE", "a", &format!("resources/{id}")).await, Some(code), "{id}");
    }
    assert_eq!(asked.code("DELETE", "u", "resources/3").await, Some(1_400_001));
    assert_eq!(ids(&asked.get(PAGE).await["data"]["totalList"]), [2, 3, 5, 6, 1]);
    assert!(asked.exists("/dolphinscheduler/etl/resources/used.sql"));
}

#[tokio::test]
async fn deleting_a_directory_without_child_rows_takes_unknown_files_along() {
    let asked = Asked::new(DB);
    assert_eq!(asked.code("DELETE", "a", "resources/1").await, Some(0));
    assert!(!asked.exists("/dolphinscheduler/etl/resources/dir/unknown"));
}

#[tokio::test]
async fn workflows_show_what_their_tasks_hold() {
    let asked = Asked::new(&DB.replace("resource_ids: [2]", "resource_ids: [2, 99], resource_names: [/x.sql]"));
    let definitions = asked.get("projects/1/process-definition/list").await["data"].clone();
    assert_eq!(definitions.as_array().map(Vec::len), Some(2));
    let task = &definitions[0]["taskDefinitionList"][0];
    let expected = serde_json::json!([
        {"id": 2, "resourceName": "/used.sql", "res": "used.sql"}, {"id": 99}, {"resourceName": "/x.sql"}
    ]);
    assert_eq!((&task["taskParams"]["resourceList"], &task["resourceIds"]), (&expected, &"2,99".into()));
    assert_eq!(definitions[1]["processDefinition"]["releaseState"], "OFFLINE");
    assert_eq!(asked.code("GET", "a", "projects/1/process-definition/77").await, Some(50003));
    assert_eq!(asked.get("resources/udf-func?pageNo=1&pageSize=10").await["data"]["totalList"][0]["resourceId"], 7);
}

#[tokio::test]
async fn what_is_not_there_depends_on_the_web_ui() {
    let with_ui = Asked::with(DB, |options| DolphinOptions { with_ui: true, ..options });
    assert_eq!(with_ui.ask("GET", "a", "no-such-endpoint").await, (200, Value::Null));
    assert_eq!(Asked::new(DB).ask("GET", "a", "no-such-endpoint").await.0, 404);
    // The documents need no token.
    let docs = Asked::new(STORAGE).ask("GET", "", "v3/api-docs/v1").await;
    assert_eq!((docs.0, &docs.1["info"]["version"]), (200, &"3.3.0".into()));
}

#[tokio::test]
async fn times_are_printed_in_the_zone_of_the_server() {
    let plus_eight = jiff::tz::TimeZone::fixed(jiff::tz::offset(8));
    let there = Asked::with(DB, |options| DolphinOptions { time_zone: Some(plus_eight), ..options });
    let time = async |asked: &Asked| -> jiff::civil::DateTime {
        let text =
            asked.get("resources/1/query").await["data"]["createTime"].as_str().expect("a time").replace(' ', "T");
        text.parse().expect("a time without a zone")
    };
    let here = Asked::new(DB);
    let (there, here) = (time(&there).await, time(&here).await);
    let apart = here.until(there).expect("a distance").total(jiff::Unit::Second).expect("seconds");
    // The two worlds are not loaded at the same instant.
    assert!((apart - 8.0 * 3600.0).abs() <= 5.0, "{apart}");
}

const STORAGE: &str = r#"
title: t
config: {flink: none, authority: "hdfs://ns1", ds: {generation: storage, version: "3.2.2", base_path: /ds, tenants: [etl, ops], token: admin}}
hdfs:
  listing:
    - {path: /ds/etl/resources/a.sh, type: file, size: 1, mtime_age: 9d}
    - {path: /ds/etl/resources/b.sh, type: file, size: 2, mtime_age: 9d}
    - {path: /ds/ops/resources/a.sh, type: file, size: 3, mtime_age: 9d}
dolphinscheduler:
  generation: storage
"#;

const ROOT: &str = "resources?type=FILE&fullName=&tenantCode=&pageNo=1&pageSize=10&searchVal=";

fn names(page: &Value) -> Vec<&str> {
    page["data"]["totalList"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|entry| entry["fullName"].as_str())
        .collect()
}

#[tokio::test]
async fn the_root_of_the_storage_holds_every_tenant_with_a_user() {
    let asked = Asked::new(STORAGE);
    let expected =
        ["hdfs://ns1/ds/etl/resources/a.sh", "hdfs://ns1/ds/etl/resources/b.sh", "hdfs://ns1/ds/ops/resources/a.sh"];
    assert_eq!(names(&asked.get(ROOT).await), expected);
    assert_eq!(asked.get("resources/list?type=FILE&fullName=").await["data"].as_array().map(Vec::len), Some(3));
    assert_eq!(asked.get("resources/base-dir?type=FILE").await["data"], "hdfs://ns1/ds");
}

#[tokio::test]
async fn overrides_change_the_spelling_and_leave_out() {
    let records = "  records:\n    - {path: /ds/etl/resources/a.sh, full_name: 'hdfs://ns1/ds/etl/resources//a.sh', size: 9}\n    \
                   - {path: /ds/etl/resources/b.sh, omit: true}\n    - {path: /ds/ops/resources/a.sh, omit: true}\n";
    let asked = Asked::new(&(STORAGE.to_owned() + records));
    let page = asked.get(ROOT).await;
    assert_eq!(names(&page), ["hdfs://ns1/ds/etl/resources//a.sh"]);
    assert_eq!(page["data"]["totalList"][0]["size"], 9);
}

#[tokio::test]
async fn a_store_of_its_own_is_listed_instead_of_hdfs() {
    let own = "  base_dir: 's3a://lake/ds'\n  store: ['s3a://lake/ds/etl/resources/new.sh']\n";
    let asked = Asked::new(&(STORAGE.to_owned() + own));
    assert_eq!(asked.get("resources/base-dir?type=FILE").await["data"], "s3a://lake/ds");
    assert_eq!(names(&asked.get(ROOT).await), ["s3a://lake/ds/etl/resources/new.sh"]);
    let replica = Asked::new(&(DB.to_owned() + "  store: [/dolphinscheduler/etl/resources/other.sh]\n"));
    let view = |id: i64| format!("resources/{id}/view?skipLineNum=0&limit=1");
    assert_eq!(replica.code("GET", "a", &view(3)).await, Some(0));
    assert_eq!(replica.code("GET", "a", &view(2)).await, Some(20012));
}

#[tokio::test]
async fn faults_replace_answers_and_change_lists() {
    let faults = "  faults:\n    - {op: list-page, page: 2, http: 200, code: 10057}\n    - {op: list-page, page: 1, total: 7, ids: [3]}\n    \
                  - {op: list-tree, omit: [/dolphinscheduler/etl/resources/dir], omit_ids: [2], returned: 2}\n    \
                  - {op: workflows, project: 1, http: 200, code: 30001}\n    - {op: users, http: 401, body: '', sticky: true}\n";
    let asked = Asked::new(&(DB.to_owned() + faults));
    let page = asked.get(PAGE).await["data"].clone();
    assert_eq!((ids(&page["totalList"]), &page["total"]), (vec![3], &7.into()));
    let second = asked.ask("GET", "a", &PAGE.replace("pageNo=1", "pageNo=2")).await;
    assert_eq!((second.0, &second.1["code"], &second.1["success"]), (200, &10057.into(), &false.into()));
    assert_eq!(ids(&asked.get("resources/list?type=FILE").await["data"]), [3, 5]);
    assert_eq!(asked.code("GET", "a", "projects/1/process-definition?pageNo=1&pageSize=9").await, Some(30001));
    assert_eq!(asked.ask("GET", "a", "users/list-paging?pageNo=1&pageSize=9").await, (401, Value::Null));
    assert_eq!(asked.ask("GET", "a", PAGE).await.0, 401, "sticky");
}

#[tokio::test]
async fn a_page_of_another_tenant_and_an_empty_one_are_served_on_demand() {
    let faults = "  faults: [{op: list, tenant: etl, entries: [/ds/ops/resources/a.sh]}, {op: list, entries: []}]\n";
    let asked = Asked::new(&(STORAGE.to_owned() + faults));
    let of_etl = ROOT.replace("fullName=", "fullName=hdfs%3A%2F%2Fns1%2Fds%2Fetl%2Fresources");
    assert_eq!(names(&asked.get(&of_etl).await), ["hdfs://ns1/ds/ops/resources/a.sh"]);
    assert_eq!(names(&asked.get(ROOT).await), [""; 0]);
    assert_eq!(asked.get("resources/list?type=FILE&fullName=").await["data"], Value::Array(Vec::new()));
}

#[tokio::test]
async fn a_write_under_a_fault_does_what_the_fault_says() {
    let asked = |fault: &str| Asked::new(&format!("{DB}  faults: [{{op: delete, record: 8, {fault}}}]\n"));
    let file = "/dolphinscheduler/etl/resources/idle.sql";
    let listing = DB.replace("/dolphinscheduler/etl/resources/dir/unknown", file);
    for (fault, code, row_stays, file_stays) in [
        ("http: 200, code: 10058, effect: rows_only", Some(10058), false, true),
        ("http: 200, code: 0, effect: none", Some(0), true, true),
        ("effect: files_only", Some(0), true, false),
        ("http: 500", None, true, true),
        ("http: 500, effect: done", None, false, false),
        ("cut: before_answer, effect: done", None, false, false),
    ] {
        let asked = Asked::new(&format!("{listing}  faults: [{{op: delete, record: 8, {fault}}}]\n"));
        let answer = asked.ask("DELETE", "a", "resources/8").await;
        assert_eq!(answer.1["code"].as_i64(), code, "{fault}");
        assert_eq!(asked.get("resources/8/query").await["code"] == 0, row_stays, "{fault}");
        assert_eq!(asked.exists(file), file_stays, "{fault}");
    }
    let log = asked("http: 500").server.faults().log();
    assert!(log.is_empty());
}

#[test]
fn generations_it_does_not_speak_are_errors() {
    let refused = |text: &str| {
        let world = world(text);
        let store = Arc::new(EmbeddedStore::of_files([], statewarden::demo::servers::wire::ServerClock { behind: 0 }));
        DolphinServer::new(&world, DolphinOptions::of_world(&world, store)).err().map(|error| error.to_string())
    };
    assert_eq!(refused(DB), None);
    let message = refused(&DB.replace("3.1.9", "1.3.9")).expect("an error");
    assert!(message.contains("`1.3.9`") && message.contains("2.0.x, 3.0.x, 3.1.x and 3.2.2"), "{message}");
    assert!(refused(&STORAGE.replace("3.2.2", "3.2.0")).is_some());
    // The operator is wrong about the kind: the server is what it is.
    assert_eq!(
        refused(&DB.replace("generation: db, version: \"3.1.9\"", "generation: storage, version: \"3.2.2\"")),
        None
    );
    let world = world("title: t\n");
    let store = Arc::new(EmbeddedStore::of_files([], statewarden::demo::servers::wire::ServerClock { behind: 0 }));
    assert!(matches!(DolphinServer::new(&world, DolphinOptions::of_world(&world, store)), Err(DolphinError::NoServer)));
}

/// The contract of a file store, the same for every kind.
async fn keeps_files(store: &dyn FileStore) {
    let path = |text: &str| HdfsPath::parse(text).expect("a path");
    let file = path("/t/d/part 1 %25+ü#?.txt");
    assert_eq!(store.stat(&file).await, Ok(None));
    assert_eq!(store.list(&path("/t")).await, Ok(None));
    assert_eq!(store.read(&file).await, Ok(None));
    store.create(&file, b"one\ntwo").await.expect("a file");
    store.create(&file, b"three").await.expect("the same file again");
    assert_eq!(store.read(&file).await, Ok(Some(b"three".to_vec())));
    assert_eq!(store.read(&path("/t/d")).await, Ok(None));
    let status = store.stat(&file).await.expect("an answer").expect("a file");
    assert_eq!((status.directory, status.size), (false, 5));
    store.make_directory(&path("/t/d/e")).await.expect("a directory");
    let listed = store.list(&path("/t/d")).await.expect("an answer").expect("a directory");
    let listed: Vec<_> = listed.iter().map(|(name, status)| (name.as_str(), status.directory)).collect();
    assert_eq!(listed, [("e", true), ("part 1 %25+ü#?.txt", false)]);
    assert_eq!(store.rename(&path("/t/d"), &path("/t/f")).await, Ok(true));
    assert_eq!(store.delete(&path("/t"), &[]).await, Ok(true));
    assert_eq!(store.delete(&path("/t"), &[]).await, Ok(false));
}

#[tokio::test]
async fn every_store_keeps_files() {
    let files = SharedFileSystem::new(FileSystem::from_world(&world("title: t\n")));
    keeps_files(&EmbeddedStore::new(files, false)).await;
    let platform = Platform::start(world("title: t\n"), Options::default()).expect("a platform");
    keeps_files(&RemoteHdfs::new(&platform.addresses.hdfs, "statewarden").expect("a client")).await;
}

#[tokio::test]
async fn a_store_in_trouble_is_no_absence() {
    let standby = "title: t\nhdfs: {server: {state: standby}}\n";
    let platform = Platform::start(world(standby), Options::default()).expect("a platform");
    let store = RemoteHdfs::new(&platform.addresses.hdfs, "statewarden").expect("a client");
    let error = store.stat(&HdfsPath::root()).await.expect_err("no answer");
    assert_eq!(error.0, "StandbyException");
}
