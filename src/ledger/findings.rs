//! Findings over time: first seen, last seen, resolved, and what changed between two runs.
//!
//! A finding belongs to the scope it was seen in: a run that judged by another configuration says nothing about it. The ledger
//! keeps each finding as last seen, and for each run only which ones it saw.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::dialect::Insert;
use super::unit::{Row, Unit, stamp};
use super::{intents, runs};
use crate::compare::{Comparison, Effect, Finding, FindingCode};
use crate::domain::RecordId;
use crate::ports::ledger::{Difference, FindingEntry, LedgerError, RunEntry};

const FINDINGS: Insert = Insert {
    into: "findings (scope, fingerprint, code, record, finding, first_seen, last_seen, resolved, spells)",
    row: "(?, ?, ?, ?, ?, ?, ?, ?, ?)",
    key: "scope, fingerprint",
    set: &["code", "record", "finding", "first_seen", "last_seen", "resolved", "spells"],
};

const SEEN: Insert =
    Insert { into: "run_findings (run, fingerprint, ignored)", row: "(?, ?, ?)", key: "run, fingerprint", set: &[] };

/// Rows of one statement: few enough for every server's limit of values, many enough that a platform with thousands of
/// findings does not hold the lock for long.
const ROWS: usize = 100;

/// Whether the comparison may say of a finding that it is gone: nothing in it says that a view was incomplete. One
/// incomplete view can hide a finding of any other, so no finer line is drawn.
pub fn is_whole(run: &RunEntry, comparison: &Comparison) -> bool {
    let told = !matches!(run.exit.as_deref(), None | Some("failure" | "incomplete"));
    told && comparison.findings.iter().all(|finding| finding.code.effect() != Effect::Incomplete)
}

/// What is kept of a finding from run to run.
struct Known {
    record: Option<i64>,
    first_seen: String,
    last_seen: String,
    resolved: bool,
    spells: i64,
}

/// A finding that a run saw.
struct Seen<'a> {
    fingerprint: String,
    finding: &'a Finding,
    ignored: bool,
}

/// What a run saw, each finding once, by fingerprint.
fn seen(comparison: &Comparison) -> Vec<Seen<'_>> {
    // An ignored finding is still there, so it is seen, and what is shown has the last word.
    let ignored = comparison.ignored.iter().map(|ignored| (&ignored.finding, true));
    let shown = comparison.findings.iter().map(|finding| (finding, false));
    let by_fingerprint: BTreeMap<String, (&Finding, bool)> =
        ignored.chain(shown).map(|(finding, ignored)| (finding.fingerprint(), (finding, ignored))).collect();
    by_fingerprint.into_iter().map(|(fingerprint, (finding, ignored))| Seen { fingerprint, finding, ignored }).collect()
}

/// Writes what a run found.
pub async fn record(
    unit: &mut Unit<'_>,
    run: &RunEntry,
    ended: Timestamp,
    comparison: &Comparison,
) -> Result<(), LedgerError> {
    let forget = unit.query("DELETE FROM run_findings WHERE run = ?").bind(run.run.clone());
    unit.execute(forget).await?;
    let known = known(unit, &run.scope).await?;
    let seen = seen(comparison);
    for some in seen.chunks(ROWS) {
        write(unit, &run.scope, some, &known, ended).await?;
        mark(unit, &run.run, some).await?;
    }
    let whole = is_whole(run, comparison);
    let done = if whole { BTreeMap::new() } else { intents::done(unit, &run.scope).await? };
    let there: BTreeSet<&str> = seen.iter().map(|seen| seen.fingerprint.as_str()).collect();
    for (fingerprint, known) in known.iter().filter(|(key, known)| !known.resolved && !there.contains(key.as_str())) {
        if whole || was_removed(&done, known.record, &known.last_seen) {
            resolve(unit, &run.scope, fingerprint, ended).await?;
        }
    }
    Ok(())
}

