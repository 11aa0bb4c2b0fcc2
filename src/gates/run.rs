//! The gates of a run directory: may it go? Pure; every answer with its evidence.
//!
//! Protection matches loosely (any authority, any spelling), permission strictly. What is not seen is unknown, never over.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::runs::{LiveJob, Newest, Restorable, Run, Runs, by_application, may_be_same};
use super::{GateResult, RunGate, Verdict};
use crate::compare::Context;
use crate::compare::context::Presence;
use crate::compare::rules::clock::is_skewed;
use crate::compare::rules::roots::strangers;
use crate::config::{RegistryEntry, RestoreMode};
use crate::domain::text::printable;
use crate::domain::{Existence, HdfsPath, HdfsUri, JobState, Place};
use crate::graph::{Completeness, How, Kept, Needed};
use crate::views::flink::{ClusterKind, Pointer, Restored};
use crate::views::hdfs::Look;
use crate::views::{ClusterView, Gap, JobView, ViewName};

/// The verdict on one run directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunVerdict {
    /// The run directory.
    pub path: HdfsPath,
    /// Its application, if anything says it.
    pub application: Option<String>,
    /// All gates, in the order they are printed.
    pub gates: Vec<GateResult<RunGate>>,
    /// Whether everything about the directory itself holds. Left aside: views of other roots, the limits of a plan, and whether
    /// HDFS may act there at all.
    pub is_orphan: bool,
}

impl RunVerdict {
    /// The answer of one gate.
    pub fn of(&self, gate: RunGate) -> Option<&GateResult<RunGate>> {
        self.gates.iter().find(|result| result.gate == gate)
    }

    /// The first gate that keeps the directory because somebody needs it.
    pub fn keeper(&self) -> Option<&GateResult<RunGate>> {
        use RunGate::{Checkpointed, Generations, Live, Ownership, Protected, Successor};
        let keeping = [Live, Successor, Checkpointed, Ownership, Protected, Generations];
        self.gates.iter().find(|result| result.verdict == Verdict::Refuted && keeping.contains(&result.gate))
    }
}

/// Judges every run directory of one inventory, in path order.
pub fn verdicts(context: &Context<'_>) -> Vec<RunVerdict> {
    verdicts_of(&Runs::new(context))
}

/// The same for run directories and jobs that were gathered before.
pub fn verdicts_of(runs: &Runs<'_, '_>) -> Vec<RunVerdict> {
    let judge = Judge::new(runs);
    let first: Vec<Vec<GateResult<RunGate>>> = runs.runs.iter().map(|run| judge.of_itself(run)).collect();
    let elsewhere = judge.view_elsewhere();
    let kept = judge.kept(&judge.candidates(&first), &runs.units());
    let all = runs.runs.iter().zip(first).map(|(run, mut gates)| {
        gates.push(judge.references(run, &kept));
        let is_orphan = gates.iter().all(about_itself_holds);
        if let Some(view) = gates.iter_mut().find(|result| result.gate == RunGate::View)
            && view.verdict == Verdict::Proved
            && let Some(why) = &elsewhere
        {
            *view = GateResult::unknown(RunGate::View, why.clone());
        }
        gates.sort_by_key(|result| result.gate);
        RunVerdict { path: run.path.clone(), application: run.application.clone(), gates, is_orphan }
    });
    all.collect()
}

/// What stays because a kept restore point needs it, with `path` counted as a unit of its own beside the run directories.
pub fn kept_around(context: &Context<'_>, path: &HdfsPath) -> Kept {
    let runs = Runs::new(context);
    let judge = Judge::new(&runs);
    let first: Vec<Vec<GateResult<RunGate>>> = runs.runs.iter().map(|run| judge.of_itself(run)).collect();
    let mut units = runs.units();
    units.insert(path.clone());
    judge.kept(&judge.candidates(&first), &units)
}

