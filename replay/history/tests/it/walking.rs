//! Walking over a reel: the cursor, the density, Events, and how objects hang together.
//!
//! The versions of one name: their cost, and damage between them.

use crate::script::{START_MICROS, Script, Stream, Thing, pod, thing};
use kubereel_format::{EventType, Evidence, RecordedAt, ResourceId, Seq};
use kubereel_history::{
    ActivityQuestion, ComparisonScope, Cut, Density, EventQuestion, HistoryItem, HistoryQuestion,
    Moment, ObjectFilter, Regarding, Revision, SteppedOver, Timeline, Track, VersionPlace,
};
use serde_json::{Value, json};

const POD: Thing<'static> = thing("web", "a", "uid-a");

fn cut(timeline: &Timeline, moment: &str) -> Cut {
    let moment: Moment = moment.parse().expect("a moment");
    timeline.resolve(moment).expect("a place")
}

fn event(name: &str, about: &str, reason: &str, count: u64) -> Vec<u8> {
    format!(
        r#"{{"kind":"Event","apiVersion":"v1","metadata":{{"name":"{name}","namespace":"web"}},"involvedObject":{{"kind":"Pod","apiVersion":"v1","namespace":"web","name":"{about}","uid":"uid-{about}"}},"reason":"{reason}","message":"m","type":"Warning","count":{count},"source":{{"component":"kubelet"}}}}"#
    )
    .into_bytes()
}

fn owned(what: Thing<'_>, rv: u128, kind: &str, owner: (&str, &str, &str)) -> Vec<u8> {
    let (owner_kind, owner_name, owner_uid) = owner;
    format!(
        r#"{{"kind":"{kind}","apiVersion":"apps/v1","metadata":{{"name":"{}","namespace":"{}","uid":"{}","resourceVersion":"{rv}","ownerReferences":[{{"apiVersion":"apps/v1","kind":"{owner_kind}","name":"{owner_name}","uid":"{owner_uid}","controller":true}}]}},"status":{{"phase":"Running","conditions":[{{"type":"Ready","status":"True","lastTransitionTime":"2026-11-21T14:00:00Z","reason":"R","message":"M"}}]}}}}"#,
        what.name, what.namespace, what.uid
    )
    .into_bytes()
}

/// A deployment with a set with a pod, two pods that nobody owns, and Events about them.
fn small_cluster() -> (Timeline, Stream, Stream) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.reel");
    let mut script = Script::begin(&path);
    let mut begin = |qualified: &str, kind: &str| {
        let stream = script.watched(qualified, kind, &[]);
        script.synced(stream, 5);
        stream
    };
    let deployments = begin("deployments.apps", "Deployment");
    let sets = begin("replicasets.apps", "ReplicaSet");
    let pods = begin("pods", "Pod");
    let events = begin("events", "Event");
    let (web, set) = (
        thing("web", "web", "uid-d"),
        thing("web", "web-5f", "uid-s"),
    );
    script.wait(1000);
    script.added(
        deployments,
        web,
        10,
        br#"{"kind":"Deployment","metadata":{"name":"web","uid":"uid-d"}}"#,
    );
    script.added(
        sets,
        set,
        11,
        &owned(set, 11, "ReplicaSet", ("Deployment", "web", "uid-d")),
    );
    script.added(
        pods,
        POD,
        12,
        &owned(POD, 12, "Pod", ("ReplicaSet", "web-5f", "uid-s")),
    );
    let other = thing("web", "b", "uid-b");
    script.added(pods, other, 13, &pod(other, 13, "uid-s in a text"));
    for (second, count) in [(2, 1), (3, 2), (4, 3)] {
        script.wait(1000);
        let at = thing("web", "a.1", "uid-e1");
        script.event(
            events,
            if count == 1 {
                EventType::Added
            } else {
                EventType::Modified
            },
            Evidence::Live,
            at,
            20 + second,
            &event("a.1", "a", "BackOff", count),
        );
    }
    script.added(
        events,
        thing("web", "b.1", "uid-e2"),
        30,
        &event("b.1", "b", "Pulled", 1),
    );
    script.wait(1000);
    script.deleted(
        events,
        thing("web", "a.1", "uid-e1"),
        31,
        &event("a.1", "a", "BackOff", 3),
    );
    script.modified(
        pods,
        POD,
        32,
        &owned(POD, 32, "Pod", ("ReplicaSet", "web-5f", "uid-s")),
    );
    script.finish();
    (Timeline::open(&path).expect("a reel"), pods, events)
}

