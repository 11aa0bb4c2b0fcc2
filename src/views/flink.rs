//! What the Flink clusters and history servers say.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::gap::Gap;
use crate::domain::{HdfsUri, JobId, JobState};

/// A place of state as REST names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "pointer", rename_all = "kebab-case")]
pub enum Pointer {
    /// A place in some HDFS.
    Hdfs {
        /// As REST wrote it.
        uri: HdfsUri,
    },
    /// `<checkpoint-not-externally-addressable>`: state in the JobManager, no path at all.
    NotAddressable,
    /// A path in another kind of file system, or a text that is no path; never looked up.
    Other {
        /// As REST wrote it.
        text: String,
    },
}

impl Pointer {
    /// Sorts the text of an `external_path` into its kind. Flink writes the not-addressable marker for JobManager storage.
    pub fn parse(text: &str) -> Self {
        if text.starts_with('<') {
            return Self::NotAddressable;
        }
        match HdfsUri::parse(text) {
            Ok(uri) => Self::Hdfs { uri },
            Err(_) => Self::Other { text: text.to_owned() },
        }
    }

    /// The place, if it is in HDFS.
    pub fn uri(&self) -> Option<&HdfsUri> {
        match self {
            Self::Hdfs { uri } => Some(uri),
            _ => None,
        }
    }
}

/// One completed checkpoint or savepoint that REST shows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ShownRestorePoint {
    /// Checkpoint number.
    pub id: i64,
    /// Where it lies.
    pub pointer: Pointer,
    /// Whether it is a savepoint.
    pub savepoint: bool,
    /// When it was complete (`latest_ack_timestamp`).
    #[serde(default)]
    pub completed: Option<Timestamp>,
}

/// What REST says about the restore a job started from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "restored", rename_all = "kebab-case")]
pub enum Restored {
    /// REST answered and shows no restore.
    NoneShown,
    /// REST shows this one. After a failover it is the last checkpoint used for recovery, not the one given at the start.
    From {
        /// Where it lies.
        pointer: Pointer,
    },
    /// REST did not or could not say: the job is starting, or the call failed.
    Unknown {
        /// Why.
        why: String,
    },
}

/// One job as one cluster shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobView {
    /// Job id; (cluster, id) is the key, since ids come back.
    pub id: JobId,
    /// Job name.
    pub name: String,
    /// State.
    pub state: JobState,
    /// Start time.
    #[serde(default)]
    pub started: Option<Timestamp>,
    /// End time, for a job that has ended.
    #[serde(default)]
    pub ended: Option<Timestamp>,
    /// Latest completed checkpoint or savepoint.
    #[serde(default)]
    pub latest: Option<ShownRestorePoint>,
    /// All completed ones REST shows and does not call discarded, the latest included; newest first.
    #[serde(default)]
    pub retained: Vec<ShownRestorePoint>,
    /// What it was restored from.
    pub restored: Restored,
}

impl JobView {
    /// Whether the job may still read or write state: every state that is not globally terminal.
    pub fn is_live(&self) -> bool {
        !self.state.is_terminal()
    }
}

/// Whether an endpoint is a JobManager or only an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClusterKind {
    /// A JobManager.
    Live,
    /// A history server: terminal jobs only, no proof of absence.
    History,
}

/// One cluster or history server, both readings (before and after the HDFS listing) merged: alive in either is alive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterView {
    /// Name in the configuration.
    pub name: String,
    /// JobManager or archive.
    pub kind: ClusterKind,
    /// Declared gone for good: its silence vetoes nothing.
    #[serde(default)]
    pub retired: bool,
    /// Flink version it reports.
    #[serde(default)]
    pub version: Option<String>,
    /// Checkpoint directory in its own configuration, as written there; jobs may set another.
    #[serde(default)]
    pub checkpoint_dir: Option<String>,
    /// Savepoint directory in its own configuration, as written there.
    #[serde(default)]
    pub savepoint_dir: Option<String>,
    /// Registered TaskManagers.
    #[serde(default)]
    pub task_managers: Option<u64>,
    /// Jobs, sorted by id.
    #[serde(default)]
    pub jobs: Vec<JobView>,
    /// When each reading began.
    #[serde(default)]
    pub read_at: Vec<Timestamp>,
    /// What could not be read.
    #[serde(default)]
    pub gaps: Vec<Gap>,
}

impl ClusterView {
    /// A cluster nothing is known of yet.
    pub fn unread(name: &str, kind: ClusterKind, retired: bool) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            retired,
            version: None,
            checkpoint_dir: None,
            savepoint_dir: None,
            task_managers: None,
            jobs: Vec::new(),
            read_at: Vec::new(),
            gaps: Vec::new(),
        }
    }
}

/// All Flink clusters of the platform.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlinkView {
    /// The configuration says that there is no Flink (`flink = "none"`).
    #[serde(default)]
    pub declared_none: bool,
    /// Clusters and history servers, sorted by name.
    #[serde(default)]
    pub clusters: Vec<ClusterView>,
}

impl FlinkView {
    /// Every job of every cluster with the cluster it is on.
    pub fn jobs(&self) -> impl Iterator<Item = (&ClusterView, &JobView)> {
        self.clusters.iter().flat_map(|cluster| cluster.jobs.iter().map(move |job| (cluster, job)))
    }

    /// Jobs that are not globally terminal on the JobManager that shows them.
    pub fn live_jobs(&self) -> impl Iterator<Item = (&ClusterView, &JobView)> {
        self.jobs().filter(|(cluster, job)| cluster.kind == ClusterKind::Live && job.is_live())
    }
}
