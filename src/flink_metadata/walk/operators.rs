//! Operators, their subtasks, and operator state.

use std::borrow::Cow;

use super::streams::{MAX_KEY_GROUPS, Span};
use super::{Result, Walker};
use crate::flink_metadata::bytes::Cursor;
use crate::flink_metadata::error::Fault;
use crate::flink_metadata::event::{Event, Handle, Kind, Mode, Operator, Part, Tail};

impl<'a, S: FnMut(Event<'a>)> Walker<'a, S> {
    pub(super) fn operator(&mut self) -> Result<()> {
        let (name, uid) = if self.version >= 5 {
            (Some(self.at.utf("operator name")?), Some(self.at.utf("operator uid")?))
        } else {
            (None, None)
        };
        let id = self.at.id("operator id")?;
        let parallelism = self.at.u32("parallelism")?;
        let begin = self.at.position();
        let max_parallelism = self.at.u32("maximum parallelism")?;
        if parallelism > max_parallelism || max_parallelism > MAX_KEY_GROUPS {
            let what = "maximum for this parallelism";
            return Cursor::error_at(begin, Fault::Value { what, value: max_parallelism.into() });
        }
        let given = |text: Option<Cow<'a, str>>| text.filter(|text| !text.is_empty());
        self.tell(Event::Operator(Operator { id, name: given(name), uid: given(uid), parallelism, max_parallelism }));
        if self.version == 2 {
            // The length of the operator's chain before Flink 1.3; 1 ever since.
            self.at.i32("chain length")?;
            return self.subtasks(parallelism);
        }
        self.coordinated(parallelism)
    }

    /// From version 3 on: the coordinator, then the subtasks or the mark that all had finished.
    fn coordinated(&mut self, parallelism: u32) -> Result<()> {
        let has_state = self.coordinator()?;
        let begin = self.at.position();
        let mut ahead = self.at.clone();
        let count = ahead.i32("subtasks")?;
        // A coordinator has state only where subtasks have reported to the checkpoint. Without this check, one changed byte
        // in the length of its state can hide all of them.
        if has_state && count <= 0 {
            let what = "number of subtasks where the coordinator has state";
            return Cursor::error_at(begin, Fault::Value { what, value: count.into() });
        }
        if count >= 0 {
            return self.subtasks(parallelism);
        }
        self.at = ahead;
        self.tell(Event::FullyFinished);
        Ok(())
    }

    /// Flink takes only inline bytes here.
    fn coordinator(&mut self) -> Result<bool> {
        let begin = self.at.position();
        match self.at.u8("type of a coordinator state")? {
            0 => Ok(false),
            tag @ 1 => {
                self.tell(Event::Part(Part::Coordinator));
                self.leaf(tag, begin, Kind::Coordinator).map(|_| true)
            }
            tag => Cursor::error_at(begin, Fault::Tag { place: "coordinator state", tag }),
        }
    }

    fn subtasks(&mut self, parallelism: u32) -> Result<()> {
        let count = self.at.count(4, "subtasks")?;
        if count > 0 {
            self.seen.clear();
            self.seen.resize(parallelism.div_ceil(u64::BITS) as usize, 0);
        }
        for _ in 0..count {
            self.subtask(parallelism)?;
        }
        Ok(())
    }

    fn subtask(&mut self, parallelism: u32) -> Result<()> {
        let begin = self.at.position();
        let stored = self.at.i32("subtask index")?;
        let finished = stored < 0;
        // A finished subtask n is written as -n - 1, which is the bitwise complement.
        let index = if finished { !stored } else { stored }.unsigned_abs();
        if index >= parallelism || (finished && self.version == 2) || self.is_repeated(index) {
            return Cursor::error_at(begin, Fault::Value { what: "subtask index here", value: stored.into() });
        }
        self.tell(Event::Subtask { index, finished });
        if finished { Ok(()) } else { self.subtask_state() }
    }

    /// Whether the subtask came before; Flink would forget what it had then. `index` is below the parallelism.
    fn is_repeated(&mut self, index: u32) -> bool {
        let (word, bit) = ((index / u64::BITS) as usize, 1 << (index % u64::BITS));
        let before = self.seen[word];
        self.seen[word] |= bit;
        before & bit != 0
    }

    fn subtask_state(&mut self) -> Result<()> {
        if self.version == 2 {
            self.at.i64("duration")?;
            let begin = self.at.position();
            let legacy = self.at.i32("legacy states")?;
            if legacy != 0 {
                return Cursor::error_at(begin, Fault::Value { what: "number of legacy states", value: legacy.into() });
            }
        }
        self.operator_state(Part::ManagedOperator)?;
        self.operator_state(Part::RawOperator)?;
        self.keyed_part(Part::ManagedKeyed)?;
        self.keyed_part(Part::RawKeyed)?;
        if self.version == 2 { Ok(()) } else { self.channels() }
    }

    fn operator_state(&mut self, part: Part) -> Result<()> {
        if !self.at.flag("number of operator state handles")? {
            return Ok(());
        }
        let begin = self.at.position();
        let merged = match self.at.u8("type of an operator state handle")? {
            0 => return Ok(()),
            4 => false,
            17 => true,
            tag => return Cursor::error_at(begin, Fault::Tag { place: "operator state handle", tag }),
        };
        self.tell(Event::Part(part));
        self.tell(Event::Open(Handle::OperatorState { merged }));
        // Name, mode, number of offsets.
        let mut span = Span::NONE;
        for _ in 0..self.at.count(7, "operator states")? {
            span = span.or(self.named_state()?);
        }
        let length = if merged { self.merged_state()? } else { self.stream(Kind::OperatorState)? };
        span.check(length)?;
        self.tell(Event::Close(Tail::None));
        Ok(())
    }

    fn named_state(&mut self) -> Result<Span> {
        let name = self.at.utf("state name")?;
        let begin = self.at.position();
        let mode = match self.at.u8("distribution mode")? {
            0 => Mode::Split,
            1 => Mode::Union,
            2 => Mode::Broadcast,
            other => {
                return Cursor::error_at(begin, Fault::Value { what: "distribution mode", value: other.into() });
            }
        };
        let (offsets, span) = self.offsets("offsets of an operator state")?;
        self.tell(Event::State { name, mode, offsets });
        Ok(span)
    }

    /// File merging: two directories, then a segment of a file or the mark that there is none.
    fn merged_state(&mut self) -> Result<Option<u64>> {
        let task_owned = self.at.name("task-owned directory")?;
        let shared = self.at.name("shared directory")?;
        let begin = self.at.position();
        let empty = match self.at.u8("mark of an empty state")? {
            0 => false,
            1 => true,
            other => {
                return Cursor::error_at(begin, Fault::Value { what: "mark of an empty state", value: other.into() });
            }
        };
        self.tell(Event::Directories { task_owned, shared, empty });
        let begin = self.at.position();
        match self.at.u8("type of a segment")? {
            tag @ (15 | 16) => self.leaf(tag, begin, Kind::OperatorState),
            tag => Cursor::error_at(begin, Fault::Tag { place: "segment of a merged file", tag }),
        }
    }
}
