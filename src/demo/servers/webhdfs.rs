//! An embedded NameNode that speaks WebHDFS as Hadoop 3.4.1 does, over a file system that other servers may share.
//!
//! Names are percent-decoded exactly once and never resolved: `..` is a name that does not exist. Data calls (OPEN,
//! CREATE) are redirected as a NameNode does, back to this server in the role of a DataNode.

mod access;
mod answers;
mod remote;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, Response, Uri, header};
use percent_encoding::percent_decode_str;

use super::fault::{Faults, Request};
use super::file_system::{FileSystem, SharedFileSystem, normal};
use super::wire::{Reply, ServerClock};
use crate::demo::world::{Caller, Cut, Effect, Fault, HdfsServer, World};
use access::User;
use answers::NameNode;
use remote::Remote;

/// Entries a page of a listing, as `dfs.ls.limit` has it by default.
pub const DEFAULT_PAGE_LIMIT: usize = 1000;

/// A NameNode.
#[derive(Debug)]
pub struct WebHdfsServer {
    /// Its file system.
    pub file_system: SharedFileSystem,
    /// Its faults and the log of its requests.
    pub faults: Faults,
    settings: Mutex<Settings>,
}

/// What a world says of the NameNode.
#[derive(Debug, Clone)]
struct Settings {
    caller: Caller,
    server: HdfsServer,
    page_limit: usize,
    clock: ServerClock,
}

impl WebHdfsServer {
    /// The NameNode of a world over `file_system`, with pages of `page_limit` entries.
    pub fn new(world: &World, file_system: SharedFileSystem, page_limit: usize) -> Self {
        let settings = Settings::of(world, page_limit);
        Self { file_system, faults: Faults::new(&world.hdfs.faults), settings: Mutex::new(settings) }
    }

    /// Puts another world in place, but for the file system; the log stays.
    pub fn replace(&self, world: &World) {
        let page_limit = self.settings().page_limit;
        *self.settings() = Settings::of(world, page_limit);
        self.faults.set_faults(&world.hdfs.faults);
    }

    /// Puts another server state in place: safe mode, standby, Trash.
    pub fn set_server(&self, server: HdfsServer) {
        self.settings().server = server;
    }

    fn settings(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The clock its answers are dated by.
    pub fn clock(&self) -> ServerClock {
        self.settings().clock
    }

    /// Answers one request.
    pub async fn answer(&self, method: &Method, uri: &Uri, headers: &HeaderMap, body: Bytes) -> Response<Body> {
        let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or("127.0.0.1");
        let Some(call) = Call::parse(method, uri, host, body) else {
            return remote::html_page(404).send(None).await;
        };
        let settings = self.settings().clone();
        let request = call.described(&self.file_system.lock(), settings.page_limit);
        let fault = self.faults.decide(request);
        let (reply, cut) = self.reply(&call, &settings, fault.as_deref());
        let fault = match (fault, cut) {
            (fault, None) => fault,
            (fault, cut) => Some(Arc::new(Fault { cut, ..fault.as_deref().cloned().unwrap_or_default() })),
        };
        reply.send(fault.as_deref()).await
    }

    fn reply(&self, call: &Call, settings: &Settings, fault: Option<&Fault>) -> (Reply, Option<Cut>) {
        let own = self.own_reply(call, settings, fault);
        let reply = match fault.filter(|fault| fault.replaces_answer()) {
            Some(fault) => faulty(fault, call),
            None => own,
        };
        // An unpaged listing cannot repeat a page; it breaks off instead.
        let repeats_nothing = call.op == "LISTSTATUS" && fault.is_some_and(|fault| fault.repeat_page.is_some());
        (reply, repeats_nothing.then_some(Cut::MidBody))
    }

    fn own_reply(&self, call: &Call, settings: &Settings, fault: Option<&Fault>) -> Reply {
        let real = match settings.user_of(call) {
            Ok(user) => user,
            Err(refused) => return refused.reply(),
        };
        let user = match call.param("doas") {
            Some(wanted) if !real.superuser => return remote::no_impersonation(&real.name, wanted),
            Some(wanted) => settings.known(wanted),
            None => real,
        };
        let mut fs = self.file_system.lock();
        let mut node = NameNode { fs: &mut fs, user: &user, call, fault, page_limit: settings.page_limit };
        node.answer(&settings.server).unwrap_or_else(|refused| refused.reply())
    }
}

impl Settings {
    fn of(world: &World, page_limit: usize) -> Self {
        Self {
            caller: world.caller(),
            server: world.hdfs.server.clone(),
            page_limit,
            clock: ServerClock { behind: world.clock.tool_minus_namenode.0 },
        }
    }

