//! The lease.

use std::process::{Child, Command};

use statewarden::ledger::SqlLedger;
use statewarden::ledger::actor::{holder, holder_of};
use statewarden::ports::ledger::{Lease, LeaseAnswer, Ledger as _};

use super::store::{Store, time};

async fn take(ledger: &SqlLedger, holder: &str) -> Result<Lease, Lease> {
    match ledger.take_lease(holder, 60).await.expect("an answer") {
        LeaseAnswer::Granted(lease) => Ok(lease),
        LeaseAnswer::Held(lease) => Err(lease),
    }
}

pub async fn has_one_holder(store: &Store) {
    let (one, two) = (store.open().await, store.open().await);
    let lease = take(&one, "a").await.expect("free");
    assert_eq!(lease, Lease { holder: "a".to_owned(), fence: 1, expires: time("08:01") });
    assert_eq!(take(&two, "b").await, Err(lease.clone()));
    assert_eq!(take(&one, "a").await, Err(lease.clone()), "not twice by the same holder either");
    two.release_lease(&lease).await.expect("given back");
    let next = take(&two, "b").await.expect("free");
    assert_eq!((next.holder.as_str(), next.fence), ("b", 2));
}

pub async fn runs_out(store: &Store) {
    let ledger = store.open().await;
    let old = take(&ledger, "a").await.expect("free");
    store.pass(59);
    assert_eq!(take(&ledger, "b").await, Err(old));
    store.pass(1);
    assert_eq!(take(&ledger, "b").await.expect("it ran out").fence, 2);
}

pub async fn is_renewed_and_released_only_by_its_holder(store: &Store) {
    let ledger = store.open().await;
    let old = take(&ledger, "a").await.expect("free");
    store.pass(50);
    assert!(ledger.renew_lease(&old, 60).await.expect("an answer"));
    store.pass(50);
    assert!(take(&ledger, "b").await.is_err(), "renewed until 08:01:50");
    store.pass(10);
    let new = take(&ledger, "b").await.expect("it ran out");
    assert!(!ledger.renew_lease(&old, 60).await.expect("an answer"));
    ledger.release_lease(&old).await.expect("nothing to give back");
    assert_eq!(take(&ledger, "c").await, Err(new));
}

fn sleeper() -> Child {
    Command::new("sleep").arg("600").spawn().expect("sleep starts")
}

fn end(mut child: Child) {
    child.kill().expect("it is ours");
    child.wait().expect("it ended");
}

pub async fn ends_with_its_process(store: &Store) {
    let ledger = store.open().await;
    let child = sleeper();
    let held = take(&ledger, &holder_of(child.id())).await.expect("free");
    assert_eq!(take(&ledger, &holder()).await, Err(held), "its process runs");
    end(child);
    let ours = take(&ledger, &holder()).await.expect("its process is gone");
    assert_eq!(ours.fence, 2);
}

pub async fn stays_with_a_process_of_another_host(store: &Store) {
    let ledger = store.open().await;
    let child = sleeper();
    // Another boot or another container: a pid there says nothing here.
    let elsewhere = format!("{}0", holder_of(child.id()));
    end(child);
    let held = take(&ledger, &elsewhere).await.expect("free");
    assert_eq!(take(&ledger, &holder()).await, Err(held.clone()));
    ledger.release_lease(&held).await.expect("given back");
    let odd = take(&ledger, "somebody else").await.expect("free");
    assert_eq!(take(&ledger, &holder()).await, Err(odd));
}

pub async fn goes_to_one_of_many(store: &Store) {
    let mut handles = Vec::new();
    for number in 0..8 {
        handles.push((format!("holder-{number}"), store.open().await));
    }
    for round in 1..=5 {
        let answers = futures::future::join_all(handles.iter().map(|(name, ledger)| take(ledger, name))).await;
        let granted: Vec<&Lease> = answers.iter().filter_map(|answer| answer.as_ref().ok()).collect();
        assert_eq!(granted.len(), 1, "{answers:?}");
        assert_eq!(granted[0].fence, round);
        let winner = granted[0].clone();
        assert!(answers.iter().filter_map(|answer| answer.as_ref().err()).all(|held| *held == winner));
        handles[0].1.release_lease(&winner).await.expect("given back");
    }
}
