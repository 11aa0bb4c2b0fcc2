//! `graph`: which restore point needs what, and why a path is needed.

use anyhow::Context as _;

use super::look;
use crate::cli::args::{GraphArgs, GraphCommand, OutputFormat, OutputTarget};
use crate::cli::exit::ExitCode;
use crate::cli::output::{self, Results};
use crate::domain::HdfsUri;
use crate::report::{graph, json};

/// Looks and prints the graph, or who needs one path.
pub async fn run(args: &GraphArgs) -> anyhow::Result<ExitCode> {
    if let Some(GraphCommand::Why(args)) = &args.command {
        let seen = look(&args.config, &args.look).await?;
        let uri = HdfsUri::parse(&args.path).with_context(|| format!("`{}` is no HDFS path", args.path))?;
        let path = seen.config.file_systems.resolve(&uri).path().clone();
        let why = graph::why(&seen.inventory, &seen.config, &path);
        let results = Results { terminal: &|style| graph::render_why(&why, style), json: &|| Ok(json::render(&why)?) };
        output::write(&args.output.output, args.output.color, &results)?;
        return Ok(ExitCode::InSync);
    }
    let seen = look(&args.config, &args.look).await?;
    let whole = graph::graph(&seen.inventory, &seen.config);
    let results = Results { terminal: &|style| graph::render(&whole, style), json: &|| Ok(json::render(&whole)?) };
    let outputs = if args.json {
        vec![OutputTarget { format: OutputFormat::Json, file: None }]
    } else {
        args.output.output.clone()
    };
    output::write(&outputs, args.output.color, &results)?;
    Ok(ExitCode::InSync)
}
