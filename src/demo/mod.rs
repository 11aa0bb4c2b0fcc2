//! The embedded platform: a world file, and servers for Flink, WebHDFS and DolphinScheduler on loopback that answer as it says.
//!
//! `statewarden demo` shows it to a newcomer, the tests run the real program against it. Nothing here judges anything.

pub mod servers;
pub mod world;

/// The world file of the platform that `statewarden demo` shows.
pub const PLATFORM: &str = include_str!("platform.yaml");
