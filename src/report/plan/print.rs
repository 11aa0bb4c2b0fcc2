//! A plan for a person: what will happen and why, what will not and what it waits for.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{Planned, Shown, words};
use crate::compare::{Lang, Severity};
use crate::domain::text::printable;
use crate::domain::{HdfsPath, RecordId};
use crate::gates::{Gate, GateResult, Verdict};
use crate::plan::{Action, Advice, HeldBack, Plan, RecordTarget};
use crate::report::layout::{Page, Style};
use crate::report::terminal;
use crate::report::words::{choose, count, place};

/// Actions that are printed unless everything was asked for.
const ACTIONS_SHOWN: usize = 50;

/// Records and targets that are printed of one reason or remedy.
const TARGETS_SHOWN: usize = 5;

/// How to print a plan.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlanPrint<'a> {
    /// Colours and width.
    pub style: Style,
    /// Every finding and action.
    pub all: bool,
    /// The plan file, quoted for a shell; `None`: it was not written.
    pub file: Option<&'a str>,
    /// Options with which the proposed commands look at the same thing.
    pub options: &'a str,
}

/// Prints the report and the plan.
pub fn render(planned: &Planned, print: PlanPrint<'_>) -> String {
    let report = terminal::Print { style: print.style, all: print.all, options: None, from: None, with_ledger: None };
    let mut text = terminal::render(&planned.report, report);
    let lang = planned.report.lang;
    let mut page = Page::new(print.style);
    page.line("");
    headline(&mut page, &planned.plan, lang);
    recorded(&mut page, planned, lang);
    body(&mut page, &planned.plan, lang, Detail { gates: false, all: print.all, file: print.file });
    next(&mut page, planned, print);
    text.push_str(&page.into_text());
    text
}

/// Prints a plan by itself, with all gates and evidence.
pub fn render_shown(shown: &Shown, style: Style) -> String {
    let mut page = Page::new(style);
    headline(&mut page, &shown.plan, shown.lang);
    standing(&mut page, shown);
    body(&mut page, &shown.plan, shown.lang, Detail { gates: true, all: true, file: None });
    tried(&mut page, shown);
    page.into_text()
}

/// How much is printed of each action.
#[derive(Clone, Copy)]
struct Detail<'a> {
    gates: bool,
    all: bool,
    file: Option<&'a str>,
}

fn time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

fn headline(page: &mut Page, plan: &Plan, lang: Lang) {
    let style = page.style();
    let word = style.strong(choose(lang, "PLAN: ", "计划："));
    let held = plan.held_back.len();
    let line = match lang {
        Lang::En => format!("{} to delete; {held} held back", what_goes(plan, lang)),
        Lang::Zh => format!("将删除 {}；另有 {held} 条暂不处理", what_goes(plan, lang)),
    };
    page.line(&format!("{word}{line}"));
    let (created, expires) = (time(plan.created), time(plan.expires));
    page.line(&match lang {
        Lang::En => format!("Made {created}; can be applied until {expires}. Hash {}.", plan.hash),
        Lang::Zh => format!("生成于 {created}；可执行至 {expires}。哈希 {}。", plan.hash),
    });
}

/// "3 records (2 files, 1 directory) of tenants etl, ops".
pub fn what_goes(plan: &Plan, lang: Lang) -> String {
    let directories = plan.actions.iter().filter(|action| action.target.directory).count();
    let files = plan.actions.len() - directories;
    let tenants: BTreeSet<String> = plan.actions.iter().map(|action| printable(&action.target.tenant)).collect();
    let names = tenants.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let records = plan.actions.len();
    match lang {
        Lang::En if records == 0 => "nothing".to_owned(),
        Lang::Zh if records == 0 => "0 条资源记录".to_owned(),
        Lang::En => format!(
            "{} ({}, {}) of {} {names}",
            count(records, "record", "records"),
            count(files, "file", "files"),
            count(directories, "directory", "directories"),
            if tenants.len() == 1 { "tenant" } else { "tenants" }
        ),
        Lang::Zh => format!("租户 {names} 的 {records} 条资源记录（文件 {files}，目录 {directories}）"),
    }
}

