//! Projects, workflow definitions with their tasks, and UDF functions.

use serde_json::{Map, Value, json};

use super::database::{ADMIN, Database, Function, TaskDefinition, Workflow};
use super::generation::Generation;
use super::paging::PageAsked;
use super::reply::{Outcome, Refusal};
use super::visit::Visit;

impl Visit<'_> {
    /// Projects in a world belong to the administrator, so a user sees none.
    fn projects(&self, database: &Database) -> Vec<(i64, i64)> {
        let shown = if self.account.is_admin() { database.projects.as_slice() } else { &[] };
        shown.iter().copied().zip(1..).collect()
    }

    /// `GET /projects`, newest first.
    pub fn project_page(&self, database: &Database) -> Outcome {
        let page = PageAsked::of(self.asked)?;
        let search = self.asked.param("searchVal").unwrap_or_default();
        let shown = self.projects(database).into_iter().rev().filter(|(code, _)| project_name(*code).contains(search));
        let all = shown.map(|(code, id)| self.project_json(database, code, id, true)).collect();
        Ok(page.of_all(all, self.traits.offset_key()))
    }

    /// `GET /projects/list`: unpaged, without owner and counts.
    pub fn project_list(&self, database: &Database) -> Value {
        self.projects(database).into_iter().map(|(code, id)| self.project_json(database, code, id, false)).collect()
    }

    fn project_json(&self, database: &Database, code: i64, id: i64, counted: bool) -> Value {
        let time = self.time(database.founded);
        let definitions = database.workflows.iter().filter(|workflow| workflow.project == code).count();
        json!({
            "id": id, "userId": ADMIN, "userName": counted.then_some("admin"), "code": code, "name": project_name(code),
            "description": "", "createTime": time, "updateTime": time, "perm": 0,
            "defCount": if counted { definitions } else { 0 }, "instRunningCount": 0,
        })
    }

    /// The workflows of a project the caller may see.
    fn workflows_of<'d>(&self, database: &'d Database, project: i64) -> Result<Vec<&'d Workflow>, Refusal> {
        if !database.projects.contains(&project) {
            return Err(Refusal::no_project(&project.to_string()));
        }
        if !self.account.is_admin() {
            return Err(Refusal::no_project_permission(&self.account.name, &project_name(project)));
        }
        Ok(database.workflows.iter().filter(|workflow| workflow.project == project).collect())
    }

    /// `GET /projects/{p}/process-definition`: without tasks, newest first.
    pub fn workflow_page(&self, database: &Database, project: i64) -> Outcome {
        let page = PageAsked::of(self.asked)?;
        let search = self.asked.param("searchVal").unwrap_or_default();
        let workflows = self.workflows_of(database, project)?;
        let named = workflows.into_iter().rev().filter(|workflow| workflow.name.contains(search));
        let shown = named.map(|workflow| {
            let mut definition = self.definition_json(database, workflow);
            definition["userName"] = json!("admin");
            definition["modifyBy"] = json!("admin");
            if !self.knows_execute_types() {
                definition["locations"] = Value::Null;
            }
            if self.traits.generation.has_records() {
                definition["tenantCode"] = Value::Null;
            }
            definition
        });
        Ok(page.of_all(shown.collect(), self.traits.offset_key()))
    }

    /// `GET /projects/{p}/process-definition/list` and `/all`: every definition with its tasks.
    pub fn workflow_list(&self, database: &Database, project: i64) -> Outcome {
        let workflows = self.workflows_of(database, project)?;
        Ok(workflows.into_iter().map(|workflow| self.workflow_json(database, workflow)).collect())
    }

    /// `GET /projects/{p}/process-definition/{code}`.
    pub fn workflow(&self, database: &Database, project: i64, code: i64) -> Outcome {
        let workflows = self.workflows_of(database, project)?;
        let found = workflows.into_iter().find(|workflow| workflow.code == code);
        found
            .map(|workflow| self.workflow_json(database, workflow))
            .ok_or_else(|| Refusal::no_workflow(&code.to_string()))
    }

    /// A `DagData`.
    fn workflow_json(&self, database: &Database, workflow: &Workflow) -> Value {
        let relations = workflow.tasks.iter().map(|task| self.relation_json(database, workflow, task));
        let tasks = workflow.tasks.iter().map(|task| self.task_json(database, workflow, task));
        json!({
            "processDefinition": self.definition_json(database, workflow),
            "processTaskRelationList": relations.collect::<Value>(),
            "taskDefinitionList": tasks.collect::<Value>(),
        })
    }

    fn definition_json(&self, database: &Database, workflow: &Workflow) -> Value {
        let time = self.time(database.founded);
        let mut definition = json!({
            "id": workflow.id, "code": workflow.code, "name": workflow.name, "version": 1,
            "releaseState": if workflow.online { "ONLINE" } else { "OFFLINE" }, "projectCode": workflow.project,
            "description": "", "globalParams": "[]", "globalParamList": [], "globalParamMap": {}, "createTime": time,
            "updateTime": time, "flag": "YES", "userId": ADMIN, "userName": null, "projectName": null, "locations": "[]",
            "scheduleReleaseState": null, "timeout": 0, "modifyBy": null, "executionType": "PARALLEL",
        });
        if self.traits.generation.has_records() {
            // A workflow without a tenant has id -1, and no code is shown.
            definition["tenantId"] = json!(database.tenant_id(workflow.tenant.as_deref()).unwrap_or(-1));
            definition["tenantCode"] = json!(workflow.tenant);
            let group = (self.traits.generation == Generation::V31).then_some(0);
            definition["warningGroupId"] = json!(group);
        } else {
            definition["schedule"] = Value::Null;
            definition["warningGroupId"] = Value::Null;
        }
        definition
    }

    fn relation_json(&self, database: &Database, workflow: &Workflow, task: &TaskDefinition) -> Value {
        let time = self.time(database.founded);
        json!({
            "id": task.id, "name": "", "processDefinitionVersion": 1, "projectCode": workflow.project,
            "processDefinitionCode": workflow.code, "preTaskCode": 0, "preTaskVersion": 0, "postTaskCode": task.code,
            "postTaskVersion": 1, "conditionType": "NONE", "conditionParams": {}, "createTime": time, "updateTime": time,
            "operator": ADMIN, "operateTime": time,
        })
    }

    fn task_json(&self, database: &Database, workflow: &Workflow, task: &TaskDefinition) -> Value {
        let time = self.time(database.founded);
        let mut shown = json!({
            "id": task.id, "code": task.code, "name": task.task.name, "version": 1, "description": "",
            "projectCode": workflow.project, "userId": ADMIN, "taskType": task.task.kind,
            "taskParams": self.task_params(database, task), "taskParamList": [], "taskParamMap": null, "flag": "YES",
            "taskPriority": "MEDIUM", "userName": null, "projectName": null, "workerGroup": "default", "environmentCode": -1,
            "failRetryTimes": 0, "failRetryInterval": 1, "timeoutFlag": "CLOSE", "timeoutNotifyStrategy": null, "timeout": 0,
            "delayTime": 0, "createTime": time, "updateTime": time, "modifyBy": null, "taskGroupId": 0, "taskGroupPriority": 0,
            "operator": ADMIN, "operateTime": time,
        });
        let kind = execute_type(task);
        if self.knows_execute_types() {
            shown["cpuQuota"] = json!(-1);
            shown["memoryMax"] = json!(-1);
        }
        if self.traits.generation.has_records() {
            let ids: Vec<String> = task.resource_ids.iter().map(ToString::to_string).collect();
            shown["resourceIds"] = json!(ids.join(","));
            // A definition made through the API, without the UI, has none; only stream tasks say it.
            if self.knows_execute_types() {
                shown["taskExecuteType"] = json!((kind == "STREAM").then_some(kind));
            }
            shown["dependence"] = json!("{}");
        } else {
            shown["resourceIds"] = Value::Null;
            shown["taskExecuteType"] = json!(kind);
            shown["dependence"] = json!("");
            shown["isCache"] = json!("NO");
        }
        shown
    }

    /// The parameters as the UI of the version stores them: an object, not a string.
    fn task_params(&self, database: &Database, task: &TaskDefinition) -> Value {
        let mut params = Map::new();
        params.insert("localParams".to_owned(), json!([]));
        params.insert("resourceList".to_owned(), resource_list(database, task));
        let given = &task.task;
        let texts = [
            ("rawScript", &given.raw_script),
            ("initScript", &given.init_script),
            ("mainArgs", &given.main_args),
            ("others", &given.others),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                params.insert(key.to_owned(), json!(text));
            }
        }
        if given.kind.starts_with("FLINK") {
            let oldest = if self.traits.generation.has_records() { ">=1.10" } else { ">=1.13" };
            params.extend(flink_params(given.main_args.is_none(), oldest));
        }
        if self.traits.generation.has_records() {
            params.insert("dependence".to_owned(), json!({}));
            params.insert("conditionResult".to_owned(), json!({"successNode": [], "failedNode": []}));
            params.insert("waitStartTimeout".to_owned(), json!({}));
            params.insert("switchResult".to_owned(), json!({}));
        }
        Value::Object(params)
    }

    /// Whether tasks are batch or streaming ones: from 3.1 on.
    fn knows_execute_types(&self) -> bool {
        !matches!(self.traits.generation, Generation::V20 | Generation::V30)
    }

    /// `GET /projects/{p}/task-definition`. Up to 3.0 all tasks, newest first; 2.0 needs `taskType`, be it empty. From 3.1 on
    /// tasks of the type asked for (default `BATCH`); a definition without a type is in no page.
    pub fn task_page(&self, database: &Database, project: i64) -> Outcome {
        let page = PageAsked::of(self.asked)?;
        let wanted = self.asked.param("taskExecuteType").unwrap_or("BATCH");
        let mut shown = Vec::new();
        for workflow in self.workflows_of(database, project)? {
            let listed = workflow.tasks.iter().filter(|task| match self.traits.generation {
                Generation::V20 => self.asked.param("taskType").is_some(),
                Generation::V30 => true,
                Generation::V31 => wanted == "STREAM" && execute_type(task) == wanted,
                Generation::V322 => execute_type(task) == wanted,
            });
            shown.extend(listed.map(|task| self.task_line(database, workflow, task)));
        }
        if !self.knows_execute_types() {
            shown.reverse();
        }
        Ok(page.of_all(shown, self.traits.offset_key()))
    }

    /// A line of the task list: up to 2.0 the definition itself.
    fn task_line(&self, database: &Database, workflow: &Workflow, task: &TaskDefinition) -> Value {
        match self.traits.generation {
            Generation::V20 => self.task_json(database, workflow, task),
            // 3.0.6 gives no id (recorded).
            Generation::V30 => {
                let mut line = self.task_main_info(database, workflow, task);
                line["id"] = json!(0);
                line
            }
            Generation::V31 | Generation::V322 => self.task_main_info(database, workflow, task),
        }
    }

    fn task_main_info(&self, database: &Database, workflow: &Workflow, task: &TaskDefinition) -> Value {
        let time = self.time(database.founded);
        json!({
            "id": task.id, "taskName": task.task.name, "taskCode": task.code, "taskVersion": 1, "taskType": task.task.kind,
            "taskCreateTime": time, "taskUpdateTime": time, "processDefinitionCode": workflow.code,
            "processDefinitionVersion": 1, "processDefinitionName": workflow.name,
            "processReleaseState": if workflow.online { "ONLINE" } else { "OFFLINE" }, "upstreamTaskMap": {},
            "upstreamTaskCode": 0, "upstreamTaskName": null,
        })
    }

    /// `GET /resources/udf-func`, paged.
    pub fn function_page(&self, database: &Database) -> Outcome {
        let page = PageAsked::of(self.asked)?;
        Ok(page.of_all(self.functions(database), self.traits.offset_key()))
    }

    /// `GET /resources/udf-func/list`: the functions the caller sees, unpaged.
    pub fn functions(&self, database: &Database) -> Vec<Value> {
        let shown = if self.account.is_admin() { database.functions.as_slice() } else { &[] };
        shown.iter().map(|function| self.function_json(database, function)).collect()
    }

    fn function_json(&self, database: &Database, function: &Function) -> Value {
        let time = self.time(database.founded);
        let name = database.rows.get(&function.record).map(|row| row.full_name.as_str());
        json!({
            "id": function.id, "userId": ADMIN, "resourceType": "UDF", "funcName": function.name,
            "className": format!("com.example.{}", function.name), "argTypes": null, "database": null, "description": "",
            "resourceId": function.record, "resourceName": name, "type": "HIVE", "createTime": time, "updateTime": time,
            "userName": "admin",
        })
    }
}

fn project_name(code: i64) -> String {
    format!("project-{code}")
}

fn execute_type(task: &TaskDefinition) -> &'static str {
    if task.task.kind == "FLINK_STREAM" { "STREAM" } else { "BATCH" }
}

/// What a Flink task holds beside its options.
fn flink_params(is_sql: bool, oldest: &str) -> Map<String, Value> {
    let fixed = json!({
        "programType": if is_sql { "SQL" } else { "JAVA" }, "deployMode": "local", "flinkVersion": oldest,
        "jobManagerMemory": "1G", "taskManagerMemory": "2G", "slot": 1, "taskManager": 2, "parallelism": 1,
    });
    fixed.as_object().cloned().unwrap_or_default()
}

/// What a task holds: by id with the name beside it as long as the row exists, or by name alone.
fn resource_list(database: &Database, task: &TaskDefinition) -> Value {
    let by_id = task.resource_ids.iter().map(|id| match database.rows.get(id) {
        Some(row) => json!({"id": id, "resourceName": row.full_name, "res": row.alias()}),
        None => json!({"id": id}),
    });
    let by_name = task.resource_names.iter().map(|name| json!({"resourceName": name}));
    by_id.chain(by_name).collect()
}
