//! A new ledger for each test, with a clock of its own and a back door for those who tamper.

use std::sync::{Arc, Mutex, Once};

use jiff::{SignedDuration, Timestamp};
use sqlx::{AnyConnection, AssertSqlSafe, Connection as _, Executor as _};
use statewarden::compare::{Comparison, Finding, FindingCode, Ignored, Severity, Target};
use statewarden::domain::{HdfsPath, RecordId};
use statewarden::ledger::SqlLedger;
use statewarden::plan::action::PLAN_SCHEMA;
use statewarden::plan::{Plan, fingerprint};
use statewarden::ports::clock::Clock;
use statewarden::ports::ledger::RunEntry;
use tempfile::TempDir;

/// A database that nobody else uses.
pub struct Store {
    directory: TempDir,
    clock: Arc<Hands>,
}

/// A clock that stands until it is moved.
#[derive(Debug)]
struct Hands(Mutex<Timestamp>);

impl Clock for Hands {
    fn now(&self) -> Timestamp {
        *self.0.lock().expect("no test panics while it moves the clock")
    }
}

impl Store {
    /// A SQLite file in a directory of its own.
    pub fn sqlite() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        Self { directory, clock: Arc::new(Hands(Mutex::new(time("08:00")))) }
    }

    /// Its place, as `--ledger` takes it.
    pub fn place(&self) -> String {
        self.directory.path().join("state/ledger.db").to_string_lossy().into_owned()
    }

    /// A handle, as another process would get it.
    pub async fn open(&self) -> SqlLedger {
        SqlLedger::open_at(&self.place(), self.clock.clone()).await.expect("the ledger opens")
    }

    /// Moves the clock of all handles.
    pub fn pass(&self, seconds: i64) {
        *self.clock.0.lock().expect("no test panics while it moves the clock") += SignedDuration::from_secs(seconds);
    }

    /// Runs statements behind the ledger's back.
    pub async fn tamper(&self, sql: &str) {
        static DRIVERS: Once = Once::new();
        DRIVERS.call_once(sqlx::any::install_default_drivers);
        let url = format!("sqlite://{}?mode=rw", self.place());
        let mut connection = AnyConnection::connect(&url).await.expect("the file opens");
        connection.execute(AssertSqlSafe(sql)).await.expect("the statement fits");
        connection.close().await.expect("it closes");
    }
}

/// A time of one day.
pub fn time(clock: &str) -> Timestamp {
    let seconds = if clock.len() == 5 { ":00" } else { "" };
    format!("2026-03-01T{clock}{seconds}Z").parse().expect("a time of day")
}

/// A run that has begun.
pub fn run(id: &str, started: &str) -> RunEntry {
    RunEntry {
        run: id.to_owned(),
        verb: "drift".to_owned(),
        started: time(started),
        ended: None,
        scope: "prod".to_owned(),
        exit: None,
        findings: 0,
    }
}

/// The same run, over.
pub fn ended(run: RunEntry, at: &str, exit: &str, findings: u64) -> RunEntry {
    RunEntry { ended: Some(time(at)), exit: Some(exit.to_owned()), findings, ..run }
}

/// A stale record.
pub fn stale(record: i64, path: &str) -> Finding {
    let path = HdfsPath::parse(path).expect("a path");
    let target = Target::record(RecordId(record), Some(&path));
    Finding::new(FindingCode::StaleResourceRecord, Severity::Warning, target, "test")
}

/// A view that could not be read.
pub fn gap() -> Finding {
    Finding::new(FindingCode::ViewIncomplete, Severity::Error, Target::default(), "test")
}

/// What a run found.
pub fn found(findings: &[Finding]) -> Comparison {
    Comparison { findings: findings.to_vec(), ..Comparison::default() }
}

/// What a run found and the configuration expects.
pub fn expected(finding: Finding) -> Comparison {
    Comparison { ignored: vec![Ignored { finding, reason: "known".to_owned() }], ..Comparison::default() }
}

/// A plan without actions.
pub fn plan(run: &str) -> Plan {
    let mut plan = Plan {
        schema: PLAN_SCHEMA.to_owned(),
        hash: String::new(),
        run: run.to_owned(),
        created: time("08:00"),
        expires: time("09:00"),
        config: "c".to_owned(),
        inventory: "i".to_owned(),
        generation: None,
        from_file: false,
        limit: None,
        actions: Vec::new(),
        held_back: Vec::new(),
        advice: Vec::new(),
        notes: Vec::new(),
    };
    plan.hash = fingerprint::of_plan(&plan);
    plan
}
