//! Run directories and restore points at, above or below a target: the gates of each, and what each names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Relation;
use crate::compare::Context;
use crate::domain::HdfsPath;
use crate::gates::run::{in_words, verdicts};
use crate::gates::runs::Runs;
use crate::gates::{GateResult, RunGate};
use crate::graph::{Completeness, Movable};

/// Run directories below a target that are judged for a person and for JSON; a root can hold thousands.
const RUNS_SHOWN: usize = 50;

/// One run directory: may it go?
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunFacts {
    /// The run directory.
    pub path: HdfsPath,
    /// Its application, if anything says it.
    pub application: Option<String>,
    /// Whether everything about the directory itself is proved: an `orphan-job-run-dir`.
    pub free: bool,
    /// The gates, one after the other, with evidence.
    pub gates: Vec<GateResult<RunGate>>,
}

/// One restore point: what it needs and who needs what lies around it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PointFacts {
    /// The directory with its `_metadata`.
    pub path: HdfsPath,
    /// Files and directories it names.
    pub names: usize,
    /// `complete`, `holes` or `unknown`, in words.
    pub state: String,
    /// Whether its directory can be moved, in words.
    pub movable: String,
    /// Run directories it needs beside its own, and by which name.
    pub needs: Vec<String>,
    /// Run directories that nothing would need any more without it.
    pub frees: Vec<HdfsPath>,
}

/// The verdicts on run directories at, above or below the paths.
pub(super) fn runs(context: &Context<'_>, paths: &[HdfsPath]) -> Vec<RunFacts> {
    let touches = |run: &HdfsPath| paths.iter().any(|path| Relation::of(run, path).is_some());
    verdicts(context)
        .into_iter()
        .filter(|verdict| touches(&verdict.path))
        .take(RUNS_SHOWN)
        .map(|verdict| RunFacts {
            free: verdict.is_orphan,
            path: verdict.path,
            application: verdict.application,
            gates: verdict.gates,
        })
        .collect()
}

/// The restore points at, above or below the paths.
pub(super) fn points(context: &Context<'_>, paths: &[HdfsPath]) -> Vec<PointFacts> {
    let units = Runs::new(context).units();
    let graph = &context.graph;
    let touches = |point: &HdfsPath| paths.iter().any(|path| Relation::of(point, path).is_some());
    let near: Vec<&HdfsPath> = graph.points().map(|(path, _)| path).filter(|path| touches(path)).collect();
    // What would be free without a point is a question to the whole graph: asked for a few, not for a root full of them.
    let asks_free = near.len() <= RUNS_SHOWN;
    near.into_iter()
        .take(RUNS_SHOWN)
        .map(|path| PointFacts {
            path: path.clone(),
            names: graph.point(path).map_or(0, |point| point.needs.len()),
            state: in_state(graph.completeness(path)),
            movable: match graph.movable(path) {
                Movable::Yes => "it can be moved: it names only files beside itself".to_owned(),
                Movable::No(count) => format!("it cannot be moved: {count} of its names are absolute"),
                Movable::Unknown => "whether it can be moved is not known".to_owned(),
            },
            needs: graph
                .units_needed(path, &units)
                .into_iter()
                .map(|(unit, needed)| format!("{unit}: {}", in_words(&needed)))
                .collect(),
            frees: if asks_free { graph.free_without(path, &units) } else { Vec::new() },
        })
        .collect()
}

fn in_state(completeness: Completeness) -> String {
    match completeness {
        Completeness::Complete => "complete: every file it names is there".to_owned(),
        Completeness::Holes(holes) => {
            format!("it cannot be restored from: {}", crate::compare::rules::runs::names_gone(&holes))
        }
        Completeness::Unknown(why) => format!("unknown: {why}"),
    }
}
