//! Findings over time, and what changed between two runs.

use jiff::Timestamp;
use statewarden::compare::{Comparison, Finding};
use statewarden::domain::RecordId;
use statewarden::ledger::SqlLedger;
use statewarden::ports::ledger::{FindingEntry, LeaseAnswer, Ledger as _, LedgerError, Outcome, OutcomeWord};

use super::store::{Store, ended, expected, found, gap, plan, run, stale, time};

fn a() -> Finding {
    stale(1, "/ds/etl/resources/a")
}

fn b() -> Finding {
    stale(2, "/ds/etl/resources/b")
}

/// A whole run that ends at a time and saw something.
async fn saw(ledger: &SqlLedger, at: &str, comparison: Comparison) {
    let exit = if comparison.findings.is_empty() { "clean" } else { "drift" };
    let over = ended(run(at, at), at, exit, comparison.findings.len() as u64);
    ledger.end_run(&over, &comparison).await.expect("written");
}

/// A run with a gap that ends at a time and saw something.
async fn saw_partly(ledger: &SqlLedger, at: &str, findings: &[Finding]) {
    let mut all = findings.to_vec();
    all.push(gap());
    let over = ended(run(at, at), at, "incomplete", all.len() as u64);
    ledger.end_run(&over, &found(&all)).await.expect("written");
}

async fn entry(ledger: &SqlLedger, finding: &Finding) -> FindingEntry {
    let entries = ledger.findings().await.expect("listed");
    entries.into_iter().find(|entry| entry.fingerprint == finding.fingerprint()).expect("it was seen")
}

async fn times(ledger: &SqlLedger, finding: &Finding) -> (Timestamp, Timestamp, Option<Timestamp>, u32) {
    let entry = entry(ledger, finding).await;
    (entry.first_seen, entry.last_seen, entry.resolved, entry.spells)
}

pub async fn keep_first_and_last_sight(store: &Store) {
    let ledger = store.open().await;
    saw(&ledger, "08:00", found(&[a()])).await;
    saw(&ledger, "09:00", found(&[a(), b()])).await;
    let worded = a().because("a newer fact");
    saw(&ledger, "10:00", found(std::slice::from_ref(&worded))).await;
    assert_eq!(times(&ledger, &a()).await, (time("08:00"), time("10:00"), None, 1));
    assert_eq!(times(&ledger, &b()).await, (time("09:00"), time("09:00"), Some(time("10:00")), 1));
    let entries = ledger.findings().await.expect("listed");
    assert_eq!(entries[0].finding, worded, "newest last seen first, as last seen");
    assert_eq!(entries.len(), 2);
}

pub async fn are_resolved_only_by_a_whole_view(store: &Store) {
    let ledger = store.open().await;
    saw(&ledger, "08:00", found(&[a()])).await;
    saw_partly(&ledger, "09:00", &[]).await;
    assert_eq!(times(&ledger, &a()).await, (time("08:00"), time("08:00"), None, 1));
    saw(&ledger, "10:00", found(&[])).await;
    saw(&ledger, "11:00", found(&[])).await;
    assert_eq!(times(&ledger, &a()).await, (time("08:00"), time("08:00"), Some(time("10:00")), 1));
}

pub async fn that_come_back_start_a_new_spell(store: &Store) {
    let ledger = store.open().await;
    for (at, seen) in [("08:00", true), ("09:00", false), ("10:00", true), ("11:00", false), ("12:00", true)] {
        let findings: Vec<Finding> = seen.then(a).into_iter().collect();
        saw(&ledger, at, found(&findings)).await;
    }
    assert_eq!(times(&ledger, &a()).await, (time("12:00"), time("12:00"), None, 3));
}

pub async fn set_aside_by_an_ignore_are_still_there(store: &Store) {
    let ledger = store.open().await;
    saw(&ledger, "08:00", found(&[a()])).await;
    saw(&ledger, "09:00", expected(a())).await;
    saw(&ledger, "10:00", found(&[a()])).await;
    assert_eq!(times(&ledger, &a()).await, (time("08:00"), time("10:00"), None, 1));
    let hidden = ledger.difference("08:00", "09:00").await.expect("both compared");
    assert_eq!((hidden.new, hidden.gone, hidden.known, hidden.unclear), (vec![], vec![], vec![], vec![]));
    let shown = ledger.difference("09:00", "10:00").await.expect("both compared");
    assert_eq!((shown.new, shown.gone, shown.known), (vec![], vec![], vec![a()]));
}

