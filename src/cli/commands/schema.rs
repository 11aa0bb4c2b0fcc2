//! `schema`: JSON Schemas of what goes in and out.

use crate::cli::args::{SchemaArgs, SchemaOf};
use crate::cli::exit::ExitCode;
use crate::cli::output;
use crate::config;
use crate::report::doctor::Checkup;
use crate::report::explain::Explanation;
use crate::report::{Report, json};
use crate::views::Inventory;

/// Prints the schema.
pub fn run(args: &SchemaArgs) -> anyhow::Result<ExitCode> {
    output::to_stdout(&json::render(&schema(args.of))?)?;
    Ok(ExitCode::InSync)
}

/// The schema as a value.
pub fn schema(of: SchemaOf) -> serde_json::Value {
    match of {
        SchemaOf::Report => schemars::schema_for!(Report).to_value(),
        SchemaOf::Explanation => schemars::schema_for!(Explanation).to_value(),
        SchemaOf::Checkup => schemars::schema_for!(Checkup).to_value(),
        SchemaOf::Inventory => schemars::schema_for!(Inventory).to_value(),
        SchemaOf::Config => config::file::schema(),
    }
}
