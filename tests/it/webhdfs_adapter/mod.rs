//! The WebHDFS reader against recorded answers and against faults.

mod answers;
mod content;
mod failover;
mod listing;
mod namenode;
