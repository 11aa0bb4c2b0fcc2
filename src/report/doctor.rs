//! What can be read of each system, as whom, and what is missing and how to get it.
//!
//! Takes answers that were fetched, asks nothing itself.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

use super::layout::{Page, Style};
use super::words::{count, lease_reach};
use crate::compare::{Lang, Severity};
use crate::config::{ClusterConfig, Config, DsConfig};
use crate::domain::text::printable;
use crate::domain::{Existence, HdfsPath};
use crate::views::flink::ClusterKind;
use crate::views::hdfs::ClockReading;
use crate::views::{Cause, ClusterView, Gap, Generation, ResourceView};

/// Version of the checkup's JSON form.
pub const SCHEMA: &str = "statewarden/checkup/v1";

/// Seconds between the NameNode's clock and ours that the rule `clock-skew` lets through.
const CLOCK_TOLERANCE: i64 = crate::compare::rules::clock::TOLERANCE.as_secs();

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it should be.
    Ok,
    /// Worth knowing; drift can do without.
    Note,
    /// Drift needs it and does not have it.
    Missing,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// `configuration`, `flink`, `hdfs`, `dolphinscheduler` or `ledger`.
    pub system: String,
    /// How it came out.
    pub state: State,
    /// What was seen.
    pub said: String,
    /// What to do about it.
    pub remedy: Option<String>,
}

/// All checks of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Checkup {
    /// Name and version of this form: `statewarden/checkup/v1`.
    pub schema: String,
    /// Version of the program.
    pub version: String,
    /// The checks, in the order configuration, Flink, HDFS, DolphinScheduler, ledger.
    pub checks: Vec<Check>,
}

/// Whether one directory can be listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listable {
    /// To the end, with so many entries.
    Yes(usize),
    /// It is not there.
    Absent,
    /// No, or in part only; what came back.
    No(String),
}

/// What HDFS answered.
#[derive(Debug, Clone)]
pub struct HdfsAnswers {
    /// Each address with what it says of `/`.
    pub nodes: Vec<(String, Existence)>,
    /// The account as the program names it.
    pub user: Option<String>,
    /// Home directory: tells who the server takes us for.
    pub home: Result<HdfsPath, Gap>,
    /// Where deleted things would go.
    pub trash_root: Result<HdfsPath, Gap>,
    /// `fs.trash.interval` of the server in minutes.
    pub trash_minutes: Result<Option<u64>, Gap>,
    /// The server's clock against ours.
    pub clock: Option<ClockReading>,
    /// The base path of the resource center and the checkpoint roots.
    pub directories: Vec<(HdfsPath, Listable)>,
}

/// Everything that was asked.
#[derive(Debug)]
pub struct Answers<'a> {
    /// Configuration.
    pub config: &'a Config,
    /// Clusters, in the order of the configuration.
    pub flink: Vec<ClusterView>,
    /// HDFS.
    pub hdfs: HdfsAnswers,
    /// DolphinScheduler.
    pub resources: Option<ResourceView>,
    /// Who would delete; `None` without a DolphinScheduler to ask.
    pub applying: Option<Applying>,
    /// The ledger.
    pub ledger: LedgerSeen,
}

/// Who would delete records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applying {
    /// The account that reads: no token of its own is named.
    Reader,
    /// The account of a token of its own: its name, and whether it is an administrator.
    Own(String, bool),
    /// Its token is named, and could not be read or was not accepted; why.
    Unusable(String),
}

/// What is known of the ledger without making one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LedgerSeen {
    /// It is there, with so many runs at least.
    There {
        /// Path, or URL without credentials.
        place: String,
        /// When the newest run began; `None` if there is none.
        newest: Option<Timestamp>,
    },
    /// The first run will make it.
    NotYet {
        /// Path, or URL without credentials.
        place: String,
    },
    /// It cannot be used; why.
    Unusable(String),
}

