//! The grammar of TIME for every command, screen and rule, and the place of a moment in a reel. A
//! time of day that occurs twice is an error that names both.

use crate::clock::{self, ClockPlace};
use crate::select::nearest;
use crate::tables::ReelTables;
use crate::timetext;
use jiff::civil::{DateTime, Time};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use kubereel_format::{Note, RecordedAt, Reel, Seq};
use std::fmt;
use std::num::NonZero;
use std::str::FromStr;
use thiserror::Error;

/// The forms of a moment, one a line: form and meaning.
pub const MOMENT_FORMS: [(&str, &str); 14] = [
    (
        "2026-11-21T14:02:31.480Z",
        "RFC 3339, any offset; UTC without one, or the zone of --tz; also with a blank for the T",
    ),
    ("1795269751.480", "seconds since 1970"),
    (
        "14:02 or 14:02:31.480Z",
        "a time of day within the recording, UTC or in the zone of --tz; also with an offset: 16:02+02",
    ),
    ("+12m30s", "after the start of the recording"),
    ("-5m", "before its end"),
    (
        "rv:12345",
        "a resourceVersion: all changes up to and including it",
    ),
    (
        "seq:12345",
        "a record's number: all records up to and including it",
    ),
    (
        "problem:1",
        "the start of a problem, by its rank in kubereel problems",
    ),
    (
        "mark:TEXT",
        "a mark, by its text or a part of it (kubereel mark)",
    ),
    (
        "bookmark:NAME",
        "a bookmark of the screen, by its note or a part of it",
    ),
    ("upgrade:start", "the request of the first upgrade"),
    ("upgrade:end", "its end"),
    ("start", "the first record"),
    ("end or now", "the last record"),
];

/// A parsed moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A date and time.
    Time(RecordedAt),
    /// A time of day in UTC, on the day of the recording that has it.
    TimeOfDay(Time),
    /// A time of day in another zone, on the day that has it.
    LocalTimeOfDay {
        /// The time of day.
        time: Time,
        /// The zone.
        zone: &'static TimeZone,
    },
    /// An offset after the first record.
    AfterStart {
        /// Microseconds.
        micros: u64,
    },
    /// An offset before the last record.
    BeforeEnd {
        /// Microseconds.
        micros: u64,
    },
    /// After the change with this resourceVersion.
    Revision(u128),
    /// After the record with this number.
    Record(Seq),
    /// At the mark with this text, or with a text that contains it.
    Mark(MarkText),
    /// At the bookmark with this note, or with a note that contains it; the caller resolves it.
    Bookmark(MarkText),
    /// At the start of the problem of this rank; the caller resolves it.
    Problem(NonZero<usize>),
    /// At the request of the first upgrade; the caller resolves it.
    UpgradeStart,
    /// At the end of the first upgrade; the caller resolves it.
    UpgradeEnd,
    /// At the first record.
    Start,
    /// At the last record.
    End,
}

/// The longest text of a mark or a bookmark in a moment, in bytes.
const MARK_BYTES: usize = 64;

/// A text that names a mark or a bookmark.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MarkText {
    bytes: [u8; MARK_BYTES],
    len: usize,
}

impl MarkText {
    /// Takes a text; `None` if it is empty or too long.
    fn of(text: &str) -> Option<Self> {
        let mut bytes = [0; MARK_BYTES];
        let room = bytes.get_mut(..text.len()).filter(|_| !text.is_empty())?;
        room.copy_from_slice(text.as_bytes());
        Some(Self {
            bytes,
            len: text.len(),
        })
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        let bytes = self.bytes.get(..self.len).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }
}

impl fmt::Debug for MarkText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// A text is not a moment.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MomentError {
    /// It has none of the forms.
    #[error("not a moment: {text:?}")]
    UnknownForm {
        /// The text.
        text: String,
    },
    /// It is a duration without a sign.
    #[error("a duration needs a sign: +{text} after the start or -{text} before the end")]
    Unsigned {
        /// The text.
        text: String,
    },
    /// A date and time that the clocks of the zone show twice, because they are set back.
    #[error("{text:?} occurs twice, because clocks are set back: {}", each(.candidates))]
    Ambiguous {
        /// The text.
        text: String,
        /// The possible moments, in order.
        candidates: Vec<RecordedAt>,
    },
    /// It begins like one form and then deviates.
    #[error("not {expected}: {text:?}")]
    Malformed {
        /// The form.
        expected: &'static str,
        /// The text.
        text: String,
    },
}

