//! What a Hadoop client configuration directory says.

use std::path::{Path, PathBuf};

use url::Url;

use crate::domain::FileSystems;

/// What the client configuration says of the file system.
#[derive(Debug, Clone, Default)]
pub struct HadoopConf {
    /// Default file system, aliases and mount tables.
    pub file_systems: FileSystems,
    /// HTTP addresses of the NameNodes of the default file system.
    pub namenode_urls: Vec<Url>,
}

/// Why a configuration directory could not be read.
#[derive(Debug, thiserror::Error)]
pub enum HadoopConfError {
    /// Not readable.
    #[error("`{0}` cannot be read")]
    Read(PathBuf),
}

/// Reads `core-site.xml` and `hdfs-site.xml` in `dir`.
pub fn read(dir: &Path) -> Result<HadoopConf, HadoopConfError> {
    Err(HadoopConfError::Read(dir.to_owned()))
}
