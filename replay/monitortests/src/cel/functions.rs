//! The functions that expressions may call, and those that are evaluated here: the ones that rules call
//! most, and those that CEL does not have.
//!
//! Functions that would compile a regex at each call are left out, as are those of bytes, formats and
//! patches.

use super::eval::EvalError;
use super::value::Val;
use kubereel_history::{LabelSelector, timetext};
use serde_json::Value;
use std::rc::Rc;

/// A function that is evaluated here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnFunction {
    Size,
    Contains,
    StartsWith,
    EndsWith,
    Int,
    Uint,
    Double,
    Text,
    Timestamp,
    Duration,
    OptionalOf,
    OptionalNone,
    HasValue,
    Value,
    Or,
    OrValue,
    Condition,
    ConditionIs,
    MatchesSelector,
}

/// How a function is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FunctionKind {
    /// Here; with the number of arguments, the target among them.
    Own(OwnFunction, usize),
    /// Here, with a constant regex as the argument.
    Regex,
    /// By the library.
    Library,
}

const OWN: [(&str, OwnFunction, usize); 19] = [
    ("size", OwnFunction::Size, 1),
    ("contains", OwnFunction::Contains, 2),
    ("startsWith", OwnFunction::StartsWith, 2),
    ("endsWith", OwnFunction::EndsWith, 2),
    ("int", OwnFunction::Int, 1),
    ("uint", OwnFunction::Uint, 1),
    ("double", OwnFunction::Double, 1),
    ("string", OwnFunction::Text, 1),
    ("timestamp", OwnFunction::Timestamp, 1),
    ("duration", OwnFunction::Duration, 1),
    ("optional.of", OwnFunction::OptionalOf, 1),
    ("optional.none", OwnFunction::OptionalNone, 0),
    ("hasValue", OwnFunction::HasValue, 1),
    ("value", OwnFunction::Value, 1),
    ("or", OwnFunction::Or, 2),
    ("orValue", OwnFunction::OrValue, 2),
    ("condition", OwnFunction::Condition, 2),
    ("conditionIs", OwnFunction::ConditionIs, 3),
    ("matchesSelector", OwnFunction::MatchesSelector, 2),
];

const REGEX: [&str; 3] = ["matches", "find", "findAll"];

/// The library's functions that rules may call.
const LIBRARY: &str = "add asApproximateFloat asInteger charAt cidr compareTo containsCIDR containsIP distinct \
    family first flatten format getDate getDayOfMonth getDayOfWeek getDayOfYear getEscapedPath \
    getFullYear getHost getHostname getHours getMilliseconds getMinutes getMonth getPort \
    getQuery getScheme getSeconds indexOf ip ip.isCanonical isCIDR isCIDRv4 isCIDRv6 \
    isGlobalUnicast isGreaterThan isIP isIPv4 isIPv6 isInteger isLessThan isLinkLocalMulticast \
    isLinkLocalUnicast isLoopback isQuantity isSemver isSorted isURL isUnspecified join last \
    lastIndexOf lowerAscii major masked math.abs math.bitAnd math.bitNot math.bitOr \
    math.bitShiftLeft math.bitShiftRight math.bitXor math.ceil math.floor math.greatest \
    math.isFinite math.isInf math.isNaN math.least math.round math.sign math.sqrt math.trunc max \
    min minor patch prefixLength quantity replace reverse semver sets.contains sets.equivalent \
    sets.intersects sign slice sort split strings.quote sub substring sum trim upperAscii url";

/// Finds a function.
pub(super) fn function(name: &str) -> Option<FunctionKind> {
    if REGEX.contains(&name) {
        return Some(FunctionKind::Regex);
    }
    if let Some((_, own, count)) = OWN.iter().find(|(known, _, _)| *known == name) {
        return Some(FunctionKind::Own(*own, *count));
    }
    let is_library = LIBRARY.split(' ').any(|known| known == name);
    is_library.then_some(FunctionKind::Library)
}

