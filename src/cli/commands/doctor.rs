//! `doctor`: connects to each system and says what can be read.

use futures::future::join_all;

use super::super::{ledger, wiring};
use crate::adapters::dolphin::Dolphin;
use crate::adapters::webhdfs::WebHdfs;
use crate::cli::args::{DoctorArgs, LedgerArgs};
use crate::cli::exit::ExitCode;
use crate::cli::output::{self, Results};
use crate::cli::progress::Spinner;
use crate::collect::Progress as _;
use crate::config::load::{LoadOptions, load};
use crate::config::{Config, HdfsConfig};
use crate::domain::{Existence, HdfsPath};
use crate::ledger::{is_there, shown_place};
use crate::ports::ledger::Ledger as _;
use crate::ports::read::{HdfsRead as _, ListAnswer};
use crate::report::doctor::{Answers, Applying, Checkup, HdfsAnswers, LedgerSeen, Listable, address, render};
use crate::report::json;

/// Asks, judges, prints.
pub async fn run(args: &DoctorArgs) -> anyhow::Result<ExitCode> {
    let config = load(&args.config.to_options(false))?;
    let checkup = Checkup::new(&ask(&config, args).await?);
    let results = Results { terminal: &|style| render(&checkup, style), json: &|| Ok(json::render(&checkup)?) };
    output::write(&args.output.output, args.output.color, &results)?;
    Ok(if checkup.is_complete() { ExitCode::InSync } else { ExitCode::Incomplete })
}

async fn ask<'c>(config: &'c Config, args: &DoctorArgs) -> anyhow::Result<Answers<'c>> {
    let progress = Spinner::new();
    progress.stage("asking Flink");
    let clusters = wiring::flink(config)?;
    let flink = join_all(clusters.iter().map(|cluster| cluster.fetch_cluster())).await;
    progress.stage("asking HDFS");
    let hdfs = ask_hdfs(config, &wiring::hdfs(config)?).await?;
    progress.stage("asking DolphinScheduler");
    let resources = match wiring::resources(config)? {
        Some(server) => {
            let mut view = server.fetch_resources().await;
            server.fetch_workflows(&mut view).await;
            Some(view)
        }
        None => None,
    };
    let applying = match &resources {
        Some(_) => Some(who_applies(args).await),
        None => None,
    };
    Ok(Answers { config, flink, hdfs, resources, applying, ledger: see_ledger(args).await })
}

/// Whose token `apply` would take, and whom the server takes it for. A token that is not here is no failure: this may be a
/// place where only reports are made.
async fn who_applies(args: &DoctorArgs) -> Applying {
    let loaded = load(&LoadOptions { applies: true, ..args.config.to_options(false) });
    let settings = match loaded.map(|config| config.ds) {
        Ok(Some(settings)) if settings.apply_token.is_some() => wiring::applying(&settings),
        Ok(_) => return Applying::Reader,
        Err(errors) => return Applying::Unusable(one_line(&errors.to_string())),
    };
    let account = match Dolphin::new(&settings) {
        Ok(server) => server.fetch_account().await.map_err(|gap| gap.detail),
        Err(error) => Err(error.to_string()),
    };
    match account {
        Ok(account) => Applying::Own(account.name, account.administrator),
        Err(why) => Applying::Unusable(why),
    }
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join("; ")
}

/// Looks at the ledger without making one.
async fn see_ledger(args: &DoctorArgs) -> LedgerSeen {
    match look_at_ledger(&args.ledger).await {
        Ok(seen) => seen,
        Err(error) => LedgerSeen::Unusable(format!("{error:#}")),
    }
}

async fn look_at_ledger(args: &LedgerArgs) -> anyhow::Result<LedgerSeen> {
    let place = ledger::place(args)?;
    if !is_there(&place)? {
        return Ok(LedgerSeen::NotYet { place: shown_place(&place)? });
    }
    let ledger = ledger::open(args).await?;
    let newest = ledger.runs(1).await?.first().map(|run| run.started);
    Ok(LedgerSeen::There { place: ledger.place(), newest })
}

async fn ask_hdfs(config: &Config, hdfs: &WebHdfs) -> anyhow::Result<HdfsAnswers> {
    let nodes = match &config.hdfs {
        Some(settings) => ask_nodes(settings).await?,
        None => Vec::new(),
    };
    let paths = config.ds.iter().map(|ds| &ds.base_path).chain(config.roots.iter().map(|root| &root.path));
    let mut directories = Vec::new();
    for path in paths {
        directories.push((path.clone(), listable(hdfs, path).await));
    }
    Ok(HdfsAnswers {
        nodes,
        home: hdfs.fetch_home().await,
        trash_root: hdfs.fetch_trash_root().await,
        trash_minutes: hdfs.fetch_server_defaults().await.map(|defaults| defaults.trash_interval_minutes),
        directories,
        user: hdfs.user(),
        clock: hdfs.clock(),
    })
}

/// Each address by itself, to tell the active NameNode from the others.
async fn ask_nodes(settings: &HdfsConfig) -> anyhow::Result<Vec<(String, Existence)>> {
    let mut nodes = Vec::new();
    for url in &settings.urls {
        let alone = WebHdfs::new(&HdfsConfig { urls: vec![url.clone()], ..settings.clone() })?;
        nodes.push((address(url), alone.fetch_status(&HdfsPath::root()).await));
    }
    Ok(nodes)
}

async fn listable(hdfs: &WebHdfs, path: &HdfsPath) -> Listable {
    match hdfs.list_directory(path).await {
        ListAnswer::Listed(listing, None) if listing.complete => Listable::Yes(listing.entries.len()),
        ListAnswer::Listed(_, gap) => Listable::No(gap.map_or_else(|| "only a part came".to_owned(), |gap| gap.detail)),
        ListAnswer::Absent => Listable::Absent,
        ListAnswer::NotADirectory => Listable::No("it is no directory".to_owned()),
        ListAnswer::Unread(gap) => Listable::No(gap.detail),
    }
}
