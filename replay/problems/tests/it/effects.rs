//! Which changes are found behind a failure, on any cluster: the effect that a change can have, and what lies between.

use super::life::{
    APIS, CONFIG_MAPS, CRON_JOBS, DAEMON_SETS, DEPLOYMENTS, EVENTS, JOBS, Life, NODES, PODS,
    RecordedResource, SECRETS, SERVICES, SLICES, causes, condition, consequences, first, lines,
    selector, warning,
};
use kubereel_problems::{Problem, ProblemList, SignKind};
use serde_json::{Value, json};

/// Makes a Pod of a workload whose container is in a state.
fn pod(owner: (&str, &str), state: &Value, is_ready: bool) -> Value {
    let ready = if is_ready { "True" } else { "False" };
    json!({
        "metadata": {"ownerReferences": [
            {"kind": owner.0, "name": owner.1, "uid": format!("{}s.apps web/{}", owner.0.to_lowercase(), owner.1), "controller": true}]},
        "spec": {"nodeName": "node-1", "containers": [{"name": "app", "env": [{"name": "BACKEND", "value": "http://stock:80/"}]}]},
        "status": {
            "phase": "Running",
            "conditions": [condition("Ready", ready, if is_ready { "" } else { "ContainersNotReady" }, "")],
            "containerStatuses": [{"name": "app", "ready": is_ready, "restartCount": 1, "state": state}],
        },
    })
}

fn running() -> Value {
    json!({"running": {}})
}

fn ended(message: &str) -> Value {
    json!({"terminated": {"exitCode": 1, "reason": "Error", "message": message}})
}

/// Makes a Pod of a Deployment whose container runs, and is ready.
fn ready(deployment: &str) -> Value {
    pod(("Deployment", deployment), &running(), true)
}

/// Makes a Pod of a Deployment whose container runs, and is not ready.
fn unready(deployment: &str) -> Value {
    pod(("Deployment", deployment), &running(), false)
}

/// Makes a Pod of a Deployment whose container ended with a message.
fn failed(deployment: &str, message: &str) -> Value {
    pod(("Deployment", deployment), &ended(message), false)
}

fn deployment(replicas: u8, image: &str) -> Value {
    json!({
        "metadata": {"generation": 1},
        "spec": {"replicas": replicas, "template": {
            "metadata": {"labels": {"app": "stock"}},
            "spec": {"containers": [{"name": "app", "image": image}]}}},
        "status": {"observedGeneration": 1, "replicas": replicas, "updatedReplicas": replicas,
            "availableReplicas": replicas, "conditions": [condition("Available", "True", "", "")]},
    })
}

#[track_caller]
fn assert_first_cause(list: &ProblemList, expected: &str) {
    assert_eq!(first_cause(list).as_deref(), Some(expected));
}

/// Returns the first cause of the first problem.
fn first_cause(list: &ProblemList) -> Option<String> {
    causes(list.problems.first()?).into_iter().next()
}

/// Lives in which the only Pod of a Deployment has its container end at 14:10:00 and be ready at a time.
fn ends_once(created: &str, ready_again: &str) -> ProblemList {
    let mut life = Life::of(&[PODS, DEPLOYMENTS]);
    life.until(created);
    life.put(DEPLOYMENTS, "web/shop", deployment(1, "shop:1"));
    life.until("14:10:00");
    life.put(PODS, "web/shop-1", failed("shop", "database is not up"));
    life.until(ready_again);
    life.put(PODS, "web/shop-1", ready("shop"));
    life.end("14:50:00")
}

#[test]
fn a_new_workload_that_comes_up_by_itself_waited_for_what_it_needs() {
    assert!(lines(&ends_once("14:09:30", "14:10:40")).is_empty());
    let listed = ["Deployment web/shop Error"];
    // It took too long, or it is not new.
    assert_eq!(lines(&ends_once("14:09:30", "14:13:00")), listed);
    assert_eq!(lines(&ends_once("14:01:00", "14:10:40")), listed);
}

