//! Tests against servers on loopback and tests of the pure part, as one binary.

mod acting;
mod apply_faults;
mod apply_kill;
mod apply_properties;
mod cli;
mod cli_acts;
mod contract_dolphin;
mod contract_flink;
mod contract_webhdfs;
mod demo_platform;
mod docs;
mod dolphin_adapter;
mod dolphin_generations;
mod dolphin_server;
mod dolphin_writer;
mod examples;
mod flink_adapter;
mod lab;
mod ledger_contract;
mod raw_http;
mod report;
mod rules;
mod scenario_matching;
mod shape;
mod webhdfs_adapter;
mod world;
