//! Candidates: the directories of tenants and checkpoint roots.

use std::collections::BTreeSet;

use futures::stream::{self, StreamExt as _};

use super::{Progress, Sources};
use crate::config::{CheckpointRoot, Config, DsConfig};
use crate::domain::record::tenant_directory;
use crate::domain::{EntryKind, Existence, HdfsPath, JobId, ResourceKind};
use crate::ports::read::{HdfsRead, ListAnswer, ResourceRead};
use crate::views::{Cause, Gap, HdfsView, ResourceView, ViewName};

/// Directories listed at once. The NameNode has ten handlers by default (`dfs.namenode.handler.count`) and others need them.
pub const AT_ONCE: usize = 8;

/// Lists the directories of all tenants and all checkpoint roots, the latter down to run directories.
pub async fn candidates(
    sources: &Sources,
    config: &Config,
    resources: Option<&ResourceView>,
    progress: &dyn Progress,
) -> HdfsView {
    let mut view = HdfsView::default();
    if let Some(gap) = unreachable(sources.hdfs.as_ref()).await {
        view.gaps.push(gap);
        return view;
    }
    let tenants = match (resources, &config.ds) {
        (Some(resources), Some(ds)) if !resources.stores_elsewhere() => tenant_directories(resources, ds),
        _ => Vec::new(),
    };
    let descend = |path: &HdfsPath| sources.recurse || !is_run_directory(config, path);
    walk(sources.hdfs.as_ref(), &mut view, tenants, descend, progress).await;
    for root in &config.roots {
        let descend = |path: &HdfsPath| sources.recurse || is_above_runs(root, path);
        walk(sources.hdfs.as_ref(), &mut view, vec![root.path.clone()], descend, progress).await;
    }
    view
}

/// One question before many: if not even `/` has an answer, one gap says so.
async fn unreachable(hdfs: &dyn HdfsRead) -> Option<Gap> {
    match hdfs.fetch_status(&HdfsPath::root()).await {
        Existence::Present(_) | Existence::Denied { .. } => None,
        Existence::Absent => Some(Gap::incomplete(
            ViewName::Hdfs,
            Cause::NotUnderstood,
            "the server says that `/` does not exist; is `hdfs.urls` the address of a NameNode or HttpFS?",
        )),
        Existence::Unknown { why } => Some(Gap::incomplete(ViewName::Hdfs, cause_of_probe(&why), why)),
    }
}

fn cause_of_probe(why: &str) -> Cause {
    if why.contains("StandbyException") { Cause::Standby } else { Cause::Unreachable }
}

fn tenant_directories(resources: &ResourceView, ds: &DsConfig) -> Vec<HdfsPath> {
    let kinds = |tenant: &str| {
        [ResourceKind::File, ResourceKind::Udf]
            .into_iter()
            .filter_map(|kind| tenant_directory(&ds.base_path, tenant, kind))
            .collect::<Vec<_>>()
    };
    resources.tenants_in_scope(&ds.tenants).into_iter().flat_map(kinds).collect()
}

/// Where a walk of the resource namespace stops: a run directory of a configured root, or any directory named by a job id.
fn is_run_directory(config: &Config, path: &HdfsPath) -> bool {
    let below_root = |root: &CheckpointRoot| path.is_below(&root.path) && !is_above_runs(root, path);
    path.name().is_some_and(JobId::is_directory_name) || config.roots.iter().any(below_root)
}

/// Whether a path is the root or a directory between it and its run directories.
fn is_above_runs(root: &CheckpointRoot, path: &HdfsPath) -> bool {
    path.is_at_or_below(&root.path) && path.depth() < root.path.depth() + root.layout.run_depth()
}

/// Lists level by level; what cannot be listed is a gap, what is absent an answer with its nearest existing ancestor listed.
pub(super) async fn walk(
    hdfs: &dyn HdfsRead,
    view: &mut HdfsView,
    start: Vec<HdfsPath>,
    descend: impl Fn(&HdfsPath) -> bool,
    progress: &dyn Progress,
) {
    let mut level: Vec<HdfsPath> = start.into_iter().filter(|path| !view.listings.contains_key(path)).collect();
    let mut seen = 0;
    while !level.is_empty() {
        let answers: Vec<(HdfsPath, ListAnswer)> = list_all(hdfs, level).await;
        level = Vec::new();
        for (path, answer) in answers {
            seen += take_answer(view, &path, answer);
            let Some(listing) = view.listings.get(&path) else { continue };
            let directories = listing.entries.iter().filter(|entry| entry.status.kind == EntryKind::Directory);
            let below = directories.map(|entry| path.join(&entry.name));
            level.extend(below.filter(|path| descend(path) && !view.listings.contains_key(path)));
            progress.count(seen);
        }
    }
    prove_absences(hdfs, view).await;
}

/// Lists several directories at once; the answers come in the order of the paths.
async fn list_all(hdfs: &dyn HdfsRead, mut paths: Vec<HdfsPath>) -> Vec<(HdfsPath, ListAnswer)> {
    paths.sort();
    paths.dedup();
    let list = |path: HdfsPath| async move {
        let answer = hdfs.list_directory(&path).await;
        (path, answer)
    };
    stream::iter(paths.into_iter().map(list)).buffered(AT_ONCE).collect().await
}

