//! What a Hadoop configuration directory says of the file system: its names, its NameNodes, its mount tables.
//!
//! Read as Hadoop's `Configuration` does: `core-site.xml`, then `hdfs-site.xml`; a later value wins unless an earlier one is
//! `final`; `${name}` and `${env.NAME}` are substituted; `xi:include` is followed, relative to the file it stands in.
//! Only files are read. Java's system properties do not exist here, so a value that needs one keeps its `${…}`.

mod resource;
mod topology;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use url::Url;

use self::resource::Resource;
use crate::domain::FileSystems;

/// What the directory says.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct HadoopConf {
    /// The default file system, the other spellings of it and of others, and the mount tables.
    pub file_systems: FileSystems,
    /// HTTP addresses of the NameNodes of the default file system, in the order of `dfs.ha.namenodes`. An observer among them
    /// cannot be told apart here.
    pub namenode_urls: Vec<Url>,
    /// All properties after substitution, values trimmed. They can hold passwords, so they are never shown.
    pub properties: BTreeMap<String, String>,
}

impl fmt::Debug for HadoopConf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HadoopConf")
            .field("file_systems", &self.file_systems)
            .field("namenode_urls", &self.namenode_urls.iter().map(Url::as_str).collect::<Vec<_>>())
            .field("properties", &self.properties.keys())
            .finish()
    }
}

/// Why a Hadoop configuration directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HadoopConfError {
    /// The directory is not the right one.
    #[error("{} holds neither core-site.xml nor hdfs-site.xml; name the directory of the Hadoop client configuration", .dir.display())]
    NoFiles {
        /// Directory.
        dir: PathBuf,
    },
    /// A file that is there cannot be read, or one that is included is not there.
    #[error("cannot read {}{}", .file.display(), included_at(.included_from.as_ref()))]
    Read {
        /// File.
        file: PathBuf,
        /// File and line of the `xi:include`.
        included_from: Option<Position>,
        /// What failed.
        #[source]
        source: std::io::Error,
    },
    /// No XML.
    #[error("{at}: not well-formed: {what}")]
    Xml {
        /// Where.
        at: Position,
        /// What the parser says; names of elements, never values.
        what: String,
    },
    /// XML, but no Hadoop configuration.
    #[error("{at}: {what}")]
    Structure {
        /// Where.
        at: Position,
        /// What is wrong and what is right.
        what: String,
    },
    /// A property that is needed has an unusable value.
    #[error("{at}: `{key}` cannot be used: {what}")]
    Value {
        /// Where it is set.
        at: Position,
        /// Property.
        key: String,
        /// Why not.
        what: String,
    },
}

/// File and line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// File.
    pub file: PathBuf,
    /// Line, from 1 on.
    pub line: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

fn included_at(from: Option<&Position>) -> String {
    from.map(|at| format!(", which {at} includes")).unwrap_or_default()
}

/// Reads `core-site.xml` and `hdfs-site.xml` of `dir`; one of the two may be missing.
pub fn read(dir: &Path) -> Result<HadoopConf, HadoopConfError> {
    read_with(dir, &|name| std::env::var(name).ok())
}

fn read_with(dir: &Path, environment: &dyn Fn(&str) -> Option<String>) -> Result<HadoopConf, HadoopConfError> {
    let mut resource = Resource::default();
    let core = resource.load(&dir.join("core-site.xml"))?;
    let hdfs = resource.load(&dir.join("hdfs-site.xml"))?;
    if !core && !hdfs {
        return Err(HadoopConfError::NoFiles { dir: dir.to_owned() });
    }
    topology::build(&resource.substituted(environment))
}

#[cfg(test)]
mod tests;
