//! An explanation as a person reads it.

use super::search::relation_note;
use super::{
    Children, Explanation, FindingFacts, GapFacts, JobFacts, PathFacts, PointFacts, RecordFacts, RunFacts, Subject,
    WorkflowFacts,
};
use crate::compare::Lang;
use crate::domain::ResourceKind;
use crate::domain::text::printable;
use crate::report::layout::{Page, Style};
use crate::report::words;

/// Entries of a section that are printed for a person.
const SECTION_SHOWN: usize = 25;

/// Prints an explanation for a person.
pub fn render(explanation: &Explanation, style: Style) -> String {
    let mut page = Page::new(style);
    page.line(&style.strong(&subject_line(&explanation.subject)));
    page.line(&format!("As of {}.", explanation.taken.strftime("%Y-%m-%d %H:%M:%S UTC")));
    print_paths(&mut page, &explanation.paths);
    print_runs(&mut page, &explanation.runs);
    print_points(&mut page, &explanation.restore_points);
    print_jobs(&mut page, &explanation.jobs);
    print_records(&mut page, &explanation.records);
    print_workflows(&mut page, &explanation.workflows);
    print_findings(&mut page, &explanation.findings);
    print_gaps(&mut page, &explanation.gaps);
    page.into_text()
}

fn subject_line(subject: &Subject) -> String {
    match subject {
        Subject::Path(path) => printable(path.as_str()),
        Subject::Job(id) => format!("job {id}"),
        Subject::Record(id) => format!("record {id}"),
        Subject::Workflow(code) => format!("workflow {code}"),
    }
}

fn print_paths(page: &mut Page, paths: &[PathFacts]) {
    page.heading("HDFS");
    if paths.is_empty() {
        page.item("  ", "it leads to no path that is known");
    }
    for facts in shown(page, paths) {
        page.item("  ", &printable(facts.path.as_str()));
        page.item("    ", &printable(&facts.said));
        let parent = match facts.parent.as_str() {
            "complete" => "its directory was listed to the end",
            "cut-short" => "its directory was listed in part only",
            _ => "its directory was not listed",
        };
        let proof = if facts.proven_absent { "; its absence counts as proven" } else { "" };
        page.item("    ", &format!("{parent}{proof}"));
        for role in &facts.role {
            page.item("    ", &printable(role));
        }
        if let Some(total) = &facts.total {
            page.item("    ", total);
        }
        if let Some(children) = &facts.children {
            print_children(page, children);
        }
    }
}

/// The first entries of a section, and a line that says how many more there are.
fn shown<'b, T>(page: &mut Page, all: &'b [T]) -> &'b [T] {
    if all.len() <= SECTION_SHOWN {
        return all;
    }
    page.item(
        "  ",
        &format!("{} in all; the first {SECTION_SHOWN} of them, the rest with `--output json`:", all.len()),
    );
    &all[..SECTION_SHOWN]
}

fn print_children(page: &mut Page, children: &Children) {
    let names: Vec<String> = children.first.iter().map(|name| printable(name)).collect();
    let more = children.entries - children.first.len();
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let end = if children.complete { "" } else { " (listed in part only)" };
    let colon = if names.is_empty() { "" } else { ": " };
    let entries = words::count(children.entries, "entry", "entries");
    page.item("    ", &format!("{entries}{end}{colon}{}{more}", names.join(", ")));
}

fn print_runs(page: &mut Page, runs: &[RunFacts]) {
    if runs.is_empty() {
        return;
    }
    page.heading("May it go?");
    for run in shown(page, runs) {
        let application = run.application.as_ref().map_or_else(String::new, |name| format!(" (application {name})"));
        page.item("  ", &printable(&format!("{}{application}", run.path)));
        let widest = run.gates.iter().map(|result| result.gate.as_str().len()).max().unwrap_or(0);
        for result in &run.gates {
            let line =
                format!("{:widest$}  {:7}  {}", result.gate.as_str(), result.verdict.to_string(), result.evidence);
            page.item("    ", &printable(&line));
        }
        let end = if run.free { "nothing needs this directory any more" } else { "it stays" };
        page.item("    ", end);
    }
}

