//! The evaluation of expressions, straight over the JSON of the reel.
//!
//! Each step is counted, so that a hostile rule ends. A field that is not there has no value:
//! [`EvalError::Absent`]. `&&` and `||` are decided by the side that is known; `has` and `.?` define what
//! absence means. Anything else that CEL has no answer for is [`EvalError::Wrong`].

use super::compile::Program;
use super::functions;
use super::library;
use super::node::{BinaryOperator, CelConstant, CelNode, LoopKind};
use super::value::Val;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;

/// How many steps an evaluation may take.
const MAX_STEPS: u32 = 200_000;

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EvalError {
    /// A field that is not there was read.
    Absent { what: String },
    /// The rule is wrong for this object.
    Wrong { what: String },
}

impl EvalError {
    pub(super) fn wrong(what: impl Into<String>) -> Self {
        Self::Wrong { what: what.into() }
    }

    pub(super) fn absent(what: impl Into<String>) -> Self {
        Self::Absent { what: what.into() }
    }

    pub(super) fn too_long() -> Self {
        Self::wrong(format!("evaluation takes more than {MAX_STEPS} steps"))
    }
}

/// The values of variables, by place; `None` is absent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots<'a>(pub(crate) Vec<Option<Val<'a>>>);

impl<'a> Slots<'a> {
    /// Sets a variable.
    pub(crate) fn set(&mut self, place: usize, value: Option<Val<'a>>) {
        if self.0.len() <= place {
            self.0.resize(place + 1, None);
        }
        if let Some(slot) = self.0.get_mut(place) {
            *slot = value;
        }
    }
}

impl Program {
    /// Evaluates the expression.
    pub(crate) fn value<'a>(&'a self, slots: &Slots<'a>) -> Result<Val<'a>, EvalError> {
        let mut run = Evaluation {
            slots,
            locals: Vec::new(),
            steps: MAX_STEPS,
        };
        run.node(&self.node)
    }

    /// Evaluates a predicate.
    pub(crate) fn truth<'a>(&'a self, slots: &Slots<'a>) -> Result<bool, EvalError> {
        truth(self.value(slots)?)
    }
}

/// Takes a value for a truth value.
fn truth(value: Val<'_>) -> Result<bool, EvalError> {
    match value {
        Val::Bool(value) => Ok(value),
        other => Err(EvalError::wrong(format!(
            "expected bool, found {}",
            other.kind()
        ))),
    }
}

/// One evaluation.
struct Evaluation<'a, 's> {
    slots: &'s Slots<'a>,
    locals: Vec<Val<'a>>,
    steps: u32,
}

/// How many bytes of a text that is made or copied are a step: together they bound the memory of an evaluation.
const TEXT_STEP: usize = 64;

/// Counts the bytes of a text that is made or copied.
pub(super) fn weigh_text(steps: &mut u32, bytes: usize) -> Result<(), EvalError> {
    let count = u32::try_from(bytes / TEXT_STEP).ok();
    let left = count.and_then(|count| steps.checked_sub(count));
    *steps = left.ok_or_else(EvalError::too_long)?;
    Ok(())
}

