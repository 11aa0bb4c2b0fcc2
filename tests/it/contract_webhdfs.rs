//! The embedded WebHDFS against recorded answers of Hadoop 3.4.1: asked what was asked, it gives the recorded status, the
//! recorded RemoteException word for word, and the recorded JSON shape and names.

use jiff::Timestamp;
use serde_json::Value;
use statewarden::demo::servers::{Options, Platform};
use statewarden::demo::world::World;

use crate::raw_http::{Answer, Broken, get, send};
use crate::shape::differences;

const RUN: &str = "/flink/checkpoints/job-a/0f1e2d3c4b5a69788796a5b4c3d2e1f0";
const BIG: &str = "/flink/big/job-0/00000000000000000000000000000001/shared";

/// The tree that was asked when the answers were recorded.
fn listing() -> String {
    let dir =
        |path: &str, more: &str| format!("    - {{path: {path:?}, type: dir, mtime_age: 1h, owner: root{more}}}\n");
    let mut text = String::new();
    for name in ["chk-1", "chk-2", "shared", "taskowned"] {
        text += &dir(&format!("{RUN}/{name}"), "");
    }
    for number in 0..8 {
        text += &dir(&format!("{RUN}/shared/sst-00{number}"), "");
    }
    for name in [
        "with space",
        "plus+sign",
        "per%cent",
        "per%20cent",
        "hash#tag",
        "ünïcødé-检查点",
        "semi;colon",
        "q?mark",
        "star*",
        "back\\slash",
        "amp&and=eq",
        "quote\"x",
        "tab\tx",
        "brace{a}",
        "emoji😀",
        ".hidden",
    ] {
        text += &dir(&format!("/tmp/names/{name}"), "");
    }
    text += &dir("/tmp", ", perms: rwxrwxrwt");
    text += &dir("/priv", ", perms: rwx------");
    text += &dir("/priv/x", "");
    text += &dir("/user/alice", "");
    text + &format!("    - {{path: {BIG}/00000000-0000-0000-0007-028beb7c82f9, type: file, size: 0, mtime_age: 1h}}\n")
}

fn platform(server: &str, faults: &str) -> Platform {
    let text = format!(
        "title: t\nhdfs:\n  caller: {{user: root, superuser: true}}\n  server: {{trash_interval: 60m{server}}}\n  faults: [{faults}]\n  listing:\n{}",
        listing()
    );
    let world = World::load(&text, Timestamp::now()).expect("a world");
    // The recorded NameNode had `dfs.ls.limit=3`.
    Platform::start(world, Options { page_limit: 3 }).expect("the servers")
}

fn base(platform: &Platform) -> &str {
    &platform.addresses.hdfs[0]
}

