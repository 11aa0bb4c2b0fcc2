//! Which endpoint a request means, per generation, and the words a fault can use for it.

use axum::http::Method;

use super::asked::Asked;
use super::database::{Database, path_of_uri};
use super::generation::Generation;
use crate::demo::servers::fault::Request;
use crate::domain::HdfsPath;

/// An endpoint with what its path holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// `GET /users/get-user-info`.
    WhoAmI,
    /// `GET /users/list-paging`.
    UserPage,
    /// `GET /tenants/list`.
    TenantList,
    /// `GET /projects`.
    ProjectPage,
    /// `GET /projects/list`.
    ProjectList,
    /// `GET /projects/{p}/process-definition`.
    WorkflowPage(i64),
    /// `GET /projects/{p}/process-definition/list` or `/all`.
    WorkflowList(i64),
    /// `GET /projects/{p}/process-definition/{code}`.
    Workflow(i64, i64),
    /// `GET /projects/{p}/task-definition`.
    TaskPage(i64),
    /// `GET /resources/udf-func`.
    FunctionPage,
    /// `GET /resources/udf-func/list`.
    FunctionList,
    /// `GET /cluster/query-cluster-list`, there from 3.1 on.
    ClusterList,
    /// `GET /ui-plugins/{id}`: a plugin nobody has, or a name where an id belongs.
    UiPlugin,
    /// `GET /v3/api-docs/v1`, from 3.2 on, and `GET /v3/api-docs` in 3.1; without a token.
    ApiDocs,
    /// `GET /resources/list`.
    Tree,
    /// `GET /resources`.
    Page,
    /// `GET /resources/{id}/query`, 3.0 and 3.1.
    Record(i64),
    /// `GET /resources/{id}`, up to 3.1; `None`: no number.
    RecordByNameOrParent(Option<i64>),
    /// `GET /resources/verify-name`.
    VerifyName,
    /// `GET /resources/{id}/view`, up to 3.1.
    ViewRecord(i64),
    /// `GET /resources/view`, from 3.2 on.
    ViewStorage,
    /// `GET /resources/base-dir`, from 3.2 on.
    BaseDir,
    /// `POST /resources/directory`.
    MakeDirectory,
    /// `POST /resources`.
    Upload,
    /// `DELETE /resources/{id}`, up to 3.1.
    DeleteRecord(i64),
    /// `DELETE /resources`, from 3.2 on.
    DeleteStorage,
}

impl Call {
    /// The endpoint of a request; `None`: the server has none there.
    pub fn of(asked: &Asked, generation: Generation) -> Option<Self> {
        let segments: Vec<&str> = asked.segments.as_ref()?.iter().map(String::as_str).collect();
        if asked.method == Method::GET
            && let Some(call) = shared_call(&segments, generation)
        {
            return Some(call);
        }
        if generation.has_records() {
            record_call(&asked.method, &segments, generation)
        } else {
            storage_call(&asked.method, &segments)
        }
    }

    /// Whether it answers without a token (`AppConfiguration` excludes the API documents from the login check).
    pub const fn is_open(self) -> bool {
        matches!(self, Self::ApiDocs)
    }

    /// Whether it changes something.
    pub const fn is_write(self) -> bool {
        matches!(self, Self::MakeDirectory | Self::Upload | Self::DeleteRecord(_) | Self::DeleteStorage)
    }

    /// The operation in the words of a world file; creating calls have none.
    const fn op(self) -> &'static str {
        match self {
            Self::WhoAmI => "whoami",
            Self::UserPage => "users",
            Self::TenantList => "tenants",
            Self::ProjectPage | Self::ProjectList => "projects",
            Self::WorkflowPage(_) | Self::WorkflowList(_) | Self::Workflow(..) | Self::TaskPage(_) => "workflows",
            Self::FunctionPage | Self::FunctionList => "functions",
            Self::ClusterList | Self::UiPlugin | Self::ApiDocs => "version",
            Self::Tree => "list-tree",
            Self::Page => "list-page",
            Self::Record(_) | Self::RecordByNameOrParent(_) => "record",
            Self::VerifyName => "verify-name",
            Self::ViewRecord(_) | Self::ViewStorage => "view",
            Self::BaseDir => "base-dir",
            Self::DeleteRecord(_) | Self::DeleteStorage => "delete",
            Self::MakeDirectory | Self::Upload => "",
        }
    }

    const fn record(self) -> Option<i64> {
        match self {
            Self::Record(id) | Self::ViewRecord(id) | Self::DeleteRecord(id) | Self::RecordByNameOrParent(Some(id)) => {
                Some(id)
            }
            _ => None,
        }
    }

    const fn project(self) -> Option<i64> {
        match self {
            Self::WorkflowPage(code) | Self::WorkflowList(code) | Self::Workflow(code, _) | Self::TaskPage(code) => {
                Some(code)
            }
            _ => None,
        }
    }
}

