//! The command line: arguments in, exit code out. Wires the parts together and decides nothing about drift.

pub mod args;
pub mod commands;
pub mod exit;
mod failure;
mod files;
mod ledger;
mod output;
mod progress;
mod stop;
pub mod wiring;

use std::ffi::OsString;

use clap::Parser as _;

use args::{Cli, Command, LogFormat};
pub use exit::ExitCode;

/// Runs the program with these arguments (the first is its name) and says how it ends.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return failure::usage(&error),
    };
    start_log(cli.log);
    let outcome = tokio::runtime::Runtime::new()
        .map_err(|error| anyhow::Error::new(error).context("cannot start the runtime"))
        .and_then(|runtime| runtime.block_on(dispatch(cli.command)));
    match outcome {
        Ok(code) => code,
        Err(error) => failure::report(&error),
    }
}

async fn dispatch(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Drift(args) => commands::drift::run(&args).await,
        Command::Explain(args) => commands::explain::run(&args).await,
        Command::Graph(args) => commands::graph::run(&args).await,
        Command::Doctor(args) => commands::doctor::run(&args).await,
        Command::Plan(args) => commands::plan::run(&args).await,
        Command::Show(args) => commands::show::run(&args).await,
        Command::Apply(args) => commands::apply::run(&args).await,
        Command::Metadata(args) => commands::metadata::run(&args).await,
        Command::History(args) => commands::history::run(&args).await,
        Command::Diff(args) => commands::diff::run(&args).await,
        Command::Audit { command } => commands::audit::run(&command).await,
        Command::Config { command } => commands::config::run(&command),
        Command::Schema(args) => commands::schema::run(&args),
        Command::Completions(args) => commands::completions::run(&args),
        #[cfg(feature = "demo")]
        Command::Demo(args) => commands::demo::run(&args).await,
    }
}

/// The log goes to stderr, since stdout is for results. Only the first call in a process has an effect.
fn start_log(format: LogFormat) {
    let filter = tracing_subscriber::EnvFilter::builder()
        .with_default_directive(tracing::level_filters::LevelFilter::WARN.into())
        .from_env_lossy();
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let started = match format {
        LogFormat::Text => builder.with_ansi(false).try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    // A second call (tests) keeps the first log; nothing is lost.
    drop(started);
}
