//! Directories: pages, odd names, and everything that must not look like a whole listing.

use statewarden::domain::EntryKind;
use statewarden::ports::read::{HdfsRead as _, ListAnswer};
use statewarden::views::{Cause, Gap, GapKind, Listing, ViewName};

use super::namenode::{Asked, NameNode, Reply, exception, html, json, page, path, recorded};

const SHARED: &str = "/flink/checkpoints/job-a/0f1e2d3c4b5a69788796a5b4c3d2e1f0/shared";

/// The eight entries of [`SHARED`], as recorded with `dfs.ls.limit=3`.
fn shared(asked: &Asked) -> Reply {
    recorded(
        200,
        match asked.start_after() {
            None => "liststatus_batch_page1.json",
            Some("sst-002") => "liststatus_batch_page2.json",
            Some("sst-005") => "liststatus_batch_page3_last.json",
            Some(_) => "liststatus_batch_after_end.json",
        },
    )
}

async fn list(reply: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> ListAnswer {
    NameNode::start(reply).await.reader().list_directory(&path("/d")).await
}

fn names(listing: &Listing) -> Vec<&str> {
    listing.entries.iter().map(|entry| &*entry.name).collect()
}

fn complete(answer: ListAnswer) -> Listing {
    match answer {
        ListAnswer::Listed(listing, None) if listing.complete => listing,
        other => panic!("{other:?} is not complete"),
    }
}

/// The names of a listing that broke off, and why.
fn partial(answer: ListAnswer) -> (Vec<String>, Gap) {
    match answer {
        ListAnswer::Listed(listing, Some(gap)) if !listing.complete => {
            (names(&listing).into_iter().map(str::to_owned).collect(), gap)
        }
        other => panic!("{other:?} is not partial"),
    }
}

fn unread(answer: ListAnswer) -> Gap {
    match answer {
        ListAnswer::Unread(gap) => gap,
        other => panic!("{other:?} is not unread"),
    }
}

#[tokio::test]
async fn pages_are_put_together() {
    let node = NameNode::start(shared).await;
    let listing = complete(node.reader().list_directory(&path(SHARED)).await);
    let wanted = ["sst-000", "sst-001", "sst-002", "sst-003", "sst-004", "sst-005", "sst-006", "sst-007"];
    assert_eq!(names(&listing), wanted);
    let first = &listing.entries[0].status;
    assert_eq!(
        (first.kind, first.file_id, first.modified.as_millisecond()),
        (EntryKind::Directory, 16_399, 1_795_963_027_579)
    );
    let request = |after: &str| format!("/webhdfs/v1{SHARED}?op=LISTSTATUS_BATCH&user.name=root{after}");
    assert_eq!(node.raw(), [request(""), request("&startAfter=sst-002"), request("&startAfter=sst-005")]);
}

#[tokio::test]
async fn odd_names_go_through_pages_unchanged() {
    // The server's order is by signed bytes: what begins beyond ASCII comes first.
    let node = NameNode::start(|asked| match asked.start_after() {
        None => recorded(200, "liststatus_names_batch.json"),
        Some("amp&and=eq") => page(&["back\\slash", "per%cent", "plus+sign", "tab\tx"], 9),
        Some("tab\tx") => page(&["with space", "with%20space", "esc\u{1b}[31m"], 6),
        Some("esc\u{1b}[31m") => page(&["q?mark", "re\u{301}sume\u{301}", "résumé", "star*", "x;y", "y\nz"], 0),
        Some(other) => panic!("{other} was never the last name"),
    })
    .await;
    let listing = complete(node.reader().list_directory(&path("/tmp/names")).await);
    let sorted = [
        ".hidden",
        "amp&and=eq",
        "back\\slash",
        "esc\u{1b}[31m",
        "per%cent",
        "plus+sign",
        "q?mark",
        "re\u{301}sume\u{301}",
        "résumé",
        "star*",
        "tab\tx",
        "with space",
        "with%20space",
        "x;y",
        "y\nz",
        "ünïcødé-检查点",
    ];
    assert_eq!(names(&listing), sorted);
    assert!(sorted.iter().all(|name| listing.find(name).is_some()));
    assert!(node.raw()[1].ends_with("&startAfter=amp%26and%3Deq"));
    assert!(node.raw()[2].ends_with("&startAfter=tab%09x"));
    assert!(node.raw()[3].ends_with("&startAfter=esc%1B%5B31m"));
}

/// One answer with these names, as for LISTSTATUS.
fn whole(names: &[&str]) -> Reply {
    let Reply::Whole { body, .. } = page(names, 0) else { unreachable!("a page is whole") };
    let page: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
    json(200, page["DirectoryListing"]["partialListing"].to_string())
}

#[tokio::test]
async fn a_page_never_begins_after_a_percent_sign() {
    // Hadoop 3.4.1 decodes `startAfter` twice: after `a%7E` it goes on behind `a~`, and `abc` would never be seen.
    let node = NameNode::start(|asked| match (asked.op(), asked.start_after()) {
        ("LISTSTATUS_BATCH", None) => page(&["a%7E"], 2),
        ("LISTSTATUS_BATCH", Some(_)) => page(&["b"], 0),
        _ => whole(&["a%7E", "abc", "b"]),
    })
    .await;
    let reader = node.reader();
    assert_eq!(names(&complete(reader.list_directory(&path("/d")).await)), ["a%7E", "abc", "b"]);
    complete(reader.list_directory(&path("/d")).await);
    let ops: Vec<_> = node.asked().iter().map(|asked| asked.op().to_owned()).collect();
    // It is a matter of this directory: the next one is asked for in pages again.
    assert_eq!(ops, ["LISTSTATUS_BATCH", "LISTSTATUS", "LISTSTATUS_BATCH", "LISTSTATUS"]);
    assert!(node.asked().iter().all(|asked| asked.start_after().is_none()));
}

#[tokio::test]
async fn servers_without_pages_are_asked_once_and_then_listed_whole() {
    let node = NameNode::start(|asked| match asked.op() {
        "LISTSTATUS_BATCH" => recorded(400, "bad_op.json"),
        _ => recorded(200, "liststatus_names.json"),
    })
    .await;
    let reader = node.reader();
    let listing = complete(reader.list_directory(&path("/tmp/names")).await);
    assert_eq!(listing.entries.len(), 16);
    assert!(
        listing.find("tab\tx").is_some() && listing.find("quote\"x").is_some() && listing.find("emoji😀").is_some()
    );
    complete(reader.list_directory(&path("/tmp/names")).await);
    let ops: Vec<_> = node.asked().iter().map(|asked| asked.op().to_owned()).collect();
    assert_eq!(ops, ["LISTSTATUS_BATCH", "LISTSTATUS", "LISTSTATUS"]);
}

#[tokio::test]
async fn other_bad_arguments_are_no_reason_to_list_whole() {
    let node = NameNode::always(recorded(400, "post_bad_user.json")).await;
    assert_eq!(unread(node.reader().list_directory(&path("/d")).await).cause, Cause::ServerError);
    assert_eq!(node.asked().len(), 1);
}

#[tokio::test]
async fn links_are_listed_and_not_followed() {
    let answer = list(|asked| match asked.op() {
        "LISTSTATUS_BATCH" => recorded(400, "bad_op.json"),
        _ => recorded(200, "liststatus_with_symlink.json"),
    });
    let listing = complete(answer.await);
    assert_eq!(listing.find("lnk").map(|entry| entry.status.kind), Some(EntryKind::Symlink));
}

#[tokio::test]
async fn empty_absent_and_no_directory() {
    assert_eq!(complete(list(|_| recorded(200, "liststatus_batch_after_end.json")).await).entries, []);
    assert_eq!(list(|_| recorded(404, "liststatus_batch_missing.json")).await, ListAnswer::Absent);
    assert_eq!(list(|_| recorded(200, "liststatus_batch_on_file.json")).await, ListAnswer::NotADirectory);
    let whole = |reply: &'static str| {
        list(move |asked| match asked.op() {
            "LISTSTATUS_BATCH" => recorded(400, "bad_op.json"),
            _ => recorded(if reply.contains("missing") { 404 } else { 200 }, reply),
        })
    };
    assert_eq!(complete(whole("liststatus_empty_dir.json").await).entries, []);
    assert_eq!(whole("liststatus_missing.json").await, ListAnswer::Absent);
    assert_eq!(whole("liststatus_on_file.json").await, ListAnswer::NotADirectory);
}

