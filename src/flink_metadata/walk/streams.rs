//! Stream handles: where bytes are.

use super::{Result, Walker};
use crate::flink_metadata::bytes::Cursor;
use crate::flink_metadata::error::Fault;
use crate::flink_metadata::event::{Event, Handle, KeyGroups, Kind, Offsets, Scope, Stream, Tail};

/// `KeyGroupRangeAssignment.UPPER_BOUND_MAX_PARALLELISM`.
const MAX_KEY_GROUPS: u32 = 1 << 15;

impl<'a, S: FnMut(Event<'a>)> Walker<'a, S> {
    /// A stream handle, or none.
    pub(super) fn stream(&mut self, kind: Kind) -> Result<()> {
        let begin = self.at.position();
        match self.at.u8("type of a stream handle")? {
            0 => Ok(()),
            // Flink writes a key group handle where a stream handle is expected if it holds one as such.
            3 => self.nested(|walker| walker.key_groups(false, false, kind)),
            tag => self.leaf(tag, begin, kind),
        }
    }

    /// A stream handle that holds no other, its tag already read at `begin`.
    pub(super) fn leaf(&mut self, tag: u8, begin: usize, kind: Kind) -> Result<()> {
        let stream = match tag {
            1 => self.inline()?,
            2 => {
                let size = self.size()?;
                Stream::File { path: self.at.name("file path")?, size }
            }
            6 => {
                let path = self.at.name("relative file path")?;
                Stream::Relative { path, size: self.size()? }
            }
            15 => self.segment()?,
            16 => Stream::EmptySegment,
            tag => return Cursor::error_at(begin, Fault::Tag { place: "stream handle", tag }),
        };
        self.tell(Event::Stream { kind, stream });
        Ok(())
    }

    /// Flink names every inline handle. Without this check one changed byte can turn the handle of a file of some megabytes
    /// into an inline handle that ends at the same byte.
    fn inline(&mut self) -> Result<Stream<'a>> {
        let name = self.at.name("name of an inline handle")?;
        Ok(Stream::Inline { name, bytes: self.at.block("bytes of inline state")?.len() })
    }

    fn segment(&mut self) -> Result<Stream<'a>> {
        let start = self.at.i64_from(0, "start of a segment")?.unsigned_abs();
        let size = self.at.i64_from(0, "size of a segment")?.unsigned_abs();
        let scope = if self.at.flag("scope of a segment")? { Scope::Shared } else { Scope::Exclusive };
        let path = self.at.name("path of a merged file")?;
        Ok(Stream::Segment { path, start, size, scope, logical_file: self.at.utf("id of a logical file")? })
    }

    /// A file's length; `FileStateHandle` takes -1 for one that is not known.
    fn size(&mut self) -> Result<Option<u64>> {
        Ok(self.at.i64_from(-1, "file size")?.try_into().ok())
    }

    pub(super) fn offsets(&mut self, what: &'static str) -> Result<Offsets<'a>> {
        let count = self.at.count(8, what)?;
        Ok(Offsets::new(self.at.take(count * 8, what)?))
    }

    /// Tags 3, 7 and 12.
    pub(super) fn key_groups(&mut self, savepoint: bool, with_id: bool, kind: Kind) -> Result<()> {
        let groups = self.group_range()?;
        let bytes = self.at.take(groups.count as usize * 8, "offsets of key groups")?;
        self.tell(Event::Open(Handle::KeyGroups { savepoint, groups, offsets: Offsets::new(bytes) }));
        self.stream(kind)?;
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
