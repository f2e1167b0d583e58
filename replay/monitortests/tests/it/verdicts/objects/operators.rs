//! Rows 1 to 4.

use crate::verdicts::judged::{Verdicts, judged};
use crate::verdicts::reel::Reel;

const AVAILABLE: &str = "operator-available";
const DEGRADED: &str = "operator-degraded";
const PROGRESSES: &str = "operator-progresses-in-upgrade";
const RESTS: &str = "operator-rests-while-nodes-update";

fn quiet() -> Reel {
    Reel::cluster()
        .operator("etcd", &[])
        .operator("dns", &[])
        .operator("machine-config", &[])
        .at("10:05:00")
}

fn spell(of: &str, reason: &str, ends: &str) -> Reel {
    let (bad, good) = if of == "Available" {
        ("False", "True")
    } else {
        ("True", "False")
    };
    quiet()
        .operator("dns", &[(of, bad, reason)])
        .at(ends)
        .operator("dns", &[(of, good, "AsExpected")])
        .until("11:00:00")
}

#[test]
fn an_operator_that_was_not_available_fails_its_case_alone() {
    let verdicts = judged(spell("Available", "NoPods", "10:05:40.250"), AVAILABLE);
    let name = "[bz-DNS] clusteroperator/dns should not change condition/Available";
    verdicts.fails(name, "10:05:00", "NoPods of dns");
    assert_eq!(verdicts.names_of_failed(), [name]);
    // Every known operator has its case, seen or not.
    verdicts.passes("[bz-Etcd] clusteroperator/etcd should not change condition/Available");
    verdicts.passes("[bz-OLM] clusteroperator/marketplace should not change condition/Available");
    assert_eq!(verdicts.count(), 34);
}

#[test]
fn an_operator_that_was_degraded_fails() {
    let verdicts = judged(spell("Degraded", "Broken", "10:05:06"), DEGRADED);
    let name = "[bz-DNS] clusteroperator/dns should not change condition/Degraded";
    verdicts.fails(name, "10:05:00", "Broken of dns");
    assert_eq!(verdicts.names_of_failed(), [name]);
    let other = judged(spell("Degraded", "Broken", "10:05:06"), AVAILABLE);
    assert!(other.names_of_failed().is_empty());
}

#[test]
fn an_operator_that_the_platform_does_not_name_fails_too() {
    for (of, bad, good, id) in [
        ("Available", "False", "True", AVAILABLE),
        ("Degraded", "True", "False", DEGRADED),
    ] {
        let reel = quiet()
            .operator("aro", &[(of, bad, "NoPods")])
            .at("10:35:00")
            .operator("aro", &[(of, good, "AsExpected")]);
        let verdicts = judged(reel.until("11:00:00"), id);
        let name = format!("[bz-Unknown] clusteroperator/aro should not change condition/{of}");
        assert_eq!(verdicts.names_of_failed(), [name.as_str()]);
    }
}

#[test]
fn quiet_operators_pass() {
    for id in [AVAILABLE, DEGRADED] {
        let verdicts = judged(quiet().until("11:00:00"), id);
        assert_eq!(verdicts.count_of("pass"), 34, "{id}");
    }
}

#[test]
fn an_operator_with_an_exception_flakes() {
    let reel = quiet()
        .operator("ingress", &[])
        .at("10:06:00")
        .operator("ingress", &[("Available", "False", "IngressUnavailable")])
        .at("10:06:30")
        .operator("ingress", &[("Available", "True", "AsExpected")]);
    let verdicts = judged(reel, AVAILABLE);
    let name = "[bz-Routing] clusteroperator/ingress should not change condition/Available";
    verdicts.is(name, "flake-jira");
}

/// ingress is unavailable for some minutes in an upgrade that lasts from 10:10 to 10:50.
fn in_upgrade(ends: &str) -> Verdicts {
    let reel = quiet()
        .operator("ingress", &[])
        .at("10:10:00")
        .upgrade_begins("5.1.0")
        .at("10:20:00")
        .operator("ingress", &[("Available", "False", "IngressUnavailable")])
        .at(ends)
        .operator("ingress", &[("Available", "True", "AsExpected")])
        .at("10:50:00")
        .upgrade_ends()
        .until("11:00:00");
    judged(reel, AVAILABLE)
}

#[test]
fn an_exception_of_upgrades_holds_for_ten_minutes() {
    let name = "[bz-Routing] clusteroperator/ingress should not change condition/Available";
    in_upgrade("10:29:59").is(name, "flake-jira");
    in_upgrade("10:30:01").fails(name, "10:20:00", "IngressUnavailable");
}

#[test]
fn a_single_node_is_not_judged() {
    let reel = Reel::new()
        .infrastructure("SingleReplica", "AWS")
        .installed("5.0.9")
        .operator("dns", &[])
        .at("10:05:00")
        .operator("dns", &[("Available", "False", "NoPods")]);
    for id in [AVAILABLE, DEGRADED] {
        let verdicts = judged(reel.clone(), id);
        assert_eq!(
            verdicts.omitted(),
            "it does not apply to SingleReplica",
            "{id}"
        );
    }
}

