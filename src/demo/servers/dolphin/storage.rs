//! The resource center of 3.2.2: a listing of the storage, with full names that are URIs as the file system spells them.

use serde_json::{Value, json};

use super::database::{Database, path_of_uri};
use super::paging::PageAsked;
use super::reply::{Outcome, Refusal};
use super::store::{StoreError, StoredStatus};
use super::visit::{Visit, entries_of, is_viewable};
use crate::domain::{HdfsPath, ResourceKind};

/// One listed entry.
#[derive(Debug, Clone)]
struct Entry {
    path: HdfsPath,
    /// As the server spells it: a directory ends with a slash.
    full_name: String,
    /// The directory that was listed, as it was asked for.
    listed: String,
    /// The caller's resource directory with trailing slash: what `fileName` is cut from.
    home: String,
    /// Tenant the server assumes.
    tenant: String,
    status: StoredStatus,
}

/// A directory to list: its path, its spelling, and the tenant the server assumes.
struct Directory {
    path: HdfsPath,
    spelled: String,
    tenant: String,
}

impl Visit<'_> {
    /// `GET /resources/base-dir`: for an administrator the base, for a user the tenant's directory.
    pub fn base_dir(&self, database: &Database) -> Outcome {
        let tenant = self.tenant()?;
        let kind = self.kind().unwrap_or(ResourceKind::File);
        if self.account.is_admin() {
            return Ok(json!(database.base_uri));
        }
        Ok(json!(format!("{}/{tenant}/{}", database.base_uri, kind.directory())))
    }

    /// `GET /resources`: a slice of one complete listing, in the order of the storage. A missing directory is an empty page.
    pub async fn storage_page(&self, database: &Database) -> Outcome {
        let page = PageAsked::of(self.asked)?;
        let mut entries = Vec::new();
        for directory in self.directories(database, true)? {
            entries.extend(self.list(database, &directory).await.map_err(|_| Refusal::no_resource())?);
        }
        let search = self.asked.param("searchVal").unwrap_or_default().trim().to_owned();
        entries.retain(|entry| entry.file_name().contains(&search));
        let total = self.change.total.unwrap_or_else(|| i64::try_from(entries.len()).unwrap_or(i64::MAX));
        let served = PageAsked { number: self.change.repeat_page.map_or(page.number, i64::from), ..page };
        let entries = self.changed_entries(database, served.cut(entries)).await;
        let kind = self.asked.param("type").unwrap_or("FILE");
        let shown: Vec<Value> = entries.iter().map(|entry| self.entry_json(entry, kind)).collect();
        Ok(page.info(&shown, total, self.traits.offset_key()))
    }

    /// `GET /resources/list`: everything below, as a tree without ids.
    pub async fn storage_tree(&self, database: &Database) -> Outcome {
        let mut roots = Vec::new();
        let mut left = self.change.returned.unwrap_or(usize::MAX);
        for directory in self.directories(database, false)? {
            roots.extend(self.branch(database, directory, &mut left).await.map_err(|_| Refusal::no_tenant())?);
        }
        Ok(Value::Array(roots))
    }

    /// The nodes of one directory with all below.
    fn branch<'f>(
        &'f self,
        database: &'f Database,
        directory: Directory,
        left: &'f mut usize,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<Vec<Value>, StoreError>> + Send + 'f>> {
        Box::pin(async move {
            let entries = self.list(database, &directory).await?;
            let mut nodes = Vec::new();
            for entry in self.changed_entries(database, entries).await {
                if *left == 0 {
                    break;
                }
                *left -= 1;
                let below = Directory {
                    path: entry.path.clone(),
                    spelled: entry.full_name.clone(),
                    tenant: directory.tenant.clone(),
                };
                let is_listed = entry.status.directory && self.change.entries.is_none();
                let children = if is_listed { self.branch(database, below, left).await? } else { Vec::new() };
                nodes.push(entry.node_json(self.kind().unwrap_or(ResourceKind::File), &children));
            }
            Ok(nodes)
        })
    }

    /// The directories a listing is about: the one named, or with an empty name the resource directory of each tenant that
    /// has a user (administrators) or of the caller's tenant. Pages spell those with a trailing slash, the tree without.
    fn directories(&self, database: &Database, trailing_slash: bool) -> Result<Vec<Directory>, Refusal> {
        let own = self.tenant()?;
        let asked = self.asked.param("fullName").unwrap_or_default();
        if !asked.is_empty() {
            let path = checked(database, asked)?;
            return Ok(vec![Directory { path, spelled: asked.to_owned(), tenant: own.to_owned() }]);
        }
        let kind = self.kind().unwrap_or(ResourceKind::File);
        let mut tenants: Vec<&str> = if self.account.is_admin() {
            database.users.values().filter_map(|user| user.tenant.as_deref()).collect()
        } else {
            vec![own]
        };
        tenants.sort_unstable();
        tenants.dedup();
        let slash = if trailing_slash { "/" } else { "" };
        let directory = |tenant: &str| {
            let spelled = format!("{}/{tenant}/{}{slash}", database.base_uri, kind.directory());
            Some(Directory { path: database.tenant_directory(tenant, kind)?, spelled, tenant: tenant.to_owned() })
        };
        Ok(tenants.into_iter().filter_map(directory).collect())
    }

    async fn list(&self, database: &Database, directory: &Directory) -> Result<Vec<Entry>, StoreError> {
        let listed = self.store.list(&directory.path).await?.unwrap_or_default();
        let entries = listed.into_iter().filter_map(|(name, status)| {
            let path = if name.is_empty() { directory.path.clone() } else { directory.path.join(&name) };
            self.entry(database, directory, path, status)
        });
        Ok(entries.collect())
    }

    /// An entry with the world's overrides; `None` if one leaves it out.
    fn entry(&self, database: &Database, listed: &Directory, path: HdfsPath, status: StoredStatus) -> Option<Entry> {
        let change = database.overrides.get(&path).cloned().unwrap_or_default();
        if change.omit {
            return None;
        }
        let mut status = status;
        status.size = change.size.unwrap_or(status.size);
        status.directory = change.directory.unwrap_or(status.directory);
        let slash = if status.directory { "/" } else { "" };
        let spelled = format!("{}{slash}", uri_of(database, &path));
        let kind = self.kind().unwrap_or(ResourceKind::File);
        Some(Entry {
            full_name: change.full_name.unwrap_or(spelled),
            listed: listed.spelled.clone(),
            home: format!("{}/{}/{}/", database.base_uri, listed.tenant, kind.directory()),
            tenant: listed.tenant.clone(),
            path,
            status,
        })
    }

    /// What a fault makes of the entries of a list.
    async fn changed_entries(&self, database: &Database, entries: Vec<Entry>) -> Vec<Entry> {
        let mut entries = match entries_of(self.change) {
            Some(paths) => self.entries_at(database, paths).await,
            None => entries,
        };
        entries.retain(|entry| !self.change.omits(entry.path.as_str()));
        entries.truncate(self.change.returned.unwrap_or(usize::MAX));
        entries
    }

    async fn entries_at(&self, database: &Database, paths: Vec<HdfsPath>) -> Vec<Entry> {
        let mut entries = Vec::new();
        for path in paths {
            let parent = path.parent().unwrap_or_else(HdfsPath::root);
            let tenant = self.account.tenant.clone().unwrap_or_default();
            let listed = Directory { spelled: uri_of(database, &parent), path: parent, tenant };
            let status = self.store.stat(&path).await.ok().flatten();
            let made_up = StoredStatus { directory: false, size: 0, modified: self.traits.clock.now() };
            entries.extend(self.entry(database, &listed, path, status.unwrap_or(made_up)));
        }
        entries
    }

    fn entry_json(&self, entry: &Entry, kind: &str) -> Value {
        let time = self.time(entry.status.modified);
        json!({
            "id": 0, "fullName": entry.full_name, "fileName": entry.file_name(), "alias": entry.alias(),
            "pfullName": entry.listed, "userId": 0, "userName": entry.tenant, "type": kind,
            "size": entry.status.size, "createTime": time, "updateTime": time, "directory": entry.status.directory,
        })
    }

    /// `GET /resources/verify-name`: a pure test of the storage.
    pub async fn verify_storage_name(&self) -> Outcome {
        let path = self.asked.param("fullName").and_then(path_of_uri);
        let path = path
            .ok_or_else(|| Refusal { code: Some(10059), msg: "verify resource by name and type error".to_owned() })?;
        match self.store.stat(&path).await {
            Ok(None) => Ok(Value::Null),
            Ok(Some(_)) => Err(Refusal::resource_exists()),
            Err(_) => Err(Refusal::hdfs_operation()),
        }
    }

    /// `GET /resources/view`.
    pub async fn view_storage(&self, database: &Database) -> Outcome {
        self.tenant()?;
        let name = self.asked.param("fullName").unwrap_or_default();
        let path = checked(database, name)?;
        if !is_viewable(name) {
            return Err(Refusal::not_viewable());
        }
        match self.store.read(&path).await {
            Ok(Some(bytes)) => Ok(json!({"alias": name, "content": self.asked_lines(&bytes)})),
            Ok(None) => Err(Refusal::no_file(name)),
            Err(_) => Err(Refusal::hdfs_operation()),
        }
    }

    /// `POST /resources/directory`. `currentDir` and `name` are glued together; nobody adds a slash.
    pub async fn make_storage_directory(&self, database: &Database) -> Outcome {
        let path = self.new_path(database).await?;
        self.store.make_directory(&path).await.map_err(|_| Refusal::internal("create resource directory failed."))?;
        Ok(Value::Null)
    }

    /// `POST /resources`: an upload; success shows no data.
    pub async fn upload_storage(&self, database: &Database) -> Outcome {
        let path = self.new_path(database).await?;
        let (name, bytes) = self.asked.file.as_ref().ok_or_else(|| Refusal::bad_parameter("file"))?;
        let failed = |_| Refusal::internal(&format!("upload resource: {name} file: {name} failed."));
        self.store.create(&path, bytes).await.map_err(failed)?;
        Ok(Value::Null)
    }

    async fn new_path(&self, database: &Database) -> Result<HdfsPath, Refusal> {
        self.tenant()?;
        let part = |name: &str| self.asked.param(name).unwrap_or_default();
        let path = checked(database, &format!("{}{}", part("currentDir"), part("name")))?;
        match self.store.stat(&path).await {
            Ok(None) => Ok(path),
            Ok(Some(_)) => Err(Refusal::resource_exists()),
            Err(_) => Err(Refusal::hdfs_operation()),
        }
    }

    /// `DELETE /resources`: no check of children, use or owner; recursive, past the Trash, result ignored. A missing path is 10000.
    pub async fn delete_storage(&self, database: &Database) -> Outcome {
        let own = self.tenant()?;
        let name = self.asked.param("fullName").unwrap_or_default();
        let path = checked(database, name)?;
        let foreign = self.asked.param("tenantCode").is_some_and(|code| !code.is_empty() && code != own);
        if foreign && !self.account.is_admin() {
            return Err(Refusal::no_permission());
        }
        match self.store.stat(&path).await {
            Ok(Some(_)) => {}
            Ok(None) => return Err(Refusal::internal(&format!("The path does not exist. Resource path: {name}"))),
            Err(_) => return Err(Refusal::delete_failed()),
        }
        self.store.delete(&path, &[]).await.map_err(|_| Refusal::delete_failed())?;
        Ok(Value::Null)
    }
}

