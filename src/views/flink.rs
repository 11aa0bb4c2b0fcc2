//! What the Flink clusters and history servers say.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::gap::Gap;
use crate::domain::{HdfsUri, JobId, JobState};

/// A place of state as REST names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ShownRestorePoint {
    /// Checkpoint number.
    pub id: i64,
    /// Where it lies.
    pub pointer: Pointer,
    /// Whether it is a savepoint.
    pub savepoint: bool,
    /// When it was complete (`latest_ack_timestamp`).
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub completed: Option<Timestamp>,
}

/// What REST says about the restore a job started from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct JobView {
    /// Job id; (cluster, id) is the key, since ids come back.
    pub id: JobId,
    /// Job name.
    pub name: String,
    /// State.
    pub state: JobState,
    /// Start time.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub started: Option<Timestamp>,
    /// End time, for a job that has ended. Beside a state that is alive: it ended between the two readings, and may have
    /// taken its checkpoints with it.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClusterKind {
    /// A JobManager.
    Live,
    /// A history server: terminal jobs only, no proof of absence.
    History,
}

/// One cluster or history server, both readings (before and after the HDFS listing) merged: alive in either is alive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
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
    #[schemars(with = "Vec<String>")]
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
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

/// Joins the two readings of one cluster, before and after the HDFS listing.
///
/// The union of jobs counts, and a job that is alive in either reading is alive for this run: one that ended in between may
/// have had its files in use while they were listed. Of what is shown about one job the later reading wins, except where it
/// could not tell; restore points that only the earlier one shows stay, since they protect.
pub fn merge_readings(before: ClusterView, after: ClusterView) -> ClusterView {
    let kind = match (before.kind, after.kind) {
        (ClusterKind::History, ClusterKind::History) => ClusterKind::History,
        _ => ClusterKind::Live,
    };
    let mut gaps = before.gaps;
    gaps.extend(after.gaps);
    gaps.sort();
    gaps.dedup();
    let mut read_at = before.read_at;
    read_at.extend(after.read_at);
    ClusterView {
        name: after.name,
        kind,
        retired: before.retired && after.retired,
        version: after.version.or(before.version),
        checkpoint_dir: after.checkpoint_dir.or(before.checkpoint_dir),
        savepoint_dir: after.savepoint_dir.or(before.savepoint_dir),
        task_managers: after.task_managers.or(before.task_managers),
        jobs: merge_jobs(before.jobs, after.jobs),
        read_at,
        gaps,
    }
}

fn merge_jobs(before: Vec<JobView>, after: Vec<JobView>) -> Vec<JobView> {
    let mut jobs: BTreeMap<JobId, JobView> = before.into_iter().map(|job| (job.id.clone(), job)).collect();
    for job in after {
        let merged = match jobs.remove(&job.id) {
            Some(earlier) => merge_job(earlier, job),
            None => job,
        };
        jobs.insert(merged.id.clone(), merged);
    }
    jobs.into_values().collect()
}

fn merge_job(before: JobView, after: JobView) -> JobView {
    let restored = merge_restored(&before, &after);
    let ended = if after.is_live() { None } else { after.ended.or(before.ended) };
    let state = if before.is_live() && !after.is_live() { before.state } else { after.state };
    let mut retained = after.retained;
    retained.extend(before.retained);
    retained.sort_by(|a, b| b.id.cmp(&a.id).then_with(|| a.cmp(b)));
    retained.dedup();
    JobView {
        id: after.id,
        name: if after.name.is_empty() { before.name } else { after.name },
        state,
        started: after.started.or(before.started),
        ended,
        latest: after.latest.or(before.latest),
        retained,
        restored,
    }
}

