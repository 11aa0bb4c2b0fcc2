//! What the server's database holds, filled from a world: tenants, users, rows, projects, workflows, functions.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::demo::world::{DolphinScheduler, DsGeneration, Record, RecordKind, Release, Task, TokenOwner, World};
use crate::domain::{HdfsPath, ResourceKind};

/// Id of the administrator, as a fresh server creates it.
pub const ADMIN: i64 = 1;

/// `pid` of a row at the root, and the directory id that means the root.
pub const ROOT: i64 = -1;

/// A world that no server can be built from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContentError {
    /// A row lacks a key it needs.
    #[error("`dolphinscheduler.records`: an entry lacks `{0}`")]
    Incomplete(&'static str),
    /// Two rows share an id, or kind and full name.
    #[error("`dolphinscheduler.records`: two entries share {0}")]
    Twice(String),
    /// An owner belongs to two tenants.
    #[error("`dolphinscheduler`: user `{0}` has two tenants; a user has one")]
    TwoTenants(String),
    /// A path that is none.
    #[error("`{0}` is no usable path of the file store")]
    Path(String),
}

/// A tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant {
    /// Id.
    pub id: i64,
    /// Code: the name of its directory.
    pub code: String,
}

/// A user that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Id.
    pub id: i64,
    /// Login name.
    pub name: String,
    /// Code of the tenant.
    pub tenant: Option<String>,
}

impl User {
    /// Whether this is the administrator.
    pub fn is_admin(&self) -> bool {
        self.id == ADMIN
    }
}

/// A row of `t_ds_resources`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Id.
    pub id: i64,
    /// Id of the directory row above; [`ROOT`] at the top.
    pub pid: i64,
    /// Full name with leading slash.
    pub full_name: String,
    /// Kind.
    pub kind: ResourceKind,
    /// Whether it is a directory.
    pub directory: bool,
    /// Bytes; of a directory a running sum.
    pub size: i64,
    /// Id of the owner, who may be deleted.
    pub owner: i64,
    /// Description.
    pub description: String,
    /// Original name of the upload.
    pub file_name: String,
    /// Creation.
    pub created: Timestamp,
    /// Last update.
    pub updated: Timestamp,
    /// Whether the accounts of this world see it.
    pub visible: bool,
}

impl Row {
    /// The last component of the full name.
    pub fn alias(&self) -> &str {
        self.full_name.rsplit('/').next().unwrap_or_default()
    }
}

/// A task of a workflow with its code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskDefinition {
    /// Id.
    pub id: i64,
    /// Code.
    pub code: i64,
    /// As the world describes it.
    pub task: Task,
    /// Row ids it holds.
    pub resource_ids: Vec<i64>,
    /// Names it holds.
    pub resource_names: Vec<String>,
}

/// A workflow definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workflow {
    /// Id.
    pub id: i64,
    /// Code.
    pub code: i64,
    /// Name.
    pub name: String,
    /// Project code.
    pub project: i64,
    /// Whether it is released.
    pub online: bool,
    /// Tenant it runs as.
    pub tenant: Option<String>,
    /// Tasks.
    pub tasks: Vec<TaskDefinition>,
}

/// A UDF function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Id.
    pub id: i64,
    /// Name.
    pub name: String,
    /// Row it is bound to.
    pub record: i64,
}

/// What a listing says of one path instead of what the store says (storage generation).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Override {
    /// Other spelling.
    pub full_name: Option<String>,
    /// Other size.
    pub size: Option<u64>,
    /// Other type.
    pub directory: Option<bool>,
    /// Left out.
    pub omit: bool,
}

/// The content of one server.
#[derive(Debug, Clone)]
pub struct Database {
    /// `resource.storage.upload.base.path`.
    pub base: HdfsPath,
    /// The same as the storage generation says it: with scheme and authority, without trailing slash.
    pub base_uri: String,
    /// Tenants by id.
    pub tenants: Vec<Tenant>,
    /// Users by id; deleted ones are not in here.
    pub users: BTreeMap<i64, User>,
    /// Rows by id.
    pub rows: BTreeMap<i64, Row>,
    /// Project codes in order; a project's id is its place, from 1.
    pub projects: Vec<i64>,
    /// Workflows.
    pub workflows: Vec<Workflow>,
    /// Functions.
    pub functions: Vec<Function>,
    /// Overrides of the storage listing.
    pub overrides: BTreeMap<HdfsPath, Override>,
    /// When the accounts, projects and workflows were made: long before anything else happens in the world.
    pub founded: Timestamp,
}

