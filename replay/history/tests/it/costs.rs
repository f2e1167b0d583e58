//! What a question costs does not grow with the reel: frames, rows and bodies are counted on a short
//! and on a long one, which differ in nothing but their length.

use crate::script::{Script, Stream, Thing, thing};
use kubereel_format::{BlockInfo, ObjectId, ObjectKeyRef, ReadCounts, RecordedAt, Seq};
use kubereel_history::{
    ComparisonScope, Cut, Density, EventQuestion, HistoryQuestion, ObjectFilter, ObjectVersion,
    ResourceMoment, Timeline, Track, differing,
};
use std::path::Path;

const SHORT: u64 = 10_000;
const LONG: u64 = 100_000;

/// How many pods there are, each changed in its turn.
const PODS: u64 = 200;
/// How many Events are alive at any time.
const EVENTS: u64 = 300;
/// How often the one node changes, all in the middle of the reel.
const CHANGES: u64 = 20;
/// How many other events lie between two changes of the node.
const BETWEEN: u64 = 40;

fn body(kind: &str, what: Thing<'_>, rv: u128, spec: &str) -> Vec<u8> {
    format!(
        r#"{{"kind":"{kind}","apiVersion":"v1","metadata":{{"name":"{}","namespace":"{}","uid":"{}","resourceVersion":"{rv}","managedFields":[{{"manager":"m","operation":"Update","apiVersion":"v1","time":"2026-11-21T14:00:00Z","fieldsType":"FieldsV1","fieldsV1":{{"f:spec":{{"f:round":{{}}}}}}}}]}},{spec}}}"#,
        what.name, what.namespace, what.uid
    )
    .into_bytes()
}

