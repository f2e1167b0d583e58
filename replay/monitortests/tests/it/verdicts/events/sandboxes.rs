//! Pods whose sandbox could not be made.

use crate::verdicts::fixture::Fixture;
use crate::verdicts::reel::Reel;
use kubereel_monitortests::CaseVerdict;

const ID: &str = "pod-sandboxes-are-made";
const POD: &str = "team-a/web-0";
const BY_TIME: &str = "[sig-network] pods should successfully create sandboxes by not timing out";
const BY_OTHER: &str = "[sig-network] pods should successfully create sandboxes by other";
const TIMED_OUT: &str = "Failed to create pod sandbox: dial tcp 10.0.0.1:6443: i/o timeout";

fn failed(reel: Reel, at: &str, words: &str) -> Reel {
    reel.at(at)
        .event("Pod", POD, "FailedCreatePodSandBox", words)
}

/// A Pod that is deleted at 10:05:00, and its sandbox that fails then or later.
fn after_deletion(at: &str) -> Reel {
    let reel = Reel::cluster().pod(POD).at("10:05:00").gone("Pod", POD);
    failed(reel, at, TIMED_OUT)
}

fn while_node_is_away(at: &str) -> Reel {
    let reel = Reel::cluster().at("10:04:00").node_ready("master-0", false);
    let reel = if at < "10:10:00" {
        failed(reel, at, TIMED_OUT)
            .at("10:10:00")
            .node_ready("master-0", true)
    } else {
        let reel = reel.at("10:10:00").node_ready("master-0", true);
        failed(reel, at, TIMED_OUT)
    };
    reel.until("10:30:00")
}

fn while_network_rolls_out() -> Reel {
    let reel = Reel::cluster()
        .operator("network", &[])
        .at("10:04:00")
        .operator("network", &[("Progressing", "True", "Deploying")]);
    failed(reel, "10:05:00", TIMED_OUT)
        .at("10:10:00")
        .operator("network", &[("Progressing", "False", "AsExpected")])
}

pub fn fixtures() -> Vec<Fixture> {
    vec![
        Fixture {
            id: ID,
            case: BY_TIME,
            bad: || failed(Reel::cluster(), "10:05:00", TIMED_OUT),
            verdict: CaseVerdict::Fail,
            at: "10:05:00",
            says: "namespace/team-a pod/web-0",
            good: || failed(Reel::cluster(), "10:05:00", "no room"),
        },
        Fixture {
            id: ID,
            case: BY_OTHER,
            bad: || failed(Reel::cluster(), "10:05:00", "no room"),
            verdict: CaseVerdict::Fail,
            at: "10:05:00",
            says: "never deleted - no room",
            good: || failed(Reel::cluster(), "10:05:00", TIMED_OUT),
        },
        Fixture {
            id: ID,
            case: BY_TIME,
            bad: || after_deletion("10:05:07.25"),
            verdict: CaseVerdict::Fail,
            at: "10:05:07.25",
            says: "7.25 seconds after deletion",
            good: || after_deletion("10:05:00.5"),
        },
        Fixture {
            id: ID,
            case: BY_TIME,
            bad: || after_deletion("10:05:03"),
            verdict: CaseVerdict::Flake,
            at: "10:05:03",
            says: "3.00 seconds after deletion",
            good: || after_deletion("10:05:00.5"),
        },
        Fixture {
            id: ID,
            case: BY_TIME,
            bad: || while_node_is_away("10:12:00"),
            verdict: CaseVerdict::Fail,
            at: "10:12:00",
            says: "never deleted",
            good: || while_node_is_away("10:05:00"),
        },
        Fixture {
            id: ID,
            case: BY_TIME,
            bad: while_network_rolls_out,
            verdict: CaseVerdict::Flake,
            at: "10:05:00",
            says: "never deleted, network rollout",
            good: || while_node_is_away("10:05:00"),
        },
    ]
}

#[test]
fn sandboxes_are_made() {
    super::check(&fixtures());
}
