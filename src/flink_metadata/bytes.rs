//! A position in the file. Every read is checked against the bytes that are left, and nothing is copied.

use std::borrow::Cow;

use super::error::{Fault, MetadataError};
use super::text;

type Result<T> = std::result::Result<T, MetadataError>;

/// What is left of a file, read as `java.io.DataInput` does: big-endian, no padding.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where in the file `bytes` begins.
    base: usize,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self::within(0, bytes)
    }

    /// Over a piece of the file that begins at `base`.
    pub(super) const fn within(base: usize, bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, base }
    }

    pub(super) const fn position(&self) -> usize {
        self.base + self.at
    }

    /// The same file at a position that was passed.
    pub(super) const fn earlier(&self, position: usize) -> Self {
        Self { bytes: self.bytes, at: position - self.base, base: self.base }
    }

    pub(super) const fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// An error at an earlier position: where the offending field begins.
    pub(super) const fn error_at<T>(offset: usize, fault: Fault) -> Result<T> {
        Err(MetadataError { offset, fault })
    }

    pub(super) const fn error<T>(&self, fault: Fault) -> Result<T> {
        Self::error_at(self.position(), fault)
    }

    pub(super) fn take(&mut self, wanted: usize, what: &'static str) -> Result<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        let Some(taken) = rest.get(..wanted) else {
            return self.error(Fault::Short { what, wanted, left: rest.len() });
        };
        self.at += wanted;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N]> {
        let taken = self.take(N, what)?;
        Ok(taken.try_into().expect("take gives as many bytes as were asked for"))
    }

    pub(super) fn u8(&mut self, what: &'static str) -> Result<u8> {
        Ok(self.array::<1>(what)?[0])
    }

    pub(super) fn u16(&mut self, what: &'static str) -> Result<u16> {
        Ok(u16::from_be_bytes(self.array(what)?))
    }

    pub(super) fn i32(&mut self, what: &'static str) -> Result<i32> {
        Ok(i32::from_be_bytes(self.array(what)?))
    }

    pub(super) fn i64(&mut self, what: &'static str) -> Result<i64> {
        Ok(i64::from_be_bytes(self.array(what)?))
    }

    pub(super) fn id(&mut self, what: &'static str) -> Result<[u8; 16]> {
        self.array(what)
    }

    /// A number of at least `least`.
    pub(super) fn i64_from(&mut self, least: i64, what: &'static str) -> Result<i64> {
        let begin = self.position();
        let value = self.i64(what)?;
        if value < least { Self::error_at(begin, Fault::Value { what, value }) } else { Ok(value) }
    }

    /// A number that is not negative.
    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32> {
        let begin = self.position();
        let value = self.i32(what)?;
        u32::try_from(value).or(Self::error_at(begin, Fault::Value { what, value: value.into() }))
    }

    /// 0 or 1, in four bytes.
    pub(super) fn flag(&mut self, what: &'static str) -> Result<bool> {
        let begin = self.position();
        match self.i32(what)? {
            0 => Ok(false),
            1 => Ok(true),
            value => Self::error_at(begin, Fault::Value { what, value: value.into() }),
        }
    }

    /// A number of entries that take at least `least` bytes each, so that no absurd number is believed.
    pub(super) fn count(&mut self, least: usize, what: &'static str) -> Result<usize> {
        let begin = self.position();
        let value = self.i32(what)?;
        let fits = |count: &usize| count.checked_mul(least).is_some_and(|all| all <= self.left());
        let fault = Fault::Count { what, value, left: self.left() };
        usize::try_from(value).ok().filter(fits).map_or_else(|| Self::error_at(begin, fault), Ok)
    }

    /// As many bytes as the length before them says.
    pub(super) fn block(&mut self, what: &'static str) -> Result<&'a [u8]> {
        let length = self.count(1, what)?;
        self.take(length, what)
    }

    /// What `DataOutput.writeUTF` wrote.
    pub(super) fn utf(&mut self, what: &'static str) -> Result<Cow<'a, str>> {
        let begin = self.position();
        let length = usize::from(self.u16(what)?);
        let bytes = self.take(length, what)?;
        text::decode(bytes)
            .map_or_else(|| Self::error_at(begin, Fault::Text { what, why: "not in modified UTF-8" }), Ok)
    }

    /// The same, where Flink never writes an empty text.
    pub(super) fn name(&mut self, what: &'static str) -> Result<Cow<'a, str>> {
        let begin = self.position();
        let text = self.utf(what)?;
        if text.is_empty() { Self::error_at(begin, Fault::Text { what, why: "empty" }) } else { Ok(text) }
    }
}
