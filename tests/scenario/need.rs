//! What a case needs that this build does not have. Decided by what is in the case, never by its name.

use statewarden::compare::FindingCode;
use statewarden::demo::servers::dolphin::check_generation;
use statewarden::demo::world::{Case, World};
use statewarden::views::resources::Generation;

/// What is missing for a case as it is meant; `None`: nothing.
pub fn missing(case: &Case) -> Option<String> {
    missing_verb(case).or_else(|| missing_in_world(&case.world)).or_else(|| missing_code(case))
}

/// What is missing to run the case as a scan at least and to look at those findings this build knows.
pub fn missing_as_scan(case: &Case) -> Option<String> {
    match case.phase.as_str() {
        "scan" | "plan" | "runs" => missing_in_world(&case.world),
        _ => missing_verb(case),
    }
}

fn missing_verb(case: &Case) -> Option<String> {
    match case.phase.as_str() {
        "scan" => None,
        "runs" => Some("needs `plan --only runs`".to_owned()),
        phase => Some(format!("needs the verb `{phase}`")),
    }
}

fn missing_in_world(world: &World) -> Option<String> {
    missing_generation(world).or_else(|| missing_reader(world))
}

fn missing_generation(world: &World) -> Option<String> {
    if let Some(ds) = &world.config.ds
        && !matches!(
            Generation::of_version(&ds.version),
            Some(Generation::V20 | Generation::V30 | Generation::V31 | Generation::V322)
        )
    {
        return Some(format!("needs DolphinScheduler {}", ds.version));
    }
    world.dolphinscheduler.as_ref()?;
    check_generation(world).err().map(|error| error.to_string())
}

fn missing_reader(world: &World) -> Option<String> {
    let reads = world.hdfs.listing.iter().find(|entry| entry.refers_to.is_some() || entry.metadata.is_some());
    reads.map(|_| "needs the content of `_metadata` files".to_owned())
}

fn missing_code(case: &Case) -> Option<String> {
    let unknown = case.expect.findings.iter().find(|finding| finding.kind.parse::<FindingCode>().is_err());
    unknown.map(|finding| format!("needs the finding `{}`", finding.kind))
}