/// The later word on the restore, unless it is silence. A job that started anew in between hides what it restores from,
/// whatever was shown before.
fn merge_restored(before: &JobView, after: &JobView) -> Restored {
    let starts_anew = after.state.is_starting() && !before.state.is_starting();
    match (&before.restored, &after.restored) {
        (earlier, Restored::Unknown { .. }) if !starts_anew => earlier.clone(),
        (Restored::From { .. }, Restored::NoneShown) => before.restored.clone(),
        (_, later) => later.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::views::{Cause, ViewName};

    fn point(id: i64) -> ShownRestorePoint {
        let pointer = Pointer::parse(&format!("hdfs://ns1/r/chk-{id}"));
        ShownRestorePoint { id, pointer, savepoint: false, completed: None }
    }

    fn job(digit: char, state: &str, points: &[i64], restored: Restored) -> JobView {
        JobView {
            id: JobId::parse(&digit.to_string().repeat(32)).expect("an id"),
            name: "orders".into(),
            state: JobState::from(state.to_owned()),
            started: None,
            ended: state.eq("FINISHED").then(|| Timestamp::from_second(9).expect("a time")),
            latest: points.first().map(|id| point(*id)),
            retained: points.iter().map(|id| point(*id)).collect(),
            restored,
        }
    }

    fn view(second: i64, jobs: Vec<JobView>) -> ClusterView {
        let read_at = vec![Timestamp::from_second(second).expect("a time")];
        ClusterView { jobs, read_at, ..ClusterView::unread("c1", ClusterKind::Live, false) }
    }

    fn merged(before: JobView, after: JobView) -> JobView {
        merge_readings(view(1, vec![before]), view(2, vec![after])).jobs.remove(0)
    }

    fn unknown() -> Restored {
        Restored::Unknown { why: "starting".into() }
    }

    fn from(id: i64) -> Restored {
        Restored::From { pointer: point(id).pointer }
    }

    #[test]
    fn the_union_of_jobs_counts() {
        let both = merge_readings(
            view(1, vec![job('a', "RUNNING", &[], Restored::NoneShown)]),
            view(2, vec![job('b', "RUNNING", &[], Restored::NoneShown)]),
        );
        assert_eq!(both.jobs.iter().map(|job| &job.id.as_str()[..1]).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(both.read_at.len(), 2);
    }

    #[test]
    fn alive_in_either_is_alive() {
        let ended = || job('a', "FINISHED", &[], Restored::NoneShown);
        let alive = || job('a', "RUNNING", &[], Restored::NoneShown);
        let again = merged(ended(), alive());
        assert_eq!((again.state, again.ended), (JobState::Running, None));
        let between = merged(alive(), ended());
        assert!(between.is_live() && between.ended.is_some(), "alive for this run, and seen to end");
        assert!(merged(ended(), ended()).ended.is_some());
        let starting = job('a', "INITIALIZING", &[], unknown());
        assert_eq!(merged(starting, alive()).state, JobState::Running);
    }

    #[test]
    fn the_later_reading_wins_and_earlier_restore_points_stay() {
        let one = merged(job('a', "RUNNING", &[5, 4], from(1)), job('a', "RUNNING", &[6, 5], from(4)));
        assert_eq!(one.latest.map(|point| point.id), Some(6));
        assert_eq!(one.retained.iter().map(|point| point.id).collect::<Vec<_>>(), [6, 5, 4]);
        assert_eq!(one.restored, from(4));
    }

    #[test]
    fn silence_does_not_undo_what_was_shown() {
        let one = merged(job('a', "RUNNING", &[5], from(1)), job('a', "RUNNING", &[], unknown()));
        assert_eq!((one.latest.map(|point| point.id), one.restored), (Some(5), from(1)));
        let lost = merged(job('a', "RUNNING", &[5], from(1)), job('a', "RUNNING", &[], Restored::NoneShown));
        assert_eq!(lost.restored, from(1));
        let told = merged(job('a', "INITIALIZING", &[], unknown()), job('a', "RUNNING", &[], Restored::NoneShown));
        assert_eq!(told.restored, Restored::NoneShown);
    }

    #[test]
    fn a_job_that_starts_anew_hides_its_restore() {
        let one = merged(job('a', "RUNNING", &[5], Restored::NoneShown), job('a', "INITIALIZING", &[], unknown()));
        assert_eq!(one.restored, unknown());
    }

    #[test]
    fn gaps_add_up_once() {
        let gap = |detail: &str| Gap::incomplete(ViewName::Flink, Cause::TimedOut, detail).of_cluster("c1");
        let with = |second, gaps: Vec<Gap>| ClusterView { gaps, ..view(second, vec![]) };
        let both = merge_readings(with(1, vec![gap("x")]), with(2, vec![gap("y"), gap("x")]));
        assert_eq!(both.gaps, [gap("x"), gap("y")]);
    }
}
