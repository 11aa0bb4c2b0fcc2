//! What an apply did, and how it ends.

use std::collections::BTreeSet;

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{ContentArrangement, Table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layout::{Page, Style, wrap};
use super::model::{Exit, ReportedFinding, Verdict};
use super::words::{choose, count, lease_reach, place, shell_word};
use crate::compare::{Effect, Finding, FindingCode, Lang, Severity};
use crate::domain::text::printable;
use crate::domain::{HdfsPath, RecordId};
use crate::ports::ledger::{Outcome, OutcomeWord};

/// Version of the JSON form of `apply`.
pub const SCHEMA: &str = "statewarden/applied/v1";

/// One action and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActionLine {
    /// Number in the plan.
    pub id: u32,
    /// Record.
    pub record: RecordId,
    /// Path.
    pub path: HdfsPath,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

impl ActionLine {
    fn is_done(&self) -> bool {
        matches!(self.outcome.outcome, OutcomeWord::Done | OutcomeWord::AlreadyDone)
    }
}

/// What a run did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Applied {
    /// Name and version of this form: `statewarden/applied/v1`.
    pub schema: String,
    /// Version of the program.
    pub version: String,
    /// Language of titles and remedies.
    pub lang: Lang,
    /// How the run ends.
    pub exit: Exit,
    /// Id of the run.
    pub run: String,
    /// Hash of the plan.
    pub plan: String,
    /// No call was made on purpose.
    pub dry_run: bool,
    /// Ctrl-C or a polite kill came: the rest was not begun.
    pub interrupted: bool,
    /// Every action of the plan, in order.
    pub outcomes: Vec<ActionLine>,
    /// Findings of the run itself, and those on the views it read. What it removed is no longer among them.
    pub findings: Vec<ReportedFinding>,
    /// Head of the audit chain afterwards; `null` if nothing was written to it.
    pub audit_head: Option<String>,
    /// Place of the ledger, whose lease excludes other runs.
    pub ledger: String,
}

/// What a run is reported from.
#[derive(Debug, Clone)]
pub struct Facts {
    /// Id of the run.
    pub run: String,
    /// Hash of the plan.
    pub plan: String,
    /// No call was made on purpose.
    pub dry_run: bool,
    /// Ctrl-C came.
    pub interrupted: bool,
    /// The actions.
    pub outcomes: Vec<ActionLine>,
    /// Findings.
    pub findings: Vec<Finding>,
    /// Head of the audit chain.
    pub audit_head: Option<String>,
    /// Place of the ledger.
    pub ledger: String,
}

impl Applied {
    /// The report on a run.
    pub fn new(facts: Facts, lang: Lang) -> Self {
        let gone: BTreeSet<RecordId> =
            facts.outcomes.iter().filter(|line| line.is_done()).map(|line| line.record).collect();
        let is_over = |finding: &Finding| {
            finding.code.effect() == Effect::Drift && finding.target.record.is_some_and(|record| gone.contains(&record))
        };
        let findings: Vec<&Finding> = facts.findings.iter().filter(|finding| !is_over(finding)).collect();
        Self {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            lang,
            exit: Exit::of(verdict(&facts.outcomes, &findings, facts.interrupted)),
            findings: findings.into_iter().map(|finding| ReportedFinding::new(finding, lang)).collect(),
            run: facts.run,
            plan: facts.plan,
            dry_run: facts.dry_run,
            interrupted: facts.interrupted,
            outcomes: facts.outcomes,
            audit_head: facts.audit_head,
            ledger: facts.ledger,
        }
    }
}

/// How a run ends: not proven over refused over incomplete. Drift elsewhere does not matter, and a gap only where something
/// was left undone.
fn verdict(outcomes: &[ActionLine], findings: &[&Finding], interrupted: bool) -> Verdict {
    let any = |words: &[OutcomeWord]| outcomes.iter().any(|line| words.contains(&line.outcome.outcome));
    let all_done = outcomes.iter().all(ActionLine::is_done);
    if interrupted || any(&[OutcomeWord::Refused, OutcomeWord::Failed, OutcomeWord::Unknown]) {
        return Verdict::NotProven;
    }
    if findings.iter().any(|finding| matches!(finding.code, FindingCode::ApplyBlocked | FindingCode::PlanStale)) {
        return Verdict::Refused;
    }
    if !all_done && findings.iter().any(|finding| finding.code.effect() == Effect::Incomplete) {
        return Verdict::Incomplete;
    }
    Verdict::Clean
}

