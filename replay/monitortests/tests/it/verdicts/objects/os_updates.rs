//! Rows 5 and 6.

use crate::verdicts::judged::judged;
use crate::verdicts::reel::Reel;

const STAGED: &str =
    "[bz-Machine Config Operator] Nodes should reach OSUpdateStaged in a timely fashion";
const STARTED: &str =
    "OSUpdateStarted event should be recorded for nodes that reach OSUpdateStaged";

/// worker-0 begins to update its system at 10:05, and has staged it later.
fn staged(at: &str) -> Reel {
    staged_in(Reel::cluster(), at)
}

fn staged_in(reel: Reel, at: &str) -> Reel {
    reel.at("10:05:00")
        .event("Node", "worker-0", "OSUpdateStarted", "Upgrading OS")
        .at(at)
        .event("Node", "worker-0", "OSUpdateStaged", "Changes staged")
        .until("11:00:00")
}

#[test]
fn a_system_is_staged_in_time() {
    let id = "os-update-staged-in-time";
    judged(staged("10:09:59"), id).passes(STAGED);
    judged(staged("10:10:01"), id).is(STAGED, "flake");
    judged(staged("10:15:01"), id).fails(STAGED, "10:05:00", "worker-0");
    let never = Reel::cluster()
        .at("10:05:00")
        .event("Node", "worker-0", "OSUpdateStarted", "Upgrading OS")
        .until("11:00:00");
    judged(never, id).fails(STAGED, "10:05:00", "worker-0");
    // The end of the update tells as much.
    let reached = Reel::cluster()
        .at("10:04:00")
        .node_config("worker-0", "desiredConfig", "rendered-worker-2")
        .at("10:05:00")
        .event("Node", "worker-0", "OSUpdateStarted", "Upgrading OS")
        .at("10:08:00")
        .node_config("worker-0", "currentConfig", "rendered-worker-2")
        .until("11:00:00");
    judged(reached, id).passes(STAGED);
    let metal = Reel::cluster().infrastructure("HighlyAvailable", "BareMetal");
    judged(staged_in(metal, "10:15:01"), id).is(STAGED, "flake");
}

#[test]
fn who_staged_had_told_that_it_began() {
    let id = "os-update-start-is-told";
    judged(staged("10:08:00"), id).passes(STARTED);
    let lost = Reel::cluster().at("10:08:00").event(
        "Node",
        "worker-0",
        "OSUpdateStaged",
        "Changes staged",
    );
    let verdicts = judged(lost, id);
    verdicts.is(STARTED, "flake");
    verdicts.says(STARTED, "10:08:00", "worker-0");
}
