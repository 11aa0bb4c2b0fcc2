//! HDFS over WebHDFS: NameNodes of one HA pair, HttpFS, or Knox.
//!
//! Every question is a read, but for one that changes nothing: whether writes are taken is asked by making the root
//! directory, which is there. Its answer is decided on the typed exception (`RemoteException.exception`), never on the HTTP
//! status: only 404 together with `FileNotFoundException` is an absence, only `AccessControlException` a refusal, and all
//! else (a proxy's page, a NameNode whose web application did not start, a cut body) tells nothing about the path.
//!
//! With several URLs each question goes to the NameNode that answered as active last, then to the others. A standby refuses
//! by itself; an *observer* does answer reads and can lag behind, so it has no place in `hdfs.urls`.
//!
//! Not here: writes, SPNEGO (a delegation token does instead), walking of trees.

mod address;
mod content;
mod failover;
mod listing;
mod question;
mod wire;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use jiff::Timestamp;

use self::address::Identity;
use self::failover::{Node, Nodes, PAUSE};
use self::listing::{Collected, Step};
use self::question::{Class, Failure, Operation, Question};
use self::wire::Owners;
use super::http::{HttpClient, HttpSetupError, HttpWriter};
use crate::config::{Credentials, HdfsConfig};
use crate::domain::{Existence, HdfsPath, Status};
use crate::ports::read::{HdfsRead, ListAnswer, ReadAnswer, WriteState};
use crate::views::Gap;
use crate::views::hdfs::{ClockReading, ContentSummary};

/// Times a listing is begun before it is given up because the active NameNode changed in the middle of it.
const MAX_STARTS: usize = 4;

/// What the server does by default (`GETSERVERDEFAULTS`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerDefaults {
    /// `fs.trash.interval` of the server in minutes; 0: no Trash unless the client says otherwise; `None`: not told.
    pub trash_interval_minutes: Option<u64>,
}

/// The reader of one HDFS.
pub struct WebHdfs {
    http: HttpClient,
    writer: HttpWriter,
    nodes: Nodes,
    identity: Identity,
    pages: AtomicBool,
    clock: Mutex<Option<ClockReading>>,
    owners: Owners,
    /// Requests carry credentials in their headers.
    sends_credentials: bool,
}

/// The body of a successful answer, and which NameNode gave it.
struct Fetched {
    node: usize,
    text: String,
}

/// What came of one pass over a directory.
enum Pass {
    Done(ListAnswer),
    /// The active NameNode changed in the middle.
    Anew,
    /// Pages are unknown to the server, or cannot be trusted here.
    Whole,
}

impl std::fmt::Debug for WebHdfs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let nodes: Vec<_> = self.nodes.in_order().map(|(_, node)| &node.name).collect();
        f.debug_struct("WebHdfs").field("nodes", &nodes).finish_non_exhaustive()
    }
}

impl WebHdfs {
    /// A reader with the addresses, identity and limits of the configuration. Asks nothing yet.
    pub fn new(config: &HdfsConfig) -> Result<Self, HttpSetupError> {
        Ok(Self {
            http: HttpClient::new(&config.http, &[])?.hiding(address::forms_of_token(config)),
            writer: HttpWriter::new(&config.http, &[])?.hiding(address::forms_of_token(config)),
            nodes: Nodes::new(&config.urls),
            identity: Identity::new(config),
            pages: AtomicBool::new(true),
            clock: Mutex::new(None),
            owners: Owners::default(),
            sends_credentials: !matches!(config.http.credentials, Credentials::None),
        })
    }

    /// Where the server would put what this account deletes from `/`.
    pub async fn fetch_trash_root(&self) -> Result<HdfsPath, Gap> {
        self.fetch_of_root(Operation::TrashRoot, wire::parse_path).await
    }

    /// What the server does by default. NameNodes before 3.3 do not tell ([`crate::views::Cause::Unsupported`]).
    pub async fn fetch_server_defaults(&self) -> Result<ServerDefaults, Gap> {
        let minutes = self.fetch_of_root(Operation::ServerDefaults, wire::parse_trash_interval).await?;
        Ok(ServerDefaults { trash_interval_minutes: minutes })
    }

    /// The home directory of the effective user; tells who the server takes us for.
    pub async fn fetch_home(&self) -> Result<HdfsPath, Gap> {
        self.fetch_of_root(Operation::Home, wire::parse_path).await
    }

    async fn fetch_of_root<T>(&self, op: Operation, parse: fn(&str) -> Result<T, Failure>) -> Result<T, Gap> {
        let root = HdfsPath::root();
        let question = Question::new(op, &root);
        let answer = self.ask(&question).await.and_then(|fetched| self.understand(&fetched, parse));
        answer.map_err(|failure| failure.into_gap(&question))
    }

    /// Asks the NameNodes in turn, twice if none is active.
    async fn ask(&self, question: &Question<'_>) -> Result<Fetched, Failure> {
        let mut outcome = self.ask_each(question).await;
        for _ in 1..self.nodes.rounds() {
            if !outcome.as_ref().is_err_and(|failure| failure.class.may_pass()) {
                return outcome;
            }
            tokio::time::sleep(PAUSE).await;
            outcome = self.ask_each(question).await;
        }
        if outcome.as_ref().is_err_and(|failure| failure.class.may_pass()) {
            self.nodes.give_up();
        }
        outcome
    }

