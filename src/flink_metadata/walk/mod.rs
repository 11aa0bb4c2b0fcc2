//! The walk over a file: every byte is read, checked, and told as an [`Event`].
//!
//! The grammar is that of Flink's `MetadataV2Serializer` to `MetadataV6Serializer`. Where Flink believes what it reads,
//! this refuses what Flink never writes: nothing is restored here, so a doubtful file costs only the right to delete.

mod channels;
mod keyed;
mod operators;
mod streams;

use super::bytes::Cursor;
use super::error::{Fault, MetadataError};
use super::event::{Event, Stream};
use super::java;
use super::properties::Properties;

type Result<T> = std::result::Result<T, MetadataError>;

/// `Checkpoints.HEADER_MAGIC_NUMBER`.
const MAGIC: u32 = 0x4960_672D;

/// `MetadataV2V3SerializerBase.MASTER_STATE_MAGIC_NUMBER`.
const MASTER_MAGIC: u32 = 0xC96B_1696;

/// How deep handles may be nested. Flink nests two deep: a changelog holds an incremental handle.
const MAX_DEPTH: u32 = 16;

/// The two layouts of tags 8 to 10 that metadata version 3 was written with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Flink 1.14.
    Old,
    /// Flink 1.15 and later.
    New,
}

/// What stands around the events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Version of the format, 2 to 6.
    pub version: u8,
    /// The checkpoint's number in its job.
    pub checkpoint_id: u64,
    /// What the writer meant to do with the checkpoint; from version 4 on.
    pub properties: Option<Properties>,
}

/// What a silent pass over a whole file found out.
pub(super) struct Shape {
    layout: Layout,
    pub(super) frame: Frame,
    /// Number of operators.
    pub(super) operators: usize,
    /// Number of handles that name a file.
    pub(super) files: usize,
}

/// Reads a whole file and tells its events to `sink`.
///
/// Nothing is told before the file is known to be good to its last byte.
pub fn walk<'a>(bytes: &'a [u8], sink: impl FnMut(Event<'a>)) -> Result<Frame> {
    let shape = examine(bytes)?;
    tell(bytes, &shape, sink)?;
    Ok(shape.frame)
}

/// The second pass, over the body of a file that was examined.
pub(super) fn tell<'a>(bytes: &'a [u8], shape: &Shape, sink: impl FnMut(Event<'a>)) -> Result<()> {
    Walker::new(bytes, shape.layout, sink).body().map(|_| ())
}

/// Checks the file and finds the layout of its changelog handles. In version 3 nothing says which it is: exactly one must
/// fit, to the last byte.
pub(super) fn examine(bytes: &[u8]) -> Result<Shape> {
    let (first, two_layouts) = silent_pass(bytes, Layout::New);
    if !two_layouts {
        return first;
    }
    match (first, silent_pass(bytes, Layout::Old).0) {
        (Ok(_), Ok(_)) => Cursor::error_at(0, Fault::TwoLayouts),
        (Err(error), Err(_)) => Err(error),
        (Ok(only), Err(_)) | (Err(_), Ok(only)) => Ok(only),
    }
}

/// The outcome by one layout, and whether a tag was met that has two.
fn silent_pass(bytes: &[u8], layout: Layout) -> (Result<Shape>, bool) {
    let (mut operators, mut files) = (0, 0);
    let mut walker = Walker::new(bytes, layout, |event| match event {
        Event::Operator(_) => operators += 1,
        Event::Stream { stream: Stream::File { .. } | Stream::Relative { .. } | Stream::Segment { .. }, .. } => {
            files += 1;
        }
        _ => (),
    });
    let outcome = walker.file();
    let two_layouts = walker.two_layouts;
    (outcome.map(|frame| Shape { layout, frame, operators, files }), two_layouts)
}

/// Where the walk is.
struct Walker<'a, S> {
    at: Cursor<'a>,
    version: u8,
    layout: Layout,
    /// A tag was met whose layout the version does not tell.
    two_layouts: bool,
    depth: u32,
    /// The subtasks of the operator that came already, a bit each.
    seen: Vec<u64>,
    sink: S,
}

impl<'a, S: FnMut(Event<'a>)> Walker<'a, S> {
    fn new(bytes: &'a [u8], layout: Layout, sink: S) -> Self {
        Self { at: Cursor::new(bytes), version: 0, layout, two_layouts: false, depth: 0, seen: Vec::new(), sink }
    }

    fn tell(&mut self, event: Event<'a>) {
        (self.sink)(event);
    }

    fn file(&mut self) -> Result<Frame> {
        let checkpoint_id = self.body()?;
        Ok(Frame { version: self.version, checkpoint_id, properties: self.end()? })
    }

    /// All but the checkpoint properties; returns the checkpoint's number.
    fn body(&mut self) -> Result<u64> {
        self.version = self.header()?;
        let checkpoint_id = self.at.i64_from(0, "checkpoint id")?.unsigned_abs();
        // Magic, length, version, name, length of the bytes.
        for _ in 0..self.at.count(18, "master states")? {
            self.master()?;
        }
        // Id, parallelism and its maximum, type of the coordinator state, number of subtasks.
        for _ in 0..self.at.count(29, "operators")? {
            self.operator()?;
        }
        Ok(checkpoint_id)
    }

    fn header(&mut self) -> Result<u8> {
        let magic = self.at.i32("magic number")?.cast_unsigned();
        if magic != MAGIC {
            return Cursor::error_at(0, Fault::Magic(magic));
        }
        let version = self.at.i32("version")?;
        match u8::try_from(version) {
            Ok(known @ 2..=6) => Ok(known),
            _ => Cursor::error_at(4, Fault::Version(version)),
        }
    }

    fn master(&mut self) -> Result<()> {
        let begin = self.at.position();
        let magic = self.at.i32("magic number of a master state")?;
        if magic.cast_unsigned() != MASTER_MAGIC {
            let what = "magic number of a master state";
            return Cursor::error_at(begin, Fault::Value { what, value: magic.into() });
        }
        let mut inside = Cursor::within(self.at.position() + 4, self.at.block("bytes of a master state")?);
        let version = inside.i32("version of a master state")?;
        let name = inside.utf("name of a master state")?;
        let bytes = inside.block("bytes of a master state")?.len();
        if inside.left() > 0 {
            return inside.error(Fault::Trailing(inside.left()));
        }
        self.tell(Event::Master { name, version, bytes });
        Ok(())
    }

    /// Versions 2 and 3 end here; from 4 on the checkpoint properties follow, up to the end of the file.
    fn end(&mut self) -> Result<Option<Properties>> {
        if self.version >= 4 {
            return java::properties(&mut self.at).map(Some);
        }
        match self.at.left() {
            0 => Ok(None),
            left => self.at.error(Fault::Trailing(left)),
        }
    }

    /// Guards a handle that holds handles.
    fn nested(&mut self, inside: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        if self.depth == MAX_DEPTH {
            return self.at.error(Fault::Depth(MAX_DEPTH));
        }
        self.depth += 1;
        let outcome = inside(self);
        self.depth -= 1;
        outcome
    }
}
