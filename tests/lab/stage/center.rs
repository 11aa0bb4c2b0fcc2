//! One embedded DolphinScheduler with its files in the lab's HDFS, and the drift in it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use jiff::Timestamp;
use reqwest::{Client, RequestBuilder, Response, Url};
use serde_json::Value;
use statewarden::demo::servers::dolphin::{DolphinOptions, DolphinServer, FileStore as _, RemoteHdfs, RunningDolphin};
use statewarden::demo::world::{TokenOwner, World, token_of};
use statewarden::domain::HdfsPath;

use super::Jvm;

/// Superuser of the lab's HDFS, and the account of the embedded servers and, unless said otherwise, the program.
pub const HDFS_USER: &str = "hdfs";

/// What the resources are: full name, and content unless it is a directory. Parents come first.
///
/// Some names would be changed by a client that encodes once too often or too rarely, and some begin as a deleted one does.
const RESOURCES: [(&str, Option<&str>); 19] = [
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
    ("/gone.sql.txt", Some("not gone\n")),
    ("/sql/old report.sql", Some("select 4;\n")),
    ("/reports", None),
    ("/reports/daily.sql", Some("select 5;\n")),
    ("/reports/2023", None),
    ("/reports/2023/季度 %20+1.sql", Some("select 6;\n")),
    ("/reports-2024", None),
    ("/reports-2024/daily.sql", Some("select 7;\n")),
    ("/reports-2024/weekly.sql", Some("select 8;\n")),
];

/// What is deleted in HDFS: two files and a directory with what is in it.
const DELETED: [&str; 3] = ["/gone.sql", "/sql/old report.sql", "/reports"];

/// Which version, and where in HDFS it keeps its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Home {
    /// Version of DolphinScheduler.
    pub version: &'static str,
    /// Its base path.
    pub base: &'static str,
}

impl Home {
    /// The one of which the JVM knows: its first job checkpoints there.
    pub const FIRST: Self = Self { version: "3.1.9", base: "/dolphinscheduler" };

    /// Where tenant etl keeps its files.
    pub fn resources(self) -> String {
        format!("{}/etl/resources", self.base)
    }

    /// Where a job keeps its checkpoints although it should not, one directory an application.
    pub fn checkpoint_root(self) -> String {
        format!("{}/ckpt_storage", self.resources())
    }

    fn has_records(self) -> bool {
        !self.version.starts_with("3.2")
    }
}

/// A record as the resource center numbered it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Record {
    /// Id; 0 where there are no records.
    pub id: i64,
    /// Path it maps to.
    pub path: String,
}

/// The embedded DolphinScheduler and a client of its resource API.
pub struct Center {
    /// Version and place.
    pub home: Home,
    /// As whom the program reads HDFS.
    pub reader: String,
    /// Base URL.
    pub url: String,
    /// Access token of the administrator.
    pub token: String,
    /// What the API made and what is in HDFS.
    #[allow(dead_code, reason = "for the tests")]
    pub healthy: BTreeSet<Record>,
    /// What the API made and whose files are gone.
    pub stale: BTreeSet<Record>,
    /// The server, with the log of its requests.
    #[allow(dead_code, reason = "for the tests; held in any case, since dropping it ends the server")]
    pub server: RunningDolphin,
    client: Client,
}

impl Center {
    /// Starts a server, makes the resources through it, and deletes some in HDFS.
    pub async fn start(jvm: &Jvm, home: Home) -> Result<Self> {
        let addresses = jvm.addresses();
        let world = World::load(&world(home, &addresses.hdfs), Timestamp::now())?;
        let store = RemoteHdfs::new(&addresses.webhdfs, HDFS_USER)?;
        // The server makes both when it makes the tenant.
        for kind in ["resources", "udfs"] {
            store.make_directory(&HdfsPath::parse(&format!("{}/etl/{kind}", home.base))?).await?;
        }
        let server = DolphinServer::start(&world, DolphinOptions::of_world(&world, Arc::new(store))).await?;
        let mut center = Self {
            home,
            reader: HDFS_USER.to_owned(),
            url: server.url.clone(),
            token: token_of(&TokenOwner::Admin),
            healthy: BTreeSet::new(),
            stale: BTreeSet::new(),
            server,
            client: Client::new(),
        };
        let made = center.make_resources(&addresses.hdfs).await?;
        delete_files(jvm, home).await?;
        (center.stale, center.healthy) = made.into_iter().partition(|record| is_deleted(home, &record.path));
        Ok(center)
    }

    /// What the server lists now: ids, or where it has none, paths.
    #[allow(dead_code, reason = "for the tests")]
    pub async fn list(&self) -> Result<BTreeSet<Record>> {
        let request = self.client.get(format!("{}/resources/list?type=FILE", self.url));
        let answer = read_json(request.header("token", &self.token).send().await?).await?;
        let mut listed = BTreeSet::new();
        self.take_nodes(&answer["data"], &mut listed)?;
        Ok(listed)
    }

