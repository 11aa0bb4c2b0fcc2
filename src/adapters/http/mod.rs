//! The one HTTP client of all adapters: deadlines, limits, trust, credentials, and answers that are whole or a fault.
//!
//! It follows no redirect, repeats only reads, and no fault of it ever holds a URL: URLs can hold credentials. What it sent as
//! a credential is taken out of what comes back, so that a server or proxy which repeats it in a message or a page cannot bring
//! it into a report. Writes have a client of their own, which cannot repeat.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBuilder};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use jiff::Timestamp;
use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::Semaphore;
use url::Url;

use crate::config::{Credentials, HttpConfig};
use crate::views::Cause;

/// The client could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum HttpSetupError {
    /// The CA file.
    #[error("cannot use the CA file {path}; it must hold certificates in PEM form")]
    CaFile {
        /// File.
        path: String,
        /// What failed.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The TLS or proxy settings.
    #[error("cannot set up the HTTP client")]
    Client(#[source] reqwest::Error),
    /// Credentials that do not fit into a header.
    #[error("the {0} holds characters that no HTTP header can carry; is there a line break at its end?")]
    Header(&'static str),
}

/// An answer that arrived whole.
#[derive(Debug, Clone)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Media type without parameters, lower case.
    pub content_type: String,
    /// Body, to its declared end.
    pub body: Vec<u8>,
    /// The server's clock, from the `Date` header (whole seconds).
    pub date: Option<Timestamp>,
    /// Where a redirect points; never followed by this client.
    pub location: Option<String>,
}

impl Answer {
    /// Whether the server says that this is JSON. Login pages and proxies answer 200 with HTML.
    pub fn is_json(&self) -> bool {
        self.content_type == "application/json" || self.content_type.ends_with("+json")
    }
}

/// Why no whole answer came.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpFault {
    /// Deadline.
    #[error("no answer within {0} s")]
    TimedOut(u64),
    /// No connection: the request was not sent.
    #[error("cannot connect: {0}")]
    Unreachable(String),
    /// The connection broke before the answer began; the request may have arrived.
    #[error("the connection broke before the answer: {0}")]
    Broken(String),
    /// The body broke off.
    #[error("the answer broke off in the middle")]
    CutShort,
    /// 429 until the deadline.
    #[error("the server throttles (429) and did not stop within the deadline; lower `requests_per_second`")]
    Throttled,
    /// More than this program is willing to hold.
    #[error("the answer is larger than {0} MiB")]
    TooLarge(usize),
    /// More than was asked for.
    #[error("the answer is larger than {0} bytes")]
    TooLong(usize),
}

impl HttpFault {
    /// The class of the fault.
    pub const fn cause(&self) -> Cause {
        match self {
            Self::TimedOut(_) => Cause::TimedOut,
            Self::Unreachable(_) | Self::Broken(_) => Cause::Unreachable,
            Self::CutShort | Self::TooLarge(_) | Self::TooLong(_) => Cause::CutShort,
            Self::Throttled => Cause::Throttled,
        }
    }

    /// Whether asking again may help, for a read.
    const fn is_passing(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Broken(_) | Self::CutShort)
    }
}

/// Largest answer held in memory: an unpaged listing of a million entries is about 280 MB, and nobody should ask for that.
const MAX_BODY_MIB: usize = 256;

/// How long an answer may be.
#[derive(Clone, Copy)]
enum Limit {
    /// As long as anything this program reads.
    OfAnswers,
    /// As long as the caller says.
    Bytes(usize),
}

impl Limit {
    const fn bytes(self) -> usize {
        match self {
            Self::OfAnswers => MAX_BODY_MIB << 20,
            Self::Bytes(bytes) => bytes,
        }
    }

    const fn fault(self) -> HttpFault {
        match self {
            Self::OfAnswers => HttpFault::TooLarge(MAX_BODY_MIB),
            Self::Bytes(bytes) => HttpFault::TooLong(bytes),
        }
    }
}

/// Tries of one read, the first counted. Few: the deadline ends them anyway, and a server in trouble needs no more load.
const MAX_TRIES: usize = 3;

/// Shorter credentials are left in answers: they may stand there as something else, and every such place would be changed.
const SHORTEST_HIDDEN: usize = 8;

/// A client for one outside system.
#[derive(Clone)]
pub struct HttpClient {
    client: reqwest::Client,
    /// For this host itself: no proxy of the environment leads there.
    loopback: reqwest::Client,
    timeout: Duration,
    places: Arc<Semaphore>,
    rate: Option<Arc<DefaultDirectRateLimiter>>,
    /// What is sent and must not come back.
    secrets: Arc<Vec<SecretString>>,
}

