//! What others install: the observer of OpenShift CI's step registry, the manifests for a cluster,
//! and what the Containerfile says. Each is compared with the rules of those who will read it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use http::Request;
use kubereel_tests::control_plane::{ControlPlane, skipped};
use serde::Deserialize;
use serde_json::Value;

/// A file or folder of the project.
fn of_project(path: &str) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap_or(tests).join(path)
}

#[test]
fn the_image_is_for_any_user_and_any_base() -> Result<()> {
    let text = std::fs::read_to_string(of_project("Containerfile"))?;
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let has = |start: &str| {
        lines
            .iter()
            .any(|line| line.trim_start().starts_with(start))
    };
    for needed in [
        "ARG BASE=",
        "FROM ${BASE}",
        "LABEL org.opencontainers.image.title=",
        "org.opencontainers.image.licenses=\"Apache-2.0\"",
        "COPY --chmod=0755 kubereel /usr/local/bin/kubereel",
        "ENTRYPOINT [\"/usr/local/bin/kubereel\"]",
    ] {
        ensure!(has(needed), "no {needed}");
    }
    let user = lines.iter().find_map(|line| line.strip_prefix("USER "));
    ensure!(
        user == Some("1000650000:0"),
        "{user:?} is no arbitrary user of group 0"
    );
    ensure!(!has("RUN"), "a step that runs needs the base's tools");
    Ok(())
}

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
    let output = Command::new(kubereel_tests::recording::program()?)
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

