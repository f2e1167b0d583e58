//! Owns the functions that rules call most, and those that CEL does not have. Refuses to look further
//! than its arguments.

use super::eval::Fault;
use super::node::Own;
use super::time;
use super::value::Val;
use std::rc::Rc;

/// Calls a function; the compiler has counted the arguments.
pub(super) fn call(own: Own, arguments: Vec<Val<'_>>) -> Result<Val<'_>, Fault> {
    let mut arguments = arguments.into_iter();
    let first = arguments.next();
    let second = arguments.next();
    let third = arguments.next();
    match (own, first, second, third) {
        (Own::OptionalNone, None, None, None) => Ok(Val::Optional(None)),
        (own, Some(first), None, None) => of_one(own, first),
        (own, Some(first), Some(second), None) => of_two(own, first, second),
        (Own::ConditionIs, Some(object), Some(kind), Some(status)) => {
            let Val::Optional(found) = condition(&object, &kind)? else {
                return Ok(Val::Bool(false));
            };
            let found = found.and_then(|found| found.member("status"));
            Ok(Val::Bool(found.is_some_and(|found| found.same(&status))))
        }
        _ => Err(Fault::wrong("a function is called with too many values")),
    }
}

fn unfit(name: &str, value: &Val<'_>) -> Fault {
    Fault::wrong(format!("`{name}` does not take {}", value.kind()))
}

fn of_one(own: Own, value: Val<'_>) -> Result<Val<'_>, Fault> {
    match own {
        Own::Size => size(&value),
        Own::Int => int(&value),
        Own::Uint => uint(&value),
        Own::Double => double(&value),
        Own::Text => match value {
            Val::Json(_)
            | Val::List(_)
            | Val::Map(_)
            | Val::View(_)
            | Val::Null
            | Val::Optional(_) => Err(unfit("string", &value)),
            Val::Text(_) => Ok(value),
            other => Ok(Val::text(other.to_string())),
        },
        Own::Timestamp => match &value {
            Val::Time(_) => Ok(value),
            Val::Text(text) => time::timestamp(text)
                .map(Val::Time)
                .ok_or_else(|| Fault::wrong(format!("`{text}` is no RFC 3339 time"))),
            other => Err(unfit("timestamp", other)),
        },
        Own::Duration => match &value {
            Val::Span(_) => Ok(value),
            Val::Text(text) => time::duration(text)
                .map(Val::Span)
                .ok_or_else(|| Fault::wrong(format!("`{text}` is no span of time"))),
            other => Err(unfit("duration", other)),
        },
        Own::OptionalOf => Ok(Val::Optional(Some(Rc::new(value)))),
        Own::HasValue => match value {
            Val::Optional(inner) => Ok(Val::Bool(inner.is_some())),
            other => Err(unfit("hasValue", &other)),
        },
        Own::Value => match value {
            Val::Optional(Some(inner)) => Ok(inner.as_ref().clone()),
            Val::Optional(None) => Err(Fault::absent("an optional value that is not there")),
            other => Err(unfit("value", &other)),
        },
        _ => Err(Fault::wrong("a function is called with too few values")),
    }
}

fn of_two<'a>(own: Own, one: Val<'a>, other: Val<'a>) -> Result<Val<'a>, Fault> {
    match own {
        Own::Contains | Own::StartsWith | Own::EndsWith => {
            let (Some(text), Some(part)) = (one.as_text(), other.as_text()) else {
                let unfitting = if one.as_text().is_some() {
                    &other
                } else {
                    &one
                };
                return Err(unfit("contains, startsWith or endsWith", unfitting));
            };
            Ok(Val::Bool(match own {
                Own::Contains => text.contains(part),
                Own::StartsWith => text.starts_with(part),
                _ => text.ends_with(part),
            }))
        }
        Own::Or => match one {
            Val::Optional(Some(_)) => Ok(one),
            Val::Optional(None) => Ok(other),
            unfitting => Err(unfit("or", &unfitting)),
        },
        Own::OrValue => match one {
            // A null is no value either.
            Val::Optional(Some(inner)) if !matches!(*inner, Val::Null) => {
                Ok(inner.as_ref().clone())
            }
            Val::Optional(_) => Ok(other),
            unfitting => Err(unfit("orValue", &unfitting)),
        },
        Own::Condition => condition(&one, &other),
        Own::MatchesSelector => matches_selector(&one, &other).map(Val::Bool),
        _ => Err(Fault::wrong("a function is called with too many values")),
    }
}

fn size<'a>(value: &Val<'_>) -> Result<Val<'a>, Fault> {
    let size = match value {
        Val::Text(text) => text.chars().count(),
        other => match (other.items(), other.names()) {
            (Some(items), _) => items.count(),
            (None, Some(names)) => names.len(),
            (None, None) => return Err(unfit("size", other)),
        },
    };
    Ok(Val::Int(i64::try_from(size).unwrap_or(i64::MAX)))
}

