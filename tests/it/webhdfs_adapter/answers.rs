//! The four answers, and what else is asked about single paths.

use statewarden::config::HdfsConfig;
use statewarden::domain::{EntryKind, Existence};
use statewarden::ports::read::HdfsRead as _;
use statewarden::views::Cause;
use statewarden::views::hdfs::ContentSummary;

use super::namenode::{NameNode, Reply, config, exception, html, json, nobody, path, reader, recorded};

async fn status_of(reply: Reply) -> Existence {
    NameNode::always(reply).await.reader().fetch_status(&path("/priv/x")).await
}

fn unknown(existence: Existence) -> String {
    match existence {
        Existence::Unknown { why } => why,
        other => panic!("{other:?} is not unknown"),
    }
}

#[tokio::test]
async fn present() {
    let Existence::Present(file) = status_of(recorded(200, "getfilestatus_file.json")).await else { panic!("there") };
    assert_eq!((file.kind, file.length, file.file_id), (EntryKind::File, 0, 428_372));
    assert_eq!(&*file.owner, "root");
    assert_eq!(file.modified.as_millisecond(), 1_795_962_998_837);
    let directory = status_of(recorded(200, "getfilestatus_dir.json")).await;
    assert_eq!(directory.status().map(|status| status.kind), Some(EntryKind::Directory));
}

#[tokio::test]
async fn absent_is_404_with_the_exception_and_nothing_else() {
    assert_eq!(status_of(recorded(404, "getfilestatus_missing.json")).await, Existence::Absent);
    assert_eq!(status_of(recorded(404, "getfilestatus_name_colon.json")).await, Existence::Absent);
    for reply in [
        html(404),
        json(404, "{}"),
        json(404, "null"),
        exception(404, "NotFoundException", "no such resource"),
        exception(500, "FileNotFoundException", "a log file of the server"),
        exception(200, "FileNotFoundException", "x"),
        Reply::Whole { status: 404, content_type: "", body: Vec::new() },
    ] {
        unknown(status_of(reply).await);
    }
}

#[tokio::test]
async fn denied_is_the_exception_of_the_namenode() {
    // A missing path below a closed directory is refused, not missing.
    for name in ["getfilestatus_denied.json", "getfilestatus_missing_below_denied.json"] {
        let Existence::Denied { why } = status_of(recorded(403, name)).await else { panic!("denied: {name}") };
        assert!(why.contains("GETFILESTATUS of `/priv/x`"), "{why}");
        assert!(why.contains("403 AccessControlException: Permission denied: user=alice, access=EXECUTE"), "{why}");
        assert!(why.contains("give the account"), "{why}");
    }
    let below_a_file = status_of(recorded(403, "getfilestatus_below_file_alice.json")).await;
    assert!(matches!(below_a_file, Existence::Denied { .. }));
    // HttpFS answers the same exception with another status.
    let http_fs = status_of(exception(500, "AccessControlException", "Permission denied")).await;
    assert!(matches!(http_fs, Existence::Denied { .. }));
}

#[tokio::test]
async fn everything_else_is_unknown_with_a_way_out() {
    for (reply, hint) in [
        (recorded(403, "getfilestatus_symlink_followed.json"), "symbolic links are not followed"),
        (recorded(403, "doas_forbidden.json"), "hadoop.proxyuser"),
        (recorded(403, "delegation_garbage_403.json"), "GETDELEGATIONTOKEN"),
        (recorded(403, "delegation_cancelled_403.json"), "hdfs.delegation_token_file"),
        (recorded(401, "spnego_401_no_credentials.txt"), "kinit"),
        (recorded(403, "spnego_bad_token_403.txt"), "kinit"),
        (exception(401, "AuthenticationException", "expired"), "kinit"),
        (recorded(400, "post_bad_user.json"), "hdfs.user"),
        (exception(400, "InvalidPathException", "Invalid path name"), "InvalidPathException"),
        (exception(403, "IOException", "whatever"), "403 IOException: whatever"),
        (html(500), "500 with an HTML page"),
        (html(200), "hdfs.urls"),
        (html(302), "hdfs.urls"),
        (json(200, "{\"FileStatus\":{}}"), "curl"),
        (json(200, "{\"FileStatus\":{\"pathSuff"), "the JSON ends in the middle"),
        (json(200, b"{\"FileStatus\":{\"pathSuffix\":\"\xff\"}}".to_vec()), "no UTF-8"),
        (Reply::Cut(b"{\"FileStatus\":{\"pathSuffix".to_vec()), "broke off"),
    ] {
        let why = unknown(status_of(reply).await);
        assert!(why.contains(hint), "`{hint}` is not in: {why}");
    }
}

