//! Keyed state handles.

use super::{Layout, Result, Walker};
use crate::flink_metadata::bytes::Cursor;
use crate::flink_metadata::error::Fault;
use crate::flink_metadata::event::{Event, Handle, Kind, List, Part, Tail};

impl<'a, S: FnMut(Event<'a>)> Walker<'a, S> {
    /// The keyed state of a subtask, or none.
    pub(super) fn keyed_part(&mut self, part: Part) -> Result<()> {
        let begin = self.at.position();
        match self.at.u8("type of a keyed state handle")? {
            0 => Ok(()),
            tag => {
                self.tell(Event::Part(part));
                self.keyed(tag, begin)
            }
        }
    }

    /// A keyed state handle, its tag already read at `begin`.
    fn keyed(&mut self, tag: u8, begin: usize) -> Result<()> {
        match tag {
            3 => self.key_groups(false, false, Kind::KeyedState),
            7 => self.key_groups(true, false, Kind::KeyedState),
            12 => self.key_groups(false, true, Kind::KeyedState),
            5 | 11 => self.incremental(tag == 11),
            8 | 14 => self.nested(|walker| walker.changelog(tag == 14)),
            9 | 10 | 13 => self.increment(tag),
            tag => Cursor::error_at(begin, Fault::Tag { place: "keyed state handle", tag }),
        }
    }

    /// Whether tags 8 to 10 have the fields that Flink 1.15 added. From version 4 on they do.
    fn has_new_fields(&mut self) -> bool {
        self.two_layouts |= self.version <= 3;
        self.version > 3 || self.layout == Layout::New
    }

    fn incremental(&mut self, second: bool) -> Result<()> {
        let checkpoint = self.at.i64("checkpoint id of an incremental handle")?;
        let backend = self.at.utf("backend id")?;
        let groups = self.group_range()?;
        let checkpointed_size = if second { Some(self.at.i64("checkpointed size")?) } else { None };
        self.tell(Event::Open(Handle::Incremental { checkpoint, backend, groups, checkpointed_size }));
        self.tell(Event::List(List::Metadata));
        self.stream(Kind::IncrementalMetadata)?;
        self.local_files(List::Shared, Kind::IncrementalShared)?;
        self.local_files(List::Private, Kind::IncrementalPrivate)?;
        if second {
            self.at.utf("handle id")?;
        }
        self.tell(Event::Close(Tail::None));
        Ok(())
    }

    fn local_files(&mut self, list: List, kind: Kind) -> Result<()> {
        self.tell(Event::List(list));
        // Name and type tag.
        for _ in 0..self.at.count(3, "files of an incremental handle")? {
            let name = self.at.utf("local file name")?;
            self.tell(Event::LocalFile(name));
            self.stream(kind)?;
        }
        Ok(())
    }

    fn changelog(&mut self, second: bool) -> Result<()> {
        let groups = self.group_range()?;
        let new = second || self.has_new_fields();
        let checkpointed_size = if new { Some(self.at.i64("checkpointed size")?) } else { None };
        self.tell(Event::Open(Handle::Changelog { groups, checkpointed_size }));
        self.tell(Event::List(List::Materialized));
        for _ in 0..self.at.count(1, "materialised handles")? {
            let begin = self.at.position();
            // Flink warns of a missing one and goes on.
            match self.at.u8("type of a materialised handle")? {
                0 => (),
                tag => self.keyed(tag, begin)?,
            }
        }
        self.tell(Event::List(List::Increments));
        for _ in 0..self.at.count(1, "changelog increments")? {
            let begin = self.at.position();
            match self.at.u8("type of a changelog increment")? {
                tag @ (9 | 10 | 13) => self.keyed(tag, begin)?,
                tag => return Cursor::error_at(begin, Fault::Tag { place: "changelog increment", tag }),
            }
        }
        let materialization = if new { Some(self.at.i64("materialisation id")?) } else { None };
        let checkpoint = if second { Some(self.at.i64("checkpoint id of a changelog")?) } else { None };
        if new {
            self.at.utf("handle id")?;
        }
        self.tell(Event::Close(Tail::Changelog { materialization, checkpoint }));
        Ok(())
    }

    fn increment(&mut self, tag: u8) -> Result<()> {
        match tag {
            9 => self.memory_increment(),
            tag => self.file_increment(tag == 13),
        }
    }

    fn memory_increment(&mut self) -> Result<()> {
        let groups = self.group_range()?;
        let from = self.at.i64("first sequence number")?;
        let to = self.at.i64("last sequence number")?;
        // Key group and length.
        let count = self.at.count(8, "changes")?;
        let mut bytes = 0;
        for _ in 0..count {
            self.at.i32("key group of a change")?;
            bytes += self.at.block("bytes of a change")?.len() as u64;
        }
        if self.has_new_fields() {
            self.at.utf("handle id")?;
        }
        let changes = u32::try_from(count).unwrap_or(u32::MAX);
        self.tell(Event::Open(Handle::MemoryIncrement { groups, from, to, changes, bytes }));
        self.tell(Event::Close(Tail::None));
        Ok(())
    }

    fn file_increment(&mut self, second: bool) -> Result<()> {
        let groups = self.group_range()?;
        self.tell(Event::Open(Handle::FileIncrement { groups }));
        // Offset and type tag.
        for _ in 0..self.at.count(9, "changelog files")? {
            let offset = self.at.i64("offset in a changelog file")?;
            self.tell(Event::LogOffset(offset));
            self.stream(Kind::Changelog)?;
        }
        let size = self.at.i64("size of a changelog increment")?;
        let new = second || self.has_new_fields();
        let checkpointed_size = if new { Some(self.at.i64("checkpointed size")?) } else { None };
        if new {
            self.at.utf("handle id")?;
        }
        let storage = if second { Some(self.at.utf("changelog storage")?) } else { None };
        self.tell(Event::Close(Tail::FileIncrement { size, checkpointed_size, storage }));
        Ok(())
    }
}
