//! In-flight data of unaligned checkpoints.

use super::{Result, Walker};
use crate::flink_metadata::bytes::Cursor;
use crate::flink_metadata::error::Fault;
use crate::flink_metadata::event::{Event, Handle, Kind, Part, Tail};

/// Bytes of the smallest channel handle: subtask, place, number of offsets, size, type tag.
const LEAST: usize = 25;

/// The same in version 6: type, subtask, size, type tag, length of the offsets.
const LEAST_TYPED: usize = 18;

impl<'a, S: FnMut(Event<'a>)> Walker<'a, S> {
    pub(super) fn channels(&mut self) -> Result<()> {
        self.channel_list(Part::InputChannel, Kind::InputChannel, 1)?;
        self.channel_list(Part::OutputChannel, Kind::OutputChannel, 2)
    }

    /// `plain` is the type that version 6 writes before a plain handle; the merged one's is two more.
    fn channel_list(&mut self, part: Part, kind: Kind, plain: u8) -> Result<()> {
        let least = if self.version >= 6 { LEAST_TYPED } else { LEAST };
        let count = self.at.count(least, "channel state handles")?;
        if count > 0 {
            self.tell(Event::Part(part));
        }
        for _ in 0..count {
            self.typed_channel(kind, plain)?;
        }
        Ok(())
    }

    fn typed_channel(&mut self, kind: Kind, plain: u8) -> Result<()> {
        if self.version < 6 {
            return self.channel(kind);
        }
        let begin = self.at.position();
        match self.at.u8("type of a channel state handle")? {
            tag if tag == plain => self.channel(kind),
            tag if tag == plain + 2 => self.merged_channel(kind),
            tag => Cursor::error_at(begin, Fault::Tag { place: "channel state handle", tag }),
        }
    }

    fn channel(&mut self, kind: Kind) -> Result<()> {
        let subtask = self.at.i32("subtask of a channel")?;
        let place = (self.at.i32("gate of a channel")?, self.at.i32("number of a channel")?);
        let (offsets, span) = self.offsets("offsets of a channel")?;
        let size = self.at.i64("size of a channel")?;
        self.tell(Event::Open(Handle::Channel { subtask, place, offsets, size }));
        let length = self.stream(kind)?;
        span.check(length)?;
        self.tell(Event::Close(Tail::None));
        Ok(())
    }

    fn merged_channel(&mut self, kind: Kind) -> Result<()> {
        let subtask = self.at.i32("subtask of a channel")?;
        let size = self.at.i64("size of merged channels")?;
        self.tell(Event::Open(Handle::MergedChannel { subtask, size }));
        self.stream(kind)?;
        let offsets = self.at.block("offsets of merged channels")?.len();
        self.tell(Event::Close(Tail::MergedChannel(offsets)));
        Ok(())
    }
}
