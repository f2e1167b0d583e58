//! The one derivation of state against a slow one: every version of every object in the order of records,
//! conditions read from its JSON here, written differently. Skipped, and said so, where the shared
//! recordings are not there.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what helps a test may fail it"
)]

use crate::recordings::Recording;
use crate::upgrades::{oc_folder, oc_reel, oc_scenarios};
use kubereel_cluster::{ClusterHistory, StateInterval, StateKind, StateTrack};
use kubereel_format::{EventType, RecordedAt, Seq};
use kubereel_history::Timeline;
use kubereel_import::ImportOptions;
use kubereel_monitortests::{Gathering, Mode, StateWatcher, feed};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const SHARED: [&str; 4] = [
    "okd412-sno-install-run1/events.jsonl.zst",
    "cvo-upgrade/events.jsonl.zst",
    "must-gather-aws48/objects.jsonl.zst",
    "must-gather-aws48/subset-732.jsonl",
];

/// Whose condition: resource, namespace, name, type.
type Place = (String, String, String, String);

/// A state by the naive replay: status, reason, message, the record that began it and the one that ended it.
type NaiveState = (String, String, String, u64, Option<u64>);

/// Holds a check against every recording that is there.
fn each(check: impl Fn(&str, &Timeline)) {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/demo.reel");
    check("demo.reel", &Timeline::open(&demo).unwrap());
    let mut options = ImportOptions::new("test", "a recording");
    check("our own", &Recording::own().import(&options).timeline);
    options.at = Some(RecordedAt::from_micros(1_700_000_000_000_000));
    for file in SHARED {
        if let Some(recording) = Recording::read(file) {
            check(file, &recording.import(&options).timeline);
        }
    }
    if let Some(folder) = oc_folder() {
        for scenario in oc_scenarios(&folder) {
            check(&scenario, &oc_reel(&folder, &scenario).timeline);
        }
    }
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or("").to_owned()
}

/// Replays a whole reel, one record after the other, with the last state of each condition.
#[expect(clippy::similar_names, reason = "states, and the status of each")]
fn naive(timeline: &Timeline) -> BTreeMap<Place, Vec<NaiveState>> {
    let mut states: BTreeMap<Place, Vec<NaiveState>> = BTreeMap::new();
    let mut lives: BTreeMap<(String, String, String), String> = BTreeMap::new();
    let close = |states: &mut BTreeMap<Place, Vec<NaiveState>>, place: &Place, seq: u64| {
        if let Some(last) = states.get_mut(place).and_then(|all| all.last_mut()) {
            last.4.get_or_insert(seq);
        }
    };
    for number in 0..timeline.reel().end().0 {
        let Some(head) = timeline.reel().head(Seq(number)) else {
            continue;
        };
        let key = timeline.key_of(head.object).unwrap();
        let info = timeline
            .resources()
            .iter()
            .find(|info| info.id == key.resource)
            .unwrap();
        if StateKind::of(&info.group, &info.plural).is_none_or(|kind| !kind.has_conditions()) {
            continue;
        }
        let thing = (
            info.plural.clone(),
            key.namespace.to_owned(),
            key.name.to_owned(),
        );
        let own: Vec<Place> = states
            .keys()
            .filter(|place| (&place.0, &place.1, &place.2) == (&thing.0, &thing.1, &thing.2))
            .cloned()
            .collect();
        let is_other = lives.get(&thing).is_some_and(|uid| key.uid != **uid);
        if head.kind == EventType::Deleted {
            if !is_other {
                for place in &own {
                    close(&mut states, place, number);
                }
                lives.remove(&thing);
            }
            continue;
        }
        if is_other {
            for place in &own {
                close(&mut states, place, number);
            }
        }
        lives.insert(thing.clone(), key.uid.to_string());
        let body: Value =
            serde_json::from_slice(&timeline.reel().body(Seq(number)).unwrap()).unwrap();
        let mut reported: BTreeMap<String, &Value> = BTreeMap::new();
        let empty = Vec::new();
        for condition in body["status"]["conditions"].as_array().unwrap_or(&empty) {
            reported.entry(text(condition, "type")).or_insert(condition);
        }
        for place in own.iter().filter(|place| !reported.contains_key(&place.3)) {
            close(&mut states, place, number);
        }
        for (kind, condition) in reported {
            let [status, reason, message] =
                ["status", "reason", "message"].map(|name| text(condition, name));
            let place = (thing.0.clone(), thing.1.clone(), thing.2.clone(), kind);
            let is_same = states
                .get(&place)
                .and_then(|all| all.last())
                .is_some_and(|last| {
                    last.4.is_none() && (&last.0, &last.1, &last.2) == (&status, &reason, &message)
                });
            if !is_same {
                close(&mut states, &place, number);
                let new = (status, reason, message, number, None);
                states.entry(place).or_default().push(new);
            }
        }
    }
    states
}

fn place_of(track: &StateTrack) -> Option<Place> {
    let object = track.object();
    Some((
        object.kind.resource()?.1.to_owned(),
        object.namespace.clone(),
        object.name.clone(),
        track.aspect().condition()?.to_owned(),
    ))
}

