//! Embedded servers on loopback.

pub mod fault;
