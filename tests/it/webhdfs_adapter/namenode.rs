//! A NameNode that says what the test tells it to, mostly what a real one (Hadoop 3.4.1) was recorded to say.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use statewarden::adapters::webhdfs::WebHdfs;
use statewarden::config::{Credentials, HdfsConfig, HttpConfig};
use statewarden::domain::{Age, HdfsPath};
use url::Url;

/// One question as it arrived.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Path and query as sent.
    pub raw: String,
    /// Query, decoded.
    pub query: BTreeMap<String, String>,
    /// How many came before.
    pub number: usize,
}

impl Asked {
    pub fn op(&self) -> &str {
        &self.query["op"]
    }

    pub fn start_after(&self) -> Option<&str> {
        self.query.get("startAfter").map(String::as_str)
    }
}

/// What to answer.
#[derive(Debug, Clone)]
pub enum Reply {
    Whole {
        status: u16,
        content_type: &'static str,
        body: Vec<u8>,
    },
    /// The connection breaks in the middle of this body.
    Cut(Vec<u8>),
    /// The content is at this URL.
    Redirect(String),
    /// Nothing, for ever.
    Silence,
}

pub fn json(status: u16, body: impl Into<Vec<u8>>) -> Reply {
    Reply::Whole { status, content_type: "application/json", body: body.into() }
}

pub fn html(status: u16) -> Reply {
    Reply::Whole { status, content_type: "text/html;charset=iso-8859-1", body: b"<html>Error</html>".to_vec() }
}

/// A recorded answer; the status is that of the recording.
pub fn recorded(status: u16, name: &str) -> Reply {
    let path = format!("{}/tests/fixtures/webhdfs/{name}", env!("CARGO_MANIFEST_DIR"));
    let body = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let content_type = if name.ends_with("json") { "application/json" } else { "text/html;charset=iso-8859-1" };
    Reply::Whole { status, content_type, body }
}

pub fn exception(status: u16, name: &str, message: &str) -> Reply {
    json(status, serde_json::json!({"RemoteException": {"exception": name, "message": message}}).to_string())
}

/// The content of a file.
pub fn content(body: impl Into<Vec<u8>>) -> Reply {
    Reply::Whole { status: 200, content_type: "application/octet-stream", body: body.into() }
}

/// A page of directories with these names.
pub fn page(names: &[&str], remaining: u64) -> Reply {
    let entry = |name: &&str| {
        serde_json::json!({"pathSuffix": name, "type": "DIRECTORY", "length": 0, "modificationTime": 0,
            "owner": "root", "group": "supergroup", "permission": "755"})
    };
    let entries: Vec<_> = names.iter().map(entry).collect();
    let listing = serde_json::json!({"DirectoryListing": {"remainingEntries": remaining,
        "partialListing": {"FileStatuses": {"FileStatus": entries}}}});
    json(200, listing.to_string())
}

/// A running server.
pub struct NameNode {
    pub url: Url,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl NameNode {
    pub async fn start(reply: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (log, reply) = (Arc::clone(&asked), Arc::new(reply));
        let app = Router::new().fallback(move |request: Request| {
            let (log, reply) = (Arc::clone(&log), Arc::clone(&reply));
            async move {
                let question = note(&log, &request);
                send(reply(&question)).await
            }
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { url: Url::parse(&url).expect("a URL"), asked }
    }

    /// One that gives the same answer to everything.
    pub async fn always(reply: Reply) -> Self {
        Self::start(move |_| reply.clone()).await
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no panic").clone()
    }

    pub fn raw(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.raw).collect()
    }

    pub fn reader(&self) -> WebHdfs {
        reader(&config(&[&self.url]))
    }
}

fn note(log: &Mutex<Vec<Asked>>, request: &Request) -> Asked {
    let raw = request.uri().to_string();
    let query = url::form_urlencoded::parse(request.uri().query().unwrap_or_default().as_bytes());
    let query = query.into_owned().collect();
    let mut log = log.lock().expect("no panic");
    let asked = Asked { raw, query, number: log.len() };
    log.push(asked.clone());
    asked
}

async fn send(reply: Reply) -> Response {
    let whole = |status: u16, content_type: &str, body: Body| {
        let builder = Response::builder().status(status).header("content-type", content_type);
        builder.header("date", "Sun, 29 Nov 2026 14:22:27 GMT").body(body).expect("a response")
    };
    match reply {
        Reply::Whole { status, content_type, body } => whole(status, content_type, Body::from(body)),
        Reply::Cut(body) => {
            use futures::StreamExt as _;
            // What was written leaves before the break, because the server flushes while it waits for more.
            let broken = async {
                tokio::task::yield_now().await;
                Err(std::io::Error::other("cut"))
            };
            let stream = futures::stream::iter([Ok(body)]).chain(futures::stream::once(broken));
            whole(200, "application/json", Body::from_stream(stream))
        }
        Reply::Redirect(location) => {
            let builder = Response::builder().status(307).header("location", location);
            builder.header("content-type", "application/octet-stream").body(Body::empty()).expect("a response")
        }
        Reply::Silence => std::future::pending().await,
    }
}

pub fn config(urls: &[&Url]) -> HdfsConfig {
    HdfsConfig {
        urls: urls.iter().map(|url| (*url).clone()).collect(),
        user: Some("root".to_owned()),
        doas: None,
        delegation_token: None,
        http: HttpConfig {
            timeout: Age::from_seconds(5),
            ca_file: None,
            credentials: Credentials::None,
            max_concurrency: 4,
            requests_per_second: None,
        },
    }
}

pub fn reader(config: &HdfsConfig) -> WebHdfs {
    // Only the first test of the process installs it.
    rustls::crypto::ring::default_provider().install_default().ok();
    WebHdfs::new(config).expect("a reader")
}

/// An address where nobody listens: bound for as long as the tests run, so that no other test's server gets it.
pub async fn nobody() -> Url {
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    socket.bind(([127, 0, 0, 1], 0).into()).expect("a free port");
    let address = socket.local_addr().expect("an address");
    std::mem::forget(socket);
    Url::parse(&format!("http://{address}")).expect("a URL")
}

pub fn path(text: &str) -> HdfsPath {
    HdfsPath::parse(text).expect("test path")
}
