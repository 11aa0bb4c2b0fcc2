//! One module a subcommand: loads what it needs, calls the library, prints, and says how it ends.

pub mod apply;
pub mod audit;
pub mod completions;
pub mod config;
#[cfg(feature = "demo")]
pub mod demo;
pub mod diff;
pub mod doctor;
pub mod drift;
pub mod explain;
pub mod history;
pub mod plan;
pub mod schema;
pub mod show;

use crate::cli::args::{ConfigArgs, LookArgs};
use crate::cli::files;
use crate::cli::progress::Spinner;
use crate::cli::wiring;
use crate::collect::collect;
use crate::compare::{Comparison, compare};
use crate::config::Config;
use crate::config::load::load;
use crate::ports::clock::SystemClock;
use crate::report::words::shell_word;
use crate::views::Inventory;

/// What was looked at and what the rules say to it.
pub(in crate::cli) struct Seen {
    /// Configuration.
    pub(in crate::cli) config: Config,
    /// Inventory, collected now or read from a file.
    pub(in crate::cli) inventory: Inventory,
    /// Findings.
    pub(in crate::cli) comparison: Comparison,
}

/// Configuration, inventory, comparison: what every reporting command does first.
async fn look(config: &ConfigArgs, look: &LookArgs) -> anyhow::Result<Seen> {
    collected(load(&config.to_options(look.from.is_some()))?, look).await
}

/// Inventory and comparison by a configuration.
async fn collected(config: Config, look: &LookArgs) -> anyhow::Result<Seen> {
    let inventory = match &look.from {
        Some(file) => files::load_inventory(file)?,
        None => read(&config, look.recurse).await?,
    };
    if let Some(file) = &look.save {
        files::save_inventory(file, &inventory)?;
    }
    Ok(judged(config, inventory))
}

/// Reads every system once.
async fn read(config: &Config, recurse: bool) -> anyhow::Result<Inventory> {
    let sources = wiring::connect(config, recurse)?;
    Ok(collect(&sources, config, &SystemClock, &Spinner::new()).await)
}

fn judged(config: Config, inventory: Inventory) -> Seen {
    let comparison = compare(&inventory, &config);
    Seen { config, inventory, comparison }
}

/// Options with which a proposed command looks at the same thing.
fn same_options(config: &ConfigArgs, look: Option<&LookArgs>) -> String {
    let file = |flag: &str, path: &std::path::Path| format!("--{flag} {}", shell_word(&path.display().to_string()));
    let config = config.config.as_deref().map(|path| file("config", path));
    let from = look.and_then(|look| look.from.as_deref()).map(|path| file("from", path));
    config.into_iter().chain(from).collect::<Vec<_>>().join(" ")
}
