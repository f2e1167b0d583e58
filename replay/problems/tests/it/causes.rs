//! Causes on OpenShift: what configures an operator or a pool, and the release that an operator goes to.

use super::life::{Life, causes, condition, lines};
use kubereel_problems::ProblemList;
use serde_json::{Value, json};

const OPERATORS: &str = "clusteroperators.config.openshift.io";
const VERSIONS: &str = "clusterversions.config.openshift.io";

fn operator(version: &str, degraded: &str, progressing: &str, related: &Value) -> Value {
    json!({"status": {
        "conditions": [
            condition("Available", "True", "", ""),
            condition("Progressing", progressing, "", ""),
            condition("Degraded", degraded, "StorageError", "the storage cannot be reached"),
        ],
        "versions": [{"name": "operator", "version": version}],
        "relatedObjects": related,
    }})
}

#[test]
fn the_configuration_that_an_operator_lists_is_its_likeliest_cause() {
    let configs = "configs.imageregistry.operator.openshift.io";
    let builds = "builds.config.openshift.io";
    let mut life = Life::of(&[
        (OPERATORS, "ClusterOperator"),
        (configs, "Config"),
        (builds, "Build"),
    ]);
    let related = json!([
        {"group": "imageregistry.operator.openshift.io", "resource": "configs", "name": "cluster"}]);
    life.put(
        OPERATORS,
        "image-registry",
        operator("1", "False", "False", &related),
    );
    let config = |bucket: &str| json!({"spec": {"storage": {"s3": {"bucket": bucket}}}});
    life.put(configs, "cluster", config("good"));
    life.put(
        builds,
        "cluster",
        json!({"spec": {"buildDefaults": {"a": 1}}}),
    );
    life.until("14:10:00");
    life.put(configs, "cluster", config("typo"));
    // It configures another operator.
    life.put(
        builds,
        "cluster",
        json!({"spec": {"buildDefaults": {"a": 2}}}),
    );
    life.until("14:13:00");
    life.put(
        OPERATORS,
        "image-registry",
        operator("1", "True", "False", &related),
    );
    let list = life.end("14:30:00");
    assert_eq!(
        lines(&list),
        ["ClusterOperator image-registry StorageError"]
    );
    let problem = list.problems.first().expect("a problem");
    assert_eq!(causes(problem), ["Config cluster spec.storage.s3.bucket"]);
}

#[test]
fn the_configuration_with_the_name_of_an_operator_is_its_own() {
    let consoles = "consoles.operator.openshift.io";
    let mut life = Life::of(&[(OPERATORS, "ClusterOperator"), (consoles, "Console")]);
    life.put(
        OPERATORS,
        "console",
        operator("1", "False", "False", &json!([])),
    );
    life.put(
        consoles,
        "cluster",
        json!({"spec": {"logLevel": "Normal", "observedConfig": {"a": 1}}}),
    );
    life.until("14:10:00");
    // What the operator itself notes there is no cause.
    life.put(
        consoles,
        "cluster",
        json!({"spec": {"logLevel": "Normal", "observedConfig": {"a": 2}}}),
    );
    life.until("14:10:10");
    life.put(
        OPERATORS,
        "console",
        operator("1", "True", "False", &json!([])),
    );
    life.until("14:12:00");
    life.put(
        OPERATORS,
        "console",
        operator("1", "False", "False", &json!([])),
    );
    life.until("14:50:00");
    life.put(
        consoles,
        "cluster",
        json!({"spec": {"logLevel": "Trace", "observedConfig": {"a": 2}}}),
    );
    life.until("14:51:00");
    life.put(
        OPERATORS,
        "console",
        operator("1", "True", "False", &json!([])),
    );
    let list = life.end("15:10:00");
    let found: Vec<Vec<String>> = list.problems.iter().map(causes).collect();
    assert_eq!(
        found,
        [vec!["Console cluster spec.logLevel".to_owned()], Vec::new()]
    );
}

#[test]
fn what_owns_the_owner_is_what_somebody_edited() {
    let (sites, apps) = ("sites.example.com", "apps.example.com");
    let deployments = "deployments.apps";
    let mut life = Life::of(&[(sites, "Site"), (apps, "App"), (deployments, "Deployment")]);
    let owned = |kind: &str, spec: Value, available: &str| {
        json!({
            "metadata": {"generation": 1, "ownerReferences": [
                {"kind": kind, "name": "shop", "uid": kind, "controller": true}]},
            "spec": spec,
            "status": {"availableReplicas": u8::from(available == "True"), "conditions": [
                condition("Available", available, "MinimumReplicasUnavailable", "")]},
        })
    };
    let template = |image: &str| json!({"replicas": 1, "template": {"spec": {"containers": [{"name": "web", "image": image}]}}});
    life.put(sites, "web/shop", json!({"spec": {"release": "1"}}));
    life.put(
        apps,
        "web/shop",
        owned("Site", json!({"image": "shop:1"}), ""),
    );
    life.put(
        deployments,
        "web/shop",
        owned("App", template("shop:1"), "True"),
    );
    life.until("14:10:00");
    life.put(sites, "web/shop", json!({"spec": {"release": "2"}}));
    life.until("14:10:01");
    life.put(
        apps,
        "web/shop",
        owned("Site", json!({"image": "shop:2"}), ""),
    );
    life.until("14:10:02");
    life.put(
        deployments,
        "web/shop",
        owned("App", template("shop:2"), "True"),
    );
    life.until("14:10:10");
    life.put(
        deployments,
        "web/shop",
        owned("App", template("shop:2"), "False"),
    );
    let list = life.end("14:30:00");
    let found: Vec<Vec<String>> = list.problems.iter().map(causes).collect();
    let expected = [vec![
        "Site web/shop spec.release".to_owned(),
        "App web/shop spec.image".to_owned(),
        "Deployment web/shop spec.template.spec.containers[web].image".to_owned(),
    ]];
    assert_eq!(found, expected);
}

