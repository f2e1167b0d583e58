//! The columns of pods. The status is that of `kubectl get`: of the first container that reports a
//! problem.

use super::super::part::{NONE, ObjectPart, time_since};
use jiff::Timestamp;
use kubereel_format::RecordedAt;
use std::collections::BTreeMap;

pub(super) fn pod_row(pod: ObjectPart<'_>, at: RecordedAt) -> Vec<String> {
    let status = PodStatus::of(pod);
    let restarts = match status.last_restart {
        Some(last) if status.restarts != 0 => {
            format!("{} ({} ago)", status.restarts, time_since(last, at))
        }
        _ => status.restarts.to_string(),
    };
    vec![
        pod.name(),
        format!("{}/{}", status.ready, status.containers),
        status.reason,
        restarts,
        pod.age(at),
        ip(pod),
        pod.at("spec.nodeName").text_or(NONE).to_owned(),
        pod.at("status.nominatedNodeName").text_or(NONE).to_owned(),
        readiness_gates(pod),
    ]
}

/// Returns the address: if the old member differs from the list, it has precedence.
fn ip(pod: ObjectPart<'_>) -> String {
    let first = pod.at("status.podIPs").items().next();
    let first = first.map_or("", |ip| ip.at("ip").text());
    let ip = pod.at("status.podIP").text_or(first);
    if ip.is_empty() { NONE } else { ip }.to_owned()
}

fn readiness_gates(pod: ObjectPart<'_>) -> String {
    let gates = pod.at("spec.readinessGates").items();
    let count = gates.len();
    if count == 0 {
        return NONE.to_owned();
    }
    let is_open = |gate: &ObjectPart<'_>| {
        let kind = gate.at("conditionType").text();
        let mut conditions = pod.at("status.conditions").items();
        let first = conditions.find(|one| one.at("type").text() == kind);
        first.is_some_and(|one| one.at("status").text() == "True")
    };
    format!("{}/{count}", gates.filter(is_open).count())
}

/// The status of a pod.
#[derive(Debug)]
struct PodStatus {
    /// How many containers should be ready.
    pub(super) containers: usize,
    pub(super) ready: usize,
    pub(super) reason: String,
    pub(super) restarts: i64,
    pub(super) last_restart: Option<Timestamp>,
}

/// The number of restarts, and the time of the last one.
#[derive(Clone, Copy, Debug, Default)]
struct RestartCounts {
    count: i64,
    last: Option<Timestamp>,
}

impl RestartCounts {
    fn add(&mut self, container: ObjectPart<'_>) {
        self.count = self
            .count
            .saturating_add(container.at("restartCount").whole());
        // An absent time is before every time.
        let finished = container.at("lastState.terminated.finishedAt").time();
        self.last = self.last.max(finished);
    }
}

impl PodStatus {
    /// Reads it from a pod.
    pub(super) fn of(pod: ObjectPart<'_>) -> Self {
        let initial = InitContainers::of(pod);
        let mut status = Self {
            containers: pod.at("spec.containers").items().len() + initial.sidecars,
            ready: initial.ready,
            reason: begun(pod),
            restarts: initial.restarts.count,
            last_restart: initial.restarts.last,
        };
        let is_initializing = initial.reason.is_some();
        if let Some(reason) = initial.reason {
            status.reason = reason;
        }
        if !is_initializing || is_true(first_condition(pod, "Initialized")) {
            status.run(pod, initial.sidecar_restarts);
        }
        if pod.at("metadata.deletionTimestamp").is_there() {
            let phase = pod.at("status.phase").text();
            if pod.at("status.reason").text() == "NodeLost" {
                "Unknown".clone_into(&mut status.reason);
            } else if !matches!(phase, "Failed" | "Succeeded") {
                "Terminating".clone_into(&mut status.reason);
            }
        }
        status
    }

    /// Reads the containers that run after the init containers.
    fn run(&mut self, pod: ObjectPart<'_>, mut restarts: RestartCounts) {
        let mut is_any_running = false;
        let mut failure = None;
        // The first container has precedence.
        for container in pod.at("status.containerStatuses").items().rev() {
            restarts.add(container);
            let state = container.at("state");
            let waiting = state.at("waiting.reason").text();
            let terminated = state.at("terminated");
            if !waiting.is_empty() {
                waiting.clone_into(&mut self.reason);
            } else if terminated.is_there() {
                self.reason = ending(terminated);
                if terminated.at("exitCode").whole() != 0 {
                    failure = Some(self.reason.clone());
                }
            } else if container.at("ready").holds() && state.at("running").is_there() {
                is_any_running = true;
                self.ready += 1;
            }
        }
        (self.restarts, self.last_restart) = (restarts.count, restarts.last);
        if self.reason == "Completed" {
            if is_any_running && has_ready_condition(pod) {
                "Running".clone_into(&mut self.reason);
            } else if let Some(failure) = failure {
                self.reason = failure;
            } else if is_any_running {
                "NotReady".clone_into(&mut self.reason);
            }
        }
    }
}

