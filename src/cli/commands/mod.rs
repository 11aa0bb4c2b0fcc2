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
pub mod metadata;
pub mod plan;
pub mod schema;
pub mod show;

use std::path::Path;

use crate::cli::args::{ConfigArgs, LedgerArgs, LookArgs};
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

/// Options with which a proposed command looks at the same thing, ready for a shell.
pub(super) struct Same {
    /// `--config FILE` and whatever else of the configuration was given, or nothing.
    pub(super) options: String,
    /// `--from FILE`, if an inventory file is judged.
    pub(super) from: Option<String>,
    /// `--ledger PLACE`, if one was named.
    pub(super) ledger: Option<String>,
}

impl Same {
    fn new(config: &ConfigArgs, look: &LookArgs) -> Self {
        let from = look.from.as_deref().map(|file| option("from", file));
        Self { from, ..Self::of_args(config) }
    }

    /// The same configuration, flags and variables included, on the systems themselves.
    pub(super) fn of_args(config: &ConfigArgs) -> Self {
        Self { options: options_of(config).join(" "), ..Self::of_file(None) }
    }

    /// The same configuration file, on the systems themselves.
    pub(super) fn of_file(config: Option<&Path>) -> Self {
        Self { options: config.map(|file| option("config", file)).unwrap_or_default(), from: None, ledger: None }
    }

    /// And the same ledger.
    pub(super) fn with_ledger(self, args: &LedgerArgs) -> Self {
        Self { ledger: args.ledger.as_deref().map(|place| format!("--ledger {}", shell_word(place))), ..self }
    }

    /// The options of a command that takes a ledger and asks the systems.
    pub(super) fn with_ledger_too(&self) -> String {
        let options = Some(self.options.as_str()).filter(|options| !options.is_empty());
        options.into_iter().chain(self.ledger.as_deref()).collect::<Vec<_>>().join(" ")
    }
}

/// Every option of the configuration that was given, ready for a shell.
fn options_of(config: &ConfigArgs) -> Vec<String> {
    let mut options: Vec<String> = config.config.as_deref().map(|file| option("config", file)).into_iter().collect();
    let mut add = |flag: &str, value: &str| options.push(format!("--{flag} {}", shell_word(value)));
    for (name, url) in &config.cluster {
        add("cluster", &format!("{name}={url}"));
    }
    for url in &config.hdfs_url {
        add("hdfs-url", url);
    }
    for tenant in &config.ds_tenant {
        add("ds-tenant", tenant);
    }
    let single = [
        ("authority", &config.authority),
        ("hdfs-user", &config.hdfs_user),
        ("ds-url", &config.ds_url),
        ("ds-version", &config.ds_version),
        ("ds-base-path", &config.ds_base_path),
        ("ds-time-zone", &config.ds_time_zone),
    ];
    for (flag, value) in single {
        if let Some(value) = value {
            add(flag, value);
        }
    }
    if config.flink_none {
        options.push("--flink-none".to_owned());
    }
    options
}

fn option(flag: &str, file: &Path) -> String {
    format!("--{flag} {}", shell_word(&file.display().to_string()))
}
