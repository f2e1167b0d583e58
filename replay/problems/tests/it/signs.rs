//! Signs that no single version shows: what is due and does not come, what words name, how a cluster begins.

use super::life::{
    APIS, CLAIMS, CONFIG_MAPS, CRON_JOBS, DAEMON_SETS, DEFINITIONS, DEPLOYMENTS, EVENTS, LEASES,
    Life, MUTATING_HOOKS, NAMESPACES, NODES, OPERATORS, PODS, QUOTAS, REPLICA_SETS,
    RecordedResource, SERVICES, VALIDATING_HOOKS, VERSIONS, condition, consequences, first, lines,
    owned_by, problem_of, warning,
};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use kubereel_format::OutageClass;
use kubereel_history::timetext::{parsed, rfc3339_secs};
use kubereel_monitortests::CaseVerdict;
use kubereel_problems::ProblemList;
use rcgen::{CertificateParams, KeyPair, SerialNumber};
use serde_json::{Value, json};
use std::time::Duration;

const CRON_JOB: &str = "shop/report";
const MISSED: &str = "CronJob shop/report MissSchedule";

fn cron_job(last: &str, suspend: bool) -> Value {
    json!({
        "spec": {"schedule": "*/10 * * * *", "suspend": suspend},
        "status": {"lastScheduleTime": format!("2026-11-21T{last}Z")},
    })
}

fn cron_jobs() -> Life {
    Life::of(&[CRON_JOBS, CONFIG_MAPS])
}

#[test]
fn a_server_that_refuses_the_recorder_is_not_a_server_that_does_not_answer() {
    for (class, found) in [
        (
            OutageClass::Connect,
            vec!["APIServer APIServerNotReachable"],
        ),
        (OutageClass::Credentials, vec![]),
    ] {
        let mut life = cron_jobs();
        life.until("14:05:00");
        life.outage(class, 10_000);
        let list = life.end("14:15:00");
        let named = lines(&list);
        let named: Vec<&str> = named.iter().map(|line| line.trim_end()).collect();
        assert_eq!(named, found, "{class:?}");
    }
}

#[test]
fn a_cron_job_that_does_not_run_is_a_problem_from_when_the_run_was_due() {
    let mut life = cron_jobs();
    life.put(CRON_JOBS, CRON_JOB, cron_job("14:00:00", false));
    let list = life.end("14:15:00");
    assert_eq!(lines(&list), [MISSED]);
    let missed = first(&list);
    assert_eq!(rfc3339_secs(missed.from.at), "2026-11-21T14:10:00Z");
    assert!(missed.is_open());
}

#[test]
fn the_next_run_of_a_cron_job_ends_its_problem() {
    let mut life = cron_jobs();
    life.put(CRON_JOBS, CRON_JOB, cron_job("14:00:00", false));
    life.until("14:30:00");
    life.put(CRON_JOBS, CRON_JOB, cron_job("14:30:00", false));
    let list = life.end("14:35:00");
    assert_eq!(lines(&list), [MISSED]);
    let to = first(&list).to.map(rfc3339_secs);
    assert_eq!(to.as_deref(), Some("2026-11-21T14:30:00Z"));
}

#[test]
fn no_run_is_missed_that_runs_is_suspended_or_could_not_be_seen() {
    let mut runs = cron_jobs();
    runs.put(CRON_JOBS, CRON_JOB, cron_job("14:00:00", false));
    runs.until("14:10:01");
    runs.put(CRON_JOBS, CRON_JOB, cron_job("14:10:00", false));
    assert!(lines(&runs.end("14:19:59")).is_empty());

    let mut ends = cron_jobs();
    ends.put(CRON_JOBS, CRON_JOB, cron_job("14:00:00", false));
    assert!(lines(&ends.end("14:11:00")).is_empty());

    let mut suspended = cron_jobs();
    suspended.put(CRON_JOBS, CRON_JOB, cron_job("14:00:00", true));
    assert!(lines(&suspended.end("14:45:00")).is_empty());

    let mut deleted = cron_jobs();
    deleted.put(CRON_JOBS, CRON_JOB, cron_job("14:00:00", false));
    deleted.until("14:11:00");
    deleted.delete(CRON_JOBS, CRON_JOB);
    assert!(lines(&deleted.end("14:45:00")).is_empty());

    let mut lost = cron_jobs();
    lost.put(CRON_JOBS, CRON_JOB, cron_job("14:00:00", false));
    lost.until("14:09:00");
    lost.lose(CRON_JOBS);
    assert!(lines(&lost.end("14:45:00")).is_empty());
}

#[test]
fn a_certificate_that_is_not_renewed_is_a_problem_without_a_new_version() {
    let certificate = |renewal: &str| {
        json!({"status": {
            "notAfter": "2026-11-21T20:00:00Z", "renewalTime": renewal,
            "conditions": [condition("Ready", "True", "Ready", "")],
        }})
    };
    let resource = ("certificates.cert-manager.io", "Certificate");
    let mut life = Life::of(&[resource]);
    life.put(resource, "shop/late", certificate("2026-11-21T13:05:00Z"));
    life.put(resource, "shop/fine", certificate("2026-11-21T14:30:00Z"));
    let list = life.end("14:40:00");
    assert_eq!(lines(&list), ["Certificate shop/late CertificateExpiring"]);
}

