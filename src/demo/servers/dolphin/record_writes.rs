//! Writing rows, up to 3.1: the row first, the file second, in one transaction that an `IOException` does not roll back.

use serde_json::Value;

use super::database::{Database, ROOT, Row};
use super::records::owner_tenant;
use super::reply::{Outcome, Refusal};
use super::visit::{Content, Visit};
use crate::domain::{HdfsPath, ResourceKind};

/// What a new row is to be, and where its file goes.
struct Place {
    kind: ResourceKind,
    pid: i64,
    full_name: String,
    path: HdfsPath,
}

impl Visit<'_> {
    /// `POST /resources/directory`.
    pub async fn make_record_directory(&self, database: Content<'_>) -> Outcome {
        let place = self.place(database)?;
        let path = place.path.clone();
        match self.store.stat(&path).await {
            Ok(Some(_)) => return Err(Refusal::file_exists(path.as_str())),
            Ok(None) => {}
            Err(_) => return Err(directory_failed(&path)),
        }
        self.store.make_directory(&path).await.map_err(|_| directory_failed(&path))?;
        let name = self.asked.param("name").unwrap_or_default().to_owned();
        Ok(self.insert(database, place, true, 0, name))
    }

    /// `POST /resources`: an upload. A file that is there without a row is overwritten.
    pub async fn upload_record(&self, database: Content<'_>) -> Outcome {
        let place = self.place(database)?;
        let (file_name, bytes) = self.asked.file.clone().ok_or_else(|| Refusal::bad_parameter("file"))?;
        self.store.create(&place.path, &bytes).await.map_err(|_| self.upload_failed(&file_name))?;
        let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
        let pid = place.pid;
        let shown = self.insert(database, place, false, size, file_name);
        add_to_ancestors(database, pid, size);
        Ok(shown)
    }

    fn upload_failed(&self, file_name: &str) -> Refusal {
        let name = self.asked.param("name").unwrap_or_default();
        Refusal::internal(&format!("upload resource: {name} file: {file_name} failed."))
    }

    /// Where a new row goes, below the *caller's* tenant. `currentDir` is taken as it comes: the server does not check it.
    fn place(&self, database: &Database) -> Result<Place, Refusal> {
        let missing = || Refusal { code: 10054, msg: "create resource error".to_owned() };
        let kind = self.kind().ok_or_else(missing)?;
        let name = self.asked.param("name").ok_or_else(missing)?;
        let directory = self.asked.param("currentDir").ok_or_else(missing)?;
        let pid = self.asked.number("pid").ok_or_else(missing)?;
        if pid != ROOT && !database.rows.contains_key(&pid) {
            return Err(Refusal::no_parent());
        }
        let full_name = if directory == "/" { format!("/{name}") } else { format!("{directory}/{name}") };
        if database.find_row(kind, &full_name).is_some() {
            return Err(Refusal::resource_exists());
        }
        let path = database.path_named(&full_name, kind, self.tenant()?).ok_or_else(missing)?;
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
        let shown = self.row_json(database, &row, false);
        database.rows.insert(row.id, row);
        shown
    }

    /// `DELETE /resources/{id}`: the checks of 3.1 in their order; then the row goes, then the path, recursively and past the
    /// Trash. If the storage fails, the row is gone all the same (10058).
    pub async fn delete_record(&self, database: Content<'_>, id: i64) -> Outcome {
        let row = database.rows.get(&id).cloned().ok_or_else(Refusal::no_resource)?;
        if !self.account.is_admin() && row.owner != self.account.id {
            return Err(Refusal::no_permission());
        }
        let tenant = owner_tenant(database, &row)?;
        let path = database.path_of(&row, tenant).ok_or_else(Refusal::delete_failed)?;
        refuse_if_needed(database, &row)?;
        remove_row(database, id);
        self.store.delete(&path, &[]).await.map_err(|_| Refusal::delete_failed())?;
        Ok(Value::Null)
    }
}

fn directory_failed(path: &HdfsPath) -> Refusal {
    Refusal::internal(&format!("create resource directory: {path} failed."))
}

/// 20018 counts child *rows*; 20013 holds for UDF rows; 20014 looks at ONLINE workflows, the row itself and its direct parent.
fn refuse_if_needed(database: &Database, row: &Row) -> Result<(), Refusal> {
    if database.children(row.id).next().is_some() {
        return Err(Refusal::has_children(row.alias()));
    }
    let bound = database.functions.iter().find(|function| function.record == row.id);
    if let (ResourceKind::Udf, Some(function)) = (row.kind, bound) {
        return Err(Refusal::udf_bound(&function.name));
    }
    let online = database.workflows.iter().filter(|workflow| workflow.online);
    let mut held = online.flat_map(|workflow| &workflow.tasks).flat_map(|task| &task.resource_ids);
    if held.any(|id| *id == row.id || *id == row.pid) {
        return Err(Refusal::used());
    }
    Ok(())
}

/// Takes a row out and its size off the directories above.
pub fn remove_row(database: Content<'_>, id: i64) {
    if let Some(row) = database.rows.remove(&id) {
        add_to_ancestors(database, row.pid, -row.size);
    }
}

/// Sizes of directory rows are running sums; their update time does not change.
fn add_to_ancestors(database: Content<'_>, mut pid: i64, size: i64) {
    while let Some(row) = database.rows.get_mut(&pid) {
        row.size += size;
        pid = row.pid;
    }
}
