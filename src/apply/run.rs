//! The run: lease, open intents, judgement of the plan, then action by action.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::earlier::earlier_observations;
use super::outcome::{GONE, judge};
use super::settle::{self, Settled, as_record, read_back};
use crate::collect::{Progress, Sources, again, collect};
use crate::compare::{Comparison, Context, Finding, FindingCode, Severity, Target, compare};
use crate::config::Config;
use crate::domain::RecordId;
use crate::gates::record::{Grounds, RecordGates};
use crate::gates::{Gate, GateResult, Verdict};
use crate::plan::{Action, Plan, fingerprint, planner};
use crate::ports::clock::Clock;
use crate::ports::ledger::{Intent, Lease, LeaseAnswer, Ledger, LedgerError, Outcome, OutcomeWord};
use crate::ports::read::WriteState;
use crate::ports::write::{DeleteAnswer, ResourceWrite};
use crate::views::Inventory;

/// How long a lease holds without being renewed; it is renewed before every action.
const LEASE_SECONDS: u32 = 300;

/// After this all views are read anew as a whole; in between, only what is around the record at hand.
const WHOLE_VIEW: SignedDuration = SignedDuration::from_secs(60);

/// What a run works with.
pub struct Tools<'t> {
    /// Readers.
    pub sources: &'t Sources,
    /// The one writer.
    pub write: &'t dyn ResourceWrite,
    /// The ledger.
    pub ledger: &'t dyn Ledger,
    /// Configuration.
    pub config: &'t Config,
    /// Clock.
    pub clock: &'t dyn Clock,
    /// Told how far it is.
    pub progress: &'t dyn Progress,
}

/// What is to be done.
pub struct Order<'o> {
    /// The plan as read from its file.
    pub plan: &'o Plan,
    /// Id of this run.
    pub run: &'o str,
    /// Who acts, for the audit chain.
    pub actor: &'o str,
    /// Who holds the lease.
    pub holder: &'o str,
    /// Do everything but the call.
    pub dry_run: bool,
    /// Set by Ctrl-C: the action at hand is finished, the rest is not begun.
    pub stop: &'o AtomicBool,
}

/// One action and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ActionReport {
    /// Number in the plan.
    pub id: u32,
    /// Record.
    pub record: RecordId,
    /// Path.
    pub path: crate::domain::HdfsPath,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What a run did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Applied {
    /// Every action of the plan, in order.
    pub actions: Vec<ActionReport>,
    /// Findings of the run itself, and those on the views it read.
    pub findings: Vec<Finding>,
    /// Head of the audit chain afterwards; keep it, it covers the newest entries.
    pub audit_head: Option<String>,
    /// Ctrl-C came.
    pub interrupted: bool,
}

/// Carries out a plan.
#[tracing::instrument(skip_all, name = "apply", fields(run = order.run, plan = %order.plan.hash))]
pub async fn apply(tools: &Tools<'_>, order: &Order<'_>) -> Result<Applied, LedgerError> {
    let lease = match tools.ledger.take_lease(order.holder, LEASE_SECONDS).await? {
        LeaseAnswer::Granted(lease) => lease,
        LeaseAnswer::Held(held) => {
            return Ok(blocked(order.plan, &format!("{} applies a plan, at most until {}", held.holder, held.expires)));
        }
    };
    let done = under_lease(tools, order, &lease).await;
    let released = tools.ledger.release_lease(&lease).await;
    let applied = done?;
    released?;
    Ok(applied)
}

async fn under_lease(tools: &Tools<'_>, order: &Order<'_>, lease: &Lease) -> Result<Applied, LedgerError> {
    let begun = json!({"plan": order.plan.hash, "actions": order.plan.actions.len(), "dry_run": order.dry_run, "fence": lease.fence});
    tools.ledger.audit(order.actor, order.run, "apply-started", &begun).await?;
    let settled = settle::open_intents(tools, order, lease).await?;
    let mut applied = match obstacle(tools, order, &settled).await? {
        Some(applied) => applied,
        None => Run::begin(tools, order, lease, settled).await?.all().await?,
    };
    let counts = counts(&applied.actions);
    applied.audit_head =
        Some(tools.ledger.audit(order.actor, order.run, "apply-ended", &json!({"outcomes": counts})).await?);
    Ok(applied)
}

fn counts(actions: &[ActionReport]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for action in actions {
        *counts.entry(format!("{:?}", action.outcome.outcome)).or_default() += 1;
    }
    counts
}

