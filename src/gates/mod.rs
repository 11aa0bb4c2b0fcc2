//! Named conditions an action rests on, each with an answer of three and the evidence for it. Pure.

pub mod record;
pub mod run;
pub mod runs;
pub mod verdict;

pub use verdict::{Gate, GateResult, RunGate, Verdict};
