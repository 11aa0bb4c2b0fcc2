//! The ledger in SQL: what ran, what was found, planned, tried and done, who may apply, and the audit chain.
//!
//! Every method is one transaction. SQLite for now, one file on one host: its write-ahead log needs shared memory, so hosts
//! that mount the same directory must not share the file. Nothing here decides anything, and no secret comes here: the callers
//! write names, paths, times and reasons.

pub mod actor;
mod audit;
pub mod dialect;
mod findings;
mod intents;
#[cfg(debug_assertions)]
mod kill_point;
mod leases;
mod place;
mod plans;
mod runs;
mod schema;
mod unit;

use std::error::Error;
use std::fmt;
use std::str::FromStr as _;
use std::sync::{Arc, Once};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::error::DatabaseError;
use sqlx::{AnyConnection, AnyPool, ConnectOptions as _, Connection as _, Executor as _};

use self::dialect::{Dialect, Wording};
use self::place::Place;
pub use self::place::{default_place, is_there, shown_place};
use self::runs::Sight;
use self::unit::Unit;
use crate::compare::Comparison;
use crate::domain::RecordId;
use crate::plan::Plan;
use crate::ports::clock::{Clock, SystemClock};
use crate::ports::ledger::{
    AuditEntry, AuditVerdict, Difference, FindingEntry, Intent, Lease, LeaseAnswer, Ledger, LedgerError, Outcome,
    RunEntry,
};

/// How long a transaction waits for another process's.
const BUSY: Duration = Duration::from_secs(20);

/// The ledger in an SQL database.
pub struct SqlLedger {
    pool: AnyPool,
    wording: Wording,
    place: String,
    clock: Arc<dyn Clock>,
}

impl fmt::Debug for SqlLedger {
    // The pool would print its URL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqlLedger").field("place", &self.place).finish_non_exhaustive()
    }
}

impl SqlLedger {
    /// Opens the ledger at a path or URL, makes it if it is not there, and brings its schema up to date.
    pub async fn open(place: &str) -> Result<Self, LedgerError> {
        Self::open_at(place, Arc::new(SystemClock)).await
    }

    /// The same with another clock.
    pub async fn open_at(place: &str, clock: Arc<dyn Clock>) -> Result<Self, LedgerError> {
        let place = Place::parse(place)?;
        let failed = |source: Box<dyn Error + Send + Sync>| LedgerError::Open { place: place.shown(), source };
        place.prepare().map_err(|error| failed(error.into()))?;
        let wording = Wording::new(Dialect::Sqlite);
        let options = options(&place.url()).map_err(|error| failed(error.into()))?;
        // By a connection of its own: the pool would try again until its time is up and then say no more than that.
        let mut first = options.connect().await.map_err(|error| failed(error.into()))?;
        set_up(&mut first).await.map_err(|error| failed(error.into()))?;
        schema::migrate(&mut first, &wording, &place.shown()).await?;
        let pool = pool(options);
        first.close().await.map_err(|error| failed(error.into()))?;
        Ok(Self { pool, wording, place: place.shown(), clock })
    }

    /// Closes it, waiting until the last transaction is over.
    pub async fn close(self) {
        self.pool.close().await;
    }

    /// Whom the lease excludes, in one sentence.
    pub fn reach(&self) -> String {
        format!(
            "the lease excludes every apply that uses the ledger {} on this host; one with another ledger, or on another \
             host, is not excluded",
            self.place
        )
    }

    /// The newest run that compared, in one scope or in any.
    pub async fn last_run(&self, scope: Option<&str>) -> Result<Option<RunEntry>, LedgerError> {
        let mut unit = self.read("find the last run").await?;
        runs::last(&mut unit, scope).await
    }

