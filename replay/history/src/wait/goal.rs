//! The grammar of `--for` (that of `kubectl wait` and its extensions), and whether a version of an
//! object meets a goal, by the rules of `kubectl wait`.

use super::answer::MissedReason;
use crate::jsonpath::JsonPath;
use crate::object::number;
use kubereel_format::{ObjectId, REDACTED, REDACTED_BASE64};
use serde_json::Value;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A goal of a wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitFor {
    text: String,
    pub(super) goal: WaitGoal,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WaitGoal {
    Create,
    Delete,
    /// A condition of this type has this status; case is ignored.
    Condition {
        name: String,
        status: String,
    },
    /// The path has a value, or this value.
    JsonPath {
        path: JsonPath,
        value: Option<String>,
    },
    /// Another object has the name.
    Replaced,
    /// A condition or a waiting container has this reason.
    Reason(String),
    /// An Event about the object has this reason.
    Event(String),
}

/// A text is not a goal.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GoalError {
    /// It has none of the forms.
    #[error("unrecognized condition: {text:?}")]
    Unrecognized {
        /// The text.
        text: String,
    },
    /// The value after the first equals sign is missing.
    #[error("{form}= must be followed by {wanted}")]
    Empty {
        /// The text before the sign.
        form: &'static str,
        /// The expected value.
        wanted: &'static str,
    },
    /// A path must have one equals sign and one value.
    #[error("expected a JSONPath with at most one =VALUE: {text:?}")]
    Value {
        /// The text.
        text: String,
    },
    /// It is not a path.
    #[error("not a JSONPath at letter {letter}, {left:?}: {text:?}")]
    JsonPath {
        /// The text.
        text: String,
        /// The number of the first wrong letter.
        letter: usize,
        /// The text from there on.
        left: String,
    },
}

impl WaitFor {
    /// Returns whether it is the creation of an object, which is always waited for first.
    pub fn is_creation(&self) -> bool {
        self.goal == WaitGoal::Create
    }

    /// Returns whether it is the deletion of an object, which is met by absence.
    pub fn is_deletion(&self) -> bool {
        self.goal == WaitGoal::Delete
    }

    /// Returns whether it is met at one moment only.
    pub const fn is_momentary(&self) -> bool {
        matches!(self.goal, WaitGoal::Event(_))
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
            WaitGoal::Create
        } else if text.eq_ignore_ascii_case("delete") {
            WaitGoal::Delete
        } else if text == "replaced" {
            WaitGoal::Replaced
        } else if let Some(rest) = text.strip_prefix("condition=") {
            let (name, status) = rest.split_once('=').unwrap_or((rest, "true"));
            WaitGoal::Condition {
                name: named(name, "condition", "the type of a condition")?,
                status: status.to_owned(),
            }
        } else if let Some(rest) = text.strip_prefix("jsonpath=") {
            json_path(rest)?
        } else if let Some(rest) = text.strip_prefix("reason=") {
            WaitGoal::Reason(named(rest, "reason", "a reason")?)
        } else if let Some(rest) = text.strip_prefix("event=") {
            WaitGoal::Event(named(rest, "event", "an Event's reason")?)
        } else {
            let text = text.to_owned();
            return Err(GoalError::Unrecognized { text });
        };
        let text = text.to_owned();
        Ok(Self { text, goal })
    }
}

/// Parses `EXPR` or `EXPR=VALUE`.
fn json_path(text: &str) -> Result<WaitGoal, GoalError> {
    let wrong = || GoalError::Value {
        text: text.to_owned(),
    };
    let (expression, value) = match single_equals(text).as_slice() {
        [] => (text, None),
        [at] => {
            let (expression, value) = text.split_at_checked(*at).ok_or_else(wrong)?;
            // Quotes that the shell did not remove are removed, however many there are.
            let value = value.get(1..).ok_or_else(wrong)?;
            if value.is_empty() {
                return Err(wrong());
            }
            (expression, Some(value.trim_matches(['\'', '"']).to_owned()))
        }
        _ => return Err(wrong()),
    };
    let path = relaxed(expression)?;
    Ok(WaitGoal::JsonPath { path, value })
}

/// Finds the single equals signs: a pair belongs to a filter.
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

