//! Records against HDFS. A record has at most one of: illegal name, undeletable, name form, moved, rename split, stale: the
//! first that fits, in this order. A tenant of which nearly everything looks absent is one finding and no more.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt as _, HashSet};

use super::unmanaged::Unowned;
use crate::compare::context::{Presence, RecordFacts, is_file};
use crate::compare::{Context, Finding, FindingCode, Remedy, Severity, Target};
use crate::config::Policies;
use crate::domain::record::{NameFault, tenant_directory};
use crate::domain::text::{composed, differs_only_in_form, percent_decoded, printable};
use crate::domain::{EntryKind, HdfsPath, RecordId, ResourceKind, Status};
use crate::views::resources::{Opinion, OwnerTenant};
use crate::views::{Gap, Listing, ViewName};

/// What the record rules found, and what later rules have to know.
#[derive(Debug, Default)]
pub struct RecordFindings {
    /// Findings on records and tenants.
    pub findings: Vec<Finding>,
    /// Tenant directories of which nearly everything looks absent: nothing at or below them is judged.
    pub mass_absent: Vec<HdfsPath>,
    /// Records that are stale.
    pub stale: HashSet<RecordId>,
}

/// What one record is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Verdict {
    /// Nothing to say: present and alike, within its grace, or not to be told.
    Fine,
    Illegal(NameFault),
    Undeletable(&'static str, Remedy),
    NameForm(HdfsPath),
    Moved(HdfsPath),
    Split {
        other: HdfsPath,
        young: bool,
    },
    Stale,
}

/// Judges every record.
pub fn judge(context: &Context<'_>, unowned: &[Unowned<'_>]) -> RecordFindings {
    let Some((view, _)) = context.resources else { return RecordFindings::default() };
    if !view.generation.is_none_or(crate::views::Generation::has_records) {
        return RecordFindings::default();
    }
    let verdicts = Verdicts::new(context, unowned).all();
    let mass = mass_absences(context, &verdicts);
    let mut out = RecordFindings {
        mass_absent: mass.values().flat_map(|m| m.covers.clone()).collect(),
        ..RecordFindings::default()
    };
    let heavy = heavy_uses(context);
    for (at, verdict) in verdicts.iter().enumerate() {
        let facts = &context.records[at];
        if matches!(facts.tenant, OwnerTenant::Tenant(code) if mass.contains_key(code))
            && !matches!(verdict, Verdict::Illegal(_))
        {
            continue;
        }
        if *verdict == Verdict::Stale {
            out.stale.insert(facts.record.id);
        }
        out.findings.extend(finding_of(context, facts, verdict, heavy.contains(&at)));
        out.findings.extend(mismatch(facts));
    }
    out.findings.extend(directory_sizes(context, &mass));
    out.findings.extend(mass.into_values().map(|m| m.finding));
    out
}

/// Files by tenant directory and size.
type Loose<'a> = HashMap<(Arc<HdfsPath>, u64), Vec<(HdfsPath, &'a Status)>>;

/// Applies the rules for one record at a time; some need the others' answers.
struct Verdicts<'c, 'a> {
    context: &'c Context<'a>,
    /// Unmanaged files by tenant directory and size, the candidates for the other half of a rename.
    loose: Loose<'a>,
    /// Names in directories that miss something.
    forms: HashMap<&'a HdfsPath, Forms<'a>>,
}

