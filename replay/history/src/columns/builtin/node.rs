//! The columns of nodes, namespaces and leases.

use super::super::part::{NONE, ObjectPart, UNKNOWN};
use kubereel_format::RecordedAt;
use serde_json::Value;
use std::collections::BTreeSet;

/// The prefix of a label whose name ends in a role.
const ROLE: &str = "node-role.kubernetes.io/";
/// A label whose value is a role.
const OLD_ROLE: &str = "kubernetes.io/role";

pub(super) fn node_cells(node: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    let info = node.at("status.nodeInfo");
    let mut kernel = info.at("kernelVersion").text_or(UNKNOWN).to_owned();
    let architecture = info.at("architecture").text();
    if !architecture.is_empty() {
        kernel = format!("{kernel} ({architecture})");
    }
    vec![
        node_status(node),
        roles(node),
        address(node, "InternalIP"),
        address(node, "ExternalIP"),
        kernel,
    ]
}

fn node_status(node: ObjectPart<'_>) -> String {
    // Of several conditions of a type the last one counts.
    let mut conditions = node.at("status.conditions").items().rev();
    let ready = conditions.find(|one| one.at("type").text() == "Ready");
    let status = match ready.map(|one| one.at("status").text()) {
        None => "Unknown",
        Some("True") => "Ready",
        Some(_) => "NotReady",
    };
    if node.at("spec.unschedulable").holds() {
        format!("{status},SchedulingDisabled")
    } else {
        status.to_owned()
    }
}

/// Returns the roles of a Node by its labels, as kubectl reads them.
pub fn node_roles(node: &Value) -> BTreeSet<&str> {
    let labels = ObjectPart::of(node).at("metadata.labels").texts();
    let roles = labels
        .into_iter()
        .filter_map(|(name, value)| match name.strip_prefix(ROLE) {
            Some(role) => Some(role),
            None => (name == OLD_ROLE).then_some(value),
        });
    roles.filter(|role| !role.is_empty()).collect()
}

/// Returns the roles as the column prints them.
pub(crate) fn roles(node: ObjectPart<'_>) -> String {
    let roles = node.value().map(node_roles).unwrap_or_default();
    if roles.is_empty() {
        return NONE.to_owned();
    }
    roles.into_iter().collect::<Vec<_>>().join(",")
}

/// Returns the first address of a type.
fn address(node: ObjectPart<'_>, kind: &str) -> String {
    let mut addresses = node.at("status.addresses").items();
    let first = addresses.find(|one| one.at("type").text() == kind);
    first
        .map_or(NONE, |one| one.at("address").text())
        .to_owned()
}

#[cfg(test)]
mod node_tests {
    use super::super::kind::row_of;
    use super::*;
    use serde_json::json;

    const AT: RecordedAt = RecordedAt::from_micros(1_795_269_660_000_000);

    #[test]
    fn a_whole_node_fills_every_column() {
        let node = json!({
            "metadata": {"name": "n", "creationTimestamp": "2026-11-21T14:00:00Z", "labels": {
                "node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/": "x",
                "kubernetes.io/role": "infra", "node-role.kubernetes.io/control-plane": "y"}},
            "spec": {"unschedulable": true},
            "status": {
                "conditions": [{"type": "Ready", "status": "True"}],
                "addresses": [
                    {"type": "Hostname", "address": "n"},
                    {"type": "InternalIP", "address": "10.0.0.1"},
                    {"type": "InternalIP", "address": "fd00::1"},
                    {"type": "ExternalIP", "address": "192.0.2.1"}],
                "nodeInfo": {"kubeletVersion": "v1.36.0", "osImage": "An OS 1",
                    "kernelVersion": "6.1", "architecture": "amd64",
                    "containerRuntimeVersion": "cri-o://1"}},
        });
        assert_eq!(
            row_of("nodes", &node, AT),
            [
                "n",
                "Ready,SchedulingDisabled",
                "control-plane,infra,worker",
                "60s",
                "v1.36.0",
                "10.0.0.1",
                "192.0.2.1",
                "An OS 1",
                "6.1 (amd64)",
                "cri-o://1"
            ]
        );
    }

    #[test]
    fn an_empty_node_says_what_is_not_known() {
        let node = json!({"metadata": {"name": "n"}});
        assert_eq!(
            row_of("nodes", &node, AT),
            [
                "n",
                "Unknown",
                "<none>",
                "<unknown>",
                "",
                "<none>",
                "<none>",
                "<unknown>",
                "<unknown>",
                "<unknown>"
            ]
        );
    }

    #[test]
    fn all_but_true_is_not_ready() {
        let ready = |status: &str| json!({"type": "Ready", "status": status});
        for (conditions, expected) in [
            (vec![ready("True")], "Ready"),
            (vec![ready("False")], "NotReady"),
            (vec![ready("Unknown")], "NotReady"),
            (vec![ready("True"), ready("False")], "NotReady"),
            (
                vec![json!({"type": "DiskPressure", "status": "True"})],
                "Unknown",
            ),
        ] {
            let node: Value = json!({"status": {"conditions": conditions}});
            assert_eq!(node_status(ObjectPart::of(&node)), expected, "{node}");
        }
    }
}

#[cfg(test)]
mod namespace_tests {
    use super::super::kind::row_of;
    use super::*;
    use serde_json::json;

    #[test]
    fn a_namespace_is_active_unless_it_says_otherwise() {
        let at = RecordedAt::from_micros(1_795_269_660_000_000);
        for (status, expected) in [
            (json!({}), "Active"),
            (json!({"phase": "Active"}), "Active"),
            (json!({"phase": "Terminating"}), "Terminating"),
        ] {
            let metadata = json!({"name": "a", "creationTimestamp": "2026-11-21T14:00:00Z"});
            let namespace = json!({"metadata": metadata, "status": status});
            assert_eq!(row_of("namespaces", &namespace, at), ["a", expected, "60s"]);
        }
    }
}

#[cfg(test)]
mod lease_tests {
    use super::super::kind::row_of;
    use super::*;
    use serde_json::json;

    #[test]
    fn a_lease_names_its_holder() {
        let at = RecordedAt::from_micros(1_795_269_660_000_000);
        let metadata = json!({"name": "a", "creationTimestamp": "2026-11-21T14:00:00Z"});
        for (spec, expected) in [
            (json!({"holderIdentity": "b_1"}), "b_1"),
            (json!({"holderIdentity": null}), ""),
            (json!({}), ""),
        ] {
            let lease = json!({"metadata": metadata, "spec": spec});
            assert_eq!(row_of("leases", &lease, at), ["a", expected, "60s"]);
        }
    }
}
