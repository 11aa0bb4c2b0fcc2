//! Integration tests, one module a topic.

mod webhdfs_adapter;
