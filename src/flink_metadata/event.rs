//! What a `_metadata` file says, piece by piece, in the order of the file.

use std::borrow::Cow;

/// One piece. Handles that hold others come as [`Event::Open`], their content, [`Event::Close`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event<'a> {
    /// State of a master hook; Flink's own sources and sinks write none.
    Master {
        /// Name of the hook.
        name: Cow<'a, str>,
        /// Version the hook gave its bytes.
        version: i32,
        /// Number of its bytes.
        bytes: usize,
    },
    /// An operator; all that follows belongs to it, up to the next one.
    Operator(Operator<'a>),
    /// All subtasks of the operator had finished (1.14 and later).
    FullyFinished,
    /// A subtask of the operator.
    Subtask {
        /// Its number, from 0, below the parallelism.
        index: u32,
        /// It had finished, so it has no state.
        finished: bool,
    },
    /// A part of the subtask (or the coordinator of the operator) that has a handle.
    Part(Part),
    /// A handle that holds others begins.
    Open(Handle<'a>),
    /// A named state in an operator state handle, with the offsets of its elements.
    State {
        /// Name the user gave it.
        name: Cow<'a, str>,
        /// How it is spread over subtasks.
        mode: Mode,
        /// Where its elements begin.
        offsets: Offsets<'a>,
    },
    /// The directories a merged operator state handle names (file merging, 1.20 and later).
    Directories {
        /// For exclusive state.
        task_owned: Cow<'a, str>,
        /// For shared state.
        shared: Cow<'a, str>,
        /// There was no state to write.
        empty: bool,
    },
    /// The group of handles that follows, inside a handle.
    List(List),
    /// The local file (of RocksDB) that the next stream handle is the copy of.
    LocalFile(Cow<'a, str>),
    /// Where the changes begin in the file of the next stream handle.
    LogOffset(i64),
    /// A stream handle: the bytes themselves, or the file that holds them.
    Stream {
        /// What it is there for.
        kind: Kind,
        /// The handle.
        stream: Stream<'a>,
    },
    /// The handle opened last ends.
    Close(Tail<'a>),
}

/// An operator of the job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operator<'a> {
    /// `OperatorID`: its 16 bytes, as Flink prints them in hex.
    pub id: [u8; 16],
    /// Name, from Flink 2.0 on, where the job gave one.
    pub name: Option<Cow<'a, str>>,
    /// User-given uid, from Flink 2.0 on, where the job gave one.
    pub uid: Option<Cow<'a, str>>,
    /// Parallelism when the state was written.
    pub parallelism: u32,
    /// Number of key groups.
    pub max_parallelism: u32,
}

impl Operator<'_> {
    /// The id as `OperatorID.toHexString` prints it.
    pub fn hex_id(&self) -> String {
        format!("{:032x}", u128::from_be_bytes(self.id))
    }

    /// The same, without the bytes it was read from.
    pub fn into_owned(self) -> Operator<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        Operator { name: self.name.map(owned), uid: self.uid.map(owned), ..self }
    }
}

/// Where in an operator a handle sits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// State of the operator coordinator.
    Coordinator,
    /// Operator state kept by Flink.
    ManagedOperator,
    /// Operator state written raw by the operator.
    RawOperator,
    /// Keyed state kept by a state backend.
    ManagedKeyed,
    /// Keyed state written raw by the operator, timers for instance.
    RawKeyed,
    /// In-flight data in front of the subtask (unaligned checkpoints).
    InputChannel,
    /// In-flight data behind the subtask.
    OutputChannel,
}

/// A range of key groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyGroups {
    /// The first.
    pub first: u32,
    /// How many.
    pub count: u32,
}

/// A handle that holds others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Handle<'a> {
    /// `OperatorStreamStateHandle`; `merged` for those of file merging.
    OperatorState {
        /// Tag 17 rather than 4.
        merged: bool,
    },
    /// `KeyGroupsStateHandle` or, in canonical savepoints, `KeyGroupsSavepointStateHandle`.
    KeyGroups {
        /// Tag 7: of a canonical savepoint.
        savepoint: bool,
        /// Key groups in it.
        groups: KeyGroups,
        /// Where each of them begins.
        offsets: Offsets<'a>,
    },
    /// `IncrementalRemoteKeyedStateHandle`.
    Incremental {
        /// Checkpoint that wrote it.
        checkpoint: i64,
        /// Id of the backend instance.
        backend: Cow<'a, str>,
        /// Key groups in it.
        groups: KeyGroups,
        /// Bytes newly written (1.15 and later).
        checkpointed_size: Option<i64>,
    },
    /// `ChangelogStateBackendHandleImpl`.
    Changelog {
        /// Key groups in it.
        groups: KeyGroups,
        /// Bytes newly written (1.15 and later).
        checkpointed_size: Option<i64>,
    },
    /// `InMemoryChangelogStateHandle`: changes inside the file.
    MemoryIncrement {
        /// Key groups in it.
        groups: KeyGroups,
        /// First sequence number.
        from: i64,
        /// Sequence number after the last.
        to: i64,
        /// Number of changes.
        changes: u32,
        /// Their bytes.
        bytes: u64,
    },
    /// `ChangelogStateHandleStreamImpl`: changes in log files.
    FileIncrement {
        /// Key groups in it.
        groups: KeyGroups,
    },
    /// `InputChannelStateHandle` or `ResultSubpartitionStateHandle`.
    Channel {
        /// Subtask it belongs to.
        subtask: i32,
        /// Gate and channel, or partition and subpartition.
        place: (i32, i32),
        /// Where its buffers begin.
        offsets: Offsets<'a>,
        /// Bytes of the channel.
        size: i64,
    },
    /// `MergedInputChannelStateHandle` or `MergedResultSubpartitionStateHandle` (2.1 and later).
    MergedChannel {
        /// Subtask it belongs to.
        subtask: i32,
        /// Bytes of all its channels.
        size: i64,
    },
}

