//! `plan`: what can be cleaned up, and what the rest waits for. Changes nothing outside the ledger.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::{Same, Seen, collected};
use crate::apply::earlier_observations;
use crate::cli::args::{LookArgs, PlanArgs};
use crate::cli::exit::ExitCode;
use crate::cli::output::{self, Results};
use crate::cli::progress::Spinner;
use crate::cli::{files, ledger};
use crate::collect::Progress as _;
use crate::compare::FindingCode;
use crate::config::Config;
use crate::config::load::load;
use crate::domain::{Age, HdfsPath, HdfsUri, RecordId};
use crate::ledger::{SqlLedger, actor};
use crate::plan::planner::{self, Wish};
use crate::plan::{Plan, fingerprint};
use crate::ports::ledger::{Ledger as _, RunEntry};
use crate::report::plan::{PlanPrint, Planned, render, verdict};
use crate::report::words::shell_word;
use crate::report::{Report, Verdict, json};

/// Looks once or twice, plans, records, prints.
pub async fn run(args: &PlanArgs) -> anyhow::Result<ExitCode> {
    let config = load(&args.config.to_options(args.look.from.is_some()))?;
    let wish = wish(args, &config)?;
    let books = Books::open(args).await?;
    let first = if args.wait { Some(books.first_look(&config, &args.look).await?) } else { None };
    let (seen, run) = books.look(config, &args.look).await?;
    let earlier = match &first {
        Some(first) => first.still_stale(&seen),
        None => books.earlier(&seen).await?,
    };
    let wish = Wish { run: run.run, ..wish };
    let plan = planner::plan(&seen.inventory, &seen.config, &seen.comparison, &earlier, &wish);
    books.record(&plan).await?;
    if let Some(file) = &args.out {
        files::save_plan(file, &plan)?;
    }
    let report = Report::new(&seen.inventory, &seen.comparison, args.output.lang);
    let recorded_in = books.ledger.as_ref().filter(|_| books.records).map(crate::ports::ledger::Ledger::place);
    print(args, &Planned::new(report, plan, recorded_in))
}

fn print(args: &PlanArgs, planned: &Planned) -> anyhow::Result<ExitCode> {
    let file = args.out.as_deref().map(|file| shell_word(&file.display().to_string()));
    let options = Same::of_args(&args.config).with_ledger(&args.ledger).with_ledger_too();
    let terminal =
        |style| render(planned, PlanPrint { style, all: args.all, file: file.as_deref(), options: &options });
    let results = Results { terminal: &terminal, json: &|| Ok(json::render(planned)?) };
    output::write(&args.output.output, args.output.color, &results)?;
    Ok(ExitCode::of(planned.exit.word, ExitCode::DRIFT))
}

fn wish(args: &PlanArgs, config: &Config) -> anyhow::Result<Wish> {
    Ok(Wish {
        run: String::new(),
        tenant: args.tenant.clone(),
        under: args.under.as_deref().map(|text| under(text, config)).transpose()?,
        limit: args.limit,
        from_file: args.look.from.is_some(),
    })
}

/// The path in the file system that is read; a path elsewhere would quietly select nothing.
fn under(text: &str, config: &Config) -> anyhow::Result<HdfsPath> {
    let uri = HdfsUri::parse(text).context("--under takes an HDFS path such as /dolphinscheduler/etl/resources/old")?;
    let place = config.file_systems.resolve(&uri);
    place.here().cloned().context("--under names another file system than the one that is read")
}

/// The ledger as planning needs it: to record, or only for what earlier runs saw.
struct Books {
    ledger: Option<SqlLedger>,
    records: bool,
}

impl Books {
    /// A plan that is to be recorded needs the ledger; a dry look can do without.
    async fn open(args: &PlanArgs) -> anyhow::Result<Self> {
        let records = args.out.is_some() && args.look.from.is_none();
        let ledger = match ledger::open(&args.ledger).await {
            Ok(ledger) => Some(ledger),
            Err(error) if records => return Err(error),
            Err(error) => {
                output::to_stderr(&format!("warning: nothing is known of earlier runs: {error:#}\n"));
                None
            }
        };
        Ok(Self { ledger, records })
    }

