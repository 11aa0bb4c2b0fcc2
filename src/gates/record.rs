//! The gates of a record delete. The same functions judge when a plan is made and again right before each call.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use jiff::Timestamp;

use super::{Gate, GateResult, Verdict};
use crate::compare::context::{Presence, RecordFacts, is_file, state_pointers};
use crate::compare::{Comparison, Context, Finding, FindingCode};
use crate::domain::text::printable;
use crate::domain::{HdfsPath, RecordId};
use crate::views::resources::{Opinion, OwnerTenant};
use crate::views::{Generation, ViewName};

/// What the gates rest on beside the inventory.
#[derive(Debug)]
pub struct Grounds<'g> {
    /// Findings on that inventory.
    pub comparison: &'g Comparison,
    /// When an earlier run of the same scope saw the record stale, with no run in between that did not.
    pub earlier: &'g BTreeMap<RecordId, Timestamp>,
}

/// The gates of all records of one inventory.
#[derive(Debug)]
pub struct RecordGates<'c, 'a> {
    context: &'c Context<'a>,
    grounds: Grounds<'c>,
    stale: HashSet<RecordId>,
    used: HashSet<usize>,
    below: BTreeMap<usize, Vec<usize>>,
    live: Vec<HdfsPath>,
}

impl<'c, 'a> RecordGates<'c, 'a> {
    /// Prepares the indexes.
    pub fn new(context: &'c Context<'a>, grounds: Grounds<'c>) -> Self {
        let is_stale = |finding: &&Finding| finding.code == FindingCode::StaleResourceRecord;
        let stale = grounds.comparison.findings.iter().filter(is_stale).filter_map(|f| f.target.record).collect();
        let mut below: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for at in 0..context.records.len() {
            for above in context.with_ancestors(at).skip(1) {
                below.entry(above).or_default().push(at);
            }
        }
        Self { used: used(context), live: live_paths(context), context, grounds, stale, below }
    }

    /// Positions of the records that are called stale, in id order.
    pub fn candidates(&self) -> Vec<usize> {
        (0..self.context.records.len()).filter(|at| self.stale.contains(&self.context.records[*at].record.id)).collect()
    }

    /// Positions of all records below one.
    pub fn below(&self, at: usize) -> &[usize] {
        self.below.get(&at).map_or(&[], Vec::as_slice)
    }

    /// All gates of one record, in the order they are printed.
    pub fn of(&self, at: usize) -> Vec<GateResult> {
        Gate::ALL.iter().map(|gate| self.gate(*gate, at)).collect()
    }

    /// Whether all gates of a record hold.
    pub fn all_proved(&self, at: usize) -> bool {
        Gate::ALL.iter().all(|gate| self.gate(*gate, at).verdict == Verdict::Proved)
    }

    fn gate(&self, gate: Gate, at: usize) -> GateResult {
        let facts = &self.context.records[at];
        match gate {
            Gate::Version => self.version(),
            Gate::View => self.view(facts),
            Gate::Guard => self.guard(facts),
            Gate::Identity => self.identity(facts),
            Gate::Absent => absent(facts),
            Gate::AbsentTwice => self.absent_twice(facts),
            Gate::Sentinel => self.sentinel(facts),
            Gate::SameStore => self.same_store(facts),
            Gate::Grace => self.grace(facts),
            Gate::Stale => self.stale(facts),
            Gate::Unreferenced => self.unreferenced(at),
            Gate::Unbound => self.unbound(facts),
            Gate::NoLiveState => self.no_live_state(facts),
            Gate::Children => self.children(at),
            Gate::Parents => self.parents(at),
            Gate::Trash => self.trash(facts),
        }
    }

    fn version(&self) -> GateResult {
        let Some((view, ds)) = self.context.resources else {
            return GateResult::unknown(Gate::Version, "no DolphinScheduler was read");
        };
        match view.generation {
            Some(found) if found != ds.generation => GateResult::refuted(
                Gate::Version,
                format!("configured {}, found generation {found}", printable(&ds.version)),
            ),
            Some(found @ (Generation::V20 | Generation::V30 | Generation::V31)) => GateResult::proved(
                Gate::Version,
                format!("generation {found}, whose delete was recorded on a running server"),
            ),
            Some(found) => {
                GateResult::refuted(Gate::Version, format!("no delete of records was recorded for generation {found}"))
            }
            None => GateResult::unknown(Gate::Version, "the probes did not decide the generation"),
        }
    }