/// Groups of handles inside a handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// The backend's own metadata file.
    Metadata,
    /// Files that later checkpoints may name too.
    Shared,
    /// Files of this checkpoint alone.
    Private,
    /// The materialised part of a changelog.
    Materialized,
    /// The changes since.
    Increments,
}

/// What some handles say after their content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tail<'a> {
    /// Nothing.
    None,
    /// [`Handle::Changelog`].
    Changelog {
        /// Number of the materialisation (1.15 and later).
        materialization: Option<i64>,
        /// Checkpoint it was made for (1.16 and later).
        checkpoint: Option<i64>,
    },
    /// [`Handle::FileIncrement`].
    FileIncrement {
        /// Bytes of changes.
        size: i64,
        /// Bytes newly written (1.15 and later).
        checkpointed_size: Option<i64>,
        /// Kind of changelog storage (1.16 and later).
        storage: Option<Cow<'a, str>>,
    },
    /// [`Handle::MergedChannel`]: bytes of the channel offsets, which Flink serialises opaquely.
    MergedChannel(usize),
}

/// How an operator state is spread over subtasks, `OperatorStateHandle.Mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Each element goes to one subtask.
    Split,
    /// All elements go to all.
    Union,
    /// The same on all.
    Broadcast,
}

/// What a stream handle is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// State of an operator coordinator, always inline.
    Coordinator,
    /// Operator state.
    OperatorState,
    /// Keyed state in one stream.
    KeyedState,
    /// The metadata file of an incremental keyed state.
    IncrementalMetadata,
    /// A shared file of an incremental keyed state.
    IncrementalShared,
    /// A private file of an incremental keyed state.
    IncrementalPrivate,
    /// A changelog file, which several subtasks and checkpoints can share. On disk it is one byte longer than its handle
    /// says, if it is named whole.
    Changelog,
    /// In-flight data in front of a subtask.
    InputChannel,
    /// In-flight data behind a subtask.
    OutputChannel,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Coordinator,
        Self::OperatorState,
        Self::KeyedState,
        Self::IncrementalMetadata,
        Self::IncrementalShared,
        Self::IncrementalPrivate,
        Self::Changelog,
        Self::InputChannel,
        Self::OutputChannel,
    ];

    /// The word for it, in output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Coordinator => "coordinator",
            Self::OperatorState => "operator-state",
            Self::KeyedState => "keyed-state",
            Self::IncrementalMetadata => "incremental-metadata",
            Self::IncrementalShared => "incremental-shared",
            Self::IncrementalPrivate => "incremental-private",
            Self::Changelog => "changelog",
            Self::InputChannel => "input-channel",
            Self::OutputChannel => "output-channel",
        }
    }
}

/// A stream of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stream<'a> {
    /// The bytes are inside the file. The name is a label that often looks like a path and names nothing.
    Inline {
        /// Label.
        name: Cow<'a, str>,
        /// Number of bytes.
        bytes: usize,
    },
    /// A file at an absolute URI.
    File {
        /// The URI as written.
        path: Cow<'a, str>,
        /// Length, if it was known.
        size: Option<u64>,
    },
    /// A file in the directory that holds this `_metadata`.
    Relative {
        /// The name as written.
        path: Cow<'a, str>,
        /// Length, if it was known.
        size: Option<u64>,
    },
    /// A piece of a file that holds others too (file merging).
    Segment {
        /// The URI of the file as written.
        path: Cow<'a, str>,
        /// Where the piece begins.
        start: u64,
        /// Length of the piece.
        size: u64,
        /// Whether later checkpoints may name it too.
        scope: Scope,
        /// Id of the piece.
        logical_file: Cow<'a, str>,
    },
    /// No state, in a place where file merging wants a segment.
    EmptySegment,
}

/// `CheckpointedStateScope`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// This checkpoint alone.
    Exclusive,
    /// Later ones may name it too.
    Shared,
}

/// Numbers that stay where they are in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offsets<'a>(&'a [u8]);

impl<'a> Offsets<'a> {
    /// Over bytes whose number is a multiple of eight.
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The numbers.
    pub fn iter(self) -> impl Iterator<Item = i64> + use<'a> {
        self.0.as_chunks::<8>().0.iter().map(|bytes| i64::from_be_bytes(*bytes))
    }
}
