//! The configuration: the file as written, the layers over it, and the checked form that all else takes.

mod check;
mod error;
pub mod example;
pub mod file;
pub mod hadoop;
pub mod load;
mod shape;
pub mod valid;

#[cfg(test)]
mod tests;

pub use error::{ConfigError, ConfigErrors};
pub use load::{LoadOptions, load};
pub use valid::{
    Application, CheckpointRoot, ClusterConfig, Config, Credentials, DsConfig, HdfsConfig, HttpConfig, Ignore, Layout,
    Migration, Policies, Refusal, RegistryEntry, RegistryStatus, RestoreMode, RestoreType,
};
