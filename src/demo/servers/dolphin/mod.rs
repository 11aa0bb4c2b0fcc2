//! The embedded DolphinScheduler: 2.0, 3.0 and 3.1 (rows with ids) and 3.2.2 (a listing of the storage), with state, on
//! loopback.
//!
//! It answers in the shapes recorded from standalone servers of 2.0.9, 3.0.6, 3.1.9 and 3.2.2; the workflows of 2.0, which
//! are not recorded, look like those of 3.0. What the program does not ask is not there.

mod accounts;
mod asked;
mod database;
mod generation;
mod paging;
mod record_writes;
mod records;
mod remote_hdfs;
mod reply;
mod routes;
mod storage;
mod store;
mod visit;
mod workflows;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::Response;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use self::asked::Asked;
use self::database::Database;
use self::generation::Generation;
use self::reply::{Outcome, answer, envelope, unauthorized, unknown_endpoint};
use self::routes::{Call, describe};
use self::visit::{Traits, Visit};
use super::dated;
use super::fault::Faults;
use super::wire::{Reply, ServerClock};
use crate::demo::world::{Effect, Fault, TokenOwner, World, token_of};

pub use accounts::PASSWORD_HASH;
pub use database::ContentError;
pub use remote_hdfs::RemoteHdfs;
pub use store::{EmbeddedStore, FileStore, StoreError, StoredStatus};

/// Context path of a server out of the box.
pub const CONTEXT_PATH: &str = "/dolphinscheduler";

/// How the server is to be.
pub struct DolphinOptions {
    /// Where its files are; [`store_of_world`] gives the one the world means.
    pub store: Arc<dyn FileStore>,
    /// Access tokens and whose they are; any other token is unknown.
    pub tokens: Vec<(String, TokenOwner)>,
    /// Zone of the times it prints; `None`: its default, +08:00 for 2.0 and UTC from 3.0 on.
    pub time_zone: Option<TimeZone>,
    /// Whether a web UI is installed: unknown endpoints then answer 200 with HTML.
    pub with_ui: bool,
    /// Port on 127.0.0.1; 0: any free one.
    pub port: u16,
}

impl DolphinOptions {
    /// The options a world means, with its files in `store`.
    pub fn of_world(world: &World, store: Arc<dyn FileStore>) -> Self {
        let owner = world.config.ds.as_ref().map_or(TokenOwner::Admin, |ds| ds.token.clone());
        Self { store, tokens: vec![(token_of(&owner), owner)], time_zone: None, with_ui: false, port: 0 }
    }
}

/// Why the server was not started.
#[derive(Debug, thiserror::Error)]
pub enum DolphinError {
    /// The world has no such server.
    #[error("the world has no `dolphinscheduler` section")]
    NoServer,
    /// A version nobody has taught it.
    #[error(
        "the embedded DolphinScheduler speaks 2.0.x, 3.0.x, 3.1.x and 3.2.2, not `{0}`; change `config.ds.version`"
    )]
    Unsupported(String),
    /// The content.
    #[error("the world cannot be turned into a server")]
    Content(#[from] ContentError),
    /// The port.
    #[error("cannot listen on 127.0.0.1")]
    Listen(#[source] std::io::Error),
}

/// Whether an embedded server can be started for this world, and if not, why.
pub fn check_generation(world: &World) -> Result<(), DolphinError> {
    generation_of(world).map(drop)
}

/// The generation of a world's server. `dolphinscheduler.generation` says what it really is; the configured version only says
/// which of that kind, since the operator may be wrong about the kind.
fn generation_of(world: &World) -> Result<Generation, DolphinError> {
    let server = world.dolphinscheduler.as_ref().ok_or(DolphinError::NoServer)?;
    let kind = server.generation;
    let Some(version) = world.config.ds.as_ref().map(|ds| ds.version.as_str()) else {
        return Ok(Generation::of_kind(kind));
    };
    match Generation::kind_of_version(version) {
        Some(said) if said != kind => Ok(Generation::of_kind(kind)),
        _ => Generation::of_version(version).ok_or_else(|| DolphinError::Unsupported(version.to_owned())),
    }
}

/// The store a world means: the given one, or a separate one with the paths of `dolphinscheduler.store`.
pub fn store_of_world(world: &World, shared: Arc<dyn FileStore>) -> Arc<dyn FileStore> {
    let own = world.dolphinscheduler.as_ref().and_then(|server| server.store.as_ref());
    let Some(paths) = own else { return shared };
    let paths: Vec<_> = paths.iter().filter_map(|text| database::path_of_uri(text)).collect();
    Arc::new(EmbeddedStore::of_files(&paths, ServerClock { behind: world.clock.tool_minus_namenode.0 }))
}

/// An embedded server. Clones are the same server.
#[derive(Clone)]
pub struct DolphinServer(Arc<Inner>);

impl std::fmt::Debug for DolphinServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DolphinServer").field("faults", &self.0.faults).finish_non_exhaustive()
    }
}

