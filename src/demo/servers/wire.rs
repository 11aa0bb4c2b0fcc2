//! Answers on the wire: replies with a skewed `Date`, and the ways a fault holds or breaks them.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use futures::Stream;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::demo::world::{Cut, Fault};

/// An answer before it goes on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Status.
    pub status: u16,
    /// Headers.
    pub headers: HeaderMap,
    /// Body.
    pub body: Vec<u8>,
}

impl Reply {
    /// A body of a content type; an empty type leaves the header out.
    pub fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let reply = Self { status, headers: HeaderMap::new(), body: body.into() };
        if content_type.is_empty() { reply } else { reply.with(header::CONTENT_TYPE, content_type) }
    }

    /// A JSON body.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    /// No body.
    pub fn empty(status: u16) -> Self {
        Self::new(status, "", Vec::new())
    }

    /// With one more header; a value that no header can hold is left out.
    #[must_use]
    pub fn with(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(name, value);
        }
        self
    }

    /// The answer that a fault spells out itself (body, redirect), if it does. Codes and exceptions are the server's part.
    pub fn spelled_out(fault: &Fault) -> Option<Self> {
        if fault.body.is_none() && fault.location.is_none() {
            return None;
        }
        let body = fault.body.clone().unwrap_or_default();
        let kind = match &fault.content_type {
            Some(kind) => kind.as_str(),
            None if body.is_empty() => "",
            None if body.starts_with(['{', '[']) => "application/json",
            None => "text/html;charset=utf-8",
        };
        let status = fault.http.unwrap_or(if fault.location.is_some() { 302 } else { 200 });
        let reply = Self::new(status, kind, body);
        Some(match &fault.location {
            Some(location) => reply.with(header::LOCATION, location),
            None => reply,
        })
    }

    /// Sends the reply: whole, or held or broken as the fault says.
    pub async fn send(self, fault: Option<&Fault>) -> Response<Body> {
        if fault.is_some_and(|fault| fault.timeout) {
            std::future::pending::<Infallible>().await;
        }
        match fault.and_then(|fault| fault.cut) {
            None => self.whole(),
            Some(Cut::BeforeAnswer) => self.broken(0),
            Some(Cut::MidBody) => self.broken(1),
        }
    }

    fn whole(self) -> Response<Body> {
        let body = Body::from(self.body);
        response(self.status, self.headers, body)
    }

    /// Declares the whole length and breaks the connection after half the body, or (0) before the head has left.
    fn broken(mut self, parts: usize) -> Response<Body> {
        // A body that breaks must have something left to send, also where the answer has none.
        let whole = self.body.len().max(2);
        self.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(whole));
        self.body.truncate(whole / 2);
        let first = (parts > 0).then(|| Bytes::from(self.body));
        response(self.status, self.headers, Body::from_stream(Breaking { first, flushed: parts == 0 }))
    }
}

fn response(status: u16, headers: HeaderMap, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    *response.headers_mut() = headers;
    response
}

/// A body that gives one part at most and then fails, which makes the server close the connection.
struct Breaking {
    first: Option<Bytes>,
    flushed: bool,
}

impl Stream for Breaking {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        if !self.flushed {
            // The server writes its buffer out only when the body has nothing ready.
            self.flushed = true;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Some(Err(io::Error::from(io::ErrorKind::ConnectionAborted))))
    }
}

/// The clock of a server: the program's, shifted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerClock {
    /// The program's clock minus this one, in seconds.
    pub behind: i64,
}

impl ServerClock {
    /// What it shows now.
    pub fn now(self) -> Timestamp {
        let now = Timestamp::now();
        now.saturating_sub(SignedDuration::from_secs(self.behind)).unwrap_or(now)
    }

    /// Now as a `Date` header.
    pub fn date_header(self) -> String {
        self.now().strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
    }
}
