//! Version Pods: each failed attempt is reported with its whole course.

use crate::verdicts::judged::{Verdicts, judged};
use crate::verdicts::reel::Reel;
use serde_json::{Value, json};

const CASE: &str =
    "[bz-Cluster Version Operator] release payloads should be retrieved at the first attempt";
const NAMESPACE: &str = "openshift-cluster-version";

fn pod(name: &str) -> Value {
    json!({
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "labels": {"k8s-app": "retrieve-openshift-release"},
        },
        "spec": {
            "nodeName": "master-0",
            "restartPolicy": "OnFailure",
            "initContainers": [{"name": "cleanup", "image": "registry.a.example.org/release"}],
        },
        "status": {"phase": "Pending"},
    })
}

fn waits(reason: &str, message: &str) -> Value {
    json!({"status": {"initContainerStatuses": [
        {"name": "cleanup", "state": {"waiting": {"reason": reason, "message": message}}},
        {"name": "make-temporary-directory", "state": {"waiting": {"reason": "PodInitializing"}}},
    ]}})
}

fn path(name: &str) -> String {
    format!("{NAMESPACE}/{name}")
}

fn judge(reel: Reel) -> Verdicts {
    judged(reel.until("10:30:00"), "version-pods")
}

#[test]
fn an_attempt_that_succeeds_passes_even_after_a_pull_that_failed() {
    let name = "version--aaaaa";
    let reel = Reel::cluster()
        .at("10:05:00")
        .put(pod(name))
        .at("10:05:02")
        .change("Pod", &path(name), waits("ErrImagePull", "i/o timeout"))
        .at("10:05:20")
        .change(
            "Pod",
            &path(name),
            json!({"status": {"phase": "Succeeded"}}),
        );
    judge(reel).passes(CASE);
}

#[test]
fn a_failed_attempt_is_told_with_states_events_and_what_the_version_said() {
    let name = "version--bbbbb";
    let told = format!(
        "Retrieving payload failed failure=Unable to download and prepare the update: pod {name} failed at pending"
    );
    let reel = Reel::cluster()
        .at("10:05:00")
        .put(pod(name))
        .at("10:05:02.500")
        .change(
            "Pod",
            &path(name),
            waits("ErrImagePull", "manifest unknown"),
        )
        .at("10:05:03")
        .event(
            "ClusterVersion",
            "openshift-cluster-version/version",
            "RetrievePayloadFailed",
            &told,
        )
        .at("10:05:04")
        .version_says("ReleaseAccepted", "False", "RetrievePayload", &told)
        .at("10:05:05")
        .gone("Pod", &path(name));
    let verdicts = judge(reel);
    verdicts.is(CASE, "flake");
    for text in [
        "attempt 1 of 1 failed: version Pod version--bbbbb on master-0: ErrImagePull",
        "image registry.a.example.org/release",
        "10:05:02.500Z the Pod is Init:ErrImagePull: manifest unknown",
        "10:05:03.000Z RetrievePayload failed: Retrieving payload failed",
        "10:05:05.000Z the Pod was deleted",
        "10:05:04.000Z ClusterVersion reported ReleaseAccepted=False (RetrievePayload): Retrieving payload failed",
    ] {
        verdicts.says(CASE, "10:05:00", text);
    }
}

#[test]
fn an_attempt_begins_with_the_event_of_its_begin_before_its_pod() {
    let name = "version--ddddd";
    let about = "openshift-cluster-version/version";
    let reel = Reel::cluster()
        .at("10:04:59.900")
        .event(
            "ClusterVersion",
            about,
            "RetrievePayload",
            "Retrieving and verifying payload",
        )
        .at("10:05:00")
        .put(pod(name))
        .at("10:05:02")
        .change(
            "Pod",
            &path(name),
            waits("ErrImagePull", "manifest unknown"),
        )
        .at("10:05:05")
        .gone("Pod", &path(name));
    let verdicts = judge(reel);
    verdicts.says(CASE, "10:04:59.900", "attempt 1 of 1 failed");
    assert_eq!(verdicts.findings(CASE).len(), 1);
}

#[test]
fn a_deadline_and_a_failure_before_any_pod_are_attempts_too() {
    let name = "version-5.1.0-ccccc";
    let failed = json!({"status": {
        "phase": "Failed",
        "reason": "DeadlineExceeded",
        "message": "Pod was active on the node longer than the specified deadline",
    }});
    let reel = Reel::cluster()
        .at("10:04:00")
        .event(
            "ClusterVersion",
            "openshift-cluster-version/version",
            "RetrievePayloadFailed",
            "Retrieving payload failed failure=The update cannot be verified: unable to verify",
        )
        .at("10:05:00")
        .put(pod(name))
        .at("10:07:00")
        .change("Pod", &path(name), failed);
    let verdicts = judge(reel);
    verdicts.is(CASE, "flake");
    verdicts.says(
        CASE,
        "10:04:00",
        "attempt 1 of 2 failed before there was a version Pod",
    );
    verdicts.says(CASE, "10:04:00", "The update cannot be verified");
    verdicts.says(
        CASE,
        "10:05:00",
        "attempt 2 of 2 failed: version Pod version-5.1.0-ccccc",
    );
    verdicts.says(
        CASE,
        "10:05:00",
        "10:07:00.000Z the Pod is DeadlineExceeded: Pod was active",
    );
}

#[test]
fn without_pods_recorded_nothing_is_said() {
    let reel = Reel::cluster().without("Pod").at("10:05:00");
    judge(reel).is(CASE, "skipped");
}

#[test]
fn a_version_that_cannot_be_read_hides_no_attempt() {
    let odd = json!({"status": "odd"});
    let name = "version-5.1.0-ddddd";
    let reel = Reel::cluster()
        .at("10:05:00")
        .put(pod(name))
        .at("10:07:00")
        .change("Pod", &path(name), json!({"status": {"phase": "Failed"}}))
        .at("10:08:00")
        .change("ClusterVersion", "version", odd.clone());
    let verdicts = judge(reel);
    verdicts.is(CASE, "flake");
    verdicts.says(CASE, "10:05:00", "attempt 1 of 1 failed");
    // There may have been an attempt that the version would show.
    let reel = Reel::cluster()
        .at("10:08:00")
        .change("ClusterVersion", "version", odd);
    judge(reel).is(CASE, "unknown");
}
