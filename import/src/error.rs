//! The ways in which an import fails as a whole, and the broken parts that do not stop it.
//!
//! Neither keeps bytes of the input beyond a short quotation: they may hold what must not be kept.

use kubereel_format::MAX_BODY;
use kubereel_format::{AppendError, FinishError, OpenError};
use kubereel_redact::NoRandomness;
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
    /// It is a reel already.
    #[error("the input is a reel already")]
    Reel,
    /// It is no text.
    #[error("the input is neither JSON nor YAML: byte {offset} is 0")]
    Binary {
        /// Where a zero byte stands.
        offset: usize,
    },
    /// It is text of another form.
    #[error("the input is neither JSON lines of events nor a list of objects")]
    NotRecognised,
    /// It looks like YAML and is not.
    #[error("the input cannot be read as YAML: {cause}")]
    Yaml {
        /// What is wrong with it.
        cause: String,
    },
    /// It is a list or YAML, which is read as a whole, and too long for that.
    #[error("the input is too long to be read as a whole: it may have {most} bytes")]
    TooLong {
        /// The most bytes.
        most: u64,
    },
    /// It does not tell when its objects were so.
    #[error("the input does not tell of what time its objects are")]
    NoTime,
    /// What is hidden could be guessed.
    #[error("cannot draw a key for what is hidden: {source}")]
    NoRandomness {
        /// Why.
        #[from]
        source: NoRandomness,
    },
    /// Nothing of it could be taken.
    #[error("nothing of the input could be imported")]
    Nothing {
        /// What is wrong with it.
        broken: BrokenParts,
    },
    /// There is a file of the reel's name already.
    #[error("there is such a file already: {}", .path.display())]
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
}

/// A part of the input that could not be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenPart {
    /// Which it is, from 1.
    pub number: u64,
    /// Why.
    pub problem: Problem,
}

/// Why a part could not be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// It is no JSON.
    NotJson(String),
    /// It is no JSON, so that nothing after it can be read either.
    Rest(String),
    /// It is JSON, and no object with the members of an event.
    NotAnEvent(String),
    /// It has no `type`.
    NoType,
    /// Its type is none that is known.
    UnknownType(String),
    /// It has no `object`.
    NoObject,
    /// It does not say when it came.
    NoTime,
    /// Its time is none.
    BadTime(String),
    /// Its object is no Kubernetes object.
    NotAnObject(String),
    /// Its object has no name.
    NoName,
    /// Neither the line nor its object names the resource.
    NoResource,
    /// Its resource is one more than an input may name.
    TooManyResources,
    /// It is longer than any object may be.
    TooLong,
    /// One of its names is longer than names may be.
    LongName(&'static str),
    /// It is a Secret that cannot be read, so that nothing of it may be kept.
    UnreadableSecret,
}

impl BrokenParts {
    /// Adds one.
    pub(crate) fn push(&mut self, number: u64, problem: Problem) {
        self.count = self.count.saturating_add(1);
        if self.first.len() < NAMED {
            self.first.push(BrokenPart { number, problem });
        }
    }
}

impl BrokenUnit {
    /// Gives the word for one of them.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lines => "line",
            Self::Objects => "object",
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson(why) => write!(f, "no JSON: {why}"),
            Self::Rest(why) => write!(f, "no JSON, here ends what can be read: {why}"),
            Self::NotAnEvent(why) => write!(f, "no event: {why}"),
            Self::NoType => f.write_str("no type"),
            Self::UnknownType(word) => write!(f, "unknown type {:?}", quoted(word)),
            Self::NoObject => f.write_str("no object"),
            Self::NoTime => f.write_str("no ts"),
            Self::BadTime(word) => {
                write!(f, "ts is neither seconds nor RFC 3339: {:?}", quoted(word))
            }
            Self::NotAnObject(why) => write!(f, "no Kubernetes object: {why}"),
            Self::NoName => f.write_str("the object has no metadata.name"),
            Self::NoResource => f.write_str("no apiVersion and kind, and no resource named"),
            Self::TooManyResources => f.write_str("the input names too many resources"),
            Self::TooLong => write!(f, "longer than {MAX_BODY} bytes"),
            Self::LongName(what) => write!(f, "the {what} is too long"),
            Self::UnreadableSecret => f.write_str("a Secret that cannot be read"),
        }
    }
}

/// Gives the beginning of a word of the input.
pub(crate) fn quoted(word: &str) -> &str {
    let end = word.floor_char_boundary(QUOTED);
    word.get(..end).unwrap_or_default()
}
