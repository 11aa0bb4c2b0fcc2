//! The ledger as commands use it: where it is, and runs written into it.

use anyhow::Context as _;
use jiff::Timestamp;

use super::args::LedgerArgs;
use super::commands::Seen;
use crate::compare::Severity;
use crate::config::Config;
use crate::ledger::{self, SqlLedger};
use crate::plan::fingerprint;
use crate::ports::ledger::{Ledger as _, LedgerError, RunEntry};
use crate::report::model::Recording;
use crate::report::{Report, Verdict};

/// The place that was named, else the user's own.
pub(super) fn place(args: &LedgerArgs) -> anyhow::Result<String> {
    args.ledger.clone().or_else(ledger::default_place).context(
        "there is no place for a ledger: neither HOME nor XDG_STATE_HOME is set; name a file with --ledger (STATEWARDEN_LEDGER)",
    )
}

/// Opens the ledger, and makes it where there is none.
pub(super) async fn open(args: &LedgerArgs) -> anyhow::Result<SqlLedger> {
    Ok(SqlLedger::open(&place(args)?).await?)
}

/// Opens a ledger that has to be there: an empty one in its place would have nothing to say and look whole.
pub(super) async fn open_existing(args: &LedgerArgs) -> anyhow::Result<SqlLedger> {
    let place = place(args)?;
    if ledger::is_there(&place)? {
        return Ok(SqlLedger::open(&place).await?);
    }
    anyhow::bail!(
        "there is no ledger at {}; `statewarden drift` makes one, `--ledger` names another",
        ledger::shown_place(&place)?
    )
}

/// A run that begins now.
pub(super) fn begun(verb: &str, config: &Config) -> RunEntry {
    RunEntry {
        run: uuid::Uuid::now_v7().to_string(),
        verb: verb.to_owned(),
        started: Timestamp::now(),
        ended: None,
        // The generation is found by probing; until then the configured one stands.
        scope: fingerprint::scope(config, config.ds.as_ref().map(|ds| ds.generation)),
        exit: None,
        findings: 0,
    }
}

/// The same run, ended now with what it saw.
pub(super) fn ended(run: &RunEntry, seen: &Seen, verdict: Verdict) -> RunEntry {
    let drift = seen.comparison.findings.iter().filter(|finding| finding.severity >= Severity::Warning).count();
    RunEntry {
        ended: Some(Timestamp::now()),
        scope: fingerprint::of_scope(&seen.config, &seen.inventory),
        exit: Some(verdict.as_str().to_owned()),
        findings: u64::try_from(drift).unwrap_or(u64::MAX),
        ..run.clone()
    }
}

/// A run that is written down as far as the ledger lets it: a report goes on without one, and says so.
pub(super) struct Diary {
    ledger: Option<SqlLedger>,
    run: RunEntry,
    earlier: Option<RunEntry>,
    trouble: Vec<String>,
}

impl Diary {
    /// Opens the ledger and writes the beginning of a run. An earlier run that is named and not there is an error.
    pub(super) async fn begin(args: &LedgerArgs, config: &Config, since: Option<&str>) -> anyhow::Result<Self> {
        let mut diary = Self { ledger: None, run: begun("drift", config), earlier: None, trouble: Vec::new() };
        match open(args).await {
            Ok(ledger) => diary.ledger = Some(ledger),
            Err(error) => diary.trouble.push(format!("NOT RECORDED: {error:#}")),
        }
        if let (Some(ledger), Some(text)) = (&diary.ledger, since.filter(|text| *text != LAST)) {
            let found = ledger.resolve_run(text).await?;
            diary.earlier = Some(found.with_context(|| unknown_run(text))?);
        }
        if let Some(ledger) = &diary.ledger {
            let written = ledger.begin_run(&diary.run).await;
            diary.note(written, "NOT RECORDED");
        }
        Ok(diary)
    }

    /// Writes the end of the run, and puts into the report what is known of it and of the earlier run.
    pub(super) async fn end(mut self, seen: &Seen, report: Report, since: Option<&str>) -> Report {
        let ended = ended(&self.run, seen, report.exit.word);
        if since == Some(LAST) {
            self.find_last(&ended.scope).await;
        }
        let mut report = report;
        if let Some(ledger) = self.ledger.take() {
            let written = ledger.end_run(&ended, &seen.comparison).await;
            let is_written = written.is_ok();
            self.note(written, "NOT RECORDED");
            if let Some(earlier) = self.earlier.take().filter(|_| is_written) {
                match ledger.difference(&earlier.run, &ended.run).await {
                    Ok(difference) => report = report.with_since(&earlier, &difference),
                    Err(error) => self.note(Err(error), "not compared with the earlier run"),
                }
            }
            self.ledger = Some(ledger);
        }
        report.recording = Some(self.recording());
        report
    }

    async fn find_last(&mut self, scope: &str) {
        let Some(ledger) = &self.ledger else {
            self.trouble.push("not compared with the last run: there is no ledger".to_owned());
            return;
        };
        match ledger.last_run(Some(scope)).await {
            Ok(Some(run)) => self.earlier = Some(run),
            Ok(None) => self
                .trouble
                .push("this is the first run of this scope: there is no last one to compare with".to_owned()),
            Err(error) => self.note(Err(error), "not compared with the last run"),
        }
    }

    fn note(&mut self, result: Result<(), LedgerError>, what: &str) {
        if let Err(error) = result {
            self.trouble.push(format!("{what}: {:#}", anyhow::Error::new(error)));
        }
    }

    fn recording(&self) -> Recording {
        Recording {
            run: self.run.run.clone(),
            ledger: self.ledger.as_ref().map(super::super::ports::ledger::Ledger::place),
            trouble: self.trouble.clone(),
        }
    }
}

/// The word for the newest run.
const LAST: &str = "last";

/// What to say of a run that is not there.
pub(super) fn unknown_run(text: &str) -> String {
    format!(
        "the ledger holds no run {} that compared anything; `statewarden history` lists the runs",
        crate::domain::text::printable(text)
    )
}
