//! Writers that change the cluster through its API while it is shaken: objects that come, change and
//! go, Secrets with a word that must not be recorded, and definitions with objects right behind them.

use std::time::Duration;

use anyhow::Result;
use kubereel_tests::rest::{Body, Rest, Verb};
use kubereel_tests::shaken::{Make, Writer, Writers, config_map, definition, event, secret};
use serde_json::json;
use tokio::sync::watch;

/// Between two writes of one writer: together some hundred a second.
const PACE: Duration = Duration::from_millis(15);

/// The writers at work.
pub(crate) struct Churn {
    settled: watch::Sender<bool>,
    is_settled: watch::Receiver<bool>,
    writers: Writers,
}

impl Churn {
    pub(crate) fn start(rest: &Rest) -> Self {
        let (settled, wants_settled) = watch::channel(false);
        let (says_settled, is_settled) = watch::channel(false);
        let mut writers = Writers::new(PACE);
        let written: [(&'static str, Make); 3] = [
            ("/api/v1/namespaces/default/configmaps", config_map),
            ("/api/v1/namespaces/kube-system/secrets", secret),
            ("/api/v1/namespaces/default/events", event),
        ];
        for (path, make) in written {
            writers.add(rest, |writer| writer.objects(path, "churn", make));
        }
        writers.add(rest, |writer| {
            definitions(writer, wants_settled, says_settled)
        });
        Self {
            settled,
            is_settled,
            writers,
        }
    }

    /// Lets no new definition come, and waits until the last one and its first objects are written.
    /// From then on its objects are changed again and again.
    pub(crate) async fn settle(&mut self) -> Result<()> {
        self.settled.send_replace(true);
        self.is_settled.wait_for(|is_settled| *is_settled).await?;
        Ok(())
    }

    /// Lets new definitions come again.
    pub(crate) fn go_on(&self) {
        self.settled.send_replace(false);
    }

    /// Lets every writer end what it is at.
    pub(crate) async fn stop(self) -> Result<()> {
        self.writers.stop().await
    }
}

/// Definitions, each with objects as soon as the server takes them.
async fn definitions(
    writer: Writer,
    wants_settled: watch::Receiver<bool>,
    says_settled: watch::Sender<bool>,
) -> Result<()> {
    const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let mut number = 0_u64;
    while !writer.is_stopped() {
        let plural = format!("churned{number}s");
        let definition = definition("churned", number);
        writer
            .call(Verb::Post, DEFINITIONS.to_owned(), Body::Json(definition))
            .await?;
        let path = format!("/apis/churn.kubereel.dev/v1/namespaces/default/{plural}");
        for object in 0..6_u64 {
            let name = format!("object-{object}");
            let make = |round: u64| {
                json!({
                    "apiVersion": "churn.kubereel.dev/v1", "kind": format!("Churned{number}"),
                    "metadata": {"name": name}, "spec": {"round": round},
                })
            };
            writer
                .call(Verb::Post, path.clone(), Body::Json(make(0)))
                .await?;
            for round in 1..4 {
                let body = Body::Merge(make(round));
                writer
                    .call(Verb::Patch, format!("{path}/{name}"), body)
                    .await?;
            }
            if object == 0 {
                writer
                    .call(Verb::Delete, format!("{path}/{name}"), Body::Empty)
                    .await?;
            }
        }
        says_settled.send_replace(*wants_settled.borrow());
        let mut round = 4_u64;
        while *wants_settled.borrow() && !writer.is_stopped() {
            let body = Body::Merge(json!({"spec": {"round": round}}));
            writer
                .call(Verb::Patch, format!("{path}/object-1"), body)
                .await?;
            round += 1;
        }
        says_settled.send_replace(false);
        // One in three goes again, with all that it defined.
        if number % 3 == 2 {
            writer
                .call(
                    Verb::Delete,
                    format!("{DEFINITIONS}/{plural}.churn.kubereel.dev"),
                    Body::Empty,
                )
                .await?;
        }
        number += 1;
        tokio::time::sleep(PACE * 50).await;
    }
    Ok(())
}
