//! The manifests on a real API server, which checks every field and every rule of theirs.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use http::Request;
use kubereel_tests::control_plane::{ControlPlane, skipped};
use serde_json::Value;

use crate::of_project;

fn manifests() -> Result<Vec<Value>> {
    let text = std::fs::read_to_string(of_project("deploy/kubernetes/kubereel.yaml"))?;
    let documents = text.split("\n---\n");
    documents
        .map(|document| serde_saphyr::from_str(document).context("a document of YAML"))
        .collect()
}

fn word<'a>(object: &'a Value, pointer: &str) -> &'a str {
    let found = object.pointer(pointer);
    found.and_then(Value::as_str).unwrap_or_default()
}

fn path(object: &Value) -> Result<String> {
    let plural = match word(object, "/kind") {
        "Namespace" => "namespaces",
        "ServiceAccount" => "serviceaccounts",
        "ClusterRole" => "clusterroles",
        "ClusterRoleBinding" => "clusterrolebindings",
        "PersistentVolumeClaim" => "persistentvolumeclaims",
        "Deployment" => "deployments",
        other => anyhow::bail!("nobody expected a {other}"),
    };
    let version = word(object, "/apiVersion");
    let root = if version.contains('/') { "apis" } else { "api" };
    let namespace = word(object, "/metadata/namespace");
    let within = match namespace {
        "" => String::new(),
        namespace => format!("namespaces/{namespace}/"),
    };
    Ok(format!("/{root}/{version}/{within}{plural}"))
}

#[tokio::test]
async fn a_real_server_takes_every_manifest() -> Result<()> {
    if skipped() {
        return Ok(());
    }
    let control_plane = ControlPlane::builder().start().await?;
    let client = control_plane.client(0).await?;
    let mut manifests = manifests()?;
    for object in &manifests {
        // What lies in the namespace cannot be tried before that is there.
        let dry = if word(object, "/kind") == "Namespace" {
            ""
        } else {
            "&dryRun=All"
        };
        let uri = format!("{}?fieldValidation=Strict{dry}", path(object)?);
        let request = Request::post(uri)
            .header("content-type", "application/json")
            .body(serde_json::to_vec(object)?)?;
        let made: Value = client
            .request(request)
            .await
            .with_context(|| object.to_string())?;
        ensure!(word(&made, "/kind") == word(object, "/kind"), "{made}");
    }
    // The check can fail.
    let deployment = manifests.pop().context("a deployment")?;
    let uri = format!("{}?fieldValidation=Strict&dryRun=All", path(&deployment)?);
    let wrong = deployment
        .to_string()
        .replace("\"replicas\"", "\"replica\"");
    let request = Request::post(uri)
        .header("content-type", "application/json")
        .body(wrong.into_bytes())?;
    let refused = client.request::<Value>(request).await;
    ensure!(refused.is_err(), "a field that is none was taken");
    Ok(())
}

#[test]
fn the_role_reads_and_nothing_else() -> Result<()> {
    let manifests = manifests()?;
    let role = manifests
        .iter()
        .find(|object| word(object, "/kind") == "ClusterRole");
    let rules = role
        .and_then(|role| role.pointer("/rules"))
        .and_then(Value::as_array);
    let rules = rules.context("rules")?;
    let strings = |value: Option<&Value>| -> BTreeSet<String> {
        let values = value.and_then(Value::as_array).into_iter().flatten();
        values
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect()
    };
    for rule in rules {
        let verbs = strings(rule.get("verbs"));
        let names = strings(rule.get("resourceNames"));
        let urls = strings(rule.get("nonResourceURLs"));
        let reads = ["list", "watch"].map(str::to_owned);
        let is_get = verbs == BTreeSet::from(["get".to_owned()]);
        let is_named = names == BTreeSet::from(["kube-system".to_owned()]);
        ensure!(
            verbs == BTreeSet::from(reads) || is_get && (is_named || !urls.is_empty()),
            "{rule}"
        );
        ensure!(!urls.contains("*"), "{rule}");
    }
    Ok(())
}
