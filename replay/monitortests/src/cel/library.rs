//! Calls of the CEL library's functions. The library is not trusted: a panic is an error of the call.

use super::eval::{EvalError, weigh_text};
use super::value::Val;
use kube_cel::KubeCelExt as _;
use kube_cel::cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue};
use kube_cel::cel::objects::{Key, OptionalValue};
use kube_cel::cel::{Context, ExecutionError, Value as CelValue};
use kubereel_format::RecordedAt;
use kubereel_history::timetext;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::panic::{self, AssertUnwindSafe};
use std::rc::Rc;
use std::sync::Arc;

/// The names of arguments.
const NAMES: [&str; 8] = ["a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7"];

thread_local! {
    /// All functions; making it takes longer than most expressions.
    static LIBRARY: Context<'static> = Context::default().with_all();
}

const fn expression(expr: Expr) -> IdedExpr {
    IdedExpr { id: 0, expr }
}

/// Calls a function.
pub(super) fn call<'a>(
    name: &str,
    has_target: bool,
    arguments: &[Val<'a>],
    steps: &mut u32,
) -> Result<Val<'a>, EvalError> {
    if arguments.len() > NAMES.len() {
        return Err(EvalError::wrong(format!(
            "`{name}` is called with too many arguments"
        )));
    }
    weigh(name, arguments, steps)?;
    let mut given = Vec::with_capacity(arguments.len());
    for argument in arguments {
        given.push(lend(argument, steps)?);
    }
    let mut names = NAMES
        .iter()
        .take(given.len())
        .map(|name| expression(Expr::Ident((*name).to_owned())));
    let target = if has_target { names.next() } else { None };
    let called = expression(Expr::Call(CallExpr {
        func_name: name.to_owned(),
        target: target.map(Box::new),
        args: names.collect(),
    }));
    let result = run(&called, given).map_err(|error| EvalError::wrong(message_of(name, &error)))?;
    take(result, steps)
}

/// Counts what the functions make or look at that is more than their arguments.
fn weigh(name: &str, arguments: &[Val<'_>], steps: &mut u32) -> Result<(), EvalError> {
    let items = |value: &Val<'_>| value.items().map_or(1, Iterator::count);
    match (name, arguments) {
        ("replace", [Val::Text(text), Val::Text(old), Val::Text(new), ..]) => {
            let places = text.matches(old.as_ref()).count();
            weigh_text(steps, places.saturating_mul(new.len()))
        }
        ("join", [list, Val::Text(between)]) => {
            weigh_text(steps, items(list).saturating_mul(between.len()))
        }
        // It compares each item with each.
        ("distinct", [list]) => weigh_text(steps, items(list).saturating_pow(2)),
        ("sets.contains" | "sets.equivalent" | "sets.intersects", [one, other]) => {
            weigh_text(steps, items(one).saturating_mul(items(other)))
        }
        // Each place takes a value, and its precision says how many digits.
        ("format", [Val::Text(form), list]) => {
            let values = list.items().into_iter().flatten();
            let longest = values
                .map(|value| value.as_text().map_or(0, str::len))
                .max();
            let digits = form.split(|letter: char| !letter.is_ascii_digit());
            let digits = digits.filter(|digits| !digits.is_empty());
            let digits: Vec<usize> = digits
                .map(str::parse)
                .collect::<Result<_, _>>()
                .map_err(|_too_large| EvalError::too_long())?;
            let most = longest.max(digits.into_iter().max()).unwrap_or_default();
            weigh_text(steps, form.matches('%').count().saturating_mul(most))
        }
        _ => Ok(()),
    }
}

fn run(called: &IdedExpr, given: Vec<CelValue>) -> Result<CelValue, ExecutionError> {
    let run = || {
        LIBRARY.with(|library| {
            let mut scope = library.new_inner_scope();
            for (name, value) in NAMES.iter().zip(given) {
                scope.add_variable_from_value(*name, value);
            }
            CelValue::resolve(called, &scope)
        })
    };
    panic::catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|_| Err(ExecutionError::NoSuchOverload))
}

fn message_of(name: &str, error: &ExecutionError) -> String {
    match error {
        ExecutionError::FunctionError { message, .. } => format!("`{name}`: {message}"),
        ExecutionError::NoSuchOverload => format!("`{name}` does not accept these types"),
        other => {
            let text: String = other.to_string().chars().take(200).collect();
            format!("`{name}`: {text}")
        }
    }
}