    /// Every view that could veto. A gap of HDFS counts where it touches the path; any other counts for every record.
    fn view(&self, facts: &RecordFacts<'_>) -> GateResult {
        let blocking = self.grounds.comparison.findings.iter().find(|finding| match finding.code {
            FindingCode::ViewIncomplete | FindingCode::ViewContradiction => concerns(finding, facts.path.as_ref()),
            FindingCode::AuthorityUnresolved | FindingCode::UnsupportedStorage => true,
            _ => false,
        });
        if let Some(finding) = blocking {
            let why = finding.evidence.first().map_or("", String::as_str);
            let view = finding.target.view.map_or_else(String::new, |view| format!(" of {view}"));
            return GateResult::unknown(Gate::View, format!("{}{view}: {why}", finding.code));
        }
        if !self.context.flink_is_whole() {
            return GateResult::unknown(
                Gate::View,
                "no Flink cluster was read, and the configuration does not say that there is none",
            );
        }
        let whole = self.context.resources.is_some_and(|(view, _)| view.records_complete && view.users_complete);
        if whole {
            GateResult::proved(Gate::View, "Flink, HDFS around the path, records, users and workflows were read whole")
        } else {
            GateResult::unknown(Gate::View, "records or users were not read whole")
        }
    }

    fn guard(&self, facts: &RecordFacts<'_>) -> GateResult {
        let closed = self.grounds.comparison.findings.iter().find(|finding| match finding.code {
            FindingCode::ClockSkew | FindingCode::ConfigRefused => true,
            FindingCode::MassAbsence => {
                let top = finding.target.path.as_deref().and_then(|p| HdfsPath::parse(p).ok()).and_then(|p| p.parent());
                top.is_none_or(|top| facts.path.as_ref().is_none_or(|path| path.is_at_or_below(&top)))
            }
            _ => false,
        });
        match closed {
            Some(finding) => GateResult::refuted(
                Gate::Guard,
                format!("{}: {}", finding.code, finding.evidence.first().map_or("", String::as_str)),
            ),
            None => GateResult::proved(Gate::Guard, "no mass absence, clocks agree, no refused setting"),
        }
    }

    fn identity(&self, facts: &RecordFacts<'_>) -> GateResult {
        if facts.fault.is_some() {
            return GateResult::refuted(Gate::Identity, "its name must not be looked up");
        }
        match (facts.tenant, &facts.path) {
            (OwnerTenant::Tenant(tenant), Some(path)) => GateResult::proved(
                Gate::Identity,
                format!(
                    "owner {}, tenant {} now, so {}",
                    self.owner(facts),
                    printable(tenant),
                    printable(path.as_str())
                ),
            ),
            (OwnerTenant::Unknown, _) => GateResult::unknown(Gate::Identity, "owner or tenant could not be read"),
            _ => GateResult::refuted(Gate::Identity, "its owner is gone or has no tenant: it has no path"),
        }
    }

    fn owner(&self, facts: &RecordFacts<'_>) -> String {
        let user = self.context.resources.and_then(|(view, _)| view.users.get(&facts.record.owner?));
        user.map_or_else(|| "unknown".to_owned(), |user| printable(&user.name))
    }

    fn absent_twice(&self, facts: &RecordFacts<'_>) -> GateResult {
        let wanted = self.context.config.policies.confirm_after;
        match self.grounds.earlier.get(&facts.record.id) {
            Some(then) if wanted.has_passed(*then, self.context.inventory.taken) => {
                GateResult::proved(Gate::AbsentTwice, format!("a run at {then} saw the same"))
            }
            Some(then) => GateResult::unknown(
                Gate::AbsentTwice,
                format!("seen at {then}, less than {wanted} ago; run again later"),
            ),
            None => GateResult::unknown(
                Gate::AbsentTwice,
                format!("no earlier run of this scope saw it; run again in {wanted}, or plan with --wait"),
            ),
        }
    }

