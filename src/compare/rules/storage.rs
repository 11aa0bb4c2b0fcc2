//! From DolphinScheduler 3.2 on: the server's base directory, and its listing against HDFS.

use crate::compare::{Context, Finding, FindingCode, Severity, Target};
use crate::domain::HdfsPath;
use crate::domain::text::printable;
use crate::views::resources::storage_difference;
use crate::views::{Gap, ResourceView, ViewName};

/// `unsupported-storage`: the base directory the server reports is in no HDFS.
pub fn base_directory(context: &Context<'_>) -> Option<Finding> {
    let (view, _) = context.resources?;
    if !view.stores_elsewhere() {
        return None;
    }
    let target = Target { path: view.base_dir.clone(), ..Target::default() };
    let finding = Finding::new(FindingCode::UnsupportedStorage, Severity::Error, target, "storage::base_directory");
    Some(finding.because("the server keeps its resources there, so HDFS and its listing say nothing about one another"))
}

/// Contradictions between what the server says of its storage and what HDFS holds. In this generation the listing is the
/// store, so any difference means that one reader is wrong or looks elsewhere; it is never ordinary drift.
pub fn contradictions(context: &Context<'_>) -> Vec<Gap> {
    let Some((view, ds)) = context.resources else { return Vec::new() };
    if view.stores_elsewhere() {
        return Vec::new();
    }
    let mut gaps: Vec<Gap> = other_base(context, &ds.base_path, view).into_iter().collect();
    for (directory, entries) in &view.storage {
        if let Some(listing) = context.inventory.hdfs.listings.get(directory).filter(|listing| listing.complete) {
            let what = storage_difference(entries, listing);
            gaps.extend(what.map(|what| {
                Gap::contradiction(ViewName::Resources, format!("{}: {what}", printable(directory.as_str())))
            }));
        }
    }
    gaps
}

/// The server's base directory against the configured one.
fn other_base(context: &Context<'_>, configured: &HdfsPath, view: &ResourceView) -> Option<Gap> {
    let said = view.base_dir.as_deref().filter(|_| view.has_other_base(&context.config.file_systems, configured))?;
    let said = printable(said);
    Some(Gap::contradiction(
        ViewName::Resources,
        format!("the server's base directory is {said}, the configuration says {configured}; set ds.base_path"),
    ))
}
