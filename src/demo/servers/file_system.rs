//! The file system of the embedded NameNode: inodes with stable ids, in memory.
//!
//! It knows names, times, owners and snapshots as HDFS 3.4.1 keeps them. Who may do what is `webhdfs`'s part, and the
//! DolphinScheduler server works on it as a superuser does. Shared as [`SharedFileSystem`].

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::wire::ServerClock;
use crate::demo::world::{Damage, Entry, EntryType, World};
use crate::domain::Age;

/// The id of `/`; the first inode of every HDFS.
pub const ROOT_ID: u64 = 16_385;

/// What a file of a known length but unknown content is filled with.
const FILLER: &[u8] = b"# embedded platform\n";

/// A name, ordered as Java orders signed bytes: a name that begins with a non-ASCII byte sorts before all ASCII names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JavaName(pub Box<str>);

impl Ord for JavaName {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.bytes().map(u8::cast_signed).cmp(other.0.bytes().map(u8::cast_signed))
    }
}

impl PartialOrd for JavaName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A file or directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inode {
    /// Stable over renames, never used again.
    pub id: u64,
    /// Owner.
    pub owner: String,
    /// Group.
    pub group: String,
    /// Permission bits with the sticky bit.
    pub mode: u16,
    /// Modification time by the NameNode's clock, in milliseconds.
    pub mtime_ms: i64,
    /// What it is.
    pub body: InodeBody,
}

/// What an inode holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InodeBody {
    /// A directory.
    Dir {
        /// Ids by name.
        children: BTreeMap<JavaName, u64>,
        /// Whether snapshots may be made of it.
        snapshottable: bool,
        /// Names of its snapshots.
        snapshots: Vec<String>,
    },
    /// A file.
    File {
        /// Bytes.
        length: u64,
        /// Whether it is being written.
        open: bool,
        /// Its bytes, where they matter.
        content: Option<Vec<u8>>,
    },
}

impl Inode {
    /// Whether it is a directory.
    pub fn is_dir(&self) -> bool {
        matches!(self.body, InodeBody::Dir { .. })
    }

    /// The children of a directory; none of a file.
    pub fn children(&self) -> impl DoubleEndedIterator<Item = (&str, u64)> {
        let children = match &self.body {
            InodeBody::Dir { children, .. } => Some(children),
            InodeBody::File { .. } => None,
        };
        children.into_iter().flatten().map(|(name, id)| (&*name.0, *id))
    }

    /// Number of children; 0 for a file.
    pub fn child_count(&self) -> usize {
        match &self.body {
            InodeBody::Dir { children, .. } => children.len(),
            InodeBody::File { .. } => 0,
        }
    }

    /// Bytes of a file; 0 for a directory.
    pub fn length(&self) -> u64 {
        match &self.body {
            InodeBody::Dir { .. } => 0,
            InodeBody::File { length, .. } => *length,
        }
    }

    /// Whether snapshots of it exist.
    pub fn has_snapshots(&self) -> bool {
        matches!(&self.body, InodeBody::Dir { snapshots, .. } if !snapshots.is_empty())
    }
}

/// Why a change was not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FsError {
    /// A component on the way is a file.
    #[error("{0} (is not a directory)")]
    ParentIsFile(String),
    /// A file is where a directory should be, or the other way round, or something is there already.
    #[error("{0} already exists as something else")]
    Exists(String),
    /// Not there.
    #[error("{0} does not exist")]
    Missing(String),
    /// The parent of the destination is not there.
    #[error("the parent of {0} does not exist")]
    ParentMissing(String),
    /// A directory that has entries.
    #[error("{0} is not empty")]
    NotEmpty(String),
    /// Into itself.
    #[error("{0} cannot be moved below itself")]
    IntoItself(String),
    /// A snapshottable directory with snapshots is in the way.
    #[error("{0} has snapshots")]
    HasSnapshots(String),
}

/// The file system behind the lock that the servers share.
#[derive(Debug, Clone)]
pub struct SharedFileSystem(Arc<Mutex<FileSystem>>);

impl SharedFileSystem {
    /// Shares a file system.
    pub fn new(file_system: FileSystem) -> Self {
        Self(Arc::new(Mutex::new(file_system)))
    }

