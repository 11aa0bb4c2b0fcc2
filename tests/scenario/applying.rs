//! Phase `apply`: the world as it was when the plan was made, the plan, the world as it is, the run.

use serde_json::Value;
use statewarden::demo::servers::fault::Seen;
use statewarden::demo::world::{Case, ExpectedRequest, PlanAction, World};

use super::acts::{compare_confirmed, is_forbidden, number_of, outcome_of};
use super::matching::{Reported, compare_advice, compare_findings, is_expected, shown_target};
use super::planning::{LEDGER, PLAN, lend, plan, seed};
use super::program::{Bench, Ran, Reached, shown, writes};
use super::run::compare_exit_of_act;

/// What is wrong with the program's answer to a case.
pub async fn judge(case: &Case) -> Result<Vec<String>, String> {
    let before: &World = case.before.as_ref().map_or(&case.world, |before| &before.world);
    let mut bench = Bench::start(before)?;
    seed(&mut bench, case, before).await?;
    let (_, planned) = plan(&mut bench).await?;
    let plan = &planned["plan"];
    let not_as_confirmed = compare_confirmed(&case.plan_actions, plan)?;
    if !not_as_confirmed.is_empty() {
        let held = &plan["held_back"];
        return Err(format!("the plan is not the confirmed one: {}; held back: {held}", not_as_confirmed.join("; ")));
    }
    if case.before.as_ref().is_some_and(|before| before.applied) {
        apply(&mut bench, "first.json").await?;
    }
    lend(&bench, case).await?;
    bench.exchange(&case.world)?;
    bench.clear_requests();
    let (ran, applied) = apply(&mut bench, "applied.json").await?;
    let mut wrong = compare(case, plan, &applied, &bench.requests())?;
    wrong.extend(bench.leaks(case));
    wrong.extend(compare_exit_of_act(case, &ran));
    Ok(wrong)
}

async fn apply(bench: &mut Bench, file: &str) -> Result<(Ran, Value), String> {
    let output = format!("json={file}");
    let arguments =
        ["apply", PLAN, "--yes", "--ledger", LEDGER, "--output", "terminal", "--output", &output, "--color", "never"];
    let ran = bench.run(&arguments).await?;
    let json = bench.json(file, &ran)?;
    Ok((ran, json))
}

fn compare(case: &Case, plan: &Value, applied: &Value, requests: &[Reached]) -> Result<Vec<String>, String> {
    let expect = &case.expect;
    let reported = Reported::all_of(applied)?;
    let is_compared =
        |finding: &Reported| is_of_apply(finding) || is_expected(&expect.findings, &expect.may_find, finding);
    let compared: Vec<Reported> = reported.iter().filter(|finding| is_compared(finding)).cloned().collect();
    let mut wrong = compare_findings(&expect.findings, &expect.may_find, &compared);
    wrong.extend(compare_outcomes(case, plan, &applied["outcomes"]));
    wrong.extend(compare_refusals(case, plan, &applied["outcomes"], &reported));
    wrong.extend(expect.requests.iter().filter_map(|entry| compare_count(entry, requests)));
    wrong.extend(writes(requests).filter_map(|(server, seen)| not_allowed(case, server, seen)));
    Ok(wrong)
}

/// Codes of the groups "trust in the views" and "acting".
const OF_APPLY: &[&str] = &[
    "view-incomplete",
    "view-contradiction",
    "mass-absence",
    "authority-unresolved",
    "clock-skew",
    "unsupported-storage",
    "trash-unavailable",
    "config-refused",
    "plan-stale",
    "plan-already-applied",
    "apply-blocked",
    "delete-blocked",
    "api-delete-refused",
    "action-outcome",
    "residue-after-delete",
];

fn is_of_apply(finding: &Reported) -> bool {
    OF_APPLY.contains(&finding.text("code"))
}

/// The outcome the program gives a confirmed action.
fn outcome<'o>(action: &PlanAction, plan: &Value, outcomes: &'o Value) -> &'o str {
    number_of(action, plan).and_then(|number| outcome_of(outcomes, number)).unwrap_or("none")
}

fn compare_outcomes(case: &Case, plan: &Value, outcomes: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    for expected in &case.expect.outcomes {
        let Some(action) = case.plan_actions.iter().find(|action| action.id == expected.id) else {
            wrong.push(format!("no action {} in plan_actions", expected.id));
            continue;
        };
        let got = outcome(action, plan, outcomes);
        if got != expected.outcome {
            wrong.push(format!("action {} is {got}, not {}", expected.id, expected.outcome));
        }
    }
    wrong
}

/// What has to be refused was not begun; other remedies are offered.
fn compare_refusals(case: &Case, plan: &Value, outcomes: &Value, reported: &[Reported]) -> Vec<String> {
    let mut wrong = Vec::new();
    for entry in &case.expect.must_plan {
        let concerned = case.plan_actions.iter().filter(|action| match entry.action.as_str() {
            "refuse_apply" => true,
            "refuse_action" => action.record == entry.record && (entry.path.is_none() || action.path == entry.path),
            _ => false,
        });
        let begun =
            concerned.into_iter().find(|action| !matches!(outcome(action, plan, outcomes), "Stale" | "NotStarted"));
        wrong.extend(begun.map(|action| format!("not refused: action {}", action.id)));
        match entry.action.as_str() {
            "refuse_apply" | "refuse_action" => {}
            "advise" => wrong.extend(compare_advice(std::slice::from_ref(entry), reported)),
            _ => wrong.push(format!("not done by an apply: {}", shown_target(entry))),
        }
    }
    wrong
}

fn compare_count(entry: &ExpectedRequest, requests: &[Reached]) -> Option<String> {
    let matches = |(server, seen): &&Reached| {
        *server == entry.server
            && seen.request.op == entry.op
            && entry.record.is_none_or(|record| seen.request.record == Some(record))
            && entry.path.as_ref().is_none_or(|path| seen.request.path.as_ref() == Some(path))
    };
    let count = requests.iter().filter(matches).count() as u64;
    let target = (entry.record, &entry.path);
    (count != entry.count)
        .then(|| format!("{count} x {} {target:?} reached {}, not {}", entry.op, entry.server, entry.count))
}

/// A write that the plan does not hold, or that must not reach a server.
fn not_allowed(case: &Case, server: &str, seen: &Seen) -> Option<String> {
    let request = &seen.request;
    let kinds: &[&str] = match (server, request.op.as_str()) {
        ("dolphinscheduler", "delete") => &["ds_api_delete"],
        ("hdfs", "rename") => &["hdfs_trash", "hdfs_quarantine", "hdfs_move"],
        ("hdfs", "delete") => &["hdfs_delete"],
        _ => return Some(shown(server, seen)),
    };
    let is_confirmed = case.plan_actions.iter().any(|action| {
        kinds.contains(&action.action.as_str())
            && match action.record {
                Some(record) => request.record == Some(record),
                None => request.path == action.path,
            }
    });
    let forbidden = is_forbidden(&case.expect.must_not_plan, kinds, request.record, request.path.as_deref());
    (!is_confirmed || forbidden).then(|| shown(server, seen))
}