#[test]
fn an_image_that_is_taken_back_could_not_be_pulled_all_the_same() {
    let waits = json!({"waiting": {"reason": "ErrImagePull", "message": "not found"}});
    let of = |is_deleted: bool| {
        let mut life = Life::of(&[PODS, DEPLOYMENTS]);
        life.put(DEPLOYMENTS, "web/shop", deployment(1, "shop:1"));
        life.until("14:10:00");
        let pulling = pod(("Deployment", "shop"), &waits, false);
        life.put(PODS, "web/shop-1", pulling);
        life.until("14:10:09");
        if is_deleted {
            life.delete(PODS, "web/shop-1");
        } else {
            life.put(PODS, "web/shop-1", ready("shop"));
        }
        lines(&life.end("14:50:00"))
    };
    assert_eq!(of(true), ["Deployment web/shop ErrImagePull"]);
    assert!(of(false).is_empty());
}

#[test]
fn the_port_of_the_service_behind_is_why_a_probe_fails() {
    let mut life = Life::of(&[PODS, SERVICES, DEPLOYMENTS]);
    let service = |port: u16| json!({"spec": {"selector": {"app": "stock"}, "ports": [{"port": 80, "targetPort": port}]}});
    life.put(SERVICES, "web/stock", service(8080));
    life.put(DEPLOYMENTS, "web/stock", deployment(1, "stock:1"));
    life.put(DEPLOYMENTS, "web/shop", deployment(1, "shop:1"));
    life.put(PODS, "web/shop-1", ready("shop"));
    life.until("14:10:00");
    life.put(SERVICES, "web/stock", service(8081));
    life.until("14:10:10");
    life.put(PODS, "web/shop-1", unready("shop"));
    let list = life.end("14:30:00");
    assert_eq!(lines(&list), ["Deployment web/shop ContainersNotReady"]);
    assert_first_cause(&list, "Service web/stock spec.ports[port=80].targetPort");
}

#[test]
fn an_autoscaler_comes_before_the_number_of_pods_that_it_set() {
    let scalers = ("scaledobjects.keda.sh", "ScaledObject");
    let mut life = Life::of(&[PODS, SERVICES, DEPLOYMENTS, scalers]);
    let scaler = |least: u8| json!({"spec": {"minReplicaCount": least, "scaleTargetRef": {"name": "stock"}}});
    life.put(SERVICES, "web/stock", selector("stock"));
    life.put(scalers, "web/stock", scaler(1));
    life.put(DEPLOYMENTS, "web/stock", deployment(1, "stock:1"));
    life.put(DEPLOYMENTS, "web/shop", deployment(1, "shop:1"));
    life.put(PODS, "web/shop-1", ready("shop"));
    life.until("14:10:00");
    life.put(scalers, "web/stock", scaler(0));
    life.until("14:10:20");
    life.put(DEPLOYMENTS, "web/stock", deployment(0, "stock:1"));
    life.until("14:10:25");
    let words = "GET http://stock:80/: connection refused";
    life.put(PODS, "web/shop-1", failed("shop", words));
    let list = life.end("14:30:00");
    let found = list
        .problems
        .iter()
        .find(|one| one.object.name == "shop")
        .map(causes);
    let expected = [
        "ScaledObject web/stock spec.minReplicaCount",
        "Deployment web/stock spec.replicas",
    ];
    assert_eq!(found, Some(expected.map(str::to_owned).to_vec()));
}

/// A custom resource whose controller writes a condition as manager `stocker`.
fn topic(generation: u8, observed: u8, ready: &str, message: &str) -> Value {
    json!({
        "metadata": {"generation": generation, "managedFields": [
            {"manager": "stocker", "operation": "Update", "subresource": "status", "fieldsV1": {"f:status": {}}}]},
        "spec": {"partitions": generation},
        "status": {"observedGeneration": observed,
            "conditions": [condition("Ready", ready, "Reconciled", message)]},
    })
}

#[test]
fn a_change_that_no_controller_observes_is_a_problem_of_who_took_the_controller_away() {
    let topics = ("topics.example.com", "Topic");
    let mut life = Life::of(&[topics, DEPLOYMENTS]);
    life.put(DEPLOYMENTS, "web/stocker", deployment(1, "stocker:1"));
    life.put(topics, "web/orders", topic(1, 1, "True", ""));
    life.put(topics, "web/slow", topic(1, 1, "True", ""));
    life.until("14:10:00");
    life.put(DEPLOYMENTS, "web/stocker", deployment(0, "stocker:1"));
    life.until("14:10:10");
    life.put(topics, "web/orders", topic(2, 1, "True", ""));
    life.put(topics, "web/slow", topic(2, 1, "True", ""));
    life.until("14:13:10");
    life.put(topics, "web/slow", topic(2, 2, "True", ""));
    let list = life.end("14:20:00");
    assert_eq!(lines(&list), ["Topic web/orders GenerationNotObserved"]);
    assert_first_cause(&list, "Deployment web/stocker spec.replicas");
}

