//! Pods: what their containers, the scheduler and the kubelet say.

use super::Reading;
use crate::sign::{Sign, SignKind};
use kubereel_cluster::{PodStage, StatusCondition, WaitingTrouble};
use kubereel_format::RecordedAt;
use kubereel_history::field::{at, is_being_deleted, is_true, items, number, text, time};
use kubereel_history::timetext;
use serde_json::Value;
use std::time::Duration;

pub(super) const PATHS: &[&str] = &[
    "metadata.labels",
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulingGates",
    "spec.containers.name",
    "spec.containers.resources.limits.memory",
    "spec.containers.startupProbe",
    "status.phase",
    "status.reason",
    "status.message",
    "status.startTime",
    "status.nominatedNodeName",
    "status.containerStatuses",
    "status.initContainerStatuses",
];

/// What it takes to make a container and to report that it has started.
const START: Duration = Duration::from_mins(1);

/// How the kubelet names Pods that it does not admit.
const REJECTED: [&str; 9] = [
    "Evicted",
    "Preempting",
    "OutOfcpu",
    "OutOfmemory",
    "OutOfpods",
    "NodeAffinity",
    "NodePorts",
    "UnexpectedAdmissionError",
    "NodeShutdown",
];

pub(super) fn read(pod: &Value) -> Reading {
    let stage = PodStage::of(pod);
    let mut reading = Reading::new(stage.is_well(), []);
    match stage {
        // When its containers have ended, only finalizers hold it.
        PodStage::Succeeded if is_being_deleted(pod) => return super::resource::deletion(pod),
        PodStage::Terminating if text(pod, "/status/phase") == "Failed" => {
            return super::resource::deletion(pod);
        }
        PodStage::Terminating => {
            reading.signs.push(terminating(pod));
            return reading;
        }
        PodStage::Succeeded => return reading,
        // The Node is gone: the garbage collector marks the Pod just before it deletes it.
        PodStage::Failed(_) if is_collected(pod) => return reading,
        PodStage::Failed(reason) => {
            let mut sign = failed(pod, reason);
            sign.is_final = true;
            reading.signs.push(sign);
            return reading;
        }
        _ => {}
    }
    let lists = ["/status/initContainerStatuses", "/status/containerStatuses"];
    for status in lists.iter().flat_map(|list| items(pod, list)) {
        reading.signs.extend(container(pod, status));
    }
    if reading.signs.is_empty() {
        reading.signs.extend(match stage {
            PodStage::Unschedulable(condition) => unschedulable(pod, &condition),
            PodStage::Pending => Some(not_started(pod)),
            // A readiness gate may be open while all containers are ready.
            PodStage::Ready | PodStage::NotReady => not_ready(pod),
            _ => None,
        });
    }
    reading
}

fn terminating(pod: &Value) -> Sign {
    let deleted = text(pod, "/metadata/deletionTimestamp");
    let finalizers = finalizers(pod);
    let message = if finalizers.is_empty() {
        "its containers do not end".to_owned()
    } else {
        format!("finalizers: {finalizers}")
    };
    Sign::new(SignKind::PodTerminating, "", &message).since(timetext::parsed(deleted))
}

/// Returns the finalizers of an object, with commas between them.
pub(super) fn finalizers(object: &Value) -> String {
    let all = items(object, "/metadata/finalizers").iter();
    let all: Vec<&str> = all.filter_map(Value::as_str).collect();
    all.join(", ")
}

fn is_collected(pod: &Value) -> bool {
    items(pod, "/status/conditions").iter().any(|condition| {
        text(condition, "/type") == "DisruptionTarget"
            && text(condition, "/reason") == "DeletionByPodGC"
    })
}

fn failed(pod: &Value, reason: &str) -> Sign {
    let message = text(pod, "/status/message");
    if REJECTED.contains(&reason) || message.starts_with("Pod was rejected") {
        return Sign::new(SignKind::Evicted, reason, message);
    }
    let ended = items(pod, "/status/containerStatuses").iter();
    let mut bad = ended.filter_map(|status| {
        let ended = at(status, "/state/terminated")?;
        (number(ended, "/exitCode") != Some(0)).then_some((status, ended))
    });
    match bad.next() {
        Some((status, ended)) => exit(pod, status, ended),
        None => Sign::new(SignKind::PodFailed, reason, message),
    }
}

