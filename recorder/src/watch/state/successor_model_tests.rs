//! Property test: two connections of one watch against a model server, which is a list of
//! revisions, with any interleaving of their data.

use super::*;
use crate::watch::state::connections::{MAX_SEEN, SETTLE_MICROS};
use crate::watch::state::machine::ListPage;
use crate::watch::state::machine::model_tests::{ModelRevision, ModelServer, Tape};
use crate::watch::state::machine::tests::{CACHED, EVENTS, at, head, refusal, synced};
use crate::watch::state::{ResumeState, ServerTraits, WatchOrigin, WatchOutput, WatchStep};
use kubereel_format::EventType;
use proptest::prelude::*;

/// The next step.
#[derive(Clone, Debug)]
enum SuccessorAct {
    Change {
        name: u8,
        deletes: bool,
    },
    /// All objects vanish with one version, where versions are shared.
    Expire,
    /// A request, if none is open.
    Connect,
    /// A successor is requested.
    Begin,
    /// Its request succeeds: from a list of the present, if that was requested.
    Answer {
        is_fresh: bool,
    },
    /// Its request is refused.
    Refuse,
    /// A number of lines arrives on one of the two.
    Bring {
        lines: u8,
        on_successor: bool,
    },
    Bookmark {
        on_successor: bool,
    },
    End {
        on_successor: bool,
        cause: EndCause,
    },
    /// The server compacts its history.
    Forget,
    /// Time passes.
    Settle,
    Restart,
}

fn acts() -> impl Strategy<Value = Vec<SuccessorAct>> {
    let cause = prop_oneof![
        Just(EndCause::Clean),
        Just(EndCause::Cut),
        Just(EndCause::Idle)
    ];
    let act = prop_oneof![
        12 => (any::<u8>(), prop::bool::weighted(0.3)).prop_map(|(name, deletes)| SuccessorAct::Change { name, deletes }),
        2 => Just(SuccessorAct::Expire),
        4 => Just(SuccessorAct::Connect),
        4 => Just(SuccessorAct::Begin),
        4 => any::<bool>().prop_map(|is_fresh| SuccessorAct::Answer { is_fresh }),
        1 => Just(SuccessorAct::Refuse),
        12 => (1_u8..6, any::<bool>()).prop_map(|(lines, on_successor)| SuccessorAct::Bring { lines, on_successor }),
        2 => any::<bool>().prop_map(|on_successor| SuccessorAct::Bookmark { on_successor }),
        2 => (any::<bool>(), cause).prop_map(|(on_successor, cause)| SuccessorAct::End { on_successor, cause }),
        1 => Just(SuccessorAct::Forget),
        1 => Just(SuccessorAct::Settle),
        1 => Just(SuccessorAct::Restart),
    ];
    prop::collection::vec(act, 0..160)
}

/// A connection: how much of the history it has delivered.
type TapeCursor = usize;

struct SuccessorWorld {
    server: ModelServer,
    stream: WatchState,
    tape: Tape,
    now: u64,
    traits: ServerTraits,
    lead: Option<TapeCursor>,
    asked: Option<ResourceVersion>,
    next: Option<TapeCursor>,
    position: u64,
    handovers: usize,
}

fn number(version: &ResourceVersion) -> u64 {
    u64::try_from(version.number().expect("a number")).expect("small")
}

impl SuccessorWorld {
    fn new(traits: ServerTraits) -> Self {
        Self {
            server: ModelServer {
                version: 100,
                oldest: 100,
                ..ModelServer::default()
            },
            stream: WatchState::new(traits, ResumeState::default(), WatchOrigin::Fresh, 5),
            tape: Tape::default(),
            now: 0,
            traits,
            lead: None,
            asked: None,
            next: None,
            position: 0,
            handovers: 0,
        }
    }