impl<'c, 'a> Verdicts<'c, 'a> {
    fn new(context: &'c Context<'a>, unowned: &[Unowned<'a>]) -> Self {
        let absent = || context.records.iter().filter(|facts| facts.presence == Presence::Absent);
        let absent_files = absent().any(|facts| !facts.record.directory);
        // A file whose record was not read is not a file without a record: a plain user's token shows few of them.
        let whole = context.resources.is_some_and(|(view, _)| view.records_complete && view.users_complete);
        let loose = if absent_files && whole { loose_files(unowned) } else { HashMap::new() };
        let listings = &context.inventory.hdfs.listings;
        let short: BTreeSet<&str> = absent().filter_map(|facts| facts.path.as_ref()?.parent_str()).collect();
        let short = short.into_iter().filter_map(|path| listings.get_key_value(path));
        Self { context, loose, forms: short.map(|(path, listing)| (path, Forms::of(listing))).collect() }
    }

    fn all(&self) -> Vec<Verdict> {
        let mut verdicts: Vec<Verdict> = self.context.records.iter().map(|facts| self.of(facts)).collect();
        self.move_directories(&mut verdicts);
        verdicts
    }

    fn of(&self, facts: &RecordFacts<'_>) -> Verdict {
        if let Some(fault) = facts.fault {
            return Verdict::Illegal(fault);
        }
        match facts.tenant {
            OwnerTenant::Deleted => {
                return Verdict::Undeletable(
                    "its owner was deleted: every call on it answers 10010",
                    Remedy::OwnerIsGone,
                );
            }
            OwnerTenant::NoTenant => {
                return Verdict::Undeletable(
                    "its owner has no tenant: every call on it answers 10181",
                    Remedy::AssignTenant,
                );
            }
            OwnerTenant::Unknown | OwnerTenant::Tenant(_) => {}
        }
        match &facts.path {
            Some(path) if facts.presence == Presence::Absent && !self.opens(facts.record.id) => {
                self.of_absent(facts, path)
            }
            _ => Verdict::Fine,
        }
    }

    fn of_absent(&self, facts: &RecordFacts<'_>, path: &HdfsPath) -> Verdict {
        if let Some(other) = self.other_form(path) {
            return Verdict::NameForm(other);
        }
        let past_grace = self.context.is_past_grace(self.context.record_time(facts.record));
        if past_grace
            && !facts.record.directory
            && let Some(other) = self.file_under_other_tenant(facts)
        {
            return Verdict::Moved(other);
        }
        if let Some((other, status)) = self.other_half(facts, path) {
            let young = !past_grace || !self.context.is_past_grace(Some(status.modified));
            return Verdict::Split { other, young };
        }
        if past_grace { Verdict::Stale } else { Verdict::Fine }
    }

    fn opens(&self, id: RecordId) -> bool {
        self.context.resources.is_some_and(|(view, _)| view.opinions.get(&id) == Some(&Opinion::Opens))
    }

    fn other_form(&self, path: &HdfsPath) -> Option<HdfsPath> {
        let (parent, name) = (path.parent()?, path.name()?);
        let other = self.forms.get(&parent)?.other(name)?;
        Some(parent.join(other))
    }

    fn file_under_other_tenant(&self, facts: &RecordFacts<'_>) -> Option<HdfsPath> {
        self.under_other_tenants(facts)
            .find_map(|(path, status)| (is_file(status) && Some(status.length) == facts.record.size).then_some(path))
    }

    /// What lies under the same name in the directories of the other tenants.
    fn under_other_tenants<'s>(
        &'s self,
        facts: &'s RecordFacts<'_>,
    ) -> impl Iterator<Item = (HdfsPath, &'a Status)> + 's {
        let tenants: BTreeSet<&str> = self
            .context
            .resources
            .into_iter()
            .flat_map(|(view, ds)| {
                let users = view.users.values().filter_map(|user| user.tenant.as_deref());
                users.chain(ds.tenants.iter().map(String::as_str))
            })
            .collect();
        let own = match facts.tenant {
            OwnerTenant::Tenant(code) => Some(code),
            _ => None,
        };
        let relative = facts.record.full_name.trim_start_matches('/');
        tenants.into_iter().filter(move |tenant| Some(*tenant) != own).filter_map(move |tenant| {
            let base = &self.context.resources?.1.base_path;
            let path = tenant_directory(base, tenant, facts.record.kind)?.join_relative(relative).ok()?;
            match self.context.presence(&path) {
                Presence::Present(status) => Some((path, status)),
                _ => None,
            }
        })
    }

    fn other_half(&self, facts: &RecordFacts<'_>, path: &HdfsPath) -> Option<(HdfsPath, &'a Status)> {
        if facts.record.directory {
            return None;
        }
        let directory = tenant_root(self.context, facts)?;
        let candidates = self.loose.get(&(Arc::new(directory), facts.record.size?))?;
        let same_directory = |other: &HdfsPath| other.parent_str() == path.parent_str();
        let same_name = |other: &HdfsPath| other.name() == path.name();
        candidates
            .iter()
            .filter(|(other, _)| same_directory(other) || same_name(other))
            .min_by_key(|(other, _)| (!same_directory(other), other.clone()))
            .cloned()
    }

    /// A stale directory record whose name is a directory under another tenant moved along with its files: it is moved if any
    /// record below it is.
    fn move_directories(&self, verdicts: &mut [Verdict]) {
        let above_moved: BTreeSet<usize> = (0..verdicts.len())
            .filter(|at| matches!(verdicts[*at], Verdict::Moved(_)))
            .flat_map(|at| self.context.with_ancestors(at).skip(1).collect::<Vec<_>>())
            .collect();
        for at in above_moved {
            if verdicts[at] == Verdict::Stale {
                let other = self.under_other_tenants(&self.context.records[at]).find(|(_, status)| !is_file(status));
                if let Some((other, _)) = other {
                    verdicts[at] = Verdict::Moved(other);
                }
            }
        }
    }
}

/// Names of one directory, found by another form of them. Most names have one form alone, so the index is nearly empty.
struct Forms<'a> {
    listing: &'a Listing,
    /// Names by what they become when composed or decoded.
    changed: HashMap<String, Vec<&'a str>>,
}

