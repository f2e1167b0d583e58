//! Every way in which writing or reading a reel can fail. Each message begins with the path and names the cause
//! once.

use crate::harmless::harmless;
use crate::id::{BlockId, Seq};
use crate::limits::FormatVersion;
use std::path::PathBuf;
use thiserror::Error;

/// A reel could not be opened for reading, created or resumed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file could not be opened or read.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file is not a reel.
    #[error("{path}: not a reel ({found})", path = path.display())]
    NotAReel {
        /// The file.
        path: PathBuf,
        /// A description of its first bytes.
        found: String,
    },
    /// Another program is writing it.
    #[error("{path}: the reel is still being recorded", path = path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The file exists, and the caller wanted a new one.
    #[error("{path}: the file exists", path = path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The format of the file is unknown to this program.
    #[error("{path}: format {found} is not read by this program, which knows {known}{}", written_by(writer.as_deref()), path = path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: FormatVersion,
        /// The newest one known.
        known: FormatVersion,
        /// The version of the program that wrote it, if the file names it.
        writer: Option<String>,
    },
    /// Reading the file takes something that this program does not know.
    #[error("{path}: the reel needs {feature:?}, which kubereel {since} and newer versions read", path = path.display())]
    UnknownFeature {
        /// The file.
        path: PathBuf,
        /// What, in words of the program that wrote the file.
        feature: String,
        /// The first version of the program that reads it.
        since: String,
    },
    /// The file is a cut reel without a readable part.
    #[error("{path}: cut off: {found_bytes} of {whole_bytes} bytes are there", path = path.display())]
    CutOff {
        /// The file.
        path: PathBuf,
        /// Its length.
        found_bytes: u64,
        /// The expected length.
        whole_bytes: u64,
    },
    /// The file is a reel, but so damaged that nothing of it can be read.
    #[error("{path}: damaged beyond reading at {place}: {cause}", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The damaged place.
        place: String,
        /// The cause.
        cause: String,
    },
    /// The file could not be written.
    #[error("{path}: {cause}", path = path.display())]
    Unwritten {
        /// The file.
        path: PathBuf,
        /// The cause.
        cause: String,
    },
    /// The reel is sealed, and the caller wanted to append.
    #[error("{path}: the reel is sealed, and takes no more records", path = path.display())]
    Sealed {
        /// The file.
        path: PathBuf,
    },
    /// The recording is finished, and the caller wanted to append.
    #[error("{path}: the reel is finished", path = path.display())]
    Finished {
        /// The file.
        path: PathBuf,
    },
}

fn written_by(writer: Option<&str>) -> String {
    // Words of a file: they may hold anything.
    writer.map_or_else(String::new, |writer| {
        format!(", and was written by kubereel {}", harmless(writer))
    })
}

/// Something could not be appended to a reel.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AppendError {
    /// The database refused; usually the disk is full or gone.
    #[error("{path}: cannot write: {cause}", path = path.display())]
    Storage {
        /// The file.
        path: PathBuf,
        /// The error of the database.
        cause: String,
    },
    /// The body is longer than [`crate::MAX_BODY`].
    #[error("a body of {len} bytes is too long for one record")]
    BodyTooLong {
        /// Its length, in bytes.
        len: usize,
    },
    /// A name is longer than the format allows.
    #[error("{what} of {len} bytes is too long")]
    NameTooLong {
        /// Which name.
        what: &'static str,
        /// Its length, in bytes.
        len: usize,
    },
    /// The event's resource was not announced by a note.
    #[error("resource {resource} was not announced")]
    UnknownResource {
        /// Its number.
        resource: u32,
    },
    /// The last body of an unknown object was requested.
    #[error("an object that was never recorded has no last body")]
    NoLastBody,
    /// The reel has as many items as its numbers can name.
    #[error("the reel is full: too many {what}")]
    Full {
        /// The kind of items.
        what: &'static str,
    },
    /// The file would exceed its size limit: see [`crate::Appender::create_within`].
    #[error("{path}: the reel would become longer than {max} bytes", path = path.display())]
    OverBound {
        /// The file.
        path: PathBuf,
        /// The limit.
        max: u64,
    },
    /// The file's earlier content cannot be read.
    #[error("cannot resume the reel: {0}")]
    Read(#[from] ReadError),
}

/// A reel could not be finished. Committed data stays.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FinishError {
    /// The last records could not be written.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The file was deleted, so that nothing of it is left.
    #[error("{path}: deleted while it was recorded", path = path.display())]
    Deleted {
        /// The name that it had.
        path: PathBuf,
    },
    /// The file was moved, and perhaps another has its name: both stay as they are.
    #[error("{path}: moved or replaced while it was recorded", path = path.display())]
    Moved {
        /// The name that it had.
        path: PathBuf,
    },
    /// The compact copy could not be written; the original file stays.
    #[error("{path}: cannot write the finished copy: {cause}", path = path.display())]
    Copy {
        /// The copy.
        path: PathBuf,
        /// The cause.
        cause: String,
    },
}

