//! The real program beside the embedded servers of one case: its folder, its configuration, its runs.

use std::path::Path;
use std::process::Output;

use serde_json::Value;
use statewarden::demo::servers::dolphin::PASSWORD_HASH;
use statewarden::demo::servers::fault::Seen;
use statewarden::demo::servers::{Options, Platform};
use statewarden::demo::world::{Case, World};

use super::matching::leaks;

/// Deadline of one request of the program: a server that never answers must not use up the time of the case.
const REQUEST_TIMEOUT: &str = "5s";

/// Name of the configuration file; the one text in the folder that the program did not write.
const CONFIG: &str = "statewarden.toml";

/// The servers of a case, and a folder that the program runs in.
pub struct Bench {
    /// The servers.
    pub platform: Platform,
    folder: tempfile::TempDir,
    token: Option<String>,
    outputs: Vec<(String, Vec<u8>)>,
}

/// How one run of the program ended.
#[derive(Debug)]
pub struct Ran {
    /// Exit code; `None`: a signal.
    pub code: Option<i32>,
    stderr: String,
}

/// One request with the server it reached.
pub type Reached = (String, Seen);

impl Bench {
    /// Starts the servers of a world and writes the configuration that fits them.
    pub fn start(world: &World) -> Result<Self, String> {
        let platform = Platform::start(world.clone(), Options::default())
            .map_err(|error| format!("the world does not start: {}", chain(&error)))?;
        let folder = tempfile::tempdir().map_err(|error| format!("no folder: {error}"))?;
        let config = with_timeouts(&platform.config_toml())?;
        std::fs::write(folder.path().join(CONFIG), config).map_err(|error| format!("no configuration: {error}"))?;
        Ok(Self { token: world.ds_token(), platform, folder, outputs: Vec::new() })
    }

    /// Runs the program with these arguments.
    pub async fn run(&mut self, arguments: &[&str]) -> Result<Ran, String> {
        let output = self.command(arguments).output().await;
        let output = output.map_err(|error| format!("the program does not start: {error}"))?;
        Ok(self.note(arguments, output))
    }

    fn command(&self, arguments: &[&str]) -> tokio::process::Command {
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_statewarden"));
        command.args(arguments).args(["--config", CONFIG]);
        // Nothing of the environment the tests run in may reach the program.
        command.env_clear().current_dir(self.folder.path()).stdin(std::process::Stdio::null()).kill_on_drop(true);
        if let Some(token) = &self.token {
            command.env("STATEWARDEN_DS_TOKEN", token);
        }
        command
    }

    fn note(&mut self, arguments: &[&str], output: Output) -> Ran {
        let verb = arguments.first().copied().unwrap_or_default();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        self.outputs.push((format!("stdout of {verb}"), output.stdout));
        self.outputs.push((format!("stderr of {verb}"), output.stderr));
        Ran { code: output.status.code(), stderr }
    }

    /// Where a file of the folder is.
    pub fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// The JSON a run wrote to a file of the folder. A run that failed before it had anything to say wrote none.
    pub fn json(&self, name: &str, ran: &Ran) -> Result<Value, String> {
        let text = std::fs::read_to_string(self.path(name)).unwrap_or_default();
        if text.is_empty() {
            return Err(ran.without_json());
        }
        serde_json::from_str(&text).map_err(|error| format!("{name} is no JSON: {error}"))
    }

    /// The requests that reached each server since the start, or since the logs were cleared.
    pub fn requests(&self) -> Vec<Reached> {
        let named =
            |name: &str, log: Vec<Seen>| log.into_iter().map(|seen| (name.to_owned(), seen)).collect::<Vec<_>>();
        let mut all = named("hdfs", self.platform.hdfs.faults.log());
        for (cluster, server) in &self.platform.flink {
            all.extend(named(cluster, server.faults.log()));
        }
        if let Some(server) = &self.platform.dolphin {
            all.extend(named("dolphinscheduler", server.faults().log()));
        }
        all
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

    /// Puts a world in the place of the present one; faults count anew.
    pub fn exchange(&mut self, world: &World) -> Result<(), String> {
        self.platform.replace_world(world.clone()).map_err(|error| format!("the world is not exchanged: {error}"))
    }

    /// What must not be printed: what the case says, and always the access token and the hash of a password. Looked for in
    /// all that any run printed, and in every file it wrote: reports, plan, inventory, ledger.
    pub fn leaks(&self, case: &Case) -> Vec<String> {
        let mut forbidden = case.expect.must_not_print.clone();
        forbidden.extend(self.token.clone());
        forbidden.push(PASSWORD_HASH.to_owned());
        let files = written(self.folder.path());
        let texts = self.outputs.iter().chain(&files);
        let texts: Vec<(&str, String)> =
            texts.map(|(name, bytes)| (name.as_str(), String::from_utf8_lossy(bytes).into_owned())).collect();
        let texts: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (*name, text.as_str())).collect();
        leaks(&forbidden, &texts)
    }
}

impl Ran {
    fn without_json(&self) -> String {
        match self.code {
            Some(1) if !self.stderr.contains("panicked") => {
                let lines: Vec<&str> = self.stderr.lines().take(6).collect();
                format!("failed without a report: {}", lines.join(" | "))
            }
            code => format!("no JSON report (exit code {code:?}): {}", self.stderr.trim()),
        }
    }
}

/// Every file of the folder but the configuration.
fn written(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()));
    named
        .filter(|(name, _)| name != CONFIG)
        .map(|(name, path)| (name, std::fs::read(path).unwrap_or_default()))
        .collect()
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

/// Requests that change something. Asking the NameNode to make the root directory changes nothing and is how writes are probed.
pub fn writes(requests: &[Reached]) -> impl Iterator<Item = &Reached> {
    let is_probe = |seen: &Seen| seen.request.op == "mkdirs" && seen.request.path.as_deref() == Some("/");
    requests.iter().filter(move |(_, seen)| !matches!(seen.request.method.as_str(), "GET" | "HEAD") && !is_probe(seen))
}

/// A command that only reads: any write is wrong.
pub fn unwanted_writes(requests: &[Reached]) -> Vec<String> {
    writes(requests).map(|(server, seen)| shown(server, seen)).collect()
}

/// One request for a message.
pub fn shown(server: &str, seen: &Seen) -> String {
    format!("{} {} reached {server}", seen.request.method, seen.request.raw_path)
}
