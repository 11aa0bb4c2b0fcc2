//! The reader of `_metadata`, the file that says what a Flink checkpoint or savepoint consists of.
//!
//! Bytes in, references out. It reads every version that Flink 1.13 to 2.3 writes or reads (2 to 6) and fails closed: what it
//! does not know to the last byte is an error with the byte where reading stopped, and then nothing may be concluded about
//! what the file names. Nothing here touches a file system, and nothing of this program is imported.
//!
//! [`read`] gives what a restore point consists of; [`walk`] gives everything the file says, in its order.

mod bytes;
mod error;
mod event;
mod java;
mod place;
mod properties;
mod references;
mod text;
mod walk;

pub use error::{Fault, MetadataError};
pub use event::{Event, Handle, KeyGroups, Kind, List, Mode, Offsets, Operator, Part, Scope, Stream, Tail};
pub use place::resolve;
pub use properties::{Properties, Snapshot};
pub use references::{Inline, Kinds, Metadata, Reference, read};
pub use walk::{Frame, walk};