impl<'a> Evaluation<'a, '_> {
    fn node(&mut self, node: &'a CelNode) -> Result<Val<'a>, EvalError> {
        self.steps = self.steps.checked_sub(1).ok_or_else(EvalError::too_long)?;
        let value = self.value_of(node)?;
        if let Val::Text(Cow::Owned(text)) = &value {
            weigh_text(&mut self.steps, text.len())?;
        }
        Ok(value)
    }

    fn value_of(&mut self, node: &'a CelNode) -> Result<Val<'a>, EvalError> {
        match node {
            CelNode::CelConstant(constant) => Ok(lent(constant)),
            CelNode::Shared(value) => Ok(Val::json(value)),
            CelNode::Variable(place) => {
                let value = self.slots.0.get(*place).cloned().flatten();
                value
                    .ok_or_else(|| EvalError::absent("a variable that has no value at that moment"))
            }
            CelNode::Local(depth) => {
                let value = self.locals.get(*depth).cloned();
                value.ok_or_else(|| EvalError::wrong("loop variable read outside of its loop"))
            }
            CelNode::Select {
                of,
                field,
                is_optional,
            } => {
                let of = self.node(of)?;
                select(of, field, *is_optional)
            }
            CelNode::Has { of, field } => self.has(of, field),
            CelNode::Index {
                of,
                by,
                is_optional,
            } => {
                let of = self.node(of)?;
                let by = self.node(by)?;
                index(of, &by, *is_optional)
            }
            CelNode::List(items) => Ok(Val::List(Rc::new(self.nodes(items)?))),
            CelNode::Map(entries) => self.map(entries),
            CelNode::And(one, other) => self.both(one, other, false),
            CelNode::Or(one, other) => self.both(one, other, true),
            CelNode::Not(of) => Ok(Val::Bool(!truth(self.node(of)?)?)),
            CelNode::Negate(of) => negated(self.node(of)?),
            CelNode::If(parts) => {
                let [test, yes, no] = parts.as_ref();
                let is_met = truth(self.node(test)?)?;
                self.node(if is_met { yes } else { no })
            }
            CelNode::BinaryOperator(binary, sides) => {
                let [one, other] = sides.as_ref();
                let one = self.node(one)?;
                let other = self.node(other)?;
                self.binary(*binary, &one, &other)
            }
            CelNode::InTexts(of, texts) => match self.node(of)? {
                Val::Text(text) => Ok(Val::Bool(texts.contains(text.as_ref()))),
                _ => Ok(Val::Bool(false)),
            },
            CelNode::LoopKind {
                kind,
                over,
                only,
                body,
            } => {
                let over = self.node(over)?;
                self.repeat(*kind, &over, only.as_deref(), body)
            }
            CelNode::Matches(of, regex) => {
                let of = self.node(of)?;
                Ok(Val::Bool(regex.is_match(text_of(&of, "matches")?)))
            }
            CelNode::Find(..) | CelNode::FindAll(..) => self.found(node),
            CelNode::OwnFunction(own, arguments) => {
                let arguments = self.nodes(arguments)?;
                functions::call(*own, &arguments)
            }
            CelNode::Library {
                name,
                has_target,
                arguments,
            } => {
                let arguments = self.nodes(arguments)?;
                library::call(name, *has_target, &arguments, &mut self.steps)
            }
        }
    }

    /// Returns whether a field is there: it is not if what it is a field of is not.
    fn has(&mut self, of: &'a CelNode, field: &str) -> Result<Val<'a>, EvalError> {
        let found = self.node(of).and_then(|of| select(of, field, false));
        match found {
            Ok(Val::Optional(value)) => Ok(Val::Bool(value.is_some())),
            Ok(_) => Ok(Val::Bool(true)),
            Err(EvalError::Absent { .. }) => Ok(Val::Bool(false)),
            Err(fault) => Err(fault),
        }
    }

    fn map(&mut self, entries: &'a [(CelNode, CelNode)]) -> Result<Val<'a>, EvalError> {
        let mut map = BTreeMap::new();
        for (name, value) in entries {
            let Val::Text(name) = self.node(name)? else {
                return Err(EvalError::wrong("map keys must be strings"));
            };
            map.insert(name.into_owned(), self.node(value)?);
        }
        Ok(Val::Map(Rc::new(map)))
    }

    /// Finds the first match of a regex, or all.
    fn found(&mut self, node: &'a CelNode) -> Result<Val<'a>, EvalError> {
        match node {
            CelNode::Find(of, regex) => {
                let of = self.node(of)?;
                let found = regex.find(text_of(&of, "find")?);
                Ok(Val::text(found.map_or("", |found| found.as_str())))
            }
            CelNode::FindAll(of, regex) => {
                let of = self.node(of)?;
                let found = regex.find_iter(text_of(&of, "findAll")?);
                let found = found.map(|found| Val::text(found.as_str()));
                Ok(Val::List(Rc::new(found.collect())))
            }
            other => self.node(other),
        }
    }

    fn nodes(&mut self, nodes: &'a [CelNode]) -> Result<Vec<Val<'a>>, EvalError> {
        nodes.iter().map(|node| self.node(node)).collect()
    }

    /// Joins two truth values; `decides` of either side decides, whatever the other is.
    fn both(
        &mut self,
        one: &'a CelNode,
        other: &'a CelNode,
        decides: bool,
    ) -> Result<Val<'a>, EvalError> {
        let one = self.node(one).and_then(truth);
        if one == Ok(decides) {
            return Ok(Val::Bool(decides));
        }
        let other = self.node(other).and_then(truth);
        joined(one, other, decides).map(Val::Bool)
    }

    fn binary(
        &mut self,
        binary: BinaryOperator,
        one: &Val<'a>,
        other: &Val<'a>,
    ) -> Result<Val<'a>, EvalError> {
        let compared = |is_it: fn(Ordering) -> bool| match one.order(other) {
            Some(order) => Ok(Val::Bool(is_it(order))),
            None => Err(EvalError::wrong(format!(
                "cannot order {} and {}",
                one.kind(),
                other.kind()
            ))),
        };
        match binary {
            BinaryOperator::Equal | BinaryOperator::Unequal => {
                if !one.is_comparable(other) {
                    return Err(EvalError::wrong(format!(
                        "cannot compare {} with {}",
                        one.kind(),
                        other.kind()
                    )));
                }
                self.weigh(one)?;
                Ok(Val::Bool(
                    one.same(other) == (binary == BinaryOperator::Equal),
                ))
            }
            BinaryOperator::Less => compared(Ordering::is_lt),
            BinaryOperator::AtMost => compared(Ordering::is_le),
            BinaryOperator::Greater => compared(Ordering::is_gt),
            BinaryOperator::AtLeast => compared(Ordering::is_ge),
            BinaryOperator::In => self.within(one, other),
            BinaryOperator::Add => {
                if let (Some(items), Some(more)) = (one.items(), other.items()) {
                    self.weigh(one)?;
                    self.weigh(other)?;
                    return Ok(Val::List(Rc::new(items.chain(more).collect())));
                }
                if let (Val::Text(one), Val::Text(other)) = (one, other) {
                    return Ok(Val::text(format!("{one}{other}")));
                }
                computed(binary, one, other)
            }
            _ => computed(binary, one, other),
        }
    }

    /// Counts the items of a value that is looked at as a whole.
    fn weigh(&mut self, value: &Val<'a>) -> Result<(), EvalError> {
        let Some(items) = value.items() else {
            return Ok(());
        };
        // A count that does not fit is above any number of steps.
        let count = u32::try_from(items.count()).ok();
        let left = count.and_then(|count| self.steps.checked_sub(count));
        self.steps = left.ok_or_else(EvalError::too_long)?;
        Ok(())
    }

    fn within(&mut self, one: &Val<'a>, other: &Val<'a>) -> Result<Val<'a>, EvalError> {
        self.weigh(other)?;
        if let Some(mut items) = other.items() {
            return Ok(Val::Bool(items.any(|item| item.same(one))));
        }
        match (one, other) {
            (Val::Text(name), Val::Json(_) | Val::Map(_) | Val::View(_)) => {
                Ok(Val::Bool(other.member(name).is_some()))
            }
            _ => Err(EvalError::wrong(format!(
                "`in` needs a list or a map, found {}",
                other.kind()
            ))),
        }
    }

    fn repeat(
        &mut self,
        kind: LoopKind,
        over: &Val<'a>,
        only: Option<&'a CelNode>,
        body: &'a CelNode,
    ) -> Result<Val<'a>, EvalError> {
        let items: Vec<Val<'a>> = match over.items() {
            Some(items) => items.collect(),
            None => match over.names() {
                Some(names) => names.into_iter().map(Val::text).collect(),
                None => {
                    return Err(EvalError::wrong(format!(
                        "expected list, found {}",
                        over.kind()
                    )));
                }
            },
        };
        let mut gathered = Vec::new();
        let mut count = 0_usize;
        let decides = kind == LoopKind::Exists;
        let mut joint = Ok(!decides);
        for item in items {
            self.locals.push(item.clone());
            let found = self.once(only, body);
            self.locals.pop();
            match kind {
                LoopKind::All | LoopKind::Exists => {
                    joint = joined(joint, found.and_then(|found| truth(found.value)), decides);
                    if joint == Ok(decides) {
                        break;
                    }
                }
                LoopKind::ExistsOne => count += usize::from(truth(found?.value)?),
                LoopKind::Filter => {
                    if truth(found?.value)? {
                        gathered.push(item);
                    }
                }
                LoopKind::Map => {
                    let found = found?;
                    if found.is_taken {
                        gathered.push(found.value);
                    }
                }
            }
        }
        match kind {
            LoopKind::All | LoopKind::Exists => joint.map(Val::Bool),
            LoopKind::ExistsOne => Ok(Val::Bool(count == 1)),
            LoopKind::Filter | LoopKind::Map => Ok(Val::List(Rc::new(gathered))),
        }
    }

    fn once(
        &mut self,
        only: Option<&'a CelNode>,
        body: &'a CelNode,
    ) -> Result<LoopItem<'a>, EvalError> {
        if let Some(only) = only
            && !truth(self.node(only)?)?
        {
            return Ok(LoopItem {
                is_taken: false,
                value: Val::Null,
            });
        }
        Ok(LoopItem {
            is_taken: true,
            value: self.node(body)?,
        })
    }
}

