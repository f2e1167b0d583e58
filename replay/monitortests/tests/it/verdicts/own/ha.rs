//! High availability: how workloads are written, and how they ran.

use crate::verdicts::judged::judged;
use crate::verdicts::reel::Reel;
use serde_json::{Value, json};

/// A template that keeps every convention.
fn template(app: &str) -> Value {
    let probe = json!({"httpGet": {"path": "/healthz", "port": 8443}});
    json!({
        "metadata": {"labels": {"app": app}},
        "spec": {
            "priorityClassName": "system-cluster-critical",
            "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{
                "labelSelector": {"matchLabels": {"app": app}},
                "topologyKey": "kubernetes.io/hostname",
            }]}},
            "containers": [{
                "name": "main",
                "ports": [{"name": "https", "containerPort": 8443}],
                "resources": {"requests": {"cpu": "10m", "memory": "50Mi"}},
                "livenessProbe": probe, "readinessProbe": probe, "startupProbe": probe,
            }],
        },
    })
}

fn workload(kind: &str, name: &str, replicas: u64, template: &Value) -> Value {
    json!({
        "kind": kind,
        "metadata": {"name": name, "namespace": "openshift-console"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template},
        "status": {"readyReplicas": replicas},
    })
}

fn budget(name: &str, allowed: u64) -> Value {
    json!({
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "openshift-console"},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": name}}},
        "status": {"disruptionsAllowed": allowed, "expectedPods": 2},
    })
}

/// A cluster with a Deployment that keeps every convention.
fn kept() -> Reel {
    Reel::cluster()
        .put(workload("Deployment", "console", 2, &template("console")))
        .put(budget("console", 1))
}

/// A Pod of a `ReplicaSet`, on a node.
fn pod(name: &str, node: &str) -> Value {
    json!({
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "openshift-console",
            "labels": {"app": "console", "pod-template-hash": "5d"},
            "ownerReferences": [{
                "kind": "ReplicaSet", "name": "console-5d", "uid": "set", "controller": true,
            }],
        },
        "spec": {"nodeName": node, "containers": [{"name": "main"}]},
        "status": {"phase": "Running"},
    })
}

/// The `ReplicaSet` of those Pods.
fn set(replicas: u64) -> Value {
    json!({
        "kind": "ReplicaSet",
        "metadata": {"name": "console-5d", "namespace": "openshift-console", "uid": "set"},
        "spec": {"replicas": replicas},
    })
}

fn changed(change: impl FnOnce(&mut Value)) -> Value {
    let mut template = template("downloads");
    change(&mut template);
    template
}

/// Takes a member away.
fn take(value: &mut Value, parent: &str, member: &str) {
    let parent = value.pointer_mut(parent).and_then(Value::as_object_mut);
    parent.expect("an object").remove(member).expect(member);
}

#[test]
fn a_deployment_that_keeps_the_conventions_passes_every_check() {
    for (id, case) in [
        (
            "ha-health-checks",
            "pods in ns/openshift-console should define health checks",
        ),
        (
            "ha-replicas",
            "pods in ns/openshift-console should have sufficient replicas for HA",
        ),
        (
            "ha-anti-affinity",
            "pods in ns/openshift-console should be kept apart by podAntiAffinity",
        ),
        (
            "ha-priority",
            "pods in ns/openshift-console should have a critical priority class",
        ),
        (
            "ha-requests",
            "pods in ns/openshift-console should request cpu and memory",
        ),
        (
            "ha-disruption-budget",
            "pods in ns/openshift-console should be protected by a PodDisruptionBudget",
        ),
        (
            "ha-ready",
            "workloads in ns/openshift-console should always have a ready replica",
        ),
        (
            "ha-spread",
            "pods in ns/openshift-console should run on different nodes",
        ),
        (
            "ha-evictions",
            "pods in ns/openshift-console should not be evicted at the same time",
        ),
        (
            "ha-drain",
            "disruption budgets in ns/openshift-console should let nodes be drained",
        ),
    ] {
        let reel = kept().at("10:05:00").until("10:30:00");
        judged(reel, id).passes(case);
    }
}

/// Puts a Deployment there whose template is wrong in one way, and makes it right.
fn template_is_judged(id: &str, case: &str, wrong: &Value, text: &str) {
    let reel = kept()
        .at("10:05:00")
        .put(workload("Deployment", "downloads", 2, wrong))
        .at("10:20:00")
        .put(workload(
            "Deployment",
            "downloads",
            2,
            &template("downloads"),
        ))
        .until("10:30:00");
    let verdicts = judged(reel, id);
    verdicts.is(case, "flake");
    verdicts.says(case, "10:05:00", text);
    verdicts.says(case, "10:05:00", "for 15m 00s");
}

