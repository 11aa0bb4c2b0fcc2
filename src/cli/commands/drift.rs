//! `drift`: the main job.

use super::{Same, Seen, look};
use crate::cli::args::{DriftArgs, OutputArgs};
use crate::cli::exit::ExitCode;
use crate::cli::output::{self, Results};
use crate::report::terminal::Print;
use crate::report::{Report, json, terminal};

/// Looks, compares, reports.
pub async fn run(args: &DriftArgs) -> anyhow::Result<ExitCode> {
    let seen = look(&args.config, &args.look).await?;
    let same = Same::new(&args.config, &args.look);
    report(&seen, &args.output, args.all, Some(&same), args.drift_exit_code)
}

/// Prints the report on what was seen; `same` goes into the commands it proposes.
pub(super) fn report(
    seen: &Seen,
    args: &OutputArgs,
    all: bool,
    same: Option<&Same>,
    drift_exit_code: u8,
) -> anyhow::Result<ExitCode> {
    let report = Report::new(&seen.inventory, &seen.comparison, args.lang).with_drift_exit_code(drift_exit_code);
    let print = |style| Print {
        style,
        all,
        options: same.map(|same| same.options.as_str()),
        from: same.and_then(|same| same.from.as_deref()),
    };
    let results =
        Results { terminal: &|style| terminal::render(&report, print(style)), json: &|| Ok(json::render(&report)?) };
    output::write(&args.output, args.color, &results)?;
    Ok(ExitCode::of(report.exit.word, drift_exit_code))
}