/// The state of the init containers.
#[derive(Debug, Default)]
struct InitContainers {
    /// How many of them keep running beside the others (sidecars).
    sidecars: usize,
    ready: usize,
    /// Why they have not finished; `None` if they have.
    reason: Option<String>,
    restarts: RestartCounts,
    sidecar_restarts: RestartCounts,
}

impl InitContainers {
    fn of(pod: ObjectPart<'_>) -> Self {
        let specs = pod.at("spec.initContainers").items();
        let count = specs.len();
        let is_always = |spec: ObjectPart<'_>| spec.at("restartPolicy").text() == "Always";
        let is_sidecar: BTreeMap<&str, bool> = specs
            .map(|spec| (spec.at("name").text(), is_always(spec)))
            .collect();
        let specs = pod.at("spec.initContainers").items();
        let mut initial = Self {
            sidecars: specs.filter(|spec| is_always(*spec)).count(),
            ..Self::default()
        };
        for (at, container) in pod.at("status.initContainerStatuses").items().enumerate() {
            let name = container.at("name").text();
            let is_sidecar = is_sidecar.get(name).copied().unwrap_or_default();
            initial.restarts.add(container);
            if is_sidecar {
                initial.sidecar_restarts.add(container);
            }
            let terminated = container.at("state.terminated");
            let waiting = container.at("state.waiting.reason").text();
            if terminated.is_there() && terminated.at("exitCode").whole() == 0 {
                continue;
            }
            if is_sidecar && container.at("started").holds() {
                initial.ready += usize::from(container.at("ready").holds());
                continue;
            }
            initial.reason = Some(if terminated.is_there() {
                format!("Init:{}", ending(terminated))
            } else if matches!(waiting, "" | "PodInitializing") {
                format!("Init:{at}/{count}")
            } else {
                format!("Init:{waiting}")
            });
            break;
        }
        initial
    }
}

/// Returns the status that applies unless a container reports another one.
fn begun(pod: ObjectPart<'_>) -> String {
    const GATED: &str = "SchedulingGated";
    let status = pod.at("status");
    let is_gated = status
        .at("conditions")
        .items()
        .any(|one| one.at("type").text() == "PodScheduled" && one.at("reason").text() == GATED);
    if is_gated {
        return GATED.to_owned();
    }
    let phase = status.at("phase").text();
    status.at("reason").text_or(phase).to_owned()
}

/// Describes how a container ended.
fn ending(terminated: ObjectPart<'_>) -> String {
    match terminated.at("reason").text() {
        "" => match terminated.at("signal").whole() {
            0 => format!("ExitCode:{}", terminated.at("exitCode").whole()),
            signal => format!("Signal:{signal}"),
        },
        reason => reason.to_owned(),
    }
}

fn first_condition<'a>(pod: ObjectPart<'a>, kind: &str) -> Option<ObjectPart<'a>> {
    let mut conditions = pod.at("status.conditions").items();
    conditions.find(|one| one.at("type").text() == kind)
}

fn is_true(condition: Option<ObjectPart<'_>>) -> bool {
    condition.is_some_and(|one| one.at("status").text() == "True")
}

fn has_ready_condition(pod: ObjectPart<'_>) -> bool {
    let mut conditions = pod.at("status.conditions").items();
    conditions.any(|one| one.at("type").text() == "Ready" && is_true(Some(one)))
}

#[cfg(test)]
mod pod_tests {
    use super::*;
    use serde_json::json;

    const AT: RecordedAt = RecordedAt::from_micros(1_795_269_660_000_000);

    #[test]
    fn a_running_pod_fills_every_column() {
        let pod = json!({
            "metadata": {"name": "web-0", "creationTimestamp": "2026-11-21T13:00:00Z"},
            "spec": {"nodeName": "node-1", "containers": [{"name": "a"}, {"name": "b"}],
                "readinessGates": [{"conditionType": "x"}, {"conditionType": "y"}]},
            "status": {
                "phase": "Running", "podIP": "10.1.0.7",
                "podIPs": [{"ip": "10.1.0.7"}, {"ip": "fd00::7"}], "nominatedNodeName": "node-2",
                "conditions": [{"type": "x", "status": "True"}, {"type": "y", "status": "False"}],
                "containerStatuses": [
                    {"name": "a", "ready": true, "restartCount": 3, "state": {"running": {}},
                     "lastState": {"terminated": {"finishedAt": "2026-11-21T13:55:00Z"}}},
                    {"name": "b", "ready": false, "restartCount": 0, "state": {"running": {}}}]},
        });
        assert_eq!(
            pod_row(ObjectPart::of(&pod), AT),
            [
                "web-0",
                "1/2",
                "Running",
                "3 (6m ago)",
                "61m",
                "10.1.0.7",
                "node-1",
                "node-2",
                "1/2"
            ]
        );
    }