#[test]
fn an_operator_that_was_upgraded_is_a_cause_of_what_it_reports() {
    let topics = ("topics.example.com", "Topic");
    let mut life = Life::of(&[topics, DEPLOYMENTS]);
    life.put(DEPLOYMENTS, "web/stocker", deployment(1, "stocker:1"));
    life.put(topics, "web/orders", topic(1, 1, "True", ""));
    life.until("14:10:00");
    life.put(DEPLOYMENTS, "web/stocker", deployment(1, "stocker:2"));
    life.until("14:10:20");
    let unsupported = topic(1, 1, "False", "unsupported storage");
    life.put(topics, "web/orders", unsupported);
    let list = life.end("14:20:00");
    let cause = "Deployment web/stocker spec.template.spec.containers[app].image";
    assert_first_cause(&list, cause);
}

#[test]
fn what_decides_rights_comes_before_when_it_is_done() {
    let stores = ("secretstores.external-secrets.io", "SecretStore");
    let secrets = ("externalsecrets.external-secrets.io", "ExternalSecret");
    let mut life = Life::of(&[stores, secrets]);
    let store = |role: &str| json!({"spec": {"provider": {"vault": {"auth": {"role": role}}}}});
    let secret = |interval: &str, ready: &str| {
        json!({
            "spec": {"refreshInterval": interval, "secretStoreRef": {"kind": "SecretStore", "name": "vault"}},
            "status": {"conditions": [condition("Ready", ready, "SecretSyncedError", "Code: 403. permission denied")]},
        })
    };
    life.put(stores, "web/vault", store("shop"));
    life.put(secrets, "web/db", secret("1h", "True"));
    life.until("14:10:00");
    life.put(stores, "web/vault", store("shp"));
    life.until("14:10:10");
    life.put(secrets, "web/db", secret("1m", "True"));
    life.until("14:10:20");
    life.put(secrets, "web/db", secret("1m", "False"));
    let list = life.end("14:20:00");
    assert_first_cause(&list, "SecretStore web/vault spec.provider.vault.auth.role");
}

#[test]
fn a_field_names_a_resource_by_the_end_of_its_kind() {
    let locations = ("backupstoragelocations.velero.io", "BackupStorageLocation");
    let backups = ("backups.velero.io", "Backup");
    let mut life = Life::of(&[locations, backups, SECRETS]);
    let secret = |value: &str| json!({"data": {"cloud": value}});
    life.put(SECRETS, "web/aws", secret("one"));
    let location = json!({"spec": {"credential": {"name": "aws", "key": "cloud"}}, "status": {"phase": "Available"}});
    life.put(locations, "web/main", location);
    life.until("14:10:00");
    life.put(SECRETS, "web/aws", secret("two"));
    life.until("14:10:10");
    let backup =
        |phase: &str| json!({"spec": {"storageLocation": "main"}, "status": {"phase": phase}});
    life.put(backups, "web/nightly", backup("New"));
    life.until("14:10:12");
    life.put(backups, "web/nightly", backup("FailedValidation"));
    let list = life.end("14:20:00");
    assert_eq!(lines(&list), ["Backup web/nightly FailedValidation"]);
    assert_first_cause(&list, "Secret web/aws data.cloud");
}

