//! Commented starter files, as `statewarden config example` prints them.

/// For DolphinScheduler up to 3.1, with every key.
pub const EXAMPLE: &str = include_str!("../../examples/statewarden.toml");

/// For DolphinScheduler 3.2 and later, only what differs from the defaults.
pub const EXAMPLE_STORAGE: &str = include_str!("../../examples/statewarden-storage.toml");
