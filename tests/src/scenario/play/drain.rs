//! Drains a node by eviction, as often as budgets refuse it.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::gate::{is_drained_away, pods_of};
use super::stage::{PATIENCE, Stage};
use crate::rest::{Body, Call, RestError, Verb};

/// A drain looks again so long after a refusal, in virtual time.
const AGAIN_AFTER: Duration = Duration::from_secs(5);
/// A drain that takes longer than this is a failure.
const WITHIN: Duration = Duration::from_secs(90);

/// How a drain went.
pub(super) struct Drained {
    pub(super) evicted: u32,
    pub(super) refused: u32,
}

/// Evicts until nothing is left to evict.
pub(super) async fn drain(stage: &Stage, node: &str) -> Result<Drained, String> {
    let began = Instant::now();
    let mut drained = Drained {
        evicted: 0,
        refused: 0,
    };
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
            return Ok(drained);
        }
        if began.elapsed() > WITHIN {
            return Err(format!(
                "{} pods are left on {node}, {} evictions refused",
                left.len(),
                drained.refused
            ));
        }
        for pod in left
            .into_iter()
            .filter(|pod| pod["metadata"]["deletionTimestamp"].is_null())
        {
            match evict(stage, pod).await {
                Ok(()) => drained.evicted += 1,
                Err(error) if error.status() == Some(StatusCode::TOO_MANY_REQUESTS) => {
                    drained.refused += 1;
                }
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