    /// Locks it. Never held over an `await`.
    pub fn lock(&self) -> MutexGuard<'_, FileSystem> {
        // Every change is made by one call, so a panic elsewhere leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Files and directories by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSystem {
    inodes: HashMap<u64, Inode>,
    next_id: u64,
    clock: ServerClock,
}

/// Owner and mode of what is made new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Maker {
    /// Owner of new inodes.
    pub user: String,
    /// Mode of new directories.
    pub dir_mode: u16,
    /// Mode of new files.
    pub file_mode: u16,
}

impl Maker {
    /// The usual modes under umask 022.
    pub fn new(user: &str) -> Self {
        Self { user: user.to_owned(), dir_mode: 0o755, file_mode: 0o644 }
    }
}

impl FileSystem {
    /// Only `/`, owned by `hdfs`.
    pub fn empty(clock: ServerClock) -> Self {
        let mut fs = Self { inodes: HashMap::new(), next_id: ROOT_ID, clock };
        let now = clock.now().as_millisecond();
        fs.add_inode("hdfs", 0o755, now, InodeBody::directory());
        fs
    }

    /// What a world lists. Parents that are not listed take the newest time below them; the caller's home exists.
    pub fn from_world(world: &World) -> Self {
        let mut fs = Self::empty(ServerClock { behind: world.clock.tool_minus_namenode.0 });
        let stated: Vec<String> = world.hdfs.listing.iter().map(|entry| normal(&entry.path)).collect();
        for (entry, path) in world.hdfs.listing.iter().zip(&stated) {
            fs.plant(world, entry, path);
        }
        let caller = world.caller().user;
        let home = format!("/user/{caller}");
        if !fs.exists(&home) {
            let id = fs.plant_dir(&home);
            fs.change(id, |inode| {
                inode.owner = caller;
                inode.mtime_ms = world.server_time(Age::from_hours(24 * 365)).as_millisecond();
            });
        }
        fs.age_unlisted(ROOT_ID, "/", &stated);
        fs
    }

    /// Adds one entry of a world, with what is said about it.
    fn plant(&mut self, world: &World, entry: &Entry, path: &str) {
        let mtime_ms = world.server_time(entry.mtime_age).as_millisecond();
        let id = match entry.kind {
            EntryType::Dir => self.plant_dir(path),
            EntryType::File => self.plant_file(world, path, entry),
        };
        self.change(id, |inode| {
            inode.mtime_ms = mtime_ms;
            if let Some(owner) = &entry.owner {
                inode.owner.clone_from(owner);
            }
            if let Some(group) = &entry.group {
                inode.group.clone_from(group);
            }
            if let Some(perms) = entry.perms {
                inode.mode = perms.0;
            }
            if let InodeBody::Dir { snapshottable, snapshots, .. } = &mut inode.body {
                *snapshottable = entry.snapshottable || !entry.snapshots.is_empty();
                snapshots.clone_from(&entry.snapshots);
            }
        });
        for number in 0..entry.children {
            let name = format!("00000000-0000-4000-8000-{number:012x}");
            let body = InodeBody::File { length: 1, open: false, content: None };
            let child = self.add_inode("hdfs", 0o644, mtime_ms, body);
            self.link(id, &name, child);
        }
    }

    fn plant_dir(&mut self, path: &str) -> u64 {
        let mut here = ROOT_ID;
        for name in components(path) {
            here = match self.child(here, name) {
                Some(child) => child,
                None => self.add_child(here, name, "hdfs", 0o755, i64::MIN, InodeBody::directory()),
            };
        }
        here
    }

    fn plant_file(&mut self, world: &World, path: &str, entry: &Entry) -> u64 {
        let (parent, name) = split(path);
        let parent = self.plant_dir(parent);
        let content = (name == "_metadata").then(|| metadata_bytes(world, path, entry));
        let length = content.as_ref().map_or(entry.size, |bytes| bytes.len() as u64);
        let body = InodeBody::File { length, open: entry.open, content };
        self.add_child(parent, name, "hdfs", 0o644, i64::MIN, body)
    }

