//! One folder an outside system. Wire types stay private in here; what leaves is domain values and views.

pub mod dolphin;
pub mod flink_rest;
pub mod http;
pub mod webhdfs;
