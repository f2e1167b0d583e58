//! Errors that end an import, and broken parts that do not.
//!
//! Neither contains bytes of the input beyond a short quotation: the input may have secrets.

use kubereel_format::MAX_BODY;
use kubereel_format::worded;
use kubereel_format::{AppendError, FinishError, OpenError, ReadError, RecordedAt};
use kubereel_redact::{NoRandomness, YamlMistake};
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
        /// The cause.
        source: io::Error,
    },
    /// It is empty.
    #[error("the input is empty")]
    Empty,
    /// It is compressed.
    #[error("the input is compressed ({form})")]
    Compressed {
        /// The form.
        form: &'static str,
        /// The program that decompresses it to stdout.
        program: &'static str,
    },
    /// It is already a reel.
    #[error("the input is already a reel")]
    Reel,
    /// It is not text.
    #[error("the input is neither JSON nor YAML: byte {offset} is 0")]
    Binary {
        /// The offset of a zero byte.
        offset: usize,
    },
    /// It is text in another encoding.
    #[error("the input is {encoding}, not UTF-8")]
    Encoding {
        /// The encoding, as `iconv` names it.
        encoding: &'static str,
    },
    /// It is text of another format.
    #[error("the input is neither JSON lines of events nor a list of objects")]
    NotRecognised,
    /// It looks like YAML and is not valid.
    #[error("cannot parse the input as YAML: {}", yaml_text(&**source))]
    Yaml {
        /// The parser's error; its first line names the place.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// It is a list or YAML, which is read as a whole, and too long for that.
    #[error("the input is too large to be read at once: limit {most} bytes")]
    TooLong {
        /// The limit, in bytes.
        most: u64,
    },
    /// Its format is known and not supported.
    #[error("this is {what}: not supported")]
    Unsupported {
        /// The format, with its article.
        what: &'static str,
        /// What to do instead.
        instead: &'static str,
    },
    /// A compressed file or an archive cannot be read further.
    #[error("cannot read the input: {source}")]
    Unpack {
        /// The cause, with the place.
        #[from]
        source: UnpackError,
    },
    /// An essential part is damaged.
    #[error("{place} is damaged: {cause}")]
    Damaged {
        /// The place.
        place: String,
        /// The cause.
        cause: String,
    },
    /// A git repository has more commits than allowed.
    #[error("the git repository has more than {most} commits")]
    TooManyCommits {
        /// The limit.
        most: usize,
    },
    /// No file of a folder or an archive contains an object.
    #[error(
        "no objects in {} ({} of them logs)",
        files_text(files.with_objects + files.logs + files.others),
        files.logs
    )]
    NoObjects {
        /// The kinds of files.
        files: GatheredFiles,
        /// The unreadable parts.
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
        /// Their time.
        at: RecordedAt,
    },
    /// An input of one moment has two states of an object.
    #[error("{name} has several states of an object, and one time for all of them, {}", at_text(*at))]
    SeveralStates {
        /// The input.
        name: String,
        /// Its time.
        at: RecordedAt,
    },
    /// A folder or an archive has objects of several clusters.
    #[error(
        "{first} and {second} are of different clusters: their Namespaces kube-system have different uids"
    )]
    SeveralClusters {
        /// A file in it.
        first: String,
        /// Another one.
        second: String,
    },
    /// A list is older than one of an earlier time.
    #[error(
        "{name} is of {}, but its resourceVersion {version} is lower than {before} in a list of an earlier time",
        at_text(*at)
    )]
    OutOfOrder {
        /// The list.
        name: String,
        /// Its time.
        at: RecordedAt,
        /// The resourceVersion of the list or of an object in it.
        version: u128,
        /// That in a list of an earlier time.
        before: u128,
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
    /// The reel to append to does not exist.
    #[error("{}: no reel to append to", .path.display())]
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
        /// The cause.
        #[from]
        source: NoRandomness,
    },
    /// No part of it could be imported.
    #[error("nothing in the input could be imported")]
    Nothing {
        /// The cause.
        broken: BrokenParts,
    },
    /// A file with the reel's name exists.
    #[error("{}: file exists", .path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A device, a pipe, a socket or a folder has the reel's name.
    #[error("{}: cannot write: not a regular file", .path.display())]
    NotRegular {
        /// Its name.
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
    #[error("{}: cannot write: {source}", .path.display())]
    Place {
        /// The name.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// The number of broken parts that are named.
const NAMED: usize = 20;

/// The longest quotation of the input in a message, in bytes.
const QUOTED: usize = 60;

/// The kinds of files in a folder or archive.
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
    /// Objects in whose place another file has a newer one of the same name, with another uid.
    pub replaced: u64,
    /// Links and devices, which were not followed.
    pub skipped: u64,
}

fn files_text(files: u64) -> String {
    let noun = if files == 1 { "file" } else { "files" };
    format!("{files} {noun}")
}

fn at_text(at: RecordedAt) -> String {
    let micros = at.micros;
    jiff::Timestamp::from_microsecond(micros)
        .map_or_else(|_beyond| micros.to_string(), |at| at.to_string())
}

/// Returns the first line of an error of YAML, which names the place. Of a key that occurs twice and of a number that
/// cannot be one, the parser's text quotes the key or the number, and names an option of the parser.
fn yaml_text(error: &(dyn std::error::Error + Send + Sync + 'static)) -> String {
    match error.downcast_ref::<serde_saphyr::Error>() {
        Some(
            of_yaml @ (serde_saphyr::Error::DuplicateMappingKey { .. }
            | serde_saphyr::Error::NonFiniteFloat { .. }),
        ) => YamlMistake::of(of_yaml).to_string(),
        _ => error
            .to_string()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned(),
    }
}

/// All parts that could not be imported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BrokenParts {
    /// What the numbers of parts count.
    pub counted: BrokenUnit,
    /// Their number.
    pub count: u64,
    /// The first of them.
    pub first: Vec<BrokenPart>,
}

worded! {
/// What the numbers of broken parts count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BrokenUnit {
    /// Lines.
    #[default]
    Lines = "line",
    /// Objects, in the order of the input.
    Objects = "object",
    /// Lines, objects and files of several inputs.
    Parts = "part",
}
}

