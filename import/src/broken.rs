//! Owns the parts of an input that could not be taken: which line, and why. Refuses to keep their
//! bytes: they may hold what must not be kept.

use kubereel_format::MAX_BODY;
use std::fmt;

/// How many are named one by one.
const NAMED: usize = 20;

/// How many bytes of a word of the input are repeated in a message.
const QUOTED: usize = 60;

/// All parts that could not be taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Broken {
    /// What the numbers count.
    pub counted: Counted,
    /// How many there are.
    pub count: u64,
    /// The first of them.
    pub first: Vec<BrokenLine>,
}

/// What the numbers of broken parts count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counted {
    /// Lines.
    #[default]
    Lines,
    /// Objects, in the order in which they stand there.
    Objects,
}

/// A part of the input that could not be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenLine {
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

impl Broken {
    /// Adds one.
    pub(crate) fn push(&mut self, number: u64, problem: Problem) {
        self.count = self.count.saturating_add(1);
        if self.first.len() < NAMED {
            self.first.push(BrokenLine { number, problem });
        }
    }
}

impl Counted {
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
