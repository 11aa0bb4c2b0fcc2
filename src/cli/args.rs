//! Flags, their environment names, and the help texts.

mod act;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::compare::Lang;
use crate::config::load::LoadOptions;

use act::{APPLY_EXAMPLES, AUDIT_EXAMPLES, DIFF_EXAMPLES, HISTORY_EXAMPLES, PLAN_EXAMPLES, SHOW_EXAMPLES};
pub use act::{
    ApplyArgs, AuditCommand, AuditShowArgs, AuditVerifyArgs, DiffArgs, HistoryArgs, LedgerArgs, Only, PlanArgs,
    ShowArgs,
};

const EXIT_CODES: &str = "\
Exit codes:
  0  in sync
  1  failure: wrong usage or configuration, or something unexpected
  2  drift: the systems disagree (another number with --drift-exit-code)
  3  incomplete: a view could not be read as a whole, or a guard closed; there may be drift too
If several apply, 1 goes over 3 over 2.";

const TOP_EXAMPLES: &str = "\
Examples:
  statewarden demo                             see it work, without any server of your own
  statewarden config example > statewarden.toml
  statewarden doctor                           what can be read, and what is missing
  statewarden drift                            where Flink, HDFS and DolphinScheduler disagree
  statewarden explain record:12                all that is known of one record
  statewarden plan --wait -o plan.json         what can be cleaned up, and why the rest can not
  statewarden apply plan.json                  do it

Only `apply` writes to an outside system. Every flag has an environment variable, named in its
help; flags go over the environment, the environment over the configuration file.";

const DRIFT_EXAMPLES: &str = "\
Examples:
  statewarden drift --config /etc/statewarden.toml
  statewarden drift --output terminal --output json=report.json
  statewarden drift --cluster c1=http://jobmanager:8081 --lang zh
  statewarden drift --save inventory.json      keep what was seen
  statewarden drift --from inventory.json      judge it again, at the time it was taken
  statewarden drift --since last               mark what is new, and list what is gone
  statewarden drift --drift-exit-code 0        for a scheduled task that stays green on plain drift

The run is recorded in the ledger; if that fails, the report says so and the exit code stays.";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  statewarden explain /dolphinscheduler/etl/resources/etl.sql
  statewarden explain hdfs://ns1/flink/checkpoints/app/7f132d501fb9863844ab51697900d494
  statewarden explain 7f132d501fb9863844ab51697900d494     a job
  statewarden explain record:12                            a resource record
  statewarden explain workflow:9001                        a workflow definition
  statewarden explain bdda93324f846f9a                     the target of a finding, by fingerprint
  statewarden explain --from inventory.json record:12      without asking any server

Exit codes: 0 the target was explained, 1 it was not.";

const GRAPH_EXAMPLES: &str = "\
Examples:
  statewarden graph                            every run directory, and who needs it
  statewarden graph why /flink/checkpoints/app/7f132d501fb9863844ab51697900d494
  statewarden graph --json > graph.json        every restore point with every file it names
  statewarden graph --from inventory.json      without asking any server

Exit codes: 0 the graph was shown, 1 it was not.";

const METADATA_EXAMPLES: &str = "\
Examples:
  statewarden metadata hdfs://ns1/flink/checkpoints/app/7f132d501fb9863844ab51697900d494/chk-42
  statewarden metadata ./_metadata --output json

A file on this host is read without any configuration; what is not here is looked for in HDFS.

Exit codes: 0 the file was read to its last byte, 1 it was not.";

const DOCTOR_EXAMPLES: &str = "\
Examples:
  statewarden doctor
  statewarden doctor --config /etc/statewarden.toml --output json

Exit codes: 0 everything that drift needs can be read, 1 failure, 3 something is missing.";

