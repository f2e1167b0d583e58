//! The form of a file of exceptions. Rejects unknown fields, entries that would cover everything, and
//! pending entries without a link.

use super::entry::{Exception, ExceptionState, RunKind};
use super::release::Releases;
use super::set::ExceptionSet;
use crate::glob::Glob;
use crate::phase::Phase;
use kubereel_format::RecordedAt;
use kubereel_history::Moment;
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde_saphyr::{Location, Spanned};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use thiserror::Error;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExceptionFile {
    exceptions: Vec<Spanned<ExceptionYaml>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExceptionYaml {
    #[serde(default)]
    rule: Texts,
    #[serde(default)]
    test: Texts,
    #[serde(default)]
    operator: Texts,
    #[serde(default)]
    namespace: Texts,
    #[serde(default)]
    resource: Texts,
    #[serde(default)]
    name: Texts,
    #[serde(default)]
    container: Texts,
    #[serde(default)]
    node: Texts,
    #[serde(default)]
    condition: Texts,
    #[serde(default)]
    keys: BTreeMap<String, Texts>,
    reason: Option<Spanned<String>>,
    message: Option<Spanned<String>>,
    #[serde(default)]
    topology: Texts,
    #[serde(default)]
    platform: Texts,
    #[serde(default)]
    architecture: Texts,
    release: Option<Spanned<String>>,
    #[serde(default)]
    phase: Vec<Spanned<String>>,
    #[serde(default)]
    run: Vec<Spanned<String>>,
    shorter_than: Option<Spanned<String>>,
    state: Spanned<String>,
    #[serde(default)]
    link: String,
    #[serde(default)]
    why: String,
    expires: Option<Spanned<String>>,
}

/// What is wrong, and where.
type LocatedError = (Location, String);

impl ExceptionSet {
    /// Reads a file of exceptions.
    ///
    /// # Errors
    /// When it is no YAML, has a field that exceptions do not have, or a value that cannot be meant.
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
        let wrong = |(at, message): LocatedError| wrong_at(at.line(), at.column(), message);
        let read: ExceptionFile = serde_saphyr::from_str(text).map_err(|error| {
            let at = error.location();
            let (line, column) = at.map_or((1, 1), |at| (at.line(), at.column()));
            let words = error.without_snippet().to_string();
            let first = words.lines().next().unwrap_or_default();
            // The place is said once.
            let first = first
                .rsplit_once(" at line ")
                .map_or(first, |(words, _)| words);
            wrong_at(line, column, first.to_owned())
        })?;
        let name: Arc<str> = Arc::from(file);
        let entries = read.exceptions.into_iter().map(|spanned| {
            exception(spanned.value, spanned.referenced, &name, is_builtin).map_err(wrong)
        });
        let entries = entries.collect::<Result<_, _>>()?;
        Ok(Self { entries })
    }
}

fn exception(
    entry: ExceptionYaml,
    at: Location,
    file: &Arc<str>,
    is_builtin: bool,
) -> Result<Exception, LocatedError> {
    if entry.rule.0.is_empty() && entry.test.0.is_empty() {
        let message = "an exception names its `rule` (an id) or its `test` (a name in JUnit)";
        return Err((at, message.to_owned()));
    }
    let state = match entry.state.value.as_str() {
        "permanent" => ExceptionState::Permanent,
        "jira" => ExceptionState::Jira,
        other => {
            let message = format!("`state` is permanent or jira, not {other:?}");
            return Err((entry.state.referenced, message));
        }
    };
    if state == ExceptionState::Jira && entry.link.trim().is_empty() {
        let message = "a pending exception has a `link` to its issue";
        return Err((at, message.to_owned()));
    }
    if state == ExceptionState::Permanent && entry.link.is_empty() && entry.why.is_empty() {
        let message = "a permanent exception says `why`, or has a `link`";
        return Err((at, message.to_owned()));
    }
    let globs = |texts: Texts| texts.0.iter().map(|text| Glob::new(text)).collect();
    let keys = entry.keys.into_iter();
    Ok(Exception {
        rule: globs(entry.rule),
        test: globs(entry.test),
        operator: globs(entry.operator),
        namespace: globs(entry.namespace),
        resource: globs(entry.resource),
        name: globs(entry.name),
        container: globs(entry.container),
        node: globs(entry.node),
        condition: globs(entry.condition),
        keys: keys.map(|(name, texts)| (name, globs(texts))).collect(),
        // A reason is one word: all of it is meant.
        reason: read_with(entry.reason, |text| regex(&format!("^(?:{text})$")))?,
        message: read_with(entry.message, regex)?,
        topology: entry.topology.0,
        platform: entry.platform.0,
        architecture: entry.architecture.0,
        release: read_with(entry.release, Releases::read)?,
        phase: each(entry.phase, phase)?,
        run: each(entry.run, run)?,
        shorter_than_micros: read_with(entry.shorter_than, length)?,
        expires: read_with(entry.expires, end)?,
        state,
        link: entry.link,
        why: entry.why,
        file: Arc::clone(file),
        line: at.line(),
        is_builtin,
    })
}

