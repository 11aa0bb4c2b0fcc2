//! Intents and outcomes, written only under the lease.

use std::collections::BTreeMap;

use super::leases;
use super::unit::{Row, Unit, stamp};
use crate::domain::RecordId;
use crate::ports::ledger::{Intent, Lease, LedgerError, Outcome, OutcomeWord};

fn word(text: String) -> serde_json::Result<OutcomeWord> {
    serde_json::from_value(serde_json::Value::String(text))
}

fn intent(unit: &Unit<'_>, row: &Row) -> Result<Intent, LedgerError> {
    let outcome = row.maybe_text("outcome")?.map(word).transpose().map_err(|error| unit.failed(error))?;
    let why = row.maybe_text("why")?.unwrap_or_default();
    Ok(Intent {
        intent: row.number("intent")?,
        plan: row.text("plan")?,
        action: row.count("action")?,
        record: RecordId(row.number("record")?),
        opened: row.time("opened")?,
        fence: row.number("fence")?,
        outcome: outcome.map(|outcome| Outcome { outcome, why }),
    })
}

/// Intents without an outcome, oldest first.
pub async fn still_open(unit: &mut Unit<'_>) -> Result<Vec<Intent>, LedgerError> {
    let query = unit.query(
        "SELECT intent, plan, action, record, opened, fence, outcome, why FROM intents WHERE outcome IS NULL ORDER BY intent",
    );
    let rows = unit.all(query).await?;
    rows.iter().map(|row| intent(unit, row)).collect()
}

/// The intents of a plan, oldest first.
pub async fn of_plan(unit: &mut Unit<'_>, plan: &str) -> Result<Vec<Intent>, LedgerError> {
    let query = unit
        .query(
            "SELECT intent, plan, action, record, opened, fence, outcome, why FROM intents WHERE plan = ? ORDER BY intent",
        )
        .bind(plan.to_owned());
    let rows = unit.all(query).await?;
    rows.iter().map(|row| intent(unit, row)).collect()
}

/// The records that plans of a scope removed, or found removed, each with the time at which both views were seen to have lost
/// it. Ids are not given out twice, so such a record stays gone.
pub async fn done(unit: &mut Unit<'_>, scope: &str) -> Result<BTreeMap<i64, String>, LedgerError> {
    let query = unit
        .query(
            "SELECT i.record, i.closed FROM intents i JOIN plans p ON p.hash = i.plan JOIN runs r ON r.run = p.run \
             WHERE r.scope = ? AND i.outcome IN ('Done', 'AlreadyDone') ORDER BY i.intent",
        )
        .bind(scope.to_owned());
    let read = |row: &Row| Ok((row.number("record")?, row.text("closed")?));
    unit.all(query).await?.iter().map(read).collect()
}

/// Writes an intent.
pub async fn open(
    unit: &mut Unit<'_>,
    lease: &Lease,
    plan: &str,
    action: u32,
    record: RecordId,
) -> Result<Intent, LedgerError> {
    leases::guard(unit, lease).await?;
    refuse_a_second_try(unit, plan, action, record).await?;
    let query = unit.query("SELECT COALESCE(MAX(intent), 0) AS newest FROM intents");
    let number = unit.one(query).await?.number("newest")? + 1;
    let insert = unit
        .query("INSERT INTO intents (intent, plan, action, record, opened, holder, fence) VALUES (?, ?, ?, ?, ?, ?, ?)")
        .bind(number)
        .bind(plan.to_owned())
        .bind(i64::from(action))
        .bind(record.0)
        .bind(stamp(unit.now))
        .bind(lease.holder.clone())
        .bind(lease.fence);
    unit.execute(insert).await?;
    let opened = unit.now;
    Ok(Intent { intent: number, plan: plan.to_owned(), action, record, opened, fence: lease.fence, outcome: None })
}

/// The last line of defence against doing something twice: no intent while one on the same record is open, and none for an
/// action that was done or whose outcome is not known.
async fn refuse_a_second_try(
    unit: &mut Unit<'_>,
    plan: &str,
    action: u32,
    record: RecordId,
) -> Result<(), LedgerError> {
    let query = unit
        .query(
            "SELECT intent, plan, action, record, opened, fence, outcome, why FROM intents \
             WHERE (record = ? AND outcome IS NULL) \
             OR (plan = ? AND action = ? AND outcome IN ('Done', 'AlreadyDone', 'Failed', 'Unknown')) ORDER BY intent",
        )
        .bind(record.0)
        .bind(plan.to_owned())
        .bind(i64::from(action));
    let Some(row) = unit.first(query).await? else { return Ok(()) };
    let found = intent(unit, &row)?;
    let standing = found.outcome.map_or_else(|| "still open".to_owned(), |outcome| format!("{:?}", outcome.outcome));
    Err(LedgerError::SecondTry { record, intent: found.intent, standing })
}

/// Writes the outcome of an open intent.
pub async fn close(unit: &mut Unit<'_>, lease: &Lease, intent: i64, outcome: &Outcome) -> Result<(), LedgerError> {
    leases::guard(unit, lease).await?;
    let query = unit
        .query("UPDATE intents SET outcome = ?, why = ?, closed = ? WHERE intent = ? AND outcome IS NULL")
        .bind(format!("{:?}", outcome.outcome))
        .bind(outcome.why.clone())
        .bind(stamp(unit.now))
        .bind(intent);
    match unit.execute(query).await? {
        0 => Err(LedgerError::NotOpen { intent }),
        _ => Ok(()),
    }
}