#[test]
fn a_node_without_a_network_has_lost_the_program_that_makes_it() {
    let mut life = Life::of(&[PODS, NODES, DAEMON_SETS]);
    let node = |ready: &str, message: &str| json!({"status": {"conditions": [condition("Ready", ready, "KubeletNotReady", message)]}});
    let net = |state: &Value, is_ready| pod(("DaemonSet", "net"), state, is_ready);
    life.put(DAEMON_SETS, "web/net", deployment(1, "net:1"));
    life.put(NODES, "node-1", node("True", ""));
    life.put(PODS, "web/net-1", net(&running(), true));
    life.until("14:10:00");
    life.put(DAEMON_SETS, "web/net", deployment(1, "net:2"));
    life.until("14:10:05");
    life.put(PODS, "web/net-1", net(&ended("bad MTU"), false));
    life.until("14:10:30");
    let words = "container runtime network not ready: cni plugin not initialized";
    life.put(NODES, "node-1", node("False", words));
    let list = life.end("14:20:00");
    let expected = ["DaemonSet web/net Error", "Node node-1 KubeletNotReady"];
    assert_eq!(lines(&list), expected);
    let node = list.problems.last().expect("a problem");
    assert_eq!(node.consequence_of, Some(0));
    let cause = "DaemonSet web/net spec.template.spec.containers[app].image";
    assert_eq!(causes(node), [cause]);
}

/// A Deployment with Pods on two Nodes. That on the first fails at 14:10:10, and another one on the second at a time;
/// the second is not ready from 14:10:00 to 14:10:40. Returns their problem.
fn failing_pods(first: &str, second_fails: &str) -> Problem {
    let mut life = Life::of(&[PODS, NODES, DEPLOYMENTS]);
    let node = |ready: &str| json!({"status": {"conditions": [condition("Ready", ready, "KubeletNotReady", "PLEG is not healthy")]}});
    let on = |name: &str, state: &Value| {
        let mut pod = pod(("Deployment", "shop"), state, *state == running());
        pod["spec"]["nodeName"] = json!(name);
        pod
    };
    life.put(DEPLOYMENTS, "web/shop", deployment(1, "shop:1"));
    life.put(NODES, "node-2", node("True"));
    life.put(PODS, "web/shop-1", on(first, &running()));
    life.until("14:10:00");
    life.put(NODES, "node-2", node("False"));
    life.until("14:10:10");
    life.put(PODS, "web/shop-1", on(first, &ended("bad flag")));
    life.until("14:10:40");
    life.put(NODES, "node-2", node("True"));
    life.until(second_fails);
    life.put(PODS, "web/shop-2", on("node-2", &running()));
    life.wait(1_000);
    life.put(PODS, "web/shop-2", on("node-2", &ended("bad flag")));
    let list = life.end("14:20:00");
    let mut all = list.problems.iter();
    let own = all.find(|one| one.object.name == "shop");
    own.expect("a problem").clone()
}

#[test]
fn a_node_explains_failures_only_of_pods_that_were_on_it_while_it_was_not_ready() {
    assert!(failing_pods("node-2", "14:12:00").consequence_of.is_some());
    assert_eq!(failing_pods("node-1", "14:11:10").consequence_of, None);
}

#[test]
fn a_pod_that_came_after_its_node_was_ready_again_is_not_explained_by_it() {
    let mut life = Life::of(&[PODS, NODES]);
    let node = |ready: &str| json!({"status": {"conditions": [condition("Ready", ready, "KubeletNotReady", "PLEG is not healthy")]}});
    life.put(NODES, "node-1", node("True"));
    life.until("14:10:00");
    life.put(NODES, "node-1", node("False"));
    life.until("14:10:40");
    life.put(NODES, "node-1", node("True"));
    life.until("14:11:00");
    life.put(PODS, "web/ci", ready("ci"));
    life.until("14:11:10");
    let failed = failed("ci", "bad flag");
    life.put(PODS, "web/ci", failed);
    let list = life.end("14:20:00");
    assert_eq!(consequences(&list), [None, None], "{:?}", lines(&list));
}

#[test]
fn a_service_that_is_switched_to_pods_that_never_were_ready_comes_first() {
    let mut life = Life::of(&[PODS, SERVICES, SLICES, DEPLOYMENTS]);
    let service = |color: &str| json!({"spec": {"selector": {"color": color}}});
    let slice = |pod: &str, ready: bool| {
        json!({
            "metadata": {"labels": {"kubernetes.io/service-name": "shop"}},
            "endpoints": [{"conditions": {"ready": ready}, "targetRef": {"kind": "Pod", "name": pod, "uid": format!("pods web/{pod}")}}],
        })
    };
    life.put(DEPLOYMENTS, "web/blue", deployment(1, "shop:1"));
    life.put(PODS, "web/blue-1", ready("blue"));
    life.put(SERVICES, "web/shop", service("blue"));
    life.put(SLICES, "web/shop-1", slice("blue-1", true));
    life.until("14:05:00");
    life.put(DEPLOYMENTS, "web/green", deployment(1, "shop:2"));
    life.put(PODS, "web/green-1", unready("green"));
    life.until("14:10:00");
    life.put(SERVICES, "web/shop", service("green"));
    life.wait(500);
    life.put(SLICES, "web/shop-1", slice("green-1", false));
    let list = life.end("14:30:00");
    let first = first(&list);
    assert_eq!(first.object.label(), "Service web/shop");
    let expected = Some("Service web/shop spec.selector.color");
    assert_eq!(causes(first).first().map(String::as_str), expected);
}

