//! Leases of leaders: taken, renewed, given up.

use serde_json::{Value, json};

use super::super::step::Leader;
use super::stage::{Held, PATIENCE, Stage, collection_path, lock, path};
use crate::kubelet::identity::uuid;
use crate::rest::{self, Answer, Body, Call, RestError, Target, Verb};

/// Leaders claim their Leases for so long.
const DURATION_SECS: u32 = 137;

/// Takes or renews a Lease; `None` when nobody is there to lead.
pub(super) async fn lead(
    stage: &Stage,
    actor: &str,
    lease: &Target,
    leader: &Leader,
) -> Result<Option<Answer>, RestError> {
    let Some(holder) = find(stage, leader).await? else {
        return Ok(None);
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
    let answer = stage.rest.send(&call, PATIENCE).await?;
    lock(&stage.leases).insert(
        lease.clone(),
        Held {
            last_holder: holder.clone(),
            holder,
            transitions,
        },
    );
    Ok(Some(answer))
}

/// Gives a Lease up, as a leader that ends in good order does.
pub(super) async fn resign(
    stage: &Stage,
    actor: &str,
    lease: &Target,
) -> Result<Answer, RestError> {
    let now = rest::micros(rest::now());
    let spec = json!({"holderIdentity": "", "leaseDurationSeconds": 1, "acquireTime": now, "renewTime": now});
    let answer = stage
        .rest
        .send(&patch(actor, lease, &spec)?, PATIENCE)
        .await?;
    if let Some(held) = lock(&stage.leases).get_mut(lease) {
        held.holder.clear();
    }
    Ok(answer)
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