fn each(times: &[RecordedAt]) -> String {
    let times: Vec<String> = times.iter().map(|at| timetext::rfc3339(*at)).collect();
    times.join(" or ")
}

impl FromStr for Moment {
    type Err = MomentError;

    fn from_str(text: &str) -> Result<Self, MomentError> {
        Self::parse_in(text, None)
    }
}

impl Moment {
    /// Parses a moment; a time without an offset is in the given zone, or in UTC.
    ///
    /// # Errors
    /// When it is not a moment.
    pub fn parse_in(text: &str, zone: Option<&'static TimeZone>) -> Result<Self, MomentError> {
        let malformed = |expected| MomentError::Malformed {
            expected,
            text: text.to_owned(),
        };
        match text {
            "start" => return Ok(Self::Start),
            "end" | "now" => return Ok(Self::End),
            "upgrade:start" => return Ok(Self::UpgradeStart),
            "upgrade:end" => return Ok(Self::UpgradeEnd),
            _ => {}
        }
        if text.starts_with("upgrade:") {
            return Err(malformed("upgrade:start or upgrade:end"));
        }
        if let Some(digits) = text.strip_prefix("problem:") {
            let rank = plain_number(digits).ok_or_else(|| malformed("the rank of a problem"))?;
            return Ok(Self::Problem(rank));
        }
        if let Some(words) = text.strip_prefix("mark:") {
            let words = MarkText::of(words).ok_or_else(|| malformed("a mark of 1 to 64 bytes"))?;
            return Ok(Self::Mark(words));
        }
        if let Some(words) = text.strip_prefix("bookmark:") {
            let words = MarkText::of(words);
            let words = words.ok_or_else(|| malformed("a bookmark of 1 to 64 bytes"))?;
            return Ok(Self::Bookmark(words));
        }
        if let Some(digits) = text.strip_prefix("rv:") {
            let rv = plain_number(digits).ok_or_else(|| malformed("a resourceVersion"))?;
            return Ok(Self::Revision(rv));
        }
        if let Some(digits) = text.strip_prefix("seq:") {
            let seq = plain_number(digits).ok_or_else(|| malformed("a record's number"))?;
            return Ok(Self::Record(Seq(seq)));
        }
        if let Some(length) = text.strip_prefix('+') {
            let micros = micros_of(length).ok_or_else(|| malformed("a duration"))?;
            return Ok(Self::AfterStart { micros });
        }
        if let Some(length) = text.strip_prefix('-') {
            let micros = micros_of(length).ok_or_else(|| malformed("a duration"))?;
            return Ok(Self::BeforeEnd { micros });
        }
        if looks_like_date(text) {
            let times = calendar_times(text, zone.unwrap_or(&TimeZone::UTC)).unwrap_or_default();
            let times = times.into_iter().map(Timestamp::as_microsecond);
            let times: Vec<RecordedAt> = times.map(RecordedAt::from_micros).collect();
            return match times.as_slice() {
                [] => Err(malformed(
                    "a date with a time of day (2026-11-21T14:02:31Z)",
                )),
                [time] => Ok(Self::Time(*time)),
                _ => Err(MomentError::Ambiguous {
                    text: text.to_owned(),
                    candidates: times,
                }),
            };
        }
        if let Some(time) = epoch_time(text) {
            return Ok(Self::Time(time));
        }
        if text.contains(':') {
            let (clock, offset) = parted_offset(text).ok_or_else(|| malformed("a time of day"))?;
            let time = time_of_day(clock).ok_or_else(|| malformed("a time of day"))?;
            return Ok(match (offset, zone) {
                (Some(ahead), _) => Self::TimeOfDay(time.wrapping_sub(ahead)),
                (None, Some(zone)) => Self::LocalTimeOfDay { time, zone },
                (None, None) => Self::TimeOfDay(time),
            });
        }
        let text = text.to_owned();
        Err(if micros_of(&text).is_some() {
            MomentError::Unsigned { text }
        } else {
            MomentError::UnknownForm { text }
        })
    }
}

/// Parses digits only: no sign, no spaces.
fn plain_number<N: FromStr>(digits: &str) -> Option<N> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

