//! Owns one lane: what something was like over time, and what a cell of the screen shows of it.
//! Refuses averages: the worst state of a cell shows, however short it was.

use super::dark::Dark;
use super::state::LaneState;
use crate::model::Subject;
use kubereel_format::{RecordedAt, Seq};
use std::ops::Range;
use std::sync::Arc;

/// What lanes are grouped by, in the order in which groups show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Group {
    /// The cluster's version.
    Version,
    /// Cluster operators.
    Operators,
    /// Machine config pools.
    Pools,
    /// Nodes.
    Nodes,
    /// Pods.
    Pods,
}

impl Group {
    /// Gives the words above the group.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Version => "CLUSTERVERSION",
            Self::Operators => "OPERATORS",
            Self::Pools => "POOLS",
            Self::Nodes => "NODES",
            Self::Pods => "PODS",
        }
    }
}

/// A state and when it began; it lasts until the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spell {
    /// When it began.
    pub(crate) from: RecordedAt,
    /// The record that showed it.
    pub(crate) seq: Seq,
    /// The state.
    pub(crate) state: LaneState,
    /// Why, in a few words.
    pub(crate) word: Arc<str>,
}

/// What something was like over time.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    /// Its group.
    pub(crate) group: Group,
    /// The object.
    pub(crate) subject: Subject,
    /// The condition; `None` is the worst of all that the object says of itself.
    pub(crate) condition: Option<Arc<str>>,
    /// The states, in order of time.
    pub(crate) spells: Vec<Spell>,
    /// When nobody knows.
    pub(crate) dark: Arc<[Dark]>,
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
    /// Gives what a span of time shows.
    pub(crate) fn cell(&self, span: &Range<RecordedAt>) -> LaneCell {
        let next = self
            .spells
            .partition_point(|spell| spell.from <= span.start);
        let held = self
            .before(next)
            .map_or(LaneState::Absent, |spell| spell.state);
        let dark = || self.dark.iter().map(|dark| &dark.span);
        let is_dark_first = dark().any(|dark| dark.contains(&span.start));
        let is_dark = dark().any(|dark| dark.start < span.end && span.start < dark.end);
        let mut state = if is_dark_first {
            LaneState::Unknown
        } else {
            held
        };
        if is_dark {
            state = state.max(LaneState::Unknown);
        }
        let inside = self.spells.get(next..).unwrap_or_default().iter();
        let mut changes = 0;
        for spell in inside.take_while(|spell| spell.from < span.end) {
            state = state.max(spell.state);
            changes += 1;
        }
        LaneCell { state, changes }
    }

    /// Gives the state at a moment, and why.
    pub(crate) fn at(&self, at: RecordedAt) -> (LaneState, &str) {
        if let Some(dark) = self.dark.iter().find(|dark| dark.span.contains(&at)) {
            return (LaneState::Unknown, &dark.why);
        }
        let next = self.spells.partition_point(|spell| spell.from <= at);
        self.before(next)
            .map_or((LaneState::Absent, ""), |spell| (spell.state, &spell.word))
    }

    fn before(&self, next: usize) -> Option<&Spell> {
        next.checked_sub(1).and_then(|at| self.spells.get(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_format::ResourceId;

    fn at(secs: i64) -> RecordedAt {
        RecordedAt::from_micros(secs * 1_000_000)
    }

    fn lane(spells: &[(i64, LaneState)], dark: &[(i64, i64)]) -> Lane {
        let spell = |(secs, state): &(i64, LaneState)| Spell {
            from: at(*secs),
            seq: Seq(0),
            state: *state,
            word: "".into(),
        };
        let dark = dark.iter().map(|(from, to)| Dark {
            span: at(*from)..at(*to),
            why: "gap".into(),
        });
        Lane {
            group: Group::Nodes,
            subject: Subject {
                resource: ResourceId(0),
                namespace: String::new(),
                name: "m-0".to_owned(),
            },
            condition: None,
            spells: spells.iter().map(spell).collect(),
            dark: dark.collect(),
        }
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
                changes: 0
            }
        );
        assert_eq!(lane.at(at(20)), (Down, ""));
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
        assert_eq!(lane.at(at(17)), (Unknown, "gap"));
    }
}
