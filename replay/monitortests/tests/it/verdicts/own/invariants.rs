//! What can never be true of an API server and its clients.

use crate::verdicts::judged::judged;
use crate::verdicts::reel::Reel;
use serde_json::{Value, json};

/// A reel that breaks an invariant at 10:05:00 flakes its case, and the same without that passes.
fn is_kept(id: &str, case: &str, good: Reel, bad: Reel, text: &str) {
    judged(good.until("10:30:00"), id).passes(case);
    let verdicts = judged(bad.until("10:30:00"), id);
    verdicts.is(case, "flake");
    verdicts.says(case, "10:05:00", text);
}

fn deployment(generation: u64, observed: u64) -> Value {
    json!({
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "generation": generation},
        "spec": {"replicas": 2},
        "status": {"observedGeneration": observed},
    })
}

#[test]
fn generations_only_rise_and_are_not_seen_before() {
    let began = || Reel::cluster().put(deployment(3, 3)).at("10:05:00");
    is_kept(
        "invariant-generation-of-deployments",
        "[sig-api-machinery] the generation of a Deployment never falls",
        began().put(deployment(4, 3)),
        began().put(deployment(2, 2)),
        "the generation of Deployment shop/web fell from 3 to 2",
    );
    is_kept(
        "invariant-observed-generation",
        "[sig-apps] no Deployment was observed at a generation that is to come",
        began().put(deployment(4, 3)),
        began().put(deployment(4, 5)),
        "Deployment shop/web was observed at generation 5, and is at 4",
    );
    // A tool that leaves generations out says nothing about them.
    let mut bare = deployment(0, 1);
    bare["metadata"] = json!({"name": "web", "namespace": "shop"});
    let reel = || began().put(bare.clone()).until("10:30:00");
    judged(reel(), "invariant-observed-generation")
        .passes("[sig-apps] no Deployment was observed at a generation that is to come");
    judged(reel(), "invariant-generation-of-deployments")
        .passes("[sig-api-machinery] the generation of a Deployment never falls");
}

#[test]
fn pods_that_go_or_are_over_do_nothing_else() {
    let going = json!({"metadata": {"deletionTimestamp": "2026-11-21T10:05:30Z"}});
    let stays = json!({"metadata": {"deletionTimestamp": null}});
    let began = || Reel::cluster().pod("shop/web");
    let goes = || {
        began()
            .at("10:04:00")
            .change("Pod", "shop/web", going.clone())
    };
    is_kept(
        "invariant-pod-deletion-is-final",
        "[sig-node] a pod that is being deleted is never kept",
        goes().at("10:05:00").gone("Pod", "shop/web"),
        goes().at("10:05:00").change("Pod", "shop/web", stays),
        "the deletion of pod shop/web was taken back",
    );
    let phase = |phase: &str| json!({"status": {"phase": phase}});
    let over = || {
        began()
            .at("10:04:00")
            .change("Pod", "shop/web", phase("Succeeded"))
    };
    is_kept(
        "invariant-pod-phase-is-final",
        "[sig-node] a pod that succeeded or failed never does anything else",
        over().at("10:05:00").gone("Pod", "shop/web"),
        over()
            .at("10:05:00")
            .change("Pod", "shop/web", phase("Running")),
        "pod shop/web went from Succeeded to Running",
    );
}

#[test]
fn counts_never_fall() {
    let running = json!({"running": {}});
    let restarts = |reel: Reel, count: u64| reel.container("shop/web", count, &running, &json!({}));
    let began = || restarts(Reel::cluster().pod("shop/web"), 3).at("10:05:00");
    is_kept(
        "invariant-restart-count",
        "[sig-node] the restart count of a container never falls",
        restarts(began(), 4),
        restarts(began(), 1),
        "the restart count of container main of pod shop/web fell from 3 to 1",
    );
    let lease = |transitions: u64| {
        json!({
            "kind": "Lease",
            "metadata": {"name": "leader", "namespace": "shop"},
            "spec": {"holderIdentity": "a", "leaseTransitions": transitions},
        })
    };
    let began = || Reel::cluster().put(lease(5)).at("10:05:00");
    is_kept(
        "invariant-lease-transitions",
        "[sig-api-machinery] the transitions of a Lease never fall",
        began().put(lease(6)),
        began().put(lease(0)),
        "the transitions of Lease shop/leader fell from 5 to 0",
    );
}

#[test]
fn operators_keep_their_uid_and_the_times_of_their_conditions() {
    let began = || Reel::cluster().operator("dns", &[]).at("10:05:00");
    let moved = |reel: Reel| {
        let conditions = reel
            .object("ClusterOperator", "dns")
            .pointer("/status/conditions");
        let mut conditions = conditions.cloned().expect("conditions");
        *conditions
            .pointer_mut("/0/lastTransitionTime")
            .expect("a time") = json!("2026-11-21T10:05:00Z");
        reel.change(
            "ClusterOperator",
            "dns",
            json!({"status": {"conditions": conditions}}),
        )
    };
    is_kept(
        "invariant-operator-transition-time",
        "[sig-cluster-lifecycle] the transition time of an operator's condition moves only with its status",
        began().operator("dns", &[("Available", "False", "DNSUnavailable")]),
        moved(began()),
        "dns moved the time of Available=True",
    );
    // Of two conditions of one type the first counts.
    let twice = |second: &str| {
        let conditions = json!([
            {"type": "Available", "status": "True", "lastTransitionTime": "2026-11-21T09:00:00Z"},
            {"type": "Available", "status": "True", "lastTransitionTime": second},
        ]);
        json!({"status": {"conditions": conditions}})
    };
    let doubled = |reel: Reel, second| reel.change("ClusterOperator", "dns", twice(second));
    let began_twice = || doubled(Reel::cluster().operator("dns", &[]), "2026-11-21T09:30:00Z");
    is_kept(
        "invariant-operator-transition-time",
        "[sig-cluster-lifecycle] the transition time of an operator's condition moves only with its status",
        doubled(began_twice().at("10:05:00"), "2026-11-21T10:05:00Z"),
        moved(began_twice().at("10:05:00")),
        "dns moved the time of Available=True",
    );
    is_kept(
        "invariant-operator-is-kept",
        "[sig-cluster-lifecycle] a ClusterOperator is never made anew",
        began().operator("dns", &[("Available", "True", "Again")]),
        began().gone("ClusterOperator", "dns").operator("dns", &[]),
        "ClusterOperator dns was made anew",
    );
    let again = |reel: Reel| reel.operator("dns", &[("Available", "True", "Again")]);
    is_kept(
        "invariant-operator-versions-grow",
        "[sig-api-machinery] the resourceVersion of a ClusterOperator grows",
        again(began()),
        again(began().versions_from(7)),
        "to 8",
    );
}

#[test]
fn a_completed_update_stays_in_the_history() {
    let began = || Reel::cluster().at("10:04:00").upgrade_begins("5.1.0");
    let lost = json!({"status": {"history": []}});
    is_kept(
        "invariant-version-history",
        "[sig-cluster-lifecycle] a completed update is never taken out of the history",
        began().at("10:05:00").upgrade_ends(),
        began()
            .at("10:05:00")
            .change("ClusterVersion", "version", lost),
        "a completed update is no longer in the history",
    );
}
