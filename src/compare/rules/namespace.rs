//! Live state inside the resource namespace, restore points that are gone, and checkpoints that have no path.

use std::collections::BTreeMap;

use super::runs::names_gone;
use crate::compare::context::Presence;
use crate::compare::{Context, Finding, FindingCode, Remedy, Severity, Target};
use crate::domain::text::printable;
use crate::domain::{HdfsPath, HdfsUri, JobId, Place};
use crate::graph::Completeness;
use crate::views::flink::{Pointer, Restored};
use crate::views::{ClusterView, JobView};

/// `checkpoint-in-resource-namespace`: the latest or the restored path of a live job, or a file that its latest restore point
/// names, lies below the base path. The whole base
/// path is the namespace, also below tenants that are gone: removing a tenant removes its directory recursively.
pub fn checkpoints_in_namespace(context: &Context<'_>) -> Vec<Finding> {
    let Some(base) = context.base_path() else { return Vec::new() };
    let mut roots: BTreeMap<HdfsPath, Vec<String>> = BTreeMap::new();
    for (cluster, job) in context.inventory.flink.live_jobs() {
        for (role, pointer) in latest_and_restored(job) {
            let Some(Place::Here(path)) = pointer.uri().map(|uri| context.resolve(uri)) else { continue };
            if path.is_below(base) {
                let fact = format!(
                    "{role} of live job {} ({}) on {}: {}",
                    job.id,
                    printable(&job.name),
                    cluster.name,
                    printable(path.as_str())
                );
                roots.entry(state_root(context, base, cluster, &path)).or_default().push(fact);
            }
        }
        for (path, fact) in named_in_namespace(context, base, job) {
            roots.entry(state_root(context, base, cluster, &path)).or_default().push(fact);
        }
    }
    roots.into_iter().map(|(root, facts)| finding_of_root(context, &root, facts)).collect()
}

/// Files below the base path that the latest restore point of a job names: one for each directory that is state there.
fn named_in_namespace(context: &Context<'_>, base: &HdfsPath, job: &JobView) -> BTreeMap<HdfsPath, String> {
    let mut found = BTreeMap::new();
    let latest = job.latest.as_ref().and_then(|latest| Some(context.resolve(latest.pointer.uri()?)));
    let Some(Place::Here(latest)) = latest else { return found };
    let Some(point) = context.graph.point(&latest) else { return found };
    // Files beside the `_metadata` go with it, and that it lies there is said already.
    let outside = point.needs.iter().filter_map(|need| need.path.as_ref()).filter(|path| !path.is_below(&latest));
    for path in outside.filter(|path| path.is_below(base)) {
        let place = topmost_state_directory(path);
        let named = printable(path.as_str());
        found.entry(place).or_insert_with(|| format!("the latest restore point of live job {} names {named}", job.id));
    }
    found
}

fn finding_of_root(context: &Context<'_>, root: &HdfsPath, facts: Vec<String>) -> Finding {
    let target = Target::path(root);
    let finding = Finding::new(
        FindingCode::CheckpointInResourceNamespace,
        Severity::Critical,
        target,
        "namespace::checkpoints_in_namespace",
    );
    let finding = facts.into_iter().fold(finding, Finding::because);
    let finding = match context.inventory.hdfs.summaries.get(root) {
        Some(sum) => finding.because(format!("it holds {} in {} files", bytesize::ByteSize(sum.length), sum.files)),
        None => finding,
    };
    match &context.config.migrate_to {
        Some(to) => finding.because(format!("configured target of the move: {to}")),
        None => finding,
    }
}

fn latest_and_restored(job: &JobView) -> impl Iterator<Item = (&'static str, &Pointer)> {
    let restored = match &job.restored {
        Restored::From { pointer } => Some(("restore path", pointer)),
        _ => None,
    };
    job.latest.iter().map(|latest| ("latest restore point", &latest.pointer)).chain(restored)
}

/// The directory to name: the configured root, the cluster's own checkpoint or savepoint directory, or else the topmost
/// directory that is state itself: the run directory of a `chk-N`, or the savepoint.
pub fn state_root(context: &Context<'_>, base: &HdfsPath, cluster: &ClusterView, path: &HdfsPath) -> HdfsPath {
    if let Some(root) = context.root_of(path) {
        return root.path.clone();
    }
    let own = [&cluster.checkpoint_dir, &cluster.savepoint_dir]
        .into_iter()
        .filter_map(|dir| Some(context.resolve(&HdfsUri::parse(dir.as_deref()?).ok()?).path().clone()))
        .find(|dir| dir.is_below(base) && path.is_below(dir));
    own.unwrap_or_else(|| topmost_state_directory(path))
}

