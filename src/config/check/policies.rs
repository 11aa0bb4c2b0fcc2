//! Limits and graces.

use super::Checker;
use super::roots::unsafe_text;
use crate::config::file::PoliciesTable;
use crate::config::valid::{Policies, RestoreMode};
use crate::domain::text::printable;
use crate::domain::{Age, HdfsPath, HdfsUri, JobId};

/// Below this, a run directory may belong to a job that is only restarting.
const MIN_AGE_FLOOR: Age = Age::from_hours(1);

impl Checker<'_> {
    /// The policies, with safe values in place of refused ones.
    pub(super) fn policies(&mut self, table: &PoliciesTable, namespace: Option<&HdfsPath>) -> Policies {
        let default = Policies::default();
        let fraction = self.max_delete_fraction(table.max_delete_fraction);
        let rollback_window =
            self.age("policies.rollback_window", table.rollback_window.as_ref(), default.rollback_window);
        Policies {
            min_age: self.min_age(table, default.min_age),
            stable_for: self.age("policies.stable_for", table.stable_for.as_ref(), default.stable_for),
            keep_generations: table.keep_generations.unwrap_or(default.keep_generations),
            record_grace: self.age("policies.record_grace", table.record_grace.as_ref(), default.record_grace),
            confirm_after: self.age("policies.confirm_after", table.confirm_after.as_ref(), default.confirm_after),
            max_delete_fraction: fraction.unwrap_or(default.max_delete_fraction),
            max_delete_fraction_named: fraction.is_some(),
            protect: self.protect(&table.protect),
            restore_mode: table.restore_mode.unwrap_or(RestoreMode::Unknown),
            allow_irreversible: table.allow_irreversible.unwrap_or(false),
            allow_unverified_version: table.allow_unverified_version.unwrap_or(false),
            plan_ttl: self.positive_age("policies.plan_ttl", table.plan_ttl.as_ref(), default.plan_ttl),
            rollback_window,
            min_trash_interval: self.age(
                "policies.min_trash_interval",
                table.min_trash_interval.as_ref(),
                rollback_window,
            ),
            quarantine: table
                .quarantine
                .as_deref()
                .and_then(|text| self.target_outside("policies.quarantine", text, namespace)),
            trash_restore_window: table.trash_restore_window.unwrap_or(true),
        }
    }

    fn min_age(&mut self, table: &PoliciesTable, default: Age) -> Age {
        const KEY: &str = "policies.min_age";
        let age = self.age(KEY, table.min_age.as_ref(), default);
        if age >= MIN_AGE_FLOOR {
            return age;
        }
        self.report.refuse(
            KEY,
            &format!("{age} is below the floor of {MIN_AGE_FLOOR}, which is in effect"),
            "write `1h` or more",
        );
        MIN_AGE_FLOOR
    }

    fn max_delete_fraction(&mut self, fraction: Option<f64>) -> Option<f64> {
        let fraction = fraction?;
        if fraction > 0.0 && fraction <= 1.0 {
            return Some(fraction);
        }
        let remedy = "write a share above 0 and up to 1, such as 0.3; the default of 0.5 is in effect";
        self.report.refuse("policies.max_delete_fraction", &format!("{fraction} is no share of anything"), remedy);
        None
    }

    /// Protection matches loosely, so what is kept is kept as written; what can match nothing is refused.
    fn protect(&mut self, entries: &[String]) -> Vec<String> {
        let mut kept = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            if can_protect(entry) {
                kept.push(entry.clone());
            } else {
                self.report.refuse(
                    &format!("policies.protect[{at}]"),
                    &format!(
                        "`{}` is neither a path nor `app/run`, and globs are not expanded: it would protect nothing",
                        printable(entry)
                    ),
                    "write an absolute path, a URI, or the application and run below a root",
                );
            }
        }
        kept
    }
}

/// Whether an entry is a path, a URI, `app/run`, or the job id of a run directory right below a root.
fn can_protect(entry: &str) -> bool {
    if unsafe_text(entry).is_some() {
        return false;
    }
    if HdfsUri::parse(entry).is_ok() {
        return true;
    }
    let relative = entry.trim_end_matches('/');
    let below_root = HdfsPath::root().join_relative(relative);
    !relative.contains(':') && (JobId::is_directory_name(relative) || below_root.is_ok_and(|path| path.depth() >= 2))
}