fn of_tracks(tracks: &[StateTrack]) -> BTreeMap<Place, Vec<NaiveState>> {
    let state = |one: StateInterval<'_>| {
        let text = one.state;
        (
            text.status.to_string(),
            text.reason.to_string(),
            text.message.to_string(),
            one.from.seq.0,
            one.to.map(|to| to.seq.0),
        )
    };
    let tracks = tracks
        .iter()
        .filter_map(|track| Some((place_of(track)?, track.intervals().map(state).collect())));
    tracks.collect()
}

/// Returns the states as a pass over the reel derives them, and as the versions of each object do.
fn derived(timeline: &Timeline) -> [Vec<StateTrack>; 2] {
    let end = timeline.last_cut();
    let mut watcher = StateWatcher::new(StateKind::ALL);
    feed(timeline, &mut [&mut watcher], |_| {});
    let cluster = ClusterHistory::of(timeline);
    let kinds = StateKind::ALL.into_iter();
    let read = kinds.flat_map(|kind| cluster.states(kind, end).unwrap());
    [watcher.into_tracks().collect(), read.collect()]
}

#[test]
fn states_are_those_of_a_naive_replay() {
    each(|name, timeline| {
        let expected = naive(timeline);
        let count: usize = expected.values().map(Vec::len).sum();
        assert!(count > 0, "{name} has no states");
        let [fed, read] = derived(timeline);
        for (way, tracks) in [("a pass", &fed), ("versions", &read)] {
            let found = of_tracks(tracks);
            for (place, expected) in &expected {
                assert_eq!(
                    found.get(place),
                    Some(expected),
                    "{name} by {way}: {place:?}"
                );
            }
            assert_eq!(found.len(), expected.len(), "{name} by {way}");
        }
    });
}

#[test]
fn what_is_open_is_what_the_last_version_shows() {
    each(|name, timeline| {
        let [fed, _] = derived(timeline);
        for track in &fed {
            let object = track.object();
            let resource = object.resource;
            let objects = timeline.objects_of(resource).iter();
            let own = objects.filter(|id| {
                let key = timeline.key_of(**id).unwrap();
                (key.namespace, key.name) == (&*object.namespace, &*object.name)
            });
            let last = own
                .filter_map(|id| timeline.reel().versions(*id).last().copied())
                .max()
                .unwrap();
            let is_gone = timeline.reel().kind_of(last) == Some(EventType::Deleted);
            let body: Value = serde_json::from_slice(&timeline.reel().body(last).unwrap()).unwrap();
            let open = track.intervals().last().filter(|one| one.to.is_none());
            let Some(kind) = track.aspect().condition() else {
                let shown = (!is_gone).then(|| object.kind.whole(&body).unwrap().1);
                assert_eq!(open.map(|one| one.word()), shown, "{name}: {object:?}");
                continue;
            };
            let empty = Vec::new();
            let conditions = body["status"]["conditions"].as_array().unwrap_or(&empty);
            let shown = conditions
                .iter()
                .find(|condition| condition["type"] == kind)
                .filter(|_| !is_gone)
                .map(|condition| text(condition, "status"));
            let open = open.map(|one| one.state.status.to_string());
            assert_eq!(open, shown, "{name}: {object:?} {kind}");
        }
    });
}

/// The spans of `intervals`, by all that the reel knows, are the states that are not good.
#[test]
fn intervals_are_the_states_of_operators() {
    each(|name, timeline| {
        let mut gathering = Gathering::new(timeline, Mode::Exact);
        feed(timeline, &mut gathering.watchers(), |_| {});
        let gathered = gathering.finish(timeline);
        let mut spans: Vec<(String, String, String, u64, bool)> = gathered
            .intervals
            .of("OperatorState")
            .map(|one| {
                let said = |key| one.message.annotation(key).unwrap_or_default().to_owned();
                let operator = one.locator.get("clusteroperator").unwrap().to_owned();
                let (kind, status) = (said("condition"), said("status"));
                (operator, kind, status, one.seq.unwrap().0, one.to.is_none())
            })
            .collect();
        spans.sort();
        let mut expected = Vec::new();
        for ((plural, _, operator, kind), states) in naive(timeline) {
            let good = match kind.as_str() {
                "Available" => "True",
                "Degraded" | "Progressing" => "False",
                _ => continue,
            };
            if plural != "clusteroperators" {
                continue;
            }
            let mut before: Option<&NaiveState> = None;
            for state in &states {
                let is_new = before.is_none_or(|last| last.0 != state.0 || last.4 != Some(state.3));
                if state.0 != good && is_new {
                    let status = state.0.clone();
                    expected.push((operator.clone(), kind.clone(), status, state.3, false));
                }
                if state.0 != good && state.4.is_none() {
                    expected.last_mut().unwrap().4 = true;
                }
                before = Some(state);
            }
        }
        expected.sort();
        assert_eq!(spans, expected, "{name}");
    });
}
