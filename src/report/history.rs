//! The runs of a ledger, and what changed between two of them.

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{ContentArrangement, Table};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layout::{Page, Style};
use super::model::ReportedFinding;
use super::words::{choose, count, place, severity};
use crate::compare::{Finding, Lang};
use crate::domain::text::printable;
use crate::ports::ledger::{Difference, RunEntry};

/// Version of the JSON form of `history`.
pub const HISTORY_SCHEMA: &str = "statewarden/history/v1";

/// Version of the JSON form of `diff`.
pub const DIFFERENCE_SCHEMA: &str = "statewarden/difference/v1";

/// Characters of an id that are shown: of a UUID v7 they hold the time to the millisecond.
const ID_SHOWN: usize = 13;

/// One run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunLine {
    /// Id.
    pub run: String,
    /// `drift`, `plan` or `apply`.
    pub verb: String,
    /// When it began.
    #[schemars(with = "String")]
    pub started: Timestamp,
    /// When it ended; `null` for one that is under way or was killed.
    #[schemars(with = "Option<String>")]
    pub ended: Option<Timestamp>,
    /// What it looked at: runs of one scope can be compared.
    pub scope: String,
    /// How it ended: `clean`, `drift`, `incomplete`, `refused`, `not_proven`, `failure`; `null` if it did not.
    pub exit: Option<String>,
    /// Findings of severity warning and above.
    pub findings: u64,
}

impl From<&RunEntry> for RunLine {
    fn from(entry: &RunEntry) -> Self {
        let RunEntry { run, verb, started, ended, scope, exit, findings } = entry.clone();
        Self { run, verb, started, ended, scope, exit, findings }
    }
}

/// Runs, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct History {
    /// Name and version of this form: `statewarden/history/v1`.
    pub schema: String,
    /// Place of the ledger.
    pub ledger: String,
    /// The runs.
    pub runs: Vec<RunLine>,
}

impl History {
    /// The runs of a ledger.
    pub fn new(ledger: String, runs: &[RunEntry]) -> Self {
        Self { schema: HISTORY_SCHEMA.to_owned(), ledger, runs: runs.iter().map(RunLine::from).collect() }
    }
}

/// Prints the runs for a person.
pub fn render(history: &History, lang: Lang, style: Style) -> String {
    let mut page = Page::new(style);
    let ledger = printable(&history.ledger);
    if history.runs.is_empty() {
        page.item(
            "",
            &match lang {
                Lang::En => format!("The ledger {ledger} holds no run yet; `statewarden drift` records one."),
                Lang::Zh => format!("台账 {ledger} 中还没有运行；`statewarden drift` 会记录一次。"),
            },
        );
        return page.into_text();
    }
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header([
        choose(lang, "run", "运行"),
        choose(lang, "what", "命令"),
        choose(lang, "began (UTC)", "开始（UTC）"),
        choose(lang, "took", "用时"),
        choose(lang, "ended as", "结果"),
        choose(lang, "findings", "问题数"),
        choose(lang, "scope", "范围"),
    ]);
    for run in &history.runs {
        table.add_row(cells(run, lang));
    }
    for line in table.lines() {
        page.line(line.trim_end());
    }
    let note = choose(
        lang,
        "Runs of one scope looked at the same with the same configuration and can be compared: statewarden diff previous last",
        "范围相同的运行配置与查看对象相同，可以比较：statewarden diff previous last",
    );
    page.item("", note);
    page.into_text()
}

fn cells(run: &RunLine, lang: Lang) -> [String; 7] {
    let took = run.ended.map(|ended| format!("{} s", ended.duration_since(run.started).as_secs()));
    let open = choose(lang, "not ended", "未结束");
    [
        shorten(&run.run, ID_SHOWN),
        printable(&run.verb),
        run.started.strftime("%Y-%m-%d %H:%M:%S").to_string(),
        took.unwrap_or_else(|| "-".to_owned()),
        run.exit.as_deref().map_or_else(|| open.to_owned(), printable),
        run.findings.to_string(),
        shorten(&run.scope, 8),
    ]
}

