//! Places in an object: the steps to a value, and patterns of these steps.

use std::borrow::Cow;
use std::fmt::Write as _;

/// One step down into an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathStep<'a> {
    /// Into a field.
    Key(Cow<'a, str>),
    /// Into an item of a list.
    Item(usize),
}

/// One part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternPart {
    Key(String),
    /// Any one step.
    One,
    /// Any number of steps.
    Any,
}

/// A pattern of places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathPattern(Vec<PatternPart>);

/// A pattern that cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PatternError;

impl PathPattern {
    /// Reads a pattern: keys are separated by dots; `*` is one step, `**` any number; a key with
    /// dots is in double quotes.
    pub(crate) fn read(text: &str) -> Result<Self, PatternError> {
        let mut parts = Vec::new();
        let mut rest = text.strip_prefix('.').unwrap_or(text);
        loop {
            let (part, after) = if let Some(quoted) = rest.strip_prefix('"') {
                let (key, after) = quoted.split_once('"').ok_or(PatternError)?;
                (PatternPart::Key(key.to_owned()), after)
            } else {
                let end = rest.find('.').unwrap_or(rest.len());
                let (key, after) = rest.split_at(end);
                let part = match key {
                    "*" => PatternPart::One,
                    "**" => PatternPart::Any,
                    "" => return Err(PatternError),
                    // An index as `JSONPath` writes it would be the name of a field that none has.
                    key if key.contains(['[', ']']) => return Err(PatternError),
                    key => PatternPart::Key(key.to_owned()),
                };
                (part, after)
            };
            parts.push(part);
            match after.strip_prefix('.') {
                Some(after) => rest = after,
                None if after.is_empty() => return Ok(Self(parts)),
                None => return Err(PatternError),
            }
        }
    }

    /// Returns whether the pattern matches a place. Case is ignored, as by some readers of these
    /// fields.
    pub(crate) fn is_of(&self, steps: &[PathStep<'_>]) -> bool {
        leads(&self.0, steps)
    }

    /// Returns whether the pattern matches a place or one above it.
    pub(crate) fn covers(&self, steps: &[PathStep<'_>]) -> bool {
        (1..=steps.len()).any(|len| steps.get(..len).is_some_and(|steps| self.is_of(steps)))
    }
}

fn leads(parts: &[PatternPart], steps: &[PathStep<'_>]) -> bool {
    let Some((part, parts)) = parts.split_first() else {
        return steps.is_empty();
    };
    if *part == PatternPart::Any {
        return (0..=steps.len()).any(|skip| leads(parts, steps.get(skip..).unwrap_or_default()));
    }
    let Some((step, steps)) = steps.split_first() else {
        return false;
    };
    let is_met = match (part, step) {
        (PatternPart::Key(key), PathStep::Key(field)) => key.eq_ignore_ascii_case(field),
        (PatternPart::Key(_), PathStep::Item(_)) => false,
        _ => true,
    };
    is_met && leads(parts, steps)
}

/// Formats a place as `JSONPath`.
pub(crate) fn write(steps: &[PathStep<'_>]) -> String {
    let mut text = String::new();
    for step in steps {
        // Writing to a string cannot fail.
        let _written = match step {
            PathStep::Item(item) => write!(text, "[{item}]"),
            PathStep::Key(key)
                if key
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') =>
            {
                write!(text, ".{key}")
            }
            PathStep::Key(key) => write!(text, "['{key}']"),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(text: &str) -> Vec<PathStep<'_>> {
        text.split('.')
            .map(|step| match step.parse() {
                Ok(item) => PathStep::Item(item),
                Err(_) => PathStep::Key(step.into()),
            })
            .collect()
    }

    #[test]
    fn patterns_lead_to_places() {
        for (pattern, place, expected) in [
            ("data.*", "data.a", true),
            ("data.*", "Data.a", true),
            ("data.*", "data", false),
            ("data.*", "data.a.b", false),
            ("spec.**.source", "spec.files.3.contents.source", true),
            ("spec.**.source", "spec.source", true),
            ("spec.**.source", "spec.source.x", false),
            ("spec.**", "spec.a.0", true),
            ("spec.a", "spec.0", false),
        ] {
            let pattern = PathPattern::read(pattern).expect("a pattern");
            assert_eq!(pattern.is_of(&steps(place)), expected, "{place}");
        }
        let quoted = PathPattern::read(r#"metadata.annotations."a.b/c""#).expect("a pattern");
        assert!(quoted.is_of(&[
            PathStep::Key("metadata".into()),
            PathStep::Key("annotations".into()),
            PathStep::Key("a.b/c".into())
        ]));
        for broken in ["", "a..b", "\"a", "\"a\"b", "a.", "a[0]", "a[*].b"] {
            assert_eq!(PathPattern::read(broken), Err(PatternError), "{broken}");
        }
    }

    #[test]
    fn places_are_written_as_they_are_typed() {
        let expected = ".spec.containers[0].env";
        assert_eq!(write(&steps("spec.containers.0.env")), expected);
        assert_eq!(write(&[PathStep::Key("a.b/c".into())]), "['a.b/c']");
    }
}