/// Finds where Flink state, HDFS and the DolphinScheduler resource center disagree, and cleans up what is proven stale.
#[derive(Debug, Parser)]
#[command(name = "statewarden", version, max_term_width = 100, after_help = TOP_EXAMPLES)]
pub struct Cli {
    /// Form of the log on stderr; `RUST_LOG` says how much is logged (default: warn).
    #[arg(long, value_enum, default_value = "text", global = true, env = "STATEWARDEN_LOG", hide_env_values = true)]
    pub log: LogFormat,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Form of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Lines for a person.
    Text,
    /// One JSON object a line.
    Json,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Read all systems, compare them, and report where they disagree and what could not be told.
    #[command(after_help = DRIFT_EXAMPLES, after_long_help = long(DRIFT_EXAMPLES))]
    Drift(DriftArgs),
    /// Print all that is known of one path, job, record, workflow or finding, and which rule said what.
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(ExplainArgs),
    /// Show which restore point needs which files, and why a path is needed.
    #[command(after_help = GRAPH_EXAMPLES)]
    Graph(Box<GraphArgs>),
    /// Print what a checkpoint or savepoint consists of: its operators, and every file that its `_metadata` names.
    #[command(after_help = METADATA_EXAMPLES)]
    Metadata(MetadataArgs),
    /// Say what can be read of each system, as whom, and what is missing and how to get it.
    #[command(after_help = DOCTOR_EXAMPLES)]
    Doctor(DoctorArgs),
    /// Say which stale records can be deleted safely, in which order, and what each of the others waits for.
    #[command(after_help = PLAN_EXAMPLES)]
    Plan(PlanArgs),
    /// Print a plan, and whether it can still be applied.
    #[command(after_help = SHOW_EXAMPLES)]
    Show(ShowArgs),
    /// Carry out a plan: ask every gate again, delete one record a call, and see what became of it.
    #[command(after_help = APPLY_EXAMPLES)]
    Apply(ApplyArgs),
    /// List the runs that the ledger holds.
    #[command(after_help = HISTORY_EXAMPLES)]
    History(HistoryArgs),
    /// Say what changed between two runs.
    #[command(after_help = DIFF_EXAMPLES)]
    Diff(DiffArgs),
    /// Print or check the audit chain.
    #[command(after_help = AUDIT_EXAMPLES)]
    Audit {
        /// Which.
        #[command(subcommand)]
        command: AuditCommand,
    },
    /// Check the configuration, or print a commented one to start from.
    Config {
        /// Which.
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Print a JSON Schema.
    Schema(SchemaArgs),
    /// Print completions for a shell.
    Completions(CompletionsArgs),
    /// Start embedded servers on loopback with a small drifted platform, and report on it.
    #[cfg(feature = "demo")]
    #[command(after_help = DEMO_EXAMPLES)]
    Demo(DemoArgs),
}

/// Examples with the exit codes behind them.
fn long(examples: &str) -> String {
    format!("{examples}\n\n{EXIT_CODES}")
}

/// Where the configuration comes from, and what goes over it.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Configuration")]
pub struct ConfigArgs {
    /// Configuration file. Default: ./statewarden.toml, else statewarden/config.toml below $XDG_CONFIG_HOME.
    #[arg(long, short, value_name = "FILE", env = "STATEWARDEN_CONFIG", hide_env_values = true)]
    pub config: Option<PathBuf>,
    /// Add a Flink cluster, or give the one of that name another address. Repeatable; several in one word with commas.
    #[arg(long, value_name = "NAME=URL", value_parser = NamedUrl, value_delimiter = ',', env = "STATEWARDEN_CLUSTER", hide_env_values = true)]
    pub cluster: Vec<(String, String)>,
    /// There is no Flink on purpose.
    #[arg(long, env = "STATEWARDEN_FLINK_NONE", hide_env_values = true)]
    pub flink_none: bool,
    /// The file system that is read, such as hdfs://ns1.
    #[arg(long, value_name = "URI", env = "STATEWARDEN_AUTHORITY", hide_env_values = true)]
    pub authority: Option<String>,
    /// NameNode, HttpFS or Knox base URL. Repeatable for the NameNodes of one HA pair.
    #[arg(long, value_name = "URL", value_delimiter = ',', env = "STATEWARDEN_HDFS_URL", hide_env_values = true)]
    pub hdfs_url: Vec<String>,
    /// User name for HDFS without Kerberos.
    #[arg(long, value_name = "USER", env = "STATEWARDEN_HDFS_USER", hide_env_values = true)]
    pub hdfs_user: Option<String>,
    /// DolphinScheduler base URL with its context path.
    #[arg(long, value_name = "URL", env = "STATEWARDEN_DS_URL", hide_env_values = true)]
    pub ds_url: Option<String>,
    /// DolphinScheduler version, such as 3.1.9.
    #[arg(long, value_name = "VERSION", env = "STATEWARDEN_DS_VERSION", hide_env_values = true)]
    pub ds_version: Option<String>,
    /// Base path of the resource center in HDFS.
    #[arg(long, value_name = "PATH", env = "STATEWARDEN_DS_BASE_PATH", hide_env_values = true)]
    pub ds_base_path: Option<String>,
    /// Tenant to look at. Repeatable. Default: those of all users.
    #[arg(long, value_name = "TENANT", value_delimiter = ',', env = "STATEWARDEN_DS_TENANT", hide_env_values = true)]
    pub ds_tenant: Vec<String>,
    /// Zone of the times DolphinScheduler prints without one, such as Asia/Shanghai.
    #[arg(long, value_name = "ZONE", env = "STATEWARDEN_DS_TIME_ZONE", hide_env_values = true)]
    pub ds_time_zone: Option<String>,
}

impl ConfigArgs {
    /// As the configuration takes it; `judge_only`: no system is asked.
    pub fn to_options(&self, judge_only: bool) -> LoadOptions {
        LoadOptions {
            file: self.config.clone(),
            clusters: self.cluster.clone(),
            flink_none: self.flink_none,
            authority: self.authority.clone(),
            hdfs_urls: self.hdfs_url.clone(),
            hdfs_user: self.hdfs_user.clone(),
            ds_url: self.ds_url.clone(),
            ds_version: self.ds_version.clone(),
            ds_base_path: self.ds_base_path.clone(),
            ds_tenants: self.ds_tenant.clone(),
            ds_time_zone: self.ds_time_zone.clone(),
            judge_only,
            applies: false,
        }
    }
}

/// Where results go and how they look.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// `terminal` or `json`, to stdout, or with `=FILE` to a file. Repeatable; several in one word with commas.
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = output_target, value_delimiter = ',', env = "STATEWARDEN_OUTPUT", hide_env_values = true)]
    pub output: Vec<OutputTarget>,
    /// Language of titles and remedies.
    #[arg(long, value_enum, default_value = "en", env = "STATEWARDEN_LANG", hide_env_values = true)]
    pub lang: Lang,
    /// Colours: `auto` is on for a terminal and honours NO_COLOR.
    #[arg(long, value_enum, default_value = "auto", env = "STATEWARDEN_COLOR", hide_env_values = true)]
    pub color: ColorChoice,
}