    /// Gives every directory that is not listed itself the newest time of what is below it.
    fn age_unlisted(&mut self, id: u64, path: &str, stated: &[String]) -> i64 {
        let children: Vec<(String, u64)> = match self.inodes.get(&id) {
            Some(inode) => inode.children().map(|(name, child)| (name.to_owned(), child)).collect(),
            None => Vec::new(),
        };
        let below = children.iter().map(|(name, child)| self.age_unlisted(*child, &join(path, name), stated)).max();
        let own = self.inodes.get(&id).map_or(i64::MIN, |inode| inode.mtime_ms);
        let is_listed = own != i64::MIN && (path != "/" || stated.iter().any(|it| it == "/"));
        let newest = below.unwrap_or(own);
        if !is_listed {
            self.change(id, |inode| inode.mtime_ms = newest);
        }
        if is_listed { own.max(newest) } else { newest }
    }

    /// Whether something sits at `path`.
    pub fn exists(&self, path: &str) -> bool {
        self.stat(path).is_some()
    }

    /// What sits at `path`. `.snapshot/NAME` leads back into the directory, `/.reserved/.inodes/ID` to any inode.
    pub fn stat(&self, path: &str) -> Option<&Inode> {
        self.inodes.get(&self.resolve(path)?)
    }

    /// The inode of an id.
    pub fn inode(&self, id: u64) -> Option<&Inode> {
        self.inodes.get(&id)
    }

    /// Name and inode of each child, in the order of the NameNode; `None` if nothing or a file is there.
    pub fn list(&self, path: &str) -> Option<Vec<(String, &Inode)>> {
        let inode = self.stat(path)?;
        inode
            .is_dir()
            .then(|| inode.children().filter_map(|(name, id)| Some((name.to_owned(), self.inodes.get(&id)?))).collect())
    }

    /// The bytes of a file; a filler of the right length where the content does not matter.
    pub fn read(&self, path: &str) -> Option<Vec<u8>> {
        match &self.stat(path)?.body {
            InodeBody::Dir { .. } => None,
            InodeBody::File { content: Some(bytes), .. } => Some(bytes.clone()),
            InodeBody::File { length, .. } => {
                Some(FILLER.iter().copied().cycle().take(usize::try_from(*length).unwrap_or(0)).collect())
            }
        }
    }

    /// Makes a directory and its missing parents; one that is there is fine.
    pub fn mkdirs(&mut self, path: &str, maker: &Maker) -> Result<(), FsError> {
        let mut here = ROOT_ID;
        let mut walked = String::new();
        for name in components(path) {
            let next = self.child(here, name);
            if self.inodes.get(&here).is_some_and(|inode| !inode.is_dir()) {
                return Err(FsError::ParentIsFile(walked));
            }
            walked = join(&walked, name);
            here = if let Some(child) = next {
                child
            } else {
                let now = self.now_ms();
                let child = self.add_child(here, name, &maker.user, maker.dir_mode, now, InodeBody::directory());
                self.touch(here);
                child
            };
        }
        match self.inodes.get(&here) {
            Some(inode) if !inode.is_dir() => Err(FsError::Exists(path.to_owned())),
            _ => Ok(()),
        }
    }

    /// Writes a file and its missing parents; replaces a file only if `overwrite`.
    pub fn create(&mut self, path: &str, content: Vec<u8>, overwrite: bool, maker: &Maker) -> Result<(), FsError> {
        let (parent, name) = split(path);
        if let Some(there) = self.stat(path)
            && (there.is_dir() || !overwrite)
        {
            return Err(FsError::Exists(path.to_owned()));
        }
        self.mkdirs(parent, maker)?;
        let parent = self.resolve(parent).ok_or_else(|| FsError::ParentMissing(path.to_owned()))?;
        self.drop_child(parent, name);
        let body = InodeBody::File { length: content.len() as u64, open: false, content: Some(content) };
        let now = self.now_ms();
        self.add_child(parent, name, &maker.user, maker.file_mode, now, body);
        self.touch(parent);
        Ok(())
    }

