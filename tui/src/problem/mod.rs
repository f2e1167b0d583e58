//! What looks wrong in a reel, from all that knows of it: lanes, gaps, outages, and what monitortests
//! found. Each thing once, what matters most first.

mod entry;
mod kind;
mod making;
mod recording;
mod spells;
mod verdicts;
mod whole;

pub(crate) use entry::Entry;
pub(crate) use kind::Kind;
pub(crate) use whole::{Problems, Step, problems};
