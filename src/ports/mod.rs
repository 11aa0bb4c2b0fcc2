//! What the program asks of the outside systems, and the record it keeps: method lists only.
//!
//! Only `apply` and the wiring may name [`mod@write`].

pub mod clock;
pub mod ledger;
pub mod read;
pub mod write;
