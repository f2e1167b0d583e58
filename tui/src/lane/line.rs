//! Owns one lane: what something was like over time, and what a cell of the screen shows of it.
//! Refuses averages: the worst state of a cell shows, however short it was.

use super::LaneState;
use super::dark::DarkSpan;
use crate::subject::NamedObject;
use crate::time::CursorPlace;
use kubereel_format::{RecordedAt, ResourceId, Seq};
use kubereel_history::{Timeline, UnobservedEffect, harmless};
use std::ops::Range;
use std::sync::Arc;

/// What lanes are grouped by, in the order in which groups show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LaneGroup {
    /// The cluster's version.
    Version,
    /// Cluster operators.
    Operators,
    /// Machine config pools.
    Pools,
    /// The API server, as the recorder saw it.
    Server,
    /// Nodes.
    Nodes,
    /// Workloads: Deployments, `StatefulSets`, `DaemonSets` and Jobs.
    Workloads,
    /// Services, by their ready endpoints.
    Services,
    /// Custom resources, by their conditions.
    Customs,
    /// Tests that failed or flaked.
    Rules,
    /// Pods.
    Pods,
    /// Objects of any other resource: they have a lane only where somebody pinned them.
    Others,
}

impl LaneGroup {
    /// Gives the words above the group.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Version => "CLUSTERVERSION",
            Self::Operators => "OPERATORS",
            Self::Pools => "POOLS",
            Self::Server => "API SERVER",
            Self::Nodes => "NODES",
            Self::Workloads => "WORKLOADS",
            Self::Services => "SERVICES",
            Self::Customs => "CUSTOM RESOURCES",
            Self::Rules => "TESTS WITH FINDINGS",
            Self::Pods => "PODS",
            Self::Others => "OTHERS",
        }
    }
}

/// What a lane is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LaneSubject {
    /// An object.
    Object(NamedObject),
    /// The API server.
    Server,
    /// A test, by the id of its rule.
    Rule(Arc<str>),
}

impl LaneSubject {
    /// Gives the object, if it is one.
    pub(crate) const fn object(&self) -> Option<&NamedObject> {
        match self {
            Self::Object(object) => Some(object),
            Self::Server | Self::Rule(_) => None,
        }
    }

    /// Tells whether it is an object.
    pub(crate) fn is(&self, other: &NamedObject) -> bool {
        self.object() == Some(other)
    }

    /// Gives the resource of the object.
    pub(crate) fn resource(&self) -> Option<ResourceId> {
        self.object().map(|object| object.resource)
    }

    /// Gives the namespace; empty if it has none.
    pub(crate) fn namespace(&self) -> &str {
        self.object().map_or("", |object| object.namespace.as_str())
    }

    /// Gives the name.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Object(object) => &object.name,
            Self::Server => "API server",
            Self::Rule(id) => id,
        }
    }

    /// Gives namespace and name.
    pub(crate) fn label(&self) -> String {
        match self {
            Self::Object(object) => object.label(),
            _ => self.name().to_owned(),
        }
    }

    /// Writes it for people: `pod shop/web-0`, `test no-crash-loops`.
    pub(crate) fn written(&self, timeline: &Timeline) -> String {
        match self {
            Self::Object(object) => object.written(timeline),
            Self::Server => self.name().to_owned(),
            Self::Rule(id) => harmless(&format!("test {id}")).into_owned(),
        }
    }

    /// Writes it short: `po/shop/web-0`.
    pub(crate) fn brief(&self, timeline: &Timeline) -> String {
        match self {
            Self::Object(object) => object.brief(timeline),
            _ => harmless(self.name()).into_owned(),
        }
    }
}

/// A state and when it began; it lasts until the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LaneSpell {
    /// When it began.
    pub(crate) from: RecordedAt,
    /// The record that showed it.
    pub(crate) seq: Seq,
    /// The state.
    pub(crate) state: LaneState,
    /// Why, in a few words.
    pub(crate) word: Arc<str>,
}

/// This many spells have one peak: cells that hold more of them read their peaks.
const BLOCK: usize = 64;

/// What a lane tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneReading {
    /// How the object is.
    State,
    /// That it exists, and when it changed: nobody knows what is good for objects of its kind.
    Presence,
}

