//! Owns what lanes tell of problems: their bad states, and those in which something did not work.
//! Refuses conditions of their own: the worst of an object's states tells them.

use super::entry::{Entry, Spot};
use super::kind::Kind;
use super::making::Making;
use crate::lane::{Board, Lane, LaneState};

/// Takes what all lanes tell.
pub(super) fn take(making: &mut Making<'_>, board: &Board) {
    for lane in board.lanes.iter().filter(|lane| lane.condition.is_none()) {
        of_lane(making, lane);
    }
}

fn of_lane(making: &mut Making<'_>, lane: &Lane) {
    let mut spells = lane.spells.iter().peekable();
    let about = lane.subject.written(making.timeline);
    while let Some(spell) = spells.next() {
        if spell.state < LaneState::Bad {
            continue;
        }
        let kind = Kind::of_lane(lane.group, &spell.word);
        // Another reason for the same state is the same problem.
        while spells.peek().is_some_and(|next| {
            next.state == spell.state && Kind::of_lane(lane.group, &next.word) == kind
        }) {
            spells.next();
        }
        let to = spells.peek().map(|next| next.from);
        making.add(Entry {
            kind,
            state: spell.state,
            is_young: making.is_young(spell.from),
            subject: Some(lane.subject.clone()),
            about: about.clone(),
            words: spell.word.to_string(),
            is_seen: true,
            spots: vec![Spot::of(making.timeline, Some(spell.seq), spell.from, to)],
            more_spots: 0,
            said: Vec::new(),
            others: Vec::new(),
            more_others: 0,
        });
    }
}