/// Makes a certificate authority that is valid from one time to another, in PEM.
fn authority(serial: u64, begin: &str, end: &str) -> String {
    let at = |time: &str| {
        let at = parsed(time).expect("a time");
        std::time::UNIX_EPOCH + Duration::from_micros(at.micros.unsigned_abs())
    };
    let mut params = CertificateParams::default();
    params.not_before = at(begin).into();
    params.not_after = at(end).into();
    params.serial_number = Some(SerialNumber::from(serial));
    let key = KeyPair::generate().expect("a key");
    params.self_signed(&key).expect("a certificate").pem()
}

#[test]
fn a_bundle_of_authorities_expires_with_its_last_one_and_is_one_problem_everywhere() {
    let mut life = Life::of(&[CONFIG_MAPS, VALIDATING_HOOKS, DEFINITIONS, APIS]);
    let old = authority(0x11, "2025-11-21T00:00:00Z", "2026-11-21T14:20:00Z");
    let soon = authority(0xa2, "2025-11-22T00:00:00Z", "2026-11-22T14:20:00Z");
    let new = authority(0x33, "2026-11-20T00:00:00Z", "2027-11-20T00:00:00Z");
    let encoded = |pem: &str| BASE64_STANDARD.encode(pem);
    let client = |pem: &str| json!({"caBundle": encoded(pem)});
    // Other keys are not looked at, and what is no certificate says nothing.
    let root = json!({"data": {"ca.crt": format!("{old}{soon}"), "notes": "x", "a.crt": "hidden"}});
    life.put(CONFIG_MAPS, "shop/root", root.clone());
    life.put(CONFIG_MAPS, "bank/root", root);
    let webhooks = json!({"webhooks": [
        {"name": "new.gate.example", "clientConfig": client(&new)},
        {"name": "old.gate.example", "clientConfig": client(&soon)},
    ]});
    life.put(VALIDATING_HOOKS, "policy", webhooks);
    let definition = json!({"spec": {"conversion": {"webhook": {"clientConfig": client(&soon)}}}});
    life.put(DEFINITIONS, "buckets.example.com", definition);
    let api = json!({
        "spec": client(&soon), "status": {"conditions": [condition("Available", "True", "", "")]}});
    life.put(APIS, "v1.example.com", api);
    // The new one is in it already.
    let both = json!({"data": {"ca-bundle.crt": format!("{old}{new}")}});
    life.put(CONFIG_MAPS, "shop/rotated", both);
    let list = life.end("14:40:00");
    assert_eq!(lines(&list), ["ConfigMap shop/root CertificateExpiring"]);
    let expiring = first(&list);
    assert_eq!(expiring.count, 5);
    assert_eq!(rfc3339_secs(expiring.from.at), "2026-11-21T14:20:00Z");
    assert_eq!(
        expiring.message,
        "the last of 2 certificate authorities in its key ca.crt expires at 2026-11-22T14:20:00Z and is not replaced; its serial number is A2"
    );
}

#[test]
fn an_authority_that_is_replaced_in_time_is_no_problem() {
    let mut life = Life::of(&[CONFIG_MAPS]);
    let old = authority(1, "2025-11-22T00:00:00Z", "2026-11-22T14:20:00Z");
    let new = authority(2, "2026-11-20T00:00:00Z", "2027-11-20T00:00:00Z");
    life.put(CONFIG_MAPS, "shop/root", json!({"data": {"ca.crt": old}}));
    life.until("14:19:00");
    let both = json!({"data": {"ca.crt": format!("{old}{new}")}});
    life.put(CONFIG_MAPS, "shop/root", both);
    assert!(lines(&life.end("14:40:00")).is_empty());
}

fn lease(holder: &str) -> Value {
    json!({"spec": {"holderIdentity": holder}})
}

/// A lock of the time before Leases.
fn lock(holder: &str) -> Value {
    let record = json!({"holderIdentity": holder, "leaseDurationSeconds": 15}).to_string();
    json!({"metadata": {"annotations": {"control-plane.alpha.kubernetes.io/leader": record}}})
}

#[test]
fn a_lock_in_an_annotation_flaps_as_a_lease_does() {
    for resource in [CONFIG_MAPS, ("endpoints", "Endpoints")] {
        let mut life = Life::of(&[resource, LEASES]);
        for (minute, holder) in [("00", "a_1"), ("01", "b_1"), ("02", "a_2"), ("03", "b_2")] {
            life.until(&format!("14:{minute}:30"));
            life.put(resource, "shop/control", lock(holder));
            // Every rollout hands a lock over, and a renewal is no handover.
            let calm = lock(if minute < "02" { "a_1" } else { "b_1" });
            life.put(resource, "shop/calm", calm);
        }
        let list = life.end("14:04:00");
        let expected = [format!(
            "{} shop/control LeaderElectionFlapping",
            resource.1
        )];
        assert_eq!(lines(&list), expected);
        let message = "the holder changed 3 times, last to b_2";
        assert_eq!(first(&list).message, message);
    }
}