/// Returns whether a text can be the name of a variable.
pub(crate) fn is_name(text: &str) -> bool {
    const WORDS: [&str; 5] = ["true", "false", "null", "in", "constants"];
    let mut chars = text.chars();
    let begins = chars.next().is_some_and(|c| c.is_ascii_alphabetic());
    begins && chars.all(|c| c.is_ascii_alphanumeric() || c == '_') && !WORDS.contains(&text)
}

/// Returns the name of every function and macro.
pub(super) fn functions() -> impl Iterator<Item = &'static str> {
    let macros = ["has", "all", "exists", "existsOne", "filter", "map"];
    let own = OWN.iter().map(|(name, _, _)| *name);
    own.chain(LIBRARY.split(' ')).chain(REGEX).chain(macros)
}

/// Returns the known word that looks most like another, if one does.
pub(crate) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    kubereel_history::nearest(word, known).into_iter().next()
}

/// Calls a function; the compiler has counted the arguments.
pub(super) fn call<'a>(own: OwnFunction, arguments: &[Val<'a>]) -> Result<Val<'a>, EvalError> {
    let unfit = |value: &Val<'_>| {
        let known = OWN.iter().find(|(_, known, _)| *known == own);
        unfit(known.map_or("function", |(name, _, _)| name), value)
    };
    match (own, arguments) {
        (OwnFunction::Size, [value]) => size(value),
        (OwnFunction::Int, [value]) => int(value),
        (OwnFunction::Uint, [value]) => uint(value),
        (OwnFunction::Double, [value]) => double(value),
        (OwnFunction::Text, [value]) => match value {
            Val::Json(_)
            | Val::List(_)
            | Val::Map(_)
            | Val::View(_)
            | Val::Null
            | Val::Optional(_) => Err(unfit(value)),
            Val::Text(_) => Ok(value.clone()),
            other => Ok(Val::text(other.to_string())),
        },
        (OwnFunction::Timestamp, [value]) => match value {
            Val::Time(_) => Ok(value.clone()),
            Val::Text(text) => timestamp(text)
                .map(Val::Time)
                .ok_or_else(|| EvalError::wrong(format!("`{text}` is not an RFC 3339 time"))),
            other => Err(unfit(other)),
        },
        (OwnFunction::Duration, [value]) => match value {
            Val::Span(_) => Ok(value.clone()),
            Val::Text(text) => duration(text)
                .map(Val::Span)
                .ok_or_else(|| EvalError::wrong(format!("`{text}` is not a duration"))),
            other => Err(unfit(other)),
        },
        (OwnFunction::Contains | OwnFunction::StartsWith | OwnFunction::EndsWith, [one, other]) => {
            let text = one.as_text().ok_or_else(|| unfit(one))?;
            let part = other.as_text().ok_or_else(|| unfit(other))?;
            Ok(Val::Bool(match own {
                OwnFunction::Contains => text.contains(part),
                OwnFunction::StartsWith => text.starts_with(part),
                _ => text.ends_with(part),
            }))
        }
        (OwnFunction::OptionalNone, []) => Ok(Val::Optional(None)),
        (OwnFunction::OptionalOf, [value]) => Ok(Val::Optional(Some(Rc::new(value.clone())))),
        (OwnFunction::HasValue, [Val::Optional(inner)]) => Ok(Val::Bool(inner.is_some())),
        (OwnFunction::Value, [Val::Optional(inner)]) => match inner {
            Some(inner) => Ok(inner.as_ref().clone()),
            None => Err(EvalError::absent("an optional value that is not there")),
        },
        (OwnFunction::Or, [one @ Val::Optional(inner), other]) => {
            Ok(if inner.is_some() { one } else { other }.clone())
        }
        (OwnFunction::OrValue, [Val::Optional(inner), other]) => Ok(match inner.as_deref() {
            // A null is no value either.
            None | Some(Val::Null) => other.clone(),
            Some(inner) => inner.clone(),
        }),
        (OwnFunction::Condition, [object, kind]) => {
            condition(object, kind).map(|found| Val::Optional(found.map(Rc::new)))
        }
        (OwnFunction::ConditionIs, [object, kind, status]) => {
            let found = condition(object, kind)?.and_then(|found| found.member("status"));
            Ok(Val::Bool(found.is_some_and(|found| found.same(status))))
        }
        (OwnFunction::MatchesSelector, [selector, labels]) => {
            matches_selector(selector, labels).map(Val::Bool)
        }
        (_, [first, ..]) => Err(unfit(first)),
        (_, []) => Err(EvalError::wrong("a function is called without arguments")),
    }
}

