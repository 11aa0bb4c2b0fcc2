//! Runs: begin, end, list, find by what a person types.

use super::unit::{Row, Unit, stamp};
use crate::ports::ledger::{LedgerError, RunEntry};

const COLUMNS_OF_RUN: &str = "SELECT run, verb, started, ended, scope, exit_word, findings FROM runs WHERE run = ?";

/// Whether the run compared anything, and whether every view was whole in that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sight {
    pub compared: bool,
    pub whole: bool,
}

/// A run that ended with a comparison.
#[derive(Debug)]
pub struct Compared {
    pub scope: String,
    /// When it ended, as the ledger writes it.
    pub ended: String,
    pub whole: bool,
}

fn entry(row: &Row) -> Result<RunEntry, LedgerError> {
    Ok(RunEntry {
        run: row.text("run")?,
        verb: row.text("verb")?,
        started: row.time("started")?,
        ended: row.maybe_time("ended")?,
        scope: row.text("scope")?,
        exit: row.maybe_text("exit_word")?,
        findings: row.count("findings")?,
    })
}

/// Writes a run as it stands, new or known.
pub async fn write(unit: &mut Unit<'_>, run: &RunEntry, sight: Sight) -> Result<(), LedgerError> {
    let findings = i64::try_from(run.findings).unwrap_or(i64::MAX);
    let ended = run.ended.map(stamp);
    let update = unit
        .query(
            "UPDATE runs SET verb = ?, started = ?, ended = ?, scope = ?, exit_word = ?, findings = ?, compared = ?, whole = ? \
             WHERE run = ?",
        )
        .bind(run.verb.clone())
        .bind(stamp(run.started))
        .bind(ended.clone())
        .bind(run.scope.clone())
        .bind(run.exit.clone())
        .bind(findings)
        .bind(i64::from(sight.compared))
        .bind(i64::from(sight.whole))
        .bind(run.run.clone());
    if unit.execute(update).await? > 0 {
        return Ok(());
    }
    let insert = unit
        .query(
            "INSERT INTO runs (verb, started, ended, scope, exit_word, findings, compared, whole, run) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(run.verb.clone())
        .bind(stamp(run.started))
        .bind(ended)
        .bind(run.scope.clone())
        .bind(run.exit.clone())
        .bind(findings)
        .bind(i64::from(sight.compared))
        .bind(i64::from(sight.whole))
        .bind(run.run.clone());
    unit.execute(insert).await.map(drop)
}

/// Runs, newest first.
pub async fn newest(unit: &mut Unit<'_>, limit: u32) -> Result<Vec<RunEntry>, LedgerError> {
    let query = unit
        .query(
            "SELECT run, verb, started, ended, scope, exit_word, findings FROM runs ORDER BY started DESC, run DESC LIMIT ?",
        )
        .bind(i64::from(limit));
    unit.all(query).await?.iter().map(entry).collect()
}

/// The run a person means: its id, the beginning of it, `last` or `previous`.
pub async fn resolve(unit: &mut Unit<'_>, text: &str) -> Result<Option<RunEntry>, LedgerError> {
    match text {
        "last" => last(unit, None).await,
        "previous" => previous(unit).await,
        "" => Ok(None),
        _ => by_id(unit, text).await,
    }
}

/// The newest run that compared, in a scope or in any.
pub async fn last(unit: &mut Unit<'_>, scope: Option<&str>) -> Result<Option<RunEntry>, LedgerError> {
    nth_compared(unit, scope, 0).await
}

/// The one before `last` that looked at the same: any other would differ by what was asked, not by what happened.
async fn previous(unit: &mut Unit<'_>) -> Result<Option<RunEntry>, LedgerError> {
    match last(unit, None).await? {
        Some(last) => nth_compared(unit, Some(&last.scope), 1).await,
        None => Ok(None),
    }
}

async fn nth_compared(unit: &mut Unit<'_>, scope: Option<&str>, nth: i64) -> Result<Option<RunEntry>, LedgerError> {
    let query = match scope {
        Some(scope) => unit
            .query(
                "SELECT run, verb, started, ended, scope, exit_word, findings FROM runs WHERE compared = 1 AND scope = ? \
                 ORDER BY ended DESC, run DESC LIMIT 1 OFFSET ?",
            )
            .bind(scope.to_owned()),
        None => unit.query(
            "SELECT run, verb, started, ended, scope, exit_word, findings FROM runs WHERE compared = 1 \
             ORDER BY ended DESC, run DESC LIMIT 1 OFFSET ?",
        ),
    };
    unit.first(query.bind(nth)).await?.as_ref().map(entry).transpose()
}

async fn by_id(unit: &mut Unit<'_>, text: &str) -> Result<Option<RunEntry>, LedgerError> {
    let exact = unit.query(COLUMNS_OF_RUN).bind(text.to_owned());
    if let Some(row) = unit.first(exact).await? {
        return entry(&row).map(Some);
    }
    let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    let prefix = unit
        .query(
            "SELECT run, verb, started, ended, scope, exit_word, findings FROM runs WHERE SUBSTR(run, 1, ?) = ? \
             ORDER BY run LIMIT 2",
        )
        .bind(length)
        .bind(text.to_owned());
    match unit.all(prefix).await?.as_slice() {
        [] => Ok(None),
        [row] => entry(row).map(Some),
        _ => Err(LedgerError::AmbiguousRun { text: text.to_owned() }),
    }
}

/// A run that compared; any other cannot be told apart from another.
pub async fn compared(unit: &mut Unit<'_>, run: &str) -> Result<Compared, LedgerError> {
    let query = unit.query("SELECT scope, ended, whole FROM runs WHERE run = ? AND compared = 1").bind(run.to_owned());
    match unit.first(query).await? {
        Some(row) => Ok(Compared { scope: row.text("scope")?, ended: row.text("ended")?, whole: row.flag("whole")? }),
        None => Err(LedgerError::UnknownRun { run: run.to_owned() }),
    }
}
