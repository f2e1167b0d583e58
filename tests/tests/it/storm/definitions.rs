//! Definitions in a loop: each comes, gets objects at once, changes while they are written to, and goes
//! with them; a few rounds later it comes again under the same name.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use http::StatusCode;
use kubereel_tests::rest::{Body, Call, Patience, RestError, Verb};
use kubereel_tests::shaken::{Writer, definition};
use serde_json::{Value, json};

const PATH: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// How many names there are.
const NAMES: u64 = 3;

/// Longer than a server takes to come back and to learn of a definition.
const PATIENCE: Duration = Duration::from_mins(1);

/// Between two looks at whether a definition is gone.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The loop, and how far it has come.
#[derive(Clone, Default)]
pub(crate) struct Definitions {
    rounds: Arc<AtomicUsize>,
}

impl Definitions {
    /// How many definitions came and went.
    pub(crate) fn rounds(&self) -> usize {
        self.rounds.load(Ordering::SeqCst)
    }

    pub(crate) async fn storm(self, writer: Writer) -> Result<()> {
        let mut number = 0;
        while !writer.is_stopped() {
            round(&writer, number % NAMES).await?;
            self.rounds.fetch_add(1, Ordering::SeqCst);
            number += 1;
        }
        Ok(())
    }
}

/// One life of a definition.
async fn round(writer: &Writer, number: u64) -> Result<()> {
    let name = format!("storm{number}s");
    let path = format!("/apis/churn.kubereel.dev/v1/namespaces/default/{name}");
    let defined = Body::Json(definition("storm", number));
    writer.call(Verb::Post, PATH.to_owned(), defined).await?;
    let object = |object: u64, round: u64| {
        json!({
            "apiVersion": "churn.kubereel.dev/v1", "kind": format!("Storm{number}"),
            "metadata": {"name": format!("object-{object}")}, "spec": {"round": round},
        })
    };
    for nth in 0..4 {
        write(writer, Verb::Post, path.clone(), Body::Json(object(nth, 0))).await?;
    }
    for again in 1..4 {
        let changed = json!({"spec": {"versions": [{
            "name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                "description": format!("changed {again} times"),
            }},
        }]}});
        let definition = format!("{PATH}/{name}.churn.kubereel.dev");
        writer
            .call(Verb::Patch, definition, Body::Merge(changed))
            .await?;
        // Its storage is torn down and made anew about a second later: they are written before,
        // meanwhile and after.
        for round in 0..40 {
            for nth in 0..4 {
                let body = Body::Merge(object(nth, again * 1000 + round));
                write(writer, Verb::Patch, format!("{path}/object-{nth}"), body).await?;
            }
        }
    }
    writer
        .call(Verb::Delete, format!("{path}/object-0"), Body::Empty)
        .await?;
    remove(writer, &format!("{PATH}/{name}.churn.kubereel.dev")).await
}

/// Writes an object; bears with a server that does not yet know that its definition is here again.
async fn write(writer: &Writer, verb: Verb, path: String, body: Body) -> Result<Value> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let error = match writer.call(verb, path.clone(), body.clone()).await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let status = error
            .downcast_ref::<RestError>()
            .and_then(RestError::status);
        if status != Some(StatusCode::METHOD_NOT_ALLOWED) || Instant::now() > deadline {
            return Err(error);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Deletes a definition and waits until it is gone with all of its objects.
async fn remove(writer: &Writer, path: &str) -> Result<()> {
    writer
        .call(Verb::Delete, path.to_owned(), Body::Empty)
        .await?;
    let look = Call {
        verb: Verb::Get,
        path: path.to_owned(),
        body: Body::Empty,
    };
    let deadline = Instant::now() + PATIENCE;
    loop {
        match writer.rest().send(&look, Patience::outages(PATIENCE)).await {
            Err(error) if error.is_not_found() => return Ok(()),
            other => other?,
        };
        ensure!(Instant::now() < deadline, "{path} does not go");
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