fn recorded(file: &str) -> String {
    let path = format!("{}/tests/fixtures/webhdfs/{file}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn names(value: &Value) -> Vec<&str> {
    let statuses = value.pointer("/DirectoryListing/partialListing/FileStatuses/FileStatus");
    let statuses = statuses.or_else(|| value.pointer("/FileStatuses/FileStatus"));
    statuses.and_then(Value::as_array).into_iter().flatten().filter_map(|it| it["pathSuffix"].as_str()).collect()
}

fn check(file: &str, status: u64, answer: &Answer) {
    let (recorded, ours): (Value, Value) = (serde_json::from_str(&recorded(file)).expect("JSON"), answer.json());
    assert_eq!(u64::from(answer.status), status, "{file}");
    assert_eq!(answer.header("content-type"), Some("application/json"), "{file}");
    if recorded.get("RemoteException").is_some() {
        assert_eq!(ours, recorded, "{file}");
        return;
    }
    assert_eq!(differences(&recorded, &ours, &[]), Vec::<String>::new(), "{file}");
    if !file.starts_with("liststatus_root") {
        assert_eq!(names(&ours), names(&recorded), "{file}");
    }
    let remaining = |value: &Value| value.pointer("/DirectoryListing/remainingEntries").cloned();
    assert_eq!(remaining(&ours), remaining(&recorded), "{file}");
    for key in ["/FileStatus/type", "/FileStatus/permission", "/FileStatus/childrenNum", "/Path"] {
        // The run directory lost its checkpoints between the recordings.
        if !file.starts_with("safemode_") {
            assert_eq!(ours.pointer(key), recorded.pointer(key), "{file}{key}");
        }
    }
}

#[test]
fn recorded_reads() {
    let (active, standby, safe) =
        (platform("", ""), platform(", state: standby", ""), platform(", safemode: true", ""));
    let index: Value = serde_json::from_str(&recorded("index.json")).expect("JSON");
    let entries = index["responses"].as_array().expect("a list");
    assert!(entries.len() >= 60);
    for entry in entries {
        let (file, request) = (entry["file"].as_str().expect("a file"), entry["request"].as_str().expect("a request"));
        let server = match file {
            _ if file.contains("standby") => &standby,
            _ if file.starts_with("safemode") => &safe,
            _ => &active,
        };
        if file == "safemode_liststatus_batch_ok.json" {
            // Both checkpoints had been moved away by then, so that only the status and the shape can be the same.
            assert_eq!(names(&get(base(server), request).json()), ["chk-1", "chk-2", "shared"]);
            continue;
        }
        check(file, entry["status"].as_u64().expect("a status"), &get(base(server), request));
    }
}

#[test]
fn writes_are_refused_where_the_namenode_refuses_them() {
    let refusal = |platform: &Platform, method: &str, path: &str, query: &str| {
        let target = format!("/webhdfs/v1{path}?{query}");
        let answer = send(method, base(platform), &target, b"").expect("an answer");
        (answer.status, answer.json()["RemoteException"]["exception"].as_str().unwrap_or_default().to_owned())
    };
    let safe = platform(", safemode: true", "");
    let query = "op=DELETE&user.name=root&recursive=true";
    assert_eq!(refusal(&safe, "DELETE", "/tmp", query), (403, "SafeModeException".to_owned()));
    let standby = platform(", state: standby", "");
    assert_eq!(refusal(&standby, "DELETE", "/tmp", query), (403, "StandbyException".to_owned()));
    let active = platform("", "");
    let alice = "op=DELETE&user.name=alice&recursive=true";
    assert_eq!(refusal(&active, "DELETE", RUN, alice), (403, "AccessControlException".to_owned()));
    assert_eq!(refusal(&active, "DELETE", "/tmp/names", alice), (403, "AccessControlException".to_owned()));
    let make = "op=MKDIRS&user.name=alice";
    assert_eq!(refusal(&active, "PUT", "/flink/new", make), (403, "AccessControlException".to_owned()));
    assert_eq!(refusal(&active, "PUT", "/flink", make), (200, String::new()), "what is there needs no right to write");
    let to = |option: &str| format!("op=RENAME&user.name=root&destination=/tmp{option}");
    assert_eq!(
        refusal(&active, "PUT", RUN, &to("&renameoptions=NONE")),
        (403, "FileAlreadyExistsException".to_owned())
    );
    assert_eq!(
        refusal(&active, "PUT", "/nope", &to("/y&renameoptions=NONE")),
        (404, "FileNotFoundException".to_owned())
    );
    let query = "op=DELETE&user.name=root";
    assert_eq!(refusal(&active, "DELETE", RUN, query), (403, "PathIsNotEmptyDirectoryException".to_owned()));
}

#[test]
fn what_is_written_is_read_back() {
    let platform = platform("", "");
    let base = base(&platform);
    let put = |target: &str, body: &[u8]| send("PUT", base, target, body).expect("an answer");
    let status = |path: &str| get(base, &format!("/webhdfs/v1{path}?op=GETFILESTATUS&user.name=root"));
    let first = put("/webhdfs/v1/tmp/new/a%20b?op=CREATE&user.name=root", b"");
    assert_eq!(first.status, 307);
    let second = first.header("location").and_then(|url| url.strip_prefix(base)).expect("a location here");
    assert_eq!(put(second, b"hello").status, 201);
    assert_eq!(status("/tmp/new/a%20b").json()["FileStatus"]["length"], 5);
    let id = status("/tmp/new/a%20b").json()["FileStatus"]["fileId"].clone();
    let open = get(base, "/webhdfs/v1/tmp/new/a%20b?op=OPEN&user.name=root&offset=1");
    let bytes = get(base, open.header("location").and_then(|url| url.strip_prefix(base)).expect("a location here"));
    assert_eq!(bytes.text(), "ello");
    let moved =
        put("/webhdfs/v1/tmp/new/a%20b?op=RENAME&user.name=root&destination=/user/x%2By&renameoptions=TO_TRASH", b"");
    assert_eq!((moved.status, moved.body.len()), (200, 0));
    assert_eq!(status("/user/x+y").json()["FileStatus"]["fileId"], id);
    assert_eq!(status("/tmp/new/a%20b").status, 404);
    // Without options a directory at the destination takes the source in.
    let inside = put("/webhdfs/v1/user/x%2By?op=RENAME&user.name=root&destination=/tmp/new", b"");
    assert_eq!(inside.json(), serde_json::json!({"boolean": true}));
    assert_eq!(status("/tmp/new/x%2By").status, 200);
    let made = put("/webhdfs/v1/user/root/.Trash/Current?op=MKDIRS&user.name=root&permission=700", b"");
    assert_eq!(made.json(), serde_json::json!({"boolean": true}));
    assert_eq!(status("/user/root/.Trash").json()["FileStatus"]["permission"], "700");
    let delete =
        |path: &str| send("DELETE", base, &format!("/webhdfs/v1{path}?op=DELETE&user.name=root&recursive=true"), b"");
    assert_eq!(delete("/tmp/new").expect("an answer").json(), serde_json::json!({"boolean": true}));
    assert_eq!(delete("/tmp/new").expect("an answer").json(), serde_json::json!({"boolean": false}));
}

#[test]
fn faults_on_listings_and_writes() {
    let shared = format!("{RUN}/shared");
    let platform = platform(
        "",
        &format!(
            "{{op: list, path: {shared}, page: 2, repeat_page: 1}}, {{op: list, path: /tmp, returned: 0}}, \
             {{op: list, path: /user, omit: [/user/alice]}}, {{op: stat, path: '/priv/**', exception: StandbyException}}, \
             {{op: list, path: /priv, http: 401, exception: AuthenticationException, sticky: true}}, \
             {{op: delete, path: {RUN}/chk-1, effect: none, http: 200}}, {{op: delete, path: {RUN}/chk-2, effect: done, cut: before_answer}}"
        ),
    );
    let base = base(&platform);
    let list =
        |path: &str, more: &str| get(base, &format!("/webhdfs/v1{path}?op=LISTSTATUS_BATCH&user.name=root{more}"));
    let page = list(&shared, "&startAfter=sst-002").json();
    assert_eq!(names(&page), ["sst-000", "sst-001", "sst-002"]);
    assert_eq!(list("/tmp", "").json()["DirectoryListing"]["remainingEntries"], 0);
    assert_eq!(names(&list("/user", "").json()), ["root"]);
    let unpaged = format!("/webhdfs/v1{shared}?op=LISTSTATUS&user.name=root");
    assert_eq!(get(base, &unpaged).status, 200);
    let delete = |name: &str| {
        let target = format!("/webhdfs/v1{RUN}/{name}?op=DELETE&user.name=root&recursive=true");
        send("DELETE", base, &target, b"")
    };
    assert_eq!(delete("chk-1").expect("an answer").json(), serde_json::json!({"boolean": true}));
    assert_eq!(delete("chk-2").expect_err("cut"), Broken::BeforeAnswer);
    assert_eq!(names(&list(RUN, "").json()), ["chk-1", "shared", "taskowned"]);
    let stat = get(base, "/webhdfs/v1/priv/x?op=GETFILESTATUS&user.name=root");
    assert_eq!(
        (stat.status, stat.json()["RemoteException"]["javaClassName"].as_str()),
        (403, Some("org.apache.hadoop.ipc.StandbyException"))
    );
    assert_eq!([list("/priv", "").status, list("/user", "").status], [401, 401]);
    let deletes = platform.hdfs.faults.log().into_iter().filter(|seen| seen.request.op == "delete").count();
    assert_eq!(deletes, 2);
}

#[test]
fn an_unpaged_listing_that_should_repeat_a_page_breaks_off() {
    let platform = platform("", "{op: list, repeat_page: 1}");
    let broken = send("GET", base(&platform), "/webhdfs/v1/tmp?op=LISTSTATUS&user.name=root", b"");
    assert!(matches!(broken.expect_err("cut"), Broken::InBody(1..)));
}

#[test]
fn the_date_is_that_of_the_servers_clock() {
    let world =
        "title: t\nclock: {tool_minus_namenode: +80h}\nhdfs: {listing: [{path: /a, type: dir, mtime_age: 2h}]}\n";
    let t0 = Timestamp::now();
    let platform = Platform::start(World::load(world, t0).expect("a world"), Options::default()).expect("the servers");
    let answer = get(base(&platform), "/webhdfs/v1/a?op=GETFILESTATUS&user.name=statewarden");
    let date = jiff::fmt::rfc2822::parse(answer.header("date").expect("a date")).expect("a date").timestamp();
    let behind = t0.duration_since(date).as_secs();
    assert!((80 * 3600 - 60..=80 * 3600 + 1).contains(&behind), "{behind}");
    let mtime = answer.json()["FileStatus"]["modificationTime"].as_i64().expect("a time");
    assert_eq!(t0.as_millisecond() - mtime, 82 * 3_600_000);
}

#[test]
fn an_exchanged_world_answers_at_the_same_address() {
    let mut platform = platform("", "{op: stat, http: 500}");
    let target = "/webhdfs/v1/tmp?op=GETFILESTATUS&user.name=root";
    let first = base(&platform).to_owned();
    assert_eq!(get(&first, target).status, 500);
    let mut world = platform.world.clone();
    world.hdfs.faults.clear();
    world.hdfs.listing.retain(|entry| !entry.path.starts_with("/priv"));
    platform.replace_world(world).expect("the other world");
    assert_eq!(get(&first, target).status, 200);
    assert_eq!(get(&first, "/webhdfs/v1/priv?op=GETFILESTATUS&user.name=root").status, 404);
    assert_eq!(platform.hdfs.faults.log().len(), 3);
}