/// Parses a path with or without its braces and its first dot.
fn relaxed(text: &str) -> Result<JsonPath, GoalError> {
    let wrong = |left: &str| {
        let before = text.strip_suffix(left).unwrap_or_default();
        GoalError::JsonPath {
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
    JsonPath::parse_located(&dotted).map_err(|left| {
        let end = if braced.is_some() { "}" } else { "" };
        wrong(&format!("{left}{end}"))
    })
}

/// The state of a goal at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WaitTruth {
    Met,
    NotMet,
    Unknown(MissedReason),
    /// kubectl would stop with an error.
    Refused(String),
}

/// An object at a moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitVersion<'a> {
    pub(super) object: ObjectId,
    /// The first object of the name in the searched time.
    pub(super) first: ObjectId,
    pub(super) body: &'a Value,
}

impl From<bool> for WaitTruth {
    fn from(is_met: bool) -> Self {
        if is_met { Self::Met } else { Self::NotMet }
    }
}

impl WaitTruth {
    /// Combines two judgements: met if either is.
    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Met, _) | (_, Self::Met) => Self::Met,
            (refused @ Self::Refused(_), _) | (_, refused @ Self::Refused(_)) => refused,
            (unknown @ Self::Unknown(_), _) | (_, unknown @ Self::Unknown(_)) => unknown,
            (Self::NotMet, Self::NotMet) => Self::NotMet,
        }
    }
}

impl WaitGoal {
    /// Returns whether judging it needs the body.
    pub(super) const fn needs_body(&self) -> bool {
        matches!(
            self,
            Self::Condition { .. } | Self::JsonPath { .. } | Self::Reason(_)
        )
    }

    /// Judges a version; `None` if there is no object.
    pub(super) fn judge(&self, version: Option<WaitVersion<'_>>) -> WaitTruth {
        let Some(WaitVersion {
            object,
            first,
            body,
        }) = version
        else {
            return WaitTruth::from(*self == Self::Delete);
        };
        match self {
            Self::Create => WaitTruth::Met,
            Self::Delete | Self::Replaced => WaitTruth::from(object != first),
            Self::Condition { name, status } => condition(body, name, status),
            Self::JsonPath { path, value } => at_path(body, path, value.as_deref()),
            Self::Reason(reason) => WaitTruth::from(gives_reason(body, reason)),
            // Reasons of Events are not in the object.
            Self::Event(_) => WaitTruth::NotMet,
        }
    }
}

impl WaitFor {
    /// Returns the type of the condition that it names, if it names one that is not among those of an object.
    pub fn missing_condition<'a>(&'a self, body: &Value) -> Option<&'a str> {
        let WaitGoal::Condition { name, .. } = &self.goal else {
            return None;
        };
        let mut types = condition_types(body);
        types.all(|own| folded(own) != folded(name)).then_some(name)
    }
}

/// Returns the types of an object's conditions.
pub fn condition_types(body: &Value) -> impl Iterator<Item = &str> {
    let conditions = body.pointer("/status/conditions").and_then(Value::as_array);
    let all = conditions.into_iter().flatten();
    all.filter_map(|condition| condition.get("type").and_then(Value::as_str))
}

fn condition(body: &Value, name: &str, status: &str) -> WaitTruth {
    let conditions = body.pointer("/status/conditions").and_then(Value::as_array);
    let text = |of: &Value, member: &str| of.get(member).and_then(Value::as_str).map(str::to_owned);
    let found = conditions.into_iter().flatten().find_map(|condition| {
        let is_named = text(condition, "type").is_some_and(|own| folded(&own) == folded(name));
        let own = text(condition, "status").filter(|_| is_named)?;
        Some((condition, own))
    });
    let Some((condition, own)) = found else {
        return WaitTruth::NotMet;
    };
    let observed = condition
        .get("observedGeneration")
        .or_else(|| body.pointer("/status/observedGeneration"))
        .and_then(Value::as_i64);
    let generation = body.pointer("/metadata/generation").and_then(Value::as_i64);
    // A condition of an older generation does not count for this one.
    if let (Some(observed), Some(generation)) = (observed, generation)
        && observed < generation
    {
        return WaitTruth::NotMet;
    }
    WaitTruth::from(folded(&own) == folded(status))
}

