//! Flags of the commands that plan, apply, and look into the ledger.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{ConfigArgs, LookArgs, OutputArgs};

pub(super) const PLAN_EXAMPLES: &str = "\
Examples:
  statewarden plan -o plan.json               record a plan, to be shown and applied
  statewarden plan --wait -o plan.json        look twice instead of relying on an earlier run
  statewarden plan --tenant etl --limit 20    a dry look: printed, not recorded, never applied
  statewarden plan --under /dolphinscheduler/etl/resources/old -o plan.json
  statewarden plan --from inventory.json      of a saved inventory: never applied

A record is planned only if every gate is proved, among them that an earlier run, at least
`confirm_after` ago, saw the same. Nothing is changed by planning.

Exit codes:
  0  in sync
  1  failure: wrong usage or configuration, no ledger, or something unexpected
  2  drift, whether or not the plan takes care of it
  3  incomplete: a view could not be read as a whole
  4  refused by safety: an unsafe setting, a mass absence, or clocks that disagree
If several apply, 1 goes over 4 over 3 over 2.";

pub(super) const SHOW_EXAMPLES: &str = "\
Examples:
  statewarden show plan.json
  statewarden show plan.json --output json
  statewarden show plan.json --lang zh

Asks no system, needs no token, and changes nothing.

Exit codes: 0 shown, also a stale plan; 1 it is no plan.";

pub(super) const APPLY_EXAMPLES: &str = "\
Examples:
  statewarden apply plan.json                 asks before it acts
  statewarden apply plan.json --dry-run       everything but the calls
  statewarden apply plan.json --yes --output json=outcome.json

Records are deleted through the resource API of DolphinScheduler, one a call, each after all its
gates were proved again; nothing else is touched. The token is that of
STATEWARDEN_DS_APPLY_TOKEN or `ds.apply_token_*` where there is one. Ctrl-C finishes the action
at hand and begins no other. Applying again is safe: what is done is seen, and not repeated.

Exit codes:
  0  every action is Done or AlreadyDone
  1  failure: wrong usage or configuration, no ledger, or something unexpected
  3  incomplete: a view could not be read as a whole, and something was not done
  4  refused by safety: not confirmed, plan stale or not recorded here, lease held, safe mode
  5  not proven: refused by the server, failed, or cannot be told; or the run was interrupted
If several apply, 1 goes over 5 over 4 over 3.";

pub(super) const HISTORY_EXAMPLES: &str = "\
Examples:
  statewarden history
  statewarden history --limit 100 --output json

Exit codes: 0 listed, 1 not.";

pub(super) const DIFF_EXAMPLES: &str = "\
Examples:
  statewarden diff previous last
  statewarden diff 0199d0c4-6f1e last         ids, or as much of the beginning as is unique

Exit codes: 0 compared, whether or not they differ; 1 not.";

pub(super) const AUDIT_EXAMPLES: &str = "\
Examples:
  statewarden audit show
  statewarden audit show --output json
  statewarden audit verify
  statewarden audit verify --head HASH        HASH as an earlier apply printed it

Exit codes of verify: 0 the chain is whole, 1 it could not be read, 4 refused by safety: it is
broken, or the head is not in it.";

/// Where the ledger is.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Ledger")]
pub struct LedgerArgs {
    /// SQLite file that holds runs, findings, plans, outcomes and the audit chain. Default: statewarden/ledger.db below
    /// $XDG_STATE_HOME, else below ~/.local/state.
    #[arg(long, value_name = "PATH|URL", env = "STATEWARDEN_LEDGER", hide_env_values = true)]
    pub ledger: Option<String>,
}

/// What a plan may act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Only {
    /// Stale resource records.
    #[default]
    Records,
}

