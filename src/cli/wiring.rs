//! The one place that joins configuration and adapters.

use std::sync::Arc;

use anyhow::Context as _;
use async_trait::async_trait;

use crate::adapters::dolphin::{Dolphin, DolphinWrite};
use crate::adapters::flink_rest::FlinkRest;
use crate::adapters::webhdfs::WebHdfs;
use crate::collect::Sources;
use crate::config::{ClusterConfig, Config, DsConfig};
use crate::plan::RecordTarget;
use crate::ports::read::{FlinkRead, ResourceRead};
use crate::ports::write::{DeleteAnswer, ResourceWrite};
use crate::views::Generation;

/// The readers of everything the configuration names. Nothing is asked yet; what fails here is a file or a setting.
pub fn connect(config: &Config, recurse: bool) -> anyhow::Result<Sources> {
    Ok(Sources {
        flink: flink(config)?,
        hdfs: Arc::new(hdfs(config)?),
        resources: resources(config)?,
        recurse,
        metadata: Arc::default(),
    })
}

/// The readers of all clusters, in the order of the configuration.
pub fn flink(config: &Config) -> anyhow::Result<Vec<Arc<dyn FlinkRead>>> {
    config.clusters.iter().map(cluster).collect()
}

fn cluster(config: &ClusterConfig) -> anyhow::Result<Arc<dyn FlinkRead>> {
    let reader =
        FlinkRest::new(config).with_context(|| format!("cannot set up the reader of cluster {}", config.name))?;
    Ok(Arc::new(reader))
}

/// The reader of HDFS, with the questions that only `doctor` asks.
pub fn hdfs(config: &Config) -> anyhow::Result<WebHdfs> {
    let settings = config.hdfs.as_ref().context(
        "the configuration says nothing about HDFS; set `hdfs.urls`, or point HADOOP_CONF_DIR at the cluster's configuration",
    )?;
    WebHdfs::new(settings).context("cannot set up the reader of HDFS")
}

/// The reader of DolphinScheduler, if the configuration names a server.
pub fn resources(config: &Config) -> anyhow::Result<Option<Arc<dyn ResourceRead>>> {
    let Some(settings) = &config.ds else { return Ok(None) };
    let reader = Dolphin::new(settings).context("cannot set up the reader of DolphinScheduler")?;
    Ok(Some(Arc::new(reader)))
}

/// How to reach DolphinScheduler for deletes: with the token for them, where there is one of its own.
pub fn applying(settings: &DsConfig) -> DsConfig {
    let token = settings.apply_token.clone().or_else(|| settings.token.clone());
    DsConfig { token, ..settings.clone() }
}

/// The one writer, for a server of the generation that the plan was made on. Calls nothing yet.
pub fn writer(config: &Config, generation: Option<Generation>) -> anyhow::Result<Box<dyn ResourceWrite>> {
    let settings = config.ds.as_ref().context("the configuration names no DolphinScheduler")?;
    let generation =
        generation.context("the plan does not say for which generation of DolphinScheduler it was made")?;
    Ok(Box::new(DolphinWrite::new(&applying(settings), generation)?))
}

/// What stands in for the writer where no call is to be made.
pub fn no_writer() -> Box<dyn ResourceWrite> {
    Box::new(Nothing)
}

struct Nothing;

#[async_trait]
impl ResourceWrite for Nothing {
    async fn delete_record(&self, _: &RecordTarget) -> DeleteAnswer {
        DeleteAnswer::Refused { why: "no call is made in this run".to_owned() }
    }
}
