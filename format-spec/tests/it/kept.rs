//! Written records are read back: from finished, copied, killed and resumed reels.
//!
//! The cost of a query is bounded: few frames for a state, each block once for a scan.
//!
//! Unusual lives are read back, and damage is an error, never other bytes.

use crate::life::{WrittenEvent, append, begin, check, key, life, path_in, resource, stamp};
use kubereel_format::{
    Appender, BlobNote, BodyBuffer, Bounds, ConnectionId, DocumentKind, EventType, Evidence, Loss,
    NewBody, NewEvent, Note, ObjectId, OpenError, ReadError, RecordedAt, Reel, ResourceId,
    SealDensity, Seq, seal,
};
use proptest::prelude::*;
use std::collections::HashSet;
use std::path::Path;
use std::sync::LazyLock;

#[test]
fn a_finished_reel_gives_everything_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    let written = life(5_000, 120);
    let mut appender = begin(&path);
    for (at, event) in (0i64..).zip(&written) {
        append(&mut appender, event, at);
        if at % 37 == 0 {
            appender.commit().unwrap();
        }
    }
    let stats = appender.finish().unwrap();
    assert_eq!(stats.file_bytes, std::fs::metadata(&path).unwrap().len());
    assert_eq!(stats.records, 5_003);
    assert!(Reel::open(&path).unwrap().is_finished());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    check(&path, &written);
}

#[test]
fn unusually_large_indexes_among_usual_ones_are_read_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    let mut written = life(40_000, 120);
    // New objects with long names: the indexes of their blocks take megabytes, the others kilobytes.
    for (number, event) in written.iter_mut().enumerate() {
        if (10_000..13_000).contains(&number) || number == 30_000 {
            event.name = format!("{number}-{}", "n".repeat(4_000));
            event.uid = format!("uid-{number}");
            event.kind = EventType::Added;
            event.body = b"{}".to_vec();
        }
    }
    let mut appender = begin(&path);
    for (at, event) in (0i64..).zip(&written) {
        append(&mut appender, event, at);
    }
    appender.finish().unwrap();
    let reel = Reel::open(&path).unwrap();
    assert!(reel.blocks().len() > 32, "{}", reel.blocks().len());
    for (number, event) in written.iter().enumerate() {
        let seq = Seq(u64::try_from(number).unwrap() + 3);
        let head = reel.head(seq).unwrap();
        assert_eq!(head.resource_version, event.rv);
        assert_eq!(head.stamp, stamp(i64::try_from(number).unwrap()));
        assert_eq!(reel.key(head.object).unwrap().to_key(), key(event));
    }
    let sealed = folder.path().join("sealed.reel");
    seal(&reel, &sealed, SealDensity::Usual, |_| {}).unwrap();
    check(&sealed, &written);
}

#[test]
fn a_copy_of_a_running_recording_gives_what_was_committed() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    let copy = folder.path().join("copy.reel");
    let written = life(2_500, 40);
    let mut appender = begin(&path);
    let mut committed = 0;
    for (at, event) in (0i64..).zip(&written) {
        append(&mut appender, event, at);
        if at % 113 == 0 {
            appender.commit().unwrap();
            committed = usize::try_from(at).unwrap() + 1;
        }
    }
    assert!(matches!(Reel::open(&path), Err(OpenError::InUse { .. })));
    std::fs::copy(&path, &copy).unwrap();
    let before = std::fs::read(&copy).unwrap();
    check(&copy, &written[..committed]);
    assert!(!Reel::open(&copy).unwrap().is_finished());
    assert_eq!(
        std::fs::read(&copy).unwrap(),
        before,
        "reading changed the file"
    );
}