    /// The user a request comes from: a delegation token stands for the caller, no name for `dr.who`.
    fn user_of(&self, call: &Call) -> Result<User, Remote> {
        if call.param("delegation").is_some() {
            return Ok(self.known(&self.caller.user));
        }
        let name = call.param("user.name").unwrap_or("dr.who");
        let mut letters = name.bytes();
        let starts_well = letters.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        if !starts_well || !letters.all(|byte| byte.is_ascii_alphanumeric() || b"._-$".contains(&byte)) {
            let why = format!("Invalid value: \"{name}\" does not belong to the domain ^[A-Za-z_][A-Za-z0-9._-]*[$]?$");
            return Err(remote::bad_parameter("user.name", &why));
        }
        Ok(self.known(name))
    }

    /// A user by name. The caller is as the world says, `hdfs` runs the NameNode, anybody else is an ordinary user.
    fn known(&self, name: &str) -> User {
        let is_caller = name == self.caller.user;
        User {
            name: name.to_owned(),
            groups: if is_caller { self.caller.groups.clone() } else { Vec::new() },
            superuser: if is_caller { self.caller.superuser } else { name == "hdfs" },
        }
    }
}

/// One request, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Call {
    method: Method,
    raw_path: String,
    /// Path in HDFS, decoded once, without doubled and trailing slashes.
    path: String,
    /// Parameters by lower-case name.
    params: BTreeMap<String, String>,
    query: String,
    /// Operation in upper case.
    op: String,
    host: String,
    body: Bytes,
}

impl Call {
    /// `None` for a URL that is not below `/webhdfs/v1`, or whose path is not UTF-8.
    fn parse(method: &Method, uri: &Uri, host: &str, body: Bytes) -> Option<Self> {
        let raw = uri.path();
        let encoded = raw.strip_prefix("/webhdfs/v1").filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
        let decoded = percent_decode_str(encoded).decode_utf8().ok()?;
        let query = uri.query().unwrap_or_default();
        let params: BTreeMap<String, String> = url::form_urlencoded::parse(query.as_bytes())
            .map(|(name, value)| (name.to_ascii_lowercase(), value.into_owned()))
            .collect();
        Some(Self {
            method: method.clone(),
            raw_path: raw.to_owned(),
            path: normal(&decoded),
            op: params.get("op").map(|op| op.to_ascii_uppercase()).unwrap_or_default(),
            params,
            query: query.to_owned(),
            host: host.to_owned(),
            body,
        })
    }

    fn param(&self, name: &str) -> Option<&str> {
        self.params.get(name).map(String::as_str)
    }

    /// Whether this is the second half of a data call, which a DataNode answers.
    fn is_at_datanode(&self) -> bool {
        self.params.contains_key("namenoderpcaddress") || self.param("data") == Some("true")
    }

    /// The word of the fault table; empty for calls it does not name.
    fn fault_op(&self) -> &'static str {
        match (&self.method, self.op.as_str()) {
            (&Method::GET, "GETFILESTATUS") => "stat",
            (&Method::GET, "LISTSTATUS" | "LISTSTATUS_BATCH") => "list",
            (&Method::GET, "GETCONTENTSUMMARY") => "content-summary",
            (&Method::GET, "OPEN") if !self.is_at_datanode() => "open",
            (&Method::GET, "GETTRASHROOT") => "trash-root",
            (&Method::GET, "GETSERVERDEFAULTS") => "server-defaults",
            (&Method::PUT, "MKDIRS") => "mkdirs",
            (&Method::PUT, "RENAME") => "rename",
            (&Method::DELETE, "DELETE") => "delete",
            _ => "",
        }
    }

    fn described(&self, fs: &FileSystem, page_limit: usize) -> Request {
        Request {
            method: self.method.to_string(),
            raw_path: self.raw_path.clone(),
            op: self.fault_op().to_owned(),
            path: Some(self.path.clone()),
            page: (self.op == "LISTSTATUS_BATCH").then(|| answers::page_number(fs, self, page_limit)),
            ..Request::default()
        }
    }
}

/// The answer a fault replaces everything with.
fn faulty(fault: &Fault, call: &Call) -> Reply {
    if let Some(reply) = Reply::spelled_out(fault) {
        return reply;
    }
    let Some(exception) = &fault.exception else {
        return remote::html_page(fault.http.unwrap_or(500));
    };
    let message = fault.msg.clone().unwrap_or_else(|| format!("{exception} on {}", call.path));
    let mut refused = Remote::new(exception, message);
    refused.status = fault.http.unwrap_or(refused.status);
    refused.reply()
}

/// Whether a write changes anything, as a fault says.
fn takes_effect(fault: Option<&Fault>) -> bool {
    let effect = fault.map_or(Effect::Done, Fault::effect_of_write);
    matches!(effect, Effect::Done | Effect::FilesOnly | Effect::Partial)
}