    async fn write(&self, what: &'static str) -> Result<Unit<'_>, LedgerError> {
        self.begin(self.wording.dialect.begin_write(), what).await
    }

    async fn read(&self, what: &'static str) -> Result<Unit<'_>, LedgerError> {
        self.begin(self.wording.dialect.begin_read(), what).await
    }

    async fn begin(&self, statement: &'static str, what: &'static str) -> Result<Unit<'_>, LedgerError> {
        let begun = self.pool.begin_with(statement).await;
        let tx = begun.map_err(|error| LedgerError::Query { what, source: error.into() })?;
        // Asked after the wait for the lock: a lease may have run out meanwhile.
        Ok(Unit::new(tx, &self.wording, what, self.clock.now()))
    }
}

fn options(url: &str) -> sqlx::Result<AnyConnectOptions> {
    static DRIVERS: Once = Once::new();
    DRIVERS.call_once(sqlx::any::install_default_drivers);
    Ok(AnyConnectOptions::from_str(url)?.disable_statement_logging())
}

/// One connection: SQLite has one writer at a time, and a second one of ours would only wait for the first.
fn pool(options: AnyConnectOptions) -> AnyPool {
    AnyPoolOptions::new()
        .max_connections(1)
        .idle_timeout(None)
        .max_lifetime(None)
        .after_connect(|connection, _| Box::pin(set_up(connection)))
        .connect_lazy_with(options)
}

async fn set_up(connection: &mut AnyConnection) -> sqlx::Result<()> {
    connection.execute("PRAGMA busy_timeout = 20000").await?;
    connection.execute("PRAGMA foreign_keys = ON").await?;
    // An intent has to be on the disk before the call is made.
    connection.execute("PRAGMA synchronous = FULL").await?;
    write_ahead(connection).await
}

/// Turns the write-ahead log on. The busy timeout does not cover this switch, so two programs that open a new file at once
/// could fail; it is tried again for as long.
async fn write_ahead(connection: &mut AnyConnection) -> sqlx::Result<()> {
    let pause = Duration::from_millis(20);
    let mut waited = Duration::ZERO;
    loop {
        match connection.execute("PRAGMA journal_mode = WAL").await {
            Err(error) if is_locked(&error) && waited < BUSY => {
                tokio::time::sleep(pause).await;
                waited += pause;
            }
            done => return done.map(drop),
        }
    }
}

/// SQLITE_BUSY and SQLITE_LOCKED, plain or extended: the low byte tells.
fn is_locked(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(DatabaseError::code);
    code.and_then(|code| code.parse::<i64>().ok()).is_some_and(|code| matches!(code & 0xff, 5 | 6))
}

#[async_trait]
impl Ledger for SqlLedger {
    fn place(&self) -> String {
        self.place.clone()
    }

    async fn begin_run(&self, run: &RunEntry) -> Result<(), LedgerError> {
        let mut unit = self.write("write the beginning of a run").await?;
        runs::write(&mut unit, run, Sight { compared: false, whole: false }).await?;
        unit.commit().await
    }

    async fn end_run(&self, run: &RunEntry, comparison: &Comparison) -> Result<(), LedgerError> {
        let mut unit = self.write("write the end of a run").await?;
        let ended = run.ended.unwrap_or(unit.now);
        let run = RunEntry { ended: Some(ended), ..run.clone() };
        let sight = Sight { compared: true, whole: findings::is_whole(&run, comparison) };
        runs::write(&mut unit, &run, sight).await?;
        findings::record(&mut unit, &run, ended, comparison).await?;
        unit.commit().await
    }

    async fn abandon_run(&self, run: &RunEntry) -> Result<(), LedgerError> {
        let mut unit = self.write("write the end of a run").await?;
        let run = RunEntry { ended: Some(run.ended.unwrap_or(unit.now)), ..run.clone() };
        runs::write(&mut unit, &run, Sight { compared: false, whole: false }).await?;
        unit.commit().await
    }

    async fn runs(&self, limit: u32) -> Result<Vec<RunEntry>, LedgerError> {
        let mut unit = self.read("list the runs").await?;
        runs::newest(&mut unit, limit).await
    }

    async fn resolve_run(&self, text: &str) -> Result<Option<RunEntry>, LedgerError> {
        let mut unit = self.read("find the run").await?;
        runs::resolve(&mut unit, text).await
    }

