//! One rule, one pure function.