/// What forbids the run as a whole: an unsettled intent, a plan that is not ours, altered, expired or made for something else.
async fn obstacle(tools: &Tools<'_>, order: &Order<'_>, settled: &Settled) -> Result<Option<Applied>, LedgerError> {
    let plan = order.plan;
    if let Some(intent) = settled.left.first() {
        let why =
            format!("an earlier run broke off at record {}, and what became of it cannot be seen now", intent.record);
        return Ok(Some(blocked(plan, &why)));
    }
    if plan.from_file {
        return Ok(Some(blocked(plan, "it was made from a saved inventory; such a plan can be shown, never applied")));
    }
    if fingerprint::of_plan(plan) != plan.hash || !tools.ledger.knows_plan(&plan.hash).await? {
        let place = tools.ledger.place();
        return Ok(Some(blocked(
            plan,
            &format!("the ledger {place} did not record this plan, or the file was changed since"),
        )));
    }
    if fingerprint::of_config(tools.config) != plan.config {
        return Ok(Some(stale_as_a_whole(plan, "the configuration that decides is not the one it was made with")));
    }
    if tools.clock.now() >= plan.expires {
        return Ok(Some(expired(tools, plan).await));
    }
    Ok(None)
}

fn blocked(plan: &Plan, why: &str) -> Applied {
    let finding =
        Finding::new(FindingCode::ApplyBlocked, Severity::Error, Target::default(), "apply::run").because(why);
    Applied { actions: all(plan, OutcomeWord::NotStarted, why), findings: vec![finding], ..Applied::default() }
}

fn stale_as_a_whole(plan: &Plan, why: &str) -> Applied {
    let findings = plan.actions.iter().map(|action| finding_on(action, FindingCode::PlanStale, why)).collect();
    Applied { actions: all(plan, OutcomeWord::Stale, why), findings, ..Applied::default() }
}

/// An expired plan is not carried out; what it was for may have been done all the same, which is seen by looking.
async fn expired(tools: &Tools<'_>, plan: &Plan) -> Applied {
    let mut applied = Applied::default();
    for action in &plan.actions {
        let outcome = if read_back(tools, &action.target).await == GONE {
            already_done()
        } else {
            let why = format!("the plan expired at {}", plan.expires);
            applied.findings.push(finding_on(action, FindingCode::PlanStale, &why));
            Outcome { outcome: OutcomeWord::Stale, why }
        };
        applied.actions.push(report(action, outcome));
    }
    note_if_applied_before(&mut applied);
    applied
}

fn already_done() -> Outcome {
    Outcome {
        outcome: OutcomeWord::AlreadyDone,
        why: "the record is gone, and nothing is at its path; no call was made".to_owned(),
    }
}

fn note_if_applied_before(applied: &mut Applied) {
    let done = |report: &ActionReport| report.outcome.outcome == OutcomeWord::AlreadyDone;
    if !applied.actions.is_empty() && applied.actions.iter().all(done) {
        let finding = Finding::new(FindingCode::PlanAlreadyApplied, Severity::Info, Target::default(), "apply::run");
        applied.findings.push(finding.because("every record of the plan is gone, and nothing is at its path"));
    }
}

fn all(plan: &Plan, word: OutcomeWord, why: &str) -> Vec<ActionReport> {
    plan.actions.iter().map(|action| report(action, Outcome { outcome: word, why: why.to_owned() })).collect()
}

fn report(action: &Action, outcome: Outcome) -> ActionReport {
    ActionReport { id: action.id, record: action.target.record, path: action.target.path.clone(), outcome }
}

fn finding_on(action: &Action, code: FindingCode, why: &str) -> Finding {
    let severity = if code == FindingCode::PlanAlreadyApplied { Severity::Info } else { Severity::Error };
    Finding::new(code, severity, Target::record(action.target.record, Some(&action.target.path)), "apply::run")
        .because(why)
}

/// Whether the run goes on after an action.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Course {
    On,
    /// Why nothing more is begun.
    Stop(String),
}

/// A run under way.
struct Run<'r, 't> {
    tools: &'r Tools<'t>,
    order: &'r Order<'r>,
    lease: &'r Lease,
    inventory: Inventory,
    read_at: Timestamp,
    earlier: BTreeMap<RecordId, Timestamp>,
    intents: Vec<Intent>,
    settled: Settled,
    course: Course,
    applied: Applied,
    /// Records directly below the one at hand, by the server's own word.
    below: usize,
}

