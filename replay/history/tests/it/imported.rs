//! What is known of a resource that comes from another tool's recording.

use kubereel_format::{
    Appender, ConnectionId, EventType, Evidence, ListMethod, NewBody, NewEvent, Note, RecordedAt,
    ResourceId, ResourceInfo, Stamp,
};
use kubereel_history::{Certainty, Cut, Moment, ObjectFilter, ReelSummary, Timeline};

fn stamp(secs: i64) -> Stamp {
    Stamp {
        wall: RecordedAt::from_micros(secs * 1_000_000),
        ..Stamp::default()
    }
}

/// A mark at 10 s, then pods `a` with resourceVersion 5 at 20 s and 7 at 30 s.
fn timeline(folder: &tempfile::TempDir) -> Timeline {
    let path = folder.path().join("test.reel");
    let mut reel = Appender::create(&path).expect("a reel");
    let mark = Note::Provenance {
        text: "imported from here".to_owned(),
    };
    reel.append_note(stamp(10), mark).expect("appended");
    let info = ResourceInfo {
        id: ResourceId(0),
        group: String::new(),
        version: "v1".to_owned(),
        plural: "pods".to_owned(),
        singular: "pod".to_owned(),
        kind: "Pod".to_owned(),
        short_names: Vec::new(),
        categories: Vec::new(),
        namespaced: true,
        verbs: Vec::new(),
        storage_hash: None,
    };
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
