//! The filter: one grammar for the prompt and for `--filter`, parsed once, applied often. Only label
//! selectors and field comparisons need object bodies.

use crate::lane::LaneState;
use kubereel_format::ResourceId;
use kubereel_history::{
    ComparisonScope, Field, FieldError, LabelError, LabelSelector, ResourceTable, SelectError,
};
use regex::{Regex, RegexBuilder};
use serde_json::Value;
use std::collections::BTreeMap;
use thiserror::Error;

/// A filter that was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct FilterQuery {
    /// What was written.
    text: String,
    /// Terms that need no body.
    shallow: Vec<FilterTerm<ShallowTerm>>,
    /// What takes a body.
    deep: Vec<FilterTerm<DeepTerm>>,
}

/// A term, perhaps negated.
#[derive(Clone, Debug)]
struct FilterTerm<T> {
    is_negated: bool,
    what: T,
}

/// Terms that need no body.
#[derive(Clone, Debug)]
enum ShallowTerm {
    /// A text, in lower case.
    Text(String),
    Pattern(Regex),
    Namespace(String),
    /// Any of these resources; none of them before a reel is known.
    Kind(Vec<ResourceId>),
    State(LaneState),
}

/// What takes a body.
#[derive(Clone, Debug)]
enum DeepTerm {
    Labels(LabelSelector),
    Field(FieldTest),
}

/// What is seen of an object without its body.
pub(crate) struct FilterCandidate<'a, T> {
    /// Its resource; `None` for a row that is not an object.
    pub(crate) resource: Option<ResourceId>,
    /// Its namespace.
    pub(crate) namespace: &'a str,
    /// The texts that show.
    pub(crate) texts: T,
}

// What was written says what is meant, within one reel.
impl PartialEq for FilterQuery {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
            && self.shallow.len() == other.shallow.len()
            && self.deep.len() == other.deep.len()
    }
}

impl Eq for FilterQuery {}

impl FilterQuery {
    /// Gives what was written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Tells whether it lets everything through.
    pub(crate) const fn is_empty(&self) -> bool {
        self.shallow.is_empty() && self.deep.is_empty()
    }

    /// Tells whether it takes bodies.
    pub(crate) const fn is_deep(&self) -> bool {
        !self.deep.is_empty()
    }

    /// Gives the part that takes bodies.
    pub(crate) fn only_deep(&self) -> Self {
        let text = if self.is_deep() {
            self.text.as_str()
        } else {
            ""
        };
        Self {
            text: text.to_owned(),
            shallow: Vec::new(),
            deep: self.deep.clone(),
        }
    }

    /// Gives the part that applies to a change without its object's body and lane, and whether that is
    /// less than all of it.
    pub(crate) fn only_names(mut self) -> (Self, bool) {
        let count = self.shallow.len();
        self.shallow
            .retain(|term| !matches!(term.what, ShallowTerm::State(_)));
        let is_less = self.shallow.len() < count || self.is_deep();
        self.deep.clear();
        (self, is_less)
    }

    /// Gives the only namespace that it asks for, if it asks for one.
    pub(crate) fn namespace(&self) -> Option<&str> {
        let mut all = self.shallow.iter().filter_map(|term| match &term.what {
            ShallowTerm::Namespace(namespace) => Some((term.is_negated, namespace.as_str())),
            _ => None,
        });
        match (all.next(), all.next()) {
            (Some((false, only)), None) => Some(only),
            _ => None,
        }
    }

    /// Tells whether something passes, as far as no body is needed; `had` reports states that it
    /// ever had. Of several namespaces, kinds or states, one is enough; every other word must hold.
    pub(crate) fn admits<'a, T: Iterator<Item = &'a str> + Clone>(
        &self,
        seen: &FilterCandidate<'a, T>,
        mut had: impl FnMut(LaneState) -> bool,
    ) -> bool {
        // Whether namespaces, kinds and states are asked for, and whether one of them is there.
        let mut groups = [None, None, None];
        for FilterTerm { is_negated, what } in &self.shallow {
            let (holds, group) = match what {
                ShallowTerm::Text(text) => {
                    let has = |own: &str| own.to_lowercase().contains(text);
                    (seen.texts.clone().any(has), None)
                }
                ShallowTerm::Pattern(pattern) => {
                    (seen.texts.clone().any(|own| pattern.is_match(own)), None)
                }
                ShallowTerm::Namespace(namespace) => (seen.namespace == namespace, Some(0)),
                ShallowTerm::Kind(ids) => {
                    (seen.resource.is_some_and(|own| ids.contains(&own)), Some(1))
                }
                ShallowTerm::State(state) => (had(*state), Some(2)),
            };
            match group.and_then(|group: usize| groups.get_mut(group)) {
                Some(known) if !is_negated => *known = Some(known.unwrap_or(false) || holds),
                _ if holds == *is_negated => return false,
                _ => {}
            }
        }
        groups.into_iter().flatten().all(|holds| holds)
    }