fn recorded(page: &mut Page, planned: &Planned, lang: Lang) {
    let line = match (&planned.recorded_in, planned.plan.from_file, lang) {
        (_, true, Lang::En) => "Made from a saved inventory: it can be shown, never applied.".to_owned(),
        (_, true, Lang::Zh) => "根据保存的清单生成：只能查看，不能执行。".to_owned(),
        (Some(place), _, Lang::En) => format!("Recorded in the ledger {}.", printable(place)),
        (Some(place), _, Lang::Zh) => format!("已记入台账 {}。", printable(place)),
        (None, _, Lang::En) => "A dry look: not recorded, so it can never be applied; `-o FILE` records it.".to_owned(),
        (None, _, Lang::Zh) => "仅供查看：未记入台账，不能执行；用 `-o 文件` 才会记录。".to_owned(),
    };
    page.item("", &line);
}

fn standing(page: &mut Page, shown: &Shown) {
    let (lang, style) = (shown.lang, page.style());
    if shown.obstacles.is_empty() && shown.unchecked.is_empty() {
        let line = choose(
            lang,
            "It can be applied, as far as can be told without asking the systems.",
            "可以执行（未询问各系统，仅就已知情况而言）。",
        );
        page.line(&style.good(line));
    }
    if !shown.obstacles.is_empty() {
        let line = choose(lang, "STALE: it cannot be applied.", "已失效：不能执行。");
        page.line(&style.severity(Severity::Error, line));
    }
    for obstacle in &shown.obstacles {
        page.item("  - ", words::obstacle(*obstacle, lang));
    }
    for unchecked in &shown.unchecked {
        let what = match (unchecked.what.as_str(), lang) {
            (what, Lang::En) => format!("not checked against the {what}: "),
            ("ledger", Lang::Zh) => "未与台账核对：".to_owned(),
            (_, Lang::Zh) => "未与配置核对：".to_owned(),
        };
        page.item("  - ", &format!("{what}{}", printable(&unchecked.why)));
    }
}

fn body(page: &mut Page, plan: &Plan, lang: Lang, detail: Detail<'_>) {
    actions(page, plan, lang, detail);
    held_back(page, &plan.held_back, lang);
    advice(page, &plan.advice, lang);
    if !plan.notes.is_empty() {
        page.heading(choose(lang, "To know", "须知"));
        for note in &plan.notes {
            page.item("  - ", &printable(note));
        }
    }
}

fn actions(page: &mut Page, plan: &Plan, lang: Lang, detail: Detail<'_>) {
    if plan.actions.is_empty() {
        return;
    }
    page.heading(choose(lang, "What will happen, in this order", "将按以下顺序执行"));
    let shown = if detail.all { plan.actions.len() } else { ACTIONS_SHOWN };
    for action in plan.actions.iter().take(shown) {
        one(page, plan, action, lang, detail.gates);
    }
    if plan.actions.len() > shown {
        let rest = plan.actions.len() - shown;
        let show = detail.file.map_or_else(|| "--all".to_owned(), |file| format!("statewarden show {file}"));
        page.item(
            "  ",
            &match lang {
                Lang::En => format!("and {rest} more; `{show}` prints each"),
                Lang::Zh => format!("另有 {rest} 个动作；`{show}` 逐条显示"),
            },
        );
    }
}

