//! `demo`: the real program against embedded servers.

use crate::cli::args::DemoArgs;
use crate::cli::exit::ExitCode;

/// Starts the servers and reports on them.
pub async fn run(args: &DemoArgs) -> anyhow::Result<ExitCode> {
    let _ = args;
    anyhow::bail!("not built in")
}
