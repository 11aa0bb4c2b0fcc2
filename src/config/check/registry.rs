//! Restore points, applications and ignores.

use std::collections::BTreeMap;

use super::Checker;
use crate::config::error::below;
use crate::config::file::{ApplicationTable, IgnoreTable, RegistryTable};
use crate::config::valid::{Application, Ignore, RegistryEntry};
use crate::domain::text::printable;
use crate::domain::{JobId, JobState};

/// Flink's `JobStatus`, the same from 1.13 to 2.3.
const JOB_STATES: [&str; 11] = [
    "INITIALIZING",
    "CREATED",
    "RUNNING",
    "FAILING",
    "FAILED",
    "CANCELLING",
    "CANCELED",
    "FINISHED",
    "RESTARTING",
    "SUSPENDED",
    "RECONCILING",
];

impl Checker<'_> {
    /// The registered restore points.
    pub(super) fn registry(&mut self, tables: &[RegistryTable]) -> Vec<RegistryEntry> {
        tables
            .iter()
            .enumerate()
            .filter_map(|(at, table)| self.registry_entry(&format!("registry[{at}]"), table))
            .collect()
    }

    fn registry_entry(&mut self, key: &str, table: &RegistryTable) -> Option<RegistryEntry> {
        let app = self.name(&below(key, "app"), table.app.as_ref());
        let job = table.flink_job_id.as_deref().and_then(|text| self.job(&below(key, "flink_job_id"), text));
        let restore_path = table.restore_path.as_deref().and_then(|text| self.uri(&below(key, "restore_path"), text));
        let created = self.moment(&below(key, "created"), table.created.as_ref());
        let protected_until = self.moment(&below(key, "protected_until"), table.protected_until.as_ref());
        let job_ended = self.moment(&below(key, "job_ended"), table.job_ended.as_ref());
        let job_state = table.job_state.as_deref().and_then(|text| self.job_state(&below(key, "job_state"), text));
        if table.flink_job_id.is_none() && !self.report.has_seen(&below(key, "flink_job_id")) {
            let what = "the line names neither a job nor a path, so it is about nothing";
            self.report.missing(&below(key, "restore_path"), what, "add `restore_path`, or `flink_job_id`, or both");
        }
        Some(RegistryEntry {
            app: app?,
            environment: table.environment.clone(),
            code_version: table.code_version.clone(),
            job,
            restore_path,
            restore_type: table.restore_type,
            claim_mode: table.claim_mode,
            created,
            status: table.status?,
            protected_until,
            job_state,
            job_ended,
        })
    }

    /// A state in the configuration is written by a person: a word that Flink does not know is a slip, not a new state.
    fn job_state(&mut self, key: &str, text: &str) -> Option<JobState> {
        if JOB_STATES.contains(&text) {
            return Some(JobState::from(text.to_owned()));
        }
        let what = format!("`{}` is no Flink job state", printable(text));
        self.report.error(key, what, format!("write one of {}", JOB_STATES.join(", ")));
        None
    }

    /// The applications.
    pub(super) fn applications(&mut self, tables: &[ApplicationTable]) -> Vec<Application> {
        let applications: Vec<_> = tables
            .iter()
            .enumerate()
            .filter_map(|(at, table)| self.application(&format!("applications[{at}]"), table))
            .collect();
        self.one_application_a_job(tables);
        applications
    }

    fn application(&mut self, key: &str, table: &ApplicationTable) -> Option<Application> {
        let name = self.name(&below(key, "name"), table.name.as_ref());
        let jobs: Vec<JobId> = table
            .jobs
            .iter()
            .enumerate()
            .filter_map(|(at, text)| self.job(&format!("{key}.jobs[{at}]"), text))
            .collect();
        Some(Application { name: name?, environment: table.environment.clone(), retired: table.retired, jobs })
    }

    fn one_application_a_job(&mut self, tables: &[ApplicationTable]) {
        let mut owners = BTreeMap::new();
        for (at, table) in tables.iter().enumerate() {
            for (nth, job) in table.jobs.iter().enumerate() {
                let Ok(job) = JobId::parse(job) else { continue };
                let owner = owners.entry(job).or_insert(at);
                if *owner != at {
                    let place = self.report.place(&format!("applications[{owner}]"));
                    self.report.error(
                        &format!("applications[{at}].jobs[{nth}]"),
                        format!("the job is listed under another application too ({place})"),
                        "list a job under the one application it belongs to",
                    );
                }
            }
        }
    }

    /// The ignores, expired ones among them: they are reported, not refused.
    pub(super) fn ignores(&mut self, tables: &[IgnoreTable]) -> Vec<Ignore> {
        tables.iter().enumerate().filter_map(|(at, table)| self.ignore(&format!("ignores[{at}]"), table)).collect()
    }

    fn ignore(&mut self, key: &str, table: &IgnoreTable) -> Option<Ignore> {
        let path = table.path.as_deref().and_then(|text| self.path(&below(key, "path"), text));
        let expires = self.moment(&below(key, "expires"), table.expires.as_ref());
        let reason = table.reason.clone()?;
        if reason.trim().is_empty() {
            self.report.error(
                &below(key, "reason"),
                "no reason",
                "say why this finding is expected, for the next reader",
            );
        }
        Some(Ignore {
            code: table.code?.to_string(),
            path,
            record: table.record,
            workflow: table.workflow,
            cluster: table.cluster.clone(),
            reason,
            expires: expires?,
            place: self.report.place(key),
        })
    }
}
