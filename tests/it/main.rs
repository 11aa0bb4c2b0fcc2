//! Integration tests: one binary, one module a topic.

mod contract_dolphin;
