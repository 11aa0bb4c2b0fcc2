//! Integration tests, one binary.

mod lab;
mod report;
