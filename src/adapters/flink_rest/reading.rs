//! One reading of one cluster: the questions, their order, and what their failure means.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::{StreamExt as _, stream};

use super::ask::{Failure, Says, Server};
use super::lists::{Disagreement, Round, Union};
use super::shown::{Shown, shown};
use super::wire::{self, Listed, Overview};
use crate::config::ClusterConfig;
use crate::domain::text::printable;
use crate::domain::{HdfsUri, JobId};
use crate::views::flink::{ClusterKind, JobView, Restored};
use crate::views::{Cause, ClusterView, Gap, ViewName};

/// How often the lists are read while they differ.
const ROUNDS: usize = 3;

/// Pause between two rounds: longer than a job needs from one list to the other.
const PAUSE: Duration = Duration::from_millis(200);

/// Ended jobs whose checkpoints are asked for, the latest to end first. A history server can list tens of thousands, and
/// what an ended job left behind is evidence that other sources give too.
const MAX_ENDED: usize = 200;

/// Differences that a gap names one by one.
const MAX_NAMED: usize = 3;

/// One reading in the making.
pub(super) struct Reading<'a> {
    server: &'a Server<'a>,
    config: &'a ClusterConfig,
    view: ClusterView,
}

impl<'a> Reading<'a> {
    pub(super) fn new(server: &'a Server<'a>, config: &'a ClusterConfig, view: ClusterView) -> Self {
        Self { server, config, view }
    }

    /// Asks everything. What fails is a gap in the view.
    pub(super) async fn read(mut self) -> ClusterView {
        if !self.read_server().await {
            return self.view;
        }
        match self.view.kind {
            ClusterKind::Live => self.read_live().await,
            ClusterKind::History => self.read_history().await,
        }
        self.view
    }

    fn fail(&mut self, path: &str, failure: &Failure) {
        self.note(self.server.gap(path, failure));
    }

    fn note(&mut self, gap: Gap) {
        if !self.view.gaps.contains(&gap) {
            self.view.gaps.push(gap);
        }
    }

    fn incomplete(&mut self, cause: Cause, detail: String) {
        self.note(Gap::incomplete(ViewName::Flink, cause, detail).of_cluster(self.server.cluster));
    }

    fn contradiction(&mut self, detail: String) {
        self.note(Gap::contradiction(ViewName::Flink, detail).of_cluster(self.server.cluster));
    }

    /// Version, and which of the two kinds answers. Returns whether there is more to ask.
    async fn read_server(&mut self) -> bool {
        let found = match self.server.ask("config", wire::parse_server).await {
            Ok(found) => found,
            Err(failure) => {
                self.fail("config", &failure);
                return !failure.ends_reading();
            }
        };
        self.view.version = found.version;
        match found.history {
            Some(true) => self.settle_kind(ClusterKind::History),
            Some(false) => self.settle_kind(ClusterKind::Live),
            // Flink 1.14 and before do not tell, but their history servers have no /overview.
            None if self.config.history && self.server.ask("overview", wire::parse_overview).await.is_ok() => {
                self.settle_kind(ClusterKind::Live);
            }
            None => {}
        }
        true
    }

    fn settle_kind(&mut self, found: ClusterKind) {
        if self.view.kind == found {
            return;
        }
        self.view.kind = found;
        let detail = match found {
            ClusterKind::History => {
                "a history server answers here, which cannot tell what runs; set `history = true` and add the JobManager as a cluster of its own"
            }
            ClusterKind::Live => "a JobManager answers here and no history server; remove `history = true`",
        };
        self.incomplete(Cause::NotConfigured, format!("{}: {detail}", super::ask::place(&self.server.base)));
    }

    async fn read_live(&mut self) {
        let Some((listed, whole)) = self.read_lists().await else {
            return self.read_history().await;
        };
        self.read_directories().await;
        self.read_jobs(listed).await;
        if whole {
            self.judge_youth();
        }
    }

    async fn read_history(&mut self) {
        match self.server.ask("jobs/overview", wire::parse_jobs).await {
            Ok(jobs) => {
                let mut union = Union::default();
                for job in jobs {
                    union.add(job);
                }
                self.read_jobs(union.into_jobs()).await;
            }
            Err(failure) => self.fail("jobs/overview", &failure),
        }
    }

