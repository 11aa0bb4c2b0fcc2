//! `drift`: the main job.

use super::{collected, same_options};
use crate::cli::args::{DriftArgs, OutputArgs};
use crate::cli::exit::ExitCode;
use crate::cli::ledger::{self, Diary};
use crate::cli::output::{self, Results};
use crate::config::load::load;
use crate::report::terminal::Print;
use crate::report::{Report, json, terminal};

/// Looks, compares, records, reports.
pub async fn run(args: &DriftArgs) -> anyhow::Result<ExitCode> {
    let config = load(&args.config.to_options(args.look.from.is_some()))?;
    let since = args.since.as_deref();
    let diary = if args.no_ledger || args.look.from.is_some() {
        None
    } else {
        Some(Diary::begin(&args.ledger, &config, since).await?)
    };
    let seen = collected(config, &args.look).await?;
    let mut report =
        Report::new(&seen.inventory, &seen.comparison, args.output.lang).with_drift_exit_code(args.drift_exit_code);
    if let Some(diary) = diary {
        report = diary.end(&seen, report, since).await;
    }
    let options = same_options(&args.config, Some(&args.look));
    let plan = same_options(&args.config, None);
    let plan = [plan].into_iter().filter(|text| !text.is_empty()).chain(ledger::options(&args.ledger));
    let plan = plan.collect::<Vec<_>>().join(" ");
    print(&report, &args.output, Proposed { all: args.all, options: Some(&options), plan: Some(&plan) })
}

/// How a report is printed beside its style.
pub(super) struct Proposed<'a> {
    /// Fold nothing.
    pub(super) all: bool,
    /// Options of the commands that look at the same thing; `None`: propose none.
    pub(super) options: Option<&'a str>,
    /// Options of `plan`; `None`: do not propose it.
    pub(super) plan: Option<&'a str>,
}

/// Prints a report and ends as it says.
pub(super) fn print(report: &Report, args: &OutputArgs, proposed: Proposed<'_>) -> anyhow::Result<ExitCode> {
    let Proposed { all, options, plan } = proposed;
    let results = Results {
        terminal: &|style| terminal::render(report, Print { style, all, options, plan }),
        json: &|| Ok(json::render(report)?),
    };
    output::write(&args.output, args.color, &results)?;
    Ok(ExitCode::of(report.exit.word, report.exit.code))
}