/// Reads one container's status.
fn container(pod: &Value, status: &Value) -> Option<Sign> {
    let name = text(status, "/name");
    let waiting = text(status, "/state/waiting/reason");
    let words = text(status, "/state/waiting/message");
    let waits = |kind| {
        let sign = Sign::new(kind, waiting, words).of_part(name);
        sign.since(not_ready_since(pod))
    };
    let last = at(status, "/lastState/terminated");
    match (WaitingTrouble::of(waiting), last) {
        (Some(WaitingTrouble::Image), _) => return Some(waits(SignKind::ImagePull)),
        (Some(WaitingTrouble::Config), _) => return Some(waits(SignKind::ContainerConfig)),
        (Some(WaitingTrouble::Start), _) => return Some(waits(SignKind::ContainerStart)),
        (Some(WaitingTrouble::CrashLoop), Some(last)) => {
            let mut sign = exit(pod, status, last);
            if sign.kind == SignKind::ContainerExit {
                waiting.clone_into(&mut sign.reason);
            }
            return Some(sign);
        }
        (Some(WaitingTrouble::CrashLoop), None) => {
            return Some(waits(SignKind::ContainerExit).since(None));
        }
        (None, _) => {}
    }
    if let Some(ended) = at(status, "/state/terminated") {
        return (number(ended, "/exitCode") != Some(0)).then(|| exit(pod, status, ended));
    }
    // It runs again, and is not ready again yet: the trouble has not ended.
    let is_back = at(status, "/state/running").is_some() && !is_true(status, "/ready");
    let last = last.filter(|last| is_back && number(last, "/exitCode") != Some(0))?;
    Some(exit(pod, status, last))
}

/// Reads which containers failed and were started again between two versions of a Pod: neither need show it, if the
/// container is ready by the second one.
pub(crate) fn restarts(before: &Value, pod: &Value) -> Vec<Sign> {
    if is_being_deleted(pod) {
        return Vec::new();
    }
    let lists = ["/status/initContainerStatuses", "/status/containerStatuses"];
    let mut signs = Vec::new();
    for list in lists {
        let old = items(before, list);
        for status in items(pod, list) {
            let name = text(status, "/name");
            let old = old.iter().find(|old| text(old, "/name") == name);
            let ended = old.and_then(|old| ended_between(old, status));
            signs.extend(ended.map(|ended| exit(pod, status, ended)));
        }
    }
    signs
}

/// Returns how a container failed last, if it was started again since an older status that does not have this end.
fn ended_between<'a>(old: &'a Value, status: &'a Value) -> Option<&'a Value> {
    let restarts = |status| number(status, "/restartCount").unwrap_or_default();
    let ended = at(status, "/lastState/terminated")?;
    let has_failed = number(ended, "/exitCode").is_some_and(|code| code != 0);
    let run = |ended: &'a Value| (text(ended, "/containerID"), text(ended, "/finishedAt"));
    let is = |shown: &'a Value| run(shown) == run(ended);
    // A container that waits to be started again has its end in the last state already.
    let was_last = at(old, "/state/waiting").and(at(old, "/lastState/terminated"));
    let is_shown = at(old, "/state/terminated").is_some_and(is) || was_last.is_some_and(is);
    (restarts(status) > restarts(old) && has_failed && !is_shown).then_some(ended)
}

/// Returns whether a container of a Pod was ended by a signal, as by a fault of its memory.
pub(crate) fn is_killed_by_signal(pod: &Value) -> bool {
    let states = ["/state/terminated", "/lastState/terminated"];
    items(pod, "/status/containerStatuses")
        .iter()
        .any(|status| {
            let mut ended = states.iter().filter_map(|state| at(status, state));
            ended.any(|ended| number(ended, "/exitCode").is_some_and(|code| code > 128))
        })
}

