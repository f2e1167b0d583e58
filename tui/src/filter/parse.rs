//! Owns the grammar of filters. Refuses what means nothing, in words that say how to write it.

use super::error::FilterError;
use super::field::FieldTest;
use super::query::{Deep, Query, Shallow, Term};
use super::words::{Word, split};
use crate::lane::LaneState;
use kubereel_format::ResourceId;
use kubereel_history::{LabelSelector, ResourceTable};
use regex::{Regex, RegexBuilder};

/// How many words a filter may have.
const MOST_WORDS: usize = 64;

/// A pattern may take so many bytes once it is compiled: 1 MiB.
const MOST_PATTERN_BYTES: usize = 1 << 20;

/// Tells whether a text is a filter, as far as that can be told without a reel.
///
/// # Errors
/// When it is none.
pub fn check_filter(text: &str) -> Result<(), FilterError> {
    Query::parse(text, None).map(drop)
}

impl Query {
    /// Reads a filter; the kinds that it names are looked for among those of a reel.
    pub(crate) fn parse(
        text: &str,
        resources: Option<&ResourceTable>,
    ) -> Result<Self, FilterError> {
        let words = split(text)?;
        if words.len() > MOST_WORDS {
            return Err(FilterError::TooMany { most: MOST_WORDS });
        }
        let mut query = Self {
            text: text.trim().to_owned(),
            ..Self::default()
        };
        for (is_negated, word) in words {
            match meaning(word, resources)? {
                Meaning::Shallow(what) => query.shallow.push(Term { is_negated, what }),
                Meaning::Deep(what) => query.deep.push(Term { is_negated, what }),
            }
        }
        Ok(query)
    }
}

enum Meaning {
    Shallow(Shallow),
    Deep(Deep),
}

fn meaning(word: Word, resources: Option<&ResourceTable>) -> Result<Meaning, FilterError> {
    let word = match word {
        Word::Quoted(text) => return Ok(Meaning::Shallow(Shallow::Text(text.to_lowercase()))),
        Word::Pattern(pattern) => {
            return Ok(Meaning::Shallow(Shallow::Pattern(compiled(&pattern)?)));
        }
        Word::Bare(word) => word,
    };
    let after = |sign: &str| {
        word.strip_prefix(sign).map(|rest| {
            let rest = rest.trim_matches('"');
            let nothing = || FilterError::Nothing {
                sign: sign.to_owned(),
            };
            (!rest.trim().is_empty())
                .then_some(rest)
                .ok_or_else(nothing)
        })
    };
    if let Some(namespace) = after("ns:") {
        return Ok(Meaning::Shallow(Shallow::Namespace(namespace?.to_owned())));
    }
    if let Some(kind) = after("kind:") {
        let ids = resources.map_or(Ok(Vec::new()), |resources| ids(kind?, resources))?;
        return Ok(Meaning::Shallow(Shallow::Kind(ids)));
    }
    if let Some(labels) = after("label:") {
        let selector: LabelSelector = labels?
            .parse()
            .map_err(|source| FilterError::Labels { source })?;
        return Ok(Meaning::Deep(Deep::Labels(selector)));
    }
    let state = LaneState::ALL
        .into_iter()
        .find(|state| state.word() == word);
    if let Some(state) = state {
        return Ok(Meaning::Shallow(Shallow::State(state)));
    }
    Ok(match FieldTest::read(&word)? {
        Some(test) => Meaning::Deep(Deep::Field(test)),
        None => Meaning::Shallow(Shallow::Text(word.to_lowercase())),
    })
}

/// Gives every recorded resource that a name means, in whatever version.
fn ids(name: &str, resources: &ResourceTable) -> Result<Vec<ResourceId>, FilterError> {
    let info = resources
        .find(name)
        .map_err(|source| FilterError::Kind { source })?;
    let all = resources.namesakes(info);
    Ok(all.into_iter().map(|info| info.id).collect())
}

fn compiled(pattern: &str) -> Result<Regex, FilterError> {
    if pattern.is_empty() {
        return Err(FilterError::Nothing {
            sign: "/".to_owned(),
        });
    }
    let built = RegexBuilder::new(pattern)
        .case_insensitive(true)
        .size_limit(MOST_PATTERN_BYTES)
        .dfa_size_limit(MOST_PATTERN_BYTES)
        .build();
    built.map_err(|error| {
        // The library draws an arrow on lines of its own; the last line says what is wrong.
        let words = error.to_string();
        let last = words.lines().last().unwrap_or_default();
        FilterError::Pattern {
            pattern: pattern.to_owned(),
            problem: last.trim_start_matches("error: ").to_owned(),
        }
    })
}
