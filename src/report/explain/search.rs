//! Looks one subject up in the three views and the findings. Records are indexed once: workflows refer to them many times over.

use std::collections::HashMap;

use super::{
    Children, FindingFacts, GapFacts, JobFacts, PathFacts, RecordFacts, Relation, StatePath, Subject, WorkflowFacts,
};
use crate::compare::{Comparison, Finding, Lang};
use crate::config::Config;
use crate::domain::record::{check_full_name, tenant_directory};
use crate::domain::{EntryKind, HdfsPath, HdfsUri, JobId, RecordId, ResourceKind, WorkflowCode};
use crate::views::flink::{Pointer, Restored};
use crate::views::hdfs::Look;
use crate::views::resources::{Opinion, OwnerTenant, Reference, UdfFunction, Workflow};
use crate::views::{ClusterView, HdfsView, Inventory, JobView, Record, ResourceView};

/// Children of a directory that are named; the rest is counted.
const CHILDREN_SHOWN: usize = 20;

/// The path a record maps to: `<base>/<tenant now>/<kind>/<full name>`, as DolphinScheduler 1.3 to 3.1 does it.
fn mapped_path(record: &Record, view: &ResourceView, config: &Config) -> Option<HdfsPath> {
    let base = &config.ds.as_ref()?.base_path;
    let OwnerTenant::Tenant(tenant) = view.tenant_of(record) else { return None };
    let name = check_full_name(&record.full_name).ok()?;
    tenant_directory(base, tenant, record.kind)?.join_relative(name).ok()
}

/// The three views and the findings, asked about one subject.
pub(super) struct Looker<'a> {
    inventory: &'a Inventory,
    config: &'a Config,
    comparison: &'a Comparison,
    lang: Lang,
    by_id: HashMap<RecordId, HdfsPath>,
    by_name: HashMap<&'a str, Vec<HdfsPath>>,
}

impl<'a> Looker<'a> {
    /// Indexes the records.
    pub(super) fn new(inventory: &'a Inventory, config: &'a Config, comparison: &'a Comparison, lang: Lang) -> Self {
        let mut by_id = HashMap::new();
        let mut by_name: HashMap<&str, Vec<HdfsPath>> = HashMap::new();
        if let Some(view) = &inventory.resources {
            for record in &view.records {
                let Some(path) = mapped_path(record, view, config) else { continue };
                by_name.entry(record.full_name.trim_start_matches('/')).or_default().push(path.clone());
                by_id.insert(record.id, path);
            }
        }
        Self { inventory, config, comparison, lang, by_id, by_name }
    }

