//! What the renderers make of a small platform, built by hand.

mod explain;
mod json;
mod sample;
mod terminal;
