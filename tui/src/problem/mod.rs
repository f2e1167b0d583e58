//! The problems of a reel, from lanes, gaps, outages and the findings of monitortests: each thing once,
//! what matters most first.

mod entry;
mod kind;
mod list;

pub(crate) use entry::Entry;
pub(crate) use kind::Kind;
pub(crate) use list::{Problems, Step, problems};