pub async fn of_another_scope_are_left_alone(store: &Store) {
    let ledger = store.open().await;
    saw(&ledger, "08:00", found(&[a()])).await;
    let mut other = ended(run("dev", "09:00"), "09:00", "clean", 0);
    "dev".clone_into(&mut other.scope);
    ledger.end_run(&other, &Comparison::default()).await.expect("written");
    assert_eq!(times(&ledger, &a()).await, (time("08:00"), time("08:00"), None, 1));
    let across = ledger.difference("08:00", "dev").await.expect("both compared");
    assert_eq!(
        (across.gone, across.unclear),
        (vec![], vec![a()]),
        "another configuration does not show that it is gone"
    );
    "dev-2".clone_into(&mut other.run);
    ledger.end_run(&other, &found(&[a()])).await.expect("written");
    let entries = ledger.findings().await.expect("listed");
    let scopes: Vec<&str> = entries.iter().map(|entry| entry.scope.as_str()).collect();
    assert_eq!(scopes, ["dev", "prod"]);
}

pub async fn are_not_resolved_by_a_failed_run(store: &Store) {
    let ledger = store.open().await;
    saw(&ledger, "08:00", found(&[a()])).await;
    let failed = ended(run("failed", "09:00"), "09:00", "failure", 0);
    ledger.end_run(&failed, &Comparison::default()).await.expect("written");
    assert_eq!(times(&ledger, &a()).await, (time("08:00"), time("08:00"), None, 1));
}

pub async fn differ_between_runs(store: &Store) {
    let ledger = store.open().await;
    let c = stale(3, "/ds/etl/resources/c");
    saw(&ledger, "08:00", found(&[a(), b()])).await;
    saw(&ledger, "09:00", found(&[b(), c.clone()])).await;
    let difference = ledger.difference("08:00", "09:00").await.expect("both compared");
    assert_eq!((difference.new, difference.gone, difference.known), (vec![c], vec![a()], vec![b()]));
    assert_eq!(difference.unclear, []);
    let same = ledger.difference("09:00", "09:00").await.expect("it compared");
    assert_eq!((same.new.len(), same.gone.len(), same.known.len()), (0, 0, 2));
}

pub async fn are_not_called_gone_behind_a_gap(store: &Store) {
    let ledger = store.open().await;
    saw(&ledger, "08:00", found(&[a(), b()])).await;
    saw_partly(&ledger, "09:00", &[b()]).await;
    let difference = ledger.difference("08:00", "09:00").await.expect("both compared");
    assert_eq!((difference.gone, difference.unclear, difference.known), (vec![], vec![a()], vec![b()]));
    assert_eq!(difference.new, [gap()]);
}

/// What an apply saw gone is gone, whatever gap there is elsewhere; of anything else the gap leaves it open.
pub async fn of_a_record_that_was_removed_are_gone_behind_a_gap(store: &Store) {
    let ledger = store.open().await;
    let c = stale(3, "/ds/etl/resources/c");
    saw(&ledger, "07:00", found(&[a(), b(), c.clone()])).await;
    saw_partly(&ledger, "07:30", &[]).await;
    let plan = plan("07:00");
    ledger.save_plan(&plan).await.expect("recorded");
    let LeaseAnswer::Granted(lease) = ledger.take_lease("me", 60).await.expect("an answer") else { panic!("held") };
    for (number, word) in [(1, OutcomeWord::Done), (2, OutcomeWord::Unknown)] {
        let intent = ledger.open_intent(&lease, &plan.hash, number, RecordId(number.into())).await.expect("written");
        // At 08:00 by the clock of the store.
        let outcome = Outcome { outcome: word, why: String::new() };
        ledger.close_intent(&lease, intent.intent, &outcome).await.expect("written");
    }
    saw_partly(&ledger, "09:00", &[]).await;
    let before = ledger.difference("07:00", "07:30").await.expect("both compared");
    assert_eq!((before.gone, before.unclear), (vec![], vec![a(), b(), c.clone()]), "not by then");
    let after = ledger.difference("07:00", "09:00").await.expect("both compared");
    assert_eq!((after.gone, after.unclear), (vec![a()], vec![b(), c.clone()]));
    assert_eq!(entry(&ledger, &a()).await.resolved, Some(time("09:00")));
    assert_eq!((entry(&ledger, &b()).await.resolved, entry(&ledger, &c).await.resolved), (None, None));
    // Under another configuration the same id can mean another record.
    let mut other = ended(run("dev", "10:00"), "10:00", "drift", 1);
    "dev".clone_into(&mut other.scope);
    ledger.end_run(&other, &found(&[gap()])).await.expect("written");
    assert_eq!(ledger.difference("07:00", "dev").await.expect("both compared").gone, []);
}

