//! One question to the API and its answer: `{"code": …, "msg": …, "data": …}`.
//!
//! Success is code 0 in a JSON answer and nothing else: business errors and unhandled exceptions come as HTTP 200 (all
//! versions), unknown endpoints as 200 or 404 with HTML, and `msg` is localised, so no decision reads it. Bodies are
//! never logged: user endpoints carry password hashes, task definitions carry scripts.

use std::fmt::{self, Display};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use reqwest::header::HeaderName;
use secrecy::SecretString;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};
use url::Url;

use crate::adapters::http::{Answer, HttpClient, HttpFault, HttpSetupError};
use crate::config::DsConfig;
use crate::domain::text::printable;
use crate::views::{Cause, Gap, ViewName};

/// Questions in a row without any answer after which no more are asked. A server that is down would otherwise cost one
/// deadline for each directory and each workflow.
const MAX_UNANSWERED: usize = 3;

/// Characters of the server's own message that are shown.
const MAX_MESSAGE: usize = 200;

/// A question: a path below the context path with its query, and the words for it in a message.
#[derive(Debug, Clone)]
pub(super) struct Question {
    what: String,
    path: String,
    query: Vec<(&'static str, String)>,
}

impl Question {
    /// A question for `path`; `what` completes the sentence "cannot read …".
    pub(super) fn new(what: impl Into<String>, path: impl Into<String>) -> Self {
        Self { what: what.into(), path: path.into(), query: Vec::new() }
    }

    /// The same question with one more parameter.
    pub(super) fn with(mut self, name: &'static str, value: impl Display) -> Self {
        self.query.push((name, value.to_string()));
        self
    }

    /// The same question for one page (1-based). `searchVal` is always sent: some versions fail without it.
    pub(super) fn page(&self, number: u32, size: u32) -> Self {
        let mut page = self.clone().with("pageNo", number).with("pageSize", size).with("searchVal", "");
        page.what = format!("{}, page {number}", self.what);
        page
    }

    /// What is asked for, in words.
    pub(super) fn what(&self) -> &str {
        &self.what
    }
}

/// Why a question has no usable answer. Holds neither URL nor body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// The configuration lacks this key.
    NotConfigured(&'static str),
    /// No whole answer.
    NoAnswer(HttpFault),
    /// Too many questions in a row without an answer; this one was not sent.
    GaveUp,
    /// 401, or a 401 to an earlier question: then this one was not sent.
    Unauthorized,
    /// A status that says so: 403, 5xx.
    Status(u16),
    /// No JSON, or JSON without a code: a login page, a proxy, a wrong context path, an unknown endpoint.
    NotTheApi {
        /// HTTP status.
        status: u16,
        /// Media type.
        content_type: String,
    },
    /// A code other than 0; `None` is the code `null` of an unhandled exception.
    Code {
        /// The code.
        code: Option<i64>,
        /// First line of the server's message, made printable.
        message: String,
    },
    /// Code 0 with data of another shape.
    Shape {
        /// Column in the body; the offending text itself may be a secret.
        column: usize,
    },
}

impl Failure {
    /// The class of the failure.
    pub(super) fn cause(&self) -> Cause {
        match self {
            Self::NotConfigured(_) => Cause::NotConfigured,
            Self::NoAnswer(fault) => fault.cause(),
            Self::GaveUp => Cause::Unreachable,
            Self::Unauthorized | Self::Status(403) => Cause::NotAuthorized,
            Self::Status(_) | Self::Code { .. } => Cause::ServerError,
            Self::NotTheApi { .. } | Self::Shape { .. } => Cause::NotUnderstood,
        }
    }

    /// Whether the server answered this with exactly this code.
    pub(super) fn has_code(&self, wanted: i64) -> bool {
        matches!(self, Self::Code { code: Some(code), .. } if *code == wanted)
    }

    /// The gap this leaves in a view.
    pub(super) fn gap(&self, view: ViewName, what: &str) -> Gap {
        Gap::incomplete(view, self.cause(), format!("cannot read {what}: {self}; {}", self.remedy()))
    }

