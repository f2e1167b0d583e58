//! Owns what the cluster goes through while kubectl is asked: objects that come, change, go and come
//! back, of built-in kinds and of a custom one with numbers that are easily spoilt.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::Result;
use kubereel_tests::kubectl::Kubectl;
use kubereel_tests::recording::Awaited;

/// How often the cluster changes and is asked.
pub(crate) const ROUNDS: u32 = 4;

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
pub(crate) struct Life<'a> {
    kubectl: &'a Kubectl,
    kubeconfig: &'a Path,
    folder: PathBuf,
    words: AtomicU32,
}

impl<'a> Life<'a> {
    pub(crate) fn new(kubectl: &'a Kubectl, kubeconfig: &'a Path, folder: &Path) -> Self {
        Self {
            kubectl,
            kubeconfig,
            folder: folder.to_owned(),
            words: AtomicU32::new(0),
        }
    }

    /// Makes everything that is asked for.
    pub(crate) async fn define(&self) -> Result<()> {
        self.apply("definitions", DEFINITIONS).await?;
        let established = "--for=condition=Established";
        self.run(&["wait", established, "crd/widgets.example.io"])
            .await?;
        self.apply("objects", OBJECTS).await
    }

    /// Lets the next things happen.
    pub(crate) async fn go_on(&self, round: u32) -> Result<()> {
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
    pub(crate) async fn touch_all(&self) -> Result<Vec<Awaited>> {
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

    /// Gives a word that was not given before.
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