impl Database {
    /// The content a world describes.
    pub fn of_world(world: &World, server: &DolphinScheduler) -> Result<Self, ContentError> {
        let base = base_path(world)?;
        let people = People::of_world(world, server)?;
        let mut database = Self {
            base_uri: base_uri(world, server, &base),
            base,
            tenants: people.tenants(world, server),
            users: BTreeMap::new(),
            rows: BTreeMap::new(),
            projects: server.projects.clone(),
            workflows: workflows(server),
            functions: Vec::new(),
            overrides: BTreeMap::new(),
            founded: world.server_time(crate::domain::Age::from_hours(2000 * 24)),
        };
        let ids = people.settle(&mut database);
        match server.generation {
            DsGeneration::Db => database.add_rows(world, server, &ids)?,
            DsGeneration::Storage => database.add_overrides(server)?,
        }
        let bound = server.functions.iter().zip(1..);
        database.functions =
            bound.map(|(given, id)| Function { id, name: given.name.clone(), record: given.record }).collect();
        Ok(database)
    }

    fn add_rows(
        &mut self,
        world: &World,
        server: &DolphinScheduler,
        ids: &BTreeMap<String, i64>,
    ) -> Result<(), ContentError> {
        for record in &server.records {
            let row = row(world, record, ids)?;
            if self.find_row(row.kind, &row.full_name).is_some() {
                return Err(ContentError::Twice(format!("kind and `full_name` {}", row.full_name)));
            }
            if let Some(old) = self.rows.insert(row.id, row) {
                return Err(ContentError::Twice(format!("id {}", old.id)));
            }
        }
        self.link_rows();
        Ok(())
    }

    /// Sets each `pid`. A row whose directory has no row hangs at the root, as after an upload with `pid=-1` and any `currentDir`.
    fn link_rows(&mut self) {
        let named: BTreeMap<(ResourceKind, String), i64> =
            self.rows.values().map(|row| ((row.kind, row.full_name.clone()), row.id)).collect();
        for row in self.rows.values_mut() {
            let above = row.full_name.rsplit_once('/').map_or("", |(above, _)| above);
            row.pid = named.get(&(row.kind, above.to_owned())).copied().unwrap_or(ROOT);
        }
    }

    fn add_overrides(&mut self, server: &DolphinScheduler) -> Result<(), ContentError> {
        for record in &server.records {
            let path = record.path.as_deref().ok_or(ContentError::Incomplete("path"))?;
            let path = HdfsPath::parse(path).map_err(|_| ContentError::Path(path.to_owned()))?;
            let change = Override {
                full_name: record.full_name.clone(),
                size: record.size,
                directory: record.dir,
                omit: record.omit,
            };
            self.overrides.insert(path, change);
        }
        Ok(())
    }

    /// The row of that kind and full name.
    pub fn find_row(&self, kind: ResourceKind, full_name: &str) -> Option<&Row> {
        self.rows.values().find(|row| row.kind == kind && row.full_name == full_name)
    }

    /// Rows directly below a directory row.
    pub fn children(&self, pid: i64) -> impl Iterator<Item = &Row> {
        self.rows.values().filter(move |row| row.pid == pid)
    }

    /// The next free row id.
    pub fn next_row_id(&self) -> i64 {
        self.rows.last_key_value().map_or(1, |(id, _)| id + 1)
    }

    /// The user of a token; `None`: there is no such user.
    pub fn account(&self, owner: &TokenOwner) -> Option<&User> {
        match owner {
            TokenOwner::Admin => self.users.get(&ADMIN),
            TokenOwner::User(name) => self.users.values().find(|user| user.name == *name),
        }
    }

    /// Id of a tenant by code.
    pub fn tenant_id(&self, code: Option<&str>) -> Option<i64> {
        self.tenants.iter().find(|tenant| Some(tenant.code.as_str()) == code).map(|tenant| tenant.id)
    }

