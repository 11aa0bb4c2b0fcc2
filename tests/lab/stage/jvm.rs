//! The lab's JVM: built with Maven, started, and spoken to over its control channel.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use tempfile::TempDir;

/// From the start of the JVM to the first completed checkpoints: 10 s on an idle machine, minutes on a busy one.
const START_DEADLINE: Duration = Duration::from_mins(5);
/// Commands take seconds; their own deadlines are shorter than this.
const COMMAND_DEADLINE: Duration = Duration::from_mins(3);
const EXIT_DEADLINE: Duration = Duration::from_secs(20);

/// Flink's serialisers look into these packages.
const OPENED: [&str; 3] = ["java.base/java.lang", "java.base/java.util", "java.base/java.util.concurrent"];

/// How many NameNodes the lab has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameNodes {
    /// One.
    Single,
    /// Two, the first of them active.
    Pair,
}

/// Where the servers answer, from the READY line.
#[derive(Debug, Default)]
pub struct Addresses {
    /// The file system as jobs name it.
    pub hdfs: String,
    /// Web addresses of the NameNodes.
    pub webhdfs: Vec<String>,
    /// Flink's REST API.
    pub flink: String,
    /// Directory with the client's `core-site.xml` and `hdfs-site.xml`.
    pub conf: PathBuf,
}

/// A running lab. Dropping it ends the JVM and removes its files.
pub struct Jvm {
    child: Child,
    control: ChildStdin,
    answers: Receiver<String>,
    addresses: Addresses,
    dir: TempDir,
}

impl Jvm {
    /// Builds what is to be built, starts HDFS and Flink, and waits until both jobs have a completed checkpoint.
    pub fn start(name_nodes: NameNodes) -> Result<Self> {
        let target = build()?;
        let dir = TempDir::with_prefix("statewarden-lab-").context("no directory for the lab")?;
        let mut child =
            java(&target, dir.path(), name_nodes)?.spawn().context("cannot start java; is a JDK installed?")?;
        let control = child.stdin.take().context("the JVM has no stdin")?;
        let answers = read_lines(child.stdout.take().context("the JVM has no stdout")?);
        let mut jvm = Self { child, control, answers, addresses: Addresses::default(), dir };
        let line = jvm.next_line(START_DEADLINE)?;
        jvm.addresses = parse_ready(&line).with_context(|| jvm.log_tail())?;
        Ok(jvm)
    }

    /// Where the servers answer.
    pub const fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// A directory that goes with the lab.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Sends one command and returns what follows `OK`; `Commands.java` lists them.
    pub fn command(&mut self, line: &str) -> Result<String> {
        writeln!(self.control, "{line}").with_context(|| format!("the lab is gone; {}", self.log_tail()))?;
        let answer = self.next_line(COMMAND_DEADLINE)?;
        match answer.strip_prefix("OK ") {
            Some(rest) => Ok(rest.to_owned()),
            None => bail!("`{line}` was answered with `{answer}`"),
        }
    }

    fn next_line(&mut self, deadline: Duration) -> Result<String> {
        self.answers.recv_timeout(deadline).map_err(|e| {
            let what = match e {
                RecvTimeoutError::Timeout => format!("no answer from the lab within {} s", deadline.as_secs()),
                RecvTimeoutError::Disconnected => "the lab ended".to_owned(),
            };
            anyhow!("{what}; {}", self.log_tail())
        })
    }

    /// The end of what Hadoop and Flink logged, for messages.
    fn log_tail(&self) -> String {
        let log = std::fs::read_to_string(self.dir.path().join(LOG)).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        format!("its log ends with:\n{}", lines[lines.len().saturating_sub(30)..].join("\n"))
    }

    fn is_gone(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Jvm {
    fn drop(&mut self) {
        // Nothing can be done about a failure here but to end the process the hard way.
        let _ = writeln!(self.control, "exit");
        let step = Duration::from_millis(100);
        let mut waited = Duration::ZERO;
        while !self.is_gone() && waited < EXIT_DEADLINE {
            std::thread::sleep(step);
            waited += step;
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const LOG: &str = "lab.log";

/// Tests run side by side, and two Maven runs would write the same files.
static BUILDING: Mutex<()> = Mutex::new(());

/// Compiles the lab and copies the jars; the second time this takes seconds. Returns the directory with both.
fn build() -> Result<PathBuf> {
    maven("tests/lab/pom.xml", "lab")
}

/// Compiles a Maven project of this repository and copies its jars to a directory of that name beside what Cargo builds.
pub fn maven(project: &str, name: &str) -> Result<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from).join(name);
    let _guard = BUILDING.lock();
    let maven = Command::new("mvn")
        .args(["--batch-mode", "--quiet", "--file"])
        .arg(root.join(project))
        .arg(format!("-Dlab.target={}", target.display()))
        .arg("compile")
        .output()
        .context("cannot start mvn; the lab needs Maven and a JDK (17 or later)")?;
    let said = String::from_utf8_lossy(&maven.stdout);
    ensure!(maven.status.success(), "Maven could not build {project}:\n{said}");
    Ok(target)
}

/// The Java of `JAVA_HOME`, else of the path.
pub fn java_command() -> Command {
    Command::new(std::env::var_os("JAVA_HOME").map_or_else(|| "java".into(), |home| Path::new(&home).join("bin/java")))
}

fn java(target: &Path, dir: &Path, name_nodes: NameNodes) -> Result<Command> {
    let temporary = dir.join("tmp");
    std::fs::create_dir(&temporary)?;
    let class_path = std::env::join_paths([
        target.join("classes"),
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab/conf"),
        target.join("lib/*"),
    ])?;
    let mut java = java_command();
    java.args(["-Xmx1g", "-XX:+UseSerialGC"]).arg(format!("-Djava.io.tmpdir={}", temporary.display()));
    for package in OPENED {
        java.args(["--add-opens", &format!("{package}=ALL-UNNAMED")]);
    }
    java.arg("-cp").arg(class_path).arg("Lab").arg("--dir").arg(dir);
    if name_nodes == NameNodes::Pair {
        java.arg("--ha");
    }
    // Ctrl-C in a terminal is for this program, which then ends the JVM; the end of its stdin does so in every other case.
    java.process_group(0);
    java.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(dir.join(LOG))?);
    Ok(java)
}

/// Hands on the lines of the control channel, so that waiting for one can have a deadline.
fn read_lines(stdout: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

fn parse_ready(line: &str) -> Result<Addresses> {
    let fields = line.strip_prefix("READY ").with_context(|| format!("the lab did not start: {line}"))?;
    let mut addresses = Addresses::default();
    for (key, value) in fields.split(' ').filter_map(|field| field.split_once('=')) {
        match key {
            "hdfs" => value.clone_into(&mut addresses.hdfs),
            "webhdfs" => addresses.webhdfs = value.split(',').map(str::to_owned).collect(),
            "flink" => value.clone_into(&mut addresses.flink),
            "conf" => addresses.conf = value.into(),
            _ => {}
        }
    }
    Ok(addresses)
}