#[test]
fn a_revision_in_a_set_that_was_adopted_is_one_of_its_new_owner() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.reel");
    let mut script = Script::begin(&path);
    let mut begin = |qualified: &str, kind: &str| {
        let stream = script.watched(qualified, kind, &[]);
        script.synced(stream, 5);
        stream
    };
    let deployments = begin("deployments.apps", "Deployment");
    let sets = begin("replicasets.apps", "ReplicaSet");
    let set = |number: u32, owner: Option<&str>| {
        let owners = owner.map(|uid| json!({"kind": "Deployment", "name": "web", "uid": uid}));
        let owners: Vec<Value> = owners.into_iter().collect();
        let body = json!({
            "metadata": {
                "annotations": {"deployment.kubernetes.io/revision": number.to_string()},
                "ownerReferences": owners,
            },
            "spec": {"template": {"spec": {"containers": []}}},
        });
        body.to_string().into_bytes()
    };
    let (web, old, new) = (
        thing("web", "web", "uid-d"),
        thing("web", "web-1", "uid-1"),
        thing("web", "web-2", "uid-2"),
    );
    script.added(sets, old, 11, &set(1, Some("uid-before")));
    script.modified(sets, old, 12, &set(1, None));
    script.wait(1000);
    script.added(deployments, web, 13, br#"{"kind":"Deployment"}"#);
    script.modified(sets, old, 14, &set(1, Some("uid-d")));
    script.added(sets, new, 15, &set(2, Some("uid-d")));
    script.finish();
    let timeline = Timeline::open(&path).expect("a reel");
    let info = timeline.resources().find("deployments.apps").expect("it");
    let end = cut(&timeline, "end");
    let state = timeline.as_of(info.id, end, &ObjectFilter::default());
    let revisions = Revision::all(&timeline, info, &state.objects[0], end).expect("readable");
    let revisions = revisions.expect("a workload");
    let numbers: Vec<i64> = revisions.iter().map(|one| one.number).collect();
    assert_eq!(numbers, [1, 2]);
    let adopted = timeline
        .reel()
        .versions(timeline.objects_of(sets.resource)[0])[2];
    assert_eq!(revisions[0].first_seen, timeline.wall_of(adopted));
}

#[test]
fn a_cursor_walks_to_the_end_and_back_over_the_same_events() {
    let (timeline, pods, _) = small_cluster();
    let object = timeline.objects_of(pods.resource)[0];
    for (track, expected) in [
        (Track::Everything, 10),
        (Track::Resource(pods.resource), 3),
        (Track::Object(object), 2),
    ] {
        let mut cursor = timeline.cursor(
            track,
            Cut::Arrival {
                below: Seq(0),
                wall: timeline.start(),
            },
        );
        assert!(cursor.back().is_none());
        let there: Vec<_> = std::iter::from_fn(|| cursor.forward()).collect();
        assert_eq!(there.len(), expected, "{track:?}");
        assert!(there.is_sorted_by_key(|step| step.seq));
        for step in &there {
            let bodies = timeline.step_bodies(step).expect("bodies");
            let alone = |seq| timeline.reel().body(seq).expect("a body");
            assert_eq!(bodies.now, alone(step.seq));
            assert_eq!(bodies.before, step.before.map(alone));
        }
        let mut back: Vec<_> = std::iter::from_fn(|| cursor.back()).collect();
        back.reverse();
        assert_eq!(there, back);
    }
    let before: Vec<Option<Seq>> = {
        let mut cursor = timeline.cursor(Track::Object(object), cut(&timeline, "start"));
        std::iter::from_fn(|| cursor.forward())
            .map(|step| step.before)
            .collect()
    };
    let versions = timeline.reel().versions(object);
    assert_eq!(before, [None, Some(versions[0])]);
}

#[test]
fn a_cursor_stands_where_it_is_put() {
    let (timeline, pods, _) = small_cluster();
    let track = Track::Resource(pods.resource);
    let mut cursor = timeline.cursor(track, cut(&timeline, "rv:12"));
    let state = timeline.as_of(pods.resource, cursor.cut(), &ObjectFilter::default());
    assert_eq!(state.objects.len(), 1);
    let step = cursor.forward().expect("pod b");
    assert_eq!(timeline.key_of(step.object).expect("a name").name, "b");
    assert!(
        timeline
            .cursor(track, cut(&timeline, "end"))
            .forward()
            .is_none()
    );
}

#[test]
fn density_counts_each_event_once_at_any_zoom() {
    let (timeline, pods, events) = small_cluster();
    let span = timeline.start()..RecordedAt::from_micros(timeline.end().micros + 1);
    for slices in [0, 1, 3, 7, 1000, usize::MAX] {
        let all = Density::of(&timeline, span.clone(), slices, None);
        assert_eq!(all.counts.iter().sum::<u64>(), 10, "{slices}");
        let some = Density::of(&timeline, span.clone(), slices, Some(pods.resource));
        assert_eq!(some.counts.iter().sum::<u64>(), 3);
    }
    let seconds = Density::of(
        &timeline,
        RecordedAt::from_micros(START_MICROS)..RecordedAt::from_micros(START_MICROS + 5_000_000),
        5,
        Some(events.resource),
    );
    assert_eq!(seconds.slice_micros, 1_000_000);
    assert_eq!(seconds.counts, [0, 0, 1, 1, 2]);
    let nothing = Density::of(&timeline, span.end..span.start, 4, None);
    assert_eq!(nothing.counts, [0; 4]);
}

