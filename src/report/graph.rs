//! The graph of restore points, for a person and as JSON: what each names, and why a path is needed.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layout::{Page, Style};
use super::words;
use crate::compare::Context;
use crate::config::Config;
use crate::domain::HdfsPath;
use crate::domain::text::printable;
use crate::gates::run::{in_words, kept_around, verdicts};
use crate::gates::runs::Runs;
use crate::graph::{Completeness, Standing};
use crate::views::Inventory;

/// Version of the graph's JSON form.
pub const SCHEMA: &str = "statewarden/graph/v1";

/// Version of the JSON form of an answer to `why`.
pub const WHY_SCHEMA: &str = "statewarden/why/v1";

/// Every restore point with everything it names, and every run directory with who needs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GraphReport {
    /// Name and version of this form: `statewarden/graph/v1`.
    pub schema: String,
    /// When the inventory was taken (RFC 3339).
    #[schemars(with = "String")]
    pub taken: Timestamp,
    /// Restore points, in path order.
    pub restore_points: Vec<PointNode>,
    /// Run directories, in path order.
    pub runs: Vec<RunNode>,
}

/// One restore point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PointNode {
    /// The directory with its `_metadata`.
    pub path: HdfsPath,
    /// `complete`, `holes` or `unknown`.
    pub state: String,
    /// Why its `_metadata` was not read whole; then it may name anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
    /// Everything it names.
    pub names: Vec<Name>,
}

/// One name in a `_metadata`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Name {
    /// As written.
    pub name: String,
    /// Where it leads; `null` if the name cannot be followed.
    pub path: Option<HdfsPath>,
    /// Whether it is relative to the restore point's own directory.
    pub relative: bool,
    /// Whether it is a directory of which everything is needed.
    pub directory: bool,
    /// `present`, `short` (less than a restore reads of it), `absent` or `unknown`.
    pub standing: String,
}

/// One run directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunNode {
    /// The run directory.
    pub path: HdfsPath,
    /// Its application, if anything says it.
    pub application: Option<String>,
    /// Whether everything about it is proved: it may go.
    pub free: bool,
    /// Restore points of other runs that need it, and by which name.
    pub needed_by: Vec<String>,
}

/// Who needs what lies at or below a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Why {
    /// Name and version of this form: `statewarden/why/v1`.
    pub schema: String,
    /// The path.
    pub path: HdfsPath,
    /// When the inventory was taken (RFC 3339).
    #[schemars(with = "String")]
    pub taken: Timestamp,
    /// Kept restore points outside of it that need it, with the name that leads there, and why each of them is kept.
    pub needed_by: Vec<Reason>,
    /// Kept restore points that were not read whole: each may name anything, this path included.
    pub unread: Vec<String>,
}

/// One restore point that needs a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// The restore point.
    pub restore_point: HdfsPath,
    /// What it names, and how that leads there.
    pub name: String,
    /// Why the restore point stays.
    pub kept_because: String,
}

/// The whole graph.
pub fn graph(inventory: &Inventory, config: &Config) -> GraphReport {
    let context = Context::new(inventory, config);
    let units = Runs::new(&context).units();
    let graph = &context.graph;
    let points = graph.points().map(|(path, point)| PointNode {
        path: path.clone(),
        state: match graph.completeness(path) {
            Completeness::Complete => "complete",
            Completeness::Holes(_) => "holes",
            Completeness::Unknown(_) => "unknown",
        }
        .to_owned(),
        unread: point.unread.clone(),
        names: point
            .needs
            .iter()
            .map(|need| Name {
                name: need.name.clone(),
                path: need.path.clone(),
                relative: need.relative,
                directory: need.directory,
                standing: standing(need.standing).to_owned(),
            })
            .collect(),
    });
    let needed = graph.kept(graph.points().map(|(path, _)| path), &units).needed;
    let runs = verdicts(&context).into_iter().map(|verdict| RunNode {
        needed_by: needed.get(&verdict.path).into_iter().flatten().map(in_words).collect(),
        free: verdict.is_orphan,
        path: verdict.path,
        application: verdict.application,
    });
    GraphReport {
        schema: SCHEMA.to_owned(),
        taken: inventory.taken,
        restore_points: points.collect(),
        runs: runs.collect(),
    }
}

const fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Present => "present",
        Standing::Short => "short",
        Standing::Absent => "absent",
        Standing::Unknown => "unknown",
    }
}

/// Who needs a path.
pub fn why(inventory: &Inventory, config: &Config, path: &HdfsPath) -> Why {
    let context = Context::new(inventory, config);
    let kept = kept_around(&context, path);
    let verdicts = verdicts(&context);
    let reason = |point: &HdfsPath| {
        let Some(verdict) = verdicts.iter().find(|verdict| point.is_at_or_below(&verdict.path)) else {
            return "it lies in no checkpoint root: a savepoint, or a restore point that Flink or the registry names"
                .to_owned();
        };
        let open = verdict
            .keeper()
            .or_else(|| verdict.gates.iter().find(|result| result.verdict != crate::gates::Verdict::Proved));
        open.map_or_else(|| "it goes as well".to_owned(), |result| format!("{}: {}", result.gate, result.evidence))
    };
    let needed = kept.needed.get(path).into_iter().flatten();
    Why {
        schema: WHY_SCHEMA.to_owned(),
        path: path.clone(),
        taken: inventory.taken,
        needed_by: needed
            .map(|needed| Reason {
                restore_point: needed.by.clone(),
                name: in_words(needed),
                kept_because: reason(&needed.by),
            })
            .collect(),
        unread: kept
            .unread
            .iter()
            .filter(|(point, _)| !point.is_at_or_below(path))
            .map(|(point, why)| format!("{point}: {why}"))
            .collect(),
    }
}

/// The graph for a person: one line a run directory, and those who need it.
pub fn render(graph: &GraphReport, style: Style) -> String {
    let mut page = Page::new(style);
    let points = words::count(graph.restore_points.len(), "restore point", "restore points");
    let runs = words::count(graph.runs.len(), "run directory", "run directories");
    page.line(&style.strong(&format!("{runs}, {points}")));
    for run in &graph.runs {
        let application = run.application.as_ref().map_or_else(String::new, |name| format!(" (application {name})"));
        let end = if run.free { "nothing needs it" } else { "stays" };
        page.item("  ", &printable(&format!("{}{application}: {end}", run.path)));
        for needed in &run.needed_by {
            page.item("    ", needed);
        }
    }
    let unread = graph.restore_points.iter().filter_map(|point| Some((point, point.unread.as_ref()?)));
    for (point, why) in unread {
        page.item("  ", &printable(&format!("{} was not read whole and may name anything: {why}", point.path)));
    }
    page.into_text()
}

/// The answer to `why` for a person.
pub fn render_why(why: &Why, style: Style) -> String {
    let mut page = Page::new(style);
    page.line(&style.strong(&printable(why.path.as_str())));
    if why.needed_by.is_empty() && why.unread.is_empty() {
        page.item("  ", "no kept restore point outside of it needs anything at or below it");
    }
    for reason in &why.needed_by {
        page.item("  ", &reason.name);
        page.item("    ", &printable(&format!("which stays: {}", reason.kept_because)));
    }
    for unread in &why.unread {
        page.item("  ", &printable(&format!("not read whole, so it may name anything: {unread}")));
    }
    page.into_text()
}