#[test]
fn templates_are_judged_for_as_long_as_they_are_wrong() {
    template_is_judged(
        "ha-health-checks",
        "pods in ns/openshift-console should define health checks",
        &changed(|template| take(template, "/spec/containers/0", "livenessProbe")),
        "Deployment downloads: container main has no livenessProbe",
    );
    template_is_judged(
        "ha-anti-affinity",
        "pods in ns/openshift-console should be kept apart by podAntiAffinity",
        &changed(|template| take(template, "/spec", "affinity")),
        "Deployment downloads has 2 replicas, and nothing keeps them apart",
    );
    template_is_judged(
        "ha-priority",
        "pods in ns/openshift-console should have a critical priority class",
        &changed(|template| take(template, "/spec", "priorityClassName")),
        "Deployment downloads has no priority class",
    );
    template_is_judged(
        "ha-requests",
        "pods in ns/openshift-console should request cpu and memory",
        &changed(|template| take(template, "/spec/containers/0/resources/requests", "memory")),
        "container main requests no memory",
    );
}

#[test]
fn anti_affinity_to_another_app_keeps_nothing_apart() {
    let wrong = changed(|template| {
        *template
            .pointer_mut("/metadata/labels/app")
            .expect("a label") = json!("other");
    });
    template_is_judged(
        "ha-anti-affinity",
        "pods in ns/openshift-console should be kept apart by podAntiAffinity",
        &wrong,
        "nothing keeps them apart",
    );
}

#[test]
fn one_replica_is_too_few_unless_there_is_one_node() {
    let case = "pods in ns/openshift-console should have sufficient replicas for HA";
    let one = || workload("Deployment", "downloads", 1, &template("downloads"));
    let verdicts = judged(kept().at("10:05:00").put(one()), "ha-replicas");
    verdicts.is(case, "flake");
    verdicts.says(
        case,
        "10:05:00",
        "Deployment downloads has one replica, up to the end",
    );
    let single = Reel::cluster()
        .infrastructure("SingleReplica", "AWS")
        .at("10:05:00")
        .put(one());
    let verdicts = judged(single, "ha-replicas");
    assert_eq!(verdicts.omitted(), "it does not apply to SingleReplica");
}

#[test]
fn what_is_not_of_the_platform_is_not_judged() {
    let mut shop = workload(
        "Deployment",
        "web",
        1,
        &json!({"spec": {"containers": [{"name": "web"}]}}),
    );
    *shop
        .pointer_mut("/metadata/namespace")
        .expect("a namespace") = json!("shop");
    let reel = kept().at("10:05:00").put(shop);
    for id in ["ha-replicas", "ha-health-checks"] {
        let verdicts = judged(reel.clone(), id);
        assert_eq!(verdicts.count_of("pass"), verdicts.count(), "{id}");
    }
}

#[test]
fn a_pod_that_runs_once_needs_no_probes_and_a_bare_one_does() {
    let case = "pods in ns/openshift-console should define health checks";
    let bare = |policy: &str| {
        json!({
            "kind": "Pod",
            "metadata": {"name": "bare", "namespace": "openshift-console"},
            "spec": {"restartPolicy": policy, "containers": [{"name": "main"}]},
        })
    };
    let reel = |policy| kept().at("10:05:00").put(bare(policy));
    judged(reel("Never"), "ha-health-checks").passes(case);
    let verdicts = judged(reel("Always"), "ha-health-checks");
    verdicts.is(case, "flake");
    verdicts.says(
        case,
        "10:05:00",
        "Pod bare: container main has no livenessProbe",
    );
}

#[test]
fn a_budget_may_come_a_little_later() {
    let case = "pods in ns/openshift-console should be protected by a PodDisruptionBudget";
    let without = || {
        kept()
            .at("10:05:00")
            .put(workload("StatefulSet", "store", 2, &template("store")))
    };
    let soon = without().at("10:08:00").put(budget("store", 1));
    judged(soon.until("10:30:00"), "ha-disruption-budget").passes(case);
    let verdicts = judged(without().until("10:30:00"), "ha-disruption-budget");
    verdicts.is(case, "flake");
    verdicts.says(
        case,
        "10:05:00",
        "StatefulSet store has 2 replicas and no PodDisruptionBudget",
    );
}

#[test]
fn a_time_without_a_ready_replica_is_found_to_the_millisecond() {
    let case = "workloads in ns/openshift-console should always have a ready replica";
    let none = json!({"status": {"readyReplicas": null}});
    let one = json!({"status": {"readyReplicas": 1}});
    let reel = kept()
        .at("10:05:00")
        .change("Deployment", "openshift-console/console", one.clone())
        .at("10:06:00.250")
        .change("Deployment", "openshift-console/console", none)
        .at("10:06:12.750")
        .change("Deployment", "openshift-console/console", one);
    let verdicts = judged(reel, "ha-ready");
    verdicts.is(case, "flake");
    verdicts.says(
        case,
        "10:06:00.250",
        "console had none of 2 replicas ready, for 12.5s",
    );
}