struct Inner {
    /// The outer lock is for exchanging the world without waiting, the inner one lets one request at a time work on it.
    held: std::sync::Mutex<Arc<Mutex<Held>>>,
    tokens: Vec<(String, TokenOwner)>,
    zone: Option<TimeZone>,
    with_ui: bool,
    faults: Faults,
}

/// What another world replaces.
struct Held {
    database: Database,
    store: Arc<dyn FileStore>,
    traits: Traits,
}

impl Held {
    fn of_world(
        world: &World,
        store: Arc<dyn FileStore>,
        zone: Option<TimeZone>,
    ) -> Result<Arc<Mutex<Self>>, DolphinError> {
        let server = world.dolphinscheduler.as_ref().ok_or(DolphinError::NoServer)?;
        let clock = ServerClock { behind: world.clock.tool_minus_namenode.0 };
        let generation = generation_of(world)?;
        let zone = zone.unwrap_or_else(|| TimeZone::fixed(jiff::tz::offset(generation.hours_from_utc())));
        let traits = Traits { generation, zone, clock };
        Ok(Arc::new(Mutex::new(Self { database: Database::of_world(world, server)?, store, traits })))
    }
}

impl DolphinServer {
    /// The server a world describes; it listens nowhere yet.
    pub fn new(world: &World, options: DolphinOptions) -> Result<Self, DolphinError> {
        let zone = options.time_zone;
        Ok(Self(Arc::new(Inner {
            held: std::sync::Mutex::new(Held::of_world(world, options.store, zone.clone())?),
            tokens: options.tokens,
            zone,
            with_ui: options.with_ui,
            faults: Faults::new(world.dolphinscheduler.as_ref().map_or(&[], |server| &server.faults)),
        })))
    }

    /// The server a world describes, listening on 127.0.0.1 until the returned value is dropped.
    pub async fn start(world: &World, options: DolphinOptions) -> Result<RunningDolphin, DolphinError> {
        let address = SocketAddr::from(([127, 0, 0, 1], options.port));
        let server = Self::new(world, options)?;
        let listener = TcpListener::bind(address).await.map_err(DolphinError::Listen)?;
        let address = listener.local_addr().map_err(DolphinError::Listen)?;
        let router = axum::Router::new().fallback(handle).with_state(server.clone());
        let task = tokio::spawn(async move {
            // Ends only when the task is aborted: accept errors are retried inside.
            let _ = axum::serve(listener, router).await;
        });
        Ok(RunningDolphin { url: format!("http://{address}{CONTEXT_PATH}"), server, task })
    }

    /// The faults it plays, and the log of its requests.
    pub fn faults(&self) -> &Faults {
        &self.0.faults
    }

    /// Puts another world in the place of this one, with its files in `store`; the log stays.
    pub fn replace(&self, world: &World, store: Arc<dyn FileStore>) -> Result<(), DolphinError> {
        *self.0.held() = Held::of_world(world, store, self.0.zone.clone())?;
        self.0.faults.set_faults(world.dolphinscheduler.as_ref().map_or(&[], |server| &server.faults));
        Ok(())
    }

