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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const AT: RecordedAt = RecordedAt::from_micros(1_795_269_660_000_000);

    fn whole() -> Value {
        json!({
            "metadata": {"name": "a", "creationTimestamp": "2026-11-21T14:00:00Z"},
            "spec": {
                "replicas": 4,
                "selector": {"matchLabels": {"app": "x"}},
                "template": {"spec": {"containers": [
                    {"name": "b", "image": "example.io/b:1"}, {"name": "c", "image": "example.io/c"}]}}},
            "status": {"replicas": 3, "readyReplicas": 2},
        })
    }

    #[test]
    fn every_column_is_filled() {
        assert_eq!(
            row(Part::of(&whole()), AT),
            [
                "a",
                "4",
                "3",
                "2",
                "60s",
                "b,c",
                "example.io/b:1,example.io/c",
                "app=x"
            ]
        );
    }

    #[test]
    fn one_replica_is_wanted_unless_it_is_said() {
        let new = json!({"metadata": {"name": "a"}});
        assert_eq!(row(Part::of(&new), AT)[..4], ["a", "1", "0", "0"]);
        let mut none = whole();
        none["spec"]["replicas"] = json!(0);
        assert_eq!(row(Part::of(&none), AT)[1], "0");
    }

    #[test]
    fn a_selector_that_is_none_is_invalid() {
        let mut odd = whole();
        odd["spec"]["selector"] = json!({"matchExpressions": [{"key": "a", "operator": "Like"}]});
        assert_eq!(row(Part::of(&odd), AT)[7], "<error>");
        odd["spec"]["selector"] = json!(null);
        assert_eq!(row(Part::of(&odd), AT)[7], "<none>");
    }
}
