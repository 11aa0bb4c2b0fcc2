//! Tests against servers on loopback and tests of the pure part, as one binary.

mod contract_dolphin;
mod dolphin_server;
mod flink_adapter;
mod report;
mod rules;
mod scenario_matching;
mod world;
