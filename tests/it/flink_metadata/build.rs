//! Bytes as `java.io.DataOutputStream` writes them, for files that nobody wrote.

/// A file that is being written.
#[derive(Default)]
pub struct File(pub Vec<u8>);

impl File {
    /// Header, checkpoint 1, no master state.
    pub fn new(version: i32) -> Self {
        Self::default().int(0x4960_672D).int(version).long(1).int(0)
    }

    pub fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    pub fn byte(self, value: u8) -> Self {
        self.raw(&[value])
    }

    pub fn int(self, value: i32) -> Self {
        self.raw(&value.to_be_bytes())
    }

    pub fn long(self, value: i64) -> Self {
        self.raw(&value.to_be_bytes())
    }

    /// For texts that are the same in UTF-8 and in Java's form of it.
    pub fn utf(self, text: &str) -> Self {
        let length = u16::try_from(text.len()).expect("a short text");
        self.raw(&length.to_be_bytes()).raw(text.as_bytes())
    }

    /// An operator of parallelism 1 without a coordinator, up to the number of its subtasks.
    pub fn operator(self) -> Self {
        self.raw(&[7; 16]).int(1).int(1).byte(0)
    }

    /// The same with one subtask without operator state, up to its keyed state.
    pub fn operator_up_to_keyed(self) -> Self {
        self.operator().int(1).int(0).int(0).int(0)
    }

    /// No raw keyed state, no in-flight data: the end of a subtask.
    pub fn end(self) -> Vec<u8> {
        self.byte(0).int(0).int(0).0
    }
}
