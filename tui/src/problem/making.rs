//! Owns the list while it grows, and what counts as one thing. Refuses to grow without end.

use super::entry::{Entry, Said, Spot};
use super::kind::{Kind, PAYLOAD};
use crate::findings::{Findings, Verdict};
use crate::lane::Board;
use crate::model::Subject;
use kubereel_format::{RecordedAt, ResourceId};
use kubereel_history::Timeline;
use kubereel_monitortests::Phase;
use std::collections::BTreeMap;

/// More things are counted only.
const MOST_ENTRIES: usize = 20_000;
/// A thing that was so more often is only counted.
const MOST_SPOTS: usize = 500;
/// More rules that say the same are not named.
const MOST_SAID: usize = 20;
/// More objects of one thing are only counted.
const MOST_OTHERS: usize = 100;
/// What is so again within this time, in microseconds, is the same thing: 5 min.
const AGAIN_MICROS: i64 = 300_000_000;
/// Times of Events are whole seconds: what a rule says lies so near a lane's, in microseconds.
pub(super) const SPARE_MICROS: i64 = 1_000_000;

/// The list while it grows.
pub(super) struct Making<'a> {
    pub(super) timeline: &'a Timeline,
    board: Option<&'a Board>,
    pub(super) ids: BTreeMap<String, ResourceId>,
    pub(super) all: Vec<Entry>,
    /// What is about an object, or about words.
    places: BTreeMap<(Option<Subject>, String), Vec<usize>>,
    pub(super) rest: usize,
}

impl<'a> Making<'a> {
    /// Begins with nothing.
    pub(super) fn begin(timeline: &'a Timeline, board: Option<&'a Board>) -> Self {
        let resources = timeline.resources().iter();
        Self {
            timeline,
            board,
            ids: resources.map(|info| (info.qualified(), info.id)).collect(),
            all: Vec::new(),
            places: BTreeMap::new(),
            rest: 0,
        }
    }

    /// Tells whether a cluster was being installed at a moment.
    pub(super) fn is_young(&self, at: RecordedAt) -> bool {
        self.board
            .is_some_and(|board| board.facts.phase(at) == Some(Phase::Install))
    }

    fn key(subject: Option<&Subject>, about: &str) -> (Option<Subject>, String) {
        match subject {
            Some(subject) => (Some(subject.clone()), String::new()),
            None => (None, about.to_owned()),
        }
    }

    /// Adds a thing; it is the same as an earlier one if that is of the same kind, about the same
    /// object, and was so shortly before.
    pub(super) fn add(&mut self, entry: Entry) {
        let key = Self::key(entry.subject.as_ref(), &entry.about);
        let from = entry.first().map(|spot| spot.from);
        let known = self.places.get(&key).into_iter().flatten();
        let before = known.copied().rfind(|at| {
            self.all.get(*at).is_some_and(|own| {
                let is_near = own.spots.last().zip(from).is_some_and(|(last, from)| {
                    last.to
                        .is_some_and(|to| from.micros_since(to) <= AGAIN_MICROS)
                });
                (own.kind, own.state, own.is_young, &own.words)
                    == (entry.kind, entry.state, entry.is_young, &entry.words)
                    && is_near
            })
        });
        if let Some(own) = before.and_then(|at| self.all.get_mut(at)) {
            for spot in entry.spots {
                spotted(own, spot);
            }
        } else if self.all.len() < MOST_ENTRIES {
            self.places.entry(key).or_default().push(self.all.len());
            self.all.push(entry);
        } else {
            self.rest += 1;
        }
    }

