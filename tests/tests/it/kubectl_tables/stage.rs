//! Owns the objects of which tables are printed, and their way into the API: what is made, what its
//! status says, what is deleted and held. Refuses to run anything: no kubelet and no controller
//! changes them.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use http::Method;
use jiff::{SignedDuration, Timestamp};
use kube::Client;
use kubereel_tests::recording::Awaited;
use kubereel_tests::rest;
use serde_json::{Value, json};

/// Objects in the order in which they are made.
const MANIFESTS: [&str; 6] = [
    include_str!("objects/cluster.yaml"),
    include_str!("objects/services.yaml"),
    include_str!("objects/workloads.yaml"),
    include_str!("objects/pods.yaml"),
    include_str!("objects/events.yaml"),
    include_str!("objects/custom.yaml"),
];

/// What is asked for of these is waited for.
const LISTS: [(&str, &str); 13] = [
    ("pods", "/api/v1/pods"),
    ("nodes", "/api/v1/nodes"),
    ("services", "/api/v1/services"),
    ("serviceaccounts", "/api/v1/serviceaccounts"),
    ("namespaces", "/api/v1/namespaces"),
    ("events", "/api/v1/events"),
    ("deployments.apps", "/apis/apps/v1/deployments"),
    ("replicasets.apps", "/apis/apps/v1/replicasets"),
    ("jobs.batch", "/apis/batch/v1/jobs"),
    (
        "leases.coordination.k8s.io",
        "/apis/coordination.k8s.io/v1/leases",
    ),
    ("gadgets.example.io", "/apis/example.io/v1/gadgets"),
    ("dials.example.io", "/apis/example.io/v1/dials"),
    ("gauges.example.io", "/apis/example.io/v1/gauges"),
];

/// What the API server makes by itself in its first seconds.
const ITS_OWN: [&str; 5] = [
    "/api/v1/namespaces/kube-system",
    "/api/v1/namespaces/kube-public",
    "/api/v1/namespaces/kube-node-lease",
    "/api/v1/namespaces/default",
    "/api/v1/namespaces/default/services/kubernetes",
];

const LOOK_EVERY: Duration = Duration::from_millis(50);

const MERGE: &str = "application/merge-patch+json";

/// Says in an object's annotations that it is to be deleted once it is there.
const DELETED: &str = "/metadata/annotations/then";

pub(crate) struct Stage {
    client: Client,
    limit: Duration,
}

impl Stage {
    pub(crate) fn new(client: Client, limit: Duration) -> Self {
        Self { client, limit }
    }

    /// Makes all objects; times in them are told from now.
    pub(crate) async fn set(&self) -> Result<()> {
        for path in ITS_OWN {
            self.until(path, |_| true).await?;
        }
        let now = rest::now();
        for document in MANIFESTS.iter().flat_map(|file| file.split("\n---\n")) {
            let mut object: Value = serde_saphyr::from_str(document).context(document)?;
            stamp(&mut object, now)?;
            let what = object.to_string();
            self.make(object).await.context(what)?;
        }
        Ok(())
    }

    /// Says which version of each list holds all objects.
    pub(crate) async fn versions(&self) -> Result<Vec<Awaited>> {
        let mut versions = Vec::new();
        for (resource, path) in LISTS {
            let list = self.ask(Method::GET, path, "", &Value::Null).await?;
            let items = list.get("items").and_then(Value::as_array);
            let items = items.context("a list has items")?.iter();
            let version = |item: &Value| {
                let text = item.pointer("/metadata/resourceVersion")?.as_str()?;
                text.parse::<u128>().ok()
            };
            let rv = items.filter_map(version).max().context(path)?;
            let resource = resource.to_owned();
            versions.push(Awaited {
                resource,
                rv,
                is_exact: false,
            });
        }
        Ok(versions)
    }

    async fn make(&self, object: Value) -> Result<()> {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
        let version = text("/apiVersion").context("no apiVersion")?;
        let plural = text("/kind").context("no kind")?.to_lowercase() + "s";
        let name = text("/metadata/name").context("no name")?;
        let root = if version == "v1" { "api" } else { "apis" };
        let within = text("/metadata/namespace")
            .map_or_else(String::new, |namespace| format!("namespaces/{namespace}/"));
        let collection = format!("/{root}/{version}/{within}{plural}");
        let object_path = format!("{collection}/{name}");
        self.ask(Method::POST, &collection, "application/json", &object)
            .await?;
        if let Some(status) = object.get("status").filter(|_| version != "example.io/v1") {
            let body = json!({"status": status});
            let of_status = format!("{object_path}/status");
            self.ask(Method::PATCH, &of_status, MERGE, &body).await?;
        }
        if text(DELETED).is_some() {
            self.ask(Method::DELETE, &object_path, "", &Value::Null)
                .await?;
        }
        if plural == "customresourcedefinitions" {
            self.until(&object_path, |definition| {
                let conditions = definition.pointer("/status/conditions");
                let mut conditions = conditions.and_then(Value::as_array).into_iter().flatten();
                conditions.any(|one| one["type"] == "Established" && one["status"] == "True")
            })
            .await?;
            let listed = format!("/apis/example.io/v1/{}", name.replace(".example.io", ""));
            self.until(&listed, |_| true).await?;
        }
        Ok(())
    }

    /// Asks until an answer is as wished.
    async fn until(&self, path: &str, is_wished: impl Fn(&Value) -> bool) -> Result<()> {
        let deadline = Instant::now() + self.limit;
        loop {
            let answer = self.ask(Method::GET, path, "", &Value::Null).await;
            if answer.as_ref().is_ok_and(&is_wished) {
                return Ok(());
            }
            if Instant::now() >= deadline {
                bail!("{path} is not as wished: {answer:?}");
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    async fn ask(&self, method: Method, path: &str, kind: &str, body: &Value) -> Result<Value> {
        let mut request = http::Request::builder().method(method.clone()).uri(path);
        if !kind.is_empty() {
            request = request.header(http::header::CONTENT_TYPE, kind);
        }
        let body = if body.is_null() {
            Vec::new()
        } else {
            body.to_string().into_bytes()
        };
        let answer = self.client.request_text(request.body(body)?).await;
        let answer = answer.with_context(|| format!("{method} {path}"))?;
        Ok(serde_json::from_str(&answer)?)
    }
}

/// Puts times in place of `@-300`, and of `@-300u` where they have fractions.
///
/// All are whole seconds, so that what a table says of them changes at whole seconds only.
fn stamp(value: &mut Value, now: Timestamp) -> Result<()> {
    match value {
        Value::String(text) => {
            let Some(offset) = text.strip_prefix('@') else {
                return Ok(());
            };
            let digits = offset.trim_end_matches('u');
            let at = now.checked_add(SignedDuration::from_secs(digits.parse()?))?;
            let whole = Timestamp::from_second(at.as_second())?;
            *text = if digits == offset {
                rest::seconds(whole)
            } else {
                rest::micros(whole)
            };
        }
        Value::Array(items) => {
            for item in items {
                stamp(item, now)?;
            }
        }
        Value::Object(members) => {
            for (_, member) in members.iter_mut() {
                stamp(member, now)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Says that the manifests hold what the questions are about.
pub(crate) fn check(lines: &[String], wanted: &[&str]) -> Result<()> {
    for word in wanted {
        ensure!(
            lines.iter().any(|line| line.contains(word)),
            "no table says {word:?}"
        );
    }
    Ok(())
}
