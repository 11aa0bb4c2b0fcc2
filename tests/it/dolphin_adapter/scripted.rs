//! A DolphinScheduler server that says what it is told to: recorded exchanges, and answers put over them.

use std::path::Path;
use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Response, StatusCode, header};
use jiff::tz::TimeZone;
use secrecy::SecretString;
use serde_json::{Value, json};
use statewarden::adapters::dolphin::Dolphin;
use statewarden::config::{Credentials, DsConfig, HttpConfig};
use statewarden::domain::HdfsPath;
use statewarden::views::Generation;

/// The token the server accepts.
pub const TOKEN: &str = "canary-token";

/// One answer.
#[derive(Clone)]
pub struct Reply {
    status: u16,
    content_type: String,
    body: String,
}

impl Reply {
    /// Success with this data.
    pub fn data(data: impl Into<Value>) -> Self {
        Self::json(&json!({"code": 0, "msg": "success", "data": data.into(), "failed": false, "success": true}))
    }

    /// A business error: HTTP 200 with a code.
    pub fn code(code: i64) -> Self {
        Self::json(
            &json!({"code": code, "msg": "it failed\nin detail", "data": null, "failed": true, "success": false}),
        )
    }

    /// JSON as it is.
    pub fn json(value: &Value) -> Self {
        Self { status: 200, content_type: "application/json".into(), body: value.to_string() }
    }

    /// A page of a list.
    pub fn page(total: u64, entries: &[Value]) -> Self {
        Self::data(
            json!({"totalList": entries, "total": total, "totalPage": 1, "pageSize": 1, "currentPage": 1, "start": 0}),
        )
    }

    /// The web UI's `index.html`, as servers from 3.0 on give for unknown paths.
    pub fn html(status: u16) -> Self {
        Self { status, content_type: "text/html;charset=utf-8".into(), body: "<html>login</html>".into() }
    }

    /// What 2.0 says to an unknown path.
    pub fn not_found_json() -> Self {
        let body =
            json!({"timestamp": "2026-11-29T23:28:04.472+0800", "status": 404, "error": "Not Found", "path": "/x"});
        Self { status: 404, ..Self::json(&body) }
    }

    /// A status without a body.
    pub fn empty(status: u16) -> Self {
        Self { status, content_type: String::new(), body: String::new() }
    }
}

struct Rule {
    path: String,
    query: Vec<(String, String)>,
    answers: Vec<Reply>,
    hits: usize,
}

/// The rules, newest first in force, and what was asked.
#[derive(Default)]
struct Script {
    rules: Vec<Rule>,
    asked: Vec<String>,
}

/// The server, before it is started.
#[derive(Clone, Default)]
pub struct Scripted {
    script: Arc<Mutex<Script>>,
}