/// Parses a duration such as `12m30s`, `1.5s` or `90m`.
fn micros_of(length: &str) -> Option<u64> {
    // The sign was parsed already, and "5 minutes ago" is not a duration.
    if !length.starts_with(|first: char| first.is_ascii_digit()) || length.ends_with("ago") {
        return None;
    }
    let duration: SignedDuration = length.parse().ok()?;
    u64::try_from(duration.as_micros()).ok()
}

fn looks_like_date(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.by_ref().take(4).all(|byte| byte.is_ascii_digit()) && bytes.next() == Some(b'-')
}

/// Parses a date and a time; without an offset, in a zone, whose clocks may show it twice.
fn calendar_times(text: &str, zone: &TimeZone) -> Option<Vec<Timestamp>> {
    if let Ok(time) = text.parse() {
        return Some(vec![time]);
    }
    // A date alone does not say which time of the day is meant.
    let civil: DateTime = text.parse().ok().filter(|_| text.contains(':'))?;
    zone_times(civil, zone)
}

/// Parses seconds since 1970, which have nine or more digits since 1973.
fn epoch_time(text: &str) -> Option<RecordedAt> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, "0"));
    if !(9..=11).contains(&seconds.len()) {
        return None;
    }
    let seconds: i64 = plain_number(seconds)?;
    let micros = i64::from(nanos_of(fraction)?) / 1_000;
    let whole = seconds.checked_mul(1_000_000)?;
    Some(RecordedAt::from_micros(whole.checked_add(micros)?))
}

/// Splits a time of day from an optional zone: `Z`, `+02` or `+05:30`.
fn parted_offset(text: &str) -> Option<(&str, Option<SignedDuration>)> {
    if let Some(clock) = text.strip_suffix('Z') {
        return Some((clock, Some(SignedDuration::ZERO)));
    }
    let Some(at) = text.find(['+', '-']) else {
        return Some((text, None));
    };
    let (clock, offset) = text.split_at(at);
    let (sign, digits) = offset.split_at(1);
    let (hours, minutes) = digits.split_once(':').unwrap_or((digits, "00"));
    let is_whole = hours.len() == 2 && minutes.len() == 2;
    let hours = two_digits(hours).filter(|hours| is_whole && *hours < 24)?;
    let minutes = two_digits(minutes).filter(|minutes| *minutes < 60)?;
    let minutes = i64::from(hours) * 60 + i64::from(minutes);
    let ahead = SignedDuration::from_mins(if sign == "-" { -minutes } else { minutes });
    Some((clock, Some(ahead)))
}

/// Parses `HH:MM`, `HH:MM:SS` or `HH:MM:SS.fraction`.
fn time_of_day(text: &str) -> Option<Time> {
    let mut parts = text.split(':');
    let hour = two_digits(parts.next()?)?;
    let minute = two_digits(parts.next()?)?;
    let (second, nanos) = match parts.next() {
        None => (0, 0),
        Some(rest) => match rest.split_once('.') {
            None => (two_digits(rest)?, 0),
            Some((whole, fraction)) => (two_digits(whole)?, nanos_of(fraction)?),
        },
    };
    if parts.next().is_some() {
        return None;
    }
    Time::new(hour, minute, second, nanos).ok()
}

fn two_digits(text: &str) -> Option<i8> {
    if text.is_empty() || text.len() > 2 {
        return None;
    }
    plain_number(text)
}

fn nanos_of(fraction: &str) -> Option<i32> {
    if fraction.len() > 9 {
        return None;
    }
    plain_number(&format!("{fraction:0<9}")).filter(|_| !fraction.is_empty())
}

/// A place in a reel: the state after some records, or after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// After all records below `below`, as of a wall-clock time.
    Arrival {
        /// The first record that does not count.
        below: Seq,
        /// The wall-clock time.
        wall: RecordedAt,
    },
    /// After the change with this resourceVersion, whenever it arrived.
    Revision(u128),
}

