//! Kubelet Events: one object a message, whose count rises when the same is said again.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use crate::rest::{self, Body, Call, Patience, Rest, RestError, Target, Verb};

/// Says things about Pods and the node, as one node's kubelet.
pub(super) struct EventRecorder {
    rest: Rest,
    host: String,
    known: Mutex<BTreeMap<String, Known>>,
}

#[derive(Clone)]
struct Known {
    target: Target,
    count: u32,
}

/// What an Event is about.
pub(super) struct About<'a> {
    pub(super) kind: &'a str,
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    pub(super) uid: &'a str,
    pub(super) field_path: Option<String>,
}

impl EventRecorder {
    const PATIENCE: Patience = Patience::outages(Duration::from_secs(20));

    pub(super) fn new(rest: Rest, host: &str) -> Self {
        Self {
            rest,
            host: host.to_owned(),
            known: Mutex::default(),
        }
    }

    /// Says something, or says it once more.
    pub(super) async fn record(
        &self,
        about: &About<'_>,
        is_warning: bool,
        reason: &str,
        message: &str,
    ) -> Result<(), RestError> {
        let key = format!("{}\0{:?}\0{reason}\0{message}", about.uid, about.field_path);
        let now = rest::now();
        let again = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.get_mut(&key).map(|known| {
                known.count += 1;
                known.clone()
            })
        };
        if let Some(again) = again {
            return self.count(&again, &rest::seconds(now)).await;
        }
        let name = format!("{}.{:016x}", about.name, now.as_nanosecond());
        let event = self.describe(
            about,
            is_warning,
            (reason, message),
            &name,
            &rest::seconds(now),
        );
        let target = Target::namespaced("v1", "Event", about.namespace, &name);
        let path = target.collection_path().ok_or_else(|| RestError::NoPath {
            target: target.clone(),
        })?;
        let call = Call {
            verb: Verb::Post,
            path: format!("{path}?fieldManager=kubelet"),
            body: Body::Json(event),
        };
        self.rest.send(&call, Self::PATIENCE).await?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(key, Known { target, count: 1 });
        Ok(())
    }

    async fn count(&self, again: &Known, now: &str) -> Result<(), RestError> {
        let path = again.target.path().ok_or_else(|| RestError::NoPath {
            target: again.target.clone(),
        })?;
        let counted = json!({"count": again.count, "lastTimestamp": now});
        let path = format!("{path}?fieldManager=kubelet");
        self.rest
            .send(
                &Call {
                    verb: Verb::Patch,
                    path,
                    body: Body::Strategic(counted),
                },
                Self::PATIENCE,
            )
            .await?;
        Ok(())
    }

    fn describe(
        &self,
        about: &About<'_>,
        is_warning: bool,
        (reason, message): (&str, &str),
        name: &str,
        now: &str,
    ) -> Value {
        let mut involved = json!({
            "apiVersion": "v1", "kind": about.kind, "name": about.name, "uid": about.uid,
        });
        if about.kind != "Node" {
            involved["namespace"] = json!(about.namespace);
        }
        if let Some(path) = &about.field_path {
            involved["fieldPath"] = json!(path);
        }
        json!({
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": about.namespace},
            "involvedObject": involved,
            "reason": reason,
            "message": message,
            "source": {"component": "kubelet", "host": self.host},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
            "type": if is_warning { "Warning" } else { "Normal" },
            "eventTime": null,
            "reportingComponent": "kubelet",
            "reportingInstance": self.host,
        })
    }
}
