//! Proved, refuted or unknown, with evidence.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The answer of one gate. Nothing is done unless everything it rests on is `Proved`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Seen to hold.
    Proved,
    /// Seen not to hold.
    Refuted,
    /// Could not be told.
    Unknown,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Proved => "proved",
            Self::Refuted => "refuted",
            Self::Unknown => "unknown",
        })
    }
}

macro_rules! gates {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal;)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $text)] $variant,)*
        }

        impl $name {
            /// All gates, in the order they are printed.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The name in capitals, as in `ABSENT`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

gates! {
    /// The gates of a record delete.
    Gate {
        /// This generation's delete was recorded on a running server, and probe and configuration agree.
        Version = "VERSION";
        /// Every view that could veto was read whole.
        View = "VIEW";
        /// No guard of the run is closed: mass absence, clock skew, refused settings.
        Guard = "GUARD";
        /// The name stays inside its tenant's directory, and the owner and its tenant are known now.
        Identity = "IDENTITY";
        /// The path is proven absent now.
        Absent = "ABSENT";
        /// It was absent `confirm_after` ago as well.
        AbsentTwice = "ABSENT_TWICE";
        /// Something of this tenant that is known to exist was seen.
        Sentinel = "SENTINEL";
        /// DolphinScheduler looks at the same file system.
        SameStore = "SAME_STORE";
        /// The record is older than `record_grace`.
        Grace = "GRACE";
        /// It is stale and nothing else: not moved, not half a rename, not a conflict of names.
        Stale = "STALE";
        /// No workflow or task, online or offline, uses it, one above it or one below it.
        Unreferenced = "UNREFERENCED";
        /// No UDF function is bound to it.
        Unbound = "UNBOUND";
        /// No live Flink state at, below or above it.
        NoLiveState = "NO_LIVE_STATE";
        /// Every record below it goes before it, and nothing is below it in HDFS.
        Children = "CHILDREN";
        /// No record above it is at odds with HDFS.
        Parents = "PARENTS";
        /// No copy of its file waits in a Trash.
        Trash = "TRASH";
    }
}

gates! {
    /// The gates of a run directory: all of them hold before it may go.
    RunGate {
        /// Strictly inside an allowed root at run depth, and outside every resource namespace, where only its API acts.
        Namespace = "NAMESPACE";
        /// Every view that could veto was read whole.
        View = "VIEW";
        /// In no cluster is its job anything but ended.
        Live = "LIVE";
        /// The end of its job was seen: in REST, a history server or the registry.
        Terminated = "TERMINATED";
        /// A live run of the same application, stable for `stable_for`, has completed a checkpoint of its own after the end of
        /// this one, or the application is given up.
        Successor = "SUCCESSOR";
        /// The `_metadata` of that checkpoint is there now, with every file it names.
        Checkpointed = "CHECKPOINTED";
        /// No restore keeps the old files: by claim mode, or by what every `_metadata` of who may have claimed them says.
        Ownership = "OWNERSHIP";
        /// No `_metadata` of a live or kept restore point names a file in it, and each of them was read whole.
        References = "REFERENCES";
        /// No protection covers it, and the rollback window is over.
        Protected = "PROTECTED";
        /// It is not among the newest restorable runs of its application.
        Generations = "GENERATIONS";
        /// The newest time in it is old enough.
        Age = "AGE";
        /// The restore drill of what is kept is recent enough, where the policy asks for one.
        Drill = "DRILL";
        /// The limits of a plan hold; judged when a plan is made.
        Budget = "BUDGET";
    }
}

/// One gate, its answer, and what was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GateResult<G = Gate> {
    /// Which condition.
    pub gate: G,
    /// The answer.
    pub verdict: Verdict,
    /// What was seen, in one line.
    pub evidence: String,
}

impl<G> GateResult<G> {
    /// A gate that holds.
    pub fn proved(gate: G, evidence: impl Into<String>) -> Self {
        Self { gate, verdict: Verdict::Proved, evidence: evidence.into() }
    }

    /// A gate that does not hold.
    pub fn refuted(gate: G, evidence: impl Into<String>) -> Self {
        Self { gate, verdict: Verdict::Refuted, evidence: evidence.into() }
    }

    /// A gate that cannot be told.
    pub fn unknown(gate: G, evidence: impl Into<String>) -> Self {
        Self { gate, verdict: Verdict::Unknown, evidence: evidence.into() }
    }
}