    fn recording(&self) -> Option<&SqlLedger> {
        self.ledger.as_ref().filter(|_| self.records)
    }

    /// One look at everything, written down as a run if the plan is to be recorded.
    async fn look(&self, config: Config, look: &LookArgs) -> anyhow::Result<(Seen, RunEntry)> {
        let run = ledger::begun("plan", &config);
        if let Some(ledger) = self.recording() {
            ledger.begin_run(&run).await?;
        }
        let seen = collected(config, look).await?;
        let findings = &seen.comparison.findings;
        let run = ledger::ended(&run, &seen, Verdict::of(findings).max(verdict(findings)));
        if let Some(ledger) = self.recording() {
            ledger.end_run(&run, &seen.comparison).await?;
        }
        Ok((seen, run))
    }

    /// The first of two looks, and the pause behind it.
    async fn first_look(&self, config: &Config, look: &LookArgs) -> anyhow::Result<FirstLook> {
        let look = LookArgs { save: None, ..look.clone() };
        let (seen, run) = self.look(config.clone(), &look).await?;
        let ended = run.ended.unwrap_or(seen.inventory.taken);
        pause(config.policies.confirm_after, ended).await;
        Ok(FirstLook { ended, scope: run.scope, stale: stale(&seen).into_keys().collect() })
    }

    /// What earlier runs of the same scope saw as stale, at least `confirm_after` ago.
    async fn earlier(&self, seen: &Seen) -> anyhow::Result<BTreeMap<RecordId, Timestamp>> {
        let Some(ledger) = &self.ledger else { return Ok(BTreeMap::new()) };
        Ok(earlier_observations(ledger, &seen.config, &seen.inventory).await?)
    }

    async fn record(&self, plan: &Plan) -> anyhow::Result<()> {
        let Some(ledger) = self.recording() else { return Ok(()) };
        ledger.save_plan(plan).await?;
        let body = json!({
            "plan": plan.hash, "actions": plan.actions.len(), "held_back": plan.held_back.len(), "expires": plan.expires,
        });
        ledger.audit(&actor::actor(), &plan.run, "plan-recorded", &body).await?;
        Ok(())
    }
}

/// What the first of two looks saw.
struct FirstLook {
    ended: Timestamp,
    scope: String,
    stale: BTreeSet<String>,
}

impl FirstLook {
    /// The records that both looks saw as stale, at the same path and in the same scope.
    fn still_stale(&self, seen: &Seen) -> BTreeMap<RecordId, Timestamp> {
        if fingerprint::of_scope(&seen.config, &seen.inventory) != self.scope {
            return BTreeMap::new();
        }
        let both = stale(seen).into_iter().filter(|(fingerprint, _)| self.stale.contains(fingerprint));
        both.map(|(_, record)| (record, self.ended)).collect()
    }
}

/// Stale records by the fingerprint of their finding.
fn stale(seen: &Seen) -> BTreeMap<String, RecordId> {
    let findings = seen.comparison.findings.iter();
    let stale = findings.filter(|finding| finding.code == FindingCode::StaleResourceRecord);
    stale.filter_map(|finding| Some((finding.fingerprint(), finding.target.record?))).collect()
}

/// Waits until `confirm_after` has passed since `ended`, by the wall clock: it is what the gate judges by.
async fn pause(confirm_after: Age, ended: Timestamp) {
    let until = ended + SignedDuration::from_secs(i64::try_from(confirm_after.seconds()).unwrap_or(0));
    let text = format!(
        "waiting {confirm_after} (`confirm_after`) before the second look, until {}",
        until.strftime("%H:%M:%S UTC")
    );
    let progress = Spinner::new();
    if progress.is_hidden() {
        output::to_stderr(&format!("{text}\n"));
    }
    progress.stage(&text);
    while let Ok(left) = std::time::Duration::try_from(until.duration_since(Timestamp::now()))
        && !left.is_zero()
    {
        tokio::time::sleep(left).await;
    }
}

/// Used by the demo to name a plan file beside its configuration.
#[cfg(feature = "demo")]
pub(super) fn proposed(folder: &std::path::Path) -> String {
    shell_word(&folder.join("plan.json").display().to_string())
}
