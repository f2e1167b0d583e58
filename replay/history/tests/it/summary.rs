//! What `info` says, on a reel written for the purpose, and the lines of an export.
//!
//! What is known of a resource that comes from another tool's recording.
//!
//! The state at a moment, compared with a slow oracle that replays every event from the start.

use crate::script::{Script, pod, thing};
use kubereel_format::{
    Appender, ConnectionId, EndCause, EpochId, EventType, Evidence, Lifecycle, ListMethod, NewBody,
    NewEvent, NotCoveredReason, Note, RecordedAt, ResourceId, ResourceInfo, Seq, Stamp,
};
use kubereel_history::{Certainty, Cut, Exported, Moment, ObjectFilter, ReelSummary, Timeline};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

const A: crate::script::Thing<'static> = thing("web", "a", "uid-a");

/// A recording with everything that a summary tells: two sessions, a gap, an outage, a late resource.
fn eventful(path: &Path) {
    eventful_so_far(path).finish();
}

fn eventful_so_far(path: &Path) -> Script {
    let mut script = Script::begin(path);
    let core = r#"{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"nodes"}]}"#;
    script.discovery("/api/v1", core);
    let groups =
        r#"{"items":[{"metadata":{"name":""},"versions":[{"resources":[{"resource":"pods"}]}]}]}"#;
    script.discovery("/apis", groups);
    script.not_covered("bindings", NotCoveredReason::NoList, "");
    let nodes = script.resource("nodes", "Node", &["no"]);
    let pods = script.resource("pods", "Pod", &["po"]);
    let on_nodes = script.connect(nodes, None);
    let node = thing("", "m-0", "uid-m-0");
    script.initial(on_nodes, node, 3, br#"{"metadata":{"name":"m-0"}}"#);
    script.synced(on_nodes, 5);
    let on_pods = script.connect(pods, None);
    script.synced(on_pods, 5);
    script.wait(1000);
    script.added(on_pods, A, 6, &pod(A, 6, "x"));
    script.note(Note::Lifecycle(Lifecycle::Unreachable {
        error: "connection refused".to_owned(),
    }));
    let from = script.now();
    script.disconnect(on_pods, EndCause::Cut);
    script.wait(22_000);
    script.note(Note::Lifecycle(Lifecycle::Reachable));
    let on_pods = script.connect(pods, None);
    script.gap(pods, 6, 20, from);
    script.synced(on_pods, 20);
    let on_late = script.watched("clusterversions.config.openshift.io", "ClusterVersion", &[]);
    let version = br#"{"metadata":{"name":"version"},"status":{"history":[{"version":"4.22.0-b"},{"version":"4.22.0-a"}]}}"#;
    script.initial(on_late, thing("", "version", "uid-v"), 19, version);
    script.synced(on_late, 20);
    script.wait(1000);
    script.deleted(on_pods, A, 21, &pod(A, 21, "x"));
    let mut script = script.resume(path);
    script.wait(5000);
    let on_pods = script.connect(pods, Some(21));
    script.bookmark(on_pods, 25);
    script
}

fn summary() -> ReelSummary {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.reel");
    eventful(&path);
    ReelSummary::of(&Timeline::open(&path).expect("a reel"))
}

#[test]
fn each_cluster_of_a_reel_has_its_own_version_and_nodes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.reel");
    let mut script = eventful_so_far(&path);
    script.note(Note::Cluster {
        epoch: EpochId(1),
        uid: "ffa1".to_owned(),
        version: "v1.37.0".to_owned(),
    });
    script.finish();
    let summary = ReelSummary::of(&Timeline::open(&path).expect("a reel"));
    let clusters = summary.clusters.iter();
    let clusters = clusters.map(|cluster| (cluster.openshift_versions.len(), cluster.nodes));
    assert_eq!(clusters.collect::<Vec<_>>(), [(2, Some(1)), (0, Some(0))]);
}

