//! Stream handles: where bytes are.

use super::{Result, Walker};
use crate::flink_metadata::bytes::Cursor;
use crate::flink_metadata::error::Fault;
use crate::flink_metadata::event::{Event, Handle, KeyGroups, Kind, Offsets, Scope, Stream, Tail};

/// `KeyGroupRangeAssignment.UPPER_BOUND_MAX_PARALLELISM`.
pub(super) const MAX_KEY_GROUPS: u32 = 1 << 15;

impl<'a, S: FnMut(Event<'a>)> Walker<'a, S> {
    /// A stream handle, or none. Returns how many bytes the stream has, if that is known.
    pub(super) fn stream(&mut self, kind: Kind) -> Result<Option<u64>> {
        let begin = self.at.position();
        match self.at.u8("type of a stream handle")? {
            0 => Ok(None),
            // Flink writes a key group handle where a stream handle is expected if it holds one as such.
            3 => self.nested(|walker| walker.key_groups(false, false, kind)).map(|()| None),
            tag => self.leaf(tag, begin, kind),
        }
    }

    /// A stream handle that holds no other, its tag already read at `begin`.
    pub(super) fn leaf(&mut self, tag: u8, begin: usize, kind: Kind) -> Result<Option<u64>> {
        let (stream, length) = match tag {
            1 => self.inline()?,
            2 => {
                let size = self.size()?;
                (Stream::File { path: self.at.name("file path")?, size }, size)
            }
            6 => {
                let path = self.at.name("relative file path")?;
                let size = self.size()?;
                (Stream::Relative { path, size }, size)
            }
            15 => self.segment()?,
            16 => (Stream::EmptySegment, None),
            tag => return Cursor::error_at(begin, Fault::Tag { place: "stream handle", tag }),
        };
        self.tell(Event::Stream { kind, stream });
        Ok(length)
    }

    /// Flink names every inline handle. Without this check one changed byte can turn the handle of a file of some megabytes
    /// into an inline handle that ends at the same byte.
    fn inline(&mut self) -> Result<(Stream<'a>, Option<u64>)> {
        let name = self.at.name("name of an inline handle")?;
        let bytes = self.at.block("bytes of inline state")?.len();
        Ok((Stream::Inline { name, bytes }, Some(bytes as u64)))
    }

    fn segment(&mut self) -> Result<(Stream<'a>, Option<u64>)> {
        let start = self.at.i64_from(0, "start of a segment")?.unsigned_abs();
        let size = self.at.i64_from(0, "size of a segment")?.unsigned_abs();
        let scope = if self.at.flag("scope of a segment")? { Scope::Shared } else { Scope::Exclusive };
        let path = self.at.name("path of a merged file")?;
        let logical_file = self.at.utf("id of a logical file")?;
        Ok((Stream::Segment { path, start, size, scope, logical_file }, Some(size)))
    }

    /// A file's length; `FileStateHandle` takes -1 for one that is not known.
    fn size(&mut self) -> Result<Option<u64>> {
        Ok(self.at.i64_from(-1, "file size")?.try_into().ok())
    }

    pub(super) fn offsets(&mut self, what: &'static str) -> Result<(Offsets<'a>, Span)> {
        let count = self.at.count(8, what)?;
        self.some_offsets(count, what)
    }

    /// Positions in a stream whose handle follows. -1 stands for a key group that has nothing there.
    fn some_offsets(&mut self, count: usize, what: &'static str) -> Result<(Offsets<'a>, Span)> {
        let begin = self.at.position();
        let offsets = Offsets::new(self.at.take(count * 8, what)?);
        let (least, most) =
            offsets.iter().fold((-1, -1), |(least, most), offset| (offset.min(least), offset.max(most)));
        if least < -1 {
            Cursor::error_at(begin, Fault::Value { what: "offset", value: least })
        } else {
            Ok((offsets, Span { begin, most }))
        }
    }

    /// Tags 3, 7 and 12.
    pub(super) fn key_groups(&mut self, savepoint: bool, with_id: bool, kind: Kind) -> Result<()> {
        let groups = self.group_range()?;
        let (offsets, span) = self.some_offsets(groups.count as usize, "offsets of key groups")?;
        self.tell(Event::Open(Handle::KeyGroups { savepoint, groups, offsets }));
        let length = self.stream(kind)?;
        span.check(length)?;
        if with_id {
            self.at.utf("handle id")?;
        }
        self.tell(Event::Close(Tail::None));
        Ok(())
    }

    pub(super) fn group_range(&mut self) -> Result<KeyGroups> {
        let first = self.at.u32("first key group")?;
        let begin = self.at.position();
        let count = self.at.u32("number of key groups")?;
        if first.saturating_add(count) > MAX_KEY_GROUPS {
            return Cursor::error_at(begin, Fault::Value { what: "number of key groups", value: count.into() });
        }
        Ok(KeyGroups { first, count })
    }
}

/// How far offsets reach, to be compared with the stream that follows them.
#[derive(Clone, Copy)]
pub(super) struct Span {
    begin: usize,
    most: i64,
}

impl Span {
    /// Of offsets that are not there.
    pub(super) const NONE: Self = Self { begin: 0, most: -1 };

    /// The one that reaches further.
    pub(super) fn or(self, other: Self) -> Self {
        if other.most > self.most { other } else { self }
    }

    /// No offset leads beyond the end of the stream. A number of offsets that is wrong swallows the handles after them, and
    /// what was text there makes huge offsets.
    pub(super) fn check(self, length: Option<u64>) -> Result<()> {
        let Self { begin, most: value } = self;
        match length {
            Some(length) if u64::try_from(value).is_ok_and(|most| most > length) => {
                Cursor::error_at(begin, Fault::Value { what: "offset in a stream that ends before it", value })
            }
            _ => Ok(()),
        }
    }
}
