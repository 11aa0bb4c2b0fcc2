//! What the checkpoint statistics of one job show, as domain values.

use super::wire::{Checkpoint, Checkpoints, WrongShape};
use crate::views::flink::{Pointer, Restored, ShownRestorePoint};

/// Restore points of one job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) latest: Option<ShownRestorePoint>,
    pub(super) retained: Vec<ShownRestorePoint>,
    pub(super) restored: Restored,
}

impl Shown {
    /// Nothing is known, because of `why`.
    pub(super) fn unknown(why: impl Into<String>) -> Self {
        Self { latest: None, retained: Vec::new(), restored: Restored::Unknown { why: why.into() } }
    }

    /// REST answered, and shows nothing.
    pub(super) fn nothing() -> Self {
        Self { latest: None, retained: Vec::new(), restored: Restored::NoneShown }
    }
}

/// An entry with what REST says of its end.
struct Candidate {
    point: ShownRestorePoint,
    discarded: bool,
}

/// Reads the statistics of a job that is alive or has ended.
pub(super) fn shown(statistics: Checkpoints, alive: bool) -> Result<Shown, WrongShape> {
    let latest = statistics.latest.unwrap_or_default();
    let checkpoint = latest.completed.map(required).transpose()?;
    let savepoint = latest.savepoint.map(required).transpose()?;
    let history = statistics.history.unwrap_or_default();
    let older = history.into_iter().filter(|entry| entry.status.as_deref() == Some("COMPLETED")).filter_map(candidate);
    let mut retained: Vec<ShownRestorePoint> = older
        .chain([&checkpoint, &savepoint].into_iter().flatten().map(Candidate::copy))
        .filter(|entry| !entry.discarded)
        .map(|entry| entry.point)
        .collect();
    let latest_point = pick_latest(checkpoint, savepoint, alive);
    retained.extend(latest_point.clone());
    retained.sort_by(|a, b| b.id.cmp(&a.id).then_with(|| a.cmp(b)));
    retained.dedup_by(|a, b| (a.id, &a.pointer) == (b.id, &b.pointer));
    Ok(Shown { latest: latest_point, retained, restored: latest.restored.map_or(Restored::NoneShown, restored) })
}

/// Which of the latest checkpoint and the latest savepoint stands for the job.
///
/// A live job falls back on its latest completed *checkpoint* when it fails: savepoints belong to the user, who may have
/// removed a newer one without harm. For an ended job the newer of both is what it left behind, such as the savepoint of
/// `stop`. An entry that Flink itself discarded stands back; the flag proves nothing about the files either way.
fn pick_latest(checkpoint: Option<Candidate>, savepoint: Option<Candidate>, alive: bool) -> Option<ShownRestorePoint> {
    let (checkpoint, savepoint) = match (checkpoint, savepoint) {
        (Some(checkpoint), Some(savepoint)) => (checkpoint, savepoint),
        (one, other) => return one.or(other).map(|entry| entry.point),
    };
    let first = match (checkpoint.discarded, savepoint.discarded) {
        (true, false) => savepoint,
        (false, true) => checkpoint,
        _ if !alive && savepoint.point.id > checkpoint.point.id => savepoint,
        _ => checkpoint,
    };
    Some(first.point)
}

impl Candidate {
    fn copy(&self) -> Self {
        Self { point: self.point.clone(), discarded: self.discarded }
    }
}

/// A completed entry of `latest` without number or path is a shape this program does not know, not "none".
fn required(entry: Checkpoint) -> Result<Candidate, WrongShape> {
    candidate(entry).ok_or(WrongShape("completed checkpoint with id and path"))
}

fn candidate(entry: Checkpoint) -> Option<Candidate> {
    let point = ShownRestorePoint {
        id: entry.id?,
        pointer: Pointer::parse(&entry.external_path?),
        savepoint: entry.is_savepoint.unwrap_or(false),
        completed: entry.completed,
    };
    Some(Candidate { point, discarded: entry.discarded.unwrap_or(false) })
}

fn restored(entry: Checkpoint) -> Restored {
    match entry.external_path {
        Some(path) => Restored::From { pointer: Pointer::parse(&path) },
        None => Restored::Unknown { why: "REST shows a restore without its path".to_owned() },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::wire::parse_checkpoints;
    use super::*;

    fn entry(id: i64, savepoint: bool, discarded: bool) -> Value {
        json!({"id": id, "status": "COMPLETED", "is_savepoint": savepoint, "discarded": discarded,
            "latest_ack_timestamp": 1_000 * id, "external_path": format!("hdfs:/r/{id}")})
    }

    fn read(body: &Value, alive: bool) -> Shown {
        shown(parse_checkpoints(body).expect("statistics"), alive).expect("entries")
    }

    fn latest_id(shown: &Shown) -> Option<i64> {
        shown.latest.as_ref().map(|point| point.id)
    }

    #[test]
    fn null_history_and_zero_counts_show_nothing() {
        let body = json!({"counts": {"completed": 0}, "latest": {"completed": null, "savepoint": null, "failed": null,
            "restored": null}, "history": null});
        assert_eq!(read(&body, true), Shown::nothing());
        assert_eq!(read(&json!({"counts": null, "latest": null, "history": null}), true), Shown::nothing());
    }

    #[test]
    fn a_live_job_stands_on_its_checkpoint_and_an_ended_one_on_the_newer() {
        let body = json!({"latest": {"completed": entry(5, false, false), "savepoint": entry(6, true, false)}});
        assert_eq!(latest_id(&read(&body, true)), Some(5));
        assert_eq!(latest_id(&read(&body, false)), Some(6));
        let ids: Vec<i64> = read(&body, true).retained.iter().map(|point| point.id).collect();
        assert_eq!(ids, [6, 5]);
    }

    #[test]
    fn savepoint_or_restore_alone() {
        let body = json!({"latest": {"completed": null, "savepoint": entry(6, true, false),
            "restored": {"id": 2, "external_path": "<checkpoint-not-externally-addressable>"}}});
        let shown = read(&body, true);
        assert_eq!(latest_id(&shown), Some(6));
        assert_eq!(shown.restored, Restored::From { pointer: Pointer::NotAddressable });
    }

    #[test]
    fn discarded_ones_stand_back_but_do_not_vanish_from_latest() {
        let both = json!({"latest": {"completed": entry(5, false, true), "savepoint": entry(3, true, false)}});
        assert_eq!(latest_id(&read(&both, true)), Some(3));
        let one = json!({"latest": {"completed": entry(5, false, true)}, "history": [entry(5, false, true), entry(4, false, true)]});
        let shown = read(&one, true);
        assert_eq!(latest_id(&shown), Some(5));
        assert_eq!(shown.retained.len(), 1, "the latest is kept, the other discarded one is not");
    }

    #[test]
    fn failed_and_pending_entries_are_no_restore_points() {
        let body = json!({"latest": {"completed": entry(4, false, false)}, "history": [
            {"id": 6, "status": "IN_PROGRESS"}, {"id": 5, "status": "FAILED", "is_savepoint": true}, entry(4, false, false)]});
        let ids: Vec<i64> = read(&body, true).retained.iter().map(|point| point.id).collect();
        assert_eq!(ids, [4]);
    }

    #[test]
    fn a_latest_checkpoint_without_a_path_is_not_understood() {
        let body = json!({"latest": {"completed": {"id": 4, "status": "COMPLETED"}}});
        assert!(shown(parse_checkpoints(&body).expect("statistics"), true).is_err());
    }
}
