//! The comparison with upstream: its own raw intervals go in, and what we compute of them is, byte
//! for byte, what upstream computed. It does not handle silence about what is not the same.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "what helps a test may fail it"
)]

use kubereel_format::RecordedAt;
use kubereel_history::timetext;
use kubereel_monitortests::{
    Interval, Intervals, Mode, computed_from, read_intervals, write_intervals,
};
use kubereel_tests::shared_data::shared_data;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// A pair: its folder, the source of what is compared, the run's end where no file tells it, and the
/// Pods that upstream was given.
struct Pair {
    folder: &'static str,
    source: &'static str,
    end: Option<&'static str>,
    last_pods: Vec<Value>,
}

/// Differences that are accepted, `pair: line`, each with its reason.
const ACCEPTED: [(&str, &str); 0] = [];

fn pairs() -> Vec<Pair> {
    let pair = |folder, source, end| Pair {
        folder,
        source,
        end,
        last_pods: Vec::new(),
    };
    // Upstream's third input, the last copy of this Pod, does not lie in the shared folder. Of it, one
    // fact shows in the expected output: a Pod that runs once ends with its container.
    let installer = json!({
        "metadata": {
            "namespace": "openshift-etcd",
            "name": "installer-9-ci-op-97t906zm-db044-bwrrn-master-0",
            "uid": "6fb10c53-7ed9-4f51-88db-f8a689050f21",
            "creationTimestamp": "2022-03-21T21:37:20Z",
        },
        "spec": {"restartPolicy": "Never"},
        "status": {"containerStatuses": [{
            "name": "installer",
            "state": {"terminated": {"finishedAt": "2022-03-21T21:37:56Z"}},
        }]},
    });
    vec![
        pair("container-life", "PodState", None),
        pair("drain-02", "NodeState", Some("2023-07-19T23:58:52Z")),
        Pair {
            last_pods: vec![installer],
            ..pair("installer-pod", "PodState", None)
        },
        pair("run-once-done", "PodState", Some("2022-03-14T15:00:00Z")),
        pair("trailing-ready", "PodState", None),
    ]
}

fn time(text: &str) -> RecordedAt {
    timetext::parsed(text.trim()).expect("a time")
}

/// Reads the raw intervals, in the window in which upstream computed.
fn starting(folder: &Path, pair: &Pair) -> Intervals {
    let file = std::fs::File::open(folder.join("startingEvents.json")).unwrap();
    let raw = read_intervals(file).unwrap();
    let window = std::fs::read_to_string(folder.join("times.txt")).unwrap_or_default();
    let mut lines = window.lines().map(time);
    let start = lines.next().unwrap_or_else(|| raw.start());
    let end = pair.end.map(time).or_else(|| lines.next());
    let end = end.unwrap_or_else(|| raw.end());
    Intervals::new(raw.all().to_vec(), start, end)
}

fn computed(raw: &Intervals, pair: &Pair) -> String {
    let made = computed_from(raw, Mode::Upstream, &pair.last_pods);
    let is_compared = |made: &&Interval| made.source.as_str() == pair.source;
    let mut text = Vec::new();
    write_intervals(made.iter().filter(is_compared), &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn what_we_compute_is_what_upstream_computed() {
    let mut found = BTreeSet::new();
    for pair in pairs() {
        let Some(folder) = shared_data(&format!("origin-golden/{}", pair.folder)) else {
            return;
        };
        let expected = std::fs::read_to_string(folder.join("expected.json")).unwrap();
        let made = computed(&starting(&folder, &pair), &pair);
        let (expected, made) = (expected.trim_end(), made.as_str());
        if expected != made {
            let mut lines = expected.lines().zip(made.lines()).enumerate();
            let line = lines.find(|(_, (expected, made))| expected != made);
            let line = line.map_or("a line too many or too few".to_owned(), |(at, lines)| {
                format!(
                    "line {}: {} became {}",
                    at + 1,
                    lines.0.trim(),
                    lines.1.trim()
                )
            });
            found.insert(format!("{}: {line}", pair.folder));
        }
    }
    let accepted: BTreeSet<String> = ACCEPTED
        .iter()
        .map(|(line, _)| (*line).to_owned())
        .collect();
    assert_eq!(found, accepted, "left: found; right: accepted");
}

#[test]
fn a_fact_that_is_taken_away_shows() {
    // The comparison can fail: without its Pod, the installer seems to live until it was deleted.
    let mut pair = pairs().swap_remove(2);
    let Some(folder) = shared_data(&format!("origin-golden/{}", pair.folder)) else {
        return;
    };
    let raw = starting(&folder, &pair);
    let with = computed(&raw, &pair);
    pair.last_pods.clear();
    assert_ne!(computed(&raw, &pair), with);
}

#[test]
fn upstreams_files_read_as_they_are() {
    let Some(folder) = shared_data("origin-golden/other") else {
        return;
    };
    let read = |file: &str| {
        let file = std::fs::File::open(folder.join(file)).unwrap();
        read_intervals(file).unwrap()
    };
    let newest = read("etcdlog-intervals.json");
    assert_eq!(newest.all().len(), 13);
    let mut written = Vec::new();
    write_intervals(newest.all(), &mut written).unwrap();
    let again = read_intervals(written.as_slice()).unwrap();
    assert_eq!(newest.all(), again.all());
    let oldest = read("e2e-interval-2021-first4.json");
    assert_eq!(oldest.all().len(), 4);
    for interval in oldest.all() {
        assert_eq!(&*interval.locator.kind, "E2ETest");
        let name = interval.locator.get("e2e-test").unwrap();
        assert!(name.starts_with("[sig-") && name.ends_with(']'), "{name}");
        assert_eq!(&*interval.message.human, "e2e test finished As \"Passed\"");
    }
}
