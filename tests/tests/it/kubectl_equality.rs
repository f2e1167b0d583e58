//! What kubectl said during a recording, `kubereel get` says afterwards: the same bytes for the same
//! resourceVersion, while a real control plane went through changes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use kube::Client;
use kubereel_tests::control_plane::{self, ControlPlane};
use kubereel_tests::kubectl::Kubectl;
use kubereel_tests::recording::{Awaited, Recording, arrived, program};
use kubereel_tests::skipped::say_skipped;
use serde_json::Value;

/// How long anything that is sure to come may take on a busy machine.
const SURE: Duration = Duration::from_mins(2);

#[tokio::test(flavor = "multi_thread")]
async fn get_says_what_kubectl_said() -> Result<()> {
    if control_plane::skipped() {
        return Ok(());
    }
    let kubectls = Kubectl::all()?;
    let Some(kubectl) = kubectls.first() else {
        say_skipped("no kubectl on PATH");
        return Ok(());
    };
    let control_plane = ControlPlane::builder().controllers(true).start().await?;
    let kubeconfig = control_plane.kubeconfig(0);
    let folder = tempfile::tempdir()?;
    let reel = folder.path().join("run.reel");
    let recording = Recording::start(&reel, kubeconfig, &[])?;
    let life = Life::new(kubectl, kubeconfig, folder.path());
    life.define().await?;
    // The recorder has the first answers' versions behind its first list.
    arrived(&recording, &life.touch_all().await?, SURE).await?;

    let client = control_plane.client(0).await?;
    let mut answers = Vec::new();
    for round in 0..ROUNDS {
        life.go_on(round).await?;
        for one in ASKS {
            answers.push(ask(&client, kubectl, kubeconfig, one).await?);
        }
    }
    // Each kubectl prints the same; the others are asked a little only, a run of one takes long.
    for other in kubectls.iter().skip(1) {
        for one in ASKS.into_iter().filter(|one| one.is_for_all) {
            answers.push(ask(&client, other, kubeconfig, one).await?);
        }
    }
    arrived(&recording, &life.touch_all().await?, SURE).await?;
    let ended = recording.finish(SURE)?;
    ensure!(ended.status.success(), "the recorder: {}", ended.log);

    compare(&reel, &answers)
}

/// Asks the reel what kubectl was asked.
fn compare(reel: &Path, answers: &[Answer]) -> Result<()> {
    let program = program()?;
    let mut told = BTreeSet::new();
    for answer in answers {
        let output = Command::new(&program)
            .arg("get")
            .arg(reel)
            .args(answer.ask.words)
            .args(["-o", "json", "--at", &format!("rv:{}", answer.rv)])
            .output()?;
        let said = String::from_utf8(output.stdout)?;
        let about = String::from_utf8_lossy(&output.stderr);
        let what = format!(
            "get {} at rv {}: {about}",
            answer.ask.words.join(" "),
            answer.rv
        );
        ensure!(output.status.success(), "{what}");
        // Values of ConfigMaps and copies of what was applied are not recorded: there, and only there, a
        // mark stands.
        let (expected, told_of) = (hide_values(&answer.said), hide_values(&said));
        if expected != told_of {
            bail!("{what}\n{}", first_difference(&expected, &told_of));
        }
        // A few values of ConfigMaps are public, and kept.
        let (theirs, ours) = (values(&answer.said), values(&said));
        let are_right = theirs
            .iter()
            .zip(&ours)
            .all(|(theirs, ours)| theirs == ours || ours.starts_with("\"redacted by kubereel: "));
        ensure!(
            are_right && theirs.len() == ours.len(),
            "{what}\na value is neither kubectl's nor a mark: {ours:?}"
        );
        told.insert((answer.ask.words, said));
    }
    // Else nothing of the past was asked.
    for one in ASKS {
        let different = told.iter().filter(|(words, _)| *words == one.words).count();
        ensure!(different > 1, "{:?} has one answer only", one.words);
    }
    Ok(())
}

/// The line of the annotation with an object as it was last applied begins so.
const LAST_APPLIED: &str = "\"kubectl.kubernetes.io/last-applied-configuration\": ";