fn print_points(page: &mut Page, points: &[PointFacts]) {
    if points.is_empty() {
        return;
    }
    page.heading("Restore points");
    for point in shown(page, points) {
        page.item("  ", &printable(point.path.as_str()));
        let names = words::count(point.names, "name", "names");
        page.item("    ", &printable(&format!("{names} in its _metadata; {}", point.state)));
        page.item("    ", &point.movable);
        for need in &point.needs {
            page.item("    ", &printable(&format!("needs {need}")));
        }
        for free in &point.frees {
            page.item("    ", &printable(&format!("without it nothing needs {free}")));
        }
    }
}

fn print_jobs(page: &mut Page, jobs: &[JobFacts]) {
    page.heading("Flink");
    if jobs.is_empty() {
        page.item("  ", "no job that was read has state at, above or below it");
    }
    for job in shown(page, jobs) {
        let live = if job.live { "live" } else { "ended" };
        let head = format!("{} on {}: {} ({}, {live})", job.id, job.cluster, job.name, job.state);
        page.item("  ", &printable(&head));
        for state in &job.state_paths {
            let relation = relation_note(state.relation, false);
            page.item("    ", &printable(&format!("{}: {}{relation}", state.what, state.place)));
        }
        if job.state_paths.is_empty() {
            page.item("    ", "shows no restore point here");
        }
    }
}

fn print_records(page: &mut Page, records: &[RecordFacts]) {
    page.heading("Resource records");
    if records.is_empty() {
        page.item("  ", "no record that was read maps to it");
    }
    for record in shown(page, records) {
        let kind = match (record.kind, record.directory) {
            (_, true) => "directory",
            (ResourceKind::File, false) => "file",
            (ResourceKind::Udf, false) => "UDF file",
        };
        let relation = relation_note(record.relation, false);
        let head = format!("record {} {} ({kind}){relation}", record.id, record.full_name);
        page.item("  ", &printable(&head));
        let path = record.path.as_ref().map_or_else(|| "no path: never looked up".to_owned(), ToString::to_string);
        page.item("    ", &printable(&format!("owner {}, tenant {}; maps to {path}", record.owner, record.tenant)));
        let size = record.size.map_or_else(|| "size not known".to_owned(), |size| format!("{size} bytes"));
        let updated = record.updated.as_deref().unwrap_or("not known");
        page.item("    ", &format!("{size}, last update {updated} (server time)"));
        if let Some(opinion) = &record.opinion {
            page.item("    ", &printable(&format!("DolphinScheduler itself: {opinion}")));
        }
    }
}

fn print_workflows(page: &mut Page, workflows: &[WorkflowFacts]) {
    page.heading("Workflows");
    if workflows.is_empty() {
        page.item("  ", "no workflow that was read references it or sets a state directory there");
    }
    for workflow in shown(page, workflows) {
        let release = if workflow.online { "ONLINE" } else { "OFFLINE" };
        let head = format!("{} {} ({release}, project {})", workflow.code, workflow.name, workflow.project);
        page.item("  ", &printable(&head));
        for tie in &workflow.ties {
            page.item("    ", &printable(tie));
        }
    }
}

fn print_findings(page: &mut Page, findings: &[FindingFacts]) {
    page.heading("Findings");
    if findings.is_empty() {
        page.item("  ", "none on, above or below it");
    }
    for facts in shown(page, findings) {
        let finding = &facts.finding;
        let severity = page.style().severity(finding.severity, &finding.severity.to_string());
        let relation = relation_note(facts.relation, false);
        page.line(&format!("  {severity} {}: {}{relation} [{}]", finding.code, facts.title, facts.fingerprint));
        page.item("    on ", &words::place(&finding.target, Lang::En).join(", "));
        for fact in &finding.evidence {
            page.item("    - ", &printable(fact));
        }
        page.item("    rule ", &finding.rule);
        if let Some(reason) = &facts.ignored {
            page.item("    ignored: ", &printable(reason));
        }
        page.item("    -> ", &facts.remedy_text);
    }
}

fn print_gaps(page: &mut Page, gaps: &[GapFacts]) {
    if gaps.is_empty() {
        return;
    }
    page.heading("What could not be read and may bear on it");
    for gap in shown(page, gaps) {
        page.item("  - ", &printable(&format!("{} ({}): {}", gap.place, gap.cause, gap.detail)));
    }
}
