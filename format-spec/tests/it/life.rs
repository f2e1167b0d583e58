//! Events of a test, how they are written to a reel, and the check that they are read back.

use kubereel_format::{
    Appender, BodyBuffer, ConnectionId, EventType, Evidence, NewBody, NewEvent, Note, ObjectKey,
    Reel, ResourceId, ResourceInfo, Seq, Stamp,
};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

pub(super) fn stamp(micros: i64) -> Stamp {
    Stamp::from_micros(1_700_000_000_000_000 + micros, micros.unsigned_abs())
}

pub(super) fn resource(id: u32) -> ResourceInfo {
    ResourceInfo {
        short_names: vec!["th".to_owned()],
        verbs: vec!["list".to_owned(), "watch".to_owned()],
        ..ResourceInfo::new(
            ResourceId(id),
            "config.openshift.io/v1",
            &format!("things{id}"),
            "Thing",
        )
    }
}

/// An event as the test keeps it.
#[derive(Clone, Debug)]
pub(super) struct WrittenEvent {
    pub(super) resource: u32,
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) kind: EventType,
    pub(super) rv: String,
    pub(super) body: Vec<u8>,
}

pub(super) fn append(appender: &mut Appender, written: &WrittenEvent, at: i64) -> Seq {
    appender
        .append_event(&NewEvent {
            stamp: stamp(at),
            connection: ConnectionId(written.resource + 10),
            kind: written.kind,
            evidence: Evidence::Live,
            resource: ResourceId(written.resource),
            namespace: "openshift-etcd",
            name: &written.name,
            uid: &written.uid,
            resource_version: &written.rv,
            body: NewBody::Bytes(&written.body),
        })
        .unwrap()
}

pub(super) fn begin(path: &Path) -> Appender {
    let mut appender = Appender::create(path).unwrap();
    for id in 0..3 {
        let note = Note::Resource(resource(id));
        appender.append_note(stamp(0), note).unwrap();
    }
    appender
}

/// A life of objects: `count` events over `objects` objects.
pub(super) fn life(count: usize, objects: usize) -> Vec<WrittenEvent> {
    let mut state = 88_172_645_463_325_252u64;
    let mut draw = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % u64::try_from(below).unwrap()).unwrap()
    };
    let mut alive = vec![false; objects];
    (0..count)
        .map(|at| {
            let object = draw(objects);
            let kind = match (alive[object], draw(12)) {
                (false, _) => EventType::Added,
                (true, 0) => EventType::Deleted,
                (true, _) => EventType::Modified,
            };
            alive[object] = kind != EventType::Deleted;
            let name = format!("operator-{object}-7d9f8b6c5-x2k4p");
            let uid = format!("{object:08x}-1111-2222-3333-{:012x}", object * 7);
            let rv = (1000 + at).to_string();
            let text = "the same long text of a message that goes to the log ".repeat(draw(2) * 8);
            let body = format!(
                r#"{{"metadata":{{"name":"{name}","namespace":"openshift-etcd","uid":"{uid}","resourceVersion":"{rv}"}},"status":{{"n":{},"message":"{text}","list":[{}1]}}}}"#,
                draw(1000),
                "1,".repeat(draw(30)),
            );
            WrittenEvent {
                resource: u32::try_from(object % 3).unwrap(),
                name,
                uid,
                kind,
                rv,
                body: body.into_bytes(),
            }
        })
        .collect()
}

pub(super) fn key(written: &WrittenEvent) -> ObjectKey {
    ObjectKey {
        resource: ResourceId(written.resource),
        namespace: "openshift-etcd".to_owned(),
        name: written.name.clone(),
        uid: written.uid.clone(),
    }
}

/// Checks everything of a reel that must have these events after three notes.
pub(super) fn check(path: &Path, written: &[WrittenEvent]) {
    let reel = Reel::open(path).unwrap();
    assert_eq!(reel.damage(), []);
    assert_eq!(reel.event_count(), u64::try_from(written.len()).unwrap());
    let events: Vec<_> = reel.scan().map(Result::unwrap).collect();
    assert_eq!(events.len(), written.len());
    let all: Vec<Seq> = events.iter().map(|event| event.head.seq).collect();
    let bodies = reel.gather(&all, None, &mut |_| {});
    let mut buffer = BodyBuffer::default();
    let mut lasts = HashMap::new();
    for (event, written) in events.iter().zip(written) {
        assert_eq!(&event.body[..], &written.body[..]);
        assert_eq!(
            bodies.body(event.head.seq, &mut buffer).unwrap(),
            &written.body[..]
        );
        assert_eq!(event.head.kind, written.kind);
        assert_eq!(event.head.resource_version, written.rv);
        assert_eq!(event.head.connection, ConnectionId(written.resource + 10));
        let key = key(written);
        let object = event.head.object;
        assert_eq!(reel.key(object).unwrap(), key.view());
        let is_gone = written.kind == EventType::Deleted;
        // Only its uid tells an object from the one of its name that was deleted.
        let is_another = |was_gone| was_gone && !is_gone && written.uid.is_empty();
        if let Some((last, was_gone)) = lasts.insert(key, (object, is_gone)) {
            assert_eq!(last == object, !is_another(was_gone));
        }
        assert!(reel.versions(object).contains(&event.head.seq));
    }
    // From the end, so that earlier decoding does not help.
    let fresh = Reel::open(path).unwrap();
    for (event, written) in events.iter().zip(written).rev() {
        assert_eq!(&fresh.body(event.head.seq).unwrap()[..], &written.body[..]);
    }
    let middle = events[events.len() / 2].head.seq;
    let all = fresh.objects().map(|object| object.id).collect();
    let later: Vec<_> = fresh
        .scan_objects(middle..fresh.end(), all)
        .map(Result::unwrap)
        .collect();
    assert!(later == events[events.len() / 2..], "an event differs");
}

pub(super) fn path_in(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("run.reel")
}
