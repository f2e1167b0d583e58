//! Nodes and the rendered configurations they are at.

use serde_json::{Value, json};

use super::super::file::{NodeEntry, Release};
use super::teller::Teller;
use crate::kubelet::{NodeRole, NodeSpec};
use crate::rest::Target;

const API: &str = "machineconfiguration.openshift.io/v1";

/// The key of a machine-config annotation.
pub(super) fn key(name: &str) -> String {
    format!("machineconfiguration.openshift.io/{name}")
}

/// The name of the configuration that a release renders for a role.
pub(super) fn rendered(teller: &Teller<'_>, release: &Release, role: NodeRole) -> String {
    let hash = teller
        .dice
        .hex(32, &["rendered", role.name(), &release.version]);
    format!("rendered-{}-{hash}", role.name())
}

/// What a node is annotated with when it comes.
pub(super) fn node_annotations(teller: &Teller<'_>, node: &NodeEntry) -> Vec<(String, String)> {
    let config = rendered(teller, &teller.scenario.installed, node.role);
    vec![
        (key("currentConfig"), config.clone()),
        (key("desiredConfig"), config.clone()),
        (key("desiredDrain"), format!("uncordon-{config}")),
        (key("lastAppliedDrain"), format!("uncordon-{config}")),
        (key("reason"), String::new()),
        (key("state"), "Done".to_owned()),
    ]
}

/// A node as the kubelets know it.
pub(super) fn node_spec(
    index: u8,
    node: &NodeEntry,
    annotations: Vec<(String, String)>,
) -> NodeSpec {
    NodeSpec {
        name: node.name.clone(),
        role: node.role,
        index,
        zone: node.zone.clone(),
        annotations,
    }
}

/// The rendered configuration of a release for a role.
pub(super) fn machine_config(teller: &Teller<'_>, release: &Release, role: NodeRole) -> Value {
    let mut annotations = json!({});
    annotations[key("generated-by-controller-version")] =
        json!(teller.dice.hex(40, &["commit", &release.version]));
    annotations[key("release-image-version")] = json!(release.version);
    json!({
        "apiVersion": API,
        "kind": "MachineConfig",
        "metadata": {"name": rendered(teller, release, role), "annotations": annotations},
        "spec": {
            "config": {"ignition": {"version": "3.5.0"}},
            "kernelArguments": [],
            "osImageURL": teller.image(release, "machine-os"),
        },
    })
}

/// The pool of a role, as the payload has it: without a configuration.
pub(super) fn pool(role: NodeRole) -> Value {
    let mut node_labels = json!({});
    node_labels[format!("node-role.kubernetes.io/{}", role.name())] = json!("");
    let mut config_labels = json!({});
    config_labels[key("role")] = json!(role.name());
    let mut labels = json!({});
    labels[key("mco-built-in")] = json!("");
    json!({
        "apiVersion": API,
        "kind": "MachineConfigPool",
        "metadata": {"name": role.name(), "labels": labels},
        "spec": {
            "machineConfigSelector": {"matchLabels": config_labels},
            "maxUnavailable": 1,
            "nodeSelector": {"matchLabels": node_labels},
            "paused": false,
        },
    })
}

/// The pool of a role, by name.
pub(super) fn pool_target(role: NodeRole) -> Target {
    Target::cluster_wide(API, "MachineConfigPool", role.name())
}

/// The Machine behind a node.
pub(super) fn machine(teller: &Teller<'_>, node: &NodeEntry) -> Value {
    let cluster = &teller.scenario.cluster.infrastructure_name;
    json!({
        "apiVersion": "machine.openshift.io/v1beta1",
        "kind": "Machine",
        "metadata": {
            "name": machine_name(teller, node),
            "namespace": "openshift-machine-api",
            "labels": {
                "machine.openshift.io/cluster-api-cluster": cluster,
                "machine.openshift.io/cluster-api-machine-role": node.role.name(),
                "machine.openshift.io/zone": node.zone,
            },
        },
        "spec": {"providerID": format!("aws:///{}/i-{}", node.zone, teller.dice.hex(17, &["instance", &node.name]))},
    })
}

pub(super) fn machine_name(teller: &Teller<'_>, node: &NodeEntry) -> String {
    format!(
        "{}-{}",
        teller.scenario.cluster.infrastructure_name, node.name
    )
}
