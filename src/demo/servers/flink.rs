//! An embedded Flink REST endpoint or history server, one for each cluster of a world.
//!
//! Answers have the shape recorded from the version the world names (1.14.6, 1.17.2, 1.20.5, 2.0.2, 2.3.0; a version in
//! between takes the shape of the nearest older one). REST never shows a claim mode, so nothing here knows one.

mod answers;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Body;
use axum::http::{Method, Response};
use serde_json::{Value, json};

use super::fault::{Faults, Request};
use super::wire::{Reply, ServerClock};
use crate::demo::world::{Fault, FlinkCluster, FlinkJob, World};
use answers::Answers;

/// Content type of a JobManager's answers.
const JSON: &str = "application/json; charset=UTF-8";

/// One cluster that answers.
#[derive(Debug)]
pub struct FlinkServer {
    answers: Mutex<Arc<Answers>>,
    /// Its faults and the log of its requests.
    pub faults: Faults,
}

impl FlinkServer {
    /// The server of one cluster of a world.
    pub fn new(world: &World, cluster: &FlinkCluster) -> Self {
        Self { answers: Mutex::new(Arc::new(Answers::new(world, cluster))), faults: Faults::new(&cluster.faults) }
    }

    /// Puts another state of the cluster in place; the log stays.
    pub fn replace(&self, world: &World, cluster: &FlinkCluster) {
        *self.lock() = Arc::new(Answers::new(world, cluster));
        self.faults.set_faults(&cluster.faults);
    }

    fn lock(&self) -> MutexGuard<'_, Arc<Answers>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The clock its answers are dated by.
    pub fn clock(&self) -> ServerClock {
        self.lock().clock
    }

    /// Answers one request.
    pub async fn answer(&self, method: &Method, path: &str) -> Response<Body> {
        let answers = Arc::clone(&self.lock());
        let question = Question::parse(method, path, answers.cluster.history);
        let fault = self.faults.decide(question.described(method, path));
        let fault = fault.as_deref();
        let reply = match fault.filter(|fault| fault.replaces_answer()) {
            Some(fault) => faulty(fault),
            None => own_answer(&answers, &question, fault),
        };
        reply.send(fault).await
    }
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Question {
    Overview,
    Config,
    TaskManagers,
    Jobs,
    JobsOverview,
    JobManagerConfig,
    OfJob(JobQuestion, String),
    Other(String),
}

/// What is asked about one job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JobQuestion {
    Details,
    Config,
    Checkpoints,
    CheckpointsConfig,
    JobManagerConfig,
}

impl Question {
    /// `/v1` in front is the same on a JobManager; a history server serves files and has no such directory.
    fn parse(method: &Method, raw: &str, history: bool) -> Self {
        let path = raw.strip_prefix("/v1").filter(|rest| !history && rest.starts_with('/')).unwrap_or(raw);
        if method != Method::GET {
            return Self::Other(path.to_owned());
        }
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let of_job = |what, id: &str| Self::OfJob(what, id.to_owned());
        match parts.as_slice() {
            ["overview"] => Self::Overview,
            ["config"] => Self::Config,
            ["taskmanagers"] => Self::TaskManagers,
            ["jobs"] => Self::Jobs,
            ["jobs", "overview"] => Self::JobsOverview,
            ["jobmanager", "config"] => Self::JobManagerConfig,
            ["jobs", id] => of_job(JobQuestion::Details, id),
            ["jobs", id, "config"] => of_job(JobQuestion::Config, id),
            ["jobs", id, "checkpoints"] => of_job(JobQuestion::Checkpoints, id),
            ["jobs", id, "checkpoints", "config"] => of_job(JobQuestion::CheckpointsConfig, id),
            ["jobs", id, "jobmanager", "config"] => of_job(JobQuestion::JobManagerConfig, id),
            _ => Self::Other(path.to_owned()),
        }
    }

    /// The word of the fault table.
    fn op(&self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Config => "config",
            Self::TaskManagers => "taskmanagers",
            Self::Jobs => "jobs",
            Self::JobsOverview => "jobs-overview",
            Self::JobManagerConfig | Self::OfJob(JobQuestion::JobManagerConfig, _) => "jobmanager-config",
            Self::OfJob(JobQuestion::Details, _) => "job",
            Self::OfJob(JobQuestion::Config, _) => "job-config",
            Self::OfJob(JobQuestion::Checkpoints, _) => "checkpoints",
            Self::OfJob(JobQuestion::CheckpointsConfig, _) => "checkpoints-config",
            Self::Other(_) => "",
        }
    }

    fn described(&self, method: &Method, raw: &str) -> Request {
        let job = if let Self::OfJob(_, id) = self { Some(id.clone()) } else { None };
        Request {
            method: method.to_string(),
            raw_path: raw.to_owned(),
            op: self.op().to_owned(),
            job,
            ..Request::default()
        }
    }
}