    fn act(&mut self, act: &SuccessorAct) {
        self.now += 10_000;
        match act {
            SuccessorAct::Change { name, deletes } => self.server.change(*name, *deletes),
            SuccessorAct::Expire => self.expire(),
            SuccessorAct::Connect => self.connect(),
            SuccessorAct::Begin => self.begin(),
            SuccessorAct::Answer { is_fresh } => self.answer(*is_fresh),
            SuccessorAct::Bring {
                lines,
                on_successor,
            } => self.bring(usize::from(*lines), *on_successor),
            SuccessorAct::Bookmark { on_successor } => self.bookmark(*on_successor),
            SuccessorAct::Refuse
            | SuccessorAct::End {
                on_successor: true, ..
            } => self.refuse(),
            SuccessorAct::End { cause, .. } => self.end(*cause),
            SuccessorAct::Forget => self.server.oldest = self.server.version,
            SuccessorAct::Settle => self.now += 2 * SETTLE_MICROS,
            SuccessorAct::Restart => self.restart(),
        }
        self.handover();
    }

    fn cursor(&self, from: u64) -> TapeCursor {
        let history = &self.server.history;
        history.partition_point(|revision| revision.version <= from)
    }

    fn expire(&mut self) {
        if self.traits.is_cached || self.server.objects.is_empty() {
            return;
        }
        self.server.version += 1;
        let version = self.server.version;
        for (name, (uid, _)) in std::mem::take(&mut self.server.objects) {
            self.server.history.push(ModelRevision {
                version,
                kind: EventType::Deleted,
                name,
                uid,
            });
        }
    }

    fn connect(&mut self) {
        if self.lead.is_some() {
            return;
        }
        self.now += 6_000_000;
        let now = at(self.now);
        let mut out = Vec::new();
        let step = self.stream.step(now.elapsed);
        if matches!(step, WatchStep::Wait { .. }) {
            return;
        }
        self.stream.answered(now.elapsed, 300, &mut out);
        if let WatchStep::Watch { from, .. } = step {
            let from = number(&from);
            if from < self.server.oldest {
                self.stream
                    .refused(refusal(410, false), now.elapsed, &mut out);
            } else {
                self.lead = Some(self.cursor(from));
            }
            return self.tape.take(None, &mut out);
        }
        for (name, (uid, version)) in self.server.objects.clone() {
            let text = version.to_string();
            self.stream.item(&head(&name, &uid, &text), now, &mut out);
            self.tape.take(Some((&uid, version)), &mut out);
        }
        let version = self.server.version.to_string();
        if matches!(step, WatchStep::WatchList { .. }) {
            self.stream.bookmark(&version, true, now, &mut out);
            self.lead = Some(self.server.history.len());
        } else {
            let page = ListPage {
                version: &version,
                token: "",
                bytes: 10,
                items: 1,
            };
            self.stream.page(page, now, &mut out);
        }
        // A list may show a later state than what was known: the position follows it.
        self.position = self.position.min(self.server.version);
        self.tape.take(None, &mut out);
    }

    fn begin(&mut self) {
        if self.asked.is_none() && self.next.is_none() && self.lead.is_some() {
            self.asked = self.stream.begin_successor().map(|(from, _)| from);
        }
    }

    fn answer(&mut self, is_fresh: bool) {
        let Some(mut from) = self.asked.take() else {
            return;
        };
        if is_fresh && !self.traits.is_cached {
            // The other connection outlives the list: it delivers everything up to it.
            from = ResourceVersion::Number(self.server.version);
            self.bring(usize::MAX, false);
            self.stream.outlived(&from.to_string(), at(self.now));
        }
        if number(&from) < self.server.oldest {
            self.stream.end_successor(None, at(self.now).elapsed);
            return;
        }
        self.next = Some(self.cursor(number(&from)));
        let now = at(self.now).elapsed;
        self.stream.connections.successor_answered(&from, 300, now);
    }

    fn refuse(&mut self) {
        if self.asked.take().is_some() || self.next.take().is_some() {
            self.stream.end_successor(None, at(self.now).elapsed);
        }
    }

    fn bring(&mut self, lines: usize, on_successor: bool) {
        let cursor = if on_successor {
            &mut self.next
        } else {
            &mut self.lead
        };
        let Some(cursor) = cursor else {
            return;
        };
        let mut out = Vec::new();
        let news: Vec<ModelRevision> = self
            .server
            .history
            .iter()
            .skip(*cursor)
            .take(lines)
            .cloned()
            .collect();
        *cursor += news.len();
        for revision in news {
            let version = revision.version.to_string();
            let head = head(&revision.name, &revision.uid, &version);
            self.on(on_successor, |stream, now| {
                stream.event(revision.kind, &head, now, &mut out);
            });
            self.tape
                .take(Some((&revision.uid, revision.version)), &mut out);
        }
    }