    fn resources(&self) -> Option<&'a ResourceView> {
        self.inventory.resources.as_ref()
    }

    fn resolve(&self, uri: &HdfsUri) -> Option<HdfsPath> {
        self.config.file_systems.resolve(uri).here().cloned()
    }

    /// The paths a subject leads to.
    pub(super) fn paths(&self, subject: &Subject) -> Vec<HdfsPath> {
        let mut paths = match subject {
            Subject::Path(path) => vec![path.clone()],
            Subject::Job(id) => self.job_paths(id),
            Subject::Record(id) => self.record_paths(*id),
            Subject::Workflow(code) => self.workflow_paths(*code),
        };
        paths.sort();
        paths.dedup();
        paths
    }

    /// The run directories of this name, and every place the job's REST answers name.
    fn job_paths(&self, id: &JobId) -> Vec<HdfsPath> {
        let listed = self
            .inventory
            .hdfs
            .listings
            .iter()
            .filter_map(|(directory, listing)| listing.find(id.as_str()).map(|entry| directory.join(&entry.name)));
        let shown = self
            .inventory
            .flink
            .jobs()
            .filter(|(_, job)| job.id == *id)
            .flat_map(|(_, job)| pointers(job))
            .filter_map(|(_, pointer)| pointer.uri())
            .filter_map(|uri| self.resolve(uri));
        listed.chain(shown).collect()
    }

    fn record_paths(&self, id: RecordId) -> Vec<HdfsPath> {
        self.by_id.get(&id).cloned().into_iter().collect()
    }

    fn workflow_paths(&self, code: WorkflowCode) -> Vec<HdfsPath> {
        let Some(view) = self.resources() else { return Vec::new() };
        let Some(workflow) = view.workflows.iter().find(|workflow| workflow.code == code) else { return Vec::new() };
        let referenced = workflow.references.iter().flat_map(|reference| self.reference_paths(reference, workflow));
        let functions = self.functions_of(workflow).filter_map(|function| self.function_path(function));
        let referenced = referenced.chain(functions);
        let set = workflow.state_options.iter().filter_map(|option| self.option_path(&option.value));
        referenced.chain(set).collect()
    }

    /// Where a reference may lead: the path of the record with that id or name, or the path the name is.
    fn reference_paths(&self, reference: &Reference, workflow: &Workflow) -> Vec<HdfsPath> {
        match reference {
            Reference::Id(id) => self.record_paths(RecordId(*id)),
            Reference::Name(name) => {
                let by_record = self.by_name.get(name.trim_start_matches('/'));
                by_record.cloned().unwrap_or_else(|| self.name_path(name, workflow).into_iter().collect())
            }
        }
    }

    /// A name without a record: a URI or absolute path from 3.2 on, else relative to the workflow's tenant.
    fn name_path(&self, name: &str, workflow: &Workflow) -> Option<HdfsPath> {
        let base = &self.config.ds.as_ref()?.base_path;
        let written = HdfsUri::parse(name).ok().and_then(|uri| self.resolve(&uri));
        if let Some(path) = written.filter(|path| path.is_at_or_below(base)) {
            return Some(path);
        }
        let tenant = workflow.tenant.as_deref()?;
        tenant_directory(base, tenant, ResourceKind::File)?.join_relative(check_full_name(name).ok()?).ok()
    }

    /// The UDF functions that the tasks of a workflow call.
    fn functions_of(&self, workflow: &'a Workflow) -> impl Iterator<Item = &'a UdfFunction> + use<'a> {
        let functions = self.resources().map_or(&[][..], |view| &view.functions);
        functions.iter().filter(move |function| workflow.functions.contains(&function.id))
    }

    /// Where the file of a function lies: the path of its record, or the name it holds from 3.2 on.
    fn function_path(&self, function: &UdfFunction) -> Option<HdfsPath> {
        let by_record = function.record.and_then(|id| self.by_id.get(&id).cloned());
        by_record.or_else(|| self.option_path(function.resource_name.as_deref()?))
    }

    fn option_path(&self, value: &str) -> Option<HdfsPath> {
        HdfsUri::parse(value).ok().and_then(|uri| self.resolve(&uri))
    }

    pub(super) fn path_facts(&self, path: &HdfsPath) -> PathFacts {
        let view = &self.inventory.hdfs;
        let (answer, said) = look_words(view.look(path));
        PathFacts {
            path: path.clone(),
            answer: answer.to_owned(),
            said,
            proven_absent: view.is_proven_absent(path),
            parent: parent_word(view, path).to_owned(),
            role: self.roles(path),
            children: children(view, path),
            total: view
                .summaries
                .get(path)
                .map(|sum| format!("{} bytes in {} files and {} directories", sum.length, sum.files, sum.directories)),
        }
    }

    fn roles(&self, path: &HdfsPath) -> Vec<String> {
        let base = self.config.ds.as_ref().map(|ds| &ds.base_path);
        let inside = base.filter(|base| path.is_at_or_below(base)).map(|base| {
            format!("inside the resource namespace {base}: only the resource API of DolphinScheduler may write here")
        });
        let roots = self.config.roots.iter().filter_map(|root| match Relation::of(&root.path, path)? {
            Relation::At => Some(format!("a checkpoint root of {}", clusters(&root.clusters))),
            Relation::Above => {
                let run = path.ancestor_below(&root.path, root.layout.run_depth());
                let run = run.map(|run| format!("; run directory {run}")).unwrap_or_default();
                Some(format!("in the checkpoint root {} of {}{run}", root.path, clusters(&root.clusters)))
            }
            Relation::Below => Some(format!("holds the checkpoint root {}", root.path)),
        });
        let protected = self
            .config
            .policies
            .protect
            .iter()
            .filter(|text| HdfsPath::parse(text).is_ok_and(|protected| path.is_at_or_below(&protected)));
        inside
            .into_iter()
            .chain(roots)
            .chain(protected.map(|text| format!("protected by `{text}` in the configuration")))
            .collect()
    }

    pub(super) fn jobs(&self, subject: &Subject, paths: &[HdfsPath]) -> Vec<JobFacts> {
        self.inventory.flink.jobs().filter_map(|(cluster, job)| self.job_facts(cluster, job, subject, paths)).collect()
    }

    fn job_facts(
        &self,
        cluster: &ClusterView,
        job: &JobView,
        subject: &Subject,
        paths: &[HdfsPath],
    ) -> Option<JobFacts> {
        let asked = *subject == Subject::Job(job.id.clone());
        let state_paths: Vec<StatePath> = pointers(job)
            .into_iter()
            .map(|(what, pointer)| StatePath {
                what: what.to_owned(),
                place: pointer_text(pointer),
                relation: pointer.uri().filter(|_| !asked).and_then(|uri| {
                    // Protection matches in any spelling: an undeclared authority may be this file system.
                    let place = self.config.file_systems.resolve(uri);
                    paths.iter().filter_map(|path| Relation::of(place.path(), path)).min()
                }),
            })
            .filter(|state| asked || state.relation.is_some())
            .collect();
        let named = paths.iter().any(|path| path.components().any(|part| part == job.id.as_str()));
        (asked || named || !state_paths.is_empty()).then(|| JobFacts {
            cluster: cluster.name.clone(),
            id: job.id.clone(),
            name: job.name.clone(),
            state: job.state.to_string(),
            live: job.is_live(),
            state_paths,
        })
    }

    pub(super) fn records(&self, subject: &Subject, paths: &[HdfsPath]) -> Vec<RecordFacts> {
        let Some(view) = self.resources() else { return Vec::new() };
        view.records.iter().filter_map(|record| self.record_facts(view, record, subject, paths)).collect()
    }

    fn record_facts(
        &self,
        view: &ResourceView,
        record: &Record,
        subject: &Subject,
        paths: &[HdfsPath],
    ) -> Option<RecordFacts> {
        let path = mapped_path(record, view, self.config);
        let relation = path.as_ref().and_then(|own| paths.iter().filter_map(|path| Relation::of(own, path)).min());
        if *subject != Subject::Record(record.id) && relation.is_none() {
            return None;
        }
        Some(RecordFacts {
            id: record.id,
            kind: record.kind,
            full_name: record.full_name.to_string(),
            directory: record.directory,
            size: record.size,
            owner: owner_words(view, record),
            tenant: tenant_words(view.tenant_of(record)),
            path,
            relation,
            updated: record.updated.map(|time| time.to_string()),
            opinion: view.opinions.get(&record.id).map(opinion_words),
        })
    }

    pub(super) fn workflows(&self, subject: &Subject, paths: &[HdfsPath]) -> Vec<WorkflowFacts> {
        let Some(view) = self.resources() else { return Vec::new() };
        view.workflows
            .iter()
            .filter_map(|workflow| {
                let asked = *subject == Subject::Workflow(workflow.code);
                let ties = self.ties(workflow, subject, paths, asked);
                (asked || !ties.is_empty()).then(|| WorkflowFacts {
                    code: workflow.code,
                    name: workflow.name.clone(),
                    project: workflow.project,
                    online: workflow.online,
                    ties,
                })
            })
            .collect()
    }

    fn ties(&self, workflow: &'a Workflow, subject: &Subject, paths: &[HdfsPath], asked: bool) -> Vec<String> {
        let related = |found: &HdfsPath| paths.iter().filter_map(|path| Relation::of(found, path)).min();
        let references = workflow.references.iter().filter_map(|reference| {
            let found = self.reference_paths(reference, workflow);
            let relation = found.iter().filter_map(related).min();
            let by_id = matches!((reference, subject), (Reference::Id(id), Subject::Record(record)) if *id == record.0);
            if !(asked || by_id || relation.is_some()) {
                return None;
            }
            let leads = found.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let leads = if leads.is_empty() { "nothing that is known".to_owned() } else { leads };
            Some(format!("references {reference}, which leads to {leads}{}", relation_note(relation, asked)))
        });
        let options = workflow.state_options.iter().filter_map(|option| {
            let relation = self.option_path(&option.value).as_ref().and_then(related);
            (asked || relation.is_some()).then(|| {
                let note = relation_note(relation, asked);
                format!("task {} sets {} = {} (in {}){note}", option.task, option.key, option.value, option.field)
            })
        });
        references.chain(self.function_ties(workflow, subject, related, asked)).chain(options).collect()
    }

    fn function_ties(
        &self,
        workflow: &'a Workflow,
        subject: &Subject,
        related: impl Fn(&HdfsPath) -> Option<Relation>,
        asked: bool,
    ) -> Vec<String> {
        self.functions_of(workflow)
            .filter_map(|function| {
                let path = self.function_path(function);
                let relation = path.as_ref().and_then(&related);
                let by_id = matches!(subject, Subject::Record(record) if function.record == Some(*record));
                (asked || by_id || relation.is_some()).then(|| {
                    let leads = path.map_or_else(|| "nothing that is known".to_owned(), |path| path.to_string());
                    format!(
                        "calls the UDF function {} ({}), whose file is {leads}{}",
                        function.name,
                        function.id,
                        relation_note(relation, asked)
                    )
                })
            })
            .collect()
    }

    pub(super) fn findings(&self, subject: &Subject, paths: &[HdfsPath]) -> Vec<FindingFacts> {
        let own = self.comparison.findings.iter().map(|finding| (finding, None));
        let ignored = self.comparison.ignored.iter().map(|ignored| (&ignored.finding, Some(ignored.reason.clone())));
        own.chain(ignored)
            .filter_map(|(finding, reason)| {
                let path = finding.target.path.as_deref().and_then(|path| HdfsPath::parse(path).ok());
                let relation = path
                    .into_iter()
                    .chain(self.referenced_by(finding))
                    .filter_map(|own| paths.iter().filter_map(|path| Relation::of(&own, path)).min())
                    .min();
                (is_about(finding, subject) || relation.is_some()).then(|| FindingFacts {
                    relation,
                    ignored: reason,
                    fingerprint: finding.fingerprint(),
                    title: finding.code.title(self.lang).to_owned(),
                    remedy_text: finding.remedy.text(self.lang).to_owned(),
                    finding: finding.clone(),
                })
            })
            .collect()
    }

    /// Where the reference leads that a finding is about: who asks about the path wants to know of it.
    fn referenced_by(&self, finding: &Finding) -> Vec<HdfsPath> {
        let (Some(reference), Some(view)) = (&finding.target.reference, self.resources()) else { return Vec::new() };
        let workflow = view.workflows.iter().find(|workflow| Some(workflow.code) == finding.target.workflow);
        workflow.map(|workflow| self.reference_paths(reference, workflow)).unwrap_or_default()
    }

    /// Gaps that hold for a whole view or cluster, and those with a path at, above or below one of its paths.
    pub(super) fn gaps(&self, paths: &[HdfsPath]) -> Vec<GapFacts> {
        self.inventory
            .gaps()
            .into_iter()
            .filter(|gap| gap.path.as_ref().is_none_or(|at| paths.iter().any(|path| Relation::of(at, path).is_some())))
            .map(|gap| GapFacts {
                place: [Some(gap.view.to_string()), gap.cluster.clone(), gap.path.as_ref().map(ToString::to_string)]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join(" "),
                cause: gap.cause.to_string(),
                detail: gap.detail.clone(),
            })
            .collect()
    }
}

