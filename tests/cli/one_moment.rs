//! What `kubereel problems` and `kubereel test` find in the import of a single moment, in which nothing lasts.

use super::run::{Ran, Reel, assert_has, kubereel};
use serde_json::{Value, json};

const NOW: &str = "2026-11-20T12:00:00Z";

/// Makes an object with the fields of another one.
fn object(kind: &str, created: &str, rest: Value) -> Value {
    let api_version = match kind {
        "StatefulSet" | "DaemonSet" => "apps/v1",
        _ => "v1",
    };
    let mut object = json!({
        "apiVersion": api_version, "kind": kind,
        "metadata": {
            "name": "web", "namespace": "shop", "uid": kind, "generation": 1,
            "creationTimestamp": format!("2026-11-20T{created}Z"),
        },
    });
    if let (Some(fields), Value::Object(rest)) = (object.as_object_mut(), rest) {
        fields.extend(rest);
    }
    object
}

/// Makes a Pod whose container waits for a reason, and which is not ready since a time.
fn waiting(created: &str, reason: &str, not_ready: &str) -> Value {
    let ready = json!({"type": "Ready", "status": "False", "reason": "ContainersNotReady",
        "lastTransitionTime": format!("2026-11-20T{not_ready}Z")});
    let status = json!({"phase": "Pending", "conditions": [ready],
        "containerStatuses": [{"name": "web", "state": {"waiting": {"reason": reason}}}]});
    let spec = json!({"nodeName": "one", "containers": [{"name": "web"}]});
    object("Pod", created, json!({"spec": spec, "status": status}))
}

fn problems_of(object: Value) -> Ran {
    let reel = Reel::import_at(NOW, &[object]);
    kubereel!("problems {reel}")
}

/// Checks that an object at the moment has a problem, with its times.
#[track_caller]
fn is_found(object: Value, times: &str) {
    let page = problems_of(object).out;
    let words = format!("≤ 12:00:00.000Z → end of the recording (seen at one moment){times}\n");
    assert_has(&page, &words);
}

/// Checks that an object at the moment has no problem.
#[track_caller]
fn is_silent(object: Value) {
    problems_of(object).says("no problem found");
}

#[test]
fn a_pod_that_does_not_start_is_a_problem_by_its_own_clock() {
    for reason in [
        "ErrImagePull",
        "ImagePullBackOff",
        "CreateContainerConfigError",
    ] {
        let words = ", not ready since 09:00:00.000Z by its own clock";
        is_found(waiting("09:00:00", reason, "09:00:00"), words);
        is_silent(waiting("11:59:55", reason, "11:59:55"));
        is_silent(waiting("11:00:00", reason, "11:59:59"));
    }
    let words = ", since 09:00:00.000Z by its own clock";
    is_found(waiting("09:00:00", "ContainerCreating", "09:00:00"), words);
    is_silent(waiting("11:59:20", "ContainerCreating", "11:59:20"));
    is_silent(waiting("09:00:00", "ContainerCreating", "11:59:20"));
    let reel = Reel::import_at(NOW, &[waiting("09:00:00", "ErrImagePull", "09:00:00")]);
    kubereel!("test {reel} --only image-pull").code(1);
    let problem = kubereel!("problems {reel} -o json").json();
    assert_eq!(problem["since"], "2026-11-20T09:00:00.000Z");
}

#[test]
fn a_claim_that_was_never_bound_is_pending_since_its_creation() {
    let claim = |created| {
        object(
            "PersistentVolumeClaim",
            created,
            json!({"status": {"phase": "Pending"}}),
        )
    };
    is_found(claim("09:00:00"), ", since 09:00:00.000Z by its own clock");
    is_silent(claim("11:59:58"));
    is_silent(object(
        "PersistentVolumeClaim",
        "09:00:00",
        json!({"spec": {}}),
    ));
}

#[test]
fn a_failure_without_a_clock_has_no_duration() {
    let volume = |created| {
        object(
            "PersistentVolume",
            created,
            json!({"status": {"phase": "Failed"}}),
        )
    };
    is_found(volume("09:00:00"), "");
    is_silent(volume("11:59:55"));
}

