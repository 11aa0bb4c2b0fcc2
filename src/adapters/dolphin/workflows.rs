//! Workflow definitions of all projects, the tasks that no workflow holds, and UDF functions.
//!
//! Online and offline, current version. Pages first, then each definition by itself: the bulk call of a project holds
//! every script at once. `GET …/versions/{v}` switches the version and is never asked.

use std::collections::BTreeSet;

use futures::StreamExt as _;
use serde::Deserialize;

use super::envelope::{Api, Failure, Question};
use super::pages::{self, Trouble};
use super::records::Limits;
use super::tasks::{Binding, Use, WireTask};
use crate::domain::text::printable;
use crate::domain::{RecordId, WorkflowCode};
use crate::views::resources::{UdfFunction, Workflow};
use crate::views::{Cause, Gap, ViewName};

#[derive(Deserialize)]
struct WireProject {
    code: i64,
}

#[derive(Deserialize)]
struct WireListed {
    code: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireDefinition {
    code: i64,
    name: String,
    release_state: String,
    #[serde(default)]
    tenant_code: Option<String>,
    #[serde(default)]
    user_id: Option<i64>,
}

/// `DagData` of 2.0 to 3.2.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireDag {
    process_definition: WireDefinition,
    task_definition_list: Vec<WireTask>,
}

/// A line of the task list: `TaskMainInfo`, or where a 2.0 lists whole definitions, one of those.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireTaskLine {
    #[serde(alias = "code")]
    task_code: i64,
    #[serde(default)]
    process_definition_code: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireFunction {
    id: i64,
    func_name: String,
    #[serde(default)]
    resource_id: Option<i64>,
    #[serde(default)]
    resource_name: Option<String>,
}

/// How the tasks of a project are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TaskLists {
    /// 2.0 and 3.0: one list of all.
    One,
    /// From 3.1 on: a list of batch tasks, which is the default, and one of streaming tasks.
    ByExecuteType,
}

impl TaskLists {
    /// The lists: the word for each, and what has to be asked beside the page. An absent `taskType` hides every task.
    const fn questions(self) -> &'static [(&'static str, &'static [(&'static str, &'static str)])] {
        match self {
            Self::One => &[("", &[("taskType", "")])],
            Self::ByExecuteType => &[
                ("BATCH ", &[("taskType", ""), ("taskExecuteType", "BATCH")]),
                ("STREAM ", &[("taskType", ""), ("taskExecuteType", "STREAM")]),
            ],
        }
    }
}

/// All that uses resources, as far as it could be read.
#[derive(Debug, Default)]
pub(super) struct Users {
    /// Workflows, sorted by code; a task without a workflow is one of its own, under the task's code.
    pub(super) workflows: Vec<Workflow>,
    /// UDF functions, sorted by id.
    pub(super) functions: Vec<UdfFunction>,
    /// What could not be read; none of them is about a single path.
    pub(super) gaps: Vec<Gap>,
    /// Whether the list of projects came at all.
    pub(super) has_projects: bool,
}

/// Reads everything that uses resources.
pub(super) async fn fetch_users_of_resources(
    api: &Api,
    limits: Limits,
    binding: Binding,
    task_lists: TaskLists,
) -> Users {
    let question = Question::new("the project list", "/projects");
    let projects = pages::list_all(api, &question, limits.page_size, |project: &WireProject| project.code).await;
    let mut users = Users { has_projects: projects.trouble.is_none(), ..Users::default() };
    users.gaps.extend(projects.trouble.map(|trouble| trouble.gap(ViewName::Workflows)));
    for project in projects.entries {
        let mut reading = Project { api, limits, binding, task_lists, code: project.code, gaps: Vec::new() };
        users.workflows.extend(reading.fetch().await);
        users.gaps.append(&mut reading.gaps);
    }
    if users.has_projects {
        users.fetch_functions(api, limits, binding).await;
    }
    users.workflows.sort_by_key(|workflow| workflow.code);
    users
}

impl Users {
    async fn fetch_functions(&mut self, api: &Api, limits: Limits, binding: Binding) {
        let question = Question::new("the UDF functions", "/resources/udf-func");
        let listed = pages::list_all(api, &question, limits.page_size, |function: &WireFunction| function.id).await;
        self.gaps.extend(listed.trouble.map(|trouble| trouble.gap(ViewName::Workflows)));
        self.functions = listed.entries.into_iter().map(|wire| to_function(wire, binding)).collect();
        self.functions.sort_by_key(|function| function.id);
    }
}

fn to_function(wire: WireFunction, binding: Binding) -> UdfFunction {
    UdfFunction {
        id: wire.id,
        name: wire.func_name,
        // 3.2 writes -1.
        record: wire.resource_id.filter(|id| *id > 0 && binding == Binding::ById).map(RecordId),
        resource_name: wire.resource_name.filter(|name| !name.is_empty()),
    }
}

struct Project<'a> {
    api: &'a Api,
    limits: Limits,
    binding: Binding,
    task_lists: TaskLists,
    code: i64,
    gaps: Vec<Gap>,
}

