//! Lays out what becomes of the release: the cluster's facts, the acceptance of the update, the
//! operators' way to it, its completion.

use serde_json::json;

use super::super::{Moment, ScenarioError};
use super::state::{State, version_target};
use crate::rest::Target;

const CONFIG: &str = "config.openshift.io/v1";
const INSTALLER: &str = "cluster-bootstrap";

/// The cluster's own facts, and the first release installed.
pub(super) fn install(state: &mut State<'_>, at: Moment) {
    let script = &mut state.script;
    script.create(
        at,
        INSTALLER,
        json!({
            "apiVersion": CONFIG,
            "kind": "Infrastructure",
            "metadata": {"name": "cluster"},
            "spec": {"platformSpec": {"type": "AWS"}},
        }),
    );
    let infrastructure = Target::cluster_wide(CONFIG, "Infrastructure", "cluster");
    let facts = json!({
        "controlPlaneTopology": "HighlyAvailable",
        "infrastructureTopology": "HighlyAvailable",
        "infrastructureName": "reel-monitored",
        "platform": "AWS",
        "platformStatus": {"type": "AWS", "aws": {"region": "region-1"}},
    });
    script.update_status(at + 0.02, INSTALLER, &infrastructure, facts);
    script.create(
        at + 0.03,
        INSTALLER,
        json!({
            "apiVersion": CONFIG,
            "kind": "Network",
            "metadata": {"name": "cluster"},
            "spec": {
                "clusterNetwork": [{"cidr": "10.128.0.0/14", "hostPrefix": 23}],
                "networkType": "OVNKubernetes",
            },
        }),
    );
    let network = Target::cluster_wide(CONFIG, "Network", "cluster");
    let facts = json!({
        "clusterNetwork": [{"cidr": "10.128.0.0/14", "hostPrefix": 23}],
        "networkType": "OVNKubernetes",
    });
    script.update_status(at + 0.04, INSTALLER, &network, facts);
    script.create(
        at + 0.05,
        INSTALLER,
        json!({
            "apiVersion": CONFIG,
            "kind": "ClusterVersion",
            "metadata": {"name": "version"},
            "spec": {"clusterID": state.dice.uuid(&["cluster"])},
        }),
    );
    state.version.complete(at + 0.06);
    state.version.allow_minor_updates();
    state.write_version(at + 0.06);
}

/// The update is accepted: two writes.
pub(super) fn accept(state: &mut State<'_>, at: Moment) {
    let update = state.of.update.clone();
    let hash = state.dice.hex(22, &["payload", &update.version]);
    state.version.accept(at, &update);
    state.write_version(at);
    state.version.begin_update(at + 0.01, &update, 2, hash);
    state.version.block_minor_updates(at + 0.01);
    state.write_version(at + 0.01);
}

/// The update is complete: two writes.
pub(super) fn complete(state: &mut State<'_>, at: Moment) {
    state.version.complete(at);
    state.write_version(at);
    state.version.allow_minor_updates();
    state.write_version(at + 0.01);
}

/// An operator begins to go to the update's version, or has come to it.
pub(super) fn roll_operator(
    state: &mut State<'_>,
    at: Moment,
    name: &str,
    begins: bool,
) -> Result<(), ScenarioError> {
    let version = state.of.update.version.clone();
    let message = format!("Working towards {version}: operands are being updated");
    state.change_operator(at, name, |status| {
        if begins {
            status.progress(at, "RollingOut", &message);
        } else {
            status.arrive(at, &version);
        }
    })
}

/// Somebody asks for the update.
pub(super) fn ask(state: &mut State<'_>, at: Moment) {
    let update = &state.of.update;
    let patch =
        json!({"spec": {"desiredUpdate": {"image": update.image, "version": update.version}}});
    state.script.merge(at, "oc", &version_target(), patch);
}
