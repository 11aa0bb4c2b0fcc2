//! Evidence: single questions about what the listings leave open, on the active NameNode, after everything else.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::stream::{self, StreamExt as _};
use jiff::Timestamp;

use super::Sources;
use super::list::{AT_ONCE, prove_absences};
use crate::config::Config;
use crate::domain::record::tenant_directory;
use crate::domain::{EntryKind, Existence, HdfsPath, JobId, Place, ResourceKind};
use crate::ports::clock::Clock;
use crate::ports::read::{HdfsRead, ListAnswer};
use crate::views::flink::{Pointer, Restored, ShownRestorePoint};
use crate::views::hdfs::Look;
use crate::views::resources::{Opinion, OwnerTenant, Reference};
use crate::views::{Cause, Gap, HdfsView, Inventory, Record, ResourceView, ViewName};

/// How long REST may show an old latest checkpoint: `web.refresh-interval` is 3 s, and a checkpoint can complete and subsume
/// the shown one meanwhile.
const REST_CACHE: Duration = Duration::from_secs(4);

/// How often a restore point that keeps moving is followed.
const MAX_ROUNDS: usize = 4;

/// Files whose content DolphinScheduler is asked for as a second opinion, at most.
const MAX_OPINIONS: usize = 500;

/// Suffixes DolphinScheduler shows by default (`resource.view.suffixs`); for others `view` answers 20006.
const VIEWABLE: &[&str] = &[
    "txt",
    "log",
    "sh",
    "bat",
    "conf",
    "cfg",
    "py",
    "java",
    "sql",
    "xml",
    "hql",
    "properties",
    "json",
    "yml",
    "yaml",
    "ini",
    "js",
];

/// Asks everything that the rules need and the listings do not say.
pub async fn gather(sources: &Sources, config: &Config, clock: &dyn Clock, inventory: &mut Inventory) {
    if inventory.hdfs.gaps.iter().any(|gap| gap.path.is_none()) {
        // HDFS as a whole gave no answer; that is said once.
        return;
    }
    let mut paths = record_paths(config, inventory);
    paths.extend(reference_paths(config, inventory));
    paths.extend(config.policies.protect.iter().flat_map(|entry| config.protected_paths(entry)));
    ask(sources, &mut inventory.hdfs, paths, false).await;
    let moved = paths_under_other_tenants(config, inventory);
    ask(sources, &mut inventory.hdfs, moved, false).await;
    settle_restore_points(sources, config, clock, inventory).await;
    ask_opinions(sources, config, inventory).await;
    look_into_trash(sources, config, inventory).await;
    sum_roots(sources, config, &mut inventory.hdfs).await;
}

/// Asks about one path.
pub(super) async fn ask_about(sources: &Sources, view: &mut HdfsView, path: &HdfsPath) {
    ask(sources, view, BTreeSet::from([path.clone()]), false).await;
}

/// Asks about every path that looks absent or was not read, inside run directories.
pub(super) async fn ask_inside(sources: &Sources, view: &mut HdfsView, paths: BTreeSet<HdfsPath>) {
    ask(sources, view, paths, true).await;
}

/// DolphinScheduler's own opinion on one file, where it can have one, and on a file that is there for a tenant of which nothing
/// absent can be viewed any more: what vouched for the store may be deleted by now.
pub(super) async fn ask_opinions_around(
    sources: &Sources,
    config: &Config,
    inventory: &mut Inventory,
    record: &Record,
) {
    let left = absent_records(config, inventory).map(|(record, _)| record).filter(|record| is_viewable(record));
    let left: Vec<Record> = left.cloned().collect();
    let mut wanted = witnesses(config, inventory, &left);
    let is_there = |view: &ResourceView| view.records.iter().any(|other| other.id == record.id);
    if is_viewable(record) && inventory.resources.as_ref().is_some_and(is_there) {
        wanted.push(record.clone());
    }
    ask_opinions_on(sources, inventory, wanted).await;
}