fn shared_call(segments: &[&str], generation: Generation) -> Option<Call> {
    Some(match segments {
        ["users", "get-user-info"] => Call::WhoAmI,
        ["users", "list-paging"] => Call::UserPage,
        ["tenants", "list"] => Call::TenantList,
        ["projects"] => Call::ProjectPage,
        ["projects", "list"] => Call::ProjectList,
        ["projects", project, "process-definition"] => Call::WorkflowPage(project.parse().ok()?),
        ["projects", project, "process-definition", "list" | "all"] => Call::WorkflowList(project.parse().ok()?),
        ["projects", project, "process-definition", code] => Call::Workflow(project.parse().ok()?, code.parse().ok()?),
        ["projects", project, "task-definition"] => Call::TaskPage(project.parse().ok()?),
        ["resources", "udf-func"] => Call::FunctionPage,
        ["resources", "udf-func", "list"] => Call::FunctionList,
        ["cluster", "query-cluster-list"] if !matches!(generation, Generation::V20 | Generation::V30) => {
            Call::ClusterList
        }
        ["ui-plugins", _] => Call::UiPlugin,
        ["v3", "api-docs"] if generation == Generation::V31 => Call::ApiDocs,
        ["v3", "api-docs", "v1"] if !generation.has_records() => Call::ApiDocs,
        ["resources"] => Call::Page,
        ["resources", "list"] => Call::Tree,
        ["resources", "verify-name"] => Call::VerifyName,
        _ => return None,
    })
}

/// The calls up to 3.1. A word where an id belongs reaches the handler of ids and fails there.
fn record_call(method: &Method, segments: &[&str], generation: Generation) -> Option<Call> {
    Some(match (method.as_str(), segments) {
        ("GET", ["resources", id, "query"]) if generation != Generation::V20 => Call::Record(id.parse().ok()?),
        ("GET", ["resources", id, "view"]) => Call::ViewRecord(id.parse().ok()?),
        ("GET", ["resources", id]) => Call::RecordByNameOrParent(id.parse().ok()),
        ("POST", ["resources", "directory"]) => Call::MakeDirectory,
        ("POST", ["resources"]) => Call::Upload,
        ("DELETE", ["resources", id]) => Call::DeleteRecord(id.parse().ok()?),
        _ => return None,
    })
}

/// The calls of 3.2.2.
fn storage_call(method: &Method, segments: &[&str]) -> Option<Call> {
    Some(match (method.as_str(), segments) {
        ("GET", ["resources", "view"]) => Call::ViewStorage,
        ("GET", ["resources", "base-dir"]) => Call::BaseDir,
        ("POST", ["resources", "directory"]) => Call::MakeDirectory,
        ("POST", ["resources"]) => Call::Upload,
        ("DELETE", ["resources"]) => Call::DeleteStorage,
        _ => return None,
    })
}

/// The request in the words of the fault engine.
pub fn describe(asked: &Asked, call: Option<Call>, database: &Database) -> Request {
    let path = path_asked(asked, call, database);
    Request {
        method: asked.method.to_string(),
        raw_path: asked.raw_path.clone(),
        op: call.map_or("", Call::op).to_owned(),
        record: call.and_then(Call::record),
        project: call.and_then(Call::project),
        tenant: tenant_asked(asked, path.as_ref(), database),
        path: path.map(|path| path.to_string()),
        page: asked.number("pageNo").and_then(|number| u32::try_from(number).ok()),
        job: None,
    }
}

fn path_asked(asked: &Asked, call: Option<Call>, database: &Database) -> Option<HdfsPath> {
    if let Some(row) = call.and_then(Call::record).and_then(|id| database.rows.get(&id)) {
        return database.current_path(row);
    }
    if call == Some(Call::MakeDirectory) || call == Some(Call::Upload) {
        return path_of_uri(&format!("{}/{}", asked.param("currentDir")?, asked.param("name")?));
    }
    asked.param("fullName").filter(|name| !name.is_empty()).and_then(path_of_uri)
}

/// The tenant named in the request, else the one below whose directory the path lies.
fn tenant_asked(asked: &Asked, path: Option<&HdfsPath>, database: &Database) -> Option<String> {
    let named = asked.param("tenantCode").filter(|code| !code.is_empty()).map(str::to_owned);
    named.or_else(|| path?.ancestor_below(&database.base, 1)?.name().map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(method: Method, path: &str, generation: Generation) -> Option<Call> {
        let segments = path.split('/').map(str::to_owned).collect();
        Call::of(&Asked { method, segments: Some(segments), ..Asked::default() }, generation)
    }

    #[test]
    fn the_generations_differ_in_what_they_have() {
        assert_eq!(call(Method::GET, "resources/0/query", Generation::V31), Some(Call::Record(0)));
        for without in [Generation::V20, Generation::V322] {
            assert_eq!(call(Method::GET, "resources/0/query", without), None);
        }
        assert_eq!(call(Method::GET, "cluster/query-cluster-list", Generation::V30), None);
        assert_eq!(call(Method::GET, "cluster/query-cluster-list", Generation::V31), Some(Call::ClusterList));
        assert_eq!(call(Method::GET, "resources/base-dir", Generation::V322), Some(Call::BaseDir));
        // 3.1 has no such call and takes the word for an id.
        let by_id = Some(Call::RecordByNameOrParent(None));
        assert_eq!(call(Method::GET, "resources/base-dir", Generation::V31), by_id);
        assert_eq!(call(Method::DELETE, "resources", Generation::V31), None);
        assert_eq!(call(Method::DELETE, "resources/7", Generation::V322), None);
    }
}
