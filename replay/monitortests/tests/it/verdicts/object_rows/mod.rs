//! Built-in monitortests that need objects, each with a recording that it finds wrong and one that it
//! passes. `objects` asks them more.

mod containers;
mod nodes;
mod operators;
mod pods;
mod upgrades;
mod workloads;

use crate::verdicts::fixture::Fixture;

/// Returns the fixtures of all of them.
pub fn fixtures() -> Vec<Fixture> {
    let all = [
        containers::fixtures(),
        nodes::fixtures(),
        operators::fixtures(),
        pods::fixtures(),
        upgrades::fixtures(),
        workloads::fixtures(),
    ];
    all.into_iter().flatten().collect()
}

fn check(fixtures: &[Fixture]) {
    assert!(!fixtures.is_empty());
    fixtures.iter().for_each(Fixture::check);
}