/// An upgrade is asked for at 14:05, the operator moves from 14:30 to 14:40, and is degraded from a time on.
fn upgraded(degraded: &str) -> ProblemList {
    let mut life = Life::of(&[(OPERATORS, "ClusterOperator"), (VERSIONS, "ClusterVersion")]);
    let version = |wanted: Value, history: &[(&str, &str)]| {
        let entries: Vec<Value> = history
            .iter()
            .map(|(version, state)| {
                json!({
                    "version": version, "image": version, "state": state,
                    "startedTime": format!("2026-11-21T1{version}:00:00Z"),
                })
            })
            .collect();
        let newest = history.first().map_or("", |(version, _)| version);
        json!({
            "spec": {"desiredUpdate": wanted},
            "status": {"desired": {"version": newest, "image": newest}, "history": entries},
        })
    };
    let mut is_degraded = false;
    let mut put = |life: &mut Life, time: &str, version: &str, progressing: &str| {
        if !is_degraded && degraded <= time {
            life.until(degraded);
            is_degraded = true;
        } else {
            life.until(time);
        }
        let status = if is_degraded { "True" } else { "False" };
        life.put(
            OPERATORS,
            "etcd",
            operator(version, status, progressing, &json!([])),
        );
    };
    life.put(
        VERSIONS,
        "version",
        version(Value::Null, &[("1", "Completed")]),
    );
    put(&mut life, "14:01:00", "1", "False");
    let wanted = json!({"version": "2", "image": "2"});
    life.until("14:05:00");
    life.put(
        VERSIONS,
        "version",
        version(wanted.clone(), &[("1", "Completed")]),
    );
    let taken_up = [("2", "Partial"), ("1", "Completed")];
    life.put(VERSIONS, "version", version(wanted, &taken_up));
    put(&mut life, "14:30:00", "1", "True");
    put(&mut life, "14:35:00", "1", "True");
    put(&mut life, "14:40:00", "2", "False");
    put(&mut life, "14:55:00", "2", "False");
    life.end("15:20:00")
}

#[test]
fn an_upgrade_is_a_cause_for_as_long_as_the_operator_is_rolled_out() {
    let asked = "ClusterVersion version spec.desiredUpdate";
    for (time, expected) in [("14:33:00", true), ("14:50:00", false)] {
        let list = upgraded(time);
        let of_operator = list.problems.iter();
        let mut of_operator = of_operator.filter(|one| one.object.kind == "ClusterOperator");
        let problem = of_operator.next().expect("a degraded operator");
        let found = causes(problem).iter().any(|cause| cause == asked);
        assert_eq!(found, expected, "{time}: {:?}", problem.causes);
    }
}

#[test]
fn a_new_kubelet_configuration_is_the_cause_of_a_degraded_pool() {
    let pools = "machineconfigpools.machineconfiguration.openshift.io";
    let kubelets = "kubeletconfigs.machineconfiguration.openshift.io";
    let configs = "machineconfigs.machineconfiguration.openshift.io";
    let mut life = Life::of(&[
        (pools, "MachineConfigPool"),
        (kubelets, "KubeletConfig"),
        (configs, "MachineConfig"),
    ]);
    let pool = |degraded: &str| {
        let updated = if degraded == "True" { "False" } else { "True" };
        json!({
            "metadata": {"labels": {"tuned": "worker"}},
            "spec": {"machineConfigSelector": {"matchExpressions": [
                {"key": "role", "operator": "In", "values": ["worker"]}]}},
            "status": {"conditions": [
                condition("Updated", updated, "", ""),
                condition("Degraded", degraded, "NodesDegraded", "one node is not configured"),
            ]},
        })
    };
    life.put(pools, "worker", pool("False"));
    life.until("14:10:00");
    life.put(
        kubelets,
        "tuning",
        json!({"spec": {"machineConfigPoolSelector": {"matchLabels": {"tuned": "worker"}}}}),
    );
    // What the controller makes of it, and what belongs to another pool.
    let made = json!({"metadata": {"labels": {"role": "worker"}, "ownerReferences": [
        {"kind": "KubeletConfig", "name": "tuning", "uid": "k"}]}});
    life.put(configs, "99-worker-generated-kubelet", made);
    life.put(
        configs,
        "99-master",
        json!({"metadata": {"labels": {"role": "master"}}}),
    );
    life.put(
        configs,
        "rendered-worker-1",
        json!({"metadata": {"labels": {"role": "worker"}}}),
    );
    life.until("14:15:00");
    life.put(pools, "worker", pool("True"));
    let list = life.end("14:30:00");
    let problem = list.problems.first().expect("a problem");
    let found: Vec<&str> = problem
        .causes
        .iter()
        .map(|cause| cause.object.name.as_str())
        .collect();
    assert_eq!(found, ["tuning", "99-worker-generated-kubelet"]);
}
