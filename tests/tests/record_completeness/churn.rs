//! Writers that change the cluster through its API while it is shaken: objects that come, change and
//! go, Secrets with a word that must not be recorded, and definitions with objects right behind them.

use std::time::Duration;

use anyhow::Result;
use kubereel_tests::rest::{Body, Call, Patience, Rest, Verb};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Must never be found in a reel.
pub(crate) const CANARY: &str = "kubereel-canary-7d1f";

/// [`CANARY`] as a Secret's `data` holds it.
pub(crate) const CANARY_BASE64: &str = "a3ViZXJlZWwtY2FuYXJ5LTdkMWY=";

/// Longer than any restart takes.
const PATIENCE: Duration = Duration::from_mins(1);

/// Between two writes of one writer: together some hundred a second.
const PACE: Duration = Duration::from_millis(15);

/// The writers at work.
pub(crate) struct Churn {
    stop: watch::Sender<bool>,
    settled: watch::Sender<bool>,
    is_settled: watch::Receiver<bool>,
    tasks: JoinSet<Result<()>>,
}

impl Churn {
    pub(crate) fn start(rest: &Rest) -> Self {
        let (stop, stopped) = watch::channel(false);
        let (settled, wants_settled) = watch::channel(false);
        let (says_settled, is_settled) = watch::channel(false);
        let mut tasks = JoinSet::new();
        let written: [(&'static str, Make); 3] = [
            ("/api/v1/namespaces/default/configmaps", config_map),
            ("/api/v1/namespaces/kube-system/secrets", secret),
            ("/api/v1/namespaces/default/events", event),
        ];
        for (path, object) in written {
            let writer = Writer {
                rest: rest.clone(),
                stopped: stopped.clone(),
            };
            tasks.spawn(writer.objects(path, object));
        }
        let writer = Writer {
            rest: rest.clone(),
            stopped,
        };
        tasks.spawn(writer.definitions(wants_settled, says_settled));
        Self {
            stop,
            settled,
            is_settled,
            tasks,
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
    pub(crate) async fn stop(mut self) -> Result<()> {
        self.stop.send_replace(true);
        while let Some(ended) = self.tasks.join_next().await {
            ended??;
        }
        Ok(())
    }
}

type Make = fn(&str, u64) -> Value;

fn config_map(name: &str, round: u64) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"round": round.to_string()}})
}

fn secret(name: &str, round: u64) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": name, "annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": format!("{{\"stringData\":{{\"word\":\"{CANARY}\"}}}}"),
        }},
        "data": {"word": CANARY_BASE64},
        "stringData": {"round": round.to_string(), "plain": CANARY},
    })
}

fn event(name: &str, round: u64) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": name},
        "involvedObject": {"kind": "ConfigMap", "namespace": "default", "name": "none"},
        "reason": "Churned", "message": format!("round {round}"), "type": "Normal", "count": round,
    })
}

struct Writer {
    rest: Rest,
    stopped: watch::Receiver<bool>,
}

impl Writer {
    fn is_stopped(&self) -> bool {
        *self.stopped.borrow()
    }

    async fn call(&self, verb: Verb, path: String, body: Body) -> Result<()> {
        let call = Call { verb, path, body };
        self.rest
            .send(&call, Patience::until_found(PATIENCE))
            .await?;
        tokio::time::sleep(PACE).await;
        Ok(())
    }

    /// Objects that are created, changed twice, and every other one deleted.
    async fn objects(self, path: &'static str, make: Make) -> Result<()> {
        let mut number = 0_u64;
        while !self.is_stopped() {
            let name = format!("churn-{number}");
            self.life(path, &name, make, number.is_multiple_of(2))
                .await?;
            number += 1;
        }
        Ok(())
    }

    async fn life(&self, path: &str, name: &str, make: Make, dies: bool) -> Result<()> {
        self.call(Verb::Post, path.to_owned(), Body::Json(make(name, 0)))
            .await?;
        for round in 1..3 {
            let body = Body::Merge(make(name, round));
            self.call(Verb::Patch, format!("{path}/{name}"), body)
                .await?;
        }
        if dies {
            self.call(Verb::Delete, format!("{path}/{name}"), Body::Empty)
                .await?;
        }
        Ok(())
    }

    /// Definitions, each with objects as soon as the server takes them.
    async fn definitions(
        self,
        wants_settled: watch::Receiver<bool>,
        says_settled: watch::Sender<bool>,
    ) -> Result<()> {
        const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let mut number = 0_u64;
        while !self.is_stopped() {
            let plural = format!("churned{number}s");
            let definition = definition(&plural, number);
            self.call(Verb::Post, DEFINITIONS.to_owned(), Body::Json(definition))
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
                self.call(Verb::Post, path.clone(), Body::Json(make(0)))
                    .await?;
                for round in 1..4 {
                    let body = Body::Merge(make(round));
                    self.call(Verb::Patch, format!("{path}/{name}"), body)
                        .await?;
                }
                if object == 0 {
                    self.call(Verb::Delete, format!("{path}/{name}"), Body::Empty)
                        .await?;
                }
            }
            says_settled.send_replace(*wants_settled.borrow());
            let mut round = 4_u64;
            while *wants_settled.borrow() && !self.is_stopped() {
                let body = Body::Merge(json!({"spec": {"round": round}}));
                self.call(Verb::Patch, format!("{path}/object-1"), body)
                    .await?;
                round += 1;
            }
            says_settled.send_replace(false);
            // One in three goes again, with all that it defined.
            if number % 3 == 2 {
                self.call(
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
}

fn definition(plural: &str, number: u64) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.churn.kubereel.dev")},
        "spec": {
            "group": "churn.kubereel.dev", "scope": "Namespaced",
            "names": {"plural": plural, "singular": format!("churned{number}"), "kind": format!("Churned{number}")},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            }}}],
        },
    })
}
