//! Integration tests, in one binary.

mod lab;