/// Counts a value that is copied.
fn step(steps: &mut u32) -> Result<(), EvalError> {
    *steps = steps.checked_sub(1).ok_or_else(EvalError::too_long)?;
    Ok(())
}

/// Copies a value for the library.
fn lend(value: &Val<'_>, steps: &mut u32) -> Result<CelValue, EvalError> {
    step(steps)?;
    Ok(match value {
        Val::Null => CelValue::Null,
        Val::Bool(value) => CelValue::Bool(*value),
        Val::Int(value) => CelValue::Int(*value),
        Val::Uint(value) => CelValue::UInt(*value),
        Val::Double(value) => CelValue::Float(*value),
        Val::Text(text) => {
            weigh_text(steps, text.len())?;
            CelValue::String(Arc::new(text.clone().into_owned()))
        }
        Val::Foreign(value) => value.clone(),
        Val::Optional(None) => CelValue::Opaque(Arc::new(OptionalValue::none())),
        Val::Optional(Some(value)) => {
            CelValue::Opaque(Arc::new(OptionalValue::of(lend(value, steps)?)))
        }
        Val::Time(micros) => made(
            "timestamp",
            &timetext::rfc3339_micros(RecordedAt::from_micros(*micros)),
        )?,
        Val::Span(micros) => made("duration", &format!("{micros}us"))?,
        Val::Json(Value::Array(_)) | Val::List(_) => {
            let mut items = Vec::new();
            for item in value.items().into_iter().flatten() {
                items.push(lend(&item, steps)?);
            }
            CelValue::List(Arc::new(items))
        }
        Val::Json(_) | Val::Map(_) | Val::View(_) => {
            let mut map = HashMap::new();
            for name in value.names().unwrap_or_default() {
                if let Some(member) = value.member(&name) {
                    map.insert(Key::from(name), lend(&member, steps)?);
                }
            }
            CelValue::from(map)
        }
    })
}

/// Lets the library make a time of a text: its own type for times is not ours to name.
fn made(function: &str, text: &str) -> Result<CelValue, EvalError> {
    let called = expression(Expr::Call(CallExpr {
        func_name: function.to_owned(),
        target: None,
        args: vec![expression(Expr::Literal(LiteralValue::String(text.into())))],
    }));
    run(&called, Vec::new()).map_err(|error| EvalError::wrong(message_of(function, &error)))
}

/// Takes a value of the library.
fn take<'a>(value: CelValue, steps: &mut u32) -> Result<Val<'a>, EvalError> {
    step(steps)?;
    Ok(match value {
        CelValue::Null => Val::Null,
        CelValue::Bool(value) => Val::Bool(value),
        CelValue::Int(value) => Val::Int(value),
        CelValue::UInt(value) => Val::Uint(value),
        CelValue::Float(value) => Val::Double(value),
        CelValue::String(text) => {
            weigh_text(steps, text.len())?;
            Val::text(text.as_str())
        }
        CelValue::Timestamp(time) => Val::Time(time.timestamp_micros()),
        CelValue::Duration(span) => match span.num_microseconds() {
            Some(micros) => Val::Span(micros),
            None => return Err(EvalError::wrong("duration overflow")),
        },
        CelValue::List(items) => {
            let mut taken = Vec::with_capacity(items.len());
            for item in items.iter() {
                taken.push(take(item.clone(), steps)?);
            }
            Val::List(Rc::new(taken))
        }
        CelValue::Map(map) => {
            let mut entries: Vec<_> = map.map.iter().collect();
            entries.sort_by(|one, other| one.0.cmp(other.0));
            let mut taken = BTreeMap::new();
            for (name, value) in entries {
                taken.insert(name.to_string(), take(value.clone(), steps)?);
            }
            Val::Map(Rc::new(taken))
        }
        CelValue::Opaque(opaque) => match opaque.downcast_ref::<OptionalValue>() {
            Some(optional) => match optional.value() {
                Some(value) => Val::Optional(Some(Rc::new(take(value.clone(), steps)?))),
                None => Val::Optional(None),
            },
            None => Val::Foreign(CelValue::Opaque(opaque)),
        },
        other => Val::Foreign(other),
    })
}