impl Project<'_> {
    async fn fetch(&mut self) -> Vec<Workflow> {
        let question = Question::new(
            format!("the workflows of project {}", self.code),
            format!("/projects/{}/process-definition", self.code),
        );
        let listed = pages::list_all(self.api, &question, self.limits.page_size, |line: &WireListed| line.code).await;
        self.take(listed.trouble);
        let codes: BTreeSet<i64> = listed.entries.into_iter().map(|line| line.code).collect();
        let mut held = BTreeSet::new();
        let mut workflows = self.fetch_definitions(&codes, &mut held).await;
        // A project that is refused is refused as a whole.
        if self.gaps.is_empty() || !codes.is_empty() {
            workflows.extend(self.fetch_lone_tasks(&codes, &held).await);
        }
        workflows
    }

    fn take(&mut self, trouble: Option<Trouble>) {
        self.gaps.extend(trouble.map(|trouble| trouble.gap(ViewName::Workflows)));
    }

    /// Each definition by itself; `held` takes the codes of their tasks.
    async fn fetch_definitions(&mut self, codes: &BTreeSet<i64>, held: &mut BTreeSet<i64>) -> Vec<Workflow> {
        let (api, project) = (self.api, self.code);
        let mut answers = futures::stream::iter(codes.iter().copied())
            .map(|code| async move { (code, fetch_definition(api, project, code).await) })
            .buffered(self.limits.concurrency.max(1));
        let mut workflows = Vec::new();
        while let Some((code, answer)) = answers.next().await {
            match answer {
                Ok(dag) => {
                    held.extend(dag.task_definition_list.iter().map(|task| task.code));
                    workflows.push(self.take_definition(dag));
                }
                Err(failure) => {
                    let what = format!("workflow {code} of project {project}");
                    self.gaps.push(failure.gap(ViewName::Workflows, &what));
                }
            }
        }
        workflows
    }

    fn take_definition(&mut self, dag: WireDag) -> Workflow {
        let definition = dag.process_definition;
        let used = self.collect_use(&dag.task_definition_list);
        Workflow {
            project: self.code,
            code: WorkflowCode(definition.code),
            name: definition.name,
            online: definition.release_state == "ONLINE",
            tenant: definition.tenant_code.filter(|code| !code.is_empty()),
            owner: definition.user_id,
            references: used.references.into_iter().collect(),
            functions: used.functions.into_iter().collect(),
            state_options: used.state_options.into_iter().collect(),
        }
    }

    fn collect_use(&mut self, tasks: &[WireTask]) -> Use {
        let mut used = Use::default();
        for task in tasks {
            if task.add_use(self.binding, &mut used).is_err() {
                let detail = format!(
                    "cannot read task {} ({}) of project {}: its parameters have another shape; open and save it in the web UI",
                    task.code,
                    printable(&task.name),
                    self.code
                );
                self.gaps.push(Gap::incomplete(ViewName::Workflows, Cause::NotUnderstood, detail));
            }
        }
        used
    }

    /// Tasks that no workflow holds (up to 3.2): the task list is the only place that shows them.
    async fn fetch_lone_tasks(&mut self, codes: &BTreeSet<i64>, held: &BTreeSet<i64>) -> Vec<Workflow> {
        let mut lone = BTreeSet::new();
        for (which, parameters) in self.task_lists.questions() {
            let question = Question::new(
                format!("the {which}tasks of project {}", self.code),
                format!("/projects/{}/task-definition", self.code),
            );
            let question = parameters.iter().fold(question, |question, (name, value)| question.with(name, value));
            let listed = pages::list_loosely::<WireTaskLine>(self.api, &question, self.limits.page_size).await;
            self.take(listed.trouble);
            // A task of a workflow that could not be read is not alone; that workflow is a gap already.
            let is_lone =
                |line: &WireTaskLine| !held.contains(&line.task_code) && !codes.contains(&line.process_definition_code);
            lone.extend(listed.entries.iter().filter(|line| is_lone(line)).map(|line| line.task_code));
        }
        let mut workflows = Vec::new();
        for code in lone {
            workflows.extend(self.fetch_lone_task(code).await);
        }
        workflows
    }

    async fn fetch_lone_task(&mut self, code: i64) -> Option<Workflow> {
        let what = format!("task {code} of project {}", self.code);
        let question = Question::new(what, format!("/projects/{}/task-definition/{code}", self.code));
        let task: WireTask = match self.api.ask(&question).await {
            Ok(task) => task,
            Err(failure) => {
                self.gaps.push(failure.gap(ViewName::Workflows, question.what()));
                return None;
            }
        };
        let used = self.collect_use(std::slice::from_ref(&task));
        Some(Workflow {
            project: self.code,
            code: WorkflowCode(task.code),
            // Only a streaming task can be started without a workflow.
            online: task.task_execute_type.as_deref() == Some("STREAM") && task.flag.as_deref() == Some("YES"),
            name: task.name,
            tenant: None,
            owner: task.user_id,
            references: used.references.into_iter().collect(),
            functions: used.functions.into_iter().collect(),
            state_options: used.state_options.into_iter().collect(),
        })
    }
}

async fn fetch_definition(api: &Api, project: i64, code: i64) -> Result<WireDag, Failure> {
    let path = format!("/projects/{project}/process-definition/{code}");
    api.ask(&Question::new(format!("workflow {code} of project {project}"), path)).await
}