impl<'r, 't> Run<'r, 't> {
    async fn begin(
        tools: &'r Tools<'t>,
        order: &'r Order<'r>,
        lease: &'r Lease,
        settled: Settled,
    ) -> Result<Self, LedgerError> {
        let inventory = collect(tools.sources, tools.config, tools.clock, tools.progress).await;
        let comparison = compare(&inventory, tools.config);
        let applied = Applied { findings: comparison.findings, ..Applied::default() };
        let earlier = earlier_observations(tools.ledger, tools.config, &inventory).await?;
        let intents = tools.ledger.intents_of(&order.plan.hash).await?;
        let read_at = tools.clock.now();
        let mut run = Self {
            tools,
            order,
            lease,
            inventory,
            read_at,
            earlier,
            intents,
            settled,
            course: Course::On,
            applied,
            below: 0,
        };
        run.course = run.preflight().await;
        Ok(run)
    }

    /// What stops the run before the first call although the plan is in order: the NameNode takes no writes, or DolphinScheduler
    /// is of another generation than planned.
    async fn preflight(&mut self) -> Course {
        if self.all_done_before() {
            return Course::On;
        }
        let generation = self.inventory.resources.as_ref().and_then(|view| view.generation);
        let why = match self.tools.sources.hdfs.probe_writes().await {
            WriteState::SafeMode => {
                Some("the NameNode is in safe mode: the server may drop a record and keep its file".to_owned())
            }
            WriteState::Unknown { why } => Some(format!("whether HDFS takes writes could not be told: {why}")),
            WriteState::Open if generation != self.order.plan.generation => Some(format!(
                "the server is of generation {}, the plan is for another",
                generation.map_or_else(|| "unknown".into(), |g| g.to_string())
            )),
            WriteState::Open => None,
        };
        why.map_or(Course::On, |why| self.block(why))
    }

    fn block(&mut self, why: String) -> Course {
        let finding = Finding::new(FindingCode::ApplyBlocked, Severity::Error, Target::default(), "apply::run");
        self.applied.findings.push(finding.because(why.clone()));
        Course::Stop(why)
    }

    /// Whether no record of the plan is there any more: then nothing is called, whatever state HDFS is in.
    fn all_done_before(&self) -> bool {
        let Some(view) = self.inventory.resources.as_ref().filter(|view| view.records_complete) else { return false };
        self.order
            .plan
            .actions
            .iter()
            .all(|action| !view.records.iter().any(|record| record.id == action.target.record))
    }

    async fn all(mut self) -> Result<Applied, LedgerError> {
        for action in &self.order.plan.actions {
            if self.order.stop.load(Ordering::SeqCst) && self.course == Course::On {
                self.applied.interrupted = true;
                self.course = Course::Stop("interrupted".to_owned());
            }
            let outcome = match self.reason_to_wait(action) {
                Some(why) => Outcome { outcome: OutcomeWord::NotStarted, why },
                None => self.one(action).await?,
            };
            self.note(action, &outcome);
            self.applied.actions.push(report(action, outcome));
        }
        note_if_applied_before(&mut self.applied);
        Ok(self.applied)
    }

    /// Why an action is not begun: the run stopped, or something below it did not go.
    fn reason_to_wait(&self, action: &Action) -> Option<String> {
        if let Course::Stop(why) = &self.course {
            return Some(why.clone());
        }
        let open = self.applied.actions.iter().find(|done| {
            action.after.contains(&done.id)
                && !matches!(done.outcome.outcome, OutcomeWord::Done | OutcomeWord::AlreadyDone)
        });
        open.map(|other| format!("action {} below it is {:?}", other.id, other.outcome.outcome))
    }

    /// Findings and the further course that follow from an outcome.
    fn note(&mut self, action: &Action, outcome: &Outcome) {
        let code = match outcome.outcome {
            OutcomeWord::Done | OutcomeWord::AlreadyDone | OutcomeWord::NotStarted => return,
            OutcomeWord::Stale => FindingCode::PlanStale,
            OutcomeWord::Refused => FindingCode::ApiDeleteRefused,
            OutcomeWord::Failed => FindingCode::ResidueAfterDelete,
            OutcomeWord::Unknown => FindingCode::ActionOutcome,
        };
        self.applied.findings.push(finding_on(action, code, &outcome.why));
        if matches!(outcome.outcome, OutcomeWord::Failed | OutcomeWord::Unknown) {
            self.course =
                Course::Stop(format!("the run stopped at action {}, which is {:?}", action.id, outcome.outcome));
        }
    }