fn unfit(name: &str, value: &Val<'_>) -> EvalError {
    EvalError::wrong(format!("`{name}` does not accept {}", value.kind()))
}

fn size<'a>(value: &Val<'_>) -> Result<Val<'a>, EvalError> {
    let size = match value {
        Val::Text(text) => text.chars().count(),
        other => match (other.items(), other.names()) {
            (Some(items), _) => items.count(),
            (None, Some(names)) => names.len(),
            (None, None) => return Err(unfit("size", other)),
        },
    };
    Ok(Val::count(size))
}

#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    reason = "CEL cuts fractions; the bounds are checked"
)]
fn int<'a>(value: &Val<'_>) -> Result<Val<'a>, EvalError> {
    const BOUND: f64 = 9_223_372_036_854_775_807.0;
    let int = match value {
        Val::Int(value) => Some(*value),
        Val::Uint(value) => i64::try_from(*value).ok(),
        Val::Double(value) if value.abs() < BOUND => Some(*value as i64),
        Val::Text(text) => text.parse().ok(),
        Val::Time(micros) => Some(micros.div_euclid(1_000_000)),
        _ => None,
    };
    int.map(Val::Int).ok_or_else(|| no_number(value))
}

fn uint<'a>(value: &Val<'_>) -> Result<Val<'a>, EvalError> {
    let uint = match value {
        Val::Uint(value) => Some(*value),
        Val::Text(text) => text.parse().ok(),
        other => match int(other)? {
            Val::Int(value) => u64::try_from(value).ok(),
            _ => None,
        },
    };
    uint.map(Val::Uint).ok_or_else(|| no_number(value))
}

#[expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "CEL rounds large whole numbers"
)]
fn double<'a>(value: &Val<'_>) -> Result<Val<'a>, EvalError> {
    let double = match value {
        Val::Double(value) => Some(*value),
        Val::Int(value) => Some(*value as f64),
        Val::Uint(value) => Some(*value as f64),
        Val::Text(text) => text.parse().ok(),
        _ => None,
    };
    double.map(Val::Double).ok_or_else(|| no_number(value))
}

fn no_number(value: &Val<'_>) -> EvalError {
    match value {
        Val::Text(text) => EvalError::wrong(format!("`{text}` is not a number in range")),
        other => EvalError::wrong(format!("{} is not a number in range", other.kind())),
    }
}

/// Finds a condition of an object by its type.
fn condition<'a>(object: &Val<'a>, kind: &Val<'a>) -> Result<Option<Val<'a>>, EvalError> {
    if !object.is_map() {
        return Err(unfit("condition", object));
    }
    let status = object.member("status");
    let list = status.and_then(|status| status.member("conditions"));
    let mut items = list.as_ref().and_then(Val::items).into_iter().flatten();
    Ok(items.find(|item| item.member("type").is_some_and(|found| found.same(kind))))
}

/// Judges a label selector, or a plain map of labels as Services have it. An empty one selects everything, none nothing.
pub(crate) fn matches_selector<'a>(
    selector: &Val<'a>,
    labels: &Val<'a>,
) -> Result<bool, EvalError> {
    if matches!(selector, Val::Null) {
        return Ok(false);
    }
    if !selector.is_map() {
        return Err(unfit("matchesSelector", selector));
    }
    let read = match selector {
        Val::Json(selector) => LabelSelector::of_value(selector),
        made => LabelSelector::of_value(&as_json(made)),
    };
    let read = read.ok_or_else(|| EvalError::wrong("a selector has an unknown operator"))?;
    Ok(read.matches_with(|key| match labels.member(key)? {
        Val::Text(text) => Some(text),
        _ => None,
    }))
}

