//! The embedded servers of one world, on loopback.
//!
//! [`Platform`] starts them on ports of the system's choice and stops them when it is dropped. It runs on threads of its
//! own, so a test may use it from within any runtime or none.

pub mod dolphin;
pub mod fault;
pub mod file_system;
pub mod flink;
mod metadata;
pub mod webhdfs;
pub mod wire;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderValue, Request, Response, header};
use tokio::net::TcpSocket;
use tokio::runtime::Runtime;

use super::world::{Addresses, FlinkCluster, Unreachable, World};
use dolphin::{DolphinOptions, DolphinServer, EmbeddedStore, FileStore};
use file_system::{FileSystem, SharedFileSystem};
use flink::FlinkServer;
use webhdfs::WebHdfsServer;
use wire::ServerClock;

/// Most bytes an embedded server takes in one body.
const MAX_BODY: usize = 64 << 20;

/// How the servers are started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Entries a page of an HDFS listing.
    pub page_limit: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { page_limit: webhdfs::DEFAULT_PAGE_LIMIT }
    }
}

/// The running servers of a world.
#[derive(Debug)]
pub struct Platform {
    /// The world they answer from.
    pub world: World,
    /// Where they answer.
    pub addresses: Addresses,
    /// The clusters that answer, by name.
    pub flink: Vec<(String, Arc<FlinkServer>)>,
    /// The NameNode.
    pub hdfs: Arc<WebHdfsServer>,
    /// The DolphinScheduler server, if the world has one.
    pub dolphin: Option<DolphinServer>,
    /// Ports that are held without an answer, for clusters that cannot be reached.
    silent: Vec<Silent>,
    runtime: Option<Runtime>,
}

/// A port that is taken, and does not answer.
#[derive(Debug)]
#[expect(dead_code, reason = "held so that nobody else gets the port")]
enum Silent {
    /// Bound without listening: connections are refused.
    Refusing(TcpSocket),
    /// Listening without accepting: connections are taken by the system and nothing comes.
    Hanging(TcpListener),
}

impl Platform {
    /// Starts the servers of a world.
    pub fn start(world: World, options: Options) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        match Self::start_on(&runtime, world, options) {
            Ok(mut platform) => {
                platform.runtime = Some(runtime);
                Ok(platform)
            }
            Err(error) => {
                // As in `drop`: the caller may be in async code, where dropping a runtime panics.
                runtime.shutdown_background();
                Err(error)
            }
        }
    }

    fn start_on(runtime: &Runtime, world: World, options: Options) -> io::Result<Self> {
        let _inside = runtime.enter();
        let file_system = SharedFileSystem::new(FileSystem::from_world(&world));
        let hdfs = Arc::new(WebHdfsServer::new(&world, file_system, options.page_limit));
        let mut platform = Self {
            addresses: Addresses { hdfs: vec![serve_hdfs(runtime, &hdfs)?], ..Addresses::default() },
            flink: Vec::new(),
            hdfs,
            dolphin: None,
            silent: Vec::new(),
            runtime: None,
            world,
        };
        for cluster in platform.world.flink.clone() {
            let url = platform.start_cluster(runtime, &cluster)?;
            platform.addresses.flink.push((cluster.cluster, url));
        }
        platform.start_dolphin(runtime)?;
        Ok(platform)
    }

    fn start_dolphin(&mut self, runtime: &Runtime) -> io::Result<()> {
        if self.world.dolphinscheduler.is_none() {
            return Ok(());
        }
        let options = DolphinOptions::of_world(&self.world, self.dolphin_store());
        let server = DolphinServer::new(&self.world, options).map_err(io::Error::other)?;
        self.addresses.ds = Some(serve_dolphin(runtime, &server)?);
        self.dolphin = Some(server);
        Ok(())
    }

    /// Where the world's DolphinScheduler keeps its files.
    fn dolphin_store(&self) -> Arc<dyn FileStore> {
        let shared = EmbeddedStore::new(self.hdfs.file_system.clone(), self.world.hdfs.server.safemode);
        dolphin::store_of_world(&self.world, Arc::new(shared))
    }

    fn start_cluster(&mut self, runtime: &Runtime, cluster: &FlinkCluster) -> io::Result<String> {
        match (cluster.reachable, cluster.error) {
            (true, _) => {
                let server = Arc::new(FlinkServer::new(&self.world, cluster));
                self.flink.push((cluster.cluster.clone(), Arc::clone(&server)));
                serve_flink(runtime, &server)
            }
            (false, Some(Unreachable::Timeout)) => {
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
                let url = url_of(listener.local_addr()?);
                self.silent.push(Silent::Hanging(listener));
                Ok(url)
            }
            (false, _) => {
                let socket = TcpSocket::new_v4()?;
                socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
                let url = url_of(socket.local_addr()?);
                self.silent.push(Silent::Refusing(socket));
                Ok(url)
            }
        }
    }

    /// The configuration file of a program that looks at this platform.
    pub fn config_toml(&self) -> String {
        self.world.to_config_toml(&self.addresses)
    }

    /// Puts another world in the place of this one, at the same addresses: the clusters that answer must be the same.
    /// Logs stay; what is unchanged in HDFS (same path, kind and time) keeps its file id.
    pub fn replace_world(&mut self, world: World) -> io::Result<()> {
        let mut file_system = FileSystem::from_world(&world);
        let mut current = self.hdfs.file_system.lock();
        file_system.keep_ids(&current);
        *current = file_system;
        drop(current);
        self.hdfs.replace(&world);
        for cluster in &world.flink {
            if let Some((_, server)) = self.flink.iter().find(|(name, _)| *name == cluster.cluster) {
                server.replace(&world, cluster);
            }
        }
        self.world = world;
        self.replace_dolphin()
    }

    fn replace_dolphin(&self) -> io::Result<()> {
        let Some(server) = &self.dolphin else { return Ok(()) };
        server.replace(&self.world, self.dolphin_store()).map_err(io::Error::other)
    }
}

