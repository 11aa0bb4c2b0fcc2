//! What could not be read becomes a finding: one a view, a cluster or a topmost path.

use std::collections::BTreeMap;

use crate::compare::{Context, Finding, FindingCode, Severity, Target};
use crate::domain::{HdfsPath, RecordId};
use crate::views::{Gap, GapKind, ViewName};

/// Key under which gaps are told as one finding.
type Group<'a> = (FindingCode, ViewName, Option<&'a str>, Option<HdfsPath>);

/// `view-incomplete` and `view-contradiction` from the gaps of all views, from the storage listing against HDFS, and from run
/// directories whose cluster the configuration seems to have forgotten.
pub fn incomplete_and_contradicted(context: &Context<'_>, mass_absent: &[HdfsPath]) -> Vec<Finding> {
    let mut gaps: Vec<Gap> = context.inventory.gaps().into_iter().cloned().collect();
    gaps.extend(super::storage::contradictions(context));
    gaps.extend(super::records::contradicted_absences(context, mass_absent));
    gaps.extend(forgotten_clusters(context));
    let mut groups: BTreeMap<Group<'_>, Vec<&Gap>> = BTreeMap::new();
    for gap in &gaps {
        groups.entry(group_of(gap, &gaps)).or_default().push(gap);
    }
    groups.into_iter().map(|(group, gaps)| finding_of(context, group, &gaps)).collect()
}

fn group_of<'a>(gap: &'a Gap, all: &[Gap]) -> Group<'a> {
    let code = match gap.kind {
        GapKind::Incomplete => FindingCode::ViewIncomplete,
        GapKind::Contradiction => FindingCode::ViewContradiction,
        GapKind::UnsupportedStorage => FindingCode::UnsupportedStorage,
    };
    let path = match gap.view {
        // Both views of DolphinScheduler are used as a whole: one missing page closes all of it.
        ViewName::Resources | ViewName::Workflows => None,
        ViewName::Flink | ViewName::Hdfs => gap.path.as_ref().map(|path| topmost(path, gap, all)),
    };
    (code, gap.view, gap.cluster.as_deref(), path)
}

/// The topmost path of the same view and kind that covers `path`.
fn topmost(path: &HdfsPath, gap: &Gap, all: &[Gap]) -> HdfsPath {
    all.iter()
        .filter(|other| other.view == gap.view && other.kind == gap.kind && (gap.inside_run || !other.inside_run))
        .filter_map(|other| other.path.as_ref())
        .filter(|other| path.is_at_or_below(other))
        .min_by_key(|other| other.depth())
        .unwrap_or(path)
        .clone()
}

fn finding_of(context: &Context<'_>, (code, view, cluster, path): Group<'_>, gaps: &[&Gap]) -> Finding {
    let severity = if gaps.iter().all(|gap| gap.inside_run) { Severity::Warning } else { Severity::Error };
    let target = Target {
        view: Some(view),
        cluster: cluster.map(str::to_owned),
        record: path
            .as_ref()
            .filter(|_| code == FindingCode::ViewContradiction)
            .and_then(|path| record_at(context, path)),
        path: path.map(|path| path.to_string()),
        ..Target::default()
    };
    let mut finding = Finding::new(code, severity, target, "gaps::incomplete_and_contradicted");
    finding.evidence = gaps.iter().map(|gap| format!("{}: {}", gap.cause, gap.detail)).collect();
    finding.evidence.sort();
    finding.evidence.dedup();
    finding
}

/// The record whose file two views disagree about.
fn record_at(context: &Context<'_>, path: &HdfsPath) -> Option<RecordId> {
    context.records.iter().find(|facts| facts.path.as_ref() == Some(path)).map(|facts| facts.record.id)
}

/// A run directory that is younger than `min_age` and whose owner no configured cluster, registry line or application knows:
/// a cluster may be missing from the configuration, so the Flink view is open for the whole root.
///
/// Silent where a cluster of that root has a gap of its own: then that cluster may be the owner.
fn forgotten_clusters(context: &Context<'_>) -> Vec<Gap> {
    let mut gaps = Vec::new();
    for root in &context.config.roots {
        let strangers = super::roots::strangers(context, root);
        if let Some(first) = strangers.first() {
            gaps.push(
                Gap::incomplete(
                    ViewName::Flink,
                    crate::views::Cause::NotConfigured,
                    format!(
                        "{} run director{} changed less than {} ago belong to no configured cluster, the first is {}; is a cluster missing from the configuration?",
                        strangers.len(),
                        if strangers.len() == 1 { "y that" } else { "ies that" },
                        context.config.policies.min_age,
                        crate::domain::text::printable(first.as_str()),
                    ),
                )
                .at(&root.path),
            );
        }
    }
    gaps
}