/// What is looked at: the systems themselves or an inventory file.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "What to look at")]
pub struct LookArgs {
    /// Judge this inventory, at the time it was taken, and ask no system.
    #[arg(long, value_name = "INVENTORY", env = "STATEWARDEN_FROM", hide_env_values = true)]
    pub from: Option<PathBuf>,
    /// Save what was read, mode 0600.
    #[arg(long, value_name = "INVENTORY", conflicts_with = "from", env = "STATEWARDEN_SAVE", hide_env_values = true)]
    pub save: Option<PathBuf>,
    /// Walk below directories in the resource center that are named like run directories too; those of configured roots are always read.
    #[arg(long, conflicts_with = "from", env = "STATEWARDEN_RECURSE", hide_env_values = true)]
    pub recurse: bool,
}

/// `drift`.
#[derive(Debug, Clone, Args)]
pub struct DriftArgs {
    /// Configuration.
    #[command(flatten)]
    pub config: ConfigArgs,
    /// What to look at.
    #[command(flatten)]
    pub look: LookArgs,
    /// Ledger.
    #[command(flatten)]
    pub ledger: LedgerArgs,
    /// Do not record this run.
    #[arg(long, env = "STATEWARDEN_NO_LEDGER", hide_env_values = true, help_heading = "Ledger")]
    pub no_ledger: bool,
    /// Mark the findings that were not there in that run (`last`, an id or its beginning) and list those that are gone.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["no_ledger", "from"], env = "STATEWARDEN_SINCE", hide_env_values = true, help_heading = "Ledger")]
    pub since: Option<String>,
    /// Output.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Print every finding; otherwise many of one code in one directory become one line.
    #[arg(long, env = "STATEWARDEN_ALL", hide_env_values = true, help_heading = "Output")]
    pub all: bool,
    /// Exit code of plain drift. A view that could not be read still ends 3.
    #[arg(long, value_name = "N", default_value_t = super::exit::ExitCode::DRIFT, env = "STATEWARDEN_DRIFT_EXIT_CODE", hide_env_values = true, help_heading = "Output")]
    pub drift_exit_code: u8,
}