    /// The jobs of both lists, and whether both lists were read; `None` if a history server answers.
    async fn read_lists(&mut self) -> Option<(Vec<Listed>, bool)> {
        let mut union = Union::default();
        for round in 0..ROUNDS {
            if round > 0 {
                tokio::time::sleep(PAUSE).await;
            }
            let (overview, jobs, listed) = tokio::join!(
                self.server.ask("overview", wire::parse_overview),
                self.server.ask("jobs", wire::parse_jobs),
                self.server.ask("jobs/overview", wire::parse_jobs),
            );
            let is_history = |failure: &Failure| failure.says() == Some(Says::NoSuchFile);
            if overview.as_ref().is_err_and(is_history) && jobs.as_ref().is_err_and(is_history) {
                self.settle_kind(ClusterKind::History);
                return None;
            }
            let running = self.take_overview(overview).await;
            match (jobs, listed) {
                (Ok(jobs), Ok(overview)) => {
                    if union.add_round(Round { jobs, overview, running }) {
                        break;
                    }
                }
                (jobs, listed) => {
                    self.take_half(&mut union, "jobs", jobs);
                    self.take_half(&mut union, "jobs/overview", listed);
                    return Some((union.into_jobs(), false));
                }
            }
        }
        self.ask_half_listed(&mut union).await;
        self.judge_lists(&union);
        Some((union.into_jobs(), true))
    }

    /// Takes the version and the TaskManagers. Returns the number of live jobs.
    async fn take_overview(&mut self, answer: Result<Overview, Failure>) -> Option<u64> {
        match answer {
            Ok(overview) => {
                self.view.version = self.view.version.take().or(overview.version);
                self.view.task_managers = match overview.taskmanagers {
                    Some(number) => Some(number),
                    None => self.count_task_managers().await,
                };
                overview.running
            }
            Err(failure) => {
                self.fail("overview", &failure);
                None
            }
        }
    }

    async fn count_task_managers(&mut self) -> Option<u64> {
        match self.server.ask("taskmanagers", wire::parse_task_managers).await {
            Ok(number) => Some(number),
            Err(failure) => {
                self.fail("taskmanagers", &failure);
                None
            }
        }
    }

    fn take_half(&mut self, union: &mut Union, path: &str, answer: Result<Vec<Listed>, Failure>) {
        match answer {
            Ok(jobs) => {
                for job in jobs {
                    union.add(job);
                }
            }
            Err(failure) => self.fail(path, &failure),
        }
    }

    /// Asks for each job that one list lacks. "Not found" is a negative answer; the job stays in the union as it was seen.
    async fn ask_half_listed(&mut self, union: &mut Union) {
        let server = self.server;
        let ids: Vec<JobId> = union.half_listed().iter().cloned().collect();
        let answers: Vec<_> = stream::iter(ids.into_iter().map(|id| async move {
            let path = format!("jobs/{id}");
            (server.ask(&path, wire::parse_job).await, path)
        }))
        .buffer_unordered(self.concurrency())
        .collect()
        .await;
        for (answer, path) in answers {
            match answer {
                Ok(job) => union.add(job),
                Err(failure) if failure.says() == Some(Says::NoSuchJob) => {}
                Err(failure) => self.fail(&path, &failure),
            }
        }
    }

    fn judge_lists(&mut self, union: &Union) {
        let standing: BTreeSet<&Disagreement> = union.standing().collect();
        if standing.is_empty() {
            return;
        }
        let named: Vec<String> = standing.iter().take(MAX_NAMED).map(ToString::to_string).collect();
        let more = standing.len().saturating_sub(MAX_NAMED);
        let more = if more == 0 { String::new() } else { format!(", and {more} more") };
        self.contradiction(format!(
            "{}: {}{more}, in {ROUNDS} readings; a JobMaster that answers too slowly is left out of the lists: see the JobManager's load, and run again",
            super::ask::place(&self.server.base),
            named.join(", "),
        ));
    }

    async fn read_directories(&mut self) {
        let path = "jobmanager/config";
        match self.server.ask(path, wire::parse_directories).await {
            Ok(found) => {
                self.view.checkpoint_dir = found.checkpoints;
                self.view.savepoint_dir = found.savepoints;
                self.judge_directory();
            }
            // Evidence only, unless the configuration names what it must show.
            Err(failure) if self.config.checkpoint_dir.is_some() => self.fail(path, &failure),
            Err(failure) => tracing::debug!(cluster = self.server.cluster, %failure, "no JobManager configuration"),
        }
    }

