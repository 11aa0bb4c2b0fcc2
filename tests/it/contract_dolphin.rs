//! The embedded DolphinScheduler against recorded exchanges: the same run, request by request, gives the recorded status, code,
//! shape, and every value that is not a time, a text for people, or a number the server made up.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use reqwest::{Client, Method};
use serde_json::{Map, Value};
use statewarden::demo::servers::dolphin::{DolphinOptions, DolphinServer, EmbeddedStore, RunningDolphin};
use statewarden::demo::servers::file_system::{FileSystem, Maker, SharedFileSystem};
use statewarden::demo::world::{TokenOwner, World};

/// Keys whose values are times, texts for people, or facts of the recorded machine. Their types still have to fit.
const FREE: &[&str] = &[
    "className",
    "createTime",
    "updateTime",
    "operateTime",
    "taskCreateTime",
    "taskUpdateTime",
    "email",
    "description",
    "locations",
    "msg",
    "queue",
    "queueName",
    "timeZone",
    "timestamp",
];

struct Exchange {
    name: String,
    request: Value,
    response: Value,
}

impl Exchange {
    fn load(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).expect("a recording");
        let recorded: Value = serde_json::from_str(&text).expect("JSON");
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
        Self { name, request: recorded["request"].clone(), response: recorded["response"].clone() }
    }

    fn number(&self) -> u32 {
        self.name[..3].parse().expect("a number in front")
    }

    /// Whose token goes with it. What was recorded under a session is asked with the administrator's token.
    fn token(&self) -> Option<&'static str> {
        if self.request["auth"] == "none" {
            return None;
        }
        let of_bob = self.name.contains("-bob-");
        let unknown = self.name.contains("bad-token") || self.name.contains("expired-token");
        Some(if of_bob {
            "token-of-bob"
        } else if unknown {
            "nobody's"
        } else {
            "token-of-admin"
        })
    }
}

fn recordings(folder: &str) -> Vec<Exchange> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/dolphinscheduler").join(folder);
    let files = std::fs::read_dir(folder).expect("the recordings").map(|file| file.expect("a file").path());
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    files.iter().map(|path| Exchange::load(path)).collect()
}

struct Recorded {
    client: Client,
    server: RunningDolphin,
    files: SharedFileSystem,
    compared: u32,
}

impl Recorded {
    async fn start(world: &str, read_only: bool) -> Self {
        // Another test may have done it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let world = World::load(world, Timestamp::now()).expect("a world");
        let files = SharedFileSystem::new(FileSystem::from_world(&world));
        let store = Arc::new(EmbeddedStore::new(files.clone(), read_only));
        let tokens = vec![
            ("token-of-admin".to_owned(), TokenOwner::Admin),
            ("token-of-bob".to_owned(), TokenOwner::User("bob".to_owned())),
        ];
        let options = DolphinOptions { tokens, ..DolphinOptions::of_world(&world, store) };
        let server = DolphinServer::start(&world, options).await.expect("a server");
        Self { client: Client::new(), server, files, compared: 0 }
    }

    fn remove(&self, path: &str) {
        assert_eq!(self.files.lock().delete(path, true, &[]), Ok(true), "{path}");
    }

    fn make_directory(&self, path: &str) {
        self.files.lock().mkdirs(path, &Maker::new("flink")).expect("a directory");
    }

    async fn compare(&mut self, exchange: &Exchange) {
        self.compare_but(exchange, &[]).await;
    }

    /// Compares, leaving aside the values (not the types) of some keys.
    async fn compare_but(&mut self, exchange: &Exchange, aside: &[&str]) {
        let (name, expected) = (&exchange.name, &exchange.response);
        let response = self.send(exchange).await;
        assert_eq!(Some(u64::from(response.status().as_u16())), expected["status"].as_u64(), "{name}");
        let content_type =
            response.headers().get("content-type").and_then(|value| value.to_str().ok()).map(str::to_owned);
        assert_eq!(content_type.as_deref(), expected["headers"]["Content-Type"].as_str(), "{name}");
        let body = response.text().await.expect("a body");
        match &expected["json"] {
            Value::Null => assert_eq!(Some(body.as_str()), expected["text"].as_str(), "{name}"),
            json => {
                let got: Value =
                    serde_json::from_str(&body).unwrap_or_else(|error| panic!("{name}: {error} in {body}"));
                differences(name, "", json, &got, aside);
            }
        }
        self.compared += 1;
    }

