//! The three views of one collection, as one value and as a file.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{FlinkView, Gap, HdfsView, ResourceView, StateView};

/// Version of the inventory file. Raised when a reader of the old form would misread the new one.
pub const INVENTORY_VERSION: u32 = 1;

/// The three views of one collection, immutable once collected.
///
/// Order of reading: Flink, records, HDFS, workflows, Flink again, then single questions about what looked absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Inventory {
    /// Version of this form.
    pub inventory_version: u32,
    /// When the collection began, by our clock. Ages are judged at `taken`, also when the file is read later.
    #[schemars(with = "String")]
    pub started: Timestamp,
    /// When it ended: "now" for all rules.
    #[schemars(with = "String")]
    pub taken: Timestamp,
    /// Flink.
    pub flink: FlinkView,
    /// HDFS.
    pub hdfs: HdfsView,
    /// DolphinScheduler; `None` if the configuration names no server.
    #[serde(default)]
    pub resources: Option<ResourceView>,
    /// Restore points and what they name.
    #[serde(default)]
    pub state: StateView,
}

impl Inventory {
    /// All gaps of all views, in a fixed order.
    pub fn gaps(&self) -> Vec<&Gap> {
        let mut gaps: Vec<&Gap> = self
            .flink
            .clusters
            .iter()
            .flat_map(|cluster| &cluster.gaps)
            .chain(&self.hdfs.gaps)
            .chain(self.resources.iter().flat_map(|view| &view.gaps))
            .collect();
        gaps.sort();
        gaps.dedup();
        gaps
    }

    /// The NameNode's time at `taken`, if its clock was read: ages are server time minus server mtime.
    pub fn server_now(&self) -> Option<Timestamp> {
        let clock = self.hdfs.clock?;
        clock.server.checked_add(self.taken.duration_since(clock.local)).ok()
    }
}
