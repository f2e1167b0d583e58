//! Waits until the cluster has come to what a step needs.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{sleep, timeout};

use super::super::step::Gate;
use super::stage::{PATIENCE, collection_path, path};
use crate::rest::{Body, Call, Patience, Rest, RestError, Target, Verb};

/// A watch that says nothing for so long is asked anew: its server may have stopped.
const SILENCE: Duration = Duration::from_secs(3);

/// Waits until a gate is open.
pub(super) async fn pass(rest: &Rest, gate: &Gate) -> Result<(), RestError> {
    match gate {
        // The player has waited for that already, as before every gate.
        Gate::Settled => Ok(()),
        Gate::RolledOut { targets } => {
            for target in targets {
                until(rest, target, |found| found.is_some_and(is_rolled_out)).await?;
            }
            Ok(())
        }
        Gate::PodWaits { pod, reason } => {
            until(rest, pod, |found| found.and_then(waits) == Some(reason)).await
        }
        Gate::PodPhase { pod, phase } => {
            let is_there = |pod: &Value| pod["status"]["phase"] == phase.as_str();
            until(rest, pod, |found| found.is_some_and(is_there)).await
        }
        Gate::NodeReady { node, boot_id } => {
            let target = Target::cluster_wide("v1", "Node", node);
            until(rest, &target, |found| {
                found.is_some_and(|node| is_ready(node, boot_id))
            })
            .await
        }
        Gate::Drained { node } => until_drained(rest, node).await,
    }
}

/// The path of the Pods of a node.
pub(super) fn pods_of(node: &str) -> String {
    format!("/api/v1/pods?fieldSelector=spec.nodeName%3D{node}")
}

/// Looks at an object at every change of it until it is as wanted.
///
/// A read of one object is cheap; a consistent list waits for the server's cache.
async fn until(
    rest: &Rest,
    target: &Target,
    wanted: impl Fn(Option<&Value>) -> bool,
) -> Result<(), RestError> {
    let look = Call {
        verb: Verb::Get,
        path: path(target)?,
        body: Body::Empty,
    };
    let changes = format!(
        "{}?fieldSelector=metadata.name%3D{}&timeoutSeconds=30",
        collection_path(target)?,
        target.name
    );
    loop {
        let found = match rest.send(&look, Patience::outages(PATIENCE.total)).await {
            Ok(answer) => Some(answer.body),
            Err(error) if error.is_not_found() => None,
            Err(error) => return Err(error),
        };
        if wanted(found.as_ref()) {
            return Ok(());
        }
        // Without an object the watch begins with what is there by then.
        let since = found
            .as_ref()
            .and_then(|object| object["metadata"]["resourceVersion"].as_str());
        let since = since
            .map(|since| format!("&resourceVersion={since}"))
            .unwrap_or_default();
        next_change(rest, &format!("{changes}{since}")).await;
    }
}

/// Looks at the Pods of a node at every change of them until only those are left that stay.
async fn until_drained(rest: &Rest, node: &str) -> Result<(), RestError> {
    let path = pods_of(node);
    let look = Call {
        verb: Verb::Get,
        path: path.clone(),
        body: Body::Empty,
    };
    loop {
        let list = rest.send(&look, PATIENCE).await?.body;
        if !list["items"]
            .as_array()
            .is_some_and(|pods| pods.iter().any(is_drained_away))
        {
            return Ok(());
        }
        let since = list["metadata"]["resourceVersion"]
            .as_str()
            .unwrap_or_default();
        next_change(
            rest,
            &format!("{path}&timeoutSeconds=30&resourceVersion={since}"),
        )
        .await;
    }
}

/// Waits for a word of a watch, or for a silence that is a reason to look as well.
async fn next_change(rest: &Rest, path: &str) {
    match rest.watch(path).await {
        Ok(mut watching) => drop(timeout(SILENCE, watching.next()).await),
        Err(_outage) => sleep(Duration::from_millis(50)).await,
    }
}

/// Whether a Deployment or `DaemonSet` runs its newest template, and nothing of the one before.
pub(in super::super) fn is_rolled_out(workload: &Value) -> bool {
    let status = &workload["status"];
    let number = |field: &str| status[field].as_i64().unwrap_or(0);
    if status["observedGeneration"].as_i64() < workload["metadata"]["generation"].as_i64() {
        return false;
    }
    if workload["spec"]["replicas"].is_i64() {
        let wanted = workload["spec"]["replicas"].as_i64().unwrap_or(1);
        return ["updatedReplicas", "availableReplicas", "replicas"]
            .iter()
            .all(|field| number(field) == wanted);
    }
    let wanted = number("desiredNumberScheduled");
    wanted > 0
        && ["updatedNumberScheduled", "numberAvailable"]
            .iter()
            .all(|field| number(field) == wanted)
}

/// The waiting reason of the first container that is not done.
pub(in super::super) fn waits(pod: &Value) -> Option<&String> {
    let lists = [
        &pod["status"]["initContainerStatuses"],
        &pod["status"]["containerStatuses"],
    ];
    let mut containers = lists.into_iter().filter_map(Value::as_array).flatten();
    match &containers.find(|container| container["state"]["terminated"].is_null())?["state"]["waiting"]
        ["reason"]
    {
        Value::String(reason) => Some(reason),
        _ => None,
    }
}

fn is_ready(node: &Value, boot_id: &str) -> bool {
    let conditions = node["status"]["conditions"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    node["status"]["nodeInfo"]["bootID"] == boot_id
        && conditions
            .iter()
            .any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

/// Whether a drain has to take a Pod away: a `DaemonSet` would only bring it back.
pub(super) fn is_drained_away(pod: &Value) -> bool {
    let owners = pod["metadata"]["ownerReferences"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    !owners.iter().any(|owner| owner["kind"] == "DaemonSet")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_deployment_is_rolled_out_when_nothing_old_is_left() {
        let mut deployment = json!({
            "metadata": {"generation": 2},
            "spec": {"replicas": 2},
            "status": {"observedGeneration": 2, "updatedReplicas": 2, "availableReplicas": 2, "replicas": 3},
        });
        assert!(!is_rolled_out(&deployment));
        deployment["status"]["replicas"] = json!(2);
        assert!(is_rolled_out(&deployment));
        deployment["metadata"]["generation"] = json!(3);
        assert!(!is_rolled_out(&deployment));
    }

    #[test]
    fn the_first_unfinished_container_tells_why_a_pod_waits() {
        let pod = json!({"status": {
            "initContainerStatuses": [
                {"state": {"terminated": {"exitCode": 0}}},
                {"state": {"waiting": {"reason": "ErrImagePull"}}},
            ],
            "containerStatuses": [{"state": {"waiting": {"reason": "PodInitializing"}}}],
        }});
        assert_eq!(waits(&pod).unwrap(), "ErrImagePull");
    }

    #[test]
    fn a_node_is_ready_in_one_boot_only() {
        let node = json!({"status": {
            "nodeInfo": {"bootID": "old"},
            "conditions": [{"type": "Ready", "status": "True"}],
        }});
        assert!(is_ready(&node, "old") && !is_ready(&node, "new"));
    }
}
