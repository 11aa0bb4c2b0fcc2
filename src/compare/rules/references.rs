//! What workflows point at, and where they make jobs write.

use crate::compare::context::{Presence, RecordFacts};
use crate::compare::rules::records::RecordFindings;
use crate::compare::{Context, Finding, FindingCode, Remedy, Severity, Target};
use crate::domain::text::printable;
use crate::domain::{HdfsPath, HdfsUri, Place, RecordId};
use crate::views::resources::{Opinion, Reference, StateOption, Workflow};
use crate::views::{Generation, ResourceView};

/// `dangling-workflow-reference`: what a task holds has no record, no file, or (a directory) a stale record below it.
pub fn dangling(context: &Context<'_>, records: &RecordFindings) -> Vec<Finding> {
    let Some((view, _)) = context.resources else { return Vec::new() };
    let Some(generation) = view.generation.filter(|_| !view.stores_elsewhere()) else { return Vec::new() };
    let judge = Judge { context, view, generation, records, stale_above: stale_ancestors(context, records) };
    let mut findings = Vec::new();
    for workflow in &view.workflows {
        for reference in &workflow.references {
            findings
                .extend(judge.why(reference).map(|(why, remedy)| finding_of(view, workflow, reference, why, remedy)));
        }
    }
    findings
}

fn finding_of(view: &ResourceView, workflow: &Workflow, reference: &Reference, why: String, remedy: Remedy) -> Finding {
    let target = Target { workflow: Some(workflow.code), reference: Some(reference.clone()), ..Target::default() };
    Finding::new(FindingCode::DanglingWorkflowReference, by_release(workflow), target, "references::dangling")
        .because(why)
        .because(view.workflow_in_words(workflow))
        .with_remedy(remedy)
}

const fn by_release(workflow: &Workflow) -> Severity {
    if workflow.online { Severity::Error } else { Severity::Warning }
}

/// Ids of records that have a stale record below them.
fn stale_ancestors(context: &Context<'_>, records: &RecordFindings) -> std::collections::HashSet<RecordId> {
    let stale = (0..context.records.len()).filter(|at| records.stale.contains(&context.records[*at].record.id));
    stale.flat_map(|at| context.with_ancestors(at).skip(1)).map(|at| context.records[at].record.id).collect()
}

struct Judge<'c, 'a> {
    context: &'c Context<'a>,
    view: &'a ResourceView,
    generation: Generation,
    records: &'c RecordFindings,
    stale_above: std::collections::HashSet<RecordId>,
}

impl Judge<'_, '_> {
    /// Why a reference dangles; `None` if it does not, or if that cannot be told.
    fn why(&self, reference: &Reference) -> Option<(String, Remedy)> {
        match (self.generation.has_records(), reference) {
            (true, Reference::Id(id)) => {
                self.why_record(self.view.records.iter().find(|r| r.id.0 == *id).map(|r| r.id))
            }
            (true, Reference::Name(name)) => self.why_record(self.record_named(name)),
            (false, Reference::Id(id)) => Some((
                format!("the task holds id {id}; the resource center has no ids since 3.2"),
                Remedy::BindFullName,
            )),
            (false, Reference::Name(name)) => self.why_path(name),
        }
    }

    fn record_named(&self, name: &str) -> Option<RecordId> {
        let wanted = name.trim_start_matches('/');
        self.view.records.iter().find(|r| r.full_name.trim_start_matches('/') == wanted).map(|r| r.id)
    }

    fn why_record(&self, id: Option<RecordId>) -> Option<(String, Remedy)> {
        let Some(id) = id else {
            // A record that was not read is not a record that is not there.
            return self
                .view
                .records_complete
                .then(|| ("no record has this id or name".to_owned(), Remedy::RebindTask));
        };
        let facts = &self.context.records[*self.context.by_id.get(&id)?];
        if self.is_mass_absent(facts) || self.view.opinions.get(&id) == Some(&Opinion::Opens) {
            return None;
        }
        if facts.presence == Presence::Absent {
            let path = facts.path.as_ref().map_or("", HdfsPath::as_str);
            return Some((format!("its record exists, its file {} does not", printable(path)), Remedy::RebindTask));
        }
        self.stale_above
            .contains(&id)
            .then(|| ("a record below this directory has lost its file".to_owned(), Remedy::RebindTask))
    }

    fn is_mass_absent(&self, facts: &RecordFacts<'_>) -> bool {
        facts.path.as_ref().is_some_and(|path| self.records.mass_absent.iter().any(|top| path.is_at_or_below(top)))
    }

    fn why_path(&self, name: &str) -> Option<(String, Remedy)> {
        let Ok(uri) = HdfsUri::parse(name) else { return None };
        let Place::Here(path) = self.context.resolve(&uri) else { return None };
        (self.context.presence(&path) == Presence::Absent)
            .then(|| (format!("{} does not exist", printable(path.as_str())), Remedy::RebindTask))
    }
}

/// `workflow-writes-checkpoints-into-resources`: an option or statement in a task names a checkpoint or savepoint directory at
/// or below the base path. Nothing may have been written yet; the next start will.
pub fn writes_into_resources(context: &Context<'_>) -> Vec<Finding> {
    let Some((view, ds)) = context.resources else { return Vec::new() };
    let inside = |option: &&StateOption| {
        HdfsUri::parse(literal_part(&option.value))
            .is_ok_and(|uri| matches!(context.resolve(&uri), Place::Here(path) if path.is_at_or_below(&ds.base_path)))
    };
    let mut findings = Vec::new();
    for workflow in &view.workflows {
        let options: Vec<&StateOption> = workflow.state_options.iter().filter(inside).collect();
        if options.is_empty() {
            continue;
        }
        let target = Target { workflow: Some(workflow.code), ..Target::default() };
        let code = FindingCode::WorkflowWritesCheckpointsIntoResources;
        let finding = Finding::new(code, by_release(workflow), target, "references::writes_into_resources");
        let finding = options.into_iter().fold(finding, |finding, option| finding.because(option_in_words(option)));
        findings.push(finding.because(view.workflow_in_words(workflow)));
    }
    findings
}

fn option_in_words(option: &StateOption) -> String {
    format!(
        "task {} sets {} = {} in {}",
        printable(&option.task),
        printable(&option.key),
        printable(&option.value),
        option.field
    )
}

/// The part of a value before its first parameter: enough to say that it lies inside, never that it lies outside.
fn literal_part(value: &str) -> &str {
    value.find("${").map_or(value, |at| &value[..at])
}
