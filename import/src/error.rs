//! The ways in which an import fails as a whole, and the broken parts that do not stop it.
//!
//! Neither keeps bytes of the input beyond a short quotation: they may hold what must not be kept.

use kubereel_format::MAX_BODY;
use kubereel_format::{AppendError, FinishError, OpenError, ReadError, RecordedAt};
use kubereel_redact::NoRandomness;
use kubereel_unpack::UnpackError;
use std::fmt;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// An import failed, and no reel was written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The input cannot be read.
    #[error("cannot read the input: {source}")]
    Read {
        /// Why.
        source: io::Error,
    },
    /// There is nothing in it.
    #[error("the input is empty")]
    Empty,
    /// It is compressed.
    #[error("the input is compressed ({form})")]
    Compressed {
        /// The form.
        form: &'static str,
        /// The program that writes it uncompressed to stdout.
        program: &'static str,
    },
    /// It is already a reel.
    #[error("the input is already a reel")]
    Reel,
    /// It is not text.
    #[error("the input is neither JSON nor YAML: byte {offset} is 0")]
    Binary {
        /// Where a zero byte stands.
        offset: usize,
    },
    /// It is text of another form.
    #[error("the input is neither JSON lines of events nor a list of objects")]
    NotRecognised,
    /// It looks like YAML and is not.
    #[error("cannot parse the input as YAML: {}", source.to_string().lines().next().unwrap_or_default())]
    Yaml {
        /// The error of the parser; its first line names the place.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// It is a list or YAML, which is read as a whole, and too long for that.
    #[error("the input is too large to be read at once: limit {most} bytes")]
    TooLong {
        /// The most bytes.
        most: u64,
    },
    /// It is of a known format that is not supported.
    #[error("this is {what}: not supported")]
    Unsupported {
        /// What it is, with its article.
        what: &'static str,
        /// What to do instead.
        instead: &'static str,
    },
    /// A compressed file or an archive cannot be read further.
    #[error("cannot read the input: {source}")]
    Unpack {
        /// Why, and where.
        #[from]
        source: UnpackError,
    },
    /// A place without which the rest is of no use is damaged.
    #[error("{place} is damaged: {cause}")]
    Damaged {
        /// The place.
        place: String,
        /// Why.
        cause: String,
    },
    /// A git repository has more commits than allowed.
    #[error("the git repository has more than {most} commits")]
    TooManyCommits {
        /// The most commits.
        most: usize,
    },
    /// No file of a folder or an archive holds an object.
    #[error(
        "no objects in {} files ({} of them logs)",
        files.with_objects + files.logs + files.others,
        files.logs
    )]
    NoObjects {
        /// What the files are.
        files: GatheredFiles,
        /// What could not be read.
        broken: BrokenParts,
    },
    /// There is a reel among the files.
    #[error("there is a reel among the files: {name}")]
    ReelInside {
        /// Its name.
        name: String,
    },
    /// Two lists of the same moment have an object in common.
    #[error("{first} and {second} have the same time, {}, and an object in common", at_text(*at))]
    SameTime {
        /// The first.
        first: String,
        /// The second.
        second: String,
        /// The time.
        at: RecordedAt,
    },
    /// An input is older than the end of the reel that it is appended to.
    #[error("{name} is of {}, before the end of the reel at {}", at_text(*at), at_text(*end))]
    BeforeEnd {
        /// The input.
        name: String,
        /// Its time.
        at: RecordedAt,
        /// The end of the reel.
        end: RecordedAt,
    },
    /// There is no reel to append to.
    #[error("no reel to append to: {}", .path.display())]
    NoReel {
        /// Its name.
        path: PathBuf,
    },
    /// The reel to append to cannot be read.
    #[error(transparent)]
    ReadReel(#[from] ReadError),
    /// Its objects have no time.
    #[error("the input has no time for its objects")]
    NoTime,
    /// No key for the marks of redaction can be drawn.
    #[error("cannot create a key for redaction: {source}")]
    NoRandomness {
        /// Why.
        #[from]
        source: NoRandomness,
    },
    /// Nothing in it could be imported.
    #[error("nothing in the input could be imported")]
    Nothing {
        /// The cause.
        broken: BrokenParts,
    },
    /// A file with the reel's name exists.
    #[error("file exists: {}", .path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The reel cannot be made.
    #[error(transparent)]
    Create(#[from] OpenError),
    /// The reel cannot be written.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The reel cannot be finished.
    #[error(transparent)]
    Finish(#[from] FinishError),
    /// The finished reel cannot be given its name.
    #[error("cannot write: {source}: {}", .path.display())]
    Place {
        /// The name.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// How many are named one by one.
const NAMED: usize = 20;

/// How many bytes of a word of the input are repeated in a message.
const QUOTED: usize = 60;

/// What was among the files of a gathering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GatheredFiles {
    /// Files with objects.
    pub with_objects: u64,
    /// Logs.
    pub logs: u64,
    /// Other files without objects.
    pub others: u64,
    /// Copies of objects that are in another file, too.
    pub copies: u64,
    /// Links and devices, which were not followed.
    pub skipped: u64,
}

fn at_text(at: RecordedAt) -> String {
    let micros = at.micros;
    jiff::Timestamp::from_microsecond(micros)
        .map_or_else(|_beyond| micros.to_string(), |at| at.to_string())
}

/// All parts that could not be taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BrokenParts {
    /// What the numbers count.
    pub counted: BrokenUnit,
    /// How many there are.
    pub count: u64,
    /// The first of them.
    pub first: Vec<BrokenPart>,
}

/// What the numbers of broken parts count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BrokenUnit {
    /// Lines.
    #[default]
    Lines,
    /// Objects, in the order in which they stand there.
    Objects,
    /// Lines, objects and files of several inputs.
    Parts,
}

/// A part of the input that could not be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenPart {
    /// The input or the file in it; empty if there is one input and it has no name.
    pub file: String,
    /// Which it is, from 1; 0 for the whole file.
    pub number: u64,
    /// Why.
    pub problem: BrokenReason,
}

