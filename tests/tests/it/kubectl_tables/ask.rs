//! Owns the questions that kubectl is asked, and the span of time in which each was answered.

use std::path::{Path, PathBuf};

use anyhow::Result;
use jiff::Timestamp;
use kubereel_tests::kubectl::Kubectl;
use kubereel_tests::rest;

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

impl Answer {
    /// Gives a moment of each second in which it may have been answered, the last first: within a
    /// second no cell changes, and most of kubectl's time is before the server's.
    pub(crate) fn moments(&self) -> Vec<Timestamp> {
        let seconds = self.from.as_second() + 1..=self.to.as_second();
        let starts = seconds.filter_map(|second| Timestamp::from_second(second).ok());
        let mut moments: Vec<Timestamp> = [self.from].into_iter().chain(starts).collect();
        moments.reverse();
        moments
    }
}
