//! Owns the two times of a record: the wall clock and the steady clock. Refuses to read either: the
//! recorder's clock does.

use bincode::{Decode, Encode};

/// The wall-clock time at which the recorder received something, in microseconds since the Unix
/// epoch, UTC.
///
/// It may step when the recorder's clock is set, and lags the server's own time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Encode, Decode)]
pub struct RecordedAt {
    /// Microseconds since 1970-01-01T00:00:00Z; negative before it.
    pub micros: i64,
}

impl RecordedAt {
    /// Makes a time from microseconds since the Unix epoch.
    pub const fn from_micros(micros: i64) -> Self {
        Self { micros }
    }

    /// Gives the distance to `earlier` in microseconds, negative if `earlier` is later.
    pub const fn micros_since(self, earlier: Self) -> i64 {
        self.micros.saturating_sub(earlier.micros)
    }
}

/// The steady time since the start of the session that wrote a record, in microseconds.
///
/// It never steps, and it is comparable within one session only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Encode, Decode)]
pub struct Elapsed {
    /// Microseconds since the session's start.
    pub micros: u64,
}

/// When something was received: on both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Encode, Decode)]
pub struct Stamp {
    /// The wall clock.
    pub wall: RecordedAt,
    /// The steady clock.
    pub elapsed: Elapsed,
}
