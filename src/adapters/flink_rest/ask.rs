//! One question to one server: an answer that can be used, or a typed failure with words for a person.

use serde_json::Value;
use url::Url;

use super::wire::WrongShape;
use crate::adapters::http::{Answer, HttpClient, HttpFault};
use crate::domain::text::printable;
use crate::views::{Cause, Gap, ViewName};

/// Longest piece of a foreign text in a message.
const MAX_QUOTED: usize = 200;

/// What to say of an address that will not outlive its application.
const STALE: &str = "; the application id in this address changes with each start: use `yarn_resource_manager` and `yarn_application` instead";

/// Why a question has no usable answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Failure {
    /// No whole answer came.
    #[error("{0}")]
    Http(HttpFault),
    /// 3xx. Never followed: it leads to a login, to a history page, or to another host.
    #[error("redirected ({status}) to {to}, which was not followed")]
    Redirected { status: u16, to: String },
    /// 401 or 403.
    #[error("access refused ({0})")]
    Refused(u16),
    /// Something else than JSON.
    #[error("status {status} with `{content_type}` instead of JSON")]
    NotJson { status: u16, content_type: String },
    /// Called JSON, but it is none.
    #[error("status {status} with broken JSON")]
    Broken { status: u16, cut: bool },
    /// JSON with another status than 200, or with nothing but errors.
    #[error("status {status}: {message}")]
    Said { status: u16, says: Says, message: String },
    /// JSON, but not what was asked for.
    #[error("JSON that is no {0}")]
    Shape(&'static str),
}

/// What an error text of Flink means. Flink gives no codes, so its texts are told apart here and nowhere else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    /// The job is not known (any more): the one negative answer.
    NoSuchJob,
    /// The job takes no checkpoints, so there are no statistics (404; a history server gives it with 200).
    NoCheckpointing,
    /// The job is still starting (500 on `/checkpoints`, 1.20 and later). Flink caches the failure for some seconds, so
    /// it can come when the list already says RUNNING.
    Starting,
    /// No JobManager leads at the moment (503, `LeaderRetrievalHandler`).
    Electing,
    /// A history server does not have this page.
    NoSuchFile,
    /// Something else.
    Other,
}

impl From<WrongShape> for Failure {
    fn from(shape: WrongShape) -> Self {
        Self::Shape(shape.0)
    }
}

impl Failure {
    /// Its class.
    pub(super) fn cause(&self) -> Cause {
        match self {
            Self::Http(fault) => fault.cause(),
            Self::Refused(_) => Cause::NotAuthorized,
            Self::Broken { cut: true, .. } => Cause::CutShort,
            Self::Said { says: Says::Electing, .. } => Cause::TooYoung,
            Self::Said { status, .. } | Self::NotJson { status, .. } if *status >= 500 => Cause::ServerError,
            _ => Cause::NotUnderstood,
        }
    }

    /// What Flink meant, if it was Flink who answered.
    pub(super) fn says(&self) -> Option<Says> {
        match self {
            Self::Said { says, .. } => Some(*says),
            _ => None,
        }
    }

    /// Whether Flink itself answered with a server error.
    pub(super) fn is_flink_error(&self) -> bool {
        matches!(self, Self::Said { status: 500.., .. })
    }

    /// Whether every other question to this address would end the same way: nobody there, or not a Flink.
    pub(super) fn ends_reading(&self) -> bool {
        match self {
            Self::Http(_) | Self::Redirected { .. } | Self::Refused(_) => true,
            // A plain 500 can be the trouble of one page; 502 to 504 come from a proxy that finds nobody behind it.
            Self::NotJson { status, .. } => *status != 500,
            Self::Said { says, .. } => *says == Says::Electing,
            Self::Broken { .. } | Self::Shape(_) => false,
        }
    }

    fn advice(&self) -> &'static str {
        match self {
            Self::Http(HttpFault::Unreachable(_) | HttpFault::TimedOut(_)) => {
                "see that it runs and that the address is right; if it is gone for good, set `retired = true`"
            }
            Self::Redirected { .. } => {
                "a YARN proxy does this for a finished application and a gateway for a missing login; give the address of the running cluster, or credentials"
            }
            Self::Refused(_) => "give `basic_user` with a password, or a bearer token, that may read it",
            Self::NotJson { .. } => {
                "this is no Flink REST API but a login, error or proxy page; see to the address, its path prefix and the credentials"
            }
            Self::Said { says: Says::Electing, .. } => "run again when a leader is elected",
            Self::Said { status: 500.., .. } => "see the JobManager's log, and run again",
            Self::Said { .. } | Self::Shape(_) => "see that the address is the base of a Flink REST API, 1.13 to 2.3",
            Self::Http(_) | Self::Broken { .. } => "run again",
        }
    }
}

