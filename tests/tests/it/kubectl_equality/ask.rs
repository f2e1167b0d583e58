//! Owns the questions that kubectl is asked, and the resourceVersion that each answer is from.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use kube::Client;
use kubereel_tests::kubectl::Kubectl;
use serde_json::Value;

/// A busy cluster is asked again for so long.
const PATIENCE: Duration = Duration::from_mins(1);

/// A question in kubectl's words, and the list that its answer is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ask {
    pub(crate) words: &'static [&'static str],
    pub(crate) path: &'static str,
    /// Whether every kubectl of the machine is asked.
    pub(crate) is_for_all: bool,
}

const PODS: &str = "/api/v1/pods";
const CONFIG_MAPS: &str = "/api/v1/configmaps";
const DEPLOYMENTS: &str = "/apis/apps/v1/deployments";
const WIDGETS: &str = "/apis/example.io/v1/widgets";

/// Lists, single objects, several names, selectors, other spellings, cluster-scoped, custom.
pub(crate) const ASKS: [Ask; 17] = [
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
pub(crate) struct Answer {
    pub(crate) ask: Ask,
    pub(crate) rv: u128,
    pub(crate) said: String,
}

/// Asks kubectl between two looks at the list, until nothing changed in between.
///
/// kubectl leaves the list's resourceVersion out of what it prints.
pub(crate) async fn ask(
    client: &Client,
    kubectl: &Kubectl,
    kubeconfig: &Path,
    ask: Ask,
) -> Result<Answer> {
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

/// Gives a list's resourceVersion and those of its items, with their uids.
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
