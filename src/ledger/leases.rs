//! The lease: one row, changed by compare-and-set, with a number that grows with each holder.

use jiff::{SignedDuration, Timestamp};

use super::actor;
use super::unit::{Unit, stamp};
use crate::ports::ledger::{Lease, LeaseAnswer, LedgerError};

/// The lease as the row holds it; nobody's if the holder is empty.
async fn current(unit: &mut Unit<'_>) -> Result<Lease, LedgerError> {
    let query = unit.query("SELECT holder, fence, expires FROM leases WHERE name = 'apply'");
    let row = unit.one(query).await?;
    Ok(Lease { holder: row.text("holder")?, fence: row.number("fence")?, expires: row.time("expires")? })
}

fn is_free(lease: &Lease, now: Timestamp) -> bool {
    lease.holder.is_empty() || lease.expires <= now || actor::is_gone(&lease.holder)
}

fn later(unit: &Unit<'_>, seconds: u32) -> Timestamp {
    unit.now.saturating_add(SignedDuration::from_secs(i64::from(seconds))).unwrap_or(Timestamp::MAX)
}

/// Takes the lease if nobody holds it.
pub async fn take(unit: &mut Unit<'_>, holder: &str, seconds: u32) -> Result<LeaseAnswer, LedgerError> {
    let held = current(unit).await?;
    if !is_free(&held, unit.now) {
        return Ok(LeaseAnswer::Held(held));
    }
    let expires = later(unit, seconds);
    let query = unit
        .query(
            "UPDATE leases SET holder = ?, fence = fence + 1, expires = ?, entries = 0 \
             WHERE name = 'apply' AND holder = ? AND fence = ?",
        )
        .bind(holder.to_owned())
        .bind(stamp(expires))
        .bind(held.holder)
        .bind(held.fence);
    match unit.execute(query).await? {
        1 => Ok(LeaseAnswer::Granted(Lease { holder: holder.to_owned(), fence: held.fence + 1, expires })),
        _ => Ok(LeaseAnswer::Held(current(unit).await?)),
    }
}

/// Prolongs the lease; `false` if somebody took it meanwhile.
pub async fn renew(unit: &mut Unit<'_>, lease: &Lease, seconds: u32) -> Result<bool, LedgerError> {
    let expires = stamp(later(unit, seconds));
    let query = unit
        .query("UPDATE leases SET expires = ?, entries = entries + 1 WHERE name = 'apply' AND holder = ? AND fence = ?")
        .bind(expires)
        .bind(lease.holder.clone())
        .bind(lease.fence);
    Ok(unit.execute(query).await? == 1)
}

/// Gives the lease back if it is still ours. The number stays, so that it never repeats.
pub async fn release(unit: &mut Unit<'_>, lease: &Lease) -> Result<(), LedgerError> {
    let query = unit
        .query("UPDATE leases SET holder = '', expires = ? WHERE name = 'apply' AND holder = ? AND fence = ?")
        .bind(stamp(Timestamp::UNIX_EPOCH))
        .bind(lease.holder.clone())
        .bind(lease.fence);
    unit.execute(query).await.map(drop)
}

/// Fails unless the lease is ours and has not run out. The update locks the row, so nobody takes it before this transaction
/// ends.
pub async fn guard(unit: &mut Unit<'_>, lease: &Lease) -> Result<(), LedgerError> {
    let query = unit
        .query(
            "UPDATE leases SET entries = entries + 1 WHERE name = 'apply' AND holder = ? AND fence = ? AND expires > ?",
        )
        .bind(lease.holder.clone())
        .bind(lease.fence)
        .bind(stamp(unit.now));
    if unit.execute(query).await? == 1 {
        return Ok(());
    }
    let now = current(unit).await?;
    let mine = (&now.holder, now.fence) == (&lease.holder, lease.fence);
    let standing = match now.holder.as_str() {
        "" => "nobody holds it".to_owned(),
        _ if mine => format!("it ran out at {}", stamp(now.expires)),
        holder => format!("{holder} holds it"),
    };
    Err(LedgerError::LeaseLost { standing })
}
