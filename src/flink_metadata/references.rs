//! What a restore point consists of: its operators and every file it names.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, RandomState};

use super::error::MetadataError;
use super::event::{Event, Handle, Kind, Operator, Stream};
use super::properties::Properties;
use super::walk;

/// A `_metadata` file that was read to its last byte.
///
/// It borrows its texts from the bytes of the file; [`Metadata::into_owned`] gives one that does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metadata<'a> {
    /// Version of the format, 2 to 6.
    pub version: u8,
    /// The checkpoint's number in its job.
    pub checkpoint_id: u64,
    /// The operators, in the order of the file.
    pub operators: Vec<Operator<'a>>,
    /// Every file that is named, once for each spelling, in the order in which they first occur.
    pub files: Vec<Reference<'a>>,
    /// The directories that merged operator state names, as written. Whatever lies below them is needed.
    pub directories: BTreeSet<Cow<'a, str>>,
    /// State that is inside the file itself.
    pub inline: Inline,
    /// What the writer meant to do with the checkpoint; from version 4 on.
    pub properties: Option<Properties>,
}

/// State inside the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Inline {
    /// Number of handles.
    pub handles: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Inline {
    const fn add(&mut self, bytes: u64) {
        self.handles += 1;
        self.bytes += bytes;
    }
}

/// A file that is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference<'a> {
    /// As written: an absolute URI, or a name in the directory that holds this `_metadata`.
    pub path: Cow<'a, str>,
    /// Whether it is such a name; [`super::resolve`] says where it leads.
    pub relative: bool,
    /// Bytes of state: the length of the file, or the sum of the named segments of it. `None` if Flink did not know it.
    pub size: Option<u64>,
    /// How many handles name it.
    pub references: u32,
    /// How many of them name only a segment of it.
    pub segments: u32,
    /// What it is there for.
    pub kinds: Kinds,
}

/// A set of [`Kind`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kinds(u16);

impl Kinds {
    /// Adds one.
    pub const fn insert(&mut self, kind: Kind) {
        self.0 |= 1 << kind as u8;
    }

    /// Whether it is in.
    pub const fn contains(self, kind: Kind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }

    /// Those that are in, in a fixed order.
    pub fn iter(self) -> impl Iterator<Item = Kind> {
        Kind::ALL.into_iter().filter(move |kind| self.contains(*kind))
    }
}

/// Reads a whole `_metadata` file.
pub fn read(bytes: &[u8]) -> Result<Metadata<'_>, MetadataError> {
    let shape = walk::examine(bytes)?;
    let mut files = Files::with_capacity(shape.files);
    let mut operators = Vec::with_capacity(shape.operators);
    let mut directories = BTreeSet::new();
    let mut inline = Inline::default();
    walk::tell(bytes, &shape, |event| match event {
        Event::Operator(operator) => operators.push(operator),
        Event::Directories { task_owned, shared, .. } => directories.extend([task_owned, shared]),
        Event::Stream { stream: Stream::Inline { bytes, .. }, .. } => inline.add(bytes as u64),
        Event::Open(Handle::MemoryIncrement { bytes, .. }) => inline.add(bytes),
        Event::Stream { kind, stream } => files.add(kind, stream),
        _ => (),
    })?;
    let walk::Frame { version, checkpoint_id, properties } = shape.frame;
    Ok(Metadata { version, checkpoint_id, operators, files: files.into_list(), directories, inline, properties })
}

impl Metadata<'_> {
    /// The same, without the bytes it was read from.
    pub fn into_owned(self) -> Metadata<'static> {
        Metadata {
            operators: self.operators.into_iter().map(Operator::into_owned).collect(),
            files: self.files.into_iter().map(Reference::into_owned).collect(),
            directories: self.directories.into_iter().map(owned).collect(),
            ..Metadata { operators: vec![], files: vec![], directories: BTreeSet::new(), ..self }
        }
    }
}

impl Reference<'_> {
    fn into_owned(self) -> Reference<'static> {
        Reference { path: owned(self.path), ..self }
    }
}

fn owned(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

/// The files met so far, with an index by spelling. The index holds positions only, so that it stays small beside the file.
struct Files<'a> {
    list: Vec<Reference<'a>>,
    /// Position in `list` plus one, or 0; found by open addressing, and never more than half full.
    index: Vec<u32>,
    hasher: RandomState,
}

impl<'a> Files<'a> {
    /// For as many handles as there are; each takes more bytes in the file than its place here.
    fn with_capacity(handles: usize) -> Self {
        let slots = (handles * 2).next_power_of_two();
        Self { list: Vec::with_capacity(handles), index: vec![0; slots], hasher: RandomState::new() }
    }

    fn add(&mut self, kind: Kind, stream: Stream<'a>) {
        let (path, relative, size, segment) = match stream {
            Stream::File { path, size } => (path, false, size, false),
            Stream::Relative { path, size } => (path, true, size, false),
            Stream::Segment { path, size, .. } => (path, false, Some(size), true),
            Stream::Inline { .. } | Stream::EmptySegment => return,
        };
        let reference = self.entry(path, relative);
        reference.kinds.insert(kind);
        reference.name_again(size, segment);
    }

    fn entry(&mut self, path: Cow<'a, str>, relative: bool) -> &mut Reference<'a> {
        let mask = self.index.len() - 1;
        let masked = self.hasher.hash_one((&path, relative)) & mask as u64;
        let mut slot = usize::try_from(masked).expect("the mask is one of usize");
        let at = loop {
            match self.index[slot] {
                0 => break self.push(slot, path, relative),
                found => {
                    let at = found as usize - 1;
                    if self.list[at].relative == relative && self.list[at].path == path {
                        break at;
                    }
                }
            }
            slot = (slot + 1) & mask;
        };
        &mut self.list[at]
    }

    fn push(&mut self, slot: usize, path: Cow<'a, str>, relative: bool) -> usize {
        let kinds = Kinds::default();
        self.list.push(Reference { path, relative, size: None, references: 0, segments: 0, kinds });
        // A file has fewer than 2^32 handles: a handle takes 12 bytes, and a file of 48 GiB does not come this far.
        self.index[slot] = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.list.len() - 1
    }

    /// Many handles may name the same few files (in-flight data): then the list gives back what it did not need.
    fn into_list(mut self) -> Vec<Reference<'a>> {
        if self.list.len() < self.list.capacity() / 2 {
            self.list.shrink_to_fit();
        }
        self.list
    }
}

impl Reference<'_> {
    /// Counts a handle. Segments add up; a whole file stays as long as it is, however often it is named.
    fn name_again(&mut self, size: Option<u64>, segment: bool) {
        let all_segments = self.segments == self.references;
        self.references = self.references.saturating_add(1);
        self.segments = self.segments.saturating_add(segment.into());
        self.size = match (segment, all_segments) {
            (true, true) => Some(self.size.unwrap_or(0).saturating_add(size.unwrap_or(0))),
            (true, false) => self.size,
            (false, true) => size,
            (false, false) => self.size.max(size),
        };
    }
}
