//! A plan as it is reported: beside the report it rests on, or by itself with what speaks against applying it.

mod print;
mod words;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) use print::what_goes;
pub use print::{PlanPrint, render, render_shown};
pub(super) use words::effect_of;

use super::model::{Exit, Report, Verdict};
use crate::compare::{Finding, FindingCode, Lang};
use crate::plan::Plan;
use crate::ports::ledger::{Intent, Outcome};

/// Version of the JSON form of `plan`.
pub const PLANNED_SCHEMA: &str = "statewarden/planned/v1";

/// Version of the JSON form of `show`.
pub const SHOWN_SCHEMA: &str = "statewarden/shown-plan/v1";

/// A plan and the report it was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Planned {
    /// Name and version of this form: `statewarden/planned/v1`.
    pub schema: String,
    /// How the run ends.
    pub exit: Exit,
    /// Place of the ledger that recorded the plan; `null` if it was not recorded and can never be applied.
    pub recorded_in: Option<String>,
    /// What was found; its findings are those the plan rests on.
    pub report: Report,
    /// The plan.
    pub plan: Plan,
}

impl Planned {
    /// Puts a report and its plan together. The verdict is the report's, or `refused` where planning is.
    pub fn new(report: Report, plan: Plan, recorded_in: Option<String>) -> Self {
        let verdict = verdict(report.findings.iter().map(|found| &found.finding));
        let report = report.with_verdict(verdict);
        Self { schema: PLANNED_SCHEMA.to_owned(), exit: report.exit, recorded_in, report, plan }
    }
}

/// What planning makes of the findings, beside what a report does: an unsafe setting, a mass absence or clocks that disagree
/// refuse it.
pub fn verdict<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Verdict {
    let refuses = |code| matches!(code, FindingCode::ConfigRefused | FindingCode::MassAbsence | FindingCode::ClockSkew);
    if findings.into_iter().any(|finding| refuses(finding.code)) { Verdict::Refused } else { Verdict::Clean }
}

/// Something that speaks against applying a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Obstacle {
    /// It was made from a saved inventory.
    FromFile,
    /// Its hash is not the hash of what is in it: it was edited.
    Edited,
    /// The ledger that was looked at did not record it.
    NotRecorded,
    /// Its time is over.
    Expired,
    /// The configuration that decides is not the one it was made with.
    ConfigurationChanged,
}

/// Something about a plan that could not be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unchecked {
    /// `configuration` or `ledger`.
    pub what: String,
    /// What was tried and what came back.
    pub why: String,
}

/// What became of one action so far, by the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tried {
    /// Number of the action.
    pub action: u32,
    /// The outcome; `null` for one that is under way or whose run was killed.
    pub outcome: Option<Outcome>,
}

impl Tried {
    /// By the intents of a plan, oldest first.
    pub fn of(intents: Vec<Intent>) -> Vec<Self> {
        intents.into_iter().map(|intent| Self { action: intent.action, outcome: intent.outcome }).collect()
    }
}

/// A plan file, and whether it can be applied as things stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Shown {
    /// Name and version of this form: `statewarden/shown-plan/v1`.
    pub schema: String,
    /// Language of words.
    pub lang: Lang,
    /// What speaks against applying it. Empty: nothing that can be told without asking the systems.
    pub obstacles: Vec<Obstacle>,
    /// What could not be told.
    pub unchecked: Vec<Unchecked>,
    /// What was tried with it so far.
    pub tried: Vec<Tried>,
    /// The plan.
    pub plan: Plan,
}
