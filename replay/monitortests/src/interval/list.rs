//! Owns the intervals of a run, in the order in which rules see them. Refuses to make any.

use super::span::Interval;
use kubereel_format::RecordedAt;

/// The intervals of a run.
#[derive(Clone, Debug, Default)]
pub struct Intervals {
    sorted: Vec<Interval>,
    start: RecordedAt,
    end: RecordedAt,
}

impl Intervals {
    /// Takes intervals in any order, and the first and last moment of the run.
    pub fn new(mut all: Vec<Interval>, start: RecordedAt, end: RecordedAt) -> Self {
        // In place: a run may have a million of them.
        all.sort_unstable_by(Interval::order);
        Self {
            sorted: all,
            start,
            end,
        }
    }

    /// Gives all of them.
    pub fn all(&self) -> &[Interval] {
        &self.sorted
    }

    /// Gives those of one source.
    pub fn of<'a>(&'a self, source: &'a str) -> impl Iterator<Item = &'a Interval> {
        self.sorted
            .iter()
            .filter(move |interval| interval.source.as_str() == source)
    }

    /// Gives the first moment of the run.
    pub const fn start(&self) -> RecordedAt {
        self.start
    }

    /// Gives the last moment of the run.
    pub const fn end(&self) -> RecordedAt {
        self.end
    }
}