/// Returns the first cause of a container that ends three minutes after a rollout of its workload, after which its
/// configuration was changed.
fn cause_after_rollout(workload: RecordedResource, rolled: &Value) -> Option<String> {
    let mut life = Life::of(&[PODS, CONFIG_MAPS, workload]);
    let version = |image: &str| {
        let mut body = rolled.clone();
        body["spec"]["template"]["spec"]["containers"][0]["image"] = json!(image);
        body["spec"]["template"]["spec"]["containers"][0]["envFrom"] =
            json!([{"configMapRef": {"name": "conf"}}]);
        body
    };
    let settings = |value: &str| json!({"data": {"pool": value}});
    life.put(workload, "web/shop", version("shop:1"));
    life.put(CONFIG_MAPS, "web/conf", settings("20"));
    life.put(
        PODS,
        "web/shop-1",
        pod((workload.1, "shop"), &running(), true),
    );
    life.until("14:08:00");
    life.put(CONFIG_MAPS, "web/conf", settings("twenty"));
    life.until("14:09:00");
    life.put(workload, "web/shop", version("shop:2"));
    life.wait(2_000);
    let mut rolled_out = version("shop:2");
    rolled_out["metadata"]["labels"] = json!({"a": "b"});
    life.put(workload, "web/shop", rolled_out);
    life.until("14:12:00");
    let failed = pod((workload.1, "shop"), &ended("it ended"), false);
    life.put(PODS, "web/shop-1", failed);
    first_cause(&life.end("14:30:00"))
}

#[test]
fn a_rollout_that_went_well_is_less_likely_than_what_changed_later() {
    let template = json!({"spec": {"containers": [{"name": "app"}]}});
    let daemon_set = json!({"metadata": {"generation": 1}, "spec": {"template": template},
        "status": {"observedGeneration": 1, "desiredNumberScheduled": 1,
            "updatedNumberScheduled": 1, "numberAvailable": 1, "numberReady": 1}});
    for (workload, rolled) in [(DEPLOYMENTS, deployment(1, "")), (DAEMON_SETS, daemon_set)] {
        let first = cause_after_rollout(workload, &rolled);
        let expected = Some("ConfigMap web/conf data.pool");
        assert_eq!(first.as_deref(), expected, "{workload:?}");
    }
}

#[test]
fn what_calls_a_service_without_endpoints_is_a_consequence_of_what_broke_it() {
    let mut life = Life::of(&[PODS, SERVICES, CONFIG_MAPS, SLICES, DEPLOYMENTS]);
    let slice = |ready: bool| {
        json!({
            "metadata": {"labels": {"kubernetes.io/service-name": "stock"}},
            "endpoints": [{"conditions": {"ready": ready}, "targetRef": {"kind": "Pod", "name": "stock-1", "uid": "pods web/stock-1"}}],
        })
    };
    let reads = |settings: &str, state: &Value, ready: bool| {
        let mut pod = pod(("Deployment", settings), state, ready);
        pod["spec"]["containers"][0]["envFrom"] = json!([{"configMapRef": {"name": settings}}]);
        if settings == "stock" {
            pod["spec"]["containers"][0]["env"] = json!([]);
        }
        pod
    };
    let settings = |value: &str| json!({"data": {"level": value}});
    for name in ["web/stock", "web/shop"] {
        life.put(DEPLOYMENTS, name, deployment(1, "app:1"));
        life.put(CONFIG_MAPS, name, settings("1"));
    }
    let selector = selector("stock");
    life.put(SERVICES, "web/stock", selector);
    life.put(SLICES, "web/stock-1", slice(true));
    life.put(PODS, "web/stock-1", reads("stock", &running(), true));
    life.put(PODS, "web/shop-1", reads("shop", &running(), true));
    life.until("14:10:00");
    life.put(CONFIG_MAPS, "web/stock", settings("2"));
    life.until("14:10:05");
    // It comes later, and nearer.
    life.put(CONFIG_MAPS, "web/shop", settings("2"));
    life.until("14:10:10");
    let ended = ended("bad level");
    life.put(PODS, "web/stock-1", reads("stock", &ended, false));
    life.put(SLICES, "web/stock-1", slice(false));
    life.until("14:10:15");
    life.put(PODS, "web/shop-1", reads("shop", &running(), false));
    let list = life.end("14:30:00");
    let expected = [
        "Deployment web/stock Error",
        "Service web/stock NoReadyEndpoints",
        "Deployment web/shop ContainersNotReady",
    ];
    assert_eq!(lines(&list), expected);
    for (problem, by) in list.problems.iter().zip([None, Some(0), Some(1)]) {
        assert_eq!(problem.consequence_of, by);
        let first = causes(problem).into_iter().next();
        assert_eq!(first.as_deref(), Some("ConfigMap web/stock data.level"));
    }
}

