//! Intervals that rules about objects need, gathered from reels.

use crate::verdicts::reel::{Reel, time};
use kubereel_format::RecordedAt;
use kubereel_monitortests::{
    ExceptionSet, Gathering, Interval, Mode, RunOptions, Selection, builtin, feed, run_reel_while,
};
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// Returns the times and words of a reason's intervals.
fn gathered(reel: Reel, reason: &str) -> Vec<(RecordedAt, String)> {
    let written = reel.written();
    let timeline = &written.timeline;
    let mut gathering = Gathering::new(timeline, Mode::Exact);
    feed(timeline, &mut gathering.watchers(), |_| {});
    let gathered = gathering.finish(timeline);
    let intervals = gathered.intervals.all().iter();
    let of = intervals.filter(|interval| interval.message.reason.as_ref() == reason);
    of.map(|interval| (interval.from, interval.message.human.to_string()))
        .collect()
}

fn with_ip(reel: Reel, path: &str, ip: &str) -> Reel {
    let status = json!({"status": {"podIP": ip, "podIPs": [{"ip": ip}]}});
    reel.pod(path).change("Pod", path, status)
}

#[test]
fn a_node_that_does_not_report_ready_is_not_said_to_be_not_ready() {
    let reel = || {
        Reel::new()
            .node("worker-0", "worker")
            .at("10:05:00")
            .change("Node", "worker-0", json!({"status": {"conditions": []}}))
            .at("10:10:00")
            .node_ready("worker-0", true)
    };
    let words = |reason| gathered(reel(), reason);
    let unknown = "node does not report whether it is ready".to_owned();
    assert_eq!(words("Unknown"), [(time("10:05:00"), unknown)]);
    assert_eq!(words("NotReady"), []);
    assert_eq!(words("UnexpectedNotReady"), []);
    assert_eq!(words("Ready").len(), 2);
}

#[test]
fn a_spell_is_one_whatever_reasons_it_gives() {
    let reel = Reel::new()
        .operator("dns", &[])
        .at("10:05:00")
        .operator("dns", &[("Available", "False", "NoPods")])
        .at("10:06:00")
        .operator("dns", &[("Available", "False", "NoNodes")])
        .at("10:07:00")
        .operator("dns", &[("Available", "True", "AsExpected")]);
    let written = reel.written();
    let mut gathering = Gathering::new(&written.timeline, Mode::Exact);
    feed(&written.timeline, &mut gathering.watchers(), |_| {});
    let gathered = gathering.finish(&written.timeline);
    let spells: Vec<_> = gathered
        .intervals
        .of("OperatorState")
        .map(|spell| (spell.from, spell.to, spell.message.reason.as_ref()))
        .collect();
    let ended = Some(time("10:07:00"));
    assert_eq!(spells, [(time("10:05:00"), ended, "NoPods")]);
}

#[test]
fn of_two_versions_with_one_timestamp_the_later_record_is_the_state() {
    let states = |reel: Reel| {
        let written = reel.written();
        let mut gathering = Gathering::new(&written.timeline, Mode::Exact);
        feed(&written.timeline, &mut gathering.watchers(), |_| {});
        let gathered = gathering.finish(&written.timeline);
        let of_operator = gathered.intervals.of("OperatorState");
        of_operator
            .map(|state| (state.from, state.to))
            .collect::<Vec<_>>()
    };
    let at = time("10:05:00");
    // Reasons sort either way, so that neither order passes by chance.
    for (bad, good) in [("Zebra", "Apple"), ("Apple", "Zebra")] {
        let recovered = Reel::new()
            .operator("dns", &[])
            .at("10:05:00")
            .operator("dns", &[("Available", "False", bad)])
            .operator("dns", &[("Available", "True", good)])
            .at("10:45:00");
        assert_eq!(states(recovered), [(at, Some(at))], "{bad} then {good}");
        let broken = Reel::new()
            .operator("dns", &[("Available", "False", bad)])
            .at("10:05:00")
            .operator("dns", &[("Available", "True", good)])
            .operator("dns", &[("Available", "False", bad)])
            .at("10:45:00");
        let last = states(broken).pop();
        assert_eq!(last, Some((at, None)), "{good} then {bad}");
    }
}

