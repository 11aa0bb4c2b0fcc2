//! Findings on run directories and restore points, from their gates and from the graph.

use std::collections::{BTreeMap, BTreeSet};

use super::roots::is_shared_and_unregistered;
use crate::compare::context::Presence;
use crate::compare::{Context, Finding, FindingCode, Remedy, Severity, Target};
use crate::config::{CheckpointRoot, RestoreMode};
use crate::domain::HdfsPath;
use crate::domain::text::printable;
use crate::gates::run::{RunVerdict, in_words};
use crate::gates::runs::Runs;
use crate::gates::{RunGate, Verdict};
use crate::graph::Completeness;

/// `orphan-job-run-dir`, `protected-job-run-dir` and `unknown-owner-run-dir`, or one `mass-absence` for a root of which everything
/// would go.
pub fn of_run_directories(context: &Context<'_>, verdicts: &[RunVerdict]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for root in &context.config.roots {
        let of_root: Vec<&RunVerdict> = verdicts.iter().filter(|verdict| verdict.path.is_below(&root.path)).collect();
        match everything_would_go(context, root, &of_root) {
            Some(finding) => findings.push(finding),
            None => findings.extend(of_root.into_iter().filter_map(|verdict| finding_of(context, verdict))),
        }
    }
    findings
}

fn finding_of(context: &Context<'_>, verdict: &RunVerdict) -> Option<Finding> {
    let new = |code, severity| Finding::new(code, severity, Target::path(&verdict.path), "runs::of_run_directories");
    if verdict.is_orphan {
        let finding = new(FindingCode::OrphanJobRunDir, Severity::Warning);
        let proofs = verdict.gates.iter().filter(|result| result.verdict == Verdict::Proved);
        return Some(
            proofs.fold(finding, |finding, result| finding.because(format!("{}: {}", result.gate, result.evidence))),
        );
    }
    if let Some(keeper) = verdict.keeper() {
        let finding = new(FindingCode::ProtectedJobRunDir, Severity::Info);
        return Some(finding.because(format!("{}: {}", keeper.gate, keeper.evidence)));
    }
    let is = |gate, answer| verdict.of(gate).is_some_and(|result| result.verdict == answer);
    // Of an id that several applications can have it is said elsewhere, and more exactly.
    let ambiguous = is_shared_and_unregistered(context, &verdict.path);
    if is(RunGate::Terminated, Verdict::Unknown) && !is(RunGate::View, Verdict::Unknown) && !ambiguous {
        let finding = new(FindingCode::UnknownOwnerRunDir, Severity::Info);
        let why = verdict.of(RunGate::Terminated).map(|result| result.evidence.clone()).unwrap_or_default();
        return Some(finding.because(why));
    }
    None
}

/// `trash-unavailable`: something could go, and the server's Trash is off or empties sooner than `min_trash_interval`. Its own
/// interval counts, not that of a client's configuration. Silent where the server does not tell.
pub fn trash_unavailable(context: &Context<'_>, verdicts: &[RunVerdict]) -> Option<Finding> {
    let outside = |verdict: &RunVerdict| {
        verdict.is_orphan && verdict.of(RunGate::Namespace).is_some_and(|result| result.verdict == Verdict::Proved)
    };
    let minutes = context.inventory.state.trash_interval_minutes?;
    let wanted = context.config.policies.min_trash_interval;
    if minutes.saturating_mul(60) >= wanted.seconds() && minutes > 0 || !verdicts.iter().any(outside) {
        return None;
    }
    let why = if minutes == 0 {
        "the server's Trash is off (`fs.trash.interval` 0): what is deleted is gone".to_owned()
    } else {
        format!("the server empties its Trash after {minutes} minutes, sooner than min_trash_interval = {wanted}")
    };
    let finding =
        Finding::new(FindingCode::TrashUnavailable, Severity::Error, Target::default(), "runs::trash_unavailable");
    Some(finding.because(why))
}

/// `delete-blocked`: a run directory that could go and is, or holds, a directory with snapshots: HDFS refuses to delete or rename it.
pub fn held_by_snapshots(context: &Context<'_>, verdicts: &[RunVerdict]) -> Vec<Finding> {
    let orphans = verdicts.iter().filter(|verdict| verdict.is_orphan);
    let held = orphans.filter_map(|verdict| {
        let snapshots = &context.inventory.state.snapshots;
        let inside =
            |(path, names): &(&HdfsPath, &Vec<String>)| path.is_at_or_below(&verdict.path) && !names.is_empty();
        let (path, names) = snapshots.iter().find(inside)?;
        let names: Vec<String> = names.iter().map(|name| printable(name)).collect();
        let target = Target::path(&verdict.path);
        let finding = Finding::new(FindingCode::DeleteBlocked, Severity::Warning, target, "runs::held_by_snapshots");
        Some(finding.because(format!("{path} has the snapshots {}", names.join(", "))))
    });
    held.collect()
}