/// Returns a text for comparison without case.
fn folded(text: &str) -> String {
    text.to_uppercase().to_lowercase()
}

fn at_path(body: &Value, path: &JsonPath, wanted: Option<&str>) -> WaitTruth {
    let Ok(found) = path.all(body) else {
        return WaitTruth::Refused("the JSONPath does not fit the object".to_owned());
    };
    let value = match found.as_slice() {
        [] => return WaitTruth::NotMet,
        [one] => *one,
        many => {
            let problem = format!("the JSONPath leads to {} values instead of one", many.len());
            return WaitTruth::Refused(problem);
        }
    };
    let Some(wanted) = wanted else {
        return WaitTruth::Met;
    };
    let own = match value {
        Value::Array(_) | Value::Object(_) => {
            let problem = "the JSONPath leads to a list or a map, which compares with no value";
            return WaitTruth::Refused(problem.to_owned());
        }
        Value::String(text) if is_redacted(text) => {
            return WaitTruth::Unknown(MissedReason::Redacted);
        }
        Value::String(text) => text.clone(),
        Value::Number(number) => number::printed(number),
        Value::Bool(truth) => truth.to_string(),
        // Go prints a missing value this way.
        Value::Null => "<nil>".to_owned(),
    };
    WaitTruth::from(own.trim() == wanted.trim())
}

/// Returns whether a text is the mark of a redacted value: plain, or in base64.
fn is_redacted(text: &str) -> bool {
    text.starts_with(REDACTED) || text.starts_with(REDACTED_BASE64)
}