#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    reason = "CEL cuts fractions; the bounds are checked"
)]
fn int<'a>(value: &Val<'_>) -> Result<Val<'a>, Fault> {
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

fn uint<'a>(value: &Val<'_>) -> Result<Val<'a>, Fault> {
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
fn double<'a>(value: &Val<'_>) -> Result<Val<'a>, Fault> {
    let double = match value {
        Val::Double(value) => Some(*value),
        Val::Int(value) => Some(*value as f64),
        Val::Uint(value) => Some(*value as f64),
        Val::Text(text) => text.parse().ok(),
        _ => None,
    };
    double.map(Val::Double).ok_or_else(|| no_number(value))
}

fn no_number(value: &Val<'_>) -> Fault {
    match value {
        Val::Text(text) => Fault::wrong(format!("`{text}` is no number that fits")),
        other => Fault::wrong(format!("{} is no number that fits", other.kind())),
    }
}

/// Finds a condition of an object by its type.
fn condition<'a>(object: &Val<'a>, kind: &Val<'a>) -> Result<Val<'a>, Fault> {
    if !object.is_map() {
        return Err(unfit("condition", object));
    }
    let list = object
        .member("status")
        .and_then(|status| status.member("conditions"));
    let Some(mut items) = list.as_ref().and_then(Val::items) else {
        return Ok(Val::Optional(None));
    };
    let is_it = |item: &Val<'a>| {
        let found = item.member("type");
        found.is_some_and(|found| found.same(kind))
    };
    Ok(Val::Optional(items.find(is_it).map(Rc::new)))
}

/// Judges a label selector. An empty one selects everything, none nothing.
pub(crate) fn matches_selector<'a>(selector: &Val<'a>, labels: &Val<'a>) -> Result<bool, Fault> {
    if matches!(selector, Val::Null) {
        return Ok(false);
    }
    if !selector.is_map() {
        return Err(unfit("matchesSelector", selector));
    }
    let label = |name: &str| labels.member(name);
    if let Some(wanted) = selector.member("matchLabels") {
        for name in wanted.names().unwrap_or_default() {
            let wanted = wanted.member(&name);
            let is_it = match (wanted, label(&name)) {
                (Some(wanted), Some(found)) => wanted.same(&found),
                _ => false,
            };
            if !is_it {
                return Ok(false);
            }
        }
    }
    let Some(terms) = selector.member("matchExpressions") else {
        return Ok(true);
    };
    for term in terms.items().into_iter().flatten() {
        let text = |name: &str| term.member(name);
        let key = text("key");
        let found = key.as_ref().and_then(Val::as_text).and_then(label);
        let operator = text("operator");
        let is_listed = || {
            let values = text("values");
            let mut values = values.as_ref().and_then(Val::items).into_iter().flatten();
            let found = found.as_ref();
            found.is_some_and(|found| values.any(|value| value.same(found)))
        };
        let is_met = match operator.as_ref().and_then(Val::as_text) {
            Some("In") => is_listed(),
            Some("NotIn") => !is_listed(),
            Some("Exists") => found.is_some(),
            Some("DoesNotExist") => found.is_none(),
            _ => return Err(Fault::wrong("a selector has an unknown operator")),
        };
        if !is_met {
            return Ok(false);
        }
    }
    Ok(true)
}