/// A root of which every run directory would go while no cluster of it lists a live job, or more than a named
/// `max_delete_fraction`: more likely the views are wrong than all of it is over.
fn everything_would_go(context: &Context<'_>, root: &CheckpointRoot, runs: &[&RunVerdict]) -> Option<Finding> {
    let orphans = runs.iter().filter(|verdict| verdict.is_orphan).count();
    if orphans == 0 {
        return None;
    }
    let writes = |name: &String| root.clusters.is_empty() || root.clusters.contains(name);
    let lives = context.inventory.flink.live_jobs().any(|(cluster, _)| writes(&cluster.name));
    let policies = &context.config.policies;
    #[expect(clippy::cast_precision_loss, reason = "counts of directories are far below 2^52")]
    let fraction = orphans as f64 / runs.len().max(1) as f64;
    let why = if orphans == runs.len() && !lives {
        format!("all {orphans} run directories could go, and no cluster of this root lists a live job")
    } else if policies.max_delete_fraction_named && fraction > policies.max_delete_fraction {
        let limit = policies.max_delete_fraction;
        format!("{orphans} of {} run directories could go, more than max_delete_fraction = {limit}", runs.len())
    } else {
        return None;
    };
    let target = Target::path(&root.path);
    let finding = Finding::new(FindingCode::MassAbsence, Severity::Critical, target, "runs::everything_would_go");
    Some(finding.because(why).with_remedy(Remedy::CheckMapping))
}

/// `shared-state-dependency`: a run directory that a restore point of another run names files in, or from which a live job was
/// restored with a mode that is not NO_CLAIM.
pub fn shared_state(runs: &Runs<'_, '_>) -> Vec<Finding> {
    let context = runs.context;
    let units = runs.units();
    let mut facts: BTreeMap<HdfsPath, BTreeSet<String>> = BTreeMap::new();
    for (point, _) in context.graph.points() {
        for (unit, needed) in context.graph.units_needed(point, &units) {
            facts.entry(unit).or_default().insert(in_words(&needed));
        }
    }
    for live in &runs.live {
        let Some(path) = live.restored().and_then(|pointer| runs.loosely(pointer)) else { continue };
        let Some(run) = runs.around(&path).filter(|run| !run.jobs.contains(&live.job.id)) else { continue };
        if runs.mode_of(&path) != RestoreMode::NoClaim {
            let fact = format!("live job {} ({}) was restored from {path}", live.job.id, printable(&live.job.name));
            facts.entry(run.path.clone()).or_default().insert(fact);
        }
    }
    facts.into_iter().map(|(path, facts)| dependency(context, &path, facts)).collect()
}

fn dependency(context: &Context<'_>, path: &HdfsPath, facts: BTreeSet<String>) -> Finding {
    let inside = context.base_path().is_some_and(|base| path.is_below(base));
    let severity = if inside { Severity::Warning } else { Severity::Info };
    let finding = Finding::new(FindingCode::SharedStateDependency, severity, Target::path(path), "runs::shared_state");
    facts.into_iter().fold(finding, Finding::because)
}

/// `dead-restore-point`: a registered restore point that is absent, cannot be read, or names files that are gone. One that nobody
/// registered is told as info if its `_metadata` is not understood: it may name anything, so nothing can be proved free beside it.
pub fn dead_restore_points(context: &Context<'_>) -> Vec<Finding> {
    let new = |path: &HdfsPath, severity| {
        Finding::new(FindingCode::DeadRestorePoint, severity, Target::path(path), "runs::dead_restore_points")
    };
    let mut findings = Vec::new();
    for line in &context.config.registry {
        let Some(uri) = &line.restore_path else { continue };
        let Some(path) = context.resolve(uri).here().cloned() else { continue };
        let Some(why) = why_dead(context, &path) else { continue };
        let protects = line.status.protects();
        let severity = if protects { Severity::Error } else { Severity::Warning };
        findings.push(new(&path, severity).because(format!("registered for {}: {why}", printable(&line.app))));
    }
    for (path, point) in context.graph.points() {
        let Some(why) = &point.unread else { continue };
        let why = format!("its _metadata may name anything: {}", printable(why));
        findings.push(new(path, Severity::Info).because(why).with_remedy(Remedy::InspectPoint));
    }
    findings
}

fn why_dead(context: &Context<'_>, path: &HdfsPath) -> Option<String> {
    if context.presence(path) == Presence::Absent {
        return Some("it is gone".to_owned());
    }
    if context.presence(&path.join("_metadata")) == Presence::Absent {
        return Some("its _metadata is gone".to_owned());
    }
    match context.graph.completeness(path) {
        Completeness::Holes(holes) => Some(names_gone(&holes)),
        Completeness::Unknown(why) if context.graph.point(path).is_some_and(|point| point.unread.is_some()) => {
            Some(format!("its _metadata cannot be read: {why}"))
        }
        _ => None,
    }
}

/// What a restore point with holes lacks, in words.
pub fn names_gone(holes: &[String]) -> String {
    let first = holes.first().map_or_else(String::new, |name| printable(name));
    match holes.len() {
        1 => format!("it names {first}, which is gone"),
        more => format!("it names {more} files that are gone, the first is {first}"),
    }
}