#[test]
fn two_on_one_node_are_found_unless_there_are_more_than_nodes() {
    let case = "pods in ns/openshift-console should run on different nodes";
    let reel = || {
        kept()
            .put(set(2))
            .put(pod("console-5d-a", "worker-0"))
            .at("10:05:00")
    };
    let apart = reel().put(pod("console-5d-b", "worker-1"));
    judged(apart.until("10:30:00"), "ha-spread").passes(case);
    let together = || reel().put(pod("console-5d-b", "worker-0"));
    let verdicts = judged(together().until("10:30:00"), "ha-spread");
    verdicts.is(case, "flake");
    verdicts.says(
        case,
        "10:05:00",
        "2 of 2 Pods of console ran on node worker-0: console-5d-a, console-5d-b",
    );
    let moment = together()
        .at("10:05:30")
        .gone("Pod", "openshift-console/console-5d-b");
    judged(moment.until("10:30:00"), "ha-spread").passes(case);
    let many = together().put(pod("console-5d-c", "worker-1"));
    judged(many.until("10:30:00"), "ha-spread").passes(case);
}

#[test]
fn pods_that_go_together_are_found_unless_they_were_scaled_down() {
    let case = "pods in ns/openshift-console should not be evicted at the same time";
    let going = || json!({"metadata": {"deletionTimestamp": "2026-11-21T10:05:30Z"}});
    let began = || {
        kept()
            .put(set(2))
            .put(pod("console-5d-a", "worker-0"))
            .put(pod("console-5d-b", "worker-1"))
            .at("10:05:00")
    };
    let (a, b) = (
        "openshift-console/console-5d-a",
        "openshift-console/console-5d-b",
    );
    let in_turn = began()
        .change("Pod", a, going())
        .at("10:05:20")
        .gone("Pod", a)
        .at("10:05:21")
        .change("Pod", b, going());
    judged(in_turn, "ha-evictions").passes(case);
    let together = began()
        .change("Pod", a, going())
        .at("10:05:02")
        .change("Pod", b, going());
    let verdicts = judged(together, "ha-evictions");
    verdicts.is(case, "flake");
    verdicts.says(
        case,
        "10:05:02",
        "2 of 2 Pods of console went at the same time: console-5d-a, console-5d-b",
    );
    let scaled = began()
        .put(set(0))
        .change("Pod", a, going())
        .change("Pod", b, going());
    judged(scaled, "ha-evictions").passes(case);
}

#[test]
fn a_budget_that_allows_nothing_keeps_a_node_from_being_drained() {
    let case = "disruption budgets in ns/openshift-console should let nodes be drained";
    let cordon = || json!({"spec": {"unschedulable": true}});
    let began = || {
        kept()
            .put(set(2))
            .put(pod("console-5d-a", "worker-0"))
            .at("10:05:00")
            .change("Node", "worker-0", cordon())
    };
    judged(began().until("10:30:00"), "ha-drain").passes(case);
    let shut = |at: &str| began().at("10:05:10").put(budget("console", 0)).at(at);
    let soon = shut("10:05:50").put(budget("console", 1));
    judged(soon.until("10:30:00"), "ha-drain").passes(case);
    let late = shut("10:09:10").gone("Pod", "openshift-console/console-5d-a");
    let verdicts = judged(late.until("10:30:00"), "ha-drain");
    verdicts.is(case, "flake");
    verdicts.says(
        case,
        "10:05:10",
        "which left console-5d-a on worker-0, for 4m 00s",
    );
}

#[test]
fn in_a_gap_nothing_passes() {
    let case = "pods in ns/openshift-console should run on different nodes";
    let reel = kept().at("10:05:00").until("11:00:00");
    let reel = reel.gap("Pod", "10:10:00", "10:20:00");
    judged(reel, "ha-spread").is(case, "unknown");
}

#[test]
fn without_stateful_sets_the_others_are_judged_and_nothing_passes() {
    let case = "pods in ns/openshift-console should have sufficient replicas for HA";
    let reel = || kept().without("StatefulSet").at("10:05:00");
    judged(reel().until("10:30:00"), "ha-replicas").is(case, "unknown");
    let one = workload("Deployment", "downloads", 1, &template("downloads"));
    let verdicts = judged(reel().put(one).until("10:30:00"), "ha-replicas");
    verdicts.is(case, "flake");
    verdicts.says(case, "10:05:00", "Deployment downloads has one replica");
    let without = kept().without("Deployment").at("10:05:00");
    let verdicts = judged(without.until("10:30:00"), "ha-replicas");
    assert_eq!((verdicts.count(), verdicts.count_of("skipped")), (1, 1));
}
