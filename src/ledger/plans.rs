//! Plans that were made here. One that is not recorded is never applied.

use super::unit::{Unit, stamp};
use crate::plan::{Plan, fingerprint};
use crate::ports::ledger::LedgerError;

/// Records a plan; recording it again changes nothing.
pub async fn save(unit: &mut Unit<'_>, plan: &Plan) -> Result<(), LedgerError> {
    // A hash that does not cover the plan would let another plan pass for this one.
    if fingerprint::of_plan(plan) != plan.hash {
        return Err(LedgerError::PlanHash { hash: plan.hash.clone() });
    }
    if knows(unit, &plan.hash).await? {
        return Ok(());
    }
    let query = unit
        .query("INSERT INTO plans (hash, run, created, expires, recorded, body) VALUES (?, ?, ?, ?, ?, ?)")
        .bind(plan.hash.clone())
        .bind(plan.run.clone())
        .bind(stamp(plan.created))
        .bind(stamp(plan.expires))
        .bind(stamp(unit.now))
        .bind(unit.json(plan)?);
    unit.execute(query).await.map(drop)
}

/// Whether a plan of this hash was recorded.
pub async fn knows(unit: &mut Unit<'_>, hash: &str) -> Result<bool, LedgerError> {
    let query = unit.query("SELECT hash FROM plans WHERE hash = ?").bind(hash.to_owned());
    Ok(unit.first(query).await?.is_some())
}

/// The plan of this hash.
pub async fn load(unit: &mut Unit<'_>, hash: &str) -> Result<Option<Plan>, LedgerError> {
    let query = unit.query("SELECT body FROM plans WHERE hash = ?").bind(hash.to_owned());
    unit.first(query).await?.map(|row| row.json("body")).transpose()
}
