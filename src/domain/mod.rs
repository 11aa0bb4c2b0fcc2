//! Values of the field: paths, authorities, job ids, records, times.
//!
//! Each value has a parser and a `Display`, and nothing here reads or writes anything.

pub mod answer;
pub mod authority;
pub mod duration;
pub mod job;
pub mod path;
pub mod record;
pub mod text;

pub use answer::{EntryKind, Existence, Status};
pub use authority::{Authority, FileSystems, HdfsUri, Place, UriError};
pub use duration::Age;
pub use job::{JobId, JobState};
pub use path::HdfsPath;
pub use record::{RecordId, ResourceKind, WorkflowCode};
