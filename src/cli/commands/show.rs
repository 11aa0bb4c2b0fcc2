//! `show`: a plan, and whether it can still be applied. Asks no system.

use jiff::Timestamp;

use crate::cli::args::{ConfigArgs, LedgerArgs, ShowArgs};
use crate::cli::exit::ExitCode;
use crate::cli::files::{self, LoadedPlan};
use crate::cli::ledger;
use crate::cli::output::{self, Results};
use crate::config::Config;
use crate::config::load::load;
use crate::plan::{Plan, fingerprint};
use crate::ports::ledger::Ledger;
use crate::report::json;
use crate::report::plan::{Obstacle, SHOWN_SCHEMA, Shown, Tried, Unchecked, render_shown};

/// Reads, judges, prints.
pub async fn run(args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let loaded = files::load_plan(&args.plan)?;
    let shown = judged(args, loaded).await;
    let results = Results { terminal: &|style| render_shown(&shown, style), json: &|| Ok(json::render(&shown)?) };
    output::write(&args.output.output, args.output.color, &results)?;
    Ok(ExitCode::InSync)
}

async fn judged(args: &ShowArgs, loaded: LoadedPlan) -> Shown {
    let mut unchecked = Vec::new();
    let config = config_obstacle(&args.config, &loaded.plan, &mut unchecked);
    let (recorded, tried) = in_ledger(&args.ledger, &loaded.plan, &mut unchecked).await;
    let obstacles = obstacles(&loaded).into_iter().chain(recorded).chain(config).collect();
    Shown { schema: SHOWN_SCHEMA.to_owned(), lang: args.output.lang, obstacles, unchecked, tried, plan: loaded.plan }
}

/// What speaks against a plan by itself.
pub(super) fn obstacles(loaded: &LoadedPlan) -> Vec<Obstacle> {
    let plan = &loaded.plan;
    [
        (plan.from_file, Obstacle::FromFile),
        (!loaded.faithful || fingerprint::of_plan(plan) != plan.hash, Obstacle::Edited),
        (Timestamp::now() >= plan.expires, Obstacle::Expired),
    ]
    .into_iter()
    .filter_map(|(holds, obstacle)| holds.then_some(obstacle))
    .collect()
}

/// Whether a configuration is another one than the plan was made with.
pub(super) fn is_other_config(config: &Config, plan: &Plan) -> Option<Obstacle> {
    (fingerprint::of_config(config) != plan.config).then_some(Obstacle::ConfigurationChanged)
}

fn config_obstacle(args: &ConfigArgs, plan: &Plan, unchecked: &mut Vec<Unchecked>) -> Option<Obstacle> {
    match load(&args.to_options(true)) {
        Ok(config) => is_other_config(&config, plan),
        Err(errors) => {
            let why = errors.to_string().lines().map(str::trim).collect::<Vec<_>>().join("; ");
            unchecked.push(Unchecked { what: "configuration".to_owned(), why });
            None
        }
    }
}

async fn in_ledger(args: &LedgerArgs, plan: &Plan, unchecked: &mut Vec<Unchecked>) -> (Option<Obstacle>, Vec<Tried>) {
    match look_up(args, plan).await {
        Ok((true, tried)) => (None, tried),
        Ok((false, tried)) => (Some(Obstacle::NotRecorded).filter(|_| !plan.from_file), tried),
        Err(error) => {
            unchecked.push(Unchecked { what: "ledger".to_owned(), why: format!("{error:#}") });
            (None, Vec::new())
        }
    }
}

async fn look_up(args: &LedgerArgs, plan: &Plan) -> anyhow::Result<(bool, Vec<Tried>)> {
    let ledger = ledger::open_existing(args).await?;
    Ok((ledger.knows_plan(&plan.hash).await?, Tried::of(ledger.intents_of(&plan.hash).await?)))
}
