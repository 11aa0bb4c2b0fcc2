//! Why a file was not understood, and at which byte.

use std::borrow::Cow;

/// The file is not, or not wholly, a `_metadata` file of a known version. Nothing may be concluded about what it names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {fault}")]
pub struct MetadataError {
    /// Where reading stopped, counted from the beginning of the file.
    pub offset: usize,
    /// What stood there.
    pub fault: Fault,
}

/// What stood at the byte where reading stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The first four bytes are not `49 60 67 2D`.
    #[error("no checkpoint metadata: it begins with {0:08x}, not 4960672d")]
    Magic(u32),
    /// A version that no Flink from 1.13 to 2.3 reads. 1 is one of them.
    #[error("metadata version {0} is not supported (2 to 6 are)")]
    Version(i32),
    /// The file ends inside a field.
    #[error("the file ends too early: {wanted} bytes are wanted for {what}, {left} are left")]
    Short {
        /// Field.
        what: &'static str,
        /// Bytes the field takes.
        wanted: usize,
        /// Bytes there are.
        left: usize,
    },
    /// A number of entries, or a length, that is negative or cannot fit into what is left of the file.
    #[error("{value} {what} cannot be in the {left} bytes that are left")]
    Count {
        /// Entries.
        what: &'static str,
        /// Number read.
        value: i32,
        /// Bytes there are.
        left: usize,
    },
    /// A type tag that this position does not take.
    #[error("type tag {tag} is not known where a {place} is expected")]
    Tag {
        /// Position.
        place: &'static str,
        /// Byte read.
        tag: u8,
    },
    /// A number that Flink never writes here.
    #[error("{value} is no {what}")]
    Value {
        /// Field.
        what: &'static str,
        /// Number read.
        value: i64,
    },
    /// A text that Flink never writes here: empty, or not the modified UTF-8 of `DataOutput.writeUTF`.
    #[error("the {what} is {why}")]
    Text {
        /// Field.
        what: &'static str,
        /// What is wrong.
        why: &'static str,
    },
    /// Handles inside handles, deeper than Flink nests them.
    #[error("handles are nested more than {0} deep")]
    Depth(u32),
    /// Bytes after the end of the structure.
    #[error("{0} bytes follow the end of the metadata")]
    Trailing(usize),
    /// The checkpoint properties are no Java object stream of the class that Flink writes.
    #[error("the checkpoint properties are not readable: {0}")]
    Properties(Cow<'static, str>),
    /// Version 3 does not tell the changelog layouts of Flink 1.14 and 1.15 apart, and both fit.
    #[error("the changelog handles can be read in two ways, that of Flink 1.14 and that of 1.15")]
    TwoLayouts,
}
