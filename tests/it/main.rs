//! Integration tests, one binary.

mod report;
