//! `explain`: all that is known of one target.

use super::look;
use crate::cli::args::ExplainArgs;
use crate::cli::exit::ExitCode;
use crate::cli::output::{self, Results};
use crate::report::{explain, json};

/// Looks, compares, explains.
pub async fn run(args: &ExplainArgs) -> anyhow::Result<ExitCode> {
    let seen = look(&args.config, &args.look).await?;
    let explanation =
        explain::explain(&seen.inventory, &seen.config, &seen.comparison, &args.target, args.output.lang)?;
    let results =
        Results { terminal: &|style| explain::render(&explanation, style), json: &|| Ok(json::render(&explanation)?) };
    output::write(&args.output.output, args.output.color, &results)?;
    Ok(if explanation.is_empty() { ExitCode::Failure } else { ExitCode::InSync })
}
