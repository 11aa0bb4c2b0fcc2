//! Compares the views of one inventory and says where they disagree. Pure: same input, same findings.

pub mod code;
pub mod finding;
pub mod rules;

pub use code::{FindingCode, Severity};
pub use finding::{Finding, Lang, Remedy, Target};
