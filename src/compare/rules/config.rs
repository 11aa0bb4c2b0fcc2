//! Settings that are readable but not in effect.

use crate::compare::{Context, Finding, FindingCode, Severity, Target, is_guard};
use crate::config::Refusal;
use crate::domain::HdfsPath;
use crate::domain::text::printable;
use crate::views::hdfs::Look;

/// One `config-refused` for everything the configuration asks for and does not get: the refusals of the loader, protected
/// paths that match nothing (somebody believes in a protection that protects nothing), and expired ignores.
pub fn refused(context: &Context<'_>) -> Option<Finding> {
    let mut refusals = context.config.refusals.clone();
    refusals.extend(idle_protections(context));
    refusals.extend(expired_ignores(context));
    refusals.extend(ignored_guards(context));
    if refusals.is_empty() {
        return None;
    }
    let finding = Finding::new(FindingCode::ConfigRefused, Severity::Error, Target::default(), "config::refused");
    Some(refusals.iter().fold(finding, |finding, refusal| {
        finding.because(format!("{}: {}; {}", refusal.place, refusal.what, refusal.remedy))
    }))
}

fn idle_protections(context: &Context<'_>) -> Vec<Refusal> {
    let protect = &context.config.policies.protect;
    protect
        .iter()
        .filter(|entry| matches_nothing(context, entry))
        .map(|entry| Refusal {
            place: "policies.protect".to_owned(),
            what: format!("`{}` protects nothing that exists", printable(entry)),
            remedy: "correct the spelling, or remove the entry".to_owned(),
        })
        .collect()
}

fn matches_nothing(context: &Context<'_>, entry: &str) -> bool {
    let candidates = context.config.protected_paths(entry);
    let gone = |path: &HdfsPath| matches!(context.inventory.hdfs.look(path), Look::Absent | Look::NotListed);
    !candidates.is_empty() && candidates.iter().all(gone)
}

fn expired_ignores(context: &Context<'_>) -> Vec<Refusal> {
    let expired = context.config.ignores.iter().filter(|ignore| ignore.expires <= context.inventory.taken);
    expired
        .map(|ignore| Refusal {
            place: ignore.place.clone(),
            what: format!("the ignore of {} expired at {} and hides nothing any more", ignore.code, ignore.expires),
            remedy: "remove it, or look at the finding and give it a new date".to_owned(),
        })
        .collect()
}

/// A view that cannot be trusted, or a guard, cannot be ignored away.
fn ignored_guards(context: &Context<'_>) -> Vec<Refusal> {
    let guards = context.config.ignores.iter().filter(|ignore| is_guard(&ignore.code));
    guards
        .map(|ignore| Refusal {
            place: ignore.place.clone(),
            what: format!("{} says what could not be told and cannot be ignored", ignore.code),
            remedy: "remove the ignore and make the view readable".to_owned(),
        })
        .collect()
}