impl<'a> Forms<'a> {
    fn of(listing: &'a Listing) -> Self {
        let mut changed: HashMap<String, Vec<&str>> = HashMap::new();
        for entry in &listing.entries {
            for form in composed(&entry.name).into_iter().chain(percent_decoded(&entry.name)) {
                changed.entry(form).or_default().push(&entry.name);
            }
        }
        Self { listing, changed }
    }

    /// The first name that differs from `name` only in form.
    fn other(&self, name: &str) -> Option<&'a str> {
        let composed = composed(name);
        let decoded = percent_decoded(name);
        let forms = [Some(name), composed.as_deref(), decoded.as_deref()].into_iter().flatten();
        forms
            .flat_map(|form| {
                let plain = self.listing.find(form).map(|entry| &*entry.name);
                plain.into_iter().chain(self.changed.get(form).into_iter().flatten().copied())
            })
            .filter(|other| differs_only_in_form(name, other))
            .min()
    }
}

/// The tenant directory of the record's kind.
fn tenant_root(context: &Context<'_>, facts: &RecordFacts<'_>) -> Option<HdfsPath> {
    match facts.tenant {
        OwnerTenant::Tenant(code) => tenant_directory(context.base_path()?, code, facts.record.kind),
        _ => None,
    }
}

/// Files without a record below the tenants' directories, by tenant directory and size.
fn loose_files<'a>(unowned: &[Unowned<'a>]) -> Loose<'a> {
    let mut loose = Loose::new();
    for it in unowned.iter().filter(|it| is_file(&it.entry.status)) {
        let status = &it.entry.status;
        loose.entry((Arc::clone(&it.root), status.length)).or_default().push((it.path(), status));
    }
    loose
}

/// Records whose loss would hurt: an ONLINE workflow or a function uses them, one above them or one below them.
fn heavy_uses(context: &Context<'_>) -> HashSet<usize> {
    let direct: Vec<usize> =
        (0..context.records.len()).filter(|at| context.uses.matters(context.records[*at].record)).collect();
    let mut heavy: HashSet<usize> =
        direct.iter().flat_map(|at| context.with_ancestors(*at).collect::<Vec<_>>()).collect();
    if !direct.is_empty() {
        let direct: HashSet<usize> = direct.into_iter().collect();
        heavy.extend(
            (0..context.records.len()).filter(|at| context.with_ancestors(*at).any(|above| direct.contains(&above))),
        );
    }
    heavy
}

