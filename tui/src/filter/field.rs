//! Owns the comparison of a field with a value. Refuses to order texts: only numbers are greater or
//! less.

use super::error::FilterError;
use kubereel_history::{ComparisonScope, Field};
use serde_json::Value;

/// How a field is compared.
#[derive(Clone, Debug, PartialEq)]
enum Test {
    Is(String),
    IsNot(String),
    Above(f64),
    Below(f64),
}

/// The comparison of a field with a value.
#[derive(Clone, Debug)]
pub(super) struct FieldTest {
    scope: ComparisonScope,
    test: Test,
}

impl FieldTest {
    /// Reads a word; `None` if it compares no field.
    pub(super) fn read(word: &str) -> Result<Option<Self>, FilterError> {
        let Some((field, sign, value)) = parted(word) else {
            return Ok(None);
        };
        let is_path = field.contains(['.', '[']);
        if field.is_empty() || !is_path && ["<", ">"].contains(&sign) {
            return Ok(None);
        }
        if !is_path {
            return Err(FilterError::NotFromTop {
                word: word.to_owned(),
            });
        }
        let field: Field = field
            .parse()
            .map_err(|source| FilterError::Field { source })?;
        let value = unquoted(value);
        let number = || {
            value
                .parse()
                .ok()
                .filter(|number: &f64| number.is_finite())
                .ok_or_else(|| FilterError::NoNumber {
                    value: value.to_owned(),
                    word: word.to_owned(),
                })
        };
        let test = match sign {
            "!=" => Test::IsNot(value.to_owned()),
            ">" => Test::Above(number()?),
            "<" => Test::Below(number()?),
            _ => Test::Is(value.to_owned()),
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
    pub(super) fn matches(&self, object: &Value) -> bool {
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
            Test::Is(wanted) => is_there(wanted),
            Test::IsNot(wanted) => !is_there(wanted),
            Test::Above(bound) => numbers.into_iter().any(|number| number > *bound),
            Test::Below(bound) => numbers.into_iter().any(|number| number < *bound),
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