/// Whether what was said of a record is over whatever else could not be read: after that time an apply saw the record gone.
fn was_removed(done: &BTreeMap<i64, String>, record: Option<i64>, since: &str) -> bool {
    record.and_then(|record| done.get(&record)).is_some_and(|closed| closed.as_str() > since)
}

async fn known(unit: &mut Unit<'_>, scope: &str) -> Result<BTreeMap<String, Known>, LedgerError> {
    let query = unit
        .query("SELECT fingerprint, record, first_seen, last_seen, resolved, spells FROM findings WHERE scope = ?")
        .bind(scope.to_owned());
    let read = |row: &Row| {
        let known = Known {
            record: row.maybe_number("record")?,
            first_seen: row.text("first_seen")?,
            last_seen: row.text("last_seen")?,
            resolved: row.maybe_text("resolved")?.is_some(),
            spells: row.number("spells")?,
        };
        Ok((row.text("fingerprint")?, known))
    };
    unit.all(query).await?.iter().map(read).collect()
}

async fn write(
    unit: &mut Unit<'_>,
    scope: &str,
    seen: &[Seen<'_>],
    known: &BTreeMap<String, Known>,
    ended: Timestamp,
) -> Result<(), LedgerError> {
    let mut query = unit.insert(&FINDINGS, seen.len());
    for Seen { fingerprint, finding, .. } in seen {
        let spell = spell(known.get(fingerprint), ended);
        query = query
            .bind(scope.to_owned())
            .bind(fingerprint.clone())
            .bind(finding.code.as_str())
            .bind(finding.target.record.map(|record| record.0))
            .bind(unit.json(finding)?)
            .bind(spell.first_seen)
            .bind(spell.last_seen)
            .bind(None::<String>)
            .bind(spell.spells);
    }
    unit.execute(query).await.map(drop)
}

/// The spell of a finding that was just seen: the one before goes on unless it was over.
fn spell(known: Option<&Known>, ended: Timestamp) -> Known {
    let now = stamp(ended);
    let (first_seen, last_seen, spells) = match known {
        Some(known) if !known.resolved => (known.first_seen.clone(), now.max(known.last_seen.clone()), known.spells),
        Some(known) => (now.clone(), now, known.spells + 1),
        None => (now.clone(), now, 1),
    };
    Known { record: None, first_seen, last_seen, resolved: false, spells }
}

async fn mark(unit: &mut Unit<'_>, run: &str, seen: &[Seen<'_>]) -> Result<(), LedgerError> {
    let mut query = unit.insert(&SEEN, seen.len());
    for Seen { fingerprint, ignored, .. } in seen {
        query = query.bind(run.to_owned()).bind(fingerprint.clone()).bind(i64::from(*ignored));
    }
    unit.execute(query).await.map(drop)
}

async fn resolve(unit: &mut Unit<'_>, scope: &str, fingerprint: &str, ended: Timestamp) -> Result<(), LedgerError> {
    let query = unit
        .query("UPDATE findings SET resolved = ? WHERE scope = ? AND fingerprint = ?")
        .bind(stamp(ended))
        .bind(scope.to_owned())
        .bind(fingerprint.to_owned());
    unit.execute(query).await.map(drop)
}

/// All findings, newest last seen first.
pub async fn all(unit: &mut Unit<'_>) -> Result<Vec<FindingEntry>, LedgerError> {
    let query = unit.query(
        "SELECT scope, fingerprint, finding, first_seen, last_seen, resolved, spells FROM findings \
         ORDER BY last_seen DESC, fingerprint, scope",
    );
    let entry = |row: &Row| {
        Ok(FindingEntry {
            fingerprint: row.text("fingerprint")?,
            scope: row.text("scope")?,
            finding: row.json("finding")?,
            first_seen: row.time("first_seen")?,
            last_seen: row.time("last_seen")?,
            resolved: row.maybe_time("resolved")?,
            spells: row.count("spells")?,
        })
    };
    unit.all(query).await?.iter().map(entry).collect()
}

