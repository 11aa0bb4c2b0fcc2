//! Integration tests in one binary: this file lists the modules.

mod dolphin_adapter;