impl Checkup {
    /// Judges the answers.
    pub fn new(answers: &Answers<'_>) -> Self {
        let mut checks = Vec::new();
        checks.extend(of_config(answers.config));
        checks.extend(of_flink(answers));
        checks.extend(of_hdfs(answers));
        checks.extend(of_resources(answers));
        checks.extend(of_ledger(&answers.ledger));
        Self { schema: SCHEMA.to_owned(), version: env!("CARGO_PKG_VERSION").to_owned(), checks }
    }

    /// Whether drift can be told as a whole.
    pub fn is_complete(&self) -> bool {
        self.checks.iter().all(|check| check.state != State::Missing)
    }
}

fn check(system: &str, state: State, said: impl Into<String>) -> Check {
    Check { system: system.to_owned(), state, said: said.into(), remedy: None }
}

impl Check {
    fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

fn of_gap(system: &str, gap: &Gap) -> Check {
    let place = [gap.cluster.clone(), gap.path.as_ref().map(ToString::to_string)];
    let place: Vec<String> = place.into_iter().flatten().collect();
    let place = if place.is_empty() { String::new() } else { format!("{}: ", place.join(" ")) };
    let said = check(system, State::Missing, format!("{place}{} ({})", gap.detail, gap.cause));
    match remedy_for(system, gap.cause) {
        Some(remedy) => said.remedy(remedy),
        None => said,
    }
}

/// What usually helps; the gap's own words come first.
fn remedy_for(system: &str, cause: Cause) -> Option<&'static str> {
    match (system, cause) {
        ("hdfs", Cause::NotAuthorized) => Some(
            "give the account read and execute rights on the directory, or, if the cluster uses Kerberos, give a delegation token (below)",
        ),
        ("dolphinscheduler", Cause::NotAuthorized) => Some(
            "make a new token in DolphinScheduler (Security, Token Manage; for an administrator) and put it into the variable \
             named by `ds.token_env` or the file named by `ds.token_file`",
        ),
        ("dolphinscheduler", Cause::PartialRights) => {
            Some("use the token of an administrator: other accounts see only their own records and projects")
        }
        ("flink", Cause::NotAuthorized) => {
            Some("give credentials for this cluster: `basic_user` with `basic_password_env`, or `bearer_token_env`")
        }
        (_, Cause::Unreachable | Cause::TimedOut) => {
            Some("check that the server runs, its address, and the network in between")
        }
        (_, Cause::NotUnderstood) => {
            Some("check the address: something else answers there (a proxy, a login page, a missing context path)")
        }
        (_, Cause::Standby) => Some("name all NameNodes of the HA pair in `hdfs.urls`"),
        _ => None,
    }
}

fn of_config(config: &Config) -> Vec<Check> {
    let mut checks = Vec::new();
    let source =
        config.source.as_ref().map_or_else(|| "flags and environment".to_owned(), |path| path.display().to_string());
    checks.push(check("configuration", State::Ok, format!("read from {source}")));
    for refusal in &config.refusals {
        let said = format!("{}: {}", refusal.place, refusal.what);
        checks.push(check("configuration", State::Missing, said).remedy(&refusal.remedy));
    }
    checks.extend(of_file_systems(config));
    checks
}

fn of_file_systems(config: &Config) -> Vec<Check> {
    let systems = &config.file_systems;
    let mut checks = vec![match &systems.canonical {
        Some(authority) => check("configuration", State::Ok, format!("the file system that is read is {authority}")),
        None => check("configuration", State::Missing, "no authority: every URI that names one stays unresolved")
            .remedy("set `authority`, such as \"hdfs://ns1\", or point `hdfs.conf_dir` at the cluster's configuration"),
    }];
    for (alias, target) in &systems.aliases {
        checks.push(check("configuration", State::Ok, format!("alias {alias} stands for {target}")));
    }
    for (table, mounts) in &systems.mounts {
        for (mount, target) in mounts {
            checks.push(check("configuration", State::Ok, format!("viewfs://{table}{mount} is {target}")));
        }
    }
    checks
}

