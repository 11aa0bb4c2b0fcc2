//! The content of a file: whole, or a gap that says why not.

use jiff::Timestamp;
use statewarden::config::Credentials;
use statewarden::demo::servers::{Options, Platform};
use statewarden::demo::world::World;
use statewarden::ports::read::{HdfsRead as _, ReadAnswer};
use statewarden::views::{Cause, Gap};

use super::namenode::{Asked, NameNode, Reply, config, content, exception, html, json, nobody, path, reader, recorded};

const FILE: &str = "/f/chk-1/_metadata";
const BYTES: &[u8] = b"0123456789";

fn status(length: usize, kind: &str) -> Reply {
    let status = serde_json::json!({"FileStatus": {"pathSuffix": "", "type": kind, "length": length,
        "modificationTime": 1, "owner": "root", "group": "g", "permission": "644", "fileId": 7}});
    json(200, status.to_string())
}

/// One that knows the status of a file of ten bytes, and answers OPEN like this.
async fn namenode(open: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> NameNode {
    NameNode::start(move |asked| if asked.op() == "OPEN" { open(asked) } else { status(BYTES.len(), "FILE") }).await
}

async fn read(open: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> ReadAnswer {
    namenode(open).await.reader().read_file(&path(FILE), 100).await
}

fn gap(answer: ReadAnswer) -> Gap {
    match answer {
        ReadAnswer::Unread(gap) => gap,
        other => panic!("{other:?} was read"),
    }
}

fn bytes(answer: ReadAnswer) -> Vec<u8> {
    match answer {
        ReadAnswer::Read { bytes, status } => {
            assert_eq!((status.length, status.file_id), (bytes.len() as u64, 7));
            bytes
        }
        other => panic!("{other:?} was not read"),
    }
}

#[tokio::test]
async fn the_datanode_sends_it() {
    let datanode = NameNode::always(content(BYTES)).await;
    let place = datanode.url.join("/webhdfs/v1/f/chk-1/_metadata?op=OPEN&user.name=root&offset=0").expect("a URL");
    let namenode = namenode(move |_| Reply::Redirect(place.to_string())).await;
    assert_eq!(bytes(namenode.reader().read_file(&path(FILE), 10).await), BYTES);
    let asked: Vec<String> = namenode.raw();
    let of = |op: &str| format!("/webhdfs/v1{FILE}?op={op}&user.name=root");
    assert_eq!(asked, [of("GETFILESTATUS"), of("OPEN")]);
    assert_eq!(datanode.raw(), [format!("/webhdfs/v1{FILE}?op=OPEN&user.name=root&offset=0")]);
}

#[tokio::test]
async fn http_fs_sends_it_at_once() {
    assert_eq!(bytes(read(|_| content(BYTES)).await), BYTES);
}

#[tokio::test]
async fn a_file_is_read_whole_or_not_at_all() {
    for reply in [content(&BYTES[..9]), content(b""), Reply::Cut(BYTES[..5].to_vec())] {
        let gap = gap(read(move |_| reply.clone()).await);
        assert_eq!((gap.cause, gap.path.as_ref()), (Cause::CutShort, Some(&path(FILE))), "{}", gap.detail);
    }
    // Longer than the status says, by little and by more than is taken.
    let longer = gap(read(|_| content(b"0123456789+")).await);
    assert_eq!(longer.cause, Cause::CutShort);
    assert!(longer.detail.contains("11 bytes of a file of 10"), "{}", longer.detail);
    let endless = gap(read(|_| content(vec![b'x'; 200_000])).await);
    assert!(endless.detail.contains("larger than"), "{}", endless.detail);
}

#[tokio::test]
async fn what_is_no_content_is_not_taken_for_it() {
    for (reply, cause) in [
        (html(200), Cause::NotUnderstood),
        (json(200, "{}"), Cause::NotUnderstood),
        (Reply::Whole { status: 200, content_type: "text/plain", body: BYTES.to_vec() }, Cause::NotUnderstood),
        (recorded(403, "getfilestatus_denied.json"), Cause::NotAuthorized),
        (recorded(403, "delegation_garbage_403.json"), Cause::NotAuthorized),
        (exception(500, "IOException", "no live node"), Cause::ServerError),
        (exception(404, "FileNotFoundException", "File does not exist"), Cause::Shifting),
    ] {
        let gap = gap(read(move |_| reply.clone()).await);
        assert_eq!(gap.cause, cause, "{}", gap.detail);
        assert!(gap.detail.contains("OPEN of `/f/chk-1/_metadata`"), "{}", gap.detail);
    }
}

#[tokio::test]
async fn nothing_is_opened_that_is_no_file_or_too_long() {
    let limit = BYTES.len() - 1;
    let long = NameNode::always(status(BYTES.len(), "FILE")).await;
    assert!(
        matches!(long.reader().read_file(&path(FILE), limit).await, ReadAnswer::TooLong(status) if status.length == 10)
    );
    let directory = NameNode::always(status(0, "DIRECTORY")).await;
    assert!(matches!(directory.reader().read_file(&path(FILE), limit).await, ReadAnswer::NotAFile(_)));
    let missing = NameNode::always(recorded(404, "getfilestatus_missing.json")).await;
    assert_eq!(missing.reader().read_file(&path(FILE), limit).await, ReadAnswer::Absent);
    let denied = NameNode::always(recorded(403, "getfilestatus_denied.json")).await;
    assert_eq!(gap(denied.reader().read_file(&path(FILE), limit).await).cause, Cause::NotAuthorized);
    for server in [long, directory, missing, denied] {
        assert!(server.asked().iter().all(|asked| asked.op() == "GETFILESTATUS"));
    }
}

#[tokio::test]
async fn a_dead_datanode_is_left_out_the_second_time() {
    let (dead, alive) = (nobody().await, NameNode::always(content(BYTES)).await);
    let (dead_name, alive_url) = (format!("127.0.0.1:{}", dead.port().expect("a port")), alive.url.clone());
    let excluded = dead_name.clone();
    let server = namenode(move |asked| match asked.query.get("excludedatanodes") {
        Some(name) if *name == excluded => Reply::Redirect(alive_url.to_string()),
        _ => Reply::Redirect(dead.to_string()),
    });
    assert_eq!(bytes(server.await.reader().read_file(&path(FILE), 10).await), BYTES);
    // If there is no other one, the gap names the DataNode.
    let gap = gap(read(move |_| Reply::Redirect(format!("http://{dead_name}/"))).await);
    assert_eq!(gap.cause, Cause::Unreachable);
    assert!(gap.detail.contains("127.0.0.1") && gap.detail.contains("9864"), "{}", gap.detail);
}

#[tokio::test]
async fn redirects_are_followed_once_and_never_with_credentials_elsewhere() {
    let other = NameNode::always(content(BYTES)).await;
    let place = other.url.to_string();
    let again = namenode(move |_| Reply::Redirect("/webhdfs/v1/again?op=OPEN".to_owned())).await;
    assert_eq!(gap(again.reader().read_file(&path(FILE), 10).await).cause, Cause::NotUnderstood);
    assert_eq!(again.asked().len(), 3);
    let ftp = gap(read(|_| Reply::Redirect("ftp://dn/file".to_owned())).await);
    assert!(ftp.detail.contains("no HTTP server"), "{}", ftp.detail);
    let server = namenode(move |_| Reply::Redirect(place.clone())).await;
    let mut with_password = config(&[&server.url]);
    with_password.http.credentials = Credentials::Basic { user: "u".to_owned(), password: "secret".into() };
    assert_eq!(bytes(reader(&with_password).read_file(&path(FILE), 10).await), BYTES);
    assert!(server.asked().iter().all(|asked| asked.authorized));
    assert!(!other.asked().is_empty() && other.asked().iter().all(|asked| !asked.authorized));
}

#[tokio::test]
async fn a_standby_is_passed_by() {
    let standby = NameNode::always(recorded(403, "standby_getfilestatus.json")).await;
    let active = namenode(|_| content(BYTES)).await;
    let reader = reader(&config(&[&standby.url, &active.url]));
    assert_eq!(bytes(reader.read_file(&path(FILE), 10).await), BYTES);
    assert_eq!(standby.asked().len(), 1, "the active one is asked first afterwards");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_embedded_server_delivers() {
    let text = "title: t\nhdfs:\n  caller: {user: root, superuser: true}\n  listing:\n    \
                - {path: /f/chk-1/_metadata, type: file, size: 12, mtime_age: 1h}\n";
    let world = World::load(text, Timestamp::now()).expect("a world");
    let platform = Platform::start(world, Options::default()).expect("the servers");
    let reader = reader(&config(&[&platform.addresses.hdfs[0].parse().expect("a URL")]));
    let answer = reader.read_file(&path(FILE), 1 << 20).await;
    assert!(matches!(&answer, ReadAnswer::Read { bytes, .. } if !bytes.is_empty()), "{answer:?}");
}
