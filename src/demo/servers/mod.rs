//! Embedded servers on loopback.

pub mod dolphin;
pub mod fault;
pub mod file_system;
pub mod flink;
pub mod wire;
