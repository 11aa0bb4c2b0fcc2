//! Whether the lists of one reading agree.
//!
//! Flink drops a job from a list when its JobMaster does not answer in time (`Dispatcher.queryJobMastersForInformation`,
//! 1.13 to 2.3), with status 200. So the lists are held against each other, and only what differs in every round counts:
//! jobs that start or end between two calls make lists differ once.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::wire::Listed;
use crate::domain::JobId;

/// `/jobs`, `/jobs/overview` and the count of `/overview`, asked together.
#[derive(Debug, Default)]
pub(super) struct Round {
    pub(super) jobs: Vec<Listed>,
    pub(super) overview: Vec<Listed>,
    /// `jobs-running` of `/overview`.
    pub(super) running: Option<u64>,
}

/// One way in which the lists of a round differ.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Disagreement {
    /// `/jobs` alone lists the job.
    OnlyInJobs(JobId),
    /// `/jobs/overview` alone lists the job.
    OnlyInOverview(JobId),
    /// One list calls the job ended, the other one does not.
    Ended(JobId),
    /// `/overview` counts more live jobs than the two lists hold together.
    MoreCounted,
}

impl Disagreement {
    /// The job that one of the lists lacks.
    pub(super) fn half_listed(&self) -> Option<&JobId> {
        match self {
            Self::OnlyInJobs(id) | Self::OnlyInOverview(id) => Some(id),
            Self::Ended(_) | Self::MoreCounted => None,
        }
    }
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OnlyInJobs(id) => write!(f, "/jobs lists {id} and /jobs/overview does not"),
            Self::OnlyInOverview(id) => write!(f, "/jobs/overview lists {id} and /jobs does not"),
            Self::Ended(id) => write!(f, "one of /jobs and /jobs/overview calls {id} ended, the other one does not"),
            Self::MoreCounted => f.write_str("/overview counts more live jobs than the lists name"),
        }
    }
}

impl Round {
    /// How the lists of this round differ.
    pub(super) fn disagreements(&self) -> BTreeSet<Disagreement> {
        let (jobs, overview) = (by_id(&self.jobs), by_id(&self.overview));
        let mut found = BTreeSet::new();
        for (id, ended) in &jobs {
            match overview.get(id) {
                None => found.insert(Disagreement::OnlyInJobs((*id).clone())),
                Some(other) if other != ended => found.insert(Disagreement::Ended((*id).clone())),
                Some(_) => false,
            };
        }
        let unlisted = overview.keys().filter(|id| !jobs.contains_key(*id));
        found.extend(unlisted.map(|id| Disagreement::OnlyInOverview((*id).clone())));
        if self.running.is_some_and(|counted| counted > self.live()) {
            found.insert(Disagreement::MoreCounted);
        }
        found
    }

    fn live(&self) -> u64 {
        let live = self.jobs.iter().chain(&self.overview).filter(|job| !job.state.is_terminal());
        live.map(|job| &job.id).collect::<BTreeSet<_>>().len() as u64
    }
}

/// Ids with whether they have ended. 1.13 to 1.16 can list one id twice, alive and ended: then it is alive.
fn by_id(list: &[Listed]) -> BTreeMap<&JobId, bool> {
    let mut found = BTreeMap::new();
    for job in list {
        let ended = found.entry(&job.id).or_insert(true);
        *ended &= job.state.is_terminal();
    }
    found
}

/// All jobs seen in any list of any round, joined, and what differed.
#[derive(Debug, Default)]
pub(super) struct Union {
    jobs: BTreeMap<JobId, Listed>,
    half_listed: BTreeSet<JobId>,
    standing: Option<BTreeSet<Disagreement>>,
}

impl Union {
    /// Adds one sighting of a job.
    pub(super) fn add(&mut self, job: Listed) {
        let joined = match self.jobs.remove(&job.id) {
            Some(earlier) => earlier.join(job),
            None => job,
        };
        self.jobs.insert(joined.id.clone(), joined);
    }

    /// Adds a whole round. Returns whether its lists agree.
    pub(super) fn add_round(&mut self, round: Round) -> bool {
        let now = round.disagreements();
        self.half_listed.extend(now.iter().filter_map(Disagreement::half_listed).cloned());
        let agrees = now.is_empty();
        self.standing = Some(match self.standing.take() {
            Some(before) => before.intersection(&now).cloned().collect(),
            None => now,
        });
        for job in round.jobs.into_iter().chain(round.overview) {
            self.add(job);
        }
        agrees
    }

    /// Jobs that some round showed in one list only.
    pub(super) fn half_listed(&self) -> &BTreeSet<JobId> {
        &self.half_listed
    }

    /// What differed in every round.
    pub(super) fn standing(&self) -> impl Iterator<Item = &Disagreement> {
        self.standing.iter().flatten()
    }

    /// The jobs, sorted by id.
    pub(super) fn into_jobs(self) -> Vec<Listed> {
        self.jobs.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::JobState;

    fn id(digit: char) -> JobId {
        JobId::parse(&digit.to_string().repeat(32)).expect("an id")
    }

    fn job(digit: char, state: &str) -> Listed {
        Listed { id: id(digit), name: None, state: JobState::from(state.to_owned()), started: None, ended: None }
    }

    fn round(jobs: &[(char, &str)], overview: &[(char, &str)], running: Option<u64>) -> Round {
        let list = |of: &[(char, &str)]| of.iter().map(|(digit, state)| job(*digit, state)).collect();
        Round { jobs: list(jobs), overview: list(overview), running }
    }

    #[test]
    fn starting_and_restarting_jobs_count_as_running() {
        let list = [('a', "INITIALIZING"), ('b', "RESTARTING"), ('c', "FINISHED")];
        assert!(round(&list, &list, Some(2)).disagreements().is_empty());
        assert!(round(&list, &list, Some(1)).disagreements().is_empty(), "counts lag behind the list");
        assert_eq!(round(&list, &list, Some(3)).disagreements(), BTreeSet::from([Disagreement::MoreCounted]));
    }

    #[test]
    fn only_what_differs_in_every_round_stands() {
        let mut union = Union::default();
        assert!(!union.add_round(round(&[('a', "RUNNING"), ('b', "RUNNING")], &[('a', "RUNNING")], None)));
        assert!(!union.add_round(round(&[('b', "RUNNING")], &[('a', "RUNNING"), ('c', "RUNNING")], None)));
        assert_eq!(union.standing().collect::<Vec<_>>(), [&Disagreement::OnlyInJobs(id('b'))]);
        assert_eq!(union.half_listed().len(), 3);
        assert_eq!(union.into_jobs().len(), 3, "the union counts");
    }

    #[test]
    fn a_job_that_starts_between_two_calls_is_no_contradiction() {
        let mut union = Union::default();
        union.add_round(round(&[], &[('a', "RUNNING")], Some(1)));
        assert!(union.add_round(round(&[('a', "RUNNING")], &[('a', "RUNNING")], Some(1))));
        assert_eq!(union.standing().count(), 0);
    }

    #[test]
    fn ended_in_one_list_and_alive_in_the_other() {
        let one = round(&[('a', "FINISHED")], &[('a', "RUNNING")], None);
        assert_eq!(one.disagreements(), BTreeSet::from([Disagreement::Ended(id('a'))]));
        let twice = round(&[('a', "FINISHED"), ('a', "RUNNING")], &[('a', "RUNNING")], None);
        assert!(twice.disagreements().is_empty());
    }
}