#[test]
fn what_happened_to_the_kubeconfig_is_listed_unless_it_was_there_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.reel");
    let state = |state| Note::Lifecycle(state);
    let at = || "/secret/kubeconfig".to_owned();
    let mut script = Script::begin(&path);
    script.note(state(Lifecycle::WaitingForKubeconfig { path: at() }));
    script.wait(1000);
    script.note(state(Lifecycle::KubeconfigLoaded { path: at() }));
    let mut script = script.resume(&path);
    script.note(state(Lifecycle::KubeconfigLoaded { path: at() }));
    script.wait(1000);
    script.note(state(Lifecycle::KubeconfigLoaded { path: at() }));
    script.finish();
    let summary = ReelSummary::of(&Timeline::open(&path).expect("a reel"));
    let texts = summary.kubeconfig.iter().map(|state| state.text.as_str());
    let loaded = "loaded the kubeconfig /secret/kubeconfig";
    let expected = [
        "waited for a kubeconfig at /secret/kubeconfig",
        loaded,
        loaded,
    ];
    assert_eq!(texts.collect::<Vec<_>>(), expected);
}

#[test]
fn events_and_objects_are_counted() {
    let summary = summary();
    let events = summary.events;
    assert_eq!(
        (events.total, events.added, events.modified, events.deleted),
        (4, 3, 0, 1)
    );
    assert_eq!((summary.objects.seen, summary.objects.live), (3, 2));
    let bytes = u32::try_from(summary.file_bytes).expect("a small file");
    assert!((events.bytes_each - f64::from(bytes) / 4.0).abs() <= 0.05);
    let parts = summary.parts;
    let sum = parts.bodies + parts.index + parts.tail + parts.other;
    assert_eq!(sum, summary.file_bytes);
}

#[test]
fn the_recording_tells_its_own_story() {
    let summary = summary();
    assert!(summary.finished);
    let ends: Vec<&str> = summary
        .sessions
        .iter()
        .map(|one| one.end.as_str())
        .collect();
    assert_eq!(ends, ["killed", "ended by SIGINT"]);
    let [cluster] = summary.clusters.as_slice() else {
        panic!("{:?}", summary.clusters);
    };
    assert_eq!(cluster.versions, ["v1.36.3"]);
    assert_eq!(cluster.openshift_versions, ["4.22.0-a", "4.22.0-b"]);
    assert_eq!(cluster.nodes, Some(1));
    let [outage] = summary.outages.as_slice() else {
        panic!("{:?}", summary.outages);
    };
    assert!((outage.span_secs - 22.0).abs() < 1e-9);
    assert!(!outage.before_first_answer);
    assert_eq!(summary.not_covered.len(), 1);
}

#[test]
fn each_resource_tells_what_is_covered() {
    let summary = summary();
    let of = |name: &str| {
        let mut all = summary.resources.iter();
        all.find(|one| one.resource == name).expect(name)
    };
    let pods = of("pods");
    assert_eq!(
        (
            pods.added,
            pods.deleted,
            pods.objects_seen,
            pods.objects_live
        ),
        (1, 1, 1, 0)
    );
    assert!(!pods.whole);
    let spans: Vec<(&str, &str)> = pods
        .covered
        .iter()
        .map(|span| (span.from_rv.as_str(), span.to_rv.as_str()))
        .collect();
    assert_eq!(spans, [("5", "6"), ("20", "25")]);
    let [gap] = pods.gaps.as_slice() else {
        panic!("{:?}", pods.gaps);
    };
    assert!((gap.span_secs - 22.0).abs() < 1e-9);
    assert_eq!(gap.missing_at_most, Some(4));
    // 22 s until the list after the gap, and 5 s between the sessions.
    assert!((pods.blind_secs - 27.0).abs() < 1e-9, "{}", pods.blind_secs);
    // Nobody watched them in the second session.
    assert!(!of("nodes").whole);
    let unseen: Vec<&str> = of("nodes")
        .unseen
        .iter()
        .map(|one| one.why.as_str())
        .collect();
    let expected = ["the watch had ended, or the recorder was killed before it could write"];
    assert_eq!(unseen, expected);
    assert_eq!(of("nodes").appeared_later, Some(false));
    assert_eq!(of("pods").appeared_later, Some(false));
    let late = of("clusterversions.config.openshift.io");
    assert_eq!(late.appeared_later, Some(true));
}