    fn bookmark(&mut self, on_successor: bool) {
        let cursor = if on_successor { self.next } else { self.lead };
        let is_whole = cursor == Some(self.server.history.len());
        if !self.traits.is_cached || !is_whole || !self.stream.is_synced() {
            return;
        }
        let version = self.server.version.to_string();
        let mut out = Vec::new();
        self.on(on_successor, |stream, now| {
            stream.bookmark(&version, false, now, &mut out);
        });
        self.tape.take(None, &mut out);
    }

    fn on(&mut self, on_successor: bool, act: impl FnOnce(&mut WatchState, Stamp)) {
        if on_successor {
            self.stream.connections.switch();
        }
        act(&mut self.stream, at(self.now));
        if on_successor {
            self.stream.connections.switch();
        }
    }

    fn end(&mut self, cause: EndCause) {
        if self.lead.take().is_none() {
            return;
        }
        if self.stream.connections.has_open_successor() {
            self.lead = self.next.take();
            self.stream.take_over(cause);
            return;
        }
        self.refuse();
        self.stream.ended(cause, at(self.now).elapsed);
    }

    fn handover(&mut self) {
        match self.stream.handover(at(self.now).elapsed) {
            SuccessorVerdict::Both => {}
            SuccessorVerdict::TakeOver => {
                self.handovers += 1;
                self.lead = self.next.take();
                assert!(self.lead.is_some());
                self.stream.take_over(EndCause::Clean);
            }
            SuccessorVerdict::GiveUp => self.refuse(),
        }
    }

    fn restart(&mut self) {
        let fresh = WatchState::new(self.traits, ResumeState::default(), WatchOrigin::Fresh, 5);
        let memory = std::mem::replace(&mut self.stream, fresh).into_memory();
        self.stream = WatchState::new(self.traits, memory, WatchOrigin::Reopened, 9);
        (self.lead, self.asked, self.next) = (None, None, None);
    }

    /// Checks that everything up to the position is in the file.
    fn check(&mut self) -> Result<(), TestCaseError> {
        let Some(position) = self.stream.position() else {
            return Ok(());
        };
        let position = number(&position.version);
        prop_assert!(self.position <= position, "it went back");
        self.position = position;
        // Deletions that share the version of the position may be missing: the watch resumes before
        // them.
        let from = number(&self.stream.chain.resume_from().expect("a position"));
        let first = self.tape.first_synced.expect("a position");
        for revision in &self.server.history {
            let row = (revision.version, revision.uid.clone(), revision.kind);
            let version = revision.version;
            let mut gaps = self.tape.gaps.iter();
            let is_in_gap = gaps.any(|(from, to)| (*from + 1..=*to).contains(&version));
            prop_assert!(
                version <= first || version > from || is_in_gap || self.tape.written.contains(&row),
                "claimed and not written: {row:?}, position {position}"
            );
        }
        Ok(())
    }
}

fn check(traits: ServerTraits, acts: &[SuccessorAct]) -> Result<usize, TestCaseError> {
    let mut world = SuccessorWorld::new(traits);
    for act in acts {
        world.act(act);
        world.check()?;
    }
    for _ in 0..200 {
        world.act(&SuccessorAct::Connect);
        world.act(&SuccessorAct::Bring {
            lines: u8::MAX,
            on_successor: false,
        });
    }
    world.check()?;
    let tape = &world.tape;
    prop_assert!(tape.twice.is_empty(), "written twice: {:?}", tape.twice);
    let first = tape.first_synced.expect("it settled");
    for revision in &world.server.history {
        let row = (revision.version, revision.uid.clone(), revision.kind);
        let version = revision.version;
        let mut gaps = tape.gaps.iter();
        let is_in_gap = gaps.any(|(from, to)| (*from + 1..=*to).contains(&version));
        prop_assert!(
            version <= first || is_in_gap || tape.written.contains(&row),
            "lost: {row:?}"
        );
    }
    let has_lost = acts.iter().any(|act| matches!(act, SuccessorAct::Forget));
    prop_assert!(
        has_lost || tape.gaps.is_empty(),
        "a gap without a loss: {:?}",
        tape.gaps
    );
    prop_assert_eq!(world.stream.known.len(), world.server.objects.len());
    for (name, (uid, version)) in &world.server.objects {
        let known = world.stream.known.get("ns", name).expect("known");
        prop_assert_eq!(&known.uid.text(), uid);
        prop_assert_eq!(&known.version, &Some(ResourceVersion::Number(*version)));
    }
    Ok(world.handovers)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn two_connections_lose_and_double_nothing(acts in acts()) {
        check(CACHED, &acts)?;
    }

    #[test]
    fn two_connections_of_events_lose_and_double_nothing(acts in acts()) {
        check(EVENTS, &acts)?;
    }
}