fn gives_reason(body: &Value, reason: &str) -> bool {
    let items = |at: &str| {
        body.pointer(at)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    let is_it = |value: Option<&Value>| value.and_then(Value::as_str) == Some(reason);
    let containers = [
        "/status/containerStatuses",
        "/status/initContainerStatuses",
        "/status/ephemeralContainerStatuses",
    ];
    items("/status/conditions").any(|condition| is_it(condition.get("reason")))
        || containers
            .iter()
            .flat_map(|at| items(at))
            .any(|container| is_it(container.pointer("/state/waiting/reason")))
}

#[cfg(test)]
mod goal_tests {
    use super::*;
    use serde_json::json;

    fn goal(text: &str) -> WaitGoal {
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
            assert_eq!(goal(text), WaitGoal::Create);
        }
        assert_eq!(goal("Delete"), WaitGoal::Delete);
        assert_eq!(goal("replaced"), WaitGoal::Replaced);
        assert_eq!(goal("reason=a=b"), WaitGoal::Reason("a=b".to_owned()));
        assert_eq!(goal("event=Killing"), WaitGoal::Event("Killing".to_owned()));
        let condition = |name: &str, status: &str| WaitGoal::Condition {
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
            let WaitGoal::JsonPath { path, value } = goal(&format!("jsonpath={text}=2")) else {
                panic!("{text} is a path");
            };
            assert_eq!(path.first(&object), Some(&json!(2)), "{text}");
            assert_eq!(value.as_deref(), Some("2"));
        }
        let WaitGoal::JsonPath { path, value } = goal(r#"jsonpath={.a.b[?(@.t=="y")].v}='"2"'"#)
        else {
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
            "condition= must be followed by the type of a condition"
        );
        assert_eq!(
            refused("event="),
            "event= must be followed by an Event's reason"
        );
        for text in [".a=", ".a=b=c", "{.a}=1=2", "="] {
            let message = refused(&format!("jsonpath={text}"));
            let is_value = message.starts_with("expected a JSONPath with at most one =VALUE");
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

#[cfg(test)]
mod judge_tests {
    use super::*;
    use crate::wait::WaitFor;
    use serde_json::json;

    fn judged(text: &str, body: &Value) -> WaitTruth {
        let read: WaitFor = text.parse().unwrap_or_else(|error| panic!("{error}"));
        read.goal.judge(Some(WaitVersion {
            object: ObjectId(1),
            first: ObjectId(1),
            body,
        }))
    }

    #[test]
    fn conditions_do_not_mind_case_but_the_generation() {
        let body = |generation: i64, observed: Value| {
            json!({"metadata": {"generation": generation}, "status": {"observedGeneration": 2, "conditions": [
                {"type": "Other"},
                {"type": "Ready", "status": "True", "observedGeneration": observed},
                {"type": "ready", "status": "False"},
            ]}})
        };
        let without = json!({"metadata": {"generation": 3}, "status": {"observedGeneration": 2,
            "conditions": [{"type": "Ready", "status": "True"}]}});
        let plain = json!({"status": {"conditions": [{"type": "STRASSE", "status": "Unknown"}]}});
        for (text, body, expected) in [
            ("condition=Ready", &body(3, json!(3)), WaitTruth::Met),
            ("condition=rEADY=tRUE", &body(3, json!(3)), WaitTruth::Met),
            (
                "condition=Ready=False",
                &body(3, json!(3)),
                WaitTruth::NotMet,
            ),
            ("condition=Ready", &body(4, json!(3)), WaitTruth::NotMet),
            ("condition=Other", &body(3, json!(3)), WaitTruth::NotMet),
            ("condition=Ready", &without, WaitTruth::NotMet),
            ("condition=Ready", &json!({}), WaitTruth::NotMet),
            ("condition=straße=unknown", &plain, WaitTruth::Met),
            (
                "condition=Ready",
                &json!({"status": {"conditions": "x"}}),
                WaitTruth::NotMet,
            ),
        ] {
            assert_eq!(judged(text, body), expected, "{text} {body}");
        }
    }

    #[test]
    fn paths_meet_a_value_or_anything() {
        let body = json!({
            "n": 3, "f": 1.5, "t": " text ", "b": true, "none": null, "map": {"x": 1, "y": 2},
            "list": [1, 2], "empty": [], "secret": "cmVkYWN0ZWQgYnkga3ViZXJlZWw6IDYgYnl0ZXM=",
        });
        for (text, expected) in [
            (".n=3", WaitTruth::Met),
            (".n='3'", WaitTruth::Met),
            (".n=4", WaitTruth::NotMet),
            (".f=1.5", WaitTruth::Met),
            (".t=text", WaitTruth::Met),
            (".b=true", WaitTruth::Met),
            (".b=True", WaitTruth::NotMet),
            (".none=<nil>", WaitTruth::Met),
            (".absent=3", WaitTruth::NotMet),
            (".absent.more", WaitTruth::NotMet),
            (".map", WaitTruth::Met),
            (".list", WaitTruth::Met),
            (".list[0]=1", WaitTruth::Met),
            (".secret", WaitTruth::Met),
            (".secret=x", WaitTruth::Unknown(MissedReason::Redacted)),
        ] {
            assert_eq!(
                judged(&format!("jsonpath={text}"), &body),
                expected,
                "{text}"
            );
        }
        for (text, problem) in [
            (".map=3", "a list or a map"),
            (".list=3", "a list or a map"),
            (".list[*]", "2 values"),
            (".map.*=1", "2 values"),
            (".empty[0]=1", "does not fit"),
        ] {
            let WaitTruth::Refused(cause) = judged(&format!("jsonpath={text}"), &body) else {
                panic!("{text} was judged");
            };
            assert!(cause.contains(problem), "{cause}");
        }
    }

    #[test]
    fn reasons_are_those_of_conditions_and_waiting_containers() {
        let body = json!({"status": {
            "conditions": [{"type": "A", "reason": "Stuck"}],
            "initContainerStatuses": [{"state": {"waiting": {"reason": "ErrImagePull"}}}],
            "containerStatuses": [{"state": {"running": {}}, "lastState": {"waiting": {"reason": "Old"}}}],
        }});
        assert_eq!(judged("reason=Stuck", &body), WaitTruth::Met);
        assert_eq!(judged("reason=ErrImagePull", &body), WaitTruth::Met);
        assert_eq!(judged("reason=Old", &body), WaitTruth::NotMet);
        assert_eq!(judged("reason=stuck", &body), WaitTruth::NotMet);
    }

    #[test]
    fn without_an_object_only_a_deletion_is_met() {
        for (goal, expected) in [
            (WaitGoal::Delete, WaitTruth::Met),
            (WaitGoal::Create, WaitTruth::NotMet),
            (WaitGoal::Replaced, WaitTruth::NotMet),
            (WaitGoal::Reason("x".to_owned()), WaitTruth::NotMet),
        ] {
            assert_eq!(goal.judge(None), expected);
        }
    }
}