#[tokio::test]
async fn a_busy_namenode_is_asked_once_more() {
    let node = NameNode::start(|asked| match asked.number {
        0 => exception(403, "RetriableException", "NameNode still not started"),
        _ => recorded(200, "getfilestatus_dir.json"),
    })
    .await;
    assert!(node.reader().fetch_status(&path("/x")).await.status().is_some());
    assert_eq!(node.asked().len(), 2);

    let stuck = NameNode::always(exception(403, "SafeModeException", "Cannot do it. Name node is in safe mode.")).await;
    let why = unknown(stuck.reader().fetch_status(&path("/x")).await);
    assert!(why.contains("safe mode; run again"), "{why}");
    assert_eq!(stuck.asked().len(), 2);
}

#[tokio::test]
async fn nobody_listens() {
    let why = unknown(reader(&config(&[&nobody().await])).fetch_status(&path("/x")).await);
    assert!(why.contains("cannot connect"), "{why}");
    let why = unknown(reader(&config(&[])).fetch_status(&path("/x")).await);
    assert!(why.contains("set `hdfs.urls`"), "{why}");
}

#[tokio::test]
async fn names_reach_the_server_as_they_are() {
    let node = NameNode::always(recorded(200, "getfilestatus_dir.json")).await;
    let reader = node.reader();
    let names = [
        // Name, and the request that the recorded NameNode answered for it.
        ("with space", "/webhdfs/v1/tmp/names/with%20space?op=GETFILESTATUS&user.name=root"),
        ("plus+sign", "/webhdfs/v1/tmp/names/plus%2Bsign?op=GETFILESTATUS&user.name=root"),
        ("per%20cent", "/webhdfs/v1/tmp/names/per%2520cent?op=GETFILESTATUS&user.name=root"),
        ("hash#tag", "/webhdfs/v1/tmp/names/hash%23tag?op=GETFILESTATUS&user.name=root"),
        ("q?mark", "/webhdfs/v1/tmp/names/q%3Fmark?op=GETFILESTATUS&user.name=root"),
        ("back\\slash", "/webhdfs/v1/tmp/names/back%5Cslash?op=GETFILESTATUS&user.name=root"),
        ("tab\tx", "/webhdfs/v1/tmp/names/tab%09x?op=GETFILESTATUS&user.name=root"),
        ("brace{a}", "/webhdfs/v1/tmp/names/brace%7Ba%7D?op=GETFILESTATUS&user.name=root"),
        ("emoji😀", "/webhdfs/v1/tmp/names/emoji%F0%9F%98%80?op=GETFILESTATUS&user.name=root"),
        (".hidden", "/webhdfs/v1/tmp/names/.hidden?op=GETFILESTATUS&user.name=root"),
    ];
    for (name, _) in names {
        reader.fetch_status(&path("/tmp/names").join(name)).await;
    }
    assert_eq!(node.raw(), names.map(|(_, request)| request));
}