fn finding_of(context: &Context<'_>, facts: &RecordFacts<'_>, verdict: &Verdict, heavy: bool) -> Option<Finding> {
    let target = Target::record(facts.record.id, facts.path.as_ref());
    let new = |code, severity| Finding::new(code, severity, target.clone(), "records::judge");
    let by_use = if heavy { Severity::Error } else { Severity::Warning };
    let finding = match verdict {
        Verdict::Fine => return None,
        Verdict::Illegal(fault) => {
            let severity = if *fault == NameFault::LeavesTenant { Severity::Critical } else { Severity::Warning };
            new(FindingCode::IllegalResourceName, severity).because(fault_in_words(*fault))
        }
        Verdict::Undeletable(why, remedy) => {
            new(FindingCode::UndeletableRecord, Severity::Warning).because(*why).with_remedy(*remedy)
        }
        Verdict::NameForm(other) => new(FindingCode::NameFormConflict, Severity::Warning)
            .because(format!("this name is absent, {} exists", printable(other.as_str())))
            .with_other(other),
        Verdict::Moved(other) => new(FindingCode::MovedResourceRecord, by_use)
            .because(format!("absent under the tenant of its owner now, present as {}", printable(other.as_str())))
            .with_other(other),
        Verdict::Split { other, young } => {
            new(FindingCode::RenameSplit, if *young { Severity::Warning } else { Severity::Error })
                .because(format!("{} has the same size and no record", printable(other.as_str())))
                .with_other(other)
        }
        Verdict::Stale => stale(context, facts, new(FindingCode::StaleResourceRecord, by_use)),
    };
    Some(finding.because(describe(facts)))
}

fn stale(context: &Context<'_>, facts: &RecordFacts<'_>, finding: Finding) -> Finding {
    let opinion = context.resources.and_then(|(view, _)| view.opinions.get(&facts.record.id));
    let finding = match opinion {
        Some(Opinion::NotThere) => {
            finding.because("not in HDFS, and DolphinScheduler itself cannot open it either (20012)")
        }
        _ => finding
            .because("not in HDFS: the active NameNode's own answer, under a directory that was listed to the end"),
    };
    let mut users: Vec<String> = context
        .uses
        .workflows_of(facts.record)
        .map(|w| format!("{} {}", if w.online { "ONLINE" } else { "OFFLINE" }, w.code))
        .collect();
    users.dedup();
    let finding =
        if users.is_empty() { finding } else { finding.because(format!("used by workflow {}", users.join(", "))) };
    let finding =
        if context.uses.is_bound(facts.record) { finding.because("a UDF function is bound to it") } else { finding };
    match facts.path.as_ref().and_then(|path| context.inventory.hdfs.trash_copy(path)) {
        Some(copy) => finding
            .because(format!("a copy waits at {}", printable(copy.as_str())))
            .with_remedy(Remedy::RestoreFromTrash),
        None => finding,
    }
}

fn describe(facts: &RecordFacts<'_>) -> String {
    let record = facts.record;
    let what = if record.directory { "directory" } else { "file" };
    let tenant = match facts.tenant {
        OwnerTenant::Tenant(code) => format!(", tenant {}", printable(code)),
        _ => String::new(),
    };
    let updated = record.updated.map(|time| format!(", updated {}", time.strftime("%F %T"))).unwrap_or_default();
    format!("record {} is {} {}{tenant}{updated}", record.id, what, printable(&record.full_name))
}

const fn fault_in_words(fault: NameFault) -> &'static str {
    match fault {
        NameFault::LeavesTenant => {
            "the name climbs out of its tenant's directory: a delete would hit somebody else's file"
        }
        NameFault::DotComponent => {
            "the name holds a `.` or `..` component, which HDFS resolves in some calls and not in others"
        }
        NameFault::EmptyComponent => "the name holds an empty component",
        NameFault::ControlCharacter => "the name holds a control character",
    }
}

/// `type-mismatch`, or `size-mismatch` of a file.
fn mismatch(facts: &RecordFacts<'_>) -> Option<Finding> {
    let Presence::Present(status) = facts.presence else { return None };
    let target = Target::record(facts.record.id, facts.path.as_ref());
    let is_directory = status.kind == EntryKind::Directory;
    if is_directory != facts.record.directory {
        let (record, hdfs) = if facts.record.directory { ("directory", "file") } else { ("file", "directory") };
        let finding = Finding::new(FindingCode::TypeMismatch, Severity::Error, target, "records::mismatch");
        return Some(finding.because(format!("the record says {record}, HDFS has a {hdfs}")));
    }
    let size = facts.record.size?;
    (!is_directory && size != status.length).then(|| {
        Finding::new(FindingCode::SizeMismatch, Severity::Warning, target, "records::mismatch")
            .because(format!("the record says {size} bytes, HDFS has {}", status.length))
    })
}