    #[tracing::instrument(skip_all, name = "action", fields(action = action.id, path = %action.target.path))]
    async fn one(&mut self, action: &Action) -> Result<Outcome, LedgerError> {
        self.refresh(action).await;
        if let Some(outcome) = self.gone_before(action).await {
            return Ok(outcome);
        }
        if let Some(outcome) = self.tried_before(action) {
            return Ok(outcome);
        }
        if let Some(outcome) = self.no_longer(action) {
            return Ok(outcome);
        }
        if self.order.dry_run {
            return Ok(Outcome {
                outcome: OutcomeWord::NotStarted,
                why: "dry run: every gate holds, the call was not made".to_owned(),
            });
        }
        if !self.tools.ledger.renew_lease(self.lease, LEASE_SECONDS).await? {
            let why = "the lease is no longer ours".to_owned();
            self.course = self.block(why.clone());
            return Ok(Outcome { outcome: OutcomeWord::NotStarted, why });
        }
        self.call(action).await
    }

    /// An action of this very plan whose outcome could not be told stays so: only a plan made afterwards may try again.
    fn tried_before(&self, action: &Action) -> Option<Outcome> {
        let of_action = self.intents.iter().filter(|intent| intent.action == action.id);
        let last = of_action.filter_map(|intent| intent.outcome.as_ref()).next_back()?;
        matches!(last.outcome, OutcomeWord::Unknown | OutcomeWord::Failed).then(|| Outcome {
            outcome: OutcomeWord::Unknown,
            why: format!("tried before with this plan: {}; make a new plan", last.why),
        })
    }

    async fn refresh(&mut self, action: &Action) {
        let tools = self.tools;
        if tools.clock.now().duration_since(self.read_at) > WHOLE_VIEW {
            self.inventory = collect(tools.sources, tools.config, tools.clock, tools.progress).await;
            self.read_at = tools.clock.now();
        } else if !self.applied.actions.is_empty() {
            again::workflows(tools.sources, &mut self.inventory).await;
        }
        let record = as_record(&action.target);
        self.below = again::around(tools.sources, tools.config, tools.clock, &mut self.inventory, &record).await;
        self.forget_own_traces(action);
    }

    /// A delete changes size and update time of the directory records above it (DolphinScheduler 2.0 to 3.1). Where this plan
    /// has removed something below a directory, these two are taken as planned, or its own traces would make it look young.
    fn forget_own_traces(&mut self, action: &Action) {
        let done_now = self.applied.actions.iter().any(|done| {
            action.after.contains(&done.id)
                && matches!(done.outcome.outcome, OutcomeWord::Done | OutcomeWord::AlreadyDone)
        });
        let view = self.inventory.resources.as_mut().filter(|_| done_now && action.target.directory);
        let record = view.and_then(|view| view.records.iter_mut().find(|record| record.id == action.target.record));
        if let Some(record) = record {
            record.size = action.target.size;
            record.updated = action.target.updated;
        }
    }

    /// Seen by looking: the record is not there and neither is its path.
    async fn gone_before(&self, action: &Action) -> Option<Outcome> {
        let view = self.inventory.resources.as_ref()?;
        let is_there = view.records.iter().any(|record| record.id == action.target.record);
        if is_there || !view.records_complete {
            return None;
        }
        let settled = self.settled.outcome_of(&self.order.plan.hash, action.id);
        let outcome = match (read_back(self.tools, &action.target).await == GONE, settled) {
            (true, Some(settled)) => settled.clone(),
            (true, None) => already_done(),
            (false, _) => Outcome {
                outcome: OutcomeWord::Stale,
                why: "the record is gone, and its path could not be seen to be gone".to_owned(),
            },
        };
        Some(outcome)
    }