    /// Tells whether an object passes what takes its body.
    pub(crate) fn admits_body(&self, object: &Value) -> bool {
        let mut labels: Option<BTreeMap<String, String>> = None;
        self.deep.iter().all(|FilterTerm { is_negated, what }| {
            let holds = match what {
                DeepTerm::Field(test) => test.matches(object),
                DeepTerm::Labels(selector) => {
                    selector.matches(labels.get_or_insert_with(|| labels_of(object)))
                }
            };
            holds != *is_negated
        })
    }
}

fn labels_of(object: &Value) -> BTreeMap<String, String> {
    let labels = object
        .pointer("/metadata/labels")
        .and_then(Value::as_object);
    let labels = labels.into_iter().flatten();
    labels
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        .collect()
}

/// How many words a filter may have.
const MOST_WORDS: usize = 64;

/// The largest compiled pattern, in bytes: 1 MiB.
const MOST_PATTERN_BYTES: usize = 1 << 20;

/// Checks the syntax of a filter, as far as that is possible without a reel.
///
/// # Errors
/// When it is not a filter.
pub fn check_filter(text: &str) -> Result<(), ScreenFilterError> {
    FilterQuery::parse(text, None).map(drop)
}

impl FilterQuery {
    /// Reads a filter; the kinds that it names are looked for among those of a reel.
    pub(crate) fn parse(
        text: &str,
        resources: Option<&ResourceTable>,
    ) -> Result<Self, ScreenFilterError> {
        let words = split(text)?;
        if words.len() > MOST_WORDS {
            return Err(ScreenFilterError::TooMany { most: MOST_WORDS });
        }
        let mut query = Self {
            text: text.trim().to_owned(),
            ..Self::default()
        };
        for (is_negated, word) in words {
            match meaning(word, resources)? {
                WordMeaning::Shallow(what) => query.shallow.push(FilterTerm { is_negated, what }),
                WordMeaning::Deep(what) => query.deep.push(FilterTerm { is_negated, what }),
            }
        }
        Ok(query)
    }
}

enum WordMeaning {
    Shallow(ShallowTerm),
    Deep(DeepTerm),
}

fn meaning(
    word: FilterWord,
    resources: Option<&ResourceTable>,
) -> Result<WordMeaning, ScreenFilterError> {
    let word = match word {
        FilterWord::Quoted(text) => {
            return Ok(WordMeaning::Shallow(ShallowTerm::Text(text.to_lowercase())));
        }
        FilterWord::Pattern(pattern) => {
            return Ok(WordMeaning::Shallow(ShallowTerm::Pattern(compiled(
                &pattern,
            )?)));
        }
        FilterWord::Bare(word) => word,
    };
    let after = |sign: &str| {
        word.strip_prefix(sign).map(|rest| {
            let rest = rest.trim_matches('"');
            let nothing = || ScreenFilterError::Nothing {
                sign: sign.to_owned(),
            };
            (!rest.trim().is_empty())
                .then_some(rest)
                .ok_or_else(nothing)
        })
    };
    if let Some(namespace) = after("ns:") {
        return Ok(WordMeaning::Shallow(ShallowTerm::Namespace(
            namespace?.to_owned(),
        )));
    }
    if let Some(kind) = after("kind:") {
        let ids = resources.map_or(Ok(Vec::new()), |resources| ids(kind?, resources))?;
        return Ok(WordMeaning::Shallow(ShallowTerm::Kind(ids)));
    }
    if let Some(labels) = after("label:") {
        let selector: LabelSelector = labels?
            .parse()
            .map_err(|source| ScreenFilterError::Labels { source })?;
        return Ok(WordMeaning::Deep(DeepTerm::Labels(selector)));
    }
    let state = LaneState::ALL
        .into_iter()
        .find(|state| state.word() == word);
    if let Some(state) = state {
        return Ok(WordMeaning::Shallow(ShallowTerm::State(state)));
    }
    Ok(match FieldTest::read(&word)? {
        Some(test) => WordMeaning::Deep(DeepTerm::Field(test)),
        None => WordMeaning::Shallow(ShallowTerm::Text(word.to_lowercase())),
    })
}

