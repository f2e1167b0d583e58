//! The stream against a server that is nothing but a list of revisions.

use super::*;
use crate::watch::head::Head;
use crate::watch::state::{Page, Refusal};
use kubereel_format::{EndCause, EventType, Evidence, ListMethod};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const CACHED: Traits = Traits {
    is_cached: true,
    can_watch_list: true,
};
const EVENTS: Traits = Traits {
    is_cached: false,
    can_watch_list: false,
};

fn at(micros: u64) -> Stamp {
    Stamp {
        wall: RecordedAt::from_micros(i64::try_from(micros).expect("small")),
        elapsed: Elapsed { micros },
    }
}

fn head<'a>(name: &'a str, uid: &'a str, version: &'a str) -> Head<'a> {
    Head {
        namespace: "ns".into(),
        name: name.into(),
        uid: uid.into(),
        version: version.into(),
    }
}

fn refusal(code: u16, others_may_know: bool) -> Refusal<'static> {
    Refusal {
        code,
        retry_after_secs: None,
        message: "",
        others_may_know,
    }
}

/// A stream that has listed `a` at 5 and is complete as of 10.
fn synced(traits: Traits) -> Stream {
    let mut out = Vec::new();
    let mut stream = Stream::new(traits, Memory::default(), Origin::Fresh, 1);
    assert!(!matches!(stream.step(at(0).elapsed), Step::Watch { .. }));
    stream.answered(at(0).elapsed, 300, &mut out);
    stream.item(&head("a", "ua", "5"), at(1), &mut out);
    stream.finish_list(Version::Number(10), at(2), &mut out);
    assert!(stream.is_synced());
    stream
}

