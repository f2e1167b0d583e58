//! Owns the operators of the platform and their Jira components. Refuses operators of add-ons.
//!
//! Source: openshift/origin, `pkg/monitortestlibrary/platformidentification/operator_mapping.go` at
//! c327f8e2.

/// Each operator and its component, by name.
const OPERATORS: [(&str, &str); 34] = [
    ("authentication", "apiserver-auth"),
    ("baremetal", "Bare Metal Hardware Provisioning"),
    ("cloud-controller-manager", "Cloud Compute"),
    ("cloud-credential", "Cloud Credential Operator"),
    ("cluster-autoscaler", "Cloud Compute"),
    ("config-operator", "config-operator"),
    ("console", "Management Console"),
    ("control-plane-machine-set", "Cloud Compute"),
    ("csi-snapshot-controller", "Storage"),
    ("dns", "DNS"),
    ("etcd", "Etcd"),
    ("image-registry", "Image Registry"),
    ("ingress", "Routing"),
    ("insights", "Insights Operator"),
    ("kube-apiserver", "kube-apiserver"),
    ("kube-controller-manager", "kube-controller-manager"),
    ("kube-scheduler", "kube-scheduler"),
    (
        "kube-storage-version-migrator",
        "kube-storage-version-migrator",
    ),
    ("machine-api", "Cloud Compute"),
    ("machine-approver", "Cloud Compute"),
    ("machine-config", "Machine Config Operator"),
    ("marketplace", "OLM"),
    ("monitoring", "Monitoring"),
    ("network", "Networking"),
    ("node-tuning", "Node Tuning Operator"),
    ("olm", "OLM"),
    ("openshift-apiserver", "openshift-apiserver"),
    (
        "openshift-controller-manager",
        "openshift-controller-manager",
    ),
    ("openshift-samples", "Samples"),
    ("operator-lifecycle-manager", "OLM"),
    ("operator-lifecycle-manager-catalog", "OLM"),
    ("operator-lifecycle-manager-packageserver", "OLM"),
    ("service-ca", "service-ca"),
    ("storage", "Storage"),
];

/// Gives the names of the platform's operators, from A to Z.
pub fn known_operators() -> impl Iterator<Item = &'static str> {
    OPERATORS.iter().map(|(name, _)| *name)
}

/// Gives the Jira component that answers for an operator; `None` if the table does not name it.
pub fn component_of_operator(operator: &str) -> Option<&'static str> {
    let place = OPERATORS
        .binary_search_by(|(name, _)| (*name).cmp(operator))
        .ok()?;
    OPERATORS.get(place).map(|(_, component)| *component)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_found_by_name() {
        assert!(OPERATORS.is_sorted_by(|one, other| one.0 < other.0));
        for (name, component) in OPERATORS {
            assert_eq!(component_of_operator(name), Some(component));
        }
        assert_eq!(component_of_operator("cert-manager"), None);
        assert_eq!(known_operators().count(), 34);
    }
}
