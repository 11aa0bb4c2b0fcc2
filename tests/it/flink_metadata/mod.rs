//! The reader of `_metadata` against files that Flink wrote, whole and damaged, and against arbitrary bytes.

mod agreement;
mod fixtures;
mod tree;
