//! What the monitortests found in the reel, as another run of this program tells it.

mod found;
mod read;

pub(crate) use found::{Finding, Findings, Verdict};
pub(crate) use read::{MOST_BYTES, read};