    fn take_nodes(&self, nodes: &Value, listed: &mut BTreeSet<Record>) -> Result<()> {
        for node in nodes.as_array().with_context(|| format!("no list of nodes: {nodes}"))? {
            let (id, name) = (node["id"].as_i64().context("an id")?, node["fullName"].as_str().context("a full name")?);
            let path = match name.split_once("://") {
                // The tree shows full names without the slash in front.
                None => format!("{}/{}", self.home.resources(), name.trim_start_matches('/')),
                Some((_, rest)) => rest[rest.find('/').context("a path")?..].trim_end_matches('/').to_owned(),
            };
            listed.insert(Record { id, path });
            self.take_nodes(&node["children"], listed)?;
        }
        Ok(())
    }

    /// Makes all resources and returns them with their ids.
    async fn make_resources(&self, hdfs: &str) -> Result<Vec<Record>> {
        let mut made: Vec<Record> = Vec::new();
        let resources = self.home.resources();
        for (full_name, content) in RESOURCES {
            let (directory, name) = full_name.rsplit_once('/').context("a full name begins with /")?;
            let parent = made.iter().find(|record| record.path == format!("{resources}{directory}"));
            // From 3.2 on the directory is a URI, and the name is glued to it.
            let current = match directory {
                _ if !self.home.has_records() => format!("{hdfs}{resources}{directory}/"),
                "" => "/".to_owned(),
                directory => directory.to_owned(),
            };
            let place = Place { current, name, pid: parent.map_or(-1, |record| record.id) };
            let id = match content {
                None => self.make_directory(&place).await?,
                Some(text) => self.upload(&place, text).await?,
            };
            made.push(Record { id, path: format!("{resources}{full_name}") });
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

    /// Sends a creating call and returns the id of the new record, 0 from 3.2 on. Refusals come as 200 with a code.
    async fn send(&self, request: RequestBuilder) -> Result<i64> {
        let answer = read_json(request.header("token", &self.token).send().await?).await?;
        ensure!(answer["code"] == 0, "the resource center answered {answer}");
        if !self.home.has_records() {
            return Ok(0);
        }
        answer["data"]["id"].as_i64().with_context(|| format!("no id in {answer}"))
    }
}

/// A resource center without a record, whose administrator belongs to tenant etl. Where it has no records, there are two
/// workflows instead, whose tasks name files by URI: some that stay and some that will be deleted.
fn world(home: Home, hdfs: &str) -> String {
    let Home { version, base } = home;
    let resources = format!("{hdfs}{}", home.resources());
    let content = if home.has_records() {
        "{generation: db, records: []}".to_owned()
    } else {
        format!(
            "
  generation: storage
  workflows:
    - {{code: 9001, name: nightly, release: ONLINE, resource_names: ['{resources}/sql/orders.sql', '{resources}/gone.sql']}}
    - {{code: 9002, name: weekly, release: OFFLINE, resource_names: ['{resources}/reports/daily.sql', '{resources}/known.sql']}}"
        )
    };
    format!(
        "
title: 'The resource center of the lab'
config:
  authority: {hdfs}
  ds: {{generation: {kind}, version: '{version}', base_path: {base}, tenants: [etl], token: admin}}
flink: []
hdfs: {{listing: [], absent: [{base}]}}
dolphinscheduler: {content}
",
        kind = if home.has_records() { "db" } else { "storage" },
    )
}

/// Deletes over WebHDFS, as somebody does who does not know of the resource center.
async fn delete_files(jvm: &Jvm, home: Home) -> Result<()> {
    let client = Client::new();
    for name in DELETED {
        let mut url = Url::parse(&jvm.addresses().webhdfs[0])?;
        url.set_path(&format!("/webhdfs/v1{}{name}", home.resources()));
        url.set_query(Some(&format!("op=DELETE&recursive=true&user.name={HDFS_USER}")));
        let answer: Value = read_json(client.delete(url).send().await?).await?;
        ensure!(answer["boolean"] == true, "HDFS did not delete {name}: {answer}");
    }
    Ok(())
}

fn is_deleted(home: Home, path: &str) -> bool {
    DELETED.iter().any(|name| {
        path.strip_prefix(&home.resources())
            .and_then(|rest| rest.strip_prefix(name))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

async fn read_json(answer: Response) -> Result<Value> {
    let status = answer.status();
    let text = answer.text().await?;
    serde_json::from_str(&text).with_context(|| format!("{status} with {text}"))
}

/// Where a resource goes.
#[derive(Debug)]
struct Place<'a> {
    /// Its directory, as this version wants it.
    current: String,
    name: &'a str,
    pid: i64,
}

impl Place<'_> {
    fn fields(&self) -> [(&'static str, String); 5] {
        [
            ("type", "FILE".to_owned()),
            ("name", self.name.to_owned()),
            ("description", String::new()),
            ("pid", self.pid.to_string()),
            ("currentDir", self.current.clone()),
        ]
    }
}
