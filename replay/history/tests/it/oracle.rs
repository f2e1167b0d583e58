//! The state at a moment, compared with a slow oracle that replays every event from the start.

use crate::script::{Script, thing};
use kubereel_format::{EventType, Evidence, Seq};
use kubereel_history::{Cut, ObjectFilter, Timeline};
use proptest::prelude::*;
use std::collections::BTreeMap;

const NAMESPACES: [&str; 3] = ["a", "a-b", "b"];

/// One step of a life: which object of few, what happens to it, how long until then.
#[derive(Clone, Debug)]
struct Step {
    namespace: usize,
    name: u8,
    uid: u8,
    kind: EventType,
    millis: i64,
}

fn step() -> impl Strategy<Value = Step> {
    let kind = prop_oneof![
        2 => Just(EventType::Added),
        4 => Just(EventType::Modified),
        2 => Just(EventType::Deleted),
    ];
    (0..NAMESPACES.len(), 0u8..3, 0u8..2, kind, 0i64..200).prop_map(
        |(namespace, name, uid, kind, millis)| Step {
            namespace,
            name,
            uid,
            kind,
            millis,
        },
    )
}

/// What an event did, as the oracle keeps it.
struct Done {
    seq: Seq,
    rv: u128,
    place: String,
    uid: String,
    is_alive: bool,
}

/// Replays all events that count and gives what is there, by the server's order of keys.
fn replayed<'a>(done: impl Iterator<Item = &'a Done>) -> Vec<(String, Seq)> {
    let mut objects: BTreeMap<(String, String), (Seq, bool)> = BTreeMap::new();
    for event in done {
        let key = (event.place.clone(), event.uid.clone());
        objects.insert(key, (event.seq, event.is_alive));
    }
    let mut places: BTreeMap<String, Seq> = BTreeMap::new();
    for ((place, _), (seq, is_alive)) in objects {
        if is_alive {
            let newest = places.entry(place).or_insert(seq);
            *newest = seq.max(*newest);
        }
    }
    places.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn as_of_agrees_with_a_replay(steps in proptest::collection::vec(step(), 1..60)) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("test.reel");
        let mut script = Script::begin(&path);
        let pods = script.resource("pods", "Pod", &[]);
        let stream = script.connect(pods, None);
        script.synced(stream, 0);
        let mut all: Vec<Done> = Vec::new();
        for (rv, step) in (1u128..).zip(&steps) {
            script.wait(step.millis);
            let namespace = NAMESPACES[step.namespace];
            let (name, uid) = (format!("n{}", step.name), format!("u{}{}", step.name, step.uid));
            let body = format!(r#"{{"metadata":{{"name":"{name}","resourceVersion":"{rv}"}}}}"#);
            let what = thing(namespace, &name, &uid);
            let seq = script.event(stream, step.kind, Evidence::Live, what, rv, body.as_bytes());
            all.push(Done {
                seq,
                rv,
                place: format!("{namespace}/{name}"),
                uid: format!("{namespace}/{uid}"),
                is_alive: step.kind != EventType::Deleted,
            });
        }
        script.finish();
        let timeline = Timeline::open(&path).expect("a reel");
        let asked = |cut: Cut| -> Vec<(String, Seq)> {
            timeline
                .as_of(pods, cut, &ObjectFilter::default())
                .objects
                .into_iter()
                .map(|held| (format!("{}/{}", held.namespace, held.name), held.seq))
                .collect()
        };
        for last in &all {
            let below = Seq(last.seq.0 + 1);
            let wall = timeline.reel().stamp(last.seq).expect("an event").wall;
            let expected = replayed(all.iter().filter(|done| done.seq < below));
            prop_assert_eq!(asked(Cut::Arrival { below, wall }), expected.clone());
            prop_assert_eq!(asked(Cut::Revision(last.rv)), expected);
        }
    }
}
