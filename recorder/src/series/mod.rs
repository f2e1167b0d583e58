//! A recording in many reels, one after the other, for a cluster that outlives the size of one
//! file. The next reel has lists of its own for every resource before the previous reel ends.

mod index;
mod overlap;
mod run;

pub use run::{ReelSeries, Rotation, SeriesSummary};