/// Gives every recorded resource that a name means, in whatever version.
fn ids(name: &str, resources: &ResourceTable) -> Result<Vec<ResourceId>, ScreenFilterError> {
    let info = resources
        .find(name)
        .map_err(|source| ScreenFilterError::Kind { source })?;
    let all = resources.namesakes(info);
    Ok(all.into_iter().map(|info| info.id).collect())
}

fn compiled(pattern: &str) -> Result<Regex, ScreenFilterError> {
    if pattern.is_empty() {
        return Err(ScreenFilterError::Nothing {
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
        ScreenFilterError::Pattern {
            pattern: pattern.to_owned(),
            problem: last.trim_start_matches("error: ").to_owned(),
        }
    })
}

/// A word of a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FilterWord {
    /// A text in quotes, taken as it is.
    Quoted(String),
    /// A pattern, without its slashes.
    Pattern(String),
    /// Anything else.
    Bare(String),
}

/// Splits a filter; each word comes with whether `!` stands before it.
fn split(filter: &str) -> Result<Vec<(bool, FilterWord)>, ScreenFilterError> {
    let mut words = Vec::new();
    let mut rest = filter.trim_start();
    while !rest.is_empty() {
        let plain = rest.trim_start_matches('!');
        let is_negated = (rest.len() - plain.len()) % 2 == 1;
        let (word, after) = if let Some(text) = plain.strip_prefix('"') {
            let (text, after) =
                text.split_once('"')
                    .ok_or_else(|| ScreenFilterError::OpenQuote {
                        word: plain.to_owned(),
                    })?;
            (FilterWord::Quoted(text.to_owned()), after)
        } else if let Some(pattern) = plain.strip_prefix('/') {
            let end = pattern_end(pattern).ok_or_else(|| ScreenFilterError::OpenPattern {
                word: plain.to_owned(),
            })?;
            let (pattern, after) = pattern.split_at_checked(end).unwrap_or((pattern, ""));
            let after = after.strip_prefix('/').unwrap_or(after);
            (FilterWord::Pattern(pattern.replace("\\/", "/")), after)
        } else {
            let end = bare_end(plain)?;
            let (word, after) = plain.split_at_checked(end).unwrap_or((plain, ""));
            (FilterWord::Bare(word.to_owned()), after)
        };
        if word == FilterWord::Bare(String::new()) {
            return Err(ScreenFilterError::Nothing {
                sign: "!".to_owned(),
            });
        }
        words.push((is_negated, word));
        rest = after.trim_start();
    }
    Ok(words)
}

/// Finds the slash that closes a pattern: one that no backslash takes as it is, at the end of a word.
fn pattern_end(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    let found = text.char_indices().find(|(at, letter)| {
        let next = text.get(at + 1..).and_then(|rest| rest.chars().next());
        let is_end = *letter == '/' && !is_escaped && next.is_none_or(char::is_whitespace);
        is_escaped = *letter == '\\' && !is_escaped;
        is_end
    });
    found.map(|(at, _)| at)
}

/// Finds the end of a bare word.
fn bare_end(text: &str) -> Result<usize, ScreenFilterError> {
    let is_label = text.starts_with("label:");
    let (mut quote, mut depth, mut before) = (None, 0_usize, ' ');
    for (at, letter) in text.char_indices() {
        let opens = matches!(before, '=' | '[' | ':' | '(' | '<' | '>' | ',');
        before = letter;
        match (quote, letter) {
            (Some(open), _) => quote = quote.filter(|_| letter != open),
            (None, '"' | '\'') if opens => quote = Some(letter),
            (None, '(') if is_label => depth += 1,
            (None, ')') if is_label => depth = depth.saturating_sub(1),
            (None, _) if letter.is_whitespace() && depth == 0 => {
                let rest = text.get(at..).unwrap_or_default();
                if !(is_label && goes_on(text.get(..at).unwrap_or_default(), rest)) {
                    return Ok(at);
                }
            }
            _ => {}
        }
    }
    if quote.is_some() {
        return Err(ScreenFilterError::OpenQuote {
            word: text.to_owned(),
        });
    }
    Ok(text.len())
}