impl std::fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpClient").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

impl HttpClient {
    /// A client with the given trust, credentials and limits. `extra` headers are sent with each request and never logged.
    pub fn new(config: &HttpConfig, extra: &[(HeaderName, SecretString)]) -> Result<Self, HttpSetupError> {
        Self::build(config, extra, || builder(config, extra))
    }

    /// The same client that also takes these out of answers: what a caller puts into URLs by itself.
    #[must_use]
    pub fn hiding(self, more: impl IntoIterator<Item = SecretString>) -> Self {
        let secrets = self.secrets.iter().cloned().chain(more).collect();
        Self { secrets: Arc::new(secrets), ..self }
    }

    fn build(
        config: &HttpConfig,
        extra: &[(HeaderName, SecretString)],
        builder: impl Fn() -> Result<reqwest::ClientBuilder, HttpSetupError>,
    ) -> Result<Self, HttpSetupError> {
        let build =
            |builder: reqwest::ClientBuilder| builder.build().map_err(|e| HttpSetupError::Client(e.without_url()));
        let rate = config
            .requests_per_second
            .and_then(NonZeroU32::new)
            .map(|n| Arc::new(RateLimiter::direct(Quota::per_second(n))));
        Ok(Self {
            client: build(builder()?)?,
            loopback: build(builder()?.no_proxy())?,
            timeout: config.timeout.to_std(),
            places: Arc::new(Semaphore::new(config.max_concurrency.max(1))),
            rate,
            secrets: Arc::new(secrets(&config.credentials, extra)),
        })
    }

    /// Reads `url`. Broken connections and 429 are tried again under one deadline; every other answer is returned as it is.
    pub async fn get(&self, url: &Url) -> Result<Answer, HttpFault> {
        self.get_within(url, Limit::OfAnswers).await
    }

    /// The same for an answer of at most so many bytes; more is a fault.
    pub async fn get_at_most(&self, url: &Url, bytes: usize) -> Result<Answer, HttpFault> {
        self.get_within(url, Limit::Bytes(bytes)).await
    }

    async fn get_within(&self, url: &Url, limit: Limit) -> Result<Answer, HttpFault> {
        let seconds = self.timeout.as_secs();
        let answered = tokio::time::timeout(self.timeout, self.get_patiently(url, limit)).await;
        answered.unwrap_or(Err(HttpFault::TimedOut(seconds)))
    }

    async fn get_patiently(&self, url: &Url, limit: Limit) -> Result<Answer, HttpFault> {
        let mut pauses = ExponentialBuilder::default()
            .with_min_delay(Duration::from_millis(100))
            .with_max_times(MAX_TRIES - 1)
            .with_jitter()
            .build();
        loop {
            match self.send_once(self.client_for(url).get(url.clone()), limit).await {
                Ok((answer, wait)) if answer.status == 429 => match pauses.next() {
                    Some(pause) => tokio::time::sleep(pause.max(wait)).await,
                    None => return Err(HttpFault::Throttled),
                },
                Ok((answer, _)) => return Ok(answer),
                Err(fault) if fault.is_passing() => match pauses.next() {
                    Some(pause) => tokio::time::sleep(pause).await,
                    None => return Err(fault),
                },
                Err(fault) => return Err(fault),
            }
        }
    }

    async fn send_once(&self, request: reqwest::RequestBuilder, limit: Limit) -> Result<(Answer, Duration), HttpFault> {
        // The semaphore is never closed, so the only error cannot happen; without a place the request still is correct.
        let _place = self.places.acquire().await.ok();
        if let Some(rate) = &self.rate {
            rate.until_ready().await;
        }
        let response = request.send().await.map_err(|e| self.fault(&e))?;
        let status = response.status().as_u16();
        let head = response.headers();
        let text = |name: HeaderName| head.get(name).and_then(|v| v.to_str().ok()).map(|text| self.hide_in_text(text));
        let content_type = text(CONTENT_TYPE).unwrap_or_default();
        let wait = text(RETRY_AFTER).and_then(|s| s.parse().ok()).map_or(Duration::ZERO, Duration::from_secs);
        let (date, location) = (text(DATE).and_then(|s| parse_http_date(&s)), text(LOCATION));
        let content_type = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let body = self.read_body(response, limit).await?;
        Ok((Answer { status, content_type, body, date, location }, wait))
    }

    fn client_for(&self, url: &Url) -> &reqwest::Client {
        if is_loopback(url) { &self.loopback } else { &self.client }
    }

