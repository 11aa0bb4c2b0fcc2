//! Paths below a tenant's directories that have no record (up to DolphinScheduler 3.1).

use std::collections::BTreeSet;
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt as _, HashSet, HashSetExt as _};

use crate::compare::context::is_file;
use crate::compare::{Context, Finding, FindingCode, Severity, Target};
use crate::domain::record::tenant_directory;
use crate::domain::{EntryKind, HdfsPath, RecordId, ResourceKind, Status};
use crate::views::Entry;
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

/// What lies in a directory of a tenant and has no record.
#[derive(Debug)]
pub struct Unowned<'a> {
    /// The tenant's directory.
    pub root: Arc<HdfsPath>,
    directory: &'a HdfsPath,
    /// The entry.
    pub entry: &'a Entry,
}

impl Unowned<'_> {
    /// Where it lies.
    pub fn path(&self) -> HdfsPath {
        self.directory.join(&self.entry.name)
    }
}

/// Everything without a record below the directories of the tenants, in path order. Names are compared directory by directory:
/// nearly all entries have a record, and a path for each would be built to be thrown away.
pub fn unowned<'a>(context: &Context<'a>) -> Vec<Unowned<'a>> {
    if !has_records(context) {
        return Vec::new();
    }
    let roots = tenant_roots(context).into_iter().map(Arc::new);
    let owned = owned_names(context);
    let mut found = Vec::new();
    for root in roots {
        for (directory, listing) in context.inventory.hdfs.listings_below(&root) {
            let names = owned.get(directory.as_str()).map_or(&[][..], Vec::as_slice);
            let entries = listing.entries.iter().filter(|entry| names.binary_search(&&*entry.name).is_err());
            found.extend(entries.map(|entry| Unowned { root: Arc::clone(&root), directory, entry }));
        }
    }
    found
}

/// Whether this server keeps records at all: from 3.2 on the listing of HDFS is the resource center.
fn has_records(context: &Context<'_>) -> bool {
    context.resources.is_some_and(|(view, _)| view.generation.is_some_and(crate::views::Generation::has_records))
}

/// Names that have a record, sorted, by their directory.
fn owned_names<'c>(context: &'c Context<'_>) -> HashMap<&'c str, Vec<&'c str>> {
    let paths: Vec<&HdfsPath> = context.owned_paths().collect();
    let mut names: HashMap<&str, Vec<&str>> = HashMap::new();
    for together in paths.chunk_by(|a, b| a.parent_str() == b.parent_str()) {
        if let Some(directory) = together[0].parent_str() {
            names.entry(directory).or_default().extend(together.iter().filter_map(|path| path.name()));
        }
    }
    for names in names.values_mut() {
        names.sort_unstable();
    }
    names
}

/// `unmanaged-hdfs-path`: a file without a record that is not at or below the path of another finding, nor its other half; a
/// directory without a record only if nothing at or below it has a finding or a record, and then the topmost alone.
///
/// Says nothing unless the records are complete: a record that was not read is not a record that is not there.
pub fn without_record(
    context: &Context<'_>,
    unowned: &[Unowned<'_>],
    mass_absent: &[HdfsPath],
    findings: &[Finding],
) -> Vec<Finding> {
    let Some((view, _)) = context.resources else { return Vec::new() };
    if !has_records(context) || !view.records_complete || !view.users_complete {
        return Vec::new();
    }
    let covered = Covered::new(context, mass_absent, findings);
    let mut found = beside(context, unowned, &covered);
    let roots = tenant_roots(context);
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
    /// These and what is below them.
    tops: HashSet<String>,
    /// These alone.
    halves: HashSet<String>,
}

impl Covered {
    fn new(context: &Context<'_>, mass_absent: &[HdfsPath], findings: &[Finding]) -> Self {
        // Whether a run directory may go is a question of its own; a missing record says nothing about it.
        let runs = context.config.roots.iter().flat_map(|root| super::roots::run_directories(context, root));
        // A directory whose running sum has drifted says nothing of the files below it, and on a busy server most have.
        let speaks = |f: &&Finding| !(f.code == FindingCode::SizeMismatch && f.severity == Severity::Info);
        let found = findings.iter().filter(speaks).filter_map(|f| f.target.path.clone());
        let tops = found
            .chain(mass_absent.iter().map(ToString::to_string))
            .chain(runs.map(|(path, _)| path.to_string()))
            .collect();
        Self { tops, halves: findings.iter().filter_map(|f| f.other.clone()).collect() }
    }

    fn has_below(&self, directory: &HdfsPath) -> bool {
        directory.ancestors().any(|at| self.tops.contains(at))
    }

    fn names(&self, path: &str) -> bool {
        self.tops.contains(path) || self.halves.contains(path)
    }

    /// Ancestors of paths that have a record or a finding: no directory among them is unmanaged as a whole.
    fn above<'s>(&'s self, context: &'s Context<'_>) -> HashSet<&'s str> {
        let mut above = HashSet::new();
        let owned = context.owned_paths().map(HdfsPath::as_str);
        for path in owned.chain(self.tops.iter().chain(&self.halves).map(String::as_str)) {
            add_ancestors(&mut above, path);
        }
        above
    }
}

/// Adds the ancestors of a path, stopping at the first that is known: then all above it are.
fn add_ancestors<'p>(above: &mut HashSet<&'p str>, path: &'p str) {
    let mut rest = path;
    while let Some(at) = rest.rfind('/').filter(|at| *at > 0) {
        rest = &rest[..at];
        if !above.insert(rest) {
            break;
        }
    }
}

/// What has no record and lies beside everything that another finding speaks for.
fn beside(context: &Context<'_>, unowned: &[Unowned<'_>], covered: &Covered) -> Vec<Finding> {
    let (mut files, mut directories) = (Vec::new(), Vec::new());
    for together in unowned.chunk_by(|a, b| a.directory == b.directory) {
        if covered.has_below(together[0].directory) {
            continue;
        }
        for it in together {
            let (path, status) = (it.path(), &it.entry.status);
            if covered.names(path.as_str()) {
                continue;
            }
            let kind = if status.kind == EntryKind::Directory { &mut directories } else { &mut files };
            kind.push((path, status));
        }
    }
    let above = covered.above(context);
    let mut with_files = HashSet::new();
    for (path, _) in &files {
        add_ancestors(&mut with_files, path.as_str());
    }
    let empty: Vec<_> = directories
        .into_iter()
        .filter(|(path, _)| !above.contains(path.as_str()) && !with_files.contains(path.as_str()))
        .collect();
    let tops = topmost(empty.into_iter());
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
