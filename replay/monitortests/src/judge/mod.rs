//! The monitor test of a rule: it watches objects while the reel is read, or looks at intervals
//! afterwards, and reports findings.

mod cases;
mod check;
mod intervals;
mod objects;
mod test;
mod values;