/// Prints a run for a person; `options` make a proposed `drift` look at the same thing, with the same ledger.
pub fn render(applied: &Applied, style: Style, options: &str) -> String {
    let mut page = Page::new(style);
    headline(&mut page, applied);
    table(&mut page, applied);
    findings(&mut page, applied);
    closing(&mut page, applied);
    next(&mut page, applied, options);
    page.into_text()
}

fn headline(page: &mut Page, applied: &Applied) {
    let (lang, style) = (applied.lang, page.style());
    let word = match applied.exit.word {
        Verdict::NotProven => style.severity(Severity::Error, choose(lang, "NOT PROVEN", "未能证实")),
        Verdict::Refused => style.severity(Severity::Error, choose(lang, "REFUSED", "拒绝执行")),
        Verdict::Incomplete => style.severity(Severity::Warning, choose(lang, "INCOMPLETE", "无法完整判断")),
        Verdict::Clean | Verdict::Drift if applied.dry_run => choose(lang, "DRY RUN", "预演").to_owned(),
        Verdict::Clean | Verdict::Drift => style.good(choose(lang, "DONE", "完成")),
    };
    let separator = choose(lang, ": ", "：");
    page.line(&format!("{}{separator}{}", style.strong(&word), numbers(applied)));
    if applied.dry_run {
        page.item("", choose(lang, "This was a dry run: no call was made.", "这是预演：没有发出任何调用。"));
    }
    if applied.interrupted {
        let line = "Interrupted: the action at hand was finished, the rest was not begun.";
        page.item("", choose(lang, line, "已中断：手头的动作已完成，其余未开始。"));
    }
    page.item(
        "",
        &match lang {
            Lang::En => format!("Run {}; exit code {}.", applied.run, applied.exit.code),
            Lang::Zh => format!("运行 {}；退出码 {}。", applied.run, applied.exit.code),
        },
    );
}

fn numbers(applied: &Applied) -> String {
    let of = |word: OutcomeWord| applied.outcomes.iter().filter(|line| line.outcome.outcome == word).count();
    let parts: Vec<String> = WORDS.iter().map(|word| (of(*word), *word)).filter(|(n, _)| *n > 0).map(part).collect();
    let all = applied.outcomes.len();
    let list = if parts.is_empty() { String::new() } else { parts.join(", ") };
    match applied.lang {
        Lang::En if all == 0 => "the plan holds no action".to_owned(),
        Lang::Zh if all == 0 => "计划中没有动作".to_owned(),
        Lang::En => format!("{}: {list}", count(all, "action", "actions")),
        Lang::Zh => format!("{all} 个动作：{list}"),
    }
}

const WORDS: [OutcomeWord; 7] = [
    OutcomeWord::Done,
    OutcomeWord::AlreadyDone,
    OutcomeWord::Stale,
    OutcomeWord::Refused,
    OutcomeWord::Failed,
    OutcomeWord::Unknown,
    OutcomeWord::NotStarted,
];

fn part((n, word): (usize, OutcomeWord)) -> String {
    format!("{n} {word:?}")
}

fn table(page: &mut Page, applied: &Applied) {
    if applied.outcomes.is_empty() {
        return;
    }
    let lang = applied.lang;
    // Number, record and outcome take what they need; path and reason share the rest.
    let rest = page.style().width.max(60) - 42;
    let (path_width, why_width) = (rest * 45 / 100, rest - rest * 45 / 100);
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header([
        "#",
        choose(lang, "record", "资源记录"),
        choose(lang, "path", "路径"),
        choose(lang, "outcome", "结果"),
        choose(lang, "why", "依据"),
    ]);
    for line in &applied.outcomes {
        table.add_row([
            line.id.to_string(),
            line.record.to_string(),
            wrap(&printable(line.path.as_str()), path_width).join("\n"),
            format!("{:?}", line.outcome.outcome),
            wrap(&printable(&line.outcome.why), why_width).join("\n"),
        ]);
    }
    page.line("");
    for line in table.lines() {
        page.line(line.trim_end());
    }
}