    #[test]
    fn a_new_pod_has_nothing_yet() {
        let pod = json!({"metadata": {"name": "a"}, "spec": {"containers": [{}]}, "status": {"phase": "Pending"}});
        assert_eq!(
            pod_row(ObjectPart::of(&pod), AT),
            [
                "a",
                "0/1",
                "Pending",
                "0",
                "<unknown>",
                "<none>",
                "<none>",
                "<none>",
                "<none>"
            ]
        );
    }

    #[test]
    fn the_old_address_wins_where_they_differ() {
        for (status, expected) in [
            (
                json!({"podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.2"}]}),
                "10.0.0.1",
            ),
            (json!({"podIPs": [{"ip": "10.0.0.2"}]}), "10.0.0.2"),
            (json!({"podIP": "10.0.0.1"}), "10.0.0.1"),
            (json!({"podIPs": [{}]}), "<none>"),
        ] {
            assert_eq!(ip(ObjectPart::of(&json!({"status": status}))), expected);
        }
    }

    #[test]
    fn restarts_without_a_time_are_a_number() {
        let pod = json!({"status": {"containerStatuses": [{"restartCount": 2}]}});
        assert_eq!(pod_row(ObjectPart::of(&pod), AT)[3], "2");
    }
}

#[cfg(test)]
mod pod_status_tests {
    use super::*;
    use serde_json::{Value, json};

    /// Returns status, ready, total, and restarts.
    fn status_cells(pod: &Value) -> (String, String, i64) {
        let status = PodStatus::of(ObjectPart::of(pod));
        let ready = format!("{}/{}", status.ready, status.containers);
        (status.reason, ready, status.restarts)
    }

    fn reason(pod: &Value) -> String {
        status_cells(pod).0
    }

    fn running() -> Value {
        json!({"name": "c", "ready": true, "restartCount": 0, "state": {"running": {}}})
    }

    fn ended(exit_code: i64, reason: &str) -> Value {
        json!({"restartCount": 1, "state": {"terminated": {"exitCode": exit_code, "reason": reason}}})
    }

