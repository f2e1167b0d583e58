//! The `.reel` file: the vocabulary of a recording, its bytes, and the code that writes and reads
//! them.
//!
//! `SPEC.md` beside this crate is the normative description. This crate implements it, and is the
//! only one that uses the database, the record codec and the compressor. It does not know clusters,
//! sockets, screens or clocks: times come from its callers.

mod codec;
mod digest;
mod error;
mod event;
mod file;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod harmless;
mod id;
mod limits;
mod note;
mod seal;
#[cfg(test)]
mod spec_text;
mod uid;
mod worded;

pub use codec::frame::{ZSTD_WINDOW_MIB, zstd_reader};
pub use digest::{DigestBuilder, RecordingDigest};
pub use error::{
    AppendError, Damage, FinishError, Loss, OpenError, ReadError, RecoverError, SealError,
};
pub use event::{EventHead, EventType, Evidence, NewBody, NewEvent, ObjectKey, ObjectKeyRef};
pub use file::{
    Appender, BlockInfo, BodyBuffer, Bounds, CommitStats, Event, FinishStats, GatheredBodies,
    GrowingReel, LossCounts, ObjectMemory, PartSizes, REEL_START_BYTES, ReadCounts, RecoverStats,
    Reel, ReelGrowth, ReelObject, Scan, SealDensity, Sealed, SizeBreakdown, Usage, copy_in_use,
    file_digest, is_in_use, is_reel_start, panic_is_caught, recover,
};
pub use harmless::{cut, harmless, quoted};
pub use id::{
    BlobId, BlockId, ConnectionId, Elapsed, EpochId, GapId, ObjectId, RecordedAt, ResourceId, Seq,
    SessionId, Stamp,
};
pub use limits::{
    COMMIT_EVERY_MILLIS, FORMAT, FormatVersion, MAX_BODY, MAX_LIST_PAGE, MAX_NAME, REDACTED,
    REDACTED_BASE64, REDACTION_NONE, REDACTION_PREFIX,
};
pub use note::{
    AnomalyKind, BlobNote, CoveredSpan, DocumentKind, EndCause, Gap, GapCause, GapVerdict,
    Lifecycle, ListMethod, NotCoveredReason, Note, NoteEntry, OddLineProblem, OutageClass,
    ResourceInfo, SessionEnd, qualified,
};
pub use seal::{SealStats, SealedCopy, remove_interrupted_copies, seal, unseal};
pub use uid::UidRef;