/// `size-mismatch` of directories: the running sum in the record against the files below, where all of them were listed.
/// Bookkeeping only (DolphinScheduler's sum drifts by itself), hence info.
fn directory_sizes(context: &Context<'_>, mass: &BTreeMap<&str, MassAbsence>) -> Vec<Finding> {
    let sums = subtree_sizes(context);
    let mut findings = Vec::new();
    for facts in context.records.iter().filter(|facts| facts.record.directory) {
        if matches!(facts.tenant, OwnerTenant::Tenant(code) if mass.contains_key(code)) {
            continue;
        }
        if let (Some(path), Some(size), Presence::Present(_)) = (&facts.path, facts.record.size, facts.presence)
            && let Some(Some(sum)) = sums.get(path)
            && *sum != size
        {
            let target = Target::record(facts.record.id, Some(path));
            findings.push(
                Finding::new(FindingCode::SizeMismatch, Severity::Info, target, "records::directory_sizes")
                    .because(format!("the record's running sum says {size} bytes, the files below hold {sum}"))
                    .with_remedy(Remedy::LeaveTheSum),
            );
        }
    }
    findings
}

/// Bytes of all files below each listed directory; `None` where something below was not listed.
fn subtree_sizes<'a>(context: &Context<'a>) -> HashMap<&'a HdfsPath, Option<u64>> {
    let mut sums: HashMap<&HdfsPath, Option<u64>> = HashMap::new();
    // Backwards, children come before their parents.
    for (path, listing) in context.inventory.hdfs.listings.iter().rev() {
        let below = listing.entries.iter().map(|entry| match entry.status.kind {
            EntryKind::File => Some(entry.status.length),
            EntryKind::Directory => sums.get(&path.join(&entry.name)).copied().flatten(),
            EntryKind::Symlink => None,
        });
        let sum = below.sum::<Option<u64>>().filter(|_| listing.complete);
        sums.insert(path, sum);
    }
    sums
}

/// One tenant of which nearly everything looks absent.
struct MassAbsence {
    finding: Finding,
    covers: Vec<HdfsPath>,
}

/// `mass-absence`, judged per tenant before any record is called stale.
fn mass_absences<'a>(context: &Context<'a>, verdicts: &[Verdict]) -> BTreeMap<&'a str, MassAbsence> {
    let mut by_tenant: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, facts) in context.records.iter().enumerate() {
        if let (OwnerTenant::Tenant(code), Some(_)) = (facts.tenant, &facts.path) {
            by_tenant.entry(code).or_default().push(at);
        }
    }
    by_tenant
        .into_iter()
        .filter_map(|(tenant, records)| Some((tenant, mass_absence(context, verdicts, tenant, &records)?)))
        .collect()
}

