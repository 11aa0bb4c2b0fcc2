//! The report for a person: the verdict first, then what was found, what could not be told, what was read, and what to do next.

mod read;

use std::collections::{BTreeMap, BTreeSet};

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{ContentArrangement, Table};

use super::layout::{Page, Style, wrap};
use super::model::{Change, CouldNotTell, Report, ReportedFinding, Summary, Verdict};
use super::words::{self, Word};
use crate::compare::code::Effect;
use crate::compare::{FindingCode, Lang, Remedy, Severity};
use crate::domain::text::printable;

/// More findings of one code and severity in one directory than this are folded into one line.
const FOLD_ABOVE: usize = 5;
/// So many of a folded group are shown.
const FOLD_TO: usize = 2;
/// So many lines of one code and severity are shown at all, unless everything was asked for.
const LINES_OF_ONE_CODE: usize = 15;

/// So many facts of a finding stand in the table; `explain` has all of them.
const FACTS_SHOWN: usize = 2;

/// How to print a report.
#[derive(Debug, Clone, Copy)]
pub struct Print<'a> {
    /// Colours and width.
    pub style: Style,
    /// Fold nothing.
    pub all: bool,
    /// Options with which the proposed commands look at the same thing, such as `--config FILE`; `None`: propose none.
    pub options: Option<&'a str>,
    /// `--from FILE`, if an inventory file was judged. `doctor` asks the systems and takes no such option.
    pub from: Option<&'a str>,
    /// The same options with the ledger, for the commands that take one; `None`: do not propose to plan.
    pub with_ledger: Option<&'a str>,
}

impl Default for Print<'_> {
    fn default() -> Self {
        Self { style: Style::default(), all: false, options: Some(""), from: None, with_ledger: None }
    }
}

/// Prints a report.
pub fn render(report: &Report, print: Print<'_>) -> String {
    let mut page = Page::new(print.style);
    verdict(&mut page, report);
    findings(&mut page, report, print.all);
    could_not_tell(&mut page, report);
    since(&mut page, report);
    ignored(&mut page, report);
    read::views(&mut page, report);
    if let Some(options) = print.options {
        next(&mut page, report, options, print);
    }
    page.into_text()
}

fn verdict(page: &mut Page, report: &Report) {
    let style = page.style();
    let lang = report.lang;
    let drift = report.findings.iter().any(|f| is_drift(f) && f.finding.severity >= Severity::Warning);
    let (word, severity) = match report.exit.word {
        _ if drift => (Word::Drift, worst(report)),
        Verdict::Incomplete | Verdict::Refused | Verdict::NotProven => (Word::Incomplete, Some(Severity::Warning)),
        Verdict::Clean | Verdict::Drift => (Word::InSync, None),
    };
    let word = word.text(lang);
    let word = style.strong(&severity.map_or_else(|| style.good(word), |severity| style.severity(severity, word)));
    let separator = if lang == Lang::En { ": " } else { "：" };
    page.line(&format!("{word}{separator}{}", numbers(report)));
    page.line(&times(report));
}

fn worst(report: &Report) -> Option<Severity> {
    report.findings.iter().filter(|f| is_drift(f)).map(|f| f.finding.severity).max()
}

fn is_drift(finding: &ReportedFinding) -> bool {
    finding.finding.code.effect() == Effect::Drift
}

/// "5 findings (1 critical, 2 error); 2 things could not be told".
fn numbers(report: &Report) -> String {
    let word = |(severity, n)| format!("{n} {}", words::severity(severity, report.lang));
    let by_severity: Vec<String> = severities(report).into_iter().map(word).collect();
    match report.lang {
        Lang::En => numbers_en(&report.summary, &by_severity),
        Lang::Zh => numbers_zh(&report.summary, &by_severity),
    }
}

fn numbers_en(summary: &Summary, by_severity: &[String]) -> String {
    let head = words::count(summary.drift, "finding", "findings");
    let severities = if by_severity.is_empty() { String::new() } else { format!(" ({})", by_severity.join(", ")) };
    let unclear = match summary.could_not_tell {
        0 => String::new(),
        n => format!("; {} could not be told", words::count(n, "thing", "things")),
    };
    format!("{head}{severities}{unclear}")
}

fn numbers_zh(summary: &Summary, by_severity: &[String]) -> String {
    let head = match summary.drift {
        0 => "未发现不一致".to_owned(),
        n => format!("{n} 项"),
    };
    let severities = if by_severity.is_empty() { String::new() } else { format!("（{}）", by_severity.join("，")) };
    let unclear = match summary.could_not_tell {
        0 => String::new(),
        n => format!("；{n} 项无法判断"),
    };
    format!("{head}{severities}{unclear}")
}

