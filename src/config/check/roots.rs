//! Checkpoint roots, and which of them are too dangerous to take.
//!
//! A root is a licence to call everything below it checkpoint state. Refused, and left out of this run, are:
//!
//! - a path with a glob or control character: nothing is expanded, so it means something else than its writer thinks;
//! - `/`, and a path of one component: such a directory is usually shared (`/flink`, `/user`, `/tmp`). One component is
//!   taken only if its name says that it is for checkpoints (it holds `checkpoint` or `ckpt`) and the layout puts
//!   applications between it and the runs, so that no run directory lies less than three components deep;
//! - a path at or above the resource namespace, a tenant's directory, or its `resources` or `udfs`: there the API acts.
//!   Below them a root is taken and reported, since live checkpoints do lie there;
//! - two roots of which one holds the other: the unit that may go would depend on which is asked first. Both are refused.

use super::Checker;
use crate::config::file::{MigrationTable, RootTable};
use crate::config::valid::{CheckpointRoot, Layout, Migration};
use crate::config::{error::below, file::MigrationState};
use crate::domain::text::printable;
use crate::domain::{HdfsPath, ResourceKind};

impl Checker<'_> {
    /// The roots that are safe. `clusters` are the names known; `namespace` is the base path of the resource center.
    pub(super) fn roots(
        &mut self,
        tables: &[RootTable],
        clusters: &[&str],
        namespace: Option<&HdfsPath>,
    ) -> Vec<CheckpointRoot> {
        let mut taken = Vec::new();
        for (at, table) in tables.iter().enumerate() {
            let key = format!("checkpoint_roots[{at}]");
            self.root_clusters(&key, &table.clusters, clusters);
            if let Some(path) = self.root_path(&below(&key, "path"), table, namespace)
                && let Some(layout) = table.layout
            {
                let writers = if table.clusters.is_empty() {
                    clusters.iter().map(ToString::to_string).collect()
                } else {
                    table.clusters.clone()
                };
                taken.push((key, CheckpointRoot { path, layout, clusters: writers }));
            }
        }
        self.without_nested(&taken)
    }

    fn root_clusters(&mut self, key: &str, written: &[String], known: &[&str]) {
        for (at, name) in written.iter().enumerate().filter(|(_, name)| !known.contains(&name.as_str())) {
            let what = format!("no cluster is called `{}`", printable(name));
            let remedy = if known.is_empty() {
                "add the cluster under `[[clusters]]`".to_owned()
            } else {
                let known: Vec<_> = known.iter().map(|name| printable(name)).collect();
                format!("add it under `[[clusters]]`, or write one of: {}", known.join(", "))
            };
            self.report.error(&format!("{key}.clusters[{at}]"), what, remedy);
        }
    }

    fn root_path(&mut self, key: &str, table: &RootTable, namespace: Option<&HdfsPath>) -> Option<HdfsPath> {
        let text = table.path.as_deref()?;
        if let Some(what) = unsafe_text(text) {
            self.report.refuse(key, what, "write the one directory that is meant; name several roots one by one");
            return None;
        }
        let path = self.path(key, text)?;
        if is_too_broad(&path, table.layout) {
            let what = format!("`{}` is too broad for a checkpoint root", printable(path.as_str()));
            let remedy = "name the directory itself that `state.checkpoints.dir` has, of at least two components, such as `/flink/checkpoints`";
            self.report.refuse(key, &what, remedy);
            return None;
        }
        if let Some(base) = namespace.filter(|base| holds_resources(&path, base)) {
            let what = format!("`{}` is at or above a resource namespace ({base})", printable(path.as_str()));
            let remedy = "name the directory below it into which Flink writes, and move that out of the namespace (`migrate_to`)";
            self.report.refuse(key, &what, remedy);
            return None;
        }
        Some(path)
    }

    /// Leaves out roots that hold one another, and doubles.
    fn without_nested(&mut self, roots: &[(String, CheckpointRoot)]) -> Vec<CheckpointRoot> {
        let clash = |at: usize, root: &CheckpointRoot| {
            roots.iter().enumerate().find(|(other, (_, there))| {
                *other != at && (root.path.is_at_or_below(&there.path) || there.path.is_below(&root.path))
            })
        };
        let mut safe = Vec::new();
        for (at, (key, root)) in roots.iter().enumerate() {
            match clash(at, root) {
                None => safe.push(root.clone()),
                Some((_, (other_key, other))) => {
                    let what = format!(
                        "`{}` and `{}` ({}) hold one another, so neither is in effect",
                        printable(root.path.as_str()),
                        printable(other.path.as_str()),
                        self.report.place(&below(other_key, "path")),
                    );
                    self.report.refuse(
                        &below(key, "path"),
                        &what,
                        "keep one of the two, or name their parts one by one",
                    );
                }
            }
        }
        safe
    }

    /// The target of migrations, if it is safe.
    pub(super) fn migrate_to(&mut self, text: Option<&str>, namespace: Option<&HdfsPath>) -> Option<HdfsPath> {
        self.target_outside("migrate_to", text?, namespace)
    }

    /// A directory that this program may propose or write to: no root, no globs, not in or around the namespace.
    pub(super) fn target_outside(&mut self, key: &str, text: &str, namespace: Option<&HdfsPath>) -> Option<HdfsPath> {
        let remedy = "name a directory outside the resource namespace, such as `/flink/checkpoints/prod`";
        if let Some(what) = unsafe_text(text) {
            self.report.refuse(key, what, remedy);
            return None;
        }
        let path = self.path(key, text)?;
        let inside = namespace.is_some_and(|base| path.is_at_or_below(base) || base.is_below(&path));
        if path.is_root() || inside {
            let what = format!("`{}` is inside or around the resource namespace", printable(path.as_str()));
            self.report.refuse(key, if path.is_root() { "`/` is no target" } else { &what }, remedy);
            return None;
        }
        Some(path)
    }

    /// Recorded migrations.
    pub(super) fn migrations(&mut self, tables: &[MigrationTable]) -> Vec<Migration> {
        tables
            .iter()
            .enumerate()
            .filter_map(|(at, table)| self.migration(&format!("migrations[{at}]"), table))
            .collect()
    }

    fn migration(&mut self, key: &str, table: &MigrationTable) -> Option<Migration> {
        let app = self.name(&below(key, "app"), table.app.as_ref());
        let from = table.from.as_deref().and_then(|text| self.path(&below(key, "from"), text));
        let to = table.to.as_deref().and_then(|text| self.path(&below(key, "to"), text));
        Some(Migration { app: app?, from: from?, to: to?, finished: table.state? == MigrationState::Finished })
    }
}

/// Why a path must not be taken as it is written.
pub(super) fn unsafe_text(text: &str) -> Option<&'static str> {
    if text.contains(['*', '?', '[', ']', '{', '}']) {
        Some("globs are not expanded, and no path may look like one")
    } else if text.chars().any(char::is_control) {
        Some("the path holds a control character")
    } else {
        None
    }
}

fn is_too_broad(path: &HdfsPath, layout: Option<Layout>) -> bool {
    match (path.depth(), path.name()) {
        (1, Some(name)) => {
            let name = name.to_lowercase();
            let says_so = name.contains("checkpoint") || name.contains("ckpt");
            !says_so || layout == Some(Layout::Job)
        }
        (depth, _) => depth < 2,
    }
}

/// Whether everything of a resource center, of a tenant, or of one kind of a tenant's resources lies at or below `path`.
fn holds_resources(path: &HdfsPath, base: &HdfsPath) -> bool {
    if base.is_at_or_below(path) {
        return true;
    }
    let Some(relative) = path.relative_to(base) else { return false };
    let kinds = [ResourceKind::File.directory(), ResourceKind::Udf.directory()];
    match relative.split_once('/') {
        None => true,
        Some((_, rest)) => kinds.contains(&rest),
    }
}