fn of_flink(answers: &Answers<'_>) -> Vec<Check> {
    if answers.flink.is_empty() {
        return vec![if answers.config.flink_none {
            check("flink", State::Ok, "none on purpose (flink = \"none\")")
        } else {
            check("flink", State::Missing, "no cluster is configured").remedy(
                "name every cluster that may use this HDFS in `[[clusters]]`, or say `flink = \"none\"` if there is none",
            )
        }];
    }
    let settings = |name: &str| answers.config.clusters.iter().find(|cluster| cluster.name == name);
    answers.flink.iter().flat_map(|cluster| of_cluster(cluster, settings(&cluster.name))).collect()
}

fn of_cluster(cluster: &ClusterView, settings: Option<&ClusterConfig>) -> Vec<Check> {
    let name = &cluster.name;
    let mut checks = Vec::new();
    if let Some(version) = &cluster.version {
        checks.push(check("flink", State::Ok, format!("{name}: Flink {version}, {}", cluster_words(cluster))));
    }
    if let Some(directory) = &cluster.checkpoint_dir {
        checks.push(check("flink", State::Ok, format!("{name}: its own checkpoint directory is {directory}")));
    }
    if cluster.retired {
        checks.push(check("flink", State::Note, format!("{name}: declared retired, so its silence vetoes nothing")));
    }
    if settings.is_some_and(|settings| settings.min_live_jobs == 0)
        && cluster.kind == ClusterKind::Live
        && !cluster.retired
    {
        let said = format!("{name}: an empty job list would be believed (min_live_jobs is 0)");
        checks
            .push(check("flink", State::Note, said).remedy("set `min_live_jobs` to the number that always runs there"));
    }
    let gaps = cluster.gaps.iter().map(|gap| of_gap("flink", gap));
    checks.extend(gaps.map(|found| if cluster.retired { Check { state: State::Note, ..found } } else { found }));
    checks
}

fn cluster_words(cluster: &ClusterView) -> String {
    let live = cluster.jobs.iter().filter(|job| job.is_live()).count();
    let ended = cluster.jobs.len() - live;
    let managers = cluster.task_managers.map(|n| format!(", TaskManagers: {n}")).unwrap_or_default();
    let history = if cluster.kind == ClusterKind::History { "history server, " } else { "" };
    format!("{history}{}, {ended} ended{managers}", count(live, "live job", "live jobs"))
}

fn of_hdfs(answers: &Answers<'_>) -> Vec<Check> {
    let hdfs = &answers.hdfs;
    let mut checks: Vec<Check> = hdfs.nodes.iter().map(|(node, said)| of_node(node, said, hdfs.nodes.len())).collect();
    if !hdfs.nodes.iter().any(|(_, said)| matches!(said, Existence::Present(_) | Existence::Denied { .. })) {
        checks.push(
            check("hdfs", State::Missing, "no address answered as the active NameNode")
                .remedy("check `hdfs.urls`; a cluster with Kerberos needs a delegation token (below)"),
        );
        return checks;
    }
    checks.push(of_account(hdfs));
    checks.extend(hdfs.directories.iter().map(|(path, listable)| of_directory(path, listable)));
    checks.push(of_clock(hdfs.clock));
    checks.extend(of_trash(hdfs));
    checks
}

fn of_node(node: &str, said: &Existence, nodes: usize) -> Check {
    match said {
        Existence::Present(_) => check("hdfs", State::Ok, format!("{node}: active")),
        Existence::Denied { why } => check("hdfs", State::Note, format!("{node}: active, but `/` is refused: {why}")),
        Existence::Absent => check("hdfs", State::Missing, format!("{node}: says that `/` does not exist"))
            .remedy("check that this is the address of a NameNode or of HttpFS"),
        // One of a pair is always standby; whether one of them answers is checked beside this.
        Existence::Unknown { why } if nodes > 1 => check("hdfs", State::Note, format!("{node}: not active: {why}")),
        Existence::Unknown { why } => check("hdfs", State::Missing, format!("{node}: {why}")),
    }
}

