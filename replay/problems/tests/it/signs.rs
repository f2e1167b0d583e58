//! Signs that no single version shows: what is due and does not come, what words name, how a cluster begins.

use super::life::{Life, condition, lines, warning};
use kubereel_history::timetext;
use kubereel_problems::ProblemList;
use serde_json::{Value, json};

const CRON_JOBS: &str = "cronjobs.batch";
const CRON_JOB: &str = "shop/report";
const MISSED: &str = "CronJob shop/report MissSchedule";

fn cron_job(last: &str, suspend: bool) -> Value {
    json!({
        "spec": {"schedule": "*/10 * * * *", "suspend": suspend},
        "status": {"lastScheduleTime": format!("2026-11-21T{last}Z")},
    })
}

fn cron_jobs() -> Life {
    Life::of(&[(CRON_JOBS, "CronJob"), ("configmaps", "ConfigMap")])
}

#[test]
fn a_cron_job_that_does_not_run_is_a_problem_from_when_the_run_was_due() {
    let mut life = cron_jobs();
    life.put(CRON_JOBS, CRON_JOB, cron_job("14:00:00", false));
    let list = life.end("14:15:00");
    assert_eq!(lines(&list), [MISSED]);
    let missed = list.problems.first().expect("a problem");
    assert_eq!(
        timetext::rfc3339_secs(missed.from.at),
        "2026-11-21T14:10:00Z"
    );
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
    let to = list.problems.first().and_then(|one| one.to);
    assert_eq!(
        to.map(timetext::rfc3339_secs).as_deref(),
        Some("2026-11-21T14:30:00Z")
    );
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
    let resource = "certificates.cert-manager.io";
    let mut life = Life::of(&[(resource, "Certificate")]);
    life.put(resource, "shop/late", certificate("2026-11-21T13:05:00Z"));
    life.put(resource, "shop/fine", certificate("2026-11-21T14:30:00Z"));
    let list = life.end("14:40:00");
    assert_eq!(lines(&list), ["Certificate shop/late CertificateExpiring"]);
}

#[test]
fn a_service_that_is_held_in_its_deletion_names_the_finalizer() {
    let mut life = Life::of(&[("services", "Service")]);
    let service = |deleted: Value| {
        json!({
            "metadata": {"deletionTimestamp": deleted, "finalizers": ["service.kubernetes.io/load-balancer-cleanup"]},
            "spec": {"selector": {"app": "web"}},
        })
    };
    life.put("services", "shop/web", service(Value::Null));
    life.until("14:01:00");
    life.put(
        "services",
        "shop/web",
        service(json!("2026-11-21T14:01:00Z")),
    );
    let list = life.end("14:10:00");
    assert_eq!(lines(&list), ["Service shop/web DeletionStuck"]);
    let message = list.problems.first().map(|one| one.message.as_str());
    assert!(message.is_some_and(|message| message.contains("load-balancer-cleanup")));
}

fn full_quota(refusal: Option<&str>) -> ProblemList {
    let mut life = Life::of(&[
        ("resourcequotas", "ResourceQuota"),
        ("replicasets.apps", "ReplicaSet"),
        ("events", "Event"),
    ]);
    life.put(
        "resourcequotas",
        "shop/small",
        json!({"status": {"hard": {"pods": "2", "cpu": "4"}, "used": {"pods": "2", "cpu": "1"}}}),
    );
    let set = json!({"spec": {"replicas": 2}, "status": {"availableReplicas": 2}});
    life.put("replicasets.apps", "shop/web", set);
    life.until("14:01:00");
    if let Some(message) = refusal {
        let said = |count| warning("ReplicaSet", "shop", "web", "FailedCreate", message, count);
        life.put("events", "shop/web.1", said(2));
        life.until("14:01:40");
        life.put("events", "shop/web.1", said(9));
    }
    life.end("14:10:00")
}

#[test]
fn a_quota_that_is_used_up_is_a_problem_only_for_what_it_refuses() {
    assert!(lines(&full_quota(None)).is_empty());
    let of_other = "exceeded quota: other, requested: pods=1, used: pods=2, limited: pods=2";
    assert_eq!(
        lines(&full_quota(Some(of_other))),
        ["ReplicaSet shop/web FailedCreate"]
    );
    let own = "exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2";
    assert_eq!(
        lines(&full_quota(Some(own))),
        [
            "ReplicaSet shop/web FailedCreate",
            "ResourceQuota shop/small QuotaUsedUp"
        ]
    );
}

#[test]
fn a_replica_set_of_nobody_must_have_its_replicas() {
    let sets = "replicasets.apps";
    let mut life = Life::of(&[
        (sets, "ReplicaSet"),
        ("replicationcontrollers", "ReplicationController"),
    ]);
    let replicas =
        |there: u8| json!({"spec": {"replicas": 2}, "status": {"availableReplicas": there}});
    life.put(sets, "shop/bare", replicas(2));
    life.put("replicationcontrollers", "shop/old", replicas(2));
    let mut owned = replicas(0);
    owned["metadata"] = json!({"ownerReferences": [
        {"kind": "Deployment", "name": "web", "uid": "d", "controller": true}]});
    life.put(sets, "shop/owned", owned);
    life.until("14:05:00");
    life.put(sets, "shop/bare", replicas(1));
    life.put("replicationcontrollers", "shop/old", replicas(0));
    let list = life.end("14:20:00");
    assert_eq!(
        lines(&list),
        [
            "ReplicaSet shop/bare ReplicasMissing",
            "ReplicationController shop/old ReplicasMissing"
        ]
    );
}