/// A moment has no place in this reel.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// The reel is empty.
    #[error("the reel has no records")]
    EmptyReel,
    /// A time of day that the recording has more than once.
    #[error("that time of day occurs {} times in the recording", .candidates.len())]
    Ambiguous {
        /// The possible moments, in order.
        candidates: Vec<RecordedAt>,
    },
    /// The recorder's clock was set back, and the time passed more than once or never.
    #[error("the recorder's clock was set back: {} passed {}", timetext::rfc3339(*.at), times(.records))]
    ClockSetBack {
        /// The time.
        at: RecordedAt,
        /// The last records up to it, in order.
        records: Vec<Seq>,
    },
    /// No mark has that text.
    #[error("no mark with {text:?} in the recording")]
    NoSuchMark {
        /// The text.
        text: String,
        /// Similar texts of marks.
        nearest: Vec<String>,
    },
    /// Several marks have that text.
    #[error("{} marks have {text:?}", .candidates.len())]
    AmbiguousMark {
        /// The text.
        text: String,
        /// When they were set, in order.
        candidates: Vec<RecordedAt>,
    },
    /// No record has that number.
    #[error("no record {seq}: the reel has {end}")]
    NoSuchRecord {
        /// The number.
        seq: Seq,
        /// The number of records.
        end: Seq,
    },
    /// The time is before or after the recording.
    #[error("{} is outside of the recording, {} to {}", timetext::rfc3339(*.at), timetext::rfc3339(*.start), timetext::rfc3339(*.end))]
    OutsideRecording {
        /// The time.
        at: RecordedAt,
        /// The first time of the recording.
        start: RecordedAt,
        /// The last time of the recording.
        end: RecordedAt,
    },
    /// The begin of the recording, from which the time is counted, is lost by damage.
    #[error("the start of the recording is lost: {} is the first readable record", timetext::rfc3339(*.first))]
    StartLost {
        /// The time of the first readable record.
        first: RecordedAt,
    },
    /// The end of the recording, from which the time is counted, is lost by damage.
    #[error("the end of the recording is lost: {} is the last readable record", timetext::rfc3339(*.last))]
    EndLost {
        /// The time of the last readable record.
        last: RecordedAt,
    },
    /// No record has a resourceVersion as high.
    #[error("rv {rv} is outside of the recording: the last recorded one is rv {last}")]
    AfterLastRevision {
        /// The resourceVersion.
        rv: u128,
        /// The last one of the recording.
        last: u128,
    },
    /// No version in the reel has a resourceVersion.
    #[error("no object in the reel has a resourceVersion: give a time")]
    NoRevisions,
    /// A resourceVersion or a record number needs a reel.
    #[error("only a reel has resourceVersions and records")]
    NoReel,
    /// The caller does not resolve problems, marks, bookmarks or upgrades.
    #[error("problems, marks, bookmarks and upgrades cannot be named here")]
    NotRead,
    /// The time is beyond the limits of the calendar.
    #[error("time out of range")]
    OutOfRange,
}

fn times(records: &[Seq]) -> String {
    match records.len() {
        0 => "at no record".to_owned(),
        times => format!("{times} times"),
    }
}

impl Cut {
    /// The place after all records up to a wall-clock time.
    pub(crate) fn at(reel: &Reel, wall: RecordedAt) -> Self {
        Self::Arrival {
            below: reel.seq_after(wall),
            wall,
        }
    }

    /// The place after all records: at the latest time since the clock was last set back.
    pub(crate) fn last(tables: &ReelTables) -> Self {
        let reel = tables.reel();
        Self::Arrival {
            below: reel.end(),
            wall: clock::latest(tables).unwrap_or(tables.end()),
        }
    }
}