    /// `<base>/<tenant>/resources` or `…/udfs`; a tenant code is one path component (`TenantServiceImpl` checks it).
    pub fn tenant_directory(&self, tenant: &str, kind: ResourceKind) -> Option<HdfsPath> {
        crate::domain::record::tenant_directory(&self.base, tenant, kind)
    }

    /// The path of a row under `tenant`, normalised as Hadoop's `Path` does it: `..` takes the component before it away.
    pub fn path_of(&self, row: &Row, tenant: &str) -> Option<HdfsPath> {
        self.path_named(&row.full_name, row.kind, tenant)
    }

    /// The path of a full name under `tenant`.
    pub fn path_named(&self, full_name: &str, kind: ResourceKind, tenant: &str) -> Option<HdfsPath> {
        let directory = self.tenant_directory(tenant, kind)?;
        normalised(&format!("{directory}/{full_name}"))
    }

    /// The path of a row under the tenant its owner belongs to now; `None` if there is none.
    pub fn current_path(&self, row: &Row) -> Option<HdfsPath> {
        let tenant = self.users.get(&row.owner)?.tenant.as_deref()?;
        self.path_of(row, tenant)
    }
}

/// A path with empty, `.` and `..` components resolved lexically.
pub fn normalised(text: &str) -> Option<HdfsPath> {
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    HdfsPath::parse(&format!("/{}", parts.join("/"))).ok()
}

/// A URI without scheme and authority.
pub fn path_of_uri(uri: &str) -> Option<HdfsPath> {
    let after = uri.split_once("://").map_or(uri, |(_, rest)| rest.find('/').map_or("/", |at| &rest[at..]));
    normalised(after)
}

/// The operator's base path: in a world file the server and the operator agree on it, unless `base_dir` says otherwise.
fn base_path(world: &World) -> Result<HdfsPath, ContentError> {
    let said = world.config.ds.as_ref().map_or("/dolphinscheduler", |ds| ds.base_path.as_str());
    path_of_uri(said).ok_or_else(|| ContentError::Path(said.to_owned()))
}

fn base_uri(world: &World, server: &DolphinScheduler, base: &HdfsPath) -> String {
    let said = server.base_dir.clone().unwrap_or_else(|| format!("{}{base}", world.authority()));
    said.trim_end_matches('/').to_owned()
}

fn row(world: &World, record: &Record, owners: &BTreeMap<String, i64>) -> Result<Row, ContentError> {
    let full_name = record.full_name.clone().ok_or(ContentError::Incomplete("full_name"))?;
    let owner = record.owner.as_ref().and_then(|name| owners.get(name)).ok_or(ContentError::Incomplete("owner"))?;
    let age = record.age.ok_or(ContentError::Incomplete("age"))?;
    Ok(Row {
        id: record.id.ok_or(ContentError::Incomplete("id"))?,
        pid: ROOT,
        file_name: full_name.rsplit('/').next().unwrap_or_default().to_owned(),
        full_name,
        kind: match record.kind {
            RecordKind::File => ResourceKind::File,
            RecordKind::Udf => ResourceKind::Udf,
        },
        directory: record.dir.unwrap_or(false),
        size: i64::try_from(record.size.unwrap_or(0)).unwrap_or(i64::MAX),
        owner: *owner,
        description: String::new(),
        created: world.server_time(age),
        updated: world.server_time(record.updated.unwrap_or(age)),
        visible: record.visible,
    })
}

fn workflows(server: &DolphinScheduler) -> Vec<Workflow> {
    let mut tasks = 0;
    server
        .workflows
        .iter()
        .zip(1..)
        .map(|(given, id)| {
            let mut definitions: Vec<TaskDefinition> = tasks_of(given)
                .into_iter()
                .map(|task| {
                    tasks += 1;
                    TaskDefinition {
                        id: tasks,
                        // Codes of tasks are invented; they only have to be unlike those of workflows.
                        code: 7_000_000_000_000 + tasks,
                        task,
                        resource_ids: Vec::new(),
                        resource_names: Vec::new(),
                    }
                })
                .collect();
            if let Some(first) = definitions.first_mut() {
                first.resource_ids.clone_from(&given.resource_ids);
                first.resource_names.clone_from(&given.resource_names);
            }
            Workflow {
                id,
                code: given.code,
                name: given.name.clone(),
                project: given.project,
                online: given.release == Release::Online,
                tenant: given.tenant.clone(),
                tasks: definitions,
            }
        })
        .collect()
}

