//! Run directories and the jobs that write or wrote them: what the gates of a run directory judge.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::compare::Context;
use crate::compare::rules::roots::run_directories;
use crate::config::{CheckpointRoot, Layout, RestoreMode};
use crate::domain::{EntryKind, HdfsPath, JobId, Place, Status};
use crate::graph::Completeness;
use crate::views::flink::{Pointer, Restored, ShownRestorePoint};
use crate::views::{ClusterView, JobView};

/// One run directory.
#[derive(Debug)]
pub struct Run<'a> {
    /// Where.
    pub path: HdfsPath,
    /// The root it lies in.
    pub root: &'a CheckpointRoot,
    /// Its application, if anything says it: the directory below an `app/*` root, `[[applications]]`, the registry, or the exact
    /// job name. Never guessed.
    pub application: Option<String>,
    /// Ids of the jobs that wrote it; none where no directory is named by one.
    pub jobs: BTreeSet<JobId>,
    /// The newest time at or below it.
    pub newest: Newest,
    /// Its restore points.
    pub points: Vec<HdfsPath>,
    /// When its newest restore point that can be restored from was complete.
    pub restorable: Restorable,
}

/// The newest modification time in a subtree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Newest {
    /// Everything below was listed.
    Time(Timestamp),
    /// Something below was not listed.
    Unread(HdfsPath),
}

/// Whether a run can be restored from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Restorable {
    /// By a restore point that was complete then.
    Since(Timestamp),
    /// It has no restore point, or each names files that are gone.
    No,
    /// It could not be told, and why.
    Unknown(String),
}

/// The end of a job, as somebody saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// When, if that was said.
    pub at: Option<Timestamp>,
    /// Who saw it, in words.
    pub seen: String,
}

/// A job that is not ended.
#[derive(Debug)]
pub struct LiveJob<'a> {
    /// Where it runs.
    pub cluster: &'a ClusterView,
    /// What REST shows of it.
    pub job: &'a JobView,
    /// Its application, if anything says it.
    pub application: Option<String>,
    /// Its latest completed checkpoint, savepoints left aside.
    pub own: Option<&'a ShownRestorePoint>,
}

impl LiveJob<'_> {
    /// What REST shows that it was restored from.
    pub fn restored(&self) -> Option<&Pointer> {
        match &self.job.restored {
            Restored::From { pointer } => Some(pointer),
            Restored::NoneShown | Restored::Unknown { .. } => None,
        }
    }
}

/// All run directories and live jobs of one inventory.
#[derive(Debug)]
pub struct Runs<'c, 'a> {
    /// Everything that is known.
    pub context: &'c Context<'a>,
    /// In path order.
    pub runs: Vec<Run<'a>>,
    /// Live jobs of all clusters.
    pub live: Vec<LiveJob<'a>>,
}

impl<'c, 'a> Runs<'c, 'a> {
    /// Finds them.
    pub fn new(context: &'c Context<'a>) -> Self {
        let mut runs: Vec<Run<'a>> = Vec::new();
        for root in &context.config.roots {
            runs.extend(run_directories(context, root).map(|(path, status)| run(context, root, path, status)));
        }
        runs.sort_by(|a, b| a.path.cmp(&b.path));
        runs.dedup_by(|a, b| a.path == b.path);
        let live = context.inventory.flink.live_jobs().map(|(cluster, job)| LiveJob {
            cluster,
            job,
            application: application_of_job(context, &runs, job),
            own: own_checkpoint(job),
        });
        let live = live.collect();
        Self { context, runs, live }
    }

    /// Paths of all run directories.
    pub fn units(&self) -> BTreeSet<HdfsPath> {
        self.runs.iter().map(|run| run.path.clone()).collect()
    }