/// What something was like over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lane {
    /// Its group.
    pub(crate) group: LaneGroup,
    /// What it is of.
    pub(crate) subject: LaneSubject,
    /// The condition, or `container NAME`; `None` is the worst of all that the object says of itself.
    pub(crate) condition: Option<Arc<str>>,
    /// What it tells.
    pub(crate) reading: LaneReading,
    /// The states, in order of time.
    pub(crate) spells: Vec<LaneSpell>,
    /// When nobody knows: in order of time, without overlap.
    pub(crate) dark: Arc<[DarkSpan]>,
    /// Until when nothing shows whether the object was there; `None` where its absence is proven.
    seen_from: Option<RecordedAt>,
    /// The worst state of each block of spells.
    peaks: Vec<LaneState>,
}

/// What a cell of a lane shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaneCell {
    /// The worst state in it.
    pub(crate) state: LaneState,
    /// How often the state changed in it.
    pub(crate) changes: usize,
}

impl Lane {
    /// Makes a lane of spells in order of time.
    pub(crate) fn of(
        (group, subject, condition): (LaneGroup, LaneSubject, Option<Arc<str>>),
        reading: LaneReading,
        mut spells: Vec<LaneSpell>,
        dark: Arc<[DarkSpan]>,
    ) -> Self {
        // There are many lanes, and they stay as long as the reel is open.
        spells.shrink_to_fit();
        let peak = |block: &[LaneSpell]| worst(block.iter().map(|spell| spell.state));
        Self {
            peaks: spells.chunks(BLOCK).map(peak).collect(),
            group,
            subject,
            condition,
            reading,
            spells,
            dark,
            seen_from: None,
        }
    }

    /// Makes it unknown until a time: an import does not prove that what it shows later was absent before.
    pub(crate) fn seen_from(self, seen_from: Option<RecordedAt>) -> Self {
        Self { seen_from, ..self }
    }

    /// Tells whether nothing shows yet whether the object was there.
    fn is_unseen(&self, at: RecordedAt) -> bool {
        self.seen_from.is_some_and(|seen| at < seen)
    }

    /// Gives the state before the first spell.
    pub(crate) fn state_before_first(&self) -> LaneState {
        let first = self.spells.first().map(|spell| spell.from);
        // A condition may have been reported later than its object was seen.
        let is_first = first <= self.seen_from && self.seen_from.is_some();
        // The first list does not show since when there was what it has.
        let before = first.map(|at| RecordedAt::from_micros(at.micros.saturating_sub(1)));
        let is_dark = before.is_some_and(|at| self.dark.iter().any(|dark| dark.holds(at)));
        // The lanes of what is not an object begin with the recording.
        if is_first || is_dark || self.subject.object().is_none() {
            LaneState::Unknown
        } else {
            LaneState::Absent
        }
    }

    /// Gives what a span of time shows: the worst state that was seen or lasted in it, and unknown if
    /// any of it is.
    pub(crate) fn cell(&self, span: &Range<RecordedAt>) -> LaneCell {
        let first = self.spells.partition_point(|spell| spell.from < span.start);
        let end = self.spells.partition_point(|spell| spell.from < span.end);
        let mut state = self.peak(first..end.max(first));
        // What held before lasts into the span until the next spell, as far as that is known.
        let held_to = self.spells.get(first).map_or(span.end, |next| next.from);
        let held = span.start..held_to.min(span.end);
        let (is_dark, lights_up) = self.darkness(span, &held);
        if is_dark || self.is_unseen(span.start) {
            state = state.max(LaneState::Unknown);
        }
        if lights_up && let Some(before) = self.before(first) {
            state = state.max(before.state);
        }
        LaneCell {
            state,
            changes: end.saturating_sub(first),
        }
    }

    /// Tells whether any of a span is dark, and whether any of the part of it in which something held
    /// is not.
    fn darkness(&self, span: &Range<RecordedAt>, held: &Range<RecordedAt>) -> (bool, bool) {
        let next = self
            .dark
            .partition_point(|dark| dark.span.end <= span.start);
        let darks = self.dark.get(next..).unwrap_or_default();
        let is_dark = darks.first().is_some_and(|dark| dark.span.start < span.end);
        let mut lit = held.start;
        for dark in darks {
            if dark.span.start > lit {
                break;
            }
            lit = lit.max(dark.span.end);
        }
        (is_dark, lit < held.end)
    }

