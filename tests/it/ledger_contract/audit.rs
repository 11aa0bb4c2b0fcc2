//! The audit chain, and those who tamper with it.

use serde_json::json;
use sha2::{Digest as _, Sha256};
use statewarden::ledger::SqlLedger;
use statewarden::ports::ledger::{AuditEntry, AuditVerdict, Ledger as _};

use super::store::{Store, time};

const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Five entries; the head after each.
async fn five(ledger: &SqlLedger) -> Vec<String> {
    let mut heads = Vec::new();
    for number in 1..=5 {
        let body = json!({"record": number, "gates": ["VIEW"], "action": 1});
        heads.push(ledger.audit("etl@w1", "r1", "outcome", &body).await.expect("appended"));
    }
    heads
}

async fn broken_at(ledger: &SqlLedger) -> Option<i64> {
    match ledger.verify_audit().await.expect("an answer") {
        AuditVerdict::Whole { .. } => None,
        AuditVerdict::Broken { number, .. } => Some(number),
    }
}

pub async fn entries_are_chained(store: &Store) {
    let ledger = store.open().await;
    let empty = AuditVerdict::Whole { entries: 0, head: GENESIS.to_owned() };
    assert_eq!(ledger.verify_audit().await.expect("an answer"), empty);
    let heads = five(&ledger).await;
    ledger.close().await;

    let ledger = store.open().await;
    let entries = ledger.audit_entries().await.expect("read");
    let links: Vec<(i64, &str, &str)> =
        entries.iter().map(|e| (e.number, e.previous.as_str(), e.hash.as_str())).collect();
    assert_eq!(links[0], (1, GENESIS, heads[0].as_str()));
    for (at, link) in links.iter().enumerate().skip(1) {
        assert_eq!(*link, (i64::try_from(at).expect("small") + 1, heads[at - 1].as_str(), heads[at].as_str()));
    }
    assert_eq!((entries[0].at, entries[0].what.as_str()), (time("08:00"), "outcome"));
    assert_eq!(entries[1].body, r#"{"action":1,"gates":["VIEW"],"record":2}"#, "keys are sorted");
    let whole = AuditVerdict::Whole { entries: 5, head: heads[4].clone() };
    assert_eq!(ledger.verify_audit().await.expect("an answer"), whole);
    for head in heads.iter().map(String::as_str).chain([GENESIS]) {
        assert_eq!(ledger.verify_audit_to(head).await.expect("an answer"), whole);
        assert_eq!(ledger.verify_audit_to(&format!(" {} ", head.to_uppercase())).await.expect("an answer"), whole);
    }
}

/// By hand, as an auditor would with `printf | sha256sum`.
fn by_hand(entry: &AuditEntry) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let text = format!(
        "[{},{},{},{},{},{},{}]",
        entry.number,
        quoted("2026-03-01T08:00:00.000000Z"),
        quoted(&entry.actor),
        quoted(&entry.run),
        quoted(&entry.what),
        quoted(&entry.body),
        quoted(&entry.previous),
    );
    let digits: Vec<String> = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
    digits.concat()
}

pub async fn hashes_can_be_recomputed(store: &Store) {
    let ledger = store.open().await;
    five(&ledger).await;
    ledger.audit("张三@w1", "r\"1", "apply-ended", &json!({"why": "line\nbreak"})).await.expect("appended");
    for entry in ledger.audit_entries().await.expect("read") {
        assert_eq!(entry.hash, by_hand(&entry));
    }
}

pub async fn a_changed_entry_is_noticed(store: &Store) {
    let ledger = store.open().await;
    five(&ledger).await;
    let changes = [
        ("made", "'2026-03-01T08:00:00.000001Z'"),
        ("made", "'2026-03-01T08:00:00Z'"),
        ("actor", "'mallory@w1'"),
        ("run", "'r2'"),
        ("what", "'intent'"),
        ("body", "'{}'"),
        ("hash", "'0000000000000000000000000000000000000000000000000000000000000001'"),
        ("previous", "hash"),
    ];
    for (column, value) in changes {
        store.tamper("CREATE TABLE kept AS SELECT * FROM audit").await;
        store.tamper(&format!("UPDATE audit SET {column} = {value} WHERE number = 3")).await;
        assert_eq!(broken_at(&ledger).await, Some(3), "{column}");
        store.tamper("DELETE FROM audit; INSERT INTO audit SELECT * FROM kept; DROP TABLE kept").await;
        assert_eq!(broken_at(&ledger).await, None, "{column} is as it was");
    }
}