    /// The run directory at or above a path.
    pub fn around(&self, path: &HdfsPath) -> Option<&Run<'a>> {
        self.runs.iter().find(|run| path.is_at_or_below(&run.path))
    }

    /// How the end of a job was seen. Under an id that several applications can share only the registry can say which run ended.
    pub fn end_of(&self, id: &JobId) -> Option<End> {
        let lines = self.context.config.registry.iter().filter(|line| line.job.as_ref() == Some(id));
        let registered = lines
            .filter(|line| line.job_state.as_ref().is_some_and(crate::domain::JobState::is_terminal))
            .map(|line| End { at: line.job_ended, seen: format!("the registry says that job {id} ended") })
            .next();
        if registered.is_some() || id.is_shared() {
            return registered;
        }
        let jobs = self.context.inventory.flink.jobs().filter(|(_, job)| job.id == *id && job.state.is_terminal());
        jobs.map(|(cluster, job)| End { at: job.ended, seen: format!("job {id} is {} on {}", job.state, cluster.name) })
            .max_by_key(|end| end.at)
    }

    /// The end of the last job of a run; `None` unless the end of each was seen.
    pub fn end_of_run(&self, run: &Run<'_>) -> Option<End> {
        let ends: Option<Vec<End>> = run.jobs.iter().map(|id| self.end_of(id)).collect();
        let ends = ends.filter(|ends| !ends.is_empty())?;
        let known: Option<Vec<Timestamp>> = ends.iter().map(|end| end.at).collect();
        let at = known.and_then(|times| times.into_iter().max());
        Some(End { at, seen: ends.into_iter().map(|end| end.seen).collect::<Vec<_>>().join("; ") })
    }

    /// Live jobs of one application.
    pub fn live_of(&self, application: &str) -> impl Iterator<Item = &LiveJob<'a>> {
        self.live.iter().filter(move |live| live.application.as_deref() == Some(application))
    }

    /// Whether the configuration says that an application was given up.
    pub fn is_retired(&self, application: &str) -> bool {
        self.context.config.applications.iter().any(|app| app.name == application && app.retired)
    }

    /// The restore mode of jobs that were restored from a place: the registry line of that place, else the policy.
    pub fn mode_of(&self, place: &HdfsPath) -> RestoreMode {
        let config = self.context.config;
        let line = config.registry.iter().find(|line| {
            line.claim_mode.is_some()
                && line.restore_path.as_ref().is_some_and(|uri| self.context.resolve(uri).path() == place)
        });
        line.and_then(|line| line.claim_mode).unwrap_or(config.policies.restore_mode)
    }

    /// Where a pointer leads, in whatever authority: protection matches on the path alone.
    pub fn loosely(&self, pointer: &Pointer) -> Option<HdfsPath> {
        Some(self.context.resolve(pointer.uri()?).path().clone())
    }

    /// Restore points of a live job: everything in its own run directories and every one REST shows.
    pub fn points_of_live(&self, live: &LiveJob<'_>) -> BTreeSet<HdfsPath> {
        let shown = live.job.latest.iter().chain(&live.job.retained).filter_map(|point| {
            let place = self.context.resolve(point.pointer.uri()?);
            place.here().cloned()
        });
        let own = self.runs.iter().filter(|run| run.jobs.contains(&live.job.id));
        shown.chain(own.flat_map(|run| run.points.iter().cloned())).collect()
    }
}

fn run<'a>(context: &Context<'a>, root: &'a CheckpointRoot, path: HdfsPath, status: &Status) -> Run<'a> {
    let jobs = jobs_in(context, root, &path);
    let points: Vec<HdfsPath> = context.graph.points_below(&path).map(|(at, _)| at.clone()).collect();
    Run {
        application: application_of_run(context, root, &path, &jobs),
        newest: newest(context, &path, status),
        restorable: restorable(context, &points),
        jobs,
        points,
        root,
        path,
    }
}

fn jobs_in(context: &Context<'_>, root: &CheckpointRoot, run: &HdfsPath) -> BTreeSet<JobId> {
    if root.layout != Layout::AppRun {
        return run.name().and_then(|name| JobId::parse(name).ok()).into_iter().collect();
    }
    let listing = context.inventory.hdfs.listings.get(run);
    let entries = listing.into_iter().flat_map(|listing| &listing.entries);
    entries
        .filter(|entry| entry.status.kind == EntryKind::Directory && JobId::is_directory_name(&entry.name))
        .filter_map(|entry| JobId::parse(&entry.name).ok())
        .collect()
}

fn application_of_run(
    context: &Context<'_>,
    root: &CheckpointRoot,
    path: &HdfsPath,
    jobs: &BTreeSet<JobId>,
) -> Option<String> {
    if root.layout != Layout::Job {
        return path.relative_to(&root.path)?.split('/').next().map(str::to_owned);
    }
    let names: BTreeSet<String> = jobs.iter().filter_map(|id| application_of_id(context, id)).collect();
    if names.len() == 1 { names.into_iter().next() } else { None }
}