    /// Tells whether anything in a span is not known.
    pub(crate) fn is_dark(&self, span: &Range<RecordedAt>) -> bool {
        self.darkness(span, span).0
    }

    /// Tells whether changes of it may be missing after a moment.
    pub(crate) fn is_unknown_after(&self, at: RecordedAt) -> bool {
        let mut dark = self.dark.iter().filter(|dark| dark.span.end > at);
        dark.any(|dark| dark.effect == UnobservedEffect::MayMiss)
    }

    /// Gives the state at a place, and why. What an object says is in its records, several of which may share a time.
    pub(crate) fn at(&self, place: CursorPlace) -> (LaneState, &str) {
        let at = place.at;
        let next = self.dark.partition_point(|dark| dark.span.end <= at);
        let dark = self.dark.get(next).filter(|dark| dark.holds(at));
        if let Some(dark) = dark {
            return (LaneState::Unknown, &dark.why);
        }
        if self.is_unseen(at) {
            return (LaneState::Unknown, "not seen yet: imported");
        }
        let next = self.spells.partition_point(|spell| match self.subject {
            LaneSubject::Object(_) => spell.seq < place.below,
            LaneSubject::Server | LaneSubject::Rule(_) => spell.from <= at,
        });
        self.before(next)
            .map_or((LaneState::Absent, ""), |spell| (spell.state, &spell.word))
    }

    /// Counts the changes in a span.
    pub(crate) fn changes(&self, span: &Range<RecordedAt>) -> usize {
        let until = |at| self.spells.partition_point(|spell| spell.from < at);
        until(span.end).saturating_sub(until(span.start))
    }

    /// Gives the worst state of spells by their places.
    fn peak(&self, places: Range<usize>) -> LaneState {
        let of = |places: Range<usize>| {
            let spells = self.spells.get(places).unwrap_or_default();
            worst(spells.iter().map(|spell| spell.state))
        };
        let (first, last) = (places.start.div_ceil(BLOCK), places.end / BLOCK);
        if first >= last {
            return of(places);
        }
        let blocks = self.peaks.get(first..last).unwrap_or_default();
        of(places.start..first * BLOCK)
            .max(worst(blocks.iter().copied()))
            .max(of(last * BLOCK..places.end))
    }

    fn before(&self, next: usize) -> Option<&LaneSpell> {
        next.checked_sub(1).and_then(|at| self.spells.get(at))
    }
}

