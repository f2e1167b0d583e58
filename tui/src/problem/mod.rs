//! The problems of a reel, from lanes, gaps, outages and the findings of monitortests: each thing once,
//! what matters most first.

mod entry;
mod list;

pub(crate) use entry::{ProblemEntry, ProblemKind, ProblemOccurrence};
pub(crate) use list::{ProblemStep, ProblemTally, Problems, problems};
