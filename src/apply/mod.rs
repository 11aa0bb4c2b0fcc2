//! Carries out a plan, one action at a time. No choice is left to make here: the gates are asked again, by the same functions.
//!
//! Order of every action: read again, judge again, write the intent, call once, read back, write the outcome. The outcome is
//! what the views show, never what the call answered. Nothing is repeated, and nothing else is tried.

mod earlier;
pub mod outcome;
pub mod run;
pub mod settle;

pub use earlier::earlier_observations;
pub use run::{ActionReport, Applied, Order, Tools, apply};
