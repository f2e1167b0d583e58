//! Operators and namespaces of the platform, and the Jira component of each. A name outside of the
//! tables has no component.
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

/// Each namespace and its component, by name.
const NAMESPACES: [(&str, Option<&str>); 62] = [
    ("default", None),
    ("kube-system", None),
    ("openshift", None),
    ("openshift-apiserver", Some("openshift-apiserver")),
    ("openshift-apiserver-operator", Some("openshift-apiserver")),
    ("openshift-authentication", Some("apiserver-auth")),
    ("openshift-authentication-operator", Some("apiserver-auth")),
    ("openshift-cloud-controller-manager", Some("Cloud Compute")),
    (
        "openshift-cloud-controller-manager-operator",
        Some("Cloud Compute"),
    ),
    (
        "openshift-cloud-credential-operator",
        Some("Cloud Credential Operator"),
    ),
    (
        "openshift-cloud-network-config-controller",
        Some("Networking"),
    ),
    ("openshift-cluster-csi-drivers", Some("Storage")),
    ("openshift-cluster-machine-approver", Some("Cloud Compute")),
    (
        "openshift-cluster-node-tuning-operator",
        Some("Node Tuning Operator"),
    ),
    ("openshift-cluster-samples-operator", Some("Samples")),
    ("openshift-cluster-storage-operator", Some("Storage")),
    (
        "openshift-cluster-version",
        Some("Cluster Version Operator"),
    ),
    ("openshift-config", None),
    ("openshift-config-managed", None),
    ("openshift-config-operator", Some("config-operator")),
    ("openshift-console", Some("Management Console")),
    ("openshift-console-operator", Some("Management Console")),
    (
        "openshift-controller-manager",
        Some("openshift-controller-manager"),
    ),
    (
        "openshift-controller-manager-operator",
        Some("openshift-controller-manager"),
    ),
    ("openshift-dns", Some("DNS")),
    ("openshift-dns-operator", Some("DNS")),
    ("openshift-etcd", Some("Etcd")),
    ("openshift-etcd-operator", Some("Etcd")),
    ("openshift-host-network", Some("Networking")),
    ("openshift-image-registry", Some("Image Registry")),
    ("openshift-infra", None),
    ("openshift-ingress", Some("Routing")),
    ("openshift-ingress-canary", Some("Routing")),
    ("openshift-ingress-operator", Some("Routing")),
    ("openshift-insights", None),
    ("openshift-kni-infra", None),
    ("openshift-kube-apiserver", Some("kube-apiserver")),
    ("openshift-kube-apiserver-operator", Some("kube-apiserver")),
    (
        "openshift-kube-controller-manager",
        Some("kube-controller-manager"),
    ),
    (
        "openshift-kube-controller-manager-operator",
        Some("kube-controller-manager"),
    ),
    ("openshift-kube-scheduler", Some("kube-scheduler")),
    ("openshift-kube-scheduler-operator", Some("kube-scheduler")),
    (
        "openshift-kube-storage-version-migrator",
        Some("kube-storage-version-migrator"),
    ),
    (
        "openshift-kube-storage-version-migrator-operator",
        Some("kube-storage-version-migrator"),
    ),
    ("openshift-machine-api", Some("Cloud Compute")),
    (
        "openshift-machine-config-operator",
        Some("Machine Config Operator"),
    ),
    ("openshift-marketplace", Some("OLM")),
    ("openshift-monitoring", Some("Monitoring")),
    ("openshift-multus", Some("Networking")),
    ("openshift-network-diagnostics", Some("Networking")),
    ("openshift-network-operator", Some("Networking")),
    ("openshift-nutanix-infra", None),
    ("openshift-oauth-apiserver", Some("oauth-apiserver")),
    ("openshift-openstack-infra", None),
    ("openshift-operator-lifecycle-manager", Some("OLM")),
    ("openshift-operators", Some("OLM")),
    ("openshift-ovirt-infra", None),
    ("openshift-ovn-kubernetes", Some("Networking")),
    ("openshift-service-ca", Some("service-ca")),
    ("openshift-service-ca-operator", Some("service-ca")),
    ("openshift-user-workload-monitoring", None),
    ("openshift-vsphere-infra", None),
];

/// Namespaces whose names vary from run to run, although they begin as those of the platform do.
const VARYING: [&str; 3] = [
    "openshift-must-gather-",
    "openshift-debug-",
    "openshift-copy-to-node-",
];

/// Gives the namespaces that have `JUnit` cases of their own, from A to Z.
pub fn known_namespaces() -> impl Iterator<Item = &'static str> {
    NAMESPACES.iter().map(|(name, _)| *name)
}

/// Tells whether a namespace has `JUnit` cases of its own.
pub fn is_known_namespace(namespace: &str) -> bool {
    place(namespace).is_some()
}

/// Gives the Jira component that answers for a namespace; `None` if nothing names one.
pub fn component_of_namespace(namespace: &str) -> Option<&'static str> {
    NAMESPACES
        .get(place(namespace)?)
        .and_then(|(_, component)| *component)
}

/// Tells whether a namespace belongs to the platform: known or not, by its name.
pub fn is_platform_namespace(namespace: &str) -> bool {
    matches!(namespace, "default" | "kubernetes" | "openshift")
        || namespace.starts_with("kube-")
        || (namespace.starts_with("openshift-")
            && !VARYING.iter().any(|start| namespace.starts_with(start)))
}

fn place(namespace: &str) -> Option<usize> {
    NAMESPACES
        .binary_search_by(|(name, _)| (*name).cmp(namespace))
        .ok()
}

#[cfg(test)]
mod operators_tests {
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

#[cfg(test)]
mod namespaces_tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_found_by_name() {
        assert!(NAMESPACES.is_sorted_by(|one, other| one.0 < other.0));
        for (name, component) in NAMESPACES {
            assert!(is_known_namespace(name));
            assert_eq!(component_of_namespace(name), component);
        }
        assert_eq!(component_of_namespace("openshift-infra"), None);
        assert_eq!(component_of_namespace("team-a"), None);
        assert!(!is_known_namespace("openshift-e2e-loki"));
    }

    #[test]
    fn every_component_of_an_operator_namespace_is_one_that_an_operator_has_too() {
        let of_operators: Vec<_> = known_operators()
            .filter_map(component_of_operator)
            .collect();
        let own = ["Cluster Version Operator", "oauth-apiserver"];
        for (name, component) in NAMESPACES {
            let Some(component) = component else { continue };
            assert!(
                of_operators.contains(&component) || own.contains(&component),
                "{name}: {component}"
            );
        }
    }

    #[test]
    fn namespaces_of_the_platform_are_told_by_name() {
        for name in ["default", "openshift", "openshift-new", "kube-system"] {
            assert!(is_platform_namespace(name), "{name}");
        }
        for name in [
            "openshift-must-gather-x7k2p",
            "openshift-debug-2",
            "e2e-1",
            "openshifty",
        ] {
            assert!(!is_platform_namespace(name), "{name}");
        }
    }
}
