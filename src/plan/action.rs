//! The plan file: canonical JSON with a hash over everything else in it.

use jiff::Timestamp;
use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};

use crate::compare::{Remedy, Target};
use crate::domain::text::printable;
use crate::domain::{HdfsPath, RecordId, ResourceKind};
use crate::gates::{Gate, GateResult};
use crate::views::Generation;

/// Version of the plan form.
pub const PLAN_SCHEMA: &str = "statewarden/plan/v1";

/// The record an action is about, as read when the plan was made. All of it must still hold when the plan is applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RecordTarget {
    /// Record id.
    pub record: RecordId,
    /// Full name as the server spells it.
    pub full_name: String,
    /// File or UDF.
    pub kind: ResourceKind,
    /// Whether the record says directory.
    pub directory: bool,
    /// User id of the owner.
    pub owner_id: i64,
    /// Name of the owner.
    pub owner: String,
    /// Tenant of the owner at that time: it decides the path that the server deletes.
    pub tenant: String,
    /// Time of the last update as the server printed it, without zone.
    #[schemars(with = "Option<String>")]
    pub updated: Option<DateTime>,
    /// Size the record says, in bytes.
    pub size: Option<u64>,
    /// The HDFS path the server would delete.
    pub path: HdfsPath,
}

/// What a call does on this DolphinScheduler version, in words for the person who confirms it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Effect {
    /// What happens.
    pub expected: String,
    /// How to undo it, or that it cannot be undone.
    pub undo: String,
}

/// One write through the official resource API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Action {
    /// Position in the plan, from 1; actions are done in this order.
    pub id: u32,
    /// Always `ds_api_delete`: one record a call.
    pub action: String,
    /// What it is about.
    #[serde(flatten)]
    pub target: RecordTarget,
    /// Actions that have to be done before: the records below this one.
    pub after: Vec<u32>,
    /// The conditions it rests on, with the evidence of the planning run.
    pub gates: Vec<GateResult>,
    /// What the call does.
    pub effect: Effect,
}

/// A remedy that is not ours to carry out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Advice {
    /// `advise`, or `migrate_checkpoint_root` for a list of steps.
    pub action: String,
    /// On what.
    #[serde(flatten)]
    pub target: Target,
    /// Where a checkpoint root should go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<HdfsPath>,
    /// Of a workflow: its name, whether it is released, its project and its owner, who is to make the edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whose: Option<String>,
    /// What to do.
    pub remedy: Remedy,
    /// The steps in words.
    pub what: String,
}

/// A record that looks stale and is not in the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct HeldBack {
    /// Record.
    pub record: RecordId,
    /// Its path.
    pub path: HdfsPath,
    /// The gates that are not proved: what it waits for.
    pub waits_for: Vec<GateResult>,
    /// Left out only by a limit of this run.
    #[serde(default)]
    pub by_limit: bool,
}

impl HeldBack {
    /// The gates it waits for, by name.
    pub fn gates(&self) -> Vec<Gate> {
        self.waits_for.iter().map(|result| result.gate).collect()
    }
}

/// An ordered proposal. Never changed once made: `hash` covers all other members.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Plan {
    /// [`PLAN_SCHEMA`].
    pub schema: String,
    /// Hex SHA-256 of the canonical JSON of the plan with this member empty.
    pub hash: String,
    /// Id of the run that made it.
    pub run: String,
    /// When it was made, by our clock.
    #[schemars(with = "String")]
    pub created: Timestamp,
    /// After this it is stale.
    #[schemars(with = "String")]
    pub expires: Timestamp,
    /// Fingerprint of the part of the configuration that decides.
    pub config: String,
    /// Fingerprint of the inventory it was made from.
    pub inventory: String,
    /// Generation of DolphinScheduler, found by probing.
    pub generation: Option<Generation>,
    /// Made from a saved inventory: can be shown, never applied.
    pub from_file: bool,
    /// `--limit`, if given: the most actions of one run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// What to do, in order.
    pub actions: Vec<Action>,
    /// Stale records that are not in it, and what each waits for.
    pub held_back: Vec<HeldBack>,
    /// What a person has to do.
    pub advice: Vec<Advice>,
    /// What the reader has to know, such as that a replica was not excluded.
    pub notes: Vec<String>,
}

/// What differs between a target as planned and as it is now, in words.
pub fn changed(planned: &RecordTarget, now: &RecordTarget) -> String {
    let mut differences = Vec::new();
    let mut note = |what: &str, was: String, is: String| {
        if was != is {
            differences.push(format!("{what} was {was}, is {is}"));
        }
    };
    note("full name", printable(&planned.full_name), printable(&now.full_name));
    note("owner", planned.owner_id.to_string(), now.owner_id.to_string());
    note("name of the owner", printable(&planned.owner), printable(&now.owner));
    note("tenant", printable(&planned.tenant), printable(&now.tenant));
    note("path", printable(planned.path.as_str()), printable(now.path.as_str()));
    note("type", planned.directory.to_string(), now.directory.to_string());
    note("size", format!("{:?}", planned.size), format!("{:?}", now.size));
    note("update time", format!("{:?}", planned.updated), format!("{:?}", now.updated));
    differences.join("; ")
}
