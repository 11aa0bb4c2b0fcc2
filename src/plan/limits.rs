//! Caps of one run.
