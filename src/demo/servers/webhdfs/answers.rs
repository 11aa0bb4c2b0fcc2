//! Each operation of the NameNode, on a locked file system.

use axum::http::{Method, header};
use serde_json::{Value, json};

use super::access::{Access, User};
use super::remote::{self, Remote};
use super::{Call, takes_effect};
use crate::demo::servers::file_system::{
    FileSystem, FsError, Inode, InodeBody, JavaName, Maker, ROOT_ID, components, join, normal, split,
};
use crate::demo::servers::wire::Reply;
use crate::demo::world::{Effect, Fault, HaState, HdfsServer};

/// Longest name in bytes, as `dfs.namenode.fs-limits.max-component-length` has it by default.
const MAX_COMPONENT: usize = 255;

/// Bytes of a block.
const BLOCK_SIZE: u64 = 134_217_728;

/// One call on the NameNode.
pub struct NameNode<'a> {
    /// Its file system, locked.
    pub fs: &'a mut FileSystem,
    /// Who asks.
    pub user: &'a User,
    /// What is asked.
    pub call: &'a Call,
    /// The fault that meets the call.
    pub fault: Option<&'a Fault>,
    /// Entries a page.
    pub page_limit: usize,
}

type Answer = Result<Reply, Remote>;

impl NameNode<'_> {
    /// The answer of a NameNode in the state `server`.
    pub fn answer(&mut self, server: &HdfsServer) -> Answer {
        let op = self.call.op.as_str();
        match self.call.method {
            Method::GET if op == "GETHOMEDIRECTORY" => Ok(path_reply(&format!("/user/{}", self.user.name))),
            Method::GET => {
                refuse_standby(server, "READ")?;
                self.read(op, server)
            }
            Method::PUT | Method::DELETE => {
                refuse_standby(server, "WRITE")?;
                self.write(op, server)
            }
            _ => Err(self.unknown_op()),
        }
    }

    fn read(&self, op: &str, server: &HdfsServer) -> Answer {
        match op {
            "GETFILESTATUS" => self.file_status(),
            "LISTSTATUS" => self.list_status(),
            "LISTSTATUS_BATCH" => self.list_status_batch(),
            "GETCONTENTSUMMARY" => self.content_summary(),
            "OPEN" => self.open(),
            "GETTRASHROOT" => Ok(path_reply(&format!("/user/{}/.Trash", self.user.name))),
            "GETSERVERDEFAULTS" => Ok(server_defaults(server)),
            _ => Err(self.unknown_op()),
        }
    }

    fn write(&mut self, op: &str, server: &HdfsServer) -> Answer {
        let path = self.call.path.as_str();
        let what = match (&self.call.method, op) {
            (&Method::PUT, "MKDIRS") => format!("create directory {path}"),
            (&Method::PUT, "RENAME") => format!("rename {path}"),
            (&Method::PUT, "CREATE") => format!("create file {path}"),
            (&Method::DELETE, "DELETE") => format!("delete {path}"),
            _ => return Err(self.unknown_op()),
        };
        if server.safemode {
            return Err(remote::safe_mode(&what));
        }
        match op {
            "MKDIRS" => self.mkdirs(),
            "RENAME" => self.rename(),
            "CREATE" => self.create(),
            _ => self.delete(),
        }
    }

    fn unknown_op(&self) -> Remote {
        let why = format!("{} is not a valid {} operation.", self.call.op, self.call.method);
        remote::bad_parameter("op", &why)
    }

    fn file_status(&self) -> Answer {
        let path = &self.call.path;
        self.user.traverse(self.fs, path)?;
        let omitted = self.fault.is_some_and(|fault| fault.omits(path));
        let inode = self.fs.stat(path).filter(|_| !omitted).ok_or_else(|| remote::no_file(path))?;
        Ok(Reply::json(200, &json!({ "FileStatus": status_of("", inode) })))
    }

    fn list_status(&self) -> Answer {
        let mut entries = self.entries()?;
        entries.truncate(self.fault.and_then(|fault| fault.returned).unwrap_or(usize::MAX));
        // The NameNode streams this answer with one entry a line.
        let lines: Vec<String> = entries.iter().map(|(_, status)| status.to_string()).collect();
        let body = format!("{{\"FileStatuses\":{{\"FileStatus\":[\n{}\n]}}}}\n", lines.join(",\n"));
        Ok(Reply::new(200, "application/json", body))
    }

    fn list_status_batch(&self) -> Answer {
        let entries = self.entries()?;
        let repeated = self.fault.and_then(|fault| fault.repeat_page);
        let start = match repeated {
            Some(page) => (page.max(1) as usize - 1) * self.page_limit,
            None => start_of_page(&entries, self.call),
        };
        let rest = entries.get(start..).unwrap_or_default();
        let cut = self.fault.and_then(|fault| fault.returned).unwrap_or(usize::MAX);
        let page = &rest[..rest.len().min(self.page_limit).min(cut)];
        let statuses: Vec<&Value> = page.iter().map(|(_, status)| status).collect();
        let remaining = self.remaining(start + page.len(), rest.len() - page.len());
        let listing = json!({
            "DirectoryListing": {
                "partialListing": { "FileStatuses": { "FileStatus": statuses } },
                "remainingEntries": remaining,
            }
        });
        Ok(Reply::json(200, &listing))
    }

    /// What `remainingEntries` claims; a list that a fault shortens hides what it leaves out unless it claims a total.
    fn remaining(&self, shown: usize, left: usize) -> i64 {
        let whole = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        match self.fault {
            Some(Fault { total: Some(total), .. }) => (total - whole(shown)).max(0),
            Some(Fault { returned: Some(_), .. }) => 0,
            _ => whole(left),
        }
    }

    /// Names and statuses of a listing before it is cut into pages, as a fault leaves them.
    fn entries(&self) -> Result<Vec<(String, Value)>, Remote> {
        let path = &self.call.path;
        self.user.traverse(self.fs, path)?;
        let entries = match snapshots_of(self.fs, path) {
            Some(snapshots) => snapshots,
            None => self.own_entries(path)?,
        };
        Ok(match self.fault {
            Some(fault) => self.changed(fault, entries),
            None => entries,
        })
    }

    fn own_entries(&self, path: &str) -> Result<Vec<(String, Value)>, Remote> {
        let inode = self.fs.stat(path).ok_or_else(|| remote::no_directory(path))?;
        if !inode.is_dir() {
            return Ok(vec![(String::new(), status_of("", inode))]);
        }
        self.user.check(path, inode, Access::ReadExecute)?;
        let children = self.fs.list(path).unwrap_or_default();
        Ok(children.into_iter().map(|(name, child)| (name.clone(), status_of(&name, child))).collect())
    }

    fn changed(&self, fault: &Fault, entries: Vec<(String, Value)>) -> Vec<(String, Value)> {
        let mut shown = match &fault.entries {
            None => entries,
            Some(paths) => paths.iter().map(|path| (split(path).1.to_owned(), self.named_status(path))).collect(),
        };
        shown.retain(|(name, _)| !fault.omits(&join(&self.call.path, name)));
        shown
    }

    /// The status of a path that a fault puts into a listing, be it there or not.
    fn named_status(&self, path: &str) -> Value {
        let name = split(path).1;
        self.fs.stat(path).map_or_else(
            || {
                let body = InodeBody::File { length: 0, open: false, content: None };
                let (owner, group) = ("hdfs".to_owned(), "supergroup".to_owned());
                status_of(name, &Inode { id: 1, owner, group, mode: 0o644, mtime_ms: 0, body })
            },
            |inode| status_of(name, inode),
        )
    }

    fn content_summary(&self) -> Answer {
        let path = &self.call.path;
        self.user.traverse(self.fs, path)?;
        let top = self.fs.stat(path).ok_or_else(|| remote::no_file(path))?;
        self.user.may_read_below(self.fs, path)?;
        let all = self.fs.walk(path);
        let directories = all.iter().filter(|(_, inode)| inode.is_dir()).count();
        let length: u64 = all.iter().map(|(_, inode)| inode.length()).sum();
        let summary = json!({
            "directoryCount": directories,
            "ecPolicy": if top.is_dir() { "" } else { "Replicated" },
            "fileCount": all.len() - directories,
            "length": length,
            "quota": -1,
            "snapshotDirectoryCount": 0,
            "snapshotFileCount": 0,
            "snapshotLength": 0,
            "snapshotSpaceConsumed": 0,
            "spaceConsumed": length,
            "spaceQuota": -1,
            "typeQuota": {},
        });
        Ok(Reply::json(200, &json!({ "ContentSummary": summary })))
    }

    fn open(&self) -> Answer {
        let path = &self.call.path;
        self.user.traverse(self.fs, path)?;
        let inode = self.fs.stat(path).ok_or_else(|| remote::no_file(path))?;
        if inode.is_dir() {
            return Err(Remote::new("FileNotFoundException", format!("Path is not a file: {path}")));
        }
        self.user.check(path, inode, Access::Read)?;
        if !self.call.is_at_datanode() {
            return Ok(self.redirect());
        }
        let number = |name: &str| self.call.param(name).and_then(|text| text.parse::<usize>().ok());
        let bytes = self.fs.read(path).unwrap_or_default();
        let from = number("offset").unwrap_or(0).min(bytes.len());
        let to = from.saturating_add(number("length").unwrap_or(usize::MAX)).min(bytes.len());
        Ok(Reply::new(200, "application/octet-stream", &bytes[from..to]))
    }

    /// To a DataNode: this server again, told apart by the parameter that a NameNode adds.
    fn redirect(&self) -> Reply {
        let location = format!(
            "http://{}{}?{}&namenoderpcaddress=127.0.0.1:8020",
            self.call.host, self.call.raw_path, self.call.query
        );
        if self.call.param("noredirect") == Some("true") {
            return Reply::json(200, &json!({ "Location": location }));
        }
        Reply::new(307, "application/octet-stream", Vec::new()).with(header::LOCATION, &location)
    }

    fn mkdirs(&mut self) -> Answer {
        let path = &self.call.path;
        check_new_name(path)?;
        // FSDirMkdirOp: what is there already asks for no right to write.
        if self.fs.exists(path) {
            self.user.traverse(self.fs, path)?;
        } else {
            self.user.may_add(self.fs, path)?;
        }
        if takes_effect(self.fault) {
            let mut maker = Maker::new(&self.user.name);
            maker.dir_mode = octal(self.call.param("permission")).unwrap_or(maker.dir_mode);
            self.fs.mkdirs(path, &maker).map_err(refused)?;
        }
        Ok(boolean(true))
    }

    fn create(&mut self) -> Answer {
        let path = &self.call.path;
        check_new_name(path)?;
        self.user.may_add(self.fs, path)?;
        let overwrite = self.call.param("overwrite") == Some("true");
        if self.fs.exists(path) && !overwrite {
            let text = format!("{path} for client 127.0.0.1 already exists");
            return Err(Remote::new("FileAlreadyExistsException", text));
        }
        if !self.call.is_at_datanode() {
            return Ok(self.redirect());
        }
        if takes_effect(self.fault) {
            let mut maker = Maker::new(&self.user.name);
            maker.file_mode = octal(self.call.param("permission")).unwrap_or(maker.file_mode);
            self.fs.create(path, self.call.body.to_vec(), overwrite, &maker).map_err(refused)?;
        }
        Ok(Reply::empty(201).with(header::LOCATION, &format!("hdfs://127.0.0.1:8020{path}")))
    }

    fn delete(&mut self) -> Answer {
        let path = &self.call.path;
        let recursive = self.call.param("recursive") == Some("true");
        if components(path).any(|name| name == ".snapshot") {
            let text = "Modification on a read-only snapshot is disallowed";
            return Err(Remote::new("SnapshotAccessControlException", text));
        }
        self.user.may_remove(self.fs, path)?;
        let Some(inode) = self.fs.stat(path).filter(|inode| inode.id != ROOT_ID) else {
            return Ok(boolean(false));
        };
        if !recursive && inode.child_count() > 0 {
            return Err(refused(FsError::NotEmpty(path.clone())));
        }
        self.user.may_remove_below(self.fs, path)?;
        if !takes_effect(self.fault) {
            return Ok(boolean(true));
        }
        let partial = self.fault.filter(|fault| fault.effect_of_write() == Effect::Partial);
        let keeps = partial.map(|fault| fault.keeps.as_slice()).unwrap_or_default();
        self.fs.delete(path, recursive, keeps).map(boolean).map_err(refused)
    }

    fn rename(&mut self) -> Answer {
        let to = self.destination()?;
        let options = self.call.param("renameoptions").map(str::to_ascii_uppercase);
        self.user.may_remove(self.fs, &self.call.path)?;
        self.user.may_add(self.fs, &to)?;
        match options {
            None => self.rename_old(&to),
            Some(options) => self.rename_strict(&to, &options),
        }
    }

    /// The destination must be absolute; unlike a path in the URL it is resolved by Java's `Path`.
    fn destination(&self) -> Result<String, Remote> {
        let text = self.call.param("destination").unwrap_or_default();
        if !text.starts_with('/') {
            let why = format!("Invalid parameter value: destination = \"{text}\" is not an absolute path.");
            return Err(remote::bad_parameter("destination", &why));
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in components(text) {
            match part {
                "." => {}
                ".." => drop(parts.pop()),
                name => parts.push(name),
            }
        }
        Ok(normal(&format!("/{}", parts.join("/"))))
    }

    /// RENAME without options: true or false, and into a directory that is there already.
    fn rename_old(&mut self, to: &str) -> Answer {
        let from = &self.call.path;
        let into = match self.fs.stat(to) {
            Some(inode) if inode.is_dir() => join(to, split(from).1),
            _ => to.to_owned(),
        };
        if !takes_effect(self.fault) {
            return Ok(boolean(true));
        }
        match self.fs.rename(from, &into) {
            Ok(()) => Ok(boolean(true)),
            Err(error @ FsError::HasSnapshots(_)) => Err(refused(error)),
            Err(_) => Ok(boolean(false)),
        }
    }

    /// RENAME with options (`rename2`): exactly to the destination, or a typed refusal.
    fn rename_strict(&mut self, to: &str, options: &str) -> Answer {
        let from = &self.call.path;
        let has = |option: &str| options.split(',').any(|it| it == option);
        if has("TO_TRASH") {
            self.user.may_remove_below(self.fs, from)?;
        }
        if !self.fs.exists(from) {
            return Err(Remote::new("FileNotFoundException", format!("rename source {from} is not found.")));
        }
        if takes_effect(self.fault) {
            if has("OVERWRITE") && self.fs.stat(to).is_some_and(|inode| inode.child_count() == 0) {
                self.fs.delete(to, false, &[]).map_err(refused)?;
            }
            self.fs.rename(from, to).map_err(|error| rename_refused(error, to))?;
        }
        Ok(Reply::new(200, "application/octet-stream", Vec::new()))
    }
}