#[tokio::test]
async fn refusals_and_failures_are_gaps_at_the_directory() {
    for (reply, cause) in [
        (recorded(403, "liststatus_denied.json"), Cause::NotAuthorized),
        (recorded(401, "spnego_401_no_credentials.txt"), Cause::NotAuthorized),
        (html(404), Cause::NotUnderstood),
        (html(503), Cause::ServerError),
        (exception(403, "IOException", "x"), Cause::ServerError),
        (exception(500, "FileNotFoundException", "x"), Cause::ServerError),
        (Reply::Cut(b"{\"DirectoryListing\":".to_vec()), Cause::CutShort),
        (json(200, "{\"DirectoryListing\":"), Cause::CutShort),
        (json(200, "{\"FileStatuses\":{\"FileStatus\":[]}}"), Cause::NotUnderstood),
        (
            json(200, "{\"DirectoryListing\":{\"partialListing\":{\"FileStatuses\":{\"FileStatus\":[]}}}}"),
            Cause::NotUnderstood,
        ),
    ] {
        let gap = unread(list(move |_| reply.clone()).await);
        assert_eq!((gap.view, gap.kind, gap.path), (ViewName::Hdfs, GapKind::Incomplete, Some(path("/d"))));
        assert_eq!(gap.cause, cause, "{}", gap.detail);
        assert!(gap.detail.starts_with("LISTSTATUS_BATCH of `/d`: 127.0.0.1:"), "{}", gap.detail);
    }
}

