//! What was over before anyone who looks now and then could have seen it.

use crate::verdicts::judged::judged;
use crate::verdicts::reel::Reel;

const DNS: &str = "[bz-DNS] clusteroperator/dns should not flap for less than a poll";
const NODES: &str = "[sig-node] nodes should not be not ready for less than a poll";

#[test]
fn short_spells_of_an_operator_are_counted_and_long_ones_are_not() {
    let bad = [("Available", "False", "DNSUnavailable")];
    let good = [("Available", "True", "AsExpected")];
    let began = || Reel::cluster().operator("dns", &[]).at("10:05:00");
    let long = began()
        .operator("dns", &bad)
        .at("10:06:00")
        .operator("dns", &good);
    judged(long.until("10:30:00"), "operator-flaps-between-polls").passes(DNS);
    let twice = began()
        .operator("dns", &bad)
        .at("10:05:40.250")
        .operator("dns", &good)
        .at("10:10:00")
        .operator("dns", &bad)
        .at("10:10:59")
        .operator("dns", &good);
    let verdicts = judged(twice.until("10:30:00"), "operator-flaps-between-polls");
    verdicts.is(DNS, "flake");
    verdicts.says(
        DNS,
        "10:05:00",
        "dns said Available=False for less than 60s (count: 2)",
    );
}

#[test]
fn a_short_spell_of_a_node_is_found_unless_it_is_updated() {
    let short = |reel: Reel| {
        reel.node_ready("worker-0", false)
            .at("10:05:30")
            .node_ready("worker-0", true)
            .until("10:30:00")
    };
    let verdicts = judged(
        short(Reel::cluster().at("10:05:00")),
        "node-flaps-between-polls",
    );
    verdicts.is(NODES, "flake");
    verdicts.says(
        NODES,
        "10:05:00",
        "node worker-0 was not ready for less than 60s (count: 1)",
    );
    let updated = Reel::cluster()
        .at("10:04:00")
        .node_config("worker-0", "desiredConfig", "rendered-worker-2")
        .at("10:05:00");
    judged(short(updated), "node-flaps-between-polls").passes(NODES);
}