/// Tells whether a label selector goes on behind a space: `app in (a,b)`.
fn goes_on(so_far: &str, rest: &str) -> bool {
    let next = rest.trim_start();
    let is_set = |word: &str| {
        let after = next.strip_prefix(word).map(str::trim_start);
        after.is_some_and(|after| after.starts_with('('))
    };
    let is_in_set = ["in", "notin"].iter().any(|word| {
        let key = so_far.trim_end().strip_suffix(word);
        key.is_some_and(|key| key.ends_with(char::is_whitespace))
    });
    is_set("in") || is_set("notin") || is_in_set && next.starts_with('(')
}

/// How a field is compared.
#[derive(Clone, Debug, PartialEq)]
enum FieldComparison {
    Is(String),
    IsNot(String),
    Above(f64),
    Below(f64),
}

/// The comparison of a field with a value.
#[derive(Clone, Debug)]
struct FieldTest {
    scope: ComparisonScope,
    test: FieldComparison,
}

impl FieldTest {
    /// Reads a word; `None` if it compares no field.
    fn read(word: &str) -> Result<Option<Self>, ScreenFilterError> {
        let Some((field, sign, value)) = parted(word) else {
            return Ok(None);
        };
        let is_path = field.contains(['.', '[']);
        if field.is_empty() || !is_path && ["<", ">"].contains(&sign) {
            return Ok(None);
        }
        if !is_path {
            return Err(ScreenFilterError::NotFromTop {
                word: word.to_owned(),
            });
        }
        let field: Field = field
            .parse()
            .map_err(|source| ScreenFilterError::Field { source })?;
        let value = unquoted(value);
        let number = || {
            value
                .parse()
                .ok()
                .filter(|number: &f64| number.is_finite())
                .ok_or_else(|| ScreenFilterError::NoNumber {
                    value: value.to_owned(),
                    word: word.to_owned(),
                })
        };
        let test = match sign {
            "!=" => FieldComparison::IsNot(value.to_owned()),
            ">" => FieldComparison::Above(number()?),
            "<" => FieldComparison::Below(number()?),
            _ => FieldComparison::Is(value.to_owned()),
        };
        let scope = ComparisonScope {
            fields: vec![field],
            shows_managed_fields: true,
            shows_resource_version: true,
        };
        Ok(Some(Self { scope, test }))
    }