    async fn read_body(&self, mut response: reqwest::Response, limit: Limit) -> Result<Vec<u8>, HttpFault> {
        let mut body = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) if body.len() + chunk.len() > limit.bytes() => return Err(limit.fault()),
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => return Ok(self.hide(body)),
                Err(error) if error.is_timeout() => return Err(HttpFault::TimedOut(self.timeout.as_secs())),
                Err(_) => return Err(HttpFault::CutShort),
            }
        }
    }

    fn hide_in_text(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.hide(text.as_bytes().to_vec())).into_owned()
    }

    /// An answer without what was sent as a credential.
    fn hide(&self, body: Vec<u8>) -> Vec<u8> {
        let long = self.secrets.iter().map(|secret| secret.expose_secret().trim().as_bytes());
        long.filter(|secret| secret.len() >= SHORTEST_HIDDEN).fold(body, without)
    }

    fn fault(&self, error: &reqwest::Error) -> HttpFault {
        if error.is_timeout() && !error.is_connect() {
            return HttpFault::TimedOut(self.timeout.as_secs());
        }
        let reason = innermost(error);
        if error.is_connect() { HttpFault::Unreachable(reason) } else { HttpFault::Broken(reason) }
    }
}

/// A client for writes to one outside system: each call sends exactly one request, whatever comes back.
#[derive(Debug, Clone)]
pub struct HttpWriter(HttpClient);

impl HttpWriter {
    /// A client with the given trust, credentials and limits.
    ///
    /// It keeps no connection open between two calls: on a reused one hyper sends a request a second time by itself when the
    /// server closed the connection meanwhile. And reqwest's own retries are off.
    pub fn new(config: &HttpConfig, extra: &[(HeaderName, SecretString)]) -> Result<Self, HttpSetupError> {
        let once = || Ok(builder(config, extra)?.pool_max_idle_per_host(0).retry(reqwest::retry::never()));
        HttpClient::build(config, extra, once).map(Self)
    }

    /// As [`HttpClient::hiding`].
    #[must_use]
    pub fn hiding(self, more: impl IntoIterator<Item = SecretString>) -> Self {
        Self(self.0.hiding(more))
    }

    /// Sends `DELETE url` once. No redirect is followed and no answer, 429 included, leads to a second request. With any
    /// fault it is unknown whether the server did it.
    pub async fn delete_once(&self, url: &Url) -> Result<Answer, HttpFault> {
        self.send(reqwest::Method::DELETE, url).await
    }

    /// Sends `PUT url` once, without a body.
    pub async fn put_once(&self, url: &Url) -> Result<Answer, HttpFault> {
        self.send(reqwest::Method::PUT, url).await
    }

    async fn send(&self, method: reqwest::Method, url: &Url) -> Result<Answer, HttpFault> {
        let Self(http) = self;
        let sent = http.send_once(http.client_for(url).request(method, url.clone()), Limit::OfAnswers);
        match tokio::time::timeout(http.timeout, sent).await {
            Ok(answered) => answered.map(|(answer, _)| answer),
            Err(_) => Err(HttpFault::TimedOut(http.timeout.as_secs())),
        }
    }
}

fn builder(
    config: &HttpConfig,
    extra: &[(HeaderName, SecretString)],
) -> Result<reqwest::ClientBuilder, HttpSetupError> {
    let mut builder = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .connect_timeout(config.timeout.to_std().min(Duration::from_secs(10)))
        .user_agent(concat!("statewarden/", env!("CARGO_PKG_VERSION")))
        .default_headers(headers(&config.credentials, extra)?);
    if let Some(path) = &config.ca_file {
        for certificate in read_ca(path)? {
            builder = builder.add_root_certificate(certificate);
        }
    }
    Ok(builder)
}

/// Every form in which credentials go out.
fn secrets(credentials: &Credentials, extra: &[(HeaderName, SecretString)]) -> Vec<SecretString> {
    let sent = match credentials {
        Credentials::None => Vec::new(),
        Credentials::Bearer(token) => vec![token.clone()],
        Credentials::Basic { user, password } => {
            let encoded = base64(format!("{user}:{}", password.expose_secret()).as_bytes());
            vec![password.clone(), encoded.into()]
        }
    };
    sent.into_iter().chain(extra.iter().map(|(_, value)| value.clone())).collect()
}