#[tokio::test]
async fn what_breaks_off_between_pages_is_partial() {
    for (reply, cause) in [
        (html(500), Cause::ServerError),
        (exception(403, "AccessControlException", "Permission denied"), Cause::NotAuthorized),
        (exception(401, "AuthenticationException", "expired"), Cause::NotAuthorized),
        (Reply::Cut(b"{\"Dir".to_vec()), Cause::CutShort),
        (json(200, "{}"), Cause::NotUnderstood),
        // Gone in the middle: what was listed is no longer true, and "absent" was not asked for this page.
        (recorded(404, "liststatus_batch_missing.json"), Cause::Shifting),
        (recorded(400, "bad_op.json"), Cause::Unsupported),
    ] {
        let answer =
            list(move |asked| if asked.start_after() == Some("sst-002") { reply.clone() } else { shared(asked) });
        match (cause, answer.await) {
            // A server that forgets the operation is listed anew, whole; here it does not know that one either.
            (Cause::Unsupported, answer) => assert_eq!(unread(answer).cause, Cause::NotUnderstood),
            (_, answer) => {
                let (names, gap) = partial(answer);
                assert_eq!(names, ["sst-000", "sst-001", "sst-002"]);
                assert_eq!((gap.cause, gap.path), (cause, Some(path("/d"))), "{}", gap.detail);
            }
        }
    }
}

#[tokio::test]
async fn pages_that_do_not_advance_end_the_listing() {
    let again = NameNode::always(recorded(200, "liststatus_batch_page1.json")).await;
    let (names, gap) = partial(again.reader().list_directory(&path(SHARED)).await);
    assert_eq!(names, ["sst-000", "sst-001", "sst-002"]);
    assert_eq!(gap.cause, Cause::Shifting);
    assert_eq!(again.asked().len(), 2);

    let overlap = list(|asked| if asked.number == 0 { page(&["a", "b"], 3) } else { page(&["b", "c", "d"], 0) });
    assert_eq!(partial(overlap.await).1.cause, Cause::Shifting);

    let empty = list(|asked| if asked.number == 0 { page(&["a"], 3) } else { page(&[], 3) });
    assert_eq!(partial(empty.await).1.cause, Cause::NotUnderstood);
    assert_eq!(unread(list(|_| page(&[], 3)).await).cause, Cause::NotUnderstood);
}

#[tokio::test]
async fn a_name_twice_is_one_entry() {
    assert_eq!(names(&complete(list(|_| page(&["a", "b", "a", "c"], 0)).await)), ["a", "b", "c"]);
    // Unicode forms are names of their own.
    assert_eq!(complete(list(|_| page(&["r\u{e9}", "re\u{301}"], 0)).await).entries.len(), 2);
}

#[tokio::test]
async fn names_that_lead_out_of_the_directory_are_never_used() {
    for bad in ["..", ".", "", "../../etc", "a/b", "nul\0"] {
        let answer = list(move |_| page(&["good", bad, "more"], 0)).await;
        let (names, gap) = partial(answer);
        assert_eq!(names, ["good"], "{bad:?}");
        assert_eq!(gap.cause, Cause::NotUnderstood);
    }
    // Like a file, but it says that it is a directory.
    assert_eq!(unread(list(|_| page(&[""], 0)).await).cause, Cause::NotUnderstood);
}

#[tokio::test]
async fn fewer_entries_than_announced_are_looked_at_again_in_one_answer() {
    let shrunk = list(|asked| match (asked.op(), asked.start_after()) {
        ("LISTSTATUS_BATCH", None) => page(&["a"], 5),
        ("LISTSTATUS_BATCH", Some(_)) => page(&["b"], 0),
        _ => whole(&["a", "b"]),
    });
    assert_eq!(names(&complete(shrunk.await)), ["a", "b"]);
    let skipped = list(|asked| match (asked.op(), asked.start_after()) {
        ("LISTSTATUS_BATCH", None) => page(&["a"], 5),
        ("LISTSTATUS_BATCH", Some(_)) => page(&["f"], 0),
        _ => whole(&["a", "b", "c", "d", "e", "f"]),
    });
    assert_eq!(complete(skipped.await).entries.len(), 6);
    // Nothing is listed, rather than a part that looks whole, if that fails.
    let unsure = list(|asked| match (asked.op(), asked.start_after()) {
        ("LISTSTATUS_BATCH", None) => page(&["a"], 5),
        ("LISTSTATUS_BATCH", Some(_)) => page(&["f"], 0),
        _ => html(503),
    });
    assert_eq!(unread(unsure.await).cause, Cause::ServerError);
    // HttpFS announces 1 whatever is to come; more than announced is no reason for doubt.
    let http_fs = list(|asked| match asked.start_after() {
        None => page(&["a"], 1),
        Some("a") => page(&["b", "c", "d"], 1),
        Some(_) => page(&["e", "f"], 0),
    });
    assert_eq!(complete(http_fs.await).entries.len(), 6);
}