/// The tasks of a workflow; one that only names resources gets a shell task to hold them.
fn tasks_of(given: &crate::demo::world::Workflow) -> Vec<Task> {
    if !given.tasks.is_empty() {
        return given.tasks.clone();
    }
    vec![Task {
        name: "use".to_owned(),
        kind: "SHELL".to_owned(),
        raw_script: Some("true".to_owned()),
        init_script: None,
        main_args: None,
        others: None,
    }]
}

/// Users by name with their tenants, before they get ids.
struct People {
    tenant_by_name: BTreeMap<String, Option<String>>,
    deleted: BTreeSet<String>,
}

const ADMIN_NAME: &str = "admin";
const DEFAULT_TENANT: &str = "default";

impl People {
    fn of_world(world: &World, server: &DolphinScheduler) -> Result<Self, ContentError> {
        let mut people = Self { tenant_by_name: BTreeMap::new(), deleted: BTreeSet::new() };
        for user in &server.users {
            people.add(&user.name, user.tenant.as_deref())?;
            if user.deleted {
                people.deleted.insert(user.name.clone());
            }
        }
        for record in &server.records {
            if let Some(owner) = &record.owner {
                people.add(owner, record.tenant.as_deref())?;
            }
        }
        if let Some(TokenOwner::User(name)) = world.config.ds.as_ref().map(|ds| &ds.token) {
            people.tenant_by_name.entry(name.clone()).or_default();
        }
        people.add_missing(world);
        Ok(people)
    }

    fn add(&mut self, name: &str, tenant: Option<&str>) -> Result<(), ContentError> {
        let known = self.tenant_by_name.entry(name.to_owned()).or_default();
        match (known.as_deref(), tenant) {
            (Some(old), Some(new)) if old != new => return Err(ContentError::TwoTenants(name.to_owned())),
            (None, Some(new)) => *known = Some(new.to_owned()),
            _ => {}
        }
        Ok(())
    }

    /// The administrator, who belongs to the first tenant unless the world says otherwise, and a user for each tenant that has
    /// none: a tenant without users is not listed at the root by 3.2.
    fn add_missing(&mut self, world: &World) {
        let tenants = world.config.ds.as_ref().map_or(&[][..], |ds| ds.tenants.as_slice());
        let admin = self.tenant_by_name.entry(ADMIN_NAME.to_owned()).or_default();
        if admin.is_none() {
            *admin = tenants.first().cloned();
        }
        for tenant in tenants {
            if !self.tenant_by_name.values().flatten().any(|known| known == tenant) {
                self.tenant_by_name.insert(format!("user-of-{tenant}"), Some(tenant.clone()));
            }
        }
    }

    fn tenants(&self, world: &World, server: &DolphinScheduler) -> Vec<Tenant> {
        let said = world.config.ds.iter().flat_map(|ds| ds.tenants.iter());
        let run_as = server.workflows.iter().filter_map(|workflow| workflow.tenant.as_ref());
        let codes: BTreeSet<&String> = said.chain(self.tenant_by_name.values().flatten()).chain(run_as).collect();
        let own = codes.into_iter().filter(|code| server.generation == DsGeneration::Db || *code != DEFAULT_TENANT);
        let own = own.zip(1..).map(|(code, id)| Tenant { id, code: code.clone() });
        // From 3.2 on a server brings this one along, and a fresh administrator belongs to it.
        let default =
            (server.generation == DsGeneration::Storage).then(|| Tenant { id: -1, code: DEFAULT_TENANT.to_owned() });
        default.into_iter().chain(own).collect()
    }

    /// Gives out ids, the administrator's first; returns those of all names, the deleted ones included.
    fn settle(self, database: &mut Database) -> BTreeMap<String, i64> {
        let mut ids = BTreeMap::new();
        let mut next = ADMIN + 1;
        for (name, tenant) in self.tenant_by_name {
            let id = if name == ADMIN_NAME { ADMIN } else { next };
            next += i64::from(id != ADMIN);
            if !self.deleted.contains(&name) {
                database.users.insert(id, User { id, name: name.clone(), tenant });
            }
            ids.insert(name, id);
        }
        ids
    }
}