#[test]
fn a_killed_recording_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let written = life(4_000, 60);
    let mut path = path_in(&folder);
    let mut appender = begin(&path);
    for (at, event) in (0i64..).zip(&written) {
        append(&mut appender, event, at);
        if at % 700 == 699 {
            appender.commit().unwrap();
            // The current content of the disk is what a kill would leave.
            let next = folder.path().join(format!("{at}.reel"));
            std::fs::copy(&path, &next).unwrap();
            path = next;
            appender = Appender::resume(&path).unwrap();
            assert_eq!(appender.next_seq(), Seq(u64::try_from(at).unwrap() + 4));
        }
    }
    appender.commit().unwrap();
    drop(appender);
    check(&path, &written);
    let mut again = Appender::resume(&path).unwrap();
    again
        .append_note(
            stamp(9),
            Note::Mark {
                text: "x".to_owned(),
            },
        )
        .unwrap();
    again.finish().unwrap();
    check(&path, &written);
    let mut finished = Appender::resume(&path).unwrap();
    finished
        .append_note(
            stamp(9),
            Note::Mark {
                text: "y".to_owned(),
            },
        )
        .unwrap();
    finished.commit().unwrap();
    drop(finished);
    assert!(!Reel::open(&path).unwrap().is_finished());
    check(&path, &written);
}

#[test]
fn an_inferred_deletion_repeats_the_last_body() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    let written = life(1, 1).remove(0);
    let mut appender = begin(&path);
    append(&mut appender, &written, 1);
    let gone = NewEvent {
        stamp: stamp(2),
        connection: ConnectionId(1),
        kind: EventType::Deleted,
        evidence: Evidence::Inferred,
        resource: ResourceId(written.resource),
        namespace: "openshift-etcd",
        name: &written.name,
        uid: &written.uid,
        resource_version: "",
        body: NewBody::Last,
    };
    let seq = appender.append_event(&gone).unwrap();
    assert!(appender.append_event(&gone).is_err(), "it is gone already");
    appender.finish().unwrap();
    let reel = Reel::open(&path).unwrap();
    assert_eq!(&reel.body(seq).unwrap()[..], &written.body[..]);
    assert_eq!(reel.head(seq).unwrap().resource_version, "");
    assert_eq!(reel.rv_of(seq), None);
}

#[test]
fn large_bodies_and_documents_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    let mut written = life(3, 1);
    written[1].body = (0..900_000u32).flat_map(u32::to_le_bytes).collect();
    let document: Vec<u8> = (0..70_000u32).flat_map(u32::to_be_bytes).collect();
    let mut appender = begin(&path);
    for (at, event) in (0i64..).zip(&written) {
        append(&mut appender, event, at);
    }
    let note = BlobNote::Document {
        kind: DocumentKind::Discovery,
        path: "/apis".to_owned(),
    };
    appender
        .append_blob_note(stamp(4), note, &document)
        .unwrap();
    appender.commit().unwrap();
    appender.finish().unwrap();
    check(&path, &written);
    let reel = Reel::open(&path).unwrap();
    let Some(Note::Document { blobs, .. }) = reel.notes().last().map(|entry| &entry.note) else {
        panic!("no document");
    };
    let joined: Vec<u8> = blobs
        .iter()
        .flat_map(|id| reel.blob(*id).unwrap().to_vec())
        .collect();
    assert_eq!(joined, document);
}

#[test]
fn times_lead_to_records() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    let written = life(3_000, 5);
    let mut appender = begin(&path);
    for (at, event) in (0i64..).zip(&written) {
        // The clock steps back once, by 500.
        append(&mut appender, event, if at < 2_000 { at } else { at - 500 });
    }
    appender.finish().unwrap();
    let reel = Reel::open(&path).unwrap();
    let after = |micros: i64| reel.seq_after(stamp(micros).wall).0;
    assert_eq!(after(-1), 0);
    assert_eq!(after(0), 4);
    assert_eq!(after(100), 104);
    assert_eq!(
        after(1_600),
        2_104,
        "the last record received at that time counts"
    );
    assert_eq!(after(99_999), 3_003);
}

