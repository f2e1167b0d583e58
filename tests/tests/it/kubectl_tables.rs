//! The tables that kubectl prints of a real control plane, `kubereel get` prints afterwards of the
//! reel, byte for byte: every kind with columns of its own, and custom ones.
//!
//! The questions that kubectl is asked, and the span of time in which each was answered.
//!
//! The objects of which tables are printed, and their way into the API: what is made, what its
//! status says, what is deleted and held. It does not run anything: no kubelet and no controller
//! changes them.

use anyhow::{Context as _, Result, bail, ensure};
use http::Method;
use jiff::{SignedDuration, Timestamp};
use kube::Client;
use kubereel_tests::control_plane::{self, ControlPlane};
use kubereel_tests::kubectl::Kubectl;
use kubereel_tests::recording::{Awaited, Recording, arrived, program};
use kubereel_tests::rest;
use kubereel_tests::skipped::say_skipped;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// How long anything that is sure to come may take on a busy machine.
const SURE: Duration = Duration::from_mins(2);

/// What the objects are there for; a table without them would compare nothing.
const WANTED: [&str; 24] = [
    "CrashLoopBackOff",
    "ErrImagePull",
    "Init:1/2",
    "Init:CrashLoopBackOff",
    "Init:Signal:15",
    "ExitCode:3",
    "Signal:9",
    "Evicted",
    "SchedulingGated",
    "Terminating",
    "Unknown",
    "NotReady",
    " ago)",
    "Ready,SchedulingDisabled",
    "control-plane,infra,worker",
    "80:30080/TCP,443:30443/TCP",
    "<pending>",
    "far.example.com",
    "1 of 3",
    "FailureTarget",
    "SuccessCriteriaMet",
    "Suspended",
    "first line...",
    "^[[31mred",
];

#[tokio::test(flavor = "multi_thread")]
async fn get_prints_kubectls_tables() -> Result<()> {
    if control_plane::skipped() {
        return Ok(());
    }
    let kubectls = Kubectl::all()?;
    let Some((kubectl, others)) = kubectls.split_first() else {
        say_skipped("no kubectl on PATH");
        return Ok(());
    };
    let control_plane = ControlPlane::builder().start().await?;
    let kubeconfig = control_plane.kubeconfig(0);
    let folder = tempfile::tempdir()?;
    let reel = folder.path().join("run.reel");
    let recording = Recording::start(&reel, kubeconfig, &[])?;
    let stage = Stage::new(control_plane.client(0).await?, SURE);
    stage.set().await?;
    arrived(&recording, &stage.versions().await?, SURE).await?;

    let mut answers = Vec::new();
    for words in ASKS {
        answers.push(ask(kubectl, kubeconfig, words).await?);
    }
    for other in others {
        answers.push(ask(other, kubeconfig, ASK_FOR_ALL).await?);
    }
    let ended = recording.finish(SURE)?;
    ensure!(ended.status.success(), "the recorder: {}", ended.log);

    let lines: Vec<String> = answers
        .iter()
        .flat_map(|answer| answer.said.lines().map(str::to_owned))
        .collect();
    check(&lines, &WANTED)?;
    let program = program()?;
    let differences: Vec<String> = answers
        .iter()
        .map(|answer| difference(&program, &reel, answer))
        .filter_map(Result::transpose)
        .collect::<Result<_>>()?;
    ensure!(differences.is_empty(), "{}", differences.join("\n\n"));
    Ok(())
}

/// Asks the reel what kubectl was asked, and says where it says otherwise.
fn difference(program: &Path, reel: &Path, answer: &Answer) -> Result<Option<String>> {
    let mut tables = Vec::new();
    for at in moments(answer.from, answer.to) {
        let table = get(program, reel, answer.words, at)?;
        if table == answer.said {
            return Ok(None);
        }
        tables.push(table);
    }
    // The server may have reached the next second between two rows.
    let mut said = answer.said.lines().enumerate();
    let other = said.find(|(at, line)| {
        tables
            .iter()
            .all(|table| table.lines().nth(*at) != Some(*line))
    });
    let first = tables.first().context("a moment")?;
    if other.is_none() && first.lines().count() == answer.said.lines().count() {
        return Ok(None);
    }
    let line = other.map_or_else(String::new, |(at, line)| {
        let ours = first.lines().nth(at).unwrap_or_default();
        format!("line {}\nkubectl:  {line:?}\nkubereel: {ours:?}\n", at + 1)
    });
    let (by, words) = (answer.by.display(), answer.words.join(" "));
    Ok(Some(format!(
        "{by} get {words}: {line}{}\n-- or --\n{first}",
        answer.said
    )))
}