fn severities(report: &Report) -> Vec<(Severity, usize)> {
    let mut counts: BTreeMap<Severity, usize> = BTreeMap::new();
    for finding in report.findings.iter().filter(|f| is_drift(f)) {
        *counts.entry(finding.finding.severity).or_default() += 1;
    }
    counts.into_iter().rev().collect()
}

fn times(report: &Report) -> String {
    let taken = report.inventory.taken.strftime("%Y-%m-%d %H:%M:%S UTC");
    let ahead = report.inventory.namenode_clock_ahead_seconds;
    match (report.lang, ahead) {
        (Lang::En, Some(ahead)) => {
            format!("As of {taken}; NameNode clock {ahead:+} s; exit code {}.", report.exit.code)
        }
        (Lang::En, None) => format!("As of {taken}; exit code {}.", report.exit.code),
        (Lang::Zh, Some(ahead)) => {
            format!("截至 {taken}；NameNode 时钟偏差 {ahead:+} 秒；退出码 {}。", report.exit.code)
        }
        (Lang::Zh, None) => format!("截至 {taken}；退出码 {}。", report.exit.code),
    }
}

/// One line of the table.
enum Row<'a> {
    One(&'a ReportedFinding),
    /// So many more of the same code and severity as the line above, in this directory or in several.
    More(&'a ReportedFinding, usize, Option<String>),
}

fn findings(page: &mut Page, report: &Report, all: bool) {
    let drift: Vec<&ReportedFinding> = report.findings.iter().filter(|f| is_drift(f)).collect();
    if drift.is_empty() {
        let word = if report.could_not_tell.is_empty() { Word::NothingFound } else { Word::NothingFoundSoFar };
        page.line(&format!("\n{}", word.text(report.lang)));
        return;
    }
    let rows = if all { drift.into_iter().map(Row::One).collect() } else { folded(&drift) };
    let mut notes: Vec<Remedy> = Vec::new();
    let table = table(&rows, report.lang, page.style(), &mut notes);
    page.line("");
    for line in colored(&table, page.style(), report.lang) {
        page.line(&line);
    }
    page.heading(Word::WhatToDo.text(report.lang));
    for (n, remedy) in notes.iter().enumerate() {
        page.item(&format!("  [{}] ", n + 1), remedy.text(report.lang));
    }
}

/// Folds the findings of each code and severity: few of each directory, few lines in all.
fn folded<'a>(sorted: &[&'a ReportedFinding]) -> Vec<Row<'a>> {
    sorted
        .chunk_by(|a, b| (a.finding.code, a.finding.severity) == (b.finding.code, b.finding.severity))
        .flat_map(fold_group)
        .collect()
}

fn fold_group<'a>(group: &[&'a ReportedFinding]) -> Vec<Row<'a>> {
    let mut by_directory: BTreeMap<&str, Vec<&'a ReportedFinding>> = BTreeMap::new();
    for finding in group {
        by_directory.entry(directory(finding)).or_default().push(finding);
    }
    let mut rows = Vec::new();
    let mut rest = 0;
    for (directory, findings) in by_directory {
        let shown = if findings.len() > FOLD_ABOVE { FOLD_TO } else { findings.len() };
        if rows.len() + shown >= LINES_OF_ONE_CODE {
            rest += findings.len();
            continue;
        }
        rows.extend(findings.iter().take(shown).map(|finding| Row::One(finding)));
        if findings.len() > shown {
            rows.push(Row::More(findings[0], findings.len() - shown, Some(directory.to_owned())));
        }
    }
    if rest > 0 {
        rows.push(Row::More(group[0], rest, None));
    }
    rows
}

/// The directory a finding is folded under; empty for one without a path.
fn directory(finding: &ReportedFinding) -> &str {
    let path = finding.finding.target.path.as_deref().unwrap_or_default();
    path.rfind('/').map_or("", |at| &path[..at.max(1)])
}

/// Columns of the cells, so that a row fits the line: severity and footnote are short, the rest is shared.
#[derive(Clone, Copy)]
struct Columns {
    what: usize,
    place: usize,
    why: usize,
}

impl Columns {
    /// What severity, footnote, and the blanks around five cells take.
    const FIXED: usize = 8 + 6 + 14;