#[test]
fn two_pods_with_one_ip_are_told_once() {
    let first = || with_ip(Reel::new(), "shop/web", "10.128.0.7").at("10:05:00");
    let shared = |reel: Reel| gathered(with_ip(reel, "shop/other", "10.128.0.7"), "PodIPReused");
    let words = "podIP 10.128.0.7 is currently assigned to multiple pods: shop/web;shop/other";
    assert_eq!(shared(first()), [(time("10:05:00"), words.to_owned())]);
    // A pod that is done, deleted or of the host's network does not hold its address.
    for patch in [
        json!({"status": {"phase": "Succeeded"}}),
        json!({"metadata": {"deletionTimestamp": "2026-11-21T10:05:00Z"}}),
        json!({"spec": {"hostNetwork": true}}),
        json!({"status": {"podIP": Value::Null, "podIPs": Value::Null}}),
    ] {
        let given_back = first().change("Pod", "shop/web", patch.clone());
        assert_eq!(shared(given_back), [], "{patch}");
    }
    let gone = first().gone("Pod", "shop/web");
    assert_eq!(shared(gone), []);
}

#[test]
fn workloads_that_are_written_often_are_told() {
    for kind in ["Deployment", "DaemonSet", "StatefulSet"] {
        let put = |generation: u64| {
            let metadata = json!({"namespace": "shop", "name": "web", "generation": generation});
            json!({"kind": kind, "metadata": metadata})
        };
        let reel = || Reel::new().put(put(3)).at("10:05:00").put(put(4));
        let reel = || reel().at("10:06:00").put(put(2));
        let high = (time("10:05:00"), format!("{kind} generation too high: 4"));
        assert_eq!(gathered(reel(), "HighGeneration"), [high]);
        let fell = format!("{kind} generation fell from 4 to 2");
        let fell = (time("10:06:00"), fell);
        assert_eq!(gathered(reel(), "GenerationViolation"), [fell]);
    }
}

#[test]
fn the_time_that_a_writer_gives_stands_beside_the_interval_and_does_not_begin_it() {
    let down = json!({"status": {"conditions": [{
        "type": "Available", "status": "False", "reason": "NoPods", "message": "no pods",
        "lastTransitionTime": "2026-11-21T10:20:00Z",
    }]}});
    let written = Reel::new()
        .operator("dns", &[])
        .at("10:45:00")
        .change("ClusterOperator", "dns", down)
        .at("10:50:00")
        .written();
    let intervals = |mode| {
        let mut gathering = Gathering::new(&written.timeline, mode);
        feed(&written.timeline, &mut gathering.watchers(), |_| {});
        gathering.finish(&written.timeline).intervals
    };
    for mode in [Mode::Exact, Mode::Upstream] {
        let all = intervals(mode);
        let began: Vec<_> = all.of("OperatorState").map(|state| state.from).collect();
        assert_eq!(began, [time("10:45:00")], "{mode:?}");
        let own = |interval: &Interval| {
            let mut annotations = interval.message.annotations.iter();
            annotations.any(|(name, _)| &**name == "lastTransitionTime")
        };
        let is_shown = all.all().iter().any(own);
        assert_eq!(is_shown, mode == Mode::Exact, "{mode:?}");
    }
}

#[test]
fn a_run_gathers_the_monitors_intervals_beside_those_that_are_judged() {
    let reel = Reel::cluster()
        .at("10:05:00")
        .operator("dns", &[("Available", "False", "NoPods")])
        .at("10:06:00");
    let written = reel.written();
    let mut gathering = Gathering::new(&written.timeline, Mode::Upstream);
    feed(&written.timeline, &mut gathering.watchers(), |_| {});
    let exported = gathering.finish(&written.timeline).intervals;
    let asked = RunOptions {
        selection: &Selection::default(),
        exceptions: &ExceptionSet::default(),
        now: None,
    };
    let run = |with_upstream| {
        let go_on = |_| ControlFlow::Continue(());
        run_reel_while(&written.timeline, builtin(), &asked, with_upstream, go_on).expect("ended")
    };
    let (plain, both) = (run(false), run(true));
    let upstream = both.upstream.expect("asked for");
    assert_eq!(upstream.all(), exported.all());
    assert_eq!(both.intervals.all(), plain.intervals.all());
    assert_ne!(both.intervals.all(), exported.all());
    assert_eq!(plain.outcomes, both.outcomes);
    assert!(plain.upstream.is_none());
}