/// What changed between two runs that compared.
pub async fn difference(unit: &mut Unit<'_>, earlier: &str, later: &str) -> Result<Difference, LedgerError> {
    let (old_run, new_run) = (runs::compared(unit, earlier).await?, runs::compared(unit, later).await?);
    let (old, new) = (of_run(unit, earlier).await?, of_run(unit, later).await?);
    let (old_keys, new_keys): (BTreeSet<_>, BTreeSet<_>) = (old.keys().collect(), new.keys().collect());
    let mut difference = Difference::default();
    for (fingerprint, (finding, _)) in new.iter().filter(|(_, (_, ignored))| !ignored) {
        let side = if old_keys.contains(fingerprint) { &mut difference.known } else { &mut difference.new };
        side.push(finding.clone());
    }
    // A view with gaps, or another configuration, does not show that something is gone.
    let same_scope = old_run.scope == new_run.scope;
    let mut done = if same_scope { intents::done(unit, &new_run.scope).await? } else { BTreeMap::new() };
    done.retain(|_, closed| *closed <= new_run.ended);
    for (_, (finding, _)) in old.iter().filter(|(key, (_, ignored))| !ignored && !new_keys.contains(key)) {
        let record = finding.target.record.map(|record| record.0);
        let proven = same_scope && (new_run.whole || was_removed(&done, record, &old_run.ended));
        let side = if proven { &mut difference.gone } else { &mut difference.unclear };
        side.push(finding.clone());
    }
    for side in [&mut difference.new, &mut difference.gone, &mut difference.known, &mut difference.unclear] {
        side.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| (a.code, &a.target).cmp(&(b.code, &b.target))));
    }
    Ok(difference)
}

async fn of_run(unit: &mut Unit<'_>, run: &str) -> Result<BTreeMap<String, (Finding, bool)>, LedgerError> {
    let query = unit
        .query(
            "SELECT f.fingerprint, f.finding, s.ignored FROM run_findings s \
             JOIN runs r ON r.run = s.run \
             JOIN findings f ON f.scope = r.scope AND f.fingerprint = s.fingerprint WHERE s.run = ?",
        )
        .bind(run.to_owned());
    let read = |row: &Row| Ok((row.text("fingerprint")?, (row.json("finding")?, row.flag("ignored")?)));
    unit.all(query).await?.iter().map(read).collect()
}

/// The records that the latest run of the scope ended at or before `until` saw as stale, and that every later run of the
/// scope saw so too, with the time that run ended.
///
/// Counted by fingerprint, so a record that meanwhile stands for another path starts anew.
pub async fn stale_since(
    unit: &mut Unit<'_>,
    scope: &str,
    until: Timestamp,
) -> Result<Vec<(RecordId, Timestamp)>, LedgerError> {
    let query = unit
        .query("SELECT ended FROM runs WHERE scope = ? AND compared = 1 AND ended <= ? ORDER BY ended DESC LIMIT 1")
        .bind(scope.to_owned())
        .bind(stamp(until));
    let Some(row) = unit.first(query).await? else { return Ok(Vec::new()) };
    let (since, text) = (row.time("ended")?, row.text("ended")?);
    let query = unit
        .query("SELECT COUNT(*) AS runs FROM runs WHERE scope = ? AND compared = 1 AND ended >= ?")
        .bind(scope.to_owned())
        .bind(text.clone());
    let runs = unit.one(query).await?.number("runs")?;
    let query = unit
        .query(
            "SELECT f.fingerprint, f.record FROM runs r \
             JOIN run_findings s ON s.run = r.run \
             JOIN findings f ON f.scope = r.scope AND f.fingerprint = s.fingerprint \
             WHERE r.scope = ? AND r.compared = 1 AND r.ended >= ? AND f.code = ? AND f.record IS NOT NULL \
             GROUP BY f.fingerprint, f.record HAVING COUNT(*) = ? ORDER BY f.record",
        )
        .bind(scope.to_owned())
        .bind(text)
        .bind(FindingCode::StaleResourceRecord.as_str())
        .bind(runs);
    let read = |row: &Row| Ok((RecordId(row.number("record")?), since));
    unit.all(query).await?.iter().map(read).collect()
}
