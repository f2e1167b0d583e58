//! Owns the columns of deployments.

use super::super::part::Part;
use super::kind::Header::{self, Always, Wide};
use super::{containers, replica_set, selector};
use kubereel_format::RecordedAt;

pub(super) const COLUMNS: [Header; 8] = [
    Always("NAME"),
    Always("READY"),
    Always("UP-TO-DATE"),
    Always("AVAILABLE"),
    Always("AGE"),
    Wide("CONTAINERS"),
    Wide("IMAGES"),
    Wide("SELECTOR"),
];

pub(super) fn row(deployment: Part<'_>, at: RecordedAt) -> Vec<String> {
    let status = deployment.at("status");
    let ready = status.at("readyReplicas").whole();
    let desired = replica_set::desired(deployment);
    let [names, images] =
        containers::names_and_images(deployment.at("spec.template.spec.containers"));
    vec![
        deployment.name(),
        format!("{ready}/{desired}"),
        status.at("updatedReplicas").whole().to_string(),
        status.at("availableReplicas").whole().to_string(),
        deployment.age(at),
        names,
        images,
        // Unlike elsewhere, no selector leaves the cell empty.
        selector::written(deployment.at("spec.selector")).unwrap_or_else(|| "<invalid>".to_owned()),
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
            "status": {"readyReplicas": 3, "updatedReplicas": 2, "availableReplicas": 1},
        })
    }

    #[test]
    fn every_column_is_filled() {
        assert_eq!(
            row(Part::of(&whole()), AT),
            [
                "a",
                "3/4",
                "2",
                "1",
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
        assert_eq!(row(Part::of(&new), AT)[..4], ["a", "0/1", "0", "0"]);
        let mut none = whole();
        none["spec"]["replicas"] = json!(0);
        assert_eq!(row(Part::of(&none), AT)[1], "3/0");
    }

    #[test]
    fn a_selector_that_is_none_is_invalid() {
        let mut odd = whole();
        odd["spec"]["selector"] = json!({"matchExpressions": [{"key": "a", "operator": "Like"}]});
        assert_eq!(row(Part::of(&odd), AT)[7], "<invalid>");
        odd["spec"]["selector"] = json!(null);
        assert_eq!(row(Part::of(&odd), AT)[7], "");
    }
}