pub(super) fn relation_note(relation: Option<Relation>, asked: bool) -> String {
    relation.filter(|_| !asked).map(|relation| format!(" ({})", relation.word())).unwrap_or_default()
}

fn is_about(finding: &Finding, subject: &Subject) -> bool {
    let target = &finding.target;
    match subject {
        Subject::Path(_) => false,
        Subject::Job(id) => target.job.as_ref() == Some(id),
        Subject::Record(id) => target.record == Some(*id) || target.reference == Some(Reference::Id(id.0)),
        Subject::Workflow(code) => target.workflow == Some(*code),
    }
}

/// Every place of state a job shows, with what it is.
fn pointers(job: &JobView) -> Vec<(&'static str, &Pointer)> {
    let mut all: Vec<(&'static str, &Pointer)> = Vec::new();
    all.extend(job.latest.iter().map(|point| ("latest", &point.pointer)));
    for point in &job.retained {
        if job.latest.as_ref().is_none_or(|latest| latest.pointer != point.pointer) {
            all.push((if point.savepoint { "savepoint" } else { "retained" }, &point.pointer));
        }
    }
    if let Restored::From { pointer } = &job.restored {
        all.push(("restored from", pointer));
    }
    all
}

fn pointer_text(pointer: &Pointer) -> String {
    match pointer {
        Pointer::Hdfs { uri } => uri.to_string(),
        Pointer::NotAddressable => "in the JobManager, no path".to_owned(),
        Pointer::Other { text } => text.clone(),
    }
}

fn clusters(names: &[String]) -> String {
    if names.is_empty() { "no named cluster".to_owned() } else { names.join(", ") }
}

fn look_words(look: Look<'_>) -> (&'static str, String) {
    match look {
        Look::Present(status) => {
            let kind = match status.kind {
                EntryKind::File => format!("a file of {} bytes", status.length),
                EntryKind::Directory => "a directory".to_owned(),
                EntryKind::Symlink => "a symbolic link (not followed)".to_owned(),
            };
            ("present", format!("there: {kind}, owner {}, modified {}", status.owner, status.modified))
        }
        Look::Absent => ("absent", "the NameNode answers not-found for it or for a directory above it".to_owned()),
        Look::NotListed => {
            ("not-listed", "not in the complete listing above it, but nobody asked for the path itself".to_owned())
        }
        Look::Denied(why) => ("denied", format!("refused: {why}")),
        Look::Unknown(why) => ("unknown", format!("asked without a usable answer: {why}")),
        Look::NotRead => ("not-read", "outside what was read; says nothing about it".to_owned()),
    }
}

fn parent_word(view: &HdfsView, path: &HdfsPath) -> &'static str {
    match path.parent_str().and_then(|parent| view.listings.get(parent)) {
        Some(listing) if listing.complete => "complete",
        Some(_) => "cut-short",
        None => "not-listed",
    }
}