impl Drop for Platform {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Held requests never end, so nothing is waited for; dropping a runtime would wait, and must not in async code.
            runtime.shutdown_background();
        }
    }
}

fn serve_hdfs(runtime: &Runtime, server: &Arc<WebHdfsServer>) -> io::Result<String> {
    let server = Arc::clone(server);
    serve(runtime, "", move |request| {
        let server = Arc::clone(&server);
        async move {
            let (head, body) = request.into_parts();
            let body = to_bytes(body, MAX_BODY).await.unwrap_or_default();
            let response = server.answer(&head.method, &head.uri, &head.headers, body).await;
            dated(response, server.clock())
        }
    })
}

fn serve_dolphin(runtime: &Runtime, server: &DolphinServer) -> io::Result<String> {
    let server = server.clone();
    serve(runtime, dolphin::CONTEXT_PATH, move |request| {
        let server = server.clone();
        async move { server.answer(request).await }
    })
}

fn serve_flink(runtime: &Runtime, server: &Arc<FlinkServer>) -> io::Result<String> {
    let server = Arc::clone(server);
    serve(runtime, "", move |request| {
        let server = Arc::clone(&server);
        async move { dated(server.answer(request.method(), request.uri().path()).await, server.clock()) }
    })
}

/// Serves every request on a new loopback port with `answer`, and gives the base URL, which ends in `path`.
pub fn serve<F, Fut>(runtime: &Runtime, path: &str, answer: F) -> io::Result<String>
where
    F: Fn(Request<Body>) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Response<Body>> + Send,
{
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let url = url_of(listener.local_addr()?);
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let router = Router::new().fallback(answer);
    runtime.spawn(async move { axum::serve(listener, router).await });
    Ok(format!("{url}{path}"))
}

/// The response with the `Date` of a server's own clock.
pub fn dated(mut response: Response<Body>, clock: ServerClock) -> Response<Body> {
    if let Ok(date) = HeaderValue::from_str(&clock.date_header()) {
        response.headers_mut().insert(header::DATE, date);
    }
    response
}

fn url_of(address: SocketAddr) -> String {
    format!("http://{address}")
}