/// `explain`.
#[derive(Debug, Clone, Args)]
pub struct ExplainArgs {
    /// An HDFS path or URI, a job id, `record:ID`, `workflow:CODE`, or the fingerprint of a finding.
    pub target: String,
    /// Configuration.
    #[command(flatten)]
    pub config: ConfigArgs,
    /// What to look at.
    #[command(flatten)]
    pub look: LookArgs,
    /// Output.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `graph`.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct GraphArgs {
    /// A question about one path.
    #[command(subcommand)]
    pub command: Option<GraphCommand>,
    /// Print JSON on standard output: short for `--output json`, and goes over it.
    #[arg(long, env = "STATEWARDEN_JSON", hide_env_values = true, help_heading = "Output")]
    pub json: bool,
    /// Configuration.
    #[command(flatten)]
    pub config: ConfigArgs,
    /// What to look at.
    #[command(flatten)]
    pub look: LookArgs,
    /// Output.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// What `graph` can be asked.
#[derive(Debug, Clone, Subcommand)]
pub enum GraphCommand {
    /// Say which kept restore points need what lies at or below a path, and why each of them is kept.
    #[command(after_help = GRAPH_EXAMPLES)]
    Why(GraphWhyArgs),
}

/// `graph why`.
#[derive(Debug, Clone, Args)]
pub struct GraphWhyArgs {
    /// An HDFS path or URI.
    pub path: String,
    /// Configuration.
    #[command(flatten)]
    pub config: ConfigArgs,
    /// What to look at.
    #[command(flatten)]
    pub look: LookArgs,
    /// Output.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `metadata`.
#[derive(Debug, Clone, Args)]
pub struct MetadataArgs {
    /// A `_metadata` file, or the directory that holds one: on this host, or in HDFS.
    pub target: String,
    /// Configuration.
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Output.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `doctor`.
#[derive(Debug, Clone, Args)]
pub struct DoctorArgs {
    /// Configuration.
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Ledger.
    #[command(flatten)]
    pub ledger: LedgerArgs,
    /// Output.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// What to do with the configuration.
#[derive(Debug, Clone, Subcommand)]
pub enum ConfigCommand {
    /// Check the configuration and name everything that is wrong with it; asks no system.
    Check(Box<ConfigArgs>),
    /// Print a commented configuration file to start from.
    Example,
}

/// `schema`.
#[derive(Debug, Clone, Copy, Args)]
pub struct SchemaArgs {
    /// Of what.
    #[arg(value_enum)]
    pub of: SchemaOf,
}

/// What has a JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaOf {
    /// `drift --output json`.
    Report,
    /// The file that `plan -o` writes.
    Plan,
    /// `plan --output json`.
    Planned,
    /// `show --output json`.
    Shown,
    /// `apply --output json`.
    Applied,
    /// `history --output json`.
    History,
    /// `diff --output json`.
    Difference,
    /// `audit show --output json`.
    Audit,
    /// `audit verify --output json`.
    AuditCheck,
    /// `explain --output json`.
    Explanation,
    /// `graph --json`.
    Graph,
    /// `graph why --output json`.
    Why,
    /// `metadata --output json`.
    Metadata,
    /// `doctor --output json`.
    Checkup,
    /// `drift --save`.
    Inventory,
    /// The configuration file.
    Config,
}

/// `completions`.
#[derive(Debug, Clone, Copy, Args)]
pub struct CompletionsArgs {
    /// Shell.
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[cfg(feature = "demo")]
const DEMO_EXAMPLES: &str = "\
Examples:
  statewarden demo
  statewarden demo --keep                      leave the servers up and try the other commands on them
  statewarden demo --world world.yaml --output json

Exit codes: as for drift.";

/// `demo`.
#[cfg(feature = "demo")]
#[derive(Debug, Clone, Args)]
pub struct DemoArgs {
    /// Leave the servers up until Ctrl-C, and print commands that work on them.
    #[arg(long, env = "STATEWARDEN_KEEP", hide_env_values = true)]
    pub keep: bool,
    /// Another world file.
    #[arg(long, value_name = "FILE", env = "STATEWARDEN_WORLD", hide_env_values = true)]
    pub world: Option<PathBuf>,
    /// Output.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Print every finding.
    #[arg(long, env = "STATEWARDEN_ALL", hide_env_values = true, help_heading = "Output")]
    pub all: bool,
}

/// Colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Form of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    /// For a person.
    Terminal,
    /// For a program.
    Json,
}

/// A form and where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputTarget {
    /// Form.
    pub format: OutputFormat,
    /// File; `None`: stdout.
    pub file: Option<PathBuf>,
}

fn output_target(text: &str) -> Result<OutputTarget, String> {
    let (format, file) = text.split_once('=').map_or((text, None), |(format, file)| (format, Some(file)));
    let format = match format {
        "terminal" => OutputFormat::Terminal,
        "json" => OutputFormat::Json,
        _ => return Err("write `terminal` or `json`, with `=FILE` behind it for a file".to_owned()),
    };
    match file {
        Some("") => Err("the file name behind `=` is missing".to_owned()),
        file => Ok(OutputTarget { format, file: file.map(PathBuf::from) }),
    }
}

/// Parses `NAME=URL`. A parser of its own, since clap's usual message repeats the value, and a URL can hold a password.
#[derive(Clone)]
struct NamedUrl;

impl clap::builder::TypedValueParser for NamedUrl {
    type Value = (String, String);

