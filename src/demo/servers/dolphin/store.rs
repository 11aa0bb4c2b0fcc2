//! Where the server keeps its files: any file system with these few calls.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::demo::servers::file_system::{FileSystem, FsError, Inode, Maker, SharedFileSystem};
use crate::demo::servers::wire::ServerClock;
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

    /// Removes a path with all below but for `keeps`, without Trash; whether something was there.
    async fn delete(&self, path: &HdfsPath, keeps: &[String]) -> Result<bool, StoreError>;

    /// Moves a path; whether it was done.
    async fn rename(&self, from: &HdfsPath, to: &HdfsPath) -> Result<bool, StoreError>;
}

/// The embedded file system, as the super user that the server is there.
pub struct EmbeddedStore {
    files: SharedFileSystem,
    maker: Maker,
    read_only: bool,
}

impl EmbeddedStore {
    /// The file system of the embedded NameNode; `read_only` while that is in safe mode.
    pub fn new(files: SharedFileSystem, read_only: bool) -> Self {
        Self { files, maker: Maker::new("dolphinscheduler"), read_only }
    }

    /// A store of the server's own, with a file of one byte at each of `paths`.
    pub fn of_files<'p>(paths: impl IntoIterator<Item = &'p HdfsPath>, clock: ServerClock) -> Self {
        let mut files = FileSystem::empty(clock);
        let maker = Maker::new("dolphinscheduler");
        for path in paths {
            // Fails only where one of the paths lies below another one: then the first of them stands.
            let _ = files.create(path.as_str(), b"x".to_vec(), true, &maker);
        }
        Self { files: SharedFileSystem::new(files), maker, read_only: false }
    }

    fn written(&self, change: impl FnOnce(&mut FileSystem) -> Result<bool, FsError>) -> Result<bool, StoreError> {
        if self.read_only {
            return Err(StoreError("name node is in safe mode".to_owned()));
        }
        change(&mut self.files.lock()).map_err(|error| StoreError(error.to_string()))
    }
}

fn status(inode: &Inode) -> StoredStatus {
    let modified = Timestamp::from_millisecond(inode.mtime_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    StoredStatus { directory: inode.is_dir(), size: inode.length(), modified }
}

#[async_trait]
impl FileStore for EmbeddedStore {
    async fn stat(&self, path: &HdfsPath) -> Result<Option<StoredStatus>, StoreError> {
        Ok(self.files.lock().stat(path.as_str()).map(status))
    }

    async fn list(&self, path: &HdfsPath) -> Result<Option<Vec<(String, StoredStatus)>>, StoreError> {
        let files = self.files.lock();
        let Some(inode) = files.stat(path.as_str()) else { return Ok(None) };
        if !inode.is_dir() {
            return Ok(Some(vec![(String::new(), status(inode))]));
        }
        let listed = files.list(path.as_str()).unwrap_or_default();
        Ok(Some(listed.into_iter().map(|(name, inode)| (name, status(inode))).collect()))
    }

    async fn read(&self, path: &HdfsPath) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.files.lock().read(path.as_str()))
    }

    async fn create(&self, path: &HdfsPath, bytes: &[u8]) -> Result<(), StoreError> {
        self.written(|files| files.create(path.as_str(), bytes.to_vec(), true, &self.maker).map(|()| true)).map(drop)
    }

    async fn make_directory(&self, path: &HdfsPath) -> Result<(), StoreError> {
        self.written(|files| files.mkdirs(path.as_str(), &self.maker).map(|()| true)).map(drop)
    }

    async fn delete(&self, path: &HdfsPath, keeps: &[String]) -> Result<bool, StoreError> {
        self.written(|files| files.delete(path.as_str(), true, keeps))
    }

    async fn rename(&self, from: &HdfsPath, to: &HdfsPath) -> Result<bool, StoreError> {
        self.written(|files| files.rename(from.as_str(), to.as_str()).map(|()| true))
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
        let store = EmbeddedStore::of_files([&path("/a/b/c.sh"), &path("/a/d.sh")], ServerClock { behind: 0 });
        let names = async |at: &str| {
            let listed = store.list(&path(at)).await.expect("a listing");
            listed.map(|entries| entries.into_iter().map(|(name, _)| name).collect::<Vec<_>>())
        };
        assert_eq!(names("/a").await, Some(vec!["b".to_owned(), "d.sh".to_owned()]));
        assert!(store.rename(&path("/a/b"), &path("/e")).await.expect("a move"));
        assert_eq!(names("/e").await, Some(vec!["c.sh".to_owned()]));
        assert!(store.delete(&path("/e"), &[]).await.expect("a delete"));
        assert!(!store.delete(&path("/e"), &[]).await.expect("a second delete"));
        assert_eq!(names("/e").await, None);
    }

    #[tokio::test]
    async fn safe_mode_lets_reads_through_only() {
        let files = SharedFileSystem::new(FileSystem::empty(ServerClock { behind: 0 }));
        let store = EmbeddedStore::new(files, true);
        assert!(store.stat(&path("/")).await.is_ok());
        assert!(store.delete(&path("/a"), &[]).await.is_err());
    }
}
