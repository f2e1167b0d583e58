//! Owns the way from intervals of `cluster` to what a lane shows of them. Refuses to read objects.

use super::LaneState;
use super::line::LaneSpell;
use kubereel_cluster::{RecordMark, StateTrack};
use kubereel_format::{EventType, RecordedAt, Seq};
use kubereel_history::{Timeline, harmless};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The words of lanes, each stored once.
#[derive(Default)]
pub(super) struct LaneWords(BTreeSet<Arc<str>>);

impl LaneWords {
    /// Gives the stored copy of a word, harmless to a terminal.
    pub(super) fn shared(&mut self, word: &str) -> Arc<str> {
        let word = harmless(word);
        if let Some(known) = self.0.get(word.as_ref()) {
            return Arc::clone(known);
        }
        let new: Arc<str> = Arc::from(word.as_ref());
        self.0.insert(Arc::clone(&new));
        new
    }
}

/// Gives the spells of a track: its intervals, as far as they differ in what a lane shows. Conditions
/// whose good status is not known have none: a guess would be drawn as a fact.
pub(super) fn spells(
    timeline: &Timeline,
    track: &StateTrack,
    words: &mut LaneWords,
) -> Vec<LaneSpell> {
    let mut spells: Vec<LaneSpell> = Vec::new();
    let mut add = |mark: RecordMark, state: LaneState, word: &str| {
        let word = words.shared(word);
        let last = spells.last();
        if !last.is_some_and(|last| last.state == state && last.word == word) {
            spells.push(LaneSpell {
                from: mark.at,
                seq: mark.seq,
                state,
                word,
            });
        }
    };
    let mut intervals = track.intervals().peekable();
    while let Some(interval) = intervals.next() {
        let Some(health) = interval.state.health else {
            continue;
        };
        add(interval.from, health, &interval.word());
        let next = intervals.peek().map(|next| next.from);
        if let Some(to) = interval.to.filter(|to| Some(*to) != next) {
            let is_deleted = timeline.reel().kind_of(to.seq) == Some(EventType::Deleted);
            let word = if is_deleted {
                "deleted"
            } else {
                "not reported"
            };
            add(to, LaneState::Absent, word);
        }
    }
    spells
}

/// A time in which something was not well, of several that may overlap.
#[derive(Clone, Copy)]
pub(super) struct StateSpan<'a> {
    pub(super) from: RecordedAt,
    pub(super) to: RecordedAt,
    pub(super) state: LaneState,
    /// Why.
    pub(super) word: &'a str,
}

/// Lays times over one another: the worst state of each moment, and good where there is none.
pub(super) fn overlaid(timeline: &Timeline, spans: Vec<StateSpan<'_>>) -> Vec<LaneSpell> {
    let start = timeline.start();
    let mut edges: Vec<(RecordedAt, bool, StateSpan<'_>)> = Vec::new();
    for span in spans {
        let from = span.from.max(start);
        // What takes no time is seen, too.
        let to = span
            .to
            .max(RecordedAt::from_micros(from.micros.saturating_add(1)));
        let end = StateSpan { word: "", ..span };
        edges.push((from, true, span));
        edges.push((to, false, end));
    }
    edges.sort_by_key(|(at, ..)| *at);
    let spell = |from: RecordedAt, state, word: &str| LaneSpell {
        from,
        seq: Seq(timeline.reel().seq_after(from).0.saturating_sub(1)),
        state,
        word: Arc::from(harmless(word).as_ref()),
    };
    let mut all = vec![spell(start, LaneState::Good, "")];
    let mut open: BTreeMap<LaneState, usize> = BTreeMap::new();
    for (at, begins, span) in edges {
        let count = open.entry(span.state).or_default();
        *count = if begins {
            *count + 1
        } else {
            count.saturating_sub(1)
        };
        open.retain(|_, count| *count > 0);
        let state = open.keys().next_back().copied().unwrap_or(LaneState::Good);
        let last = all.last().map(|last| last.state);
        let is_told = begins && span.state == state;
        if last == Some(state) && !is_told || at > timeline.end() {
            continue;
        }
        let word = if is_told { span.word } else { "" };
        let new = spell(at, state, word);
        if all.last().is_some_and(|last| last.from == at) {
            all.pop();
        }
        all.push(new);
    }
    all
}
