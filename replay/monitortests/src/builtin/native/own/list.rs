//! Owns the list of our own monitortests in Rust. Refuses rules: those are read from files.

use super::{ha, recording, version_pods};
use crate::verdict::MonitorTest;

/// Gives our own monitortests in Rust, which no upstream monitor has.
pub fn own() -> Vec<Box<dyn MonitorTest>> {
    let mut tests = ha::tests();
    tests.push(version_pods::test());
    tests.push(recording::test());
    tests
}
