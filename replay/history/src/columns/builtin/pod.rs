//! Owns the columns of pods. Refuses to say what a pod is at: `pod_status` does.

use super::super::elapsed;
use super::super::part::{NONE, Part};
use super::kind::Header::{self, Always, Wide};
use super::pod_status::PodStatus;
use kubereel_format::RecordedAt;

pub(super) const COLUMNS: [Header; 9] = [
    Always("NAME"),
    Always("READY"),
    Always("STATUS"),
    Always("RESTARTS"),
    Always("AGE"),
    Wide("IP"),
    Wide("NODE"),
    Wide("NOMINATED NODE"),
    Wide("READINESS GATES"),
];

pub(super) fn row(pod: Part<'_>, at: RecordedAt) -> Vec<String> {
    let status = PodStatus::of(pod);
    let restarts = match status.last_restart {
        Some(last) if status.restarts != 0 => {
            format!("{} ({} ago)", status.restarts, elapsed::since(last, at))
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

/// Gives the address: where the old member differs from the list, it wins.
fn ip(pod: Part<'_>) -> String {
    let first = pod.at("status.podIPs").items().next();
    let first = first.map_or("", |ip| ip.at("ip").text());
    let ip = pod.at("status.podIP").text_or(first);
    if ip.is_empty() { NONE } else { ip }.to_owned()
}

fn readiness_gates(pod: Part<'_>) -> String {
    let gates = pod.at("spec.readinessGates").items();
    let count = gates.len();
    if count == 0 {
        return NONE.to_owned();
    }
    let is_open = |gate: &Part<'_>| {
        let kind = gate.at("conditionType").text();
        let mut conditions = pod.at("status.conditions").items();
        let first = conditions.find(|one| one.at("type").text() == kind);
        first.is_some_and(|one| one.at("status").text() == "True")
    };
    format!("{}/{count}", gates.filter(is_open).count())
}

#[cfg(test)]
mod tests {
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
            row(Part::of(&pod), AT),
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
            row(Part::of(&pod), AT),
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
            assert_eq!(ip(Part::of(&json!({"status": status}))), expected);
        }
    }

    #[test]
    fn restarts_without_a_time_are_a_number() {
        let pod = json!({"status": {"containerStatuses": [{"restartCount": 2}]}});
        assert_eq!(row(Part::of(&pod), AT)[3], "2");
    }
}
