//! Run directories and the jobs that write or wrote them: what the gates of a run directory judge.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use crate::compare::Context;
use crate::compare::rules::roots::{is_inside_run, run_directories};
use crate::config::{CheckpointRoot, Layout, RegistryEntry, RestoreMode};
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
    /// Environment of the root it lies in, if the configuration has environments and one is in the path of the root.
    pub environment: Option<&'a str>,
    /// Ids of the jobs that wrote it, at any depth; none where no directory is named by one.
    pub jobs: BTreeSet<JobId>,
    /// State in it that lies in no directory named by a job id: nothing says whose it is.
    pub stray: Option<HdfsPath>,
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
    /// Whether only its name says so.
    pub only_named: bool,
    /// Environment of the root it writes to, if known.
    pub environment: Option<&'a str>,
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
        let live = context.inventory.flink.live_jobs().map(|(cluster, job)| {
            let said = application_of_job(context, &runs, job);
            let named = || Some(job.name.clone()).filter(|name| !name.is_empty());
            LiveJob {
                cluster,
                job,
                only_named: matches!(said, Said::Nothing),
                application: match said {
                    Said::App(name) => Some(name),
                    Said::Several => None,
                    Said::Nothing => named(),
                },
                environment: environment_of_job(context, &runs, job),
                own: own_checkpoint(job),
            }
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

    /// How the end of a job of a run was seen, the last one if it ended more than once: ids come back. Under an id that several
    /// applications can share only the registry can say which run ended, and nothing may have been written after that.
    pub fn end_of(&self, id: &JobId, run: &Run<'_>) -> Option<End> {
        let lines = self.context.config.registry.iter().filter(|line| line.job.as_ref() == Some(id));
        let registered = lines
            .filter(|line| line.job_state.as_ref().is_some_and(crate::domain::JobState::is_terminal))
            .filter(|line| !id.is_shared() || is_about(self.context, line, run.root, &run.path))
            .map(|line| End { at: line.job_ended, seen: format!("the registry says that job {id} ended") });
        if id.is_shared() {
            let written_after = |end: &End| match (&run.newest, end.at) {
                (Newest::Time(newest), Some(at)) => newest.duration_since(at) > SignedDuration::from_mins(10),
                _ => false,
            };
            return registered.max_by_key(|end| end.at).filter(|end| !written_after(end));
        }
        let jobs = self.context.inventory.flink.jobs().filter(|(_, job)| job.id == *id && job.state.is_terminal());
        let seen = jobs.map(|(cluster, job)| End {
            at: job.ended,
            seen: format!("job {id} is {} on {}", job.state, cluster.name),
        });
        seen.chain(registered).max_by_key(|end| end.at)
    }

    /// The end of the last job of a run; `None` unless the end of each was seen.
    pub fn end_of_run(&self, run: &Run<'_>) -> Option<End> {
        let ends: Option<Vec<End>> = run.jobs.iter().map(|id| self.end_of(id, run)).collect();
        let ends = ends.filter(|ends| !ends.is_empty())?;
        let known: Option<Vec<Timestamp>> = ends.iter().map(|end| end.at).collect();
        let at = known.and_then(|times| times.into_iter().max());
        Some(End { at, seen: ends.into_iter().map(|end| end.seen).collect::<Vec<_>>().join("; ") })
    }

    /// Live jobs of the application of a run, in the same environment.
    pub fn live_of<'s>(&'s self, run: &'s Run<'_>) -> impl Iterator<Item = &'s LiveJob<'a>> {
        self.live.iter().filter(move |live| {
            run.application.is_some()
                && live.application == run.application
                && may_be_same(live.environment, run.environment)
        })
    }

    /// Whether the configuration says that the application of a run was given up, in the environment of the run.
    pub fn is_retired(&self, run: &Run<'_>) -> bool {
        let named = self.context.config.applications.iter().filter(|app| run.application.as_ref() == Some(&app.name));
        let mut here =
            named.filter(|app| may_be_same(app.environment.as_deref(), run.environment)).map(|app| app.retired);
        here.next().is_some_and(|first| first && here.all(|retired| retired))
    }

    /// The restore mode of jobs that were restored from a place: the registry line of that place, else the policy. Of several
    /// lines the strictest.
    pub fn mode_of(&self, place: &HdfsPath) -> RestoreMode {
        let place = place.restore_point();
        self.strictest(|at| at.restore_point() == place).unwrap_or(self.context.config.policies.restore_mode)
    }

    /// The restore mode of jobs that may have been restored from a run without that being shown.
    pub fn mode_of_hidden(&self, run: &Run<'_>) -> RestoreMode {
        let said = self.strictest(|at| at.is_at_or_below(&run.path)).filter(|mode| *mode != RestoreMode::NoClaim);
        said.unwrap_or(self.context.config.policies.restore_mode)
    }

    fn strictest(&self, is_meant: impl Fn(&HdfsPath) -> bool) -> Option<RestoreMode> {
        let lines =
            self.context.config.registry.iter().filter(|line| {
                line.restore_path.as_ref().is_some_and(|uri| is_meant(self.context.resolve(uri).path()))
            });
        let modes: Vec<RestoreMode> = lines.filter_map(|line| line.claim_mode).collect();
        modes.iter().find(|mode| **mode != RestoreMode::NoClaim).or(modes.first()).copied()
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
    let environment = environment_of(context, &root.path);
    let points: Vec<HdfsPath> = context.graph.points_below(&path).map(|(at, _)| at.clone()).collect();
    Run {
        application: application_of_run(context, root, &path, &jobs),
        newest: newest(context, &path, status),
        restorable: restorable(context, &points),
        stray: stray(context, root, &path, &jobs, &points),
        environment,
        jobs,
        points,
        root,
        path,
    }
}

/// Ids of the jobs that wrote a run directory: its own name, and every directory below it that is named by one.
pub fn jobs_in(context: &Context<'_>, root: &CheckpointRoot, run: &HdfsPath) -> BTreeSet<JobId> {
    let own = run.name().filter(|_| root.layout != Layout::AppRun).and_then(|name| JobId::parse(name).ok());
    let entries = context.inventory.hdfs.listings_below(run).flat_map(|(_, listing)| &listing.entries);
    let below = entries
        .filter(|entry| entry.status.kind == EntryKind::Directory && JobId::is_directory_name(&entry.name))
        .filter_map(|entry| JobId::parse(&entry.name).ok());
    own.into_iter().chain(below).collect()
}

/// State in a run directory that no job id names: checkpoints right in it (`create-subdir=false`), or a restore point that lies
/// elsewhere. A savepoint of one of its jobs tells that by its name.
fn stray(
    context: &Context<'_>,
    root: &CheckpointRoot,
    run: &HdfsPath,
    jobs: &BTreeSet<JobId>,
    points: &[HdfsPath],
) -> Option<HdfsPath> {
    if root.layout != Layout::AppRun {
        return None;
    }
    let listing = context.inventory.hdfs.listings.get(run);
    let direct = listing.into_iter().flat_map(|listing| &listing.entries);
    let loose = direct.filter(|entry| is_inside_run(&entry.name)).map(|entry| run.join(&entry.name));
    let of_a_job = |name: &str| {
        let savepoint = name.strip_prefix("savepoint-").and_then(|rest| rest.split('-').next());
        JobId::is_directory_name(name)
            || savepoint.is_some_and(|start| start.len() == 6 && jobs.iter().any(|id| id.as_str().starts_with(start)))
    };
    let is_loose = |point: &&HdfsPath| !point.relative_to(run).is_some_and(|inside| inside.split('/').any(of_a_job));
    loose.chain(points.iter().filter(is_loose).cloned()).next()
}

/// The environment that the path of a root names, of those that the configuration gives to applications and restore points.
fn environment_of<'a>(context: &Context<'a>, root: &HdfsPath) -> Option<&'a str> {
    let config = context.config;
    let of_apps = config.applications.iter().filter_map(|app| app.environment.as_deref());
    let of_lines = config.registry.iter().filter_map(|line| line.environment.as_deref());
    let mut said = of_apps.chain(of_lines);
    said.find(|environment| root.as_str().split('/').any(|part| part == *environment))
}