/// Asks about every path that looks absent or was not read. What gets no answer is a gap at that path.
async fn ask(sources: &Sources, view: &mut HdfsView, paths: BTreeSet<HdfsPath>, inside_run: bool) {
    let questions: BTreeSet<HdfsPath> = paths
        .iter()
        .filter_map(|path| match view.look(path) {
            Look::NotListed => view.topmost_not_listed(path),
            Look::NotRead => Some(path.clone()),
            _ => None,
        })
        .collect();
    let question = |path: HdfsPath| async move {
        let answer = sources.hdfs.fetch_status(&path).await;
        (path, answer)
    };
    let answers: Vec<(HdfsPath, Existence)> =
        stream::iter(questions.into_iter().map(question)).buffered(AT_ONCE).collect().await;
    for (path, answer) in answers {
        if let Existence::Denied { why } | Existence::Unknown { why } = &answer {
            let cause =
                if matches!(answer, Existence::Denied { .. }) { Cause::NotAuthorized } else { Cause::ServerError };
            let at = if inside_run { run_directory(&path) } else { path.clone() };
            view.gaps.push(Gap { inside_run, ..Gap::incomplete(ViewName::Hdfs, cause, why.clone()).at(&at) });
        }
        view.answers.insert(path, answer);
    }
    prove_absences(sources.hdfs.as_ref(), view).await;
}

/// The run directory around a path: the ancestor that is named by a job id, else the path.
pub(super) fn run_directory(path: &HdfsPath) -> HdfsPath {
    let named = path.ancestors().find(|at| at.rsplit('/').next().is_some_and(JobId::is_directory_name));
    named.and_then(|text| HdfsPath::parse(text).ok()).unwrap_or_else(|| path.clone())
}

fn record_paths(config: &Config, inventory: &Inventory) -> BTreeSet<HdfsPath> {
    let (Some(view), Some(ds)) = (&inventory.resources, &config.ds) else { return BTreeSet::new() };
    let tops: Vec<HdfsPath> = view
        .tenants_in_scope(&ds.tenants)
        .into_iter()
        .flat_map(|tenant| {
            [ResourceKind::File, ResourceKind::Udf].map(|kind| tenant_directory(&ds.base_path, tenant, kind))
        })
        .flatten()
        .collect();
    let paths = view.records.iter().filter_map(|record| view.path_of(record, &ds.base_path).ok().flatten());
    paths.filter(|path| tops.iter().any(|top| path.is_below(top))).collect()
}

/// Paths that references of the storage generation name.
fn reference_paths(config: &Config, inventory: &Inventory) -> BTreeSet<HdfsPath> {
    let Some(view) = &inventory.resources else { return BTreeSet::new() };
    if view.stores_elsewhere() || view.generation.is_none_or(crate::views::Generation::has_records) {
        return BTreeSet::new();
    }
    let names =
        view.workflows.iter().flat_map(|workflow| &workflow.references).filter_map(|reference| match reference {
            Reference::Name(name) => crate::domain::HdfsUri::parse(name).ok(),
            Reference::Id(_) => None,
        });
    names.filter_map(|uri| config.file_systems.resolve(&uri).here().cloned()).collect()
}

/// The same names under the other tenants, for records whose path is absent: their owner may have been moved.
fn paths_under_other_tenants(config: &Config, inventory: &Inventory) -> BTreeSet<HdfsPath> {
    let (Some(view), Some(ds)) = (&inventory.resources, &config.ds) else { return BTreeSet::new() };
    let tenants: BTreeSet<&str> =
        view.tenants_of_users().into_iter().chain(ds.tenants.iter().map(String::as_str)).collect();
    let mut paths = BTreeSet::new();
    for (record, own) in absent_records(config, inventory) {
        let relative = record.full_name.trim_start_matches('/');
        let others = tenants.iter().filter_map(|tenant| tenant_directory(&ds.base_path, tenant, record.kind));
        let others = others.filter(|top| !own.is_below(top)).filter_map(|top| top.join_relative(relative).ok());
        paths.extend(others.filter(|path| inventory.hdfs.look(path) == Look::NotRead));
    }
    paths
}

