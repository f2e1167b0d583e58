//! What the OpenShift monitor's own tables except: by operator, reason, length, topology, and whether
//! an upgrade ran.

use crate::verdicts::judged::judged;
use crate::verdicts::reel::Reel;

/// A spell of an operator: its name, the bad condition, its reason, and when it was.
type Spell<'a> = (&'a str, (&'a str, &'a str), &'a str, (&'a str, &'a str));

/// Returns the verdict on a spell; the upgrade, if there is one, is from 10:10 to 10:40.
fn verdict(topology: &str, has_upgrade: bool, spell: Spell<'_>) -> String {
    let (name, (condition, status), reason, (from, to)) = spell;
    let good = if status == "True" { "False" } else { "True" };
    let mut reel = Reel::cluster()
        .infrastructure(topology, "AWS")
        .operator(name, &[]);
    let mut spells = [(from, status, reason), (to, good, "AsExpected")]
        .into_iter()
        .peekable();
    let upgrade = [("10:10:00", true), ("10:40:00", false)].into_iter();
    let mut upgrade = upgrade.filter(|_| has_upgrade).peekable();
    loop {
        let spell_is_next = match (spells.peek(), upgrade.peek()) {
            (Some(spell), Some(upgrade)) => spell.0 < upgrade.0,
            (spell, _) => spell.is_some(),
        };
        if spell_is_next {
            let (at, status, reason) = spells.next().expect("a spell");
            reel = reel.at(at).operator(name, &[(condition, status, reason)]);
        } else if let Some((at, begins)) = upgrade.next() {
            reel = reel.at(at);
            reel = if begins {
                reel.upgrade_begins("5.1.0")
            } else {
                reel.upgrade_ends()
            };
        } else {
            break;
        }
    }
    let id = format!("operator-{}", condition.to_lowercase());
    let verdicts = judged(reel.until("11:30:00"), &id);
    let ends = format!("clusteroperator/{name} should not change condition/{condition}");
    verdicts.verdict_of(&ends)
}

const DEGRADED: (&str, &str) = ("Degraded", "True");
const UNAVAILABLE: (&str, &str) = ("Available", "False");
const INSIDE: (&str, &str) = ("10:20:00", "10:25:00");
const LONG: (&str, &str) = ("10:20:00", "10:31:00");
const OUTSIDE: (&str, &str) = ("11:00:00", "11:05:00");
const ACROSS: (&str, &str) = ("10:38:00", "10:41:00");
const MASTERS: &str = "NodeController_MasterNodesReady";

#[test]
fn the_tables_hold_where_upstream_holds_them() {
    let ha = "HighlyAvailable";
    for (topology, has_upgrade, spell, expected) in [
        (
            ha,
            false,
            ("kube-apiserver", DEGRADED, "Any", INSIDE),
            "flake-jira",
        ),
        (ha, false, ("etcd", DEGRADED, "Any", INSIDE), "fail"),
        (
            ha,
            false,
            ("kube-scheduler", DEGRADED, "Any", LONG),
            "flake-permanent",
        ),
        (
            ha,
            false,
            ("ingress", UNAVAILABLE, "IngressUnavailable", LONG),
            "flake-jira",
        ),
        (ha, false, ("ingress", UNAVAILABLE, "Other", INSIDE), "fail"),
        (
            ha,
            true,
            ("kube-scheduler", DEGRADED, MASTERS, INSIDE),
            "flake-jira",
        ),
        (
            ha,
            true,
            ("kube-scheduler", DEGRADED, "Any", INSIDE),
            "fail",
        ),
        (
            ha,
            true,
            ("kube-scheduler", DEGRADED, MASTERS, LONG),
            "fail",
        ),
        (
            ha,
            true,
            ("kube-scheduler", DEGRADED, MASTERS, OUTSIDE),
            "fail",
        ),
        (
            ha,
            true,
            ("kube-scheduler", DEGRADED, MASTERS, ACROSS),
            "fail",
        ),
        (
            ha,
            true,
            ("kube-apiserver", DEGRADED, "Any", OUTSIDE),
            "flake-jira",
        ),
        (
            ha,
            true,
            ("etcd", UNAVAILABLE, "tnf-a_JobRunning", INSIDE),
            "fail",
        ),
        (
            "DualReplica",
            true,
            ("etcd", UNAVAILABLE, "tnf-a_JobRunning", INSIDE),
            "flake-permanent",
        ),
    ] {
        let found = verdict(topology, has_upgrade, spell);
        assert_eq!(found, expected, "{topology} {has_upgrade} {spell:?}");
    }
}
