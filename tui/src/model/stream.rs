//! The log of transitions: all changes of state of all lanes in order of time. The chosen row is the moment at
//! which the cursor stands.

use super::open::OpenReel;
use crate::lane::{Lane, LaneSpell};
use crate::time::CursorPlace;
use kubereel_format::{RecordedAt, Seq};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The writers of more records than these are not kept.
const MOST_WRITERS: usize = 10_000;

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
    /// The row that was chosen last, and the cursor at that time: several rows may share a record.
    chosen: Option<(StreamRow, CursorPlace)>,
    /// The writers of the records whose rows were in sight; empty where unknown.
    writers: BTreeMap<Seq, Arc<str>>,
}

impl TransitionLog {
    /// Takes the transitions that a filter leaves now; what is looked for, chosen and known of them stays.
    pub(crate) fn take(&mut self, mut rows: Vec<StreamRow>) {
        rows.sort_unstable();
        self.rows = rows;
    }

    /// Gives the place of the row at the cursor: the one that was chosen there, else the last one up to there.
    pub(crate) fn at(&self, place: CursorPlace) -> Option<usize> {
        let chosen = self.chosen.filter(|(_, own)| *own == place);
        let chosen = chosen.and_then(|(row, _)| self.rows.binary_search(&row).ok());
        if chosen.is_some() {
            return chosen;
        }
        let next = self.rows.partition_point(|row| row.seq < place.below);
        match next.checked_sub(1) {
            Some(at) => Some(at),
            None => (!self.rows.is_empty()).then_some(0),
        }
    }

    /// Chooses a row for a place of the cursor.
    pub(crate) const fn choose(&mut self, row: StreamRow, place: CursorPlace) {
        self.chosen = Some((row, place));
    }

    /// Gives the place of that row of some which is nearest to a time; of two equally near, the earlier one.
    pub(crate) fn nearest(
        &self,
        at: RecordedAt,
        mut is_meant: impl FnMut(&StreamRow) -> bool,
    ) -> Option<usize> {
        let rows = self.rows.iter().enumerate();
        let meant = rows.filter(|(_, row)| is_meant(row));
        let apart = |row: &StreamRow| row.from.micros_since(at).unsigned_abs();
        let nearest = meant.min_by_key(|(place, row)| (apart(row), *place));
        nearest.map(|(place, _)| place)
    }

    /// Gives the records of rows whose writers are not known yet, each once.
    pub(crate) fn unwritten(&self, first: usize, count: usize) -> Arc<[Seq]> {
        let rows = self.rows.iter().skip(first).take(count);
        let mut seqs: Vec<Seq> = rows.map(|row| row.seq).collect();
        seqs.sort_unstable();
        seqs.dedup();
        seqs.retain(|seq| !self.writers.contains_key(seq));
        seqs.into()
    }

    /// Takes note who wrote records.
    pub(crate) fn learn(&mut self, writers: impl Iterator<Item = (Seq, Arc<str>)>) {
        if self.writers.len() > MOST_WRITERS {
            self.writers.clear();
        }
        self.writers.extend(writers);
    }

    /// Gives who wrote the record of a row, as far as that is known.
    pub(crate) fn writers(&self, row: StreamRow) -> &str {
        self.writers.get(&row.seq).map_or("", |own| own)
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
        let mut log = TransitionLog::default();
        log.take(vec![row(9, 0), row(4, 1), row(4, 0), row(2, 0)]);
        assert_eq!(log.rows, [row(2, 0), row(4, 0), row(4, 1), row(9, 0)]);
        assert_eq!(log.at(place(0)), Some(0));
        assert_eq!(log.at(place(5)), Some(2));
        log.choose(row(4, 0), place(5));
        assert_eq!(log.at(place(5)), Some(1));
        assert_eq!(log.at(place(10)), Some(3));
        // Other rows are left, and the chosen one stays chosen.
        log.take(vec![row(9, 0), row(4, 0)]);
        assert_eq!(log.at(place(5)), Some(0));
        log.take(vec![row(9, 0), row(2, 0)]);
        assert_eq!(log.at(place(5)), Some(0));
        assert_eq!(TransitionLog::default().at(place(5)), None);
    }

    #[test]
    fn the_nearest_row_is_found_and_writers_are_asked_for_once() {
        let row = |seq: u64, lane: usize| StreamRow {
            from: RecordedAt::from_micros(i64::try_from(seq).expect("small")),
            seq: Seq(seq),
            lane,
            spell: 0,
        };
        let mut log = TransitionLog::default();
        log.take(vec![row(2, 0), row(4, 1), row(4, 0), row(9, 1)]);
        let near = |log: &TransitionLog, at, lane| {
            log.nearest(RecordedAt::from_micros(at), |row| row.lane == lane)
        };
        assert_eq!(near(&log, 3, 0), Some(0));
        assert_eq!(near(&log, 7, 1), Some(3));
        assert_eq!(near(&log, 7, 2), None);
        assert_eq!(*log.unwritten(1, 3), [Seq(4), Seq(9)]);
        log.learn([(Seq(4), "etcd-operator".into())].into_iter());
        assert_eq!(*log.unwritten(1, 3), [Seq(9)]);
        assert_eq!(log.writers(row(4, 1)), "etcd-operator");
        assert_eq!(log.writers(row(9, 1)), "");
    }
}
