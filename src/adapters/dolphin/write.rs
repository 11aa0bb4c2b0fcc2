//! Deleting resource records of 2.0, 3.0 and 3.1: one record a call, one request a call, never repeated.
//!
//! Other generations get no writer at all: the delete of 1.3 is not recorded, and from 3.2 on there are no records and the
//! same verb removes live files. What the answer means is read from codes; whether it was done is never concluded here.

use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use url::Url;

use super::envelope::{Failure, TOKEN_KEY, URL_KEY, headers, read_success, url_below};
use crate::adapters::http::{Answer, HttpFault, HttpSetupError, HttpWriter};
use crate::config::DsConfig;
use crate::plan::RecordTarget;
use crate::ports::write::{DeleteAnswer, ResourceWrite};
use crate::views::Generation;

/// Codes with which `ResourcesServiceImpl.delete` stops before it changes anything: 10010 the owner does not exist, 10017
/// and 10181 the owner has no tenant, 20013 a UDF function is bound, 20014 in use by a workflow, 20018 has child records,
/// 30001 and 1400001 not permitted.
const REFUSALS: [i64; 8] = [10010, 10017, 10181, 20013, 20014, 20018, 30001, 1_400_001];

/// There is no such record.
const RESOURCE_NOT_EXIST: i64 = 20004;

/// No record can be deleted with this configuration.
#[derive(Debug, thiserror::Error)]
pub enum WriteSetupError {
    /// The generation has no delete of records that is known.
    #[error(
        "nothing is deleted on a server of generation {0}: records are deleted on 2.0, 3.0 and 3.1 only; from 3.2 on a \
         delete would remove files instead of stale records"
    )]
    Generation(Generation),
    /// The configuration lacks this key.
    #[error("`{0}` is not set; set it")]
    NotConfigured(&'static str),
    /// The HTTP client.
    #[error(transparent)]
    Http(#[from] HttpSetupError),
}

/// The deleting half of the resource API of one server.
pub struct DolphinWrite {
    base: Url,
    http: HttpWriter,
    /// Set by a 401: the next call would fare no better and is not made.
    refused: AtomicBool,
}

impl std::fmt::Debug for DolphinWrite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The URL may hold credentials.
        f.debug_struct("DolphinWrite").field("refused", &self.refused).finish_non_exhaustive()
    }
}

impl DolphinWrite {
    /// A writer to the server the configuration names, which was found to be of `generation`. Calls nothing yet.
    pub fn new(config: &DsConfig, generation: Generation) -> Result<Self, WriteSetupError> {
        match generation {
            Generation::V20 | Generation::V30 | Generation::V31 => {}
            Generation::V13 | Generation::V320 | Generation::V322 | Generation::V33 => {
                return Err(WriteSetupError::Generation(generation));
            }
        }
        let base = config.url.clone().ok_or(WriteSetupError::NotConfigured(URL_KEY))?;
        if config.token.is_none() {
            return Err(WriteSetupError::NotConfigured(TOKEN_KEY));
        }
        let http = HttpWriter::new(&config.http, &headers(config))?;
        Ok(Self { base, http, refused: AtomicBool::new(false) })
    }
}

#[async_trait]
impl ResourceWrite for DolphinWrite {
    async fn delete_record(&self, target: &RecordTarget) -> DeleteAnswer {
        let path = format!("/resources/{}", target.record);
        if self.refused.load(Ordering::Relaxed) {
            return classify(&Err(Failure::Unauthorized));
        }
        let answered = self.http.delete_once(&url_below(&self.base, &path)).await;
        let status = answered.as_ref().ok().map(|answer| answer.status);
        tracing::debug!(path, status, "dolphinscheduler answered a delete");
        self.refused.fetch_or(status == Some(401), Ordering::Relaxed);
        classify(&judge(answered))
    }
}

/// What stands in the answer.
fn judge(answered: Result<Answer, HttpFault>) -> Result<(), Failure> {
    let answer = answered.map_err(Failure::NoAnswer)?;
    match answer.status {
        401 => Err(Failure::Unauthorized),
        status @ 429 => Err(Failure::Status(status)),
        _ => read_success(&answer),
    }
}

