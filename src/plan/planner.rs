//! From findings and gates to an ordered plan. Synchronous and pure: no clock, no ids of its own.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::action::{Action, Advice, HeldBack, PLAN_SCHEMA, Plan, RecordTarget};
use super::effect::effect;
use super::{fingerprint, limits};
use crate::compare::{Comparison, Context, Finding, FindingCode, Lang, Target};
use crate::config::Config;
use crate::domain::{HdfsPath, RecordId};
use crate::gates::record::{Grounds, REPLICA_NOTE, RecordGates};
use crate::gates::{Gate, GateResult, Verdict};
use crate::views::Inventory;
use crate::views::resources::OwnerTenant;

/// What the operator asks for.
#[derive(Debug, Clone, Default)]
pub struct Wish {
    /// Id of this run.
    pub run: String,
    /// Only records of this tenant.
    pub tenant: Option<String>,
    /// Only records whose path is at or below this one.
    pub under: Option<HdfsPath>,
    /// At most so many actions.
    pub limit: Option<u32>,
    /// The inventory came from a file.
    pub from_file: bool,
}

/// Makes a plan from one inventory, the findings on it and what earlier runs saw.
pub fn plan(
    inventory: &Inventory,
    config: &Config,
    comparison: &Comparison,
    earlier: &BTreeMap<RecordId, Timestamp>,
    wish: &Wish,
) -> Plan {
    let context = Context::new(inventory, config);
    let gates = RecordGates::new(&context, Grounds { comparison, earlier });
    let wanted: Vec<usize> = gates.candidates().into_iter().filter(|at| is_wanted(&context, *at, wish)).collect();
    let free: BTreeSet<usize> = wanted.iter().copied().filter(|at| gates.all_proved(*at)).collect();
    let kept = limits::cut(&candidates(&context, &free), wish.limit.map_or(usize::MAX, |n| n as usize));
    let actions = actions(&context, &gates, &kept);
    let held_back =
        wanted.iter().filter(|at| !kept.contains(at)).filter_map(|at| held(&context, &gates, *at)).collect();
    let planned: BTreeSet<RecordId> = actions.iter().map(|action| action.target.record).collect();
    let created = inventory.taken;
    let mut plan = Plan {
        schema: PLAN_SCHEMA.to_owned(),
        hash: String::new(),
        run: wish.run.clone(),
        created,
        expires: expiry(created, config),
        config: fingerprint::of_config(config),
        inventory: fingerprint::of_inventory(inventory),
        generation: inventory.resources.as_ref().and_then(|view| view.generation),
        from_file: wish.from_file,
        limit: wish.limit,
        notes: notes(&actions, inventory),
        actions,
        held_back,
        advice: advice(&context, comparison, &planned),
    };
    plan.hash = fingerprint::of_plan(&plan);
    plan
}

fn expiry(created: Timestamp, config: &Config) -> Timestamp {
    let ttl = SignedDuration::from_secs(i64::try_from(config.policies.plan_ttl.seconds()).unwrap_or(i64::MAX));
    created.checked_add(ttl).unwrap_or(created)
}

fn is_wanted(context: &Context<'_>, at: usize, wish: &Wish) -> bool {
    let facts = &context.records[at];
    let tenant = match facts.tenant {
        OwnerTenant::Tenant(code) => Some(code),
        _ => None,
    };
    wish.tenant.as_deref().is_none_or(|wanted| tenant == Some(wanted))
        && wish.under.as_ref().is_none_or(|top| facts.path.as_ref().is_some_and(|path| path.is_at_or_below(top)))
}

fn candidates(context: &Context<'_>, free: &BTreeSet<usize>) -> Vec<limits::Candidate> {
    let candidate = |at: &usize| limits::Candidate {
        at: *at,
        above: context.with_ancestors(*at).skip(1).filter(|above| free.contains(above)).collect(),
        size: context.records[*at].record.size.unwrap_or_default(),
    };
    free.iter().map(candidate).collect()
}

