//! Containers of the platform that do not start, or do not stay.

use crate::verdicts::fixture::Fixture;
use crate::verdicts::reel::Reel;
use kubereel_monitortests::CaseVerdict;
use serde_json::{Value, json};

const POD: &str = "openshift-dns/dns-0";

fn waits(reason: &str) -> Reel {
    let state = json!({"waiting": {"reason": reason, "message": "why"}});
    Reel::cluster()
        .pod(POD)
        .at("10:05:00.5")
        .container(POD, 0, &state, &Value::Null)
        .until("10:30:00")
}

/// A container that had ended before, and ends with an error some times, two minutes apart from 10:05
/// on.
fn exits(times: u64) -> Reel {
    let time = |minute: u64| format!("2026-11-21T10:{minute:02}:00Z");
    let running = |minute: u64| json!({"running": {"startedAt": time(minute)}});
    let mut last = json!({"terminated": {
        "exitCode": 1,
        "reason": "Error",
        "finishedAt": "2026-11-21T09:00:00Z",
    }});
    let mut reel = Reel::cluster()
        .pod(POD)
        .container(POD, 1, &running(0), &last);
    for exit in 0..times {
        let minute = 5 + exit * 2;
        let ended = json!({"terminated": {
            "exitCode": 1,
            "reason": "Error",
            "startedAt": time(minute - 1),
            "finishedAt": time(minute),
        }});
        reel = reel
            .at(&format!("10:{minute:02}:00"))
            .container(POD, exit + 1, &ended, &last)
            .at(&format!("10:{:02}:00", minute + 1))
            .container(POD, exit + 2, &running(minute + 1), &ended);
        last = ended;
    }
    reel.until("10:50:00")
}

pub fn fixtures() -> Vec<Fixture> {
    let moderate = "[sig-architecture] platform pods in ns/openshift-dns should not exit a moderate amount of times";
    vec![
        Fixture {
            id: "containers-start",
            case: "[sig-architecture] platform pods in ns/openshift-dns should not fail to start",
            bad: || waits("CreateContainerConfigError"),
            verdict: CaseVerdict::Flake,
            at: "10:05:00.5",
            says: "container main of pod dns-0 waited",
            good: || waits("ContainerCreating"),
        },
        Fixture {
            id: "containers-exit-excessively",
            case: "[sig-architecture] platform pods in ns/openshift-dns should not exit an excessive amount of times",
            bad: || exits(4),
            verdict: CaseVerdict::Fail,
            at: "10:05:00",
            says: "container main of pod dns-0 ended 4 times with an error",
            good: || exits(3),
        },
        Fixture {
            id: "containers-exit-moderately",
            case: moderate,
            bad: || exits(2),
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "container main of pod dns-0 ended 2 times with an error",
            good: || exits(1),
        },
    ]
}

#[test]
fn containers_are_judged() {
    super::check(&fixtures());
}
