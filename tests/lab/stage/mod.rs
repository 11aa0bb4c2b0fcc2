//! The drifted platform on real servers: HDFS and Flink from the lab's JVM, embedded DolphinSchedulers with their files in
//! that HDFS, resources made through their APIs, and some of the files deleted behind their backs.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result};

pub mod center;
mod jvm;

pub use center::{Center, Home};
pub use jvm::{Jvm, NameNodes};

/// Environment variable in which the program expects the access token.
pub const TOKEN_ENV: &str = "STATEWARDEN_DS_TOKEN";

/// The platform. Dropping it ends its servers.
pub struct Stage {
    /// HDFS and Flink.
    pub jvm: Jvm,
    /// The DolphinScheduler 3.1.9 into whose resources a job checkpoints.
    pub center: Center,
}

impl Stage {
    /// Starts all servers, makes the records, and deletes the files of some.
    pub async fn start(name_nodes: NameNodes) -> Result<Self> {
        let jvm = tokio::task::spawn_blocking(move || Jvm::start(name_nodes)).await??;
        let center = Center::start(&jvm, Home::FIRST).await?;
        Ok(Self { jvm, center })
    }

    /// Writes a configuration for HDFS, Flink and one of the resource centers, and returns its place.
    ///
    /// HDFS is read by the account of the resource center.
    pub fn write_config(&self, name: &str, hdfs: &HdfsAccess, center: &Center) -> Result<PathBuf> {
        let path = self.jvm.dir().join(name);
        let text = self.config(hdfs, center);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }

    fn config(&self, hdfs: &HdfsAccess, center: &Center) -> String {
        let addresses = self.jvm.addresses();
        let mut text = String::new();
        if let HdfsAccess::Urls(urls) = hdfs {
            let _ = writeln!(text, "authority = {:?}\n\n[hdfs]\nurls = {urls:?}", addresses.hdfs);
        } else {
            let _ = writeln!(text, "[hdfs]\nconf_dir = \"{}\"", addresses.conf.display());
        }
        let _ = write!(
            text,
            r#"user = "{user}"

[ds]
url = "{ds}"
version = "{version}"
token_env = "{TOKEN_ENV}"
base_path = "{base}"
tenants = ["etl"]

[[clusters]]
name = "lab"
url = "{flink}"

# The root that should not be where it is, and the one where checkpoints belong.
[[checkpoint_roots]]
path = "{root}"
layout = "app/job"
clusters = ["lab"]

[[checkpoint_roots]]
path = "/flink/checkpoints"
layout = "app/job"
clusters = ["lab"]

# All records here are minutes old, and nobody wants to wait ten minutes; on a real platform leave both out.
[policies]
record_grace = "0s"
confirm_after = "2s"
"#,
            user = center.reader,
            ds = center.url,
            version = center.home.version,
            base = center.home.base,
            root = center.home.checkpoint_root(),
            flink = addresses.flink,
        );
        text
    }
}

/// How the program is told where HDFS is.
pub enum HdfsAccess {
    /// By the directory with Hadoop's own configuration files.
    ConfDir,
    /// By NameNode addresses.
    Urls(Vec<String>),
}
