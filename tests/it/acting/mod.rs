//! Plans and applies through the library, against embedded servers and a ledger in a file.

#[path = "../../scenario/ledger_file.rs"]
mod ledger_file;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use jiff::{SignedDuration, Timestamp};
use statewarden::adapters::dolphin::{Dolphin, DolphinWrite};

use statewarden::adapters::flink_rest::FlinkRest;
use statewarden::adapters::webhdfs::WebHdfs;
use statewarden::apply::{Applied, Order, Tools, apply, earlier_observations};
use statewarden::collect::{Silent, Sources, collect};
use statewarden::compare::{Comparison, compare};
use statewarden::config::Config;
use statewarden::config::load::{LoadOptions, load};
use statewarden::demo::servers::fault::Seen;
use statewarden::demo::servers::{Options, Platform};
use statewarden::demo::world::World;
use statewarden::domain::Age;
use statewarden::ledger::SqlLedger;
use statewarden::plan::planner::{Wish, plan};
use statewarden::plan::{Plan, fingerprint};
use statewarden::ports::clock::SystemClock;
use statewarden::ports::ledger::{Ledger as _, OutcomeWord, RunEntry};
use statewarden::ports::read::FlinkRead;
use statewarden::views::{Generation, Inventory};

/// A platform with everything a run works with.
pub struct Bench {
    /// The servers.
    pub platform: Platform,
    /// Configuration that fits them.
    pub config: Config,
    /// The ledger.
    pub ledger: SqlLedger,
    sources: Sources,
    write: DolphinWrite,
    folder: tempfile::TempDir,
    runs: std::sync::atomic::AtomicU32,
}

impl Bench {
    /// Starts a world; every question has a deadline of `timeout`, such as `1s`.
    pub async fn start(world: &World, timeout: &str) -> Self {
        // Another test may have chosen one; either serves.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let platform = Platform::start(world.clone(), Options::default()).expect("servers");
        let folder = tempfile::tempdir().expect("a folder");
        let config = configuration(&platform, folder.path(), timeout);
        let flink =
            config.clusters.iter().map(|c| Arc::new(FlinkRest::new(c).expect("a reader")) as Arc<dyn FlinkRead>);
        let ds = config.ds.as_ref().expect("a [ds] section");
        let sources = Sources {
            flink: flink.collect(),
            hdfs: Arc::new(WebHdfs::new(config.hdfs.as_ref().expect("an [hdfs] section")).expect("a reader")),
            resources: Some(Arc::new(Dolphin::new(ds).expect("a reader"))),
            recurse: false,
            metadata: Arc::default(),
        };
        let generation = Generation::of_version(&ds.version).expect("a known version");
        let write = DolphinWrite::new(ds, generation).expect("a writer");
        let ledger = SqlLedger::open(&folder.path().join("ledger.db").display().to_string()).await.expect("a ledger");
        Self { platform, config, ledger, sources, write, folder, runs: 0.into() }
    }

