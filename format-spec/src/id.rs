//! The ids of the parts of a reel, and the two times of a record: wall clock and steady clock.

use bincode::{Decode, Encode};
use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Encode, Decode)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// Numbers every event and note of a reel in the order of arrival, from 0, without holes.
    Seq(u64)
}
id! {
    /// Names one recorded resource (group, version, plural) for the whole reel.
    ResourceId(u32)
}
id! {
    /// Names one request to a server (a watch or a list) for the whole reel.
    ConnectionId(u32)
}
id! {
    /// Names one object (resource, namespace, name, uid) in the order of first sight.
    ObjectId(u32)
}
id! {
    /// Names one text of the blob log in the order of insertion.
    BlobId(u32)
}
id! {
    /// Names one sealed block in the order of sealing.
    BlockId(u32)
}
id! {
    /// Numbers the recorder runs that wrote a reel, from 0.
    SessionId(u32)
}
id! {
    /// Numbers the clusters seen behind one kubeconfig, from 0: a restored or replaced cluster is a
    /// new epoch.
    EpochId(u32)
}
id! {
    /// Names one gap for the whole reel.
    GapId(u32)
}

/// The wall-clock time at which the recorder received something, in microseconds since the Unix
/// epoch, UTC.
///
/// It may step when the recorder's clock is set, and is later than the server's own time.
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

    /// Returns the distance to `earlier` in microseconds, negative if `earlier` is later.
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

/// The time of receipt, on both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Encode, Decode)]
pub struct Stamp {
    /// The wall clock.
    pub wall: RecordedAt,
    /// The steady clock.
    pub elapsed: Elapsed,
}

impl Stamp {
    /// Makes a stamp from microseconds of both clocks.
    pub const fn from_micros(wall: i64, elapsed: u64) -> Self {
        Self {
            wall: RecordedAt::from_micros(wall),
            elapsed: Elapsed { micros: elapsed },
        }
    }
}