fn topmost_state_directory(path: &HdfsPath) -> HdfsPath {
    let run = path.ancestors().find(|at| at.rsplit('/').next().is_some_and(JobId::is_directory_name));
    let chk = |at: &HdfsPath| at.name().is_some_and(|name| name.starts_with("chk-"));
    match run {
        Some(run) => HdfsPath::parse(run).unwrap_or_else(|_| path.clone()),
        None if chk(path) => path.parent().unwrap_or_else(|| path.clone()),
        None => path.clone(),
    }
}

/// `live-job-checkpoint-missing`: the latest completed restore point of a live job is proven absent; the restored one counts
/// only where there is no own completed checkpoint, or that is proven absent too. By existence of the directory, of `_metadata` in it,
/// and of every file that names: one with holes exists and cannot be restored from.
pub fn restore_points_missing(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    // A job that ended between the two readings counts as live, but it may have removed its own checkpoints at its end.
    for (cluster, job) in context.inventory.flink.live_jobs().filter(|(_, job)| job.ended.is_none()) {
        let latest = job.latest.as_ref().and_then(|latest| restore_point(context, &latest.pointer));
        // One that is being replaced while it is looked at is neither present nor proven absent; it is still the job's own.
        let no_own = latest.as_ref().is_none_or(|(_, presence)| *presence == Presence::Absent);
        let restored = match &job.restored {
            Restored::From { pointer } if no_own => restore_point(context, pointer),
            _ => None,
        };
        let both = [
            ("latest completed restore point", latest),
            ("restore path, and no own completed checkpoint is present", restored),
        ];
        for (role, point) in both {
            match point {
                Some((path, Presence::Absent)) => findings.push(missing(context, cluster, job, role, &path)),
                Some((path, Presence::Present(_))) => {
                    if let Completeness::Holes(holes) = context.graph.completeness(&path) {
                        findings.push(missing(context, cluster, job, role, &path).because(names_gone(&holes)));
                    }
                }
                _ => {}
            }
        }
    }
    findings
}

fn missing(context: &Context<'_>, cluster: &ClusterView, job: &JobView, role: &str, path: &HdfsPath) -> Finding {
    let finding = Finding::new(
        FindingCode::LiveJobCheckpointMissing,
        Severity::Critical,
        Target::path(path),
        "namespace::restore_points_missing",
    );
    let gone = if context.presence(path) == Presence::Absent {
        "; the directory is gone"
    } else if context.presence(&path.join("_metadata")) == Presence::Absent {
        "; its _metadata is gone"
    } else {
        ""
    };
    finding.because(format!("{role} of live job {} ({}) on {}{gone}", job.id, printable(&job.name), cluster.name))
}

/// The path of a restore point in the file system that is read, and whether `_metadata` (or the file it is) is there.
fn restore_point<'a>(context: &Context<'a>, pointer: &Pointer) -> Option<(HdfsPath, Presence<'a>)> {
    let Place::Here(path) = context.resolve(pointer.uri()?) else { return None };
    let presence = match context.presence(&path) {
        Presence::Present(status) if !crate::compare::context::is_file(status) => {
            context.presence(&path.join("_metadata"))
        }
        other => other,
    };
    Some((path, presence))
}

/// `checkpoint-not-addressable`: a live job whose latest external path is no path (JobManager storage).
pub fn not_addressable(context: &Context<'_>) -> Vec<Finding> {
    let live = context.inventory.flink.live_jobs();
    live.filter(|(_, job)| job.latest.as_ref().is_some_and(|latest| latest.pointer == Pointer::NotAddressable))
        .map(|(cluster, job)| {
            let target = Target { cluster: Some(cluster.name.clone()), job: Some(job.id.clone()), ..Target::default() };
            Finding::new(FindingCode::CheckpointNotAddressable, Severity::Warning, target, "namespace::not_addressable")
                .because(format!("REST shows a marker instead of a path for job {}", printable(&job.name)))
                .with_remedy(Remedy::UseCheckpointStorage)
        })
        .collect()
}
