//! What a `.reel` file is: the vocabulary of a recording, its bytes, and the code that writes and
//! reads them.
//!
//! `SPEC.md` beside this crate is the normative description; this crate is its implementation and
//! the only place that touches the database, the record codec and the compressor.
//! It knows no cluster, no socket, no screen and no clock: times come from its callers.

mod codec;
mod coverage;
mod error;
mod event;
mod file;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod gap;
mod harmless;
mod id;
mod limits;
mod note;
mod resource;
#[cfg(test)]
mod spec_text;
mod tables;
mod time;
mod version;

pub use coverage::{CoveredSpan, NotCoveredReason};
pub use error::{AppendError, Damage, FinishError, OpenError, ReadError};
pub use event::{Body, EventHead, EventType, Evidence, NewEvent, ObjectKey};
pub use file::{
    Appender, BlockInfo, Bounds, CommitStats, Event, FinishStats, Object, ObjectMemory, PartSizes,
    ReadAllowance, ReadCounts, Reel, Scan, Sealed, SizeBreakdown, Usage, Version, file_digest,
    panic_is_caught,
};
pub use gap::{Gap, GapCause};
pub use harmless::harmless;
pub use id::{BlobId, BlockId, ConnectionId, EpochId, GapId, ObjectId, ResourceId, Seq, SessionId};
pub use limits::{COMMIT_EVERY_MILLIS, MAX_BODY, MAX_LIST_PAGE, MAX_NAME};
pub use note::{
    AnomalyKind, BlobNote, DocumentKind, EndCause, GapVerdict, Lifecycle, ListMethod, Note,
    NoteEntry, OddLineProblem, OutageClass, SessionEnd,
};
pub use resource::ResourceInfo;
pub use time::{Elapsed, RecordedAt, Stamp};
pub use version::{FORMAT, FormatVersion, REDACTION_NONE, REDACTION_SAYS};
