//! Tests against servers on loopback, as one binary.

mod flink_adapter;
