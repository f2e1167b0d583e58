//! A cluster's life with true durations for monitortests: a base in which nothing is wrong, and faults
//! that are switched on by name, each with what a run must say of it.
//!
//! Owns the file `testdata/scenarios/monitortests.yaml`, how it is laid out as steps, and what a
//! recorder that starts in the middle of it would have written. Refuses to know any rule: the file
//! names them.

mod file;
mod lay;
mod release;

pub use file::Monitored;
pub use file::{Expected, Fault, Verdict};
