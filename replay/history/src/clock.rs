//! The place of a time of day in a recording whose recorder's clock was set back: such a time may have passed twice.
//!
//! Invariants: within a run no time passes twice; what lies in no run, or in several, has no place.

use kubereel_format::{Note, RecordedAt, Reel, Seq};
use std::ops::Range;

/// The least step that separates runs, in microseconds: smaller ones are within the order of arrival.
const LEAST_STEP_MICROS: i64 = 1_000_000;

/// Records between two times at which the clock was set back.
struct ClockRun {
    records: Range<u64>,
    from: RecordedAt,
    to: RecordedAt,
}

impl ClockRun {
    fn of(reel: &Reel, records: Range<u64>) -> Option<Self> {
        let walls = records
            .clone()
            .filter_map(|seq| Some(reel.stamp(Seq(seq))?.wall));
        let (mut from, mut to) = (None, None);
        for wall in walls {
            from = from.or(Some(wall));
            to = to.max(Some(wall));
        }
        Some(Self {
            records,
            from: from?,
            to: to?,
        })
    }

    /// Returns the first record after a time.
    fn after(&self, reel: &Reel, at: RecordedAt) -> Seq {
        let mut records = self.records.clone();
        let is_later = |seq: &u64| reel.stamp(Seq(*seq)).is_some_and(|stamp| stamp.wall > at);
        Seq(records.find(is_later).unwrap_or(self.records.end))
    }
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

/// Returns the runs in their order; none if the clock was not set back.
fn runs(reel: &Reel) -> Vec<ClockRun> {
    let steps = reel.notes().iter().filter_map(|entry| match entry.note {
        Note::ClockStepped { micros } if micros <= -LEAST_STEP_MICROS => Some(entry.seq.0),
        _ => None,
    });
    let mut bounds: Vec<u64> = steps.collect();
    if bounds.is_empty() {
        return Vec::new();
    }
    bounds.push(reel.end().0);
    let mut from = 0;
    let mut runs = Vec::new();
    for to in bounds {
        runs.extend(ClockRun::of(reel, from..to));
        from = to;
    }
    runs
}

/// Returns the latest time since the clock was last set back; nothing if it was not.
pub(crate) fn latest(reel: &Reel) -> Option<RecordedAt> {
    runs(reel).last().map(|run| run.to)
}

/// Finds the place of a time.
pub(crate) fn place(reel: &Reel, wall: RecordedAt) -> ClockPlace {
    let runs = runs(reel);
    let first = runs.iter().map(|run| run.from).min();
    let last = runs.iter().map(|run| run.to).max();
    if first.is_none_or(|first| wall < first) || last.is_none_or(|last| wall > last) {
        return ClockPlace::InOrder;
    }
    let found = runs
        .iter()
        .filter(|run| (run.from..=run.to).contains(&wall));
    let found: Vec<Seq> = found.map(|run| run.after(reel, wall)).collect();
    match found.as_slice() {
        [below] => ClockPlace::Before(*below),
        _ => ClockPlace::Several(found),
    }
}