    /// Removes a path with everything below, but for the paths in `keeps` and the directories on the way to them.
    /// Whether something was there. `/` is never removed.
    pub fn delete(&mut self, path: &str, recursive: bool, keeps: &[String]) -> Result<bool, FsError> {
        let Some(inode) = self.stat(path) else { return Ok(false) };
        if inode.id == ROOT_ID {
            return Ok(false);
        }
        if !recursive && inode.child_count() > 0 {
            return Err(FsError::NotEmpty(path.to_owned()));
        }
        self.refuse_snapshots(path)?;
        self.remove(path, keeps);
        Ok(true)
    }

    fn remove(&mut self, path: &str, keeps: &[String]) {
        if keeps.iter().any(|kept| kept == path) {
            return;
        }
        let kept_below = keeps.iter().any(|kept| kept.starts_with(&format!("{path}/")));
        let (parent, name) = split(path);
        if kept_below {
            let names: Vec<String> =
                self.list(path).unwrap_or_default().into_iter().map(|(name, _)| join(path, &name)).collect();
            for child in names {
                self.remove(&child, keeps);
            }
        } else if let Some(parent) = self.resolve(parent) {
            self.drop_child(parent, name);
            self.touch(parent);
        }
    }

    /// Moves `from` to exactly `to` (`rename2`): the parent must be there, the place must be free.
    pub fn rename(&mut self, from: &str, to: &str) -> Result<(), FsError> {
        let Some(id) = self.resolve(from).filter(|id| *id != ROOT_ID) else {
            return Err(FsError::Missing(from.to_owned()));
        };
        if to.starts_with(&format!("{from}/")) {
            return Err(FsError::IntoItself(from.to_owned()));
        }
        self.refuse_snapshots(from)?;
        if self.exists(to) {
            return Err(FsError::Exists(to.to_owned()));
        }
        let ((old_parent, old_name), (new_parent, new_name)) = (split(from), split(to));
        let new_parent = match self.resolve(new_parent) {
            Some(parent) if self.inodes.get(&parent).is_some_and(Inode::is_dir) => parent,
            Some(_) => return Err(FsError::ParentIsFile(new_parent.to_owned())),
            None => return Err(FsError::ParentMissing(to.to_owned())),
        };
        if let Some(old_parent) = self.resolve(old_parent) {
            self.unlink(old_parent, old_name);
            self.touch(old_parent);
        }
        self.link(new_parent, new_name, id);
        self.touch(new_parent);
        Ok(())
    }

    /// Sets owner, group and mode where given; a missing path is left alone.
    pub fn set_access(&mut self, path: &str, owner: Option<&str>, mode: Option<u16>) {
        if let Some(id) = self.resolve(path) {
            self.change(id, |inode| {
                if let Some(owner) = owner {
                    owner.clone_into(&mut inode.owner);
                }
                inode.mode = mode.unwrap_or(inode.mode);
            });
        }
    }

    /// Sets a modification time, as SETTIMES does; a missing path is left alone.
    pub fn set_mtime(&mut self, path: &str, mtime_ms: i64) {
        if let Some(id) = self.resolve(path) {
            self.change(id, |inode| inode.mtime_ms = mtime_ms);
        }
    }

    /// Every inode at or below `path`, parents first, with its path.
    pub fn walk(&self, path: &str) -> Vec<(String, &Inode)> {
        let mut found = Vec::new();
        let mut open: Vec<(String, u64)> = self.resolve(path).map(|id| (path.to_owned(), id)).into_iter().collect();
        while let Some((path, id)) = open.pop() {
            let Some(inode) = self.inodes.get(&id) else { continue };
            open.extend(inode.children().rev().map(|(name, child)| (join(&path, name), child)));
            found.push((path, inode));
        }
        found
    }

    /// The first directory at or below `path` of which snapshots exist.
    pub fn snapshots_at_or_below(&self, path: &str) -> Option<String> {
        self.walk(path).into_iter().find(|(_, inode)| inode.has_snapshots()).map(|(path, _)| path)
    }

