//! Every way in which writing or reading a reel can fail. Each message names the cause once, and the path
//! last.

use crate::id::{BlockId, Seq};
use crate::limits::FormatVersion;
use std::path::PathBuf;
use thiserror::Error;

/// A reel could not be opened for reading, created or resumed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file could not be opened or read.
    #[error("cannot open: {source}: {path}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file is not a reel.
    #[error("not a reel ({found}): {path}", path = path.display())]
    NotAReel {
        /// The file.
        path: PathBuf,
        /// What it begins with, in words.
        found: String,
    },
    /// Another program writes it at the moment.
    #[error("the reel is still being recorded: {path}", path = path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// There is a file already, and the caller wanted a new one.
    #[error("the file exists: {path}", path = path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file is of a format that this program does not know.
    #[error("format {found} is not read by this program, which knows {known}: {path}", path = path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: FormatVersion,
        /// The newest one known.
        known: FormatVersion,
    },
    /// The file is a reel without its end: nothing of it can be read.
    #[error("cut off: {found_bytes} of {whole_bytes} bytes are there: {path}", path = path.display())]
    CutOff {
        /// The file.
        path: PathBuf,
        /// How many bytes are there.
        found_bytes: u64,
        /// How many there should be.
        whole_bytes: u64,
    },
    /// The file is a reel, but so damaged that nothing of it can be read.
    #[error("damaged beyond reading at {place}: {cause}: {path}", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where.
        place: String,
        /// What is wrong.
        cause: String,
    },
    /// The reel is sealed, and the caller wanted to append.
    #[error("the reel is sealed, and takes no more records: {path}", path = path.display())]
    Sealed {
        /// The file.
        path: PathBuf,
    },
    /// The recording is finished, and the caller wanted to append.
    #[error("the reel is finished: {path}", path = path.display())]
    Finished {
        /// The file.
        path: PathBuf,
    },
}

/// Something could not be appended to a reel.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AppendError {
    /// The database refused; usually the disk is full or gone.
    #[error("cannot write: {cause}: {path}", path = path.display())]
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
    /// A name is longer than any server allows.
    #[error("{what} of {len} bytes is too long")]
    NameTooLong {
        /// Which.
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
    /// The reel holds as many items as its numbers can name.
    #[error("the reel is full: too many {what}")]
    Full {
        /// Of what.
        what: &'static str,
    },
    /// The file would become longer than it may: see [`crate::Appender::create_within`].
    #[error("the reel would become longer than {max} bytes: {path}", path = path.display())]
    OverBound {
        /// The file.
        path: PathBuf,
        /// How long it may become.
        max: u64,
    },
    /// The file's earlier content cannot be read.
    #[error("cannot resume the reel: {0}")]
    Read(#[from] ReadError),
}

/// A reel could not be finished. What was committed stands.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FinishError {
    /// The last records could not be written.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The compact copy could not be written; the file as recorded stands.
    #[error("cannot write the finished copy: {cause}: {path}", path = path.display())]
    Copy {
        /// The copy.
        path: PathBuf,
        /// The cause.
        cause: String,
    },
}

/// What can be read of a reel could not be written as a new one.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecoverError {
    /// There is a file of that name.
    #[error("the file exists: {path}", path = path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The new file could not be made.
    #[error(transparent)]
    Create(#[from] OpenError),
    /// Something could not be appended to it.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// It could not be completed.
    #[error(transparent)]
    Finish(#[from] FinishError),
    /// It could not be given its name.
    #[error("cannot name the new file: {source}: {path}", path = path.display())]
    Name {
        /// Its name.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
}

/// A reel could not be sealed. It stands as it was.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SealError {
    /// The reel is damaged: a new file would hide that.
    #[error("the reel is damaged: {place}: {cause}")]
    Damaged {
        /// Where.
        place: String,
        /// What is wrong.
        cause: String,
    },
    /// There is a file of that name.
    #[error("the file exists: {path}", path = path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Something of the reel could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Something could not be encoded.
    #[error("cannot encode a block: {cause}")]
    Encode {
        /// The cause.
        cause: String,
    },
    /// The new file could not be written.
    #[error("cannot write the sealed file: {source}: {path}", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The new file could not be read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The new file does not hold the same recording.
    #[error("the sealed file has other records, and was removed")]
    Changed,
    /// The reel has more blocks or texts than their numbers can name.
    #[error("the reel is too large to be sealed")]
    TooLarge,
}

/// Something of a reel could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A block is damaged, and with it what it holds.
    #[error("block {block} (events {first} to {last}) is damaged: {cause}")]
    Block {
        /// The block.
        block: BlockId,
        /// Its first event or note.
        first: Seq,
        /// Its last event or note.
        last: Seq,
        /// What is wrong.
        cause: String,
    },
    /// An event cannot be decoded.
    #[error("event {seq} is damaged: {cause}")]
    Event {
        /// The event.
        seq: Seq,
        /// What is wrong.
        cause: String,
    },
    /// No event has that number.
    #[error("no event {seq}: the reel has {end}")]
    NoSuchEvent {
        /// The number.
        seq: Seq,
        /// How many there are.
        end: Seq,
    },
    /// That number belongs to a note.
    #[error("{seq} is a note, not an event")]
    NotAnEvent {
        /// The number.
        seq: Seq,
    },
    /// The database failed below.
    #[error("cannot read {place}: {cause}")]
    Storage {
        /// Where.
        place: String,
        /// Its error.
        cause: String,
    },
}

/// A place of a reel that is damaged, and what is lost with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Where, in words: a table and a row, or a block.
    pub place: String,
    /// What is wrong.
    pub cause: String,
    /// What is lost.
    pub loss: Loss,
}

/// What is lost of a reel where it is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Nothing: all that the place held stands elsewhere, too.
    Nothing,
    /// Anything may be: the place does not say.
    Unknown,
    /// Events and notes, so that neither their number nor their objects are known.
    Records {
        /// The first one.
        first: Seq,
        /// The last one; `None` if it is not known how many followed.
        last: Option<Seq>,
    },
    /// Objects' bodies: the events are known, and what can be read of their bodies is read.
    Bodies {
        /// The first event or note of the block.
        first: Seq,
        /// The last one.
        last: Seq,
    },
}

impl Loss {
    /// Returns the first record that cannot be read, if the place says so.
    pub const fn first(self) -> Option<Seq> {
        match self {
            Self::Nothing | Self::Unknown => None,
            Self::Records { first, .. } | Self::Bodies { first, .. } => Some(first),
        }
    }

    /// Returns the last one, if the place says so.
    pub const fn last(self) -> Option<Seq> {
        match self {
            Self::Nothing | Self::Unknown => None,
            Self::Records { last, .. } => last,
            Self::Bodies { last, .. } => Some(last),
        }
    }
}

/// Bytes do not follow the format.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum CodecError {
    /// They end too early.
    #[error("{what} ends too early")]
    Short { what: &'static str },
    /// They continue where they should end.
    #[error("{what} has {extra} bytes too many")]
    Long { what: &'static str, extra: usize },
    /// A number is beyond its bound.
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
    /// The checksum does not fit: the bytes were changed after they were written.
    #[error("checksum mismatch: the bytes were changed after they were written")]
    Checksum,
    /// The compressor, or the code of the recovery shards, refused.
    #[error("{what}: {cause}")]
    Library { what: &'static str, cause: String },
}