#[test]
fn a_leader_with_a_lease_and_a_lock_of_one_name_is_one_problem() {
    let mut life = Life::of(&[CONFIG_MAPS, LEASES]);
    for (minute, holder) in [("00", "a"), ("01", "b"), ("02", "a"), ("03", "b")] {
        life.until(&format!("14:{minute}:30"));
        life.put(CONFIG_MAPS, "shop/control", lock(holder));
        life.put(LEASES, "shop/control", lease(holder));
    }
    let list = life.end("14:04:00");
    assert_eq!(lines(&list), ["Lease shop/control LeaderElectionFlapping"]);
}

#[test]
fn an_interval_counts_from_the_last_run_of_a_cron_job() {
    let job = |last: &str| {
        json!({
            "metadata": {"creationTimestamp": "2026-11-20T08:03:00Z"},
            "spec": {"schedule": "@every 10m"},
            "status": {"lastScheduleTime": format!("2026-11-21T{last}Z")},
        })
    };
    let mut life = cron_jobs();
    life.put(CRON_JOBS, CRON_JOB, job("13:57:20"));
    life.until("14:07:21");
    life.put(CRON_JOBS, CRON_JOB, job("14:07:20"));
    let list = life.end("14:25:00");
    assert_eq!(lines(&list), [MISSED]);
    assert_eq!(rfc3339_secs(first(&list).from.at), "2026-11-21T14:17:20Z");
}

#[test]
fn a_conversion_webhook_without_a_service_explains_the_namespace_that_stays() {
    let mut life = Life::of(&[DEFINITIONS, NAMESPACES]);
    let definition = |conversion: Value| {
        json!({"spec": {
            "group": "example.com", "names": {"kind": "Bucket"}, "conversion": conversion,
        }})
    };
    let unconverted = definition(json!({"strategy": "None"}));
    life.put(DEFINITIONS, "buckets.example.com", unconverted);
    let queues = json!({"spec": {"group": "example.com", "names": {"kind": "Queue"}}});
    life.put(DEFINITIONS, "queues.example.com", queues);
    life.until("14:05:00");
    let service = json!({"namespace": "gate", "name": "convert"});
    let webhook = json!({"strategy": "Webhook", "webhook": {"clientConfig": {"service": service}}});
    life.put(DEFINITIONS, "buckets.example.com", definition(webhook));
    life.until("14:06:00");
    let words = "Failed to delete all resource types, 1 remaining: conversion webhook for example.com/v1, Kind=Bucket failed: Post \"https://convert.gate.svc:443/?timeout=30s\": service \"convert\" not found";
    let namespace = json!({
        "metadata": {"deletionTimestamp": "2026-11-21T14:06:00Z"},
        "status": {"conditions": [condition("NamespaceDeletionContentFailure", "True", "ContentDeletionFailed", words)]},
    });
    life.put(NAMESPACES, "storage", namespace);
    let list = life.end("14:12:00");
    let expected = [
        "CustomResourceDefinition buckets.example.com WebhookUnavailable",
        "Namespace storage NamespaceStuckTerminating",
    ];
    assert_eq!(lines(&list), expected);
    assert_eq!(consequences(&list), [None, Some(0)]);
    let cause = list.problems.first().and_then(|one| one.causes.first());
    let field = cause.map(|cause| (cause.object.label(), cause.field.clone()));
    let own = "CustomResourceDefinition buckets.example.com".to_owned();
    let field = field.map(|(object, field)| (object, field.starts_with("spec.conversion")));
    assert_eq!(field, Some((own, true)));
}

#[test]
fn a_service_that_is_held_in_its_deletion_names_the_finalizer() {
    let mut life = Life::of(&[SERVICES]);
    let service = |deleted: Value| {
        json!({
            "metadata": {"deletionTimestamp": deleted, "finalizers": ["service.kubernetes.io/load-balancer-cleanup"]},
            "spec": {"selector": {"app": "web"}},
        })
    };
    life.put(SERVICES, "shop/web", service(Value::Null));
    life.until("14:01:00");
    let held = service(json!("2026-11-21T14:01:00Z"));
    life.put(SERVICES, "shop/web", held);
    let list = life.end("14:10:00");
    assert_eq!(lines(&list), ["Service shop/web DeletionStuck"]);
    let message = &first(&list).message;
    assert!(message.contains("load-balancer-cleanup"), "{message}");
}

fn full_quota(refusal: Option<&str>) -> ProblemList {
    let mut life = Life::of(&[QUOTAS, REPLICA_SETS, EVENTS]);
    let full =
        json!({"status": {"hard": {"pods": "2", "cpu": "4"}, "used": {"pods": "2", "cpu": "1"}}});
    life.put(QUOTAS, "shop/small", full);
    let set = json!({"spec": {"replicas": 2}, "status": {"availableReplicas": 2}});
    life.put(REPLICA_SETS, "shop/web", set);
    life.until("14:01:00");
    if let Some(message) = refusal {
        let said = |count| warning("ReplicaSet shop/web", "FailedCreate", message, count);
        life.put(EVENTS, "shop/web.1", said(2));
        life.until("14:01:40");
        life.put(EVENTS, "shop/web.1", said(9));
    }
    life.end("14:10:00")
}