/// Why a part could not be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BrokenReason {
    /// It is not JSON.
    NotJson(String),
    /// It is not JSON, and nothing after it can be read either.
    Rest(String),
    /// It is JSON, but not an object with the members of an event.
    NotAnEvent(String),
    /// It has no `type`.
    NoType,
    /// Its type is unknown.
    UnknownType(String),
    /// It has no `object`.
    NoObject,
    /// It has no time.
    NoTime,
    /// Its time is invalid.
    BadTime(String),
    /// Its object is not a Kubernetes object.
    NotAnObject(String),
    /// Its object has no name.
    NoName,
    /// Neither the line nor its object names the resource.
    NoResource,
    /// The input names more resources than allowed.
    TooManyResources,
    /// It is longer than any object may be.
    TooLong,
    /// One of its names is longer than names may be.
    LongName(&'static str),
    /// It is a Secret that cannot be parsed, so nothing of it may be kept.
    UnreadableSecret,
    /// It is not an event of an audit log.
    NotAnAuditEvent(String),
    /// A file or a part of it cannot be read.
    Unreadable(String),
    /// Everything behind this place is missing.
    Cut(String),
    /// A file of events lies among files of one moment.
    EventInGathering,
    /// It is older than the end of the reel that it is appended to.
    BeforeEnd,
}

impl BrokenParts {
    /// Adds one of a file; of the only input the name is empty.
    pub(crate) fn push_in(&mut self, file: &str, number: u64, problem: BrokenReason) {
        self.count = self.count.saturating_add(1);
        if self.first.len() < NAMED {
            let file = file.to_owned();
            self.first.push(BrokenPart {
                file,
                number,
                problem,
            });
        }
    }

    /// Adds those of a part of the input.
    pub(crate) fn extend(&mut self, others: Self) {
        self.count = self.count.saturating_add(others.count);
        let room = NAMED.saturating_sub(self.first.len());
        self.first.extend(others.first.into_iter().take(room));
    }
}

impl BrokenUnit {
    /// Gives the word for one of them.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lines => "line",
            Self::Objects => "object",
            Self::Parts => "part",
        }
    }
}

impl fmt::Display for BrokenReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson(why) => write!(f, "not JSON: {why}"),
            Self::Rest(why) => write!(f, "not JSON, and nothing after it can be read: {why}"),
            Self::NotAnEvent(why) => write!(f, "not an event: {why}"),
            Self::NoType => f.write_str("type is missing"),
            Self::UnknownType(word) => write!(f, "unknown type {:?}", quoted(word)),
            Self::NoObject => f.write_str("object is missing"),
            Self::NoTime => f.write_str("ts is missing"),
            Self::BadTime(word) => {
                write!(f, "ts is neither seconds nor RFC 3339: {:?}", quoted(word))
            }
            Self::NotAnObject(why) => write!(f, "not a Kubernetes object: {why}"),
            Self::NoName => f.write_str("metadata.name is missing"),
            Self::NoResource => {
                f.write_str("apiVersion and kind are missing, and the line names no resource")
            }
            Self::TooManyResources => f.write_str("the input names too many resources"),
            Self::TooLong => write!(f, "longer than {MAX_BODY} bytes"),
            Self::LongName(what) => write!(f, "the {what} is too long"),
            Self::UnreadableSecret => {
                f.write_str("the Secret cannot be parsed, so it cannot be redacted")
            }
            Self::NotAnAuditEvent(why) => write!(f, "not an event of an audit log: {why}"),
            Self::Unreadable(why) => write!(f, "cannot be read: {why}"),
            Self::Cut(why) => write!(f, "{why}; what is behind that place is missing"),
            Self::EventInGathering => f.write_str("holds events, not objects: import it by itself"),
            Self::BeforeEnd => f.write_str("earlier than the end of the reel"),
        }
    }
}

/// Gives the beginning of a word of the input.
pub(crate) fn quoted(word: &str) -> &str {
    let end = word.floor_char_boundary(QUOTED);
    word.get(..end).unwrap_or_default()
}
