//! Owns who writes to the cluster while it is shaken. Refuses to hide what a server refuses.

use std::time::Duration;

use anyhow::Result;
use kubereel_tests::rest::{Body, Call, Patience, Rest, RestError, Verb};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::real_faults::SURE;

/// Longer than any restart takes.
const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// Sends until it is answered for good.
pub(crate) async fn send(rest: &Rest, verb: Verb, path: &str, body: Body) -> Result<Value> {
    let call = call(verb, path, body);
    Ok(rest
        .send(&call, Patience::until_found(PATIENCE))
        .await?
        .body)
}

/// Sends once, whatever comes of it.
pub(crate) async fn try_once(
    rest: &Rest,
    verb: Verb,
    path: &str,
    body: Body,
) -> Result<Value, RestError> {
    rest.send_once(&call(verb, path, body)).await
}

fn call(verb: Verb, path: &str, body: Body) -> Call {
    Call {
        verb,
        path: path.to_owned(),
        body,
    }
}

/// Tells a writer when to stop.
#[derive(Clone)]
pub(crate) struct Stopped {
    asked: watch::Receiver<bool>,
    at_least: u64,
}

impl Stopped {
    /// Whether a writer that has made this number of writes stops now: never before its minimum, so
    /// that a busy machine makes a test longer but not empty.
    pub(crate) fn after(&self, written: u64) -> bool {
        written >= self.at_least && *self.asked.borrow()
    }
}

/// Writers at work.
pub(crate) struct Writers {
    stop: watch::Sender<bool>,
    at_least: u64,
    tasks: JoinSet<Result<u64>>,
}

impl Writers {
    /// Writers of which each makes this number of writes at least.
    pub(crate) fn each(at_least: u64) -> Self {
        Self {
            stop: watch::Sender::new(false),
            at_least,
            tasks: JoinSet::new(),
        }
    }

    /// Lets one begin; it gives how many writes it made.
    pub(crate) fn begin<F>(&mut self, work: impl FnOnce(Stopped) -> F)
    where
        F: Future<Output = Result<u64>> + Send + 'static,
    {
        self.tasks.spawn(work(Stopped {
            asked: self.stop.subscribe(),
            at_least: self.at_least,
        }));
    }

    /// Lets writers of config maps begin, so many of them.
    pub(crate) fn maps(&mut self, rest: &Rest, prefix: &str, count: u32, pace: Duration) {
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

    /// Lets every one end what it is at; gives how many writes were made.
    pub(crate) async fn stop(mut self) -> Result<u64> {
        self.stop.send_replace(true);
        let mut written = 0;
        while let Some(ended) = timeout(SURE, self.tasks.join_next()).await? {
            written += ended??;
        }
        Ok(written)
    }
}

pub(crate) type Make = fn(&str, u64) -> Value;

pub(crate) fn config_map(name: &str, round: u64) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name},
        "data": {"round": round.to_string()}})
}

pub(crate) fn event(name: &str, round: u64) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": name},
        "involvedObject": {"kind": "ConfigMap", "namespace": "default", "name": "none"},
        "reason": "Told", "message": format!("round {round}"), "type": "Normal", "count": round,
    })
}

/// Objects that are created, changed twice, and every other one deleted.
pub(crate) struct Objects {
    pub(crate) rest: Rest,
    pub(crate) path: String,
    pub(crate) prefix: String,
    pub(crate) make: Make,
    /// The pause after each write.
    pub(crate) pace: Duration,
}

impl Objects {
    pub(crate) async fn write(self, stopped: Stopped) -> Result<u64> {
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
