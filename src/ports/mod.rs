//! What the program asks of the outside systems: method lists only.

pub mod clock;
pub mod read;
