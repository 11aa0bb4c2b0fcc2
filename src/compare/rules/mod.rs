//! One rule, one pure function. The order here is the only order: later rules are told what earlier ones cover.

pub mod clock;
pub mod config;
pub mod file_systems;
pub mod gaps;
pub mod namespace;
pub mod records;
pub mod references;
pub mod roots;
pub mod runs;
pub mod storage;
pub mod unmanaged;

use super::{Context, Finding};
use crate::gates::run::verdicts_of;
use crate::gates::runs::Runs;

/// Runs every rule.
pub fn run(context: &Context<'_>) -> Vec<Finding> {
    let unowned = unmanaged::unowned(context);
    let records = records::judge(context, &unowned);
    let mut findings = gaps::incomplete_and_contradicted(context, &records.mass_absent);
    findings.extend(config::refused(context));
    findings.extend(clock::skewed(context));
    findings.extend(file_systems::unresolved(context));
    findings.extend(storage::base_directory(context));
    findings.extend(namespace::checkpoints_in_namespace(context));
    findings.extend(namespace::restore_points_missing(context));
    findings.extend(namespace::not_addressable(context));
    findings.extend(roots::foreign_entries(context));
    findings.extend(roots::ambiguous_directories(context));
    findings.extend(roots::residue(context));
    let gathered = Runs::new(context);
    let verdicts = verdicts_of(&gathered);
    findings.extend(runs::of_run_directories(context, &verdicts));
    findings.extend(runs::trash_unavailable(context, &verdicts));
    findings.extend(runs::held_by_snapshots(context, &verdicts));
    findings.extend(runs::shared_state(&gathered));
    findings.extend(runs::dead_restore_points(context));
    findings.extend(references::dangling(context, &records));
    findings.extend(references::writes_into_resources(context));
    findings.extend(records.findings);
    let unmanaged = unmanaged::without_record(context, &unowned, &records.mass_absent, &findings);
    findings.extend(unmanaged);
    findings
}
