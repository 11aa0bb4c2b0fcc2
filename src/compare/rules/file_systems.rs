//! Authorities that nobody declared.

use std::collections::BTreeMap;

use crate::compare::context::state_pointers;
use crate::compare::{Context, Finding, FindingCode, Severity, Target};
use crate::domain::text::printable;
use crate::domain::{Authority, HdfsUri, Place};
use crate::views::resources::Reference;

/// `authority-unresolved`: state of a live job, a registered restore point, a workflow reference or the server's base
/// directory lies under an authority that is neither the canonical file system nor an alias. It may be the same one.
pub fn unresolved(context: &Context<'_>) -> Vec<Finding> {
    let mut seen: BTreeMap<Authority, Vec<String>> = BTreeMap::new();
    for (uri, whose) in uris(context) {
        if let Place::Unresolved(authority, path) = context.resolve(&uri) {
            seen.entry(authority).or_default().push(format!("{whose} names {}", printable(path.as_str())));
        }
    }
    seen.into_iter().map(|(authority, facts)| finding_of(authority, facts)).collect()
}

fn finding_of(authority: Authority, mut facts: Vec<String>) -> Finding {
    facts.sort();
    facts.dedup();
    let more = facts.len().saturating_sub(5);
    facts.truncate(5);
    if more > 0 {
        facts.push(format!("and {more} more"));
    }
    let target = Target { authority: Some(authority), ..Target::default() };
    let finding = Finding::new(FindingCode::AuthorityUnresolved, Severity::Error, target, "file_systems::unresolved");
    facts.into_iter().fold(finding, Finding::because)
}

fn uris(context: &Context<'_>) -> Vec<(HdfsUri, String)> {
    let mut uris = Vec::new();
    for (cluster, job) in context.inventory.flink.live_jobs() {
        let whose = || format!("live job {} ({}) on {}", job.id, printable(&job.name), cluster.name);
        uris.extend(state_pointers(job).filter_map(|p| Some((p.uri()?.clone(), whose()))));
    }
    for line in &context.config.registry {
        uris.extend(line.restore_path.clone().map(|uri| (uri, format!("registry line of {}", printable(&line.app)))));
    }
    uris.extend(uris_of_resources(context));
    uris
}

fn uris_of_resources(context: &Context<'_>) -> Vec<(HdfsUri, String)> {
    let Some((view, ds)) = context.resources else { return Vec::new() };
    let parse = |text: &str| HdfsUri::parse(text).ok();
    let mut uris: Vec<_> = view
        .base_dir
        .as_deref()
        .and_then(parse)
        .map(|uri| (uri, "the server's base directory".to_owned()))
        .into_iter()
        .collect();
    for workflow in &view.workflows {
        let whose = || format!("workflow {} ({})", workflow.code, printable(&workflow.name));
        let names = workflow.references.iter().filter_map(|reference| match reference {
            Reference::Name(name) if name.contains("://") => parse(name),
            _ => None,
        });
        uris.extend(names.map(|uri| (uri, whose())));
        // A directory outside the namespace is nobody's business here, in whatever file system it lies.
        let options = workflow.state_options.iter().filter_map(|option| parse(&option.value));
        uris.extend(options.filter(|uri| uri.path.is_at_or_below(&ds.base_path)).map(|uri| (uri, whose())));
    }
    uris
}