    /// Every gate again, on the views as they are now, and the identity of the record word for word.
    fn no_longer(&mut self, action: &Action) -> Option<Outcome> {
        let comparison = compare(&self.inventory, self.tools.config);
        let (same, open) = self.gates_now(action, &comparison);
        let stale = |why: String| Some(Outcome { outcome: OutcomeWord::Stale, why });
        if let Some(changed) = same {
            return stale(changed);
        }
        if self.below > 0 {
            return stale(format!("the server has {} records below it, which the call could take along", self.below));
        }
        let first = open.iter().find(|result| is_seen_otherwise(result)).or(open.first())?;
        let why = format!("{} is {}: {}", first.gate, first.verdict, first.evidence);
        if open.iter().any(stops_all) && !is_seen_otherwise(first) {
            self.course = self.block(why.clone());
            return Some(Outcome { outcome: OutcomeWord::NotStarted, why });
        }
        stale(why)
    }

    /// What differs in the identity, and the gates that are not proved.
    fn gates_now(&self, action: &Action, comparison: &Comparison) -> (Option<String>, Vec<GateResult>) {
        let context = Context::new(&self.inventory, self.tools.config);
        let Some(at) = context.by_id.get(&action.target.record).copied() else {
            let whole = context.resources.is_some_and(|(view, _)| view.records_complete && view.users_complete);
            return if whole {
                (Some("the record is no longer among those of a tenant that is looked at".to_owned()), Vec::new())
            } else {
                (None, vec![GateResult::unknown(Gate::View, "records or users could not be read whole")])
            };
        };
        let gates = RecordGates::new(&context, Grounds { comparison, earlier: &self.earlier });
        let open: Vec<GateResult> =
            gates.of(at).into_iter().filter(|result| result.verdict != Verdict::Proved).collect();
        let views_open = open.iter().any(stops_all);
        match planner::target(&context, at) {
            Some(now) if now == action.target => (None, open),
            Some(now) => (Some(crate::plan::action::changed(&action.target, &now)), open),
            None if views_open => (None, open),
            None => (Some("owner, tenant or path of the record are no longer known".to_owned()), open),
        }
    }

    async fn call(&mut self, action: &Action) -> Result<Outcome, LedgerError> {
        let (tools, order) = (self.tools, self.order);
        let opened = tools.ledger.open_intent(self.lease, &order.plan.hash, action.id, action.target.record).await;
        let intent = match opened {
            Ok(intent) => intent,
            // A record that this plan has removed is back: it is not the one that was planned.
            Err(error @ LedgerError::SecondTry { .. }) => {
                return Ok(Outcome { outcome: OutcomeWord::Stale, why: format!("{error}; make a new plan") });
            }
            Err(error) => return Err(error),
        };
        tools
            .ledger
            .audit(order.actor, order.run, "intent", &json!({"intent": intent.intent, "action": action}))
            .await?;
        let answer = tools.write.delete_record(&action.target).await;
        let outcome = judge(&answer, read_back(tools, &action.target).await);
        // The chain first: a kill in between leaves the intent open, and it is settled by looking; the other way round the
        // chain would never tell.
        let body = json!({"intent": intent.intent, "action": action.id, "record": action.target.record, "path": action.target.path, "outcome": outcome, "undo": action.effect.undo});
        tools.ledger.audit(order.actor, order.run, "outcome", &body).await?;
        tools.ledger.close_intent(self.lease, intent.intent, &outcome).await?;
        if let DeleteAnswer::NotAuthorized { why } = &answer {
            self.course = Course::Stop(format!("the credentials were not accepted: {why}"));
        }
        if matches!(outcome.outcome, OutcomeWord::Done | OutcomeWord::AlreadyDone)
            && let Some(view) = &mut self.inventory.resources
        {
            view.records.retain(|record| record.id != action.target.record);
        }
        Ok(outcome)
    }
}

/// A refutation that rests on something seen, which no gap elsewhere can put in doubt.
fn is_seen_otherwise(result: &GateResult) -> bool {
    let by_sight =
        [Gate::Absent, Gate::Identity, Gate::Grace, Gate::Unreferenced, Gate::Unbound, Gate::NoLiveState, Gate::Trash];
    result.verdict == Verdict::Refuted && by_sight.contains(&result.gate)
}

/// What puts every other action in doubt as well: a view that could not be read, a guard that closed, no sentinel, or a server
/// that looks at another file system.
fn stops_all(result: &GateResult) -> bool {
    match result.gate {
        Gate::Guard | Gate::Sentinel | Gate::SameStore => result.verdict != Verdict::Proved,
        Gate::View | Gate::Version | Gate::Absent | Gate::Identity => result.verdict == Verdict::Unknown,
        _ => false,
    }
}
