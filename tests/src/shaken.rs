//! Who writes to a real control plane while it is recorded.
//!
//! The objects that are written: plain ones, Secrets with a word that must not be recorded, and
//! definitions of resources; and writers that continue until they are stopped. It does not give
//! up while a server is down, and to judge what a recording must hold.

use crate::rest::{Body, Call, Patience, Rest, RestError, Verb};
use anyhow::Result;
use serde_json::{Value, json};
use std::future::Future;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Must never be found in a reel.
pub const CANARY: &str = "kubereel-canary-7d1f";

/// [`CANARY`] as a Secret's `data` holds it.
pub const CANARY_BASE64: &str = "a3ViZXJlZWwtY2FuYXJ5LTdkMWY=";

/// Makes the version of an object that a round writes.
pub type Make = fn(name: &str, round: u64) -> Value;

/// A config map.
pub fn config_map(name: &str, round: u64) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"round": round.to_string()}})
}

/// A Secret with the canary in every place that Secrets have.
pub fn secret(name: &str, round: u64) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": name, "annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": format!("{{\"stringData\":{{\"word\":\"{CANARY}\"}}}}"),
        }},
        "data": {"word": CANARY_BASE64},
        "stringData": {"round": round.to_string(), "plain": CANARY},
    })
}

/// An Event.
pub fn event(name: &str, round: u64) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": name},
        "involvedObject": {"kind": "ConfigMap", "namespace": "default", "name": "none"},
        "reason": "Churned", "message": format!("round {round}"), "type": "Normal", "count": round,
    })
}

/// A definition of a namespaced resource `{word}{number}s` of the group `churn.kubereel.dev`.
pub fn definition(word: &str, number: u64) -> Value {
    let singular = format!("{word}{number}");
    let kind: String = singular
        .char_indices()
        .map(|(place, letter)| {
            if place == 0 {
                letter.to_ascii_uppercase()
            } else {
                letter
            }
        })
        .collect();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{singular}s.churn.kubereel.dev")},
        "spec": {
            "group": "churn.kubereel.dev", "scope": "Namespaced",
            "names": {"plural": format!("{singular}s"), "singular": singular, "kind": kind},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            }}}],
        },
    })
}

/// Anything that must come comes within this time, also on a busy machine.
const SURE: Duration = Duration::from_mins(2);

/// Longer than any restart takes.
const PATIENCE: Duration = Duration::from_mins(1);

/// Where config maps are.
pub const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// Sends until it is answered for good.
///
/// # Errors
///
/// When the cluster refuses it, or is not there for a minute.
pub async fn send(rest: &Rest, verb: Verb, path: &str, body: Body) -> Result<Value> {
    let call = Call::of(verb, path, body);
    Ok(rest
        .send(&call, Patience::until_found(PATIENCE))
        .await?
        .body)
}

/// Sends once, whatever comes of it.
///
/// # Errors
///
/// When it is not answered with success.
pub async fn try_once(rest: &Rest, verb: Verb, path: &str, body: Body) -> Result<Value, RestError> {
    rest.send_once(&Call::of(verb, path, body)).await
}

/// Tells a writer when to stop.
#[derive(Debug, Clone)]
pub struct Stopped {
    asked: watch::Receiver<bool>,
    at_least: u64,
}

impl Stopped {
    /// Whether a writer that has made this number of writes stops now: never before its minimum, so
    /// that a busy machine makes a test longer but not empty.
    pub fn after(&self, written: u64) -> bool {
        written >= self.at_least && *self.asked.borrow()
    }
}

/// Writers at work; they end when this is dropped.
#[derive(Debug)]
pub struct Writers {
    stop: watch::Sender<bool>,
    at_least: u64,
    tasks: JoinSet<Result<u64>>,
}

impl Writers {
    /// Writers of which each makes this number of writes at least.
    pub fn each(at_least: u64) -> Self {
        Self {
            stop: watch::Sender::new(false),
            at_least,
            tasks: JoinSet::new(),
        }
    }

    /// Lets one begin; it returns how many writes it made.
    pub fn begin<F>(&mut self, work: impl FnOnce(Stopped) -> F)
    where
        F: Future<Output = Result<u64>> + Send + 'static,
    {
        self.tasks.spawn(work(Stopped {
            asked: self.stop.subscribe(),
            at_least: self.at_least,
        }));
    }

    /// Lets writers of config maps begin, this many of them.
    pub fn maps(&mut self, rest: &Rest, prefix: &str, count: u32, pace: Duration) {
        for number in 0..count {
            let objects = Objects {
                rest: rest.clone(),
                path: MAPS.to_owned(),
                prefix: format!("{prefix}-{number}"),
                make: config_map,
                pace,
            };
            self.begin(|stopped| objects.write(stopped));
        }
    }

    /// Lets every one end what it is at; returns how many writes were made.
    ///
    /// # Errors
    ///
    /// When one failed.
    pub async fn stop(mut self) -> Result<u64> {
        self.stop.send_replace(true);
        let mut written = 0;
        while let Some(ended) = timeout(SURE, self.tasks.join_next()).await? {
            written += ended??;
        }
        Ok(written)
    }
}

/// Objects that are created, changed twice, and every other one deleted.
pub struct Objects {
    /// The way to the cluster.
    pub rest: Rest,
    /// Where they are created.
    pub path: String,
    /// How their names begin.
    pub prefix: String,
    /// Makes a version.
    pub make: Make,
    /// The pause after each write.
    pub pace: Duration,
}

impl Objects {
    /// Writes until it is stopped; gives the number of writes.
    ///
    /// # Errors
    ///
    /// As [`send`].
    pub async fn write(self, stopped: Stopped) -> Result<u64> {
        let mut written = 0;
        for number in 0_u64.. {
            if stopped.after(written) {
                break;
            }
            let name = format!("{}-{number}", self.prefix);
            let path = format!("{}/{name}", self.path);
            let created = Body::Json((self.make)(&name, 0));
            self.call(Verb::Post, &self.path, created).await?;
            for round in 1..3 {
                let changed = Body::Merge((self.make)(&name, round));
                self.call(Verb::Patch, &path, changed).await?;
            }
            written += 3;
            if number.is_multiple_of(2) {
                self.call(Verb::Delete, &path, Body::Empty).await?;
                written += 1;
            }
        }
        Ok(written)
    }

    async fn call(&self, verb: Verb, path: &str, body: Body) -> Result<()> {
        send(&self.rest, verb, path, body).await?;
        tokio::time::sleep(self.pace).await;
        Ok(())
    }
}
