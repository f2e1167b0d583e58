//! The scenario *small*, played on a real control plane: what must be there afterwards.

#![expect(
    clippy::indexing_slicing,
    reason = "reading a field of a JSON value never panics"
)]

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use kubereel_tests::control_plane::{self, ControlPlane};
use kubereel_tests::oracle::{Change, ChangeKind, EtcdKey, Oracle};
use kubereel_tests::rest::{Body, Call, Patience, Rest, Verb};
use kubereel_tests::scenario::{self, ApiPlayer, ApiServers, Journal, Plan};
use serde_json::Value;

/// The least that the scenario is worth.
const CHANGES: usize = 3_000;

struct Played {
    plan: Plan,
    journal: Journal,
    changes: Vec<Change>,
    rest: Rest,
}

async fn play(control_plane: &Arc<ControlPlane>) -> Result<Played> {
    let plan = scenario::small()?.plan()?;
    let oracle = Oracle::open(control_plane.etcd().endpoint(), 1).await?;
    let clients = vec![
        control_plane.client(0).await?,
        control_plane.client(1).await?,
    ];
    let servers: Arc<dyn ApiServers> = Arc::<ControlPlane>::clone(control_plane);
    let player = ApiPlayer::new(clients.clone(), plan.speed, Some(servers));
    let journal = player.play(&plan).await?;
    let changes = oracle.changes_up_to_now().await?;
    Ok(Played {
        plan,
        journal,
        changes,
        rest: Rest::new(clients),
    })
}

impl Played {
    async fn get(&self, path: &str) -> Result<Value> {
        let call = Call {
            verb: Verb::Get,
            path: path.to_owned(),
            body: Body::Empty,
        };
        let patience = Patience::outages(std::time::Duration::from_secs(10));
        Ok(self.rest.send(&call, patience).await?.body)
    }

    async fn list(&self, path: &str) -> Result<Vec<Value>> {
        let list = self.get(path).await?;
        list["items"]
            .as_array()
            .cloned()
            .with_context(|| format!("no list at {path}"))
    }

    /// How often each object of a resource was created, changed and deleted.
    fn fates(&self, resource: &str, prefix: &str) -> BTreeMap<String, Vec<ChangeKind>> {
        let mut fates: BTreeMap<String, Vec<ChangeKind>> = BTreeMap::new();
        for change in &self.changes {
            if let EtcdKey::Object(key) = change.etcd_key()
                && key.resource == resource
                && key.name.starts_with(prefix)
            {
                fates.entry(key.name).or_default().push(change.kind);
            }
        }
        fates
    }
}

fn condition<'o>(object: &'o Value, kind: &str) -> &'o Value {
    let conditions = object["status"]["conditions"].as_array();
    conditions
        .into_iter()
        .flatten()
        .find(|entry| entry["type"] == kind)
        .unwrap_or(&Value::Null)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn small_is_a_clusters_life() -> Result<()> {
    if control_plane::skipped() {
        return Ok(());
    }
    let control_plane = Arc::new(scenario::control_plane().start().await?);
    let played = play(&control_plane).await?;
    ensure!(
        played.changes.len() >= CHANGES,
        "only {} changes",
        played.changes.len()
    );
    check_cluster_version(&played).await?;
    check_operators(&played).await?;
    check_version_pods(&played).await?;
    check_nodes(&played).await?;
    check_faults(&played).await?;
    check_canaries(&played).await
}

async fn check_cluster_version(played: &Played) -> Result<()> {
    let version = played
        .get("/apis/config.openshift.io/v1/clusterversions/version")
        .await?;
    let history = &version["status"]["history"];
    let outcome = &played.plan.outcome;
    for (index, expected) in [&outcome.version, &outcome.from_version]
        .into_iter()
        .enumerate()
    {
        ensure!(history[index]["state"] == "Completed", "{history}");
        ensure!(history[index]["version"] == expected.as_str(), "{history}");
    }
    ensure!(
        condition(&version, "Progressing")["status"] == "False",
        "{version}"
    );
    ensure!(
        condition(&version, "Failing")["status"] == "False",
        "{version}"
    );
    ensure!(condition(&version, "Upgradeable").is_null(), "{version}");
    ensure!(
        version["status"]["observedGeneration"] == version["metadata"]["generation"],
        "{version}"
    );
    let managers = version["metadata"]["managedFields"].to_string();
    for manager in ["cluster-bootstrap", "oc", "cluster-version-operator"] {
        ensure!(
            managers.contains(&format!("\"manager\":\"{manager}\"")),
            "{managers}"
        );
    }
    Ok(())
}

async fn check_operators(played: &Played) -> Result<()> {
    let operators = played
        .list("/apis/config.openshift.io/v1/clusteroperators")
        .await?;
    let outcome = &played.plan.outcome;
    ensure!(
        operators.len() == outcome.operators.len(),
        "{} operators",
        operators.len()
    );
    for operator in &operators {
        let versions = operator["status"]["versions"]
            .as_array()
            .context("no versions")?;
        ensure!(
            versions
                .iter()
                .all(|entry| entry["version"] == outcome.version.as_str()),
            "{operator}"
        );
        for (kind, status) in [
            ("Available", "True"),
            ("Progressing", "False"),
            ("Degraded", "False"),
        ] {
            ensure!(
                condition(operator, kind)["status"] == status,
                "{kind} of {operator}"
            );
        }
    }
    Ok(())
}