/// Puts the answer to one listing into the view and returns the number of entries.
pub(super) fn take_answer(view: &mut HdfsView, path: &HdfsPath, answer: ListAnswer) -> u64 {
    match answer {
        ListAnswer::Listed(listing, gap) => {
            let entries = listing.entries.len() as u64;
            view.gaps.extend(gap);
            view.listings.insert(path.clone(), listing);
            return entries;
        }
        ListAnswer::Absent => {
            view.answers.insert(path.clone(), Existence::Absent);
        }
        // A file where a directory was expected: its own listing shows it, nothing is below it.
        ListAnswer::NotADirectory => {}
        ListAnswer::Unread(gap) => view.gaps.push(gap.at(path)),
    }
    0
}

/// Lists the parents of everything that was answered absent, up to the nearest one that exists: without that listing an
/// absence is no proof. No path is listed twice: what the first answer did not prove is no proof the second time.
pub async fn prove_absences(hdfs: &dyn HdfsRead, view: &mut HdfsView) {
    let mut asked: BTreeSet<HdfsPath> = BTreeSet::new();
    loop {
        let unproven: BTreeSet<HdfsPath> = view
            .answers
            .iter()
            .filter(|(_, answer)| **answer == Existence::Absent)
            .filter_map(|(path, _)| path.parent())
            .filter(|parent| !view.listings.contains_key(parent) && may_prove(view.answers.get(parent)))
            .filter(|parent| !has_gap_at(view, parent) && !asked.contains(parent))
            .collect();
        if unproven.is_empty() {
            return;
        }
        asked.extend(unproven.iter().cloned());
        for (path, answer) in list_all(hdfs, unproven.into_iter().collect()).await {
            if answer == ListAnswer::NotADirectory {
                // Below a file there is nothing: the file itself is the nearest existing ancestor, seen by its parent.
                let status = hdfs.fetch_status(&path).await;
                view.answers.insert(path.clone(), status);
                prove_file(hdfs, view, &path).await;
            } else {
                take_answer(view, &path, answer);
            }
        }
    }
}

/// Whether a listing of this path can prove anything: one that is there and is no file, or was not asked about. That a path
/// is there says nothing of what is in it: a `chk-N` that Flink is removing loses its `_metadata` first.
fn may_prove(answer: Option<&Existence>) -> bool {
    match answer {
        None => true,
        Some(Existence::Present(status)) => status.kind != EntryKind::File,
        Some(Existence::Absent | Existence::Denied { .. } | Existence::Unknown { .. }) => false,
    }
}

async fn prove_file(hdfs: &dyn HdfsRead, view: &mut HdfsView, file: &HdfsPath) {
    if let Some(parent) = file.parent().filter(|parent| !view.listings.contains_key(parent)) {
        let answer = hdfs.list_directory(&parent).await;
        take_answer(view, &parent, answer);
    }
}

fn has_gap_at(view: &HdfsView, path: &HdfsPath) -> bool {
    view.gaps.iter().any(|gap| gap.path.as_ref() == Some(path))
}

/// From 3.2 on: the server's own listing of every tenant directory that was listed in HDFS. Where the two differ, both are
/// read again, since a job may have written in between.
pub async fn storage(
    sources: &Sources,
    source: &dyn ResourceRead,
    view: &mut ResourceView,
    hdfs: &mut HdfsView,
    config: &Config,
) {
    let (Some(base_dir), Some(ds)) = (view.base_dir.clone(), &config.ds) else { return };
    if view.stores_elsewhere() || view.generation.is_none_or(crate::views::Generation::has_records) {
        return;
    }
    if view.has_other_base(&config.file_systems, &ds.base_path) {
        // Told once. The server refuses every directory outside its own base (3.2.2: 20020).
        return;
    }
    let tops = tenant_directories(view, ds);
    let directories: Vec<HdfsPath> =
        tops.iter().flat_map(|top| hdfs.listings_below(top).map(|(path, _)| path.clone())).collect();
    let list = |path: HdfsPath| {
        let base_dir = &base_dir;
        async move {
            let entries = source.list_storage(&path, base_dir).await;
            (path, entries)
        }
    };
    let answers: Vec<_> = stream::iter(directories.into_iter().map(list)).buffered(4).collect().await;
    for (path, answer) in answers {
        match answer {
            Ok(entries) => {
                view.storage.insert(path.clone(), entries);
                settle(sources, source, view, hdfs, &path, &base_dir).await;
            }
            Err(gap) => view.gaps.push(gap),
        }
    }
}

/// Reads both listings of one directory again while they differ, twice at most.
async fn settle(
    sources: &Sources,
    source: &dyn ResourceRead,
    view: &mut ResourceView,
    hdfs: &mut HdfsView,
    path: &HdfsPath,
    base_dir: &str,
) {
    for _ in 0..2 {
        let (Some(listed), Some(held)) = (view.storage.get(path), hdfs.listings.get(path)) else { return };
        if !held.complete || crate::views::resources::storage_difference(listed, held).is_none() {
            return;
        }
        let answer = sources.hdfs.list_directory(path).await;
        take_answer(hdfs, path, answer);
        if let Ok(entries) = source.list_storage(path, base_dir).await {
            view.storage.insert(path.clone(), entries);
        }
    }
}