/// A Flink REST server at its base URL.
#[derive(Debug)]
pub(super) struct Server<'a> {
    pub(super) http: &'a HttpClient,
    pub(super) base: Url,
    /// Name of the cluster in the configuration.
    pub(super) cluster: &'a str,
    /// Whether the base is written in the configuration, and not found anew in each run.
    pub(super) fixed: bool,
}

impl Server<'_> {
    /// Asks for `path` below the base and reads the answer by `parse`.
    pub(super) async fn ask<T>(
        &self,
        path: &str,
        parse: impl FnOnce(&Value) -> Result<T, WrongShape>,
    ) -> Result<T, Failure> {
        let body = ask(self.http, &below(&self.base, path)).await?;
        Ok(parse(&body)?)
    }

    /// The gap that a failed question for `path` leaves.
    pub(super) fn gap(&self, path: &str, failure: &Failure) -> Gap {
        let mut gap = gap(self.cluster, &below(&self.base, path), failure);
        if self.fixed && names_application(self.base.path()) {
            gap.detail.push_str(STALE);
        }
        gap
    }
}

/// Asks for `url` and gives its JSON.
pub(super) async fn ask(http: &HttpClient, url: &Url) -> Result<Value, Failure> {
    let answer = http.get(url).await.map_err(Failure::Http)?;
    tracing::debug!(host = url.host_str(), path = url.path(), status = answer.status, "flink answered");
    judge(url, &answer)
}

/// The gap that a failed question leaves: what was asked, what came back, what to do next.
pub(super) fn gap(cluster: &str, url: &Url, failure: &Failure) -> Gap {
    let detail = format!("GET {}: {failure}; {}", place(url), failure.advice());
    Gap::incomplete(ViewName::Flink, failure.cause(), detail).of_cluster(cluster)
}

fn judge(url: &Url, answer: &Answer) -> Result<Value, Failure> {
    let status = answer.status;
    match status {
        300..=399 => return Err(Failure::Redirected { status, to: target(url, answer.location.as_deref()) }),
        401 | 403 => return Err(Failure::Refused(status)),
        _ if !answer.is_json() => {
            return Err(Failure::NotJson { status, content_type: quoted(&answer.content_type) });
        }
        _ => {}
    }
    let body: Value = serde_json::from_slice(&answer.body).map_err(|e| Failure::Broken { status, cut: e.is_eof() })?;
    let errors = body.get("errors").and_then(Value::as_array);
    if status == 200 && errors.is_none() {
        return Ok(body);
    }
    let texts: Vec<&str> = errors.into_iter().flatten().filter_map(Value::as_str).collect();
    Err(Failure::Said { status, says: meaning(status, &texts.join("\n")), message: message(&texts) })
}

/// Tells the known error texts of Flink apart.
fn meaning(status: u16, text: &str) -> Says {
    let has = |part: &str| text.contains(part);
    match status {
        404 if has("Could not find Flink job") || (has("Job ") && has(" not found")) => Says::NoSuchJob,
        404 | 200 if has("Checkpointing has not been enabled") || has("Checkpointing is not enabled") => {
            Says::NoCheckpointing
        }
        404 if has("File not found.") => Says::NoSuchFile,
        500 if has("UnavailableDispatcherOperationException") && has("initializing job") => Says::Starting,
        503 if has("leader election") => Says::Electing,
        _ => Says::Other,
    }
}

/// The telling line of Flink's errors, which are stack traces.
fn message(texts: &[&str]) -> String {
    let lines = || texts.iter().flat_map(|text| text.lines()).map(str::trim);
    let telling = lines().find(|line| line.contains("Exception: ")).or_else(|| lines().find(|line| !line.is_empty()));
    telling.map_or_else(|| "no error text".to_owned(), quoted)
}

fn quoted(text: &str) -> String {
    printable(&text.chars().take(MAX_QUOTED).collect::<String>())
}

/// `path` below `base`: the prefix of a proxy stays, with or without a slash at its end.
pub(super) fn below(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}/{path}", base.path().trim_end_matches('/')));
    url.set_query(None);
    url.set_fragment(None);
    url
}

/// A URL as a message may show it: no query, no user, no password.
pub(super) fn place(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}{}", url.scheme(), url.host_str().unwrap_or_default(), printable(url.path()))
}

fn target(asked: &Url, location: Option<&str>) -> String {
    match location.and_then(|to| asked.join(to).ok()) {
        Some(to) => place(&to),
        None => "an unreadable place".to_owned(),
    }
}

