//! Phase `plan`: an earlier run that saw the same, if the case has one, then the plan.

use serde_json::Value;
use statewarden::demo::world::{Case, EarlierObservation, World};
use statewarden::domain::Age;

use super::acts::compare_plan;
use super::ledger_file;
use super::matching::{Reported, compare_findings};
use super::program::{Bench, Ran, unwanted_writes};
use super::run::compare_exit_of_act;

/// Name of the ledger in the folder of a case.
pub const LEDGER: &str = "ledger.db";

/// Name of the plan file there.
pub const PLAN: &str = "plan.json";

/// `policies.confirm_after` where a case does not say.
const CONFIRM_AFTER: Age = Age::from_seconds(600);

/// Seeds the history of a case: an earlier run that saw the state of `world`, and a lease.
pub async fn seed(bench: &mut Bench, case: &Case, world: &World) -> Result<(), String> {
    if case.world.ledger.earlier_observation == EarlierObservation::Agree {
        bench.run(&["drift", "--ledger", LEDGER]).await?;
        let confirm_after = world.config.policies.confirm_after.unwrap_or(CONFIRM_AFTER);
        ledger_file::move_back(&bench.path(LEDGER), confirm_after).await?;
        // The faults of the case are about the run that is judged.
        bench.exchange(world)?;
        bench.clear_requests();
    }
    Ok(())
}

/// Gives the lease to somebody else, if the case says so. The ledger has to be there.
pub async fn lend(bench: &Bench, case: &Case) -> Result<(), String> {
    match &case.world.ledger.lease {
        Some(lease) => ledger_file::lend(&bench.path(LEDGER), &lease.holder, lease.age).await,
        None => Ok(()),
    }
}

/// Makes a plan; what came out, and the JSON of report and plan.
pub async fn plan(bench: &mut Bench) -> Result<(Ran, Value), String> {
    let arguments = [
        "plan",
        "--only",
        "records",
        "-o",
        PLAN,
        "--ledger",
        LEDGER,
        "--output",
        "terminal",
        "--output",
        "json=planned.json",
        "--color",
        "never",
    ];
    let ran = bench.run(&arguments).await?;
    let json = bench.json("planned.json", &ran)?;
    Ok((ran, json))
}

/// What is wrong with the program's answer to a case.
pub async fn judge(case: &Case) -> Result<Vec<String>, String> {
    let mut bench = Bench::start(&case.world)?;
    seed(&mut bench, case, &case.world).await?;
    let (ran, json) = plan(&mut bench).await?;
    let reported = Reported::all_of(&json["report"])?;
    let expect = &case.expect;
    let mut wrong = compare_findings(&expect.findings, &expect.may_find, &reported);
    wrong.extend(compare_plan(&expect.must_plan, &expect.must_not_plan, &json["plan"], &reported)?);
    wrong.extend(bench.leaks(case));
    wrong.extend(unwanted_writes(&bench.requests()));
    wrong.extend(compare_exit_of_act(case, &ran));
    Ok(wrong)
}
