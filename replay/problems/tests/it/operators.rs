//! Problems of the operators of a cluster and of its version: which are one, and what explains them.

use super::life::{
    DAEMON_SETS, Life, NODES, OPERATORS, VERSIONS, condition, first, line, lines, problem_of,
};
use super::workloads::reported;
use kubereel_history::timetext::rfc3339_secs;
use kubereel_monitortests::CaseVerdict;
use kubereel_problems::ProblemList;
use serde_json::{Value, json};

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
