//! The place of a time of day in a recording whose recorder's clock was set back: such a time may have passed twice.
//!
//! Invariants: within a run no time passes twice; what lies in no run, or in several, has no place.

use crate::tables::{ReelTables, count_of};
use kubereel_format::{Note, RecordedAt, Reel, Seq, Stamp};
use std::ops::Range;

/// The least step that separates runs, in microseconds: smaller ones are within the order of arrival.
const LEAST_STEP_MICROS: i64 = 1_000_000;

/// Records between two times at which the clock was set back.
struct ClockRun {
    records: Range<u64>,
    from: RecordedAt,
    /// Its latest time; of one that another run follows, the time that the clock may have shown before it was set back.
    to: RecordedAt,
}

impl ClockRun {
    fn of(reel: &Reel, records: Range<u64>) -> Option<Self> {
        let mut stamps = records.clone().filter_map(|seq| reel.stamp(Seq(seq)));
        let first = stamps.next()?;
        let (last, to) = stamps.fold((first, first.wall), |(_, to), stamp| {
            (stamp, to.max(stamp.wall))
        });
        let next = reel.stamp(Seq(records.end));
        let unrecorded = next.map_or(0, |next| steady_micros(last, next));
        Some(Self {
            records,
            from: first.wall,
            to: to.max(RecordedAt::from_micros(
                last.wall.micros.saturating_add(unrecorded),
            )),
        })
    }

    /// Returns the first record after a time.
    fn after(&self, reel: &Reel, at: RecordedAt) -> Seq {
        let mut records = self.records.clone();
        let is_later = |seq: &u64| reel.stamp(Seq(*seq)).is_some_and(|stamp| stamp.wall > at);
        Seq(records.find(is_later).unwrap_or(self.records.end))
    }
}

/// Returns the time that passed between two stamps; none if the steady clock began anew, as it does in each session.
fn steady_micros(from: Stamp, to: Stamp) -> i64 {
    let passed = to.elapsed.micros.checked_sub(from.elapsed.micros);
    passed.map_or(0, |passed| i64::try_from(passed).unwrap_or_default())
}

/// Returns the time that passed between two records, in microseconds: by the steady clock of their session where the
/// wall clock was set back between them.
///
/// More time on the wall clock than on the steady one is no step: that one stands still while a machine is suspended,
/// and in imports.
pub(crate) fn micros_between(tables: &ReelTables, from: Seq, to: Seq) -> Option<i64> {
    let stamp = |seq| tables.reel().stamp(seq);
    let (first, last) = (stamp(from)?, stamp(to)?);
    let sessions = tables.sessions();
    let session = |seq: Seq| sessions.partition_point(|session| session.first <= seq);
    let wall = last.wall.micros_since(first.wall);
    let steady = steady_micros(first, last);
    let is_set_back =
        session(from) == session(to) && steady.saturating_sub(wall) >= LEAST_STEP_MICROS;
    Some(if is_set_back { steady } else { wall })
}

/// Where a time is in a recording.
pub(crate) enum ClockPlace {
    /// Where the order of the times says.
    InOrder,
    /// Before this record, although later or earlier records have other times.
    Before(Seq),
    /// In no run, or after these records of several.
    Several(Vec<Seq>),
}

/// Returns the sessions that begin before the end of another one.
fn sessions_back(tables: &ReelTables) -> impl Iterator<Item = Seq> {
    let mut latest = None;
    tables.sessions().iter().filter_map(move |session| {
        let before = latest.replace(latest.max(Some(session.to)).unwrap_or(session.to));
        let is_back = before.is_some_and(|before| is_step_back(before, session.from));
        is_back.then_some(session.first)
    })
}

fn is_step_back(from: RecordedAt, to: RecordedAt) -> bool {
    to.micros_since(from) <= -LEAST_STEP_MICROS
}

/// Counts the steps of the recorder's clock, within its sessions and back between them.
pub(crate) fn steps(tables: &ReelTables) -> u64 {
    let notes = tables.reel().notes().iter();
    let within = notes.filter(|entry| matches!(entry.note, Note::ClockStepped { .. }));
    count_of(within.count() + sessions_back(tables).count())
}

/// Returns the runs in their order; none if the clock was not set back.
fn runs(tables: &ReelTables) -> Vec<ClockRun> {
    let reel = tables.reel();
    let steps = reel.notes().iter().filter_map(|entry| match entry.note {
        Note::ClockStepped { micros } if micros <= -LEAST_STEP_MICROS => Some(entry.seq),
        _ => None,
    });
    let mut noted: Vec<Seq> = steps.chain(sessions_back(tables)).collect();
    if !noted.is_empty() {
        // No time passes between two sessions: another one may have passed it.
        noted.extend(tables.sessions().iter().map(|session| session.first));
    }
    noted.sort_unstable();
    noted.dedup();
    let mut from = 0;
    let mut runs = Vec::new();
    for noted in noted {
        // The recorder notices a step a moment later: records in front of the note may be behind it.
        let mut latest = RecordedAt::from_micros(i64::MIN);
        let mut records = from..=noted.0;
        let to = records.find(|seq| {
            let wall = reel.stamp(Seq(*seq)).map(|stamp| stamp.wall);
            latest = latest.max(wall.unwrap_or(latest));
            wall.is_some_and(|wall| is_step_back(latest, wall))
        });
        let to = to.unwrap_or(noted.0);
        runs.extend(ClockRun::of(reel, from..to));
        from = to;
    }
    if from > 0 {
        runs.extend(ClockRun::of(reel, from..reel.end().0));
    }
    runs
}

/// Returns the latest time since the clock was last set back; nothing if it was not.
pub(crate) fn latest(tables: &ReelTables) -> Option<RecordedAt> {
    runs(tables).last().map(|run| run.to)
}

/// Finds the place of a time.
pub(crate) fn place(tables: &ReelTables, wall: RecordedAt) -> ClockPlace {
    let reel = tables.reel();
    let runs = runs(tables);
    let first = runs.iter().map(|run| run.from).min();
    // The recording ends with the last run; another one may have later times, and nothing is after those.
    let last = runs.iter().map(|run| run.to).max();
    let ends = runs.last().map(|run| run.to);
    let found = runs
        .iter()
        .filter(|run| (run.from..=run.to).contains(&wall));
    let found: Vec<Seq> = found.map(|run| run.after(reel, wall)).collect();
    match found.as_slice() {
        [below] => ClockPlace::Before(*below),
        // Before all of the recording, or after it.
        [] if first.is_none_or(|first| wall < first) => ClockPlace::InOrder,
        [] if ends == last && last < Some(wall) => ClockPlace::InOrder,
        _ => ClockPlace::Several(found),
    }
}