fn absent_records<'a>(config: &'a Config, inventory: &'a Inventory) -> impl Iterator<Item = (&'a Record, HdfsPath)> {
    let both = inventory.resources.as_ref().zip(config.ds.as_ref());
    both.into_iter().flat_map(move |(view, ds): (&ResourceView, _)| {
        view.records.iter().filter_map(move |record| {
            let path = view.path_of(record, &ds.base_path).ok().flatten()?;
            inventory.hdfs.is_proven_absent(&path).then_some((record, path))
        })
    })
}

/// DolphinScheduler's own opinion on files that HDFS calls absent; for a tenant of which nothing absent can be viewed, on one
/// file that is there.
async fn ask_opinions(sources: &Sources, config: &Config, inventory: &mut Inventory) {
    let absent = absent_records(config, inventory).map(|(record, _)| record).filter(|record| is_viewable(record));
    let mut wanted: Vec<Record> = absent.take(MAX_OPINIONS).cloned().collect();
    wanted.extend(witnesses(config, inventory, &wanted));
    ask_opinions_on(sources, inventory, wanted).await;
}

async fn ask_opinions_on(sources: &Sources, inventory: &mut Inventory, wanted: Vec<Record>) {
    let Some(source) = &sources.resources else { return };
    let ask = |record: Record| async move { (record.id, source.fetch_opinion(&record).await) };
    let opinions: Vec<(_, Opinion)> = stream::iter(wanted.into_iter().map(ask)).buffered(4).collect().await;
    let Some(view) = &mut inventory.resources else { return };
    let failed = opinions.iter().filter_map(|(id, opinion)| match opinion {
        Opinion::Failed { why } => Some(format!("the server cannot say whether the file of record {id} exists: {why}")),
        _ => None,
    });
    // One gap for all of them: the server's store is not to be seen through its own API.
    view.gaps.extend(failed.take(1).map(|detail| Gap::incomplete(ViewName::Resources, Cause::ServerError, detail)));
    view.opinions.extend(opinions);
}

fn is_viewable(record: &Record) -> bool {
    let suffix = record.full_name.rsplit_once('.').map(|(_, suffix)| suffix);
    record.kind == ResourceKind::File && !record.directory && suffix.is_some_and(|suffix| VIEWABLE.contains(&suffix))
}

/// One file that is there for each tenant that has absent records and no absent file that can be viewed.
fn witnesses(config: &Config, inventory: &Inventory, asked: &[Record]) -> Vec<Record> {
    let (Some(view), Some(ds)) = (&inventory.resources, &config.ds) else { return Vec::new() };
    let tenant = |record: &Record| match view.tenant_of(record) {
        OwnerTenant::Tenant(code) => Some(code.to_owned()),
        _ => None,
    };
    let served: BTreeSet<String> = asked.iter().filter_map(tenant).collect();
    let mut open: BTreeSet<String> =
        absent_records(config, inventory).filter_map(|(record, _)| tenant(record)).collect();
    open.retain(|code| !served.contains(code));
    let is_there = |record: &&Record| {
        let path = view.path_of(record, &ds.base_path).ok().flatten();
        path.is_some_and(
            |path| matches!(inventory.hdfs.look(&path), Look::Present(status) if status.kind == EntryKind::File),
        )
    };
    let present = view.records.iter().filter(|record| is_viewable(record)).filter(is_there);
    present.filter(|record| tenant(record).is_some_and(|code| open.remove(&code))).cloned().collect()
}

