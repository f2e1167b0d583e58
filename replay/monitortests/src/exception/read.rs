//! The form of a file of exceptions. Rejects unknown fields, entries that would cover everything, and
//! pending entries without a link.

use super::entry::{Exception, ExceptionState};
use super::release::Releases;
use super::set::ExceptionSet;
use crate::applies::PLATFORM_WORDS;
use crate::facts::TOPOLOGIES;
use crate::yaml::{OneOrMany, yaml_words};
use kubereel_format::RecordedAt;
use kubereel_history::Moment;
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny};
use serde_saphyr::Spanned;
use std::sync::{Arc, LazyLock};
use thiserror::Error;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExceptionFile {
    exceptions: Vec<Exception>,
}

/// Where the exceptions of a file begin. They are read by themselves, because a [`Spanned`] struct is compiled for each
/// form in which it could come.
#[derive(Deserialize)]
struct ExceptionPlaces {
    exceptions: Vec<Spanned<IgnoredAny>>,
}

impl ExceptionSet {
    /// Reads a file of exceptions.
    ///
    /// # Errors
    /// When it is not YAML, has an unknown field or a wrong value.
    pub fn read(file: &str, text: &str) -> Result<Self, ExceptionError> {
        Self::read_as(file, text, false)
    }

    pub(super) fn read_as(
        file: &str,
        text: &str,
        is_builtin: bool,
    ) -> Result<Self, ExceptionError> {
        if text.len() > FILE_BYTES_MOST {
            return Err(ExceptionError::TooLong {
                file: file.to_owned(),
                most: FILE_BYTES_MOST,
            });
        }
        let wrong_at = |line, column, message| ExceptionError::Wrong {
            file: file.to_owned(),
            line,
            column,
            message,
        };
        let wrong = |error: serde_saphyr::Error| {
            let at = error.location();
            let (line, column) = at.map_or((1, 1), |at| (at.line(), at.column()));
            wrong_at(line, column, yaml_words(&error))
        };
        let read: ExceptionFile = serde_saphyr::from_str(text).map_err(wrong)?;
        let places: ExceptionPlaces = serde_saphyr::from_str(text).map_err(wrong)?;
        let name: Arc<str> = Arc::from(file);
        let mut entries = Vec::new();
        for (mut exception, place) in read.exceptions.into_iter().zip(places.exceptions) {
            let at = place.referenced;
            if let Some(message) = incomplete(&exception) {
                let message = message.to_owned();
                return Err(wrong_at(at.line(), at.column(), message));
            }
            exception.file = Arc::clone(&name);
            exception.line = at.line();
            exception.is_builtin = is_builtin;
            entries.push(exception);
        }
        Ok(Self { entries })
    }
}

/// Tells what an exception lacks that its fields do not say one by one.
fn incomplete(exception: &Exception) -> Option<&'static str> {
    let has_link = !exception.link.trim().is_empty();
    if exception.rule.0.is_empty() && exception.test.0.is_empty() {
        return Some("an exception needs a `rule` (an id) or a `test` (a name in JUnit)");
    }
    match exception.state {
        ExceptionState::Jira if !has_link => {
            Some("a pending exception needs a `link` to its issue")
        }
        ExceptionState::Permanent if exception.link.is_empty() && exception.why.is_empty() => {
            Some("a permanent exception needs a `why` or a `link`")
        }
        _ => None,
    }
}

/// Reads a text by a function of its own.
fn parsed<'de, T, D: Deserializer<'de>>(
    input: D,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, D::Error> {
    let text = String::deserialize(input)?;
    parse(&text).map(Some).map_err(D::Error::custom)
}

/// Reads a regex for a whole text: a reason is one word.
pub(super) fn whole<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Regex>, D::Error> {
    parsed(input, |text| regex(&format!("^(?:{text})$")))
}

/// Reads a regex for a part of a text.
pub(super) fn part<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Regex>, D::Error> {
    parsed(input, regex)
}

/// Reads a range of releases.
pub(super) fn releases<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Releases>, D::Error> {
    parsed(input, Releases::read)
}

/// Reads a length of time: the grammar of moments has lengths after a plus sign.
pub(super) fn micros<'de, D: Deserializer<'de>>(input: D) -> Result<Option<i64>, D::Error> {
    parsed(input, |text| {
        let length = match format!("+{text}").parse() {
            Ok(Moment::AfterStart { micros }) => i64::try_from(micros).ok(),
            _ => None,
        };
        length.ok_or_else(|| format!("not a length of time such as 40s or 10m: {text:?}"))
    })
}

/// Reads a day, which is included, or a time.
pub(super) fn end<'de, D: Deserializer<'de>>(input: D) -> Result<Option<RecordedAt>, D::Error> {
    parsed(input, |text| {
        let day = format!("{text}T23:59:59.999999Z");
        match text.parse().or_else(|_no_time| day.parse()) {
            Ok(Moment::Time(at)) => Ok(at),
            _ => Err(format!(
                "not a day such as 2026-12-31, nor a time of RFC 3339: {text:?}"
            )),
        }
    })
}

fn regex(text: &str) -> Result<Regex, String> {
    let made = RegexBuilder::new(text).size_limit(REGEX_BYTES_MOST).build();
    made.map_err(|error| {
        let words = error.to_string();
        let last = words.lines().last().unwrap_or_default().trim();
        format!("not a regex: {}", last.trim_start_matches("error: "))
    })
}

/// Reads topologies of the control plane.
pub(super) fn topologies<'de, D: Deserializer<'de>>(
    input: D,
) -> Result<OneOrMany<String>, D::Error> {
    OneOrMany::of_words(input, &TOPOLOGIES)
}

/// Reads platforms.
pub(super) fn platforms<'de, D: Deserializer<'de>>(
    input: D,
) -> Result<OneOrMany<String>, D::Error> {
    OneOrMany::of_words(input, &PLATFORM_WORDS)
}

/// A file of exceptions cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ExceptionError {
    /// It is not YAML, or not of the form of a file of exceptions.
    #[error("{file}:{line}:{column}: {message}")]
    Wrong {
        /// The file's name.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The column, from 1.
        column: u64,
        /// What is wrong there.
        message: String,
    },
    /// It is longer than any that a person wrote.
    #[error("{file}: longer than {most} bytes")]
    TooLong {
        /// The file's name.
        file: String,
        /// The most bytes.
        most: usize,
    },
}

/// The longest file, in bytes.
pub(super) const FILE_BYTES_MOST: usize = 4 << 20;
/// The largest compiled regex, in bytes.
pub(super) const REGEX_BYTES_MOST: usize = 1 << 20;
/// The longest text that a regex is tried on, in bytes; of longer ones the begin.
pub(super) const MATCHED_BYTES_MOST: usize = 64 << 10;

/// The files, each its name in messages and its text.
const FILES: [(&str, &str); 2] = [
    ("built-in", include_str!("builtin.yaml")),
    ("built-in-pods", include_str!("builtin-pods.yaml")),
];

impl ExceptionSet {
    /// Returns the exceptions that the program carries.
    ///
    /// # Errors
    /// Never, as a test of this crate shows.
    pub fn builtin() -> Result<Self, ExceptionError> {
        static READ: LazyLock<Result<ExceptionSet, ExceptionError>> = LazyLock::new(|| {
            let none = ExceptionSet::default();
            FILES.iter().try_fold(none, |read, (name, text)| {
                Ok(read.then(ExceptionSet::read_as(name, text, true)?))
            })
        });
        READ.clone()
    }
}
