//! Owns the grammar of `--for`, that of `kubectl wait` and what goes beyond it. Refuses objects: `judge`
//! holds those against it.

use crate::jsonpath::Path;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// What is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitFor {
    text: String,
    pub(super) goal: Goal,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    Create,
    Delete,
    /// A condition of this type has this status; neither minds the case.
    Condition {
        name: String,
        status: String,
    },
    /// Something is at the path, or just this.
    JsonPath {
        path: Path,
        value: Option<String>,
    },
    /// Another object has the name.
    Replaced,
    /// A condition or a waiting container gives this reason.
    Reason(String),
    /// An Event about the object gives this reason.
    Event(String),
}

/// A text says nothing that can be waited for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GoalError {
    /// It has none of the forms.
    #[error("unrecognized condition: {text:?}")]
    Unrecognized {
        /// The text.
        text: String,
    },
    /// Something is missing after the first equals sign.
    #[error("{form}= wants {wanted} after it")]
    Empty {
        /// What stands before the sign.
        form: &'static str,
        /// What belongs behind it.
        wanted: &'static str,
    },
    /// A path is followed by an equals sign and nothing else, or by several values.
    #[error("a JSONPath is followed by nothing or by one =VALUE: {text:?}")]
    Value {
        /// The text.
        text: String,
    },
    /// It is no path.
    #[error("not a JSONPath at letter {letter}, {left:?}: {text:?}")]
    Path {
        /// The text.
        text: String,
        /// The number of the letter from which on it is wrong.
        letter: usize,
        /// What begins there.
        left: String,
    },
}

impl WaitFor {
    /// Tells whether it is the creation of an object, which is always waited for first.
    pub fn is_creation(&self) -> bool {
        self.goal == Goal::Create
    }

    /// Tells whether it is the deletion of an object, which is met where there is none.
    pub fn is_deletion(&self) -> bool {
        self.goal == Goal::Delete
    }

    /// Tells whether it happens at a moment and does not last.
    pub const fn is_momentary(&self) -> bool {
        matches!(self.goal, Goal::Event(_))
    }
}

impl fmt::Display for WaitFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for WaitFor {
    type Err = GoalError;

    fn from_str(text: &str) -> Result<Self, GoalError> {
        let named = |name: &str, form, wanted| {
            if name.is_empty() {
                return Err(GoalError::Empty { form, wanted });
            }
            Ok(name.to_owned())
        };
        let goal = if text.eq_ignore_ascii_case("create") {
            Goal::Create
        } else if text.eq_ignore_ascii_case("delete") {
            Goal::Delete
        } else if text == "replaced" {
            Goal::Replaced
        } else if let Some(rest) = text.strip_prefix("condition=") {
            let (name, status) = rest.split_once('=').unwrap_or((rest, "true"));
            Goal::Condition {
                name: named(name, "condition", "the type of a condition")?,
                status: status.to_owned(),
            }
        } else if let Some(rest) = text.strip_prefix("jsonpath=") {
            json_path(rest)?
        } else if let Some(rest) = text.strip_prefix("reason=") {
            Goal::Reason(named(rest, "reason", "a reason")?)
        } else if let Some(rest) = text.strip_prefix("event=") {
            Goal::Event(named(rest, "event", "an Event's reason")?)
        } else {
            let text = text.to_owned();
            return Err(GoalError::Unrecognized { text });
        };
        let text = text.to_owned();
        Ok(Self { text, goal })
    }
}

/// Reads `EXPR` or `EXPR=VALUE`.
fn json_path(text: &str) -> Result<Goal, GoalError> {
    let wrong = || GoalError::Value {
        text: text.to_owned(),
    };
    let (expression, value) = match single_equals(text).as_slice() {
        [] => (text, None),
        [at] => {
            let (expression, value) = text.split_at_checked(*at).ok_or_else(wrong)?;
            // The quotes that a shell left standing go, as many as there are.
            let value = value.get(1..).ok_or_else(wrong)?;
            if value.is_empty() {
                return Err(wrong());
            }
            (expression, Some(value.trim_matches(['\'', '"']).to_owned()))
        }
        _ => return Err(wrong()),
    };
    let path = relaxed(expression)?;
    Ok(Goal::JsonPath { path, value })
}

/// Finds the equals signs that do not come in pairs: a pair is a filter's.
fn single_equals(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut letters = text.bytes().enumerate().peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == b'=' && letters.next_if(|(_, next)| *next == b'=').is_none() {
            found.push(at);
        }
    }
    found
}