    async fn send(&self, exchange: &Exchange) -> reqwest::Response {
        let request = &exchange.request;
        let text = |key: &str| request[key].as_str().expect("a text");
        let method = Method::from_bytes(text("method").as_bytes()).expect("a method");
        let mut builder = self.client.request(method, format!("{}{}", self.server.url, text("path")));
        if let Some(token) = exchange.token() {
            builder = builder.header("token", token);
        }
        if let Value::Object(query) = &request["query"] {
            builder = builder.query(&pairs(query));
        }
        if let Value::Object(form) = &request["form"] {
            builder = builder.form(&pairs(form));
        }
        if let Value::Object(parts) = &request["multipart"] {
            builder = builder.header("content-type", "multipart/form-data; boundary=cut").body(multipart(parts));
        }
        builder.send().await.expect("an answer")
    }
}

fn pairs(map: &Map<String, Value>) -> Vec<(&String, String)> {
    map.iter().map(|(key, value)| (key, value.as_str().map_or_else(|| value.to_string(), str::to_owned))).collect()
}

/// The body of an upload. The recordings give the length of the file only; that of `etl.sh` follows from what `view` showed.
fn multipart(parts: &Map<String, Value>) -> String {
    let mut body = Vec::new();
    for (name, value) in parts {
        let (disposition, content) = match value {
            Value::Object(file) => {
                let (file_name, length) =
                    (file["filename"].as_str().expect("a name"), file["bytes"].as_u64().expect("a length"));
                (format!("name=\"{name}\"; filename=\"{file_name}\""), file_bytes(length))
            }
            text => (format!("name=\"{name}\""), text.as_str().expect("a text").to_owned()),
        };
        body.push(format!("--cut\r\nContent-Disposition: form-data; {disposition}\r\n\r\n{content}\r\n"));
    }
    body.concat() + "--cut--\r\n"
}

fn file_bytes(length: u64) -> String {
    if length == 20 { "#!/bin/bash\necho hi\n".to_owned() } else { "x".repeat(usize::try_from(length).expect("small")) }
}

