//! What earlier runs saw: the first of the two observations that the gates ask for.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::config::Config;
use crate::domain::RecordId;
use crate::plan::fingerprint;
use crate::ports::ledger::{Ledger, LedgerError};
use crate::views::Inventory;

/// When earlier runs of the same scope saw each record stale: a run `confirm_after` ago or longer where there is one, with
/// none in between that did not see it, else the newest. The newest alone would never do, since the run that made a plan is
/// one itself.
pub async fn earlier_observations(
    ledger: &dyn Ledger,
    config: &Config,
    inventory: &Inventory,
) -> Result<BTreeMap<RecordId, Timestamp>, LedgerError> {
    let scope = fingerprint::of_scope(config, inventory);
    let confirm_after = i64::try_from(config.policies.confirm_after.seconds()).unwrap_or(i64::MAX);
    let old = inventory.taken.saturating_sub(SignedDuration::from_secs(confirm_after)).unwrap_or(Timestamp::MIN);
    let mut seen: BTreeMap<_, _> = ledger.stale_since(&scope, inventory.taken).await?.into_iter().collect();
    seen.extend(ledger.stale_since(&scope, old).await?);
    Ok(seen)
}
