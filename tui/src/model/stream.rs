//! The log of transitions: all changes of state of all lanes in order of time. The chosen row is the moment at
//! which the cursor stands.

use super::open::OpenReel;
use crate::lane::{Lane, LaneSpell};
use crate::time::CursorPlace;
use kubereel_format::{RecordedAt, Seq};

/// A transition of a lane of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StreamRow {
    /// When it was.
    pub(crate) from: RecordedAt,
    /// The record that showed it.
    pub(crate) seq: Seq,
    /// The lane, by its place on the board.
    pub(crate) lane: usize,
    /// The spell that began.
    pub(crate) spell: usize,
}

/// The transitions that a filter leaves.
#[derive(Clone, Debug, Default)]
pub(crate) struct TransitionLog {
    /// In order of time.
    pub(crate) rows: Vec<StreamRow>,
    /// What is looked for in it, in lower case; empty for nothing.
    pub(crate) wanted: String,
    /// The row that was chosen last: several may share a record.
    chosen: usize,
}

impl TransitionLog {
    /// Takes the transitions.
    pub(crate) fn of(mut rows: Vec<StreamRow>) -> Self {
        rows.sort_unstable();
        Self {
            rows,
            wanted: String::new(),
            chosen: 0,
        }
    }

    /// Gives the place of the row at the cursor: the one chosen, else the last one up to there.
    pub(crate) fn at(&self, place: CursorPlace) -> Option<usize> {
        let is_here = |row: &&StreamRow| row.seq.0.checked_add(1) == Some(place.below.0);
        if self.rows.get(self.chosen).as_ref().is_some_and(is_here) {
            return Some(self.chosen);
        }
        let next = self.rows.partition_point(|row| row.seq < place.below);
        match next.checked_sub(1) {
            Some(at) => Some(at),
            None => (!self.rows.is_empty()).then_some(0),
        }
    }

    /// Chooses a row, and gives it.
    pub(crate) fn choose(&mut self, at: usize) -> Option<StreamRow> {
        self.chosen = at;
        self.rows.get(at).copied()
    }
}

impl OpenReel {
    /// Gives the lane of a transition, the state before it, and the one that began.
    pub(crate) fn transition(
        &self,
        row: StreamRow,
    ) -> Option<(&Lane, Option<&LaneSpell>, &LaneSpell)> {
        let lane = self.board()?.lanes.get(row.lane)?;
        let before = row.spell.checked_sub(1).and_then(|at| lane.spells.get(at));
        Some((lane, before, lane.spells.get(row.spell)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_follows_the_cursor_and_stays_among_those_of_one_record() {
        let row = |seq: u64, lane: usize| StreamRow {
            from: RecordedAt::from_micros(i64::try_from(seq).expect("small")),
            seq: Seq(seq),
            lane,
            spell: 0,
        };
        let place = |below: u64| CursorPlace {
            below: Seq(below),
            at: RecordedAt::from_micros(0),
        };
        let mut log = TransitionLog::of(vec![row(9, 0), row(4, 1), row(4, 0), row(2, 0)]);
        assert_eq!(log.rows, [row(2, 0), row(4, 0), row(4, 1), row(9, 0)]);
        assert_eq!(log.at(place(0)), Some(0));
        assert_eq!(log.at(place(5)), Some(2));
        assert_eq!(log.choose(1), Some(row(4, 0)));
        assert_eq!(log.at(place(5)), Some(1));
        assert_eq!(log.at(place(10)), Some(3));
        assert_eq!(TransitionLog::default().at(place(5)), None);
    }
}