    fn of(style: Style) -> Self {
        let rest = style.width.max(60) - Self::FIXED;
        let (what, place) = (rest * 31 / 100, rest * 37 / 100);
        Self { what, place, why: rest - what - place }
    }
}

fn table(rows: &[Row<'_>], lang: Lang, style: Style, notes: &mut Vec<Remedy>) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header([Word::Severity, Word::What, Word::Where, Word::Why, Word::Remedy].map(|word| word.text(lang)));
    for row in rows {
        table.add_row(cells(row, lang, Columns::of(style), notes));
    }
    table
}

fn cells(row: &Row<'_>, lang: Lang, columns: Columns, notes: &mut Vec<Remedy>) -> [String; 5] {
    let (found, what, place, why) = match row {
        Row::One(found) => {
            let finding = &found.finding;
            let mut place = words::place(&finding.target, lang);
            place.extend(finding.other.iter().map(|other| format!("<-> {}", printable(other))));
            let why = finding.evidence.iter().take(FACTS_SHOWN).map(|fact| printable(fact)).collect();
            let title = match found.change {
                Some(Change::New) => format!("{} {}", words::choose(lang, "NEW", "新增"), found.title),
                Some(Change::Known) | None => found.title.clone(),
            };
            (found, vec![title, finding.code.to_string()], place, why)
        }
        Row::More(found, n, directory) => {
            let (more, hint) = match lang {
                Lang::En => (format!("+ {n} more"), "`--all` shows each"),
                Lang::Zh => (format!("另有 {n} 项"), "用 `--all` 逐条显示"),
            };
            let place = more_place(directory.as_deref(), lang);
            (found, vec![more, found.finding.code.to_string()], vec![place], vec![hint.to_owned()])
        }
    };
    let number = footnote(notes, found.finding.remedy);
    [
        words::severity(found.finding.severity, lang).to_owned(),
        cell(&what, columns.what),
        cell(&place, columns.place),
        cell(&why, columns.why),
        format!("[{number}]"),
    ]
}

fn cell(parts: &[String], width: usize) -> String {
    parts.iter().flat_map(|part| wrap(part, width)).collect::<Vec<_>>().join("\n")
}

fn more_place(directory: Option<&str>, lang: Lang) -> String {
    match (directory, lang) {
        (Some(""), Lang::En) => "without a path".to_owned(),
        (Some(""), Lang::Zh) => "没有路径".to_owned(),
        (Some(directory), Lang::En) => format!("in {}", printable(directory)),
        (Some(directory), Lang::Zh) => format!("位于 {}", printable(directory)),
        (None, Lang::En) => "in other places".to_owned(),
        (None, Lang::Zh) => "其他位置".to_owned(),
    }
}

fn footnote(notes: &mut Vec<Remedy>, remedy: Remedy) -> usize {
    let at = notes.iter().position(|note| *note == remedy).unwrap_or_else(|| {
        notes.push(remedy);
        notes.len() - 1
    });
    at + 1
}

/// The lines of the table with the severities coloured: they are the first word of the first line of each row.
fn colored(table: &Table, style: Style, lang: Lang) -> Vec<String> {
    const ALL: [Severity; 4] = [Severity::Critical, Severity::Error, Severity::Warning, Severity::Info];
    let paint = |line: String| {
        let word = |severity: &Severity| words::severity(*severity, lang);
        let found = ALL.iter().find(|severity| line.trim_start().split(' ').next() == Some(word(severity)));
        found.map_or_else(
            || line.clone(),
            |severity| line.replacen(word(severity), &style.severity(*severity, word(severity)), 1),
        )
    };
    table.lines().map(|line| paint(line.trim_end().to_owned())).collect()
}

fn could_not_tell(page: &mut Page, report: &Report) {
    if report.could_not_tell.is_empty() {
        return;
    }
    page.heading(Word::CouldNotTell.text(report.lang));
    for item in &report.could_not_tell {
        unclear(page, item, report.lang);
    }
}

fn unclear(page: &mut Page, item: &CouldNotTell, lang: Lang) {
    let place = words::place(&item.target, lang).join(", ");
    let separator = if place.is_empty() { "" } else { ": " };
    page.item("  - ", &format!("{} ({}){separator}{place}", item.code.title(lang), item.code));
    let said = |cause: &String| item.evidence.iter().any(|fact| fact.contains(cause.as_str()));
    let causes: Vec<String> = item.causes.iter().map(ToString::to_string).filter(|cause| !said(cause)).collect();
    if !causes.is_empty() {
        page.item(&format!("    {}: ", Word::Cause.text(lang)), &causes.join(", "));
    }
    for fact in &item.evidence {
        page.item("    ", &printable(fact));
    }
    page.item("    -> ", &item.remedy_text);
}

/// What an earlier run had and this one has not.
fn since(page: &mut Page, report: &Report) {
    let Some(since) = &report.since else { return };
    let lang = report.lang;
    let ended = since.ended.map(|time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()).unwrap_or_default();
    let (new, known) = (since.new, since.known);
    page.heading(&match lang {
        Lang::En => format!("Since run {} of {ended}: {new} new, {known} known, {} gone", since.run, since.gone.len()),
        Lang::Zh => {
            format!("与 {ended} 的运行 {} 相比：新增 {new}，已知 {known}，消失 {}", since.run, since.gone.len())
        }
    });
    let line = |page: &mut Page, word: &str, found: &ReportedFinding| {
        let place = words::place(&found.finding.target, lang).join(", ");
        page.item(&format!("  {word} "), &format!("{} ({}): {place}", found.title, found.finding.code));
    };
    for found in report.findings.iter().filter(|found| found.change == Some(Change::New)) {
        line(page, words::choose(lang, "new    ", "新增  "), found);
    }
    for found in &since.gone {
        line(page, words::choose(lang, "gone   ", "消失  "), found);
    }
    for found in &since.unclear {
        line(page, words::choose(lang, "unclear", "不明  "), found);
    }
    if !since.unclear.is_empty() {
        let note = words::choose(
            lang,
            "unclear: not seen now, but a view had gaps or something else was looked at",
            "不明：本次未看到，但视图有缺口或查看范围不同，不能认定已消失",
        );
        page.item("  ", note);
    }
}

fn ignored(page: &mut Page, report: &Report) {
    unknown_tenants(page, report);
    if report.ignored.is_empty() && report.idle_ignores.is_empty() {
        return;
    }
    page.heading(Word::Ignored.text(report.lang));
    let mut by_reason: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for item in &report.ignored {
        *by_reason.entry((&item.reason, item.finding.finding.code.as_str())).or_default() += 1;
    }
    for ((reason, code), n) in by_reason {
        page.item("  - ", &format!("{n} x {code}: {}", printable(reason)));
    }
    for idle in &report.idle_ignores {
        page.item("  - ", &printable(idle));
    }
}

/// Names in `ds.tenants` that mean nothing: without these lines a misspelt one looks like a tenant without drift.
fn unknown_tenants(page: &mut Page, report: &Report) {
    for tenant in &report.unknown_tenants {
        let tenant = printable(tenant);
        page.item("", &match report.lang {
            Lang::En => format!(
                "ATTENTION: tenant {tenant} of the configuration has neither a user nor a directory; is it misspelt? Nothing was said about it."
            ),
            Lang::Zh => format!("注意：配置中的租户 {tenant} 既没有用户也没有目录，是否拼写有误？本报告未涉及该租户。"),
        });
    }
}

fn next(page: &mut Page, report: &Report, options: &str, print: Print<'_>) {
    let Print { from, with_ledger, .. } = print;
    page.heading(Word::Next.text(report.lang));
    let spaced = |options: &str| if options.is_empty() { String::new() } else { format!(" {options}") };
    let (options, ledger) = (spaced(options), spaced(with_ledger.unwrap_or(options)));
    let same = from.map_or_else(|| options.clone(), |from| format!("{options} {from}"));
    let mut said = BTreeSet::new();
    for finding in report.findings.iter().filter(|f| is_drift(f)).take(20) {
        let target = words::explain_argument(&finding.finding);
        if said.len() < 2 && said.insert(target.clone()) {
            page.line(&format!("  statewarden explain{same} {target}"));
        }
    }
    let is_stale = |f: &ReportedFinding| f.finding.code == FindingCode::StaleResourceRecord;
    if with_ledger.is_some() && report.findings.iter().any(is_stale) {
        page.line(&format!("  statewarden plan{ledger} --wait -o plan.json"));
    }
    if !report.could_not_tell.is_empty() {
        page.line(&format!("  statewarden doctor{ledger}"));
    }
    // A saved inventory is judged without a ledger.
    let again = if from.is_some() { &same } else { &ledger };
    if report.findings.iter().any(is_drift) {
        page.line(&format!("  statewarden drift{again} --output json"));
    }
    if from.is_none() {
        page.line(&format!("  statewarden drift{again} --save inventory.json"));
    }
}
