//! Flink clusters, and whether Flink is named at all.

use std::collections::BTreeMap;

use url::Url;

use super::Checker;
use crate::config::file::{ClusterTable, FileConfig, FlinkWord};
use crate::config::valid::{ClusterConfig, Endpoint};
use crate::domain::text::printable;

/// Stands for the address of a cluster while an inventory is judged and nothing is asked. `.invalid` never resolves
/// (RFC 2606).
const NO_ADDRESS: &str = "http://not-asked.invalid/";

impl Checker<'_> {
    /// The clusters.
    pub(super) fn clusters(&mut self, tables: &[ClusterTable]) -> Vec<ClusterConfig> {
        self.unique_names(tables);
        tables.iter().enumerate().filter_map(|(at, table)| self.cluster(&format!("clusters[{at}]"), table)).collect()
    }

    fn unique_names(&mut self, tables: &[ClusterTable]) {
        let mut first = BTreeMap::new();
        for (at, table) in tables.iter().enumerate() {
            let Some(name) = table.name.as_deref() else { continue };
            let key = format!("clusters[{at}].name");
            match first.get(name) {
                None => {
                    first.insert(name, self.report.place(&key));
                }
                Some(before) => {
                    let what = format!("`{}` is the name of another cluster too ({before})", printable(name));
                    self.report.error(&key, what, "give each cluster a name of its own");
                }
            }
        }
    }

    fn cluster(&mut self, key: &str, table: &ClusterTable) -> Option<ClusterConfig> {
        let name = self.name(&format!("{key}.name"), table.name.as_ref());
        let endpoint = self.endpoint(key, table);
        let checkpoint_dir =
            table.checkpoint_dir.as_deref().and_then(|text| self.uri(&format!("{key}.checkpoint_dir"), text));
        let http = self.http(key, &table.http);
        Some(ClusterConfig {
            name: name?,
            endpoint: endpoint?,
            history: table.history,
            retired: table.retired,
            checkpoint_dir,
            min_live_jobs: usize::try_from(table.min_live_jobs.unwrap_or(0)).unwrap_or(usize::MAX),
            http,
        })
    }

    fn endpoint(&mut self, key: &str, table: &ClusterTable) -> Option<Endpoint> {
        match (&table.url, &table.yarn_resource_manager, &table.yarn_application) {
            (Some(url), None, None) => self.url(&format!("{key}.url"), url).map(Endpoint::Url),
            (None, Some(manager), Some(application)) => self.yarn(key, manager, application),
            (None, None, None) if self.judge_only => Url::parse(NO_ADDRESS).ok().map(Endpoint::Url),
            (None, None, None) => {
                self.report.missing(
                    &format!("{key}.url"),
                    "no address",
                    "write its REST URL in `url`, or `yarn_resource_manager` and `yarn_application`",
                );
                None
            }
            (Some(_), _, _) => {
                self.report.error(
                    key,
                    "two addresses",
                    "keep `url`, or `yarn_resource_manager` with `yarn_application`",
                );
                None
            }
            (None, manager, _) => {
                let lacking = if manager.is_none() { "yarn_resource_manager" } else { "yarn_application" };
                let remedy = format!("add `{lacking}`: both keys are needed to find a cluster on YARN");
                self.report.missing(&format!("{key}.{lacking}"), "this key is missing", remedy);
                None
            }
        }
    }

    fn yarn(&mut self, key: &str, manager: &str, application: &str) -> Option<Endpoint> {
        let resource_manager = self.url(&format!("{key}.yarn_resource_manager"), manager);
        let application_key = format!("{key}.yarn_application");
        if is_yarn_id(application) {
            let remedy = "write the name of the application, as `yarn application -list` shows it beside the id";
            self.report.error(&application_key, "this is an id, which changes with each start", remedy);
        }
        let application = self.name(&application_key, Some(&application.to_owned()))?;
        Some(Endpoint::Yarn { resource_manager: resource_manager?, application })
    }

    /// No Flink at all has to be said: a cluster that was forgotten looks the same and would veto.
    pub(super) fn flink_said(&mut self, file: &FileConfig) {
        match (file.flink, file.clusters.is_empty()) {
            (Some(FlinkWord::None), false) => self.report.error(
                "flink",
                "`flink = \"none\"` and clusters exclude one another",
                "remove `flink` if there are clusters, or the clusters if there is no Flink",
            ),
            (None, true) if !self.report.has_seen("clusters") && !self.report.has_seen("flink") => self.report.refuse(
                "clusters",
                "no Flink is named, so nobody can say which state is alive",
                "name every cluster that may use this HDFS in `[[clusters]]` (or `--cluster NAME=URL`), or write `flink = \"none\"` if there is none",
            ),
            _ => {}
        }
    }
}

/// `application_<timestamp>_<number>`.
fn is_yarn_id(text: &str) -> bool {
    text.strip_prefix("application_").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b'_'))
}