/// Splits a line of `data` into what names the value and the value.
fn named_value(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once("\": ")?;
    Some((name, value.strip_suffix(',').unwrap_or(value)))
}

/// Returns the lines of indented JSON, each with whether it is a value in `data`.
fn lines_of_data(text: &str) -> Vec<(&str, bool)> {
    let mut is_inside = false;
    text.lines()
        .map(|line| {
            let begins = line.trim() == "\"data\": {";
            is_inside &= !line.trim_start().starts_with('}');
            // kubectl's copy of an object is not recorded either, of any kind.
            let is_copy = line.trim_start().starts_with(LAST_APPLIED);
            let is_value = is_inside || is_copy;
            is_inside |= begins;
            (line, is_value)
        })
        .collect()
}

/// Returns the values of `data`.
fn values(text: &str) -> Vec<&str> {
    let lines = lines_of_data(text).into_iter();
    let of_data = lines.filter(|(_, is_value)| *is_value);
    of_data
        .filter_map(|(line, _)| Some(named_value(line)?.1))
        .collect()
}

/// Puts the same in the place of every value of `data`.
fn hide_values(text: &str) -> String {
    let mut hidden = String::new();
    for (line, is_value) in lines_of_data(text) {
        match named_value(line).filter(|_| is_value) {
            Some((name, _)) => hidden.push_str(name),
            None => hidden.push_str(line),
        }
        hidden.push('\n');
    }
    hidden
}

fn first_difference(expected: &str, found: &str) -> String {
    let mut pairs = (1..).zip(expected.lines().zip(found.lines()));
    pairs.find(|(_, (a, b))| a != b).map_or_else(
        || {
            format!(
                "{} bytes of kubectl, {} of kubereel",
                expected.len(),
                found.len()
            )
        },
        |(line, (a, b))| format!("line {line}\nkubectl:  {a}\nkubereel: {b}"),
    )
}

/// A busy cluster is asked again for so long.
const PATIENCE: Duration = Duration::from_mins(1);

/// A question in kubectl's words, and the list that its answer is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ask {
    words: &'static [&'static str],
    path: &'static str,
    /// Whether every kubectl of the machine is asked.
    is_for_all: bool,
}

const PODS: &str = "/api/v1/pods";
const CONFIG_MAPS: &str = "/api/v1/configmaps";
const DEPLOYMENTS: &str = "/apis/apps/v1/deployments";
const WIDGETS: &str = "/apis/example.io/v1/widgets";

/// Lists, single objects, several names, selectors, other spellings, cluster-scoped, custom.
const ASKS: [Ask; 17] = [
    by_all(&["pods", "-A"], PODS),
    by_one(&["po", "-n", "shop", "-l", "app in (web,db)"], PODS),
    by_one(&["configmaps", "--all-namespaces"], CONFIG_MAPS),
    by_all(&["cm", "zoo", "ant"], CONFIG_MAPS),
    by_one(&["cm/zoo"], CONFIG_MAPS),
    by_one(&["ConfigMap", "-l", "round!=0,!hidden"], CONFIG_MAPS),
    by_one(&["cm/zoo", "--show-managed-fields"], CONFIG_MAPS),
    by_one(&["deployments.apps", "-n", "shop"], DEPLOYMENTS),
    by_one(&["deployment.v1.apps/web", "-n", "shop"], DEPLOYMENTS),
    by_one(&["rs", "-A"], "/apis/apps/v1/replicasets"),
    by_one(&["events", "-A"], "/api/v1/events"),
    by_one(&["ns"], "/api/v1/namespaces"),
    by_one(&["sa", "-A"], "/api/v1/serviceaccounts"),
    by_one(
        &["clusterroles"],
        "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    ),
    by_one(
        &["crd/widgets.example.io"],
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    ),
    by_one(&["widgets", "-A"], WIDGETS),
    by_all(&["wd/odd"], WIDGETS),
];

const fn by_one(words: &'static [&'static str], path: &'static str) -> Ask {
    Ask {
        words,
        path,
        is_for_all: false,
    }
}

