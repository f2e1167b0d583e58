//! When what an object shows is a problem of its own, when it is over, and when it is normal.

use super::life::{
    CLAIMS, CONFIG_MAPS, CRON_JOBS, DAEMON_SETS, DEPLOYMENTS, EVENTS, JOBS, Life, NAMESPACES,
    NODES, OPERATORS, PODS, REPLICA_SETS, STATEFUL_SETS, condition, end_of, first, line, lines,
    owned_by, warning,
};
use super::workloads::{agent, api_pod, deployment, pod, reported, running, waiting};
use kubereel_history::timetext::rfc3339_secs;
use kubereel_monitortests::CaseVerdict;
use kubereel_problems::ProblemList;
use serde_json::{Value, json};

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
    assert_eq!(
        one.message,
        "container app exited with code 1, restart count 7"
    );
    let report = life(3, 7).judged("14:15:00");
    let verdict = report.verdict_of("container-exit");
    assert_eq!(verdict, Some(CaseVerdict::Fail));
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