fn findings(page: &mut Page, applied: &Applied) {
    let lang = applied.lang;
    let (drift, own): (Vec<_>, Vec<_>) =
        applied.findings.iter().partition(|found| found.finding.code.effect() == Effect::Drift);
    if !own.is_empty() {
        page.heading(choose(lang, "Findings", "发现的问题"));
    }
    for found in own {
        let target = place(&found.finding.target, lang).join(", ");
        let separator = if target.is_empty() { "" } else { ": " };
        page.item("  - ", &format!("{} ({}){separator}{target}", found.title, found.finding.code));
        for fact in &found.finding.evidence {
            page.item("    ", &printable(fact));
        }
        page.item("    -> ", &found.remedy_text);
    }
    if !drift.is_empty() {
        let n = drift.len();
        let line = match lang {
            Lang::En => format!("{} elsewhere, not of this plan", count(n, "finding", "findings")),
            Lang::Zh => format!("另有 {n} 项与本计划无关的问题"),
        };
        page.line("");
        page.item("", &line);
    }
}

fn closing(page: &mut Page, applied: &Applied) {
    let lang = applied.lang;
    page.heading(choose(lang, "Ledger", "台账"));
    if let Some(head) = &applied.audit_head {
        page.line(&format!("  {}{head}", choose(lang, "audit head  ", "审计链末端  ")));
        let keep = match lang {
            Lang::En => "keep it: with it, this shows later whether the newest entries were cut off:",
            Lang::Zh => "请保存：以后可据此发现最新条目是否被删：",
        };
        page.item("    ", keep);
        page.line(&format!("    statewarden audit verify --ledger {} --head {head}", shell_word(&applied.ledger)));
    }
    page.item("  ", &lease_reach(&applied.ledger, lang));
}

fn next(page: &mut Page, applied: &Applied, options: &str) {
    page.heading(choose(applied.lang, "Next", "下一步"));
    let options = if options.is_empty() { String::new() } else { format!(" {options}") };
    page.line(&format!("  statewarden drift{options} --since last"));
    page.line(&format!("  statewarden audit show --ledger {}", shell_word(&applied.ledger)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Target;

    fn line(outcome: OutcomeWord) -> ActionLine {
        let path = HdfsPath::parse("/a").expect("a path");
        ActionLine { id: 1, record: RecordId(7), path, outcome: Outcome { outcome, why: String::new() } }
    }

    fn of(outcomes: &[OutcomeWord], codes: &[FindingCode], interrupted: bool) -> u8 {
        let outcomes: Vec<ActionLine> = outcomes.iter().map(|word| line(*word)).collect();
        let finding = |code: &FindingCode| Finding::new(*code, Severity::Error, Target::default(), "test");
        let findings: Vec<Finding> = codes.iter().map(finding).collect();
        verdict(&outcomes, &findings.iter().collect::<Vec<_>>(), interrupted).number()
    }

    #[test]
    fn five_over_four_over_three_over_zero() {
        use FindingCode::{ApplyBlocked, PlanStale, StaleResourceRecord, ViewIncomplete};
        use OutcomeWord::{AlreadyDone, Done, Failed, NotStarted, Refused, Stale, Unknown};
        assert_eq!(of(&[], &[], false), 0);
        assert_eq!(of(&[Done, AlreadyDone], &[StaleResourceRecord], false), 0, "drift elsewhere does not matter");
        assert_eq!(of(&[Done], &[ViewIncomplete], false), 0, "a gap elsewhere does not matter once all is done");
        assert_eq!(of(&[Done, NotStarted], &[ViewIncomplete], false), 3);
        assert_eq!(of(&[NotStarted], &[ApplyBlocked, ViewIncomplete], false), 4);
        assert_eq!(of(&[Stale], &[PlanStale], false), 4);
        for word in [Refused, Failed, Unknown] {
            assert_eq!(of(&[Done, word, NotStarted], &[PlanStale, ViewIncomplete], false), 5, "{word:?}");
        }
        assert_eq!(of(&[Done, NotStarted], &[], true), 5, "interrupted");
    }

    #[test]
    fn what_was_removed_is_no_longer_found() {
        let stale = |id| {
            let target = Target::record(RecordId(id), None);
            Finding::new(FindingCode::StaleResourceRecord, Severity::Warning, target, "test")
        };
        let facts = Facts {
            run: "r".into(),
            plan: "p".into(),
            dry_run: false,
            interrupted: false,
            outcomes: vec![line(OutcomeWord::Done)],
            findings: vec![stale(7), stale(8)],
            audit_head: None,
            ledger: "/l".into(),
        };
        let applied = Applied::new(facts, Lang::En);
        let left: Vec<_> = applied.findings.iter().map(|found| found.finding.target.record).collect();
        assert_eq!(left, [Some(RecordId(8))]);
    }
}
