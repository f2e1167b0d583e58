//! Rows 21 to 23.

use crate::verdicts::judged::judged;
use crate::verdicts::reel::Reel;
use serde_json::{Value, json};

const START: &str = "[sig-architecture] platform pods in ns/openshift-dns should not fail to start";
const EXCESSIVE: &str = "[sig-architecture] platform pods in ns/openshift-dns should not exit an excessive amount of times";
const MODERATE: &str = "[sig-architecture] platform pods in ns/openshift-dns should not exit a moderate amount of times";

const POD: &str = "openshift-dns/dns-1";

fn waiting(reason: &str) -> Value {
    json!({"waiting": {"reason": reason, "message": "because"}})
}

fn ended(code: u64, at: &str) -> Value {
    json!({"terminated": {"exitCode": code, "reason": "Error", "finishedAt": at}})
}

#[test]
fn a_container_that_waits_for_its_image_flakes() {
    let id = "containers-start";
    let waits = |reason: &str| {
        let reel = Reel::cluster().pod(POD).at("10:05:00");
        reel.container(POD, 0, &waiting(reason), &json!({}))
    };
    let verdicts = judged(waits("ImagePullBackOff"), id);
    verdicts.is(START, "flake");
    verdicts.says(START, "10:05:00", "ImagePullBackOff");
    assert_eq!(verdicts.count_of("pass"), verdicts.count() - 1);
    judged(waits("ContainerCreating"), id).passes(START);
}

/// The container ends some times with a code, from 10:05 on, and runs again a second later.
fn exits(times: u64, code: u64) -> Reel {
    exits_in(Reel::cluster(), times, code)
}

fn exits_in(reel: Reel, times: u64, code: u64) -> Reel {
    let mut reel = reel.pod(POD);
    let mut last = json!({});
    for number in 0..times {
        let minute = 5 + number;
        let time = format!("2026-11-21T10:{minute:02}:00Z");
        reel = reel.at(&format!("10:{minute:02}:00"));
        reel = reel.container(POD, number, &ended(code, &time), &last);
        last = ended(code, &time);
        reel = reel.at(&format!("10:{minute:02}:01"));
        reel = reel.container(POD, number + 1, &json!({"running": {}}), &last);
    }
    reel.until("11:00:00")
}

#[test]
fn a_container_that_ends_four_times_fails() {
    let id = "containers-exit-excessively";
    judged(exits(4, 1), id).fails(EXCESSIVE, "10:05:00", "main of pod dns-1 ended 4 times");
    judged(exits(3, 1), id).passes(EXCESSIVE);
    judged(exits(4, 0), id).passes(EXCESSIVE);
}

#[test]
fn a_container_that_ends_twice_flakes() {
    let id = "containers-exit-moderately";
    let verdicts = judged(exits(2, 1), id);
    verdicts.is(MODERATE, "flake");
    verdicts.says(MODERATE, "10:05:00", "main of pod dns-1 ended 2 times");
    judged(exits(1, 1), id).passes(MODERATE);
}

#[test]
fn clusters_that_came_by_4_17_are_not_judged() {
    let old = exits_in(Reel::cluster().installed("4.17.3"), 4, 1);
    judged(old, "containers-exit-excessively").passes(EXCESSIVE);
}

#[test]
fn exits_whose_state_nobody_saw_count_too() {
    let mut reel = Reel::cluster().pod(POD);
    for number in 1..=4_u64 {
        let minute = 5 + number;
        let last = ended(1, &format!("2026-11-21T10:{minute:02}:00Z"));
        reel = reel.at(&format!("10:{minute:02}:01"));
        reel = reel.container(POD, number, &json!({"running": {}}), &last);
    }
    let reel = reel.until("11:00:00");
    let verdicts = judged(reel, "containers-exit-excessively");
    verdicts.fails(EXCESSIVE, "10:06:01", "ended 4 times");
}

#[test]
fn exits_that_follow_each_other_are_counted_by_run() {
    let story = |same_run: bool| {
        let mut reel = Reel::cluster().pod(POD);
        for number in 0..4_u64 {
            let minute = 5 + number;
            let run = if same_run { 5 } else { minute };
            let state = ended(1, &format!("2026-11-21T10:{run:02}:00Z"));
            reel = reel.at(&format!("10:{minute:02}:01"));
            reel = reel.container(POD, 0, &state, &json!({}));
            // The container waits, with the run that it had.
            reel = reel.at(&format!("10:{minute:02}:02"));
            let waiting = json!({"waiting": {"reason": "CrashLoopBackOff"}});
            let state = if same_run { &waiting } else { &state };
            let last = ended(1, &format!("2026-11-21T10:{run:02}:00Z"));
            reel = reel.container(POD, number, state, &last);
        }
        judged(reel.until("11:00:00"), "containers-exit-excessively")
    };
    story(false).fails(EXCESSIVE, "10:05:01", "ended 4 times");
    story(true).passes(EXCESSIVE);
}
