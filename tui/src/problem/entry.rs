//! A problem: its kind, its rank, when it was, its object and the rules that found it.

use super::kind::Kind;
use crate::findings::Verdict;
use crate::lane::LaneState;
use crate::subject::Subject;
use crate::time::Place;
use kubereel_format::{RecordedAt, Seq};
use kubereel_history::{Timeline, timetext};

/// One time at which it was so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    /// Where one looks at it: behind the record that shows it, if there is one.
    pub(crate) place: Place,
    /// The record that shows it.
    pub(crate) seq: Option<Seq>,
    /// When it began.
    pub(crate) from: RecordedAt,
    /// When it ended; `None` if it did not.
    pub(crate) to: Option<RecordedAt>,
}

impl Spot {
    /// Finds where one looks at it.
    pub(super) fn of(
        timeline: &Timeline,
        seq: Option<Seq>,
        from: RecordedAt,
        to: Option<RecordedAt>,
    ) -> Self {
        // What comes from a file may name a record that the reel does not have.
        let seq = seq.filter(|seq| *seq < timeline.reel().end());
        let start = timeline.start();
        let at = from.clamp(start, timeline.end().max(start));
        let place = match seq {
            Some(seq) => Place::behind(timeline, seq),
            None => Place::at(timeline, at),
        };
        Self {
            place,
            seq,
            from,
            to,
        }
    }

    /// Tells whether a time lies in it, with so many microseconds to spare on both sides.
    pub(super) fn has(&self, at: RecordedAt, spare: i64) -> bool {
        let before = self.from.micros.saturating_sub(spare);
        let after = self
            .to
            .map_or(i64::MAX, |to| to.micros.saturating_add(spare));
        (before..=after).contains(&at.micros)
    }

    /// Gives the moment for comparisons with a place.
    pub(crate) const fn key(&self) -> (RecordedAt, Seq) {
        (self.place.at, self.place.below)
    }
}

/// A rule that found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    /// The rule's id.
    pub(crate) rule: String,
    /// The monitortest's name, as reports have it.
    pub(crate) test: String,
    /// What became of the case.
    pub(crate) verdict: Verdict,
    /// What it says, line by line.
    pub(crate) lines: Vec<String>,
}

/// Something that looks wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its kind.
    pub(crate) kind: Kind,
    /// How bad it was.
    pub(crate) state: LaneState,
    /// Whether it was while the cluster was being installed.
    pub(crate) is_young: bool,
    /// The object, where it is about one that the reel knows.
    pub(crate) subject: Option<Subject>,
    /// What it is about, in words.
    pub(crate) about: String,
    /// What is wrong.
    pub(crate) words: String,
    /// Whether something else than a rule tells of it.
    pub(crate) is_seen: bool,
    /// When it was; at least once.
    pub(crate) spots: Vec<Spot>,
    /// How many times more it was than there are spots.
    pub(crate) more_spots: usize,
    /// Who says so, those first who fail.
    pub(crate) said: Vec<Said>,
    /// What else it is about, in words.
    pub(crate) others: Vec<String>,
    /// How many more others there are.
    pub(crate) more_others: usize,
}

impl Entry {
    /// Gives the worst verdict of the rules that found it, if any did.
    pub(crate) fn verdict(&self) -> Option<Verdict> {
        self.said.iter().map(|said| said.verdict).min()
    }

    /// Tells whether only rules tell of it that never fail a run.
    pub(crate) fn is_minor(&self) -> bool {
        self.rank() >= 6
    }

    /// Gives how much it matters: the less, the more.
    pub(crate) fn rank(&self) -> u8 {
        let verdict = self.verdict().filter(|_| !self.is_seen);
        self.kind.rank(self.state, self.is_young, verdict)
    }

    /// Gives the sign of its state.
    pub(crate) fn glyph(&self) -> &'static str {
        if self.is_minor() {
            "▵"
        } else {
            self.state.glyph()
        }
    }

    /// Gives the first time at which it was so.
    pub(crate) fn first(&self) -> Option<&Spot> {
        self.spots.first()
    }

    /// Says how long it was, or how often.
    pub(crate) fn long(&self) -> String {
        let count = self.spots.len() + self.more_spots;
        match self.spots.first() {
            Some(spot) if count == 1 => match spot.to {
                None => "to the end".to_owned(),
                Some(to) if to <= spot.from => "a moment".to_owned(),
                Some(to) => {
                    let micros = u64::try_from(to.micros_since(spot.from)).unwrap_or(0);
                    timetext::span(micros)
                }
            },
            _ => format!("{count} times"),
        }
    }
}
