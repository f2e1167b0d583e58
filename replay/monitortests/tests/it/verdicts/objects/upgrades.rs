//! Rows 7, 8 and 14: what an upgrade must not do.

use crate::verdicts::judged::judged;
use crate::verdicts::reel::Reel;

const UNKNOWN: &str = "[bz-Cluster Version Operator] cluster version should not report Failing=Unknown during a normal cluster upgrade";
const ONCE: &str =
    "[sig-node] nodes should not go unready after being upgraded and go unready only once";

/// The version operator suspects operators at 10:40.
fn suspects(detail: &str) -> Reel {
    Reel::cluster()
        .at("10:05:00")
        .upgrade_begins("5.1.0")
        .at("10:40:00")
        .version_says("Failing", "Unknown", "SlowClusterOperator", detail)
        .at("11:00:00")
        .version_says("Failing", "False", "", "")
        .upgrade_ends()
        .until("11:10:00")
}

#[test]
fn operators_that_are_too_slow_fail_each_its_case() {
    let id = "operator-changes-version-in-time";
    let name = |component: &str, operator: &str| {
        format!(
            "[bz-{component}] clusteroperator/{operator} must complete version change within limited time"
        )
    };
    let detail = "waiting on dns, etcd over 30 minutes and machine-config over 90 minutes which is longer than expected";
    let verdicts = judged(suspects(detail), id);
    verdicts.fails(
        &name("DNS", "dns"),
        "10:40:00",
        "dns has not completed its version change after 30 minutes",
    );
    verdicts.fails(&name("Etcd", "etcd"), "10:40:00", "etcd has not");
    verdicts.fails(
        &name("Machine Config Operator", "machine-config"),
        "10:40:00",
        "after 90 minutes",
    );
    assert_eq!(verdicts.names_of_failed().len(), 3);
    assert_eq!(verdicts.count(), 34);
    let healthy = judged(Reel::cluster().at("10:05:00"), id);
    assert_eq!(healthy.count_of("pass"), 34);
}

#[test]
fn a_suspicion_names_operators_that_exist() {
    let id = "slow-operators-are-named";
    let known = "waiting on dns over 30 minutes which is longer than expected";
    judged(suspects(known), id).passes(UNKNOWN);
    let unknown = "waiting on nobody over 30 minutes which is longer than expected";
    judged(suspects(unknown), id).fails(UNKNOWN, "10:40:00", "operators nobody");
}

#[test]
fn a_node_goes_away_once_in_an_upgrade() {
    let id = "node-unready-once-per-upgrade";
    let once = || {
        Reel::cluster()
            .at("10:05:00")
            .upgrade_begins("5.1.0")
            .at("10:10:00")
            .node_ready("worker-0", false)
            .at("10:12:00")
            .node_ready("worker-0", true)
            .at("10:20:00")
            .upgrade_ends()
    };
    judged(once().until("11:00:00"), id).passes(ONCE);
    let twice = once()
        .at("10:30:00")
        .node_ready("worker-0", false)
        .at("10:31:00")
        .node_ready("worker-0", true);
    let twice = judged(twice, id);
    twice.is(ONCE, "flake");
    twice.says(
        ONCE,
        "10:30:00",
        "worker-0 became not ready 2 times in the upgrade to 5.1.0",
    );
    let next = once()
        .at("10:25:00")
        .upgrade_begins("4.23.0")
        .at("10:30:00")
        .node_ready("worker-0", false)
        .at("10:31:00")
        .node_ready("worker-0", true);
    judged(next, id).passes(ONCE);
    let gone = Reel::cluster()
        .at("10:05:00")
        .upgrade_begins("5.1.0")
        .at("10:10:00")
        .node_ready("worker-0", false)
        .until("11:00:00");
    let gone = judged(gone, id);
    gone.is(ONCE, "flake");
    gone.says(ONCE, "10:10:00", "never became ready again");
    let none = Reel::cluster().at("10:10:00").node_ready("worker-0", false);
    judged(none, id).is(ONCE, "skipped");
}