    fn judge_directory(&mut self) {
        let Some(expected) = &self.config.checkpoint_dir else { return };
        let shown = self.view.checkpoint_dir.as_deref();
        if shown.is_some_and(|text| is_same_directory(expected, text)) {
            return;
        }
        let shown = shown.map_or_else(|| "none".to_owned(), |text| format!("`{}`", printable(text)));
        let detail = format!(
            "{}: the configuration names `{}` as the checkpoint directory, the cluster shows {shown}; is this the right address?",
            super::ask::place(&self.server.base),
            printable(&expected.to_string()),
        );
        self.contradiction(detail);
    }

    fn judge_youth(&mut self) {
        let place = super::ask::place(&self.server.base);
        if self.view.jobs.is_empty() && self.view.task_managers == Some(0) {
            self.incomplete(
                Cause::TooYoung,
                format!("{place}: no TaskManager is registered and no job is listed; it has just started, or serves nothing: run again later, or set `retired = true` if it is gone for good"),
            );
        }
        let live = self.view.jobs.iter().filter(|job| job.is_live()).count();
        if live < self.config.min_live_jobs {
            self.incomplete(
                Cause::TooYoung,
                format!("{place}: {live} live jobs are listed, and `min_live_jobs` is {}; see whether jobs are missing, or lower it", self.config.min_live_jobs),
            );
        }
    }

    /// Asks for the checkpoints of each job, and of the latest ended ones.
    async fn read_jobs(&mut self, listed: Vec<Listed>) {
        let asked = worth_asking(&listed);
        let this = &*self;
        let mut read: Vec<(JobView, Option<Gap>)> = stream::iter(listed.into_iter().map(|job| {
            let ask = !job.state.is_terminal() || asked.contains(&job.id);
            async move { this.read_job(job, ask).await }
        }))
        .buffer_unordered(self.concurrency())
        .collect()
        .await;
        read.sort_by(|(a, _), (b, _)| a.id.cmp(&b.id));
        for (job, gap) in read {
            self.view.jobs.push(job);
            if let Some(gap) = gap {
                self.note(gap);
            }
        }
    }

    async fn read_job(&self, job: Listed, ask: bool) -> (JobView, Option<Gap>) {
        let path = format!("jobs/{}/checkpoints", job.id);
        let alive = !job.state.is_terminal();
        let (shown, gap) = if ask {
            let answer = self.server.ask(&path, |body| shown(wire::parse_checkpoints(body)?, alive)).await;
            let (shown, failure) = settle(&job, answer);
            (shown, failure.map(|failure| self.server.gap(&path, &failure)))
        } else {
            (Shown::unknown(format!("only the {MAX_ENDED} jobs that ended last are asked for")), None)
        };
        let Shown { latest, retained, restored } = shown;
        let Listed { id, name, state, started, ended } = job;
        let name = name.unwrap_or_default();
        (JobView { id, name, state, started, ended, latest, retained, restored }, gap)
    }

    fn concurrency(&self) -> usize {
        self.config.http.max_concurrency.max(1)
    }
}

/// What the checkpoint statistics of a listed job say, and the failure that must be a gap.
fn settle(job: &Listed, answer: Result<Shown, Failure>) -> (Shown, Option<Failure>) {
    let starting = job.state.is_starting();
    let hidden = || Shown::unknown("the job is starting and does not show yet what it restores from");
    match answer {
        // Before 1.20 a starting job gives empty statistics.
        Ok(shown) if starting && shown.restored == Restored::NoneShown => {
            (Shown { restored: hidden().restored, ..shown }, None)
        }
        Ok(shown) => (shown, None),
        Err(failure) if failure.says() == Some(Says::NoCheckpointing) => {
            (if starting { hidden() } else { Shown::nothing() }, None)
        }
        Err(failure) if failure.says() == Some(Says::Starting) || (starting && failure.is_flink_error()) => {
            (hidden(), None)
        }
        Err(failure) => {
            let shown = Shown::unknown(format!("asking for its checkpoints failed: {failure}"));
            // What an ended job left behind is evidence only; HDFS and the registry tell it too.
            (shown, (!job.state.is_terminal()).then_some(failure))
        }
    }
}