    /// Gives what is unchanged since `old` (same path, kind and, for a file, time) its old id, and everything else a new one.
    pub fn keep_ids(&mut self, old: &Self) {
        let mut next = old.next_id.max(self.next_id);
        let mut ids = HashMap::new();
        for (path, inode) in self.walk("/") {
            let same = old.stat(&path).filter(|before| {
                before.is_dir() == inode.is_dir() && (inode.is_dir() || before.mtime_ms == inode.mtime_ms)
            });
            ids.insert(inode.id, same.map_or(next, |before| before.id));
            next += u64::from(same.is_none());
        }
        let new_id = |id: u64| ids.get(&id).copied().unwrap_or(id);
        self.inodes = std::mem::take(&mut self.inodes)
            .into_values()
            .map(|mut inode| {
                inode.id = new_id(inode.id);
                if let InodeBody::Dir { children, .. } = &mut inode.body {
                    for child in children.values_mut() {
                        *child = new_id(*child);
                    }
                }
                (inode.id, inode)
            })
            .collect();
        self.next_id = next;
    }

    fn refuse_snapshots(&self, path: &str) -> Result<(), FsError> {
        self.snapshots_at_or_below(path).map_or(Ok(()), |held| Err(FsError::HasSnapshots(held)))
    }

    fn resolve(&self, path: &str) -> Option<u64> {
        if let Some(id) = path.strip_prefix("/.reserved/.inodes/") {
            return id.parse().ok().filter(|id| self.inodes.contains_key(id));
        }
        let mut here = ROOT_ID;
        let mut names = components(path);
        while let Some(name) = names.next() {
            if name == ".snapshot" {
                let InodeBody::Dir { snapshots, .. } = &self.inodes.get(&here)?.body else { return None };
                let wanted = names.next()?;
                snapshots.iter().find(|name| *name == wanted)?;
                continue;
            }
            here = self.child(here, name)?;
        }
        Some(here)
    }

    fn child(&self, parent: u64, name: &str) -> Option<u64> {
        match &self.inodes.get(&parent)?.body {
            InodeBody::Dir { children, .. } => children.get(&JavaName(name.into())).copied(),
            InodeBody::File { .. } => None,
        }
    }

    fn add_inode(&mut self, owner: &str, mode: u16, mtime_ms: i64, body: InodeBody) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let (owner, group) = (owner.to_owned(), "supergroup".to_owned());
        self.inodes.insert(id, Inode { id, owner, group, mode, mtime_ms, body });
        id
    }

    fn add_child(&mut self, parent: u64, name: &str, owner: &str, mode: u16, mtime_ms: i64, body: InodeBody) -> u64 {
        let id = self.add_inode(owner, mode, mtime_ms, body);
        self.link(parent, name, id);
        id
    }

    fn link(&mut self, parent: u64, name: &str, id: u64) {
        self.change(parent, |inode| {
            if let InodeBody::Dir { children, .. } = &mut inode.body {
                children.insert(JavaName(name.into()), id);
            }
        });
    }

    fn unlink(&mut self, parent: u64, name: &str) -> Option<u64> {
        match &mut self.inodes.get_mut(&parent)?.body {
            InodeBody::Dir { children, .. } => children.remove(&JavaName(name.into())),
            InodeBody::File { .. } => None,
        }
    }

    fn drop_child(&mut self, parent: u64, name: &str) {
        let mut gone: Vec<u64> = self.unlink(parent, name).into_iter().collect();
        while let Some(id) = gone.pop() {
            if let Some(inode) = self.inodes.remove(&id) {
                gone.extend(inode.children().map(|(_, child)| child));
            }
        }
    }

    fn touch(&mut self, id: u64) {
        let now = self.now_ms();
        self.change(id, |inode| inode.mtime_ms = now);
    }

    fn change(&mut self, id: u64, change: impl FnOnce(&mut Inode)) {
        if let Some(inode) = self.inodes.get_mut(&id) {
            change(inode);
        }
    }

    fn now_ms(&self) -> i64 {
        self.clock.now().as_millisecond()
    }
}

impl InodeBody {
    fn directory() -> Self {
        Self::Dir { children: BTreeMap::new(), snapshottable: false, snapshots: Vec::new() }
    }
}