#[test]
fn a_quota_that_is_used_up_is_a_problem_only_for_what_it_refuses() {
    assert!(lines(&full_quota(None)).is_empty());
    let of_other = "exceeded quota: other, requested: pods=1, used: pods=2, limited: pods=2";
    let refused = full_quota(Some(of_other));
    assert_eq!(lines(&refused), ["ReplicaSet shop/web FailedCreate"]);
    let own = "exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2";
    let expected = [
        "ReplicaSet shop/web FailedCreate",
        "ResourceQuota shop/small QuotaUsedUp",
    ];
    assert_eq!(lines(&full_quota(Some(own))), expected);
}

#[test]
fn a_replica_set_of_nobody_must_have_its_replicas() {
    let controllers = ("replicationcontrollers", "ReplicationController");
    let mut life = Life::of(&[REPLICA_SETS, controllers]);
    let replicas =
        |there: u8| json!({"spec": {"replicas": 2}, "status": {"availableReplicas": there}});
    life.put(REPLICA_SETS, "shop/bare", replicas(2));
    life.put(controllers, "shop/old", replicas(2));
    let mut owned = replicas(0);
    owned["metadata"]["ownerReferences"] = owned_by(DEPLOYMENTS, "shop/web");
    life.put(REPLICA_SETS, "shop/owned", owned);
    life.until("14:05:00");
    life.put(REPLICA_SETS, "shop/bare", replicas(1));
    life.put(controllers, "shop/old", replicas(0));
    let list = life.end("14:20:00");
    let expected = [
        "ReplicaSet shop/bare ReplicasMissing",
        "ReplicationController shop/old ReplicasMissing",
    ];
    assert_eq!(lines(&list), expected);
}

#[test]
fn requests_for_certificates_that_nobody_approves_are_one_problem() {
    let resource = (
        "certificatesigningrequests.certificates.k8s.io",
        "CertificateSigningRequest",
    );
    let mut life = Life::of(&[resource]);
    let request = |status: Value| {
        json!({
            "metadata": {"creationTimestamp": "2026-11-21T14:00:00Z"},
            "spec": {"signerName": "kubernetes.io/kubelet-serving"}, "status": status,
        })
    };
    for name in ["csr-1", "csr-2", "csr-3"] {
        life.put(resource, name, request(json!({})));
    }
    let signed =
        json!({"conditions": [condition("Approved", "True", "", "")], "certificate": "LS0t"});
    life.put(resource, "csr-4", request(signed));
    let list = life.end("14:10:00");
    let expected = ["CertificateSigningRequest csr-1 SigningRequestPending"];
    assert_eq!(lines(&list), expected);
    assert_eq!(first(&list).count, 3);
}

/// A configuration of a webhook that a Service serves.
fn gate() -> Value {
    let service = json!({"namespace": "gate", "name": "gate"});
    json!({"webhooks": [{"name": "pods.gate.example", "clientConfig": {"service": service}}]})
}

#[test]
fn a_webhook_without_a_service_explains_what_it_refuses() {
    let mut life = Life::of(&[VALIDATING_HOOKS, EVENTS]);
    life.put(VALIDATING_HOOKS, "policy", gate());
    life.until("14:05:00");
    let words = "Internal error occurred: failed calling webhook \"pods.gate.example\": failed to call webhook: Post \"https://gate.gate.svc:443/\": service \"gate\" not found";
    for (name, object) in [
        ("shop/web.1", "StatefulSet shop/web"),
        ("shop/agent.1", "DaemonSet shop/agent"),
    ] {
        let event = warning(object, "FailedCreate", words, 12);
        life.put(EVENTS, name, event);
    }
    let list = life.end("14:05:30");
    let expected = [
        "ValidatingWebhookConfiguration policy WebhookUnavailable",
        "StatefulSet shop/web FailedCreate",
        "DaemonSet shop/agent FailedCreate",
    ];
    assert_eq!(lines(&list), expected);
    assert_eq!(consequences(&list), [None, Some(0), Some(0)]);
}

#[test]
fn a_webhook_that_times_out_explains_what_began_to_wait_for_it() {
    let mut life = Life::of(&[VALIDATING_HOOKS, DAEMON_SETS, EVENTS]);
    life.put(VALIDATING_HOOKS, "policy", gate());
    let agents = |there: u8| {
        json!({"metadata": {"generation": 1}, "status": {"observedGeneration": 1,
            "desiredNumberScheduled": 3, "updatedNumberScheduled": 3, "numberAvailable": there}})
    };
    life.put(DAEMON_SETS, "shop/agent", agents(3));
    life.until("14:05:00");
    life.put(DAEMON_SETS, "shop/agent", agents(1));
    // The first call took thirty seconds.
    life.until("14:05:30");
    let words = "Internal error occurred: failed calling webhook \"pods.gate.example\": context deadline exceeded";
    let said = |count| warning("DaemonSet shop/agent", "FailedCreate", words, count);
    life.put(EVENTS, "shop/agent.1", said(1));
    life.until("14:12:00");
    life.put(EVENTS, "shop/agent.1", said(14));
    let list = life.end("14:12:30");
    assert_eq!(consequences(&list), [None, Some(0)], "{:?}", lines(&list));
}