    /// Answers one request, whose path begins with the context path.
    pub async fn answer(&self, request: Request) -> Response<Body> {
        let asked = Asked::read(request, CONTEXT_PATH).await;
        let (reply, fault, clock) = self.0.reply(&asked).await;
        dated(reply.send(fault.as_deref()).await, clock)
    }
}

/// A server that listens until this value is dropped.
#[derive(Debug)]
pub struct RunningDolphin {
    /// Base URL with the context path.
    pub url: String,
    /// The server.
    pub server: DolphinServer,
    task: JoinHandle<()>,
}

impl Drop for RunningDolphin {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn handle(State(server): State<DolphinServer>, request: Request) -> Response<Body> {
    server.answer(request).await
}

impl Inner {
    fn held(&self) -> std::sync::MutexGuard<'_, Arc<Mutex<Held>>> {
        self.held.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The reply to one request with the fault that met it. One request at a time: the server's transactions are not its point.
    async fn reply(&self, asked: &Asked) -> (Reply, Option<Arc<Fault>>, ServerClock) {
        let held = Arc::clone(&self.held());
        let held = &mut *held.lock().await;
        let call = Call::of(asked, held.traits.generation);
        let fault = self.faults.decide(describe(asked, call, &held.database));
        let reply = match (&fault, call) {
            (None, call) => self.natural_reply(asked, call, held, &Fault::default()).await,
            (Some(fault), Some(call)) if call.is_write() => self.reply_to_write(asked, call, held, fault).await,
            (Some(fault), call) => match replaced(fault) {
                Some(reply) => reply,
                None => self.natural_reply(asked, call, held, fault).await,
            },
        };
        (reply, fault.map(|fault| cut_if_repeated(fault, call)), held.traits.clock)
    }

    async fn natural_reply(&self, asked: &Asked, call: Option<Call>, held: &mut Held, change: &Fault) -> Reply {
        if call.is_some_and(Call::is_open) {
            return api_docs(held.traits.generation);
        }
        let owner = self.tokens.iter().find(|(token, _)| Some(token) == asked.token.as_ref()).map(|(_, owner)| owner);
        let Some(account) = owner.and_then(|owner| held.database.account(owner)).cloned() else {
            return unauthorized();
        };
        let Some(call) = call else {
            return unknown_endpoint(&asked.raw_path, self.with_ui, &held.traits);
        };
        let visit = Visit { asked, account: &account, traits: &held.traits, store: &*held.store, change };
        answer(&visit.outcome(call, &mut held.database).await)
    }

    /// A write that meets a fault: its effect first, then the answer, which need not fit.
    async fn reply_to_write(&self, asked: &Asked, call: Call, held: &mut Held, fault: &Fault) -> Reply {
        let natural = match fault.effect_of_write() {
            Effect::Done => self.natural_reply(asked, Some(call), held, &Fault::default()).await,
            effect => {
                self.break_delete(asked, call, held, effect, &fault.keeps).await;
                envelope(Some(0), "success", &Value::Null)
            }
        };
        replaced(fault).unwrap_or(natural)
    }

