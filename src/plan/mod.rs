//! What to do, in which order, on what grounds: an ordered proposal that a person can read and a ledger can hold. Pure.

pub mod action;
pub mod effect;
pub mod fingerprint;
pub mod limits;
pub mod planner;

pub use action::{Action, Advice, Effect, HeldBack, Plan, RecordTarget};
