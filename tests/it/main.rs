//! Tests against servers on loopback and tests of the pure part, as one binary.

mod contract_flink;
mod contract_webhdfs;
mod flink_adapter;
mod raw_http;
mod rules;
mod shape;
mod world;