/// What a `_metadata` of the world holds, as Flink of the cluster that writes there would write it.
fn metadata_bytes(world: &World, path: &str, entry: &Entry) -> Vec<u8> {
    let number = path.rsplit_once("/chk-").and_then(|(_, rest)| rest.split('/').next()?.parse().ok());
    let length = |file: &str| {
        let listed = world.hdfs.listing.iter().find(|other| normal(&other.path) == normal(file));
        listed.map_or(1, |other| other.size)
    };
    let absolute = |file: &String| {
        let uri = if file.starts_with('/') { format!("{}{file}", world.authority()) } else { file.clone() };
        (uri, length(file))
    };
    let files: Vec<(String, u64)> = entry.refers_to.iter().flatten().map(absolute).collect();
    let whole = super::metadata::bytes(world.flink_version_at(path), number.unwrap_or(1), &files);
    match entry.metadata {
        None => whole,
        Some(Damage::Truncated) => whole[..whole.len() / 2].to_vec(),
        Some(Damage::Garbage) => b"this is no checkpoint".to_vec(),
    }
}

/// The path without doubled and trailing slashes.
pub fn normal(path: &str) -> String {
    let mut clean = String::with_capacity(path.len());
    for name in components(path) {
        clean.push('/');
        clean.push_str(name);
    }
    if clean.is_empty() { "/".to_owned() } else { clean }
}

/// Components of a path.
pub fn components(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|name| !name.is_empty())
}

/// Parent and last component; `/` and nothing for the root.
pub fn split(path: &str) -> (&str, &str) {
    match path.rsplit_once('/') {
        Some(("", name)) => ("/", name),
        Some((parent, name)) => (parent, name),
        None => ("/", path),
    }
}