    fn of_tenant<'s>(&'s self, facts: &RecordFacts<'a>) -> impl Iterator<Item = &'s RecordFacts<'a>> {
        let tenant = facts.tenant;
        self.context.records.iter().filter(move |other| tenant != OwnerTenant::Unknown && other.tenant == tenant)
    }

    fn sentinel(&self, facts: &RecordFacts<'a>) -> GateResult {
        match self.of_tenant(facts).find(|other| matches!(other.presence, Presence::Present(_))) {
            Some(other) => {
                GateResult::proved(Gate::Sentinel, format!("record {} of this tenant is there", other.record.id))
            }
            None => GateResult::unknown(
                Gate::Sentinel,
                "nothing known to exist was seen of this tenant; upload one small text file to it",
            ),
        }
    }

    fn same_store(&self, facts: &RecordFacts<'a>) -> GateResult {
        let Some((view, _)) = self.context.resources else {
            return GateResult::unknown(Gate::SameStore, "no DolphinScheduler was read");
        };
        let opinion = |other: &RecordFacts<'_>| view.opinions.get(&other.record.id);
        if opinion(facts) == Some(&Opinion::Opens) {
            return GateResult::refuted(
                Gate::SameStore,
                "DolphinScheduler opens the file that HDFS, as read here, does not have",
            );
        }
        let agrees =
            |other: &&RecordFacts<'_>| other.presence == Presence::Absent && opinion(other) == Some(&Opinion::NotThere);
        if let Some(other) = self.of_tenant(facts).find(agrees) {
            return GateResult::proved(
                Gate::SameStore,
                format!("DolphinScheduler's view of record {} answers 20012 as well", other.record.id),
            );
        }
        let opens = |other: &&RecordFacts<'_>| {
            matches!(other.presence, Presence::Present(_)) && opinion(other) == Some(&Opinion::Opens)
        };
        match self.of_tenant(facts).find(opens) {
            Some(other) => GateResult::proved(
                Gate::SameStore,
                format!(
                    "nothing absent can be viewed; record {}, which is there, opens ({REPLICA_NOTE})",
                    other.record.id
                ),
            ),
            None => GateResult::unknown(
                Gate::SameStore,
                "DolphinScheduler was not seen to look at this file system; upload one small text file to this tenant",
            ),
        }
    }

    fn grace(&self, facts: &RecordFacts<'_>) -> GateResult {
        let grace = self.context.config.policies.record_grace;
        match self.context.record_time(facts.record) {
            Some(time) if grace.has_passed(time, self.context.now) => {
                GateResult::proved(Gate::Grace, format!("last changed {time}"))
            }
            Some(time) => GateResult::refuted(Gate::Grace, format!("changed {time}, less than {grace} ago")),
            None => GateResult::unknown(Gate::Grace, "its times could not be read"),
        }
    }

    fn stale(&self, facts: &RecordFacts<'_>) -> GateResult {
        if self.stale.contains(&facts.record.id) {
            GateResult::proved(Gate::Stale, "stale, and neither moved, renamed in part, nor a conflict of names")
        } else {
            GateResult::refuted(Gate::Stale, "it is not called stale, or an ignore hides it")
        }
    }

    fn unreferenced(&self, at: usize) -> GateResult {
        let family = self.context.with_ancestors(at).chain(self.below(at).iter().copied());
        let user = family.filter(|other| self.used.contains(other)).find_map(|other| {
            let record = self.context.records[other].record;
            self.context.uses.workflows_of(record).next().map(|workflow| (record.id, workflow))
        });
        match user {
            Some((record, workflow)) => GateResult::refuted(
                Gate::Unreferenced,
                format!(
                    "{} workflow {} ({}) uses record {record}",
                    if workflow.online { "ONLINE" } else { "OFFLINE" },
                    workflow.code,
                    printable(&workflow.name)
                ),
            ),
            None => GateResult::proved(Gate::Unreferenced, "no workflow or task uses it, one above it or one below it"),
        }
    }

    fn unbound(&self, facts: &RecordFacts<'_>) -> GateResult {
        if self.context.uses.is_bound(facts.record) {
            GateResult::refuted(Gate::Unbound, "a UDF function is bound to it")
        } else {
            GateResult::proved(Gate::Unbound, "no UDF function is bound to it")
        }
    }

    /// Protection matches loosely: the path of live state under any authority counts.
    fn no_live_state(&self, facts: &RecordFacts<'_>) -> GateResult {
        let Some(path) = &facts.path else { return GateResult::unknown(Gate::NoLiveState, "it has no path") };
        match self.live.iter().find(|live| live.is_at_or_below(path) || path.is_below(live)) {
            Some(live) => GateResult::refuted(
                Gate::NoLiveState,
                format!("a live job keeps state at {}", printable(live.as_str())),
            ),
            None => GateResult::proved(Gate::NoLiveState, "no live job keeps state at, below or above it"),
        }
    }

    fn children(&self, at: usize) -> GateResult {
        let open = self.below(at).iter().find(|child| !self.proved_but_children(**child));
        match open {
            Some(child) => {
                let record = self.context.records[*child].record;
                GateResult::refuted(
                    Gate::Children,
                    format!("record {} below it ({}) cannot go", record.id, printable(&record.full_name)),
                )
            }
            None => GateResult::proved(
                Gate::Children,
                format!("{} records below it, all of which go before", self.below(at).len()),
            ),
        }
    }

    fn proved_but_children(&self, at: usize) -> bool {
        let others = Gate::ALL.iter().filter(|gate| **gate != Gate::Children);
        others.map(|gate| self.gate(*gate, at)).all(|result| result.verdict == Verdict::Proved)
    }

    fn parents(&self, at: usize) -> GateResult {
        let odd = self.context.with_ancestors(at).skip(1).find(|above| {
            let facts = &self.context.records[*above];
            matches!(facts.presence, Presence::Present(status) if is_file(status) == facts.record.directory)
        });
        match odd {
            Some(above) => {
                let record = self.context.records[above].record;
                GateResult::refuted(Gate::Parents, format!("record {} above it is of another type in HDFS", record.id))
            }
            None => GateResult::proved(Gate::Parents, "every record above it agrees with HDFS, or is absent too"),
        }
    }

    fn trash(&self, facts: &RecordFacts<'_>) -> GateResult {
        if !self.context.config.policies.trash_restore_window {
            return GateResult::proved(Gate::Trash, "policies.trash_restore_window is off");
        }
        let Some(path) = &facts.path else { return GateResult::unknown(Gate::Trash, "it has no path") };
        let hdfs = &self.context.inventory.hdfs;
        if let Some(copy) = hdfs.trash_copy(path) {
            return GateResult::refuted(
                Gate::Trash,
                format!("a copy waits at {}: restore it, or let it expire", printable(copy.as_str())),
            );
        }
        if hdfs.trash.readable {
            return GateResult::proved(
                Gate::Trash,
                format!("no copy in {} Trash directories", hdfs.trash.checkpoints.len()),
            );
        }
        self.trash_by_time(path)
    }

    /// Where the Trashes cannot be read: the nearest directory that exists must not have changed within the rollback window,
    /// since a deletion into a Trash changes it.
    fn trash_by_time(&self, path: &HdfsPath) -> GateResult {
        let window = self.context.config.policies.rollback_window;
        let parent = path.ancestors().skip(1).filter_map(|at| HdfsPath::parse(at).ok()).find_map(|at| {
            match self.context.presence(&at) {
                Presence::Present(status) => Some(status.modified),
                _ => None,
            }
        });
        match parent {
            Some(time) if window.has_passed(time, self.context.now) => GateResult::proved(
                Gate::Trash,
                format!("the Trashes cannot be read; its directory last changed {time}, more than {window} ago"),
            ),
            _ => GateResult::unknown(
                Gate::Trash,
                format!("the Trashes cannot be read, and its directory changed less than {window} ago"),
            ),
        }
    }
}

