//! The four answers to "does this exist?".

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What sits at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link; never followed, what it points at is unknown.
    Symlink,
}

/// What the NameNode says of an entry (`FileStatus`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Status {
    /// File, directory or link.
    pub kind: EntryKind,
    /// Length in bytes; 0 for a directory.
    pub length: u64,
    /// Modification time by the NameNode's clock, in milliseconds.
    #[schemars(with = "String")]
    pub modified: Timestamp,
    /// Owner as HDFS names it.
    pub owner: Arc<str>,
    /// Inode id, stable over renames; 0 where the server does not tell (old HttpFS).
    #[serde(default)]
    pub file_id: u64,
    /// Whether snapshots may be made of it. One with snapshots can be neither deleted nor renamed, nor can anything above it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub snapshottable: bool,
}

/// The answer to one question about one path. Four answers, never two: a refusal or a failure is not an absence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "answer", rename_all = "lowercase")]
pub enum Existence {
    /// The active NameNode showed it.
    Present(Status),
    /// The active NameNode answered `FileNotFoundException` for exactly this path.
    Absent,
    /// The NameNode refused (`AccessControlException`); neither gone nor there.
    Denied {
        /// What came back, without secrets.
        why: String,
    },
    /// Anything else: timed out, unreachable, not understood, cut short.
    Unknown {
        /// What came back, without secrets.
        why: String,
    },
}

impl Existence {
    /// The status if the entry is there.
    pub fn status(&self) -> Option<&Status> {
        match self {
            Self::Present(status) => Some(status),
            _ => None,
        }
    }
}
