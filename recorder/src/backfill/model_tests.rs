//! Property test: the plan against a history that is a list of revisions.

use super::*;
use crate::backfill::plan::{HistoryReply, PastObject, ServerHistory};
use crate::known::{KnownObjects, Uid};
use crate::version::ResourceVersion;
use kubereel_format::{EventType, GapVerdict};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// One revision: its object and the change; `None` for a change of another resource.
type HistoryRevision = Option<(String, String, EventType)>;

/// A history, part of which may be compacted, and which answers a limited number of requests.
#[derive(Clone, Debug, Default)]
struct ModelPast {
    revisions: Vec<HistoryRevision>,
    /// Revisions below this one are compacted.
    floor: u128,
    budget: u32,
    requests: u32,
}

impl ModelPast {
    fn state(&self, at: u128) -> BTreeMap<String, (String, u128)> {
        let mut state = BTreeMap::new();
        for (revision, change) in (1_u128..).zip(&self.revisions) {
            let Some((name, uid, kind)) = change else {
                continue;
            };
            if revision > at {
                break;
            }
            if *kind == EventType::Deleted {
                state.remove(name);
            } else {
                state.insert(name.clone(), (uid.clone(), revision));
            }
        }
        state
    }

    fn answer(&mut self, at: u128, only: Option<&str>) -> HistoryReply {
        if self.requests >= self.budget {
            return HistoryReply::Spent("enough");
        }
        self.requests += 1;
        if at < self.floor {
            return HistoryReply::Lost;
        }
        let state = self.state(at).into_iter();
        let sights = state.filter(|(name, _)| only.is_none_or(|only| only == name));
        let sights = sights.map(|(name, (uid, version))| PastObject {
            namespace: String::new(),
            name,
            uid,
            version,
            body: version.to_string().into_bytes(),
        });
        HistoryReply::Sights(sights.collect())
    }

    fn now(&self) -> u128 {
        u128::try_from(self.revisions.len()).expect("few")
    }

    /// Changes an object of a few names, or one of another resource.
    fn change(&mut self, name: u8, deletes: bool) {
        let state = self.state(self.now());
        let next = self.now() + 1;
        let name = format!("o{}", name % 6);
        let change = match (state.get(&name), deletes, name.as_str()) {
            (_, _, "o5") | (None, true, _) => None,
            (Some((uid, _)), true, _) => Some((name, uid.clone(), EventType::Deleted)),
            (Some((uid, _)), false, _) => Some((name, uid.clone(), EventType::Modified)),
            (None, false, _) => Some((name, format!("uid-{next}"), EventType::Added)),
        };
        self.revisions.push(change);
    }
}

impl ServerHistory for ModelPast {
    async fn object(&mut self, _: &str, name: &str, at: u128) -> HistoryReply {
        self.answer(at, Some(name))
    }

    async fn all(&mut self, at: u128) -> HistoryReply {
        self.answer(at, None)
    }
}

type HistoryRow = (u128, String, bool);

struct ModelOutcome {
    verdict: BackfillVerdict,
    /// Revision, uid, and whether it is a deletion: what happened, and what the reel would have.
    truth: BTreeSet<HistoryRow>,
    known: BTreeSet<HistoryRow>,
    requests: u32,
}

fn play(past: &ModelPast, from: u128) -> ModelOutcome {
    let to = past.now();
    let (before, after) = (past.state(from), past.state(to));
    let mut alive = KnownObjects::default();
    for (name, (uid, version)) in &after {
        let version = ResourceVersion::parse(&version.to_string());
        alive.put("", name, Uid::new(uid), version);
    }
    let life = |state: &BTreeMap<String, (String, u128)>, name: &String| {
        let (uid, version) = state.get(name)?.clone();
        Some(GapEndState { uid, version })
    };
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let suspects: Vec<GapSuspect> = names
        .into_iter()
        .map(|name| GapSuspect {
            namespace: String::new(),
            name: name.clone(),
            before: life(&before, name),
            after: life(&after, name),
        })
        .filter(|suspect| suspect.before != suspect.after)
        .collect();
    let listed = suspects.iter().filter_map(|one| one.after.clone());
    let listed: Vec<HistoryRow> = listed.map(|life| (life.version, life.uid, false)).collect();
    let work = BackfillTask {
        from,
        to,
        suspects,
        has_unclear: false,
    };
    let mut history = past.clone();
    let mut found = BackfillResult::default();
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(read_back(&mut history, &work, &alive, &mut found));
    let verdict = found.verdict(&work);
    let mut known: BTreeSet<HistoryRow> = listed.into_iter().collect();
    for event in found.events {
        let is_deletion = event.kind == EventType::Deleted;
        let row = (event.version, event.uid.clone(), is_deletion);
        assert!(known.insert(row), "twice: {event:?}");
        if let Some(body) = event.body {
            assert_eq!(body, event.version.to_string().into_bytes());
        }
    }
    let truth = (1_u128..).zip(&past.revisions);
    let truth = truth.filter(|(revision, _)| *revision > from);
    let truth = truth.filter_map(|(revision, change)| {
        let (_, uid, kind) = change.as_ref()?;
        Some((revision, uid.clone(), *kind == EventType::Deleted))
    });
    ModelOutcome {
        verdict,
        truth: truth.collect(),
        known,
        requests: history.requests,
    }
}

