//! Checkpoint roots: what lies in them by name alone. What a run directory holds is not read here.

use std::collections::BTreeSet;

use crate::compare::{Context, Finding, FindingCode, Severity, Target};
use crate::config::{CheckpointRoot, Layout};
use crate::domain::text::printable;
use crate::domain::{EntryKind, HdfsPath, JobId, Status};
use crate::gates::runs::{Newest, is_about, jobs_in, newest};
use crate::views::Entry;

/// Entries every HDFS may put anywhere.
fn is_of_hdfs(name: &str) -> bool {
    matches!(name, ".Trash" | ".snapshot")
}

/// Whether a name is one of those Flink makes inside a run directory.
pub fn is_inside_run(name: &str) -> bool {
    name == "shared"
        || name == "taskowned"
        || name.strip_prefix("chk-").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// The directories of a root whose entries ought to be run directories: the root itself, or its application directories.
fn run_parents(context: &Context<'_>, root: &CheckpointRoot) -> Vec<HdfsPath> {
    match root.layout {
        Layout::Job => vec![root.path.clone()],
        Layout::AppJob | Layout::AppRun => {
            let entries = entries(context, &root.path);
            entries
                .iter()
                .filter(|e| e.status.kind == EntryKind::Directory && !is_of_hdfs(&e.name))
                .map(|e| root.path.join(&e.name))
                .collect()
        }
    }
}

fn entries<'a>(context: &Context<'a>, path: &HdfsPath) -> &'a [Entry] {
    context.inventory.hdfs.listings.get(path).map_or(&[], |listing| &listing.entries)
}

fn is_run(root: &CheckpointRoot, entry: &Entry) -> bool {
    entry.status.kind == EntryKind::Directory
        && (root.layout == Layout::AppRun || JobId::is_directory_name(&entry.name))
}

/// All run directories of a root, as far as it was listed.
pub fn run_directories<'a>(
    context: &Context<'a>,
    root: &CheckpointRoot,
) -> impl Iterator<Item = (HdfsPath, &'a Status)> {
    let mut runs = Vec::new();
    for parent in run_parents(context, root) {
        let found = entries(context, &parent).iter().filter(|entry| is_run(root, entry) && !is_of_hdfs(&entry.name));
        runs.extend(found.map(|entry| (parent.join(&entry.name), &entry.status)));
    }
    runs.into_iter()
}

/// Run directories that are younger than `min_age` and whose owner no configured cluster, registry line or application knows: a
/// cluster may be missing from the configuration. None where a cluster of that root has a gap of its own: then that cluster may
/// be the owner.
pub fn strangers(context: &Context<'_>, root: &CheckpointRoot) -> Vec<HdfsPath> {
    if cluster_of_root_has_gap(context, &root.clusters) {
        return Vec::new();
    }
    // The time of a directory changes only with its direct children, so every level counts.
    let is_young = |path: &HdfsPath, status: &Status| {
        let time = match newest(context, path, status) {
            Newest::Time(time) => time,
            Newest::Unread(_) => status.modified,
        };
        !context.config.policies.min_age.has_passed(time, context.now)
    };
    run_directories(context, root)
        .filter(|(path, status)| !is_known(context, root, path) && is_young(path, status))
        .map(|(path, _)| path)
        .collect()
}

fn cluster_of_root_has_gap(context: &Context<'_>, names: &[String]) -> bool {
    let clusters = &context.inventory.flink.clusters;
    clusters.iter().any(|cluster| !cluster.gaps.is_empty() && (names.is_empty() || names.contains(&cluster.name)))
}

fn is_known(context: &Context<'_>, root: &CheckpointRoot, run: &HdfsPath) -> bool {
    let ids = jobs_in(context, root, run);
    let by_id = |id: &JobId| {
        context.inventory.flink.jobs().any(|(_, job)| job.id == *id)
            || context.config.registry.iter().any(|line| line.job.as_ref() == Some(id))
            || context.config.applications.iter().any(|app| app.jobs.contains(id))
    };
    (!ids.is_empty() && ids.iter().all(by_id))
        || context.inventory.flink.jobs().any(|(_, job)| {
            crate::compare::context::state_pointers(job)
                .filter_map(|pointer| pointer.uri())
                .any(|uri| context.resolve(uri).path().is_at_or_below(run))
        })
}

/// `foreign-entry-in-root`: an entry that is no run directory.
pub fn foreign_entries(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for root in &context.config.roots {
        if root.layout != Layout::Job {
            let files = entries(context, &root.path).iter().filter(|e| e.status.kind != EntryKind::Directory);
            findings.extend(files.map(|entry| foreign(&root.path, entry)));
        }
        for parent in run_parents(context, root) {
            let strangers = entries(context, &parent)
                .iter()
                .filter(|entry| !is_run(root, entry) && !is_of_hdfs(&entry.name) && !is_inside_run(&entry.name));
            findings.extend(strangers.map(|entry| foreign(&parent, entry)));
        }
    }
    findings
}

