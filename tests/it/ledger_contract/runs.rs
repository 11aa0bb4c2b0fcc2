//! Runs in the ledger.

use statewarden::compare::Comparison;
use statewarden::ports::ledger::{Ledger as _, LedgerError};

use super::store::{Store, ended, run, stale};

pub async fn are_listed_newest_first(store: &Store) {
    let ledger = store.open().await;
    for (id, started) in [("b", "09:00"), ("a", "08:00"), ("c", "10:00")] {
        ledger.begin_run(&run(id, started)).await.expect("written");
    }
    let listed = ledger.runs(2).await.expect("listed");
    assert_eq!(listed, [run("c", "10:00"), run("b", "09:00")]);
}

pub async fn survive_reopening(store: &Store) {
    let over = ended(run("a", "08:00"), "08:01", "drift", 3);
    let ledger = store.open().await;
    ledger.begin_run(&run("a", "08:00")).await.expect("written");
    ledger.end_run(&over, &Comparison::default()).await.expect("written");
    ledger.begin_run(&run("b", "09:00")).await.expect("written");
    ledger.close().await;
    // The second one was killed: it never ends.
    assert_eq!(store.open().await.runs(10).await.expect("listed"), [run("b", "09:00"), over]);
}

pub async fn are_found_by_what_a_person_types(store: &Store) {
    let ledger = store.open().await;
    for (id, scope, at) in [("0198aa", "prod", "08:00"), ("0198ab", "dev", "09:00"), ("0199ff", "prod", "10:00")] {
        let mut begun = run(id, at);
        scope.clone_into(&mut begun.scope);
        ledger.end_run(&ended(begun, at, "clean", 0), &Comparison::default()).await.expect("written");
    }
    let mut found = Vec::new();
    for text in ["0198aa", "0199", "last", "previous", "", "02", "0199ff0", "0199%"] {
        found.push(ledger.resolve_run(text).await.expect("an answer").map(|run| run.run));
    }
    let found: Vec<Option<&str>> = found.iter().map(Option::as_deref).collect();
    // The run before the last one in time is of another scope, and says nothing about this one.
    assert_eq!(found, [Some("0198aa"), Some("0199ff"), Some("0199ff"), Some("0198aa"), None, None, None, None]);
    assert!(matches!(ledger.resolve_run("0198a").await, Err(LedgerError::AmbiguousRun { text }) if text == "0198a"));
    let of_dev = ledger.last_run(Some("dev")).await.expect("an answer").expect("a run");
    assert_eq!(of_dev.run, "0198ab");
}

pub async fn that_compared_nothing_are_never_the_last(store: &Store) {
    let ledger = store.open().await;
    let seen = found_in_first(&ledger).await;
    ledger.begin_run(&run("under-way", "09:00")).await.expect("written");
    ledger.begin_run(&run("held", "09:10")).await.expect("written");
    let held = ended(run("held", "09:10"), "09:11", "refused", 0);
    ledger.abandon_run(&held).await.expect("written");
    assert_eq!(ledger.resolve_run("last").await.expect("an answer").map(|run| run.run).as_deref(), Some("first"));
    assert_eq!(ledger.resolve_run("previous").await.expect("an answer"), None);
    assert_eq!(ledger.resolve_run("held").await.expect("an answer"), Some(held));
    let entries = ledger.findings().await.expect("listed");
    assert_eq!(
        entries.iter().map(|entry| (entry.fingerprint.clone(), entry.resolved)).collect::<Vec<_>>(),
        [(seen, None)]
    );
}

async fn found_in_first(ledger: &statewarden::ledger::SqlLedger) -> String {
    let finding = stale(1, "/ds/etl/resources/a");
    let over = ended(run("first", "08:00"), "08:01", "drift", 1);
    ledger.end_run(&over, &super::store::found(std::slice::from_ref(&finding))).await.expect("written");
    finding.fingerprint()
}