/// Fails on the first place where keys, types, lengths or bound values differ.
fn differences(name: &str, place: &str, expected: &Value, got: &Value, aside: &[&str]) {
    match (expected, got) {
        (Value::Object(left), Value::Object(right)) => {
            let keys = |map: &Map<String, Value>| map.keys().cloned().collect::<Vec<_>>();
            assert_eq!(keys(left), keys(right), "{name}{place}");
            for (key, value) in left {
                let place = format!("{place}.{key}");
                if FREE.contains(&key.as_str()) || aside.contains(&key.as_str()) {
                    // The queue of a user is null until somebody sets it.
                    let unset = key == "queue" && value.is_null();
                    let is_alike = same_type(value, &right[key]) && same_form_of_time(key, value, &right[key]);
                    assert!(unset || is_alike, "{name}{place}: {value} became {}", right[key]);
                } else {
                    differences(name, &place, value, &right[key], aside);
                }
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            assert_eq!(left.len(), right.len(), "{name}{place}: {left:?} became {right:?}");
            for (at, (left, right)) in left.iter().zip(right).enumerate() {
                differences(name, &format!("{place}[{at}]"), left, right, aside);
            }
        }
        (left, right) if is_invented(place) => assert!(same_type(left, right), "{name}{place}: {left} became {right}"),
        (left, right) => assert_eq!(left, right, "{name}{place}"),
    }
}

/// Codes of tasks and names of projects are made up by the servers.
fn is_invented(place: &str) -> bool {
    let of_task = place.ends_with("askCode")
        || (place.contains("taskDefinitionList") && place.rsplit('.').next() == Some("code"));
    let of_project = place == ".data.totalList[0].name" || place == ".data[0].name";
    of_task || of_project
}

/// Times are alike if they have the same length and signs in the same places: digits stand for one another.
fn same_form_of_time(key: &str, left: &Value, right: &Value) -> bool {
    let form = |value: &Value| {
        let text = value.as_str().unwrap_or_default();
        text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect::<String>()
    };
    !(key.ends_with("Time") || key == "timestamp") || form(left) == form(right)
}

fn same_type(left: &Value, right: &Value) -> bool {
    std::mem::discriminant(left) == std::mem::discriminant(right)
}

const DB: &str = r#"
title: 'the server of the 3.1.9 recordings'
config: {flink: none, authority: "hdfs://localhost:18020", ds: {generation: db, version: "3.1.9", base_path: /dolphinscheduler, tenants: [etl], token: admin}}
hdfs: {listing: [{path: /dolphinscheduler/etl/resources, type: dir, mtime_age: 1d}]}
dolphinscheduler:
  generation: db
  users: [{name: admin, tenant: etl}, {name: bob, tenant: etl}]
  projects: [23876064733760]
  workflows:
    - code: 23876064808768
      name: wf1
      project: 23876064733760
      release: ONLINE
      tenant: etl
      resource_ids: [6]
      tasks:
        - {name: use-two, type: SHELL, raw_script: "python3 two.py --root hdfs:///dolphinscheduler/etl/resources/ckpt_storage"}
        - name: flink-sql
          type: FLINK
          init_script: "set state.checkpoints.dir=hdfs:///dolphinscheduler/etl/resources/ckpt_storage"
          raw_script: "select 1;"
          others: "-Dstate.checkpoints.dir=hdfs:///dolphinscheduler/etl/resources/ckpt_storage"
"#;

#[tokio::test]
async fn the_run_of_3_1_9() {
    let mut recorded = Recorded::start(DB, false).await;
    for exchange in recordings("3.1.9") {
        match exchange.number() {
            30 => {
                recorded.remove("/dolphinscheduler/etl/resources/etl.sh");
                recorded.remove("/dolphinscheduler/etl/resources/ckpt_storage/job-a");
            }
            40 => recorded.make_directory("/dolphinscheduler/etl/resources/ckpt_storage/job-x"),
            _ => {}
        }
        recorded.compare(&exchange).await;
    }
    assert_eq!(recorded.compared, 50);
}

#[tokio::test]
async fn an_hdfs_in_safe_mode_costs_3_1_9_the_row() {
    let rows = "
  records:
    - {id: 1, full_name: /ckpt_storage, dir: true, size: 9, owner: admin, tenant: etl, age: 1d}
    - {id: 5, full_name: '/part 1 %25+\u{fc}.txt', dir: false, size: 5, owner: admin, tenant: etl, age: 1d}
    - {id: 6, full_name: /ckpt_storage/two.py, dir: false, size: 9, owner: admin, tenant: etl, age: 1d}
    - {id: 7, full_name: /sm.sh, dir: false, size: 7, owner: admin, tenant: etl, age: 1d}
";
    let world = DB.replace("/resources, type: dir", "/resources/sm.sh, type: file, size: 7") + rows;
    let mut recorded = Recorded::start(&world, true).await;
    for exchange in recordings("3.1.9-namenode-in-safe-mode") {
        recorded.compare(&exchange).await;
    }
    assert_eq!(recorded.compared, 6);
    assert!(recorded.files.lock().exists("/dolphinscheduler/etl/resources/sm.sh"), "the file stays");
}

/// The servers of the 2.0.9 and 3.0.6 recordings, whose version and base directory are put in.
const OLD_DB: &str = r#"
title: 'the server of the recordings of VERSION'
config: {flink: none, authority: "hdfs://localhost:18020", ds: {generation: db, version: "VERSION", base_path: BASE, tenants: [etl], token: admin}}
hdfs: {listing: [{path: BASE/etl/resources, type: dir, mtime_age: 1d}]}
dolphinscheduler:
  generation: db
  users: [{name: admin, tenant: etl}, {name: bob, tenant: etl}]
  projects: [23876655913280]
"#;

fn old_db(version: &str) -> String {
    OLD_DB.replace("BASE", &base_of(version)).replace("VERSION", version)
}

fn base_of(version: &str) -> String {
    format!("/dolphinscheduler{}", version.replace('.', ""))
}

/// The runs of 2.0.9 and 3.0.6 are one: a stale directory goes with its rows (033), a stale file (034), a directory that is
/// there goes with its rows and with what only HDFS knew (036), and nothing of it is listed afterwards (037).
async fn run_of_old(version: &str) -> Recorded {
    let mut recorded = Recorded::start(&old_db(version), false).await;
    let resources = format!("{}/etl/resources", base_of(version));
    for exchange in recordings(version) {
        match exchange.number() {
            30 => {
                recorded.remove(&format!("{resources}/etl.sh"));
                recorded.remove(&format!("{resources}/ckpt_storage/job-a"));
            }
            36 => recorded.make_directory(&format!("{resources}/ckpt_storage/not-registered")),
            37 => {
                let files = recorded.files.lock();
                assert!(!files.exists(&format!("{resources}/ckpt_storage")), "the tree is gone with all in it");
                assert!(files.exists(&format!("{resources}/part 1 %25+\u{fc}.txt")));
            }
            39 => recorded.make_directory(&format!("{resources}/ckpt_storage/job-x")),
            number if is_of_second_server(number) => continue,
            _ => {}
        }
        recorded.compare(&exchange).await;
    }
    recorded
}

/// In 3.0.6 the workflow kept the name of a row that was gone by then; here that takes a server where the row is still there.
fn is_of_second_server(number: u32) -> bool {
    (41..=56).contains(&number) || number > 60
}

#[tokio::test]
async fn the_run_of_2_0_9() {
    assert_eq!(run_of_old("2.0.9").await.compared, 40);
}

#[tokio::test]
async fn the_run_of_3_0_6() {
    assert_eq!(run_of_old("3.0.6").await.compared, 40);
    let workflow = "
  records: [{id: 6, full_name: /two.py, dir: false, size: 9, owner: admin, tenant: etl, age: 1d}]
  workflows:
    - code: 23876655937856
      name: wf1
      project: 23876655913280
      release: ONLINE
      tenant: etl
      resource_ids: [6]
      tasks:
        - {name: use-two, type: SHELL, raw_script: 'python3 two.py --root hdfs:///dolphinscheduler/etl/resources/ckpt_storage'}
        - name: flink-sql
          type: FLINK
          init_script: 'set state.checkpoints.dir=hdfs:///dolphinscheduler/etl/resources/ckpt_storage'
          raw_script: 'select 1;'
          others: '-Dstate.checkpoints.dir=hdfs:///dolphinscheduler/etl/resources/ckpt_storage'
";
    let mut recorded = Recorded::start(&(old_db("3.0.6") + workflow), false).await;
    for exchange in recordings("3.0.6").into_iter().filter(|exchange| is_of_second_server(exchange.number())) {
        let aside: &[&str] = match exchange.number() {
            49 => &["resourceName"],
            // Listed after an edit.
            55 => &["taskVersion", "processDefinitionVersion", "processReleaseState"],
            _ => &[],
        };
        recorded.compare_but(&exchange, aside).await;
    }
    assert_eq!(recorded.compared, 9);
}

/// Rows before the safe mode runs, beside the one that is deleted: `etl.sh` and `ckpt_storage` are gone already.
async fn safe_mode_run(version: &str, weird: i64, deleted: i64) -> Recorded {
    let rows = format!(
        "
  records:
    - {{id: {weird}, full_name: '/part 1 %25+\u{fc}.txt', dir: false, size: 5, owner: admin, tenant: etl, age: 1d}}
    - {{id: {deleted}, full_name: /sm.sh, dir: false, size: 7, owner: admin, tenant: etl, age: 1d}}
"
    );
    let world = old_db(version).replace("/resources, type: dir", "/resources/sm.sh, type: file, size: 7") + &rows;
    let mut recorded = Recorded::start(&world, true).await;
    for exchange in recordings(&format!("{version}-namenode-in-safe-mode")) {
        recorded.compare(&exchange).await;
    }
    recorded
}

#[tokio::test]
async fn an_hdfs_in_safe_mode_costs_2_0_9_nothing_and_3_0_6_the_row() {
    for (version, weird, deleted) in [("2.0.9", 4, 6), ("3.0.6", 5, 7)] {
        let recorded = safe_mode_run(version, weird, deleted).await;
        assert_eq!(recorded.compared, 6);
        let file = format!("{}/etl/resources/sm.sh", base_of(version));
        assert!(recorded.files.lock().exists(&file), "the file stays");
    }
}

/// Records by every way in which a delete is refused or goes through.
const GUARDED: &str = r#"
title: 'the server of the 3.1.9 recordings on PostgreSQL'
config: {flink: none, authority: "hdfs://localhost:19820", ds: {generation: db, version: "3.1.9", base_path: /dolphinscheduler, tenants: [etl], token: admin}}
hdfs:
  listing:
    - {path: /dolphinscheduler/etl/resources/lib/a.jar, type: file, size: 1, mtime_age: 1d}
    - {path: /dolphinscheduler/etl/resources/conf/x.yaml, type: file, size: 1, mtime_age: 1d}
    - {path: /dolphinscheduler/etl/resources/dave.sql, type: file, size: 1, mtime_age: 1d}
    - {path: /dolphinscheduler/etl/resources/typ.txt/child, type: file, size: 1, mtime_age: 1d}
dolphinscheduler:
  generation: db
  users: [{name: admin, tenant: etl}, {name: dave, deleted: true}]
  projects: [1]
  workflows:
    - {code: 1, name: online, project: 1, release: ONLINE, tenant: etl, resource_ids: [3, 9]}
    - {code: 2, name: offline, project: 1, release: OFFLINE, tenant: etl, resource_ids: [4]}
  functions: [{name: f, record: 5}]
  records:
    - {id: 1, full_name: /lib, dir: true, size: 1, owner: admin, tenant: etl, age: 1d}
    - {id: 2, full_name: /lib/a.jar, dir: false, size: 1, owner: admin, tenant: etl, age: 1d}
    - {id: 3, full_name: /used.sql, dir: false, size: 8, owner: admin, tenant: etl, age: 1d}
    - {id: 4, full_name: /off.sql, dir: false, size: 8, owner: admin, tenant: etl, age: 1d}
    - {id: 5, full_name: /f.jar, kind: UDF, dir: false, size: 1, owner: admin, tenant: etl, age: 1d}
    - {id: 6, full_name: /gone.sql, dir: false, size: 1, owner: admin, tenant: etl, age: 1d}
    - {id: 7, full_name: /typ.txt, dir: false, size: 1, owner: admin, tenant: etl, age: 1d}
    - {id: 8, full_name: /dave.sql, dir: false, size: 1, owner: dave, tenant: null, age: 1d}
    - {id: 9, full_name: /conf, dir: true, size: 1, owner: admin, tenant: etl, age: 1d}
    - {id: 10, full_name: /conf/x.yaml, dir: false, size: 1, owner: admin, tenant: etl, age: 1d}
"#;

/// On H2 every delete fails while an ONLINE workflow holds a resource, so these were recorded on PostgreSQL.
#[tokio::test]
async fn what_keeps_a_record_of_3_1_9_from_being_deleted() {
    let mut recorded = Recorded::start(GUARDED, false).await;
    let mut in_safe_mode = Recorded::start(GUARDED, true).await;
    for exchange in recordings("3.1.9-postgresql") {
        let server = if exchange.name.contains("safe-mode") { &mut in_safe_mode } else { &mut recorded };
        server.compare(&exchange).await;
    }
    assert_eq!((recorded.compared, in_safe_mode.compared), (16, 2));
    assert!(!recorded.files.lock().exists("/dolphinscheduler/etl/resources/typ.txt"), "deleted with what was in it");
}

const STORAGE: &str = r#"
title: 'the server of the 3.2.2 recordings'
config: {flink: none, authority: "hdfs://localhost:18020", ds: {generation: storage, version: "3.2.2", base_path: /dolphinscheduler322, tenants: [etl], token: admin}}
hdfs: {listing: [{path: /dolphinscheduler322/etl/resources, type: dir, mtime_age: 1d}]}
dolphinscheduler:
  generation: storage
  users: [{name: admin, tenant: etl}, {name: bob, tenant: etl}]
  projects: [191011396198400]
  workflows:
    - code: 191011396461568
      name: wf1
      project: 191011396198400
      release: ONLINE
      resource_names: ["hdfs://localhost:18020/dolphinscheduler322/etl/resources/ckpt_storage/two.py"]
      tasks:
        - {name: use-two, type: SHELL, raw_script: "python3 two.py --root hdfs://localhost:18020/dolphinscheduler322/etl/resources/ckpt_storage"}
        - name: flink-sql
          type: FLINK
          init_script: "set 'state.checkpoints.dir'='hdfs://localhost:18020/dolphinscheduler322/etl/resources/ckpt_storage'"
          raw_script: "select 1;"
          others: "-Dstate.checkpoints.dir=hdfs://localhost:18020/dolphinscheduler322/etl/resources/ckpt_storage"
"#;

/// The administrator of a fresh server belongs to the tenant `default`, which the server brings along.
const FRESH_STORAGE: &str = r#"
title: 'the server of the 3.2.2 recordings before the administrator got a tenant'
config: {flink: none, authority: "hdfs://localhost:18020", ds: {generation: storage, version: "3.2.2", base_path: /dolphinscheduler322, tenants: [etl], token: admin}}
dolphinscheduler:
  generation: storage
  users: [{name: admin, tenant: default}]
"#;

#[tokio::test]
async fn the_run_of_3_2_2() {
    let mut fresh = Recorded::start(FRESH_STORAGE, false).await;
    let mut recorded = Recorded::start(STORAGE, false).await;
    for exchange in recordings("3.2.2") {
        match exchange.number() {
            5 | 6 => {
                fresh.compare(&exchange).await;
                continue;
            }
            17 => {
                let run = "/dolphinscheduler322/etl/resources/ckpt_storage/app/0123456789abcdef0123456789abcdef";
                for name in ["chk-7", "shared", "taskowned"] {
                    recorded.make_directory(&format!("{run}/{name}"));
                }
            }
            34 => recorded.remove("/dolphinscheduler322/etl/resources/etl.sh"),
            _ => {}
        }
        recorded.compare(&exchange).await;
    }
    assert_eq!((fresh.compared, recorded.compared), (2, 48));
    assert!(
        !recorded.files.lock().exists("/dolphinscheduler322/etl/resources/ckpt_storage/app"),
        "deleted with its state"
    );
}
