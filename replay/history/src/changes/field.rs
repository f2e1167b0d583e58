//! The requested field of a query, in the syntax of paths and of kubectl:
//! `.status.conditions[Degraded]`.

use super::change::FieldStep;
use crate::object::number;
use serde_json::Value;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A requested field, with everything below it.
///
/// The syntax is that of [`crate::FieldPath`], with an optional leading dot. In addition `[*]` is
/// every item or member, `[name=value]` and `[?(@.name=="value")]` are the items with that member,
/// and the name of a member at a list means that of every item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    text: String,
    wants: Vec<FieldPattern>,
}

/// One step of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FieldPattern {
    /// The member of this name, in an object or in every item of a list.
    Member(String),
    /// The item with this identity, the text itself, or the member of this name.
    Named(String),
    /// The item at an index.
    Place(usize),
    /// The items with these members.
    Where(Vec<(String, String)>),
    /// Every item and member.
    Every,
}

/// A text is not a field.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("not a field: {problem}: {text:?}")]
pub struct FieldError {
    /// What is wrong.
    pub problem: &'static str,
    /// The text.
    pub text: String,
}

impl Field {
    pub(super) fn wants(&self) -> &[FieldPattern] {
        &self.wants
    }

    /// Returns whether this field includes another one.
    pub(super) fn covers(&self, other: &Self) -> bool {
        other.wants.starts_with(&self.wants)
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FieldPattern {
    /// Returns whether this step selects an item of a list.
    pub(super) fn takes_item(
        &self,
        step: &FieldStep,
        place: Option<usize>,
        item: Option<&Value>,
    ) -> bool {
        match self {
            Self::Every => true,
            Self::Place(wanted) => place == Some(*wanted),
            Self::Named(wanted) => match step {
                FieldStep::Item(parts) => parts.iter().any(|part| part.value == *wanted),
                _ => item.is_some_and(|item| reads(item, wanted)),
            },
            Self::Where(members) => members.iter().all(|(name, wanted)| {
                let member = item.and_then(|item| item.get(name));
                member.is_some_and(|member| reads(member, wanted))
            }),
            Self::Member(_) => false,
        }
    }
}

/// Returns whether a value has this text.
fn reads(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string == text,
        Value::Number(number) => number::written(number) == text,
        Value::Bool(truth) => text == if *truth { "true" } else { "false" },
        _ => false,
    }
}

impl FromStr for Field {
    type Err = FieldError;

    fn from_str(text: &str) -> Result<Self, FieldError> {
        let failed = |problem| FieldError {
            problem,
            text: text.to_owned(),
        };
        let inner = text
            .strip_prefix('{')
            .and_then(|text| text.strip_suffix('}'))
            .unwrap_or(text);
        let mut rest = inner.strip_prefix('$').unwrap_or(inner);
        let mut wants = Vec::new();
        if rest == "." {
            // The object itself.
            rest = "";
        } else if !rest.starts_with(['.', '[']) {
            let (want, after) = member(rest).map_err(failed)?;
            wants.push(want);
            rest = after;
        }
        while !rest.is_empty() {
            let (want, after) = if let Some(bracket) = rest.strip_prefix('[') {
                bracketed(bracket)
            } else if let Some(name) = rest.strip_prefix('.') {
                member(name)
            } else {
                Err("after a bracket comes a dot or another bracket")
            }
            .map_err(failed)?;
            wants.push(want);
            rest = after;
        }
        Ok(Self {
            text: text.to_owned(),
            wants,
        })
    }
}

type Parsed<'a> = Result<(FieldPattern, &'a str), &'static str>;

/// Parses the name of a member; a backslash escapes the next letter.
fn member(text: &str) -> Parsed<'_> {
    let mut name = String::new();
    let mut letters = text.char_indices();
    let mut rest = "";
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => name.push(letters.next().ok_or("it ends in a backslash")?.1),
            '.' | '[' => {
                rest = text.get(at..).unwrap_or_default();
                break;
            }
            ']' => return Err("a bracket is closed that was not opened"),
            letter => name.push(letter),
        }
    }
    match name.as_str() {
        "" => Err("a member has no name"),
        "*" => Ok((FieldPattern::Every, rest)),
        _ => Ok((FieldPattern::Member(name), rest)),
    }
}

const NOT_CLOSED: &str = "a bracket is not closed";

/// Parses the content of brackets, and the closing bracket.
fn bracketed(text: &str) -> Parsed<'_> {
    if let Some(condition) = text.strip_prefix("?(") {
        let (condition, rest) = condition.split_once(")]").ok_or(NOT_CLOSED)?;
        return Ok((condition_of(condition)?, rest));
    }
    if text.starts_with(['"', '\'']) {
        let (name, rest) = quoted(text)?;
        let rest = rest.strip_prefix(']').ok_or(NOT_CLOSED)?;
        return Ok((FieldPattern::Named(name), rest));
    }
    let mut members = Vec::new();
    let mut rest = text;
    loop {
        let end = rest.find(['=', ']']).ok_or(NOT_CLOSED)?;
        let (word, after) = rest.split_at_checked(end).ok_or(NOT_CLOSED)?;
        let Some(value) = after.strip_prefix('=') else {
            let after = after.strip_prefix(']').ok_or(NOT_CLOSED)?;
            return if members.is_empty() {
                Ok((bare(word)?, after))
            } else {
                Err("a value has no member")
            };
        };
        let (value, after) = value_of(value)?;
        if word.is_empty() {
            return Err("a value has no member");
        }
        members.push((word.to_owned(), value));
        if let Some(after) = after.strip_prefix(']') {
            return Ok((FieldPattern::Where(members), after));
        }
        rest = after.strip_prefix(',').ok_or(NOT_CLOSED)?;
    }
}

