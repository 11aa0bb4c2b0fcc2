//! `completions`: for a shell.

use clap::CommandFactory as _;

use crate::cli::args::{Cli, CompletionsArgs};
use crate::cli::exit::ExitCode;
use crate::cli::output;

/// Prints the completions.
pub fn run(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "statewarden", &mut script);
    output::to_stdout(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::InSync)
}