#[test]
fn a_namespace_waits_for_its_pods_as_long_as_they_may_take() {
    let going = |secs: i64| {
        let mut life = Life::of(&[NAMESPACES, PODS]);
        let space = |phase: &str, metadata: &Value| json!({"metadata": metadata, "status": {"phase": phase}});
        let pod = |metadata: &Value| json!({"metadata": metadata, "spec": {"containers": [{"name": "app"}]}, "status": {"phase": "Running"}});
        life.put(NAMESPACES, "shop", space("Active", &json!({})));
        life.put(PODS, "shop/slow", pod(&json!({})));
        life.until("14:10:00");
        let now = json!({"deletionTimestamp": "2026-11-21T14:10:00Z"});
        life.put(NAMESPACES, "shop", space("Terminating", &now));
        // Its grace is four minutes.
        let later =
            json!({"deletionTimestamp": "2026-11-21T14:14:00Z", "deletionGracePeriodSeconds": 240});
        life.put(PODS, "shop/slow", pod(&later));
        life.until("14:13:50");
        life.delete(PODS, "shop/slow");
        life.until("14:14:00");
        life.wait(secs * 1_000);
        life.delete(NAMESPACES, "shop");
        lines(&life.end("14:50:00"))
    };
    assert!(going(5).is_empty());
    assert_eq!(going(300), ["Namespace shop NamespaceStuckTerminating"]);
}

#[test]
fn the_problem_of_a_webhook_ends_with_its_configuration() {
    let mut life = Life::of(&[MUTATING_HOOKS, EVENTS]);
    let hook = json!({"webhooks": [{"name": "pods.gate.example"}]});
    life.put(MUTATING_HOOKS, "policy", hook);
    let words = "failed calling webhook \"pods.gate.example\": connect: connection refused";
    let said = |count| warning("ReplicaSet shop/web-1", "FailedCreate", words, count);
    life.put(EVENTS, "shop/web.1", said(1));
    life.until("14:02:00");
    life.put(EVENTS, "shop/web.1", said(15));
    life.until("14:02:30");
    life.delete(MUTATING_HOOKS, "policy");
    let list = life.end("14:02:50");
    let own = problem_of(&list, "MutatingWebhookConfiguration policy");
    let to = own.to.map(rfc3339_secs);
    assert_eq!(to.as_deref(), Some("2026-11-21T14:02:30Z"));
}

#[test]
fn a_webhook_that_was_not_reached_for_seconds_is_no_problem() {
    let mut life = Life::of(&[MUTATING_HOOKS, EVENTS]);
    let hook = json!({"webhooks": [{"name": "pods.gate.example"}]});
    life.put(MUTATING_HOOKS, "policy", hook);
    let words = "failed calling webhook \"pods.gate.example\": connect: connection refused";
    let said = |count| warning("Database shop/orders", "ReconcileError", words, count);
    life.put(EVENTS, "shop/orders.1", said(1));
    life.until("14:00:04");
    life.put(EVENTS, "shop/orders.1", said(3));
    assert!(lines(&life.end("14:10:00")).is_empty());
}

/// A resource with a condition that is bad when the recording begins, changed at 13:59:50, and is good again at a time.
/// Returns the problem's reason and since when the object says so.
fn bad_at_first(
    resource: RecordedResource,
    (condition, bad, good): (&str, &str, &str),
    created: &str,
    well: &str,
) -> Vec<(String, Option<String>)> {
    let mut life = Life::of(&[resource]);
    let object = |status: &str, since: &str| {
        let history = json!([{"state": "Completed", "version": "4.18.5", "image": "r",
            "startedTime": "2026-11-10T08:00:00Z", "completionTime": "2026-11-10T08:40:00Z"}]);
        json!({"metadata": {"creationTimestamp": created}, "status": {"history": history, "conditions": [
            {"type": condition, "status": status, "reason": "Down", "lastTransitionTime": since}]}})
    };
    life.find(resource, "one", object(bad, "2026-11-21T13:59:50Z"));
    life.until(well);
    let recovered = object(good, &format!("2026-11-21T{well}Z"));
    life.put(resource, "one", recovered);
    let list = life.end("15:00:00");
    let all = list.problems.iter();
    all.map(|one| (one.reason.clone(), one.since.map(rfc3339_secs)))
        .collect()
}

#[test]
fn what_went_bad_just_before_the_recording_is_not_new() {
    let pool = (
        "machineconfigpools.machineconfiguration.openshift.io",
        "MachineConfigPool",
    );

    let expected = [("Down".to_owned(), Some("2026-11-21T13:59:50Z".to_owned()))];
    for (resource, condition, well) in [
        (OPERATORS, ("Available", "False", "True"), "14:10:20"),
        (OPERATORS, ("Degraded", "True", "False"), "14:25:00"),
        (NODES, ("Ready", "False", "True"), "14:04:30"),
        (pool, ("Degraded", "True", "False"), "14:04:50"),
        (VERSIONS, ("Failing", "True", "False"), "14:04:50"),
    ] {
        let old = bad_at_first(resource, condition, "2026-11-10T09:00:00Z", well);
        assert_eq!(old, expected, "{resource:?} {condition:?}");
        // It is being set up.
        let new = bad_at_first(resource, condition, "2026-11-21T13:59:20Z", well);
        assert!(new.is_empty(), "{resource:?} {condition:?}");
    }
}