/// Looks for copies of absent records in the Trashes of all accounts: `/user/<name>/.Trash/<checkpoint>/<original path>`.
/// Optional by nature: other people's Trashes are often closed. What cannot be looked into is said, and judged by time.
async fn look_into_trash(sources: &Sources, config: &Config, inventory: &mut Inventory) {
    let view = &inventory.hdfs;
    let gone: BTreeSet<HdfsPath> =
        absent_records(config, inventory).map(|(_, path)| topmost_absent(view, &path)).collect();
    if gone.is_empty() || !config.policies.trash_restore_window {
        return;
    }
    let (checkpoints, readable) = trash_checkpoints(sources.hdfs.as_ref()).await;
    let places = gone.iter().flat_map(|path| {
        checkpoints.iter().filter_map(move |top| Some((path.clone(), top.join_relative(path.as_str()).ok()?)))
    });
    let ask = |(path, copy): (HdfsPath, HdfsPath)| async move {
        let answer = sources.hdfs.fetch_status(&copy).await;
        (path, copy, answer)
    };
    let answers: Vec<_> =
        stream::iter(places.collect::<Vec<_>>().into_iter().map(ask)).buffered(AT_ONCE).collect().await;
    let unreadable = |answer: &Existence| matches!(answer, Existence::Denied { .. } | Existence::Unknown { .. });
    let trash = &mut inventory.hdfs.trash;
    trash.readable = readable && !answers.iter().any(|(_, _, answer)| unreadable(answer));
    trash.checkpoints = checkpoints;
    let copies = answers.into_iter().filter(|(_, _, answer)| answer.status().is_some());
    trash.copies.extend(copies.map(|(path, copy, _)| (path, copy)));
}

/// The topmost ancestor-or-self that was answered absent: a directory that was moved to a Trash lies there as a whole.
fn topmost_absent(view: &HdfsView, path: &HdfsPath) -> HdfsPath {
    let absent = path.ancestors().filter(|at| view.answers.get(*at) == Some(&Existence::Absent)).last();
    absent.and_then(|text| HdfsPath::parse(text).ok()).unwrap_or_else(|| path.clone())
}

/// `Current` and the emptier's checkpoints of every account, and whether all of them could be listed.
async fn trash_checkpoints(hdfs: &dyn HdfsRead) -> (Vec<HdfsPath>, bool) {
    // `dfs.user.home.dir.prefix` can move it; then nothing is found here, and that counts as not readable.
    let Ok(homes) = HdfsPath::parse("/user") else { return (Vec::new(), false) };
    let Some(users) = subdirectories(hdfs, &homes).await else { return (Vec::new(), false) };
    let list = |user: HdfsPath| async move { subdirectories(hdfs, &user.join(".Trash")).await };
    let found: Vec<Option<Vec<HdfsPath>>> = stream::iter(users.into_iter().map(list)).buffered(AT_ONCE).collect().await;
    let readable = found.iter().all(Option::is_some);
    (found.into_iter().flatten().flatten().collect(), readable)
}

/// Directories in a directory: none if it is absent, `None` if it could not be listed to the end.
async fn subdirectories(hdfs: &dyn HdfsRead, path: &HdfsPath) -> Option<Vec<HdfsPath>> {
    match hdfs.list_directory(path).await {
        ListAnswer::Listed(listing, None) if listing.complete => {
            let directories = listing.entries.iter().filter(|entry| entry.status.kind == EntryKind::Directory);
            Some(directories.map(|entry| path.join(&entry.name)).collect())
        }
        ListAnswer::Absent | ListAnswer::NotADirectory => Some(Vec::new()),
        _ => None,
    }
}

/// Asks for the restore points of live jobs. The latest one can be gone because a newer one has replaced it since REST was
/// read: then REST is asked again, after its cache has run out, and the newer one counts.
async fn settle_restore_points(sources: &Sources, config: &Config, clock: &dyn Clock, inventory: &mut Inventory) {
    ask_restore_points(sources, config, inventory).await;
    for round in 0..MAX_ROUNDS {
        let missing = missing_latest(config, inventory);
        if missing.is_empty() {
            return;
        }
        wait_for_cache(clock, inventory, &missing, round).await;
        let mut moved = false;
        for (cluster, job) in missing {
            moved |= follow(sources, inventory, &cluster, &job, round + 1 == MAX_ROUNDS).await;
        }
        if !moved {
            return;
        }
        ask_restore_points(sources, config, inventory).await;
    }
}

async fn ask_restore_points(sources: &Sources, config: &Config, inventory: &mut Inventory) {
    let points: BTreeSet<HdfsPath> = inventory
        .flink
        .live_jobs()
        .flat_map(|(_, job)| {
            let restored = match &job.restored {
                Restored::From { pointer } => Some(pointer),
                _ => None,
            };
            job.latest.iter().map(|latest| &latest.pointer).chain(restored)
        })
        .filter_map(|pointer| here(config, pointer))
        .collect();
    ask(sources, &mut inventory.hdfs, points.clone(), true).await;
    let is_directory =
        |path: &&HdfsPath| matches!(inventory.hdfs.look(path), Look::Present(s) if s.kind == EntryKind::Directory);
    let metadata: BTreeSet<HdfsPath> = points.iter().filter(is_directory).map(|path| path.join("_metadata")).collect();
    ask(sources, &mut inventory.hdfs, metadata, true).await;
    super::state::read_named(sources, config, inventory).await;
}