/// Makes JSON of the texts in a value that an expression made.
fn as_json(value: &Val<'_>) -> Value {
    match value {
        Val::Json(value) => (*value).clone(),
        Val::Text(text) => Value::String(text.clone().into_owned()),
        other => match (other.items(), other.names()) {
            (Some(items), _) => items.map(|item| as_json(&item)).collect(),
            (None, Some(names)) => names
                .into_iter()
                .filter_map(|name| Some((other.member(&name).as_ref().map(as_json)?, name)))
                .map(|(value, name)| (name, value))
                .collect(),
            (None, None) => Value::Null,
        },
    }
}

/// Reads an RFC 3339 time as microseconds since 1970.
pub(super) fn timestamp(text: &str) -> Option<i64> {
    timetext::parsed(text).map(|at| at.micros)
}

/// Reads a duration as Go writes it, `1h30m`, `-1.5s`, `250ms`, as microseconds.
pub(super) fn duration(text: &str) -> Option<i64> {
    const UNITS: [(&str, i64); 7] = [
        ("ns", 1),
        ("us", 1_000),
        ("µs", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ];
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut nanos = 0_i64;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, behind) = rest.split_at_checked(end)?;
        let end = behind.find(|c: char| c.is_ascii_digit() || c == '.');
        let (unit, after) = behind.split_at_checked(end.unwrap_or(behind.len()))?;
        let (_, unit) = UNITS.iter().find(|(name, _)| *name == unit)?;
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && part.is_empty() {
            return None;
        }
        let whole: i64 = if whole.is_empty() {
            0
        } else {
            whole.parse().ok()?
        };
        nanos = nanos.checked_add(whole.checked_mul(*unit)?)?;
        let mut scale = *unit;
        for digit in part.chars() {
            scale /= 10;
            nanos = nanos.checked_add(i64::from(digit.to_digit(10)?) * scale)?;
        }
        rest = after;
    }
    Some(sign * nanos / 1000)
}

#[cfg(test)]
mod names_tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found() {
        let near = |word| nearest(word, functions());
        assert_eq!(near("startWith").as_deref(), Some("startsWith"));
        assert_eq!(near("exist").as_deref(), Some("exists"));
        assert_eq!(near("frobnicate"), None);
    }
}

#[cfg(test)]
mod time_tests {
    use super::*;

    #[test]
    fn timestamps_are_read() {
        let expected = [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2025-11-21T14:22:31.48Z", Some(1_763_734_951_480_000)),
            (
                "2025-11-21T16:22:31.480001+02:00",
                Some(1_763_734_951_480_001),
            ),
            ("2024-02-29T00:00:00Z", Some(1_709_164_800_000_000)),
            ("1969-12-31T23:59:59.999999Z", Some(-1)),
            ("2023-02-29T00:00:00Z", None),
            ("2025-13-01T00:00:00Z", None),
            ("2025-11-21T24:00:00Z", None),
            ("2025-11-21", None),
            ("2025-11-21T14:22:31", None),
            ("2025-11-21T14:22:31.Z", None),
            ("+025-11-21T14:22:31Z", None),
            ("2025-11-21T14:22:31+2:00", None),
            ("ä025-11-21T14:22:31Z", None),
        ];
        for (text, micros) in expected {
            assert_eq!(timestamp(text), micros, "{text}");
        }
    }

    #[test]
    fn durations_are_read() {
        let expected = [
            ("0", Some(0)),
            ("1h30m", Some(5_400_000_000)),
            ("-1.5s", Some(-1_500_000)),
            (".5m", Some(30_000_000)),
            ("250ms", Some(250_000)),
            ("1500ns", Some(1)),
            ("", None),
            ("1", None),
            ("m", None),
            ("1x", None),
            ("1.2.3s", None),
            ("9999999999999h", None),
        ];
        for (text, micros) in expected {
            assert_eq!(duration(text), micros, "{text}");
        }
    }
}