fn of_account(hdfs: &HdfsAnswers) -> Check {
    let user = hdfs.user.as_deref().unwrap_or("no user name of our own");
    match &hdfs.home {
        Ok(home) => check("hdfs", State::Ok, format!("asked as {user}; the server's home directory for us is {home}")),
        Err(gap) => check("hdfs", State::Note, format!("asked as {user}; no home directory told: {}", gap.detail)),
    }
}

fn of_directory(path: &HdfsPath, listable: &Listable) -> Check {
    match listable {
        Listable::Yes(entries) => {
            check("hdfs", State::Ok, format!("{path}: can be listed, {}", count(*entries, "entry", "entries")))
        }
        Listable::Absent => check("hdfs", State::Missing, format!("{path}: is not there"))
            .remedy("check the path in the configuration, and that this is the right file system"),
        Listable::No(why) => check("hdfs", State::Missing, format!("{path}: cannot be listed: {why}"))
            .remedy("give the account read and execute rights on it and on all directories above it"),
    }
}

fn of_clock(clock: Option<ClockReading>) -> Check {
    let Some(clock) = clock else {
        return check("hdfs", State::Missing, "the NameNode's clock was not told: no answer had a `Date` header")
            .remedy("let the proxy in between pass the `Date` header on; ages cannot be judged without it");
    };
    let ahead = clock.server.duration_since(clock.local).as_secs();
    if ahead.abs() <= CLOCK_TOLERANCE {
        return check("hdfs", State::Ok, format!("the NameNode's clock is {ahead:+} s against ours"));
    }
    check("hdfs", State::Missing, format!("the NameNode's clock is {ahead:+} s against ours"))
        .remedy("synchronise both clocks (NTP); ages are not judged until then")
}

fn of_trash(hdfs: &HdfsAnswers) -> Vec<Check> {
    let root = match &hdfs.trash_root {
        Ok(root) => check("hdfs", State::Ok, format!("Trash of this account: {root}")),
        Err(gap) => check("hdfs", State::Note, format!("Trash of this account not told: {}", gap.detail)),
    };
    let interval = match &hdfs.trash_minutes {
        Ok(Some(0)) => {
            check("hdfs", State::Note, "Trash is off on the server (fs.trash.interval 0): what is deleted is gone")
                .remedy("set fs.trash.interval on the NameNode, in minutes, to at least a day")
        }
        Ok(Some(minutes)) => {
            check("hdfs", State::Ok, format!("Trash keeps deleted files for {minutes} minutes at least"))
        }
        Ok(None) => check("hdfs", State::Note, "the server does not tell its Trash interval"),
        Err(gap) => check("hdfs", State::Note, format!("Trash interval not told: {}", gap.detail)),
    };
    vec![root, interval]
}

fn of_resources(answers: &Answers<'_>) -> Vec<Check> {
    let Some(settings) = &answers.config.ds else {
        return vec![check(
            "dolphinscheduler",
            State::Note,
            "none in the configuration: records and workflows are not compared",
        )];
    };
    let Some(view) = &answers.resources else {
        return vec![check("dolphinscheduler", State::Missing, "no server address").remedy("set `ds.url`")];
    };
    let mut checks = vec![of_generation(view, settings)];
    checks.extend(of_ds_account(view));
    checks.extend(answers.applying.as_ref().map(|applying| of_applying(applying, view)));
    checks.extend(of_tenants(view, settings));
    checks.extend(of_base(view, settings, answers.config));
    if view.generation.is_some_and(Generation::has_records) {
        let all = if view.records_complete { "the complete set" } else { "NOT known to be all" };
        let state = if view.records_complete { State::Ok } else { State::Missing };
        checks.push(check(
            "dolphinscheduler",
            state,
            format!("{}, {all}", count(view.records.len(), "record", "records")),
        ));
    }
    let online = view.workflows.iter().filter(|workflow| workflow.online).count();
    let workflows = count(view.workflows.len(), "workflow definition", "workflow definitions");
    checks.push(check("dolphinscheduler", State::Ok, format!("{workflows}, {online} online")));
    checks.extend(view.gaps.iter().map(|gap| of_gap("dolphinscheduler", gap)));
    checks
}