/// `body` with `…` in every place of `secret`.
fn without(body: Vec<u8>, secret: &[u8]) -> Vec<u8> {
    let places: Vec<usize> = memchr::memmem::find_iter(&body, secret).collect();
    if places.is_empty() {
        return body;
    }
    let mut kept = Vec::with_capacity(body.len());
    let mut from = 0;
    for at in places {
        kept.extend_from_slice(&body[from..at]);
        kept.extend_from_slice("…".as_bytes());
        from = at + secret.len();
    }
    kept.extend_from_slice(&body[from..]);
    kept
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// The innermost reason, such as "Connection refused": the outer ones repeat the URL.
fn innermost(error: &reqwest::Error) -> String {
    let mut reason: &dyn std::error::Error = error;
    while let Some(source) = reason.source() {
        reason = source;
    }
    if std::ptr::addr_eq(reason, std::ptr::from_ref(error)) {
        "connection failed".to_owned()
    } else {
        reason.to_string()
    }
}

fn headers(credentials: &Credentials, extra: &[(HeaderName, SecretString)]) -> Result<HeaderMap, HttpSetupError> {
    let mut map = HeaderMap::new();
    let authorization = match credentials {
        Credentials::None => None,
        Credentials::Bearer(token) => Some((format!("Bearer {}", token.expose_secret()), "bearer token")),
        Credentials::Basic { user, password } => Some((
            format!("Basic {}", base64(format!("{user}:{}", password.expose_secret()).as_bytes())),
            "basic credential",
        )),
    };
    if let Some((text, what)) = authorization {
        map.insert(reqwest::header::AUTHORIZATION, secret_value(&text, what)?);
    }
    for (name, value) in extra {
        map.insert(name.clone(), secret_value(value.expose_secret(), "token")?);
    }
    Ok(map)
}

fn secret_value(text: &str, what: &'static str) -> Result<HeaderValue, HttpSetupError> {
    let mut value = HeaderValue::from_str(text).map_err(|_| HttpSetupError::Header(what))?;
    value.set_sensitive(true);
    Ok(value)
}

fn read_ca(path: &std::path::Path) -> Result<Vec<reqwest::Certificate>, HttpSetupError> {
    let wrong = |source: Box<dyn std::error::Error + Send + Sync>| HttpSetupError::CaFile {
        path: path.display().to_string(),
        source,
    };
    let pem = std::fs::read(path).map_err(|e| wrong(e.into()))?;
    let found = reqwest::Certificate::from_pem_bundle(&pem).map_err(|e| wrong(e.into()))?;
    if found.is_empty() {
        return Err(wrong("no certificate in it".into()));
    }
    Ok(found)
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// Parses the fixed form of an HTTP `Date` (RFC 9110: `Sun, 29 Nov 2026 14:22:27 GMT`).
fn parse_http_date(text: &str) -> Option<Timestamp> {
    jiff::fmt::rfc2822::parse(text).ok().map(|zoned| zoned.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_dates() {
        let expected: Timestamp = "2026-11-29T14:22:27Z".parse().expect("a time");
        assert_eq!(parse_http_date("Sun, 29 Nov 2026 14:22:27 GMT"), Some(expected));
        assert_eq!(parse_http_date("yesterday"), None);
    }

    #[test]
    fn basic_credentials_are_encoded_as_the_rfc_says() {
        // RFC 7617, section 2.
        assert_eq!(base64(b"Aladdin:open sesame"), "QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    }

    #[test]
    fn a_credential_that_comes_back_is_taken_out() {
        let text = |body: &str, secret: &str| {
            String::from_utf8(without(body.as_bytes().to_vec(), secret.as_bytes())).expect("text")
        };
        assert_eq!(text(r#"{"msg":"no 12345678 here, 12345678"}"#, "12345678"), r#"{"msg":"no … here, …"}"#);
        assert_eq!(text("nothing of it", "12345678"), "nothing of it");
        let basic = Credentials::Basic { user: "Aladdin".into(), password: "open sesame".to_owned().into() };
        let sent = secrets(&basic, &[(DATE, "a token".to_owned().into())]);
        let sent: Vec<&str> = sent.iter().map(SecretString::expose_secret).collect();
        assert_eq!(sent, ["open sesame", "QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "a token"]);
    }

    #[test]
    fn this_host_is_never_reached_through_a_proxy() {
        let is_direct = |text: &str| is_loopback(&Url::parse(text).expect("a test URL"));
        for own in ["http://localhost:1", "http://127.0.0.1:9870/", "https://127.3.2.1", "http://[::1]:80"] {
            assert!(is_direct(own), "{own}");
        }
        for other in ["http://localhost.example", "http://10.0.0.1", "http://[2001:db8::1]"] {
            assert!(!is_direct(other), "{other}");
        }
    }
}