fn environment_of_job<'a>(context: &Context<'a>, runs: &[Run<'a>], job: &JobView) -> Option<&'a str> {
    let wrote = runs.iter().filter(|run| run.jobs.contains(&job.id));
    let mut of_runs = wrote.map(|run| run.environment);
    let place = || match context.resolve(own_checkpoint(job)?.pointer.uri()?) {
        Place::Here(path) => environment_of(context, &context.root_of(&path)?.path),
        _ => None,
    };
    // Under several environments at once it is of none.
    match of_runs.next() {
        Some(first) => first.filter(|_| of_runs.all(|other| other == first)),
        None => place(),
    }
}

/// Whether two environments can be one: they differ only if both are known.
pub fn may_be_same(one: Option<&str>, other: Option<&str>) -> bool {
    one.zip(other).is_none_or(|(one, other)| one == other)
}

/// Whether a registry line about a job id that several applications can have is about this run: its restore point lies in it, or
/// it is of the application of the run and no other run directory could be meant.
pub fn is_about(context: &Context<'_>, line: &RegistryEntry, root: &CheckpointRoot, run: &HdfsPath) -> bool {
    let place = line.restore_path.as_ref().map(|uri| context.resolve(uri).path().clone());
    if let Some(place) = place.filter(|place| context.root_of(place).is_some()) {
        return place.is_at_or_below(run);
    }
    let Some(id) = &line.job else { return false };
    let is_of_app = |root: &CheckpointRoot, run: &HdfsPath| match root.layout {
        Layout::Job => said_application(context, id).as_ref() == Some(&line.app),
        Layout::AppJob | Layout::AppRun => {
            run.relative_to(&root.path).and_then(|inside| inside.split('/').next()) == Some(line.app.as_str())
        }
    };
    let all = context.config.roots.iter().flat_map(|other| {
        let of_root = run_directories(context, other).map(move |(path, _)| (other, path));
        of_root.filter(|(other, path)| is_of_app(other, path) && jobs_in(context, other, path).contains(id))
    });
    is_of_app(root, run) && all.count() == 1
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
    let said = said_application(context, id);
    if said.is_some() || id.is_shared() {
        return said;
    }
    said.or_else(|| {
        let with_it = context.inventory.flink.jobs().filter(|(_, job)| job.id == *id && !job.name.is_empty());
        let names: BTreeSet<&str> = with_it.map(|(_, job)| job.name.as_str()).collect();
        if names.len() == 1 { names.first().map(|name| (*name).to_owned()) } else { None }
    })
}

fn said_application(context: &Context<'_>, id: &JobId) -> Option<String> {
    let config = context.config;
    let listed: BTreeSet<&String> =
        config.applications.iter().filter(|app| app.jobs.contains(id)).map(|app| &app.name).collect();
    let registered = || config.registry.iter().filter(|line| line.job.as_ref() == Some(id)).map(|line| &line.app);
    let names = if listed.is_empty() { registered().collect() } else { listed };
    // An id that is given to several applications tells nothing.
    if names.len() == 1 { names.into_iter().next().cloned() } else { None }
}

/// What is said of the application of a live job, its name left aside.
enum Said {
    App(String),
    Several,
    Nothing,
}

/// The application of a live job: that of its run directory, else of the place of its checkpoint, else what is said of its id,
/// else its exact name.
fn application_of_job(context: &Context<'_>, runs: &[Run<'_>], job: &JobView) -> Said {
    let wrote = |run: &&Run<'_>| run.root.layout != Layout::Job && !job.id.is_shared() && run.jobs.contains(&job.id);
    let of_runs: BTreeSet<&String> = runs.iter().filter(wrote).filter_map(|run| run.application.as_ref()).collect();
    if of_runs.len() > 1 {
        return Said::Several;
    }
    let of_run = of_runs.first().map(|name| (*name).clone());
    of_run
        .or_else(|| application_of_place(context, &own_checkpoint(job)?.pointer))
        .or_else(|| said_application(context, &job.id).filter(|_| !job.id.is_shared()))
        .map_or(Said::Nothing, Said::App)
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
pub fn newest(context: &Context<'_>, path: &HdfsPath, status: &Status) -> Newest {
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