/// An aggregated API that fails at a time because of a Service, and the Service `web/api`, without endpoints from
/// 14:10:00 on. Returns the API's problem.
fn failing_api(service: (&str, &str), fails: &'static str) -> Problem {
    let mut life = Life::of(&[SERVICES, SLICES, APIS]);
    let slice = |endpoints: Value| json!({"metadata": {"labels": {"kubernetes.io/service-name": "api"}}, "endpoints": endpoints});
    let api = |status: &str| {
        let message = format!("service/{} in {:?} is not present", service.1, service.0);
        json!({"spec": {"service": {"namespace": service.0, "name": service.1}},
            "status": {"conditions": [condition("Available", status, "ServiceNotFound", &message)]}})
    };
    let selector = selector("api");
    life.put(SERVICES, "web/api", selector);
    let ready = json!([{"conditions": {"ready": true}}]);
    life.put(SLICES, "web/api-1", slice(ready));
    life.put(APIS, "v1.example.com", api("True"));
    let mut steps = [("14:10:00", SLICES), (fails, APIS)];
    steps.sort_unstable();
    for (time, resource) in steps {
        life.until(time);
        if resource == APIS {
            life.put(APIS, "v1.example.com", api("False"));
        } else {
            life.put(SLICES, "web/api-1", slice(json!([])));
        }
    }
    let list = life.end("14:30:00");
    let mut all = list.problems.iter();
    let own = all.find(|one| one.kind == SignKind::ApiService);
    own.expect("a problem").clone()
}

#[test]
fn only_the_service_that_serves_an_aggregated_api_explains_it_and_only_from_before() {
    let is_explained = |namespace, name, fails| {
        let problem = failing_api((namespace, name), fails);
        problem.consequence_of.is_some()
    };
    assert!(is_explained("web", "api", "14:10:02"));
    // The message has its name, too.
    assert!(!is_explained("web", "api-v2", "14:10:02"));
    assert!(!is_explained("apis", "api", "14:10:02"));
    assert!(!is_explained("web", "api", "14:09:10"));
}

#[test]
fn a_network_policy_around_what_is_called_is_a_cause() {
    let policies = ("networkpolicies.networking.k8s.io", "NetworkPolicy");
    let mut life = Life::of(&[PODS, SERVICES, DEPLOYMENTS, policies]);
    let policy = |egress: Value| json!({"spec": {"podSelector": {"matchLabels": {"app": "shop"}}, "egress": egress}});
    life.put(SERVICES, "prices/stock", selector("stock"));
    life.put(DEPLOYMENTS, "prices/stock", deployment(1, "stock:1"));
    life.put(DEPLOYMENTS, "web/shop", deployment(1, "shop:1"));
    let names_only = policy(json!([{"ports": [{"port": 53}]}]));
    life.put(policies, "web/out", names_only);
    let mut shop = ready("shop");
    shop["metadata"]["labels"] = json!({"app": "shop"});
    life.put(PODS, "web/shop-1", shop.clone());
    life.until("14:10:00");
    // One port more is allowed.
    let one_port_more = policy(json!([{"ports": [{"port": 53}, {"port": 443}]}]));
    life.put(policies, "web/out", one_port_more);
    let ingress =
        json!({"spec": {"podSelector": {"matchLabels": {"app": "stock"}}, "ingress": []}});
    life.put(policies, "prices/isolate", ingress);
    life.until("14:10:05");
    let words = "Get http://stock.prices.svc:80/: dial tcp 10.0.0.9:80: i/o timeout";
    shop["status"]["containerStatuses"][0]["state"] = ended(words);
    shop["status"]["containerStatuses"][0]["ready"] = json!(false);
    life.put(PODS, "web/shop-1", shop);
    let list = life.end("14:30:00");
    assert_first_cause(&list, "NetworkPolicy prices/isolate ");
}

