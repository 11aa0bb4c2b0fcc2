//! `apply`: carries out a plan that was confirmed.

use std::io::{BufRead as _, IsTerminal as _};

use anyhow::Context as _;
use jiff::Timestamp;

use super::Same;
use super::show::{is_other_config, obstacles};
use crate::apply::{self, ActionReport, Order, Tools};
use crate::cli::args::ApplyArgs;
use crate::cli::exit::ExitCode;
use crate::cli::files::{self, LoadedPlan};
use crate::cli::output::{self, Results};
use crate::cli::progress::Spinner;
use crate::cli::{ledger, stop, wiring};
use crate::compare::{Finding, FindingCode, Severity, Target};
use crate::config::Config;
use crate::config::load::{LoadOptions, load};
use crate::ledger::{SqlLedger, actor};
use crate::plan::Plan;
use crate::ports::clock::SystemClock;
use crate::ports::ledger::{Ledger as _, Outcome, OutcomeWord, RunEntry};
use crate::report::applied::{ActionLine, Applied, Facts, render};
use crate::report::confirm::question;
use crate::report::json;

/// Reads, asks, applies, prints.
pub async fn run(args: &ApplyArgs) -> anyhow::Result<ExitCode> {
    let config = load(&LoadOptions { applies: true, ..args.config.to_options(false) })?;
    let loaded = files::load_plan(&args.plan)?;
    let ledger = ledger::open(&args.ledger).await?;
    let is_stale = is_stale(&config, &loaded, &ledger).await?;
    let refusal = refusal(args, &config, &loaded, is_stale);
    let run = ledger::begun("apply", &config);
    ledger.begin_run(&run).await?;
    let facts = match refusal {
        Some(why) => Ok(not_begun(&loaded.plan, &run, &ledger, &why)),
        None => carry_out(args, &config, &loaded.plan, &ledger, &run, is_stale).await,
    };
    let facts = match facts {
        Ok(facts) => facts,
        Err(error) => {
            // The failure itself is what the person has to know.
            drop(ledger.abandon_run(&RunEntry { exit: Some("failure".to_owned()), ..ended(&run, 0) }).await);
            return Err(error);
        }
    };
    let applied = Applied::new(Facts { dry_run: args.dry_run, ..facts }, args.output.lang);
    let loud = applied.findings.iter().filter(|found| found.finding.severity >= Severity::Warning).count();
    let word = applied.exit.word;
    ledger.abandon_run(&RunEntry { exit: Some(word.as_str().to_owned()), ..ended(&run, loud) }).await?;
    let options = Same::of_args(&args.config).with_ledger(&args.ledger).with_ledger_too();
    let results =
        Results { terminal: &|style| render(&applied, style, &options), json: &|| Ok(json::render(&applied)?) };
    output::write(&args.output.output, args.output.color, &results)?;
    Ok(ExitCode::of(word, ExitCode::DRIFT))
}

fn ended(run: &RunEntry, findings: usize) -> RunEntry {
    let findings = u64::try_from(findings).unwrap_or(u64::MAX);
    RunEntry { ended: Some(Timestamp::now()), findings, ..run.clone() }
}

/// Whether the run will refuse the plan anyway: then nobody is asked, and no call can be made.
async fn is_stale(config: &Config, loaded: &LoadedPlan, ledger: &SqlLedger) -> anyhow::Result<bool> {
    let by_itself = !obstacles(loaded).is_empty() || is_other_config(config, &loaded.plan).is_some();
    Ok(by_itself || !ledger.knows_plan(&loaded.plan.hash).await?)
}

/// Why nothing is begun at all.
fn refusal(args: &ApplyArgs, config: &Config, loaded: &LoadedPlan, is_stale: bool) -> Option<String> {
    let plan = &loaded.plan;
    if !loaded.faithful {
        return Some("the file holds more than the plan that was recorded: it was changed since".to_owned());
    }
    if plan.actions.is_empty() || is_stale {
        return None;
    }
    if let Err(error) = wiring::writer(config, plan.generation) {
        return Some(format!("{error:#}"));
    }
    if args.yes || args.dry_run { None } else { unconfirmed(args, config, plan) }
}

/// Asks the person at the terminal.
fn unconfirmed(args: &ApplyArgs, config: &Config, plan: &Plan) -> Option<String> {
    let url = config.ds.as_ref().and_then(|ds| ds.url.as_ref());
    output::to_stderr(&question(plan, url, args.output.lang));
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        output::to_stderr("\n");
        return Some("there is no terminal to ask at; say --yes to apply without being asked".to_owned());
    }
    let mut answer = String::new();
    match std::io::stdin().lock().read_line(&mut answer) {
        Ok(_) if answer.trim() == "yes" => None,
        Ok(_) => Some("it was not confirmed: the answer was not `yes`".to_owned()),
        Err(error) => Some(format!("it was not confirmed: the answer could not be read: {error}")),
    }
}

fn not_begun(plan: &Plan, run: &RunEntry, ledger: &SqlLedger, why: &str) -> Facts {
    let line = |action: &crate::plan::Action| ActionLine {
        id: action.id,
        record: action.target.record,
        path: action.target.path.clone(),
        outcome: Outcome { outcome: OutcomeWord::NotStarted, why: why.to_owned() },
    };
    let finding = Finding::new(FindingCode::ApplyBlocked, Severity::Error, Target::default(), "cli::apply");
    Facts {
        run: run.run.clone(),
        plan: plan.hash.clone(),
        dry_run: false,
        interrupted: false,
        outcomes: plan.actions.iter().map(line).collect(),
        findings: vec![finding.because(why)],
        audit_head: None,
        ledger: ledger.place(),
    }
}

async fn carry_out(
    args: &ApplyArgs,
    config: &Config,
    plan: &Plan,
    ledger: &SqlLedger,
    run: &RunEntry,
    is_stale: bool,
) -> anyhow::Result<Facts> {
    let dry_run = args.dry_run || is_stale;
    let sources = wiring::connect(config, false)?;
    // Where no call is to be made there is nothing that could make one.
    let write =
        if dry_run || plan.actions.is_empty() { wiring::no_writer() } else { wiring::writer(config, plan.generation)? };
    let stop = stop::flag("finishing the action at hand; no other is begun\n");
    let (actor, holder, progress) = (actor::actor(), actor::holder(), Spinner::new());
    let tools =
        Tools { sources: &sources, write: write.as_ref(), ledger, config, clock: &SystemClock, progress: &progress };
    let order = Order { plan, run: &run.run, actor: &actor, holder: &holder, dry_run, stop: &stop };
    let applied = apply::apply(&tools, &order).await.context(
        "the ledger failed under the run; apply the same plan again, which first looks at what became of the action at hand",
    )?;
    Ok(Facts {
        run: run.run.clone(),
        plan: plan.hash.clone(),
        dry_run,
        interrupted: applied.interrupted,
        outcomes: applied.actions.into_iter().map(line).collect(),
        findings: applied.findings,
        audit_head: applied.audit_head,
        ledger: ledger.place(),
    })
}

fn line(report: ActionReport) -> ActionLine {
    let ActionReport { id, record, path, outcome } = report;
    ActionLine { id, record, path, outcome }
}
