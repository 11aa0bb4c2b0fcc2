//! Numbered forward migrations, compiled in.

use std::borrow::Cow;

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{AnyConnection, Connection as _, SqlSafeStr as _};

use super::dialect::Wording;
use crate::ports::ledger::LedgerError;

/// The migrations of one dialect: number, name, text. Numbers are the same in all dialects and never reused.
const SQLITE: &[(i64, &str, &str)] = &[
    (1, "runs", include_str!("../../sql/sqlite/0001_runs.sql")),
    (2, "findings", include_str!("../../sql/sqlite/0002_findings.sql")),
    (3, "plans", include_str!("../../sql/sqlite/0003_plans.sql")),
    (4, "intents", include_str!("../../sql/sqlite/0004_intents.sql")),
    (5, "leases", include_str!("../../sql/sqlite/0005_leases.sql")),
    (6, "audit", include_str!("../../sql/sqlite/0006_audit.sql")),
];

/// The newest schema this program knows.
pub const KNOWN: i64 = SQLITE[SQLITE.len() - 1].0;

fn migrator() -> Migrator {
    let migration = |(number, name, text): &(i64, &'static str, &'static str)| {
        Migration::new(*number, Cow::Borrowed(*name), MigrationType::Simple, text.into_sql_str(), false)
    };
    Migrator::with_migrations(SQLITE.iter().map(migration).collect())
}

/// Brings the ledger to our schema. All in one transaction that takes the write lock first, so that of two programs that
/// open a new file at once one waits for the other.
pub async fn migrate(connection: &mut AnyConnection, wording: &Wording, place: &str) -> Result<(), LedgerError> {
    let open = |source: Box<dyn std::error::Error + Send + Sync>| LedgerError::Open { place: place.to_owned(), source };
    let mut tx = connection.begin_with(wording.dialect.begin_write()).await.map_err(|e| open(e.into()))?;
    let found = newest_applied(&mut tx, wording).await.map_err(|e| open(e.into()))?;
    if found > KNOWN {
        return Err(LedgerError::TooNew { found, known: KNOWN });
    }
    if found < KNOWN {
        migrator().run_direct(None, &mut *tx, false).await.map_err(|e| open(e.into()))?;
    }
    tx.commit().await.map_err(|e| open(e.into()))
}

/// The newest migration that was applied; 0 for an empty ledger.
async fn newest_applied(connection: &mut AnyConnection, wording: &Wording) -> sqlx::Result<i64> {
    let tables = wording.sql("SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = '_sqlx_migrations'");
    let tables: i64 = sqlx::query_scalar(tables).fetch_one(&mut *connection).await?;
    if tables == 0 {
        return Ok(0);
    }
    let newest = wording.sql("SELECT COALESCE(MAX(version), 0) FROM _sqlx_migrations");
    sqlx::query_scalar(newest).fetch_one(connection).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_run_from_one_without_holes() {
        let numbers: Vec<i64> = SQLITE.iter().map(|(number, ..)| *number).collect();
        assert_eq!(numbers, (1..=KNOWN).collect::<Vec<_>>());
    }
}
