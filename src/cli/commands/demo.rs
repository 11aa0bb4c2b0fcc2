//! `demo`: the real program against embedded servers on loopback, over HTTP.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use jiff::Timestamp;

use super::drift::{self, Proposed};
use super::{Same, judged, plan, read};
use crate::cli::args::{DemoArgs, LedgerArgs, OutputFormat};
use crate::cli::exit::ExitCode;
use crate::cli::ledger::Diary;
use crate::cli::{output, stop};
use crate::config::load::{LoadOptions, Surroundings, load_in};
use crate::demo::servers::{Options, Platform};
use crate::demo::world::World;
use crate::report::Report;
use crate::report::words::shell_word;

/// The platform that is shown unless another one is asked for.
const PLATFORM: &str = include_str!("../../demo/platform.yaml");

/// Starts the servers, reports on them, and says what to try next.
pub async fn run(args: &DemoArgs) -> anyhow::Result<ExitCode> {
    let platform = Platform::start(world(args)?, Options::default()).context("cannot start the embedded servers")?;
    let folder = tempfile::tempdir().context("cannot make a directory for the configuration")?;
    let file = write_config(&platform, folder.path())?;
    // The environment of the real platform has no say here.
    let nothing = Surroundings { variable: &|_| None, directory: PathBuf::new() };
    let config = load_in(&LoadOptions { file: Some(file.clone()), ..LoadOptions::default() }, &nothing)?;
    // A ledger of its own too, which goes with the directory.
    let at_ledger = LedgerArgs { ledger: Some(folder.path().join("ledger.db").display().to_string()) };
    let diary = Diary::begin(&at_ledger, &config, None).await?;
    let inventory = read(&config, false).await?;
    let seen = judged(config, inventory);
    let report = Report::new(&seen.inventory, &seen.comparison, args.output.lang);
    let report = diary.end(&seen, report, None).await;
    let same = Same::of_file(Some(&file)).with_ledger(&at_ledger);
    let code = drift::print(&report, &args.output, Proposed { all: args.all, same: args.keep.then_some(&same) })?;
    if args.keep {
        keep(&platform, &same, &plan::proposed(folder.path())).await?;
    } else if prints_for_a_person(args) {
        output::to_stdout(&format!("{NEXT}{}", path_hint()))?;
    }
    Ok(code)
}

fn world(args: &DemoArgs) -> anyhow::Result<World> {
    let now = Timestamp::now();
    match &args.world {
        Some(file) => {
            let text = fs::read_to_string(file).with_context(|| format!("cannot read the world {}", file.display()))?;
            World::load(&text, now).with_context(|| format!("{} is no world file", file.display()))
        }
        None => World::load(PLATFORM, now).context("the built-in world"),
    }
}

/// Writes the configuration that leads to the servers, and the token they take, into `folder` (mode 0700).
///
/// The token is named by a file and by a variable of the demo's own, so that no real token is ever sent to these servers.
fn write_config(platform: &Platform, folder: &Path) -> anyhow::Result<PathBuf> {
    let token = folder.join("ds.token");
    fs::write(&token, platform.world.ds_token().unwrap_or_default()).context("cannot write the token file")?;
    let mut text: toml::Table = platform.config_toml().parse().context("the configuration of the embedded servers")?;
    if let Some(ds) = text.get_mut("ds").and_then(toml::Value::as_table_mut) {
        ds.insert("token_file".to_owned(), token.display().to_string().into());
        ds.insert("token_env".to_owned(), "STATEWARDEN_DEMO_TOKEN".into());
    }
    // Seconds instead of minutes between the two looks that a stale record needs, so that a plan can be tried at once.
    let policies = text.entry("policies").or_insert_with(|| toml::Table::new().into());
    if let Some(policies) = policies.as_table_mut() {
        policies.entry("confirm_after").or_insert_with(|| CONFIRM_AFTER.into());
    }
    let file = folder.join("statewarden.toml");
    fs::write(&file, text.to_string()).context("cannot write the configuration")?;
    Ok(file)
}

/// `confirm_after` of the demo, unless its world says another.
const CONFIRM_AFTER: &str = "5s";

const NEXT: &str = "
These servers are gone now. Leave them up and try the commands on them, plan and apply included:
  statewarden demo --keep
Then look at a platform of your own:
  statewarden config example > statewarden.toml
";

/// What to do where the shell would not find `statewarden`, as after `cargo run -- demo`.
fn path_hint() -> String {
    let Some(own) = std::env::current_exe().ok().and_then(|own| own.canonicalize().ok()) else { return String::new() };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).find_map(|folder| folder.join("statewarden").canonicalize().ok());
    match own.parent() {
        Some(folder) if found.as_deref() != Some(own.as_path()) => {
            let folder = shell_word(&folder.display().to_string());
            format!(
                "\nThis program is not the `statewarden` of your shell; there, first:\n  export PATH={folder}:\"$PATH\"\n"
            )
        }
        _ => String::new(),
    }
}

fn prints_for_a_person(args: &DemoArgs) -> bool {
    let to_stdout = args.output.output.iter().find(|target| target.file.is_none());
    to_stdout.map_or(args.output.output.is_empty(), |target| target.format == OutputFormat::Terminal)
}

/// Says where the servers are and holds them until Ctrl-C. On stderr, so that a report on stdout stays as it is.
async fn keep(platform: &Platform, same: &Same, plan: &str) -> anyhow::Result<()> {
    let (options, ledger) = (&same.options, same.ledger.as_deref().unwrap_or_default());
    let mut text = String::from("\nThe servers stay up until Ctrl-C:\n");
    let addresses = &platform.addresses;
    let flink = addresses.flink.iter().map(|(name, url)| (format!("Flink {name}"), url));
    let hdfs = addresses.hdfs.iter().map(|url| ("WebHDFS".to_owned(), url));
    let ds = addresses.ds.iter().map(|url| ("DolphinScheduler".to_owned(), url));
    for (name, url) in flink.chain(hdfs).chain(ds) {
        let _ = writeln!(text, "  {name:<18} {url}");
    }
    let _ = write!(
        text,
        "\nIn another terminal, look:\n  statewarden drift {options} {ledger}\n  statewarden doctor {options} {ledger}\n  \
         statewarden drift {options} {ledger} --lang zh\n\
         \nand clean up. A record counts as stale only if two looks agree that are `confirm_after` apart (10m unless \
         configured; {CONFIRM_AFTER} here), so `--wait` looks, waits and looks again:\n  \
         statewarden plan {options} {ledger} --wait -o {plan}\n  \
         statewarden show {options} {ledger} {plan}\n  \
         statewarden apply {options} {ledger} {plan}\n  \
         statewarden drift {options} {ledger} --since last\n  \
         statewarden audit show {ledger}\n  \
         statewarden audit verify {ledger}\n"
    );
    text.push_str(&path_hint());
    output::to_stderr(&text);
    stop::told_to_stop().await.context("cannot wait for Ctrl-C")
}
