//! Built-in monitortests that need Events, each with a recording that it finds wrong and one that it
//! passes.

mod apiserver;
mod back_off;
mod components;
mod files;
mod images;
mod nodes;
mod once;
mod pulls;
mod repeats;
mod sandboxes;
mod static_pods;

use crate::verdicts::fixture::Fixture;

/// Returns the fixtures of all of them.
pub fn fixtures() -> Vec<Fixture> {
    let all = [
        apiserver::fixtures(),
        back_off::fixtures(),
        components::fixtures(),
        images::fixtures(),
        nodes::fixtures(),
        once::fixtures(),
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
