//! Values while an expression is evaluated. Objects are borrowed, not copied.

use kube_cel::cel::Value as CelValue;
use kubereel_format::RecordedAt;
use kubereel_history::timetext;
use serde_json::{Number, Value};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::rc::Rc;

/// A value.
#[derive(Clone, Debug)]
pub(crate) enum Val<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(Cow<'a, str>),
    /// A list or a map of the reel.
    Json(&'a Value),
    List(Rc<Vec<Self>>),
    Map(Rc<BTreeMap<String, Self>>),
    /// Microseconds since 1970.
    Time(i64),
    /// Microseconds.
    Span(i64),
    Optional(Option<Rc<Self>>),
    /// A map whose members are made when they are read.
    View(Rc<dyn View<'a> + 'a>),
    /// A value that only the library knows, such as a quantity.
    Foreign(CelValue),
}

/// A map whose members are made when they are read.
pub(crate) trait View<'a>: fmt::Debug {
    /// Returns a member.
    fn member(&self, name: &str) -> Option<Val<'a>>;

    /// Returns the names of all members, from A to Z.
    fn names(&self) -> Vec<String>;
}

impl<'a> Val<'a> {
    /// Lends a value of the reel. Whole numbers are `int`.
    pub(crate) fn json(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => Self::number(number),
            Value::String(text) => Self::Text(Cow::Borrowed(text)),
            Value::Array(_) | Value::Object(_) => Self::Json(value),
        }
    }

    fn number(number: &Number) -> Self {
        if let Some(value) = number.as_i64() {
            Self::Int(value)
        } else if let Some(value) = number.as_u64() {
            Self::Uint(value)
        } else {
            Self::Double(number.as_f64().unwrap_or(f64::NAN))
        }
    }

    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(Cow::Owned(text.into()))
    }

    /// Makes a number of a count.
    #[expect(clippy::expect_used, reason = "what is in memory is fewer than 2^63")]
    pub(crate) fn count(count: usize) -> Self {
        Self::Int(i64::try_from(count).expect("a count below 2^63"))
    }

    pub(crate) fn time(at: RecordedAt) -> Self {
        Self::Time(at.micros)
    }

    /// Names its type, for errors.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "bool",
            Self::Int(_) | Self::Uint(_) | Self::Double(_) => "number",
            Self::Text(_) => "string",
            Self::Json(Value::Array(_)) | Self::List(_) => "list",
            Self::Json(_) | Self::Map(_) | Self::View(_) => "map",
            Self::Time(_) => "timestamp",
            Self::Span(_) => "duration",
            Self::Optional(_) => "optional",
            Self::Foreign(_) => "opaque value",
        }
    }

    /// Returns the text, if it is one.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns whether it has members.
    pub(crate) const fn is_map(&self) -> bool {
        matches!(
            self,
            Self::Json(Value::Object(_)) | Self::Map(_) | Self::View(_)
        )
    }

    /// Returns a member of a map, if it has it.
    pub(crate) fn member(&self, name: &str) -> Option<Self> {
        match self {
            Self::Json(Value::Object(map)) => map.get(name).map(Self::json),
            Self::Map(map) => map.get(name).cloned(),
            Self::View(view) => view.member(name),
            _ => None,
        }
    }

    /// Returns the items of a list.
    pub(crate) fn items(&self) -> Option<ValItems<'a>> {
        match self {
            Self::Json(Value::Array(list)) => Some(ValItems::Json(list.iter())),
            Self::List(list) => Some(ValItems::OwnFunction(Rc::clone(list), 0)),
            _ => None,
        }
    }

    /// Returns whether two values are the same; those of different kinds are not.
    pub(crate) fn same(&self, other: &Self) -> bool {
        if self.is_number() && other.is_number() {
            return self.number_order(other) == Some(Ordering::Equal);
        }
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(one), Self::Bool(other)) => one == other,
            (Self::Text(one), Self::Text(other)) => one == other,
            (Self::Time(one), Self::Time(other)) | (Self::Span(one), Self::Span(other)) => {
                one == other
            }
            (Self::Optional(one), Self::Optional(other)) => match (one, other) {
                (None, None) => true,
                (Some(one), Some(other)) => one.same(other),
                _ => false,
            },
            (Self::Foreign(one), Self::Foreign(other)) => one == other,
            _ => self.same_parts(other),
        }
    }

    fn same_parts(&self, other: &Self) -> bool {
        if let (Some(mut one), Some(mut other)) = (self.items(), other.items()) {
            return loop {
                match (one.next(), other.next()) {
                    (None, None) => break true,
                    (Some(one), Some(other)) if one.same(&other) => {}
                    _ => break false,
                }
            };
        }
        let (Some(one), Some(names)) = (self.names(), other.names()) else {
            return false;
        };
        one == names
            && one
                .iter()
                .all(|name| match (self.member(name), other.member(name)) {
                    (Some(one), Some(other)) => one.same(&other),
                    _ => false,
                })
    }

    /// Returns the names of a map's members, sorted.
    pub(crate) fn names(&self) -> Option<Vec<String>> {
        match self {
            Self::Json(Value::Object(map)) => {
                let mut names: Vec<String> = map.keys().cloned().collect();
                names.sort_unstable();
                Some(names)
            }
            Self::Map(map) => Some(map.keys().cloned().collect()),
            Self::View(view) => Some(view.names()),
            _ => None,
        }
    }

    /// Orders two values; `None` if their kinds have no order, or one is not a number.
    pub(crate) fn order(&self, other: &Self) -> Option<Ordering> {
        if self.is_number() && other.is_number() {
            return self.number_order(other);
        }
        match (self, other) {
            (Self::Bool(one), Self::Bool(other)) => Some(one.cmp(other)),
            (Self::Text(one), Self::Text(other)) => Some(one.cmp(other)),
            (Self::Time(one), Self::Time(other)) | (Self::Span(one), Self::Span(other)) => {
                Some(one.cmp(other))
            }
            _ => None,
        }
    }

    const fn is_number(&self) -> bool {
        matches!(self, Self::Int(_) | Self::Uint(_) | Self::Double(_))
    }

    /// Orders two numbers of any kind.
    #[expect(
        clippy::as_conversions,
        clippy::cast_precision_loss,
        reason = "whole numbers beside fractions are compared as fractions, as CEL does"
    )]
    fn number_order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(one), Self::Int(other)) => Some(one.cmp(other)),
            (Self::Uint(one), Self::Uint(other)) => Some(one.cmp(other)),
            (Self::Int(one), Self::Uint(other)) => Some(i128::from(*one).cmp(&i128::from(*other))),
            (Self::Uint(one), Self::Int(other)) => Some(i128::from(*one).cmp(&i128::from(*other))),
            (Self::Double(one), Self::Double(other)) => one.partial_cmp(other),
            (Self::Double(one), Self::Int(other)) => one.partial_cmp(&(*other as f64)),
            (Self::Int(one), Self::Double(other)) => (*one as f64).partial_cmp(other),
            (Self::Double(one), Self::Uint(other)) => one.partial_cmp(&(*other as f64)),
            (Self::Uint(one), Self::Double(other)) => (*one as f64).partial_cmp(other),
            _ => None,
        }
    }

    /// Returns whether the kinds of two values can be compared at all.
    pub(crate) fn is_comparable(&self, other: &Self) -> bool {
        matches!(self, Self::Null) || matches!(other, Self::Null) || self.kind() == other.kind()
    }
}