    /// Adds what a rule found: to a thing that is about the same object at the same time, if there is
    /// one.
    pub(super) fn say(&mut self, entry: Entry, said: Said) {
        let key = Self::key(entry.subject.as_ref(), &entry.about);
        let Some(spot) = entry.spots.first().copied() else {
            return;
        };
        let known = self.places.get(&key).into_iter().flatten();
        let found = known.copied().find_map(|at| {
            let own = self.all.get(at)?;
            let is_same_rule = own.said.iter().any(|one| one.rule == said.rule);
            let is_here = |one: &Spot| {
                let is_in = one.has(spot.from, SPARE_MICROS) || one.has(spot.place.at, 0);
                // What only rules tell of is one thing if it began together.
                let is_together = (one.from.micros_since(spot.from)).abs() <= SPARE_MICROS;
                if own.is_seen { is_in } else { is_together }
            };
            let is_gap = (own.kind == Kind::Gap) == (entry.kind == Kind::Gap);
            let is_it = own.kind != Kind::Written
                && is_gap
                && (own.spots.iter().any(is_here) || is_same_rule && !own.is_seen);
            is_it.then_some(at)
        });
        if let Some(own) = found.and_then(|at| self.all.get_mut(at)) {
            told(own, entry, said, spot);
            return;
        }
        let mut entry = entry;
        entry.said.push(said);
        if self.all.len() < MOST_ENTRIES {
            self.places.entry(key).or_default().push(self.all.len());
            self.all.push(entry);
        } else {
            self.rest += 1;
        }
    }

    /// Adds what a rule says of the recording: to the gap that it means, whatever resources share it.
    pub(super) fn miss(&mut self, entry: Entry, said: Said) {
        let from = entry.first().map(|spot| spot.from);
        let gap = self.all.iter_mut().find(|own| {
            let is_then = |spot: &Spot| from.is_some_and(|from| spot.has(from, SPARE_MICROS));
            own.kind == Kind::Gap && own.spots.iter().any(is_then)
        });
        match gap {
            Some(own) if own.said.len() < MOST_SAID => own.said.push(said),
            Some(_) => {}
            None => self.say(entry, said),
        }
    }

    /// Adds all that rules say of how objects are written: a thing for each rule.
    pub(super) fn write(&mut self, entry: Entry, said: Said) {
        let known = self.all.iter_mut().find(|own| {
            own.kind == Kind::Written
                && own
                    .said
                    .first()
                    .is_some_and(|one| (&one.rule, one.verdict) == (&said.rule, said.verdict))
        });
        let Some(own) = known else {
            let mut entry = entry;
            entry.said.push(said);
            self.all.push(entry);
            return;
        };
        if own.others.len() < MOST_OTHERS {
            own.others.push(format!("{}: {}", entry.about, entry.words));
        } else {
            own.more_others += 1;
        }
        // It is told of from when on it was so first.
        let is_earlier = |spot: &Spot| own.spots.first().is_none_or(|own| spot.from < own.from);
        if let Some(spot) = entry.spots.first().filter(|spot| is_earlier(spot)) {
            own.spots = vec![*spot];
            own.others.pop();
            own.others.push(format!("{}: {}", own.about, own.words));
            own.subject = entry.subject;
            own.about = entry.about;
            own.words = entry.words;
        }
    }

    /// Adds what all monitortests found.
    pub(super) fn take(&mut self, findings: &Findings) {
        for finding in &findings.all {
            super::verdicts::take(self, finding);
        }
        self.rest += findings.rest;
    }
}

/// Adds a time at which it was so.
fn spotted(own: &mut Entry, spot: Spot) {
    if own.spots.len() < MOST_SPOTS {
        own.spots.push(spot);
        own.spots.sort_by_key(|spot| (spot.from, spot.seq));
    } else {
        own.more_spots += 1;
    }
}

/// Adds what a rule says of a thing that is known already.
fn told(own: &mut Entry, entry: Entry, said: Said, spot: Spot) {
    let is_known = own.spots.iter().any(|one| one.has(spot.from, SPARE_MICROS));
    if !own.is_seen && !is_known {
        spotted(own, spot);
    }
    let is_first = own.verdict().is_none_or(|verdict| said.verdict < verdict);
    // The words of a rule that fails say it best; so do those of the story of a payload.
    let is_better = said.rule == PAYLOAD || said.verdict == Verdict::Fail && is_first;
    if is_better && own.kind != Kind::Payload {
        own.words = entry.words;
    }
    own.kind = own.kind.min(entry.kind);
    if !own.is_seen {
        own.state = own.state.max(entry.state);
    }
    let is_told = own.said.contains(&said);
    if !is_told && own.said.len() < MOST_SAID {
        own.said.push(said);
        own.said.sort_by_key(|said| said.verdict);
    }
}