#[test]
fn events_are_counted_in_the_slices_of_a_time_whichever_way_the_clock_goes() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    let mut appender = begin(&path);
    let mut walls = Vec::new();
    for (number, event) in (0i64..).zip(&life(5_000, 5)) {
        // The clock steps back once, in the middle of a group of records.
        let at = number * 10 - if number < 2_500 { 0 } else { 7_000 };
        append(&mut appender, event, at);
        walls.push(stamp(at).wall.micros);
        if number % 1_000 == 0 {
            let text = "not an event".to_owned();
            appender
                .append_note(stamp(at), Note::Mark { text })
                .unwrap();
        }
    }
    appender.finish().unwrap();
    let reel = Reel::open(&path).unwrap();
    let [first, last] = [stamp(0), stamp(50_000)].map(|stamp| stamp.wall.micros);
    for (from, to) in [
        (first, last),
        (first + 15_005, first + 27_777),
        (first + 30_000, first + 30_010),
        (first - 9_999, last + 9_999),
        (last, first),
    ] {
        for slices in [1, 3, 80, 2_000] {
            let slice_micros = u64::try_from(to - from)
                .unwrap_or(0)
                .div_ceil(slices)
                .max(1);
            let mut expected = vec![0; usize::try_from(slices).unwrap()];
            for wall in walls.iter().filter(|wall| (from..to).contains(wall)) {
                let slice = u64::try_from(wall - from).unwrap() / slice_micros;
                expected[usize::try_from(slice).unwrap()] += 1;
            }
            let mut counts = vec![0; expected.len()];
            let within = RecordedAt::from_micros(from)..RecordedAt::from_micros(to);
            reel.count_events(within, slice_micros, &mut counts);
            assert_eq!(counts, expected, "{slices} slices of {from}..{to}");
        }
    }
}

#[test]
fn a_note_told_late_draws_no_event_before_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    let written = life(2_000, 5);
    let mut appender = begin(&path);
    let before = appender.next_seq().0;
    for (at, event) in (0i64..).zip(&written) {
        append(&mut appender, event, at);
    }
    let mark = |text: &str| Note::Mark {
        text: text.to_owned(),
    };
    appender.append_note(stamp(1_999), mark("now")).unwrap();
    appender.append_note(stamp(50), mark("late")).unwrap();
    appender.append_note(stamp(5_000), mark("later")).unwrap();
    appender.finish().unwrap();
    let reel = Reel::open(&path).unwrap();
    let after = |micros: i64| reel.seq_after(stamp(micros).wall).0 - before;
    assert_eq!(after(49), 50);
    assert_eq!(after(1_000), 1_001);
    assert_eq!(after(1_999), 2_002, "the notes behind the last event count");
    assert_eq!(after(9_999), 2_003);
}

#[test]
fn what_is_no_event_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    begin(&path).finish().unwrap();
    let reel = Reel::open(&path).unwrap();
    let expected = Err(ReadError::NotAnEvent { seq: Seq(0) });
    assert_eq!(reel.body(Seq(0)), expected);
    assert!(matches!(
        reel.body(Seq(99)),
        Err(ReadError::NoSuchEvent { .. })
    ));
    assert!(reel.head(Seq(0)).is_none());
}

#[test]
fn what_is_no_reel_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    let named = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        Reel::open(&path).unwrap_err().to_string()
    };
    assert!(named(b"").contains("empty"));
    assert!(named(b"PK\x03\x04").contains("zip"));
    assert!(named(b"{\"ts\":1}").contains("JSON"));
    assert!(named(b"redb").contains("cut off after 4 bytes"));
    assert!(matches!(
        Reel::open(Path::new("/nowhere/x.reel")),
        Err(OpenError::Io { .. })
    ));
    assert!(matches!(
        Reel::open(folder.path()),
        Err(OpenError::Io { .. })
    ));
    std::fs::remove_file(&path).unwrap();
    let database = redb::Database::create(&path).unwrap();
    drop(database);
    assert!(
        Reel::open(&path)
            .unwrap_err()
            .to_string()
            .contains("something else")
    );
}

