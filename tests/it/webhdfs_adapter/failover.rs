//! Pairs of NameNodes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use statewarden::config::HdfsConfig;
use statewarden::domain::{Age, Existence};
use statewarden::ports::read::{HdfsRead as _, ListAnswer};
use statewarden::views::Cause;

use super::namenode::{NameNode, Reply, config, html, nobody, page, path, reader, recorded};

async fn standby() -> NameNode {
    NameNode::always(recorded(403, "standby_getfilestatus.json")).await
}

async fn active() -> NameNode {
    NameNode::always(recorded(200, "getfilestatus_dir.json")).await
}

#[tokio::test]
async fn a_standby_is_passed_over_and_the_active_one_remembered() {
    let (first, second) = (standby().await, active().await);
    let reader = reader(&config(&[&first.url, &second.url]));
    for _ in 0..3 {
        assert!(reader.fetch_status(&path("/x")).await.status().is_some());
    }
    assert_eq!((first.asked().len(), second.asked().len()), (1, 3));
}

#[tokio::test]
async fn an_absence_is_an_answer_of_the_active_one() {
    let second = NameNode::always(recorded(404, "getfilestatus_missing.json")).await;
    let reader = reader(&config(&[&standby().await.url, &second.url]));
    assert_eq!(reader.fetch_status(&path("/x")).await, Existence::Absent);
}

#[tokio::test]
async fn who_does_not_answer_is_passed_over() {
    let second = active().await;
    let silent = NameNode::always(Reply::Silence).await;
    let broken = NameNode::always(html(404)).await;
    for first in [nobody().await, silent.url.clone(), broken.url.clone()] {
        let mut config = config(&[&first, &second.url]);
        config.http.timeout = Age::from_seconds(1);
        assert!(reader(&config).fetch_status(&path("/x")).await.status().is_some(), "{first}");
    }
}

#[tokio::test]
async fn a_refusal_is_not_asked_of_the_other() {
    let first = NameNode::always(recorded(403, "getfilestatus_denied.json")).await;
    let second = active().await;
    let reader = reader(&config(&[&first.url, &second.url]));
    assert!(matches!(reader.fetch_status(&path("/priv/x")).await, Existence::Denied { .. }));
    assert_eq!(second.asked().len(), 0);
}

#[tokio::test]
async fn two_standbys_are_asked_twice_and_then_no_longer_waited_for() {
    let first = NameNode::always(recorded(403, "both_standby_nn1.json")).await;
    let second = NameNode::always(recorded(403, "both_standby_nn2.json")).await;
    let reader = reader(&config(&[&first.url, &second.url]));
    let Existence::Unknown { why } = reader.fetch_status(&path("/x")).await else { panic!("unknown") };
    assert!(why.contains("haadmin"), "{why}");
    assert_eq!((first.asked().len(), second.asked().len()), (2, 2));
    let ListAnswer::Unread(gap) = reader.list_directory(&path("/d")).await else { panic!("unread") };
    assert_eq!(gap.cause, Cause::Standby);
    assert_eq!((first.asked().len(), second.asked().len()), (3, 3));
    assert_eq!(reader.clock(), None);
}

#[tokio::test]
async fn a_standby_beside_a_dead_one_is_no_active_one() {
    let reader = reader(&config(&[&standby().await.url, &nobody().await]));
    let ListAnswer::Unread(gap) = reader.list_directory(&path("/d")).await else { panic!("unread") };
    assert_eq!(gap.cause, Cause::Standby);
    assert!(gap.detail.contains("StandbyException") && gap.detail.contains("cannot connect"), "{}", gap.detail);
}

#[tokio::test]
async fn a_failover_that_ends_while_waiting_is_seen() {
    let second = NameNode::start(|asked| match asked.number {
        0 => recorded(403, "standby_getfilestatus.json"),
        _ => recorded(200, "getfilestatus_dir.json"),
    })
    .await;
    let reader = reader(&config(&[&standby().await.url, &second.url]));
    assert!(reader.fetch_status(&path("/x")).await.status().is_some());
}

#[tokio::test]
async fn a_listing_begins_anew_on_the_other_namenode() {
    let first = NameNode::start(|asked| match asked.number {
        0 => page(&["a", "only-on-the-first"], 2),
        _ => recorded(403, "standby_liststatus.json"),
    })
    .await;
    let second = NameNode::start(|asked| match asked.start_after() {
        None => page(&["a", "b"], 1),
        _ => page(&["z"], 0),
    })
    .await;
    let reader = reader(&config(&[&first.url, &second.url]));
    let ListAnswer::Listed(listing, None) = reader.list_directory(&path("/d")).await else { panic!("listed") };
    let names: Vec<_> = listing.entries.iter().map(|entry| &*entry.name).collect();
    assert_eq!(names, ["a", "b", "z"]);
    assert!(listing.complete);
    let starts: Vec<_> = second.asked().iter().map(|asked| asked.start_after().map(str::to_owned)).collect();
    assert_eq!(starts, [Some("only-on-the-first".to_owned()), None, Some("b".to_owned())]);
}

#[tokio::test]
async fn a_pair_that_never_settles_gives_no_listing() {
    // Each NameNode is active for one question, then the other is.
    let turn = Arc::new(AtomicBool::new(false));
    let node = |mine: bool| {
        let turn = Arc::clone(&turn);
        NameNode::start(move |asked| {
            if turn.load(Ordering::SeqCst) != mine {
                return recorded(403, "standby_liststatus.json");
            }
            turn.store(!mine, Ordering::SeqCst);
            page(&[&format!("{mine}-{}", asked.number)], 9)
        })
    };
    let (first, second) = (node(false).await, node(true).await);
    let reader = reader(&config(&[&first.url, &second.url]));
    let ListAnswer::Unread(gap) = reader.list_directory(&path("/d")).await else { panic!("unread") };
    assert_eq!((gap.cause, gap.path), (Cause::Shifting, Some(path("/d"))));
}

#[tokio::test]
async fn passwords_in_addresses_are_not_told() {
    let mut url = nobody().await;
    url.set_username("admin").expect("a name");
    url.set_password(Some("s3cr3t")).expect("a password");
    let config: HdfsConfig = config(&[&url]);
    let reader = reader(&config);
    let Existence::Unknown { why } = reader.fetch_status(&path("/x")).await else { panic!("unknown") };
    assert!(!format!("{why}{reader:?}").contains("s3cr3t"), "{why}");
}