/// What a loop's body gave for one item.
struct LoopItem<'a> {
    is_taken: bool,
    value: Val<'a>,
}

fn lent(constant: &CelConstant) -> Val<'_> {
    match constant {
        CelConstant::Null => Val::Null,
        CelConstant::Bool(value) => Val::Bool(*value),
        CelConstant::Int(value) => Val::Int(*value),
        CelConstant::Uint(value) => Val::Uint(*value),
        CelConstant::Double(value) => Val::Double(*value),
        CelConstant::Text(text) => Val::Text(Cow::Borrowed(text)),
        CelConstant::Time(micros) => Val::Time(*micros),
        CelConstant::Span(micros) => Val::Span(*micros),
    }
}

/// Joins two truth values of which either may be unknown; a wrong one outweighs an absent one.
fn joined(
    one: Result<bool, EvalError>,
    other: Result<bool, EvalError>,
    decides: bool,
) -> Result<bool, EvalError> {
    if one == Ok(decides) || other == Ok(decides) {
        return Ok(decides);
    }
    match (one, other) {
        (Ok(_), Ok(_)) => Ok(!decides),
        (Err(wrong @ EvalError::Wrong { .. }), _) | (_, Err(wrong @ EvalError::Wrong { .. })) => {
            Err(wrong)
        }
        (Err(fault), _) | (_, Err(fault)) => Err(fault),
    }
}

