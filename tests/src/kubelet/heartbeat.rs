//! One node's signs of life: its Lease, and its status now and then.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use super::fleet::Site;
use crate::rest::{self, Body, Call, Patience, RestError, Target, Verb};

/// How often a kubelet renews its Lease, in virtual time.
const LEASE_EVERY: Duration = Duration::from_secs(10);
/// A kubelet reports its status every so many renewals even when nothing changed.
const STATUS_EVERY_RENEWALS: u32 = 30;
/// How long a heartbeat is tried before it counts as failed.
const PATIENCE: Patience = Patience::until_found(Duration::from_secs(20));

/// Beats until it is aborted; silent while the node is off.
pub(super) async fn beat(site: Arc<Site>) {
    let mut power = site.power.subscribe();
    let mut renewals: u32 = 0;
    let mut has_lease = false;
    let mut due = Instant::now();
    loop {
        sleep_until(due).await;
        due = Instant::now() + site.real(LEASE_EVERY);
        if power.wait_for(|power| power.is_up).await.is_err() {
            return;
        }
        let done = if has_lease {
            renew(&site).await
        } else {
            create(&site).await
        };
        match done {
            Ok(()) => has_lease = true,
            Err(error) => site.fail(&error),
        }
        renewals += 1;
        if renewals.is_multiple_of(STATUS_EVERY_RENEWALS)
            && let Err(error) = site.write_status().await
        {
            site.fail(&error);
        }
    }
}

fn lease(site: &Site) -> Target {
    Target::namespaced(
        "coordination.k8s.io/v1",
        "Lease",
        "kube-node-lease",
        &site.spec.name,
    )
}

async fn create(site: &Site) -> Result<(), RestError> {
    let target = lease(site);
    let body = json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": site.spec.name,
            "namespace": "kube-node-lease",
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Node", "name": site.spec.name, "uid": site.uid()},
            ],
        },
        "spec": {
            "holderIdentity": site.spec.name,
            "leaseDurationSeconds": 40,
            "renewTime": rest::micros(rest::now()),
        },
    });
    let path = target.collection_path().ok_or_else(|| RestError::NoPath {
        target: target.clone(),
    })?;
    let call = Call {
        verb: Verb::Post,
        path: format!("{path}?fieldManager=kubelet"),
        body: Body::Json(body),
    };
    match site.rest.send(&call, PATIENCE).await {
        Err(error) if !error.is_already_there() => Err(error),
        _ => Ok(()),
    }
}

async fn renew(site: &Site) -> Result<(), RestError> {
    let target = lease(site);
    let renewed: Value = json!({"spec": {"renewTime": rest::micros(rest::now())}});
    let path = target.path().ok_or_else(|| RestError::NoPath {
        target: target.clone(),
    })?;
    let call = Call {
        verb: Verb::Patch,
        path: format!("{path}?fieldManager=kubelet"),
        body: Body::Merge(renewed),
    };
    site.rest.send(&call, PATIENCE).await?;
    Ok(())
}