pub async fn a_rehashed_entry_is_noticed(store: &Store) {
    let ledger = store.open().await;
    let heads = five(&ledger).await;
    // Who hashes the forged entry anew is betrayed by the next one, or by the head behind the last one.
    for (number, noticed) in [(5_usize, 5), (3, 4)] {
        let mut forged = ledger.audit_entries().await.expect("read").remove(number - 1);
        "mallory@w1".clone_into(&mut forged.actor);
        let hash = by_hand(&forged);
        store.tamper(&format!("UPDATE audit SET actor = 'mallory@w1', hash = '{hash}' WHERE number = {number}")).await;
        let verdict = ledger.verify_audit().await.expect("an answer");
        assert!(matches!(verdict, AuditVerdict::Broken { number, .. } if number == noticed), "{verdict:?}");
        let repaired =
            format!("UPDATE audit SET actor = 'etl@w1', hash = '{}' WHERE number = {number}", heads[number - 1]);
        store.tamper(&repaired).await;
        assert_eq!(broken_at(&ledger).await, None);
    }
}

pub async fn a_missing_entry_is_noticed(store: &Store) {
    let ledger = store.open().await;
    five(&ledger).await;
    for (missing, noticed) in [(5, 5), (3, 3), (1, 1)] {
        store.tamper(&format!("DELETE FROM audit WHERE number = {missing}")).await;
        assert_eq!(broken_at(&ledger).await, Some(noticed));
    }
    store.tamper("DELETE FROM audit").await;
    assert_eq!(broken_at(&ledger).await, Some(1));
}

pub async fn an_exchanged_entry_is_noticed(store: &Store) {
    let ledger = store.open().await;
    five(&ledger).await;
    store
        .tamper(
            "UPDATE audit SET number = 9 WHERE number = 2; UPDATE audit SET number = 2 WHERE number = 4; \
             UPDATE audit SET number = 4 WHERE number = 9",
        )
        .await;
    assert_eq!(broken_at(&ledger).await, Some(2));
}

pub async fn a_cut_end_is_noticed_by_the_head(store: &Store) {
    let ledger = store.open().await;
    let heads = five(&ledger).await;
    // Somebody who also sets back what the ledger says of its end: only a head that was noted elsewhere tells.
    store.tamper("DELETE FROM audit WHERE number > 3").await;
    store.tamper(&format!("UPDATE audit_head SET number = 3, hash = '{}'", heads[2])).await;
    let whole = AuditVerdict::Whole { entries: 3, head: heads[2].clone() };
    assert_eq!(ledger.verify_audit().await.expect("an answer"), whole);
    assert_eq!(ledger.verify_audit_to(&heads[2]).await.expect("an answer"), whole);
    for head in [heads[4].as_str(), heads[3].as_str(), "", "no hash"] {
        let verdict = ledger.verify_audit_to(head).await.expect("an answer");
        assert!(matches!(verdict, AuditVerdict::Broken { number: 4, .. }), "{head}: {verdict:?}");
    }
    // The chain goes on from there, and the noted head stays missing.
    ledger.audit("etl@w1", "r2", "intent", &json!({})).await.expect("appended");
    assert!(matches!(ledger.verify_audit_to(&heads[4]).await.expect("an answer"), AuditVerdict::Broken { .. }));
}

pub async fn an_added_entry_is_noticed(store: &Store) {
    let ledger = store.open().await;
    five(&ledger).await;
    for number in [6, 0, -1] {
        store
            .tamper(&format!(
                "INSERT INTO audit SELECT {number}, made, actor, run, what, body, previous, hash FROM audit WHERE number = 5"
            ))
            .await;
        assert_eq!(broken_at(&ledger).await, Some(if number > 0 { 6 } else { 1 }), "{number}");
        store.tamper(&format!("DELETE FROM audit WHERE number = {number}")).await;
        assert_eq!(broken_at(&ledger).await, None);
    }
}

pub async fn a_long_chain_is_walked_whole(store: &Store) {
    let ledger = store.open().await;
    // More than two of the pages in which the chain is read, and the ends of pages at that.
    for number in 1..=1001 {
        ledger.audit("etl@w1", "r1", "outcome", &json!(number)).await.expect("appended");
        if [499, 500, 501, 1000, 1001].contains(&number) {
            let verdict = ledger.verify_audit().await.expect("an answer");
            assert!(matches!(verdict, AuditVerdict::Whole { entries, .. } if entries == number), "{verdict:?}");
        }
    }
    store.tamper("DELETE FROM audit WHERE number = 501").await;
    assert_eq!(broken_at(&ledger).await, Some(501));
}

pub async fn writers_at_once_leave_no_hole(store: &Store) {
    let mut handles = Vec::new();
    for _ in 0..4 {
        handles.push(store.open().await);
    }
    let write = async |ledger: &SqlLedger| {
        for number in 0..10 {
            ledger.audit("etl@w1", "r1", "outcome", &json!(number)).await.expect("appended");
        }
    };
    futures::future::join_all(handles.iter().map(write)).await;
    let verdict = handles[0].verify_audit().await.expect("an answer");
    assert!(matches!(verdict, AuditVerdict::Whole { entries: 40, .. }), "{verdict:?}");
}
