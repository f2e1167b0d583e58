//! Built-in monitortests that need Events, each with a recording that it finds wrong and one that it
//! passes.

mod pulls;
mod repeats;
mod sandboxes;
mod static_pods;

use crate::fixture::Fixture;

/// Gives the fixtures of all of them.
pub fn fixtures() -> Vec<Fixture> {
    let all = [
        pulls::fixtures(),
        repeats::fixtures(),
        sandboxes::fixtures(),
        static_pods::fixtures(),
    ];
    all.into_iter().flatten().collect()
}

fn check(fixtures: &[Fixture]) {
    assert!(!fixtures.is_empty());
    fixtures.iter().for_each(Fixture::check);
}
