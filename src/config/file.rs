//! The configuration file as written (TOML).