fn here(config: &Config, pointer: &Pointer) -> Option<HdfsPath> {
    match config.file_systems.resolve(pointer.uri()?) {
        Place::Here(path) => Some(path),
        _ => None,
    }
}

/// Live jobs whose latest restore point is absent although its run directory is there; if that is gone too, no newer
/// checkpoint explains it.
fn missing_latest(config: &Config, inventory: &Inventory) -> Vec<(String, JobId)> {
    let hdfs = &inventory.hdfs;
    let absent = |path: &HdfsPath| hdfs.is_proven_absent(path) || hdfs.is_proven_absent(&path.join("_metadata"));
    let run_is_there = |path: &HdfsPath| path.parent().is_some_and(|run| !hdfs.is_proven_absent(&run));
    let live = inventory.flink.live_jobs().filter(|(_, job)| {
        let path = job.latest.as_ref().and_then(|latest| here(config, &latest.pointer));
        path.is_some_and(|path| absent(&path) && run_is_there(&path))
    });
    live.map(|(cluster, job)| (cluster.name.clone(), job.id.clone())).collect()
}

async fn wait_for_cache(clock: &dyn Clock, inventory: &Inventory, missing: &[(String, JobId)], round: usize) {
    let read: Option<Timestamp> = inventory
        .flink
        .clusters
        .iter()
        .filter(|cluster| missing.iter().any(|(name, _)| *name == cluster.name))
        .filter_map(|cluster| cluster.read_at.last().copied())
        .max();
    let since =
        read.map_or(Duration::ZERO, |read| Duration::try_from(clock.now().duration_since(read)).unwrap_or_default());
    let wait = if round == 0 { REST_CACHE.saturating_sub(since) } else { REST_CACHE };
    tokio::time::sleep(wait).await;
}

/// Asks REST for the latest restore point of one job again and says whether it moved. One that still moves in the last round
/// cannot be told.
async fn follow(sources: &Sources, inventory: &mut Inventory, cluster: &str, id: &JobId, last: bool) -> bool {
    let Some(source) = sources.flink.iter().find(|source| source.name() == cluster) else { return false };
    let answer = source.fetch_latest(id).await;
    let Some(view) = inventory.flink.clusters.iter_mut().find(|view| view.name == cluster) else { return false };
    let Some(job) = view.jobs.iter_mut().find(|job| job.id == *id) else { return false };
    match answer {
        Ok(latest) if same_place(latest.as_ref(), job.latest.as_ref()) => false,
        Ok(latest) if !last => {
            job.latest = latest;
            true
        }
        Ok(_) => {
            job.latest = None;
            let detail = format!("the latest restore point of job {id} was replaced faster than it could be looked at");
            view.gaps.push(Gap::incomplete(ViewName::Flink, Cause::Shifting, detail).of_cluster(cluster));
            false
        }
        Err(gap) => {
            job.latest = None;
            view.gaps.push(gap);
            false
        }
    }
}

fn same_place(a: Option<&ShownRestorePoint>, b: Option<&ShownRestorePoint>) -> bool {
    a.map(|point| &point.pointer) == b.map(|point| &point.pointer)
}

/// Sizes of roots inside the resource namespace: one call each, never a walk.
async fn sum_roots(sources: &Sources, config: &Config, view: &mut HdfsView) {
    let Some(ds) = &config.ds else { return };
    for root in config.roots.iter().filter(|root| root.path.is_below(&ds.base_path)) {
        if view.listings.contains_key(&root.path)
            && let Some(sum) = sources.hdfs.fetch_summary(&root.path).await
        {
            view.summaries.insert(root.path.clone(), sum);
        }
    }
}