/// Whether a gate does not speak against the directory itself.
fn about_itself_holds(result: &GateResult<RunGate>) -> bool {
    result.verdict == Verdict::Proved || matches!(result.gate, RunGate::Namespace | RunGate::Budget)
}

struct Judge<'r, 'c, 'a> {
    runs: &'r Runs<'c, 'a>,
    /// Young run directories that no configured cluster knows, by root.
    strangers: BTreeMap<&'a HdfsPath, Vec<HdfsPath>>,
}

impl<'r, 'c, 'a> Judge<'r, 'c, 'a> {
    fn new(runs: &'r Runs<'c, 'a>) -> Self {
        let roots = runs.context.config.roots.iter();
        let strangers = roots.map(|root| (&root.path, strangers(runs.context, root))).collect();
        Self { runs, strangers }
    }

    fn context(&self) -> &Context<'a> {
        self.runs.context
    }

    /// Run directories that would go if nothing needed them: their own restore points keep nothing. Those of a run that a job may
    /// be restoring from right now do.
    fn candidates(&self, gates: &[Vec<GateResult<RunGate>>]) -> BTreeSet<HdfsPath> {
        let both = self.runs.runs.iter().zip(gates);
        let goes = both.filter(|(run, gates)| {
            gates.iter().all(about_itself_holds) && !self.runs.live.iter().any(|live| self.hides_restore(live, run))
        });
        goes.map(|(run, _)| run.path.clone()).collect()
    }

    /// All gates but REFERENCES, which needs to know what else may go.
    fn of_itself(&self, run: &Run<'_>) -> Vec<GateResult<RunGate>> {
        vec![
            self.namespace(run),
            self.view_of_root(run),
            self.live(run),
            self.terminated(run),
            self.successor(run),
            self.checkpointed(run),
            self.ownership(run),
            self.protected(run),
            self.generations(run),
            self.age(run),
            GateResult::proved(RunGate::Drill, "the policy asks for no drill"),
            GateResult::unknown(RunGate::Budget, "judged when a plan is made"),
        ]
    }

    fn namespace(&self, run: &Run<'_>) -> GateResult<RunGate> {
        match self.context().base_path() {
            Some(base) if run.path.is_at_or_below(base) => GateResult::refuted(
                RunGate::Namespace,
                format!("inside the resource namespace {base}, where only the resource API may act"),
            ),
            _ => GateResult::proved(RunGate::Namespace, format!("a run directory of the root {}", run.root.path)),
        }
    }

    /// What was read about this root.
    fn view_of_root(&self, run: &Run<'_>) -> GateResult<RunGate> {
        let context = self.context();
        let writes_here = |cluster: &ClusterView| writes_to(cluster, run);
        if let Some((cluster, gap)) = first_gap(context, writes_here) {
            return GateResult::unknown(RunGate::View, format!("{} writes there: {}", cluster.name, gap.detail));
        }
        if !context.inventory.flink.declared_none && context.inventory.flink.clusters.is_empty() {
            return GateResult::unknown(
                RunGate::View,
                "no Flink cluster was read, and nothing says that there is none",
            );
        }
        let archives_only = context.inventory.flink.clusters.iter().all(|cluster| cluster.kind == ClusterKind::History);
        if !context.inventory.flink.declared_none && archives_only {
            let why = "only history servers were read: they never show a job that is alive";
            return GateResult::unknown(RunGate::View, why);
        }
        let touches = |gap: &&Gap| {
            gap.path.as_ref().is_none_or(|at| at.is_at_or_below(&run.root.path) || run.root.path.is_below(at))
        };
        if let Some(gap) = context.inventory.hdfs.gaps.iter().find(touches) {
            return GateResult::unknown(RunGate::View, format!("{}: {}", gap.cause, gap.detail));
        }
        if let Some(stranger) = self.strangers.get(&run.root.path).and_then(|found| found.first()) {
            let why = format!("{stranger} is young and belongs to no configured cluster: one may be missing");
            return GateResult::unknown(RunGate::View, why);
        }
        GateResult::proved(RunGate::View, "Flink and the root were read whole")
    }

    /// What was read about everything else that could veto: restores cross roots.
    fn view_elsewhere(&self) -> Option<String> {
        let context = self.context();
        if let Some((cluster, gap)) = first_gap(context, |_| true) {
            return Some(format!("restores cross roots, and {} did not answer: {}", cluster.name, gap.detail));
        }
        let state = |gap: &&Gap| {
            gap.path.as_ref().is_none_or(|at| {
                context.config.roots.iter().any(|root| at.is_at_or_below(&root.path) || root.path.is_below(at))
            })
        };
        if let Some(gap) = context.inventory.hdfs.gaps.iter().find(state) {
            return Some(format!("restores cross roots: {}", gap.detail));
        }
        let stranger = self.strangers.values().find_map(|found| found.first())?;
        Some(format!("restores cross roots, and {stranger} belongs to no configured cluster"))
    }

    fn live(&self, run: &Run<'_>) -> GateResult<RunGate> {
        for live in &self.runs.live {
            let (job, cluster) = (live.job, &live.cluster.name);
            if run.jobs.contains(&job.id) {
                return GateResult::refuted(RunGate::Live, format!("job {} is {} on {cluster}", job.id, job.state));
            }
            let shown = job.latest.iter().chain(&job.retained);
            let inside = shown
                .filter_map(|point| self.runs.loosely(&point.pointer))
                .find(|path| path.is_at_or_below(&run.path) || run.path.is_below(path));
            if let Some(path) = inside {
                let why = format!("job {} ({}) on {cluster} keeps {path}", job.id, printable(&job.name));
                return GateResult::refuted(RunGate::Live, why);
            }
        }
        GateResult::proved(RunGate::Live, "no cluster shows a job of it that has not ended")
    }

    fn terminated(&self, run: &Run<'_>) -> GateResult<RunGate> {
        if run.jobs.is_empty() {
            return GateResult::unknown(RunGate::Terminated, "no directory in it is named by a job id");
        }
        if let Some(stray) = &run.stray {
            return GateResult::unknown(
                RunGate::Terminated,
                format!("{stray} lies in no directory named by a job id: nothing says whose it is"),
            );
        }
        if let Some(end) = self.runs.end_of_run(run) {
            return GateResult::proved(RunGate::Terminated, end.seen);
        }
        let open = run.jobs.iter().find(|id| self.runs.end_of(id, run).is_none());
        let why = match open {
            Some(id) if id.is_shared() => {
                format!("several applications can have the job id {id}; only the registry can say which run ended")
            }
            Some(id) => format!("no cluster, history server or registry line saw the end of job {id}"),
            None => "the end of its jobs was not seen".to_owned(),
        };
        GateResult::unknown(RunGate::Terminated, why)
    }

    fn successor(&self, run: &Run<'_>) -> GateResult<RunGate> {
        let gate = RunGate::Successor;
        let Some(app) = &run.application else {
            return GateResult::unknown(gate, "nothing says which application it belongs to");
        };
        if self.runs.is_retired(run) {
            return GateResult::proved(gate, format!("application {} is given up", printable(app)));
        }
        let results: Vec<GateResult<RunGate>> = self.others(run).map(|live| self.successor_by(run, live)).collect();
        best(results).unwrap_or_else(|| {
            GateResult::refuted(gate, format!("no live run of {}: this may be the last state", printable(app)))
        })
    }

    /// Live jobs of an application that did not write this run.
    fn others<'s>(&'s self, run: &'s Run<'_>) -> impl Iterator<Item = &'s LiveJob<'a>> {
        self.runs.live_of(run).filter(|live| !run.jobs.contains(&live.job.id))
    }

    fn successor_by(&self, run: &Run<'_>, live: &LiveJob<'_>) -> GateResult<RunGate> {
        let gate = RunGate::Successor;
        let (context, job) = (self.context(), live.job);
        let who = format!("job {} ({}) on {}", job.id, job.state, live.cluster.name);
        match carries_on(job) {
            Some(true) => {}
            Some(false) => return GateResult::refuted(gate, format!("{who} ended or is ending")),
            None => return GateResult::unknown(gate, format!("whether {who} carries on is not known")),
        }
        let Some(own) = live.own else {
            return GateResult::refuted(gate, format!("{who} has completed no checkpoint of its own"));
        };
        let stable = context.config.policies.stable_for;
        match job.started {
            None => return GateResult::unknown(gate, format!("when {who} started is not told")),
            Some(started) if !stable.has_passed(started, context.now) => {
                return GateResult::refuted(gate, format!("{who} started less than {stable} ago"));
            }
            Some(_) => {}
        }
        let Some(end) = self.runs.end_of_run(run).and_then(|end| end.at) else {
            return GateResult::unknown(gate, format!("{who} has own checkpoints; when this run ended is not told"));
        };
        match self.completed(own) {
            None => GateResult::unknown(gate, format!("when {who} completed its checkpoint is not told")),
            Some(time) if time > end => {
                GateResult::proved(gate, format!("{who} completed checkpoint {} after the end of this run", own.id))
            }
            Some(_) => GateResult::refuted(gate, format!("{who} completed nothing since this run ended")),
        }
    }

    /// When a checkpoint was complete: by REST, else by the time of its `_metadata`.
    fn completed(&self, point: &crate::views::flink::ShownRestorePoint) -> Option<Timestamp> {
        let place = self.context().resolve(point.pointer.uri()?);
        let read = || Some(self.context().inventory.state.points.get(place.here()?)?.modified);
        point.completed.or_else(read)
    }

    fn checkpointed(&self, run: &Run<'_>) -> GateResult<RunGate> {
        let gate = RunGate::Checkpointed;
        let Some(app) = &run.application else {
            return GateResult::unknown(gate, "nothing says which application it belongs to");
        };
        if self.runs.is_retired(run) {
            return GateResult::proved(gate, format!("application {} is given up", printable(app)));
        }
        let mut successors: Vec<&LiveJob<'_>> = self.others(run).collect();
        let proves = |live: &&LiveJob<'_>| self.successor_by(run, live).verdict == Verdict::Proved;
        if successors.iter().any(proves) {
            successors.retain(proves);
        }
        let results = successors.into_iter().map(|live| self.checkpoint_is_there(live)).collect();
        best(results).unwrap_or_else(|| GateResult::refuted(gate, "no live run, so no checkpoint of one"))
    }

    fn checkpoint_is_there(&self, live: &LiveJob<'_>) -> GateResult<RunGate> {
        let gate = RunGate::Checkpointed;
        let Some(own) = live.own else {
            return GateResult::refuted(gate, format!("job {} has completed no checkpoint", live.job.id));
        };
        let place = own.pointer.uri().map(|uri| self.context().resolve(uri));
        let Some(path) = place.as_ref().and_then(|place| place.here()) else {
            return GateResult::unknown(gate, format!("checkpoint {} of job {} is not here", own.id, live.job.id));
        };
        match self.context().presence(&path.join("_metadata")) {
            Presence::Absent => return GateResult::refuted(gate, format!("{path} has no _metadata")),
            Presence::Unknown => {
                return GateResult::unknown(gate, format!("whether {path} is there could not be told"));
            }
            Presence::Present(_) => {}
        }
        match self.context().graph.completeness(path) {
            Completeness::Complete => {
                GateResult::proved(gate, format!("{path} is there, and every file it names is there"))
            }
            Completeness::Holes(holes) => {
                let first = holes.first().map_or("", String::as_str);
                GateResult::refuted(gate, format!("{path} names {first}, which is gone"))
            }
            Completeness::Unknown(why) => GateResult::unknown(gate, format!("{path}: {why}")),
        }
    }

    fn ownership(&self, run: &Run<'_>) -> GateResult<RunGate> {
        let gate = RunGate::Ownership;
        let mut open = None;
        for live in &self.runs.live {
            let result = self.claimed_by(run, live);
            match result.verdict {
                Verdict::Refuted => return result,
                Verdict::Unknown => open = open.or(Some(result)),
                Verdict::Proved => {}
            }
        }
        if let Some(result) = open {
            return result;
        }
        GateResult::proved(gate, "who may have claimed it names nothing in it")
    }

    /// Whether one live job may own or need the files of a run that it was or may have been restored from.
    fn claimed_by(&self, run: &Run<'_>, live: &LiveJob<'_>) -> GateResult<RunGate> {
        let gate = RunGate::Ownership;
        let who = format!("job {} ({})", live.job.id, printable(&live.job.name));
        if run.jobs.contains(&live.job.id) {
            return GateResult::proved(gate, format!("{who} wrote it itself"));
        }
        let restored = live.restored().and_then(|pointer| self.runs.loosely(pointer));
        let from_here = restored.filter(|path| path.is_at_or_below(&run.path));
        // REST hides the first restore after a failover, so any run of the same application may be restored from it.
        let may_be = match (&run.application, &live.application) {
            (Some(of_run), Some(of_job)) => of_run == of_job,
            _ => run.root.clusters.is_empty() || run.root.clusters.contains(&live.cluster.name),
        };
        if from_here.is_none() && !may_be {
            return GateResult::proved(gate, format!("{who} is of another application"));
        }
        if let Some(result) = from_here.as_ref().and_then(|path| self.would_restore_again(live, path, &who)) {
            return result;
        }
        let mode = from_here.as_ref().map_or_else(|| self.runs.mode_of_hidden(run), |path| self.runs.mode_of(path));
        if mode == RestoreMode::NoClaim {
            return GateResult::proved(gate, format!("{who} claims nothing (NO_CLAIM)"));
        }
        self.metadata_frees(run, live, &who)
    }

    /// Whether a job that was restored from `path` would have to be restored from it again, whatever the mode: it has no own
    /// checkpoint that is there with every file it names.
    fn would_restore_again(&self, live: &LiveJob<'_>, path: &HdfsPath, who: &str) -> Option<GateResult<RunGate>> {
        let gate = RunGate::Ownership;
        let from = format!("{who} was restored from {path}");
        if live.own.is_none() {
            let why = format!("{from} and has no own checkpoint: it would be restored from it again");
            return Some(GateResult::refuted(gate, why));
        }
        let own = self.checkpoint_is_there(live);
        match own.verdict {
            Verdict::Proved => None,
            Verdict::Refuted => Some(GateResult::refuted(gate, format!("{from}, and of its own {}", own.evidence))),
            Verdict::Unknown => Some(GateResult::unknown(gate, format!("{from}, and of its own {}", own.evidence))),
        }
    }

    /// Only metadata that was read frees a directory that may have been claimed.
    fn metadata_frees(&self, run: &Run<'_>, live: &LiveJob<'_>, who: &str) -> GateResult<RunGate> {
        let gate = RunGate::Ownership;
        let points = self.runs.points_of_live(live);
        let graph = &self.context().graph;
        if let Some(needed) = points.iter().find_map(|point| graph.needs_below(point, &run.path)) {
            return GateResult::refuted(gate, format!("{who}: {}", in_words(&needed)));
        }
        let own_is_read = live.own.is_none_or(|own| {
            let place = own.pointer.uri().map(|uri| self.context().resolve(uri));
            place.and_then(|place| place.here().cloned()).is_some_and(|path| graph.point(&path).is_some())
        });
        let unread = points.iter().find_map(|point| Some((point, graph.point(point)?.unread.as_ref()?)));
        match (live.own, unread) {
            (_, Some((point, why))) => {
                GateResult::unknown(gate, format!("{who} may have claimed it, and {point} could not be read: {why}"))
            }
            (Some(own), None) if !own_is_read => GateResult::unknown(
                gate,
                format!("{who} may have claimed it, and its checkpoint {} was not read", own.id),
            ),
            (None, None) => GateResult::unknown(
                gate,
                format!("{who} may have been restored from it and has no own checkpoint that says otherwise"),
            ),
            (Some(_), None) => GateResult::proved(gate, format!("no _metadata of {who} names anything in it")),
        }
    }

    /// What stays because restore points outside of the candidates need it.
    fn kept(&self, candidates: &BTreeSet<HdfsPath>, units: &BTreeSet<HdfsPath>) -> Kept {
        let graph = &self.context().graph;
        let goes = |point: &HdfsPath| point.ancestors().any(|at| candidates.contains(at));
        let seeds = graph.points().map(|(at, _)| at).filter(|at| !goes(at));
        graph.kept(seeds, units)
    }

    fn references(&self, run: &Run<'_>, kept: &Kept) -> GateResult<RunGate> {
        let gate = RunGate::References;
        if let Some(needed) = kept.needed.get(&run.path).and_then(|needed| needed.first()) {
            return GateResult::refuted(gate, in_words(needed));
        }
        if let Some(live) = self.runs.live.iter().find(|live| self.hides_restore(live, run)) {
            return GateResult::unknown(
                gate,
                format!("job {} on {} hides what it was restored from", live.job.id, live.cluster.name),
            );
        }
        let outside = kept.unread.iter().find(|(point, _)| !point.is_at_or_below(&run.path));
        if let Some((point, why)) = outside {
            return GateResult::unknown(gate, format!("{point} may name anything: {why}"));
        }
        if let Some(why) =
            self.unread_pointer(run).or_else(|| self.unread_line(run)).or_else(|| self.unread_savepoints())
        {
            return GateResult::unknown(gate, why);
        }
        GateResult::proved(gate, "no restore point that stays names anything in it")
    }

    fn hides_restore(&self, live: &LiveJob<'_>, run: &Run<'_>) -> bool {
        let hides = live.job.state.is_starting() || matches!(live.job.restored, Restored::Unknown { .. });
        // A name that is of no known application may be that of a job of any.
        let application = live.application.as_ref().filter(|app| !live.only_named || self.is_application(app));
        hides
            && match (application, &run.application) {
                (Some(of_job), Some(of_run)) => of_job == of_run,
                _ => run.root.clusters.is_empty() || run.root.clusters.contains(&live.cluster.name),
            }
    }

    fn is_application(&self, name: &str) -> bool {
        let config = self.context().config;
        self.runs.runs.iter().any(|run| run.application.as_deref() == Some(name))
            || config.applications.iter().any(|app| app.name == name)
            || config.registry.iter().any(|line| line.app == name)
    }

    /// A restore point of a live job whose content was not read.
    fn unread_pointer(&self, run: &Run<'_>) -> Option<String> {
        self.runs.live.iter().find_map(|live| {
            let id = &live.job.id;
            if let Some(Pointer::Other { text }) = live.job.latest.as_ref().map(|point| &point.pointer) {
                return Some(format!("{} of live job {id} is not in HDFS and was not read", printable(text)));
            }
            let latest = live.job.latest.as_ref().map(|point| &point.pointer).and_then(Pointer::uri);
            if let Some(uri) = latest.filter(|uri| matches!(self.context().resolve(uri), Place::Elsewhere(..))) {
                return Some(format!("{} of live job {id} was not read", printable(&uri.to_string())));
            }
            let shown = crate::compare::context::state_pointers(live.job).filter_map(Pointer::uri);
            let unread = shown.into_iter().find(|uri| self.is_unread(uri, run))?;
            Some(format!("{} of live job {id} was not read", printable(&unread.to_string())))
        })
    }

    /// A registered restore point that is protected and was not read.
    fn unread_line(&self, run: &Run<'_>) -> Option<String> {
        let lines = self.context().config.registry.iter().filter(|line| self.is_in_force(line));
        let unread = lines.filter_map(|line| line.restore_path.as_ref()).find(|uri| self.is_unread(uri, run))?;
        Some(format!("{}, which the registry protects, was not read", printable(&unread.to_string())))
    }

    /// A savepoint directory of a cluster that was not read whole: what lies there may name anything.
    fn unread_savepoints(&self) -> Option<String> {
        let context = self.context();
        context.inventory.flink.clusters.iter().find_map(|cluster| {
            let uri = HdfsUri::parse(cluster.savepoint_dir.as_deref()?).ok()?;
            let directory = context.resolve(&uri).here()?.clone();
            let touches = |gap: &&Gap| {
                let at = gap.path.as_ref();
                at.is_some_and(|at| at.is_at_or_below(&directory) || directory.is_below(at))
            };
            let gap = context.inventory.hdfs.gaps.iter().find(touches)?;
            Some(format!("savepoints of {} may name anything: {}", cluster.name, gap.detail))
        })
    }

    /// Whether a restore point outside of a run may be there and was not read. One that is gone names nothing any more.
    fn is_unread(&self, uri: &HdfsUri, run: &Run<'_>) -> bool {
        let context = self.context();
        let place = context.resolve(uri);
        if place.path().is_at_or_below(&run.path) {
            return false;
        }
        let path = match &place {
            Place::Here(path) => path.restore_point(),
            Place::Elsewhere(..) => return false,
            Place::Unresolved(..) => return true,
        };
        let hdfs = &context.inventory.hdfs;
        let metadata = path.join("_metadata");
        let listed_without = hdfs.listings.get(&path).is_some_and(|it| it.complete && it.find("_metadata").is_none());
        let is_gone = context.presence(&path) == Presence::Absent
            || hdfs.look(&metadata) == Look::Absent
            || hdfs.answers.get(&metadata) == Some(&Existence::Absent);
        context.graph.point(&path).is_none() && !is_gone && !listed_without
    }

    fn is_in_force(&self, line: &RegistryEntry) -> bool {
        line.status.protects() || line.protected_until.is_some_and(|until| until > self.context().now)
    }

    fn protected(&self, run: &Run<'_>) -> GateResult<RunGate> {
        let gate = RunGate::Protected;
        let (config, now) = (self.context().config, self.context().now);
        let overlaps = |path: &HdfsPath| path.is_at_or_below(&run.path) || run.path.is_below(path);
        let entry = config.policies.protect.iter().find(|entry| config.protected_paths(entry).iter().any(overlaps));
        if let Some(entry) = entry {
            return GateResult::refuted(gate, format!("policies.protect names {}", printable(entry)));
        }
        let covers = |line: &&RegistryEntry| match (&line.restore_path, &line.job) {
            (Some(uri), _) => overlaps(self.context().resolve(uri).path()),
            (None, Some(job)) => run.jobs.contains(job),
            (None, None) => false,
        };
        if let Some(line) = config.registry.iter().filter(|line| self.is_in_force(line)).find(covers) {
            return GateResult::refuted(
                gate,
                format!("the registry protects a restore point of {}", printable(&line.app)),
            );
        }
        let window = config.policies.rollback_window;
        match self.runs.end_of_run(run).and_then(|end| end.at) {
            Some(end) if !window.has_passed(end, now) => {
                GateResult::refuted(gate, format!("ended less than {window} ago: a rollback must stay possible"))
            }
            Some(_) => GateResult::proved(gate, "nothing protects it, and the rollback window is over"),
            None => {
                GateResult::unknown(gate, "when it ended is not known, so neither is the end of the rollback window")
            }
        }
    }

    fn generations(&self, run: &Run<'_>) -> GateResult<RunGate> {
        let gate = RunGate::Generations;
        let keep = self.context().config.policies.keep_generations;
        if keep == 0 {
            return GateResult::proved(gate, "no generation has to stay");
        }
        if run.restorable == Restorable::No {
            return GateResult::proved(gate, "nothing can be restored from it, so it is no generation");
        }
        let Some(app) = &run.application else {
            return GateResult::unknown(gate, "nothing says which application it belongs to");
        };
        let of_app = by_application(&self.runs.runs).remove(app.as_str()).unwrap_or_default();
        let time = |other: &Run<'_>| match other.restorable {
            Restorable::Since(time) => Some(time),
            _ => None,
        };
        let newer = of_app
            .iter()
            .filter(|other| other.path != run.path && may_be_same(other.environment, run.environment))
            .filter(|other| {
                time(other).is_some_and(|its| time(run).is_none_or(|own| (its, &other.path) > (own, &run.path)))
            })
            .count();
        if newer >= keep as usize {
            return GateResult::proved(
                gate,
                format!("{newer} newer restorable runs of {}, {keep} stay", printable(app)),
            );
        }
        match &run.restorable {
            Restorable::Unknown(why) => GateResult::unknown(gate, format!("whether it can be restored from: {why}")),
            _ => GateResult::refuted(gate, format!("among the newest {keep} restorable runs of {}", printable(app))),
        }
    }

    fn age(&self, run: &Run<'_>) -> GateResult<RunGate> {
        let gate = RunGate::Age;
        let context = self.context();
        if is_skewed(context) {
            return GateResult::unknown(gate, "the clocks of this host and of the NameNode disagree");
        }
        let min_age = context.config.policies.min_age;
        match &run.newest {
            Newest::Unread(path) => GateResult::unknown(gate, format!("{path} was not listed to the end")),
            Newest::Time(newest) if newest.duration_since(context.now) > SignedDuration::from_mins(5) => {
                GateResult::unknown(gate, format!("a time in it lies in the future: {newest}"))
            }
            Newest::Time(newest) if min_age.has_passed(*newest, context.now) => {
                GateResult::proved(gate, format!("newest time {newest}, more than {min_age} ago"))
            }
            Newest::Time(newest) => GateResult::refuted(gate, format!("changed at {newest}, less than {min_age} ago")),
        }
    }
}