/// The ended jobs that are asked for their checkpoints.
fn worth_asking(listed: &[Listed]) -> BTreeSet<JobId> {
    let mut ended: Vec<&Listed> = listed.iter().filter(|job| job.state.is_terminal()).collect();
    ended.sort_by(|a, b| b.ended.cmp(&a.ended).then_with(|| a.id.cmp(&b.id)));
    ended.into_iter().take(MAX_ENDED).map(|job| job.id.clone()).collect()
}

/// Whether the cluster shows the directory the configuration names. Paths have to be equal. Of the authority only the
/// written text is known here, and one NameNode has many names, so a difference in it alone is left to the resolution of
/// authorities.
fn is_same_directory(expected: &HdfsUri, shown: &str) -> bool {
    HdfsUri::parse(shown).is_ok_and(|shown| shown.path == expected.path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::http::HttpFault;
    use crate::domain::JobState;

    fn job(state: &str) -> Listed {
        let id = JobId::parse("49b5926251bfc0e5166a1c407ccd1050").expect("an id");
        Listed { id, name: None, state: JobState::from(state.to_owned()), started: None, ended: None }
    }

    fn said(status: u16, says: Says) -> Failure {
        Failure::Said { status, says, message: String::new() }
    }

    fn is_unknown(shown: &Shown) -> bool {
        matches!(shown.restored, Restored::Unknown { .. })
    }

    #[test]
    fn a_starting_job_hides_its_restore_path_without_a_gap() {
        for answer in [Ok(Shown::nothing()), Err(said(500, Says::Starting)), Err(said(500, Says::Other))] {
            let (shown, gap) = settle(&job("INITIALIZING"), answer);
            assert!(is_unknown(&shown) && gap.is_none());
        }
        let (shown, gap) = settle(&job("CREATED"), Err(said(404, Says::NoCheckpointing)));
        assert!(is_unknown(&shown) && gap.is_none());
    }

    #[test]
    fn other_failures_are_gaps_for_starting_jobs_too() {
        for failure in [Failure::Http(HttpFault::TimedOut(1)), Failure::Refused(401), said(404, Says::Other)] {
            let (shown, gap) = settle(&job("INITIALIZING"), Err(failure));
            assert!(is_unknown(&shown) && gap.is_some());
        }
    }

    #[test]
    fn a_running_job_without_checkpointing_shows_nothing() {
        assert_eq!(settle(&job("RUNNING"), Err(said(404, Says::NoCheckpointing))), (Shown::nothing(), None));
        assert_eq!(settle(&job("RUNNING"), Ok(Shown::nothing())), (Shown::nothing(), None));
    }

    #[test]
    fn a_failure_is_a_gap_for_a_live_job_only() {
        let (shown, gap) = settle(&job("RUNNING"), Err(said(500, Says::Other)));
        assert!(is_unknown(&shown) && gap.is_some());
        let (shown, gap) = settle(&job("FINISHED"), Err(said(500, Says::Other)));
        assert!(is_unknown(&shown) && gap.is_none());
    }

    #[test]
    fn directories_compare_by_path() {
        let expected = HdfsUri::parse("hdfs://ns1/flink/ckpt").expect("a uri");
        assert!(is_same_directory(&expected, "hdfs:///flink/ckpt/"));
        assert!(is_same_directory(&expected, "hdfs://nn-a:8020/flink/ckpt"));
        assert!(!is_same_directory(&expected, "hdfs://ns1/flink/other"));
        assert!(!is_same_directory(&expected, "s3://ns1/flink/ckpt"));
    }

    #[test]
    fn the_jobs_that_ended_last_are_asked_for() {
        let listed: Vec<Listed> = (0..300_i64)
            .map(|n| Listed {
                id: JobId::parse(&format!("{n:032x}")).expect("an id"),
                ended: jiff::Timestamp::from_second(n + 1).ok(),
                ..job("FINISHED")
            })
            .collect();
        let asked = worth_asking(&listed);
        assert_eq!(asked.len(), MAX_ENDED);
        assert!(asked.contains(&listed[299].id) && !asked.contains(&listed[0].id));
    }
}
