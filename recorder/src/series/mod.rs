//! A recording in many reels, one after the other, for a cluster that lives longer than a file should grow.
//! The next reel has its own lists of everything before the previous one ends.

mod index;
mod overlap;
mod run;

pub use run::{ReelSeries, Rotation, SeriesSummary};