#[test]
fn the_schema_of_programs_is_stable() {
    let summary = serde_json::to_value(summary()).expect("plain data");
    let names: Vec<&str> = summary
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    let expected = [
        "accounts",
        "anomalies",
        "being_recorded",
        "clock_steps",
        "clusters",
        "counter_moves",
        "damage",
        "digest",
        "end",
        "events",
        "file",
        "file_bytes",
        "finished",
        "format",
        "kubeconfig",
        "labels",
        "lost_records",
        "marks",
        "not_covered",
        "objects",
        "odd_lines",
        "outages",
        "parts",
        "pauses",
        "provenance",
        "records",
        "redaction",
        "resources",
        "sealed",
        "sessions",
        "span_secs",
        "start",
        "unreadable",
    ];
    assert_eq!(names, expected);
    assert_eq!(summary["start"], "2026-11-21T14:00:00.000Z");
    let expected = "2026-11-21T14:00:01.000Z";
    assert_eq!(summary["resources"][1]["gaps"][0]["from"], expected);
}

#[test]
fn an_export_has_every_body_byte_for_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.reel");
    let odd: &[u8] = br#"{ "b":1.0,"a" : 1e3, "b":"\u0041\/", "metadata":{"name":"a"} }"#;
    let mut script = Script::begin(&path);
    let stream = script.watched("deployments.apps", "Deployment", &[]);
    script.synced(stream, 1);
    script.wait(1);
    script.added(stream, A, 2, odd);
    script.deleted(stream, A, 3, b"{}");
    script.finish();
    let timeline = Timeline::open(&path).expect("a reel");
    let mut out = Vec::new();
    let mut last = Seq(0);
    let exported = Exported::write_jsonl(&timeline, &mut out, |seq| last = seq).expect("memory");
    assert_eq!(exported.lines, 2);
    assert!(exported.unread.is_none());
    assert!(last > Seq(0));
    let common = r#""group":"apps","version":"v1","resource":"deployments","object":"#;
    let ts = r#""ts":"2026-11-21T14:00:00.001000Z""#;
    let mut expected = format!(r#"{{{ts},"type":"ADDED",{common}"#).into_bytes();
    expected.extend_from_slice(odd);
    expected.extend_from_slice(b"}\n");
    expected.extend(format!("{{{ts},\"type\":\"DELETED\",{common}{{}}}}\n").into_bytes());
    assert_eq!(
        String::from_utf8_lossy(&out),
        String::from_utf8_lossy(&expected)
    );
}

fn stamp(secs: i64) -> Stamp {
    Stamp::from_micros(secs * 1_000_000, 0)
}