pub async fn are_compared_only_between_runs_that_compared(store: &Store) {
    let ledger = store.open().await;
    saw(&ledger, "08:00", found(&[a()])).await;
    ledger.begin_run(&run("under-way", "09:00")).await.expect("written");
    for (earlier, later, wrong) in [("08:00", "under-way", "under-way"), ("nothing", "08:00", "nothing")] {
        let error = ledger.difference(earlier, later).await.expect_err("one of them compared nothing");
        assert!(matches!(error, LedgerError::UnknownRun { run } if run == wrong));
    }
}

async fn stale_records(ledger: &SqlLedger, until: &str) -> Vec<(i64, Timestamp)> {
    let records = ledger.stale_since("prod", time(until)).await.expect("an answer");
    records.into_iter().map(|(RecordId(record), at)| (record, at)).collect()
}

pub async fn stale_ones_need_every_later_run(store: &Store) {
    let ledger = store.open().await;
    saw(&ledger, "08:00", found(&[a(), b()])).await;
    saw(&ledger, "08:30", found(&[b(), a()])).await;
    assert_eq!(stale_records(&ledger, "08:40").await, [(1, time("08:30")), (2, time("08:30"))]);
    assert_eq!(stale_records(&ledger, "08:29").await, [(1, time("08:00")), (2, time("08:00"))]);
    // Runs under way, of another scope, or that compared nothing are no observation.
    ledger.begin_run(&run("under-way", "08:50")).await.expect("written");
    ledger.abandon_run(&ended(run("held", "08:51"), "08:51", "refused", 0)).await.expect("written");
    assert_eq!(stale_records(&ledger, "08:00").await.len(), 2);
    // One later run that does not see it, for whatever reason, and the two observations do not agree.
    saw_partly(&ledger, "09:00", &[b()]).await;
    assert_eq!(stale_records(&ledger, "08:30").await, [(2, time("08:30"))]);
    saw(&ledger, "10:00", found(&[a()])).await;
    assert_eq!(stale_records(&ledger, "08:30").await, []);
    assert_eq!(stale_records(&ledger, "10:00").await, [(1, time("10:00"))]);
    assert_eq!(ledger.stale_since("dev", time("10:00")).await.expect("an answer"), []);
}

pub async fn stale_ones_need_the_same_path(store: &Store) {
    let ledger = store.open().await;
    saw(&ledger, "08:00", found(&[a()])).await;
    saw(&ledger, "09:00", found(&[stale(1, "/ds/etl/resources/renamed")])).await;
    assert_eq!(stale_records(&ledger, "08:00").await, []);
    assert_eq!(stale_records(&ledger, "09:00").await, [(1, time("09:00"))]);
}

pub async fn stale_ones_need_a_run_early_enough(store: &Store) {
    let ledger = store.open().await;
    assert_eq!(stale_records(&ledger, "08:00").await, []);
    saw(&ledger, "08:00", found(&[a()])).await;
    assert_eq!(stale_records(&ledger, "07:59").await, []);
    assert_eq!(stale_records(&ledger, "08:00").await, [(1, time("08:00"))]);
    saw(&ledger, "09:00", found(&[])).await;
    saw(&ledger, "10:00", found(&[a()])).await;
    assert_eq!(stale_records(&ledger, "08:00").await, [], "it was there in between");
}

/// More than fit one statement.
pub async fn come_by_the_hundred(store: &Store) {
    let ledger = store.open().await;
    let mut many: Vec<Finding> = (0..250).map(|n| stale(n, &format!("/ds/etl/resources/{n}"))).collect();
    saw(&ledger, "08:00", found(&many)).await;
    let dropped = many.split_off(249);
    saw(&ledger, "09:00", found(&many)).await;
    let records: Vec<i64> = stale_records(&ledger, "08:00").await.into_iter().map(|(record, _)| record).collect();
    assert_eq!(records, (0..249).collect::<Vec<_>>());
    let difference = ledger.difference("08:00", "09:00").await.expect("both compared");
    assert_eq!((difference.known.len(), difference.new.len(), difference.gone), (249, 0, dropped));
    let entries = ledger.findings().await.expect("listed");
    assert_eq!(entries.iter().filter(|entry| entry.first_seen == time("08:00")).count(), 250);
    assert_eq!(entries.iter().filter(|entry| entry.last_seen == time("09:00")).count(), 249);
}
