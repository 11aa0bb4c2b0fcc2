//! To come.

fn main() {}
