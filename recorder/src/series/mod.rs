//! A recording in many reels, one after the other, for a cluster that lives longer than a file should
//! grow: the next reel has its own lists of everything before the one before it ends.
//!
//! It owns names, the index of the series, when a reel is due, the proof that two reels overlap, and how
//! many are kept. It refuses to remove a file that it has not written itself.

mod index;
mod overlap;
mod run;

pub use run::{Rotation, Series, SeriesSummary};