#[test]
fn bodies_that_take_more_memory_than_they_may_are_kept_in_a_file_without_a_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    let bounds = Bounds {
        body_memory: Some(20_000),
        ..Bounds::default()
    };
    let written = life(6_000, 400);
    begin(&path).commit().unwrap();
    let mut appender = Appender::resume_within(&path, bounds).unwrap();
    for (at, event) in (0i64..).zip(&written) {
        append(&mut appender, event, at);
        if at % 1_500 == 0 {
            appender.commit().unwrap();
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
            drop(appender);
            appender = Appender::resume_within(&path, bounds).unwrap();
        }
    }
    let memory = appender.object_memory();
    let live: u64 = memory.iter().map(|memory| memory.live).sum();
    let bytes: u64 = memory.iter().map(|memory| memory.bytes).sum();
    assert!(live > 100, "{live} live objects");
    assert!(
        bytes < 20_000 + 1_000 + live * 400,
        "{bytes} bytes of memory"
    );
    appender.finish().unwrap();
    check(&path, &written);
}

#[test]
fn a_resource_whose_objects_are_forgotten_takes_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    let written = life(3_000, 60);
    let mut appender = begin(&path);
    for (at, event) in (0i64..).zip(&written[..2_000]) {
        append(&mut appender, event, at);
    }
    appender.forget_objects(ResourceId(1));
    let memory = appender.object_memory();
    assert!(memory.iter().any(|memory| memory.live > 0));
    assert!(memory.iter().all(|memory| memory.resource != ResourceId(1)));
    let mut kept = written[..2_000].to_vec();
    for event in written[2_000..].iter().filter(|event| event.resource != 1) {
        append(&mut appender, event, 2_000);
        kept.push(event.clone());
    }
    appender.finish().unwrap();
    let reel = Reel::open(&path).unwrap();
    let bodies = reel.scan().map(|event| event.unwrap().body.to_vec());
    assert!(bodies.eq(kept.into_iter().map(|event| event.body)));
}

#[test]
fn the_state_at_a_moment_comes_from_few_frames() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    let written = life(200_000, 300);
    let mut appender = begin(&path);
    let mut events = resource(3);
    events.plural = "events".to_owned();
    appender
        .append_note(stamp(0), Note::Resource(events))
        .unwrap();
    for (at, event) in (0i64..).zip(&written) {
        append(&mut appender, event, at);
        if at == 150_000 {
            appender.commit().unwrap();
            drop(appender);
            appender = Appender::resume(&path).unwrap();
        }
    }
    appender.finish().unwrap();
    let reel = Reel::open(&path).unwrap();
    for cut in [70_000u64, 131_500, 199_000] {
        let fresh = Reel::open(&path).unwrap();
        let mut queries = 0u64;
        for object in fresh.objects() {
            let versions = fresh.versions(object.id);
            let count = versions.partition_point(|seq| seq.0 < cut);
            let Some(seq) = count.checked_sub(1).map(|place| versions[place]) else {
                continue;
            };
            let body = fresh.body_at(seq, Seq(cut)).unwrap();
            assert_eq!(body, reel.body(seq).unwrap(), "{seq} at {cut}");
            // An older version is given as what it is, whatever the caller says.
            if let Some(older) = count.checked_sub(2).map(|place| versions[place]) {
                assert_eq!(
                    fresh.body_at(older, Seq(cut)).unwrap(),
                    reel.body(older).unwrap()
                );
            }
            queries += 1;
        }
        assert!(queries >= 300, "{queries}");
    }
    let fresh = Reel::open(&path).unwrap();
    let cut = 131_072 + 5_000;
    for object in fresh.objects() {
        let versions = fresh.versions(object.id);
        let count = versions.partition_point(|seq| seq.0 < cut);
        if let Some(seq) = count.checked_sub(1).map(|place| versions[place]) {
            fresh.body_at(seq, Seq(cut)).unwrap();
        }
    }
    let frames = fresh.counts().frames;
    assert!(frames < 60, "{frames} frames for one state");
}