/// The entry `name` of directory `parent`.
pub fn join(parent: &str, name: &str) -> String {
    if parent == "/" { format!("/{name}") } else { format!("{parent}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world(listing: &str) -> World {
        let text = format!("title: t\nclock: {{tool_minus_namenode: +1h}}\nhdfs:\n  listing:\n{listing}");
        World::load(&text, "2026-11-01T12:00:00Z".parse().expect("a time")).expect("a world")
    }

    fn age_hours(world: &World, fs: &FileSystem, path: &str) -> i64 {
        let mtime = fs.stat(path).expect("an entry").mtime_ms;
        (world.t0.as_millisecond() - mtime) / 3_600_000
    }

    #[test]
    fn unlisted_parents_take_the_newest_time_below_and_skew_is_added() {
        let world = world(
            "    - {path: /a/b/old, type: file, size: 3, mtime_age: 30h}\n    - {path: /a/b/c/new, type: file, size: 4, mtime_age: 2h}\n    \
             - {path: /a/b/c, type: dir, mtime_age: 9h}\n    - {path: /x, type: dir, children: 3, mtime_age: 4h, owner: bob, perms: rwx------}\n",
        );
        let fs = FileSystem::from_world(&world);
        assert_eq!(
            ["/a/b", "/a", "/a/b/c", "/a/b/old", "/"].map(|path| age_hours(&world, &fs, path)),
            [3, 3, 10, 31, 3]
        );
        let x = fs.stat("/x").expect("a directory");
        assert_eq!((x.owner.as_str(), x.mode, x.child_count()), ("bob", 0o700, 3));
        assert_eq!(fs.stat("/user/statewarden").expect("the home").owner, "statewarden");
        assert!(!fs.exists("/a/b/nope") && !fs.exists("/tmp"));
    }

    #[test]
    fn ids_stay_over_a_rename_and_are_not_used_again() {
        let mut fs = FileSystem::from_world(&world("    - {path: /a/f, type: file, size: 3, mtime_age: 30h}\n"));
        let id = fs.stat("/a/f").expect("a file").id;
        let mtime = fs.stat("/a/f").expect("a file").mtime_ms;
        fs.rename("/a/f", "/g").expect("a move");
        assert_eq!(fs.stat("/g").map(|inode| (inode.id, inode.mtime_ms)), Some((id, mtime)));
        assert!(fs.stat("/a").expect("a directory").mtime_ms > mtime);
        assert_eq!(fs.delete("/g", false, &[]), Ok(true));
        fs.create("/g", b"x".to_vec(), false, &Maker::new("u")).expect("a file");
        assert!(fs.stat("/g").expect("a file").id > id);
    }

    #[test]
    fn a_partial_delete_leaves_what_it_keeps() {
        let mut fs = FileSystem::from_world(&world(
            "    - {path: /d/a/x, type: file, size: 1, mtime_age: 1h}\n    - {path: /d/a/y, type: file, size: 1, mtime_age: 1h}\n    \
             - {path: /d/b, type: file, size: 1, mtime_age: 1h}\n",
        ));
        assert_eq!(fs.delete("/d", false, &[]), Err(FsError::NotEmpty("/d".into())));
        assert_eq!(fs.delete("/d", true, &["/d/a/y".to_owned()]), Ok(true));
        let left: Vec<String> = fs.walk("/d").into_iter().map(|(path, _)| path).collect();
        assert_eq!(left, ["/d", "/d/a", "/d/a/y"]);
        assert_eq!(fs.delete("/gone", true, &[]), Ok(false));
    }

    #[test]
    fn snapshots_hold_their_directory_and_every_ancestor() {
        let mut fs = FileSystem::from_world(&world(
            "    - {path: /p/s, type: dir, snapshottable: true, snapshots: [s1], mtime_age: 1h}\n    - {path: /p/s/d, type: dir, mtime_age: 1h}\n",
        ));
        assert_eq!(fs.delete("/p", true, &[]), Err(FsError::HasSnapshots("/p/s".into())));
        assert_eq!(fs.rename("/p/s", "/q"), Err(FsError::HasSnapshots("/p/s".into())));
        assert!(fs.exists("/p/s/.snapshot/s1/d") && !fs.exists("/p/s/.snapshot/s2/d"));
        assert_eq!(fs.delete("/p/s/d", true, &[]), Ok(true));
    }

    #[test]
    fn renames_need_a_free_place_under_an_existing_parent() {
        let mut fs = FileSystem::from_world(&world(
            "    - {path: /a/f, type: file, size: 3, mtime_age: 30h}\n    - {path: /b, type: dir, mtime_age: 1h}\n",
        ));
        assert_eq!(fs.rename("/gone", "/c"), Err(FsError::Missing("/gone".into())));
        assert_eq!(fs.rename("/a", "/b"), Err(FsError::Exists("/b".into())));
        assert_eq!(fs.rename("/a", "/no/parent"), Err(FsError::ParentMissing("/no/parent".into())));
        assert_eq!(fs.rename("/a", "/a/f/x"), Err(FsError::IntoItself("/a".into())));
        assert_eq!(fs.rename("/b", "/a/f/x"), Err(FsError::ParentIsFile("/a/f".into())));
        assert_eq!(fs.mkdirs("/a/f/x", &Maker::new("u")), Err(FsError::ParentIsFile("/a/f".into())));
    }

    #[test]
    fn an_exchanged_world_keeps_the_ids_of_what_is_unchanged() {
        let listing = "    - {path: /a/same, type: file, size: 3, mtime_age: 30h}\n    - {path: /a/other, type: file, size: 3, mtime_age: 30h}\n";
        let old = FileSystem::from_world(&world(listing));
        let mut new = FileSystem::from_world(&world(&format!(
            "    - {{path: /0, type: dir, mtime_age: 1h}}\n{}",
            listing.replace("other, type: file, size: 3, mtime_age: 30h", "other, type: file, size: 3, mtime_age: 1h")
        )));
        new.keep_ids(&old);
        let id = |fs: &FileSystem, path: &str| fs.stat(path).expect("an entry").id;
        for path in ["/", "/a", "/a/same"] {
            assert_eq!(id(&new, path), id(&old, path), "{path}");
        }
        assert!(id(&new, "/a/other") >= old.next_id && id(&new, "/0") >= old.next_id);
        assert_ne!(id(&new, "/a/other"), id(&new, "/0"));
    }

    #[test]
    fn names_sort_as_signed_bytes() {
        let mut names = ["b", ".hidden", "\u{fc}n", "a"].map(|name| JavaName(name.into()));
        names.sort();
        assert_eq!(names.map(|name| name.0.to_string()), ["\u{fc}n", ".hidden", "a", "b"]);
    }
}
