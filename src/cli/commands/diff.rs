//! `diff`: what changed between two runs.

use anyhow::Context as _;

use crate::cli::args::DiffArgs;
use crate::cli::exit::ExitCode;
use crate::cli::ledger;
use crate::cli::output::{self, Results};
use crate::ports::ledger::Ledger as _;
use crate::report::history::{Changes, render_changes};
use crate::report::json;

/// Finds both, compares, prints.
pub async fn run(args: &DiffArgs) -> anyhow::Result<ExitCode> {
    let ledger = ledger::open_existing(&args.ledger).await?;
    let earlier = ledger.resolve_run(&args.earlier).await?.with_context(|| ledger::unknown_run(&args.earlier))?;
    let later = ledger.resolve_run(&args.later).await?.with_context(|| ledger::unknown_run(&args.later))?;
    let difference = ledger.difference(&earlier.run, &later.run).await?;
    let changes = Changes::new(&earlier, &later, &difference, args.output.lang);
    let results = Results { terminal: &|style| render_changes(&changes, style), json: &|| Ok(json::render(&changes)?) };
    output::write(&args.output.output, args.output.color, &results)?;
    Ok(ExitCode::InSync)
}