    fn next_run(&self, verb: &str) -> String {
        format!("{verb}-{}", self.runs.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
    }

    /// Reads everything.
    pub async fn look(&self) -> (Inventory, Comparison) {
        let inventory = collect(&self.sources, &self.config, &SystemClock, &Silent).await;
        let comparison = compare(&inventory, &self.config);
        (inventory, comparison)
    }

    /// Looks, and writes the run into the ledger as one that ended long enough ago to confirm another.
    pub async fn observe(&self) {
        let (inventory, comparison) = self.look().await;
        self.record("drift", &inventory, &comparison, inventory.taken).await;
        let confirm_after = self.config.policies.confirm_after;
        ledger_file::move_back(&self.folder.path().join("ledger.db"), confirm_after).await.expect("the ledger");
    }

    async fn record(&self, verb: &str, inventory: &Inventory, comparison: &Comparison, ended: Timestamp) {
        let run = RunEntry {
            run: self.next_run(verb),
            verb: verb.to_owned(),
            started: ended - SignedDuration::from_secs(1),
            ended: Some(ended),
            scope: fingerprint::of_scope(&self.config, inventory),
            exit: None,
            findings: comparison.findings.len() as u64,
        };
        self.ledger.begin_run(&run).await.expect("a run begins");
        self.ledger.end_run(&run, comparison).await.expect("a run ends");
    }

    /// Makes a plan and records it.
    pub async fn plan(&self) -> (Plan, Comparison) {
        let (inventory, comparison) = self.look().await;
        let earlier = earlier_observations(&self.ledger, &self.config, &inventory).await.expect("the ledger");
        let wish = Wish { run: self.next_run("plan"), ..Wish::default() };
        let plan = plan(&inventory, &self.config, &comparison, &earlier, &wish);
        self.record("plan", &inventory, &comparison, inventory.taken).await;
        self.ledger.save_plan(&plan).await.expect("the plan is recorded");
        (plan, comparison)
    }

    /// Applies a plan.
    pub async fn apply(&self, plan: &Plan) -> Applied {
        let tools = Tools {
            sources: &self.sources,
            write: &self.write,
            ledger: &self.ledger,
            config: &self.config,
            clock: &SystemClock,
            progress: &Silent,
        };
        let run = self.next_run("apply");
        let order = Order {
            plan,
            run: &run,
            actor: "tester@here",
            holder: "tester@here",
            dry_run: false,
            stop: &AtomicBool::new(false),
        };
        apply(&tools, &order).await.expect("the ledger works")
    }

    /// The requests that reached DolphinScheduler with this operation.
    pub fn ds_requests(&self, op: &str) -> Vec<Seen> {
        let log = self.platform.dolphin.as_ref().map(|server| server.faults().log()).unwrap_or_default();
        log.into_iter().filter(|seen| seen.request.op == op).collect()
    }

    /// Whether something lies at a path.
    pub fn is_in_hdfs(&self, path: &str) -> bool {
        self.platform.hdfs.file_system.lock().stat(path).is_some()
    }

    /// Where configuration and ledger are.
    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// Gives the lease to somebody else for an hour, behind everybody's back.
    pub async fn lend(&self, holder: &str) {
        ledger_file::lend(&self.folder.path().join("ledger.db"), holder, Age::from_seconds(0))
            .await
            .expect("the ledger");
    }

    /// Everything the ledger's files hold, as text.
    pub fn ledger_text(&self) -> String {
        let files = ["ledger.db", "ledger.db-wal"].map(|name| std::fs::read(self.folder.path().join(name)));
        files.into_iter().flatten().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect()
    }

    /// Ids of the records DolphinScheduler was told to delete, in order.
    pub fn deletes(&self) -> Vec<i64> {
        self.ds_requests("delete").iter().filter_map(|seen| seen.request.record).collect()
    }

    /// Requests of all servers that a fault met.
    pub fn faulted(&self) -> Vec<String> {
        let mut all = self.platform.hdfs.faults.log();
        all.extend(self.platform.flink.iter().flat_map(|(_, server)| server.faults.log()));
        all.extend(self.platform.dolphin.iter().flat_map(|server| server.faults().log()));
        all.into_iter().filter(|seen| seen.faulted).map(|seen| seen.request.op).collect()
    }

    /// Forgets the requests so far.
    pub fn clear_requests(&self) {
        self.platform.hdfs.faults.clear_log();
        for (_, server) in &self.platform.flink {
            server.faults.clear_log();
        }
        if let Some(server) = &self.platform.dolphin {
            server.faults().clear_log();
        }
    }
}

fn configuration(platform: &Platform, folder: &std::path::Path, timeout: &str) -> Config {
    let mut table: toml::Table = platform.config_toml().parse().expect("TOML");
    let token = folder.join("token");
    std::fs::write(&token, platform.world.ds_token().expect("a token")).expect("written");
    let set = |value: &mut toml::Value| {
        value.as_table_mut().expect("a table").insert("timeout".to_owned(), timeout.into());
    };
    for section in ["hdfs", "ds"] {
        table.get_mut(section).map(set);
    }
    table["ds"].as_table_mut().expect("a table").insert("token_file".to_owned(), token.display().to_string().into());
    if let Some(toml::Value::Array(clusters)) = table.get_mut("clusters") {
        clusters.iter_mut().for_each(set);
    }
    let file = folder.join("statewarden.toml");
    std::fs::write(&file, table.to_string()).expect("written");
    load(&LoadOptions { file: Some(file), ..LoadOptions::default() }).expect("a configuration")
}

/// The outcome words of a run by record.
pub fn outcomes(applied: &Applied) -> Vec<(i64, OutcomeWord)> {
    applied.actions.iter().map(|action| (action.record.0, action.outcome.outcome)).collect()
}

/// A world from YAML, now.
pub fn world(yaml: &str) -> World {
    World::load(yaml, Timestamp::now()).expect("a world")
}
