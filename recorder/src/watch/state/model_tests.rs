//! Property test: the stream against a model server, which is a list of revisions.

use super::tests::{CACHED, EVENTS, at, head, refusal};
use super::*;
use crate::watch::state::machine::ListPage;
use kubereel_format::{EndCause, EventType, Evidence};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// One revision of the model server.
#[derive(Clone, Debug)]
pub(in crate::watch::state) struct ModelRevision {
    pub(in crate::watch::state) version: u64,
    pub(in crate::watch::state) kind: EventType,
    pub(in crate::watch::state) name: String,
    pub(in crate::watch::state) uid: String,
}

/// A model server with a history, part of which it may compact.
#[derive(Debug, Default)]
pub(in crate::watch::state) struct ModelServer {
    pub(in crate::watch::state) version: u64,
    pub(in crate::watch::state) history: Vec<ModelRevision>,
    pub(in crate::watch::state) objects: BTreeMap<String, (String, u64)>,
    pub(in crate::watch::state) oldest: u64,
}

impl ModelServer {
    pub(in crate::watch::state) fn change(&mut self, name: u8, deletes: bool) {
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
        self.history.push(ModelRevision {
            version,
            kind,
            name,
            uid,
        });
    }
}

/// The content of the model file.
#[derive(Debug, Default)]
pub(in crate::watch::state) struct Tape {
    pub(in crate::watch::state) written: BTreeSet<(u64, String, EventType)>,
    pub(in crate::watch::state) first_synced: Option<u64>,
    pub(in crate::watch::state) gaps: Vec<(u64, u64)>,
    pub(in crate::watch::state) twice: Vec<(u64, String, EventType)>,
    inferred: Vec<(String, String)>,
}

impl Tape {
    pub(in crate::watch::state) fn take(
        &mut self,
        head: Option<(&str, u64)>,
        out: &mut Vec<WatchOutput>,
    ) {
        for output in out.drain(..) {
            match output {
                WatchOutput::Write { kind, evidence, .. } => {
                    let (uid, version) = head.expect("an object is at hand");
                    let row = (version, uid.to_owned(), kind);
                    let is_new = self.written.insert(row.clone());
                    if !is_new && evidence == Evidence::Live {
                        self.twice.push(row);
                    }
                }
                WatchOutput::Infer { name, object, .. } => {
                    self.inferred.push((name, object.uid.text()));
                }
                WatchOutput::Synced { version, .. } => {
                    let version = version.parse().expect("a number");
                    self.first_synced.get_or_insert(version);
                }
                WatchOutput::Gap { from, to, .. } => {
                    let from = from.map_or(0, |from| from.parse().expect("a number"));
                    self.gaps.push((from, to.parse().expect("a number")));
                }
                _ => {}
            }
        }
    }
}

#[derive(Clone, Debug)]
enum WatchAct {
    Change {
        name: u8,
        deletes: bool,
    },
    /// The recorder sends one request; the given number of lines arrives before it ends with the
    /// given cause.
    Serve {
        lines: u8,
        end: u8,
    },
    /// The server compacts its history.
    Forget,
    /// The recorder restarts with its state.
    Restart,
}

fn acts() -> impl Strategy<Value = Vec<WatchAct>> {
    let act = prop_oneof![
        5 => (any::<u8>(), prop::bool::weighted(0.3)).prop_map(|(name, deletes)| WatchAct::Change { name, deletes }),
        4 => (0_u8..8, 0_u8..6).prop_map(|(lines, end)| WatchAct::Serve { lines, end }),
        1 => Just(WatchAct::Forget),
        1 => Just(WatchAct::Restart),
    ];
    prop::collection::vec(act, 0..80)
}

struct WatchWorld {
    server: ModelServer,
    stream: WatchState,
    tape: Tape,
    now: u64,
    traits: ServerTraits,
}

impl WatchWorld {
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
        }
    }

    fn act(&mut self, act: &WatchAct) {
        match act {
            WatchAct::Change { name, deletes } => self.server.change(*name, *deletes),
            WatchAct::Forget => self.server.oldest = self.server.version,
            WatchAct::Restart => {
                let fresh =
                    WatchState::new(self.traits, ResumeState::default(), WatchOrigin::Fresh, 5);
                let memory = std::mem::replace(&mut self.stream, fresh).into_memory();
                self.stream = WatchState::new(self.traits, memory, WatchOrigin::Reopened, 9);
            }
            WatchAct::Serve { lines, end } => self.serve(usize::from(*lines), *end),
        }
    }

    fn serve(&mut self, lines: usize, end: u8) {
        let mut out = Vec::new();
        self.now += 6_000_000;
        let step = self.stream.step(at(self.now).elapsed);
        if matches!(step, WatchStep::Wait { .. }) {
            return;
        }
        if end == 5 {
            self.stream.unreachable(at(self.now).elapsed);
            return;
        }
        self.stream.answered(at(self.now).elapsed, 300, &mut out);
        match step {
            WatchStep::Wait { .. } => {}
            WatchStep::Watch { from, .. } => {
                let from = u64::try_from(from.number().expect("a number")).expect("small");
                if from < self.server.oldest {
                    self.stream
                        .refused(refusal(410, false), at(self.now).elapsed, &mut out);
                } else {
                    self.watch(from, lines);
                    self.end(end);
                }
            }
            WatchStep::WatchList { .. } => {
                if self.list(lines) {
                    let version = self.server.version.to_string();
                    self.stream.bookmark(&version, true, at(self.now), &mut out);
                }
                self.tape.take(None, &mut out);
                self.end(end);
            }
            WatchStep::Page { .. } => {
                if self.list(lines) {
                    let version = self.server.version.to_string();
                    let page = ListPage {
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
        let news: Vec<ModelRevision> = self
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

    /// Delivers everything.
    fn settle(&mut self) {
        for _ in 0..200 {
            self.serve(usize::MAX, 0);
        }
        assert!(self.stream.is_synced());
    }
}

fn check(traits: ServerTraits, acts: &[WatchAct]) -> Result<(), TestCaseError> {
    let mut world = WatchWorld::new(traits);
    for act in acts {
        world.act(act);
    }
    world.settle();
    let tape = &world.tape;
    let first = tape.first_synced.expect("it settled");
    for revision in &world.server.history {
        let row = (revision.version, revision.uid.clone(), revision.kind);
        // A list before a restart may have shown the object first, as a new one.
        let mut written = tape.written.iter();
        let is_written = written.any(|(version, uid, kind)| {
            let is_deletion = |kind| kind == EventType::Deleted;
            (*version, uid) == (row.0, &row.1) && is_deletion(*kind) == is_deletion(row.2)
        });
        let is_in_gap = tape
            .gaps
            .iter()
            .any(|(from, to)| (*from + 1..=*to).contains(&revision.version));
        prop_assert!(
            revision.version <= first || is_in_gap || is_written,
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
        .any(|act| matches!(act, WatchAct::Forget | WatchAct::Serve { end: 2, .. }));
    prop_assert!(
        !stays || tape.gaps.is_empty(),
        "a gap without a loss: {:?}",
        tape.gaps
    );
    prop_assert_eq!(world.stream.known.len(), world.server.objects.len());
    for (name, (uid, version)) in &world.server.objects {
        let known = world.stream.known.get("ns", name).expect("known");
        prop_assert_eq!(&known.uid.text(), uid);
        prop_assert_eq!(&known.version, &Some(ResourceVersion::Number(*version)));
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