/// Words the end of a container.
fn exit(pod: &Value, status: &Value, ended: &Value) -> Sign {
    let name = text(status, "/name");
    let code = number(ended, "/exitCode").unwrap_or_default();
    let (reason, words) = (text(ended, "/reason"), text(ended, "/message").trim());
    let restarts = number(status, "/restartCount").unwrap_or_default();
    let mut message = format!("container {name} exited with code {code}");
    if restarts > 0 {
        message = format!("{message}, restart count {restarts}");
    }
    let kind = if reason == "OOMKilled" {
        let limits = items(pod, "/spec/containers").iter();
        let own = limits.filter(|one| text(one, "/name") == name);
        for limit in own.map(|one| text(one, "/resources/limits/memory")) {
            if !limit.is_empty() {
                message = format!("{message}, memory limit {limit}");
            }
        }
        SignKind::OutOfMemory
    } else {
        SignKind::ContainerExit
    };
    if !words.is_empty() {
        message = format!("{message}: {words}");
    }
    Sign::new(kind, reason, &message)
        .of_part(name)
        .since(timetext::parsed(text(ended, "/finishedAt")))
}

/// Reads why the scheduler has no Node; one that others make room for has to wait.
fn unschedulable(pod: &Value, condition: &StatusCondition<'_>) -> Option<Sign> {
    text(pod, "/status/nominatedNodeName").is_empty().then(|| {
        Sign::new(SignKind::Unschedulable, condition.reason, condition.message)
            .since(condition.since())
    })
}

/// Reads why a Pod has not started.
fn not_started(pod: &Value) -> Sign {
    let sign = |reason, words: &str| {
        Sign::new(SignKind::PodPending, reason, words).since(not_ready_since(pod))
    };
    if text(pod, "/spec/nodeName").is_empty() {
        return sign("NotScheduled", "no scheduler has looked at it");
    }
    let init = items(pod, "/status/initContainerStatuses").iter();
    let mut running = init.filter(|one| at(one, "/state/running").is_some());
    if let Some(one) = running.next() {
        let words = format!("waits for init container {}", text(one, "/name"));
        let started = time(one, "/state/running/startedAt");
        let waits = sign("PodInitializing", &words);
        let since = waits.since.max(started);
        return waits.since(since);
    }
    let all = items(pod, "/status/containerStatuses").iter();
    let mut waits = all.map(|one| text(one, "/state/waiting/reason"));
    let why = waits.find(|why| !why.is_empty()).unwrap_or("Pending");
    sign(why, "")
}

/// Returns since when a Pod has not been ready although its Node was to start it, by the Pod itself. One without
/// such a condition was never ready while it is Pending.
fn not_ready_since(pod: &Value) -> Option<RecordedAt> {
    let steps = StatusCondition::all(pod).filter(|one| match one.kind {
        "Ready" | "ContainersReady" => one.is("False"),
        "PodScheduled" | "PodReadyToStartContainers" => one.is("True"),
        _ => false,
    });
    let last = steps.filter_map(|one| one.since()).max();
    last.or_else(|| {
        let begins = ["/status/startTime", "/metadata/creationTimestamp"];
        let begin = begins.iter().find_map(|begin| time(pod, begin));
        begin.filter(|_| text(pod, "/status/phase") == "Pending")
    })
}

/// Reads why a running Pod is not ready.
fn not_ready(pod: &Value) -> Option<Sign> {
    let ready = StatusCondition::all(pod).find(|one| one.kind == "Ready" && one.is("False"))?;
    // The node controller writes this when the Node stops to report: the Node is what does not work.
    let containers = items(pod, "/status/containerStatuses");
    let is_by_node = containers.iter().all(|one| is_true(one, "/ready"));
    if is_by_node && ready.reason.is_empty() {
        return None;
    }
    let mut sign = Sign::new(SignKind::Probe, ready.reason, ready.message).since(ready.since());
    sign.start = start_limit(pod);
    Some(sign)
}

