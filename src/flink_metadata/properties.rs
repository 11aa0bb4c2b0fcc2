//! `CheckpointProperties`: what the job that wrote a checkpoint meant to do with it.

/// The checkpoint properties, as far as they could be told from the object stream. They are facts about the time of writing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Properties {
    /// Checkpoint or savepoint, and of what sort.
    pub snapshot: Snapshot,
    /// Whether it was forced, as savepoints are.
    pub forced: Option<bool>,
    /// Whether it was to be discarded when later ones replace it.
    pub discard_subsumed: Option<bool>,
    /// Whether it was to be discarded when the job finishes.
    pub discard_finished: Option<bool>,
    /// Whether it was to be discarded when the job is cancelled; `false`: it was kept on purpose.
    pub discard_cancelled: Option<bool>,
    /// Whether it was to be discarded when the job fails.
    pub discard_failed: Option<bool>,
    /// Whether it was to be discarded when the job is suspended.
    pub discard_suspended: Option<bool>,
    /// Whether Flink was not to own it.
    pub unclaimed: Option<bool>,
}

/// What kind of snapshot it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Snapshot {
    /// Neither of the classes that Flink up to 2.3 writes.
    #[default]
    Unknown,
    /// `CheckpointType`.
    Checkpoint {
        /// `Checkpoint` or `Full Checkpoint`.
        name: String,
        /// `FORWARD_BACKWARD` and the like.
        sharing: String,
    },
    /// `SavepointType`.
    Savepoint {
        /// `Savepoint`, `Terminate Savepoint` and the like.
        name: String,
        /// `CANONICAL` or `NATIVE`.
        format: String,
        /// `NONE`, `SUSPEND` or `TERMINATE`.
        action: String,
    },
}
