//! What was planned: drains, reboots and evictions, and what outlasts them.

use super::life::{
    DEPLOYMENTS, EVENTS, Life, NODES, PODS, SERVICES, SLICES, condition, consequences, first, line,
    lines, problem_of, selector, unplanned,
};
use super::workloads::{agent, api_pod, deployment, node, reported, running};
use kubereel_history::timetext::rfc3339_secs;
use kubereel_monitortests::CaseVerdict;
use kubereel_problems::Problem;
use serde_json::{Value, json};

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