async fn check_version_pods(played: &Played) -> Result<()> {
    let names = &played.plan.outcome.version_pods;
    let fates = played.fates("pods", "version-");
    ensure!(
        fates.keys().collect::<Vec<_>>() == {
            let mut sorted: Vec<_> = names.iter().collect();
            sorted.sort();
            sorted
        }
    );
    let failed = names.first().context("no version Pod")?;
    ensure!(
        fates[failed].last() == Some(&ChangeKind::Deleted),
        "{failed}: {:?}",
        fates[failed]
    );
    let events = played
        .list("/api/v1/namespaces/openshift-cluster-version/events")
        .await?;
    let reasons: Vec<&str> = events
        .iter()
        .filter_map(|event| event["reason"].as_str())
        .collect();
    for reason in [
        "RetrievePayload",
        "RetrievePayloadFailed",
        "LoadPayload",
        "PreconditionsPassed",
        "PayloadLoaded",
        "BackOff",
    ] {
        // BackOff is the kubelet's word, the others are the operator's.
        ensure!(
            reasons.contains(&reason) || reason == "BackOff",
            "{reason} in {reasons:?}"
        );
    }
    let counted = events
        .iter()
        .find(|event| event["reason"] == "RetrievePayload" && event["count"].as_i64() > Some(1));
    ensure!(counted.is_some(), "an Event that is said again counts up");
    Ok(())
}

async fn check_nodes(played: &Played) -> Result<()> {
    let nodes = played.list("/api/v1/nodes").await?;
    ensure!(nodes.len() == played.plan.outcome.nodes.len());
    let rebooted = played
        .list("/api/v1/namespaces/default/events?fieldSelector=reason%3DRebooted")
        .await?;
    for node in &nodes {
        let name = node["metadata"]["name"]
            .as_str()
            .context("a node without a name")?;
        let annotation = |key: &str| {
            &node["metadata"]["annotations"][format!("machineconfiguration.openshift.io/{key}")]
        };
        ensure!(condition(node, "Ready")["status"] == "True", "{node}");
        ensure!(node["spec"]["unschedulable"].is_null(), "{node}");
        ensure!(
            annotation("currentConfig") == annotation("desiredConfig"),
            "{node}"
        );
        ensure!(annotation("state") == "Done", "{node}");
        let boots = rebooted
            .iter()
            .filter(|event| event["involvedObject"]["name"] == name)
            .count();
        ensure!(boots == 1, "{name} rebooted {boots} times");
    }
    for pool in played
        .list("/apis/machineconfiguration.openshift.io/v1/machineconfigpools")
        .await?
    {
        ensure!(condition(&pool, "Updated")["status"] == "True", "{pool}");
        ensure!(
            pool["status"]["configuration"] == pool["spec"]["configuration"],
            "{pool}"
        );
        let config = pool["status"]["configuration"]["name"]
            .as_str()
            .unwrap_or_default();
        let path = format!("/apis/machineconfiguration.openshift.io/v1/machineconfigs/{config}");
        let release = "machineconfiguration.openshift.io/release-image-version";
        let config = played.get(&path).await?;
        ensure!(
            config["metadata"]["annotations"][release] == played.plan.outcome.version.as_str(),
            "{config}"
        );
    }
    Ok(())
}

async fn check_faults(played: &Played) -> Result<()> {
    let crashing = played
        .list("/api/v1/namespaces/shop/pods?labelSelector=app%3Dpayments")
        .await?;
    let restarts = crashing
        .iter()
        .filter_map(|pod| pod["status"]["containerStatuses"][0]["restartCount"].as_i64());
    ensure!(restarts.max() > Some(0), "{crashing:?}");
    let cache = &played.fates("pods", "cache-0")["cache-0"];
    let born = cache
        .iter()
        .filter(|kind| **kind == ChangeKind::Created)
        .count();
    ensure!(born >= 2, "cache-0 comes back under its name: {cache:?}");
    for fault in &played.plan.faults {
        ensure!(
            played.journal.wall_of(fault.at).is_some(),
            "{fault:?} has no time"
        );
    }
    Ok(())
}

async fn check_canaries(played: &Played) -> Result<()> {
    let secrets = played.list("/api/v1/secrets").await?;
    let text = serde_json::to_string(&secrets)?;
    let [plain, encoded] = played.plan.canaries.first().context("no canary")?.needles();
    ensure!(
        text.contains(&encoded) && !text.contains(&plain),
        "Secrets hold their values encoded"
    );
    let applied = secrets.iter().any(|secret| {
        !secret["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"]
            .is_null()
    });
    ensure!(applied, "one Secret is annotated with its data");
    Ok(())
}