#[test]
fn what_lies_behind_many_bodies_is_decoded_once() {
    let (folder, written) = &*LONG;
    let reel = Reel::open(&path_in(folder)).unwrap();
    for (cut, at) in [
        (70_000, Some(Seq(70_000))),
        (40_000, Some(Seq(40_000))),
        (70_000, None),
    ] {
        let fresh = Reel::open(&path_in(folder)).unwrap();
        fresh.bound_cache(1 << 20);
        let last = |object| {
            let versions = fresh.versions(object);
            let count = versions.partition_point(|seq| seq.0 < cut);
            count.checked_sub(1).map(|place| versions[place])
        };
        let events: Vec<Seq> = fresh
            .objects()
            .filter_map(|object| last(object.id))
            .collect();
        assert!(events.len() >= 300, "{}", events.len());
        let mut met = 0;
        let bodies = fresh.gather(&events, at, &mut |count| met = count);
        assert_eq!(met, u64::try_from(events.len()).unwrap());
        let frames = fresh.counts().frames;
        // Blocks, their prefixes and checkpoints: each once.
        let most = u64::try_from(2 * fresh.blocks().len() + 10).unwrap();
        assert!(frames <= most, "{frames} frames, {most}");
        let mut buffer = BodyBuffer::default();
        for seq in &events {
            let body = bodies.body(*seq, &mut buffer).unwrap();
            assert_eq!(body, &written[usize::try_from(seq.0).unwrap() - 3].body[..]);
        }
        assert_eq!(fresh.counts().frames, frames, "more was decoded");
        // What was not prepared is read all the same.
        let other = Seq(events[0].0 + 1);
        let read = bodies.body(other, &mut buffer).unwrap();
        assert_eq!(read, &*reel.body(other).unwrap());
        assert!(
            bodies.body(Seq(0), &mut buffer).is_err(),
            "a note has no body"
        );
    }
}
/// A reel with a checkpoint, and its content behind three notes.
static LONG: LazyLock<(tempfile::TempDir, Vec<WrittenEvent>)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let written = life(70_000, 300);
    let mut appender = begin(&path_in(&folder));
    for (at, event) in (0i64..).zip(&written) {
        append(&mut appender, event, at);
    }
    appender.finish().unwrap();
    (folder, written)
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_scan_gives_the_events_of_some_objects_between_two_records(
        from in prop_oneof![Just(0), 3..70_003u64],
        len in prop_oneof![0..300u64, 0..80_000u64],
        step in prop_oneof![Just(1usize), 2..400usize],
    ) {
        let (folder, written) = &*LONG;
        let reel = Reel::open(&path_in(folder)).unwrap();
        let records = Seq(from)..Seq(from + len);
        let objects: HashSet<ObjectId> =
            reel.objects().map(|object| object.id).step_by(step).collect();
        let expected: Vec<Seq> = (from..records.end.0)
            .map(Seq)
            .filter(|seq| reel.object_of(*seq).is_some_and(|object| objects.contains(&object)))
            .collect();
        let body = |seq: Seq| &written[usize::try_from(seq.0).unwrap() - 3].body[..];
        let mut met = Vec::new();
        for event in reel.scan_objects(records, objects) {
            let event = event.unwrap();
            let seq = event.head.seq;
            prop_assert_eq!(&event.body[..], body(seq));
            let versions = reel.versions(event.head.object);
            let before = versions.partition_point(|known| *known < seq).checked_sub(1);
            let before = before.map(|place| versions[place]);
            let before = before.filter(|seq| reel.kind_of(*seq) != Some(EventType::Deleted));
            prop_assert_eq!(event.before.as_deref(), before.map(body));
            met.push(seq);
        }
        prop_assert_eq!(met, expected);
        // Blocks, their prefixes and checkpoints: each once for what came before, and once for the scan.
        let most = u64::try_from(3 * reel.blocks().len() + 10).unwrap();
        prop_assert!(reel.counts().frames <= most, "{:?}", reel.counts());
    }
}