#[tokio::test]
async fn a_token_stands_for_the_user_and_is_never_told() {
    let node = NameNode::always(exception(403, "SecurityException", "token T0k+en/== can't be found in cache")).await;
    let reader = reader(&HdfsConfig { delegation_token: Some("T0k+en/==".into()), ..config(&[&node.url]) });
    let why = unknown(reader.fetch_status(&path("/x")).await);
    assert!(why.contains("token … can't be found in cache"), "{why}");
    assert!(!format!("{why}{reader:?}").contains("T0k"), "{why}");
    assert_eq!(node.raw(), ["/webhdfs/v1/x?op=GETFILESTATUS&delegation=T0k%2Ben%2F%3D%3D"]);
    assert_eq!(reader.user(), None);
}

#[tokio::test]
async fn the_impersonated_user_is_the_one_that_looks() {
    let node = NameNode::always(recorded(200, "gettrashroot_alice.json")).await;
    let reader = reader(&HdfsConfig { doas: Some("alice".to_owned()), ..config(&[&node.url]) });
    assert_eq!(reader.fetch_trash_root().await, Ok(path("/user/alice/.Trash")));
    assert_eq!(node.raw(), ["/webhdfs/v1/?op=GETTRASHROOT&user.name=root&doas=alice"]);
    assert_eq!(reader.user().as_deref(), Some("alice"));
}

#[tokio::test]
async fn messages_are_one_short_printable_line() {
    let trace = format!("first \u{1b}[31m{}\n\tat java.lang.Thread.run", "x".repeat(500));
    let why = unknown(status_of(exception(500, "IOException", &trace)).await);
    assert!(why.contains("first \\u{1b}[31mxxx"), "{why}");
    assert!(!why.contains("Thread.run") && !why.contains('\n'), "{why}");
    assert!(why.len() < 450, "{} bytes", why.len());
}

#[tokio::test]
async fn totals_of_a_subtree() {
    let summary = |reply| async { NameNode::always(reply).await.reader().fetch_summary(&path("/d")).await };
    let whole = summary(recorded(200, "getcontentsummary_5001_inodes.json")).await;
    assert_eq!(whole, Some(ContentSummary { length: 0, files: 5000, directories: 1 }));
    let directories = summary(recorded(200, "getcontentsummary_dir.json")).await;
    assert_eq!(directories, Some(ContentSummary { length: 0, files: 0, directories: 13 }));
    assert_eq!(summary(recorded(403, "getcontentsummary_denied.json")).await, None);
    assert_eq!(summary(recorded(404, "getcontentsummary_missing.json")).await, None);
    assert_eq!(summary(json(200, "{\"ContentSummary\":{\"length\":-1}}")).await, None);
}

#[tokio::test]
async fn what_the_doctor_asks() {
    let node = NameNode::start(|asked| match asked.op() {
        "GETTRASHROOT" => recorded(200, "gettrashroot_root.json"),
        "GETSERVERDEFAULTS" => recorded(200, "getserverdefaults.json"),
        _ => recorded(200, "gethomedirectory_alice.json"),
    })
    .await;
    let reader = node.reader();
    assert_eq!(reader.fetch_trash_root().await, Ok(path("/user/root/.Trash")));
    assert_eq!(reader.fetch_home().await, Ok(path("/user/alice")));
    let defaults = reader.fetch_server_defaults().await.expect("defaults");
    assert_eq!(defaults.trash_interval_minutes, Some(60));

    let old = NameNode::always(recorded(400, "bad_op.json")).await;
    let gap = old.reader().fetch_server_defaults().await.expect_err("an old server");
    assert_eq!((gap.cause, gap.path), (Cause::Unsupported, Some(path("/"))));
}

#[tokio::test]
async fn the_clock_is_that_of_the_namenode() {
    let node = NameNode::start(|asked| match asked.number {
        0 => html(502),
        _ => recorded(404, "getfilestatus_missing.json"),
    })
    .await;
    let reader = node.reader();
    reader.fetch_status(&path("/x")).await;
    assert_eq!(reader.clock(), None, "a proxy has another clock");
    reader.fetch_status(&path("/x")).await;
    let clock = reader.clock().expect("a reading");
    assert_eq!(clock.server.to_string(), "2026-11-29T14:22:27Z");
}