/// A part of the input that could not be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenPart {
    /// The input or the file in it; empty for a single input without a name.
    pub file: String,
    /// Its number, from 1; 0 for the whole file.
    pub number: u64,
    /// Its number in the list that the line is, from 1; 0 if it is the line.
    pub item: u64,
    /// The line at which its document of YAML begins, from 1; 0 if it is not of one.
    pub line: u64,
    /// The cause.
    pub problem: BrokenReason,
}

/// Why a part could not be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BrokenReason {
    /// It is not JSON.
    NotJson(String),
    /// It is not JSON, and everything after it cannot be read either.
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
    /// It is longer than the longest object.
    TooLong,
    /// One of its names is longer than the longest name.
    LongName(&'static str),
    /// It is a Secret that cannot be parsed, so no part of it may be stored.
    UnreadableSecret,
    /// It is not an event of an audit log.
    NotAnAuditEvent(String),
    /// A file or a part of it cannot be read.
    Unreadable(String),
    /// Everything after this place is missing.
    Cut(String),
    /// Compressed data is wrong: a checksum failed, so that everything before this place may be wrong, too.
    Corrupt(String),
    /// It is one of several git repositories in a folder or an archive.
    OneOfRepositories,
    /// A file of events is among files of one moment.
    EventInGathering,
    /// It is older than the end of the reel that it is appended to.
    BeforeEnd,
}

impl BrokenReason {
    /// Makes the reason of a damaged input.
    pub(crate) fn damage(source: &UnpackError) -> Self {
        if source.is_corrupt() {
            Self::Corrupt(source.to_string())
        } else {
            Self::Cut(source.to_string())
        }
    }

    /// Leaves out the place in the JSON, which was made of YAML.
    pub(crate) fn without_byte(self) -> Self {
        match self {
            Self::NotAnObject(why) => {
                let what = why.rsplit_once(" at byte ").map_or(&*why, |(what, _)| what);
                Self::NotAnObject(what.to_owned())
            }
            other => other,
        }
    }
}

impl ImportError {
    /// Returns the line of an error of YAML, from 1.
    pub(crate) fn yaml_line(&self) -> Option<usize> {
        let Self::Yaml { source } = self else {
            return None;
        };
        let location = source.downcast_ref::<serde_saphyr::Error>()?.location()?;
        usize::try_from(location.line())
            .ok()
            .filter(|line| *line > 0)
    }
}

impl BrokenParts {
    /// Adds a part of a file; the name is empty for a single input.
    pub(crate) fn push_in(&mut self, file: &str, number: u64, problem: BrokenReason) {
        let file = file.to_owned();
        self.push(BrokenPart {
            file,
            number,
            item: 0,
            line: 0,
            problem,
        });
    }

    /// Adds a part.
    pub(crate) fn push(&mut self, part: BrokenPart) {
        self.count = self.count.saturating_add(1);
        self.name(part);
    }

    /// Keeps one of the first; damage of a whole input, which is found at its end, always.
    fn name(&mut self, part: BrokenPart) {
        let is_damage = |part: &BrokenPart| {
            matches!(
                part.problem,
                BrokenReason::Cut(_) | BrokenReason::Corrupt(_)
            )
        };
        if self.first.len() < NAMED {
            self.first.push(part);
        } else if is_damage(&part)
            && let Some(last) = self.first.iter_mut().rfind(|one| !is_damage(one))
        {
            *last = part;
        }
    }

    /// Adds the parts of an input.
    pub(crate) fn extend(&mut self, others: Self) {
        self.count = self.count.saturating_add(others.count);
        others.first.into_iter().for_each(|one| self.name(one));
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
            Self::Corrupt(why) => write!(
                f,
                "{why}; what is before that place may be wrong, and anything behind it is missing"
            ),
            Self::OneOfRepositories => {
                f.write_str("is one of several git repositories: import it by itself")
            }
            Self::EventInGathering => f.write_str("holds events, not objects: import it by itself"),
            Self::BeforeEnd => f.write_str("earlier than the end of the reel"),
        }
    }
}

/// Returns the beginning of a word of the input.
pub(crate) fn quoted(word: &str) -> &str {
    let end = word.floor_char_boundary(QUOTED);
    word.get(..end).unwrap_or_default()
}
