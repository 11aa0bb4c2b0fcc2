//! Compares what the program planned or did with what a case expects of it. Pure.

use serde_json::Value;
use statewarden::demo::world::{ExpectedAction, PlanAction};

use super::matching::{Reported, is_advised, is_below, keys_of_action, shown_target};

/// One action or advice of a plan, as the plan's JSON has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    json: Value,
}

impl Planned {
    /// The entries of a list of a plan.
    pub fn all_of(plan: &Value, list: &str) -> Result<Vec<Self>, String> {
        let entries = plan[list].as_array().ok_or_else(|| format!("the plan has no list `{list}`"))?;
        Ok(entries.iter().map(|json| Self { json: json.clone() }).collect())
    }

    fn kind(&self) -> &str {
        self.json["action"].as_str().unwrap_or_default()
    }

    /// Its number in the plan.
    pub fn id(&self) -> Option<i64> {
        self.json["id"].as_i64()
    }

    fn record(&self) -> Option<i64> {
        self.json["record"].as_i64()
    }

    fn path(&self) -> &str {
        self.json["path"].as_str().unwrap_or_default()
    }

    fn shown(&self) -> String {
        format!("{} record={} path={}", self.kind(), self.json["record"], self.json["path"])
    }

    /// Whether all keys that an entry gives are equal here.
    fn is_on(&self, entry: &ExpectedAction) -> bool {
        let to = entry.to.as_ref().is_none_or(|to| self.json["to"] == to.as_str());
        to && keys_of_action(entry).iter().all(|(key, value)| self.json[key] == *value)
    }

    fn is_about(&self, target: (Option<i64>, Option<&str>)) -> bool {
        match target {
            (Some(record), _) => self.record() == Some(record),
            (None, Some(path)) => self.path() == path,
            (None, None) => false,
        }
    }
}

/// Kinds of actions that destroy or move something.
const DESTRUCTIVE: [&str; 6] =
    ["ds_api_delete", "hdfs_trash", "hdfs_quarantine", "hdfs_delete", "hdfs_move", "db_write"];

/// Whether an action word of a case covers a kind of action.
fn covers(word: &str, kind: &str) -> bool {
    match word {
        "any_destructive" => DESTRUCTIVE.contains(&kind),
        "hdfs_any" => kind.starts_with("hdfs_"),
        word => word == kind,
    }
}

/// What is wrong with a plan: actions that have to be there and are not, are out of order, or must not be there.
pub fn compare_plan(
    must: &[ExpectedAction],
    must_not: &[ExpectedAction],
    plan: &Value,
    findings: &[Reported],
) -> Result<Vec<String>, String> {
    let (actions, advice) = (Planned::all_of(plan, "actions")?, Planned::all_of(plan, "advice")?);
    let mut wrong: Vec<String> = must.iter().filter_map(|entry| missing(entry, &actions, &advice, findings)).collect();
    wrong.extend(compare_order(must, &actions));
    wrong.extend(forbidden(must_not, actions.iter().chain(&advice)));
    let is_named = |action: &&Planned| must.iter().any(|entry| entry.action == action.kind() && action.is_on(entry));
    wrong
        .extend(actions.iter().filter(|action| !is_named(action)).map(|action| format!("planned: {}", action.shown())));
    Ok(wrong)
}

fn missing(entry: &ExpectedAction, actions: &[Planned], advice: &[Planned], findings: &[Reported]) -> Option<String> {
    let in_list = |list: &[Planned]| list.iter().any(|it| it.kind() == entry.action && it.is_on(entry));
    let found = match entry.action.as_str() {
        "advise" => in_list(advice) || findings.iter().any(|finding| is_advised(entry, finding)),
        "migrate_checkpoint_root" => in_list(advice),
        "refuse_action" => !actions.iter().any(|action| action.is_on(entry)),
        "refuse_apply" => actions.is_empty(),
        _ => in_list(actions),
    };
    (!found).then(|| format!("not planned: {}", shown_target(entry)))
}

