//! `drift`: the main job.

use super::{Same, collected};
use crate::cli::args::{DriftArgs, OutputArgs};
use crate::cli::exit::ExitCode;
use crate::cli::ledger::Diary;
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
    let same = Same::new(&args.config, &args.look).with_ledger(&args.ledger);
    print(&report, &args.output, Proposed { all: args.all, same: Some(&same) })
}

/// How a report is printed beside its style.
#[derive(Clone, Copy)]
pub(super) struct Proposed<'a> {
    /// Fold nothing.
    pub(super) all: bool,
    /// What goes into the commands that are proposed; `None`: propose none.
    pub(super) same: Option<&'a Same>,
}

/// Prints a report and ends as it says.
pub(super) fn print(report: &Report, args: &OutputArgs, proposed: Proposed<'_>) -> anyhow::Result<ExitCode> {
    let Proposed { all, same } = proposed;
    let with_ledger = same.map(Same::with_ledger_too);
    let print = |style| Print {
        style,
        all,
        options: same.map(|same| same.options.as_str()),
        from: same.and_then(|same| same.from.as_deref()),
        with_ledger: with_ledger.as_deref(),
    };
    let results =
        Results { terminal: &|style| terminal::render(report, print(style)), json: &|| Ok(json::render(report)?) };
    output::write(&args.output, args.color, &results)?;
    Ok(ExitCode::of(report.exit.word, report.exit.code))
}