fn get(program: &Path, reel: &Path, words: &[&str], at: Timestamp) -> Result<String> {
    let output = Command::new(program)
        .arg("get")
        .arg(reel)
        .args(words)
        .args(["--at", &at.to_string()])
        .output()?;
    if !output.status.success() {
        let about = String::from_utf8_lossy(&output.stderr);
        bail!("get {} --at {at}: {about}", words.join(" "));
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Questions in kubectl's words.
pub(crate) const ASKS: &[&[&str]] = &[
    &["pods", "-A"],
    &["pods", "-A", "-o", "wide"],
    &["po", "-n", "shop"],
    &["pods", "-n", "shop", "running", "crash-loop", "-o", "wide"],
    &["pods", "-n", "shop", "-L", "app,example.io/tier"],
    &["pod/new", "-n", "shop-2", "--no-headers"],
    &["nodes"],
    &["no", "-o", "wide"],
    &["node/node-3", "-o", "wide", "--show-labels"],
    &["services", "-A"],
    &["svc", "-A", "-o", "wide"],
    &["svc", "-n", "shop", "--show-labels", "-L", "app"],
    &["deployments", "-A"],
    &["deploy", "-A", "-o", "wide"],
    &[
        "deployments.apps",
        "-n",
        "shop-2",
        "--no-headers",
        "-o",
        "wide",
    ],
    &["replicasets", "-A"],
    &["rs", "-A", "-o", "wide"],
    &["rs", "-n", "shop"],
    &["jobs", "-A"],
    &["jobs", "-A", "-o", "wide"],
    &["job", "-n", "shop", "-l", "!absent"],
    &["events", "-A"],
    &["ev", "-A", "-o", "wide"],
    &["events", "-n", "shop"],
    &["events", "-n", "shop-2", "--no-headers"],
    &["namespaces"],
    &["ns", "-o", "wide", "--show-labels"],
    &["leases", "-n", "shop"],
    &["leases", "-n", "shop-2", "-o", "wide"],
    &["gadgets", "-A"],
    &["gd", "-A", "-o", "wide"],
    &["gadget", "-n", "shop", "empty", "full"],
    &["gauges", "-A", "-o", "wide"],
    &["dials"],
    &["serviceaccounts", "-A"],
    &["sts,ds,rc,cj", "-A"],
    &["statefulsets", "-A", "-o", "wide"],
    &["ds", "-A", "-o", "wide"],
    &["rc", "-A", "-o", "wide"],
    &["cronjobs", "-A", "-o", "wide"],
    &["cm", "-n", "shop"],
    &["pdb", "-A"],
    &["pv"],
    &["pv", "-o", "wide"],
    &["pvc", "-A", "-o", "wide"],
    &["clusterroles"],
    &["roles,rolebindings", "-A", "-o", "wide"],
    &["clusterrolebindings", "-o", "wide"],
    &["endpointslices", "-A"],
    &["endpoints", "-A"],
    &["limits", "-A"],
    &["crds"],
    &["validatingwebhookconfigurations"],
    &["apiservices"],
    &["ingressclasses"],
    &["ing", "-A"],
    &["ing", "-A", "-o", "wide"],
    &["hpa", "-A"],
    &["quota", "-A"],
    &["pc"],
    &["controllerrevisions", "-n", "shop"],
    &["pods,nodes", "-n", "shop"],
    &["all", "-n", "shop"],
    &["all", "-A", "-o", "wide"],
    &["svc,deploy", "-A", "-o", "name"],
    &["node/node-3", "ns/shop"],
    &["pods", "-n", "shop", "absent", "--ignore-not-found"],
    &["pods", "-A", "--sort-by=.metadata.name"],
    &["pods", "-A", "--field-selector=status.phase=Running"],
    &[
        "pods",
        "-A",
        "--field-selector",
        "spec.nodeName!=node-3",
        "-o",
        "name",
    ],
    &["pods", "-A", "-o", "jsonpath={.items[*].metadata.name}"],
    &["ns", "shop", "-o", "jsonpath={.metadata.name}{\"\\n\"}"],
    &[
        "pods",
        "-A",
        "-o",
        "jsonpath={range .items[*]}{.metadata.namespace}{\"\\t\"}{.status.phase}{\"\\n\"}{end}",
    ],
    &[
        "pods",
        "-A",
        "-o",
        "jsonpath={.items[?(@.status.phase==\"Running\")].metadata.name}",
    ],
    &["no", "-o", "jsonpath={.items[0].metadata.labels}"],
    &[
        "pods",
        "-A",
        "-o",
        "custom-columns=NAME:.metadata.name,NODE:.spec.nodeName,IMAGES:.spec.containers[*].image",
    ],
    &[
        "svc",
        "-A",
        "-o",
        "custom-columns=N:metadata.name,P:{.spec.ports[0].port}",
        "--no-headers",
    ],
];

/// What every kubectl of the machine is asked: much that a terminal or a line could stumble over.
pub(crate) const ASK_FOR_ALL: &[&str] = &["gd", "-A", "-o", "wide"];

/// What kubectl said, and when it was asked and had answered.
#[derive(Debug)]
pub(crate) struct Answer {
    /// By which kubectl.
    pub(crate) by: PathBuf,
    pub(crate) words: &'static [&'static str],
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
    pub(crate) said: String,
}

/// Asks kubectl.
pub(crate) async fn ask(
    kubectl: &Kubectl,
    kubeconfig: &Path,
    words: &'static [&'static str],
) -> Result<Answer> {
    let mut args = vec!["get"];
    args.extend(words);
    let from = rest::now();
    let said = kubectl.run(kubeconfig, &args).await?;
    let to = rest::now();
    Ok(Answer {
        by: kubectl.program().to_owned(),
        words,
        from,
        to,
        said,
    })
}

