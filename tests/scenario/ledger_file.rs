//! History put into the ledger file behind the program's back.

use std::path::Path;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, SqliteConnection};
use statewarden::domain::Age;

/// How much longer ago than `confirm_after` the earlier observation lies.
const MARGIN_SECONDS: u64 = 60;

/// How long somebody else's lease holds from when it was taken.
const LEASE_SECONDS: u64 = 3600;

async fn open(file: &Path) -> Result<SqliteConnection, String> {
    SqliteConnectOptions::new().filename(file).connect().await.map_err(|error| error.to_string())
}

/// Moves all runs so far back by `confirm_after` and a minute.
pub async fn move_back(file: &Path, confirm_after: Age) -> Result<(), String> {
    let mut connection = open(file).await?;
    let shift = format!("-{} seconds", confirm_after.seconds() + MARGIN_SECONDS);
    // As the ledger writes times: RFC 3339, UTC, six digits of fraction.
    let moved = "strftime('%Y-%m-%dT%H:%M:%f', {}, ?1) || '000Z'";
    let set = |columns: &[&str]| {
        let each = columns.iter().map(|column| format!("{column} = {}", moved.replace("{}", column)));
        each.collect::<Vec<_>>().join(", ")
    };
    let statements = [
        format!("UPDATE runs SET {}", set(&["started", "ended"])),
        format!("UPDATE findings SET {}", set(&["first_seen", "last_seen"])),
    ];
    for statement in statements {
        let query = sqlx::query(sqlx::AssertSqlSafe(statement)).bind(&shift);
        query.execute(&mut connection).await.map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Gives the lease to somebody else, who took it `age` ago.
pub async fn lend(file: &Path, holder: &str, age: Age) -> Result<(), String> {
    let mut connection = open(file).await?;
    let left = i64::try_from(LEASE_SECONDS).unwrap_or(i64::MAX) - i64::try_from(age.seconds()).unwrap_or(i64::MAX);
    let query = sqlx::query(
        "UPDATE leases SET holder = ?1, fence = fence + 1, expires = strftime('%Y-%m-%dT%H:%M:%f', 'now', ?2) || '000Z'",
    );
    let query = query.bind(holder).bind(format!("{left} seconds"));
    query.execute(&mut connection).await.map(drop).map_err(|error| error.to_string())
}
