//! The record of runs, findings, plans, intents, outcomes, leases, and the audit chain.

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::compare::{Comparison, Finding};
use crate::domain::RecordId;
use crate::plan::Plan;

/// The ledger could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// It cannot be opened.
    #[error("cannot open the ledger {place}")]
    Open {
        /// Path, or URL without credentials.
        place: String,
        /// What failed.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A question or an entry failed.
    #[error("the ledger could not {what}")]
    Query {
        /// What was being done.
        what: &'static str,
        /// What failed.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// It was written by a newer version.
    #[error("the ledger has schema {found}, this program knows {known}; use the newer program")]
    TooNew {
        /// Its schema number.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// Its place names something that cannot hold it.
    #[error(
        "the ledger {place} cannot be used: {why}; name a SQLite file, as in --ledger /var/lib/statewarden/ledger.db"
    )]
    Unsupported {
        /// Path, or URL without credentials.
        place: String,
        /// Why not.
        why: String,
    },
    /// The lease ran out or is somebody else's; nothing was written.
    #[error("the lease is not ours any more: {standing}; nothing was written, apply again to settle what is open")]
    LeaseLost {
        /// How it stands now.
        standing: String,
    },
    /// An intent that would do something twice; nothing was written.
    #[error("record {record} is not tried again: intent {intent} on it is {standing}; make a new plan")]
    SecondTry {
        /// Record.
        record: RecordId,
        /// The intent that stands in the way.
        intent: i64,
        /// How that one stands: `still open`, or its outcome.
        standing: String,
    },
    /// An outcome for an intent that is not open; nothing was written.
    #[error("intent {intent} is not open: it has an outcome, or was never written")]
    NotOpen {
        /// The intent.
        intent: i64,
    },
    /// The hash of a plan does not cover it; nothing was written.
    #[error("the plan does not have the hash it names ({hash}); make a new plan")]
    PlanHash {
        /// The hash that it names.
        hash: String,
    },
    /// No such run, or one that compared nothing.
    #[error("the ledger holds no run {run} that compared anything; `statewarden history` lists the runs")]
    UnknownRun {
        /// The id that was asked for.
        run: String,
    },
    /// The beginning of an id fits several runs.
    #[error("several runs begin with {text}; give more of the id")]
    AmbiguousRun {
        /// What was asked for.
        text: String,
    },
}

/// One pass of the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEntry {
    /// Id (UUID v7).
    pub run: String,
    /// `drift`, `plan`, `apply`.
    pub verb: String,
    /// When it began.
    pub started: Timestamp,
    /// When it ended; `None` for one that is under way or was killed.
    pub ended: Option<Timestamp>,
    /// Scope: file system, server, generation, judging configuration (`plan::fingerprint::of_scope`).
    pub scope: String,
    /// Exit word: `clean`, `drift`, `incomplete`, `refused`, `not_proven`, `failure`.
    pub exit: Option<String>,
    /// Findings of warning and above.
    pub findings: u64,
}

/// One finding over time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingEntry {
    /// Fingerprint.
    pub fingerprint: String,
    /// Scope of the runs that saw it; see [`RunEntry::scope`].
    pub scope: String,
    /// The finding as last seen.
    pub finding: Finding,
    /// When it was first seen in its present spell.
    pub first_seen: Timestamp,
    /// When it was last seen.
    pub last_seen: Timestamp,
    /// When a run first did not see it any more, with the views it rests on whole.
    pub resolved: Option<Timestamp>,
    /// How often it came: 1, and one more for each time it was seen again after it was resolved.
    pub spells: u32,
}

/// What changed between two runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// Only in the later run.
    pub new: Vec<Finding>,
    /// Only in the earlier run.
    pub gone: Vec<Finding>,
    /// In both.
    pub known: Vec<Finding>,
    /// Only in the earlier run, but the later one had gaps or another scope: not known to be gone.
    #[serde(default)]
    pub unclear: Vec<Finding>,
}

/// What became of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
pub enum OutcomeWord {
    /// Both views show it done.
    Done,
    /// It was done before; seen by looking, no call was made.
    AlreadyDone,
    /// The record or the world is no longer as planned; no call was made.
    Stale,
    /// The server refused clearly, and nothing changed.
    Refused,
    /// The server said success and the views contradict it.
    Failed,
    /// It cannot be told.
    Unknown,
    /// No call was made.
    NotStarted,
}

/// An outcome with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Outcome {
    /// What became of it.
    pub outcome: OutcomeWord,
    /// Why, in one line.
    pub why: String,
}

/// An action that was begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// Id in the ledger.
    pub intent: i64,
    /// Hash of the plan.
    pub plan: String,
    /// Action number in it.
    pub action: u32,
    /// Record it is about.
    pub record: RecordId,
    /// When it was written, before the call.
    pub opened: Timestamp,
    /// Fencing number of the lease it was written under.
    pub fence: i64,
    /// The outcome; `None` while it is open.
    pub outcome: Option<Outcome>,
}

/// The right to apply, held by one process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Who holds it: user, host, process.
    pub holder: String,
    /// Grows with each holder; an entry under an older number is refused.
    pub fence: i64,
    /// When it runs out unless renewed.
    pub expires: Timestamp,
}

