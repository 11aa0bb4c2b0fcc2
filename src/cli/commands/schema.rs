//! `schema`: JSON Schemas of what goes in and out.

use crate::cli::args::{SchemaArgs, SchemaOf};
use crate::cli::exit::ExitCode;
use crate::cli::output;
use crate::config;
use crate::plan::Plan;
use crate::report::applied::Applied;
use crate::report::audit::{AuditCheck, Trail};
use crate::report::doctor::Checkup;
use crate::report::explain::Explanation;
use crate::report::graph::{GraphReport, Why};
use crate::report::history::{Changes, History};
use crate::report::metadata::Contents;
use crate::report::plan::{Planned, Shown};
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
        SchemaOf::Plan => schemars::schema_for!(Plan).to_value(),
        SchemaOf::Planned => schemars::schema_for!(Planned).to_value(),
        SchemaOf::Shown => schemars::schema_for!(Shown).to_value(),
        SchemaOf::Applied => schemars::schema_for!(Applied).to_value(),
        SchemaOf::History => schemars::schema_for!(History).to_value(),
        SchemaOf::Difference => schemars::schema_for!(Changes).to_value(),
        SchemaOf::Audit => schemars::schema_for!(Trail).to_value(),
        SchemaOf::AuditCheck => schemars::schema_for!(AuditCheck).to_value(),
        SchemaOf::Explanation => schemars::schema_for!(Explanation).to_value(),
        SchemaOf::Graph => schemars::schema_for!(GraphReport).to_value(),
        SchemaOf::Why => schemars::schema_for!(Why).to_value(),
        SchemaOf::Metadata => schemars::schema_for!(Contents).to_value(),
        SchemaOf::Checkup => schemars::schema_for!(Checkup).to_value(),
        SchemaOf::Inventory => schemars::schema_for!(Inventory).to_value(),
        SchemaOf::Config => config::file::schema(),
    }
}