    async fn ask_each(&self, question: &Question<'_>) -> Result<Fetched, Failure> {
        let mut failures = Vec::new();
        for (at, node) in self.nodes.in_order() {
            match self.ask_one(at, node, question).await {
                Err(failure) if failure.class.tries_next() => failures.push(failure),
                outcome => return outcome,
            }
        }
        Err(Failure::of_all(failures))
    }

    async fn ask_one(&self, at: usize, node: &Node, question: &Question<'_>) -> Result<Fetched, Failure> {
        let url = address::of(&node.base, question, &self.identity);
        let answer = self.http.get(&url).await.map_err(|fault| Failure::http(&fault).by(&node.name))?;
        let arrived = Timestamp::now();
        tracing::debug!(op = question.op.name(), path = %question.path, status = answer.status, "asked the NameNode");
        let outcome = wire::open(&answer, question.op, |text| self.identity.scrub(text));
        let answered = outcome.as_ref().map_or_else(|failure| failure.class.is_from_active(), |_| true);
        if answered && question.op.needs_active() {
            self.nodes.remember(at);
            self.note_clock(answer.date, arrived);
        }
        let text = outcome.map_err(|failure| failure.by(&node.name))?.to_owned();
        Ok(Fetched { node: at, text })
    }

    /// Parses an answer; a failure names the server that sent it.
    fn understand<'a, T>(
        &self,
        fetched: &'a Fetched,
        parse: impl FnOnce(&'a str) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        parse(&fetched.text).map_err(|failure| failure.by(self.nodes.name(fetched.node)))
    }

    fn status(&self, text: &str) -> Result<Status, Failure> {
        wire::parse_status(text, &self.owners)
    }

    fn note_clock(&self, server: Option<Timestamp>, local: Timestamp) {
        let Some(server) = server else { return };
        let mut clock = self.clock.lock().unwrap_or_else(PoisonError::into_inner);
        if clock.is_none_or(|known| known.local <= local) {
            *clock = Some(ClockReading { server, local });
        }
    }

    /// One pass over the pages of a directory.
    async fn list_from_start(&self, path: &HdfsPath, op: Operation) -> Pass {
        let mut collected = Collected::default();
        loop {
            let after = collected.start_after().map(str::to_owned);
            let question = Question { op, path, start_after: after.as_deref() };
            let fetched = match self.ask(&question).await {
                Err(failure) if failure.class == Class::UnknownOperation && op == Operation::ListBatch => {
                    self.pages.store(false, Ordering::Relaxed);
                    return Pass::Whole;
                }
                Err(failure) => return Pass::Done(collected.stop(failure, &question)),
                Ok(fetched) => fetched,
            };
            if !collected.fits(fetched.node) {
                return Pass::Anew;
            }
            let step = match self.understand(&fetched, |text| wire::parse_page(op, text)) {
                Ok(page) => collected.add(&page, &question, &self.owners),
                Err(failure) => Step::End(collected.stop(failure, &question)),
            };
            match step {
                Step::More => {}
                Step::End(answer) => return Pass::Done(answer),
                Step::Whole => return Pass::Whole,
            }
        }
    }
}

#[async_trait]
impl HdfsRead for WebHdfs {
    async fn list_directory(&self, path: &HdfsPath) -> ListAnswer {
        let mut op = if self.pages.load(Ordering::Relaxed) { Operation::ListBatch } else { Operation::List };
        for _ in 0..MAX_STARTS {
            match self.list_from_start(path, op).await {
                Pass::Done(answer) => return answer,
                Pass::Anew => {}
                Pass::Whole => op = Operation::List,
            }
        }
        let failure = Failure::new(Class::Shifting, "the active NameNode changed each time before the last page came");
        ListAnswer::Unread(failure.into_gap(&Question::new(op, path)))
    }

    async fn fetch_status(&self, path: &HdfsPath) -> Existence {
        let question = Question::new(Operation::Status, path);
        let answer = self.ask(&question).await;
        answer
            .and_then(|fetched| self.understand(&fetched, |text| self.status(text)))
            .map_or_else(|failure| failure.into_existence(&question), Existence::Present)
    }

    async fn read_file(&self, path: &HdfsPath, limit: usize) -> ReadAnswer {
        self.read_whole(path, limit).await
    }

    async fn fetch_summary(&self, path: &HdfsPath) -> Option<ContentSummary> {
        let question = Question::new(Operation::Summary, path);
        self.ask(&question).await.and_then(|fetched| self.understand(&fetched, wire::parse_summary)).ok()
    }

    async fn probe_writes(&self) -> WriteState {
        let root = HdfsPath::root();
        let question = Question::new(Operation::MakeRoot, &root);
        let mut failures = Vec::new();
        for (_, node) in self.nodes.in_order() {
            let url = address::of(&node.base, &question, &self.identity);
            let answer = self.writer.put_once(&url).await.map_err(|fault| Failure::http(&fault).by(&node.name));
            let opened = answer.and_then(|answer| {
                wire::open(&answer, question.op, |text| self.identity.scrub(text))
                    .map(drop)
                    .map_err(|f| f.by(&node.name))
            });
            match opened {
                Ok(()) => return WriteState::Open,
                Err(failure) if failure.class == Class::SafeMode => return WriteState::SafeMode,
                Err(failure) if failure.class.tries_next() => failures.push(failure),
                Err(failure) => return WriteState::Unknown { why: failure.explain(&question) },
            }
        }
        WriteState::Unknown { why: Failure::of_all(failures).explain(&question) }
    }

    fn clock(&self) -> Option<ClockReading> {
        *self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn user(&self) -> Option<String> {
        self.identity.effective_user().map(str::to_owned)
    }
}
