//! Paths below a tenant's directories that have no record (up to DolphinScheduler 3.1).

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::compare::context::is_file;
use crate::compare::{Context, Finding, FindingCode, Severity, Target};
use crate::domain::record::tenant_directory;
use crate::domain::{EntryKind, HdfsPath, RecordId, ResourceKind, Status};
use crate::views::resources::OwnerTenant;

/// The directories of all tenants that are looked at, both kinds.
pub fn tenant_roots(context: &Context<'_>) -> Vec<HdfsPath> {
    let Some((view, ds)) = context.resources else { return Vec::new() };
    let kinds = [ResourceKind::File, ResourceKind::Udf];
    let tenants = view.tenants_in_scope(&ds.tenants);
    tenants
        .iter()
        .flat_map(|tenant| kinds.iter().filter_map(|kind| tenant_directory(&ds.base_path, tenant, *kind)))
        .collect()
}

/// `unmanaged-hdfs-path`: a file without a record that is not at or below the path of another finding, nor its other half; a
/// directory without a record only if nothing at or below it has a finding or a record, and then the topmost alone.
///
/// Says nothing unless the records are complete: a record that was not read is not a record that is not there.
pub fn without_record(context: &Context<'_>, mass_absent: &[HdfsPath], findings: &[Finding]) -> Vec<Finding> {
    let Some((view, _)) = context.resources else { return Vec::new() };
    if !view.generation.is_some_and(crate::views::Generation::has_records)
        || !view.records_complete
        || !view.users_complete
    {
        return Vec::new();
    }
    let covered = Covered::new(context, mass_absent, findings);
    let roots = tenant_roots(context);
    let mut found: Vec<Finding> = roots.iter().flat_map(|root| below(context, root, &covered)).collect();
    name_ownerless(context, &roots, &mut found);
    found
}

/// Says which record without a path has the very name of a found path. An upload under that name is refused (20005), so whoever
/// reads the finding has to know.
fn name_ownerless(context: &Context<'_>, roots: &[HdfsPath], found: &mut [Finding]) {
    let ownerless: HashMap<&str, RecordId> = context
        .records
        .iter()
        .filter(|facts| matches!(facts.tenant, OwnerTenant::Deleted | OwnerTenant::NoTenant))
        .map(|facts| (facts.record.full_name.trim_start_matches('/'), facts.record.id))
        .collect();
    if ownerless.is_empty() {
        return;
    }
    for finding in found {
        let path = finding.target.path.as_deref().unwrap_or_default();
        let mut names = roots.iter().filter_map(|root| path.strip_prefix(root.as_str())?.strip_prefix('/'));
        if let Some(id) = names.find_map(|name| ownerless.get(name)) {
            finding.evidence.push(format!(
                "record {id} has this name and belongs to nobody who has a tenant: it may be the record of this path"
            ));
        }
    }
}

/// Paths that other findings speak for.
struct Covered {
    tops: HashSet<String>,
    halves: HashSet<String>,
    /// Ancestors of paths that have a record or a finding: no directory among them is unmanaged as a whole.
    above: HashSet<String>,
}

impl Covered {
    fn new(context: &Context<'_>, mass_absent: &[HdfsPath], findings: &[Finding]) -> Self {
        // Whether a run directory may go is a question of its own; a missing record says nothing about it.
        let runs = context.config.roots.iter().flat_map(|root| super::roots::run_directories(context, root));
        // A directory whose running sum has drifted says nothing of the files below it, and on a busy server most have.
        let speaks = |f: &&Finding| !(f.code == FindingCode::SizeMismatch && f.severity == Severity::Info);
        let found = findings.iter().filter(speaks).filter_map(|f| f.target.path.clone());
        let tops: HashSet<String> = found
            .chain(mass_absent.iter().map(ToString::to_string))
            .chain(runs.map(|(path, _)| path.to_string()))
            .collect();
        let halves: HashSet<String> = findings.iter().filter_map(|f| f.other.clone()).collect();
        let mut above = HashSet::new();
        for path in
            context.owned_paths.iter().map(HdfsPath::as_str).chain(tops.iter().chain(&halves).map(String::as_str))
        {
            add_ancestors(&mut above, path);
        }
        Self { tops, halves, above }
    }

    fn speaks_for(&self, path: &HdfsPath) -> bool {
        self.halves.contains(path.as_str()) || path.ancestors().any(|at| self.tops.contains(at))
    }
}

/// Adds the ancestors of a path, stopping at the first that is known: then all above it are.
fn add_ancestors(above: &mut HashSet<String>, path: &str) {
    let mut rest = path;
    while let Some(at) = rest.rfind('/').filter(|at| *at > 0) {
        rest = &rest[..at];
        if !above.insert(rest.to_owned()) {
            break;
        }
    }
}

fn below(context: &Context<'_>, root: &HdfsPath, covered: &Covered) -> Vec<Finding> {
    let (mut files, mut directories) = (Vec::new(), Vec::new());
    for (directory, listing) in context.inventory.hdfs.listings_below(root) {
        for entry in &listing.entries {
            let path = directory.join(&entry.name);
            if context.owned_paths.contains(&path) || covered.speaks_for(&path) {
                continue;
            }
            if entry.status.kind == EntryKind::Directory {
                directories.push((path, &entry.status));
            } else {
                files.push((path, &entry.status));
            }
        }
    }
    let mut with_files = HashSet::new();
    for (path, _) in &files {
        add_ancestors(&mut with_files, path.as_str());
    }
    let empty = directories
        .into_iter()
        .filter(|(path, _)| !covered.above.contains(path.as_str()) && !with_files.contains(path.as_str()));
    let tops = topmost(empty);
    files.into_iter().chain(tops).map(|(path, status)| finding_of(context, &path, status)).collect()
}

/// Of nested directories the topmost alone. The input is in path order, so a parent comes before what is below it.
fn topmost<'a>(directories: impl Iterator<Item = (HdfsPath, &'a Status)>) -> Vec<(HdfsPath, &'a Status)> {
    let mut tops: Vec<(HdfsPath, &Status)> = Vec::new();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for (path, status) in directories {
        if !path.ancestors().skip(1).any(|at| seen.contains(at)) {
            seen.insert(path.to_string());
            tops.push((path, status));
        }
    }
    tops
}

fn finding_of(context: &Context<'_>, path: &HdfsPath, status: &Status) -> Finding {
    let old = context.is_past_grace(Some(status.modified));
    let severity = if old { Severity::Warning } else { Severity::Info };
    let what = if is_file(status) { format!("a file of {} bytes", status.length) } else { "a directory".to_owned() };
    Finding::new(FindingCode::UnmanagedHdfsPath, severity, Target::path(path), "unmanaged::without_record").because(
        format!(
            "{what} of {} without a record, modified {}",
            crate::domain::text::printable(&status.owner),
            status.modified
        ),
    )
}
