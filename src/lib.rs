//! statewarden keeps Flink state, HDFS and the DolphinScheduler resource center in agreement.
//!
//! The walk, as one straight line:
//!
//! ```text
//! Config --collect--> Inventory { flink, hdfs, resources, gaps }     (candidates first, evidence second)
//!        --compare--> Findings
//!        --render--> terminal | JSON
//! ```

pub mod adapters;
pub mod apply;
pub mod cli;
pub mod collect;
pub mod compare;
pub mod config;
#[cfg(feature = "demo")]
pub mod demo;
pub mod domain;
pub mod flink_metadata;
pub mod gates;
pub mod graph;
pub mod ledger;
pub mod plan;
pub mod ports;
pub mod report;
pub mod views;