/// Returns the problems of a recording that ends at a time, in which a Node was cordoned at 14:10:10. A budget allows no
/// disruption of its Pod.
fn held_drain(desired: &Value, end: &str) -> ProblemList {
    let budgets = ("poddisruptionbudgets.policy", "PodDisruptionBudget");
    let mut life = Life::of(&[PODS, NODES, budgets, DEPLOYMENTS]);
    let budget = |allowed: u8| {
        json!({
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "stock"}}},
            "status": {"disruptionsAllowed": allowed, "currentHealthy": 1, "desiredHealthy": desired, "expectedPods": 1},
        })
    };
    let node = |cordoned: bool| json!({"spec": {"unschedulable": cordoned}, "status": {"conditions": [condition("Ready", "True", "", "")]}});
    life.put(NODES, "node-1", node(false));
    life.put(DEPLOYMENTS, "web/stock", deployment(2, "stock:1"));
    let mut stock = ready("stock");
    stock["metadata"]["labels"] = json!({"app": "stock"});
    life.put(PODS, "web/stock-1", stock);
    life.put(budgets, "web/stock", budget(1));
    life.until("14:10:00");
    life.put(DEPLOYMENTS, "web/stock", deployment(1, "stock:1"));
    life.put(budgets, "web/stock", budget(0));
    life.until("14:10:10");
    life.put(NODES, "node-1", node(true));
    let list = life.end(end);
    let expected = ["PodDisruptionBudget web/stock DisruptionBudgetHoldsDrain"];
    assert_eq!(lines(&list), expected);
    list
}

#[test]
fn a_budget_that_does_not_say_how_many_pods_it_needs_waits_for_none() {
    held_drain(&Value::Null, "14:11:00");
}

#[test]
fn who_took_the_room_of_a_budget_is_a_cause_of_the_drain_that_waits() {
    let list = held_drain(&json!(1), "14:20:00");
    assert_first_cause(&list, "Deployment web/stock spec.replicas");
}

#[test]
fn a_driver_that_left_a_node_is_why_its_volumes_are_not_mounted() {
    let mut life = Life::of(&[PODS, EVENTS, CONFIG_MAPS, DEPLOYMENTS, DAEMON_SETS]);
    let driver = |tolerations: Value| {
        let mut body = deployment(1, "csi:1");
        let spec = &mut body["spec"]["template"]["spec"];
        spec["tolerations"] = tolerations;
        spec["containers"][0]["args"] = json!(["--driver-name=keys.csi.example"]);
        body
    };
    let everywhere = driver(json!([{"operator": "Exists"}]));
    life.put(DAEMON_SETS, "web/csi", everywhere);
    life.put(DEPLOYMENTS, "web/shop", deployment(1, "shop:1"));
    life.until("14:10:00");
    life.put(DAEMON_SETS, "web/csi", driver(json!([])));
    life.until("14:10:10");
    let mut shop = pod(
        ("Deployment", "shop"),
        &json!({"waiting": {"reason": "ContainerCreating"}}),
        false,
    );
    shop["status"]["phase"] = json!("Pending");
    shop["spec"]["volumes"] = json!([{"name": "keys", "csi": {"driver": "keys.csi.example"}}]);
    life.put(PODS, "web/shop-1", shop);
    for count in 1..12 {
        life.wait(10_000);
        let words = "driver name keys.csi.example not found in the list of registered CSI drivers";
        let event = warning("Pod web/shop-1", "FailedMount", words, count);
        life.put(EVENTS, "web/shop-1.1", event);
    }
    let list = life.end("14:30:00");
    assert_first_cause(&list, "DaemonSet web/csi spec.template.spec.tolerations[0]");
}