fn refuse_standby(server: &HdfsServer, category: &str) -> Result<(), Remote> {
    match server.state {
        HaState::Active => Ok(()),
        HaState::Standby => Err(remote::standby(category)),
    }
}

fn rename_refused(error: FsError, to: &str) -> Remote {
    match error {
        FsError::Exists(_) => {
            Remote::new("FileAlreadyExistsException", format!("rename destination {to} already exists"))
        }
        FsError::ParentMissing(_) => {
            Remote::new("FileNotFoundException", format!("rename destination parent {to} not found."))
        }
        FsError::ParentIsFile(_) => {
            Remote::new("ParentNotDirectoryException", format!("rename destination parent {to} is a file."))
        }
        FsError::IntoItself(from) => {
            Remote::new("IOException", format!("Rename destination {to} is a directory or file under source {from}"))
        }
        other => refused(other),
    }
}

fn refused(error: FsError) -> Remote {
    match error {
        FsError::ParentIsFile(path) => {
            Remote::new("ParentNotDirectoryException", format!("{path} (is not a directory)"))
        }
        FsError::Exists(path) => Remote::new("FileAlreadyExistsException", format!("Path is not a directory: {path}")),
        FsError::NotEmpty(path) => {
            Remote::new("PathIsNotEmptyDirectoryException", format!("`{path} is non empty': Directory is not empty"))
        }
        FsError::HasSnapshots(path) => remote::has_snapshots(&path),
        FsError::Missing(path) | FsError::ParentMissing(path) => remote::no_file(&path),
        FsError::IntoItself(path) => Remote::new("IOException", format!("{path} cannot be moved below itself")),
    }
}