impl Scripted {
    /// A server with the recordings of `version` whose names begin with one of `numbers`.
    pub fn recorded(version: &str, numbers: &[&str]) -> Self {
        let server = Self::default();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/dolphinscheduler").join(version);
        for number in numbers {
            let mut files =
                std::fs::read_dir(&folder).expect("the recordings").map(|entry| entry.expect("an entry").path());
            let is_it = |path: &std::path::PathBuf| {
                path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&format!("{number}-")))
            };
            let file = files.find(is_it).unwrap_or_else(|| panic!("no recording {number} of {version}"));
            server.play(&serde_json::from_slice(&std::fs::read(file).expect("a recording")).expect("JSON"));
        }
        server
    }

    fn play(&self, recording: &Value) {
        let (request, response) = (&recording["request"], &recording["response"]);
        let path = request["path"].as_str().expect("a path");
        let (path, inline) = path.split_once('?').unwrap_or((path, ""));
        let mut query: Vec<(String, String)> = url::form_urlencoded::parse(inline.as_bytes()).into_owned().collect();
        for (name, value) in request["query"].as_object().into_iter().flatten() {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            query.push((name.clone(), value));
        }
        // Sizes are the tests' own; the number of a page matters only where a list was recorded in several.
        let in_pages = query.contains(&("pageSize".to_owned(), "2".to_owned()));
        query.retain(|(name, _)| match name.as_str() {
            "pageSize" | "limit" => false,
            "pageNo" => in_pages,
            _ => true,
        });
        let body = if response["json"].is_null() {
            response["text"].as_str().unwrap_or_default().to_owned()
        } else {
            response["json"].to_string()
        };
        let reply = Reply {
            status: u16::try_from(response["status"].as_u64().expect("a status")).expect("a status"),
            content_type: response["headers"]["Content-Type"].as_str().unwrap_or_default().to_owned(),
            body,
        };
        self.push(path, query, vec![reply]);
    }

    /// Answers `path` with these parameters so, one after the other; the last one stays.
    pub fn on<const N: usize>(self, path: &str, query: &[(&str, &str)], answers: [Reply; N]) -> Self {
        let query = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.push(path, query, answers.into());
        self
    }

    fn push(&self, path: &str, query: Vec<(String, String)>, answers: Vec<Reply>) {
        self.script.lock().expect("no test panics here").rules.push(Rule {
            path: path.to_owned(),
            query,
            answers,
            hits: 0,
        });
    }

    /// What was asked, as `path?query` with the query decoded.
    pub fn asked(&self) -> Vec<String> {
        self.script.lock().expect("no test panics here").asked.clone()
    }

    /// Starts it and gives a reader with this version, generation and page size.
    pub async fn start(&self, version: &str, page_size: u32) -> Dolphin {
        Dolphin::new(&self.config(version, page_size).await).expect("a reader")
    }

    async fn config(&self, version: &str, page_size: u32) -> DsConfig {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let routes = axum::Router::new().fallback(answer).with_state(Arc::clone(&self.script));
        tokio::spawn(async move { axum::serve(listener, routes).await });
        config(address, version, page_size)
    }
}

/// The configuration of a server where nobody listens.
pub fn config_of_a_closed_port(version: &str) -> DsConfig {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    config(free.local_addr().expect("an address"), version, 100)
}

fn config(address: std::net::SocketAddr, version: &str, page_size: u32) -> DsConfig {
    let _ = rustls::crypto::ring::default_provider().install_default();
    DsConfig {
        // A trailing slash, as people write it.
        url: Some(format!("http://user:canary-password@{address}/dolphinscheduler/").parse().expect("a URL")),
        token: Some(SecretString::from(TOKEN)),
        apply_token: None,
        version: version.to_owned(),
        generation: Generation::of_version(version).expect("a version"),
        base_path: HdfsPath::parse("/dolphinscheduler").expect("a path"),
        tenants: Vec::new(),
        page_size,
        time_zone: TimeZone::UTC,
        http: HttpConfig {
            timeout: "5s".parse().expect("an age"),
            ca_file: None,
            credentials: Credentials::None,
            max_concurrency: 4,
            requests_per_second: None,
        },
    }
}

async fn answer(State(script): State<Arc<Mutex<Script>>>, request: Request) -> Response<Body> {
    let mut script = script.lock().expect("no test panics here");
    let path = request.uri().path().strip_prefix("/dolphinscheduler").unwrap_or("outside").to_owned();
    let query: Vec<(String, String)> =
        url::form_urlencoded::parse(request.uri().query().unwrap_or_default().as_bytes()).into_owned().collect();
    let shown: Vec<String> = query.iter().map(|(name, value)| format!("{name}={value}")).collect();
    script.asked.push(format!("{path}?{}", shown.join("&")));
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    let reply = if request.method() != "GET" || header("language") != Some("en_US") {
        Reply::empty(500)
    } else if header("token") != Some(TOKEN) {
        Reply::empty(401)
    } else {
        script.rules.iter_mut().rev().find(|rule| rule.is_about(&path, &query)).map_or(Reply::html(404), Rule::next)
    };
    let mut response = Response::builder().status(StatusCode::from_u16(reply.status).expect("a status"));
    if !reply.content_type.is_empty() {
        response = response.header(header::CONTENT_TYPE, reply.content_type);
    }
    response.body(Body::from(reply.body)).expect("a response")
}

impl Rule {
    fn is_about(&self, path: &str, query: &[(String, String)]) -> bool {
        self.path == path && self.query.iter().all(|pair| query.contains(pair))
    }

    fn next(&mut self) -> Reply {
        let reply = self.answers[self.hits.min(self.answers.len() - 1)].clone();
        self.hits += 1;
        reply
    }
}
