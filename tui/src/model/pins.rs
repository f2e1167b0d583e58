//! Owns the objects that somebody pinned, with their lanes. Refuses bodies: of a kind whose good state
//! nobody knows, a pin tells that it exists and when it changed.

use super::subject::Subject;
use crate::lane::{Lane, LaneGroup, LaneReading, LaneSpell, LaneState, dark_of};
use kubereel_format::EventType;
use kubereel_history::Timeline;
use std::sync::Arc;

/// How many objects can be pinned.
const MOST: usize = 50;

/// The objects that somebody pinned, in that order, each with the lane of its existence.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pins {
    lanes: Vec<Lane>,
}

impl Pins {
    /// Gives the lanes, whose subjects are what is pinned.
    pub(crate) fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// Tells whether an object is pinned.
    pub(crate) fn has(&self, subject: &Subject) -> bool {
        self.lanes.iter().any(|lane| lane.subject == *subject)
    }

    /// Pins an object, or takes its pin away; tells whether it is pinned now. `None` if there are too
    /// many.
    pub(crate) fn toggle(&mut self, timeline: &Timeline, subject: &Subject) -> Option<bool> {
        if let Some(at) = self.lanes.iter().position(|lane| lane.subject == *subject) {
            self.lanes.remove(at);
            return Some(false);
        }
        if self.lanes.len() >= MOST {
            return None;
        }
        self.lanes.push(presence(timeline, subject));
        Some(true)
    }
}

/// Gives the lane of an object: that it exists, and each of its changes.
fn presence(timeline: &Timeline, subject: &Subject) -> Lane {
    let reel = timeline.reel();
    let words = ["exists", "changed", "deleted"].map(Arc::<str>::from);
    let [exists, changed, deleted] = &words;
    let mut spells: Vec<LaneSpell> = Vec::new();
    for seq in subject.versions(timeline) {
        let Some(at) = reel.stamp(seq).map(|stamp| stamp.wall) else {
            continue;
        };
        let last = spells.last();
        let was_there = last.is_some_and(|last| last.state == LaneState::Good);
        let (state, word) = match (reel.kind_of(seq), was_there) {
            (Some(EventType::Deleted), _) => (LaneState::Absent, deleted),
            (_, true) => (LaneState::Good, changed),
            (_, false) => (LaneState::Good, exists),
        };
        spells.push(LaneSpell {
            // A clock that stepped back must not put later versions before earlier ones.
            from: last.map_or(at, |last| last.from.max(at)),
            seq,
            state,
            word: Arc::clone(word),
        });
    }
    let dark = dark_of(timeline, subject.resource).into();
    Lane::of(
        (LaneGroup::Others, subject.clone(), None),
        LaneReading::Presence,
        spells,
        dark,
    )
}
