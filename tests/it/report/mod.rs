//! What the renderers make of a small platform, built by hand.

mod doctor;
mod explain;
mod json;
mod plans;
pub(crate) mod sample;
mod terminal;