fn read_with<T>(
    text: Option<Spanned<String>>,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, LocatedError> {
    let read = text.map(|text| read(&text.value).map_err(|message| (text.referenced, message)));
    read.transpose()
}

fn each<T>(
    texts: Vec<Spanned<String>>,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, LocatedError> {
    let read = |text: Spanned<String>| {
        let failed = |message| (text.referenced, message);
        read(&text.value).map_err(failed)
    };
    texts.into_iter().map(read).collect()
}

fn regex(text: &str) -> Result<Regex, String> {
    let made = RegexBuilder::new(text).size_limit(REGEX_BYTES_MOST).build();
    made.map_err(|error| {
        let words = error.to_string();
        let last = words.lines().last().unwrap_or_default().trim();
        format!("not a regex: {}", last.trim_start_matches("error: "))
    })
}

fn phase(text: &str) -> Result<Phase, String> {
    let phases = [Phase::Install, Phase::Upgrade, Phase::Stable];
    let found = phases.into_iter().find(|phase| phase.as_str() == text);
    found.ok_or_else(|| format!("`phase` is install, upgrade or stable, not {text:?}"))
}

fn run(text: &str) -> Result<RunKind, String> {
    let found = RunKind::ALL.into_iter().find(|run| run.as_str() == text);
    found.ok_or_else(|| format!("`run` is stable, upgrade or failed-upgrade, not {text:?}"))
}

/// Reads a length of time: the grammar of moments has lengths after a plus sign.
fn length(text: &str) -> Result<i64, String> {
    let wrong = || format!("not a length of time such as 40s or 10m: {text:?}");
    match format!("+{text}").parse() {
        Ok(Moment::AfterStart { micros }) => i64::try_from(micros).map_err(|_too_long| wrong()),
        _ => Err(wrong()),
    }
}

/// Reads a day, which is included, or a time.
fn end(text: &str) -> Result<RecordedAt, String> {
    let wrong = || format!("not a day such as 2026-12-31, nor a time of RFC 3339: {text:?}");
    let day = format!("{text}T23:59:59.999999Z");
    match text.parse().or_else(|_no_time| day.parse()) {
        Ok(Moment::Time(at)) => Ok(at),
        _ => Err(wrong()),
    }
}

/// One text, or several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Texts(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Texts;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a text or a list of texts")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Texts, E> {
                Ok(Texts(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Texts, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = list.next_element::<String>()? {
                    texts.push(text);
                }
                if texts.is_empty() {
                    return Err(A::Error::custom("an empty list matches nothing"));
                }
                Ok(Texts(texts))
            }
        }
        input.deserialize_any(Either)
    }
}

/// A file of exceptions cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ExceptionError {
    /// It is no YAML, or not of the form of a file of exceptions.
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

/// The files, each its name in what is said about it and its text.
const FILES: [(&str, &str); 2] = [
    ("built-in", include_str!("builtin.yaml")),
    ("built-in-pods", include_str!("builtin-pods.yaml")),
];

impl ExceptionSet {
    /// Gives the exceptions that the program carries.
    ///
    /// # Errors
    /// Never, as a test of this crate shows.
    pub fn builtin() -> Result<Self, ExceptionError> {
        FILES
            .iter()
            .try_fold(Self::default(), |read, (name, text)| {
                Ok(read.then(Self::read_as(name, text, true)?))
            })
    }
}
