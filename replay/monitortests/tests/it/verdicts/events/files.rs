//! Files of intervals are judged as reels are, in the newest form and in the flat one of old releases.

use crate::verdicts::judged::tail;
use kubereel_monitortests::{
    ExceptionSet, Facts, RunOptions, Selection, builtin, read_intervals, run_intervals,
};

const NEW: &str = r#"{"items": [
  {"level": "Info", "source": "KubeEvent",
   "locator": {"type": "Kind", "keys": {"namespace": "openshift-dns", "pod": "dns-0"}},
   "message": {"reason": "Oops", "humanMessage": "it broke", "annotations": {"count": "21"}},
   "from": "2026-11-21T10:05:00Z", "to": "2026-11-21T10:05:01Z"},
  {"level": "Info", "source": "KubeEvent",
   "locator": {"type": "Kind", "keys": {"namespace": "openshift-etcd", "pod": "etcd-0"}},
   "message": {"reason": "BackOff", "humanMessage": "Back-off restarting failed container etcd", "annotations": {"count": "11"}},
   "from": "2026-11-21T10:06:00Z", "to": "2026-11-21T10:06:01Z"},
  {"level": "Warning", "source": "KubeEvent",
   "locator": {"type": "Kind", "keys": {"namespace": "team-a", "pod": "web-0"}},
   "message": {"reason": "FailedCreatePodSandBox", "humanMessage": "no room", "annotations": {}},
   "from": "2026-11-21T10:07:00Z", "to": "2026-11-21T10:07:00Z"},
  {"level": "Info", "source": "PodLog",
   "locator": {"type": "Pod", "keys": {"namespace": "openshift-dns-operator", "pod": "dns-operator-0"}},
   "message": {"reason": "Acquiring", "humanMessage": "Waiting for lease.", "annotations": {}},
   "from": "2026-11-21T10:08:00Z", "to": "2026-11-21T10:08:10Z"},
  {"level": "Info", "source": "PodLog",
   "locator": {"type": "Pod", "keys": {"namespace": "openshift-etcd-operator", "pod": "etcd-operator-0"}},
   "message": {"reason": "Acquiring", "humanMessage": "Waiting for lease.", "annotations": {}},
   "from": "2026-11-21T10:08:00Z", "to": "2026-11-21T10:08:09Z"}
]}"#;

const OLD: &str = r#"{"items": [
  {"level": "Info", "locator": "ns/openshift-dns pod/dns-0", "message": "reason/Oops it broke (21 times)",
   "from": "2022-11-21T10:05:00Z", "to": "2022-11-21T10:05:01Z"},
  {"level": "Info", "locator": "ns/openshift-etcd pod/etcd-0", "message": "reason/BackOff Back-off restarting failed container etcd (11 times)",
   "from": "2022-11-21T10:06:00Z", "to": "2022-11-21T10:06:01Z"},
  {"level": "Warning", "locator": "ns/team-a pod/web-0", "message": "reason/FailedCreatePodSandBox no room",
   "from": "2022-11-21T10:07:00Z", "to": "2022-11-21T10:07:00Z"}
]}"#;

/// Returns the cases that are neither passed nor skipped, with their verdicts.
fn found(file: &str) -> Vec<String> {
    let intervals = read_intervals(file.as_bytes()).expect("a file of intervals");
    let asked = RunOptions {
        selection: &Selection::default(),
        exceptions: &ExceptionSet::builtin().expect("exceptions"),
        now: None,
    };
    let report = run_intervals(
        intervals,
        &Facts {
            version: Some("5.0.9".to_owned()),
            ..Facts::default()
        },
        builtin(),
        &asked,
    );
    let outcomes = report.outcomes.iter();
    let found = outcomes.filter(|one| !matches!(one.verdict.as_str(), "pass" | "skipped"));
    found
        .map(|one| format!("{} {}", one.verdict.as_str(), tail(&one.name)))
        .collect()
}

#[test]
fn files_of_both_forms_are_judged_alike() {
    let mut expected = vec![
        "flake [sig-cluster-lifecycle] pathological event should not see excessive Back-off restarting failed containers for ns/openshift-etcd",
        "fail [sig-arch] events should not repeat pathologically for ns/openshift-dns",
        "fail [sig-network] pods should successfully create sandboxes by other",
    ];
    assert_eq!(found(OLD), expected);
    // Old releases did not note who waited for a lease.
    let waited = "flake [sig-arch] all leases in ns/openshift-dns-operator must gracefully release";
    expected.insert(0, waited);
    assert_eq!(found(NEW), expected);
}
