//! The recorder's only access to a clock: wall time, steady time since the session began, and the
//! distance between the two. A step of the wall clock is reported, not corrected.

use kubereel_format::{Elapsed, RecordedAt, Stamp};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A wall clock that moves this much against the steady clock has stepped.
///
/// If the scheduler suspends the process between the two readings, the difference is smaller.
const STEP_MICROS: i64 = 250_000;

/// Both clocks of one session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    began: Instant,
}

impl Clock {
    /// Begins a session.
    pub(crate) fn start() -> Self {
        Self {
            began: Instant::now(),
        }
    }

    /// Reads both clocks.
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp {
            wall: wall(),
            elapsed: self.elapsed(),
        }
    }

    /// Reads the steady clock.
    pub(crate) fn elapsed(&self) -> Elapsed {
        Elapsed {
            micros: micros(self.began.elapsed()),
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that reads the wall clock"
)]
fn wall() -> RecordedAt {
    // A clock set beyond the year 294,246 stays there.
    let micros = match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_micros()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |past| -past),
    };
    RecordedAt::from_micros(micros)
}

fn micros(duration: Duration) -> u64 {
    // Saturates after 584,000 years.
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Observes the distance between the two clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepDetector {
    distance_micros: i64,
}

impl StepDetector {
    /// Takes the distance at `stamp` as the reference.
    pub(crate) fn new(stamp: Stamp) -> Self {
        Self {
            distance_micros: distance(stamp),
        }
    }

    /// Returns by how many microseconds the wall clock stepped since the last report, if it did.
    pub(crate) fn step(&mut self, stamp: Stamp) -> Option<i64> {
        let now = distance(stamp);
        let step = now.saturating_sub(self.distance_micros);
        if step.saturating_abs() < STEP_MICROS {
            return None;
        }
        self.distance_micros = now;
        Some(step)
    }
}

fn distance(stamp: Stamp) -> i64 {
    // Saturates after 292,000 years.
    let elapsed = i64::try_from(stamp.elapsed.micros).unwrap_or(i64::MAX);
    stamp.wall.micros.saturating_sub(elapsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(wall: i64, elapsed: u64) -> Stamp {
        Stamp::from_micros(wall, elapsed)
    }

    #[test]
    fn reports_a_step_once_and_in_both_directions() {
        let mut detector = StepDetector::new(stamp(1_000_000, 0));
        assert_eq!(detector.step(stamp(2_000_100, 1_000_000)), None);
        let expected = Some(60_000_000);
        assert_eq!(detector.step(stamp(63_000_000, 2_000_000)), expected);
        assert_eq!(detector.step(stamp(64_000_000, 3_000_000)), None);
        assert_eq!(
            detector.step(stamp(4_000_000, 4_000_000)),
            Some(-61_000_000)
        );
    }

    #[test]
    fn slow_drift_adds_up_to_a_step() {
        let mut detector = StepDetector::new(stamp(0, 0));
        assert_eq!(detector.step(stamp(1_200_000, 1_000_000)), None);
        assert_eq!(detector.step(stamp(2_300_000, 2_000_000)), Some(300_000));
    }
}
