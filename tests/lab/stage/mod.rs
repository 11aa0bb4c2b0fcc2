//! The drifted platform on real servers: HDFS and Flink from the lab's JVM, the embedded DolphinScheduler with its files
//! in that HDFS, records made through its API, and some of their files deleted behind its back.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use jiff::Timestamp;
use reqwest::{Client, RequestBuilder, Response, Url};
use serde_json::Value;
use statewarden::demo::servers::dolphin::{DolphinOptions, DolphinServer, RemoteHdfs, RunningDolphin};
use statewarden::demo::world::{TokenOwner, World, token_of};

mod jvm;

pub use jvm::{Jvm, NameNodes};

/// Superuser of the lab's HDFS, and the account of both the embedded server and the program.
const HDFS_USER: &str = "hdfs";
/// Where tenant etl keeps its files.
const RESOURCES: &str = "/dolphinscheduler/etl/resources";
/// Where the drifting job keeps its checkpoints, one directory an application.
pub const NAMESPACE_ROOT: &str = "/dolphinscheduler/etl/resources/ckpt_storage";
/// Environment variable in which the program expects the access token.
pub const TOKEN_ENV: &str = "STATEWARDEN_DS_TOKEN";

/// What the records are: full name, and content unless it is a directory. Parents come first.
///
/// Two names would be changed by a client that encodes once too often or too rarely.
const RECORDS: [(&str, Option<&str>); 13] = [
    ("/conf", None),
    ("/conf/app.yaml", Some("name: orders\n")),
    ("/known.sql", Some("select 1;\n")),
    ("/lib", None),
    ("/lib/part 1 %25+ü.txt", Some("x")),
    ("/lib/报表 #2.sql", Some("select 2;\n")),
    ("/sql", None),
    ("/sql/orders.sql", Some("select * from orders;\n")),
    ("/sql/users.sql", Some("select * from users;\n")),
    ("/gone.sql", Some("select 3;\n")),
    ("/sql/old report.sql", Some("select 4;\n")),
    ("/reports", None),
    ("/reports/daily.sql", Some("select 5;\n")),
];

/// What is deleted in HDFS: two files and a directory with what is in it.
const DELETED: [&str; 3] = ["/gone.sql", "/sql/old report.sql", "/reports"];

/// A record as the resource center numbered it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Record {
    /// Id.
    pub id: i64,
    /// Path it maps to.
    pub path: String,
}

/// The platform. Dropping it ends its servers.
pub struct Stage {
    /// HDFS and Flink.
    pub jvm: Jvm,
    /// Records whose files are gone.
    pub stale: BTreeSet<Record>,
    /// The embedded DolphinScheduler.
    pub ds: Dolphin,
}

impl Stage {
    /// Starts all servers, makes the records, and deletes the files of some.
    pub async fn start(name_nodes: NameNodes) -> Result<Self> {
        let jvm = tokio::task::spawn_blocking(move || Jvm::start(name_nodes)).await??;
        let ds = Dolphin::start(&jvm).await?;
        let records = ds.make_records().await?;
        delete_files(&jvm).await?;
        let stale = records.into_iter().filter(|record| is_deleted(&record.path)).collect();
        Ok(Self { jvm, stale, ds })
    }

    /// Writes a configuration for this platform and returns its place.
    pub fn write_config(&self, name: &str, hdfs: &HdfsAccess) -> Result<PathBuf> {
        let path = self.jvm.dir().join(name);
        std::fs::write(&path, self.config(hdfs)).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }

    fn config(&self, hdfs: &HdfsAccess) -> String {
        let addresses = self.jvm.addresses();
        let mut text = String::new();
        if let HdfsAccess::Urls(urls) = hdfs {
            let _ = writeln!(text, "authority = {:?}\n\n[hdfs]\nurls = {urls:?}", addresses.hdfs);
        } else {
            let _ = writeln!(text, "[hdfs]\nconf_dir = \"{}\"", addresses.conf.display());
        }
        let _ = write!(
            text,
            r#"user = "{HDFS_USER}"

[ds]
url = "{ds}"
version = "3.1.9"
token_env = "{TOKEN_ENV}"
base_path = "/dolphinscheduler"
tenants = ["etl"]

[[clusters]]
name = "lab"
url = "{flink}"

# The root that should not be where it is, and the one where checkpoints belong.
[[checkpoint_roots]]
path = "{NAMESPACE_ROOT}"
layout = "app/job"
clusters = ["lab"]

[[checkpoint_roots]]
path = "/flink/checkpoints"
layout = "app/job"
clusters = ["lab"]

# All records here are minutes old; on a real platform leave this out.
[policies]
record_grace = "0s"
"#,
            ds = self.ds.url,
            flink = addresses.flink,
        );
        text
    }
}

/// How the program is told where HDFS is.
pub enum HdfsAccess {
    /// By the directory with Hadoop's own configuration files.
    ConfDir,
    /// By NameNode addresses.
    Urls(Vec<String>),
}