/// Damage anywhere gives an error or the right bytes: never other bytes, never a panic.
fn survives(path: &Path, written: &[WrittenEvent]) {
    let Ok(reel) = Reel::open(path) else {
        return;
    };
    for event in reel.scan().flatten() {
        let place = usize::try_from(event.head.seq.0).unwrap() - 3;
        assert_eq!(
            &event.body[..],
            &written[place].body[..],
            "wrong bytes by scanning"
        );
    }
    let behind_lost = reel.damage().iter().filter_map(|damage| match damage.loss {
        Loss::Records { last, .. } => Some(Seq(last?.0 + 1)),
        _ => None,
    });
    let middle = Seq(u64::try_from(written.len() / 2).unwrap());
    for from in behind_lost.chain([middle]) {
        let some = reel.objects().map(|object| object.id).step_by(2).collect();
        for event in reel.scan_objects(from..reel.end(), some).flatten() {
            let place = usize::try_from(event.head.seq.0).unwrap() - 3;
            assert_eq!(
                &event.body[..],
                &written[place].body[..],
                "wrong bytes by scanning from {from}"
            );
            if let Some(before) = event.before {
                let mut earlier = written.iter().take(place);
                let is_known = earlier.any(|event| event.body == *before);
                assert!(is_known, "wrong bytes of the version before");
            }
        }
    }
    let all: Vec<Seq> = (3..reel.end().0).map(Seq).collect();
    let many = reel.gather(&all, None, &mut |_| {});
    let mut buffer = BodyBuffer::default();
    for place in (0..written.len()).rev().step_by(7) {
        let seq = Seq(u64::try_from(place).unwrap() + 3);
        let behind = Seq(seq.0 + 1);
        let queries = reel.body_at(seq, behind);
        for body in [queries, reel.body(seq)].into_iter().flatten() {
            assert_eq!(&body[..], &written[place].body[..], "wrong bytes by asking");
        }
        if let Ok(body) = many.body(seq, &mut buffer) {
            assert_eq!(body, &written[place].body[..], "wrong bytes of one of many");
        }
    }
}

#[test]
fn damage_is_an_error_and_never_other_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    let written = life(2_600, 50);
    let mut appender = begin(&path);
    for (at, event) in (0i64..).zip(&written) {
        append(&mut appender, event, at);
        if at % 200 == 0 {
            appender.commit().unwrap();
        }
    }
    appender.commit().unwrap();
    let whole = std::fs::read(&path).unwrap();
    let hurt = folder.path().join("hurt.reel");
    for at in (0..whole.len()).step_by(967) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        std::fs::write(&hurt, &bytes).unwrap();
        survives(&hurt, &written);
        bytes[at..whole.len().min(at + 300)].fill(b'X');
        std::fs::write(&hurt, &bytes).unwrap();
        survives(&hurt, &written);
        if at % 5 == 0 {
            std::fs::write(&hurt, &whole[..at]).unwrap();
            survives(&hurt, &written);
        }
    }
}

fn odd_life() -> impl Strategy<Value = Vec<(WrittenEvent, bool)>> {
    let kind = prop_oneof![
        Just(EventType::Added),
        Just(EventType::Modified),
        Just(EventType::Modified),
        Just(EventType::Deleted)
    ];
    let body = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        "[a-c,{}]{0,60}".prop_map(String::into_bytes),
        Just(vec![b'z'; 400]),
    ];
    let written = (0u32..3, 0usize..4, kind, "[0-9]{0,22}", body).prop_map(
        |(resource, object, kind, rv, body)| WrittenEvent {
            resource,
            name: ["a", "etcd-operator", "", "ä-1"][object].to_owned(),
            uid: ["", "u", "11111111-2222-3333-4444-555555555555", "x y"][object].to_owned(),
            kind,
            rv,
            body,
        },
    );
    prop::collection::vec((written, prop::bool::weighted(0.1)), 1..200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_life_comes_back(life in odd_life()) {
        let folder = tempfile::tempdir().unwrap();
        let path = path_in(&folder);
        let mut appender = begin(&path);
        for (at, (event, stop)) in (0i64..).zip(&life) {
            append(&mut appender, event, at);
            if *stop {
                appender.commit().unwrap();
                drop(appender);
                appender = Appender::resume(&path).unwrap();
            }
        }
        appender.commit().unwrap();
        drop(appender);
        let written: Vec<_> = life.into_iter().map(|(written, _)| written).collect();
        check(&path, &written);
    }
}
