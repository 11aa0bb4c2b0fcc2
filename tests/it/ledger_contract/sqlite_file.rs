//! What holds for the SQLite file alone: where it is, who may read it, and what is refused.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;
use sqlx::{AnyConnection, Connection as _, Row as _};
use statewarden::compare::Comparison;
use statewarden::ledger::SqlLedger;
use statewarden::ports::ledger::{Ledger as _, LedgerError};

use super::store::{Store, run};

/// A word that must never come out.
const CANARY: &str = "canary-7f3a";

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

/// The error with all its sources.
fn told(error: &LedgerError) -> String {
    let mut text = format!("{error} {error:?}");
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}

#[tokio::test]
async fn directory_and_file_are_for_the_owner_alone() {
    let store = Store::sqlite();
    let ledger = store.open().await;
    ledger.begin_run(&run("a", "08:00")).await.expect("written");
    let file = store.place();
    assert_eq!(mode(Path::new(&file).parent().expect("a directory")), 0o700);
    for name in [file.clone(), format!("{file}-wal"), format!("{file}-shm")] {
        assert_eq!(mode(Path::new(&name)), 0o600, "{name}");
    }
    assert_eq!(ledger.place(), file);
    assert!(ledger.reach().contains(&file));
}

#[tokio::test]
async fn a_url_names_the_same_file_as_its_path() {
    let store = Store::sqlite();
    store.open().await.begin_run(&run("a", "08:00")).await.expect("written");
    let by_url = SqlLedger::open(&format!("sqlite://{}", store.place())).await.expect("it opens");
    assert_eq!(by_url.runs(1).await.expect("listed"), [run("a", "08:00")]);
}

#[tokio::test]
async fn odd_names_are_files_too() {
    let directory = tempfile::tempdir().expect("a directory");
    let place = directory.path().join("a b#c?d%20é.db");
    let ledger = SqlLedger::open(&place.to_string_lossy()).await.expect("it opens");
    ledger.begin_run(&run("a", "08:00")).await.expect("written");
    assert!(
        fs::metadata(&place).expect("that very file").len() > 0
            || fs::metadata(format!("{}-wal", place.display())).is_ok()
    );
    let names: Vec<_> =
        fs::read_dir(directory.path()).expect("readable").map(|e| e.expect("an entry").file_name()).collect();
    assert!(names.iter().all(|name| name.to_string_lossy().starts_with("a b#c?d%20é.db")), "{names:?}");
}

#[tokio::test]
async fn settings_hold_on_the_connection() {
    let store = Store::sqlite();
    store.open().await.close().await;
    let url = format!("sqlite://{}?mode=ro", store.place());
    let mut plain = AnyConnection::connect(&url).await.expect("it opens");
    let row = sqlx::query("PRAGMA journal_mode").fetch_one(&mut plain).await.expect("an answer");
    assert_eq!(row.get::<String, _>(0), "wal");
}

#[tokio::test]
async fn many_may_open_a_new_file_at_once() {
    let store = Store::sqlite();
    let handles = futures::future::join_all((0..8).map(|_| store.open())).await;
    handles[0].begin_run(&run("a", "08:00")).await.expect("written");
    assert_eq!(handles[7].runs(9).await.expect("listed").len(), 1);
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let store = Store::sqlite();
    store.open().await.close().await;
    store
        .tamper(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
             VALUES (99, 'later', TRUE, x'00', 0)",
        )
        .await;
    let error = SqlLedger::open(&store.place()).await.expect_err("it is newer");
    assert!(matches!(error, LedgerError::TooNew { found: 99, known: 6 }), "{error}");
}

#[tokio::test]
async fn a_schema_that_somebody_changed_is_refused() {
    let store = Store::sqlite();
    store.open().await.close().await;
    store.tamper("UPDATE _sqlx_migrations SET checksum = x'00' WHERE version = 2; DELETE FROM _sqlx_migrations WHERE version > 5; DROP TABLE audit; DROP TABLE audit_head").await;
    assert!(matches!(SqlLedger::open(&store.place()).await, Err(LedgerError::Open { .. })));
}

#[tokio::test]
async fn an_older_schema_is_brought_up_to_date() {
    let store = Store::sqlite();
    let ledger = store.open().await;
    ledger.begin_run(&run("a", "08:00")).await.expect("written");
    ledger.close().await;
    store.tamper("DROP TABLE audit; DROP TABLE audit_head; DELETE FROM _sqlx_migrations WHERE version > 5").await;
    let ledger = store.open().await;
    ledger.audit("etl@w1", "a", "intent", &json!({})).await.expect("the table is there");
    assert_eq!(ledger.runs(9).await.expect("listed").len(), 1, "and what was there stays");
}

#[tokio::test]
async fn what_is_no_ledger_is_refused_and_left_as_it_is() {
    let directory = tempfile::tempdir().expect("a directory");
    let notes = directory.path().join("notes.txt");
    fs::write(&notes, "these are notes, not a database, and they are to stay".repeat(20)).expect("written");
    let before = fs::read(&notes).expect("read");
    let error = SqlLedger::open(&notes.to_string_lossy()).await.expect_err("no database");
    assert!(told(&error).contains("notes.txt") && told(&error).contains("not a database"), "{}", told(&error));
    assert_eq!(fs::read(&notes).expect("read"), before);
    let inside = notes.join("ledger.db");
    assert!(matches!(SqlLedger::open(&inside.to_string_lossy()).await, Err(LedgerError::Open { .. })));
}

#[tokio::test]
async fn a_password_in_a_place_is_never_told_nor_kept() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("ledger.db");
    let places = [
        format!("postgres://etl:{CANARY}@127.0.0.1:1/ledger"),
        format!("mysql://etl:{CANARY}@127.0.0.1:1/ledger?password={CANARY}"),
        format!("sqlite://etl:{CANARY}@{}", file.display()),
        format!("sqlite://{}?key={CANARY}", file.display()),
        format!("redis://:{CANARY}@127.0.0.1:1/0"),
    ];
    for place in places {
        let error = SqlLedger::open(&place).await.expect_err("no place for a ledger");
        assert!(!told(&error).contains(CANARY), "{}", told(&error));
        assert!(matches!(error, LedgerError::Unsupported { .. }));
    }
    assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 0, "nothing was made");
    let ledger = SqlLedger::open(&file.to_string_lossy()).await.expect("it opens");
    ledger.end_run(&run("a", "08:00"), &Comparison::default()).await.expect("written");
    ledger.close().await;
    for entry in fs::read_dir(directory.path()).expect("readable") {
        let bytes = fs::read(entry.expect("an entry").path()).expect("read");
        assert!(!String::from_utf8_lossy(&bytes).contains(CANARY));
    }
}
