//! From the file as written to the checked [`Config`]: what each text means, and what is safe.
//!
//! What cannot be read as a configuration is an error (the program ends 1); what can be read but is unsafe is a refusal,
//! reported as `config-refused` and not in effect. Every check goes on after a fault, so that all come out at once.

mod file_systems;
mod flink;
mod policies;
mod registry;
mod roots;
mod secret;
mod servers;
mod value;

use std::path::PathBuf;

use super::error::{ConfigErrors, Report};
use super::file::{FileConfig, FlinkWord};
use super::load::{LoadOptions, Surroundings};
use super::valid::Config;
use crate::domain::FileSystems;

/// What all checks need.
pub(super) struct Checker<'a> {
    report: Report,
    surroundings: &'a Surroundings<'a>,
    /// Where relative file names start: the directory of the configuration file.
    folder: PathBuf,
    judge_only: bool,
    applies: bool,
    file_systems: FileSystems,
}

impl<'a> Checker<'a> {
    /// Checks of a configuration whose relative file names start in `folder`.
    pub(super) fn new(
        report: Report,
        surroundings: &'a Surroundings<'a>,
        folder: PathBuf,
        options: &LoadOptions,
    ) -> Self {
        let LoadOptions { judge_only, applies, .. } = *options;
        Self { report, surroundings, folder, judge_only, applies, file_systems: FileSystems::default() }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// The checked configuration, or everything that is wrong with the written one.
pub(super) fn check(
    file: &FileConfig,
    mut checker: Checker<'_>,
    source: Option<PathBuf>,
) -> Result<Config, ConfigErrors> {
    // The file systems first: every path below may name one.
    let namenodes = checker.file_systems(file);
    let hdfs = checker.hdfs(file.hdfs.as_ref(), namenodes);
    let ds = file.ds.as_ref().and_then(|table| checker.ds(table));
    let namespace = ds.as_ref().map(|ds| ds.base_path.clone());
    let clusters = checker.clusters(&file.clusters);
    checker.flink_said(file);
    let roots = checker.roots(&file.checkpoint_roots, &names(file), namespace.as_ref());
    let policies = checker.policies(&file.policies, namespace.as_ref());
    let registry = checker.registry(&file.registry);
    let applications = checker.applications(&file.applications);
    let migrate_to = checker.migrate_to(file.migrate_to.as_deref(), namespace.as_ref());
    let migrations = checker.migrations(&file.migrations);
    let ignores = checker.ignores(&file.ignores);
    Ok(Config {
        file_systems: checker.file_systems,
        hdfs,
        ds,
        flink_none: file.flink == Some(FlinkWord::None),
        clusters,
        roots,
        policies,
        registry,
        applications,
        migrate_to,
        migrations,
        ignores,
        refusals: checker.report.finish()?,
        source,
    })
}

/// All cluster names that the file gives, also those of clusters with a fault.
fn names(file: &FileConfig) -> Vec<&str> {
    file.clusters.iter().filter_map(|cluster| cluster.name.as_deref()).collect()
}
