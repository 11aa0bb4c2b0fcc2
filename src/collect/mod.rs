//! Fills an inventory through the reading ports.
//!
//! Order is part of correctness. Flink first and again last: a job seen in either reading is alive, so one that starts while
//! the rest is read is not missed. Records before HDFS: a record that is deleted meanwhile then looks absent at both places,
//! never the other way round. Workflows after HDFS: who uses a thing is asked after it looked unneeded. Single questions about
//! what looks absent come last, on the active NameNode.

pub mod again;
mod evidence;
mod list;
mod state;

use std::sync::Arc;

use futures::future::join_all;

pub use state::MetadataCache;

use crate::config::Config;
use crate::ports::clock::Clock;
use crate::ports::read::{FlinkRead, HdfsRead, ResourceRead};
use crate::views::flink::merge_readings;
use crate::views::inventory::INVENTORY_VERSION;
use crate::views::{ClusterView, FlinkView, Inventory};

/// What to ask.
#[derive(Clone)]
pub struct Sources {
    /// Clusters and history servers.
    pub flink: Vec<Arc<dyn FlinkRead>>,
    /// HDFS.
    pub hdfs: Arc<dyn HdfsRead>,
    /// DolphinScheduler, if the platform has one.
    pub resources: Option<Arc<dyn ResourceRead>>,
    /// Walk below directories that look like run directories and lie in no configured root.
    pub recurse: bool,
    /// What restore points were read to hold, from one reading to the next.
    pub metadata: Arc<MetadataCache>,
}

/// Told how far the collection is.
pub trait Progress: Send + Sync {
    /// A new stage begins.
    fn stage(&self, text: &str);
    /// So many entries were read so far in this stage.
    fn count(&self, entries: u64);
}

/// Tells nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn stage(&self, _: &str) {}
    fn count(&self, _: u64) {}
}

/// Reads everything once. Never fails as a whole: what could not be read is a gap.
#[tracing::instrument(skip_all, name = "collect")]
pub async fn collect(sources: &Sources, config: &Config, clock: &dyn Clock, progress: &dyn Progress) -> Inventory {
    let started = clock.now();
    progress.stage("reading Flink");
    let before = read_clusters(sources).await;
    progress.stage("reading the resource center");
    let mut resources = match &sources.resources {
        Some(source) => Some(source.fetch_resources().await),
        None => None,
    };
    progress.stage("listing HDFS");
    let mut hdfs = list::candidates(sources, config, resources.as_ref(), progress).await;
    if let (Some(source), Some(view)) = (&sources.resources, &mut resources) {
        progress.stage("listing the storage of the resource center");
        list::storage(sources, source.as_ref(), view, &mut hdfs, config).await;
        progress.stage("reading workflows");
        source.fetch_workflows(view).await;
    }
    let mut inventory = Inventory {
        inventory_version: INVENTORY_VERSION,
        started,
        taken: started,
        flink: FlinkView { declared_none: config.flink_none, clusters: before },
        hdfs,
        resources,
        state: crate::views::StateView::default(),
    };
    progress.stage("listing run directories");
    state::gather(sources, config, &mut inventory, progress).await;
    progress.stage("reading Flink again");
    let after = read_clusters(sources).await;
    let before = std::mem::take(&mut inventory.flink.clusters);
    inventory.flink.clusters =
        before.into_iter().zip(after).map(|(before, after)| merge_readings(before, after)).collect();
    progress.stage("asking about what looks absent");
    evidence::gather(sources, config, clock, &mut inventory).await;
    inventory.flink.clusters.sort_by(|a, b| a.name.cmp(&b.name));
    inventory.hdfs.clock = sources.hdfs.clock();
    inventory.hdfs.user = sources.hdfs.user();
    inventory.taken = clock.now();
    inventory
}

async fn read_clusters(sources: &Sources) -> Vec<ClusterView> {
    join_all(sources.flink.iter().map(|cluster| cluster.fetch_cluster())).await
}
