//! Compares the views of one inventory and says where they disagree. Pure: same input, same findings.

pub mod code;
pub mod finding;
pub mod rules;

pub use code::{FindingCode, Severity};
pub use finding::{Finding, Lang, Remedy, Target};

/// What the rules said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Findings, sorted.
    pub findings: Vec<Finding>,
    /// Findings an ignore of the configuration matches.
    pub ignored: Vec<Ignored>,
}

/// A finding that is expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignored {
    /// The finding.
    pub finding: Finding,
    /// Why it is expected.
    pub reason: String,
}