#[test]
fn a_workload_lacks_more_at_a_moment_than_an_update_takes_away() {
    let set = |created, ready: u8| {
        let status = json!({"observedGeneration": 1, "replicas": 3, "readyReplicas": ready});
        object(
            "StatefulSet",
            created,
            json!({"spec": {"replicas": 3}, "status": status}),
        )
    };
    is_found(set("09:00:00", 1), "");
    is_silent(set("09:00:00", 2));
    is_silent(set("11:58:00", 0));
    let daemons = |there: u8| {
        let status = json!({"observedGeneration": 1, "desiredNumberScheduled": 3,
            "updatedNumberScheduled": 3, "numberAvailable": there});
        object("DaemonSet", "09:00:00", json!({"status": status}))
    };
    is_found(daemons(1), "");
    is_silent(daemons(2));
}

/// An import of watch events: each at a minute past ten, an object and its resource.
fn watched(lines: &[(u8, &str, Value)]) -> Reel {
    let lines = lines.iter().map(|(minute, resource, object)| {
        json!({"ts": format!("2026-11-20T10:{minute:02}:00Z"), "type": "ADDED", "group": "",
            "version": "v1", "resource": resource, "object": object})
        .to_string()
    });
    Reel::import_text("lines.jsonl", &lines.collect::<Vec<_>>().join("\n"))
}

/// Makes a Secret with a certificate that was made a day before its end.
fn certificate(end: &str) -> Value {
    let annotations = json!({
        "auth.openshift.io/certificate-not-before": format!("2026-11-19T{end}Z"),
        "auth.openshift.io/certificate-not-after": format!("2026-11-20T{end}Z"),
    });
    let metadata = json!({"name": "web", "namespace": "shop", "uid": "Secret",
        "creationTimestamp": "2026-11-19T09:00:00Z", "annotations": annotations});
    object("Secret", "09:00:00", json!({"metadata": metadata}))
}

#[test]
fn a_certificate_expires_in_an_import() {
    // The moment of a file may be years after that of its objects.
    is_silent(certificate("11:00:00"));
    is_silent(certificate("15:00:00"));
    let tick = |minute| {
        (
            minute,
            "configmaps",
            object("ConfigMap", "09:00:00", json!({})),
        )
    };
    let expiring = watched(&[(0, "secrets", certificate("12:30:00")), tick(1), tick(59)]);
    let page = kubereel!("problems {expiring}").out;
    assert_has(&page, "10:06:00.000Z → end of the recording");
    kubereel!("test {expiring} --only certificate-expiring").code(1);
    let lasting = watched(&[(0, "secrets", certificate("15:00:00")), tick(1), tick(59)]);
    kubereel!("problems {lasting}").says("no problem found");
    // Two lists say nothing of the time between them: it was renewed.
    let folder = tempfile::tempdir().expect("a folder");
    let [one, other, reel] = ["1.json", "2.json", "renewed.reel"]
        .map(|name| folder.path().join(name).to_str().expect("text").to_owned());
    for (file, end) in [(&one, "12:30:00"), (&other, "23:30:00")] {
        std::fs::write(file, certificate(end).to_string()).expect("room");
    }
    let times = ["2026-11-20T10:00:00Z", "2026-11-20T13:00:00Z"].map(|at| format!("--at={at}"));
    let [first, second] = &times;
    kubereel(&["import", &one, &other, "-o", &reel, first, second]).ok();
    kubereel!("problems {reel}").says("no problem found");
    // A moment says nothing of the time after it.
    let listed = Reel::import_at("2026-11-20T10:00:00Z", &[certificate("12:30:00")]);
    kubereel!("problems {listed}").says("no problem found");
}

#[test]
fn a_problem_of_the_first_moment_is_looked_at_behind_all_of_it() {
    let pod = waiting("09:00:00", "ErrImagePull", "09:00:00");
    let reel = Reel::import_at(NOW, &[pod, object("ConfigMap", "09:00:00", json!({}))]);
    let page = kubereel!("get {reel} pods,cm -n shop --at problem:1").ok();
    assert_has(&page, "configmap/web");
}