#[test]
fn an_operator_that_was_upgraded_comes_before_what_it_then_wrote() {
    let mut life = Life::of(&[PODS, DEPLOYMENTS]);
    let operand = |args: Value, time: &str| {
        let mut body = deployment(1, "redis:7");
        body["spec"]["template"]["spec"]["containers"][0]["args"] = args;
        body["metadata"]["managedFields"] = json!([{"manager": "stocker", "operation": "Update",
            "time": format!("2026-11-21T{time}Z"), "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:template": {"f:spec": {"f:containers": {
                "k:{\"name\":\"app\"}": {"f:args": {}}}}}}}}]);
        body
    };
    life.put(DEPLOYMENTS, "web/stocker", deployment(1, "stocker:1"));
    life.put(DEPLOYMENTS, "web/shop", operand(json!(["--a"]), "14:00:00"));
    life.put(PODS, "web/shop-1", ready("shop"));
    life.until("14:10:00");
    life.put(DEPLOYMENTS, "web/stocker", deployment(1, "stocker:2"));
    life.until("14:10:30");
    life.put(DEPLOYMENTS, "web/shop", operand(json!(["--b"]), "14:10:30"));
    life.until("14:10:35");
    life.put(PODS, "web/shop-1", failed("shop", "unknown flag"));
    let list = life.end("14:30:00");
    let found = list.problems.first().map(causes).unwrap_or_default();
    let kinds: Vec<&str> = found.iter().map(String::as_str).take(2).collect();
    let expected = [
        "Deployment web/stocker spec.template.spec.containers[app].image",
        "Deployment web/shop spec.template.spec.containers[app].args[0]",
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn an_autoscaler_whose_workload_is_gone_names_its_deletion() {
    let scalers = (
        "horizontalpodautoscalers.autoscaling",
        "HorizontalPodAutoscaler",
    );
    let mut life = Life::of(&[scalers, DEPLOYMENTS]);
    let scaler = |able: &str, reason: &str| {
        json!({
            "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "stock"}},
            "status": {"conditions": [condition("AbleToScale", able, reason, "")]},
        })
    };
    life.put(DEPLOYMENTS, "web/stock", deployment(1, "stock:1"));
    life.put(scalers, "web/stock", scaler("True", "SucceededGetScale"));
    life.until("14:10:00");
    life.delete(DEPLOYMENTS, "web/stock");
    life.until("14:10:15");
    life.put(scalers, "web/stock", scaler("False", "FailedGetScale"));
    let list = life.end("14:10:40");
    let expected = ["HorizontalPodAutoscaler web/stock FailedGetScale"];
    assert_eq!(lines(&list), expected);
    assert_first_cause(&list, "Deployment web/stock ");
}

#[test]
fn a_run_of_a_cron_job_that_succeeded_in_the_end_has_not_failed() {
    let of = |complete: &str| {
        let mut life = Life::of(&[PODS, JOBS, CRON_JOBS]);
        let owned = |kind: &str, name: &str, uid: &str| json!({"ownerReferences": [{"kind": kind, "name": name, "uid": uid, "controller": true}]});
        let yearly = json!({"spec": {"schedule": "0 0 1 1 *"}});
        life.put(CRON_JOBS, "web/feed", yearly);
        let job = |status: &str| {
            json!({
                "metadata": owned("CronJob", "feed", "cronjobs.batch web/feed"),
                "status": {"conditions": [condition("Complete", status, "", "")]},
            })
        };
        life.put(JOBS, "web/feed-1", job("False"));
        let run = |state: &Value| {
            let mut run = pod(("Job", "feed-1"), state, false);
            run["metadata"] = owned("Job", "feed-1", "jobs.batch web/feed-1");
            run
        };
        life.put(PODS, "web/feed-1-a", run(&ended("flaky network")));
        life.wait(5_000);
        life.put(PODS, "web/feed-1-a", run(&running()));
        life.wait(5_000);
        life.put(JOBS, "web/feed-1", job(complete));
        lines(&life.end("14:10:00"))
    };
    assert!(of("True").is_empty());
    // The container runs again, and its Pod is not ready to the end.
    assert_eq!(of("False"), ["CronJob web/feed ContainersNotReady"]);
}
