//! When what an object shows is a problem of its own, when it is over, and when it is normal.

use super::life::{
    CLAIMS, CONFIG_MAPS, CRON_JOBS, DAEMON_SETS, DEPLOYMENTS, EVENTS, JOBS, Life, NAMESPACES,
    NODES, OPERATORS, PODS, REPLICA_SETS, RecordedResource, SERVICES, SLICES, STATEFUL_SETS,
    VERSIONS, condition, consequences, first, line, lines, owned_by, problem_of, selector, warning,
};
use kubereel_history::timetext::rfc3339_secs;
use kubereel_monitortests::CaseVerdict;
use kubereel_problems::{Problem, ProblemList};
use serde_json::{Value, json};

/// A Pod of a workload on a Node, with its phase.
fn pod(workload: RecordedResource, name: &str, node: &str, phase: &str) -> Value {
    let owners = owned_by(workload, &format!("shop/{name}"));
    json!({"metadata": {"ownerReferences": owners}, "spec": {"nodeName": node},
        "status": {"phase": phase, "reason": "Evicted", "message": "low on memory"}})
}

/// A Deployment with its replicas: wanted, updated, available.
fn deployment(wanted: i64, updated: i64, available: i64) -> Value {
    let is_available = if available * 4 >= wanted * 3 {
        "True"
    } else {
        "False"
    };
    json!({"metadata": {"generation": 1}, "spec": {"replicas": wanted,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%"}}},
        "status": {"observedGeneration": 1, "replicas": wanted, "updatedReplicas": updated,
            "availableReplicas": available,
            "conditions": [condition("Available", is_available, "Replicas", "replicas")]}})
}

/// A Pod whose container waits, for a reason.
fn waiting(reason: &str) -> Value {
    json!({"metadata": {}, "spec": {"containers": [{"name": "app"}]}, "status": {"phase": "Pending",
        "containerStatuses": [{"name": "app", "ready": false, "state": {"waiting": {"reason": reason, "message": "m"}}}]}})
}

fn running() -> Value {
    json!({"metadata": {}, "spec": {"containers": [{"name": "app"}]}, "status": {"phase": "Running",
        "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": [{"name": "app", "ready": true, "state": {"running": {}}}]}})
}

#[test]
fn a_list_after_a_gap_proves_what_goes_on_and_dates_no_deletion() {
    let mut life = Life::of(&[PODS]);
    for name in ["shop/stays", "shop/goes"] {
        life.put(PODS, name, waiting("ImagePullBackOff"));
    }
    life.until("14:10:00");
    life.lose(PODS);
    life.until("14:20:00");
    life.relist_without(PODS, "14:10:00", "shop/goes");
    let list = life.end("14:30:00");
    assert_eq!(end_of(&list, "stays"), "open");
    let unseen = "changes may be missing since 2026-11-21T14:10:00Z";
    assert_eq!(end_of(&list, "goes"), unseen);
}

fn active() -> Value {
    json!({"metadata": {}, "status": {"phase": "Active"}})
}

#[test]
fn a_namespace_that_was_made_again_has_problems() {
    let mut life = Life::of(&[NAMESPACES, PODS]);
    life.put(NAMESPACES, "e2e", active());
    life.until("14:10:00");
    let going = json!({"metadata": {"deletionTimestamp": "2026-11-21T14:10:00Z"}, "status": {"phase": "Terminating"}});
    life.put(NAMESPACES, "e2e", going);
    life.put(PODS, "e2e/old", waiting("ImagePullBackOff"));
    life.wait(8_000);
    life.delete(PODS, "e2e/old");
    life.delete(NAMESPACES, "e2e");
    life.until("14:15:00");
    life.put(NAMESPACES, "e2e", active());
    life.until("14:25:00");
    life.put(PODS, "e2e/new", waiting("ImagePullBackOff"));
    let list = life.end("14:40:00");
    assert_eq!(lines(&list), ["Pod e2e/new ImagePullBackOff"]);
}

/// A Pod whose init container failed once, and whose container was killed for lack of memory, or is ready.
fn killed(is_killed: bool) -> Value {
    let failed = json!({"terminated": {"exitCode": 1, "reason": "Error"}});
    let init = json!({"name": "init", "ready": true, "restartCount": 1,
        "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}, "lastState": failed});
    let (state, last) = if is_killed {
        let last = json!({"terminated": {"exitCode": 137, "reason": "OOMKilled"}});
        (json!({"waiting": {"reason": "CrashLoopBackOff"}}), last)
    } else {
        (json!({"running": {}}), json!({}))
    };
    json!({"metadata": {}, "spec": {"initContainers": [{"name": "init"}], "containers": [{"name": "app"}]},
        "status": {"phase": "Running", "initContainerStatuses": [init], "containerStatuses": [
            {"name": "app", "ready": !is_killed, "restartCount": 0, "state": state, "lastState": last}]}})
}

/// A Pod whose init container fails first, and whose container is killed some minutes later, before it was well for
/// a minute.
fn killed_later() -> Life {
    let mut life = Life::of(&[PODS]);
    let failed = json!({"terminated": {"exitCode": 1, "reason": "Error"}});
    let starting = json!({"metadata": {}, "spec": {"initContainers": [{"name": "init"}], "containers": [{"name": "app"}]},
        "status": {"phase": "Pending",
            "initContainerStatuses": [{"name": "init", "ready": false, "restartCount": 1,
                "state": {"running": {}}, "lastState": failed}],
            "containerStatuses": [{"name": "app", "ready": false, "state": {"waiting": {"reason": "PodInitializing"}}}]}});
    life.put(PODS, "shop/m", starting);
    life.until("14:03:30");
    life.put(PODS, "shop/m", killed(false));
    life.until("14:04:00");
    life.put(PODS, "shop/m", killed(true));
    life.until("14:05:00");
    life.put(PODS, "shop/m", killed(false));
    life
}

#[test]
fn a_container_that_is_started_after_a_crash_loop_has_not_failed_again() {
    let failed = json!({"terminated": {"exitCode": 1, "reason": "Error", "containerID": "cri-o://1",
        "finishedAt": "2026-11-21T14:00:00Z"}});
    let status = |ready: bool, restarts: u64, state: Value| {
        json!({"metadata": {}, "spec": {"containers": [{"name": "app"}]},
            "status": {"phase": "Running", "containerStatuses": [
                {"name": "app", "ready": ready, "restartCount": restarts, "state": state, "lastState": failed}]}})
    };
    let mut life = Life::of(&[PODS]);
    let waiting = json!({"waiting": {"reason": "CrashLoopBackOff"}});
    life.put(PODS, "shop/m", status(false, 1, waiting));
    life.until("14:04:00");
    life.put(PODS, "shop/m", status(true, 2, json!({"running": {}})));
    let list = life.end("14:40:00");
    assert_eq!(lines(&list), ["Pod shop/m CrashLoopBackOff"]);
    let problem = first(&list);
    assert!(problem.later_reason().is_none(), "{problem:#?}");
}

#[test]
fn the_sign_that_names_a_problem_has_its_own_times() {
    let list = killed_later().end("14:40:00");
    assert_eq!(lines(&list), ["Pod shop/m OOMKilled"]);
    let problem = first(&list);
    let time = |at| rfc3339_secs(at);
    assert_eq!(time(problem.from.at), "2026-11-21T14:00:00Z");
    let later = problem.later_reason().map(|mark| time(mark.at));
    assert_eq!(later.as_deref(), Some("2026-11-21T14:04:00Z"));

    let report = killed_later().judged("14:40:00");
    let outcomes = report.outcomes.iter();
    let mut own = outcomes.filter(|one| one.about.id == "container-out-of-memory");
    let findings = &own.next().expect("the rule").findings;
    let found: Vec<_> = findings
        .iter()
        .map(|judged| (time(judged.finding.from), judged.finding.to.map(time)))
        .collect();
    let to = Some("2026-11-21T14:05:00Z".to_owned());
    assert_eq!(found, [("2026-11-21T14:04:00Z".to_owned(), to)]);
}

#[test]
fn a_rule_dates_a_problem_that_is_open_by_the_first_sign_of_the_kind() {
    let mut life = Life::of(&[PODS, DEPLOYMENTS]);
    life.put(DEPLOYMENTS, "shop/web", deployment(1, 1, 0));
    let mut failing = waiting("ErrImagePull");
    failing["metadata"] = pod(DEPLOYMENTS, "web", "", "")["metadata"].take();
    life.until("14:10:00");
    life.put(PODS, "shop/web-1", failing.clone());
    life.until("14:20:00");
    life.delete(PODS, "shop/web-1");
    life.put(PODS, "shop/web-2", failing);
    let report = life.judged("14:40:00");
    let outcomes = report.outcomes.iter();
    let mut own = outcomes.filter(|one| one.about.id == "image-pull");
    let findings = &own.next().expect("the rule").findings;
    let found: Vec<_> = findings
        .iter()
        .map(|judged| (rfc3339_secs(judged.finding.from), judged.finding.to))
        .collect();
    assert_eq!(found, [("2026-11-21T14:10:00Z".to_owned(), None)]);
}

#[test]
fn a_failure_after_the_start_was_well_is_another_problem_and_fails_its_own_rule() {
    let crashed = || {
        let mut pod = waiting("CrashLoopBackOff");
        pod["status"]["containerStatuses"][0]["lastState"] =
            json!({"terminated": {"exitCode": 1, "reason": "Error"}});
        pod
    };
    let life = |well_until: &str| {
        let mut life = Life::of(&[PODS]);
        life.put(PODS, "shop/px", waiting("ErrImagePull"));
        life.until("14:01:00");
        life.put(PODS, "shop/px", running());
        life.until(well_until);
        life.put(PODS, "shop/px", crashed());
        life
    };
    let named = |list: &ProblemList| -> Vec<(String, bool)> {
        let problems = list.problems.iter();
        problems.map(|one| (line(one), one.to.is_none())).collect()
    };
    let crash = ("Pod shop/px CrashLoopBackOff".to_owned(), true);
    let list = life("14:05:00").end("14:15:00");
    let pull = ("Pod shop/px ErrImagePull".to_owned(), false);
    assert_eq!(named(&list), [crash.clone(), pull]);
    // The sign that is there names the problem, not the one that is over.
    let list = life("14:01:30").end("14:15:00");
    assert_eq!(named(&list), [crash]);
    let report = life("14:01:30").judged("14:15:00");
    let verdict = report.verdict_of("container-exit");
    assert_eq!(verdict, Some(CaseVerdict::Fail));
}

#[test]
fn restarts_that_no_version_shows_are_a_problem_with_a_count() {
    let restarted = |restarts: u64| {
        let mut pod = running();
        let status = &mut pod["status"]["containerStatuses"][0];
        status["restartCount"] = json!(restarts);
        status["lastState"] = json!({"terminated": {"exitCode": 1, "reason": "Error",
            "finishedAt": format!("2026-11-21T14:{restarts:02}:00Z")}});
        pod
    };
    let life = |first: u64, last: u64| {
        let mut life = Life::of(&[PODS]);
        life.find(PODS, "shop/px", restarted(first));
        for restarts in first + 1..=last {
            life.wait(30_000);
            life.put(PODS, "shop/px", restarted(restarts));
        }
        life
    };
    // What was restarted before the recording was not seen to restart.
    assert!(lines(&life(3, 3).end("14:15:00")).is_empty());
    let list = life(3, 7).end("14:15:00");
    assert_eq!(lines(&list), ["Pod shop/px Error"]);
    let one = first(&list);
    assert_eq!((one.count, one.is_open()), (4, false));
    assert_eq!(one.message, "container app exited with code 1, 7 restarts");
    let report = life(3, 7).judged("14:15:00");
    let verdict = report.verdict_of("container-exit");
    assert_eq!(verdict, Some(CaseVerdict::Fail));
}

#[test]
fn a_restart_by_the_reboot_of_a_drained_node_is_no_problem() {
    let of = |is_cordoned: bool| {
        let mut life = Life::of(&[NODES, PODS]);
        let node = |is_cordoned: bool| {
            json!({"metadata": {}, "spec": {"unschedulable": is_cordoned},
                "status": {"conditions": [condition("Ready", "True", "KubeletReady", "")]}})
        };
        let pod = |restarts: u64| {
            let mut pod = running();
            pod["spec"]["nodeName"] = json!("n1");
            let status = &mut pod["status"]["containerStatuses"][0];
            status["restartCount"] = json!(restarts);
            status["lastState"] = json!({"terminated": {"exitCode": 255, "reason": "Unknown"}});
            pod
        };
        life.find(NODES, "n1", node(false));
        life.find(PODS, "shop/px", pod(0));
        life.until("14:01:00");
        life.put(NODES, "n1", node(is_cordoned));
        life.until("14:03:00");
        life.put(PODS, "shop/px", pod(1));
        lines(&life.end("14:05:00"))
    };
    assert!(of(true).is_empty());
    assert_eq!(of(false), ["Pod shop/px Unknown"]);
}

#[test]
fn a_claim_that_lost_its_volume_is_lost_whatever_it_was_before() {
    let claim = |phase: &str| json!({"metadata": {}, "spec": {}, "status": {"phase": phase}});
    for is_replaced in [false, true] {
        let mut life = Life::of(&[CLAIMS]);
        life.until("14:01:00");
        life.put(CLAIMS, "shop/data", claim("Pending"));
        life.until("14:03:00");
        if is_replaced {
            life.delete(CLAIMS, "shop/data");
        }
        let uid = if is_replaced {
            "another"
        } else {
            "persistentvolumeclaims shop/data"
        };
        life.put_as(uid, CLAIMS, "shop/data", claim("Bound"));
        life.until("14:05:00");
        life.put_as(uid, CLAIMS, "shop/data", claim("Lost"));
        let list = life.end("14:15:00");
        let open: Vec<String> = list.open().map(line).collect();
        assert_eq!(open, ["PersistentVolumeClaim shop/data Lost"]);
        let all = list.problems.len();
        assert_eq!(all, 2, "it was pending before: {:?}", lines(&list));
    }
}

#[test]
fn what_conditions_and_events_say_is_counted_once() {
    let mut life = Life::of(&[EVENTS, DEPLOYMENTS, REPLICA_SETS]);
    let quota = "exceeded quota";
    let failing = |mut object: Value| {
        let refused = condition("ReplicaFailure", "True", "FailedCreate", quota);
        object["status"]["conditions"] = json!([refused]);
        object
    };
    let set = json!({"metadata": {"ownerReferences": owned_by(DEPLOYMENTS, "shop/web")},
        "spec": {"replicas": 3}, "status": {}});
    life.put(DEPLOYMENTS, "shop/web", deployment(3, 3, 3));
    life.put(REPLICA_SETS, "shop/web-1", set.clone());
    life.until("14:10:00");
    life.put(DEPLOYMENTS, "shop/web", failing(deployment(3, 3, 2)));
    life.put(REPLICA_SETS, "shop/web-1", failing(set));
    for count in [1, 5] {
        let event = warning("ReplicaSet shop/web-1", "FailedCreate", quota, count);
        life.put(EVENTS, "shop/web-1.1", event);
        life.wait(20_000);
    }
    let list = life.end("14:20:00");
    assert_eq!(lines(&list), ["Deployment shop/web FailedCreate"]);
    assert_eq!(list.problems.first().map(|one| one.count), Some(5));
}

#[test]
fn a_workload_that_lacks_pods_quotes_what_events_say_of_them() {
    let lacking = |at: &str, of: &str, reason: &str| {
        let mut life = Life::of(&[EVENTS, PODS, DEPLOYMENTS]);
        life.put(DEPLOYMENTS, "shop/api", deployment(1, 1, 1));
        life.put(PODS, "shop/api-1", api_pod("n1", "True"));
        let event = warning(&format!("Pod shop/{of}"), reason, "it fails", 1);
        if at < "14:10:00" {
            life.until(at);
            life.put(EVENTS, "shop/api.1", event.clone());
        }
        life.until("14:10:00");
        let mut going = api_pod("n1", "True");
        going["metadata"]["deletionTimestamp"] = json!("2026-11-21T14:10:30Z");
        life.put(PODS, "shop/api-1", going);
        let starting = pod(DEPLOYMENTS, "api", "n1", "Pending");
        life.put(PODS, "shop/api-2", starting);
        life.put(DEPLOYMENTS, "shop/api", deployment(1, 1, 0));
        if at > "14:10:00" {
            life.until(at);
            life.put(EVENTS, "shop/api.1", event);
        }
        life.until("14:10:15");
        life.delete(PODS, "shop/api-1");
        life.until("14:10:45");
        life.put(PODS, "shop/api-2", api_pod("n1", "True"));
        life.put(DEPLOYMENTS, "shop/api", deployment(1, 1, 1));
        let list = life.end("14:20:00");
        assert_eq!(lines(&list), ["Deployment shop/api Replicas"]);
        let message = list.problems.first().map(|one| one.message.clone());
        message.unwrap_or_default()
    };
    let then = "14:10:05";
    for reason in ["FailedMount", "Unhealthy"] {
        let expected = format!("replicas; Pod shop/api-2 {reason}: it fails");
        assert_eq!(lacking(then, "api-2", reason), expected);
    }
    // What is being deleted need not be ready; and this was long before.
    assert_eq!(lacking(then, "api-1", "Unhealthy"), "replicas");
    assert_eq!(lacking("14:05:00", "api-2", "FailedMount"), "replicas");
}

#[test]
fn what_starts_when_the_recording_ends_needs_a_sixth_of_its_time_to_fail() {
    let ends = |is_pending: bool, failures: u64, time: &str| {
        let mut life = Life::of(&[EVENTS, PODS]);
        life.until("14:01:00");
        let mut starting = agent("n1", "False");
        if is_pending {
            starting = pod(JOBS, "agent", "n1", "Pending");
        }
        life.put(PODS, "shop/agent-1", starting);
        if failures > 0 {
            let words = "Readiness probe failed: connection refused";
            let event = warning("Pod shop/agent-1", "Unhealthy", words, failures);
            life.put(EVENTS, "shop/agent-1.1", event);
        }
        !lines(&life.end(time)).is_empty()
    };
    assert!(!ends(true, 0, "14:01:45"));
    assert!(ends(true, 0, "14:01:55"));
    assert!(!ends(false, 0, "14:01:45"));
    assert!(ends(false, 0, "14:01:55"));
    assert!(!ends(false, 1, "14:01:45"));
    assert!(!ends(false, 3, "14:01:15"));
    assert!(ends(false, 3, "14:01:25"));
}

#[test]
fn a_failed_job_is_listed_although_another_job_of_its_name_succeeds() {
    let job = |kind: &str| json!({"metadata": {}, "spec": {}, "status": {"conditions": [condition(kind, "True", "BackoffLimitExceeded", "m")]}});
    let mut life = Life::of(&[JOBS]);
    life.until("14:01:00");
    life.put_as("first", JOBS, "shop/import", job("Failed"));
    life.until("14:03:00");
    life.delete(JOBS, "shop/import");
    life.put_as("second", JOBS, "shop/import", job("Complete"));
    let list = life.end("14:15:00");
    assert_eq!(lines(&list), ["Job shop/import BackoffLimitExceeded"]);
    assert_eq!(end_of(&list, "import"), "2026-11-21T14:03:00Z");
}

#[test]
fn a_reason_is_not_said_of_the_time_before_it() {
    let version = |status: &str, reason: &str| json!({"metadata": {}, "status": {"conditions": [condition("Failing", status, reason, "m")]}});
    let mut life = Life::of(&[VERSIONS]);
    life.put(VERSIONS, "version", version("False", ""));
    for (time, reason) in [
        ("14:10:00", "ClusterOperatorDegraded"),
        ("14:20:00", "MultipleErrors"),
        ("14:25:00", "ClusterOperatorDegraded"),
        ("14:30:00", "MultipleErrors"),
    ] {
        life.until(time);
        life.put(VERSIONS, "version", version("True", reason));
    }
    let list = life.end("14:50:00");
    assert_eq!(lines(&list), ["ClusterVersion version MultipleErrors"]);
    let problem = first(&list);
    let later = problem.later_reason().expect("another reason");
    assert_eq!(rfc3339_secs(later.at), "2026-11-21T14:20:00Z");
}

#[test]
fn a_failing_version_is_explained_by_the_operator_that_it_named_first() {
    let mut life = Life::of(&[VERSIONS, OPERATORS]);
    let operator = |degraded: &str| {
        json!({"metadata": {}, "status": {"conditions": [
            condition("Available", "True", "", ""), condition("Degraded", degraded, "SyncError", "m")]}})
    };
    let version = |status: &str, message: &str| {
        json!({"metadata": {}, "status": {
            "desired": {"version": "4.21.1", "image": "4.21.1"},
            "history": [{"state": "Completed", "version": "4.21.1", "image": "4.21.1",
                "startedTime": "2026-11-20T10:00:00Z", "completionTime": "2026-11-20T11:00:00Z"}],
            "conditions": [condition("Failing", status, "ClusterOperatorDegraded", message)]}})
    };
    let failing = |by: &str| version("True", &format!("Cluster operator {by} is degraded"));
    for name in ["etcd", "dns"] {
        life.put(OPERATORS, name, operator("False"));
    }
    life.find(VERSIONS, "version", version("False", ""));
    life.until("14:10:00");
    life.put(OPERATORS, "etcd", operator("True"));
    life.wait(2_000);
    life.put(VERSIONS, "version", failing("etcd"));
    life.until("14:10:40");
    life.put(OPERATORS, "etcd", operator("False"));
    life.put(OPERATORS, "dns", operator("True"));
    life.wait(2_000);
    life.put(VERSIONS, "version", failing("dns"));
    life.until("14:25:00");
    life.put(VERSIONS, "version", version("False", ""));
    let list = life.end("14:30:00");
    let failing = problem_of(&list, "ClusterVersion version");
    let by = failing.consequence_of.and_then(|by| list.problems.get(by));
    assert_eq!(by.map(|by| by.object.name.as_str()), Some("etcd"));
    assert_eq!(failing.message, "Cluster operator dns is degraded");
    assert_eq!(failing.consequence_words(), "began as a consequence of");
}

#[test]
fn another_object_of_the_name_ends_a_problem() {
    let node = |ready: &str| json!({"metadata": {}, "status": {"conditions": [condition("Ready", ready, "Kubelet", "m")]}});
    let mut life = Life::of(&[NODES, PODS]);
    life.put(NODES, "n0", node("False"));
    life.put(PODS, "shop/web", waiting("ImagePullBackOff"));
    life.until("14:10:00");
    // No deletion was recorded.
    life.put_as("another", NODES, "n0", node("True"));
    life.put_as("another", PODS, "shop/web", running());
    life.until("14:20:00");
    // Of what is gone, a late deletion says nothing.
    life.delete(NODES, "n0");
    let list = life.end("14:40:00");
    assert_eq!(list.problems.len(), 2);
    for name in ["n0", "web"] {
        assert_eq!(end_of(&list, name), "2026-11-21T14:10:00Z");
    }
}

/// A Node that is ready, and takes Pods or not.
fn node(is_cordoned: bool) -> Value {
    json!({"metadata": {}, "spec": {"unschedulable": is_cordoned},
        "status": {"conditions": [condition("Ready", "True", "r", "m")]}})
}

/// A Pod of the Deployment `shop/api` on a Node.
fn api_pod(node: &str, ready: &str) -> Value {
    let mut pod = pod(DEPLOYMENTS, "api", node, "Running");
    pod["status"]["conditions"] = json!([{"type": "Ready", "status": ready}]);
    pod
}

/// The slice of the Service `shop/api`, with its Pods.
fn api_slice(pods: &[&str]) -> Value {
    let endpoints = pods.iter().map(|pod| {
        json!({"conditions": {"ready": true},
            "targetRef": {"kind": "Pod", "name": pod, "uid": format!("pods shop/{pod}")}})
    });
    json!({"metadata": {"labels": {"kubernetes.io/service-name": "api"}},
        "endpoints": endpoints.collect::<Vec<Value>>()})
}

/// Two Nodes, two Pods of a Deployment and a Service; the Node of the first Pod is cordoned, and the Pod evicted.
fn drained() -> Life {
    let mut life = Life::of(&[NODES, PODS, SERVICES, SLICES, DEPLOYMENTS]);
    for name in ["n1", "n2"] {
        life.put(NODES, name, node(false));
    }
    life.put(DEPLOYMENTS, "shop/api", deployment(1, 1, 1));
    life.put(SERVICES, "shop/api", selector("api"));
    life.put(PODS, "shop/api-1", api_pod("n1", "True"));
    life.put(SLICES, "shop/api-1", api_slice(&["api-1"]));
    life.until("14:10:00");
    life.put(NODES, "n1", node(true));
    life.wait(1_000);
    life.delete(PODS, "shop/api-1");
    life
}

/// Lists the problems that were not planned.
fn unplanned(list: &ProblemList) -> Vec<String> {
    let all = list.problems.iter().filter(|problem| !problem.is_planned);
    all.map(line).collect()
}

#[test]
fn a_drain_plans_what_lacks_its_pods_until_they_are_replaced() {
    let mut life = drained();
    life.put(SLICES, "shop/api-1", api_slice(&[]));
    life.put(DEPLOYMENTS, "shop/api", deployment(1, 1, 0));
    life.put(PODS, "shop/api-2", api_pod("n2", "False"));
    life.until("14:12:00");
    life.put(PODS, "shop/api-2", api_pod("n2", "True"));
    life.put(SLICES, "shop/api-1", api_slice(&["api-2"]));
    life.put(DEPLOYMENTS, "shop/api", deployment(1, 1, 1));
    life.put(NODES, "n1", node(false));
    let list = life.end("14:30:00");
    assert_eq!(list.problems.len(), 2);
    assert!(unplanned(&list).is_empty(), "{:?}", unplanned(&list));
}

#[test]
fn what_lacks_pods_after_those_of_a_drain_were_replaced_was_not_planned() {
    let mut life = drained();
    life.put(SLICES, "shop/api-1", api_slice(&[]));
    life.put(DEPLOYMENTS, "shop/api", deployment(1, 1, 0));
    life.put(PODS, "shop/api-2", api_pod("n2", "False"));
    life.wait(8_000);
    life.put(PODS, "shop/api-2", api_pod("n2", "True"));
    life.put(SLICES, "shop/api-1", api_slice(&["api-2"]));
    life.put(DEPLOYMENTS, "shop/api", deployment(1, 1, 1));
    life.until("14:10:30");
    // Its label is changed, so that it is no longer one of them; the Node still takes no Pods.
    let mut released = api_pod("n2", "True");
    released["metadata"] = json!({"labels": {"app": "other"}});
    life.put(PODS, "shop/api-2", released);
    life.put(SLICES, "shop/api-1", api_slice(&[]));
    life.put(DEPLOYMENTS, "shop/api", deployment(1, 1, 0));
    life.until("14:10:45");
    life.put(NODES, "n1", node(false));
    life.until("14:12:00");
    life.put(SLICES, "shop/api-1", api_slice(&["api-2"]));
    life.put(DEPLOYMENTS, "shop/api", deployment(1, 1, 1));
    let expected = [
        "Deployment shop/api Replicas",
        "Service shop/api NoReadyEndpoints",
    ];
    assert_eq!(unplanned(&life.end("14:30:00")), expected);
}

#[test]
fn a_cordon_alone_plans_nothing() {
    let mut life = Life::of(&[NODES, PODS, DEPLOYMENTS]);
    life.put(NODES, "n1", node(false));
    life.put(DEPLOYMENTS, "shop/api", deployment(1, 1, 1));
    life.put(PODS, "shop/api-1", api_pod("n2", "True"));
    life.until("14:10:00");
    life.put(NODES, "n1", node(true));
    life.wait(5_000);
    life.delete(PODS, "shop/api-1");
    life.put(DEPLOYMENTS, "shop/api", deployment(1, 1, 0));
    life.until("14:20:00");
    life.put(DEPLOYMENTS, "shop/api", deployment(1, 1, 1));
    life.put(NODES, "n1", node(false));
    let list = life.end("14:30:00");
    // No Pod of it was there.
    assert_eq!(unplanned(&list), ["Deployment shop/api Replicas"]);
}

/// A Node that reports `Ready`, and takes Pods or not.
fn reported(ready: &str, is_cordoned: bool) -> Value {
    json!({"metadata": {}, "spec": {"unschedulable": is_cordoned},
        "status": {"conditions": [condition("Ready", ready, "NodeStatusUnknown", "stopped posting")]}})
}

/// A Pod of an agent on a Node.
fn agent(node: &str, ready: &str) -> Value {
    let mut pod = pod(JOBS, "agent", node, "Running");
    pod["spec"]["containers"] = json!([{"name": "app"}]);
    pod["status"]["conditions"] = json!([condition("Ready", ready, "ContainersNotReady", "m")]);
    pod["status"]["containerStatuses"] =
        json!([{"name": "app", "ready": ready == "True", "state": {"running": {}}}]);
    pod
}

#[test]
fn what_outlasts_a_planned_problem_is_told_by_itself() {
    let mut life = Life::of(&[NODES, PODS]);
    life.put(NODES, "n1", reported("True", true));
    life.put(PODS, "shop/agent-1", agent("n1", "True"));
    life.until("14:10:00");
    life.put(NODES, "n1", reported("Unknown", true));
    life.put(PODS, "shop/agent-1", agent("n1", "False"));
    life.until("14:11:00");
    life.put(NODES, "n1", reported("True", false));
    let list = life.end("14:20:00");
    assert_eq!(consequences(&list), [None, None]);
    assert_eq!(unplanned(&list), ["Job shop/agent ContainersNotReady"]);
    let told = |all: Vec<&Problem>| all.into_iter().map(line).collect::<Vec<_>>();
    assert_eq!(told(list.roots().collect()), unplanned(&list));
    assert_eq!(told(list.open().collect()), unplanned(&list));
}

#[test]
fn exits_long_after_a_planned_reboot_are_not_part_of_it() {
    let mut life = rebooted(true);
    life.until("14:06:00");
    life.put(NODES, "n1", node(false));
    let exited = |restarts: u64| {
        let mut pod = agent("n1", "False");
        let status = &mut pod["status"]["containerStatuses"][0];
        status["restartCount"] = json!(restarts);
        status["lastState"] = json!({"terminated": {"exitCode": 1, "reason": "Error"}});
        pod
    };
    for restarts in 2..7 {
        life.until(&format!("14:2{restarts}:00"));
        life.put(PODS, "shop/agent-1", exited(restarts));
        life.wait(20_000);
        life.put(PODS, "shop/agent-1", agent("n1", "True"));
    }
    let list = life.end("14:50:00");
    assert_eq!(unplanned(&list), ["Job shop/agent Error"]);
}

#[test]
fn exits_with_the_reboots_of_several_nodes_are_planned() {
    let mut life = Life::of(&[NODES, PODS]);
    let exited = |node: &str| {
        let mut pod = agent(node, "True");
        let status = &mut pod["status"]["containerStatuses"][0];
        status["restartCount"] = json!(1);
        status["lastState"] = json!({"terminated": {"exitCode": 255, "reason": "Unknown"}});
        pod
    };
    for name in ["n1", "n2"] {
        life.put(NODES, name, reported("True", false));
        life.put(PODS, &format!("shop/{name}"), agent(name, "True"));
    }
    for (name, minute) in [("n1", 10), ("n2", 25)] {
        life.until(&format!("14:{minute}:00"));
        life.put(NODES, name, reported("True", true));
        life.wait(30_000);
        life.put(NODES, name, reported("Unknown", true));
        life.wait(60_000);
        life.put(NODES, name, reported("True", false));
        life.wait(20_000);
        life.put(PODS, &format!("shop/{name}"), exited(name));
    }
    let list = life.end("14:50:00");
    assert!(unplanned(&list).is_empty(), "{:?}", unplanned(&list));
    let mut lines = list.problems.iter().map(line);
    assert!(lines.any(|line| line.starts_with("Job shop/agent")));
}

#[test]
fn a_reboot_that_the_recording_does_not_show_the_end_of_is_planned_for_some_time() {
    let ends = |time: &str| {
        let mut life = Life::of(&[NODES, PODS]);
        life.put(NODES, "n1", reported("True", false));
        life.put(PODS, "shop/agent-1", agent("n1", "True"));
        life.until("14:09:00");
        life.put(NODES, "n1", reported("True", true));
        life.until("14:10:00");
        life.put(NODES, "n1", reported("Unknown", true));
        life.put(PODS, "shop/agent-1", agent("n1", "False"));
        life.end(time)
    };
    let list = ends("14:10:45");
    assert_eq!(list.problems.len(), 2);
    assert!(unplanned(&list).is_empty(), "{:?}", unplanned(&list));
    assert_eq!(list.found(), "no problem found, 2 disruptions planned");
    let list = ends("14:31:00");
    let expected = [
        "Node n1 NodeStatusUnknown",
        "Node n1 NodeCordoned",
        "Job shop/agent ContainersNotReady",
    ];
    assert_eq!(unplanned(&list), expected);
}

#[test]
fn a_reboot_that_the_recording_begins_in_is_planned_if_the_node_is_cordoned() {
    let begins = |since: &str, is_cordoned: bool| {
        let mut life = Life::of(&[NODES]);
        let mut node = reported("Unknown", is_cordoned);
        node["metadata"]["creationTimestamp"] = json!("2026-11-01T00:00:00Z");
        node["status"]["conditions"][0]["lastTransitionTime"] =
            json!(format!("2026-11-21T{since}Z"));
        life.find(NODES, "n1", node);
        life.until("14:02:00");
        life.put(NODES, "n1", reported("True", is_cordoned));
        unplanned(&life.end("14:05:00"))
    };
    let lost = ["Node n1 NodeStatusUnknown"];
    assert!(begins("13:59:00", true).is_empty());
    assert_eq!(begins("13:59:00", false), lost);
    assert_eq!(begins("12:00:00", true), lost);
}

#[test]
fn a_node_that_the_autoscaler_removes_is_no_outage() {
    let removed = |is_tainted: bool| {
        let mut life = Life::of(&[NODES]);
        let node = |ready: &str, is_tainted: bool| {
            let mut node = reported(ready, false);
            if is_tainted {
                node["spec"]["taints"] =
                    json!([{"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"}]);
            }
            node
        };
        life.put(NODES, "n1", node("True", false));
        life.until("14:10:00");
        life.put(NODES, "n1", node("True", is_tainted));
        life.until("14:11:00");
        life.put(NODES, "n1", node("Unknown", is_tainted));
        life.until("14:12:00");
        life.delete(NODES, "n1");
        life
    };
    let rules = [
        "node-not-ready",
        "node-unexpected-not-ready",
        "node-unexpected-unreachable",
    ];
    let failed = |life: Life| {
        let report = life.judged("14:20:00");
        rules.map(|rule| report.verdict_of(rule) == Some(CaseVerdict::Fail))
    };
    assert!(unplanned(&removed(true).end("14:20:00")).is_empty());
    let lost = removed(false).end("14:20:00");
    assert_eq!(unplanned(&lost), ["Node n1 NodeStatusUnknown"]);
    assert_eq!(failed(removed(true)), [false, false, false]);
    // No taint says that it is unreachable.
    assert_eq!(failed(removed(false)), [true, true, false]);
}

#[test]
fn the_node_of_the_failure_that_is_there_at_the_end_explains_a_problem() {
    let mut life = Life::of(&[NODES, PODS]);
    for (node, pod) in [("n1", "shop/agent-1"), ("n2", "shop/agent-2")] {
        life.put(NODES, node, reported("True", false));
        life.put(PODS, pod, agent(node, "True"));
    }
    life.until("14:09:00");
    life.put(NODES, "n1", reported("True", true));
    life.until("14:10:00");
    life.put(NODES, "n1", reported("Unknown", true));
    life.put(PODS, "shop/agent-1", agent("n1", "False"));
    life.until("14:11:00");
    life.put(NODES, "n1", reported("True", false));
    life.put(PODS, "shop/agent-1", agent("n1", "True"));
    life.until("14:14:00");
    life.put(NODES, "n2", reported("True", true));
    life.until("14:15:00");
    life.put(NODES, "n2", reported("Unknown", true));
    life.put(PODS, "shop/agent-2", agent("n2", "False"));
    let list = life.end("14:16:00");
    let agent = problem_of(&list, "Job shop/agent");
    let by = agent.consequence_of.and_then(|by| list.problems.get(by));
    assert_eq!(by.map(|by| by.object.name.as_str()), Some("n2"));
    assert!(unplanned(&list).is_empty(), "{:?}", unplanned(&list));
}

#[test]
fn another_kind_of_fault_long_after_the_first_is_another_problem() {
    let mut life = Life::of(&[PODS]);
    life.put(PODS, "shop/web", running());
    life.until("14:10:00");
    life.put(PODS, "shop/web", waiting("ImagePullBackOff"));
    life.until("14:12:00");
    life.put(PODS, "shop/web", running());
    life.until("14:35:00");
    life.put(PODS, "shop/web", waiting("CreateContainerConfigError"));
    let list = life.end("14:50:00");
    let mut found = lines(&list);
    found.sort();
    let expected = [
        "Pod shop/web CreateContainerConfigError",
        "Pod shop/web ImagePullBackOff",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_claim_that_wants_no_class_waits_for_no_pod() {
    let pending = |class: &Value| {
        let classes = ("storageclasses.storage.k8s.io", "StorageClass");
        let mut life = Life::of(&[CLAIMS, classes]);
        let late = json!({"metadata": {}, "volumeBindingMode": "WaitForFirstConsumer"});
        life.put(classes, "late", late);
        life.put(CLAIMS, "shop/data",
            json!({"metadata": {}, "spec": {"storageClassName": class}, "status": {"phase": "Pending"}}));
        lines(&life.end("15:00:00"))
    };
    assert!(pending(&json!("late")).is_empty());
    let waits = ["PersistentVolumeClaim shop/data Pending"];
    assert_eq!(pending(&json!("")), waits);
}

#[test]
fn a_rollout_within_its_bounds_is_a_problem_only_if_a_step_does_not_end() {
    let rolled = |step_millis: i64| {
        let mut life = Life::of(&[DEPLOYMENTS, DAEMON_SETS]);
        let agent = |updated: i64, available: i64| {
            json!({"metadata": {"generation": 1}, "spec": {"updateStrategy": {"rollingUpdate": {"maxUnavailable": 1}}},
                "status": {"observedGeneration": 1, "desiredNumberScheduled": 20,
                    "updatedNumberScheduled": updated, "numberAvailable": available}})
        };
        life.put(DEPLOYMENTS, "shop/web", deployment(40, 40, 40));
        life.put(DAEMON_SETS, "shop/agent", agent(20, 20));
        life.until("14:05:00");
        for updated in 0..20 {
            life.put(DEPLOYMENTS, "shop/web", deployment(40, 2 * updated, 32));
            life.put(DAEMON_SETS, "shop/agent", agent(updated, 19));
            life.wait(step_millis);
        }
        life.put(DEPLOYMENTS, "shop/web", deployment(40, 40, 40));
        life.put(DAEMON_SETS, "shop/agent", agent(20, 20));
        lines(&life.end("23:00:00"))
    };
    assert!(rolled(30_000).is_empty(), "10 minutes of 20 steps");
    let mut stuck = rolled(11 * 60_000);
    stuck.sort();
    let expected = [
        "DaemonSet shop/agent ReplicasMissing",
        "Deployment shop/web ReplicasMissing",
    ];
    assert_eq!(stuck, expected);
}

#[test]
fn replicas_beyond_the_bounds_of_a_rollout_are_missing() {
    let mut life = Life::of(&[DEPLOYMENTS]);
    life.put(DEPLOYMENTS, "shop/web", deployment(40, 40, 40));
    life.until("14:05:00");
    life.put(DEPLOYMENTS, "shop/web", deployment(40, 10, 20));
    life.until("14:09:00");
    life.put(DEPLOYMENTS, "shop/web", deployment(40, 40, 40));
    assert_eq!(lines(&life.end("15:00:00")).len(), 1);
}

#[test]
fn an_evicted_pod_is_over_when_its_workload_has_all_replicas_again() {
    let mut life = Life::of(&[PODS, DEPLOYMENTS]);
    life.put(DEPLOYMENTS, "shop/web", deployment(1, 1, 1));
    let runs = pod(DEPLOYMENTS, "web", "n1", "Running");
    life.put(PODS, "shop/web-1", runs);
    life.until("14:10:00");
    let evicted = pod(DEPLOYMENTS, "web", "n1", "Failed");
    life.put(PODS, "shop/web-1", evicted);
    life.put(DEPLOYMENTS, "shop/web", deployment(1, 1, 0));
    life.until("14:10:10");
    life.put(DEPLOYMENTS, "shop/web", deployment(1, 1, 1));
    let list = life.end("16:00:00");
    assert_eq!(lines(&list), ["Deployment shop/web Evicted"]);
    let problem = first(&list);
    let lasted = problem.to.map(|to| to.micros_since(problem.from.at));
    let is_short = lasted.is_some_and(|micros| micros < 15_000_000);
    assert!(is_short, "{lasted:?}");
}

#[test]
fn a_deployment_has_the_pods_of_a_replica_set_that_was_not_recorded() {
    let listed = |hash: &str| {
        let mut life = Life::of(&[PODS, DEPLOYMENTS]);
        life.put(DEPLOYMENTS, "shop/web", deployment(1, 1, 0));
        let mut pod = waiting("CrashLoopBackOff");
        pod["metadata"] = json!({"labels": {"pod-template-hash": hash}, "ownerReferences": [
            {"kind": "ReplicaSet", "name": "web-7d9f", "uid": "unseen", "controller": true}]});
        life.put(PODS, "shop/web-7d9f-x", pod);
        lines(&life.end("16:00:00"))
    };
    assert_eq!(listed("7d9f"), ["Deployment shop/web CrashLoopBackOff"]);
    // A label that somebody gave says nothing.
    let both = [
        "ReplicaSet shop/web-7d9f CrashLoopBackOff",
        "Deployment shop/web Replicas",
    ];
    assert_eq!(listed("9f"), both);
}

#[test]
fn a_failed_run_is_over_with_the_next_one_that_succeeds() {
    let job = |kind: &str| {
        json!({"metadata": {"ownerReferences": owned_by(CRON_JOBS, "shop/report")},
            "spec": {}, "status":  {"conditions": [condition(kind, "True", "BackoffLimitExceeded", "m")]}})
    };
    let mut life = Life::of(&[JOBS, CRON_JOBS]);
    let suspended = json!({"metadata": {}, "spec": {"schedule": "*/10 * * * *", "suspend": true}});
    life.put(CRON_JOBS, "shop/report", suspended);
    life.until("14:10:00");
    life.put(JOBS, "shop/report-1", job("Failed"));
    life.until("14:20:00");
    life.put(JOBS, "shop/report-2", job("Complete"));
    let list = life.end("16:00:00");
    assert_eq!(lines(&list), ["CronJob shop/report BackoffLimitExceeded"]);
    assert!(first(&list).to.is_some());
}

#[test]
fn a_deletion_may_wait_for_others_for_five_minutes() {
    let held = |until: &str| {
        let mut life = Life::of(&[NODES, CONFIG_MAPS]);
        let mut map = json!({"metadata": {"finalizers": ["example.org/held"]}});
        life.put(CONFIG_MAPS, "shop/held", map.clone());
        life.until("14:10:00");
        map["metadata"]["deletionTimestamp"] = json!("2026-11-21T14:10:00Z");
        life.put(CONFIG_MAPS, "shop/held", map);
        life.until(until);
        life.delete(CONFIG_MAPS, "shop/held");
        lines(&life.end("16:00:00"))
    };
    assert!(held("14:14:00").is_empty());
    assert_eq!(held("14:16:00"), ["ConfigMap shop/held DeletionStuck"]);
}

#[test]
fn warnings_of_two_pods_of_one_name_are_not_one_trouble() {
    let failed_mount = |uid: &str| {
        let mut event = warning("Pod shop/db-0", "FailedMount", "not there", 1);
        event["involvedObject"]["uid"] = json!(uid);
        event
    };
    let mut life = Life::of(&[EVENTS]);
    life.until("14:01:00");
    life.put(EVENTS, "shop/one", failed_mount("u1"));
    life.until("16:30:00");
    life.put(EVENTS, "shop/two", failed_mount("u2"));
    assert!(lines(&life.end("17:00:00")).is_empty());
    let mut life = Life::of(&[EVENTS]);
    life.until("14:01:00");
    life.put(EVENTS, "shop/one", failed_mount("u1"));
    life.wait(120_000);
    life.put(EVENTS, "shop/two", failed_mount("u1"));
    assert_eq!(lines(&life.end("17:00:00")), ["Pod shop/db-0 FailedMount"]);
}

#[test]
fn any_kind_of_workload_is_enough_to_judge_replicas() {
    let mut life = Life::of(&[STATEFUL_SETS]);
    let set = |ready: i64| json!({"metadata": {}, "spec": {"replicas": 3}, "status": {"readyReplicas": ready}});
    life.put(STATEFUL_SETS, "shop/db", set(3));
    life.until("14:10:00");
    life.put(STATEFUL_SETS, "shop/db", set(2));
    let verdict = life.judged("15:00:00").verdict_of("workload-replicas");
    assert_eq!(verdict, Some(CaseVerdict::Fail));
}

#[test]
fn troubles_of_one_object_that_was_well_in_between_are_two_problems() {
    let node = |ready: &str, pressure: &str| {
        json!({"metadata": {}, "spec": {}, "status": {"conditions": [
            condition("Ready", ready, "NodeStatusUnknown", "stopped posting"),
            condition("DiskPressure", pressure, "KubeletHasDiskPressure", "the disk is full")]}})
    };
    let mut life = Life::of(&[NODES]);
    for (time, ready, pressure) in [
        ("14:00:00", "True", "False"),
        ("14:10:00", "Unknown", "False"),
        ("14:11:00", "True", "False"),
        ("14:19:00", "True", "True"),
        ("14:20:40", "True", "False"),
    ] {
        life.until(time);
        life.put(NODES, "n1", node(ready, pressure));
    }
    let list = life.end("14:50:00");
    let mut found: Vec<(String, Option<i64>)> = list
        .problems
        .iter()
        .map(|one| {
            let lasted = one.to.map(|to| to.micros_since(one.from.at) / 1_000_000);
            (line(one), lasted)
        })
        .collect();
    found.sort_unstable();
    let expected = [
        ("Node n1 KubeletHasDiskPressure".to_owned(), Some(100)),
        ("Node n1 NodeStatusUnknown".to_owned(), Some(60)),
    ];
    assert_eq!(found, expected);
}

#[test]
fn an_outage_soon_after_a_planned_one_is_a_problem_of_its_own() {
    let mut life = Life::of(&[NODES]);
    life.put(NODES, "n1", reported("True", false));
    for (time, ready, is_cordoned) in [
        ("14:10:00", "True", true),
        ("14:11:00", "Unknown", true),
        ("14:13:00", "True", false),
        ("14:19:00", "Unknown", false),
        ("14:27:00", "True", false),
    ] {
        life.until(time);
        life.put(NODES, "n1", reported(ready, is_cordoned));
    }
    let list = life.end("14:50:00");
    assert_eq!(list.problems.len(), 2);
    let own = list.problems.iter().find(|one| !one.is_planned);
    let from = own.map(|one| rfc3339_secs(one.from.at));
    assert_eq!(from.as_deref(), Some("2026-11-21T14:19:00Z"));
}

#[test]
fn a_cordon_without_a_drain_plans_no_outage_later() {
    let outage = |is_drained: bool| {
        let mut life = Life::of(&[NODES, PODS]);
        life.put(NODES, "n1", reported("True", false));
        life.put(PODS, "shop/api-1", api_pod("n1", "True"));
        life.until("14:10:00");
        life.put(NODES, "n1", reported("True", true));
        life.until("14:48:00");
        if is_drained {
            life.delete(PODS, "shop/api-1");
        }
        life.until("14:50:00");
        life.put(NODES, "n1", reported("Unknown", true));
        life.until("14:58:00");
        life.put(NODES, "n1", reported("True", false));
        unplanned(&life.end("15:02:00"))
    };
    assert_eq!(outage(true), [""; 0]);
    assert_eq!(outage(false), ["Node n1 NodeStatusUnknown"]);
}

#[test]
fn a_workload_that_is_scaled_up_starts_what_it_never_had() {
    let scaled = |after: i64, seconds: i64| {
        let mut life = Life::of(&[DEPLOYMENTS]);
        life.put(DEPLOYMENTS, "shop/api", deployment(2, 2, 2));
        life.until("14:20:00");
        life.put(DEPLOYMENTS, "shop/api", deployment(10, 10, after));
        life.wait(seconds * 1_000);
        life.put(DEPLOYMENTS, "shop/api", deployment(10, 10, 10));
        lines(&life.end("14:50:00"))
    };
    assert!(scaled(2, 45).is_empty());
    let lacks = ["Deployment shop/api Replicas"];
    assert_eq!(scaled(1, 45), lacks, "one was lost");
    assert_eq!(scaled(2, 400), lacks);
}

#[test]
fn a_container_starts_as_long_as_its_startup_probe_allows() {
    let slow = |seconds: i64| {
        let pod = |ready: &str| {
            json!({"metadata": {"creationTimestamp": "2026-11-21T14:10:00Z"},
                "spec": {"nodeName": "n1", "containers": [{"name": "app",
                    "startupProbe": {"periodSeconds": 10, "failureThreshold": 60}}]},
                "status": {"phase": "Running",
                    "conditions": [condition("Ready", ready, "ContainersNotReady", "m")],
                    "containerStatuses": [{"name": "app", "ready": ready == "True",
                        "state": {"running": {"startedAt": "2026-11-21T14:10:00Z"}}}]}})
        };
        let mut life = Life::of(&[PODS]);
        life.until("14:10:00");
        life.put(PODS, "shop/slow", pod("False"));
        life.wait(seconds * 1_000);
        life.put(PODS, "shop/slow", pod("True"));
        lines(&life.end("14:50:00"))
    };
    assert!(slow(590).is_empty());
    assert_eq!(slow(900), ["Pod shop/slow ContainersNotReady"]);
}

#[test]
fn a_release_that_fails_after_another_was_accepted_is_a_problem_of_its_own() {
    let version = |accepted: &str, started: &str| {
        json!({"metadata": {}, "status": {
            "history": [{"state": "Completed", "version": "4", "image": "4",
                "startedTime": started, "completionTime": started}],
            "conditions": [condition("ReleaseAccepted", accepted, "RetrievePayload", "manifest unknown"),
                condition("Available", "True", "", "")]}})
    };
    let mut life = Life::of(&[VERSIONS]);
    for (time, accepted, started) in [
        ("14:00:00", "True", "2026-11-20T10:00:00Z"),
        ("14:10:00", "False", "2026-11-20T10:00:00Z"),
        ("14:12:00", "True", "2026-11-21T14:12:00Z"),
        ("14:22:00", "False", "2026-11-21T14:12:00Z"),
    ] {
        life.until(time);
        life.put(VERSIONS, "version", version(accepted, started));
    }
    let list = life.end("14:40:00");
    let from = list.problems.iter().map(|one| rfc3339_secs(one.from.at));
    let mut from: Vec<String> = from.collect();
    from.sort_unstable();
    assert_eq!(from, ["2026-11-21T14:10:00Z", "2026-11-21T14:22:00Z"]);
}

/// What is listed of a `ClusterVersion` with some conditions at times of the day; at 14:00 it is well.
fn version_with(steps: &[(&str, Value)]) -> ProblemList {
    let mut life = Life::of(&[VERSIONS]);
    let well = json!([
        condition("Available", "True", "", ""),
        condition("Failing", "False", "", "")
    ]);
    for (time, conditions) in std::iter::once(&("14:00:00", well)).chain(steps) {
        life.until(time);
        let installed = json!([{"state": "Completed", "version": "4", "image": "4",
            "startedTime": "2026-11-20T10:00:00Z", "completionTime": "2026-11-20T11:00:00Z"}]);
        let status = json!({"history": installed, "conditions": conditions});
        let version = json!({"metadata": {}, "status": status});
        life.put(VERSIONS, "version", version);
    }
    life.end("15:30:00")
}

#[test]
fn a_version_that_fails_again_for_another_operator_is_another_problem() {
    let failing = |status: &str, operator: &str| {
        let message = format!("Cluster operator {operator} is not available");
        let failing = condition("Failing", status, "ClusterOperatorNotAvailable", &message);
        json!([condition("Available", "True", "", ""), failing])
    };
    let list = version_with(&[
        ("14:10:00", failing("True", "console")),
        ("14:10:06", failing("False", "")),
        ("14:10:30", failing("True", "dns")),
        ("14:55:00", failing("False", "")),
    ]);
    let all = list.problems.iter().map(|one| one.message.as_str());
    let words = ["dns", "console"].map(|one| format!("Cluster operator {one} is not available"));
    assert_eq!(all.collect::<Vec<_>>(), words);
}

#[test]
fn a_version_that_is_invalid_or_no_longer_available_is_a_problem() {
    let available = |status: &str| condition("Available", status, "Why", "words");
    let invalid = json!([
        available("True"),
        condition("Invalid", "True", "InvalidClusterVersion", "no such image")
    ]);
    let list = version_with(&[("14:10:00", invalid)]);
    let expected = ["ClusterVersion version InvalidClusterVersion"];
    assert_eq!(lines(&list), expected);
    let list = version_with(&[("14:10:00", json!([available("False")]))]);
    assert_eq!(lines(&list), ["ClusterVersion version Why"]);
}

/// Reason, message and count of what is listed of an operator that is unavailable for reasons at times of the day, or
/// available for none.
fn unavailable_for(steps: &[(&str, &str, &str)]) -> Vec<(String, String, u64)> {
    let mut life = Life::of(&[OPERATORS]);
    for (time, reason, message) in [("14:00:00", "", "")].iter().chain(steps) {
        life.until(time);
        let status = if reason.is_empty() { "True" } else { "False" };
        let one = condition("Available", status, reason, message);
        let operator = json!({"metadata": {}, "status": {"conditions": [one]}});
        life.put(OPERATORS, "dns", operator);
    }
    let list = life.end("15:30:00");
    let mut all: Vec<_> = list.problems.iter().collect();
    all.sort_by_key(|one| one.from);
    all.into_iter()
        .map(|one| (one.reason.clone(), one.message.clone(), one.count))
        .collect()
}

#[test]
fn outages_for_different_reasons_are_different_problems() {
    let row = |reason: &str, count| (reason.to_owned(), "m".to_owned(), count);
    let short = [("14:10:00", "Short", "m"), ("14:10:05", "", "")];
    let long = [("14:15:00", "Long", "m"), ("14:40:00", "", "")];
    let two = unavailable_for(&[short, long].concat());
    assert_eq!(two, [row("Short", 1), row("Long", 1)]);
    let again = [("14:15:00", "Short", "m"), ("14:40:00", "", "")];
    assert_eq!(unavailable_for(&[short, again].concat()), [row("Short", 2)]);
}

#[test]
fn the_words_of_a_reason_are_not_those_of_the_next() {
    let words = "no DNS Pods are available";
    let steps = [
        ("14:10:00", "NoPods", words),
        ("14:11:00", "ServiceMissing", ""),
    ];
    let expected = ("ServiceMissing".to_owned(), String::new(), 1);
    assert_eq!(unavailable_for(&steps), [expected]);
    let same = [("14:10:00", "NoPods", words), ("14:11:00", "NoPods", "")];
    let expected = ("NoPods".to_owned(), words.to_owned(), 1);
    assert_eq!(unavailable_for(&same), [expected]);
}

#[test]
fn evictions_plan_what_lacks_their_pods() {
    let evicted = |reason: &str| {
        let mut life = Life::of(&[PODS, DEPLOYMENTS]);
        life.put(DEPLOYMENTS, "shop/api", deployment(1, 1, 1));
        life.put(PODS, "shop/api-1", api_pod("n1", "True"));
        life.until("14:10:00");
        let mut going = api_pod("n1", "True");
        going["metadata"]["deletionTimestamp"] = json!("2026-11-21T14:10:30Z");
        going["status"]["conditions"] = json!([
            {"type": "Ready", "status": "True"},
            {"type": "DisruptionTarget", "status": "True", "reason": reason}]);
        life.put(PODS, "shop/api-1", going);
        life.put(DEPLOYMENTS, "shop/api", deployment(1, 1, 0));
        life.wait(1_000);
        life.delete(PODS, "shop/api-1");
        life.until("14:10:50");
        life.put(DEPLOYMENTS, "shop/api", deployment(1, 1, 1));
        unplanned(&life.end("14:30:00"))
    };
    assert_eq!(evicted("EvictionByEvictionAPI"), [""; 0]);
    let lacks = ["Deployment shop/api Replicas"];
    assert_eq!(evicted("PreemptionByScheduler"), lacks);
}

#[test]
fn a_pod_waits_for_the_node_that_the_autoscaler_adds() {
    let waits = |minutes: i64, is_scaled_up: bool| {
        let pod = |scheduled: &str| {
            json!({"metadata": {}, "spec": {"containers": [{"name": "app"}]}, "status": {"phase": "Pending",
                "conditions": [condition("PodScheduled", scheduled, "Unschedulable", "0/3 nodes are available")]}})
        };
        let mut life = Life::of(&[PODS, EVENTS]);
        life.until("14:10:00");
        life.put(PODS, "shop/api-1", pod("False"));
        if is_scaled_up {
            let event = json!({"type": "Normal", "reason": "TriggeredScaleUp", "message": "pod triggered scale-up",
                "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "api-1"}});
            life.put(EVENTS, "shop/api-1.1", event);
        }
        life.wait(minutes * 60_000);
        life.put(PODS, "shop/api-1", pod("True"));
        life.wait(1_000);
        life.delete(PODS, "shop/api-1");
        lines(&life.end("14:50:00"))
    };
    let waiting = ["Pod shop/api-1 Unschedulable"];
    assert_eq!(waits(4, true), [""; 0]);
    assert_eq!(waits(4, false), waiting);
    assert_eq!(waits(20, true), waiting);
}

/// When a problem of an object ended, or since when and why that is not known.
fn end_of(list: &ProblemList, name: &str) -> String {
    let mut all = list.problems.iter();
    let problem = all.find(|one| one.object.name == name);
    let problem = problem.expect("a problem of the object");
    match (problem.to, problem.unknown_end) {
        (Some(to), _) => rfc3339_secs(to),
        (None, Some(end)) => format!("{} since {}", end.as_str(), rfc3339_secs(end.since())),
        (None, None) => "open".to_owned(),
    }
}

#[test]
fn a_condition_that_is_not_good_again_has_not_recovered() {
    let jobs = ("syncs.example.com", "Sync");
    let mut life = Life::of(&[jobs, OPERATORS, NODES]);
    let of = |conditions: Value| json!({"metadata": {}, "spec": {}, "status": {"conditions": conditions}});
    let ready = |status: &str| condition("Ready", status, "HealthCheckFailed", "m");
    let bad = of(json!([
        ready("False"),
        condition("Stalled", "True", "s", "m")
    ]));
    let mut suspended = bad.clone();
    suspended["spec"]["suspend"] = json!(true);
    let objects = [
        ("app/unknown", of(json!([ready("Unknown")]))),
        ("app/gone", of(json!([]))),
        ("app/suspended", suspended),
        ("app/removed", of(json!([ready("True")]))),
        ("app/back", of(json!([ready("Unknown")]))),
    ];
    for (name, _) in &objects {
        life.put(jobs, name, of(json!([ready("True")])));
    }
    let operator = |available: &str, degraded: &str| {
        of(json!([
            condition("Available", available, "a", "m"),
            condition("Degraded", degraded, "d", "m")
        ]))
    };
    for name in ["etcd", "dns"] {
        life.put(OPERATORS, name, operator("True", "False"));
    }
    life.put(NODES, "n1", reported("True", false));
    life.until("14:10:00");
    for (name, _) in &objects {
        life.put(jobs, name, bad.clone());
    }
    life.put(OPERATORS, "etcd", operator("False", "False"));
    life.put(OPERATORS, "dns", operator("True", "True"));
    life.put(NODES, "n1", reported("False", false));
    life.until("14:13:00");
    for (name, later) in &objects {
        life.put(jobs, name, later.clone());
    }
    life.put(OPERATORS, "etcd", operator("Unknown", "False"));
    life.put(OPERATORS, "dns", of(json!([])));
    life.put(NODES, "n1", of(json!([])));
    life.until("14:14:00");
    life.put(jobs, "app/back", of(json!([ready("True")])));
    let list = life.end("14:40:00");
    let unknown = "its status is not known since 2026-11-21T14:13:00Z";
    for name in ["unknown", "gone", "suspended", "dns", "n1"] {
        assert_eq!(end_of(&list, name), unknown, "{name}");
    }
    assert_eq!(end_of(&list, "removed"), "2026-11-21T14:13:00Z");
    assert_eq!(end_of(&list, "back"), "2026-11-21T14:14:00Z");
    assert_eq!(end_of(&list, "etcd"), "open");
}

#[test]
fn what_was_bad_for_a_moment_is_not_bad_while_it_is_not_known() {
    let syncs = ("syncs.example.com", "Sync");
    let mut life = Life::of(&[syncs]);
    let of = |status: &str| json!({"metadata": {}, "status": {"conditions": [condition("Ready", status, "", "m")]}});
    for status in ["True", "False", "Unknown", "False", "Unknown"] {
        life.put(syncs, "app/slow", of(status));
        life.wait(if status == "False" { 5_000 } else { 300_000 });
    }
    assert_eq!(lines(&life.end("14:40:00")), Vec::<String>::new());
}

/// An operator that misses the Node `m3.example.com`, which is cordoned or not when it goes away, for some seconds longer
/// than that.
fn missed_node(is_cordoned: bool, message: &str, longer: i64) -> ProblemList {
    let mut life = Life::of(&[NODES, OPERATORS]);
    let operator = |degraded: &str| {
        json!({"metadata": {}, "status": {"conditions": [condition("Available", "True", "", ""),
            condition("Degraded", degraded, "NodeController_MasterNodesReady", message)]}})
    };
    life.put(NODES, "m3.example.com", reported("True", false));
    life.put(OPERATORS, "etcd", operator("False"));
    life.until("14:09:00");
    life.put(NODES, "m3.example.com", reported("True", is_cordoned));
    life.until("14:10:00");
    life.put(NODES, "m3.example.com", reported("Unknown", is_cordoned));
    life.until("14:12:00");
    life.put(OPERATORS, "etcd", operator("True"));
    life.until("14:13:00");
    life.put(NODES, "m3.example.com", reported("True", false));
    life.wait(longer * 1_000);
    life.put(OPERATORS, "etcd", operator("False"));
    life.end("15:30:00")
}

#[test]
fn an_operator_that_names_a_node_is_explained_by_it() {
    let message = "The master nodes not ready: node \"m3.example.com\" not ready";
    let all = |list: &ProblemList| {
        let all = list.problems.iter();
        all.map(|one| (line(one), one.consequence_of, one.is_planned))
            .collect::<Vec<_>>()
    };
    let node = || "Node m3.example.com NodeStatusUnknown".to_owned();
    let operator = || "ClusterOperator etcd NodeController_MasterNodesReady".to_owned();
    for is_cordoned in [false, true] {
        let list = missed_node(is_cordoned, message, 30);
        let expected = [
            (node(), None, is_cordoned),
            (operator(), Some(0), is_cordoned),
        ];
        assert_eq!(all(&list), expected);
    }
    // What outlasts the reboot, or is about another Node, has another reason.
    let expected = [(operator(), None, false), (node(), None, true)];
    assert_eq!(all(&missed_node(true, message, 1_200)), expected);
    let other = "node \"m3.example.com.internal\" not ready";
    assert_eq!(all(&missed_node(true, other, 30)), expected);
}

#[test]
fn an_operator_that_names_a_workload_is_explained_by_it() {
    let of = |named: &str| {
        let mut life = Life::of(&[OPERATORS, DAEMON_SETS]);
        let operator = |status: &str| {
            let message = format!("DaemonSet \"/{named}\" is not available (awaiting 1 nodes)");
            json!({"status": {"conditions": [
                {"type": "Available", "status": "True"},
                {"type": "Degraded", "status": status, "reason": "RolloutHung", "message": message}]}})
        };
        let set = |ready: u8| {
            json!({"metadata": {"generation": 1}, "status": {"observedGeneration": 1,
                "desiredNumberScheduled": 3, "currentNumberScheduled": 3, "updatedNumberScheduled": 3,
                "numberReady": ready, "numberAvailable": ready, "numberUnavailable": 3 - ready}})
        };
        life.put(OPERATORS, "network", operator("False"));
        life.put(DAEMON_SETS, "openshift-multus/multus", set(3));
        life.until("14:10:00");
        life.put(DAEMON_SETS, "openshift-multus/multus", set(2));
        life.until("14:20:00");
        life.put(OPERATORS, "network", operator("True"));
        let list = life.end("15:00:00");
        let all = list.problems.iter();
        all.map(|one| (line(one), one.consequence_of))
            .collect::<Vec<_>>()
    };
    let set = || "DaemonSet openshift-multus/multus ReplicasMissing".to_owned();
    let operator = || "ClusterOperator network RolloutHung".to_owned();
    let named = of("openshift-multus/multus");
    assert_eq!(named, [(set(), None), (operator(), Some(0))]);
    let other = of("openshift-multus/multus-admission");
    assert_eq!(other, [(operator(), None), (set(), None)]);
}

/// A Node that is rebooted within seconds, cordoned or not, with a Pod on it.
fn rebooted(is_cordoned: bool) -> Life {
    rebooted_at("14:03:00", is_cordoned)
}

/// The same, at a time of the day: its Pod fails at 14:05.
fn rebooted_at(time: &str, is_cordoned: bool) -> Life {
    let mut life = Life::of(&[NODES, PODS]);
    let node = |is_cordoned: bool, boot: &str| {
        let mut node = node(is_cordoned);
        node["status"]["nodeInfo"] = json!({"bootID": boot});
        node
    };
    let pod = |restarts: u64| {
        let mut pod = agent("n1", "True");
        let status = &mut pod["status"]["containerStatuses"][0];
        status["restartCount"] = json!(restarts);
        status["lastState"] = json!({"terminated": {"exitCode": 255, "reason": "Unknown"}});
        pod
    };
    life.put(NODES, "n1", node(false, "b1"));
    life.put(PODS, "shop/agent-1", pod(0));
    life.until("14:01:00");
    life.put(NODES, "n1", node(is_cordoned, "b1"));
    let is_before = time < "14:05:00";
    if is_before {
        life.until(time);
        life.put(NODES, "n1", node(is_cordoned, "b2"));
    }
    // The containers of many Pods are started one after the other.
    life.until("14:05:00");
    life.put(PODS, "shop/agent-1", pod(1));
    if !is_before {
        life.until(time);
        life.put(NODES, "n1", node(is_cordoned, "b2"));
    }
    life
}

#[test]
fn a_reboot_between_two_reports_of_a_node_explains_what_ended_on_it() {
    let list = rebooted(false).end("14:10:00");
    let expected = ["Node n1 NodeRebooted", "Job shop/agent Unknown"];
    assert_eq!(lines(&list), expected);
    let node = first(&list);
    assert_eq!(node.message, "the boot ID changed from b1 to b2");
    assert_eq!(consequences(&list), [None, Some(0)]);
    assert!(lines(&rebooted(true).end("14:10:00")).is_empty());
    // What failed before it failed for another reason.
    let life = rebooted_at("14:05:30", false);
    let list = life.end("14:10:00");
    assert_eq!(list.problems.len(), 2);
    assert_eq!(list.roots().count(), 2);
    let verdict = |life: Life| life.judged("14:10:00").verdict_of("node-rebooted");
    assert_eq!(verdict(rebooted(false)), Some(CaseVerdict::Fail));
    assert_eq!(verdict(rebooted(true)), Some(CaseVerdict::Pass));
}

#[test]
fn a_reboot_for_another_configuration_without_a_drain_is_planned() {
    let of = |state: &str, boot: &str, ends: &str| {
        let mut life = Life::of(&[NODES, PODS]);
        let node = |ready: &str, desired: &str, state: &str, boot: &str| {
            let mut node = reported(ready, false);
            let prefix = "machineconfiguration.openshift.io";
            node["metadata"]["annotations"] = json!({format!("{prefix}/currentConfig"): "a",
                format!("{prefix}/desiredConfig"): desired, format!("{prefix}/state"): state});
            node["status"]["nodeInfo"] = json!({"bootID": boot});
            node
        };
        life.put(NODES, "n1", node("True", "a", "Done", "b1"));
        life.put(PODS, "shop/agent-1", agent("n1", "True"));
        life.until("14:08:00");
        life.put(NODES, "n1", node("True", "b", state, "b1"));
        life.until("14:10:00");
        life.put(NODES, "n1", node("False", "b", state, boot));
        life.put(PODS, "shop/agent-1", agent("n1", "False"));
        life.until(ends);
        life.put(NODES, "n1", node("True", "b", state, boot));
        life.put(PODS, "shop/agent-1", agent("n1", "True"));
        unplanned(&life.end("15:00:00"))
    };
    assert!(of("Working", "b2", "14:12:00").is_empty());
    let lost = [
        "Node n1 NodeStatusUnknown",
        "Job shop/agent ContainersNotReady",
    ];
    assert_eq!(of("Working", "b1", "14:12:00"), lost, "it was not rebooted");
    assert_eq!(of("Done", "b2", "14:12:00"), lost, "nothing was applied");
    assert_eq!(of("Working", "b2", "14:40:00"), lost, "it took too long");
}

#[test]
fn a_version_that_fails_for_an_operator_that_no_rule_judges_fails_its_own_rule() {
    let of = |topology: &str, state: &str, ends: Option<&str>| {
        let infrastructures = ("infrastructures.config.openshift.io", "Infrastructure");
        let mut life = Life::of(&[VERSIONS, OPERATORS, infrastructures]);
        let operator = |available: &str| {
            json!({"metadata": {}, "status": {"conditions": [
                condition("Available", available, "Down", "m"), condition("Degraded", "False", "", "")]}})
        };
        let version = |failing: &str| {
            let done = (state == "Completed").then_some("2026-11-20T11:00:00Z");
            json!({"metadata": {"creationTimestamp": "2026-11-20T10:00:00Z"}, "status": {
                "desired": {"version": "4.21.1", "image": "4.21.1"},
                "history": [{"state": state, "version": "4.21.1", "image": "4.21.1",
                    "startedTime": "2026-11-20T10:00:00Z", "completionTime": done}],
                "conditions": [condition("Available", "True", "", ""),
                    condition("Failing", failing, "ClusterOperatorNotAvailable",
                    "Cluster operator dns is not available")]}})
        };
        let cluster = json!({"metadata": {}, "status": {"controlPlaneTopology": topology}});
        life.find(infrastructures, "cluster", cluster);
        life.find(OPERATORS, "dns", operator("True"));
        life.find(VERSIONS, "version", version("False"));
        life.until("14:10:00");
        life.put(OPERATORS, "dns", operator("False"));
        life.until("14:20:00");
        life.put(VERSIONS, "version", version("True"));
        if let Some(ends) = ends {
            life.until(ends);
            life.put(VERSIONS, "version", version("False"));
        }
        life.judged("15:30:00")
            .verdict_of("cluster-version-failing")
            .expect("the rule")
    };
    let (failed, flaked) = (CaseVerdict::Fail, CaseVerdict::Flake);
    assert_eq!(of("SingleReplica", "Completed", None), failed);
    assert_eq!(of("HighlyAvailable", "Completed", None), flaked);
    assert_eq!(of("HighlyAvailable", "Partial", None), failed);
    // A short failure is normal while operators are updated.
    let ends = Some("14:25:00");
    assert_eq!(of("SingleReplica", "Completed", ends), flaked);
}
