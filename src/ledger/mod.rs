//! The ledger in SQL.