fn one(page: &mut Page, plan: &Plan, action: &Action, lang: Lang, with_gates: bool) {
    let number = format!("  {}. ", action.id);
    page.item(&number, &target_line(&action.target, lang));
    let label = |en: &str, zh: &str| format!("     {}", choose(lang, en, zh));
    page.item(&label("path    ", "路径    "), &printable(action.target.path.as_str()));
    page.item(&label("owner   ", "所有者  "), &owner_line(&action.target, lang));
    if !action.after.is_empty() {
        let numbers: Vec<String> = action.after.iter().map(ToString::to_string).collect();
        page.item(&label("after   ", "先执行  "), &numbers.join(", "));
    }
    if with_gates {
        for result in &action.gates {
            gate_line(page, result, lang);
        }
    } else {
        page.item(&label("why     ", "依据    "), &why(&action.gates));
    }
    let effect = words::effect_of(plan, action, lang);
    page.item(&label("effect  ", "效果    "), &printable(&effect.expected));
    page.item(&label("undo    ", "撤销    "), &printable(&effect.undo));
}

fn target_line(target: &RecordTarget, lang: Lang) -> String {
    let kind = match (target.directory, lang) {
        (true, Lang::En) => "directory",
        (false, Lang::En) => "file",
        (true, Lang::Zh) => "目录",
        (false, Lang::Zh) => "文件",
    };
    let name = printable(&target.full_name);
    match lang {
        Lang::En => format!("delete record {}, {kind} {name}", target.record),
        Lang::Zh => format!("删除资源记录 {}，{kind} {name}", target.record),
    }
}

fn owner_line(target: &RecordTarget, lang: Lang) -> String {
    let (owner, tenant) = (printable(&target.owner), printable(&target.tenant));
    let updated = target.updated.map_or_else(|| "-".to_owned(), |time| time.strftime("%Y-%m-%d %H:%M:%S").to_string());
    match lang {
        Lang::En => format!("{owner} (id {}), tenant {tenant}; last updated {updated} (server time)", target.owner_id),
        Lang::Zh => format!("{owner}（id {}），租户 {tenant}；最后更新 {updated}（服务端时间）", target.owner_id),
    }
}

/// The evidence that a reader asks for first: gone now, gone before, and the server agrees.
fn why(gates: &[GateResult]) -> String {
    let first = [Gate::Absent, Gate::AbsentTwice, Gate::SameStore];
    let said = gates.iter().filter(|result| first.contains(&result.gate)).map(|result| printable(&result.evidence));
    said.collect::<Vec<_>>().join("; ")
}

fn gate_line(page: &mut Page, result: &GateResult, lang: Lang) {
    let name = result.gate.as_str();
    let (verdict, colon) = (words::verdict(result.verdict, lang), choose(lang, ": ", "："));
    page.item(&format!("     {name:<14}"), &format!("{verdict}{colon}{}", printable(&result.evidence)));
}

/// The records behind one reason of one gate.
type Waiting<'p> = BTreeMap<(Verdict, &'p str), Vec<&'p HeldBack>>;

fn held_back(page: &mut Page, held: &[HeldBack], lang: Lang) {
    if held.is_empty() {
        return;
    }
    page.heading(choose(lang, "Held back, and what it waits for", "暂不处理的记录及其等待的条件"));
    for gate in Gate::ALL {
        let mut waiting: Waiting<'_> = BTreeMap::new();
        for record in held {
            for result in record.waits_for.iter().filter(|result| result.gate == *gate) {
                waiting.entry((result.verdict, &result.evidence)).or_default().push(record);
            }
        }
        if !waiting.is_empty() {
            page.item("  ", &format!("{gate}{}{}", choose(lang, ": ", "："), words::gate(*gate, lang)));
            reasons(page, &waiting, lang);
        }
    }
    let by_limit: Vec<&HeldBack> = held.iter().filter(|record| record.by_limit).collect();
    if !by_limit.is_empty() {
        page.item("  ", choose(lang, "LIMIT: left out by --limit alone", "LIMIT：仅因 --limit 而未列入"));
        records(page, &by_limit, lang);
    }
}

fn reasons(page: &mut Page, waiting: &Waiting<'_>, lang: Lang) {
    for ((verdict, evidence), held) in waiting {
        let colon = choose(lang, ": ", "：");
        page.item("    - ", &format!("{}{colon}{}", words::verdict(*verdict, lang), printable(evidence)));
        records(page, held, lang);
    }
}

