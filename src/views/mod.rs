//! What each system says at one time, with what could not be read.
//!
//! A view may be incomplete and says so: a failed listing is a [`gap::Gap`], never an empty list.

pub mod flink;
pub mod gap;
pub mod hdfs;
pub mod inventory;
pub mod resources;
pub mod state;

pub use flink::{ClusterView, FlinkView, JobView};
pub use gap::{Cause, Gap, GapKind, ViewName};
pub use hdfs::{Entry, HdfsView, Listing};
pub use inventory::Inventory;
pub use resources::{Generation, Record, ResourceView};
pub use state::StateView;