/// Refuses names that HDFS never makes.
fn check_new_name(path: &str) -> Result<(), Remote> {
    if components(path).next().is_some_and(|first| first == ".reserved") {
        let text = "File name \".reserved\" is reserved and cannot be created. If this is during upgrade change the name of the existing file or directory to another name before upgrading to the new release.";
        return Err(Remote::new("HadoopIllegalArgumentException", text));
    }
    if components(path).any(|name| name == "." || name == ".." || name.contains(':')) {
        let text = format!("Invalid path name Invalid file name: {path}");
        return Err(Remote::new("InvalidPathException", text));
    }
    if let Some(long) = components(path).find(|name| name.len() > MAX_COMPONENT) {
        let text = format!(
            "The maximum path component name limit of {long} in directory {} is exceeded: limit={MAX_COMPONENT} length={}",
            split(path).0,
            long.len()
        );
        return Err(Remote::new("PathComponentTooLongException", text));
    }
    Ok(())
}

/// The snapshots of a directory, for the path of its `.snapshot`.
fn snapshots_of(fs: &FileSystem, path: &str) -> Option<Vec<(String, Value)>> {
    let holder = fs.stat(path.strip_suffix("/.snapshot")?)?;
    let InodeBody::Dir { snapshottable: true, snapshots, .. } = &holder.body else { return None };
    let mut entries: Vec<(String, Value)> =
        snapshots.iter().map(|name| (name.clone(), status_of(name, holder))).collect();
    entries.sort_by_key(|(name, _)| JavaName(name.as_str().into()));
    Some(entries)
}