/// What a plan says where only a present file vouches for the store.
pub const REPLICA_NOTE: &str = "a replica was not excluded";

fn absent(facts: &RecordFacts<'_>) -> GateResult {
    match facts.presence {
        Presence::Absent => GateResult::proved(
            Gate::Absent,
            "the active NameNode answered not-found, under a directory that was listed completely",
        ),
        Presence::Present(_) => {
            GateResult::refuted(Gate::Absent, "something is there: a delete would take it, recursively")
        }
        Presence::Unknown => GateResult::unknown(Gate::Absent, "no proof of absence"),
    }
}

/// Whether a gap concerns a record at `path`.
fn concerns(finding: &Finding, path: Option<&HdfsPath>) -> bool {
    let at = finding.target.path.as_deref().and_then(|text| HdfsPath::parse(text).ok());
    match (finding.target.view, at, path) {
        (Some(ViewName::Hdfs | ViewName::Flink), Some(at), Some(path)) if finding.target.cluster.is_none() => {
            path.is_at_or_below(&at) || at.is_below(path)
        }
        _ => true,
    }
}

/// Positions of records that a workflow references directly.
fn used(context: &Context<'_>) -> HashSet<usize> {
    (0..context.records.len())
        .filter(|at| context.uses.workflows_of(context.records[*at].record).next().is_some())
        .collect()
}

fn live_paths(context: &Context<'_>) -> Vec<HdfsPath> {
    let pointers = context.inventory.flink.live_jobs().flat_map(|(_, job)| state_pointers(job));
    let paths: BTreeSet<HdfsPath> =
        pointers.filter_map(|pointer| Some(context.resolve(pointer.uri()?).path().clone())).collect();
    paths.into_iter().collect()
}
