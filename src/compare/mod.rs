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
    /// Configured tenants that neither a user of the server nor a directory in HDFS knows: nothing was said about them.
    pub unknown_tenants: Vec<String>,
}

/// Runs all rules over one inventory, judged at the time it was taken.
pub fn compare(inventory: &Inventory, config: &Config) -> Comparison {
    let context = Context::new(inventory, config);
    let mut findings = rules::run(&context);
    findings.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| (a.code, &a.target).cmp(&(b.code, &b.target))));
    findings.dedup_by(|a, b| a.code == b.code && a.target == b.target);
    let unknown_tenants = unknown_tenants(&context);
    Comparison { unknown_tenants, ..set_ignored_aside(findings, config, inventory) }
}

/// A misspelt tenant would otherwise look like one without drift.
fn unknown_tenants(context: &Context<'_>) -> Vec<String> {
    let Some((view, ds)) = context.resources.filter(|(view, _)| view.users_complete) else { return Vec::new() };
    let known = view.tenants_of_users();
    let is_absent = |tenant: &str| {
        let path = HdfsPath::parse(&format!("{}/{tenant}", ds.base_path));
        path.is_ok_and(|path| context.presence(&path) == context::Presence::Absent)
    };
    ds.tenants.iter().filter(|tenant| !known.contains(&tenant.as_str()) && is_absent(tenant)).cloned().collect()
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
        .filter(|(at, ignore)| !used.contains(at) && !is_guard(&ignore.code))
        .map(|(_, ignore)| format!("{}: ignore of {} matches nothing", ignore.place, ignore.code))
        .collect();
    comparison
}

/// Whether a code says what could not be told; ignoring such a code is refused elsewhere.
pub fn is_guard(code: &str) -> bool {
    code.parse::<FindingCode>().is_ok_and(|code| code.effect() != Effect::Drift)
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