/// The actions in order: deepest first, so that no directory goes before what is below it.
fn actions(context: &Context<'_>, gates: &RecordGates<'_, '_>, kept: &BTreeSet<usize>) -> Vec<Action> {
    let mut order: Vec<(usize, RecordTarget)> = kept
        .iter()
        .filter(|at| is_free_of_kept_back(gates, kept, **at))
        .filter_map(|at| Some((*at, target(context, *at)?)))
        .collect();
    order.sort_by(|(_, a), (_, b)| b.path.depth().cmp(&a.path.depth()).then_with(|| a.path.cmp(&b.path)));
    let numbers: BTreeMap<usize, u32> = (1..).zip(&order).map(|(number, (at, _))| (*at, number)).collect();
    let generation = context.resources.and_then(|(view, _)| view.generation);
    order
        .iter()
        .map(|(at, target)| Action {
            id: numbers[at],
            action: "ds_api_delete".to_owned(),
            after: gates.below(*at).iter().filter_map(|below| numbers.get(below).copied()).collect(),
            gates: gates.of(*at),
            effect: effect(generation, target, Lang::En),
            target: target.clone(),
        })
        .collect()
}

/// A limit may have cut something below a record: then the record stays too.
fn is_free_of_kept_back(gates: &RecordGates<'_, '_>, kept: &BTreeSet<usize>, at: usize) -> bool {
    gates.below(at).iter().all(|below| kept.contains(below))
}

/// The identity of a record, where all of it is known.
pub fn target(context: &Context<'_>, at: usize) -> Option<RecordTarget> {
    let facts = &context.records[at];
    let (view, _) = context.resources?;
    let OwnerTenant::Tenant(tenant) = facts.tenant else { return None };
    let owner_id = facts.record.owner?;
    Some(RecordTarget {
        record: facts.record.id,
        full_name: facts.record.full_name.to_string(),
        kind: facts.record.kind,
        directory: facts.record.directory,
        owner_id,
        owner: view.users.get(&owner_id)?.name.clone(),
        tenant: tenant.to_owned(),
        updated: facts.record.updated,
        size: facts.record.size,
        path: facts.path.clone()?,
    })
}

fn held(context: &Context<'_>, gates: &RecordGates<'_, '_>, at: usize) -> Option<HeldBack> {
    let waits_for: Vec<GateResult> =
        gates.of(at).into_iter().filter(|result| result.verdict != Verdict::Proved).collect();
    let facts = &context.records[at];
    Some(HeldBack { record: facts.record.id, path: facts.path.clone()?, by_limit: waits_for.is_empty(), waits_for })
}

fn notes(actions: &[Action], inventory: &Inventory) -> Vec<String> {
    let mut notes = Vec::new();
    let same_store = actions.iter().flat_map(|action| &action.gates).filter(|result| result.gate == Gate::SameStore);
    if same_store.into_iter().any(|result| result.evidence.contains(REPLICA_NOTE)) {
        notes.push(format!(
            "{REPLICA_NOTE}: nothing absent can be viewed, only a file that is there opens at the server"
        ));
    }
    let generation = inventory.resources.as_ref().and_then(|view| view.generation);
    if generation.is_some_and(|generation| !generation.has_records()) {
        notes.push("from DolphinScheduler 3.2 on there are no records to delete; dangling references are for their owners to edit".to_owned());
    }
    notes
}

/// A remedy for every finding that no action takes care of.
fn advice(context: &Context<'_>, comparison: &Comparison, planned: &BTreeSet<RecordId>) -> Vec<Advice> {
    let by_path: BTreeMap<&str, RecordId> =
        context.records.iter().filter_map(|facts| Some((facts.path.as_ref()?.as_str(), facts.record.id))).collect();
    let open =
        comparison.findings.iter().filter(|finding| finding.target.record.is_none_or(|id| !planned.contains(&id)));
    open.map(|finding| advice_on(finding, context, &by_path)).collect()
}

/// The workflow of a target in words.
fn whose(context: &Context<'_>, target: &Target) -> Option<String> {
    let (view, code) = (context.resources?.0, target.workflow?);
    view.workflows.iter().find(|workflow| workflow.code == code).map(|workflow| view.workflow_in_words(workflow))
}

fn advice_on(finding: &Finding, context: &Context<'_>, by_path: &BTreeMap<&str, RecordId>) -> Advice {
    let is_root = finding.code == FindingCode::CheckpointInResourceNamespace;
    let mut target = finding.target.clone();
    // A contradiction is told of a path; the reader of a plan thinks in records.
    target.record = target.record.or_else(|| by_path.get(target.path.as_deref()?).copied());
    Advice {
        action: if is_root { "migrate_checkpoint_root" } else { "advise" }.to_owned(),
        to: context.config.migrate_to.clone().filter(|_| is_root),
        whose: whose(context, &target),
        target,
        remedy: finding.remedy,
        what: finding.remedy.text(Lang::En).to_owned(),
    }
}