fn worst(states: impl Iterator<Item = LaneState>) -> LaneState {
    states.max().unwrap_or(LaneState::Absent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_format::ResourceId;
    use kubereel_history::UnobservedEffect;
    use proptest::prelude::*;

    fn at(secs: i64) -> RecordedAt {
        RecordedAt::from_micros(secs * 1_000_000)
    }

    /// Gives the place behind all that was recorded by a time.
    fn place(lane: &Lane, secs: i64) -> CursorPlace {
        let seen = lane.spells.iter().rfind(|spell| spell.from <= at(secs));
        CursorPlace {
            below: seen.map_or(Seq(0), |spell| Seq(spell.seq.0 + 1)),
            at: at(secs),
        }
    }

    fn lane(spells: &[(i64, LaneState)], dark: &[(i64, i64)]) -> Lane {
        let spell = |(seq, (secs, state)): (u64, &(i64, LaneState))| LaneSpell {
            from: at(*secs),
            seq: Seq(seq),
            state: *state,
            word: "".into(),
        };
        let dark = dark.iter().map(|(from, to)| DarkSpan {
            span: at(*from)..at(*to),
            is_begin_known: false,
            why: "gap".into(),
            effect: UnobservedEffect::MayMiss,
            is_outage: false,
            only: None,
        });
        let subject = NamedObject {
            resource: ResourceId(0),
            namespace: String::new(),
            name: "m-0".to_owned(),
        };
        Lane::of(
            (LaneGroup::Nodes, LaneSubject::Object(subject), None),
            LaneReading::State,
            (0..).zip(spells).map(spell).collect(),
            dark.collect(),
        )
    }

    #[test]
    fn the_worst_state_of_a_cell_shows_however_short() {
        use LaneState::{Absent, Down, Good};
        let lane = lane(&[(10, Good), (20, Down), (21, Good)], &[]);
        let cell = |from, to| lane.cell(&(at(from)..at(to)));
        assert_eq!(
            cell(0, 10),
            LaneCell {
                state: Absent,
                changes: 0
            }
        );
        assert_eq!(
            cell(0, 100),
            LaneCell {
                state: Down,
                changes: 3
            }
        );
        assert_eq!(
            cell(11, 20),
            LaneCell {
                state: Good,
                changes: 0
            }
        );
        assert_eq!(
            cell(20, 21),
            LaneCell {
                state: Down,
                changes: 1
            }
        );
        assert_eq!(lane.at(place(&lane, 20)), (Down, ""));
    }

    #[test]
    fn of_records_that_share_a_time_those_before_the_place_count() {
        use LaneState::{Bad, Changing, Down};
        let lane = lane(&[(10, Bad), (10, Down), (10, Changing)], &[]);
        for (below, state) in [(1, Bad), (2, Down), (3, Changing)] {
            let place = CursorPlace {
                below: Seq(below),
                at: at(10),
            };
            assert_eq!(lane.at(place).0, state);
        }
    }

    #[test]
    fn what_is_not_known_is_never_good_and_what_was_seen_wrong_stays() {
        use LaneState::{Down, Good, Unknown};
        let lane = lane(&[(0, Good), (15, Down), (16, Good)], &[(10, 20), (30, 31)]);
        let cell = |from, to| lane.cell(&(at(from)..at(to))).state;
        assert_eq!(cell(0, 10), Good);
        assert_eq!(cell(9, 11), Unknown);
        assert_eq!(cell(10, 14), Unknown);
        assert_eq!(cell(14, 19), Down);
        assert_eq!(cell(17, 19), Unknown);
        assert_eq!(cell(20, 30), Good);
        assert_eq!(cell(20, 100), Unknown);
        assert_eq!(lane.at(place(&lane, 17)), (Unknown, "gap"));
    }

    /// Gives the same as a cell, by asking every moment.
    fn naive(lane: &Lane, from: i64, to: i64) -> LaneCell {
        let moments = (from..to).map(|secs| lane.at(place(lane, secs)).0);
        let inside = lane
            .spells
            .iter()
            .filter(|spell| spell.from >= at(from) && spell.from < at(to));
        LaneCell {
            state: moments
                .chain(inside.clone().map(|spell| spell.state))
                .max()
                .expect("a moment"),
            changes: inside.count(),
        }
    }

    proptest! {
        #[test]
        fn no_state_hides_behind_a_better_one_at_any_zoom(
            mut spells in prop::collection::vec((0_i64..300, 0_usize..6), 0..260),
            steps in prop::collection::vec((1_i64..40, 1_i64..40), 0..6),
            from in 0_i64..300,
            cells in 1_i64..60,
            long in 1_i64..20,
        ) {
            spells.sort_by_key(|(secs, _)| *secs);
            let spells: Vec<(i64, LaneState)> = spells
                .into_iter()
                .map(|(secs, state)| (secs, LaneState::ALL[state]))
                .collect();
            let mut end = 0;
            let dark: Vec<(i64, i64)> = steps
                .iter()
                .map(|(gap, long)| {
                    let start = end + gap - 1;
                    end = start + long;
                    (start, end)
                })
                .collect();
            let lane = lane(&spells, &dark);
            for cell in 0..cells {
                let (start, end) = (from + cell * long, from + (cell + 1) * long);
                let shown = lane.cell(&(at(start)..at(end)));
                prop_assert_eq!(shown, naive(&lane, start, end), "{} to {}", start, end);
                prop_assert_eq!(lane.changes(&(at(start)..at(end))), shown.changes);
                let is_dark = (start..end).any(|secs| dark.iter().any(|(from, to)| (*from..*to).contains(&secs)));
                prop_assert_eq!(lane.is_dark(&(at(start)..at(end))), is_dark);
                prop_assert!(!is_dark || shown.state >= LaneState::Unknown, "unknown is drawn as better");
            }
        }
    }
}