/// The answer to a wish for the lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseAnswer {
    /// It is ours.
    Granted(Lease),
    /// Somebody else has it.
    Held(Lease),
}

/// One link of the audit chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// Position, from 1 without holes.
    pub number: i64,
    /// When.
    pub at: Timestamp,
    /// Who: OS user, host, and the DolphinScheduler task instance where there is one.
    pub actor: String,
    /// Run.
    pub run: String,
    /// What was done: `plan-recorded`, `apply-started`, `intent`, `outcome`, `apply-ended`, ….
    pub what: String,
    /// On what, for what reason, with which gates and result; canonical JSON.
    pub body: String,
    /// Hash of the entry before; 64 zeros for the first.
    pub previous: String,
    /// Hex SHA-256 over number, time, actor, run, what, body and `previous`.
    pub hash: String,
}

/// What `audit verify` found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum AuditVerdict {
    /// The chain is whole up to this head.
    Whole {
        /// Number of entries.
        entries: i64,
        /// Hash of the last one; compare with the one the last apply printed.
        head: String,
    },
    /// The chain is broken.
    Broken {
        /// First entry that does not fit.
        number: i64,
        /// In what.
        why: String,
    },
}

/// The ledger. Every method is one transaction; what it returns is committed.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// Path, or URL without credentials, for messages.
    fn place(&self) -> String;

    /// Writes a run that begins.
    async fn begin_run(&self, run: &RunEntry) -> Result<(), LedgerError>;

    /// Writes the end of a run with what it found: updates first and last seen, and what is resolved. The comparison has to be
    /// the whole one of the run's inventory: what is not in it was not seen, and is resolved if no view was incomplete.
    async fn end_run(&self, run: &RunEntry, comparison: &Comparison) -> Result<(), LedgerError>;

    /// Writes the end of a run that compared nothing (a lease that was held, a failure): no finding is seen or resolved by it,
    /// and it counts neither as an observation nor as the last run.
    async fn abandon_run(&self, run: &RunEntry) -> Result<(), LedgerError>;

    /// Runs, newest first.
    async fn runs(&self, limit: u32) -> Result<Vec<RunEntry>, LedgerError>;

    /// The run that a person means: an id, the beginning of one, `last` (the newest run that compared), or `previous` (the one
    /// before it of the same scope).
    async fn resolve_run(&self, text: &str) -> Result<Option<RunEntry>, LedgerError>;

    /// All findings ever seen, newest last seen first.
    async fn findings(&self) -> Result<Vec<FindingEntry>, LedgerError>;

    /// What changed between two runs, by their ids; both must have compared.
    async fn difference(&self, earlier: &str, later: &str) -> Result<Difference, LedgerError>;

    /// The records that a run of the same scope, ended at or before `until`, reported as stale, with the time of the latest such
    /// run, as long as no run of that scope in between did not see them.
    async fn stale_since(&self, scope: &str, until: Timestamp) -> Result<Vec<(RecordId, Timestamp)>, LedgerError>;

    /// Records a plan; a plan that is not recorded is never applied.
    async fn save_plan(&self, plan: &Plan) -> Result<(), LedgerError>;

    /// The plan of this hash, if it was recorded here.
    async fn load_plan(&self, hash: &str) -> Result<Option<Plan>, LedgerError>;

    /// Whether a plan of this hash was recorded here.
    async fn knows_plan(&self, hash: &str) -> Result<bool, LedgerError>;

    /// Asks for the lease for `seconds`. A lease whose process on this host is gone ends at once.
    async fn take_lease(&self, holder: &str, seconds: u32) -> Result<LeaseAnswer, LedgerError>;

    /// Prolongs a lease that is still ours; `false` if it is not.
    async fn renew_lease(&self, lease: &Lease, seconds: u32) -> Result<bool, LedgerError>;

    /// Gives a lease back.
    async fn release_lease(&self, lease: &Lease) -> Result<(), LedgerError>;

    /// Intents without an outcome, oldest first.
    async fn open_intents(&self) -> Result<Vec<Intent>, LedgerError>;

    /// All intents of a plan, oldest first.
    async fn intents_of(&self, plan: &str) -> Result<Vec<Intent>, LedgerError>;

    /// Writes an intent before the call, under the lease; fails if the lease is no longer ours.
    async fn open_intent(
        &self,
        lease: &Lease,
        plan: &str,
        action: u32,
        record: RecordId,
    ) -> Result<Intent, LedgerError>;

    /// Writes the outcome of an open intent under the lease, which need not be the one it was opened under.
    async fn close_intent(&self, lease: &Lease, intent: i64, outcome: &Outcome) -> Result<(), LedgerError>;

    /// Appends to the audit chain and returns the new head hash.
    async fn audit(&self, actor: &str, run: &str, what: &str, body: &serde_json::Value) -> Result<String, LedgerError>;

    /// The audit chain, oldest first.
    async fn audit_entries(&self) -> Result<Vec<AuditEntry>, LedgerError>;

    /// Checks the audit chain link by link.
    async fn verify_audit(&self) -> Result<AuditVerdict, LedgerError>;

    /// The same, and the given head (that an earlier apply printed) has to occur in the chain; else the newest entries were cut
    /// off, or the chain was made anew.
    async fn verify_audit_to(&self, head: &str) -> Result<AuditVerdict, LedgerError>;
}