/// Whether a path holds the id of a YARN application: `application_<start of the ResourceManager>_<number>`.
fn names_application(path: &str) -> bool {
    path.split('/').filter_map(|part| part.strip_prefix("application_")).any(|rest| {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        rest.split_once('_').is_some_and(|(start, number)| digits(start) && digits(number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("test url")
    }

    fn answer(status: u16, content_type: &str, body: &str) -> Answer {
        Answer { status, content_type: content_type.into(), body: body.into(), date: None, location: None }
    }

    fn judged(status: u16, content_type: &str, body: &str) -> Failure {
        judge(&url("http://jm:8081/jobs"), &answer(status, content_type, body)).expect_err("a failure")
    }

    #[test]
    fn the_prefix_of_a_proxy_stays() {
        for base in ["http://rm:8088/proxy/application_1_2", "http://rm:8088/proxy/application_1_2/"] {
            assert_eq!(below(&url(base), "jobs").as_str(), "http://rm:8088/proxy/application_1_2/jobs");
        }
        assert_eq!(below(&url("http://jm:8081"), "jobs/overview").as_str(), "http://jm:8081/jobs/overview");
        assert_eq!(below(&url("http://gw/a%20b/?x=1#/overview"), "jobs").as_str(), "http://gw/a%20b/jobs");
    }

    #[test]
    fn a_redirect_is_told_by_host_and_path_only() {
        let mut redirect = answer(302, "text/html", "");
        redirect.location = Some("https://user:secret@sso.example/login?ticket=secret#secret".into());
        let failure = judge(&url("http://jm:8081/jobs"), &redirect).expect_err("a failure");
        let gap = gap("c1", &url("http://jm:8081/jobs"), &failure);
        assert_eq!(gap.cause, Cause::NotUnderstood);
        assert!(gap.detail.contains("https://sso.example/login,"), "{}", gap.detail);
        assert!(gap.detail.contains("YARN proxy") && !gap.detail.contains("secret"), "{}", gap.detail);
        redirect.location = None;
        let failure = judge(&url("http://jm:8081/jobs"), &redirect).expect_err("a failure");
        assert!(failure.to_string().contains("unreadable"));
    }

    #[test]
    fn ids_of_yarn_applications() {
        assert!(names_application("/proxy/application_1700000000000_0042/"));
        assert!(!names_application("/proxy/application_x/") && !names_application("/application_1700000000000"));
    }

    #[test]
    fn classes_of_answers() {
        assert_eq!(judged(200, "text/html", "<html>").cause(), Cause::NotUnderstood);
        assert_eq!(judged(404, "text/html", "<html>").cause(), Cause::NotUnderstood);
        assert_eq!(judged(502, "text/html", "<html>").cause(), Cause::ServerError);
        assert_eq!(judged(401, "application/json", "{}").cause(), Cause::NotAuthorized);
        assert_eq!(judged(403, "text/html", "").cause(), Cause::NotAuthorized);
        assert_eq!(judged(200, "application/json", "{\"jobs\":[").cause(), Cause::CutShort);
        assert_eq!(judged(200, "application/json", "nonsense").cause(), Cause::NotUnderstood);
        assert_eq!(judged(200, "", "{}").cause(), Cause::NotUnderstood);
        assert_eq!(judged(202, "application/json", "{}").cause(), Cause::NotUnderstood);
    }

    #[test]
    fn error_texts_of_flink() {
        let says = |status, text: &str| {
            judged(status, "application/json", &serde_json::json!({ "errors": [text] }).to_string()).says()
        };
        let unknown =
            "org.apache.flink.runtime.rest.NotFoundException: Job 00000000000000000000000000000000 not found\n\tat x";
        assert_eq!(says(404, unknown), Some(Says::NoSuchJob));
        assert_eq!(says(500, unknown), Some(Says::Other));
        assert_eq!(says(404, "Unable to load requested file /jobs/x/checkpoints."), Some(Says::Other));
        assert_eq!(says(404, "Checkpointing has not been enabled."), Some(Says::NoCheckpointing));
        assert_eq!(says(200, "Checkpointing has not been enabled."), Some(Says::NoCheckpointing));
        assert_eq!(says(404, "File not found."), Some(Says::NoSuchFile));
        let electing = "Service temporarily unavailable due to an ongoing leader election. Please refresh.";
        assert_eq!(says(503, electing), Some(Says::Electing));
        assert_eq!(
            judged(503, "application/json", &format!("{{\"errors\":[\"{electing}\"]}}")).cause(),
            Cause::TooYoung
        );
    }

    #[test]
    fn a_stack_trace_is_one_line() {
        let texts =
            ["Internal server error.", "<Exception on server side:\norg.x.SomeException: Unable\u{1b}[31m.\n\tat a.b"];
        assert_eq!(message(&texts), "org.x.SomeException: Unable\\u{1b}[31m.");
        assert_eq!(message(&[]), "no error text");
    }
}