/// A mark at 10 s, then pods `a` with resourceVersion 5 at 20 s and 7 at 30 s.
fn timeline(folder: &tempfile::TempDir) -> Timeline {
    let path = folder.path().join("test.reel");
    let mut reel = Appender::create(&path).expect("a reel");
    let mark = Note::Provenance {
        text: "imported from here".to_owned(),
    };
    reel.append_note(stamp(10), mark).expect("appended");
    let info = ResourceInfo::new(ResourceId(0), "v1", "pods", "Pod");
    reel.append_note(stamp(20), Note::Resource(info))
        .expect("appended");
    let connected = Note::Connected {
        connection: ConnectionId(0),
        resource: ResourceId(0),
        from_rv: None,
        method: ListMethod::Import,
    };
    reel.append_note(stamp(20), connected).expect("appended");
    for (secs, kind, version) in [(20, EventType::Added, "5"), (30, EventType::Modified, "7")] {
        reel.append_event(&NewEvent {
            stamp: stamp(secs),
            connection: ConnectionId(0),
            kind,
            evidence: Evidence::Imported,
            resource: ResourceId(0),
            namespace: "default",
            name: "a",
            uid: "u",
            resource_version: version,
            body: NewBody::Bytes(br#"{"metadata":{"name":"a"}}"#),
        })
        .expect("appended");
    }
    reel.finish().expect("finished");
    Timeline::open(&path).expect("it opens")
}

#[test]
fn it_is_known_as_far_as_the_recording_tells() {
    let folder = tempfile::tempdir().expect("a folder");
    let timeline = timeline(&folder);
    let since = RecordedAt::from_micros(20_000_000);
    let imported = Certainty::Imported { since };
    let first = Certainty::BeforeFirst { first: Some(since) };
    let last = RecordedAt::from_micros(30_000_000);
    let at = |secs: i64| Moment::Time(RecordedAt::from_micros(secs * 1_000_000));
    for (moment, certainty, objects) in [
        (at(19), first.clone(), 0),
        (at(20), imported.clone(), 1),
        (at(25), imported.clone(), 1),
        (at(31), Certainty::AfterLast { last }, 1),
        (Moment::End, imported.clone(), 1),
        (Moment::Revision(4), first, 0),
        (Moment::Revision(5), imported.clone(), 1),
        (Moment::Revision(9), imported, 1),
    ] {
        let cut: Cut = timeline.resolve(moment).expect("a place");
        let state = timeline.as_of(ResourceId(0), cut, &ObjectFilter::default());
        assert_eq!(state.certainty, certainty, "{moment:?}");
        assert_eq!(state.objects.len(), objects, "{moment:?}");
    }
    assert!(Certainty::Imported { since }.is_known());
}

#[test]
fn the_summary_does_not_call_it_complete() {
    let folder = tempfile::tempdir().expect("a folder");
    let summary = ReelSummary::of(&timeline(&folder));
    assert_eq!(summary.provenance, ["imported from here"]);
    let [pods] = summary.resources.as_slice() else {
        panic!("{:?}", summary.resources);
    };
    assert!(pods.imported && !pods.whole && pods.covered.is_empty());
}

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
struct OracleEvent {
    seq: Seq,
    rv: u128,
    place: String,
    is_alive: bool,
}

/// Replays all events that count and gives what is there, by the server's order of keys.
fn replayed<'a>(done: impl Iterator<Item = &'a OracleEvent>) -> Vec<(String, Seq)> {
    // Only one object has a name at a time: the last event of a name says what it has.
    let mut places: BTreeMap<String, Seq> = BTreeMap::new();
    for event in done {
        if event.is_alive {
            places.insert(event.place.clone(), event.seq);
        } else {
            places.remove(&event.place);
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
        let mut all: Vec<OracleEvent> = Vec::new();
        let mut had: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (rv, step) in (1u128..).zip(&steps) {
            script.wait(step.millis);
            let namespace = NAMESPACES[step.namespace];
            let (name, uid) = (format!("n{}", step.name), format!("u{}{}", step.name, step.uid));
            // A uid does not come back after another object had its name.
            let place = format!("{namespace}/{name}");
            let uids = had.entry(place).or_default();
            if uids.last() != Some(&uid) {
                if uids.contains(&uid) {
                    continue;
                }
                uids.push(uid.clone());
            }
            let body = format!(r#"{{"metadata":{{"name":"{name}","resourceVersion":"{rv}"}}}}"#);
            let what = thing(namespace, &name, &uid);
            let seq = script.event(stream, step.kind, Evidence::Live, what, rv, body.as_bytes());
            all.push(OracleEvent {
                seq,
                rv,
                place: format!("{namespace}/{name}"),
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