    /// Tells whether it holds for an object. A field that is not there is empty; of several, one is
    /// enough, and for `!=` none may be the same.
    fn matches(&self, object: &Value) -> bool {
        let found = self.scope.contents(object);
        let values = found.iter().filter_map(|one| one.new.as_ref());
        let numbers = values.clone().filter_map(number_of);
        let is_there = |wanted: &str| {
            let mut texts = values.clone().map(text_of).peekable();
            if texts.peek().is_none() {
                return wanted.is_empty();
            }
            texts.any(|text| text == wanted)
        };
        match &self.test {
            FieldComparison::Is(wanted) => is_there(wanted),
            FieldComparison::IsNot(wanted) => !is_there(wanted),
            FieldComparison::Above(bound) => numbers.into_iter().any(|number| number > *bound),
            FieldComparison::Below(bound) => numbers.into_iter().any(|number| number < *bound),
        }
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn number_of(value: &Value) -> Option<f64> {
    value
        .as_f64()
        .or_else(|| value.as_str().and_then(|text| text.parse().ok()))
}

/// Parts a word at the first sign that stands in no brackets and quotes.
fn parted(word: &str) -> Option<(&str, &'static str, &str)> {
    let (mut quote, mut depth) = (None, 0_usize);
    for (at, letter) in word.char_indices() {
        match (quote, letter) {
            (Some(open), _) => quote = quote.filter(|_| letter != open),
            (None, '"' | '\'') if depth > 0 => quote = Some(letter),
            (None, '[') => depth += 1,
            (None, ']') => depth = depth.saturating_sub(1),
            (None, '=' | '!' | '<' | '>') if depth == 0 => {
                let (field, rest) = word.split_at_checked(at)?;
                let signs = ["!=", "==", "=", ">", "<"];
                let found = signs
                    .iter()
                    .find_map(|sign| Some((*sign, rest.strip_prefix(sign)?)));
                if let Some((sign, value)) = found {
                    return Some((field, sign, value));
                }
            }
            _ => {}
        }
    }
    None
}

fn unquoted(value: &str) -> &str {
    let within = |quote| {
        value
            .strip_prefix(quote)
            .and_then(|rest: &str| rest.strip_suffix(quote))
    };
    within('"').or_else(|| within('\'')).unwrap_or(value)
}

/// Why a text is not a filter.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ScreenFilterError {
    /// A prefix without a value.
    #[error("expected a value after {sign}")]
    Nothing {
        /// The prefix.
        sign: String,
    },
    /// A quote is not closed.
    #[error("unterminated quote: {word}")]
    OpenQuote {
        /// The word.
        word: String,
    },
    /// A pattern is not closed.
    #[error("unterminated pattern (end it with /, or quote text that starts with /): {word}")]
    OpenPattern {
        /// The word.
        word: String,
    },
    /// A pattern is invalid.
    #[error("invalid pattern /{pattern}/: {problem}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong.
        problem: String,
    },
    /// The text after `label:` is not a label selector.
    #[error("{source}")]
    Labels {
        /// What is wrong.
        #[source]
        source: LabelError,
    },
    /// The text before `=` is not a field.
    #[error("{source}")]
    Field {
        /// What is wrong.
        #[source]
        source: FieldError,
    },
    /// What stands before `=` does not begin at the top of an object.
    #[error("expected a field path such as status.phase=Running, or quoted text: {word}")]
    NotFromTop {
        /// The word.
        word: String,
    },
    /// The compared value is not a number.
    #[error("expected a number, found {value:?}: {word}")]
    NoNumber {
        /// What stands for the number.
        value: String,
        /// The word.
        word: String,
    },
    /// What follows `kind:` names no resource of the reel.
    #[error("{source}")]
    Kind {
        /// What is wrong.
        #[source]
        source: SelectError,
    },
    /// Too many words.
    #[error("more than {most} terms")]
    TooMany {
        /// How many there may be.
        most: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bare(word: &str) -> FilterWord {
        FilterWord::Bare(word.to_owned())
    }

    #[test]
    fn spaces_part_words_but_not_within_what_belongs_together() {
        for (filter, expected) in [
            ("", vec![]),
            ("  a  !b ", vec![(false, bare("a")), (true, bare("b"))]),
            ("!!a", vec![(false, bare("a"))]),
            (
                "\"a b\"",
                vec![(false, FilterWord::Quoted("a b".to_owned()))],
            ),
            (
                "!/a b\\/c/ d",
                vec![
                    (true, FilterWord::Pattern("a b/c".to_owned())),
                    (false, bare("d")),
                ],
            ),
            (
                "label:a in (b, c) d",
                vec![(false, bare("label:a in (b, c)")), (false, bare("d"))],
            ),
            (
                "label:a notin (b),!c d",
                vec![(false, bare("label:a notin (b),!c")), (false, bare("d"))],
            ),
            (
                "label:a in",
                vec![(false, bare("label:a")), (false, bare("in"))],
            ),
            (
                "a.b=\"c d\" e",
                vec![(false, bare("a.b=\"c d\"")), (false, bare("e"))],
            ),
            (
                "it's (a b",
                vec![
                    (false, bare("it's")),
                    (false, bare("(a")),
                    (false, bare("b")),
                ],
            ),
        ] {
            assert_eq!(split(filter), Ok(expected), "{filter}");
        }
    }

    #[test]
    fn what_is_not_closed_is_refused() {
        for filter in ["\"a", "/a", "!", "a !", "/a/b", "a.b=\"c d"] {
            assert!(split(filter).is_err(), "{filter}");
        }
    }
}
