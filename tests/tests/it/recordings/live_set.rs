//! The objects that lived at sixteen moments of a real install, as its own recorder kept them in a
//! tree of files, and as the reel tells them.

use super::recording::Recording;
use kubereel_format::{EventHead, RecordedAt, Seq};
use kubereel_history::{Certainty, Cut, ObjectFilter, Timeline};
use kubereel_import::ImportOptions;
use kubereel_tests::shared_data::shared_data;
use ring::digest::{SHA256, digest};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

#[derive(Deserialize)]
struct Checkpoint {
    events_applied_commits: usize,
    live_objects: usize,
    sha256_sorted_object_rv_uid: String,
    per_kind: BTreeMap<String, usize>,
}

/// Hashes sorted lines as the oracle does: joined, without an end behind the last.
fn hash(mut lines: Vec<String>) -> String {
    lines.sort_unstable();
    let sum = digest(&SHA256, lines.join("\n").as_bytes());
    sum.as_ref().iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// Gives the records of all events, in order.
fn events(timeline: &Timeline) -> Vec<Seq> {
    let reel = timeline.reel();
    let all = reel.objects().iter().map(|object| reel.versions(object.id));
    let mut all: Vec<Seq> = all.flatten().copied().collect();
    all.sort_unstable();
    all
}

/// Gives a line for each object that lived after a record, and how many there are of each kind.
fn live(timeline: &Timeline, cut: Cut) -> (Vec<String>, BTreeMap<String, usize>) {
    let mut lines = Vec::new();
    let mut kinds = BTreeMap::new();
    for info in timeline.resources().iter() {
        let state = timeline.as_of(info.id, cut, &ObjectFilter::default());
        assert!(
            matches!(
                state.certainty,
                Certainty::Imported { .. } | Certainty::BeforeFirst { .. }
            ),
            "{:?}",
            state.certainty
        );
        for held in &state.objects {
            let head: EventHead = timeline.reel().head(held.seq).unwrap();
            let place = usize::try_from(held.object.0).unwrap();
            let key = &timeline.reel().objects()[place].key;
            lines.push(format!(
                "{}\t{}\t{}\t{}\t{}\t{}",
                info.api_version(),
                info.kind,
                held.namespace,
                held.name,
                head.resource_version,
                key.uid
            ));
        }
        if !state.objects.is_empty() {
            *kinds.entry(info.kind.clone()).or_default() += state.objects.len();
        }
    }
    (lines, kinds)
}

#[test]
fn the_live_objects_are_those_of_the_oracle_at_every_checkpoint() {
    let (Some(recording), Some(oracle)) = (
        Recording::read("okd412-sno-install-run1/events.jsonl.zst"),
        shared_data("okd412-sno-install-run1/oracle.json"),
    ) else {
        return;
    };
    let oracle = std::fs::read(oracle).unwrap();
    let oracle: Vec<Checkpoint> = serde_json::from_slice(&oracle).unwrap();
    let reel = recording.import(&ImportOptions::new("test", "a recording"));
    let events = events(&reel.timeline);
    assert_eq!(events.len(), 7584);
    let mut reproduced = Vec::new();
    for checkpoint in &oracle {
        let last = events[checkpoint.events_applied_commits - 1];
        let cut = Cut::Arrival {
            below: Seq(last.0 + 1),
            wall: reel
                .timeline
                .reel()
                .stamp(last)
                .map_or_else(RecordedAt::default, |at| at.wall),
        };
        let (lines, kinds) = live(&reel.timeline, cut);
        assert_eq!(lines.len(), checkpoint.live_objects);
        assert_eq!(kinds, checkpoint.per_kind);
        assert_eq!(hash(lines), checkpoint.sha256_sorted_object_rv_uid);
        reproduced.push(checkpoint.events_applied_commits);
    }
    let expected: Vec<usize> = (1..=15).map(|nth| nth * 500).chain([7584]).collect();
    assert_eq!(reproduced, expected);
}

/// At moments all over our own recording, the state is that of a replay of all lines.
#[test]
fn states_are_those_of_a_replay() {
    let mut recording = Recording::own();
    // Without the faults: with them there are objects of one name and two uids.
    let lines = recording.bytes.split_inclusive(|byte| *byte == b'\n');
    let base = lines.filter(|line| !line.starts_with(br#"{"fault""#));
    recording.bytes = base.flatten().copied().collect();
    let reel = recording.import(&ImportOptions::new("test", "a recording"));
    let timeline = &reel.timeline;
    let mut replay: BTreeMap<String, &str> = BTreeMap::new();
    for (line, seq) in recording.lines().zip(events(timeline)) {
        let line = str::from_utf8(line).unwrap();
        let value: Value = serde_json::from_str(line).unwrap();
        let uid = value["object"]["metadata"]["uid"].as_str().unwrap();
        let (_, object) = line.split_once(r#","object":"#).unwrap();
        replay.insert(uid.to_owned(), object.strip_suffix('}').unwrap());
        if value["type"] == "DELETED" {
            replay.remove(uid);
        }
        if !seq.0.is_multiple_of(800) {
            continue;
        }
        let cut = Cut::Arrival {
            below: Seq(seq.0 + 1),
            wall: timeline.reel().stamp(seq).unwrap().wall,
        };
        let mut bodies = Vec::new();
        for info in timeline.resources().iter() {
            let state = timeline.as_of(info.id, cut, &ObjectFilter::default());
            for held in &state.objects {
                let body = timeline.reel().body(held.seq).unwrap();
                bodies.push(String::from_utf8(body.to_vec()).unwrap());
            }
        }
        bodies.sort_unstable();
        let mut expected: Vec<&str> = replay.values().copied().collect();
        expected.sort_unstable();
        assert_eq!(bodies.len(), expected.len(), "after {seq:?}");
        assert!(bodies == expected, "the state after {seq:?}");
    }
}
