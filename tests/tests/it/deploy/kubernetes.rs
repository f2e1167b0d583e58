//! The manifests on a real API server, which checks every field and every rule of theirs.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use http::Request;
use kubereel_tests::control_plane::{ControlPlane, skipped};
use serde_json::Value;

use crate::deploy::of_project;

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
        "NetworkPolicy" => "networkpolicies",
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

#[test]
fn the_recorder_is_limited_and_reached_by_monitoring_only() -> Result<()> {
    let manifests = manifests()?;
    let of_kind = |kind: &str| {
        let mut found = manifests.iter().filter(|one| word(one, "/kind") == kind);
        found.next().with_context(|| kind.to_owned())
    };
    let at = |object: &'static str, pointer: &str| {
        let found = of_kind(object)?.pointer(pointer).cloned();
        found.with_context(|| format!("{object} has no {pointer}"))
    };
    let container = "/spec/template/spec/containers/0";
    for limit in ["cpu", "memory"] {
        at(
            "Deployment",
            &format!("{container}/resources/limits/{limit}"),
        )?;
    }
    // A policy for other pods, or another port, would let everybody in.
    let pods = at("NetworkPolicy", "/spec/podSelector/matchLabels")?;
    ensure!(
        pods == at("Deployment", "/spec/template/metadata/labels")?,
        "{pods}"
    );
    let ingress = at("NetworkPolicy", "/spec/ingress")?;
    ensure!(ingress.as_array().map(Vec::len) == Some(1), "{ingress}");
    let port = at("NetworkPolicy", "/spec/ingress/0/ports/0/port")?;
    ensure!(
        port == at("Deployment", &format!("{container}/ports/0/name"))?,
        "{port}"
    );
    at("NetworkPolicy", "/spec/ingress/0/from/0/namespaceSelector")?;
    Ok(())
}

/// The words after a flag's `=`.
fn flag<'a>(command: &'a [String], name: &str) -> Result<&'a str> {
    let prefix = format!("--{name}=");
    let mut values = command.iter().filter_map(|word| word.strip_prefix(&prefix));
    values.next().with_context(|| format!("no --{name}"))
}

#[test]
fn the_deployment_rotates_and_its_volume_holds_what_is_kept() -> Result<()> {
    let manifests = manifests()?;
    let of_kind = |kind: &str| {
        let mut found = manifests.iter().filter(|one| word(one, "/kind") == kind);
        found.next().with_context(|| kind.to_owned())
    };
    let deployment = of_kind("Deployment")?;
    let command = deployment.pointer("/spec/template/spec/containers/0/command");
    let mut command: Vec<String> = serde_json::from_value(command.context("a command")?.clone())?;
    let keep: u64 = flag(&command, "keep")?.parse()?;
    let megabytes = flag(&command, "max-size")?.strip_suffix("MB");
    let megabytes: u64 = megabytes.context("MB")?.parse()?;
    let volume = of_kind("PersistentVolumeClaim")?;
    let storage = word(volume, "/spec/resources/requests/storage");
    let gibibytes: u64 = storage.strip_suffix("Gi").context("Gi")?.parse()?;
    let needed = (keep + 3) * megabytes * 1_000_000;
    ensure!(
        needed <= gibibytes << 30,
        "{needed} bytes do not fit in {storage}"
    );
    // The program understands it, and writes a series.
    let folder = tempfile::tempdir()?;
    for word in &mut command {
        if let Some(name) = word.strip_prefix("/reels/") {
            *word = folder.path().join(name).display().to_string();
        }
        if word.starts_with("--listen=") {
            "--listen=127.0.0.1:0".clone_into(word);
        }
    }
    let (name, args) = command.split_first().context("a program")?;
    ensure!(name == "kubereel", "{name}");
    let kubeconfig = folder.path().join("nothing");
    let output = std::process::Command::new(kubereel_tests::recording::program()?)
        .args(args)
        .args(["--for", "1s", "--kubeconfig"])
        .arg(kubeconfig)
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "{said}");
    ensure!(
        folder.path().join("cluster.series.json").is_file(),
        "{said}"
    );
    Ok(())
}