    fn remedy(&self) -> &'static str {
        match self {
            Self::NotConfigured(_) => "set it",
            Self::NoAnswer(_) | Self::GaveUp => "check that the API server is up and reachable from here",
            Self::Unauthorized => {
                "make a new token in DolphinScheduler (Security, Token Manage) and put it where the configuration says"
            }
            Self::Status(403) => "ask whoever runs the proxy in front of the API server",
            Self::NotTheApi { .. } => "is the base path (context path) in `ds.url` right?",
            Self::Code { code: Some(30001 | 30002 | 30003 | 1_400_001), .. } => "use the token of an administrator",
            Self::Code { code: Some(10017 | 10181), .. } => "give the account of the token a tenant",
            Self::Code { code: Some(20020), .. } => "set `ds.base_path` to the base directory of the server",
            Self::Status(_) | Self::Code { .. } => "look into the log of the API server",
            Self::Shape { .. } => "check that `ds.version` is the version of the server",
        }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotConfigured(key) => write!(f, "`{key}` is not set"),
            Self::NoAnswer(fault) => fault.fmt(f),
            Self::GaveUp => write!(f, "not asked, since {MAX_UNANSWERED} questions in a row stayed without an answer"),
            Self::Unauthorized => f.write_str("HTTP 401, the access token is expired, disabled or wrong"),
            Self::Status(status) => write!(f, "HTTP {status}"),
            Self::NotTheApi { status, content_type } if content_type.is_empty() => {
                write!(f, "HTTP {status} without a media type instead of JSON with a code")
            }
            Self::NotTheApi { status, content_type } => {
                write!(f, "HTTP {status} with {} instead of JSON with a code", printable(content_type))
            }
            Self::Code { code: None, message } => write!(f, "code null ({message})"),
            Self::Code { code: Some(code), message } => write!(f, "code {code} ({message})"),
            Self::Shape { column } => write!(f, "success, but the data has another shape (at byte {column})"),
        }
    }
}

/// The API of one server.
pub(super) struct Api {
    base: Option<Url>,
    has_token: bool,
    http: HttpClient,
    refused: AtomicBool,
    unanswered: AtomicUsize,
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URL may hold credentials.
        f.debug_struct("Api")
            .field("has_token", &self.has_token)
            .field("refused", &self.refused)
            .finish_non_exhaustive()
    }
}

impl Api {
    /// The API the configuration names.
    pub(super) fn new(config: &DsConfig) -> Result<Self, HttpSetupError> {
        Ok(Self {
            base: config.url.clone(),
            has_token: config.token.is_some(),
            http: HttpClient::new(&config.http, &headers(config))?,
            refused: AtomicBool::new(false),
            unanswered: AtomicUsize::new(0),
        })
    }

    /// A new reading begins: what an earlier one ran into is forgotten.
    pub(super) fn begin(&self) {
        self.refused.store(false, Ordering::Relaxed);
        self.unanswered.store(0, Ordering::Relaxed);
    }

    /// Asks, and takes only success for an answer.
    pub(super) async fn ask<T: DeserializeOwned>(&self, question: &Question) -> Result<T, Failure> {
        let answer = self.get(question).await?;
        read_envelope(&answer)
    }

    /// Asks something that does not answer with an envelope (the API documentation).
    pub(super) async fn ask_bare<T: DeserializeOwned>(&self, question: &Question) -> Option<T> {
        let answer = self.get(question).await.ok()?;
        serde_json::from_slice(&answer.body).ok()
    }

    async fn get(&self, question: &Question) -> Result<Answer, Failure> {
        let url = self.url(question)?;
        if self.refused.load(Ordering::Relaxed) {
            return Err(Failure::Unauthorized);
        }
        if self.unanswered.load(Ordering::Relaxed) >= MAX_UNANSWERED {
            return Err(Failure::GaveUp);
        }
        let answer = self.http.get(&url).await.map_err(|fault| {
            self.unanswered.fetch_add(1, Ordering::Relaxed);
            Failure::NoAnswer(fault)
        })?;
        tracing::debug!(path = question.path, status = answer.status, "dolphinscheduler answered");
        self.unanswered.store(0, Ordering::Relaxed);
        if answer.status == 401 {
            // Expired, disabled or wrong: the next question would fare no better, and brute force looks like an attack.
            self.refused.store(true, Ordering::Relaxed);
            return Err(Failure::Unauthorized);
        }
        Ok(answer)
    }

    fn url(&self, question: &Question) -> Result<Url, Failure> {
        let base = self.base.as_ref().ok_or(Failure::NotConfigured(URL_KEY))?;
        if !self.has_token {
            return Err(Failure::NotConfigured(TOKEN_KEY));
        }
        let mut url = url_below(base, &question.path);
        if !question.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&question.query);
        }
        Ok(url)
    }
}

/// The key of the address, for messages.
pub(super) const URL_KEY: &str = "ds.url";

/// The keys of the token, for messages.
pub(super) const TOKEN_KEY: &str = "the access token (ds.token_env or ds.token_file)";

/// The headers of every request: the token, and the language of the messages.
pub(super) fn headers(config: &DsConfig) -> Vec<(HeaderName, SecretString)> {
    let language = (HeaderName::from_static("language"), SecretString::from("en_US"));
    let token = config.token.iter().map(|token| (HeaderName::from_static("token"), token.clone()));
    std::iter::once(language).chain(token).collect()
}

