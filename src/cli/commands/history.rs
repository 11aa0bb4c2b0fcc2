//! `history`: the runs of the ledger.

use crate::cli::args::HistoryArgs;
use crate::cli::exit::ExitCode;
use crate::cli::ledger;
use crate::cli::output::{self, Results};
use crate::ports::ledger::Ledger as _;
use crate::report::history::{History, render};
use crate::report::json;

/// Lists them.
pub async fn run(args: &HistoryArgs) -> anyhow::Result<ExitCode> {
    let ledger = ledger::open_existing(&args.ledger).await?;
    let history = History::new(ledger.place(), &ledger.runs(args.limit).await?);
    let lang = args.output.lang;
    let results = Results { terminal: &|style| render(&history, lang, style), json: &|| Ok(json::render(&history)?) };
    output::write(&args.output.output, args.output.color, &results)?;
    Ok(ExitCode::InSync)
}
