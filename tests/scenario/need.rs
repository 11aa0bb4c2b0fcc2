//! What a case needs that this build does not have. Decided by what is in the case, never by its name.

use statewarden::compare::FindingCode;
use statewarden::demo::servers::dolphin::check_generation;
use statewarden::demo::world::{Case, World};
use statewarden::views::resources::Generation;

/// What is missing for a case as it is meant; `None`: nothing.
pub fn missing(case: &Case) -> Option<String> {
    missing_verb(case)
        .or_else(|| missing_action(case))
        .or_else(|| worlds(case).find_map(missing_in_world))
        .or_else(|| missing_code(case))
}

/// What is missing to run the case as a scan at least and to look at those findings this build knows.
pub fn missing_as_scan(case: &Case) -> Option<String> {
    match case.phase.as_str() {
        "scan" | "plan" | "runs" => missing_in_world(&case.world),
        phase => Some(format!("`{phase}` is no report")),
    }
}

/// The world, and the one at plan time.
fn worlds(case: &Case) -> impl Iterator<Item = &World> {
    std::iter::once(&case.world).chain(case.before.as_ref().map(|before| &before.world))
}

fn missing_verb(case: &Case) -> Option<String> {
    match case.phase.as_str() {
        "scan" | "plan" | "apply" => None,
        "runs" => Some("needs `plan --only runs`".to_owned()),
        phase => Some(format!("needs the verb `{phase}`")),
    }
}

/// Actions on run directories.
fn missing_action(case: &Case) -> Option<String> {
    let planned = case.expect.must_plan.iter().map(|action| (action.action.as_str(), action.record));
    let confirmed = case.plan_actions.iter().map(|action| (action.action.as_str(), action.record));
    planned.chain(confirmed).find_map(|action| match action {
        ("ds_api_delete", Some(_)) | ("advise" | "migrate_checkpoint_root" | "refuse_action" | "refuse_apply", _) => {
            None
        }
        ("ds_api_delete", None) => Some("needs `ds_api_delete` on a path".to_owned()),
        (action, _) => Some(format!("needs the action `{action}`")),
    })
}

fn missing_in_world(world: &World) -> Option<String> {
    if let Some(ds) = &world.config.ds
        && !Generation::of_version(&ds.version).is_some_and(is_spoken)
    {
        return Some(format!("needs DolphinScheduler {}", ds.version));
    }
    world.dolphinscheduler.as_ref()?;
    check_generation(world).err().map(|error| error.to_string())
}

fn is_spoken(generation: Generation) -> bool {
    matches!(generation, Generation::V20 | Generation::V30 | Generation::V31 | Generation::V322)
}

fn missing_code(case: &Case) -> Option<String> {
    let unknown = case.expect.findings.iter().find(|finding| finding.kind.parse::<FindingCode>().is_err());
    unknown.map(|finding| format!("needs the finding `{}`", finding.kind))
}