    async fn findings(&self) -> Result<Vec<FindingEntry>, LedgerError> {
        let mut unit = self.read("list the findings").await?;
        findings::all(&mut unit).await
    }

    async fn difference(&self, earlier: &str, later: &str) -> Result<Difference, LedgerError> {
        let mut unit = self.read("compare two runs").await?;
        findings::difference(&mut unit, earlier, later).await
    }

    async fn stale_since(&self, scope: &str, until: Timestamp) -> Result<Vec<(RecordId, Timestamp)>, LedgerError> {
        let mut unit = self.read("find what earlier runs saw as stale").await?;
        findings::stale_since(&mut unit, scope, until).await
    }

    async fn save_plan(&self, plan: &Plan) -> Result<(), LedgerError> {
        let mut unit = self.write("record the plan").await?;
        plans::save(&mut unit, plan).await?;
        unit.commit().await
    }

    async fn load_plan(&self, hash: &str) -> Result<Option<Plan>, LedgerError> {
        let mut unit = self.read("look for the plan").await?;
        plans::load(&mut unit, hash).await
    }

    async fn knows_plan(&self, hash: &str) -> Result<bool, LedgerError> {
        let mut unit = self.read("look for the plan").await?;
        plans::knows(&mut unit, hash).await
    }

    async fn take_lease(&self, holder: &str, seconds: u32) -> Result<LeaseAnswer, LedgerError> {
        let mut unit = self.write("take the lease").await?;
        let answer = leases::take(&mut unit, holder, seconds).await?;
        unit.commit().await?;
        Ok(answer)
    }

    async fn renew_lease(&self, lease: &Lease, seconds: u32) -> Result<bool, LedgerError> {
        let mut unit = self.write("renew the lease").await?;
        let ours = leases::renew(&mut unit, lease, seconds).await?;
        unit.commit().await?;
        Ok(ours)
    }

    async fn release_lease(&self, lease: &Lease) -> Result<(), LedgerError> {
        let mut unit = self.write("give the lease back").await?;
        leases::release(&mut unit, lease).await?;
        unit.commit().await
    }

    async fn open_intents(&self) -> Result<Vec<Intent>, LedgerError> {
        let mut unit = self.read("list the open intents").await?;
        intents::still_open(&mut unit).await
    }

    async fn intents_of(&self, plan: &str) -> Result<Vec<Intent>, LedgerError> {
        let mut unit = self.read("list the intents of a plan").await?;
        intents::of_plan(&mut unit, plan).await
    }

    async fn open_intent(
        &self,
        lease: &Lease,
        plan: &str,
        action: u32,
        record: RecordId,
    ) -> Result<Intent, LedgerError> {
        let mut unit = self.write("write the intent").await?;
        let intent = intents::open(&mut unit, lease, plan, action, record).await?;
        unit.commit().await?;
        Ok(intent)
    }

    async fn close_intent(&self, lease: &Lease, intent: i64, outcome: &Outcome) -> Result<(), LedgerError> {
        let mut unit = self.write("write the outcome").await?;
        intents::close(&mut unit, lease, intent, outcome).await?;
        unit.commit().await
    }

    async fn audit(&self, actor: &str, run: &str, what: &str, body: &serde_json::Value) -> Result<String, LedgerError> {
        let mut unit = self.write("append to the audit chain").await?;
        let head = audit::append(&mut unit, actor, run, what, body).await?;
        unit.commit().await?;
        Ok(head)
    }

    async fn audit_entries(&self) -> Result<Vec<AuditEntry>, LedgerError> {
        let mut unit = self.read("read the audit chain").await?;
        audit::entries(&mut unit).await
    }

    async fn verify_audit(&self) -> Result<AuditVerdict, LedgerError> {
        let mut unit = self.read("check the audit chain").await?;
        audit::verify(&mut unit, None).await
    }

    async fn verify_audit_to(&self, head: &str) -> Result<AuditVerdict, LedgerError> {
        let mut unit = self.read("check the audit chain").await?;
        audit::verify(&mut unit, Some(head.trim().to_ascii_lowercase().as_str())).await
    }
}