/// `plan`.
#[derive(Debug, Clone, Args)]
pub struct PlanArgs {
    /// Record the plan in the ledger and write it to this file, mode 0600. Without it nothing is recorded.
    #[arg(long, short = 'o', value_name = "PLAN", env = "STATEWARDEN_OUT", hide_env_values = true)]
    pub out: Option<PathBuf>,
    /// What the plan may act on.
    #[arg(long, value_enum, default_value = "records", env = "STATEWARDEN_ONLY", hide_env_values = true)]
    pub only: Only,
    /// Only records of this tenant.
    #[arg(long, value_name = "TENANT", env = "STATEWARDEN_TENANT", hide_env_values = true)]
    pub tenant: Option<String>,
    /// Only records whose path is at or below this one.
    #[arg(long, value_name = "PATH", env = "STATEWARDEN_UNDER", hide_env_values = true)]
    pub under: Option<String>,
    /// At most so many actions: whole subtrees, largest first.
    #[arg(long, value_name = "N", env = "STATEWARDEN_LIMIT", hide_env_values = true)]
    pub limit: Option<u32>,
    /// Look twice, `confirm_after` apart: the first look counts as the earlier run.
    #[arg(long, conflicts_with = "from", env = "STATEWARDEN_WAIT", hide_env_values = true)]
    pub wait: bool,
    /// Configuration.
    #[command(flatten)]
    pub config: ConfigArgs,
    /// What to look at.
    #[command(flatten)]
    pub look: LookArgs,
    /// Ledger.
    #[command(flatten)]
    pub ledger: LedgerArgs,
    /// Output.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Print every finding and every action.
    #[arg(long, env = "STATEWARDEN_ALL", hide_env_values = true, help_heading = "Output")]
    pub all: bool,
}

/// `show`.
#[derive(Debug, Clone, Args)]
pub struct ShowArgs {
    /// The plan, as `plan -o` wrote it.
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
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

/// `apply`.
#[derive(Debug, Clone, Args)]
pub struct ApplyArgs {
    /// The plan, as `plan -o` wrote it.
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// Do not ask. Without a terminal nothing is done unless this is said.
    #[arg(long, env = "STATEWARDEN_YES", hide_env_values = true)]
    pub yes: bool,
    /// Do everything but the calls: lease, views, gates.
    #[arg(long, env = "STATEWARDEN_DRY_RUN", hide_env_values = true)]
    pub dry_run: bool,
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

/// `history`.
#[derive(Debug, Clone, Args)]
pub struct HistoryArgs {
    /// So many runs, newest first.
    #[arg(long, value_name = "N", default_value_t = 20, env = "STATEWARDEN_LIMIT", hide_env_values = true)]
    pub limit: u32,
    /// Ledger.
    #[command(flatten)]
    pub ledger: LedgerArgs,
    /// Output.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `diff`.
#[derive(Debug, Clone, Args)]
pub struct DiffArgs {
    /// Earlier run: an id, its beginning, `last` or `previous`.
    #[arg(value_name = "EARLIER")]
    pub earlier: String,
    /// Later run.
    #[arg(value_name = "LATER")]
    pub later: String,
    /// Ledger.
    #[command(flatten)]
    pub ledger: LedgerArgs,
    /// Output.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// What to do with the audit chain.
#[derive(Debug, Clone, Subcommand)]
pub enum AuditCommand {
    /// Print the audit chain: who did what, when, to what, with which result.
    Show(AuditShowArgs),
    /// Check the audit chain link by link: changed, removed and reordered entries are found.
    Verify(AuditVerifyArgs),
}

/// `audit show`.
#[derive(Debug, Clone, Args)]
pub struct AuditShowArgs {
    /// Ledger.
    #[command(flatten)]
    pub ledger: LedgerArgs,
    /// Output.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `audit verify`.
#[derive(Debug, Clone, Args)]
pub struct AuditVerifyArgs {
    /// The head hash that an earlier apply printed: it has to be in the chain, else the newest entries were cut off.
    #[arg(long, value_name = "HASH", env = "STATEWARDEN_HEAD", hide_env_values = true)]
    pub head: Option<String>,
    /// Ledger.
    #[command(flatten)]
    pub ledger: LedgerArgs,
    /// Output.
    #[command(flatten)]
    pub output: OutputArgs,
}