#[test]
fn an_operator_whose_creation_is_recorded_may_take_its_time() {
    let mut life = Life::of(&[OPERATORS]);
    let operator = |status: &str, since: &str| {
        json!({"metadata": {"creationTimestamp": "2026-11-21T14:00:00Z"}, "status": {"conditions": [
            {"type": "Available", "status": status, "reason": "Deploying", "lastTransitionTime": since}]}})
    };
    let created = operator("Unknown", "2026-11-21T14:00:00Z");
    life.put(OPERATORS, "olm", created);
    life.until("14:05:00");
    life.put(OPERATORS, "olm", operator("False", "2026-11-21T14:05:00Z"));
    life.until("14:15:00");
    life.put(OPERATORS, "olm", operator("True", "2026-11-21T14:15:00Z"));
    assert!(lines(&life.end("15:00:00")).is_empty());
}

#[test]
fn an_operator_that_no_longer_reports_its_conditions_is_unavailable() {
    let well = || json!({"status": {"conditions": [condition("Available", "True", "", "")]}});
    let mut life = Life::of(&[OPERATORS]);
    // One that is being installed has reported nothing yet.
    life.put(OPERATORS, "olm", json!({}));
    life.put(OPERATORS, "dns", well());
    life.until("14:10:00");
    life.put(OPERATORS, "dns", json!({"status": {}}));
    life.until("14:30:00");
    life.put(OPERATORS, "dns", well());
    let list = life.end("15:00:00");
    assert_eq!(lines(&list), ["ClusterOperator dns NotReported"]);
    let problem = first(&list);
    let expected = "the condition Available is no longer reported";
    assert_eq!(problem.message, expected);
    assert!(problem.to.is_some());
}

/// A cluster whose only Node takes seven minutes, and whose DNS takes longer.
fn young_cluster(created: &str) -> ProblemList {
    let mut life = Life::of(&[NAMESPACES, NODES, DEPLOYMENTS]);
    let namespace = json!({"metadata": {"creationTimestamp": created}});
    life.put(NAMESPACES, "kube-system", namespace);
    let dns = |there: u8, available: &str| {
        json!({
            "spec": {"replicas": 2},
            "status": {"availableReplicas": there, "conditions": [condition("Available", available, "", "")]},
        })
    };
    let node = |ready: &str| {
        json!({"status": {"conditions": [
            condition("Ready", ready, "KubeletNotReady", "network plugin is not ready")]}})
    };
    life.put(NODES, "one", node("False"));
    life.put(DEPLOYMENTS, "kube-system/coredns", dns(0, "False"));
    life.until("14:07:00");
    life.put(NODES, "one", node("True"));
    life.until("14:08:00");
    life.put(DEPLOYMENTS, "kube-system/coredns", dns(2, "True"));
    // Once it is there, it is judged.
    life.until("14:30:00");
    life.put(DEPLOYMENTS, "kube-system/coredns", dns(0, "False"));
    life.until("14:33:00");
    life.put(DEPLOYMENTS, "kube-system/coredns", dns(2, "True"));
    life.end("14:40:00")
}

#[test]
fn what_is_not_well_while_a_cluster_begins_is_one_row() {
    let list = young_cluster("2026-11-21T13:59:30Z");
    assert_eq!(lines(&list), ["Deployment kube-system/coredns Unavailable"]);
    let noise = list.installation.expect("its beginning");
    assert_eq!(noise.object.label(), "Namespace kube-system");
    let completed = noise.completed.map(rfc3339_secs);
    assert_eq!(completed.as_deref(), Some("2026-11-21T14:08:00Z"));
    assert!(noise.count >= 2, "{noise:?}");
}

#[test]
fn without_its_first_minute_a_cluster_has_no_beginning() {
    let list = young_cluster("2026-11-20T09:00:00Z");
    assert!(list.installation.is_none());
    assert!(lines(&list).contains(&"Node one KubeletNotReady".to_owned()));
}

const WEB: &str = "shop/web";

/// A Deployment that is well at the beginning, and then is unavailable again and again: each time so long, and well
/// again so long.
fn comes_and_goes(
    unavailable_ms: i64,
    well_ms: i64,
    times: usize,
) -> (Life, impl Fn(&mut Life, bool)) {
    let deployment = |is_available: bool| {
        let status = if is_available { "True" } else { "False" };
        json!({
            "spec": {"replicas": 1},
            "status": {
                "availableReplicas": u8::from(is_available),
                "conditions": [condition("Available", status, "MinimumReplicas", "")],
            },
        })
    };
    let put = move |life: &mut Life, is_available| {
        life.put(DEPLOYMENTS, WEB, deployment(is_available));
    };
    let mut life = Life::of(&[DEPLOYMENTS]);
    put(&mut life, true);
    for _ in 0..times {
        life.wait(well_ms);
        put(&mut life, false);
        life.wait(unavailable_ms);
        put(&mut life, true);
    }
    (life, put)
}

#[test]
fn what_is_shown_for_a_moment_at_every_change_is_normal_however_often() {
    // 300 times: 90 seconds in all.
    let (life, _) = comes_and_goes(300, 10_000, 300);
    assert!(lines(&life.end("16:00:00")).is_empty());
}