const fn by_all(words: &'static [&'static str], path: &'static str) -> Ask {
    Ask {
        words,
        path,
        is_for_all: true,
    }
}

/// What kubectl said, and the resourceVersion of the list that it said it of.
#[derive(Debug)]
struct Answer {
    ask: Ask,
    rv: u128,
    said: String,
}

/// Asks kubectl between two looks at the list, until nothing changed in between.
///
/// kubectl leaves the list's resourceVersion out of what it prints.
async fn ask(client: &Client, kubectl: &Kubectl, kubeconfig: &Path, ask: Ask) -> Result<Answer> {
    let deadline = Instant::now() + PATIENCE;
    let mut words = vec!["get"];
    words.extend(ask.words);
    words.extend(["-o", "json"]);
    loop {
        let (rv, before) = look(client, ask.path).await?;
        let said = kubectl.run(kubeconfig, &words).await?;
        let (_, after) = look(client, ask.path).await?;
        if before == after {
            return Ok(Answer { ask, rv, said });
        }
        if Instant::now() >= deadline {
            bail!("{} does not hold still", ask.path);
        }
    }
}

/// Returns a list's resourceVersion and those of its items, with their uids.
async fn look(client: &Client, path: &str) -> Result<(u128, BTreeSet<(String, String)>)> {
    let raw = client
        .request_text(http::Request::get(path).body(Vec::new())?)
        .await?;
    let list: Value = serde_json::from_str(&raw)?;
    let text = |value: &Value, pointer: &str| {
        let text = value.pointer(pointer).and_then(Value::as_str);
        text.map(str::to_owned)
            .with_context(|| format!("no {pointer} in {path}"))
    };
    let rv = text(&list, "/metadata/resourceVersion")?.parse()?;
    let items = list.pointer("/items").and_then(Value::as_array);
    let items = items.into_iter().flatten().map(|item| {
        let uid = text(item, "/metadata/uid")?;
        Ok((uid, text(item, "/metadata/resourceVersion")?))
    });
    Ok((rv, items.collect::<Result<_>>()?))
}

/// How often the cluster changes and is asked.
const ROUNDS: u32 = 4;

/// Every resource that is asked for, and a command that changes one of its objects.
const TOUCHED: [(&str, &[&str]); 10] = [
    ("pods", &["pod/still", "-n", "shop"]),
    ("configmaps", &["cm/zoo"]),
    ("deployments.apps", &["deployment/web", "-n", "shop"]),
    ("replicasets.apps", &["rs/still", "-n", "shop"]),
    ("events", &["event/still", "-n", "shop"]),
    ("namespaces", &["ns/shop"]),
    ("serviceaccounts", &["sa/still", "-n", "shop"]),
    (
        "clusterroles.rbac.authorization.k8s.io",
        &["clusterrole/still"],
    ),
    (
        "customresourcedefinitions.apiextensions.k8s.io",
        &["crd/widgets.example.io"],
    ),
    ("widgets.example.io", &["widget/odd"]),
];

const DEFINITIONS: &str = r"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.io}
spec:
  group: example.io
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd]}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop-2}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: still}
rules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]
";