fn text_of<'v>(value: &'v Val<'_>, function: &str) -> Result<&'v str, EvalError> {
    let wrong = || EvalError::wrong(format!("`{function}` does not accept {}", value.kind()));
    value.as_text().ok_or_else(wrong)
}

/// Selects a member; of an optional value, an optional one.
fn select<'a>(of: Val<'a>, field: &str, is_optional: bool) -> Result<Val<'a>, EvalError> {
    let absent = || EvalError::absent(format!("the field `{field}`"));
    match of {
        Val::Optional(None) => Ok(Val::Optional(None)),
        Val::Optional(Some(value)) => match value.as_ref() {
            Val::Null => Ok(Val::Optional(None)),
            inner if inner.is_map() => Ok(Val::Optional(inner.member(field).map(Rc::new))),
            inner => Err(no_fields(inner, field)),
        },
        Val::Null if is_optional => Ok(Val::Optional(None)),
        Val::Null => Err(absent()),
        other if !other.is_map() => Err(no_fields(&other, field)),
        other if is_optional => Ok(Val::Optional(other.member(field).map(Rc::new))),
        other => other.member(field).ok_or_else(absent),
    }
}

fn no_fields(of: &Val<'_>, field: &str) -> EvalError {
    EvalError::wrong(format!("cannot read field `{field}` of {}", of.kind()))
}