fn children(view: &HdfsView, path: &HdfsPath) -> Option<Children> {
    let listing = view.listings.get(path)?;
    Some(Children {
        entries: listing.entries.len(),
        complete: listing.complete,
        first: listing.entries.iter().take(CHILDREN_SHOWN).map(|entry| entry.name.to_string()).collect(),
    })
}

fn owner_words(view: &ResourceView, record: &Record) -> String {
    let Some(owner) = record.owner else { return "not known".to_owned() };
    match view.users.get(&owner) {
        Some(user) => format!("{} (user {owner})", user.name),
        None if view.users_complete => format!("user {owner}, who does not exist any more"),
        None => format!("user {owner}"),
    }
}

fn tenant_words(tenant: OwnerTenant<'_>) -> String {
    match tenant {
        OwnerTenant::Tenant(tenant) => tenant.to_owned(),
        OwnerTenant::NoTenant => "none: the owner belongs to no tenant".to_owned(),
        OwnerTenant::Deleted => "none: the owner is gone".to_owned(),
        OwnerTenant::Unknown => "not known".to_owned(),
    }
}

fn opinion_words(opinion: &Opinion) -> String {
    match opinion {
        Opinion::Opens => "opens it: the file exists where the server looks".to_owned(),
        Opinion::NotThere => "code 20012: not there where the server looks either".to_owned(),
        Opinion::NoOpinion { why } => format!("no opinion: {why}"),
        Opinion::Failed { why } => format!("could not be asked: {why}"),
    }
}
