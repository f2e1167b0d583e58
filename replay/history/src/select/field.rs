//! Owns the field selectors of `kubectl --field-selector`: `status.phase=Running,metadata.name!=a`.
//! Refuses none of a kind's fields: a server indexes only a few, a recording has them all.

use crate::object::number;
use serde_json::Value;
use std::str::FromStr;
use thiserror::Error;

/// A text is no field selector.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("not a field selector: {term:?} is neither FIELD=VALUE nor FIELD!=VALUE in {text:?}")]
pub struct FieldSelectorError {
    /// The term that is wrong.
    pub term: String,
    /// The text.
    pub text: String,
}

/// A condition on an object's fields; the empty one holds for all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector {
    terms: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    members: Vec<String>,
    value: String,
    is_negated: bool,
}

impl FieldSelector {
    /// Tells whether it holds for every object.
    pub const fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Tells whether it holds for an object; a field that is not there is empty.
    pub fn matches(&self, object: &Value) -> bool {
        self.terms.iter().all(|term| {
            let members = term.members.iter();
            let found = members
                .into_iter()
                .try_fold(object, |of, name| of.get(name));
            let own = match found {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Number(number)) => number::printed(number),
                Some(Value::Bool(truth)) => truth.to_string(),
                _ => String::new(),
            };
            (own == term.value) != term.is_negated
        })
    }
}

impl FromStr for FieldSelector {
    type Err = FieldSelectorError;

    fn from_str(text: &str) -> Result<Self, FieldSelectorError> {
        let mut terms = Vec::new();
        for term in split(text).into_iter().filter(|term| !term.is_empty()) {
            let read = Term::read(&term).ok_or_else(|| FieldSelectorError {
                term: term.clone(),
                text: text.to_owned(),
            })?;
            terms.push(read);
        }
        Ok(Self { terms })
    }
}

/// Splits at commas that no backslash takes as they are.
fn split(text: &str) -> Vec<String> {
    let mut terms = vec![String::new()];
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter == ',' {
            terms.push(String::new());
        } else if let Some(term) = terms.last_mut() {
            term.push(letter);
            if letter == '\\' {
                term.extend(letters.next());
            }
        }
    }
    terms
}

impl Term {
    fn read(term: &str) -> Option<Self> {
        let at = term.find(['!', '='])?;
        let (field, rest) = term.split_at_checked(at)?;
        let signs = [("!=", true), ("==", false), ("=", false)];
        let (value, is_negated) = signs
            .iter()
            .find_map(|(sign, is_negated)| Some((rest.strip_prefix(sign)?, *is_negated)))?;
        let members: Vec<String> = field.split('.').map(str::to_owned).collect();
        if members.iter().any(String::is_empty) {
            return None;
        }
        Some(Self {
            members,
            value: unescaped(value)?,
            is_negated,
        })
    }
}

/// Takes the backslashes away; `None` where a sign stands without one.
fn unescaped(value: &str) -> Option<String> {
    let mut text = String::new();
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => text.push(
                letters
                    .next()
                    .filter(|next| ['\\', ',', '='].contains(next))?,
            ),
            '=' => return None,
            other => text.push(other),
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_equal_or_not_and_missing_ones_are_empty() {
        let object = json!({"metadata": {"name": "a,b=c"}, "status": {"phase": "Running"},
            "spec": {"unschedulable": true, "n": 3}});
        for (text, expected) in [
            ("", true),
            ("status.phase=Running", true),
            ("status.phase==Running,spec.n=3", true),
            ("status.phase!=Running", false),
            ("spec.unschedulable=true", true),
            ("spec.nodeName=", true),
            ("spec.nodeName!=x", true),
            ("spec.nodeName=x", false),
            (r"metadata.name=a\,b\=c", true),
        ] {
            let selector: FieldSelector = text.parse().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(selector.matches(&object), expected, "{text}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for text in ["a", "=a", "a=b=c", ".a=b", "a!b", r"a=\x", r"a=\", "a=b,c"] {
            assert!(text.parse::<FieldSelector>().is_err(), "{text}");
        }
    }
}
