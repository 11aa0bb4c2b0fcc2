//! Restore points in HDFS and what each of them names: the content of every `_metadata` that was found.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::domain::HdfsPath;

/// Restore points of every checkpoint root, savepoint directory and path that Flink or the registry names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StateView {
    /// Restore points by the directory that holds their `_metadata`. One whose `_metadata` is not there has no entry.
    #[serde(default)]
    pub points: BTreeMap<HdfsPath, RestorePoint>,
    /// Names of the snapshots of directories in and above run directories.
    #[serde(default)]
    pub snapshots: BTreeMap<HdfsPath, Vec<String>>,
    /// Minutes after which the server empties its Trash (`fs.trash.interval`), 0 for no Trash; `None`: not told.
    #[serde(default)]
    pub trash_interval_minutes: Option<u64>,
}

/// One restore point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RestorePoint {
    /// Modification time of `_metadata` by the NameNode's clock: when the checkpoint was complete.
    #[schemars(with = "String")]
    pub modified: Timestamp,
    /// What is in it.
    pub reading: Reading,
}

/// The content of one `_metadata`, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "read", rename_all = "kebab-case")]
pub enum Reading {
    /// Read and understood to its last byte.
    Whole {
        /// Checkpoint number.
        checkpoint: u64,
        /// Files it names, each spelling once.
        files: Vec<NamedFile>,
        /// Directories it names (merged files): whatever lies below them is needed.
        #[serde(default)]
        directories: Vec<String>,
    },
    /// Not read to the end, or not understood: it may name anything.
    Failed {
        /// What came back, or the first byte that was not understood.
        why: String,
    },
}

/// A file that a restore point names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
pub struct NamedFile {
    /// As written: an absolute URI, or a name in the directory of the restore point.
    pub path: String,
    /// Whether it is such a name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub relative: bool,
    /// Bytes that a restore reads of it, so the file is at least as long: its length, the sum of the named segments of a merged file,
    /// or one byte less than the length of a changelog file. `None` if Flink did not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}