#[test]
fn what_is_shown_for_a_good_part_of_the_time_is_a_problem_though_no_time_is_long() {
    let (life, _) = comes_and_goes(5_000, 20_000, 30);
    let list = life.end("16:00:00");
    assert_eq!(lines(&list), ["Deployment shop/web MinimumReplicas"]);
    assert_eq!(first(&list).count, 30);
}

#[test]
fn moments_before_a_problem_are_no_part_of_it() {
    let (mut life, put) = comes_and_goes(300, 10_000, 20);
    life.until("14:10:00");
    put(&mut life, false);
    life.until("14:11:00");
    put(&mut life, true);
    let list = life.end("16:00:00");
    let from = list.problems.iter().map(|one| rfc3339_secs(one.from.at));
    assert_eq!(from.collect::<Vec<_>>(), ["2026-11-21T14:10:00Z"]);
}

#[test]
fn a_finding_about_an_owner_that_is_not_recorded_names_the_pod_that_showed_it() {
    let mut life = Life::of(&[PODS]);
    let owner = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5d", "uid": "r", "controller": true});
    let mut pod = json!({
        "metadata": {"ownerReferences": [owner]},
        "spec": {"containers": [{"name": "app"}]},
        "status": {"phase": "Running", "containerStatuses": [{
            "name": "app", "ready": false, "restartCount": 6,
            "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}},
            "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}},
        }]},
    });
    life.put(PODS, "shop/web-5d-x", pod.clone());
    life.until("14:10:00");
    pod["status"]["containerStatuses"][0]["restartCount"] = json!(7);
    life.put(PODS, "shop/web-5d-x", pod);
    let report = life.judged("14:20:00");
    let outcomes = report.outcomes.iter();
    let failed = outcomes
        .flat_map(|one| one.findings.iter())
        .filter(|one| one.is_failure());
    let found: Vec<(String, bool)> = failed
        .map(|judged| {
            let subject = &judged.finding.subject;
            let shown = format!(
                "{} {}/{}",
                subject.resource, subject.namespace, subject.name
            );
            (
                shown,
                judged.finding.message.contains("of ReplicaSet shop/web-5d"),
            )
        })
        .collect();
    assert_eq!(found, [("pods shop/web-5d-x".to_owned(), true)]);
}

#[test]
fn a_lost_claim_is_a_finding_where_no_volume_was_recorded() {
    let verdict = |phases: &[&str]| {
        let mut life = Life::of(&[CLAIMS]);
        for (phase, time) in phases.iter().zip(["14:01:00", "14:02:00"]) {
            life.until(time);
            let claim = json!({"status": {"phase": phase}});
            life.put(CLAIMS, "shop/data", claim);
        }
        life.judged("14:20:00").verdict_of("volume-failed")
    };
    assert_eq!(verdict(&["Bound", "Lost"]), Some(CaseVerdict::Fail));
    // That no volume failed is not known without the volumes.
    assert_eq!(verdict(&["Bound"]), Some(CaseVerdict::Skipped));
}

#[test]
fn leaders_of_static_pods_that_are_replaced_in_turn_do_not_flap() {
    let of = |holders: &[&str]| {
        let mut life = Life::of(&[LEASES]);
        for (minute, holder) in holders.iter().enumerate() {
            life.until(&format!("14:0{minute}:30"));
            life.put(LEASES, "kube-system/kube-scheduler", lease(holder));
        }
        lines(&life.end("14:10:00"))
    };
    // Each gives it back before it ends, and the new process of the first one follows.
    let rollout = ["m0_a", "", "m1_b", "", "m2_c", "", "m1_d"];
    assert!(of(&rollout).is_empty());
    let flapping = ["Lease kube-system/kube-scheduler LeaderElectionFlapping"];
    assert_eq!(of(&["m0_a", "m1_b", "m2_c", "m1_d"]), flapping);
    let again = ["m0_a", "", "m1_b", "", "m0_a", "", "m1_b"];
    assert_eq!(of(&again), flapping);
}

#[test]
fn a_custom_resource_that_rests_or_waits_on_purpose_is_not_a_problem() {
    let machines = ("virtualmachines.kubevirt.io", "VirtualMachine");
    let buckets = ("buckets.s3.example.com", "Bucket");
    let clusters = ("clusters.cluster.x-k8s.io", "Cluster");
    let scalers = (
        "podautoscalers.autoscaling.internal.knative.dev",
        "PodAutoscaler",
    );
    let mut life = Life::of(&[machines, buckets, scalers, clusters]);
    let ready = |status: &str, reason: &str| json!([condition("Ready", status, reason, "")]);
    let machine = |strategy: &str, status: &str| {
        json!({"spec": {"runStrategy": strategy},
            "status": {"conditions": ready(status, "VMINotExists")}})
    };
    let paused = |value: &str| {
        json!({"metadata": {"annotations": {"crossplane.io/paused": value}},
            "status": {"conditions": ready("False", "Unavailable")}})
    };
    let scaler =
        |status: &str, reason: &str| json!({"status": {"conditions": ready(status, reason)}});
    life.put(machines, "shop/stopped", machine("Always", "True"));
    life.put(machines, "shop/lost", machine("Always", "True"));
    life.put(scalers, "shop/idle", scaler("True", ""));
    life.put(scalers, "shop/broken", scaler("True", ""));
    life.until("14:10:00");
    life.put(machines, "shop/stopped", machine("Halted", "False"));
    life.put(machines, "shop/lost", machine("Always", "False"));
    life.put(scalers, "shop/idle", scaler("False", "NoTraffic"));
    life.put(scalers, "shop/broken", scaler("False", "Crashed"));
    life.put(buckets, "shop/paused", paused("true"));
    life.put(buckets, "shop/missing", paused("false"));
    for (name, severity) in [("shop/scaled", "Info"), ("shop/stuck", "Error")] {
        let mut waits = condition("Ready", "False", "ScalingUp", "");
        waits["severity"] = json!(severity);
        life.put(clusters, name, json!({"status": {"conditions": [waits]}}));
    }
    let mut found = lines(&life.end("14:40:00"));
    found.sort();
    let expected = [
        "Bucket shop/missing Unavailable",
        "Cluster shop/stuck ScalingUp",
        "PodAutoscaler shop/broken Crashed",
        "VirtualMachine shop/lost VMINotExists",
    ];
    assert_eq!(found, expected);
}