fn records(page: &mut Page, held: &[&HeldBack], lang: Lang) {
    let line = |id: RecordId, path: &HdfsPath| match lang {
        Lang::En => format!("record {id}  {}", printable(path.as_str())),
        Lang::Zh => format!("资源记录 {id}  {}", printable(path.as_str())),
    };
    let lines: Vec<String> = held.iter().map(|record| line(record.record, &record.path)).collect();
    targets(page, &lines, lang);
}

fn targets(page: &mut Page, lines: &[String], lang: Lang) {
    for line in lines.iter().take(TARGETS_SHOWN) {
        page.item("        ", line);
    }
    if lines.len() > TARGETS_SHOWN {
        let rest = lines.len() - TARGETS_SHOWN;
        page.item(
            "        ",
            &match lang {
                Lang::En => format!("and {rest} more (`--output json` has each)"),
                Lang::Zh => format!("另有 {rest} 条（`--output json` 列出全部）"),
            },
        );
    }
}

/// Where a remedy applies; of a workflow with its name and owner, who is to make the edit.
fn on_what(advice: &Advice, lang: Lang) -> String {
    let place = place(&advice.target, lang).join(", ");
    advice.whose.as_ref().map_or_else(|| place.clone(), |whose| format!("{place}: {}", printable(whose)))
}

fn advice(page: &mut Page, advice: &[Advice], lang: Lang) {
    if advice.is_empty() {
        return;
    }
    page.heading(choose(lang, "Not for this program to do", "需要人工处理"));
    let mut by_remedy: BTreeMap<_, Vec<&Advice>> = BTreeMap::new();
    for item in advice {
        by_remedy.entry((item.remedy, item.to.as_ref())).or_default().push(item);
    }
    for ((remedy, to), items) in by_remedy {
        page.item("  - ", remedy.text(lang));
        if let Some(to) = to {
            let label = choose(lang, "new root: ", "新的根目录：");
            page.item("    ", &format!("{label}{}", printable(to.as_str())));
        }
        let lines: Vec<String> = items.iter().map(|item| on_what(item, lang)).collect();
        targets(page, &lines, lang);
    }
}

fn tried(page: &mut Page, shown: &Shown) {
    if shown.tried.is_empty() {
        return;
    }
    page.heading(choose(shown.lang, "What became of it so far", "已执行的结果"));
    for tried in &shown.tried {
        let open = choose(shown.lang, "begun, outcome not known yet", "已开始，结果未知");
        let said = tried
            .outcome
            .as_ref()
            .map_or_else(|| open.to_owned(), |outcome| format!("{:?}: {}", outcome.outcome, printable(&outcome.why)));
        page.item(&format!("  {}. ", tried.action), &said);
    }
}

fn next(page: &mut Page, planned: &Planned, print: PlanPrint<'_>) {
    let lang = planned.report.lang;
    page.heading(choose(lang, "Next", "下一步"));
    let options = if print.options.is_empty() { String::new() } else { format!(" {}", print.options) };
    let waits = planned.plan.held_back.iter().any(|held| held.gates().contains(&Gate::AbsentTwice));
    if let Some(file) = print.file {
        page.line(&format!("  statewarden show {file}{options}"));
        if !planned.plan.from_file && !planned.plan.actions.is_empty() {
            page.line(&format!("  statewarden apply {file}{options}"));
        }
    }
    if waits && !planned.plan.from_file {
        page.line(&format!("  statewarden plan{options} --wait -o plan.json"));
    } else if print.file.is_none() && !planned.plan.from_file {
        page.line(&format!("  statewarden plan{options} -o plan.json"));
    }
    if planned.plan.actions.is_empty() && !planned.plan.held_back.is_empty() {
        page.line(&format!("  statewarden explain{options} record:{}", planned.plan.held_back[0].record));
    }
}
