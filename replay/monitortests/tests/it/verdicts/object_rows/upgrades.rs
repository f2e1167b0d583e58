//! What an upgrade must not do, and how long it may take.

use crate::verdicts::fixture::Fixture;
use crate::verdicts::reel::Reel;
use kubereel_monitortests::CaseVerdict;
use serde_json::{Value, json};

/// The version operator suspects operators at 10:40.
fn suspects(words: &str) -> Reel {
    Reel::cluster()
        .at("10:05:00")
        .upgrade_begins("5.1.0")
        .at("10:40:00")
        .version_says("Failing", "Unknown", "SlowClusterOperator", words)
        .at("11:00:00")
        .version_says("Failing", "False", "", "")
        .upgrade_ends()
        .until("11:10:00")
}

/// A node that tells at 10:05 that it begins to update its system, and later that it staged it.
fn staged(at: &str) -> Reel {
    Reel::cluster()
        .at("10:05:00")
        .event("Node", "worker-0", "OSUpdateStarted", "begins")
        .at(at)
        .event("Node", "worker-0", "OSUpdateStaged", "staged")
        .until("10:40:00")
}

/// A node that goes away in an upgrade, and perhaps after it.
fn goes_away(is_again: bool) -> Reel {
    let once = Reel::cluster()
        .at("10:05:00")
        .upgrade_begins("5.1.0")
        .at("10:10:00")
        .node_ready("worker-0", false)
        .at("10:12:00")
        .node_ready("worker-0", true)
        .at("10:20:00")
        .upgrade_ends();
    let reel = if is_again {
        once.at("10:30:00")
            .node_ready("worker-0", false)
            .at("10:31:00")
            .node_ready("worker-0", true)
    } else {
        once
    };
    reel.until("11:00:00")
}

fn definition(versions: &[(&str, bool)]) -> Value {
    let versions: Vec<_> = versions
        .iter()
        .map(|(name, storage)| json!({"name": name, "storage": storage, "served": true}))
        .collect();
    json!({
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "oxen.a.example.org"},
        "spec": {"group": "a.example.org", "versions": versions},
    })
}

fn gains_version(is_stored: bool) -> Reel {
    Reel::cluster()
        .put(definition(&[("v1", true)]))
        .at("10:05:00")
        .put(definition(&[("v1", !is_stored), ("v2", is_stored)]))
}

fn stateful_set(is_new: bool) -> Reel {
    let set = json!({
        "kind": "StatefulSet",
        "metadata": {"namespace": "openshift-monitoring", "name": "prometheus-k8s"},
    });
    let reel = Reel::cluster()
        .put(set.clone())
        .at("10:05:00")
        .upgrade_begins("5.1.0")
        .at("10:10:00");
    let reel = if is_new {
        reel.gone("StatefulSet", "openshift-monitoring/prometheus-k8s")
            .at("10:11:00")
            .put(set)
    } else {
        let more = json!({"metadata": {"labels": {"new": "yes"}}});
        reel.change("StatefulSet", "openshift-monitoring/prometheus-k8s", more)
    };
    reel.at("10:20:00").upgrade_ends().until("10:30:00")
}

pub fn fixtures() -> Vec<Fixture> {
    let mut all = of_operators_and_nodes();
    all.extend([
        Fixture {
            id: "crd-new-version-not-stored",
            case: "[sig-api-machinery] CRDs with new API versions should not change storage version immediately",
            bad: || gains_version(true),
            verdict: CaseVerdict::Fail,
            at: "10:05:00",
            says: "v2 of oxen.a.example.org",
            good: || gains_version(false),
        },
        Fixture {
            id: "monitoring-statefulsets-not-recreated",
            case: "[sig-instrumentation] Monitoring statefulsets are not recreated after upgrade",
            bad: || stateful_set(true),
            verdict: CaseVerdict::Fail,
            at: "10:11:00",
            says: "StatefulSet prometheus-k8s was made anew",
            good: || stateful_set(false),
        },
    ]);
    all
}

fn of_operators_and_nodes() -> Vec<Fixture> {
    let staged_in_time =
        "[bz-Machine Config Operator] Nodes should reach OSUpdateStaged in a timely fashion";
    vec![
        Fixture {
            id: "os-update-staged-in-time",
            case: staged_in_time,
            bad: || staged("10:16:00"),
            verdict: CaseVerdict::Fail,
            at: "10:05:00",
            says: "node worker-0 began to update its operating system and had not staged it after 10 minutes",
            good: || staged("10:09:00"),
        },
        Fixture {
            id: "os-update-staged-in-time",
            case: staged_in_time,
            bad: || staged("10:11:00"),
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "had not staged it after 5 minutes",
            good: || staged("10:09:00"),
        },
        Fixture {
            id: "os-update-start-is-told",
            case: "OSUpdateStarted event should be recorded for nodes that reach OSUpdateStaged",
            bad: || {
                Reel::cluster()
                    .at("10:09:00")
                    .event("Node", "worker-0", "OSUpdateStaged", "staged")
            },
            verdict: CaseVerdict::Flake,
            at: "10:09:00",
            says: "node worker-0 staged its operating system without an Event for the start of the update",
            good: || staged("10:09:00"),
        },
        Fixture {
            id: "slow-operators-are-named",
            case: "[bz-Cluster Version Operator] cluster version should not report Failing=Unknown during a normal cluster upgrade",
            bad: || suspects("waiting on nobody over 30 minutes which is longer than expected"),
            verdict: CaseVerdict::Fail,
            at: "10:40:00",
            says: "operators nobody",
            good: || suspects("waiting on dns over 30 minutes which is longer than expected"),
        },
        Fixture {
            id: "operator-changes-version-in-time",
            case: "[bz-DNS] clusteroperator/dns must complete version change within limited time",
            bad: || suspects("waiting on dns over 30 minutes which is longer than expected"),
            verdict: CaseVerdict::Fail,
            at: "10:40:00",
            says: "dns has not completed its version change after 30 minutes",
            good: || suspects("waiting on etcd over 30 minutes which is longer than expected"),
        },
        Fixture {
            id: "node-unready-once-per-upgrade",
            case: "[sig-node] nodes should not go unready after being upgraded and go unready only once",
            bad: || goes_away(true),
            verdict: CaseVerdict::Flake,
            at: "10:30:00",
            says: "worker-0 became not ready 2 times in the upgrade to 5.1.0",
            good: || goes_away(false),
        },
    ]
}

#[test]
fn upgrades_are_judged() {
    super::check(&fixtures());
}