impl Entry {
    fn file_name(&self) -> &str {
        difference(&self.home, &self.full_name)
    }

    /// The name below the directory as it was asked for: without a trailing slash there, directories begin with one here.
    fn alias(&self) -> &str {
        if self.status.directory {
            return difference(&self.listed, &self.full_name);
        }
        self.full_name.rsplit('/').next().unwrap_or_default()
    }

    fn node_json(&self, kind: ResourceKind, children: &[Value]) -> Value {
        json!({
            "id": 0, "pid": self.listed, "name": self.alias(), "fullName": self.full_name, "description": null,
            "children": children, "type": kind.api_name(), "currentDir": null,
            "idValue": format!("0_{}", u8::from(self.status.directory)), "dirctory": self.status.directory,
        })
    }
}

/// `StringUtils.difference`: the rest of `text` from the first character that is not in `start`.
fn difference<'t>(start: &str, text: &'t str) -> &'t str {
    let equal: usize = text.chars().zip(start.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    &text[equal..]
}

/// The URI of a path, as the storage spells it: scheme and authority of the base directory.
fn uri_of(database: &Database, path: &HdfsPath) -> String {
    let base = &database.base_uri;
    let authority = base.split_once("://").map_or("", |(scheme, rest)| {
        let host = rest.find('/').unwrap_or(rest.len());
        &base[..scheme.len() + 3 + host]
    });
    format!("{authority}{path}")
}

/// `checkFullName` of 3.2.2: empty and `/` pass, else no `../` and the base directory as a *string* prefix.
fn checked(database: &Database, full_name: &str) -> Result<HdfsPath, Refusal> {
    let is_free = full_name.is_empty() || full_name == "/";
    if !is_free && (full_name.contains("../") || !full_name.starts_with(&database.base_uri)) {
        return Err(Refusal::illegal_path(full_name));
    }
    path_of_uri(full_name).ok_or_else(|| Refusal::illegal_path(full_name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_as_recorded() {
        // 3.2.2, 020-dir-page and 021-dir-page-slash.
        let full = "hdfs://h/b/etl/resources/ckpt/";
        assert_eq!(difference("hdfs://h/b/etl/resources", full), "/ckpt/");
        assert_eq!(difference("hdfs://h/b/etl/resources/", full), "ckpt/");
        assert_eq!(difference("hdfs://h/b/etl/resources/", "hdfs://h/b/ops/resources/a"), "ops/resources/a");
    }
}
