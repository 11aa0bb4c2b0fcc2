//! Where the server keeps its files: any file system with these few calls.

use std::collections::BTreeMap;

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::sync::Mutex;

use crate::domain::HdfsPath;

/// The file system refused or could not be asked. The server then answers as it does on an `IOException`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the file store did not do it: {0}")]
pub struct StoreError(pub String);

/// What sits at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredStatus {
    /// Whether it is a directory.
    pub directory: bool,
    /// Bytes; 0 for a directory.
    pub size: u64,
    /// Modification time by the clock of the store.
    pub modified: Timestamp,
}

/// The calls DolphinScheduler makes on its storage, all as the super user of the store and past its Trash.
#[async_trait]
pub trait FileStore: Send + Sync {
    /// What sits at a path; `None`: nothing.
    async fn stat(&self, path: &HdfsPath) -> Result<Option<StoredStatus>, StoreError>;

    /// The names in a directory in byte order, or the one entry with an empty name if it is a file; `None`: nothing there.
    async fn list(&self, path: &HdfsPath) -> Result<Option<Vec<(String, StoredStatus)>>, StoreError>;

    /// The bytes of a file; `None`: nothing there, or a directory.
    async fn read(&self, path: &HdfsPath) -> Result<Option<Vec<u8>>, StoreError>;

    /// Writes a file, over an old one, with its parents.
    async fn create(&self, path: &HdfsPath, bytes: &[u8]) -> Result<(), StoreError>;

    /// Makes a directory with its parents.
    async fn make_directory(&self, path: &HdfsPath) -> Result<(), StoreError>;

    /// Removes a path with all below, without Trash; whether something was there.
    async fn delete(&self, path: &HdfsPath) -> Result<bool, StoreError>;

    /// Moves a path; whether it was done.
    async fn rename(&self, from: &HdfsPath, to: &HdfsPath) -> Result<bool, StoreError>;
}

/// A store that is not the platform's HDFS: a set of paths, kept in memory.
#[derive(Debug, Default)]
pub struct SeparateStore {
    entries: Mutex<BTreeMap<HdfsPath, Held>>,
}

#[derive(Debug, Clone)]
struct Held {
    directory: bool,
    bytes: Vec<u8>,
    modified: Timestamp,
}

impl Held {
    fn status(&self) -> StoredStatus {
        let size = u64::try_from(self.bytes.len()).unwrap_or(u64::MAX);
        StoredStatus { directory: self.directory, size, modified: self.modified }
    }
}

impl SeparateStore {
    /// A store with a file at each of `paths`, one byte long and written at `modified`.
    pub fn of_files(paths: impl IntoIterator<Item = HdfsPath>, modified: Timestamp) -> Self {
        let mut entries = BTreeMap::new();
        for path in paths {
            put(&mut entries, &path, Held { directory: false, bytes: b"x".to_vec(), modified });
        }
        Self { entries: Mutex::new(entries) }
    }
}

fn put(entries: &mut BTreeMap<HdfsPath, Held>, path: &HdfsPath, held: Held) {
    for ancestor in path.ancestors().skip(1).filter_map(|text| HdfsPath::parse(text).ok()) {
        let directory = Held { directory: true, bytes: Vec::new(), modified: held.modified };
        entries.entry(ancestor).or_insert(directory);
    }
    entries.insert(path.clone(), held);
}

#[async_trait]
impl FileStore for SeparateStore {
    async fn stat(&self, path: &HdfsPath) -> Result<Option<StoredStatus>, StoreError> {
        Ok(self.entries.lock().await.get(path).map(Held::status))
    }

    async fn list(&self, path: &HdfsPath) -> Result<Option<Vec<(String, StoredStatus)>>, StoreError> {
        let entries = self.entries.lock().await;
        let Some(held) = entries.get(path) else { return Ok(None) };
        if !held.directory {
            return Ok(Some(vec![(String::new(), held.status())]));
        }
        let children = entries.iter().filter(|(at, _)| at.parent_str() == Some(path.as_str()));
        Ok(Some(children.filter_map(|(at, held)| Some((at.name()?.to_owned(), held.status()))).collect()))
    }

    async fn read(&self, path: &HdfsPath) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.entries.lock().await.get(path).filter(|held| !held.directory).map(|held| held.bytes.clone()))
    }

    async fn create(&self, path: &HdfsPath, bytes: &[u8]) -> Result<(), StoreError> {
        let held = Held { directory: false, bytes: bytes.to_vec(), modified: Timestamp::now() };
        put(&mut *self.entries.lock().await, path, held);
        Ok(())
    }

    async fn make_directory(&self, path: &HdfsPath) -> Result<(), StoreError> {
        let held = Held { directory: true, bytes: Vec::new(), modified: Timestamp::now() };
        put(&mut *self.entries.lock().await, path, held);
        Ok(())
    }

    async fn delete(&self, path: &HdfsPath) -> Result<bool, StoreError> {
        let mut entries = self.entries.lock().await;
        let before = entries.len();
        entries.retain(|at, _| !at.is_at_or_below(path));
        Ok(entries.len() < before)
    }

    async fn rename(&self, from: &HdfsPath, to: &HdfsPath) -> Result<bool, StoreError> {
        let mut entries = self.entries.lock().await;
        let moved: Vec<HdfsPath> = entries.keys().filter(|at| at.is_at_or_below(from)).cloned().collect();
        for at in &moved {
            let target = at.relative_to(from).filter(|rest| !rest.is_empty()).map(|rest| to.join_relative(rest));
            if let (Some(held), Ok(target)) = (entries.remove(at), target.unwrap_or_else(|| Ok(to.clone()))) {
                put(&mut entries, &target, held);
            }
        }
        Ok(!moved.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> HdfsPath {
        HdfsPath::parse(text).expect("a path")
    }

    #[tokio::test]
    async fn create_list_move_and_delete_agree() {
        let store = SeparateStore::of_files([path("/a/b/c.sh"), path("/a/d.sh")], Timestamp::UNIX_EPOCH);
        let names = async |at: &str| {
            let listed = store.list(&path(at)).await.expect("a listing");
            listed.map(|entries| entries.into_iter().map(|(name, _)| name).collect::<Vec<_>>())
        };
        assert_eq!(names("/a").await, Some(vec!["b".to_owned(), "d.sh".to_owned()]));
        assert!(store.rename(&path("/a/b"), &path("/e")).await.expect("a move"));
        assert_eq!(names("/e").await, Some(vec!["c.sh".to_owned()]));
        assert!(store.delete(&path("/e")).await.expect("a delete"));
        assert!(!store.delete(&path("/e")).await.expect("a second delete"));
        assert_eq!(names("/e").await, None);
    }
}