/// Deletes over WebHDFS, as somebody does who does not know of the resource center.
async fn delete_files(jvm: &Jvm) -> Result<()> {
    let client = Client::new();
    for name in DELETED {
        let mut url = Url::parse(&jvm.addresses().webhdfs[0])?;
        url.set_path(&format!("/webhdfs/v1{RESOURCES}{name}"));
        url.set_query(Some(&format!("op=DELETE&recursive=true&user.name={HDFS_USER}")));
        let answer: Value = read_json(client.delete(url).send().await?).await?;
        ensure!(answer["boolean"] == true, "HDFS did not delete {name}: {answer}");
    }
    Ok(())
}

fn is_deleted(path: &str) -> bool {
    DELETED.iter().any(|name| {
        path.strip_prefix(RESOURCES)
            .and_then(|rest| rest.strip_prefix(name))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

async fn read_json(answer: Response) -> Result<Value> {
    let status = answer.status();
    let text = answer.text().await?;
    serde_json::from_str(&text).with_context(|| format!("{status} with {text}"))
}

/// A resource center without a record, whose administrator belongs to tenant etl.
const EMPTY_CENTER: &str = r#"
title: 'The resource center of the lab'
config:
  ds: {generation: db, version: "3.1.9", base_path: /dolphinscheduler, tenants: [etl], token: admin}
flink: []
hdfs: {listing: []}
dolphinscheduler: {generation: db, records: []}
"#;

/// The embedded DolphinScheduler 3.1.9 and a client of its resource API.
pub struct Dolphin {
    /// Base URL.
    pub url: String,
    /// Access token, for [`TOKEN_ENV`].
    pub token: String,
    client: Client,
    _server: RunningDolphin,
}

impl Dolphin {
    async fn start(jvm: &Jvm) -> Result<Self> {
        let world = World::load(EMPTY_CENTER, Timestamp::now())?;
        let store = RemoteHdfs::new(&jvm.addresses().webhdfs, HDFS_USER)?;
        let server = DolphinServer::start(&world, DolphinOptions::of_world(&world, Arc::new(store))).await?;
        let token = token_of(&TokenOwner::Admin);
        Ok(Self { url: server.url.clone(), token, client: Client::new(), _server: server })
    }

    /// Makes all records and returns them with their ids.
    async fn make_records(&self) -> Result<Vec<Record>> {
        let mut made: Vec<Record> = Vec::new();
        for (full_name, content) in RECORDS {
            let (directory, name) = full_name.rsplit_once('/').context("a full name begins with /")?;
            let parent = made.iter().find(|record| record.path == format!("{RESOURCES}{directory}"));
            let place = Place { directory, name, pid: parent.map_or(-1, |record| record.id) };
            let id = match content {
                None => self.make_directory(&place).await?,
                Some(text) => self.upload(&place, text).await?,
            };
            made.push(Record { id, path: format!("{RESOURCES}{full_name}") });
        }
        Ok(made)
    }

    async fn make_directory(&self, place: &Place<'_>) -> Result<i64> {
        let form = place.fields();
        let request = self.client.post(format!("{}/resources/directory", self.url)).form(&form);
        self.send(request).await.with_context(|| format!("making the directory {place:?}"))
    }

    async fn upload(&self, place: &Place<'_>, text: &str) -> Result<i64> {
        const BOUNDARY: &str = "statewarden-lab";
        let mut body = String::new();
        for (name, value) in place.fields() {
            write!(body, "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")?;
        }
        write!(
            body,
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n{text}\r\n--{BOUNDARY}--\r\n",
            name = place.name,
        )?;
        let request = self
            .client
            .post(format!("{}/resources", self.url))
            .header("Content-Type", format!("multipart/form-data; boundary={BOUNDARY}"))
            .body(body);
        self.send(request).await.with_context(|| format!("uploading {place:?}"))
    }

    /// Sends a creating call and returns the id of the new record. Refusals come as 200 with a code.
    async fn send(&self, request: RequestBuilder) -> Result<i64> {
        let answer = read_json(request.header("token", &self.token).send().await?).await?;
        ensure!(answer["code"] == 0, "the resource center answered {answer}");
        answer["data"]["id"].as_i64().with_context(|| format!("no id in {answer}"))
    }
}

/// Where a record goes.
#[derive(Debug)]
struct Place<'a> {
    /// Full name of its directory; empty for the root.
    directory: &'a str,
    name: &'a str,
    pid: i64,
}

impl Place<'_> {
    fn fields(&self) -> [(&'static str, String); 5] {
        let current = if self.directory.is_empty() { "/" } else { self.directory };
        [
            ("type", "FILE".to_owned()),
            ("name", self.name.to_owned()),
            ("description", String::new()),
            ("pid", self.pid.to_string()),
            ("currentDir", current.to_owned()),
        ]
    }
}
