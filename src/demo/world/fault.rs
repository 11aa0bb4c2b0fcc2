//! Faults as a world file writes them; `demo::servers::fault` decides which one meets a request.

use serde::Deserialize;
use serde_json::Value;

/// One override of the answers to some requests of one server.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fault {
    /// Operation; `*` is any.
    pub op: Option<String>,
    /// HTTP method, with `url`.
    pub method: Option<String>,
    /// Glob on the raw path of the request.
    pub url: Option<String>,
    /// Glob on the path asked about; `/**` at the end is everything below.
    pub path: Option<String>,
    /// Row id.
    pub record: Option<i64>,
    /// Job id.
    pub job: Option<String>,
    /// Project code.
    pub project: Option<i64>,
    /// Tenant.
    pub tenant: Option<String>,
    /// This page only.
    pub page: Option<u32>,
    /// This page and later ones.
    pub from_page: Option<u32>,
    /// Only the Nth such request, counted from 1.
    pub nth: Option<u32>,
    /// The Nth such request and later ones.
    pub from: Option<u32>,
    /// After the first hit every request to the server gets this answer.
    pub sticky: bool,
    /// Status of the answer.
    pub http: Option<u16>,
    /// Code in the body of a DolphinScheduler answer.
    pub code: Option<i64>,
    /// Message beside it.
    pub msg: Option<String>,
    /// Class of the RemoteException of an HDFS answer.
    pub exception: Option<String>,
    /// Messages of a Flink error.
    pub errors: Option<Vec<String>>,
    /// Content type.
    pub content_type: Option<String>,
    /// Body as it is.
    pub body: Option<String>,
    /// Where a redirect leads.
    pub location: Option<String>,
    /// The request is never answered.
    pub timeout: bool,
    /// Where the connection breaks.
    pub cut: Option<Cut>,
    /// What a list holds, by id.
    pub ids: Option<Vec<Value>>,
    /// What a list holds, by path.
    pub entries: Option<Vec<String>>,
    /// What a list leaves out, with all below.
    pub omit: Vec<String>,
    /// What a list leaves out, by id.
    pub omit_ids: Vec<Value>,
    /// Total a list claims.
    pub total: Option<i64>,
    /// Only the first N entries.
    pub returned: Option<usize>,
    /// This page is served again.
    pub repeat_page: Option<u32>,
    /// What a write does.
    pub effect: Option<Effect>,
    /// What a partial delete leaves.
    pub keeps: Vec<String>,
}

/// Where a connection breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// After the request, before any byte of the answer.
    BeforeAnswer,
    /// In the body.
    MidBody,
}

/// What a write does, whatever its answer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// All of it.
    Done,
    /// Nothing.
    None,
    /// The row goes, the file stays.
    RowsOnly,
    /// The file goes, the row stays.
    FilesOnly,
    /// All but what `keeps` names.
    Partial,
}