/// Reads a path with or without its braces and the dot that it begins with.
fn relaxed(text: &str) -> Result<Path, GoalError> {
    let wrong = |left: &str| {
        let before = text.strip_suffix(left).unwrap_or_default();
        GoalError::Path {
            text: text.to_owned(),
            letter: before.chars().count() + 1,
            left: left.to_owned(),
        }
    };
    let braced = text
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'));
    let inner = braced.unwrap_or(text);
    if let Some(brace) = inner.find(['{', '}']) {
        let end = if braced.is_some() { "}" } else { "" };
        let left = inner.split_at_checked(brace).map_or("", |(_, left)| left);
        return Err(wrong(&format!("{left}{end}")));
    }
    let path = inner.strip_prefix('.').unwrap_or(inner);
    if path.is_empty() {
        return Err(wrong(text));
    }
    let dotted = format!(".{path}");
    Path::parse_located(&dotted).map_err(|left| {
        let end = if braced.is_some() { "}" } else { "" };
        wrong(&format!("{left}{end}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn goal(text: &str) -> Goal {
        let read: WaitFor = text.parse().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(read.to_string(), text);
        read.goal
    }

    fn refused(text: &str) -> String {
        let error = text.parse::<WaitFor>().expect_err(text);
        error.to_string()
    }

    #[test]
    fn every_form_is_read() {
        for text in ["create", "CREATE", "Create"] {
            assert_eq!(goal(text), Goal::Create);
        }
        assert_eq!(goal("Delete"), Goal::Delete);
        assert_eq!(goal("replaced"), Goal::Replaced);
        assert_eq!(goal("reason=a=b"), Goal::Reason("a=b".to_owned()));
        assert_eq!(goal("event=Killing"), Goal::Event("Killing".to_owned()));
        let condition = |name: &str, status: &str| Goal::Condition {
            name: name.to_owned(),
            status: status.to_owned(),
        };
        assert_eq!(goal("condition=Ready"), condition("Ready", "true"));
        assert_eq!(goal("condition=Ready=False"), condition("Ready", "False"));
        assert_eq!(goal("condition=A=b=c"), condition("A", "b=c"));
        assert_eq!(goal("condition=A="), condition("A", ""));
    }

    #[test]
    fn paths_are_equal_with_and_without_braces_and_dot() {
        let object = json!({"a": {"b": [{"t": "x", "v": 1}, {"t": "y", "v": 2}]}});
        for text in ["{.a.b[1].v}", "{a.b[1].v}", ".a.b[1].v", "a.b[1].v"] {
            let Goal::JsonPath { path, value } = goal(&format!("jsonpath={text}=2")) else {
                panic!("{text} is a path");
            };
            assert_eq!(path.first(&object), Some(&json!(2)), "{text}");
            assert_eq!(value.as_deref(), Some("2"));
        }
        let Goal::JsonPath { path, value } = goal(r#"jsonpath={.a.b[?(@.t=="y")].v}='"2"'"#) else {
            panic!("a path");
        };
        assert_eq!(path.first(&object), Some(&json!(2)));
        assert_eq!(value.as_deref(), Some("2"));
    }

    #[test]
    fn everything_else_is_refused_with_its_place() {
        for text in [
            "",
            "Condition=Ready",
            "JSONPATH={.a}",
            "ready",
            "conditions=a",
            "Replaced",
        ] {
            assert_eq!(refused(text), format!("unrecognized condition: {text:?}"));
        }
        assert_eq!(
            refused("condition="),
            "condition= wants the type of a condition after it"
        );
        assert_eq!(refused("event="), "event= wants an Event's reason after it");
        for text in [".a=", ".a=b=c", "{.a}=1=2", "="] {
            let message = refused(&format!("jsonpath={text}"));
            let is_value =
                message.starts_with("a JSONPath is followed by nothing or by one =VALUE");
            assert!(
                is_value || message.starts_with("not a JSONPath"),
                "{message}"
            );
        }
        for (text, letter, left) in [
            ("", 1, ""),
            ("{}", 1, "{}"),
            (".", 1, "."),
            ("{.a}{.b}", 4, "}{.b}"),
            ("{.a", 1, "{.a"),
            (".a.b[x].c", 5, "[x].c"),
            ("{.a[?(@.b]}", 4, "[?(@.b]}"),
        ] {
            assert_eq!(
                refused(&format!("jsonpath={text}")),
                format!("not a JSONPath at letter {letter}, {left:?}: {text:?}")
            );
        }
    }
}