fn foreign(parent: &HdfsPath, entry: &Entry) -> Finding {
    let target = Target::path(&parent.join(&entry.name));
    let what = if entry.status.kind == EntryKind::Directory {
        "a directory that is named by no job id"
    } else {
        "not a directory"
    };
    Finding::new(FindingCode::ForeignEntryInRoot, Severity::Info, target, "roots::foreign_entries").because(what)
}

/// `ambiguous-job-dir`: a run directory under an id that several applications may share, or checkpoints directly where job ids
/// are expected (`create-subdir=false`, Flink 1.19 and later).
pub fn ambiguous_directories(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for root in &context.config.roots {
        let shared = run_directories(context, root).filter(|(path, _)| is_shared_and_unregistered(context, path));
        findings.extend(shared.map(|(path, _)| {
            ambiguous(&path, "several applications can have this job id: all zeros, or derived from a cluster id")
        }));
        if root.layout == Layout::AppRun {
            continue;
        }
        for parent in run_parents(context, root) {
            if entries(context, &parent).iter().any(|entry| is_inside_run(&entry.name)) {
                findings.push(ambiguous(
                    &parent,
                    "checkpoints lie directly in it, where directories named by job ids are expected",
                ));
            }
        }
    }
    findings
}

fn ambiguous(path: &HdfsPath, why: &str) -> Finding {
    Finding::new(FindingCode::AmbiguousJobDir, Severity::Error, Target::path(path), "roots::ambiguous_directories")
        .because(why)
}

/// Whether a run directory is named by an id that several applications can have, and no registry line says how that run ended.
pub fn is_shared_and_unregistered(context: &Context<'_>, run: &HdfsPath) -> bool {
    let Some(id) = run.name().and_then(|name| JobId::parse(name).ok()).filter(JobId::is_shared) else { return false };
    let Some(root) = context.root_of(run) else { return true };
    let mut lines = context.config.registry.iter().filter(|line| line.job.as_ref() == Some(&id));
    !lines.any(|line| line.job_state.is_some() && is_about(context, line, root, run))
}

/// `migration-residue`: a root below the base path, or a `.migrate` tree, that holds state or files and nothing of a live job.
/// Silent while a Flink cluster has not answered.
pub fn residue(context: &Context<'_>) -> Vec<Finding> {
    let Some(base) = context.base_path().filter(|_| context.flink_is_whole()) else { return Vec::new() };
    let live: Vec<HdfsPath> = context.live_state().map(|(_, _, path)| path).collect();
    let ids: BTreeSet<&str> = context.inventory.flink.live_jobs().map(|(_, job)| job.id.as_str()).collect();
    let is_live = |root: &HdfsPath| {
        live.iter().any(|path| path.is_at_or_below(root))
            || context
                .inventory
                .hdfs
                .listings_below(root)
                .any(|(_, l)| l.entries.iter().any(|e| ids.contains(&*e.name)))
    };
    old_roots(context, base)
        .into_iter()
        .filter(|root| !entries(context, root).is_empty() && !is_live(root))
        .map(|root| residue_of(context, &root))
        .collect()
}

fn old_roots(context: &Context<'_>, base: &HdfsPath) -> BTreeSet<HdfsPath> {
    let configured = context.config.roots.iter().map(|root| &root.path);
    let migrated = context.config.migrations.iter().map(|migration| &migration.from);
    let trees = context.inventory.hdfs.listings.keys().filter(|path| path.name() == Some(".migrate"));
    configured.chain(migrated).chain(trees).filter(|path| path.is_below(base)).cloned().collect()
}

fn residue_of(context: &Context<'_>, root: &HdfsPath) -> Finding {
    let running = context.config.migrations.iter().any(|m| !m.finished && root.is_at_or_below(&m.from));
    let severity = if running { Severity::Info } else { Severity::Warning };
    let finding = Finding::new(FindingCode::MigrationResidue, severity, Target::path(root), "roots::residue");
    let count = entries(context, root).len();
    let finding = finding.because(format!(
        "{count} entr{} and no state of a live job below {}",
        if count == 1 { "y" } else { "ies" },
        printable(root.as_str())
    ));
    match context.inventory.hdfs.summaries.get(root) {
        Some(sum) => finding.because(format!("it holds {} in {} files", bytesize::ByteSize(sum.length), sum.files)),
        None => finding,
    }
}
