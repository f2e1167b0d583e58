//! Changes that explain a problem although most of their kind explain nothing: labels of Pods, new quotas and APIs, and
//! data that an operator names.

use super::life::{
    APIS, CONFIG_MAPS, DEPLOYMENTS, EVENTS, Life, NAMESPACES, OPERATORS, PODS, QUOTAS,
    REPLICA_SETS, SECRETS, SERVICES, SLICES, causes, condition, owned_by, problem_of, warning,
};
use kubereel_history::timetext::rfc3339_secs;
use serde_json::{Value, json};

/// Makes a Deployment of two Pods.
fn deployment() -> Value {
    json!({
        "metadata": {"generation": 1},
        "spec": {"replicas": 2, "template": {"metadata": {"labels": {"app": "shop"}}, "spec": {
            "containers": [{"name": "app", "image": "shop:1"}]}}},
        "status": {"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2},
    })
}

#[test]
fn a_label_of_pods_is_why_their_service_lost_them() {
    let mut life = Life::of(&[PODS, SERVICES, SLICES]);
    let pod = |tier: &str, zone: &str| {
        json!({
            "metadata": {"labels": {"tier": tier, "zone": zone}},
            "spec": {"containers": [{"name": "app"}]},
            "status": {"phase": "Running", "conditions": [condition("Ready", "True", "", "")]},
        })
    };
    let slice = |pods: &[&str]| {
        let endpoints = pods.iter().map(|pod| {
            json!({"conditions": {"ready": true}, "targetRef": {"kind": "Pod", "name": pod, "uid": format!("pods web/{pod}")}})
        });
        json!({
            "metadata": {"labels": {"kubernetes.io/service-name": "shop"}},
            "endpoints": endpoints.collect::<Value>(),
        })
    };
    let service = json!({"spec": {"selector": {"tier": "front"}}});
    for name in ["web/shop-1", "web/shop-2"] {
        life.put(PODS, name, pod("front", "a"));
    }
    life.put(SERVICES, "web/shop", service);
    life.put(SLICES, "web/shop-1", slice(&["shop-1", "shop-2"]));
    life.until("14:10:00");
    // The Service does not select by it.
    life.put(PODS, "web/shop-2", pod("front", "b"));
    life.wait(100);
    life.put(PODS, "web/shop-1", pod("maint", "a"));
    life.put(PODS, "web/shop-2", pod("maint", "b"));
    life.wait(100);
    life.put(SLICES, "web/shop-1", slice(&[]));
    let list = life.end("14:30:00");
    let found = causes(problem_of(&list, "Service web/shop"));
    assert_eq!(found.len(), 1, "{found:?}");
    let is_tier = |cause: &String| cause.ends_with("metadata.labels.tier");
    assert!(found.iter().all(is_tier), "{found:?}");
}

/// The causes of a quota that is used up at 14:10:01, made at a time.
fn full_quota(made: &str) -> Vec<String> {
    let mut life = Life::of(&[QUOTAS, REPLICA_SETS, DEPLOYMENTS, EVENTS]);
    let quota = |used: &str| json!({"spec": {"hard": {"pods": "2"}}, "status": {"hard": {"pods": "2"}, "used": {"pods": used}}});
    life.until(made);
    if made < "14:09:30" {
        life.put(QUOTAS, "shop/small", quota("0"));
    }
    life.until("14:09:30");
    life.put(DEPLOYMENTS, "shop/web", deployment());
    let replica_set = json!({"metadata": {"ownerReferences": owned_by(DEPLOYMENTS, "shop/web")},
            "spec": {"replicas": 3}, "status": {"availableReplicas": 2}});
    life.put(REPLICA_SETS, "shop/web-1", replica_set);
    life.until("14:10:00");
    life.put(QUOTAS, "shop/small", quota("2"));
    let refusal = "exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2";
    let said = |count| warning("ReplicaSet shop/web-1", "FailedCreate", refusal, count);
    life.put(EVENTS, "shop/web.1", said(2));
    life.until("14:11:00");
    life.put(EVENTS, "shop/web.1", said(9));
    causes(problem_of(
        &life.end("14:20:00"),
        "ResourceQuota shop/small",
    ))
}

#[test]
fn a_new_quota_that_is_used_up_at_once_is_its_own_cause() {
    let (quota, workload) = ("ResourceQuota shop/small ", "Deployment shop/web ");
    let first = |made: &str| full_quota(made).into_iter().next();
    assert_eq!(first("14:09:30").as_deref(), Some(quota));
    // It was there long before somebody used it up.
    assert_eq!(first("14:05:00").as_deref(), Some(workload));
}

#[test]
fn a_quota_that_is_used_up_is_a_problem_from_its_first_refusal_on() {
    let mut life = Life::of(&[QUOTAS, EVENTS]);
    let quota = |used: &str| json!({"status": {"hard": {"pods": "2"}, "used": {"pods": used}}});
    let refusal = "exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2";
    let said = |count| warning("ReplicaSet shop/web", "FailedCreate", refusal, count);
    // Used up, and nothing is refused.
    life.put(QUOTAS, "shop/small", quota("2"));
    life.until("14:03:00");
    life.put(QUOTAS, "shop/small", quota("0"));
    life.until("15:00:00");
    life.put(QUOTAS, "shop/small", quota("2"));
    life.until("15:10:00");
    life.put(EVENTS, "shop/web.1", said(2));
    life.until("15:11:00");
    life.put(EVENTS, "shop/web.1", said(9));
    let list = life.end("15:20:00");
    let quotas = list.problems.iter();
    let quotas = quotas.filter(|problem| problem.object.label() == "ResourceQuota shop/small");
    let from = quotas.map(|problem| rfc3339_secs(problem.from.at));
    assert_eq!(from.collect::<Vec<_>>(), ["2026-11-21T15:10:00Z"]);
}

#[test]
fn a_quota_that_was_lowered_is_a_cause_by_that_and_not_by_its_creation() {
    let mut life = Life::of(&[QUOTAS, DEPLOYMENTS, EVENTS]);
    let quota = |pods: &str| json!({"spec": {"hard": {"pods": pods}}, "status": {"hard": {"pods": pods}, "used": {"pods": "2"}}});
    life.put(DEPLOYMENTS, "shop/web", deployment());
    life.until("14:06:00");
    life.put(QUOTAS, "shop/small", quota("10"));
    life.until("14:08:00");
    life.put(QUOTAS, "shop/small", quota("0"));
    life.until("14:10:00");
    let refusal = "exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=0";
    let said = |count| warning("Deployment shop/web", "FailedCreate", refusal, count);
    life.put(EVENTS, "shop/web.1", said(2));
    life.until("14:11:00");
    life.put(EVENTS, "shop/web.1", said(9));
    let list = life.end("14:20:00");
    let found = causes(problem_of(&list, "Deployment shop/web"));
    let cause = "ResourceQuota shop/small spec.hard.pods".to_owned();
    assert_eq!(found.first(), Some(&cause), "{found:?}");
}

#[test]
fn a_new_api_without_a_server_keeps_a_namespace() {
    let mut life = Life::of(&[NAMESPACES, APIS]);
    let message = "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of \
                   server APIs: gone.example.com/v1: stale GroupVersion discovery: gone.example.com/v1";
    life.put(NAMESPACES, "web", json!({"status": {"phase": "Active"}}));
    life.until("14:10:00");
    let unavailable = condition("Available", "False", "ServiceNotFound", "");
    let api = json!({"spec": {"group": "gone.example.com", "version": "v1", "service": {"namespace": "x", "name": "y"}},
            "status": {"conditions": [unavailable]}});
    life.put(APIS, "v1.gone.example.com", api);
    life.until("14:10:10");
    let kind = "NamespaceDeletionDiscoveryFailure";
    let stuck = condition(kind, "True", "DiscoveryFailed", message);
    let terminating = json!({
            "metadata": {"deletionTimestamp": "2026-11-21T14:10:10Z"},
            "status": {"phase": "Terminating", "conditions": [stuck]}});
    life.put(NAMESPACES, "web", terminating);
    let list = life.end("14:30:00");
    let found = causes(problem_of(&list, "Namespace web"));
    let api = "APIService v1.gone.example.com ".to_owned();
    assert!(found.contains(&api), "{found:?}");
}

/// The causes of an operator that becomes degraded with a message, after data of two namespaces were changed.
fn degraded(message: &str) -> Vec<String> {
    let mut life = Life::of(&[OPERATORS, SECRETS, CONFIG_MAPS]);
    let operator = |degraded: &str, message: &str| {
        json!({"status": {"conditions": [
            condition("Available", "True", "AsExpected", ""),
            condition("Degraded", degraded, "RouterCertsError", message)]}})
    };
    life.put(OPERATORS, "authentication", operator("False", ""));
    life.put(SECRETS, "login/router-certs", json!({"data": {"tls": "a"}}));
    life.put(CONFIG_MAPS, "tools/valid", json!({"data": {"a": "1"}}));
    life.until("14:10:00");
    life.put(SECRETS, "login/router-certs", json!({"data": {"tls": "b"}}));
    life.put(CONFIG_MAPS, "tools/valid", json!({"data": {"a": "2"}}));
    life.until("14:10:30");
    life.put(OPERATORS, "authentication", operator("True", message));
    let list = life.end("14:40:00");
    causes(problem_of(&list, "ClusterOperator authentication"))
}

#[test]
fn the_data_that_an_operator_names_is_a_cause() {
    let secret = ["Secret login/router-certs data.tls"];
    let named = degraded("secret \"login/router-certs\" is not a valid certificate");
    assert_eq!(named, secret);
    assert_eq!(degraded("secret/router-certs -n login: not valid"), secret);
    // A word that is the name of data by chance.
    assert!(degraded("the router's certificates are not valid").is_empty());
}
