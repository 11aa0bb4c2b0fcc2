//! `config`: check it, or start one.

use crate::cli::args::{ConfigArgs, ConfigCommand};
use crate::cli::exit::ExitCode;
use crate::cli::output;
use crate::config::Config;
use crate::config::load::load;
use crate::domain::text::printable;

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
    let mut text = String::new();
    for refusal in &config.refusals {
        text.push_str(&format!(
            "refused: {}: {}\n    -> {}\n",
            printable(&refusal.place),
            printable(&refusal.what),
            printable(&refusal.remedy)
        ));
    }
    let source = config
        .source
        .as_ref()
        .map_or_else(|| "flags and environment".to_owned(), |path| printable(&path.display().to_string()));
    let flink = if config.flink_none {
        "no Flink on purpose".to_owned()
    } else {
        format!("{} cluster(s)", config.clusters.len())
    };
    let ds = config
        .ds
        .as_ref()
        .map_or_else(|| "no DolphinScheduler".to_owned(), |ds| format!("DolphinScheduler {}", printable(&ds.version)));
    text.push_str(&format!(
        "{source}: readable; {flink}, {ds}, {} checkpoint root(s), {} ignore(s), {} refused setting(s)\n",
        config.roots.len(),
        config.ignores.len(),
        config.refusals.len(),
    ));
    text
}
