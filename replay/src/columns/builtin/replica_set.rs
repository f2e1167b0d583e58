//! Owns the columns of replica sets.

use super::super::part::Part;
use super::kind::Header::{self, Always, Wide};
use super::{containers, selector};
use kubereel_format::RecordedAt;

pub(super) const COLUMNS: [Header; 8] = [
    Always("NAME"),
    Always("DESIRED"),
    Always("CURRENT"),
    Always("READY"),
    Always("AGE"),
    Wide("CONTAINERS"),
    Wide("IMAGES"),
    Wide("SELECTOR"),
];

/// Reads how many replicas are wanted: one unless it is said.
pub(super) fn desired(object: Part<'_>) -> i64 {
    let replicas = object.at("spec.replicas");
    if replicas.is_there() {
        replicas.whole()
    } else {
        1
    }
}

pub(super) fn row(set: Part<'_>, at: RecordedAt) -> Vec<String> {
    let [names, images] = containers::names_and_images(set.at("spec.template.spec.containers"));
    vec![
        set.name(),
        desired(set).to_string(),
        set.at("status.replicas").whole().to_string(),
        set.at("status.readyReplicas").whole().to_string(),
        set.age(at),
        names,
        images,
        selector::cell(set.at("spec.selector")),
    ]
}