    #[test]
    fn the_phase_holds_unless_something_says_more() {
        let with = |status: Value| reason(&json!({"status": status}));
        assert_eq!(with(json!({"phase": "Pending"})), "Pending");
        assert_eq!(
            with(json!({"phase": "Failed", "reason": "Evicted"})),
            "Evicted"
        );
        let gated = json!({"phase": "Pending", "reason": "x",
            "conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]});
        assert_eq!(with(gated), "SchedulingGated");
    }

    #[test]
    fn containers_say_why_they_do_not_run() {
        for (state, expected) in [
            (
                json!({"waiting": {"reason": "CrashLoopBackOff"}}),
                "CrashLoopBackOff",
            ),
            (json!({"waiting": {}}), "Running"),
            (
                json!({"terminated": {"reason": "OOMKilled", "exitCode": 137}}),
                "OOMKilled",
            ),
            (
                json!({"terminated": {"exitCode": 137, "signal": 9}}),
                "Signal:9",
            ),
            (json!({"terminated": {"exitCode": 3}}), "ExitCode:3"),
            (
                json!({"waiting": null, "terminated": {"exitCode": 0, "reason": "Completed"}}),
                "Completed",
            ),
        ] {
            let pod =
                json!({"status": {"phase": "Running", "containerStatuses": [{"state": state}]}});
            assert_eq!(reason(&pod), expected, "{pod}");
        }
    }

    #[test]
    fn the_first_container_has_the_last_word() {
        let waiting = |reason: &str| json!({"state": {"waiting": {"reason": reason}}});
        let pod = json!({"status": {"containerStatuses": [waiting("First"), waiting("Second")]}});
        assert_eq!(reason(&pod), "First");
    }

    #[test]
    fn completed_beside_others_is_not_the_whole_truth() {
        let pod = |statuses: Value, ready: &str| {
            json!({"status": {"phase": "Running", "containerStatuses": statuses,
                "conditions": [{"type": "Ready", "status": ready}]}})
        };
        let done = ended(0, "Completed");
        assert_eq!(reason(&pod(json!([done, running()]), "True")), "Running");
        assert_eq!(reason(&pod(json!([done, running()]), "False")), "NotReady");
        assert_eq!(
            reason(&pod(json!([done, ended(1, "Error")]), "False")),
            "Error"
        );
        assert_eq!(reason(&pod(json!([done, done]), "False")), "Completed");
    }

    #[test]
    fn initial_containers_come_first() {
        let with = |statuses: Value| {
            reason(&json!({
                "spec": {"initContainers": [{"name": "a"}, {"name": "b"}], "containers": [{}]},
                "status": {"phase": "Pending", "initContainerStatuses": statuses,
                    "containerStatuses": [{"state": {"waiting": {"reason": "PodInitializing"}}}]},
            }))
        };
        let done = ended(0, "Completed");
        for (statuses, expected) in [
            (json!([{"state": {"running": {}}}]), "Init:0/2"),
            (
                json!([done, {"state": {"waiting": {"reason": "PodInitializing"}}}]),
                "Init:1/2",
            ),
            (
                json!([done, {"state": {"waiting": {"reason": "ErrImagePull"}}}]),
                "Init:ErrImagePull",
            ),
            (json!([ended(1, "Error"), done]), "Init:Error"),
            (
                json!([{"state": {"terminated": {"exitCode": 2}}}]),
                "Init:ExitCode:2",
            ),
            (
                json!([{"state": {"terminated": {"exitCode": 2, "signal": 15}}}]),
                "Init:Signal:15",
            ),
            (json!([done, done]), "PodInitializing"),
        ] {
            assert_eq!(with(statuses), expected);
        }
    }

    #[test]
    fn sidecars_count_among_the_containers() {
        let sidecar = |started: bool, ready: bool| {
            json!({"name": "side", "started": started, "ready": ready, "restartCount": 2,
                "state": {"running": {}},
                "lastState": {"terminated": {"finishedAt": "2026-11-21T13:00:00Z"}}})
        };
        let once = json!({"name": "once", "restartCount": 5,
            "state": {"terminated": {"exitCode": 0, "reason": "Completed"}},
            "lastState": {"terminated": {"finishedAt": "2026-11-21T13:30:00Z"}}});
        let pod = |side: Value| {
            json!({
                "spec": {"initContainers": [{"name": "once"}, {"name": "side", "restartPolicy": "Always"}],
                    "containers": [{"name": "c"}]},
                "status": {"phase": "Running", "initContainerStatuses": [once, side],
                    "containerStatuses": [running()]},
            })
        };
        let text =
            |word: &str, ready: &str, restarts| (word.to_owned(), ready.to_owned(), restarts);
        // Restarts of finished containers no longer count.
        assert_eq!(
            status_cells(&pod(sidecar(true, true))),
            text("Running", "2/2", 2)
        );
        assert_eq!(
            status_cells(&pod(sidecar(true, false))),
            text("Running", "1/2", 2)
        );
        assert_eq!(
            status_cells(&pod(sidecar(false, false))),
            text("Init:1/2", "0/2", 7)
        );
        let last = PodStatus::of(ObjectPart::of(&pod(sidecar(true, true)))).last_restart;
        assert_eq!(last, "2026-11-21T13:00:00Z".parse().ok());
        // After a pod was initialized, its containers count, whatever a sidecar does.
        let mut again = pod(sidecar(false, false));
        again["status"]["conditions"] = json!([{"type": "Initialized", "status": "True"}]);
        assert_eq!(status_cells(&again), text("Init:1/2", "1/2", 2));
    }

    #[test]
    fn the_last_restart_of_all_counts() {
        let container = |finished: &str| json!({"restartCount": 1, "lastState": {"terminated": {"finishedAt": finished}}});
        let pod = json!({"status": {"containerStatuses": [
            container("2026-11-21T13:00:00Z"), container("2026-11-21T13:00:05Z"), {}]}});
        let status = PodStatus::of(ObjectPart::of(&pod));
        assert_eq!(status.restarts, 2);
        assert_eq!(status.last_restart, "2026-11-21T13:00:05Z".parse().ok());
    }

    #[test]
    fn a_pod_that_is_deleted_says_so() {
        for (status, expected) in [
            (json!({"phase": "Running"}), "Terminating"),
            (json!({"phase": "Running", "reason": "NodeLost"}), "Unknown"),
            (json!({"phase": "Succeeded"}), "Succeeded"),
            (json!({"phase": "Failed", "reason": "Evicted"}), "Evicted"),
        ] {
            let deleted = json!({"deletionTimestamp": "2026-11-21T14:00:00Z"});
            assert_eq!(
                reason(&json!({"metadata": deleted, "status": status})),
                expected
            );
        }
    }
}