/// The application that the configuration gives a job id, or else its exact name in REST, if all clusters agree on one.
fn application_of_id(context: &Context<'_>, id: &JobId) -> Option<String> {
    said_application(context, id).or_else(|| {
        let shown = context.inventory.flink.jobs().filter(|(_, job)| job.id == *id && !job.name.is_empty());
        let names: BTreeSet<&str> = shown.map(|(_, job)| job.name.as_str()).collect();
        if names.len() == 1 { names.first().map(|name| (*name).to_owned()) } else { None }
    })
}

fn said_application(context: &Context<'_>, id: &JobId) -> Option<String> {
    let config = context.config;
    let listed = config.applications.iter().find(|app| app.jobs.contains(id)).map(|app| &app.name);
    let registered = || config.registry.iter().find(|line| line.job.as_ref() == Some(id)).map(|line| &line.app);
    listed.or_else(registered).cloned()
}

/// The application of a live job: that of its run directory, else of the place of its checkpoint, else what is said of its id,
/// else its exact name.
fn application_of_job(context: &Context<'_>, runs: &[Run<'_>], job: &JobView) -> Option<String> {
    let wrote = |run: &&Run<'_>| run.root.layout != Layout::Job && !job.id.is_shared() && run.jobs.contains(&job.id);
    let of_runs: BTreeSet<&String> = runs.iter().filter(wrote).filter_map(|run| run.application.as_ref()).collect();
    if of_runs.len() > 1 {
        return None;
    }
    let of_run = of_runs.first().map(|name| (*name).clone());
    of_run
        .or_else(|| application_of_place(context, &own_checkpoint(job)?.pointer))
        .or_else(|| said_application(context, &job.id))
        .or_else(|| Some(job.name.clone()).filter(|name| !name.is_empty()))
}

fn application_of_place(context: &Context<'_>, pointer: &Pointer) -> Option<String> {
    let Place::Here(path) = context.resolve(pointer.uri()?) else { return None };
    let root = context.root_of(&path).filter(|root| root.layout != Layout::Job)?;
    path.relative_to(&root.path)?.split('/').next().filter(|name| !name.is_empty()).map(str::to_owned)
}

fn own_checkpoint(job: &JobView) -> Option<&ShownRestorePoint> {
    job.latest.iter().chain(&job.retained).filter(|point| !point.savepoint).max_by_key(|point| point.id)
}

/// The newest time at or below a directory. Its own time changes only with its direct children, so every level counts.
fn newest(context: &Context<'_>, path: &HdfsPath, status: &Status) -> Newest {
    let hdfs = &context.inventory.hdfs;
    let mut newest = status.modified;
    let mut directories = vec![path.clone()];
    while let Some(directory) = directories.pop() {
        let Some(listing) = hdfs.listings.get(&directory).filter(|listing| listing.complete) else {
            return Newest::Unread(directory);
        };
        for entry in &listing.entries {
            newest = newest.max(entry.status.modified);
            if entry.status.kind == EntryKind::Directory {
                directories.push(directory.join(&entry.name));
            }
        }
    }
    Newest::Time(newest)
}

fn restorable(context: &Context<'_>, points: &[HdfsPath]) -> Restorable {
    let mut best = Restorable::No;
    for point in points {
        match context.graph.completeness(point) {
            Completeness::Complete => {
                let Some(found) = context.inventory.state.points.get(point) else { continue };
                best = match best {
                    Restorable::Since(time) => Restorable::Since(time.max(found.modified)),
                    _ => Restorable::Since(found.modified),
                };
            }
            Completeness::Holes(_) => {}
            Completeness::Unknown(why) => {
                if best == Restorable::No {
                    best = Restorable::Unknown(why);
                }
            }
        }
    }
    best
}

/// Applications and the runs of each, for the count of generations.
pub fn by_application<'r, 'a>(runs: &'r [Run<'a>]) -> BTreeMap<&'r str, Vec<&'r Run<'a>>> {
    let mut found: BTreeMap<&str, Vec<&Run<'_>>> = BTreeMap::new();
    for run in runs {
        if let Some(name) = &run.application {
            found.entry(name).or_default().push(run);
        }
    }
    found
}