/// The address of a path below the context path.
pub(super) fn url_below(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}{path}", url.path().trim_end_matches('/')));
    url.set_query(None);
    url.set_fragment(None);
    url
}

#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    code: Code,
    #[serde(default)]
    msg: Option<String>,
}

/// The code: not there, `null`, or a number. 3.0 gives null for some exceptions.
#[derive(Default)]
enum Code {
    #[default]
    Missing,
    Null,
    Number(i64),
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::<i64>::deserialize(deserializer)?.map_or(Self::Null, Self::Number))
    }
}

#[derive(Deserialize)]
struct Body<T> {
    data: T,
}

fn read_envelope<T: DeserializeOwned>(answer: &Answer) -> Result<T, Failure> {
    read_success(answer)?;
    let body = serde_json::from_slice::<Body<T>>(&answer.body);
    body.map(|body| body.data).map_err(|error| Failure::Shape { column: error.column() })
}

/// Whether the answer is a success, whatever its data.
pub(super) fn read_success(answer: &Answer) -> Result<(), Failure> {
    let status = answer.status;
    let not_the_api = || Failure::NotTheApi { status, content_type: answer.content_type.clone() };
    if status == 403 || status >= 500 {
        return Err(Failure::Status(status));
    }
    // 201 is the success of a few endpoints.
    if !matches!(status, 200 | 201) || !answer.is_json() {
        return Err(not_the_api());
    }
    let head: Head = serde_json::from_slice(&answer.body).map_err(|_| not_the_api())?;
    let code = match head.code {
        Code::Missing => return Err(not_the_api()),
        Code::Number(0) => return Ok(()),
        Code::Null => None,
        Code::Number(code) => Some(code),
    };
    Err(Failure::Code { code, message: first_line(head.msg.as_deref().unwrap_or("no message")) })
}

fn first_line(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    printable(&line.chars().take(MAX_MESSAGE).collect::<String>())
}

/// Data whose content does not matter: read over and dropped.
pub(super) type Dropped = IgnoredAny;

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, content_type: &str, body: &str) -> Answer {
        Answer {
            status,
            content_type: content_type.to_owned(),
            body: body.as_bytes().to_vec(),
            date: None,
            location: None,
        }
    }

    fn read(status: u16, content_type: &str, body: &str) -> Result<i64, Failure> {
        read_envelope(&answer(status, content_type, body))
    }

    const JSON: &str = "application/json";

    #[test]
    fn only_code_zero_in_json_is_success() {
        assert_eq!(read(200, JSON, r#"{"code":0,"msg":"success","data":7,"failed":false}"#), Ok(7));
        assert_eq!(read(201, JSON, r#"{"data":7,"code":0}"#), Ok(7));
        assert!(matches!(read(200, "text/html", r#"{"code":0,"data":7}"#), Err(Failure::NotTheApi { .. })));
        assert!(matches!(read(404, JSON, r#"{"code":0,"data":7}"#), Err(Failure::NotTheApi { status: 404, .. })));
        assert!(matches!(read(200, JSON, r#"{"status":200,"data":7}"#), Err(Failure::NotTheApi { .. })));
        assert!(matches!(read(200, JSON, "[]"), Err(Failure::NotTheApi { .. })));
        assert!(matches!(read(200, JSON, ""), Err(Failure::NotTheApi { .. })));
    }

    #[test]
    fn a_null_code_is_an_error_and_not_a_success() {
        let failure = read(200, JSON, r#"{"code":null,"msg":"boom","data":7}"#).expect_err("null is no success");
        assert_eq!(failure.to_string(), "code null (boom)");
        assert_eq!(failure.cause(), Cause::ServerError);
    }

    #[test]
    fn messages_are_one_printable_line() {
        let long = format!(r#"{{"code":10057,"msg":"a\u001b[31mb\nsecond {}"}}"#, "x".repeat(500));
        let failure = read(200, JSON, &long).expect_err("an error code");
        assert_eq!(failure.to_string(), "code 10057 (a\\u{1b}[31mb)");
    }

    #[test]
    fn a_directory_outside_the_servers_base_points_at_the_setting() {
        // 3.2.2, asked for a directory below another base path.
        let body = r#"{"code":20020,"msg":"Resource file [hdfs://localhost:19820/dolphinscheduler] is illegal"}"#;
        let gap = read(200, JSON, body).expect_err("refused").gap(ViewName::Resources, "the listing");
        assert!(gap.detail.ends_with("set `ds.base_path` to the base directory of the server"), "{}", gap.detail);
    }

    #[test]
    fn another_shape_tells_where_and_not_what() {
        let failure = read(200, JSON, r#"{"code":0,"data":"canary-password-hash"}"#).expect_err("no number");
        assert!(!failure.to_string().contains("canary"), "{failure}");
        assert_eq!(failure.cause(), Cause::NotUnderstood);
    }
}