impl Moment {
    /// Finds the place of the moment in a reel.
    ///
    /// # Errors
    /// When the moment has no place or more than one in this reel.
    pub(crate) fn place(self, tables: &ReelTables) -> Result<Cut, ResolveError> {
        let reel = tables.reel();
        let end = reel.end();
        if end == Seq(0) {
            return Err(ResolveError::EmptyReel);
        }
        match self {
            Self::Revision(rv) => {
                let mut seqs = (0..end.0).map(Seq);
                // Those of a damaged reel may be among what cannot be read.
                let has_revisions = reel.has_losses() || seqs.any(|seq| reel.rv_of(seq).is_some());
                let none = ResolveError::NoRevisions;
                has_revisions.then_some(Cut::Revision(rv)).ok_or(none)
            }
            Self::Record(seq) if seq < end => Ok(Cut::Arrival {
                below: Seq(seq.0 + 1),
                wall: tables.wall_of(seq),
            }),
            Self::Record(seq) => Err(ResolveError::NoSuchRecord { seq, end }),
            Self::Mark(text) => marked(text.as_str(), tables).map(|seq| Cut::Arrival {
                below: Seq(seq.0 + 1),
                wall: tables.wall_of(seq),
            }),
            // Not by time: after a clock stepped back, the last records have earlier times.
            Self::End => Ok(Cut::last(tables)),
            by_time => {
                let wall = by_time.within(tables.start(), tables.end())?;
                match clock::place(tables, wall) {
                    ClockPlace::InOrder => Ok(Cut::at(reel, wall)),
                    ClockPlace::Before(below) => Ok(Cut::Arrival { below, wall }),
                    ClockPlace::Several(next) => Err(ResolveError::ClockSetBack {
                        at: wall,
                        records: next
                            .iter()
                            .map(|seq| Seq(seq.0.saturating_sub(1)))
                            .collect(),
                    }),
                }
            }
        }
    }

    /// Finds the time of a moment between two others, without a reel: in a file of intervals.
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
            Self::TimeOfDay(time) => day_time(time, &TimeZone::UTC, start, end),
            Self::LocalTimeOfDay { time, zone } => day_time(time, zone, start, end),
            Self::AfterStart { micros } => moved(start, i64::try_from(micros).ok()),
            Self::BeforeEnd { micros } => moved(end, i64::try_from(micros).ok().map(|by| -by)),
            Self::Start => Ok(start),
            Self::End => Ok(end),
            Self::Revision(_) | Self::Record(_) => Err(ResolveError::NoReel),
            Self::Mark(_)
            | Self::Bookmark(_)
            | Self::Problem(_)
            | Self::UpgradeStart
            | Self::UpgradeEnd => Err(ResolveError::NotRead),
        }
    }
}

/// Finds the places of the names that equal a text; if there are none, of those that contain it,
/// ignoring case.
pub fn named<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Vec<usize> {
    let lower = text.to_lowercase();
    let (mut exact, mut parts) = (Vec::new(), Vec::new());
    for (at, name) in names.enumerate() {
        if name == text {
            exact.push(at);
        }
        if name.to_lowercase().contains(&lower) {
            parts.push(at);
        }
    }
    if exact.is_empty() { parts } else { exact }
}

/// Finds the record of the mark with a text; else of the only mark whose text contains it, ignoring
/// case.
fn marked(text: &str, tables: &ReelTables) -> Result<Seq, ResolveError> {
    let marks: Vec<(Seq, &str)> = tables
        .reel()
        .notes()
        .iter()
        .filter_map(|entry| match &entry.note {
            Note::Mark { text } => Some((entry.seq, text.as_str())),
            _ => None,
        })
        .collect();
    let places = named(text, marks.iter().map(|(_, own)| *own));
    let found = places.iter().filter_map(|at| marks.get(*at));
    let found: Vec<Seq> = found.map(|(seq, _)| *seq).collect();
    match found.as_slice() {
        [one] => Ok(*one),
        [] => Err(ResolveError::NoSuchMark {
            text: text.to_owned(),
            nearest: nearest(text, marks.iter().map(|(_, own)| *own)),
        }),
        several => Err(ResolveError::AmbiguousMark {
            text: text.to_owned(),
            candidates: several.iter().map(|seq| tables.wall_of(*seq)).collect(),
        }),
    }
}

/// Returns the times at which clocks of a zone show a date and time: two where they are set back, the later ones
/// where they are set forward over it; `None` beyond the limits of the calendar.
fn zone_times(shown: DateTime, zone: &TimeZone) -> Option<Vec<Timestamp>> {
    let ambiguous = zone.to_ambiguous_timestamp(shown);
    if matches!(ambiguous.offset(), AmbiguousOffset::Fold { .. }) {
        return Some(vec![ambiguous.earlier().ok()?, ambiguous.later().ok()?]);
    }
    Some(vec![ambiguous.compatible().ok()?])
}

