//! The writer of records on a bare socket: how many requests a delete is, whatever happens to it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::tz::TimeZone;
use secrecy::SecretString;
use statewarden::adapters::dolphin::{DolphinWrite, WriteSetupError};
use statewarden::config::{Credentials, DsConfig, HttpConfig};
use statewarden::domain::{HdfsPath, RecordId, ResourceKind};
use statewarden::plan::RecordTarget;
use statewarden::ports::write::{DeleteAnswer, ResourceWrite};
use statewarden::views::Generation;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What the server does with one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    /// Answers and keeps the connection open.
    Answer(&'static str),
    /// Answers, then closes the connection at once although it promised to keep it.
    AnswerAndClose(&'static str),
    /// Closes without an answer.
    Close,
    /// Resets without an answer.
    Reset,
    /// Says nothing.
    Silence,
}

type Seen = Arc<Mutex<Vec<String>>>;

/// A server that does `act` with every request; gives its configuration and the heads it saw.
async fn serve(act: Act) -> (DsConfig, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let config = config(listener.local_addr().expect("an address"));
    let seen = Seen::default();
    let heads = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(talk(stream, act, Arc::clone(&heads)));
        }
    });
    (config, seen)
}

async fn talk(mut stream: TcpStream, act: Act, seen: Seen) {
    let mut held = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        match stream.read(&mut chunk).await {
            Ok(length @ 1..) => held.extend_from_slice(&chunk[..length]),
            _ => return,
        }
        if !held.ends_with(b"\r\n\r\n") {
            continue;
        }
        seen.lock().expect("whole").push(String::from_utf8_lossy(&held).into_owned());
        held.clear();
        match act {
            Act::Answer(text) => stream.write_all(text.as_bytes()).await.expect("sent"),
            Act::AnswerAndClose(text) => return stream.write_all(text.as_bytes()).await.expect("sent"),
            Act::Close => return,
            Act::Reset => return stream.set_zero_linger().expect("a socket"),
            Act::Silence => {}
        }
    }
}

fn config(address: std::net::SocketAddr) -> DsConfig {
    let _ = rustls::crypto::ring::default_provider().install_default();
    DsConfig {
        url: Some(format!("http://user:canary-password@{address}/dolphinscheduler/?a=b#c").parse().expect("a URL")),
        token: Some(SecretString::from("canary-token")),
        apply_token: None,
        version: "3.1.9".to_owned(),
        generation: Generation::V31,
        base_path: HdfsPath::parse("/dolphinscheduler").expect("a path"),
        tenants: Vec::new(),
        page_size: 100,
        time_zone: TimeZone::UTC,
        http: HttpConfig {
            timeout: "1s".parse().expect("an age"),
            ca_file: None,
            credentials: Credentials::None,
            max_concurrency: 4,
            requests_per_second: None,
        },
    }
}

fn target(record: i64) -> RecordTarget {
    RecordTarget {
        record: RecordId(record),
        full_name: "/a.sh".to_owned(),
        kind: ResourceKind::File,
        directory: false,
        owner_id: 1,
        owner: "admin".to_owned(),
        tenant: "etl".to_owned(),
        updated: None,
        size: Some(3),
        path: HdfsPath::parse("/dolphinscheduler/etl/resources/a.sh").expect("a path"),
    }
}