/// Returns a moment of each second in which kubectl may have been answered, the last first: within a
/// second only cells of the server's own Events change, and most of kubectl's time is before the
/// server's.
pub(crate) fn moments(from: Timestamp, to: Timestamp) -> Vec<Timestamp> {
    let seconds = from.as_second() + 1..=to.as_second();
    let starts = seconds.filter_map(|second| Timestamp::from_second(second).ok());
    let ends = [from].into_iter().chain(starts).chain([to]);
    let mut moments: Vec<Timestamp> = ends.collect();
    moments.reverse();
    moments
}

/// Objects in the order in which they are made.
const MANIFESTS: [&str; 7] = [
    include_str!("kubectl_tables/objects/cluster.yaml"),
    include_str!("kubectl_tables/objects/services.yaml"),
    include_str!("kubectl_tables/objects/workloads.yaml"),
    include_str!("kubectl_tables/objects/pods.yaml"),
    include_str!("kubectl_tables/objects/events.yaml"),
    include_str!("kubectl_tables/objects/custom.yaml"),
    include_str!("kubectl_tables/objects/more.yaml"),
];

/// What is asked for of these is waited for.
const LISTS: [(&str, &str); 29] = [
    ("pods", "/api/v1/pods"),
    ("nodes", "/api/v1/nodes"),
    ("services", "/api/v1/services"),
    ("serviceaccounts", "/api/v1/serviceaccounts"),
    ("namespaces", "/api/v1/namespaces"),
    ("events", "/api/v1/events"),
    ("deployments.apps", "/apis/apps/v1/deployments"),
    ("replicasets.apps", "/apis/apps/v1/replicasets"),
    ("statefulsets.apps", "/apis/apps/v1/statefulsets"),
    ("daemonsets.apps", "/apis/apps/v1/daemonsets"),
    ("replicationcontrollers", "/api/v1/replicationcontrollers"),
    ("cronjobs.batch", "/apis/batch/v1/cronjobs"),
    ("configmaps", "/api/v1/configmaps"),
    ("limitranges", "/api/v1/limitranges"),
    (
        "validatingwebhookconfigurations.admissionregistration.k8s.io",
        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    ),
    (
        "poddisruptionbudgets.policy",
        "/apis/policy/v1/poddisruptionbudgets",
    ),
    ("persistentvolumes", "/api/v1/persistentvolumes"),
    ("persistentvolumeclaims", "/api/v1/persistentvolumeclaims"),
    ("jobs.batch", "/apis/batch/v1/jobs"),
    (
        "ingressclasses.networking.k8s.io",
        "/apis/networking.k8s.io/v1/ingressclasses",
    ),
    (
        "ingresses.networking.k8s.io",
        "/apis/networking.k8s.io/v1/ingresses",
    ),
    (
        "horizontalpodautoscalers.autoscaling",
        "/apis/autoscaling/v2/horizontalpodautoscalers",
    ),
    ("resourcequotas", "/api/v1/resourcequotas"),
    (
        "priorityclasses.scheduling.k8s.io",
        "/apis/scheduling.k8s.io/v1/priorityclasses",
    ),
    (
        "controllerrevisions.apps",
        "/apis/apps/v1/controllerrevisions",
    ),
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

    /// Makes all objects; times in them are relative to now.
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
        let kind = text("/kind").context("no kind")?.to_lowercase();
        let plural = if kind.ends_with('s') {
            kind + "es"
        } else {
            kind + "s"
        };
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