/// Finds the only moment between two others with that time of day; if there is none, the nearest
/// one outside.
fn day_time(
    time: Time,
    zone: &TimeZone,
    start: RecordedAt,
    end: RecordedAt,
) -> Result<RecordedAt, ResolveError> {
    let day = |at: RecordedAt| {
        Timestamp::from_microsecond(at.micros)
            .ok()
            .map(|at| at.to_zoned(zone.clone()).date())
            .ok_or(ResolveError::OutOfRange)
    };
    let (first, last) = (day(start)?, day(end)?);
    let mut candidates = Vec::new();
    for date in first.series(1.day()).take_while(|date| *date <= last) {
        let times = zone_times(date.to_datetime(time), zone).ok_or(ResolveError::OutOfRange)?;
        let times = times.into_iter().map(Timestamp::as_microsecond);
        candidates.extend(times.map(RecordedAt::from_micros));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> Result<Moment, MomentError> {
        text.parse()
    }

    #[test]
    fn every_form_is_read() {
        let time = Moment::Time(RecordedAt::from_micros(1_795_269_751_480_000));
        assert_eq!(moment("2026-11-21T14:02:31.480Z"), Ok(time));
        assert_eq!(moment("2026-11-21T16:02:31.48+02:00"), Ok(time));
        let at = |h, m, s, n| Moment::TimeOfDay(Time::constant(h, m, s, n));
        assert_eq!(moment("14:02"), Ok(at(14, 2, 0, 0)));
        assert_eq!(moment("14:02:31"), Ok(at(14, 2, 31, 0)));
        assert_eq!(moment("14:02:31.480001Z"), Ok(at(14, 2, 31, 480_001_000)));
        assert_eq!(moment("16:02:31.5+02"), Ok(at(14, 2, 31, 500_000_000)));
        assert_eq!(moment("19:32+05:30"), Ok(at(14, 2, 0, 0)));
        assert_eq!(moment("23:02-03"), Ok(at(2, 2, 0, 0)));
        let micros = 750_000_000;
        assert_eq!(moment("+12m30s"), Ok(Moment::AfterStart { micros }));
        assert_eq!(moment("+0s"), Ok(Moment::AfterStart { micros: 0 }));
        assert_eq!(
            moment("-5m"),
            Ok(Moment::BeforeEnd {
                micros: 300_000_000
            })
        );
        assert_eq!(moment("rv:12345"), Ok(Moment::Revision(12345)));
        let longest = u128::MAX;
        assert_eq!(
            moment(&format!("rv:{longest}")),
            Ok(Moment::Revision(longest))
        );
        assert_eq!(moment("seq:7"), Ok(Moment::Record(Seq(7))));
        for text in [
            "2026-11-21T14:02:31.480",
            "2026-11-21 14:02:31.48",
            "2026-11-21 14:02:31.48Z",
            "1795269751.480",
        ] {
            assert_eq!(moment(text), Ok(time), "{text}");
        }
        assert_eq!(moment("2026-11-21 14:02"), moment("2026-11-21T14:02:00Z"));
        let first = NonZero::new(1).expect("not zero");
        assert_eq!(moment("problem:1"), Ok(Moment::Problem(first)));
        assert_eq!(moment("upgrade:start"), Ok(Moment::UpgradeStart));
        assert_eq!(moment("now"), Ok(Moment::End));
        assert_eq!(moment("start"), Ok(Moment::Start));
        assert_eq!(moment("end"), Ok(Moment::End));
    }

    #[test]
    fn times_without_an_offset_are_those_of_the_zone() {
        let zone: &'static TimeZone = Box::leak(Box::new(TimeZone::fixed(jiff::tz::offset(2))));
        let read = |text: &str| Moment::parse_in(text, Some(zone)).expect("a moment");
        let at = Moment::Time(RecordedAt::from_micros(1_795_269_751_000_000));
        for text in [
            "2026-11-21 16:02:31",
            "2026-11-21T14:02:31Z",
            "2026-11-21T15:02:31+01:00",
        ] {
            assert_eq!(read(text), at, "{text}");
        }
        assert_eq!(read("14:02Z"), moment("14:02").expect("a moment"));
        assert_eq!(read("15:02+01"), moment("14:02").expect("a moment"));
        let day = RecordedAt::from_micros(1_795_269_751_000_000);
        let (start, end) = (
            RecordedAt::from_micros(day.micros - 3_600_000_000),
            RecordedAt::from_micros(day.micros + 3_600_000_000),
        );
        assert_eq!(read("16:02:31").within(start, end), Ok(day));
        assert_eq!(read("14:02:31Z").within(start, end), Ok(day));
    }

    #[test]
    fn a_time_that_clocks_show_twice_is_refused_with_both() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").expect("a zone");
        let zone: &'static TimeZone = Box::leak(Box::new(zone));
        let at = |text: &str| moment(text).expect(text);
        let wall = |text: &str| match at(text) {
            Moment::Time(wall) => wall,
            other => panic!("{other:?}"),
        };
        let both = ["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"].map(wall);
        let (start, end) = (wall("2026-10-24T23:50:00Z"), wall("2026-10-25T12:00:00Z"));
        let read = |text: &str| Moment::parse_in(text, Some(zone));
        let candidates = both.to_vec();
        let twice = ResolveError::Ambiguous { candidates };
        let found = |text: &str, end| read(text).expect(text).within(start, end);
        assert_eq!(found("02:30", end), Err(twice));
        // Of two, the only one in the recording is meant.
        assert_eq!(found("02:30", wall("2026-10-25T01:00:00Z")), Ok(both[0]));
        assert_eq!(found("03:30", end), Ok(wall("2026-10-25T02:30:00Z")));
        let words = read("2026-10-25 02:30").expect_err("twice").to_string();
        assert_eq!(
            words,
            "\"2026-10-25 02:30\" occurs twice, because clocks are set back: 2026-10-25T00:30:00.000Z or \
             2026-10-25T01:30:00.000Z"
        );
        // Clocks that are set forward skip a time, which is that much later.
        assert_eq!(read("2026-03-29 02:30"), Ok(at("2026-03-29T01:30:00Z")));
    }

    #[test]
    fn a_mark_is_named_by_few_bytes() {
        let mark = moment("mark:tests started").expect("a moment");
        assert!(matches!(mark, Moment::Mark(text) if text.as_str() == "tests started"));
        let bookmark = moment("bookmark:before").expect("a bookmark");
        assert!(matches!(bookmark, Moment::Bookmark(text) if text.as_str() == "before"));
        assert!(moment("bookmark:").is_err());
        assert_eq!(named("b", ["abc", "b", "xB"].into_iter()), [1]);
        assert_eq!(named("B", ["abc", "b", "x"].into_iter()), [0, 1]);
        assert!(moment("mark:").is_err());
        assert!(moment(&format!("mark:{}", "x".repeat(65))).is_err());
    }

    #[test]
    fn what_is_nearly_a_moment_says_what_is_missing() {
        let words = |text: &str| moment(text).expect_err(text).to_string();
        assert_eq!(
            words("10m"),
            "a duration needs a sign: +10m after the start or -10m before the end"
        );
        assert_eq!(
            words("upgrade:begin"),
            "not upgrade:start or upgrade:end: \"upgrade:begin\""
        );
        assert_eq!(
            words("2026-11-21"),
            "not a date with a time of day (2026-11-21T14:02:31Z): \"2026-11-21\""
        );
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "",
            "yesterday",
            "12",
            "+",
            "+12",
            "+-5m",
            "-",
            "-5m ago",
            "+5m ago",
            "rv:",
            "rv:-1",
            "rv: 1",
            "rv:+1",
            "rv:340282366920938463463374607431768211456",
            "seq:x",
            "seq:18446744073709551616",
            "25:00",
            "14:60",
            "14:02:31.",
            "14:02:31.1234567890",
            "14:02:31:1",
            ":02",
            "14:2x",
            "14:02+",
            "14:02+2",
            "14:02+24",
            "14:02+02:60",
            "14:02+02:3",
            "14:02+02Z",
            "14:02+02+02",
            "2026-11-21",
            "12345678",
            "1795269751.",
            "problem:0",
            "problem:x",
            "upgrade:",
            "2026-13-21T14:02:31Z",
            "START",
            " end",
        ] {
            assert!(moment(text).is_err(), "{text:?} was read");
        }
    }

    #[test]
    fn the_forms_shown_to_people_are_read() {
        for (form, _) in MOMENT_FORMS {
            for text in form.split(" or ") {
                assert!(moment(text).is_ok(), "{text:?} is shown and not read");
            }
        }
    }

    #[test]
    fn an_error_says_what_was_expected() {
        let error = moment("rv:abc").expect_err("letters");
        assert_eq!(error.to_string(), r#"not a resourceVersion: "rv:abc""#);
    }
}