/// The answer a fault replaces everything with.
fn faulty(fault: &Fault) -> Reply {
    if let Some(reply) = Reply::spelled_out(fault) {
        return reply;
    }
    let errors = fault.errors.clone().unwrap_or_else(|| vec!["Internal server error.".to_owned()]);
    errors_reply(fault.http.unwrap_or(500), &errors)
}

fn errors_reply(status: u16, errors: &[String]) -> Reply {
    Reply::new(status, JSON, json!({ "errors": errors }).to_string())
}

fn own_answer(answers: &Answers, question: &Question, fault: Option<&Fault>) -> Reply {
    if answers.cluster.history {
        return history_answer(answers, question, fault);
    }
    match question {
        Question::Overview => ok(&answers.overview()),
        Question::Config => ok(&answers.config()),
        Question::TaskManagers => ok(&answers.task_managers()),
        Question::Jobs => ok(&answers.jobs(&shown_jobs(answers, fault))),
        Question::JobsOverview => ok(&answers.jobs_overview(&shown_jobs(answers, fault))),
        Question::JobManagerConfig => ok(&answers.job_manager_config()),
        Question::OfJob(what, id) => job_answer(answers, *what, id),
        Question::Other(path) => no_such_file(path),
    }
}

/// Terminal jobs from files; no `/jobs`, no `/overview`; whatever has no file is the same 404.
fn history_answer(answers: &Answers, question: &Question, fault: Option<&Fault>) -> Reply {
    let missing = || errors_reply(404, &["File not found.".to_owned()]);
    match question {
        Question::Config => history_ok(&answers.config()),
        Question::JobsOverview => history_ok(&answers.jobs_overview(&shown_jobs(answers, fault))),
        Question::OfJob(what, id) => match answers.job(id).filter(|job| job.is_terminal()) {
            Some(job) => answers.of_job(*what, job).map_or_else(missing, |value| history_ok(&value)),
            None => missing(),
        },
        _ => missing(),
    }
}

fn job_answer(answers: &Answers, what: JobQuestion, id: &str) -> Reply {
    if what == JobQuestion::JobManagerConfig && answers.version < (1, 16) {
        return no_such_file(&format!("/jobs/{id}/jobmanager/config"));
    }
    if id.len() != 32 || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return bad_job_id(id);
    }
    let Some(job) = answers.job(id) else {
        return unknown_job(id);
    };
    if job.state == "INITIALIZING" && what == JobQuestion::Checkpoints && answers.version >= (1, 20) {
        return initializing();
    }
    answers.of_job(what, job).map_or_else(|| unknown_job(id), |value| ok(&value))
}

/// The jobs of a list, as a fault leaves them. An id that names no job of the world is shown as running.
fn shown_jobs(answers: &Answers, fault: Option<&Fault>) -> Vec<FlinkJob> {
    let jobs = answers.cluster.jobs.iter().filter(|job| !answers.cluster.history || job.is_terminal());
    let mut shown: Vec<FlinkJob> = jobs.cloned().collect();
    let Some(fault) = fault else { return shown };
    if let Some(ids) = &fault.ids {
        shown = ids.iter().filter_map(Value::as_str).map(|id| answers.job_or_stranger(id)).collect();
    }
    shown.retain(|job| !fault.omit_ids.iter().any(|id| id.as_str() == Some(job.id.as_str())));
    shown.truncate(fault.returned.unwrap_or(usize::MAX));
    shown
}

fn ok(value: &Value) -> Reply {
    Reply::new(200, JSON, value.to_string())
}

fn history_ok(value: &Value) -> Reply {
    Reply::json(200, value)
}

fn no_such_file(path: &str) -> Reply {
    errors_reply(404, &[format!("Unable to load requested file {path}.")])
}

fn unknown_job(id: &str) -> Reply {
    let text = format!(
        "org.apache.flink.runtime.rest.NotFoundException: Job {id} not found\n\tat org.apache.flink.runtime.rest.handler.job.AbstractExecutionGraphHandler.lambda$handleRequest$1(AbstractExecutionGraphHandler.java:99)\n"
    );
    errors_reply(404, &[text])
}

fn bad_job_id(id: &str) -> Reply {
    let text = format!(
        "org.apache.flink.runtime.rest.handler.RestHandlerException: Bad request, could not parse parameters: Cannot resolve path parameter (jobid) from value \"{id}\".\n\tat org.apache.flink.runtime.rest.handler.AbstractHandler.respondAsLeader(AbstractHandler.java:188)\n"
    );
    errors_reply(400, &[text])
}

fn initializing() -> Reply {
    let text = "<Exception on server side:\norg.apache.flink.runtime.dispatcher.UnavailableDispatcherOperationException: Unable to get JobMasterGateway for initializing job. The requested operation is not available while the JobManager is initializing.\n\tat org.apache.flink.runtime.dispatcher.Dispatcher.getJobMasterGateway(Dispatcher.java:2437)\n\nEnd of exception on server side>";
    errors_reply(500, &["Internal server error.".to_owned(), text.to_owned()])
}
