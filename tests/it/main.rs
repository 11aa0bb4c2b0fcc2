//! Tests against servers on loopback and tests of the pure part, as one binary.

mod contract_dolphin;
mod flink_adapter;
mod lab;
mod report;
mod rules;
mod world;
