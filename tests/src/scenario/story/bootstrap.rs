//! The first chapter: few objects, nodes that come, API servers that end and start again.

use serde_json::json;

use super::super::step::Act;
use super::super::{Moment, definitions};
use super::machines::{node_annotations, node_spec};
use super::teller::{CVO_NAMESPACE, Teller};

const BOOTSTRAP: &str = "cluster-bootstrap";

pub(super) fn tell(teller: &mut Teller<'_>) {
    let at = Moment::from_secs(0.4);
    for name in [
        CVO_NAMESPACE,
        "openshift-config",
        "openshift-config-managed",
    ] {
        teller.script.create(at, BOOTSTRAP, namespace(name));
    }
    for kind in [
        "ClusterVersion",
        "ClusterOperator",
        "Infrastructure",
        "Network",
    ] {
        if let Some(definition) = definitions::definition_of(kind) {
            teller.script.create(at + 0.1, BOOTSTRAP, definition);
        }
    }
    // At once: the definitions are not served yet, and the writer has to try again.
    let cluster_id = teller.dice.uuid(&["cluster"]);
    teller.script.create(
        at + 0.11,
        BOOTSTRAP,
        json!({
            "apiVersion": "config.openshift.io/v1",
            "kind": "ClusterVersion",
            "metadata": {"name": "version"},
            "spec": {"clusterID": cluster_id},
        }),
    );
    tell_facts(teller, at + 0.12);
    tell_prerequisites(teller, at + 0.2);
    for (index, node) in (0_u8..).zip(&teller.scenario.cluster.nodes) {
        let annotations = node_annotations(teller, node);
        let act = Act::Join {
            node: node_spec(index, node, annotations),
            not_ready_secs: 4.0,
        };
        teller.script.act(
            Moment::from_secs(node.joins_secs),
            &format!("kubelet {}", node.name),
            act,
        );
    }
    for restart in &teller.scenario.bootstrap.api_restarts {
        let act = Act::RestartApiServer {
            server: restart.server,
        };
        teller
            .script
            .act(Moment::from_secs(restart.at_secs), "harness", act);
    }
    teller.landmark("bootstrap begins", at);
}

pub(in super::super) fn namespace(name: &str) -> serde_json::Value {
    json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": name,
            "annotations": {"openshift.io/node-selector": ""},
            "labels": {"pod-security.kubernetes.io/enforce": "privileged"},
        },
    })
}

/// The objects that say what cluster this is.
fn tell_facts(teller: &mut Teller<'_>, at: Moment) {
    let cluster = &teller.scenario.cluster;
    let infrastructure = json!({
        "apiVersion": "config.openshift.io/v1",
        "kind": "Infrastructure",
        "metadata": {"name": "cluster"},
        "spec": {"platformSpec": {"type": "AWS"}},
    });
    let status = json!({
        "apiServerURL": format!("https://api.{}:6443", cluster.base_domain),
        "apiServerInternalURI": format!("https://api-int.{}:6443", cluster.base_domain),
        "infrastructureName": cluster.infrastructure_name,
        "controlPlaneTopology": "HighlyAvailable",
        "infrastructureTopology": "HighlyAvailable",
        "platform": "AWS",
        "platformStatus": {"type": "AWS", "aws": {"region": "region-1"}},
    });
    let target =
        crate::rest::Target::cluster_wide("config.openshift.io/v1", "Infrastructure", "cluster");
    teller.script.create(at, BOOTSTRAP, infrastructure);
    teller
        .script
        .update_status(at + 0.02, BOOTSTRAP, &target, status);
    teller.script.create(
        at + 0.03,
        BOOTSTRAP,
        json!({
            "apiVersion": "config.openshift.io/v1",
            "kind": "Network",
            "metadata": {"name": "cluster"},
            "spec": {
                "clusterNetwork": [{"cidr": "10.128.0.0/14", "hostPrefix": 23}],
                "networkType": "OVNKubernetes",
                "serviceNetwork": ["172.30.0.0/16"],
            },
        }),
    );
    let config = format!(
        "apiVersion: v1\nbaseDomain: {}\nplatform:\n  aws:\n    region: region-1\n",
        cluster.base_domain
    );
    teller.script.create(
        at + 0.04,
        BOOTSTRAP,
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "cluster-config-v1", "namespace": "kube-system"},
            "data": {"install-config": config},
        }),
    );
}

/// What the version Pods of an update will need.
fn tell_prerequisites(teller: &mut Teller<'_>, at: Moment) {
    teller.script.create(
        at,
        BOOTSTRAP,
        json!({
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "openshift-user-critical"},
            "value": 1_000_000_000,
            "description": "Work of the platform that users depend on.",
        }),
    );
    teller.script.create(
        at + 0.01,
        BOOTSTRAP,
        json!({
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": "update-payload", "namespace": CVO_NAMESPACE},
        }),
    );
}
