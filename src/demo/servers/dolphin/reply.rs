//! Answers in the shape of DolphinScheduler: the envelope, its codes, and what is no envelope at all.

use serde_json::{Value, json};

use super::generation::Generation;
use super::visit::Traits;
use crate::demo::servers::wire::Reply;

/// A business error. The HTTP status stays 200 (`ApiExceptionHandler` sets none).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Code in the body; `None` is `null`, as 3.0 gives for some exceptions.
    pub code: Option<i64>,
    /// English message; the program must never read it.
    pub msg: String,
}

/// What a call comes to: the `data` of a success, or a business error.
pub type Outcome = Result<Value, Refusal>;

macro_rules! refusals {
    ($($(#[$doc:meta])* $name:ident($($arg:ident),*) = $code:literal, $text:literal;)*) => {
        impl Refusal {
            $(
                $(#[$doc])*
                pub fn $name($($arg: &str),*) -> Self {
                    Self { code: Some($code), msg: format!($text) }
                }
            )*
        }
    };
}

// The names and texts of `Status.java`, of the newest version where they differ.
refusals! {
    /// INTERNAL_SERVER_ERROR_ARGS.
    internal(what) = 10000, "Internal Server Error: {what}";
    /// REQUEST_PARAMS_NOT_VALID_ERROR.
    bad_parameter(name) = 10001, "request parameter {name} is not valid";
    /// HDFS_OPERATION_ERROR.
    hdfs_operation() = 10006, "hdfs operation error";
    /// USER_NOT_EXIST.
    no_user(name) = 10010, "user {name} not exists";
    /// TENANT_NOT_EXIST.
    no_such_tenant() = 10017, "tenant not exists";
    /// CREATE_RESOURCE_ERROR.
    create_failed() = 10054, "create resource error";
    /// QUERY_RESOURCES_LIST_PAGING.
    page_failed() = 10057, "query resources list paging";
    /// DELETE_RESOURCE_ERROR.
    delete_failed() = 10058, "delete resource error";
    /// CURRENT_LOGIN_USER_TENANT_NOT_EXIST.
    no_tenant() = 10181, "the tenant of the currently login user is not specified";
    /// RESOURCE_NOT_EXIST.
    no_resource() = 20004, "resource not exist";
    /// RESOURCE_EXIST.
    resource_exists() = 20005, "resource already exists";
    /// RESOURCE_SUFFIX_NOT_SUPPORT_VIEW.
    not_viewable() = 20006, "resource suffix do not support online viewing";
    /// RESOURCE_SUFFIX_FORBID_CHANGE.
    suffix_refused() = 20008, "resource suffix not allowed to be modified";
    /// RESOURCE_FILE_EXIST.
    file_exists(path) = 20011, "resource file {path} already exists in hdfs,please delete it or change name!";
    /// RESOURCE_FILE_NOT_EXIST.
    no_file(path) = 20012, "resource file {path} not exists !";
    /// UDF_RESOURCE_IS_BOUND.
    udf_bound(function) = 20013, "udf resource file is bound by UDF functions:{function}";
    /// RESOURCE_IS_USED.
    used() = 20014, "resource file is used by process definition";
    /// PARENT_RESOURCE_NOT_EXIST.
    no_parent() = 20015, "parent resource not exist";
    /// RESOURCE_HAS_FOLDER.
    has_children(name) = 20018, "There are files or folders in the current directory:{name}";
    /// ILLEGAL_RESOURCE_PATH.
    illegal_path(path) = 20020, "Resource file [{path}] is illegal";
    /// USER_NO_OPERATION_PERM.
    not_permitted() = 30001, "user has no operation privilege";
    /// USER_NO_OPERATION_PROJECT_PERM.
    no_project_permission(user, project) = 30002, "user {user} is not has project {project} permission";
    /// PROJECT_NOT_FOUND.
    no_project(code) = 10018, "project {code} not found ";
    /// PROCESS_DEFINE_NOT_EXIST.
    no_workflow(code) = 50003, "process definition {code} does not exist";
    /// QUERY_PLUGINS_ERROR.
    plugins() = 110_003, "query plugins error";
    /// NO_CURRENT_OPERATING_PERMISSION.
    no_permission() = 1_400_001, "The current user does not have this permission.";
}

/// The envelope around a business code: `success` and `failed` are getters of `Result`, present from 2.0 on.
pub fn envelope(code: Option<i64>, msg: &str, data: &Value) -> Reply {
    let is_success = code == Some(0);
    let body = json!({"code": code, "msg": msg, "data": data, "failed": !is_success, "success": is_success});
    Reply::json(200, &body)
}

/// The answer to a call.
pub fn answer(outcome: &Outcome) -> Reply {
    match outcome {
        Ok(data) => envelope(Some(0), "success", data),
        Err(refusal) => envelope(refusal.code, &refusal.msg, &Value::Null),
    }
}

/// What a missing, unknown or expired token gets: 401 without a body.
pub fn unauthorized() -> Reply {
    Reply::empty(401)
}

/// What an unknown endpoint gets: Jetty's page, or with a web UI installed the UI under status 200 (`DsErrorController`). 2.0
/// has no such controller and answers in JSON, which is no envelope.
pub fn unknown_endpoint(raw_path: &str, with_ui: bool, traits: &Traits) -> Reply {
    if traits.generation == Generation::V20 {
        let time = traits.precise_time(traits.clock.now());
        return Reply::json(404, &json!({"timestamp": time, "status": 404, "error": "Not Found", "path": raw_path}));
    }
    if with_ui {
        return Reply::new(200, "text/html", UI_PAGE);
    }
    Reply::new(404, "text/html;charset=iso-8859-1", not_found_page(raw_path))
}

const UI_PAGE: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head><title>DolphinScheduler</title></head>\n<body><div id=\"app\"></div></body>\n</html>\n";

fn not_found_page(uri: &str) -> String {
    let shown = uri.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!(
        "<html>\n<head>\n<meta http-equiv=\"Content-Type\" content=\"text/html;charset=ISO-8859-1\"/>\n\
         <title>Error 404 Not Found</title>\n</head>\n<body><h2>HTTP ERROR 404 Not Found</h2>\n<table>\n\
         <tr><th>URI:</th><td>{shown}</td></tr>\n<tr><th>STATUS:</th><td>404</td></tr>\n\
         <tr><th>MESSAGE:</th><td>Not Found</td></tr>\n<tr><th>SERVLET:</th><td>dispatcherServlet</td></tr>\n\
         </table>\n\n</body>\n</html>\n"
    )
}