fn mass_absence(context: &Context<'_>, verdicts: &[Verdict], tenant: &str, records: &[usize]) -> Option<MassAbsence> {
    let base = context.base_path()?;
    let directory = tenant_directory(base, tenant, ResourceKind::File)?;
    let count =
        |wanted: fn(Presence<'_>) -> bool| records.iter().filter(|at| wanted(context.records[**at].presence)).count();
    let absent = count(|p| p == Presence::Absent);
    let present = count(|p| matches!(p, Presence::Present(_)));
    let stale = records.iter().filter(|at| verdicts[**at] == Verdict::Stale).count();
    let (why, remedy) = if has_files(context, records) && context.presence(&directory) == Presence::Absent {
        (format!("{directory} does not exist, although {} records live there", records.len()), Remedy::CheckMapping)
    } else if absent > 0 && absent == records.len() {
        (format!("all {absent} records of tenant {tenant} are absent, none is present"), Remedy::UploadSentinel)
    } else if absent > 0 && present == 0 {
        (format!("{absent} records of tenant {tenant} are absent, none is known to be present"), Remedy::CheckMapping)
    } else if let Some(facts) =
        records.iter().map(|at| &context.records[*at]).find(|f| is_newer_than_its_directory(context, f))
    {
        let fact = "was created after its directory was last modified, which every upload changes";
        (format!("record {} {fact}: this is not where the server writes", facts.record.id), Remedy::CheckMapping)
    } else if exceeds_fraction(&context.config.policies, stale, records.len()) {
        let limit = context.config.policies.max_delete_fraction;
        (
            format!(
                "{stale} of {} records of tenant {tenant} are stale, more than max_delete_fraction = {limit}",
                records.len()
            ),
            Remedy::CheckMapping,
        )
    } else {
        return None;
    };
    let finding =
        Finding::new(FindingCode::MassAbsence, Severity::Critical, Target::path(&directory), "records::mass_absence");
    let covers = [ResourceKind::File, ResourceKind::Udf]
        .into_iter()
        .filter_map(|kind| tenant_directory(base, tenant, kind))
        .collect();
    let finding = finding.because(why).with_remedy(remedy);
    Some(MassAbsence { finding: because_opened(context, records, finding), covers })
}

/// That the server opens what is absent here says at once that it looks elsewhere: uploading a file would not help.
fn because_opened(context: &Context<'_>, records: &[usize], finding: Finding) -> Finding {
    let opened: Vec<RecordId> = records
        .iter()
        .map(|at| &context.records[*at])
        .filter(|facts| opens_although_absent(context, facts))
        .map(|facts| facts.record.id)
        .collect();
    match opened.first() {
        Some(first) => finding
            .because(format!(
                "DolphinScheduler opens {} of these records itself, the first is record {first}: it keeps its files elsewhere",
                opened.len()
            ))
            .with_remedy(Remedy::CheckMapping),
        None => finding,
    }
}

fn has_files(context: &Context<'_>, records: &[usize]) -> bool {
    records.iter().any(|at| context.records[*at].record.kind == ResourceKind::File)
}

fn is_newer_than_its_directory(context: &Context<'_>, facts: &RecordFacts<'_>) -> bool {
    if facts.presence != Presence::Absent {
        return false;
    }
    let parent = facts.path.as_ref().and_then(HdfsPath::parent);
    let created = facts.record.created.and_then(|civil| context.ds_time(civil));
    match (parent.map(|path| context.presence(&path)), created) {
        // DolphinScheduler prints whole seconds, and its clock is not the NameNode's.
        (Some(Presence::Present(status)), Some(created)) => {
            status.kind == EntryKind::Directory
                && created.duration_since(status.modified) > jiff::SignedDuration::from_mins(5)
        }
        _ => false,
    }
}

/// Below five records a fraction says little, so the default holds from five on; a named one holds at once.
fn exceeds_fraction(policies: &Policies, stale: usize, all: usize) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "counts of records are far below 2^52")]
    let fraction = stale as f64 / all.max(1) as f64;
    (policies.max_delete_fraction_named || all >= 5) && fraction > policies.max_delete_fraction
}

/// A file that HDFS as read here does not have, and the server opens: the two do not look at the same file system.
///
/// Below a mass absence that is evidence of the one finding there, not one more for each file.
pub fn contradicted_absences(context: &Context<'_>, mass_absent: &[HdfsPath]) -> Vec<Gap> {
    let covered = |path: &HdfsPath| mass_absent.iter().any(|top| path.is_at_or_below(top));
    context
        .records
        .iter()
        .filter(|facts| opens_although_absent(context, facts))
        .filter_map(|facts| {
            let path = facts.path.as_ref().filter(|path| !covered(path))?;
            let what = format!(
                "{}: absent on the NameNode asked here, but DolphinScheduler opens record {}",
                printable(path.as_str()),
                facts.record.id
            );
            Some(Gap::contradiction(ViewName::Hdfs, what).at(path))
        })
        .collect()
}

fn opens_although_absent(context: &Context<'_>, facts: &RecordFacts<'_>) -> bool {
    facts.presence == Presence::Absent
        && context.resources.is_some_and(|(view, _)| view.opinions.get(&facts.record.id) == Some(&Opinion::Opens))
}