#[test]
fn without_a_topology_two_masters_tell_enough() {
    let without = || spell("Available", "NoPods", "10:05:40").without("Infrastructure");
    let name = "[bz-DNS] clusteroperator/dns should not change condition/Available";
    judged(without(), AVAILABLE).fails(name, "10:05:00", "NoPods");
    let verdicts = judged(without().without("Node"), AVAILABLE);
    let why = verdicts.omitted();
    assert_eq!(why, "the topology of the cluster is not known");
}

#[test]
fn the_installation_is_not_judged() {
    let reel = Reel::new()
        .infrastructure("HighlyAvailable", "AWS")
        .put(serde_json::json!({
            "kind": "ClusterVersion",
            "metadata": {"name": "version"},
            "status": {"history": [{
                "state": "Partial",
                "version": "5.0.9",
                "startedTime": "2026-11-21T09:59:00Z",
                "completionTime": null,
            }]},
        }))
        .at("10:01:00")
        .operator("dns", &[("Available", "False", "Starting")])
        .at("10:05:00")
        .operator("dns", &[("Available", "True", "AsExpected")])
        .at("10:10:00")
        .upgrade_ends()
        .until("11:00:00");
    let verdicts = judged(reel, AVAILABLE);
    assert!(verdicts.names_of_failed().is_empty());
}

/// An upgrade from 10:10 to 11:00 in which the version operator waits for dns, and for machine-config
/// at the end; dns says that it progresses or does not.
fn waits(until: &str, does_progress: bool) -> Reel {
    let mut reel = quiet().at("10:10:00").upgrade_begins("5.1.0");
    if does_progress {
        reel = reel
            .at("10:11:00")
            .operator("dns", &[("Progressing", "True", "Rolling")]);
    }
    reel = reel.at("10:12:00").version_says(
        "Progressing",
        "True",
        "ClusterOperatorUpdating",
        "Working towards 5.1.0: 9 of 99 done (9% complete), waiting on dns",
    );
    reel = reel.at(until).version_says(
        "Progressing",
        "True",
        "",
        "Working towards 5.1.0: 50 of 99 done (50% complete)",
    );
    if does_progress {
        reel = reel.operator("dns", &[("Progressing", "False", "AsExpected")]);
    }
    reel.at("11:00:00").upgrade_ends().until("11:10:00")
}

#[test]
fn an_operator_that_is_waited_for_says_that_it_progresses() {
    let name = "[bz-DNS] clusteroperator/dns must go Progressing=True during an upgrade test";
    let verdicts = judged(waits("10:15:01", false), PROGRESSES);
    verdicts.is(name, "fail");
    // The version operator never waited for this one.
    let never = "[bz-Etcd] clusteroperator/etcd must go Progressing=True during an upgrade test";
    verdicts.is(never, "flake");
    judged(waits("10:14:59", false), PROGRESSES).is(name, "flake");
    judged(waits("10:15:01", true), PROGRESSES).passes(name);
}

#[test]
fn upgrades_within_a_minor_version_need_no_progress() {
    let reel = quiet()
        .at("10:10:00")
        .upgrade_begins("5.0.10")
        .at("11:00:00")
        .upgrade_ends();
    let verdicts = judged(reel, PROGRESSES);
    assert_eq!(verdicts.count_of("skipped"), verdicts.count());
    assert!(verdicts.why().contains("patch"), "{}", verdicts.why());
}

/// machine-config progresses from 10:30 on, dns at a time.
fn rolls(at: &str, reason: &str) -> Verdicts {
    let mut reel = quiet().at("10:10:00").upgrade_begins("5.1.0");
    let progresses = [("Progressing", "True", reason)];
    let rests = [("Progressing", "False", "AsExpected")];
    for time in ["10:20:00", "10:30:00", "10:40:00"] {
        reel = reel.at(time);
        if time == "10:30:00" {
            reel = reel.operator("machine-config", &[("Progressing", "True", "Rolling")]);
        } else if time == at {
            reel = reel.operator("dns", &progresses);
        }
    }
    let reel = reel
        .at("10:45:00")
        .operator("dns", &rests)
        .operator("machine-config", &rests)
        .at("11:00:00")
        .upgrade_ends()
        .until("11:10:00");
    judged(reel, RESTS)
}

#[test]
fn while_nodes_update_no_other_operator_progresses() {
    let name =
        "[bz-DNS] clusteroperator/dns should stay Progressing=False while MCO is Progressing=True";
    rolls("10:40:00", "Rolling").fails(name, "10:40:00", "Rolling");
    let before = rolls("10:20:00", "Rolling");
    before.passes(name);
    assert_eq!(before.count(), 33, "machine-config has no case");
    let without = quiet()
        .at("10:10:00")
        .upgrade_begins("5.1.0")
        .at("11:00:00")
        .upgrade_ends();
    let verdicts = judged(without, RESTS);
    assert_eq!(verdicts.count_of("skipped"), verdicts.count());
}