fn shorten(text: &str, characters: usize) -> String {
    printable(&text.chars().take(characters).collect::<String>())
}

/// What changed between two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Changes {
    /// Name and version of this form: `statewarden/difference/v1`.
    pub schema: String,
    /// Language of titles and remedies.
    pub lang: Lang,
    /// The earlier run.
    pub earlier: RunLine,
    /// The later run.
    pub later: RunLine,
    /// Only in the later one.
    pub new: Vec<ReportedFinding>,
    /// Only in the earlier one, and the later one would have seen it.
    pub gone: Vec<ReportedFinding>,
    /// In both.
    pub known: Vec<ReportedFinding>,
    /// Only in the earlier one, but the later one had gaps or another scope: not known to be gone.
    pub unclear: Vec<ReportedFinding>,
}

impl Changes {
    /// The difference of two runs in words.
    pub fn new(earlier: &RunEntry, later: &RunEntry, difference: &Difference, lang: Lang) -> Self {
        let of = |findings: &[Finding]| {
            findings.iter().map(|finding| ReportedFinding::new(finding, lang)).collect::<Vec<_>>()
        };
        Self {
            schema: DIFFERENCE_SCHEMA.to_owned(),
            lang,
            earlier: earlier.into(),
            later: later.into(),
            new: of(&difference.new),
            gone: of(&difference.gone),
            known: of(&difference.known),
            unclear: of(&difference.unclear),
        }
    }
}

/// Prints a difference for a person.
pub fn render_changes(changes: &Changes, style: Style) -> String {
    let mut page = Page::new(style);
    let lang = changes.lang;
    let [new, gone, known] = [changes.new.len(), changes.gone.len(), changes.known.len()];
    page.line(&style.strong(&match lang {
        Lang::En => format!("{new} new, {gone} gone, {known} in both"),
        Lang::Zh => format!("新增 {new}，消失 {gone}，两次都有 {known}"),
    }));
    for (label, run) in
        [(choose(lang, "from ", "从 "), &changes.earlier), (choose(lang, "to   ", "到 "), &changes.later)]
    {
        page.line(&format!("{label}{}", run_line(run)));
    }
    if changes.earlier.scope != changes.later.scope {
        let note = choose(
            lang,
            "The two runs looked at different things or by another configuration: a difference may come from that alone.",
            "两次运行的查看对象或配置不同：差异可能仅由此造成。",
        );
        page.item("", note);
    }
    side(&mut page, choose(lang, "New", "新增"), &changes.new, lang);
    side(&mut page, choose(lang, "Gone", "消失"), &changes.gone, lang);
    side(&mut page, choose(lang, "Not known to be gone", "不能认定已消失"), &changes.unclear, lang);
    if !changes.known.is_empty() {
        page.line("");
        page.item(
            "",
            &match lang {
                Lang::En => format!("{} in both (`--output json` has them)", count(known, "finding", "findings")),
                Lang::Zh => format!("两次都有 {known} 项（`--output json` 列出全部）"),
            },
        );
    }
    page.into_text()
}

fn run_line(run: &RunLine) -> String {
    let ended = run.ended.unwrap_or(run.started).strftime("%Y-%m-%d %H:%M:%S UTC");
    format!("{}  {}  {ended}", printable(&run.run), printable(&run.verb))
}

fn side(page: &mut Page, heading: &str, findings: &[ReportedFinding], lang: Lang) {
    if findings.is_empty() {
        return;
    }
    page.heading(heading);
    for found in findings {
        let finding = &found.finding;
        let target = place(&finding.target, lang).join(", ");
        page.item(
            "  - ",
            &format!("{} {} ({}): {target}", severity(finding.severity, lang), found.title, finding.code),
        );
    }
}