#[test]
fn events_are_told_as_they_were_said() {
    let (timeline, ..) = small_cluster();
    let told = |question: EventQuestion| -> Vec<(String, u64)> {
        timeline
            .event_log(question)
            .map(|logged| logged.expect("an Event"))
            .map(|logged| (logged.content.reason, logged.content.count))
            .collect()
    };
    let backoff = |count| ("BackOff".to_owned(), count);
    let all = told(EventQuestion::default());
    let pulled = ("Pulled".to_owned(), 1);
    assert_eq!(all, [backoff(1), backoff(2), backoff(3), pulled.clone()]);
    let about = EventQuestion {
        about: Some(Regarding {
            kind: "Pod".to_owned(),
            namespace: "web".to_owned(),
            name: "b".to_owned(),
            ..Regarding::default()
        }),
        ..EventQuestion::default()
    };
    assert_eq!(told(about.clone()), [pulled]);
    let mut other = about;
    let regarded = other.about.as_mut().expect("an object");
    regarded.api_version = "example.com/v1".to_owned();
    assert_eq!(told(other), [], "an object of another group");
    let window = EventQuestion {
        from: Some(cut(&timeline, "rv:22")),
        to: Some(cut(&timeline, "rv:23")),
        ..EventQuestion::default()
    };
    assert_eq!(told(window), [backoff(2)]);
    for empty in [
        EventQuestion {
            namespace: Some("shop".to_owned()),
            ..EventQuestion::default()
        },
        EventQuestion {
            severities: vec!["Normal".to_owned()],
            ..EventQuestion::default()
        },
    ] {
        assert_eq!(told(empty), []);
    }
}

