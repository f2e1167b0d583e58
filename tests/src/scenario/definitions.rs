//! Our own definitions of the `OpenShift` kinds that a scenario uses.

use serde_json::Value;

const DEFINITIONS: &[(&str, &str)] = &[
    (
        "ClusterVersion",
        include_str!("../../../testdata/scenarios/crds/clusterversions.yaml"),
    ),
    (
        "ClusterOperator",
        include_str!("../../../testdata/scenarios/crds/clusteroperators.yaml"),
    ),
    (
        "Infrastructure",
        include_str!("../../../testdata/scenarios/crds/infrastructures.yaml"),
    ),
    (
        "Network",
        include_str!("../../../testdata/scenarios/crds/networks.yaml"),
    ),
    (
        "FeatureGate",
        include_str!("../../../testdata/scenarios/crds/featuregates.yaml"),
    ),
    (
        "MachineConfigPool",
        include_str!("../../../testdata/scenarios/crds/machineconfigpools.yaml"),
    ),
    (
        "MachineConfig",
        include_str!("../../../testdata/scenarios/crds/machineconfigs.yaml"),
    ),
    (
        "Machine",
        include_str!("../../../testdata/scenarios/crds/machines.yaml"),
    ),
    (
        "Route",
        include_str!("../../../testdata/scenarios/crds/routes.yaml"),
    ),
];

/// The `CustomResourceDefinition` of a kind; `None` for a kind without one.
pub(super) fn definition_of(kind: &str) -> Option<Value> {
    let (_, yaml) = DEFINITIONS.iter().find(|(known, _)| *known == kind)?;
    serde_saphyr::from_str(yaml).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rest::kind_of;

    #[test]
    fn every_definition_is_of_its_kind_and_served_where_the_players_write() {
        for (kind, _) in DEFINITIONS {
            let definition = definition_of(kind).unwrap_or_else(|| panic!("{kind} does not parse"));
            let spec = &definition["spec"];
            assert_eq!(spec["names"]["kind"], *kind);
            let version = &spec["versions"][0];
            let api_version = format!(
                "{}/{}",
                spec["group"].as_str().unwrap(),
                version["name"].as_str().unwrap()
            );
            let known =
                kind_of(&api_version, kind).unwrap_or_else(|| panic!("{api_version} {kind}"));
            assert_eq!(spec["names"]["plural"], known.plural);
            assert_eq!(spec["scope"] == "Namespaced", known.namespaced);
            let name = format!("{}.{}", known.plural, spec["group"].as_str().unwrap());
            assert_eq!(definition["metadata"]["name"], name.as_str());
        }
    }
}
