//! Reading rows: the resource center up to 3.1, which never asks the storage when it lists.

use serde_json::{Value, json};

use super::database::{Database, ROOT, Row};
use super::generation::Generation;
use super::paging::PageAsked;
use super::reply::{Outcome, Refusal};
use super::visit::{Visit, entries_of, ids_of, is_viewable, omits_id};
use crate::domain::{HdfsPath, ResourceKind};

impl Visit<'_> {
    /// Whether the caller sees a row: an administrator all, a user the own ones (nothing is granted in a world).
    fn sees(&self, row: &Row) -> bool {
        row.visible && (self.account.is_admin() || row.owner == self.account.id)
    }

    /// Whether the caller may read a row by id or name: up to 3.0 these calls ask for no permission.
    fn may_read(&self, row: &Row) -> bool {
        let is_free = matches!(self.traits.generation, Generation::V20 | Generation::V30);
        if is_free { row.visible } else { self.sees(row) }
    }

    /// Whether pages hold a row: 3.0 joins the users, so those of deleted owners are missing there.
    fn is_paged(&self, database: &Database, row: &Row) -> bool {
        self.traits.generation != Generation::V30 || database.users.contains_key(&row.owner)
    }

    /// `GET /resources/list`: all visible rows of one kind as a tree, by id. A row whose directory is not visible is a root.
    pub fn record_tree(&self, database: &Database) -> Outcome {
        // A missing `type` gets the code of the endpoint, as any bad parameter does.
        let kind =
            self.kind().ok_or_else(|| Refusal { code: Some(10056), msg: "query resources list error".to_owned() })?;
        let rows: Vec<&Row> = database.rows.values().filter(|row| row.kind == kind && self.sees(row)).collect();
        let rows = self.changed(database, rows);
        let shown = |id: i64| rows.iter().any(|row| row.id == id);
        let roots = rows.iter().filter(|row| !shown(row.pid));
        Ok(roots.map(|row| self.tree_node(row, &rows)).collect())
    }

    /// `GET /resources`: one directory level, newest update first, then highest id.
    pub fn record_page(&self, database: &Database) -> Outcome {
        let page = PageAsked::of(self.asked)?;
        let (Some(kind), Some(pid)) = (self.kind(), self.asked.number("id")) else {
            return Err(Refusal::page_failed());
        };
        if pid != ROOT && !database.rows.contains_key(&pid) {
            return Err(Refusal::no_resource());
        }
        let search = self.asked.param("searchVal").unwrap_or_default();
        let wanted = |row: &&Row| {
            row.kind == kind && self.sees(row) && self.is_paged(database, row) && row.alias().contains(search)
        };
        let mut rows: Vec<&Row> = database.children(pid).filter(wanted).collect();
        rows.sort_by_key(|row| std::cmp::Reverse((row.updated, row.id)));
        let total = self.change.total.unwrap_or_else(|| i64::try_from(rows.len()).unwrap_or(i64::MAX));
        let served = PageAsked { number: self.change.repeat_page.map_or(page.number, i64::from), ..page };
        let rows = self.changed(database, served.cut(rows));
        let entries: Vec<Value> = rows.into_iter().map(|row| self.row_json(database, row, true)).collect();
        Ok(page.info(&entries, total, self.traits.offset_key()))
    }

    /// What a fault makes of the rows of a list.
    fn changed<'d>(&self, database: &'d Database, rows: Vec<&'d Row>) -> Vec<&'d Row> {
        let mut rows = match (ids_of(self.change), entries_of(self.change)) {
            (Some(ids), _) => ids.iter().filter_map(|id| database.rows.get(id)).collect(),
            (None, Some(paths)) => {
                let named = |row: &&Row| database.current_path(row).is_some_and(|path| paths.contains(&path));
                database.rows.values().filter(named).collect()
            }
            (None, None) => rows,
        };
        rows.retain(|row| {
            let path = database.current_path(row);
            !omits_id(self.change, row.id) && !path.is_some_and(|path| self.change.omits(path.as_str()))
        });
        rows.truncate(self.change.returned.unwrap_or(usize::MAX));
        rows
    }

    /// `GET /resources/{id}/query`, from 3.0 on the only call that reads a row by its id.
    pub fn record(&self, database: &Database, id: i64) -> Outcome {
        let row = database.rows.get(&id).ok_or_else(Refusal::no_resource)?;
        if !self.may_read(row) {
            return Err(Refusal::no_permission());
        }
        Ok(self.row_json(database, row, false))
    }

    /// `GET /resources/{id}`: by `fullName` (the id is ignored), else the row of the *parent* of `id`; never the row `id`.
    pub fn record_by_name_or_parent(&self, database: &Database, id: Option<i64>) -> Outcome {
        let (Some(kind), Some(id)) = (self.kind(), id) else { return Err(Refusal::no_resource()) };
        let row = match self.asked.param("fullName").filter(|name| !name.is_empty()) {
            Some(name) => database.find_row(kind, name),
            None => database.rows.get(&id).and_then(|row| database.rows.get(&row.pid)),
        };
        let row = row.ok_or_else(Refusal::no_resource)?;
        if !self.may_read(row) {
            return Err(Refusal::no_permission());
        }
        Ok(self.row_json(database, row, false))
    }

    /// `GET /resources/verify-name`: looks at rows first (not in 2.0), then at the storage below the *caller's* tenant.
    pub async fn verify_record_name(&self, database: &Database) -> Outcome {
        let name = self.asked.param("fullName").unwrap_or_default();
        let kind = self
            .kind()
            .ok_or_else(|| Refusal { code: Some(10059), msg: "verify resource by name and type error".to_owned() })?;
        let path = self.path_of_new(database, kind, name)?;
        match self.store.stat(&path).await {
            Ok(None) => Ok(Value::Null),
            Ok(Some(_)) => Err(Refusal::file_exists(path.as_str())),
            Err(_) => Err(Refusal::hdfs_operation()),
        }
    }

    /// Where a new file of this name goes, below the caller's tenant, if the name is free.
    pub fn path_of_new(&self, database: &Database, kind: ResourceKind, name: &str) -> Result<HdfsPath, Refusal> {
        if self.traits.generation != Generation::V20 && database.find_row(kind, name).is_some() {
            return Err(Refusal::resource_exists());
        }
        database.path_named(name, kind, self.tenant()?).ok_or_else(Refusal::no_resource)
    }

    /// `GET /resources/{id}/view`: opens the file where the owner's tenant has it now.
    pub async fn view_record(&self, database: &Database, id: i64) -> Outcome {
        let row = database.rows.get(&id).ok_or_else(Refusal::no_resource)?;
        if !self.sees(row) {
            return Err(Refusal::no_permission());
        }
        if !is_viewable(row.alias()) {
            return Err(Refusal::not_viewable());
        }
        let path = database.path_of(row, self.owner_tenant(database, row)?).ok_or_else(Refusal::no_resource)?;
        match self.store.read(&path).await {
            Ok(Some(bytes)) => Ok(json!({"alias": row.alias(), "content": self.asked_lines(&bytes)})),
            // There is no file, but the server asks whether the path exists before it opens it.
            Ok(None) => Err(match self.store.stat(&path).await {
                Ok(None) => Refusal::no_file(path.as_str()),
                Ok(Some(_)) | Err(_) => Refusal::hdfs_operation(),
            }),
            Err(_) => Err(Refusal::hdfs_operation()),
        }
    }

    /// A row as pages and details show it; only pages name the owner, and from 3.0 on.
    pub fn row_json(&self, database: &Database, row: &Row, with_owner: bool) -> Value {
        let owner = database.users.get(&row.owner).filter(|_| with_owner).map(|user| user.name.as_str());
        let mut shown = json!({
            "id": row.id, "pid": row.pid, "alias": row.alias(), "fullName": row.full_name, "description": row.description,
            "fileName": row.file_name, "userId": row.owner, "type": row.kind.api_name(), "size": row.size,
            "createTime": self.time(row.created), "updateTime": self.time(row.updated), "directory": row.directory,
        });
        if self.traits.generation != Generation::V20 {
            shown["userName"] = json!(owner);
        }
        shown
    }

    /// A row as a creating call shows it.
    pub fn new_row_json(&self, database: &Database, row: &Row) -> Value {
        let mut shown = self.row_json(database, row, false);
        if self.traits.generation == Generation::V20 {
            shown["createTime"] = json!(self.traits.precise_time(row.created));
            shown["updateTime"] = json!(self.traits.precise_time(row.updated));
        }
        shown
    }

    /// A node of the tree. Its full name has no leading slash (`ResourceTreeVisitor`), and the key is spelled `dirctory`.
    fn tree_node(&self, row: &Row, rows: &[&Row]) -> Value {
        let children: Vec<Value> =
            rows.iter().filter(|child| child.pid == row.id).map(|child| self.tree_node(child, rows)).collect();
        let mut node = json!({
            "id": row.id, "pid": row.pid, "name": row.alias(), "fullName": row.full_name.replacen('/', "", 1),
            "description": row.description, "children": children, "type": row.kind.api_name(),
            "idValue": format!("{}_{}", row.id, u8::from(row.directory)), "dirctory": row.directory,
        });
        if self.traits.generation == Generation::V31 {
            node["currentDir"] = Value::Null;
        }
        node
    }

    /// The code of the tenant the owner of a row belongs to now; an error if there is no owner or no tenant.
    pub fn owner_tenant<'d>(&self, database: &'d Database, row: &Row) -> Result<&'d str, Refusal> {
        let owner = database.users.get(&row.owner).ok_or_else(|| Refusal::no_user(&row.owner.to_string()))?;
        owner.tenant.as_deref().ok_or_else(|| match self.traits.generation {
            Generation::V20 => Refusal::no_such_tenant(),
            _ => Refusal::no_tenant(),
        })
    }
}