const REGISTRY: &str = "deploy/openshift-ci/step-registry";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    observer: Observer,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Observer {
    name: String,
    from: Option<String>,
    from_image: Option<FromImage>,
    commands: String,
    resources: Resources,
    timeout: Option<String>,
    grace_period: Option<String>,
    #[serde(default)]
    env: Vec<Variable>,
    documentation: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FromImage {
    namespace: String,
    name: String,
    tag: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Resources {
    #[serde(default)]
    requests: BTreeMap<String, String>,
    #[serde(default)]
    limits: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Variable {
    name: String,
    default: Option<String>,
    documentation: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Metadata {
    path: String,
    owners: Owners,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Owners {
    approvers: Vec<String>,
    #[serde(default)]
    reviewers: Vec<String>,
}

/// Returns whether a name is one that GitHub gives to a user.
fn is_login(name: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=39).contains(&name.len())
        && name.bytes().all(is_inner)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}

/// Returns whether a name is a DNS-1123 subdomain.
fn is_subdomain(name: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(is_inner)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    name.len() <= 253 && name.split('.').all(is_label)
}

/// Reads one unit of a duration of Go, in seconds.
fn seconds(text: &str) -> Option<u64> {
    let unit = text.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
    match unit {
        "s" => Some(number),
        "m" => Some(number * 60),
        "h" => Some(number * 3600),
        _ => None,
    }
}

fn check(file: &str, text: &str, commands: &str, folder: &[&str]) -> Result<()> {
    let observer = serde_saphyr::from_str::<File>(text)?.observer;
    let prefix = folder.join("-");
    ensure!(observer.name == prefix, "{} is not its path", observer.name);
    ensure!(file == format!("{prefix}-observer.yaml"), "{file}");
    ensure!(is_subdomain(&observer.name), "{}", observer.name);
    let images = [observer.from.is_some(), observer.from_image.is_some()];
    ensure!(
        images.iter().filter(|image| **image).count() == 1,
        "not one image"
    );
    if let Some(from) = &observer.from_image {
        let parts = [&from.namespace, &from.name, &from.tag];
        ensure!(parts.iter().all(|part| !part.is_empty()), "{from:?}");
    }
    ensure!(
        observer.commands == format!("{prefix}-commands.sh"),
        "{}",
        observer.commands
    );
    for (what, limits) in [("cpu", "m"), ("memory", "Mi")] {
        let asked = observer.resources.requests.get(what);
        ensure!(
            asked.is_some_and(|asked| asked.ends_with(limits)),
            "no {what}"
        );
    }
    ensure!(
        observer
            .resources
            .limits
            .keys()
            .all(|what| what == "memory"),
        "a limit of cpu slows the recorder down"
    );
    let timeout = observer.timeout.as_deref().and_then(seconds);
    let grace = observer.grace_period.as_deref().and_then(seconds);
    ensure!(
        timeout == Some(24 * 3600),
        "the default ends it after two hours"
    );
    ensure!(
        grace.is_some_and(|grace| (600..=3600).contains(&grace)),
        "{grace:?}"
    );
    for variable in &observer.env {
        let is_whole = variable.default.is_some() && variable.documentation.is_some();
        ensure!(
            is_whole,
            "{} would have to be set by every job",
            variable.name
        );
    }
    ensure!(
        observer.documentation.is_some_and(|text| text.len() > 40),
        "undocumented"
    );
    check_commands(commands, observer.grace_period.as_deref().unwrap_or(""))
}

/// What is inlined behind `set -eu` into a shell that is signalled, and does not pass that on.
fn check_commands(commands: &str, grace: &str) -> Result<()> {
    let lines: Vec<&str> = commands
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .collect();
    let last = lines.last().context("no commands")?;
    ensure!(commands.starts_with("#!/bin/bash\n"), "not for bash");
    ensure!(
        last.starts_with("exec kubereel observe"),
        "{last} does not replace the shell"
    );
    ensure!(
        last.ends_with(&format!("--grace {grace}")),
        "{last} has another grace period"
    );
    let sets = |line: &&&str| line.starts_with("set -o ");
    ensure!(
        lines.iter().filter(sets).count() + 1 == lines.len(),
        "more than it need be"
    );
    for forbidden in [
        "printenv",
        "set -x",
        "xtrace",
        "env |",
        "CLUSTER_PROFILE_DIR",
        "KUBEADMIN",
    ] {
        ensure!(!commands.contains(forbidden), "{forbidden} shows secrets");
    }
    Ok(())
}

fn folder() -> [&'static str; 2] {
    ["observers", "kubereel"]
}

fn read(name: &str) -> Result<String> {
    let path = of_project(REGISTRY).join(folder().join("/")).join(name);
    std::fs::read_to_string(&path).with_context(|| path.display().to_string())
}

#[test]
fn the_observer_is_one_that_the_registry_takes() -> Result<()> {
    let file = "observers-kubereel-observer.yaml";
    let commands = read("observers-kubereel-commands.sh")?;
    check(file, &read(file)?, &commands, &folder())?;
    let script = of_project(REGISTRY).join("observers/kubereel/observers-kubereel-commands.sh");
    let parsed = Command::new("bash").arg("-n").arg(&script).output()?;
    ensure!(
        parsed.status.success() && parsed.stderr.is_empty(),
        "{parsed:?}"
    );
    Ok(())
}

#[test]
fn what_the_registry_generates_says_the_same() -> Result<()> {
    let metadata = read("observers-kubereel-observer.metadata.json")?;
    let metadata: Metadata = serde_json::from_str(&metadata)?;
    ensure!(
        of_project(REGISTRY).join(&metadata.path).is_file(),
        "{}",
        metadata.path
    );
    let owners: Owners = serde_saphyr::from_str(&read("OWNERS")?)?;
    ensure!(metadata.owners == owners, "{owners:?}");
    for names in [&owners.approvers, &owners.reviewers] {
        ensure!(!names.is_empty(), "{owners:?}");
        ensure!(names.iter().all(|name| is_login(name)), "{names:?}");
    }
    // Every file of the registry belongs to one of the kinds that it knows.
    let folder = of_project(REGISTRY).join(folder().join("/"));
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name();
        let name = Path::new(&name).display().to_string();
        let known = ["-observer.yaml", "-observer.metadata.json", "-commands.sh"];
        let is_known = known.iter().any(|end| name.ends_with(end));
        ensure!(name == "OWNERS" || is_known, "{name}");
    }
    Ok(())
}

#[test]
fn the_example_enables_it_and_brings_its_image() -> Result<()> {
    let text = std::fs::read_to_string(of_project("deploy/openshift-ci/example-job.yaml"))?;
    let job: Value = serde_saphyr::from_str(&text)?;
    let observer = serde_saphyr::from_str::<File>(&read("observers-kubereel-observer.yaml")?)?;
    let from = observer.observer.from.context("an image of the job's")?;
    ensure!(
        job.pointer(&format!("/base_images/{from}/tag")).is_some(),
        "no image {from}"
    );
    let enabled = job.pointer("/tests/0/steps/observers/enable/0");
    ensure!(enabled.and_then(|name| name.as_str()) == Some(observer.observer.name.as_str()));
    Ok(())
}

#[test]
fn a_login_is_what_github_gives() {
    assert!(is_login("name-of-an-approver") && is_login("A1"));
    for name in [
        "",
        "-a",
        "a-",
        "a--b",
        "a b",
        "@a",
        "team/a",
        &"a".repeat(40),
    ] {
        assert!(!is_login(name), "{name}");
    }
}

#[test]
fn each_rule_can_be_broken() -> Result<()> {
    let file = "observers-kubereel-observer.yaml";
    let text = read(file)?;
    let commands = read("observers-kubereel-commands.sh")?;
    for (what, by) in [
        ("  name: observers-kubereel", "  name: kubereel"),
        ("  name: observers-kubereel", "  name: Observers_kubereel"),
        ("  from: kubereel\n", ""),
        (
            "  from: kubereel\n",
            "  from: kubereel\n  from_image: {namespace: ci, name: kubereel, tag: latest}\n",
        ),
        ("  from: kubereel\n", "  from: kubereel\n  cli: latest\n"),
        (
            "  from: kubereel\n",
            "  from: kubereel\n  best_effort: true\n",
        ),
        ("-commands.sh", ".sh"),
        ("  timeout: 24h\n", ""),
        ("grace_period: 10m", "grace_period: 15s"),
        ("memory: 500Mi", "memory: 500"),
    ] {
        let broken = text.replace(what, by);
        ensure!(broken != text, "{what} is not there");
        ensure!(
            check(file, &broken, &commands, &folder()).is_err(),
            "{by} is taken"
        );
    }
    for (what, by) in [
        ("exec kubereel", "kubereel"),
        ("set -o errexit", "set -o xtrace"),
        ("--grace 10m", "--grace 1h"),
        ("exec ", "printenv\nexec "),
    ] {
        let broken = commands.replace(what, by);
        ensure!(broken != commands, "{what} is not there");
        ensure!(
            check(file, &text, &broken, &folder()).is_err(),
            "{by} is taken"
        );
    }
    ensure!(check("kubereel-observer.yaml", &text, &commands, &folder()).is_err());
    Ok(())
}