/// Number of the page a batched listing asks for, from 1.
pub fn page_number(fs: &FileSystem, call: &Call, page_limit: usize) -> u32 {
    let Some(after) = call.param("startafter") else { return 1 };
    let after = JavaName(after.into());
    let before = fs.list(&call.path).unwrap_or_default().into_iter();
    let before = before.filter(|(name, _)| JavaName(name.as_str().into()) <= after).count();
    u32::try_from(before.div_ceil(page_limit.max(1)) + 1).unwrap_or(u32::MAX)
}

/// Where a page begins: behind `startAfter`, which need not exist.
fn start_of_page(entries: &[(String, Value)], call: &Call) -> usize {
    let Some(after) = call.param("startafter") else { return 0 };
    let after = JavaName(after.into());
    entries.iter().take_while(|(name, _)| JavaName(name.as_str().into()) <= after).count()
}

fn status_of(name: &str, inode: &Inode) -> Value {
    let is_file = !inode.is_dir();
    let mut status = json!({
        "accessTime": if is_file { inode.mtime_ms } else { 0 },
        "blockSize": if is_file { BLOCK_SIZE } else { 0 },
        "childrenNum": inode.child_count(),
        "fileId": inode.id,
        "group": inode.group,
        "length": inode.length(),
        "modificationTime": inode.mtime_ms,
        "owner": inode.owner,
        "pathSuffix": name,
        "permission": format!("{:o}", inode.mode),
        "replication": i32::from(is_file),
        "storagePolicy": 0,
        "type": if is_file { "FILE" } else { "DIRECTORY" },
    });
    let snapshottable = matches!(inode.body, InodeBody::Dir { snapshottable: true, .. });
    if snapshottable || inode.id == ROOT_ID {
        status["snapshotEnabled"] = json!(true);
    }
    status
}

fn server_defaults(server: &HdfsServer) -> Reply {
    let defaults = json!({
        "replication": 3,
        "encryptDataTransfer": false,
        "defaultStoragePolicyId": 7,
        "writePacketSize": 65_536,
        "fileBufferSize": 4096,
        "checksumType": 2,
        "trashInterval": server.trash_interval.seconds() / 60,
        "keyProviderUri": "",
        "blockSize": BLOCK_SIZE,
        "bytesPerChecksum": 512,
    });
    Reply::json(200, &json!({ "FsServerDefaults": defaults }))
}

fn path_reply(path: &str) -> Reply {
    Reply::json(200, &json!({ "Path": path }))
}

fn boolean(value: bool) -> Reply {
    Reply::json(200, &json!({ "boolean": value }))
}

fn octal(text: Option<&str>) -> Option<u16> {
    u16::from_str_radix(text?, 8).ok().filter(|mode| *mode <= 0o1777)
}
