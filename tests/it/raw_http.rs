//! A bare HTTP/1.1 client on a socket: sends a request line as it is (no URL parser to tidy it up) and sees broken answers.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// An answer that came whole.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    /// The first header of a name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| it.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error} in {:?}", self.text()))
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// How an answer did not come whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Broken {
    /// Nobody listens.
    Refused,
    /// Nothing came in time.
    Silent,
    /// The connection closed before a whole head.
    BeforeAnswer,
    /// The connection closed in the body, after so many bytes of it.
    InBody(usize),
}

/// Sends one request to `base` (`http://host:port`) and reads the whole answer.
pub fn send(method: &str, base: &str, target: &str, body: &[u8]) -> Result<Answer, Broken> {
    let host = base.strip_prefix("http://").expect("a plain URL");
    let mut stream = TcpStream::connect(host).map_err(|_| Broken::Refused)?;
    stream.set_read_timeout(Some(Duration::from_millis(700))).expect("a timeout");
    let head = format!(
        "{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("a request");
    stream.write_all(body).expect("a body");
    let mut bytes = Vec::new();
    // A reset is an end too: what came before it counts.
    let end = stream.read_to_end(&mut bytes);
    if bytes.is_empty()
        && let Err(error) = end
        && matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
    {
        return Err(Broken::Silent);
    }
    parse(&bytes)
}

/// Sends a GET.
pub fn get(base: &str, target: &str) -> Answer {
    send("GET", base, target, b"").unwrap_or_else(|broken| panic!("{broken:?} for {target}"))
}

fn parse(bytes: &[u8]) -> Result<Answer, Broken> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").ok_or(Broken::BeforeAnswer)?;
    let head = std::str::from_utf8(&bytes[..end]).expect("a readable head");
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|text| text.parse().ok());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect();
    let answer = Answer { status: status.expect("a status"), headers, body: bytes[end + 4..].to_vec() };
    let length: usize = answer.header("content-length").and_then(|text| text.parse().ok()).expect("a length");
    if answer.body.len() < length { Err(Broken::InBody(answer.body.len())) } else { Ok(answer) }
}