    /// A delete that does only part of its work.
    async fn break_delete(&self, asked: &Asked, call: Call, held: &mut Held, effect: Effect, keeps: &[String]) {
        let path = describe(asked, Some(call), &held.database)
            .path
            .and_then(|path| crate::domain::HdfsPath::parse(&path).ok());
        if let (Effect::FilesOnly | Effect::Partial, Some(path)) = (effect, path) {
            // The store of an embedded platform refuses only in safe mode, and then nothing is the right effect.
            let _ = held.store.delete(&path, keeps).await;
        }
        if let (Effect::RowsOnly, Call::DeleteRecord(id)) = (effect, call) {
            record_writes::remove_rows(&mut held.database, id);
        }
    }
}

impl Visit<'_> {
    async fn outcome(&self, call: Call, database: &mut Database) -> Outcome {
        let has_records = self.traits.generation.has_records();
        match call {
            Call::WhoAmI => Ok(self.who_am_i(database)),
            Call::UserPage => self.user_page(database),
            Call::TenantList => Ok(self.tenant_list(database)),
            Call::ProjectPage => self.project_page(database),
            Call::ProjectList => Ok(self.project_list(database)),
            Call::WorkflowPage(project) => self.workflow_page(database, project),
            Call::WorkflowList(project) => self.workflow_list(database, project),
            Call::Workflow(project, code) => self.workflow(database, project, code),
            Call::TaskPage(project) => self.task_page(database, project),
            Call::FunctionPage => self.function_page(database),
            Call::FunctionList => Ok(Value::Array(self.functions(database))),
            Call::ClusterList => Ok(cluster_list()),
            Call::UiPlugin => Err(reply::Refusal::plugins()),
            Call::ApiDocs => Ok(Value::Null),
            Call::Tree if has_records => self.record_tree(database),
            Call::Page if has_records => self.record_page(database),
            Call::VerifyName if has_records => self.verify_record_name(database).await,
            Call::MakeDirectory if has_records => self.make_record_directory(database).await,
            Call::Upload if has_records => self.upload_record(database).await,
            Call::Record(id) => self.record(database, id),
            Call::RecordByNameOrParent(id) => self.record_by_name_or_parent(database, id),
            Call::ViewRecord(id) => self.view_record(database, id).await,
            Call::DeleteRecord(id) => self.delete_record(database, id).await,
            Call::Tree => self.storage_tree(database).await,
            Call::Page => self.storage_page(database).await,
            Call::VerifyName => self.verify_storage_name().await,
            Call::MakeDirectory => self.make_storage_directory(database).await,
            Call::Upload => self.upload_storage(database).await,
            Call::ViewStorage => self.view_storage(database).await,
            Call::BaseDir => self.base_dir(database),
            Call::DeleteStorage => self.delete_storage(database).await,
        }
    }
}

/// The answer a fault puts in the place of the server's own, if it does. A business code comes in an envelope; a bare status has
/// no body, as 401 and 429 have none and a proxy in front adds its own.
fn replaced(fault: &Fault) -> Option<Reply> {
    if !fault.replaces_answer() {
        return None;
    }
    if let Some(reply) = Reply::spelled_out(fault) {
        return Some(reply);
    }
    let mut reply = match fault.code {
        Some(code) => envelope(Some(code), fault.msg.as_deref().unwrap_or("fault"), &Value::Null),
        None => Reply::empty(fault.http.unwrap_or(500)),
    };
    reply.status = fault.http.unwrap_or(reply.status);
    Some(reply)
}

/// A tree has no pages: told to serve a page again, it breaks off in its body instead.
fn cut_if_repeated(fault: Arc<Fault>, call: Option<Call>) -> Arc<Fault> {
    if call != Some(Call::Tree) || fault.repeat_page.is_none() || fault.cut.is_some() {
        return fault;
    }
    let mut cut = (*fault).clone();
    cut.cut = Some(crate::demo::world::Cut::MidBody);
    Arc::new(cut)
}

/// The head of the API documents. 3.2.2 says 3.3.0: the version of its database schema.
fn api_docs(generation: Generation) -> Reply {
    let (title, version) = match generation {
        Generation::V322 => ("Apache DolphinScheduler Api Docs", "3.3.0"),
        Generation::V20 | Generation::V30 | Generation::V31 => ("Dolphin Scheduler Api Docs", "V1"),
    };
    Reply::json(200, &json!({"openapi": "3.0.1", "info": {"title": title, "version": version}, "paths": {}}))
}

/// The one cluster every fresh server has.
fn cluster_list() -> Value {
    let time = "2021-03-03 11:31:24";
    json!([{
        "id": 100, "code": 0, "name": "ds_null_k8s", "config": "{\"k8s\":\"ds_null_k8s\"}", "description": "test",
        "processDefinitions": null, "operator": 1, "createTime": time, "updateTime": time,
    }])
}