fn index<'a>(of: Val<'a>, by: &Val<'_>, is_optional: bool) -> Result<Val<'a>, EvalError> {
    let (of, is_optional) = match of {
        Val::Optional(None) => return Ok(Val::Optional(None)),
        Val::Optional(Some(of)) => (of.as_ref().clone(), true),
        of => (of, is_optional),
    };
    let found = match by {
        Val::Text(name) if of.is_map() => of.member(name),
        Val::Text(name) => return Err(no_fields(&of, name)),
        Val::Int(_) | Val::Uint(_) => {
            let Some(mut items) = of.items() else {
                return Err(EvalError::wrong(format!("cannot index {}", of.kind())));
            };
            let place = match by {
                Val::Int(place) => usize::try_from(*place).ok(),
                Val::Uint(place) => usize::try_from(*place).ok(),
                _ => None,
            };
            place.and_then(|place| items.nth(place))
        }
        other => {
            return Err(EvalError::wrong(format!(
                "cannot index by {}",
                other.kind()
            )));
        }
    };
    if is_optional {
        return Ok(Val::Optional(found.map(Rc::new)));
    }
    found.ok_or_else(|| EvalError::absent(format!("the item `{by}`")))
}

fn negated(value: Val<'_>) -> Result<Val<'_>, EvalError> {
    let overflow = || EvalError::wrong("number overflow");
    match value {
        Val::Int(value) => value.checked_neg().map(Val::Int).ok_or_else(overflow),
        Val::Double(value) => Ok(Val::Double(-value)),
        Val::Span(value) => value.checked_neg().map(Val::Span).ok_or_else(overflow),
        other => Err(EvalError::wrong(format!("cannot negate {}", other.kind()))),
    }
}

/// Computes with numbers and times.
fn computed<'a>(
    binary: BinaryOperator,
    one: &Val<'_>,
    other: &Val<'_>,
) -> Result<Val<'a>, EvalError> {
    let overflow = || EvalError::wrong("number overflow or division by zero");
    let ints = |one: i64, other: i64| match binary {
        BinaryOperator::Add => one.checked_add(other),
        BinaryOperator::Subtract => one.checked_sub(other),
        BinaryOperator::Multiply => one.checked_mul(other),
        BinaryOperator::Divide => one.checked_div(other),
        _ => one.checked_rem(other),
    };
    match (one, other) {
        (Val::Int(one), Val::Int(other)) => ints(*one, *other).map(Val::Int).ok_or_else(overflow),
        (Val::Uint(one), Val::Uint(other)) => {
            let result = match binary {
                BinaryOperator::Add => one.checked_add(*other),
                BinaryOperator::Subtract => one.checked_sub(*other),
                BinaryOperator::Multiply => one.checked_mul(*other),
                BinaryOperator::Divide => one.checked_div(*other),
                _ => one.checked_rem(*other),
            };
            result.map(Val::Uint).ok_or_else(overflow)
        }
        (Val::Double(one), Val::Double(other)) if binary != BinaryOperator::Modulo => {
            Ok(Val::Double(match binary {
                BinaryOperator::Add => one + other,
                BinaryOperator::Subtract => one - other,
                BinaryOperator::Multiply => one * other,
                _ => one / other,
            }))
        }
        (Val::Time(one), Val::Time(other)) if binary == BinaryOperator::Subtract => {
            ints(*one, *other).map(Val::Span).ok_or_else(overflow)
        }
        (Val::Time(one), Val::Span(other)) | (Val::Span(other), Val::Time(one))
            if binary == BinaryOperator::Add =>
        {
            ints(*one, *other).map(Val::Time).ok_or_else(overflow)
        }
        (Val::Time(one), Val::Span(other)) if binary == BinaryOperator::Subtract => {
            ints(*one, *other).map(Val::Time).ok_or_else(overflow)
        }
        (Val::Span(one), Val::Span(other))
            if matches!(binary, BinaryOperator::Add | BinaryOperator::Subtract) =>
        {
            ints(*one, *other).map(Val::Span).ok_or_else(overflow)
        }
        _ => Err(EvalError::wrong(format!(
            "no arithmetic between {} and {}",
            one.kind(),
            other.kind()
        ))),
    }
}