const DONE: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 38\r\n\r\n\
                    {\"code\":0,\"msg\":\"success\",\"data\":null}";

async fn delete_twice(act: Act) -> (Vec<DeleteAnswer>, Vec<String>) {
    let (config, seen) = serve(act).await;
    let writer = DolphinWrite::new(&config, Generation::V31).expect("a writer");
    let mut answers = Vec::new();
    for record in [7, 8] {
        answers.push(writer.delete_record(&target(record)).await);
        // Time for a server that closes to be seen closing, and for a request that is sent again to arrive.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let heads = seen.lock().expect("whole").clone();
    (answers, heads)
}

fn request_line(head: &str) -> &str {
    head.lines().next().unwrap_or_default()
}

#[tokio::test]
async fn a_delete_names_the_record_and_nothing_else() {
    assert_eq!(DONE.len() - DONE.find('{').expect("a body"), 38, "the declared length");
    let (answers, heads) = delete_twice(Act::Answer(DONE)).await;
    assert_eq!(answers, [DeleteAnswer::Success, DeleteAnswer::Success]);
    let lines: Vec<&str> = heads.iter().map(|head| request_line(head)).collect();
    let expected = ["DELETE /dolphinscheduler/resources/7 HTTP/1.1", "DELETE /dolphinscheduler/resources/8 HTTP/1.1"];
    assert_eq!(lines, expected);
    assert!(heads.iter().all(|head| head.contains("token: canary-token") && head.contains("language: en_US")));
}

#[tokio::test]
async fn each_delete_is_one_request_whatever_comes_back() {
    const MOVED: &str =
        "HTTP/1.1 307 Temporary Redirect\r\nLocation: /dolphinscheduler/resources/9\r\nContent-Length: 0\r\n\r\n";
    const BUSY: &str = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n";
    const CUT: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n{\"code\":0";
    let acts = [Act::Answer(MOVED), Act::Answer(BUSY), Act::AnswerAndClose(CUT), Act::Close, Act::Reset, Act::Silence];
    for act in acts {
        let (answers, heads) = delete_twice(act).await;
        assert_eq!(heads.len(), 2, "{act:?}: {heads:?}");
        for answer in answers {
            let DeleteAnswer::Unclear { why } = answer else { panic!("{act:?}: {answer:?}") };
            assert!(!why.contains("canary") && !why.contains("http://"), "{act:?}: {why}");
        }
    }
}

#[tokio::test]
async fn a_connection_that_the_server_closed_is_not_used_again() {
    let (answers, heads) = delete_twice(Act::AnswerAndClose(DONE)).await;
    assert_eq!(answers, [DeleteAnswer::Success, DeleteAnswer::Success]);
    assert_eq!(heads.len(), 2);
}

#[tokio::test]
async fn throttling_is_a_refusal_and_is_not_tried_again() {
    let (answers, heads) =
        delete_twice(Act::Answer("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n"))
            .await;
    assert_eq!(heads.len(), 2);
    assert!(answers.iter().all(|answer| matches!(answer, DeleteAnswer::Refused { why } if why.contains("throttles"))));
}

#[tokio::test]
async fn after_a_401_no_further_delete_is_sent() {
    let (answers, heads) = delete_twice(Act::Answer("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")).await;
    assert_eq!(heads.len(), 1);
    assert!(answers.iter().all(|answer| matches!(answer, DeleteAnswer::NotAuthorized { .. })));
}

#[tokio::test]
async fn nobody_listening_is_unclear_too() {
    // Bound and not listening, so that no other test's server gets the port.
    let held = tokio::net::TcpSocket::new_v4().expect("a socket");
    held.bind(([127, 0, 0, 1], 0).into()).expect("a free port");
    let config = config(held.local_addr().expect("an address"));
    let writer = DolphinWrite::new(&config, Generation::V20).expect("a writer");
    let answer = writer.delete_record(&target(7)).await;
    assert!(matches!(answer, DeleteAnswer::Unclear { why } if why.contains("cannot connect")));
}

#[tokio::test]
async fn there_is_a_writer_for_recorded_generations_with_records_only() {
    let (config, _) = serve(Act::Silence).await;
    for generation in [Generation::V20, Generation::V30, Generation::V31] {
        let writer = DolphinWrite::new(&config, generation).expect("a writer");
        assert!(!format!("{writer:?}").contains("canary"));
    }
    for generation in [Generation::V13, Generation::V320, Generation::V322, Generation::V33] {
        let error = DolphinWrite::new(&config, generation).expect_err("no writer");
        assert!(matches!(error, WriteSetupError::Generation(found) if found == generation));
    }
    let without_token = DsConfig { token: None, ..config };
    let error = DolphinWrite::new(&without_token, Generation::V31).expect_err("no writer");
    assert!(matches!(error, WriteSetupError::NotConfigured(_)));
}
