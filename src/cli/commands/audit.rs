//! `audit`: print or check the audit chain.

use crate::cli::args::{AuditCommand, AuditShowArgs, AuditVerifyArgs};
use crate::cli::exit::ExitCode;
use crate::cli::ledger;
use crate::cli::output::{self, Results};
use crate::ports::ledger::Ledger as _;
use crate::report::audit::{AuditCheck, Trail, render, render_check};
use crate::report::json;

/// Prints or checks.
pub async fn run(command: &AuditCommand) -> anyhow::Result<ExitCode> {
    match command {
        AuditCommand::Show(args) => show(args).await,
        AuditCommand::Verify(args) => verify(args).await,
    }
}

async fn show(args: &AuditShowArgs) -> anyhow::Result<ExitCode> {
    let ledger = ledger::open_existing(&args.ledger).await?;
    let trail = Trail::new(ledger.place(), ledger.audit_entries().await?);
    let lang = args.output.lang;
    let results = Results { terminal: &|style| render(&trail, lang, style), json: &|| Ok(json::render(&trail)?) };
    output::write(&args.output.output, args.output.color, &results)?;
    Ok(ExitCode::InSync)
}

/// A broken chain is a refusal: nothing in it may be relied on.
async fn verify(args: &AuditVerifyArgs) -> anyhow::Result<ExitCode> {
    let ledger = ledger::open_existing(&args.ledger).await?;
    let verdict = match &args.head {
        Some(head) => ledger.verify_audit_to(head).await?,
        None => ledger.verify_audit().await?,
    };
    let check = AuditCheck::new(ledger.place(), args.head.as_deref(), verdict);
    let lang = args.output.lang;
    let results = Results { terminal: &|style| render_check(&check, lang, style), json: &|| Ok(json::render(&check)?) };
    output::write(&args.output.output, args.output.color, &results)?;
    Ok(if check.whole { ExitCode::InSync } else { ExitCode::Refused })
}