#[test]
fn requests_for_certificates_that_nobody_approves_are_one_problem() {
    let resource = "certificatesigningrequests.certificates.k8s.io";
    let mut life = Life::of(&[(resource, "CertificateSigningRequest")]);
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
    assert_eq!(
        lines(&list),
        ["CertificateSigningRequest csr-1 SigningRequestPending"]
    );
    assert_eq!(list.problems.first().map(|one| one.count), Some(3));
}

#[test]
fn a_webhook_without_a_service_explains_what_it_refuses() {
    let hooks = "validatingwebhookconfigurations.admissionregistration.k8s.io";
    let mut life = Life::of(&[
        (hooks, "ValidatingWebhookConfiguration"),
        ("events", "Event"),
    ]);
    let service = json!({"namespace": "gate", "name": "gate"});
    life.put(
        hooks,
        "policy",
        json!({"webhooks": [{"name": "pods.gate.example", "clientConfig": {"service": service}}]}),
    );
    life.until("14:05:00");
    let words = "Internal error occurred: failed calling webhook \"pods.gate.example\": failed to call webhook: Post \"https://gate.gate.svc:443/\": service \"gate\" not found";
    for (name, kind) in [("web", "StatefulSet"), ("agent", "DaemonSet")] {
        let event = warning(kind, "shop", name, "FailedCreate", words, 12);
        life.put("events", &format!("shop/{name}.1"), event);
    }
    let list = life.end("14:05:30");
    assert_eq!(
        lines(&list),
        [
            "ValidatingWebhookConfiguration policy WebhookUnavailable",
            "StatefulSet shop/web FailedCreate",
            "DaemonSet shop/agent FailedCreate",
        ]
    );
    let by: Vec<Option<usize>> = list.problems.iter().map(|one| one.consequence_of).collect();
    assert_eq!(by, [None, Some(0), Some(0)]);
}

#[test]
fn a_webhook_that_was_not_reached_for_seconds_is_no_problem() {
    let hooks = "mutatingwebhookconfigurations.admissionregistration.k8s.io";
    let mut life = Life::of(&[(hooks, "MutatingWebhookConfiguration"), ("events", "Event")]);
    life.put(
        hooks,
        "policy",
        json!({"webhooks": [{"name": "pods.gate.example"}]}),
    );
    let words = "failed calling webhook \"pods.gate.example\": connect: connection refused";
    let said = |count| warning("Database", "shop", "orders", "ReconcileError", words, count);
    life.put("events", "shop/orders.1", said(1));
    life.until("14:00:04");
    life.put("events", "shop/orders.1", said(3));
    assert!(lines(&life.end("14:10:00")).is_empty());
}

/// A cluster whose only Node takes seven minutes, and whose DNS takes longer.
fn young_cluster(created: &str) -> ProblemList {
    let mut life = Life::of(&[
        ("namespaces", "Namespace"),
        ("nodes", "Node"),
        ("deployments.apps", "Deployment"),
    ]);
    let namespace = json!({"metadata": {"creationTimestamp": created}});
    life.put("namespaces", "kube-system", namespace);
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
    life.put("nodes", "one", node("False"));
    life.put("deployments.apps", "kube-system/coredns", dns(0, "False"));
    life.until("14:07:00");
    life.put("nodes", "one", node("True"));
    life.until("14:08:00");
    life.put("deployments.apps", "kube-system/coredns", dns(2, "True"));
    // Once it is there, it is judged.
    life.until("14:30:00");
    life.put("deployments.apps", "kube-system/coredns", dns(0, "False"));
    life.until("14:33:00");
    life.put("deployments.apps", "kube-system/coredns", dns(2, "True"));
    life.end("14:40:00")
}

#[test]
fn what_is_not_well_while_a_cluster_begins_is_one_row() {
    let list = young_cluster("2026-11-21T13:59:30Z");
    assert_eq!(lines(&list), ["Deployment kube-system/coredns Unavailable"]);
    let noise = list.installation.expect("its beginning");
    assert_eq!(noise.object.label(), "Namespace kube-system");
    assert_eq!(
        noise.completed.map(timetext::rfc3339_secs).as_deref(),
        Some("2026-11-21T14:08:00Z")
    );
    assert!(noise.count >= 2, "{noise:?}");
}

#[test]
fn without_its_first_minute_a_cluster_has_no_beginning() {
    let list = young_cluster("2026-11-20T09:00:00Z");
    assert!(list.installation.is_none());
    assert!(lines(&list).contains(&"Node one KubeletNotReady".to_owned()));
}