/// Actions whose entries give an order stand in that order.
fn compare_order(must: &[ExpectedAction], actions: &[Planned]) -> Vec<String> {
    let mut placed: Vec<(i64, usize)> = must
        .iter()
        .filter_map(|entry| {
            let at = actions.iter().position(|action| action.kind() == entry.action && action.is_on(entry))?;
            Some((entry.order?, at))
        })
        .collect();
    placed.sort_unstable();
    let swapped = placed.windows(2).filter(|pair| pair[0].0 < pair[1].0 && pair[0].1 > pair[1].1);
    swapped.map(|pair| format!("the action with order {} comes after the one with {}", pair[0].0, pair[1].0)).collect()
}

/// Whether a target lies where an entry forbids it: the path itself, below it, or an ancestor that would take it along.
fn touches(entry: &ExpectedAction, record: Option<i64>, path: &str) -> bool {
    if let Some(forbidden) = entry.record {
        return record == Some(forbidden);
    }
    match entry.path.as_deref() {
        Some("*") | None => true,
        Some(forbidden) if entry.exact => path == forbidden,
        Some(forbidden) => path == forbidden || is_below(path, forbidden) || (is_below(forbidden, path) && path != "/"),
    }
}

fn forbidden<'p>(must_not: &[ExpectedAction], planned: impl Iterator<Item = &'p Planned>) -> Vec<String> {
    let hit = |it: &Planned| {
        must_not.iter().any(|entry| covers(&entry.action, it.kind()) && touches(entry, it.record(), it.path()))
    };
    planned.filter(|it| hit(it)).map(|it| format!("planned although it must not be: {}", it.shown())).collect()
}

/// Whether a request that destroys something is one that must not reach a server.
pub fn is_forbidden(must_not: &[ExpectedAction], kinds: &[&str], record: Option<i64>, path: Option<&str>) -> bool {
    must_not.iter().any(|entry| {
        kinds.iter().any(|kind| covers(&entry.action, kind)) && touches(entry, record, path.unwrap_or_default())
    })
}

/// What is wrong with a plan that has to hold exactly these actions with these identities, children before parents.
pub fn compare_confirmed(confirmed: &[PlanAction], plan: &Value) -> Result<Vec<String>, String> {
    let actions = Planned::all_of(plan, "actions")?;
    let mut wrong = Vec::new();
    for expected in confirmed {
        match position_of(expected, &actions) {
            Some(at) => wrong.extend(differences(expected, &actions[at])),
            None => wrong.push(format!("not in the plan: {} {:?}", expected.action, expected.record)),
        }
    }
    let is_confirmed =
        |action: &Planned| confirmed.iter().any(|it| position_of(it, std::slice::from_ref(action)).is_some());
    wrong.extend(actions.iter().filter(|it| !is_confirmed(it)).map(|it| format!("not confirmed: {}", it.shown())));
    for (at, action) in actions.iter().enumerate() {
        let late = actions[at + 1..].iter().find(|later| is_below(later.path(), action.path()));
        wrong.extend(late.map(|later| format!("{} comes after {}", later.shown(), action.shown())));
    }
    Ok(wrong)
}

fn position_of(expected: &PlanAction, actions: &[Planned]) -> Option<usize> {
    let target = (expected.record, expected.path.as_deref());
    actions.iter().position(|action| action.kind() == expected.action && action.is_about(target))
}

fn differences(expected: &PlanAction, action: &Planned) -> Vec<String> {
    let identity = &expected.identity;
    let given = [
        ("full_name", &identity.full_name),
        ("owner", &identity.owner),
        ("tenant", &identity.tenant),
        ("path", &identity.path),
    ];
    let differs = given
        .into_iter()
        .filter_map(|(key, value)| Some((key, value.as_ref()?)))
        .filter(|(key, value)| action.json[key] != value.as_str());
    differs.map(|(key, value)| format!("{}: {key} is {}, not {value}", action.shown(), action.json[key])).collect()
}

/// The number in the program's plan of each confirmed action.
pub fn number_of(confirmed: &PlanAction, plan: &Value) -> Option<i64> {
    let actions = Planned::all_of(plan, "actions").ok()?;
    position_of(confirmed, &actions).and_then(|at| actions[at].id())
}

/// The outcome word of an action, by its number in the program's plan.
pub fn outcome_of(outcomes: &Value, number: i64) -> Option<&str> {
    let entries = outcomes.as_array()?;
    entries.iter().find(|entry| entry["id"].as_i64() == Some(number))?["outcome"].as_str()
}