/// The readable part of a reel could not be written as a new one.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecoverError {
    /// There is a file of that name.
    #[error("{path}: the file exists", path = path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The new file could not be created.
    #[error(transparent)]
    Create(#[from] OpenError),
    /// Something could not be appended to it.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// It could not be completed.
    #[error(transparent)]
    Finish(#[from] FinishError),
    /// It could not be renamed to its name.
    #[error("{path}: cannot name the new file: {source}", path = path.display())]
    Name {
        /// Its name.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The sealed reel was moved, and perhaps another file has its name: both stay as they are.
    #[error("{path}: moved or replaced meanwhile", path = path.display())]
    Moved {
        /// The name that it had.
        path: PathBuf,
    },
    /// The sealed reel is damaged: one that takes more records would hide that.
    #[error("the reel is damaged: {place}: {cause}")]
    Damaged {
        /// Where.
        place: String,
        /// What is wrong.
        cause: String,
    },
    /// Something of the sealed reel could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The new file does not hold the same recording.
    #[error("the new file has other records, and was removed")]
    Changed,
}

/// A reel could not be sealed. The original file is unchanged.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SealError {
    /// The reel is damaged: a new file would hide that.
    #[error("the reel is damaged: {place}: {cause}")]
    Damaged {
        /// The damaged place.
        place: String,
        /// The cause.
        cause: String,
    },
    /// There is a file of that name.
    #[error("{path}: the file exists", path = path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A part of the reel could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A part could not be encoded.
    #[error("cannot encode a block: {cause}")]
    Encode {
        /// The cause.
        cause: String,
    },
    /// The new file could not be written.
    #[error("{path}: cannot write the sealed file: {source}", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The reel was moved, and perhaps another file has its name: both stay as they are.
    #[error("{path}: the reel was moved or replaced meanwhile", path = path.display())]
    Moved {
        /// The name that it had.
        path: PathBuf,
    },
    /// The new file could not be read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The new file does not have the same recording.
    #[error("the sealed file has other records, and was removed")]
    Changed,
    /// The caller ended it before it was complete.
    #[error("sealing was interrupted")]
    Interrupted,
    /// The reel has more blocks or texts than their numbers can name.
    #[error("the reel is too large to be sealed")]
    TooLarge,
}

/// A part of a reel could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A block is damaged, and its content is lost.
    #[error("block {block} (events {first} to {last}) is damaged: {cause}")]
    Block {
        /// The block.
        block: BlockId,
        /// Its first event or note.
        first: Seq,
        /// Its last event or note.
        last: Seq,
        /// The cause.
        cause: String,
    },
    /// An event cannot be decoded.
    #[error("event {seq} is damaged: {cause}")]
    Event {
        /// The event.
        seq: Seq,
        /// The cause.
        cause: String,
    },
    /// No event has this number.
    #[error("no event {seq}: the reel has {end}")]
    NoSuchEvent {
        /// The number.
        seq: Seq,
        /// The number of records.
        end: Seq,
    },
    /// The number belongs to a note.
    #[error("{seq} is a note, not an event")]
    NotAnEvent {
        /// The number.
        seq: Seq,
    },
    /// The database failed.
    #[error("cannot read {place}: {cause}")]
    Storage {
        /// The place.
        place: String,
        /// The error.
        cause: String,
    },
}

/// A damaged place of a reel, and its loss.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The place: a table and a row, or a block.
    pub place: String,
    /// The cause.
    pub cause: String,
    /// The loss.
    pub loss: Loss,
}

/// What is lost at a damaged place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Nothing: the content of the place exists elsewhere, too.
    Nothing,
    /// Anything: the place does not identify its content.
    Unknown,
    /// Events and notes: neither their number nor their objects are known.
    Records {
        /// The first one.
        first: Seq,
        /// The last one; `None` if it is not known how many followed.
        last: Option<Seq>,
    },
    /// Bodies: the events are known, and readable bodies are read.
    Bodies {
        /// The first event or note of the block.
        first: Seq,
        /// The last one.
        last: Seq,
    },
}

impl Loss {
    /// Returns the first lost record, if it is known.
    pub const fn first(self) -> Option<Seq> {
        match self {
            Self::Nothing | Self::Unknown => None,
            Self::Records { first, .. } | Self::Bodies { first, .. } => Some(first),
        }
    }

    /// Returns whether more records may have followed at the end.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Unknown | Self::Records { last: None, .. })
    }

    /// Returns the last lost record, if it is known.
    pub const fn last(self) -> Option<Seq> {
        match self {
            Self::Nothing | Self::Unknown => None,
            Self::Records { last, .. } => last,
            Self::Bodies { last, .. } => Some(last),
        }
    }
}

/// Bytes violate the format.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum CodecError {
    /// They end too early.
    #[error("{what} ends too early")]
    Short { what: &'static str },
    /// They continue behind their end.
    #[error("{what} has {extra} bytes too many")]
    Long { what: &'static str, extra: usize },
    /// A number exceeds its bound.
    #[error("{what} is {found}, above {bound}")]
    Bound {
        what: &'static str,
        found: u128,
        bound: u128,
    },
    /// A value has no meaning.
    #[error("{what} is {found}, which means nothing")]
    Meaningless { what: &'static str, found: u64 },
    /// A text is not UTF-8.
    #[error("{what} is not UTF-8")]
    NotUtf8 { what: &'static str },
    /// The checksum does not match: the bytes were changed after they were written.
    #[error("checksum mismatch: the bytes were changed after they were written")]
    Checksum,
    /// The compressor, or the code of the recovery shards, refused.
    #[error("{what}: {cause}")]
    Library { what: &'static str, cause: String },
}
