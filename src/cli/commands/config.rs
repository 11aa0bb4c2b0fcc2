//! `config`: check it, or start one.

use crate::cli::args::{ConfigArgs, ConfigCommand};
use crate::cli::exit::ExitCode;
use crate::cli::output;
use crate::config::Config;
use crate::config::load::load;
use crate::domain::text::printable;
use crate::report::words::count;

/// Checks the configuration or prints the example.
pub fn run(command: &ConfigCommand) -> anyhow::Result<ExitCode> {
    match command {
        ConfigCommand::Check(args) => check(args),
        ConfigCommand::Example => {
            output::to_stdout(crate::config::example::EXAMPLE)?;
            Ok(ExitCode::InSync)
        }
    }
}

/// What cannot be read ends 1 with all errors; what is readable but unsafe is listed and ends 3, as `drift` would.
fn check(args: &ConfigArgs) -> anyhow::Result<ExitCode> {
    let config = load(&args.to_options(false))?;
    output::to_stdout(&summary(&config))?;
    Ok(if config.refusals.is_empty() { ExitCode::InSync } else { ExitCode::Incomplete })
}

fn summary(config: &Config) -> String {
    let refusals = config.refusals.iter().map(|refusal| {
        let said =
            format!("refused: {}: {}\n    -> {}", refusal.place, printable(&refusal.what), printable(&refusal.remedy));
        said + "\n"
    });
    let source = config.source.as_ref().map(|path| printable(&path.display().to_string()));
    let flink = if config.flink_none {
        "no Flink on purpose".to_owned()
    } else {
        count(config.clusters.len(), "cluster", "clusters")
    };
    let ds = config.ds.as_ref().map(|ds| format!("DolphinScheduler {}", printable(&ds.version)));
    let line = format!(
        "{}: readable; {flink}, {}, {}, {}, {}\n",
        source.as_deref().unwrap_or("flags and environment"),
        ds.as_deref().unwrap_or("no DolphinScheduler"),
        count(config.roots.len(), "checkpoint root", "checkpoint roots"),
        count(config.ignores.len(), "ignore", "ignores"),
        count(config.refusals.len(), "refused setting", "refused settings"),
    );
    refusals.chain([line]).collect()
}
