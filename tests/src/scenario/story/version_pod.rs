//! The version Pod: retrieves a release's payload onto the operator's node.

use serde_json::{Value, json};

use super::super::dice::Dice;
use super::super::file::Release;
use super::teller::CVO_NAMESPACE;
use crate::rest::Target;

/// The init containers, in order.
const INIT_CONTAINERS: [&str; 4] = [
    "cleanup",
    "make-temporary-directory",
    "copy-operator-manifests-to-temporary-directory",
    "copy-release-manifests-to-temporary-directory",
];
const PAYLOADS: &str = "/etc/cvo/updatepayloads";

/// The name of an attempt's Pod.
pub(in super::super) fn name(dice: Dice, release: &Release, attempt: u32) -> String {
    let suffix = dice.suffix(&["version pod", &release.version, &attempt.to_string()]);
    format!("version-{}-{suffix}", release.version)
}

/// The Pod, by name.
pub(in super::super) fn target(name: &str) -> Target {
    Target::namespaced("v1", "Pod", CVO_NAMESPACE, name)
}

/// The Pod, bound to a node by its creator.
pub(in super::super) fn object(dice: Dice, release: &Release, name: &str, node: &str) -> Value {
    let folder = format!(
        "{PAYLOADS}/{}",
        dice.hex(22, &["payload folder", &release.image])
    );
    let temporary = format!("{folder}-{}", name.rsplit('-').next().unwrap_or_default());
    let container = |name: &str, command: Value| {
        json!({
            "name": name,
            "image": release.image,
            "imagePullPolicy": "IfNotPresent",
            "command": command,
            "resources": {"requests": {"cpu": "10m", "ephemeral-storage": "2Mi", "memory": "50Mi"}},
            "securityContext": {"privileged": true, "readOnlyRootFilesystem": true},
            "terminationMessagePolicy": "FallbackToLogsOnError",
            "volumeMounts": [{"name": "payloads", "mountPath": PAYLOADS}],
        })
    };
    let commands = [
        json!(["sh", "-c", "rm -fR ./*"]),
        json!(["mkdir", temporary]),
        json!(["cp", "-r", "/manifests", format!("{temporary}/manifests")]),
        json!([
            "cp",
            "-r",
            "/release-manifests",
            format!("{temporary}/release-manifests")
        ]),
    ];
    let mut init: Vec<Value> = INIT_CONTAINERS
        .iter()
        .zip(commands)
        .map(|(name, command)| container(name, command))
        .collect();
    if let Some(cleanup) = init.first_mut() {
        cleanup["workingDir"] = json!(format!("{PAYLOADS}/"));
    }
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": CVO_NAMESPACE,
            "labels": {"k8s-app": "retrieve-openshift-release"},
            "annotations": {"openshift.io/required-scc": "privileged"},
        },
        "spec": {
            "activeDeadlineSeconds": 120,
            "initContainers": init,
            "containers": [container("rename-to-final-location", json!(["mv", temporary, folder]))],
            "nodeName": node,
            "nodeSelector": {"node-role.kubernetes.io/master": ""},
            "priorityClassName": "openshift-user-critical",
            "restartPolicy": "OnFailure",
            "serviceAccountName": "update-payload",
            "tolerations": [{"key": "node-role.kubernetes.io/master"}],
            "volumes": [{"name": "payloads", "hostPath": {"path": PAYLOADS, "type": ""}}],
        },
    })
}

/// What is said about an attempt that failed while its first container could not be pulled.
pub(in super::super) fn failure(
    release: &Release,
    pod: &str,
    reason: &str,
    message: &str,
) -> String {
    let cleanup = INIT_CONTAINERS.first().copied().unwrap_or_default();
    format!(
        "Retrieving payload failed version=\"{}\" image=\"{}\" failure=Unable to download and prepare the update: fetching update payload: pod {pod} failed at pending with reason \"\" and message \"\" and status initcontainer {cleanup} is waiting with reason \"{reason}\" and message \"{message}\"",
        release.version, release.image
    )
}