/// Whether a live job is one that goes on: not one that was seen to end between the two readings, or that is about to. `None` for a
/// state that this program does not know.
fn carries_on(job: &JobView) -> Option<bool> {
    match &job.state {
        _ if job.ended.is_some() => Some(false),
        JobState::Running => Some(true),
        JobState::Other(name) => match name.as_str() {
            "RESTARTING" | "RECONCILING" => Some(true),
            "CANCELLING" | "FAILING" | "SUSPENDED" => Some(false),
            _ => None,
        },
        _ => Some(false),
    }
}

fn writes_to(cluster: &ClusterView, run: &Run<'_>) -> bool {
    run.root.clusters.is_empty() || run.root.clusters.contains(&cluster.name)
}

/// The first gap of a cluster that can veto; one that is declared gone vetoes nothing.
fn first_gap<'v>(context: &'v Context<'_>, of: impl Fn(&ClusterView) -> bool) -> Option<(&'v ClusterView, &'v Gap)> {
    let clusters = context.inventory.flink.clusters.iter().filter(|cluster| of(cluster));
    clusters
        .flat_map(|cluster| cluster.gaps.iter().map(move |gap| (cluster, gap)))
        .find(|(_, gap)| gap.view == ViewName::Flink)
}

/// The best of several ways in which a gate can hold.
fn best(results: Vec<GateResult<RunGate>>) -> Option<GateResult<RunGate>> {
    let rank = |verdict: Verdict| match verdict {
        Verdict::Proved => 0,
        Verdict::Unknown => 1,
        Verdict::Refuted => 2,
    };
    results.into_iter().min_by_key(|result| rank(result.verdict))
}

/// Why a directory is needed, in one line.
pub fn in_words(needed: &Needed) -> String {
    let name = printable(&needed.name);
    let by = printable(needed.by.as_str());
    match needed.how {
        How::Lies => format!("{by} names {name}"),
        How::Possibly => format!("{by} names {name}, under an authority that nobody declared"),
        How::SameName => format!("{by} names {name}, which was not found there; a file of that name lies here"),
    }
}