fn watch_from(stream: &mut Stream, now: u64) -> String {
    match stream.step(at(now).elapsed) {
        Step::Watch { from, .. } => from.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_position_waits_for_the_end_of_the_initial_objects() {
    let mut out = Vec::new();
    let mut stream = Stream::new(CACHED, Memory::default(), Origin::Fresh, 1);
    assert!(matches!(stream.step(at(0).elapsed), Step::WatchList { .. }));
    stream.answered(at(0).elapsed, 300, &mut out);
    stream.event(EventType::Added, &head("a", "ua", "900"), at(1), &mut out);
    stream.bookmark("900", false, at(2), &mut out);
    assert_eq!(stream.position(), None);
    stream.event(
        EventType::Modified,
        &head("a", "ua", "950"),
        at(3),
        &mut out,
    );
    assert_eq!(stream.position(), None);
    stream.bookmark("950", true, at(4), &mut out);
    assert_eq!(
        out,
        [
            Output::Write {
                kind: EventType::Added,
                evidence: Evidence::Initial,
                uid: None
            },
            Output::Write {
                kind: EventType::Modified,
                evidence: Evidence::Live,
                uid: None
            },
            Output::Synced {
                version: "950".into(),
                method: ListMethod::WatchList,
                objects: 1
            },
        ]
    );
}

#[test]
fn an_end_in_order_goes_on_at_once_and_a_cut_soon() {
    let mut stream = synced(CACHED);
    let mut out = Vec::new();
    stream.event(EventType::Modified, &head("a", "ua", "11"), at(3), &mut out);
    stream.ended(EndCause::Clean, at(300_000_000).elapsed);
    assert_eq!(watch_from(&mut stream, 300_000_000), "11");
    stream.answered(at(300_000_000).elapsed, 300, &mut out);
    stream.ended(EndCause::Cut, at(303_000_000).elapsed);
    match stream.step(at(303_000_000).elapsed) {
        Step::Watch { timeout_secs, .. } => assert_eq!(timeout_secs, 3, "to get a bookmark soon"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_lost_history_is_given_up_within_two_seconds() {
    let mut stream = synced(CACHED);
    let mut out = Vec::new();
    let mut now = 10_000_000;
    let mut tries = 0;
    stream.ended(EndCause::Cut, at(now).elapsed);
    loop {
        match stream.step(at(now).elapsed) {
            Step::Wait { micros } => now += micros,
            Step::Watch { .. } => {
                tries += 1;
                now += 5_000;
                stream.answered(at(now).elapsed, 300, &mut out);
                stream.refused(refusal(410, false), at(now).elapsed, &mut out);
            }
            Step::WatchList { .. } => break,
            other @ Step::Page { .. } => panic!("{other:?}"),
        }
    }
    assert!((4..=40).contains(&tries), "{tries}");
    assert!(now < 12_000_000, "{now}");
    out.clear();
    stream.answered(at(now).elapsed, 300, &mut out);
    stream.item(&head("a", "ua", "12"), at(now), &mut out);
    stream.item(&head("b", "ub", "14"), at(now), &mut out);
    stream.bookmark("20", true, at(now), &mut out);
    assert!(out.contains(&Output::Gap {
        from: Some("10".into()),
        to: "20".into(),
        from_time: at(2).wall,
        to_time: at(now).wall,
        cause: GapCause::Expired,
        missing_at_most: Some(8),
        differences: 2,
    }));
}

#[test]
fn history_that_others_may_know_is_asked_for_longer() {
    let mut stream = synced(CACHED);
    let mut out = Vec::new();
    let mut now = 10_000_000;
    stream.ended(EndCause::Cut, at(now).elapsed);
    for _ in 0..23 {
        while let Step::Wait { micros } = stream.step(at(now).elapsed) {
            now += micros;
        }
        assert_eq!(watch_from(&mut stream, now), "10");
        stream.answered(at(now).elapsed, 300, &mut out);
        stream.refused(refusal(410, true), at(now).elapsed, &mut out);
    }
    while let Step::Wait { micros } = stream.step(at(now).elapsed) {
        now += micros;
    }
    stream.answered(at(now).elapsed, 300, &mut out);
    stream.event(
        EventType::Modified,
        &head("a", "ua", "11"),
        at(now),
        &mut out,
    );
    assert!(out.contains(&Output::HistoryFound { tries: 23 }));
    assert!(!out.iter().any(|out| matches!(out, Output::Gap { .. })));
}

#[test]
fn a_cut_inside_a_bulk_of_deletions_loses_none_of_them() {
    let mut stream = synced(EVENTS);
    let mut out = Vec::new();
    for name in ["b", "c"] {
        stream.event(EventType::Added, &head(name, name, "11"), at(3), &mut out);
    }
    stream.event(EventType::Deleted, &head("b", "b", "12"), at(4), &mut out);
    stream.ended(EndCause::Cut, at(5_000_000).elapsed);
    assert_eq!(watch_from(&mut stream, 5_000_000), "11");
    out.clear();
    stream.answered(at(5_000_000).elapsed, 300, &mut out);
    stream.event(
        EventType::Deleted,
        &head("b", "b", "12"),
        at(6_000_000),
        &mut out,
    );
    assert_eq!(out, [], "it is recorded already");
    stream.event(
        EventType::Deleted,
        &head("c", "c", "12"),
        at(6_000_000),
        &mut out,
    );
    assert_eq!(out.len(), 1);
    stream.ended(EndCause::Cut, at(9_000_000).elapsed);
    assert_eq!(watch_from(&mut stream, 9_000_000), "11");
    stream.event(
        EventType::Added,
        &head("d", "d", "13"),
        at(9_100_000),
        &mut out,
    );
    stream.ended(EndCause::Cut, at(9_200_000).elapsed);
    assert_eq!(stream.position().expect("one").version, Version::Number(13));
}

#[test]
fn a_new_uid_under_an_old_name_is_another_object() {
    let mut stream = synced(CACHED);
    let mut out = Vec::new();
    stream.event(EventType::Added, &head("a", "other", "12"), at(3), &mut out);
    assert!(matches!(&out[0], Output::Infer { object, .. } if object.uid.text() == "ua"));
    assert_eq!(out.len(), 2);
}

#[test]
fn odd_versions_are_kept_and_marked() {
    let mut stream = synced(CACHED);
    let mut out = Vec::new();
    stream.event(EventType::Modified, &head("a", "ua", "12"), at(3), &mut out);
    stream.event(EventType::Added, &head("b", "ub", "11"), at(4), &mut out);
    stream.event(EventType::Deleted, &head("b", "", ""), at(5), &mut out);
    stream.bookmark("", false, at(6), &mut out);
    let kinds: Vec<_> = out
        .iter()
        .map(|out| match out {
            Output::Anomaly { kind, .. } => format!("{kind:?}"),
            Output::Write { kind, uid, .. } => format!("{kind:?} {uid:?}"),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "Modified None",
            "VersionNotRising",
            "Added None",
            "VersionUnusable",
            "Deleted Some(\"ub\")",
            "BookmarkWithoutVersion"
        ]
    );
    assert_eq!(stream.position().expect("one").version, Version::Number(12));
}

#[test]
fn an_unreadable_line_is_asked_for_once_more_and_then_a_gap() {
    let mut stream = synced(CACHED);
    let mut out = Vec::new();
    let mut now = 5_000_000;
    stream.ended(EndCause::Unreadable, at(now).elapsed);
    now += 10_000_000;
    assert_eq!(watch_from(&mut stream, now), "10");
    stream.answered(at(now).elapsed, 300, &mut out);
    stream.ended(EndCause::Unreadable, at(now).elapsed);
    now += 10_000_000;
    assert!(matches!(
        stream.step(at(now).elapsed),
        Step::WatchList { .. }
    ));
    stream.answered(at(now).elapsed, 300, &mut out);
    stream.bookmark("30", true, at(now), &mut out);
    assert!(out.iter().any(|out| matches!(
        out,
        Output::Gap {
            cause: GapCause::Unreadable,
            ..
        }
    )));
}

#[test]
fn without_streamed_lists_there_are_pages() {
    let mut out = Vec::new();
    let mut stream = Stream::new(CACHED, Memory::default(), Origin::Fresh, 1);
    assert!(matches!(stream.step(at(0).elapsed), Step::WatchList { .. }));
    stream.refused(refusal(422, false), at(1).elapsed, &mut out);
    let first = stream.step(at(1).elapsed);
    assert_eq!(
        first,
        Step::Page {
            limit: Some(500),
            token: None
        }
    );
    stream.answered(at(1).elapsed, 0, &mut out);
    stream.item(&head("a", "ua", "5"), at(2), &mut out);
    let page = |version, token| Page {
        version,
        token,
        bytes: 1_000_000,
        items: 1,
    };
    stream.page(page("10", "next"), at(2), &mut out);
    let second = stream.step(at(2).elapsed);
    assert_eq!(
        second,
        Step::Page {
            limit: Some(10),
            token: Some("next".into())
        }
    );
    stream.refused(refusal(410, false), at(3).elapsed, &mut out);
    let again = stream.step(at(9_000_000).elapsed);
    assert_eq!(
        again,
        Step::Page {
            limit: Some(40),
            token: None
        }
    );
    stream.item(&head("a", "ua", "5"), at(4), &mut out);
    stream.page(page("11", ""), at(4), &mut out);
    assert_eq!(watch_from(&mut stream, 9_000_000), "11");
    assert_eq!(
        out.len(),
        2,
        "the object once, the end of the list: {out:?}"
    );
}

#[test]
fn a_silent_list_is_read_in_pages() {
    let mut out = Vec::new();
    let mut stream = Stream::new(CACHED, Memory::default(), Origin::Fresh, 1);
    assert!(matches!(stream.step(at(0).elapsed), Step::WatchList { .. }));
    stream.answered(at(0).elapsed, 300, &mut out);
    assert_eq!(stream.idle_secs(), LIST_IDLE_SECS);
    stream.ended(EndCause::Idle, at(30_000_000).elapsed);
    assert!(matches!(
        stream.step(at(40_000_000).elapsed),
        Step::Page { .. }
    ));
}

#[test]
fn what_is_forbidden_is_said_once_and_asked_for_again() {
    let mut out = Vec::new();
    let mut stream = Stream::new(CACHED, Memory::default(), Origin::Fresh, 1);
    for now in [0, 40_000_000] {
        assert!(matches!(
            stream.step(at(now).elapsed),
            Step::WatchList { .. }
        ));
        stream.refused(refusal(403, false), at(now).elapsed, &mut out);
        assert!(matches!(stream.step(at(now).elapsed), Step::Wait { .. }));
    }
    assert!(matches!(
        out.as_slice(),
        [Output::NotCovered {
            reason: NotCoveredReason::Forbidden,
            ..
        }]
    ));
    out.clear();
    assert!(matches!(
        stream.step(at(80_000_000).elapsed),
        Step::WatchList { .. }
    ));
    stream.answered(at(80_000_000).elapsed, 300, &mut out);
    assert_eq!(out, [Output::CoveredAgain]);
}

#[test]
fn a_long_failure_counts_as_not_covered() {
    let mut out = Vec::new();
    let mut stream = synced(CACHED);
    for now in [0, 30_000_000, 59_000_000, 61_000_000, 70_000_000] {
        stream.refused(refusal(503, false), at(now).elapsed, &mut out);
    }
    assert!(matches!(
        out.as_slice(),
        [Output::NotCovered {
            reason: NotCoveredReason::Failing,
            ..
        }]
    ));
    assert_eq!(
        watch_from(&mut stream, 200_000_000),
        "10",
        "the position stays"
    );
}

#[test]
fn another_cluster_is_a_gap_of_its_own() {
    let mut stream = synced(CACHED);
    let mut out = Vec::new();
    stream.new_epoch();
    assert!(matches!(stream.step(at(5).elapsed), Step::WatchList { .. }));
    stream.answered(at(5).elapsed, 300, &mut out);
    stream.event(EventType::Added, &head("a", "other", "3"), at(6), &mut out);
    stream.bookmark("4", true, at(7), &mut out);
    assert!(matches!(&out[0], Output::Infer { .. }));
    assert!(out.contains(&Output::VersionFell));
    assert!(out.iter().any(|out| matches!(
        out,
        Output::Gap {
            cause: GapCause::NewEpoch,
            missing_at_most: None,
            ..
        }
    )));
    assert_eq!(watch_from(&mut stream, 8), "4");
}

#[test]
fn a_reopened_recording_goes_on_where_it_stopped() {
    let memory = synced(CACHED).into_memory();
    let mut stream = Stream::new(CACHED, memory, Origin::Reopened, 3);
    assert_eq!(watch_from(&mut stream, 0), "10");
    let mut out = Vec::new();
    let mut now = 0;
    while !stream.wants_list() {
        match stream.step(at(now).elapsed) {
            Step::Wait { micros } => now += micros,
            _ => stream.refused(refusal(410, false), at(now).elapsed, &mut out),
        }
    }
    while let Step::Wait { micros } = stream.step(at(now).elapsed) {
        now += micros;
    }
    stream.answered(at(now).elapsed, 300, &mut out);
    stream.bookmark("30", true, at(now), &mut out);
    assert!(
        out.iter()
            .any(|out| matches!(out, Output::Infer { name, .. } if name == "a"))
    );
    assert!(out.iter().any(|out| matches!(
        out,
        Output::Gap {
            cause: GapCause::RecorderStopped,
            ..
        }
    )));
}

#[test]
fn a_resource_that_came_to_its_end_begins_anew() {
    let mut stream = synced(CACHED);
    let mut out = Vec::new();
    stream.event(EventType::Deleted, &head("a", "ua", "12"), at(3), &mut out);
    let mut stream = Stream::new(CACHED, stream.into_memory(), Origin::Fresh, 1);
    assert!(matches!(stream.step(at(4).elapsed), Step::WatchList { .. }));
    stream.answered(at(4).elapsed, 300, &mut out);
    out.clear();
    stream.event(EventType::Added, &head("a", "new", "20"), at(5), &mut out);
    stream.bookmark("21", true, at(6), &mut out);
    assert!(matches!(
        out[0],
        Output::Write {
            evidence: Evidence::Initial,
            ..
        }
    ));
    assert!(!out.iter().any(|out| matches!(out, Output::Gap { .. })));
}

#[test]
fn a_stream_that_goes_on_follows_only_once_the_server_has_answered() {
    let mut out = Vec::new();
    let memory = synced(CACHED).into_memory();
    let mut stream = Stream::new(CACHED, memory, Origin::Reopened, 1);
    assert!(stream.is_synced() && !stream.is_following());
    stream.answered(at(2).elapsed, 300, &mut out);
    assert!(stream.is_following());
}

#[test]
fn a_resource_that_vanishes_from_an_unbroken_chain_leaves_no_gap() {
    let mut stream = synced(CACHED);
    let mut out = Vec::new();
    stream.answered(at(2).elapsed, 300, &mut out);
    stream.event(EventType::Deleted, &head("a", "ua", "12"), at(3), &mut out);
    stream.ended(EndCause::Clean, at(4).elapsed);
    stream.refused(refusal(404, false), at(5).elapsed, &mut out);
    out.clear();
    stream.gone(&Version::Number(20), at(6), &mut out);
    assert_eq!(out, []);
    assert!(stream.into_memory().known.is_empty());
}

#[test]
fn a_resource_that_vanishes_unseen_leaves_a_gap_up_to_its_end() {
    let mut stream = synced(CACHED);
    let mut out = Vec::new();
    stream.answered(at(2).elapsed, 300, &mut out);
    stream.ended(EndCause::Cut, at(4).elapsed);
    stream.refused(refusal(404, false), at(5).elapsed, &mut out);
    stream.gone(&Version::Number(20), at(6), &mut out);
    assert!(
        matches!(&out[0], Output::Infer { name, version, .. } if name == "a" && version == "20")
    );
    assert!(matches!(
        &out[1],
        Output::Gap { from: Some(from), to, missing_at_most: Some(10), differences: 1, .. }
            if from == "10" && to == "20"
    ));
    let memory = stream.into_memory();
    assert!(memory.known.is_empty() && memory.position.is_none());
}

// ---- the model

/// One revision of the model server.
#[derive(Clone, Debug)]
struct Revision {
    version: u64,
    kind: EventType,
    name: String,
    uid: String,
}

/// A server that is a history, part of which it may forget.
#[derive(Debug, Default)]
struct Server {
    version: u64,
    history: Vec<Revision>,
    objects: BTreeMap<String, (String, u64)>,
    oldest: u64,
}

impl Server {
    fn change(&mut self, name: u8, deletes: bool) {
        self.version += 1;
        let version = self.version;
        let name = format!("o{}", name % 4);
        let (kind, uid) = match (self.objects.remove(&name), deletes) {
            (Some((uid, _)), true) => (EventType::Deleted, uid),
            (Some((uid, _)), false) => (EventType::Modified, uid),
            (None, true) => return,
            (None, false) => (EventType::Added, format!("uid-{version}")),
        };
        if kind != EventType::Deleted {
            self.objects.insert(name.clone(), (uid.clone(), version));
        }
        self.history.push(Revision {
            version,
            kind,
            name,
            uid,
        });
    }
}

/// What the model file holds.
#[derive(Debug, Default)]
struct Tape {
    written: BTreeSet<(u64, String, EventType)>,
    first_synced: Option<u64>,
    gaps: Vec<(u64, u64)>,
    twice: Vec<(u64, String, EventType)>,
    inferred: Vec<(String, String)>,
}

impl Tape {
    fn take(&mut self, head: Option<(&str, u64)>, out: &mut Vec<Output>) {
        for output in out.drain(..) {
            match output {
                Output::Write { kind, evidence, .. } => {
                    let (uid, version) = head.expect("an object is at hand");
                    let row = (version, uid.to_owned(), kind);
                    let is_new = self.written.insert(row.clone());
                    if !is_new && evidence == Evidence::Live {
                        self.twice.push(row);
                    }
                }
                Output::Infer { name, object, .. } => {
                    self.inferred.push((name, object.uid.text()));
                }
                Output::Synced { version, .. } => {
                    let version = version.parse().expect("a number");
                    self.first_synced.get_or_insert(version);
                }
                Output::Gap { from, to, .. } => {
                    let from = from.map_or(0, |from| from.parse().expect("a number"));
                    self.gaps.push((from, to.parse().expect("a number")));
                }
                _ => {}
            }
        }
    }
}

#[derive(Clone, Debug)]
enum Act {
    Change {
        name: u8,
        deletes: bool,
    },
    /// The recorder does one request, of which so many lines arrive before it ends so.
    Serve {
        lines: u8,
        end: u8,
    },
    /// The server forgets its history.
    Forget,
    /// The recorder is started anew from what it had.
    Restart,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        5 => (any::<u8>(), prop::bool::weighted(0.3)).prop_map(|(name, deletes)| Act::Change { name, deletes }),
        4 => (0_u8..8, 0_u8..6).prop_map(|(lines, end)| Act::Serve { lines, end }),
        1 => Just(Act::Forget),
        1 => Just(Act::Restart),
    ];
    prop::collection::vec(act, 0..80)
}

struct World {
    server: Server,
    stream: Stream,
    tape: Tape,
    now: u64,
    traits: Traits,
}

impl World {
    fn new(traits: Traits) -> Self {
        Self {
            server: Server {
                version: 100,
                oldest: 100,
                ..Server::default()
            },
            stream: Stream::new(traits, Memory::default(), Origin::Fresh, 5),
            tape: Tape::default(),
            now: 0,
            traits,
        }
    }

    fn act(&mut self, act: &Act) {
        match act {
            Act::Change { name, deletes } => self.server.change(*name, *deletes),
            Act::Forget => self.server.oldest = self.server.version,
            Act::Restart => {
                let fresh = Stream::new(self.traits, Memory::default(), Origin::Fresh, 5);
                let memory = std::mem::replace(&mut self.stream, fresh).into_memory();
                self.stream = Stream::new(self.traits, memory, Origin::Reopened, 9);
            }
            Act::Serve { lines, end } => self.serve(usize::from(*lines), *end),
        }
    }

    fn serve(&mut self, lines: usize, end: u8) {
        let mut out = Vec::new();
        self.now += 6_000_000;
        let step = self.stream.step(at(self.now).elapsed);
        if matches!(step, Step::Wait { .. }) {
            return;
        }
        if end == 5 {
            self.stream.unreachable(at(self.now).elapsed);
            return;
        }
        self.stream.answered(at(self.now).elapsed, 300, &mut out);
        match step {
            Step::Wait { .. } => {}
            Step::Watch { from, .. } => {
                let from = u64::try_from(from.number().expect("a number")).expect("small");
                if from < self.server.oldest {
                    self.stream
                        .refused(refusal(410, false), at(self.now).elapsed, &mut out);
                } else {
                    self.watch(from, lines);
                    self.end(end);
                }
            }
            Step::WatchList { .. } => {
                if self.list(lines) {
                    let version = self.server.version.to_string();
                    self.stream.bookmark(&version, true, at(self.now), &mut out);
                }
                self.tape.take(None, &mut out);
                self.end(end);
            }
            Step::Page { .. } => {
                if self.list(lines) {
                    let version = self.server.version.to_string();
                    let page = Page {
                        version: &version,
                        token: "",
                        bytes: 10,
                        items: 1,
                    };
                    self.stream.page(page, at(self.now), &mut out);
                } else {
                    self.stream.unreachable(at(self.now).elapsed);
                }
            }
        }
        self.tape.take(None, &mut out);
    }

    fn watch(&mut self, from: u64, lines: usize) {
        let mut out = Vec::new();
        let news: Vec<Revision> = self
            .server
            .history
            .iter()
            .filter(|revision| revision.version > from)
            .take(lines)
            .cloned()
            .collect();
        for revision in news {
            let version = revision.version.to_string();
            let head = head(&revision.name, &revision.uid, &version);
            self.stream
                .event(revision.kind, &head, at(self.now), &mut out);
            self.tape
                .take(Some((&revision.uid, revision.version)), &mut out);
        }
    }

    fn list(&mut self, lines: usize) -> bool {
        let mut out = Vec::new();
        let objects: Vec<_> = self.server.objects.clone().into_iter().collect();
        for (name, (uid, version)) in objects.iter().take(lines) {
            let text = version.to_string();
            self.stream
                .item(&head(name, uid, &text), at(self.now), &mut out);
            self.tape.take(Some((uid, *version)), &mut out);
        }
        lines >= objects.len()
    }

    fn end(&mut self, end: u8) {
        let mut out = Vec::new();
        let now = at(self.now).elapsed;
        match end {
            0 => self.stream.ended(EndCause::Clean, now),
            1 => self.stream.ended(EndCause::Cut, now),
            2 => self.stream.ended(EndCause::Unreadable, now),
            3 => self.stream.refused(refusal(500, false), now, &mut out),
            _ => self.stream.refused(refusal(429, false), now, &mut out),
        }
        self.tape.take(None, &mut out);
    }

    /// Lets everything arrive.
    fn settle(&mut self) {
        for _ in 0..200 {
            self.serve(usize::MAX, 0);
        }
        assert!(self.stream.is_synced());
    }
}

fn check(traits: Traits, acts: &[Act]) -> Result<(), TestCaseError> {
    let mut world = World::new(traits);
    for act in acts {
        world.act(act);
    }
    world.settle();
    let tape = &world.tape;
    let first = tape.first_synced.expect("it settled");
    for revision in &world.server.history {
        let row = (revision.version, revision.uid.clone(), revision.kind);
        let is_in_gap = tape
            .gaps
            .iter()
            .any(|(from, to)| (*from + 1..=*to).contains(&revision.version));
        prop_assert!(
            revision.version <= first || is_in_gap || tape.written.contains(&row),
            "lost: {row:?}, gaps {:?}",
            tape.gaps
        );
    }
    prop_assert!(tape.twice.is_empty(), "written twice: {:?}", tape.twice);
    for (name, uid) in &tape.inferred {
        let lives = world
            .server
            .objects
            .get(name)
            .is_some_and(|(live, _)| live == uid);
        prop_assert!(!lives, "{name} {uid} is alive");
    }
    let stays = !acts
        .iter()
        .any(|act| matches!(act, Act::Forget | Act::Serve { end: 2, .. }));
    prop_assert!(
        !stays || tape.gaps.is_empty(),
        "a gap without a loss: {:?}",
        tape.gaps
    );
    prop_assert_eq!(world.stream.known.len(), world.server.objects.len());
    for (name, (uid, version)) in &world.server.objects {
        let known = world.stream.known.get("ns", name).expect("known");
        prop_assert_eq!(&known.uid.text(), uid);
        prop_assert_eq!(&known.version, &Some(Version::Number(*version)));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn nothing_is_lost_unmarked_with_streamed_lists(acts in acts()) {
        check(CACHED, &acts)?;
    }

    #[test]
    fn nothing_is_lost_unmarked_with_pages(acts in acts()) {
        check(EVENTS, &acts)?;
    }
}