/// Returns how long the startup probes of a Pod, or of a Pod template, let its containers start: the longest, with what it
/// takes to make and report a container.
pub(super) fn start_limit(pod: &Value) -> Option<Duration> {
    let containers = items(pod, "/spec/containers").iter();
    let limits = containers.filter_map(|container| {
        let probe = at(container, "/startupProbe")?;
        let of = |field: &str, default: i64| number(probe, field).unwrap_or(default);
        let tries = of("/failureThreshold", 3).saturating_mul(of("/periodSeconds", 10));
        let secs = of("/initialDelaySeconds", 0).saturating_add(tries);
        Some(Duration::from_secs(u64::try_from(secs).ok()?))
    });
    limits.max().map(|limit| limit.saturating_add(START))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn kinds(pod: &Value) -> Vec<(SignKind, String)> {
        let signs = read(pod).signs.into_iter();
        signs.map(|sign| (sign.kind, sign.reason)).collect()
    }

    #[test]
    fn a_crash_loop_says_how_its_container_ended() {
        let pod = json!({"status": {"phase": "Running", "containerStatuses": [{
            "name": "web", "restartCount": 3, "ready": false,
            "state": {"waiting": {"reason": "CrashLoopBackOff"}},
            "lastState": {"terminated": {"exitCode": 1, "reason": "Error", "message": "no such file\n"}},
        }]}});
        let signs = read(&pod).signs;
        assert_eq!(
            kinds(&pod),
            [(SignKind::ContainerExit, "CrashLoopBackOff".to_owned())]
        );
        assert_eq!(
            signs.first().map(|sign| sign.message.as_str()),
            Some("container web exited with code 1, restart count 3: no such file")
        );
    }

    #[test]
    fn a_pod_that_cannot_start_says_since_when_it_could_have() {
        let since = |mut status: Value| {
            status["phase"] = json!("Pending");
            status["containerStatuses"] =
                json!([{"name": "web", "state": {"waiting": {"reason": "ErrImagePull"}}}]);
            let created = json!({"creationTimestamp": "2026-11-23T09:00:00Z"});
            let signs = read(&json!({"metadata": created, "status": status})).signs;
            let since = signs.first().and_then(|sign| sign.since);
            since.map(timetext::rfc3339_secs)
        };
        let condition = |kind: &str, status: &str, at: &str| json!({"type": kind, "status": status, "lastTransitionTime": at});
        assert_eq!(since(json!({})).as_deref(), Some("2026-11-23T09:00:00Z"));
        let started = json!({"startTime": "2026-11-23T09:00:01Z"});
        assert_eq!(since(started).as_deref(), Some("2026-11-23T09:00:01Z"));
        // It waited for a Node until then.
        let scheduled = json!({"conditions": [
            condition("Ready", "False", "2026-11-23T09:00:01Z"),
            condition("PodScheduled", "True", "2026-11-23T11:59:00Z"),
            condition("Initialized", "True", "2026-11-23T11:59:59Z"),
        ]});
        assert_eq!(since(scheduled).as_deref(), Some("2026-11-23T11:59:00Z"));
        // Its init container has its own time.
        let pod = json!({"spec": {"nodeName": "n"}, "status": {"phase": "Pending",
            "conditions": [condition("Ready", "False", "2026-11-23T09:00:01Z")],
            "initContainerStatuses": [{"name": "setup",
                "state": {"running": {"startedAt": "2026-11-23T09:30:00Z"}}}]}});
        let signs = read(&pod).signs.into_iter();
        let since: Vec<_> = signs.map(|sign| sign.since).collect();
        assert_eq!(since, [timetext::parsed("2026-11-23T09:30:00Z")]);
    }

    #[test]
    fn a_pod_of_a_removed_node_is_collected_and_has_not_failed() {
        let of = |reason: &str| {
            let conditions = [json!({"type": "DisruptionTarget", "reason": reason})];
            kinds(&json!({"status": {"phase": "Failed", "conditions": conditions}}))
        };
        assert!(of("DeletionByPodGC").is_empty());
        assert_eq!(of("TerminationByKubelet").len(), 1);
    }

    #[test]
    fn a_pod_that_ended_is_held_in_its_deletion_by_finalizers_only() {
        for phase in ["Succeeded", "Failed"] {
            let mut pod = json!({
                "metadata": {"deletionTimestamp": "2026-11-23T10:00:00Z"},
                "status": {"phase": phase},
            });
            assert!(kinds(&pod).is_empty(), "{phase}");
            pod["metadata"]["finalizers"] = json!(["batch.kubernetes.io/job-tracking"]);
            let found: Vec<SignKind> = kinds(&pod).into_iter().map(|(kind, _)| kind).collect();
            assert_eq!(found, [SignKind::DeletionStuck]);
        }
    }

    #[test]
    fn a_kill_for_memory_names_the_limit() {
        let pod = json!({
            "spec": {"containers": [{"name": "web", "resources": {"limits": {"memory": "64Mi"}}}]},
            "status": {"phase": "Running", "containerStatuses": [{
                "name": "web", "restartCount": 1,
                "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}},
            }]}
        });
        let signs = read(&pod).signs;
        assert_eq!(
            kinds(&pod),
            [(SignKind::OutOfMemory, "OOMKilled".to_owned())]
        );
        assert!(
            signs
                .iter()
                .all(|sign| sign.message.ends_with("memory limit 64Mi"))
        );
    }

    #[test]
    fn pods_that_are_well_or_done_have_no_sign() {
        let ready = json!([{"name": "a", "ready": true, "restartCount": 4, "state": {"running": {}},
            "lastState": {"terminated": {"exitCode": 1}}}]);
        assert!(
            kinds(&json!({"status": {"phase": "Running", "containerStatuses": ready}})).is_empty()
        );
        assert!(kinds(&json!({"status": {"phase": "Succeeded"}})).is_empty());
        let gated = json!({"status": {"phase": "Pending", "conditions": [
            {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]}});
        assert!(kinds(&gated).is_empty());
    }

    #[test]
    fn a_restart_is_read_from_two_versions_if_neither_shows_the_end() {
        let status = |restarts: u64, code: u64, finished: &str| {
            json!({"name": "web", "ready": true, "restartCount": restarts, "state": {"running": {}},
                "lastState": {"terminated": {"exitCode": code, "finishedAt": finished}}})
        };
        let pod =
            |status: Value| json!({"status": {"phase": "Running", "containerStatuses": [status]}});
        let of = |before: Value, now: Value| restarts(&pod(before), &pod(now)).len();
        let (one, two) = ("2026-11-23T10:00:00Z", "2026-11-23T10:01:00Z");
        let new =
            json!({"name": "web", "ready": true, "restartCount": 0, "state": {"running": {}}});
        assert_eq!(of(new.clone(), status(1, 137, one)), 1);
        assert_eq!(of(status(1, 137, one), status(2, 1, two)), 1);
        // An end without an error is none, and what was so before is not news.
        assert_eq!(of(new, status(1, 0, one)), 0);
        assert_eq!(of(status(1, 1, one), status(1, 1, one)), 0);
        let ended = json!({"name": "web", "restartCount": 0,
            "state": {"terminated": {"exitCode": 1, "finishedAt": one}}});
        assert_eq!(of(ended.clone(), status(1, 1, one)), 0);
        assert_eq!(of(ended, status(2, 1, two)), 1);
    }

    #[test]
    fn a_deleted_pod_whose_containers_ended_is_held_by_its_finalizers_only() {
        let of = |phase: &str, finalizers: Value| {
            kinds(&json!({"status": {"phase": phase}, "metadata": {
                "deletionTimestamp": "2026-11-23T10:00:00Z", "finalizers": finalizers}}))
        };
        let kinds = |found: Vec<(SignKind, String)>| found.into_iter().map(|(kind, _)| kind);
        assert!(kinds(of("Succeeded", json!([]))).eq([]));
        assert!(kinds(of("Failed", json!(["backup"]))).eq([SignKind::DeletionStuck]));
        assert!(kinds(of("Running", json!(["backup"]))).eq([SignKind::PodTerminating]));
    }

    #[test]
    fn a_pod_that_its_node_made_unready_blames_the_node() {
        let pod = json!({"status": {"phase": "Running",
            "conditions": [{"type": "Ready", "status": "False"}],
            "containerStatuses": [{"name": "a", "ready": true, "state": {"running": {}}}]}});
        assert!(kinds(&pod).is_empty());
    }
}
