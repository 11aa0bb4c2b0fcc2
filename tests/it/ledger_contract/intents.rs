//! Plans, intents and outcomes.

use statewarden::domain::RecordId;
use statewarden::ledger::SqlLedger;
use statewarden::ports::ledger::{Lease, LeaseAnswer, Ledger as _, LedgerError, Outcome, OutcomeWord};

use super::store::{Store, plan, time};

async fn lease(ledger: &SqlLedger, holder: &str) -> Lease {
    match ledger.take_lease(holder, 60).await.expect("an answer") {
        LeaseAnswer::Granted(lease) => lease,
        LeaseAnswer::Held(lease) => panic!("held by {}", lease.holder),
    }
}

fn outcome(outcome: OutcomeWord, why: &str) -> Outcome {
    Outcome { outcome, why: why.to_owned() }
}

pub async fn plans_are_known_once_recorded(store: &Store) {
    let ledger = store.open().await;
    let plan = plan("r1");
    assert!(!ledger.knows_plan(&plan.hash).await.expect("an answer"));
    ledger.save_plan(&plan).await.expect("recorded");
    ledger.save_plan(&plan).await.expect("recorded before");
    assert!(ledger.knows_plan(&plan.hash).await.expect("an answer"));
    assert!(!ledger.knows_plan(&plan.hash[..63]).await.expect("an answer"));
}

pub async fn a_plan_with_a_wrong_hash_is_refused(store: &Store) {
    let ledger = store.open().await;
    let mut edited = plan("r1");
    edited.notes.push("edited".to_owned());
    assert!(matches!(ledger.save_plan(&edited).await, Err(LedgerError::PlanHash { .. })));
    assert!(!ledger.knows_plan(&edited.hash).await.expect("an answer"));
}

pub async fn are_open_until_closed(store: &Store) {
    let ledger = store.open().await;
    let plan = plan("r1");
    ledger.save_plan(&plan).await.expect("recorded");
    let lease = lease(&ledger, "a").await;
    let first = ledger.open_intent(&lease, &plan.hash, 1, RecordId(11)).await.expect("written");
    let second = ledger.open_intent(&lease, &plan.hash, 2, RecordId(10)).await.expect("written");
    assert_eq!((first.action, first.record, first.opened, first.fence), (1, RecordId(11), time("08:00"), lease.fence));
    ledger.close().await;

    let ledger = store.open().await;
    assert_eq!(ledger.open_intents().await.expect("listed"), [first.clone(), second.clone()]);
    let done = outcome(OutcomeWord::Done, "row and path are gone");
    ledger.close_intent(&lease, first.intent, &done).await.expect("written");
    assert_eq!(ledger.open_intents().await.expect("listed"), [second]);
    let of_plan = ledger.intents_of(&plan.hash).await.expect("listed");
    assert_eq!(of_plan[0].outcome, Some(done));
    assert_eq!(of_plan[1].outcome, None);
    assert_eq!(ledger.intents_of("another").await.expect("listed"), []);
}

pub async fn need_the_lease(store: &Store) {
    let ledger = store.open().await;
    let plan = plan("r1");
    ledger.save_plan(&plan).await.expect("recorded");
    let old = lease(&ledger, "a").await;
    let intent = ledger.open_intent(&old, &plan.hash, 1, RecordId(1)).await.expect("written");
    let done = outcome(OutcomeWord::Done, "");

    store.pass(60);
    let late = ledger.open_intent(&old, &plan.hash, 2, RecordId(2)).await.expect_err("it ran out");
    assert!(late.to_string().contains("it ran out at 2026-03-01T08:01:00.000000Z"), "{late}");
    assert!(matches!(ledger.close_intent(&old, intent.intent, &done).await, Err(LedgerError::LeaseLost { .. })));

    let new = lease(&ledger, "b").await;
    let taken = ledger.open_intent(&old, &plan.hash, 2, RecordId(2)).await.expect_err("it was taken");
    assert!(taken.to_string().contains("b holds it"), "{taken}");
    let forged = Lease { fence: new.fence - 1, ..new.clone() };
    assert!(matches!(ledger.close_intent(&forged, intent.intent, &done).await, Err(LedgerError::LeaseLost { .. })));

    ledger.release_lease(&new).await.expect("given back");
    let given = ledger.open_intent(&new, &plan.hash, 2, RecordId(2)).await.expect_err("it was given back");
    assert!(given.to_string().contains("nobody holds it"), "{given}");
    assert_eq!(ledger.intents_of(&plan.hash).await.expect("listed"), [intent]);
}

pub async fn need_a_recorded_plan(store: &Store) {
    let ledger = store.open().await;
    let lease = lease(&ledger, "a").await;
    assert!(ledger.open_intent(&lease, "unknown", 1, RecordId(1)).await.is_err());
    assert_eq!(ledger.open_intents().await.expect("listed"), []);
}

pub async fn are_settled_under_a_later_lease(store: &Store) {
    let ledger = store.open().await;
    let plan = plan("r1");
    ledger.save_plan(&plan).await.expect("recorded");
    let old = lease(&ledger, "a").await;
    let intent = ledger.open_intent(&old, &plan.hash, 1, RecordId(1)).await.expect("written");
    store.pass(61);
    let new = lease(&ledger, "b").await;
    assert_eq!(new.fence, old.fence + 1);
    let unknown = outcome(OutcomeWord::Unknown, "still there");
    ledger.close_intent(&new, intent.intent, &unknown).await.expect("written");
    let again = ledger.close_intent(&new, intent.intent, &outcome(OutcomeWord::Done, "")).await;
    assert!(matches!(again, Err(LedgerError::NotOpen { intent: found }) if found == intent.intent));
    assert!(matches!(ledger.close_intent(&new, 99, &unknown).await, Err(LedgerError::NotOpen { intent: 99 })));
    let settled = ledger.intents_of(&plan.hash).await.expect("listed").remove(0);
    assert_eq!((settled.outcome, settled.fence), (Some(unknown), old.fence));
}

pub async fn never_do_anything_twice(store: &Store) {
    let ledger = store.open().await;
    let (one, two) = (plan("r1"), plan("r2"));
    ledger.save_plan(&one).await.expect("recorded");
    ledger.save_plan(&two).await.expect("recorded");
    let lease = lease(&ledger, "a").await;
    let record = RecordId(7);
    let open = async |plan: &str, action| ledger.open_intent(&lease, plan, action, record).await;

    let first = open(&one.hash, 1).await.expect("written");
    let meanwhile = open(&two.hash, 1).await.expect_err("one is open");
    assert!(matches!(&meanwhile, LedgerError::SecondTry { standing, .. } if standing == "still open"), "{meanwhile}");
    ledger.close_intent(&lease, first.intent, &outcome(OutcomeWord::Refused, "in use")).await.expect("written");

    let second = open(&one.hash, 1).await.expect("a clear refusal changed nothing, so it may be tried again");
    ledger.close_intent(&lease, second.intent, &outcome(OutcomeWord::Unknown, "cut off")).await.expect("written");
    let again = open(&one.hash, 1).await.expect_err("nobody knows what the call did");
    assert!(matches!(&again, LedgerError::SecondTry { standing, .. } if standing == "Unknown"), "{again}");
    open(&two.hash, 1).await.expect("a new plan may try");
}
