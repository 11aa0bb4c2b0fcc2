//! Runs the real program against the world of one case, and says what was wrong.

use std::path::Path;
use std::process::Output;
use std::time::Duration;

use serde_json::Value;
use statewarden::compare::FindingCode;
use statewarden::demo::servers::dolphin::PASSWORD_HASH;
use statewarden::demo::servers::fault::Seen;
use statewarden::demo::servers::{Options, Platform};
use statewarden::demo::world::{Case, ExpectedFinding};

use super::matching::{Reported, compare_advice, compare_findings, exit_code_of_scan, leaks};

/// Longest time one case may take, the start of the servers included.
const LIMIT: Duration = Duration::from_mins(1);

/// Deadline of one request of the program: a server that never answers must not use up the time of the case.
const REQUEST_TIMEOUT: &str = "5s";

/// How much of a case is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All that the case expects of a scan.
    Whole,
    /// Only the findings of codes this build has: for cases of later phases.
    KnownFindings,
}

/// What came out of one run.
struct Run {
    output: Output,
    report: String,
    inventory: String,
    requests: Vec<(String, Seen)>,
    token: Option<String>,
}

/// What is wrong with the program's answer to a case; empty: it passed.
pub async fn run(case: &Case, extent: Extent) -> Vec<String> {
    match tokio::time::timeout(LIMIT, observe(case)).await {
        Ok(Ok(run)) => judge(case, &run, extent),
        Ok(Err(what)) => vec![what],
        Err(_) => vec![format!("took more than {} s", LIMIT.as_secs())],
    }
}

async fn observe(case: &Case) -> Result<Run, String> {
    let platform = Platform::start(case.world.clone(), Options::default())
        .map_err(|error| format!("the world does not start: {}", chain(&error)))?;
    let folder = tempfile::tempdir().map_err(|error| format!("no folder: {error}"))?;
    let config = with_timeouts(&platform.config_toml())?;
    std::fs::write(folder.path().join("statewarden.toml"), config)
        .map_err(|error| format!("no configuration: {error}"))?;
    let token = case.world.ds_token();
    let output =
        drift(folder.path(), token.as_deref()).await.map_err(|error| format!("the program does not start: {error}"))?;
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    Ok(Run {
        output,
        report: read("report.json"),
        inventory: read("inventory.json"),
        requests: requests(&platform),
        token,
    })
}

async fn drift(folder: &Path, token: Option<&str>) -> std::io::Result<Output> {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_statewarden"));
    command.args(["drift", "--config", "statewarden.toml", "--output", "terminal", "--output", "json=report.json"]);
    command.args(["--save", "inventory.json", "--all", "--color", "never"]);
    // Nothing of the environment the tests run in may reach the program.
    command.env_clear().current_dir(folder).kill_on_drop(true);
    if let Some(token) = token {
        command.env("STATEWARDEN_DS_TOKEN", token);
    }
    command.output().await
}

fn chain(error: &dyn std::error::Error) -> String {
    let sources = std::iter::successors(Some(error), |error| error.source());
    sources.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// The configuration with short deadlines where the world says none.
fn with_timeouts(config: &str) -> Result<String, String> {
    let mut table: toml::Table =
        config.parse().map_err(|error| format!("the world's configuration is no TOML: {error}"))?;
    let mut set = |value: &mut toml::Value| {
        if let toml::Value::Table(table) = value {
            table.entry("timeout").or_insert_with(|| REQUEST_TIMEOUT.into());
        }
    };
    for section in ["hdfs", "ds"] {
        table.get_mut(section).map(&mut set);
    }
    if let Some(toml::Value::Array(clusters)) = table.get_mut("clusters") {
        clusters.iter_mut().for_each(&mut set);
    }
    Ok(table.to_string())
}

fn requests(platform: &Platform) -> Vec<(String, Seen)> {
    let named = |name: &str, log: Vec<Seen>| log.into_iter().map(|seen| (name.to_owned(), seen)).collect::<Vec<_>>();
    let mut all = named("hdfs", platform.hdfs.faults.log());
    for (cluster, server) in &platform.flink {
        all.extend(named(cluster, server.faults.log()));
    }
    if let Some(server) = &platform.dolphin {
        all.extend(named("dolphinscheduler", server.faults().log()));
    }
    all
}

fn judge(case: &Case, run: &Run, extent: Extent) -> Vec<String> {
    let mut wrong = Vec::new();
    let (known, may) = (expected_findings(case, extent), &case.expect.may_find);
    match reported(run) {
        Ok(reported) => {
            wrong.extend(compare_findings(&known, may, &reported));
            if extent == Extent::Whole {
                wrong.extend(compare_advice(&case.expect.must_plan, &reported));
            }
        }
        Err(what) => wrong.push(what),
    }
    wrong.extend(compare_leaks(case, run));
    wrong.extend(writes(&run.requests));
    if extent == Extent::Whole {
        wrong.extend(compare_exit(case, run));
    }
    wrong
}

fn expected_findings(case: &Case, extent: Extent) -> Vec<ExpectedFinding> {
    let is_known = |finding: &&ExpectedFinding| extent == Extent::Whole || finding.kind.parse::<FindingCode>().is_ok();
    case.expect.findings.iter().filter(is_known).cloned().collect()
}

/// The findings of the JSON report. A configuration that cannot be read gives none, and the exit code says so.
fn reported(run: &Run) -> Result<Vec<Reported>, String> {
    if run.report.is_empty() {
        let code = run.output.status.code();
        let stderr = String::from_utf8_lossy(&run.output.stderr);
        return match code {
            Some(1) if !stderr.contains("panicked") => {
                Err(format!("failed without a report: {}", stderr.lines().take(6).collect::<Vec<_>>().join(" | ")))
            }
            _ => Err(format!("no JSON report (exit code {code:?}): {}", stderr.trim())),
        };
    }
    let report: Value = serde_json::from_str(&run.report).map_err(|error| format!("the report is no JSON: {error}"))?;
    Reported::all_of(&report)
}

/// What must not be printed: what the case says, and always the access token and the hash of a password.
fn compare_leaks(case: &Case, run: &Run) -> Vec<String> {
    let mut forbidden = case.expect.must_not_print.clone();
    forbidden.extend(run.token.clone());
    forbidden.push(PASSWORD_HASH.to_owned());
    let (stdout, stderr) = (String::from_utf8_lossy(&run.output.stdout), String::from_utf8_lossy(&run.output.stderr));
    let outputs = [
        ("stdout", &*stdout),
        ("stderr", &*stderr),
        ("the JSON report", &run.report),
        ("the saved inventory", &run.inventory),
    ];
    leaks(&forbidden, &outputs)
}

/// A report only reads: any other method is a write.
fn writes(requests: &[(String, Seen)]) -> Vec<String> {
    let written = requests.iter().filter(|(_, seen)| !matches!(seen.request.method.as_str(), "GET" | "HEAD"));
    written
        .map(|(server, seen)| format!("{} {} reached {server}", seen.request.method, seen.request.raw_path))
        .collect()
}

fn compare_exit(case: &Case, run: &Run) -> Option<String> {
    let word = &case.expect.exit_code;
    let Some(expected) = exit_code_of_scan(word) else { return Some(format!("`{word}` is no exit code of a scan")) };
    let got = run.output.status.code();
    (got != Some(expected)).then(|| format!("exit code {got:?} instead of {expected} ({word})"))
}
