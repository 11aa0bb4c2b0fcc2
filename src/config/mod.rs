//! The configuration: the file as written, the layers over it, and the checked form that all else takes.

pub mod file;
pub mod hadoop;
pub mod load;
pub mod valid;

pub use valid::{
    Application, CheckpointRoot, ClusterConfig, Config, Credentials, DsConfig, HdfsConfig, HttpConfig, Ignore, Layout,
    Migration, Policies, Refusal, RegistryEntry, RegistryStatus,
};