const OBJECTS: &str = r#"
apiVersion: v1
kind: ServiceAccount
metadata: {name: still, namespace: shop}
---
apiVersion: v1
kind: Event
metadata: {name: still, namespace: shop}
involvedObject: {kind: Pod, name: still, namespace: shop}
reason: Still
message: "said <once> & for all"
type: Normal
---
apiVersion: v1
kind: Pod
metadata: {name: still, namespace: shop, labels: {app: db}}
spec: {serviceAccountName: still, automountServiceAccountToken: false, containers: [{name: a, image: example.io/a}]}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: still, namespace: shop}
spec:
  replicas: 0
  selector: {matchLabels: {app: still}}
  template:
    metadata: {labels: {app: still}}
    spec: {serviceAccountName: still, automountServiceAccountToken: false, containers: [{name: a, image: example.io/a}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {serviceAccountName: still, automountServiceAccountToken: false, containers: [{name: a, image: example.io/a}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: zoo, namespace: default, labels: {round: "0"}, annotations: {text: "a\tb\nc <d> & é 😀 \u2028 \u0001\n"}}
data: {text: "a\tb\nc <d> & é 😀 \u2028 \u0001\n", yes: "no"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: ant, namespace: default}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: ant, namespace: shop-2, labels: {hidden: ""}}
---
apiVersion: example.io/v1
kind: Widget
metadata: {name: odd, namespace: default}
spec: {a: 1.0, b: 1e3, c: 1.5e-10, d: 12345678901234567890, e: 0.1, f: -0.0, g: 1e21, h: [], i: {}, j: null, k: 1e-7, l: 9007199254740993}
"#;

/// The cluster's life, by kubectl.
struct Life<'a> {
    kubectl: &'a Kubectl,
    kubeconfig: &'a Path,
    folder: PathBuf,
    words: AtomicU32,
}

impl<'a> Life<'a> {
    fn new(kubectl: &'a Kubectl, kubeconfig: &'a Path, folder: &Path) -> Self {
        Self {
            kubectl,
            kubeconfig,
            folder: folder.to_owned(),
            words: AtomicU32::new(0),
        }
    }

    /// Makes everything that is asked for.
    async fn define(&self) -> Result<()> {
        self.apply("definitions", DEFINITIONS).await?;
        let established = "--for=condition=Established";
        self.run(&["wait", established, "crd/widgets.example.io"])
            .await?;
        self.apply("objects", OBJECTS).await
    }

    /// Lets the next things happen.
    async fn go_on(&self, round: u32) -> Result<()> {
        let label = format!("round={round}");
        self.run(&["label", "--overwrite", "cm/zoo", &label])
            .await?;
        let data = format!(r#"{{"data":{{"round":"{round}"}}}}"#);
        self.run(&["patch", "cm/ant", "--type=merge", "-p", &data])
            .await?;
        let replicas = format!("--replicas={}", round % 3);
        self.run(&["scale", "-n", "shop", "deployment/web", &replicas])
            .await?;
        let spec = format!(r#"{{"spec":{{"round":{round}.5}}}}"#);
        self.run(&["patch", "widget/odd", "--type=merge", "-p", &spec])
            .await?;
        let extra = format!("extra-{round}");
        self.run(&["create", "serviceaccount", &extra]).await?;
        self.run(&["create", "namespace", &extra]).await?;
        self.run(&[
            "create",
            "clusterrole",
            &extra,
            "--verb=get",
            "--resource=pods",
        ])
        .await?;
        if round == 2 {
            // The same name, another object.
            self.run(&["delete", "cm/zoo"]).await?;
            self.apply("objects", OBJECTS).await?;
            self.run(&["delete", "clusterrole/extra-0"]).await?;
        }
        self.touch_all().await.map(drop)
    }

    /// Changes an object of every resource; says which resourceVersions that gave.
    async fn touch_all(&self) -> Result<Vec<Awaited>> {
        let mut touched = Vec::new();
        for (resource, object) in TOUCHED {
            let mut words = vec!["annotate", "--overwrite"];
            words.extend(object);
            let stamp = format!("kubereel.test/touched={}", self.next());
            words.push(&stamp);
            words.push("-o=jsonpath={.metadata.resourceVersion}");
            let rv = self.run(&words).await?.trim().parse()?;
            let resource = resource.to_owned();
            touched.push(Awaited {
                resource,
                rv,
                is_exact: true,
            });
        }
        Ok(touched)
    }

    /// Returns a word that was not given before.
    fn next(&self) -> String {
        self.words.fetch_add(1, Ordering::Relaxed).to_string()
    }

    async fn apply(&self, name: &str, manifests: &str) -> Result<()> {
        let path = self.folder.join(name).with_extension("yaml");
        std::fs::write(&path, manifests)?;
        let path = path.to_string_lossy();
        self.run(&["apply", "-f", &path]).await.map(drop)
    }

    async fn run(&self, words: &[&str]) -> Result<String> {
        self.kubectl.run(self.kubeconfig, words).await
    }
}
