//! Rules about operators, asked of a file of intervals: there are no objects, and Events tell of upgrades.

use crate::verdicts::judged::{Verdicts, judged_intervals};
use crate::verdicts::reel::time;
use kubereel_monitortests::{Interval, IntervalMessage, Intervals, Level, Locator, Source};

const NAME: &str = "[bz-DNS] clusteroperator/dns should not change condition/Available";

fn interval(source: &str, locator: Locator, message: IntervalMessage, at: &str) -> Interval {
    let from = time(at);
    Interval {
        level: Level::Error,
        source: Source::new(source),
        locator,
        message,
        from,
        to: Some(from),
        ..Interval::default()
    }
}

fn says(status: &str, at: &str) -> Interval {
    let message = IntervalMessage::new("a message")
        .reason("NoPods")
        .with("condition", "Available")
        .with("status", status);
    let locator = Locator::new("ClusterOperator", [("clusteroperator", "dns")]);
    interval("ClusterOperatorMonitor", locator, message, at)
}

fn master(name: &str) -> Interval {
    let message = IntervalMessage::new("node is ready")
        .reason("Ready")
        .with("roles", "control-plane,master");
    interval(
        "NodeMonitor",
        Locator::new("Node", [("node", name)]),
        message,
        "10:00:00",
    )
}

fn failed_test(name: &str, from: &str, to: &str) -> Interval {
    let locator = Locator::new("E2ETest", [("e2e-test", name)]);
    let mut test = interval("E2ETest", locator, IntervalMessage::new("failed"), from);
    test.to = Some(time(to));
    test
}

fn upgrade(reason: &str, at: &str) -> Interval {
    let locator = Locator::new("ClusterVersion", [("clusterversion", "cluster")]);
    interval(
        "KubeEvent",
        locator,
        IntervalMessage::new("").reason(reason),
        at,
    )
}

fn file(masters: &[&str], more: Vec<Interval>) -> Intervals {
    let mut all: Vec<Interval> = masters.iter().map(|name| master(name)).collect();
    all.extend([says("False", "10:05:00"), says("True", "10:06:00")]);
    all.extend(more);
    Intervals::new(all, time("10:00:00"), time("11:00:00"))
}

fn judged(masters: &[&str], more: Vec<Interval>, id: &str) -> Verdicts {
    judged_intervals(file(masters, more), id)
}

#[test]
fn an_operator_fails_by_a_file_too_and_tests_that_failed_meanwhile_are_named() {
    let tests = vec![
        failed_test("pods should run", "10:05:30", "10:07:00"),
        failed_test("much later", "10:30:00", "10:31:00"),
    ];
    let verdicts = judged(&["a", "b"], tests, "operator-available");
    verdicts.fails(
        NAME,
        "10:05:00",
        "; tests that failed meanwhile: pods should run",
    );
    assert_eq!(verdicts.names_of_failed(), [NAME]);
    // One master may be all there is.
    let single = judged(&["a"], Vec::new(), "operator-available");
    let why = single.omitted();
    assert!(why.contains("topology"), "{why}");
}

#[test]
fn events_of_the_suite_tell_of_an_upgrade() {
    let id = "node-unready-once-per-upgrade";
    let name =
        "[sig-node] nodes should not go unready after being upgraded and go unready only once";
    judged(&["a", "b"], Vec::new(), id).is(name, "skipped");
    let suite = vec![
        upgrade("UpgradeStarted", "10:01:00"),
        upgrade("UpgradeComplete", "10:50:00"),
    ];
    judged(&["a", "b"], suite, id).passes(name);
}

#[test]
fn containers_are_judged_without_facts() {
    let id = "containers-start";
    let name = "[sig-architecture] platform pods in ns/openshift-dns should not fail to start";
    let keys = [
        ("namespace", "openshift-dns"),
        ("pod", "dns-1"),
        ("container", "main"),
    ];
    let waits = IntervalMessage::new("no image")
        .reason("ContainerWait")
        .cause("ImagePullBackOff");
    let waits = interval(
        "PodMonitor",
        Locator::new("Container", keys),
        waits,
        "10:05:00",
    );
    judged(&["a"], vec![waits], id).is(name, "flake");
    judged(&["a"], Vec::new(), id).passes(name);
}
