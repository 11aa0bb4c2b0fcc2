//! The gates of a record delete.
