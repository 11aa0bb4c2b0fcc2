//! The reading ports. None of them fails as a whole: what could not be read comes back as gaps or as one of four answers.

use std::collections::BTreeMap;

use async_trait::async_trait;

use crate::domain::{Existence, HdfsPath, JobId, Status};
use crate::views::flink::ShownRestorePoint;
use crate::views::hdfs::{ClockReading, ContentSummary};
use crate::views::resources::{Opinion, Record, StorageEntry, User};
use crate::views::{ClusterView, Gap, Listing, ResourceView};

/// The answer to "what is in this directory?".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListAnswer {
    /// The entries; complete or, with the gap that says why, the part that came.
    Listed(Listing, Option<Gap>),
    /// The active NameNode answered `FileNotFoundException`.
    Absent,
    /// A file sits there.
    NotADirectory,
    /// Refused or failed; the gap names the path.
    Unread(Gap),
}

/// The answer to "what is in this file?".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadAnswer {
    /// All of it: as many bytes as the status says that was asked for right before.
    Read {
        /// Content.
        bytes: Vec<u8>,
        /// Status it was compared with.
        status: Status,
    },
    /// The active NameNode answered `FileNotFoundException`.
    Absent,
    /// Something else sits there; it was not read.
    NotAFile(Status),
    /// It is longer than the caller takes; it was not read.
    TooLong(Status),
    /// Refused, failed, or not as long as its status says; the gap names the path.
    Unread(Gap),
}

/// Whether the file system takes writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteState {
    /// It does.
    Open,
    /// The NameNode is in safe mode: reads work, writes fail.
    SafeMode,
    /// It could not be told.
    Unknown {
        /// What came back.
        why: String,
    },
}

/// One Flink cluster or history server.
#[async_trait]
pub trait FlinkRead: Send + Sync {
    /// Name in the configuration.
    fn name(&self) -> &str;

    /// Reads everything once: version, configuration, jobs, checkpoints. What fails is a gap in the view.
    async fn fetch_cluster(&self) -> ClusterView;

    /// The latest completed restore point of one job, asked again: `Ok(None)` if REST shows none.
    async fn fetch_latest(&self, job: &JobId) -> Result<Option<ShownRestorePoint>, Gap>;
}

/// HDFS.
#[async_trait]
pub trait HdfsRead: Send + Sync {
    /// The entries of one directory, in batches that are checked to advance.
    async fn list_directory(&self, path: &HdfsPath) -> ListAnswer;

    /// What sits at one path, on the active NameNode.
    async fn fetch_status(&self, path: &HdfsPath) -> Existence;

    /// The content of one file of at most `limit` bytes, whole or not at all.
    async fn read_file(&self, path: &HdfsPath, limit: usize) -> ReadAnswer;

    /// Totals of a subtree; `None` with any answer but a summary.
    async fn fetch_summary(&self, path: &HdfsPath) -> Option<ContentSummary>;

    /// Minutes after which the server empties its Trash, 0 for no Trash; `None` if it does not tell (NameNodes before 3.3).
    async fn fetch_trash_interval(&self) -> Option<u64>;

    /// Whether the file system takes writes now. Asked with a call that changes nothing: making the root directory, which
    /// every NameNode has, and which safe mode refuses before anything else.
    async fn probe_writes(&self) -> WriteState;

    /// The NameNode's clock as of the last answer.
    fn clock(&self) -> Option<ClockReading>;

    /// The account the questions are asked as.
    fn user(&self) -> Option<String>;
}

/// The resource center and the workflows of one DolphinScheduler server.
#[async_trait]
pub trait ResourceRead: Send + Sync {
    /// Stage one: generation, account, users, and the records (up to 3.1) or the base directory (from 3.2 on).
    async fn fetch_resources(&self) -> ResourceView;

    /// From 3.2 on: the entries of one directory, page by page; `base_dir` is what the server said.
    async fn list_storage(&self, directory: &HdfsPath, base_dir: &str) -> Result<Vec<StorageEntry>, Gap>;

    /// All workflow definitions of all projects and the UDF functions, added to `view` with their gaps.
    async fn fetch_workflows(&self, view: &mut ResourceView);

    /// One record as it is now, found by id (by name up to 2.0): `Ok(None)` only if the server says that there is none.
    async fn fetch_record(&self, record: &Record) -> Result<Option<Record>, Gap>;

    /// The records directly below a directory record, as they are now.
    async fn fetch_below(&self, directory: &Record) -> Result<Vec<Record>, Gap>;

    /// All users with their tenants, as they are now.
    async fn fetch_users(&self) -> Result<BTreeMap<i64, User>, Gap>;

    /// The server's own opinion on whether the file of a record exists (`view`, up to 3.1).
    async fn fetch_opinion(&self, record: &Record) -> Opinion;
}