#[test]
fn a_description_gathers_everything_about_an_object() {
    let (timeline, pods, _) = small_cluster();
    let at = cut(&timeline, "+3500ms");
    let state = timeline.as_of(pods.resource, at, &ObjectFilter::default());
    let held = state
        .objects
        .iter()
        .find(|held| held.name == "a")
        .expect("a pod");
    let info = timeline.resources().find("pods").expect("a resource");
    let told = timeline
        .describe(info, held, at, 60_000_000, 5)
        .expect("a description");
    assert_eq!(told.rv, "12");
    let owners: Vec<_> = told
        .relatives
        .owners
        .iter()
        .map(|owner| (owner.kind.as_str(), owner.exists))
        .collect();
    let expected = [("ReplicaSet", Some(true)), ("Deployment", Some(true))];
    assert_eq!(owners, expected);
    assert_eq!(told.relatives.children, []);
    assert_eq!(told.conditions.len(), 1);
    assert_eq!(told.scalars[0].path, ".status.phase");
    // The Events of a minute after the moment are listed too.
    assert_eq!(told.events.len(), 3);
    let versions: Vec<&str> = told
        .around
        .iter()
        .filter_map(|item| match item {
            HistoryItem::Version(version) => Some(version.rv.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(versions, ["12", "32"]);
    let sets = timeline
        .resources()
        .find("replicasets")
        .expect("a resource");
    let state = timeline.as_of(sets.id, at, &ObjectFilter::default());
    let told = timeline
        .describe(sets, &state.objects[0], at, 60_000_000, 5)
        .expect("a description");
    let children: Vec<&str> = told
        .relatives
        .children
        .iter()
        .map(|child| child.held.name.as_str())
        .collect();
    assert_eq!(children, ["a"]);
}

/// Writes a reel in which pod `a` changes ten times among very many events of others.
fn crowded(events: u128) -> (tempfile::TempDir, Timeline) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.reel");
    let mut script = Script::begin(&path);
    let stream = script.watched("pods", "Pod", &[]);
    script.synced(stream, 0);
    for rv in 1..=events {
        script.wait(1);
        let is_asked = (rv - 1) % (events / 10) == 0;
        let name = if is_asked {
            "a".to_owned()
        } else {
            format!("n{}", rv % 50)
        };
        let what = thing("x", &name, &name);
        let body = pod(what, rv, &rv.to_string());
        let kind = if rv == 1 {
            EventType::Added
        } else {
            EventType::Modified
        };
        script.event(stream, kind, Evidence::Live, what, rv, &body);
    }
    script.finish();
    let timeline = Timeline::open(&path).expect("a reel");
    (folder, timeline)
}

fn question(timeline: &Timeline) -> HistoryQuestion<'_> {
    HistoryQuestion {
        resource: timeline.resources().get(ResourceId(0)).expect("pods"),
        namespace: "x",
        name: "a",
        scope: ComparisonScope::default(),
        from: None,
        to: None,
    }
}

#[test]
fn the_cost_depends_on_the_versions_of_the_name() {
    let cost = |events| {
        let (_folder, timeline) = crowded(events);
        let before = timeline.reel().counts();
        let items: Vec<HistoryItem> = timeline.history(question(&timeline)).collect();
        assert_eq!(items.len(), 10);
        let after = timeline.reel().counts();
        (after.bodies - before.bodies, after.frames - before.frames)
    };
    let (short, long) = (cost(2_000), cost(40_000));
    assert_eq!(short.0, 10);
    assert_eq!(long.0, 10);
    // At most eight blocks lie behind a body.
    assert!(long.1 <= 10 * 9, "{} frames", long.1);
}

#[test]
fn versions_are_read_when_they_are_asked_for() {
    let (_folder, timeline) = crowded(2_000);
    let mut history = timeline.history(question(&timeline));
    assert_eq!(history.versions(), 10);
    assert_eq!(timeline.reel().counts().bodies, 0);
    let Some(HistoryItem::Version(first)) = history.next() else {
        panic!("no version");
    };
    assert_eq!(first.place, VersionPlace::First);
    // How long the first held is known by the second.
    assert_eq!(timeline.reel().counts().bodies, 2);
}

#[test]
fn a_change_that_is_the_first_record_of_an_object_is_no_creation() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.reel");
    let mut script = Script::begin(&path);
    let pods = script.resource("pods", "Pod", &[]);
    let stream = script.connect(pods, None);
    script.synced(stream, 5);
    let body = br#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"web",
        "managedFields":[{"manager":"one","operation":"Update"},{"manager":"two","operation":"Update"}]}}"#;
    let (old, new) = (thing("web", "a", "old"), thing("web", "a", "new"));
    let live = Evidence::Live;
    let changed = script.event(stream, EventType::Modified, live, old, 6, body);
    script.deleted(stream, old, 7, body);
    let created = script.event(stream, EventType::Added, live, new, 8, body);
    script.finish();
    let timeline = Timeline::open(&path).expect("a reel");
    assert!(!timeline.is_creation(changed));
    assert!(timeline.is_creation(created));
    // Who wrote what was there before is not known; two managers wrote the creation.
    let asked = ActivityQuestion {
        resources: Some(vec![pods]),
        namespace: None,
        from: Seq(0),
        to: Seq(u64::MAX),
    };
    let activity = timeline.write_activity(&asked, |_| {});
    let writes = |manager: &str| activity.managers.get(manager).map(|count| count.writes);
    assert_eq!(
        (writes(""), writes("two")),
        (Some(2), Some(1)),
        "{activity:?}"
    );
}

#[test]
fn an_object_that_is_created_again_without_a_uid_was_written_by_all_its_managers() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.reel");
    let mut script = Script::begin(&path);
    let pods = script.resource("pods", "Pod", &[]);
    let stream = script.connect(pods, None);
    script.synced(stream, 5);
    let body = |managers: &str| {
        let body = format!(
            r#"{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"a","namespace":"web","managedFields":[{managers}]}}}}"#
        );
        body.into_bytes()
    };
    let old = r#"{"manager":"old","operation":"Update"}"#;
    let both = body(&format!(
        r#"{old},{{"manager":"new","operation":"Update"}}"#
    ));
    let what = thing("web", "a", "");
    script.added(stream, what, 6, &body(old));
    script.deleted(stream, what, 7, &body(old));
    let created = script.added(stream, what, 8, &both);
    script.finish();
    let timeline = Timeline::open(&path).expect("a reel");
    assert!(timeline.is_creation(created));
    assert_eq!(timeline.authors_of_record(created).names(), "new,old");
    let mut cursor = timeline.cursor(Track::Everything, cut(&timeline, "end"));
    let step = cursor.back().expect("the creation");
    let resource = timeline.resources().get(pods).expect("pods");
    let stepped = SteppedOver::of(&timeline, &step, resource).expect("a body");
    assert_eq!(
        (stepped.changes, stepped.authors.names()),
        (None, "new,old".to_owned())
    );
    let asked = ActivityQuestion {
        resources: None,
        namespace: None,
        from: created,
        to: Seq(u64::MAX),
    };
    let activity = timeline.write_activity(&asked, |_| {});
    assert_eq!(activity.managers.len(), 2, "{activity:?}");
}