/// The base directory as the server says it (from 3.2 on) and as it is configured.
fn of_base(view: &ResourceView, settings: &DsConfig, config: &Config) -> Vec<Check> {
    let configured = format!("base path as configured: {}", settings.base_path);
    let Some(base) = &view.base_dir else { return vec![check("dolphinscheduler", State::Ok, configured)] };
    let said = format!("base directory as the server says it: {base}");
    if view.stores_elsewhere() {
        let remedy = "point `ds.url` at the server that stores in this HDFS, or leave `[ds]` out";
        return vec![check("dolphinscheduler", State::Missing, format!("{said}, which is no HDFS")).remedy(remedy)];
    }
    if view.has_other_base(&config.file_systems, &settings.base_path) {
        let said = format!("{said}, but the configuration says {}", settings.base_path);
        return vec![
            check("dolphinscheduler", State::Missing, said).remedy("set `ds.base_path` to what the server says"),
        ];
    }
    vec![check("dolphinscheduler", State::Ok, said), check("dolphinscheduler", State::Ok, configured)]
}

fn of_generation(view: &ResourceView, settings: &DsConfig) -> Check {
    let shown = view.version_text.as_deref().map(|text| format!("; it shows the version {text}")).unwrap_or_default();
    let configured = format!("configured is {} (generation {})", settings.version, settings.generation);
    match view.generation {
        Some(found) if found == settings.generation => {
            check("dolphinscheduler", State::Ok, format!("generation {found} by its functions; {configured}{shown}"))
        }
        Some(found) => check(
            "dolphinscheduler",
            State::Missing,
            format!("generation {found} by its functions, but {configured}{shown}"),
        )
        .remedy("set `ds.version` to the version that is installed, or `ds.url` to the right server"),
        None => {
            check("dolphinscheduler", State::Missing, format!("its generation could not be told; {configured}{shown}"))
                .remedy("check `ds.url` with its context path (`/dolphinscheduler`) and the token")
        }
    }
}

fn of_ds_account(view: &ResourceView) -> Option<Check> {
    let account = view.account.as_deref()?;
    Some(if view.administrator {
        check("dolphinscheduler", State::Ok, format!("asked as {account}, an administrator"))
    } else {
        check(
            "dolphinscheduler",
            State::Missing,
            format!("asked as {account}, no administrator: sees own records and projects only"),
        )
        .remedy("use the token of an administrator account")
    })
}

/// What `apply` could do. Drift needs none of it, so nothing here is missing.
fn of_applying(applying: &Applying, view: &ResourceView) -> Check {
    if let Some(generation) = view.generation.filter(|generation| !generation.has_records()) {
        let said = format!("apply: nothing is deleted on a server of generation {generation}, which has no records");
        return check("dolphinscheduler", State::Note, said);
    }
    let (who, administrator) = match applying {
        Applying::Reader => {
            let Some(account) = &view.account else {
                let said = "apply: would delete with the token that reads, whose account was not told";
                return check("dolphinscheduler", State::Note, said);
            };
            (format!("{account}, with the token that reads"), view.administrator)
        }
        Applying::Own(account, administrator) => (format!("{account}, with a token of its own"), *administrator),
        Applying::Unusable(why) => {
            let said = format!("apply: its own token cannot be used here: {why}");
            return check("dolphinscheduler", State::Note, said).remedy(
                "fine where only reports are made; elsewhere see `ds.apply_token_env` and `ds.apply_token_file`",
            );
        }
    };
    if administrator {
        return check(
            "dolphinscheduler",
            State::Ok,
            format!("apply: would delete as {who}, an administrator: every record"),
        );
    }
    let said = format!("apply: would delete as {who}, no administrator: its own records only, others are refused");
    check("dolphinscheduler", State::Note, said).remedy("use the token of an administrator for the records of others")
}

