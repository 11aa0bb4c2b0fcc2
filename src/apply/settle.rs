//! Intents of a run that was killed are settled by looking, before anything else is done.

use super::outcome::{ReadBack, Seen};
use super::run::{Order, Tools};
use serde_json::json;

use crate::domain::Existence;
use crate::plan::RecordTarget;
use crate::ports::ledger::{Intent, Lease, LedgerError, Outcome, OutcomeWord};
use crate::views::Record;

/// What became of the intents that an earlier run left open.
#[derive(Debug, Default)]
pub struct Settled {
    /// Closed now, with their outcomes.
    pub closed: Vec<(Intent, Outcome)>,
    /// Those that could not be looked at; they stay open, and nothing more is done.
    pub left: Vec<Intent>,
}

impl Settled {
    /// The outcome that an action of a plan was just settled with.
    pub fn outcome_of(&self, plan: &str, action: u32) -> Option<&Outcome> {
        let of_action = |(intent, _): &&(Intent, Outcome)| intent.plan == plan && intent.action == action;
        self.closed.iter().find(of_action).map(|(_, outcome)| outcome)
    }
}

/// Settles every open intent: record and path gone is `Done`; a record that is still there is `Unknown`, and only a new plan
/// may try again.
pub async fn open_intents(tools: &Tools<'_>, order: &Order<'_>, lease: &Lease) -> Result<Settled, LedgerError> {
    let mut settled = Settled::default();
    for intent in tools.ledger.open_intents().await? {
        let Some(outcome) = look(tools, &intent).await? else {
            settled.left.push(intent);
            continue;
        };
        let body = json!({"intent": intent.intent, "plan": intent.plan, "action": intent.action, "record": intent.record, "outcome": outcome});
        tools.ledger.audit(order.actor, order.run, "outcome", &body).await?;
        tools.ledger.close_intent(lease, intent.intent, &outcome).await?;
        settled.closed.push((intent, outcome));
    }
    Ok(settled)
}

async fn look(tools: &Tools<'_>, intent: &Intent) -> Result<Option<Outcome>, LedgerError> {
    let plan = tools.ledger.load_plan(&intent.plan).await?;
    let target =
        plan.and_then(|plan| plan.actions.into_iter().find(|action| action.id == intent.action)).map(|a| a.target);
    let Some(target) = target else { return Ok(None) };
    let outcome =
        |outcome, why: &str| Some(Outcome { outcome, why: format!("settled by looking after a run broke off: {why}") });
    Ok(match read_back(tools, &target).await {
        ReadBack { record: Seen::Gone, path: Seen::Gone } => outcome(OutcomeWord::Done, "record and path are gone"),
        ReadBack { record: Seen::There, .. } => {
            outcome(OutcomeWord::Unknown, "the record is still there; only a plan made after this may try again")
        }
        ReadBack { record: Seen::Gone, path: Seen::There } => {
            outcome(OutcomeWord::Unknown, "the record is gone, and something is at its path")
        }
        ReadBack { record: Seen::NotSeen, .. } | ReadBack { path: Seen::NotSeen, .. } => None,
    })
}

/// Record and path as they are now.
pub async fn read_back(tools: &Tools<'_>, target: &RecordTarget) -> ReadBack {
    let record = match &tools.sources.resources {
        Some(source) => match source.fetch_record(&as_record(target)).await {
            Ok(Some(_)) => Seen::There,
            Ok(None) => Seen::Gone,
            Err(_) => Seen::NotSeen,
        },
        None => Seen::NotSeen,
    };
    let path = match tools.sources.hdfs.fetch_status(&target.path).await {
        Existence::Present(_) => Seen::There,
        Existence::Absent => Seen::Gone,
        Existence::Denied { .. } | Existence::Unknown { .. } => Seen::NotSeen,
    };
    ReadBack { record, path }
}

/// The record of a target, to ask for it.
pub fn as_record(target: &RecordTarget) -> Record {
    Record {
        id: target.record,
        full_name: target.full_name.as_str().into(),
        kind: target.kind,
        directory: target.directory,
        size: target.size,
        owner: Some(target.owner_id),
        created: None,
        updated: target.updated,
    }
}
