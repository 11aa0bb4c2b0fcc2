//! Pure renderers: what an inventory and its findings look like to a program and to a person.
//!
//! Nothing here reads, asks or decides: the same comparison gives the same text. What is of foreign origin (names, paths,
//! error texts) goes through [`crate::domain::text::printable`] before it reaches a terminal.

pub mod applied;
pub mod audit;
pub mod confirm;
pub mod doctor;
pub mod explain;
pub mod graph;
pub mod history;
pub mod json;
pub mod layout;
pub mod metadata;
pub mod model;
pub mod plan;
pub mod terminal;
pub mod words;

pub use layout::Style;
pub use model::{Report, Verdict};