fn bare(word: &str) -> Result<FieldPattern, &'static str> {
    if word.is_empty() {
        return Err("the brackets are empty");
    }
    if word == "*" {
        return Ok(FieldPattern::Every);
    }
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        let place = word.parse().ok().ok_or("no list is that long")?;
        return Ok(FieldPattern::Place(place));
    }
    Ok(FieldPattern::Named(word.to_owned()))
}

/// Parses a value up to a comma or the closing bracket.
fn value_of(text: &str) -> Result<(String, &str), &'static str> {
    if text.starts_with(['"', '\'']) {
        return quoted(text);
    }
    let end = text.find([',', ']']).ok_or(NOT_CLOSED)?;
    let (value, rest) = text.split_at_checked(end).ok_or(NOT_CLOSED)?;
    Ok((value.to_owned(), rest))
}

/// Parses a quoted text: in double quotes as JSON, in single quotes literally.
fn quoted(text: &str) -> Result<(String, &str), &'static str> {
    const OPEN: &str = "a quote is not closed";
    if let Some(single) = text.strip_prefix('\'') {
        let (name, rest) = single.split_once('\'').ok_or(OPEN)?;
        return Ok((name.to_owned(), rest));
    }
    let mut is_escaped = false;
    let end = text
        .char_indices()
        .skip(1)
        .find(|&(_, letter)| {
            let is_end = letter == '"' && !is_escaped;
            is_escaped = letter == '\\' && !is_escaped;
            is_end
        })
        .map(|(at, _)| at + 1)
        .ok_or(OPEN)?;
    let (name, rest) = text.split_at_checked(end).ok_or(OPEN)?;
    let name = serde_json::from_str(name)
        .ok()
        .ok_or("what stands in quotes is no text as JSON writes it")?;
    Ok((name, rest))
}

/// Parses `@.type=="Degraded"`.
fn condition_of(text: &str) -> Result<FieldPattern, &'static str> {
    const FORM: &str = r#"a condition reads ?(@.name=="value")"#;
    let (name, value) = text.split_once("==").ok_or(FORM)?;
    let name = name.trim().strip_prefix("@.").ok_or(FORM)?;
    let value = value.trim();
    let value = if value.starts_with(['"', '\'']) {
        let (value, rest) = quoted(value)?;
        if rest.is_empty() {
            value
        } else {
            return Err(FORM);
        }
    } else {
        value.to_owned()
    };
    if name.is_empty() || value.is_empty() {
        return Err(FORM);
    }
    Ok(FieldPattern::Where(vec![(name.to_owned(), value)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wants(text: &str) -> Vec<FieldPattern> {
        text.parse::<Field>().expect(text).wants
    }

    fn m(name: &str) -> FieldPattern {
        FieldPattern::Member(name.to_owned())
    }

    fn n(name: &str) -> FieldPattern {
        FieldPattern::Named(name.to_owned())
    }

    #[test]
    fn fields_are_read_in_every_spelling() {
        let degraded = || vec![("type".to_owned(), "Degraded".to_owned())];
        for (text, expected) in [
            (".", vec![]),
            (".status", vec![m("status")]),
            ("status.a", vec![m("status"), m("a")]),
            ("{.status.a}", vec![m("status"), m("a")]),
            ("$.status", vec![m("status")]),
            (
                "c[Degraded].status",
                vec![m("c"), n("Degraded"), m("status")],
            ),
            (".c[2]", vec![m("c"), FieldPattern::Place(2)]),
            (".c[*].a", vec![m("c"), FieldPattern::Every, m("a")]),
            (".c.*", vec![m("c"), FieldPattern::Every]),
            (r#".a["x.io/y\"z"]"#, vec![m("a"), n("x.io/y\"z")]),
            (".a['x.io/y']", vec![m("a"), n("x.io/y")]),
            (r".a.x\.io/y", vec![m("a"), m("x.io/y")]),
            (r#"["a.b"]"#, vec![n("a.b")]),
            (r#"e["a]b"]"#, vec![m("e"), n("a]b")]),
            (
                ".c[type=Degraded]",
                vec![m("c"), FieldPattern::Where(degraded())],
            ),
            (
                r#".p[port=80,name="a,]b"]"#,
                vec![
                    m("p"),
                    FieldPattern::Where(vec![
                        ("port".to_owned(), "80".to_owned()),
                        ("name".to_owned(), "a,]b".to_owned()),
                    ]),
                ],
            ),
            (
                ".c[?(@.type == 'Degraded')]",
                vec![m("c"), FieldPattern::Where(degraded())],
            ),
            (
                r#".c[?(@.type=="Degraded")]"#,
                vec![m("c"), FieldPattern::Where(degraded())],
            ),
        ] {
            assert_eq!(wants(text), expected, "{text}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "",
            "..a",
            ".a.",
            ".a[",
            ".a[]",
            ".a[b",
            ".a]",
            ".a[b]c",
            ".a[=b]",
            ".a[b=c",
            ".a[\"b]",
            ".a['b]",
            ".a['b'",
            ".a[?(b==1)]",
            ".a[?(@.b)]",
            ".a[?(@.b==\"1\"",
            r".a\",
            ".a[\"\\x\"]",
            ".a[99999999999999999999999]",
            ".a[b=c,d]",
        ] {
            assert!(text.parse::<Field>().is_err(), "{text:?} was read");
        }
    }
}
