//! Owns how a moment that somebody wrote becomes a place in one reel. Refuses guesses: a time of day
//! that occurs twice is an error that names both.

use crate::moment::Moment;
use crate::timeline::Timeline;
use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use kubereel_format::{RecordedAt, Seq};
use thiserror::Error;

/// A place in a reel at which a state is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// After all records below `below`, seen as of a wall-clock time.
    Arrival {
        /// The first record that does not count.
        below: Seq,
        /// The wall-clock time that was asked for.
        wall: RecordedAt,
    },
    /// After the change with this resourceVersion, whenever it arrived.
    Revision(u128),
}

/// A moment has no place in this reel.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// The reel holds nothing at all.
    #[error("the reel has no records")]
    EmptyReel,
    /// A time of day that the recording passed more than once.
    #[error("the recording passed that time of day {} times", .candidates.len())]
    Ambiguous {
        /// The moments it may mean, in order.
        candidates: Vec<RecordedAt>,
    },
    /// There is no record of that number.
    #[error("no record {seq}: the reel has {end}")]
    NoSuchRecord {
        /// The number.
        seq: Seq,
        /// How many there are.
        end: Seq,
    },
    /// A resourceVersion or a record's number was asked for where there is no reel.
    #[error("only a reel has resourceVersions and records")]
    NoReel,
    /// The time is beyond what a calendar holds.
    #[error("that moment is beyond the calendar")]
    OutOfRange,
}

impl Timeline {
    /// Finds the place of a moment.
    ///
    /// # Errors
    /// When the moment has no place or more than one in this reel.
    pub fn resolve(&self, moment: Moment) -> Result<Cut, ResolveError> {
        let end = self.reel().end();
        if end == Seq(0) {
            return Err(ResolveError::EmptyReel);
        }
        let at = |wall: RecordedAt| Cut::Arrival {
            below: self.reel().seq_after(wall),
            wall,
        };
        let moved = |from: RecordedAt, by: Option<i64>| {
            by.and_then(|by| from.micros.checked_add(by))
                .map(|micros| at(RecordedAt::from_micros(micros)))
                .ok_or(ResolveError::OutOfRange)
        };
        match moment {
            Moment::Time(wall) => Ok(at(wall)),
            Moment::TimeOfDay(time) => Ok(at(day_time(time, self.start(), self.end())?)),
            Moment::AfterStart { micros } => moved(self.start(), i64::try_from(micros).ok()),
            Moment::BeforeEnd { micros } => {
                moved(self.end(), i64::try_from(micros).ok().map(|by| -by))
            }
            Moment::Revision(rv) => Ok(Cut::Revision(rv)),
            Moment::Record(seq) if seq < end => Ok(Cut::Arrival {
                below: Seq(seq.0 + 1),
                wall: self.wall_of(seq),
            }),
            Moment::Record(seq) => Err(ResolveError::NoSuchRecord { seq, end }),
            Moment::Start => Ok(at(self.start())),
            // Not by time: a clock that stepped back must not hide the last records.
            Moment::End => Ok(Cut::Arrival {
                below: end,
                wall: self.end(),
            }),
        }
    }

    /// Tells whether an event belongs to what was known at a moment.
    pub(crate) fn is_within(&self, seq: Seq, cut: Cut) -> bool {
        match cut {
            Cut::Arrival { below, .. } => seq < below,
            Cut::Revision(rv) => self.reel().rv_of(seq).is_some_and(|version| version <= rv),
        }
    }

    /// Gives the moment that lies `micros` later on the wall clock, or earlier.
    pub(crate) fn moved(&self, from: RecordedAt, micros: i64) -> Cut {
        let wall = RecordedAt::from_micros(from.micros.saturating_add(micros));
        Cut::Arrival {
            below: self.reel().seq_after(wall),
            wall,
        }
    }

    /// Gives the wall-clock time of a record.
    pub(crate) fn wall_of(&self, seq: Seq) -> RecordedAt {
        self.reel()
            .stamp(seq)
            .map_or_else(|| self.end(), |stamp| stamp.wall)
    }
}

impl Moment {
    /// Finds the time of a moment between two others, where there is no reel: in a file of intervals.
    ///
    /// # Errors
    /// When it has no time, or more than one, there.
    pub fn within(self, start: RecordedAt, end: RecordedAt) -> Result<RecordedAt, ResolveError> {
        let moved = |from: RecordedAt, by: Option<i64>| {
            by.and_then(|by| from.micros.checked_add(by))
                .map(RecordedAt::from_micros)
                .ok_or(ResolveError::OutOfRange)
        };
        match self {
            Self::Time(wall) => Ok(wall),
            Self::TimeOfDay(time) => day_time(time, start, end),
            Self::AfterStart { micros } => moved(start, i64::try_from(micros).ok()),
            Self::BeforeEnd { micros } => moved(end, i64::try_from(micros).ok().map(|by| -by)),
            Self::Start => Ok(start),
            Self::End => Ok(end),
            Self::Revision(_) | Self::Record(_) => Err(ResolveError::NoReel),
        }
    }
}

/// Finds the one moment between two others with that time of day; outside of them, the nearest one.
fn day_time(time: Time, start: RecordedAt, end: RecordedAt) -> Result<RecordedAt, ResolveError> {
    let day = |at: RecordedAt| {
        Timestamp::from_microsecond(at.micros)
            .ok()
            .map(|at| at.to_zoned(TimeZone::UTC).date())
            .ok_or(ResolveError::OutOfRange)
    };
    let (first, last) = (day(start)?, day(end)?);
    let mut candidates = Vec::new();
    for date in first.series(1.day()).take_while(|date| *date <= last) {
        let at = date
            .to_datetime(time)
            .to_zoned(TimeZone::UTC)
            .ok()
            .ok_or(ResolveError::OutOfRange)?;
        candidates.push(RecordedAt::from_micros(at.timestamp().as_microsecond()));
    }
    let inside: Vec<RecordedAt> = candidates
        .iter()
        .copied()
        .filter(|at| (start..=end).contains(at))
        .collect();
    let distance = |at: RecordedAt| start.micros_since(at).max(at.micros_since(end)).max(0);
    match inside.as_slice() {
        [one] => Ok(*one),
        [] => candidates
            .into_iter()
            .min_by_key(|at| distance(*at))
            .ok_or(ResolveError::OutOfRange),
        _ => Err(ResolveError::Ambiguous { candidates: inside }),
    }
}