fn of_ledger(seen: &LedgerSeen) -> Vec<Check> {
    let place = match seen {
        LedgerSeen::There { place, newest } => {
            let newest = newest.map_or_else(
                || "no run yet".to_owned(),
                |time| format!("the newest run is of {}", time.strftime("%Y-%m-%d %H:%M:%S UTC")),
            );
            return vec![
                check("ledger", State::Ok, format!("{place}: {newest}")),
                check("ledger", State::Ok, lease_reach(place, Lang::En)),
            ];
        }
        LedgerSeen::NotYet { place } => place,
        LedgerSeen::Unusable(why) => {
            return vec![
                check(
                    "ledger",
                    State::Note,
                    format!("cannot be used: {why}; reports can do without, plan and apply cannot"),
                )
                .remedy("name another place with --ledger (STATEWARDEN_LEDGER)"),
            ];
        }
    };
    vec![
        check("ledger", State::Note, format!("{place}: not there yet, the first run makes it")),
        check("ledger", State::Ok, lease_reach(place, Lang::En)),
    ]
}

fn of_tenants(view: &ResourceView, settings: &DsConfig) -> Vec<Check> {
    let mut known: Vec<&str> = view.users.values().filter_map(|user| user.tenant.as_deref()).collect();
    known.sort_unstable();
    known.dedup();
    let mut checks = Vec::new();
    if !known.is_empty() {
        checks.push(check("dolphinscheduler", State::Ok, format!("tenants of its users: {}", known.join(", "))));
    }
    for tenant in settings.tenants.iter().filter(|tenant| view.users_complete && !known.contains(&tenant.as_str())) {
        let said = format!("no user belongs to the configured tenant {tenant}");
        checks.push(check("dolphinscheduler", State::Note, said).remedy("check `ds.tenants`"));
    }
    checks
}

/// The address without user, password and query, which can hold secrets.
pub fn address(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path().trim_end_matches('/'))
}

/// How to read an HDFS with Kerberos, said outright.
const KERBEROS: &[&str] = &[
    "Logging in with Kerberos (SPNEGO) is not there yet. A delegation token does instead:",
    "  kinit",
    "  curl --negotiate -u : \"https://nn:9871/webhdfs/v1/?op=GETDELEGATIONTOKEN&renewer=$USER\"",
    "Write the `urlString` of the answer to a file of mode 0600 and name it in the configuration:",
    "  [hdfs]",
    "  delegation_token_file = \"/etc/statewarden/hdfs.token\"",
    "Fetch a new one every day (a token lives 24 hours unless renewed, 7 days at most); the file is",
    "read anew at each run.",
];

/// Prints a checkup for a person.
pub fn render(checkup: &Checkup, style: Style) -> String {
    let mut page = Page::new(style);
    let missing = checkup.checks.iter().filter(|check| check.state == State::Missing).count();
    page.line(&style.strong(&match missing {
        0 => style.good("Everything that drift needs can be read."),
        n => style.severity(Severity::Error, &format!("{} missing.", count(n, "thing is", "things are"))),
    }));
    for group in checkup.checks.chunk_by(|a, b| a.system == b.system) {
        page.heading(&group[0].system);
        for check in group {
            print(&mut page, check);
        }
    }
    page.heading("Kerberos");
    for line in KERBEROS {
        page.line(&format!("  {line}"));
    }
    page.into_text()
}

fn print(page: &mut Page, check: &Check) {
    let style = page.style();
    let (mark, painted) = match check.state {
        State::Ok => ("ok     ", style.good("ok")),
        State::Note => ("note   ", style.severity(Severity::Info, "note")),
        State::Missing => ("MISSING", style.severity(Severity::Error, "MISSING")),
    };
    let label = format!("  {painted}{}  ", " ".repeat(mark.len() - mark.trim_end().len()));
    page.painted_item(&label, 2 + mark.len() + 2, &printable(&check.said));
    if let Some(remedy) = &check.remedy {
        page.item("           -> ", &printable(remedy));
    }
}
