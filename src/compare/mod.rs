//! Compares the views of one inventory and says where they disagree. Pure: same input, same findings.
//!
//! No rule concludes "absent" from a view that could not be read; what could not be told is a finding of its own.

pub mod code;
pub mod context;
pub mod finding;
mod meaning;
pub mod rules;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub use code::{Effect, FindingCode, Severity};
pub use context::Context;
pub use finding::{Finding, Lang, Remedy, Target};

use crate::config::{Config, Ignore};
use crate::domain::HdfsPath;
use crate::views::Inventory;

/// A finding that the configuration expects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Ignored {
    /// What was found.
    #[serde(flatten)]
    pub finding: Finding,
    /// Why it is expected, from the configuration.
    pub reason: String,
}

/// What the rules said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// Findings, worst first, then by code and target.
    pub findings: Vec<Finding>,
    /// Findings that an `[[ignores]]` entry hides.
    pub ignored: Vec<Ignored>,
    /// `[[ignores]]` entries that matched nothing: place and code. They may be old, or misspelt.
    pub idle_ignores: Vec<String>,
}

/// Runs all rules over one inventory, judged at the time it was taken.
pub fn compare(inventory: &Inventory, config: &Config) -> Comparison {
    let context = Context::new(inventory, config);
    let mut findings = rules::run(&context);
    findings.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| (a.code, &a.target).cmp(&(b.code, &b.target))));
    findings.dedup_by(|a, b| a.code == b.code && a.target == b.target);
    set_ignored_aside(findings, config, inventory)
}

fn set_ignored_aside(findings: Vec<Finding>, config: &Config, inventory: &Inventory) -> Comparison {
    let in_force: Vec<&Ignore> = config.ignores.iter().filter(|ignore| ignore.expires > inventory.taken).collect();
    let mut used = BTreeSet::new();
    let mut comparison = Comparison::default();
    for finding in findings {
        match in_force.iter().position(|ignore| hides(ignore, &finding)) {
            Some(at) => {
                used.insert(at);
                comparison.ignored.push(Ignored { reason: in_force[at].reason.clone(), finding });
            }
            None => comparison.findings.push(finding),
        }
    }
    comparison.idle_ignores = in_force
        .iter()
        .enumerate()
        .filter(|(at, _)| !used.contains(at))
        .map(|(_, ignore)| format!("{}: ignore of {} matches nothing", ignore.place, ignore.code))
        .collect();
    comparison
}

fn hides(ignore: &Ignore, finding: &Finding) -> bool {
    let target = &finding.target;
    let path_matches = |wanted: &HdfsPath| {
        target.path.as_deref().and_then(|p| HdfsPath::parse(p).ok()).is_some_and(|p| p.is_at_or_below(wanted))
    };
    // What could not be told is never hidden: an ignored gap would look like a view without drift.
    finding.code.effect() == Effect::Drift
        && ignore.code == finding.code.as_str()
        && ignore.path.as_ref().is_none_or(path_matches)
        && ignore.record.is_none_or(|id| target.record.is_some_and(|r| r.0 == id))
        && ignore.workflow.is_none_or(|code| target.workflow.is_some_and(|w| w.0 == code))
        && ignore.cluster.as_ref().is_none_or(|name| target.cluster.as_ref() == Some(name))
}