/// A stream at 10 with a successor from there.
fn overlapping(traits: ServerTraits) -> WatchState {
    let mut stream = synced(traits);
    if !traits.is_cached {
        // The resource was listed in pages, then watched.
        stream.answered(at(3).elapsed, 300, &mut Vec::new());
    }
    let (from, _) = stream.begin_successor().expect("it watches");
    assert_eq!(from, ResourceVersion::Number(10));
    stream
        .connections
        .successor_answered(&from, 300, at(4).elapsed);
    stream
}

fn event(stream: &mut WatchState, on_successor: bool, kind: EventType, name: &str, version: &str) {
    let mut out = Vec::new();
    if on_successor {
        stream.connections.switch();
    }
    stream.event(kind, &head(name, name, version), at(5), &mut out);
    if on_successor {
        stream.connections.switch();
    }
    let is_written = out
        .iter()
        .any(|output| matches!(output, WatchOutput::Write { .. }));
    assert!(is_written, "{name} at {version}");
}

#[test]
fn a_successor_takes_over_once_it_has_brought_what_the_other_has() {
    let mut stream = overlapping(CACHED);
    event(&mut stream, false, EventType::Modified, "a", "11");
    assert_eq!(stream.handover(at(6).elapsed), SuccessorVerdict::Both);
    // Silence proves nothing once the other one has delivered an event.
    let late = at(10 * SETTLE_MICROS).elapsed;
    assert_eq!(stream.handover(late), SuccessorVerdict::Both);
    event(&mut stream, true, EventType::Added, "b", "12");
    assert_eq!(stream.handover(at(7).elapsed), SuccessorVerdict::TakeOver);
}

#[test]
fn a_quiet_successor_takes_over_after_a_while() {
    let stream = overlapping(CACHED);
    assert_eq!(stream.handover(at(6).elapsed), SuccessorVerdict::Both);
    let late = at(5 + SETTLE_MICROS).elapsed;
    assert_eq!(stream.handover(late), SuccessorVerdict::TakeOver);
}

#[test]
fn who_is_behind_is_let_go_when_too_much_is_remembered() {
    for on_successor in [false, true] {
        let mut stream = overlapping(EVENTS);
        for nth in 0..MAX_SEEN {
            let name = format!("n{nth}");
            event(
                &mut stream,
                on_successor,
                EventType::Added,
                &name,
                &format!("{}", 20 + nth),
            );
        }
        let expected = if on_successor {
            SuccessorVerdict::TakeOver
        } else {
            SuccessorVerdict::GiveUp
        };
        assert_eq!(stream.handover(at(6).elapsed), expected);
    }
}

#[test]
fn versions_that_are_no_numbers_allow_no_successor() {
    let mut stream = overlapping(CACHED);
    event(&mut stream, false, EventType::Deleted, "a", "");
    assert_eq!(stream.handover(at(6).elapsed), SuccessorVerdict::GiveUp);
    stream.end_successor(None, at(6).elapsed);
    assert_eq!(stream.begin_successor(), None);
}

#[test]
fn refusals_are_waited_out_and_forgotten_in_a_hurry() {
    let mut stream = overlapping(CACHED);
    stream.end_successor(Some(20), at(6).elapsed);
    let wait = stream
        .connections
        .successor_wait(at(6).elapsed)
        .expect("a wait");
    assert!((10_000_000..=20_000_000).contains(&wait), "{wait}");
    stream.connections.hurry_successor();
    assert_eq!(stream.connections.successor_wait(at(6).elapsed), None);
}
