//! Writing rows, up to 3.1: the row first, the file second, in one transaction that an `IOException` rolls back in 2.0 only.

use std::collections::BTreeSet;

use serde_json::Value;

use super::database::{Database, ROOT, Row};
use super::generation::Generation;
use super::reply::{Outcome, Refusal};
use super::visit::{Content, Visit};
use crate::domain::{HdfsPath, ResourceKind};

/// What is asked for.
struct Wish {
    kind: ResourceKind,
    pid: i64,
    full_name: String,
}

/// What a new row is to be, and where its file goes.
struct Place {
    kind: ResourceKind,
    pid: i64,
    full_name: String,
    path: HdfsPath,
}

impl Visit<'_> {
    /// `POST /resources/directory`. The name is checked as `verify-name` does it, before the parent.
    pub async fn make_record_directory(&self, database: Content<'_>) -> Outcome {
        let wish = self.wish()?;
        let path = self.path_of_new(database, wish.kind, &wish.full_name)?;
        let failed = || self.storage_failed(&format!("create resource directory: {path} failed."));
        match self.store.stat(&path).await {
            Ok(Some(_)) => return Err(Refusal::file_exists(path.as_str())),
            Ok(None) => {}
            Err(_) => return Err(failed()),
        }
        let place = self.place(database, wish)?;
        self.store.make_directory(&path).await.map_err(|_| failed())?;
        let name = self.asked.param("name").unwrap_or_default().to_owned();
        Ok(self.insert(database, place, true, 0, name))
    }

    /// `POST /resources`: an upload. A file that is there without a row is overwritten.
    pub async fn upload_record(&self, database: Content<'_>) -> Outcome {
        let place = self.place(database, self.wish()?)?;
        let (file_name, bytes) = self.asked.file.clone().ok_or_else(|| Refusal::bad_parameter("file"))?;
        if self.traits.generation == Generation::V20 && !file_name.contains('.') {
            return Err(Refusal::suffix_refused());
        }
        self.store.create(&place.path, &bytes).await.map_err(|_| self.upload_failed(&file_name))?;
        let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
        let pid = place.pid;
        let shown = self.insert(database, place, false, size, file_name);
        add_to_ancestors(database, pid, size);
        Ok(shown)
    }

    fn upload_failed(&self, file_name: &str) -> Refusal {
        let name = self.asked.param("name").unwrap_or_default();
        self.storage_failed(&format!("upload resource: {name} file: {file_name} failed."))
    }

    /// What a `ServiceException("text")` becomes: 2.0 has no handler for it, 3.0 no code.
    fn storage_failed(&self, what: &str) -> Refusal {
        match self.traits.generation {
            Generation::V20 => Refusal::create_failed(),
            Generation::V30 => Refusal { code: None, msg: what.to_owned() },
            Generation::V31 | Generation::V322 => Refusal::internal(what),
        }
    }

    /// The required parameters. `currentDir` is taken as it comes: the server does not check it.
    fn wish(&self) -> Result<Wish, Refusal> {
        let kind = self.kind().ok_or_else(Refusal::create_failed)?;
        let name = self.asked.param("name").ok_or_else(Refusal::create_failed)?;
        let directory = self.asked.param("currentDir").ok_or_else(Refusal::create_failed)?;
        let pid = self.asked.number("pid").ok_or_else(Refusal::create_failed)?;
        let full_name = if directory == "/" { format!("/{name}") } else { format!("{directory}/{name}") };
        Ok(Wish { kind, pid, full_name })
    }

    /// Where a new row goes, below the *caller's* tenant.
    fn place(&self, database: &Database, wish: Wish) -> Result<Place, Refusal> {
        let Wish { kind, pid, full_name } = wish;
        if pid != ROOT && !database.rows.contains_key(&pid) {
            return Err(Refusal::no_parent());
        }
        if database.find_row(kind, &full_name).is_some() {
            return Err(Refusal::resource_exists());
        }
        let path = database.path_named(&full_name, kind, self.tenant()?).ok_or_else(Refusal::create_failed)?;
        Ok(Place { kind, pid, full_name, path })
    }

    fn insert(&self, database: Content<'_>, place: Place, directory: bool, size: i64, file_name: String) -> Value {
        let now = self.traits.clock.now();
        let row = Row {
            id: database.next_row_id(),
            pid: place.pid,
            full_name: place.full_name,
            kind: place.kind,
            directory,
            size,
            owner: self.account.id,
            description: self.asked.param("description").unwrap_or_default().to_owned(),
            file_name,
            created: now,
            updated: now,
            visible: true,
        };
        let shown = self.new_row_json(database, &row);
        database.rows.insert(row.id, row);
        shown
    }

    /// `DELETE /resources/{id}`: the checks in their order; then the row goes, up to 3.0 with its subtree, then the path,
    /// recursively and past the Trash. If the storage fails (10058), the rows are back in 2.0 and gone in 3.0 and 3.1.
    pub async fn delete_record(&self, database: Content<'_>, id: i64) -> Outcome {
        let row = database.rows.get(&id).cloned().ok_or_else(Refusal::no_resource)?;
        if !self.account.is_admin() && row.owner != self.account.id {
            return Err(self.foreign_row());
        }
        let tenant = self.owner_tenant(database, &row)?;
        let path = database.path_of(&row, tenant).ok_or_else(Refusal::delete_failed)?;
        self.refuse_if_needed(database, &row)?;
        let before = database.rows.clone();
        remove_rows(database, id);
        if self.store.delete(&path, &[]).await.is_err() {
            if self.traits.generation == Generation::V20 {
                database.rows = before;
            }
            return Err(Refusal::delete_failed());
        }
        Ok(Value::Null)
    }

    /// The second permission layer is of 3.1.
    fn foreign_row(&self) -> Refusal {
        match self.traits.generation {
            Generation::V20 | Generation::V30 => Refusal::not_permitted(),
            Generation::V31 | Generation::V322 => Refusal::no_permission(),
        }
    }

    /// 20018 counts child *rows*, from 3.1 on; 20013 holds for UDF rows; 20014 looks at ONLINE workflows, the rows that would
    /// go and the direct parent of the first. In 2.0 that one sees only tasks that come before another one (the condition of
    /// its SQL is doubled), and no task of a world does.
    fn refuse_if_needed(&self, database: &Database, row: &Row) -> Result<(), Refusal> {
        let going = subtree(database, row.id);
        if self.traits.generation == Generation::V31 && going.len() > 1 {
            return Err(Refusal::has_children(row.alias()));
        }
        let bound = database.functions.iter().find(|function| going.contains(&function.record));
        if let (ResourceKind::Udf, Some(function)) = (row.kind, bound) {
            return Err(Refusal::udf_bound(&function.name));
        }
        let online = database.workflows.iter().filter(|workflow| workflow.online);
        let mut held = online.flat_map(|workflow| &workflow.tasks).flat_map(|task| &task.resource_ids);
        let is_used = held.any(|id| going.contains(id) || *id == row.pid);
        if self.traits.generation != Generation::V20 && is_used {
            return Err(Refusal::used());
        }
        Ok(())
    }
}

/// Ids of a row and of all rows below it, found by `pid`.
fn subtree(database: &Database, id: i64) -> BTreeSet<i64> {
    let mut found = BTreeSet::from([id]);
    let mut todo = vec![id];
    while let Some(parent) = todo.pop() {
        todo.extend(database.children(parent).map(|child| child.id).filter(|child| found.insert(*child)));
    }
    found
}

/// Takes a row out with all rows below it, and its size off the directories above.
pub fn remove_rows(database: Content<'_>, id: i64) {
    let going = subtree(database, id);
    if let Some(row) = database.rows.get(&id) {
        let (pid, size) = (row.pid, row.size);
        add_to_ancestors(database, pid, -size);
    }
    database.rows.retain(|id, _| !going.contains(id));
}

/// Sizes of directory rows are running sums; their update time does not change.
fn add_to_ancestors(database: Content<'_>, mut pid: i64, size: i64) {
    while let Some(row) = database.rows.get_mut(&pid) {
        row.size += size;
        pid = row.pid;
    }
}