#[test]
fn the_copies_of_a_failed_operator_are_not_problems() {
    let versions = (
        "clusterserviceversions.operators.coreos.com",
        "ClusterServiceVersion",
    );
    let mut life = Life::of(&[versions]);
    let version = |phase: &str, copied: bool| {
        let labels = if copied {
            json!({"olm.copiedFrom": "operators"})
        } else {
            json!({"olm.owner": "global"})
        };
        json!({"metadata": {"labels": labels}, "status": {"phase": phase}})
    };
    for phase in ["Succeeded", "Failed"] {
        life.put(versions, "operators/gate.v1", version(phase, false));
        for copy in ["bank/gate.v1", "shop/gate.v1"] {
            life.put(versions, copy, version(phase, true));
        }
        life.wait(600_000);
    }
    let expected = ["ClusterServiceVersion operators/gate.v1 Failed"];
    assert_eq!(lines(&life.end("14:40:00")), expected);
}

#[test]
fn a_generation_that_each_report_raises_is_never_observed_and_not_a_problem() {
    let widgets = ("widgets.example.com", "Widget");
    let topics = ("topics.example.com", "Topic");
    let mut life = Life::of(&[widgets, topics]);
    let object = |generation: u64, observed: u64| json!({"metadata": {"generation": generation}, "status": {"observedGeneration": observed}});
    // The controller of the topics keeps pace, and is never there for long.
    life.put(topics, "web/busy", object(4, 4));
    life.put(topics, "web/lost", object(4, 4));
    for generation in 5..10 {
        life.put(widgets, "web/w", object(generation, generation - 1));
        life.put(topics, "web/busy", object(generation, generation - 1));
        life.put(topics, "web/lost", object(generation, 4));
        life.wait(100_000);
    }
    life.put(topics, "web/busy", object(9, 9));
    let expected = ["Topic web/lost GenerationNotObserved"];
    assert_eq!(lines(&life.end("14:20:00")), expected);
}

#[test]
fn what_an_object_states_outside_of_its_known_conditions_is_a_problem() {
    let routes = ("routes.route.openshift.io", "Route");
    let hosts = ("baremetalhosts.metal3.io", "BareMetalHost");
    let machines = ("machines.machine.openshift.io", "Machine");
    let mut life = Life::of(&[routes, hosts, machines, CLAIMS, SERVICES, EVENTS]);
    let route = |status: &str, reason: &str| {
        json!({"status": {"ingress": [
            {"routerName": "default", "conditions": [condition("Admitted", status, reason, "")]}]}})
    };
    let host = |word: &str| json!({"status": {"operationalStatus": word}});
    let claim = |status: &str| {
        json!({"status": {"phase": "Bound",
            "conditions": [condition("ControllerResizeError", status, "", "denied")]}})
    };
    let machine = json!({"status": {"phase": "Provisioning"}});
    let balancer = |count: u64| {
        let reason = "SyncLoadBalancerFailed";
        warning("Service shop/web", reason, "quota exceeded", count)
    };
    let service = json!({"spec": {"type": "LoadBalancer"}});
    life.put(SERVICES, "shop/web", service);
    life.put(machines, "api/new", machine.clone());
    for is_well in [true, false] {
        let (admitted, resize, power) = if is_well {
            (route("True", ""), claim("False"), host("OK"))
        } else {
            let route = route("False", "HostAlreadyClaimed");
            (route, claim("True"), host("error"))
        };
        life.put(routes, "shop/web", admitted);
        life.put(hosts, "metal/n1", power);
        life.put(CLAIMS, "shop/data", resize);
        life.put(EVENTS, "shop/web.1", balancer(if is_well { 3 } else { 6 }));
        life.until(if is_well { "14:10:00" } else { "14:55:00" });
    }
    // An hour is normal, and less of it at the end.
    life.put(machines, "api/late", machine);
    let mut found = lines(&life.end("15:02:00"));
    found.sort();
    let expected = [
        "BareMetalHost metal/n1 error",
        "Machine api/new Provisioning",
        "PersistentVolumeClaim shop/data ControllerResizeError",
        "Route shop/web HostAlreadyClaimed",
        "Service shop/web SyncLoadBalancerFailed",
    ];
    assert_eq!(found, expected);
}