/// The items of a list.
pub(crate) enum ValItems<'a> {
    Json(std::slice::Iter<'a, Value>),
    OwnFunction(Rc<Vec<Val<'a>>>, usize),
}

impl<'a> Iterator for ValItems<'a> {
    type Item = Val<'a>;

    fn next(&mut self) -> Option<Val<'a>> {
        match self {
            Self::Json(items) => items.next().map(Val::json),
            Self::OwnFunction(items, at) => {
                let item = items.get(*at).cloned();
                *at += 1;
                item
            }
        }
    }
}

impl fmt::Display for Val<'_> {
    /// Writes it for people: texts as they are, times as RFC 3339, spans as text.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => out.write_str("null"),
            Self::Bool(value) => write!(out, "{value}"),
            Self::Int(value) => write!(out, "{value}"),
            Self::Uint(value) => write!(out, "{value}"),
            Self::Double(value) => write!(out, "{value}"),
            Self::Text(text) => out.write_str(text),
            Self::Json(value) => write!(out, "{value}"),
            Self::Time(micros) => {
                out.write_str(&timetext::rfc3339(RecordedAt::from_micros(*micros)))
            }
            Self::Span(micros) => {
                let sign = if *micros < 0 { "-" } else { "" };
                write!(out, "{sign}{}", timetext::span(micros.unsigned_abs()))
            }
            Self::List(items) => {
                out.write_char('[')?;
                for (place, item) in items.iter().enumerate() {
                    let gap = if place > 0 { ", " } else { "" };
                    write!(out, "{gap}{item}")?;
                }
                out.write_char(']')
            }
            Self::Map(_) | Self::View(_) => {
                out.write_char('{')?;
                for (place, name) in self.names().unwrap_or_default().iter().enumerate() {
                    let gap = if place > 0 { ", " } else { "" };
                    let value = self.member(name).unwrap_or(Val::Null);
                    write!(out, "{gap}{name}: {value}")?;
                }
                out.write_char('}')
            }
            Self::Optional(Some(value)) => write!(out, "{value}"),
            Self::Optional(None) => out.write_str("nothing"),
            Self::Foreign(value) => write!(out, "{value:?}"),
        }
    }
}
