//! Waits until the cluster has come to what a step needs.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use super::perform::{Held, PATIENCE, Stage, collection_path, lock, path};
use super::{Gate, Leader};
use crate::kubelet::node::uuid;
use crate::rest::{self, Body, Call, Patience, Rest, RestError, Target, Verb};

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
fn is_rolled_out(workload: &Value) -> bool {
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
fn waits(pod: &Value) -> Option<&String> {
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

/// A drain looks again so long after a refusal, in virtual time.
const AGAIN_AFTER: Duration = Duration::from_secs(5);
/// A drain that takes longer than this is a failure.
const WITHIN: Duration = Duration::from_secs(90);

/// Evicts until nothing is left to evict.
pub(super) async fn drain(stage: &Stage, node: &str) -> Result<(), String> {
    let began = Instant::now();
    let look = Call {
        verb: Verb::Get,
        path: pods_of(node),
        body: Body::Empty,
    };
    loop {
        let list = stage
            .rest
            .send(&look, PATIENCE)
            .await
            .map_err(|error| error.to_string())?
            .body;
        let pods = list["items"].as_array().map_or(&[][..], Vec::as_slice);
        let left: Vec<&Value> = pods.iter().filter(|pod| is_drained_away(pod)).collect();
        if left.is_empty() {
            return Ok(());
        }
        if began.elapsed() > WITHIN {
            return Err(format!("{} pods are left on {node}", left.len()));
        }
        for pod in left
            .into_iter()
            .filter(|pod| pod["metadata"]["deletionTimestamp"].is_null())
        {
            match evict(stage, pod).await {
                Ok(()) => {}
                // A budget refuses so.
                Err(error) if error.status() == Some(StatusCode::TOO_MANY_REQUESTS) => {}
                Err(error) if error.is_not_found() || error.is_outage() => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        sleep(stage.real(AGAIN_AFTER)).await;
    }
}

async fn evict(stage: &Stage, pod: &Value) -> Result<(), RestError> {
    let text = |field: &str| pod["metadata"][field].as_str().unwrap_or_default();
    let (namespace, name) = (text("namespace"), text("name"));
    let eviction = json!({
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"namespace": namespace, "name": name},
    });
    let call = Call {
        verb: Verb::Post,
        path: format!(
            "/api/v1/namespaces/{namespace}/pods/{name}/eviction?fieldManager=machine-config-controller"
        ),
        body: Body::Json(eviction),
    };
    stage.rest.send_once(&call).await?;
    Ok(())
}

/// Leaders claim their Leases for so long.
const DURATION_SECS: u32 = 137;

/// Takes or renews a Lease, if somebody is there to lead.
pub(super) async fn lead(
    stage: &Stage,
    actor: &str,
    lease: &Target,
    leader: &Leader,
) -> Result<(), RestError> {
    let Some(holder) = find(stage, leader).await? else {
        return Ok(());
    };
    let now = rest::micros(rest::now());
    let held = lock(&stage.leases).get(lease).cloned();
    let (call, transitions) = match held {
        None => (create(actor, lease, &holder, &now)?, 0),
        Some(held) if held.holder == holder => (
            patch(actor, lease, &json!({"renewTime": now}))?,
            held.transitions,
        ),
        Some(held) => {
            let transitions = held.transitions + 1;
            let spec = json!({
                "holderIdentity": holder, "leaseDurationSeconds": DURATION_SECS,
                "acquireTime": now, "renewTime": now, "leaseTransitions": transitions,
            });
            (patch(actor, lease, &spec)?, transitions)
        }
    };
    stage.rest.send(&call, PATIENCE).await?;
    lock(&stage.leases).insert(
        lease.clone(),
        Held {
            last_holder: holder.clone(),
            holder,
            transitions,
        },
    );
    Ok(())
}

/// Gives a Lease up, as a leader that ends in good order does.
pub(super) async fn resign(stage: &Stage, actor: &str, lease: &Target) -> Result<(), RestError> {
    let now = rest::micros(rest::now());
    let spec = json!({"holderIdentity": "", "leaseDurationSeconds": 1, "acquireTime": now, "renewTime": now});
    let call = patch(actor, lease, &spec)?;
    stage.rest.send(&call, PATIENCE).await?;
    if let Some(held) = lock(&stage.leases).get_mut(lease) {
        held.holder.clear();
    }
    Ok(())
}

fn create(actor: &str, lease: &Target, holder: &str, now: &str) -> Result<Call, RestError> {
    let object = json!({
        "apiVersion": lease.api_version,
        "kind": lease.kind,
        "metadata": {"namespace": lease.namespace, "name": lease.name},
        "spec": {
            "holderIdentity": holder, "leaseDurationSeconds": DURATION_SECS,
            "acquireTime": now, "renewTime": now, "leaseTransitions": 0,
        },
    });
    let path = format!("{}?fieldManager={actor}", collection_path(lease)?);
    Ok(Call {
        verb: Verb::Post,
        path,
        body: Body::Json(object),
    })
}

fn patch(actor: &str, lease: &Target, spec: &Value) -> Result<Call, RestError> {
    let path = format!("{}?fieldManager={actor}", path(lease)?);
    Ok(Call {
        verb: Verb::Patch,
        path,
        body: Body::Merge(json!({"spec": spec})),
    })
}

/// The identity of whoever leads now: the newest running Pod of the app.
///
/// From the server's cache, which may be a moment behind: as good as a Pod's own view of itself.
async fn find(stage: &Stage, leader: &Leader) -> Result<Option<String>, RestError> {
    let (namespace, app) = match leader {
        Leader::Outsider { name } => return Ok(Some(name.clone())),
        Leader::PodOf { namespace, app } | Leader::NodeOf { namespace, app } => (namespace, app),
    };
    let path =
        format!("/api/v1/namespaces/{namespace}/pods?labelSelector=app%3D{app}&resourceVersion=0");
    let list = stage
        .rest
        .send(
            &Call {
                verb: Verb::Get,
                path,
                body: Body::Empty,
            },
            PATIENCE,
        )
        .await?
        .body;
    let pods = list["items"].as_array().map_or(&[][..], Vec::as_slice);
    let newest = pods
        .iter()
        .filter(|pod| {
            pod["status"]["phase"] == "Running" && pod["metadata"]["deletionTimestamp"].is_null()
        })
        .max_by_key(|pod| pod["status"]["startTime"].as_str().unwrap_or_default());
    Ok(newest.map(|pod| {
        let uid = pod["metadata"]["uid"].as_str().unwrap_or_default();
        let name = match leader {
            Leader::NodeOf { .. } => &pod["spec"]["nodeName"],
            _ => &pod["metadata"]["name"],
        };
        format!(
            "{}_{}",
            name.as_str().unwrap_or_default(),
            uuid(&["leader", uid])
        )
    }))
}

#[cfg(test)]
mod gate_tests {
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
