//! Which intervals somebody asks for. It does not handle patterns whose machines are large: a
//! file's text meets them a million times.

use super::span::Interval;
use kubereel_format::RecordedAt;
use regex::{Regex, RegexBuilder};
use thiserror::Error;

/// How large a pattern may become.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// A word of a filter cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FilterError {
    /// It has no `=`.
    #[error("{word:?} is not KEY=PATTERN")]
    NoKey {
        /// The word.
        word: String,
    },
    /// The pattern is none, or too large.
    #[error("{word:?}: {source}")]
    Pattern {
        /// The word.
        word: String,
        /// What is wrong.
        #[source]
        source: Box<regex::Error>,
    },
}

/// A key of a locator and the pattern that its value must have.
#[derive(Clone, Debug)]
pub struct KeyPattern {
    key: String,
    pattern: Regex,
}

impl KeyPattern {
    /// Returns the key.
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl std::str::FromStr for KeyPattern {
    type Err = FilterError;

    /// Reads `key=pattern`; the pattern may match anywhere in the value.
    fn from_str(word: &str) -> Result<Self, FilterError> {
        let no_key = || FilterError::NoKey {
            word: word.to_owned(),
        };
        let (key, pattern) = word.split_once('=').ok_or_else(no_key)?;
        if key.is_empty() {
            return Err(no_key());
        }
        let built = RegexBuilder::new(pattern)
            .size_limit(MAX_PATTERN_BYTES)
            .build();
        let pattern = built.map_err(|source| FilterError::Pattern {
            word: word.to_owned(),
            source: Box::new(source),
        })?;
        Ok(Self {
            key: key.to_owned(),
            pattern,
        })
    }
}

/// Which intervals are asked for; of several words of one sort one is enough, but every key's pattern
/// must match.
#[derive(Clone, Debug, Default)]
pub struct IntervalFilter {
    /// Only of these sources, in any case of letters.
    pub sources: Vec<String>,
    /// Only about what has these keys.
    pub keys: Vec<KeyPattern>,
    /// Only about things of this namespace.
    pub namespace: Option<String>,
    /// Only with these reasons.
    pub reasons: Vec<String>,
    /// Only what lasted until this moment, or longer.
    pub from: Option<RecordedAt>,
    /// Only what began up to this moment.
    pub to: Option<RecordedAt>,
    /// Only what lasts this many microseconds; 0 leaves instants out.
    pub lasting_micros: Option<i64>,
}

impl IntervalFilter {
    /// Returns whether a source is asked for.
    pub fn has_source(&self, source: &str) -> bool {
        let is_it = |word: &String| word.eq_ignore_ascii_case(source);
        self.sources.is_empty() || self.sources.iter().any(is_it)
    }

    /// Returns whether an interval is asked for; what is open lasts until `end`.
    pub fn has(&self, interval: &Interval, end: RecordedAt) -> bool {
        let reason = interval.message.reason.as_ref();
        let lasts = |micros: i64| !interval.is_instant() && interval.micros(end) >= micros;
        self.has_source(interval.source.as_str())
            && (self.reasons.is_empty() || self.reasons.iter().any(|word| word == reason))
            && self
                .namespace
                .as_deref()
                .is_none_or(|only| interval.locator.get("namespace") == Some(only))
            && self.from.is_none_or(|from| interval.to_or(end) >= from)
            && self.to.is_none_or(|to| interval.from <= to)
            && self.lasting_micros.is_none_or(lasts)
            && self.keys.iter().all(|wanted| {
                let value = interval.locator.get(&wanted.key);
                value.is_some_and(|value| wanted.pattern.is_match(value))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::{IntervalMessage, Locator, Source};

    fn at(secs: i64) -> RecordedAt {
        RecordedAt::from_micros(secs * 1_000_000)
    }

    fn interval() -> Interval {
        Interval {
            source: Source::new("PodState"),
            locator: Locator::new("Pod", [("namespace", "web"), ("pod", "web-0")]),
            message: IntervalMessage::default().reason("Created"),
            from: at(10),
            to: Some(at(20)),
            ..Interval::default()
        }
    }

    #[test]
    fn every_word_narrows() {
        let end = at(30);
        let all = IntervalFilter::default();
        assert!(all.has(&interval(), end));
        let with = |change: fn(&mut IntervalFilter)| {
            let mut filter = IntervalFilter::default();
            change(&mut filter);
            filter.has(&interval(), end)
        };
        assert!(with(|filter| filter.sources.push("podstate".to_owned())));
        assert!(!with(|filter| filter.sources.push("KubeEvent".to_owned())));
        assert!(with(|filter| filter
            .keys
            .push("pod=^web-".parse().expect("a pattern"))));
        assert!(!with(|filter| filter
            .keys
            .push("node=.".parse().expect("a pattern"))));
        assert!(!with(|filter| filter.namespace = Some("we".to_owned())));
        assert!(!with(|filter| filter.reasons.push("create".to_owned())));
        assert!(with(|filter| filter.from = Some(at(20))));
        assert!(!with(|filter| filter.from = Some(at(21))));
        assert!(with(|filter| filter.to = Some(at(10))));
        assert!(!with(|filter| filter.to = Some(at(9))));
        assert!(with(|filter| filter.lasting_micros = Some(10_000_000)));
        assert!(!with(|filter| filter.lasting_micros = Some(10_000_001)));
        let mut open = interval();
        open.to = None;
        let long = IntervalFilter {
            lasting_micros: Some(20_000_000),
            ..IntervalFilter::default()
        };
        assert!(long.has(&open, end));
        open.to = Some(open.from);
        let lasting = IntervalFilter {
            lasting_micros: Some(0),
            ..IntervalFilter::default()
        };
        assert!(!lasting.has(&open, end));
    }

    #[test]
    fn bad_patterns_are_refused() {
        for bad in ["pod", "=x", "pod=(", "pod=(a{1000}){1000}"] {
            assert!(bad.parse::<KeyPattern>().is_err(), "{bad}");
        }
    }
}