fn pasts() -> impl Strategy<Value = (ModelPast, u128)> {
    let change = (any::<u8>(), prop::bool::weighted(0.35));
    let changes = prop::collection::vec(change, 1..90);
    (changes, any::<prop::sample::Index>()).prop_map(|(changes, from)| {
        let mut past = ModelPast {
            budget: u32::MAX,
            ..ModelPast::default()
        };
        for (name, deletes) in changes {
            past.change(name, deletes);
        }
        let from = from.index(past.revisions.len());
        (past, u128::try_from(from).expect("few"))
    })
}

fn check(outcome: &ModelOutcome) {
    let invented: Vec<&HistoryRow> = outcome.known.difference(&outcome.truth).collect();
    assert!(invented.is_empty(), "invented: {invented:?}");
    let missing = outcome.truth.difference(&outcome.known).count();
    let bound = outcome.verdict.missing_at_most.expect("a bound");
    assert!(
        u64::try_from(missing).expect("few") <= bound,
        "{missing} missing, at most {bound}"
    );
    if outcome.verdict.word == GapVerdict::Reconstructed {
        assert_eq!(missing, 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn with_the_history_at_hand_everything_is_found((past, from) in pasts()) {
        let outcome = play(&past, from);
        check(&outcome);
        // With more revisions a proof may cost more than it is worth.
        if past.now() - from <= 64 {
            prop_assert_eq!(outcome.verdict.word, GapVerdict::Reconstructed);
            prop_assert_eq!(&outcome.known, &outcome.truth);
        }
    }

    #[test]
    fn nothing_is_claimed_that_is_not_so(
        (past, from) in pasts(),
        floor in 0_u128..100,
        budget in 0_u32..60,
    ) {
        let past = ModelPast { floor, budget, ..past };
        let outcome = play(&past, from);
        check(&outcome);
        prop_assert!(outcome.requests <= budget);
    }
}

fn past(changes: &[(u8, bool)]) -> ModelPast {
    let mut past = ModelPast {
        budget: 1000,
        ..ModelPast::default()
    };
    for (name, deletes) in changes {
        past.change(*name, *deletes);
    }
    past
}

#[test]
fn an_object_that_came_and_went_is_found() {
    let past = past(&[(0, false), (1, false), (1, false), (1, true), (0, false)]);
    let outcome = play(&past, 1);
    assert_eq!(outcome.verdict.word, GapVerdict::Reconstructed);
    assert_eq!(outcome.known, outcome.truth);
    assert_eq!(outcome.known.len(), 4);
}

#[test]
fn too_many_revisions_of_others_leave_a_doubt() {
    let mut changes = vec![(0, false)];
    changes.extend(std::iter::repeat_n((5, false), 200));
    changes.push((0, false));
    let outcome = play(&past(&changes), 1);
    assert_eq!(outcome.verdict.word, GapVerdict::Partly);
    assert_eq!(outcome.verdict.missing_at_most, Some(200));
    assert!(outcome.requests < 20, "{}", outcome.requests);
}

#[test]
fn a_forgotten_history_is_lost_at_the_first_word() {
    let changes: Vec<(u8, bool)> = (0..40).map(|nth| (nth % 4, false)).collect();
    let past = ModelPast {
        floor: 1000,
        ..past(&changes)
    };
    let outcome = play(&past, 10);
    assert_eq!(outcome.verdict.word, GapVerdict::Lost);
    assert!(outcome.requests < 10, "{}", outcome.requests);
    check(&outcome);
}

#[test]
fn a_deletion_behind_what_is_forgotten_is_still_found() {
    let mut changes = vec![(0, false), (1, false)];
    changes.extend(std::iter::repeat_n((1, false), 20));
    changes.extend([(0, true), (1, false)]);
    let past = ModelPast {
        floor: 12,
        ..past(&changes)
    };
    let outcome = play(&past, 2);
    check(&outcome);
    assert_eq!(outcome.verdict.word, GapVerdict::Partly);
    let deletion = (23, "uid-1".to_owned(), true);
    assert!(outcome.known.contains(&deletion), "{:?}", outcome.known);
}
