//! The virtual clock of a written scenario, and how its times are spelt. Refuses the real time.

use jiff::Timestamp;

use crate::rest;

/// A time, in microseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Instant(pub(super) i64);

impl Instant {
    /// So many seconds later.
    pub(super) fn after_secs(self, secs: f64) -> Self {
        let duration = std::time::Duration::from_secs_f64(secs.max(0.0));
        Self(self.0 + i64::try_from(duration.as_micros()).unwrap_or(i64::MAX / 4))
    }

    /// As a timestamp.
    pub(super) fn timestamp(self) -> Timestamp {
        Timestamp::from_microsecond(self.0).unwrap_or(Timestamp::MAX)
    }

    /// As `metav1.Time`.
    pub(super) fn seconds(self) -> String {
        rest::seconds(self.timestamp())
    }

    /// As `metav1.MicroTime`, and as the lines have it.
    pub(super) fn micros(self) -> String {
        rest::micros(self.timestamp())
    }
}