fn pod_event(script: &mut Script, pods: Stream, number: u64) {
    let (turn, which) = (number / PODS, number % PODS);
    let (name, uid) = (format!("pod-{which}"), format!("uid-pod-{which}"));
    let what = thing("web", &name, &uid);
    let rv = u128::from(number) + 10;
    let body = body("Pod", what, rv, &format!(r#""spec":{{"round":{turn}}}"#));
    if turn == 0 {
        script.added(pods, what, rv, &body);
    } else {
        script.modified(pods, what, rv, &body);
    }
}

fn said(script: &mut Script, events: Stream, number: u64, rv: u64, is_deleted: bool) {
    let (name, uid) = (format!("said-{number}"), format!("uid-said-{number}"));
    let what = thing("web", &name, &uid);
    let about = format!(
        r#""involvedObject":{{"kind":"Pod","namespace":"web","name":"pod-{}"}},"reason":"R{number}","type":"Normal""#,
        number % PODS
    );
    let rv = u128::from(rv) + 10;
    let body = body("Event", what, rv, &about);
    if is_deleted {
        script.deleted(events, what, rv, &body);
    } else {
        script.added(events, what, rv, &body);
    }
}

/// Writes a reel of this many events; the middle is the same in all of them.
fn write(path: &Path, length: u64) {
    let mut script = Script::begin(path);
    let mut begin = |plural: &str, kind: &str| {
        let stream = script.watched(plural, kind, &[]);
        script.synced(stream, 5);
        stream
    };
    let (pods, events, nodes) = (
        begin("pods", "Pod"),
        begin("events", "Event"),
        begin("nodes", "Node"),
    );
    let rare = thing("", "rare", "uid-rare");
    let first = (length - CHANGES * BETWEEN) / 2;
    for number in 0..length {
        script.wait(10);
        match number % 4 {
            0 | 1 => pod_event(&mut script, pods, number / 4 * 2 + number % 4),
            2 => said(&mut script, events, number / 4, number, false),
            _ if number / 4 >= EVENTS => {
                said(&mut script, events, number / 4 - EVENTS, number, true);
            }
            _ => {}
        }
        let since = number.checked_sub(first);
        if let Some(since) = since.filter(|since| since.is_multiple_of(BETWEEN)) {
            let round = since / BETWEEN;
            if round < CHANGES {
                let rv = u128::from(number) + 10;
                let body = body("Node", rare, rv, &format!(r#""spec":{{"round":{round}}}"#));
                if round == 0 {
                    script.added(nodes, rare, rv, &body);
                } else {
                    script.modified(nodes, rare, rv, &body);
                }
            }
        }
        if number % 1000 == 999 {
            script.commit();
        }
    }
    script.finish();
}

/// What a question costs, asked of a reel that was just opened.
fn cost(path: &Path, ask: impl FnOnce(&Timeline, Cut)) -> ReadCounts {
    let timeline = Timeline::open(path).expect("a reel");
    assert_eq!(timeline.reel().counts(), ReadCounts::default());
    let node = timeline.resources().find("nodes").expect("nodes").id;
    let rare = *timeline.objects_of(node).first().expect("the node");
    let last = *timeline.reel().versions(rare).last().expect("a version");
    let wall = timeline.reel().stamp(last).expect("a time").wall;
    let cut = Cut::Arrival {
        below: Seq(last.0 + 1),
        wall,
    };
    ask(&timeline, cut);
    timeline.reel().counts()
}

fn one(timeline: &Timeline, plural: &str) -> ObjectId {
    let resource = timeline.resources().find(plural).expect("a resource").id;
    *timeline.objects_of(resource).first().expect("an object")
}

fn earlier(timeline: &Timeline, cut: Cut, micros: i64) -> Cut {
    let Cut::Arrival { wall, .. } = cut else {
        return cut;
    };
    let wall = RecordedAt::from_micros(wall.micros - micros);
    Cut::Arrival {
        below: timeline.reel().seq_after(wall),
        wall,
    }
}

fn below(timeline: &Timeline, cut: Cut) -> Seq {
    match cut {
        Cut::Arrival { below, .. } => below,
        Cut::Revision(_) => timeline.reel().end(),
    }
}

type Ask = fn(&Timeline, Cut);

const QUESTIONS: [(&str, Ask); 10] = [
    ("one object", |timeline, cut| {
        let below = below(timeline, cut);
        let versions = timeline.reel().versions(one(timeline, "pods"));
        let seq = versions.iter().rfind(|seq| **seq < below);
        let seq = *seq.expect("a version");
        timeline.reel().body(seq).expect("a body");
    }),
    ("a resource's state", |timeline, cut| {
        let info = timeline.resources().find("pods").expect("pods");
        let state = timeline.as_of(info.id, cut, &ObjectFilter::default());
        assert_eq!(state.objects.len(), 200);
        let read = timeline.read_all(&state.objects, cut, &mut |_| {}, |_, body| Ok(body.len()));
        assert_eq!(read.expect("bodies").len(), 200);
    }),
    ("a history", |timeline, _| {
        let resource = timeline.resources().find("nodes").expect("nodes");
        let history = timeline.history(HistoryQuestion {
            resource,
            namespace: "",
            name: "rare",
            scope: ComparisonScope::default(),
            from: None,
            to: None,
        });
        assert_eq!(history.count(), 20);
    }),
    ("Events of a window", |timeline, cut| {
        let question = EventQuestion {
            from: Some(earlier(timeline, cut, 5_000_000)),
            to: Some(cut),
            ..EventQuestion::default()
        };
        let count = timeline.event_log(question).flatten().count();
        assert!(count > 100, "{count}");
    }),
    ("a description", |timeline, cut| {
        let info = timeline.resources().find("nodes").expect("nodes");
        let state = timeline.as_of(info.id, cut, &ObjectFilter::default());
        timeline
            .describe(
                info,
                state.objects.first().expect("the node"),
                cut,
                1_000_000,
                3,
            )
            .expect("a description");
    }),
    ("fifty steps", |timeline, cut| {
        let mut cursor = timeline.cursor(Track::Everything, cut);
        for _ in 0..50 {
            let step = cursor.back().expect("an event");
            timeline.step_bodies(&step).expect("bodies");
        }
    }),
    ("a difference", |timeline, cut| {
        let info = timeline.resources().find("pods").expect("pods");
        let from = earlier(timeline, cut, 1_000_000);
        let old = timeline.as_of(info.id, from, &ObjectFilter::default());
        let new = timeline.as_of(info.id, cut, &ObjectFilter::default());
        let mut changed = 0;
        let asked = |cut| ResourceMoment {
            resource: info,
            cut,
        };
        for pair in differing(&old, &new) {
            let changes = pair
                .fate
                .changes(
                    timeline,
                    asked(from),
                    asked(cut),
                    &ComparisonScope::default(),
                )
                .expect("changes");
            changed += changes.len();
        }
        assert!(changed > 10, "{changed}");
    }),
    ("blame", |timeline, cut| {
        let info = timeline.resources().find("nodes").expect("nodes");
        let state = timeline.as_of(info.id, cut, &ObjectFilter::default());
        timeline
            .blame(info, state.objects.first().expect("the node"))
            .expect("blame");
    }),
    ("density", |timeline, _| {
        Density::of(timeline, timeline.start()..timeline.end(), 80, None);
    }),
    ("coverage", |timeline, cut| {
        for info in timeline.resources().iter() {
            assert!(timeline.certainty(info.id, cut).is_known());
        }
    }),
];

#[test]
fn no_question_costs_more_on_a_longer_reel() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = [SHORT, LONG].map(|length| {
        let path = folder.path().join(format!("{length}.reel"));
        write(&path, length);
        path
    });
    for (what, ask) in QUESTIONS {
        let [short, long] = paths.each_ref().map(|path| cost(path, ask));
        eprintln!("{what}: {short:?} of {SHORT} events, {long:?} of {LONG}");
        for (unit, short, long) in [
            ("rows", short.rows, long.rows),
            ("frames", short.frames, long.frames),
            ("bodies", short.bodies, long.bodies),
        ] {
            // A block or two more, because they do not begin at the same place in both.
            assert!(
                long <= short + short / 4 + 4,
                "{what}: {short} {unit} of {SHORT} events, {long} of {LONG}"
            );
        }
    }
}

/// Writes a reel in which few pods change all the time, and many now and then: so that the versions of
/// these lie in one block each.
fn write_rare(path: &Path) {
    let mut script = Script::begin(path);
    let pods = script.watched("pods", "Pod", &[]);
    script.synced(pods, 5);
    let mut seen = std::collections::BTreeSet::new();
    for number in 0..SHORT * 4 {
        let drawn = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let which = match drawn % 4 {
            0 => drawn / 4 % 1_000,
            _ => drawn / 4 % 20,
        };
        let (name, uid) = (format!("pod-{which}"), format!("uid-pod-{which}"));
        let (what, rv) = (thing("web", &name, &uid), u128::from(number) + 10);
        let body = body("Pod", what, rv, &format!(r#""spec":{{"round":{number}}}"#));
        script.wait(10);
        if seen.insert(which) {
            script.added(pods, what, rv, &body);
        } else {
            script.modified(pods, what, rv, &body);
        }
    }
    script.finish();
}

#[test]
fn versions_in_their_order_decode_each_block_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rare.reel");
    write_rare(&path);
    let oracle = Timeline::open(&path).expect("a reel");
    let end = oracle.reel().end();
    for (records, name) in [
        (Seq(0)..end, None),
        (Seq(end.0 / 2)..Seq(end.0 / 2 + 2_000), None),
        (Seq(end.0 / 2)..end, Some("pod-777")),
    ] {
        let timeline = Timeline::open(&path).expect("a reel");
        timeline.reel().bound_cache(1 << 20);
        let takes = |key: ObjectKeyRef<'_>| name.is_none_or(|only| only == key.name);
        let mut met = Vec::new();
        for (step, bodies) in timeline.versions(records.clone(), takes) {
            let alone = oracle.step_bodies(&step).expect("bodies");
            assert_eq!(bodies.expect("bodies"), alone);
            met.push(step.seq);
        }
        let is_wanted = |seq: &Seq| {
            let object = oracle.reel().object_of(*seq);
            object
                .and_then(|object| oracle.key_of(object))
                .is_some_and(takes)
        };
        let expected = (records.start.0..records.end.0).map(Seq).filter(is_wanted);
        assert!(expected.eq(met.iter().copied()), "{records:?} {name:?}");
        let frames = timeline.reel().counts().frames;
        let holds = |block: &&BlockInfo| {
            let end = Seq(block.first.0 + u64::from(block.records));
            met.iter().any(|seq| (block.first..end).contains(seq))
        };
        let all = timeline.reel().blocks();
        let holding = all.iter().filter(holds).count();
        eprintln!(
            "{} versions in {holding} of {} blocks: {frames} frames",
            met.len(),
            all.len()
        );
        // Of one object: each with the first of its group, and with what lies behind it.
        let most = name.map_or(all.len(), |_| 3 * holding + 4);
        assert!(frames <= u64::try_from(most).expect("few"));
    }
}

#[test]
fn versions_of_a_damaged_reel_have_the_errors_of_each() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rare.reel");
    write_rare(&path);
    let whole = std::fs::read(&path).expect("the reel");
    let hurt = folder.path().join("hurt.reel");
    let (mut read, mut lost) = (0_u32, 0_u32);
    for part in 1..12_u8 {
        let mut bytes = whole.clone();
        let at = whole.len() * usize::from(part) / 12 / 4096 * 4096;
        bytes.get_mut(at..at + 4 * 4096).expect("pages").fill(0);
        std::fs::write(&hurt, &bytes).expect("a reel");
        let timeline = Timeline::open(&hurt).expect("a reel");
        let alone = Timeline::open(&hurt).expect("a reel");
        let (first, end) = (Seq(u64::from(part) * 500), timeline.reel().end());
        for (step, bodies) in timeline.versions(first..end, |_| true) {
            match (bodies, alone.step_bodies(&step)) {
                (Ok(bodies), Ok(expected)) => {
                    assert_eq!(bodies, expected);
                    read += 1;
                }
                (Err(error), Err(expected)) => {
                    assert_eq!(error.to_string(), expected.to_string());
                    lost += 1;
                }
                (bodies, expected) => panic!("event {}: {bodies:?} and {expected:?}", step.seq),
            }
        }
    }
    eprintln!("{read} versions were read, {lost} are lost");
    assert!(read > 1_000 && lost > 0);
}

#[test]
fn who_set_the_fields_of_a_neighbouring_version_costs_a_few_versions() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rare.reel");
    write_rare(&path);
    let whole = std::fs::read(&path).expect("the reel");
    let damaged = (1..12).map(|part| {
        let mut bytes = whole.clone();
        let at = whole.len() * part / 12 / 4096 * 4096;
        bytes.get_mut(at..at + 4 * 4096).expect("pages").fill(0);
        let path = folder.path().join(format!("{part}.reel"));
        std::fs::write(&path, &bytes).expect("a reel");
        path
    });
    let (mut answers, mut errors) = (0, 0);
    for path in damaged.chain([path]) {
        let timeline = Timeline::open(&path).expect("a reel");
        // The note that names the resource may be lost.
        let Ok(info) = timeline.resources().find("pods") else {
            continue;
        };
        let objects = timeline.objects_of(info.id).iter();
        let object = objects.max_by_key(|object| timeline.reel().versions(**object).len());
        let object = *object.expect("a pod");
        let versions = timeline.reel().versions(object);
        if versions.len() < 50 {
            continue;
        }
        let held = |place: usize| ObjectVersion {
            object,
            seq: versions[place],
            namespace: "web".to_owned(),
            name: "a pod".to_owned(),
        };
        let middle = versions.len() / 2;
        let places = [middle, middle - 1, middle + 3, middle - 20, middle, 5, 4];
        // Around the loss each version is asked for, in both directions.
        let near = versions.partition_point(|seq| timeline.reel().body(*seq).is_ok());
        let around = near.saturating_sub(3)..(near + 6).min(versions.len());
        let places = places.into_iter().chain(around.clone());
        for place in places.chain(around.rev()) {
            let before = timeline.reel().counts().bodies;
            let found = timeline.blame(info, &held(place));
            let bodies = timeline.reel().counts().bodies - before;
            let fresh = Timeline::open(&path).expect("a reel");
            match (found, fresh.blame(info, &held(place))) {
                (Ok(found), Ok(expected)) => {
                    assert_eq!(found, expected, "version {place}");
                    answers += 1;
                }
                (Err(error), Err(expected)) => {
                    assert_eq!(error.to_string(), expected.to_string());
                    errors += 1;
                }
                (found, expected) => panic!("version {place}: {found:?} and {expected:?}"),
            }
            if place == middle - 1 || place == middle + 3 || place == 4 {
                assert!(bodies < 40, "{bodies} bodies for version {place}");
            }
        }
    }
    eprintln!("{answers} answers, {errors} errors");
    assert!(answers > 100 && errors > 0);
}