fn classify(judged: &Result<(), Failure>) -> DeleteAnswer {
    match judged {
        Ok(()) => DeleteAnswer::Success,
        Err(failure @ Failure::Unauthorized) => DeleteAnswer::NotAuthorized { why: failure.to_string() },
        Err(Failure::Code { code: Some(RESOURCE_NOT_EXIST), .. }) => DeleteAnswer::NoSuchRecord,
        // Traffic control stands before the login check and the call itself, so nothing was done.
        Err(Failure::Status(429)) => DeleteAnswer::Refused {
            why: "HTTP 429, the server throttles; lower `ds.requests_per_second` and apply a new plan".to_owned(),
        },
        Err(Failure::Code { code: Some(code), .. }) if REFUSALS.contains(code) => {
            DeleteAnswer::Refused { why: refusal(*code) }
        }
        Err(failure) => DeleteAnswer::Unclear { why: failure.to_string() },
    }
}

/// The code with its meaning in our own words: the server's depend on its language and hold names.
fn refusal(code: i64) -> String {
    let meaning = match code {
        10010 => {
            "the owner of the record was deleted, and no record without an owner is deleted; ask the administrator of the server"
        }
        10017 | 10181 => "the owner of the record has no tenant; give it one",
        20013 => "a UDF function is bound to it; delete the function first",
        20014 => "an ONLINE workflow uses it or its directory; take it out of the workflow first",
        20018 => "the directory still has records below it; delete them first",
        _ => "the account may not delete it; use the token of the owner or of an administrator",
    };
    format!("code {code}: {meaning}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_fault(fault: HttpFault) -> DeleteAnswer {
        classify(&judge(Err(fault)))
    }

    fn of(status: u16, content_type: &str, body: &str) -> DeleteAnswer {
        classify(&judge(Ok(Answer {
            status,
            content_type: content_type.to_owned(),
            body: body.as_bytes().to_vec(),
            date: None,
            location: None,
        })))
    }

    fn of_code(code: &str) -> DeleteAnswer {
        of(200, "application/json", &format!(r#"{{"code":{code},"msg":"m","data":null}}"#))
    }

    #[test]
    fn clear_codes() {
        assert_eq!(of_code("0"), DeleteAnswer::Success);
        assert_eq!(of_code("20004"), DeleteAnswer::NoSuchRecord);
        for code in [20014, 20013, 20018, 30001, 1_400_001, 10010, 10017, 10181] {
            let DeleteAnswer::Refused { why } = of_code(&code.to_string()) else { panic!("{code} is a refusal") };
            assert!(why.starts_with(&format!("code {code}: ")), "{why}");
        }
    }

    #[test]
    fn statuses_that_come_before_the_call() {
        assert!(matches!(of(401, "", ""), DeleteAnswer::NotAuthorized { .. }));
        assert!(matches!(of(429, "", ""), DeleteAnswer::Refused { why } if why.contains("throttles")));
    }

    #[test]
    fn everything_else_may_have_been_done() {
        for unclear in [
            of_code("10058"),
            of_code("null"),
            of_code("10000"),
            of_code("60002"),
            of(200, "application/json", r#"{"msg":"success"}"#),
            of(200, "application/json", r#"{"code":0,"msg":"succ"#),
            of(200, "text/html", "<html>"),
            of(404, "text/html", "<html>"),
            of(302, "", ""),
            of(403, "text/html", ""),
            of(500, "application/json", r#"{"code":20018}"#),
            of(503, "", ""),
            of_fault(HttpFault::TimedOut(30)),
            of_fault(HttpFault::CutShort),
            of_fault(HttpFault::Broken("reset".to_owned())),
            of_fault(HttpFault::Unreachable("refused".to_owned())),
        ] {
            assert!(matches!(unclear, DeleteAnswer::Unclear { .. }), "{unclear:?}");
        }
    }
}
