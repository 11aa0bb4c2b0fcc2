//! The reader of `_metadata` against files that Flink wrote, whole and damaged, and against arbitrary bytes.

mod agreement;
mod arbitrary;
mod build;
mod damage;
pub mod fixtures;
mod made_by_hand;
mod refusals;
mod tree;
