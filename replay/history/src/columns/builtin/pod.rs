//! The columns of pods. The status is that of `kubectl get`: of the first container that reports a
//! problem.

use super::super::part::{NONE, ObjectPart, time_since};
use jiff::Timestamp;
use kubereel_format::RecordedAt;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) fn pod_cells(pod: ObjectPart<'_>, at: RecordedAt) -> Vec<String> {
    let status = PodStatus::of(pod);
    let restarts = match status.last_restart {
        Some(last) if status.restarts != 0 => {
            format!("{} ({} ago)", status.restarts, time_since(last, at))
        }
        _ => status.restarts.to_string(),
    };
    vec![
        format!("{}/{}", status.ready, status.containers),
        status.reason,
        restarts,
        ip(pod),
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

/// The status of a Pod, as kubectl prints it.
#[derive(Debug)]
pub struct PodStatus<'a> {
    /// How many containers should be ready.
    containers: usize,
    ready: usize,
    /// The word of the column STATUS: `Init:ErrImagePull`.
    pub reason: String,
    /// The message of what gave the word; may be empty.
    pub message: &'a str,
    restarts: i64,
    last_restart: Option<Timestamp>,
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

impl<'a> PodStatus<'a> {
    /// Reads a Pod.
    pub fn of_value(pod: &'a Value) -> Self {
        Self::of(ObjectPart::of(pod))
    }

    fn of(pod: ObjectPart<'a>) -> Self {
        let initial = InitContainers::of(pod);
        let is_initializing = initial.reason.is_some();
        let (reason, message) = initial.reason.unwrap_or_else(|| begun(pod));
        let mut status = Self {
            containers: pod.at("spec.containers").items().len() + initial.sidecars,
            ready: initial.ready,
            reason,
            message,
            restarts: initial.restarts.count,
            last_restart: initial.restarts.last,
        };
        if !is_initializing || is_true(first_condition(pod, "Initialized")) {
            status.run(pod, initial.sidecar_restarts);
        }
        if pod.at("metadata.deletionTimestamp").is_there() {
            let phase = pod.at("status.phase").text();
            if pod.at("status.reason").text() == "NodeLost" {
                status.set("Unknown", pod.at("status.message").text());
            } else if !matches!(phase, "Failed" | "Succeeded") {
                status.set("Terminating", "");
            }
        }
        status
    }

    fn set(&mut self, reason: &str, message: &'a str) {
        reason.clone_into(&mut self.reason);
        self.message = message;
    }

    /// Reads the containers that run after the init containers.
    fn run(&mut self, pod: ObjectPart<'a>, mut restarts: RestartCounts) {
        let mut is_any_running = false;
        let mut failure = None;
        // The first container has precedence.
        for container in pod.at("status.containerStatuses").items().rev() {
            restarts.add(container);
            let state = container.at("state");
            let waiting = state.at("waiting.reason").text();
            let terminated = state.at("terminated");
            if !waiting.is_empty() {
                self.set(waiting, state.at("waiting.message").text());
            } else if terminated.is_there() {
                self.set(&ending(terminated), terminated.at("message").text());
                if terminated.at("exitCode").whole() != 0 {
                    failure = Some((self.reason.clone(), self.message));
                }
            } else if container.at("ready").holds() && state.at("running").is_there() {
                is_any_running = true;
                self.ready += 1;
            }
        }
        (self.restarts, self.last_restart) = (restarts.count, restarts.last);
        if self.reason == "Completed" {
            if is_any_running && has_ready_condition(pod) {
                self.set("Running", "");
            } else if let Some((reason, message)) = failure {
                self.set(&reason, message);
            } else if is_any_running {
                self.set("NotReady", "");
            }
        }
    }
}

/// The state of the init containers.
#[derive(Debug, Default)]
struct InitContainers<'a> {
    /// How many of them keep running beside the others (sidecars).
    sidecars: usize,
    ready: usize,
    /// Why they have not finished, with the message; `None` if they have.
    reason: Option<(String, &'a str)>,
    restarts: RestartCounts,
    sidecar_restarts: RestartCounts,
}

impl<'a> InitContainers<'a> {
    fn of(pod: ObjectPart<'a>) -> Self {
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
            let waiting = container.at("state.waiting");
            if terminated.is_there() && terminated.at("exitCode").whole() == 0 {
                continue;
            }
            if is_sidecar && container.at("started").holds() {
                initial.ready += usize::from(container.at("ready").holds());
                continue;
            }
            let (word, cause) = if terminated.is_there() {
                (ending(terminated), terminated)
            } else {
                let word = match waiting.at("reason").text() {
                    "" | "PodInitializing" => format!("{at}/{count}"),
                    reason => reason.to_owned(),
                };
                (word, waiting)
            };
            initial.reason = Some((format!("Init:{word}"), cause.at("message").text()));
            break;
        }
        initial
    }
}

/// Returns the status that applies unless a container reports another one, with its message.
fn begun(pod: ObjectPart<'_>) -> (String, &str) {
    const GATED: &str = "SchedulingGated";
    let status = pod.at("status");
    let mut conditions = status.at("conditions").items();
    let gated = conditions
        .find(|one| one.at("type").text() == "PodScheduled" && one.at("reason").text() == GATED);
    let (word, told) = gated.map_or_else(
        || {
            (
                status.at("reason").text_or(status.at("phase").text()),
                status,
            )
        },
        |gated| (GATED, gated),
    );
    (word.to_owned(), told.at("message").text())
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
    use super::super::kind::row_of;
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
            row_of("pods", &pod, AT),
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
            row_of("pods", &pod, AT),
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
        assert_eq!(row_of("pods", &pod, AT)[3], "2");
    }
}

#[cfg(test)]
mod pod_status_tests {
    use super::*;
    use serde_json::json;

    /// Returns status, ready, total, and restarts.
    fn status_cells(pod: &Value) -> (String, String, i64) {
        let status = PodStatus::of_value(pod);
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
    fn the_message_belongs_to_what_gave_the_word() {
        let waiting = json!({"state": {"waiting": {"reason": "ErrImagePull", "message": "m"}}});
        let failed = json!({"state": {"terminated": {"exitCode": 1, "message": "e"}}});
        let done = ended(0, "Completed");
        for (status, expected) in [
            (
                json!({"phase": "Failed", "reason": "Evicted", "message": "p"}),
                ("Evicted", "p"),
            ),
            (
                json!({"message": "p", "initContainerStatuses": [waiting]}),
                ("Init:ErrImagePull", "m"),
            ),
            (
                json!({"message": "p", "initContainerStatuses": [failed]}),
                ("Init:ExitCode:1", "e"),
            ),
            (
                json!({"message": "p", "containerStatuses": [waiting]}),
                ("ErrImagePull", "m"),
            ),
            (
                json!({"message": "p", "containerStatuses": [done, failed]}),
                ("ExitCode:1", "e"),
            ),
            (
                json!({"message": "p", "containerStatuses": [done, running()]}),
                ("NotReady", ""),
            ),
        ] {
            let pod = json!({"status": status});
            let status = PodStatus::of_value(&pod);
            assert_eq!((status.reason.as_str(), status.message), expected);
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
        let last = PodStatus::of_value(&pod(sidecar(true, true))).last_restart;
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
        let status = PodStatus::of_value(&pod);
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