    fn parse_ref(
        &self,
        command: &clap::Command,
        _: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<Self::Value, clap::Error> {
        let text = value.to_str().unwrap_or_default();
        match text.split_once('=') {
            Some((name, url)) if !name.is_empty() && !name.contains("://") && !url.is_empty() => {
                Ok((name.to_owned(), url.to_owned()))
            }
            _ => Err(clap::Error::raw(
                clap::error::ErrorKind::ValueValidation,
                "--cluster takes NAME=URL, as in c1=http://jobmanager:8081\n",
            )
            .with_cmd(command)),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_definition_holds_together_and_every_flag_has_an_environment_name() {
        let command = Cli::command();
        command.clone().debug_assert();
        let mut pending = vec![command];
        while let Some(command) = pending.pop() {
            for flag in
                command.get_arguments().filter(|arg| arg.get_long().is_some_and(|l| l != "help" && l != "version"))
            {
                let long = flag.get_long().expect("a long name");
                let expected = format!("STATEWARDEN_{}", long.replace('-', "_").to_uppercase());
                assert_eq!(flag.get_env().and_then(|env| env.to_str()), Some(expected.as_str()), "{long}");
            }
            pending.extend(command.get_subcommands().cloned());
        }
    }

    #[test]
    fn outputs_and_clusters() {
        assert_eq!(
            output_target("json=a=b"),
            Ok(OutputTarget { format: OutputFormat::Json, file: Some("a=b".into()) })
        );
        assert!(output_target("json=").is_err());
        assert!(output_target("xml").is_err());
        let cluster = |text: &str| Cli::try_parse_from(["statewarden", "drift", "--cluster", text]);
        let Command::Drift(args) = cluster("c1=http://h:1/?a=b").expect("a cluster").command else { panic!("drift") };
        assert_eq!(args.config.cluster, [("c1".to_owned(), "http://h:1/?a=b".to_owned())]);
        let refused = cluster("http://user:secret@h/?a=b").expect_err("no name").to_string();
        assert!(refused.contains("NAME=URL") && !refused.contains("secret"), "{refused}");
    }
}
