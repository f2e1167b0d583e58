//! What operators say of themselves.

use crate::verdicts::fixture::Fixture;
use crate::verdicts::reel::Reel;
use kubereel_monitortests::CaseVerdict;

/// An operator whose condition is bad for a minute and a quarter of a second.
fn says(condition: &str, status: &str, back: &str) -> Reel {
    Reel::cluster()
        .operator("dns", &[])
        .at("10:05:00")
        .operator("dns", &[(condition, status, "Down")])
        .at("10:06:00.250")
        .operator("dns", &[(condition, back, "AsExpected")])
        .until("10:30:00")
}

/// An upgrade that waits for an operator for ten minutes.
fn waited_for(does_progress: bool) -> Reel {
    let reel = Reel::cluster()
        .operator("dns", &[])
        .at("10:05:00")
        .upgrade_begins("5.1.0")
        .at("10:10:00")
        .version_says(
            "Progressing",
            "True",
            "",
            "Working towards 5.1.0: waiting on dns",
        )
        .at("10:11:00");
    let reel = if does_progress {
        reel.operator("dns", &[("Progressing", "True", "Deploying")])
            .at("10:15:00")
            .operator("dns", &[("Progressing", "False", "AsExpected")])
    } else {
        reel
    };
    reel.at("10:20:00")
        .version_says("Progressing", "True", "", "Working towards 5.1.0")
        .at("10:30:00")
        .upgrade_ends()
        .until("10:40:00")
}

/// An operator that progresses at a time, in an upgrade whose nodes are rolled from 10:10 on.
fn progresses(from: &str, to: &str) -> Reel {
    let reel = Reel::cluster()
        .operator("dns", &[])
        .operator("machine-config", &[])
        .at("10:05:00")
        .upgrade_begins("5.1.0");
    let is_early = from < "10:10:00";
    let moves = |reel: Reel| {
        reel.at(from)
            .operator("dns", &[("Progressing", "True", "Deploying")])
            .at(to)
            .operator("dns", &[("Progressing", "False", "AsExpected")])
    };
    let reel = if is_early { moves(reel) } else { reel };
    let reel = reel
        .at("10:10:00")
        .operator("machine-config", &[("Progressing", "True", "Rolling")])
        .at("10:20:00")
        .operator("machine-config", &[("Progressing", "False", "AsExpected")]);
    let reel = if is_early { reel } else { moves(reel) };
    reel.at("10:40:00").upgrade_ends().until("10:50:00")
}

pub fn fixtures() -> Vec<Fixture> {
    vec![
        Fixture {
            id: "operator-available",
            case: "[bz-DNS] clusteroperator/dns should not change condition/Available",
            bad: || says("Available", "False", "True"),
            verdict: CaseVerdict::Fail,
            at: "10:05:00",
            says: "dns was Available=False for",
            good: || says("Degraded", "True", "False"),
        },
        Fixture {
            id: "operator-degraded",
            case: "[bz-DNS] clusteroperator/dns should not change condition/Degraded",
            bad: || says("Degraded", "True", "False"),
            verdict: CaseVerdict::Fail,
            at: "10:05:00",
            says: "dns was Degraded=True for",
            good: || says("Available", "False", "True"),
        },
        Fixture {
            id: "operator-progresses-in-upgrade",
            case: "[bz-DNS] clusteroperator/dns must go Progressing=True during an upgrade test",
            bad: || waited_for(false),
            verdict: CaseVerdict::Fail,
            at: "10:00:00",
            says: "dns was never Progressing=True in the upgrade",
            good: || waited_for(true),
        },
        Fixture {
            id: "operator-rests-while-nodes-update",
            case: "[bz-DNS] clusteroperator/dns should stay Progressing=False while MCO is Progressing=True",
            bad: || progresses("10:25:00", "10:26:00"),
            verdict: CaseVerdict::Fail,
            at: "10:25:00",
            says: "dns was Progressing=True for",
            good: || progresses("10:06:00", "10:07:00"),
        },
    ]
}

#[test]
fn operators_are_judged() {
    super::check(&fixtures());
}
