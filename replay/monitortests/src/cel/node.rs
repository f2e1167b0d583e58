//! An expression that is ready to be evaluated: variables are numbers, macros are loops, constant regexes
//! are compiled. Nothing in it can fail for its form alone.

use super::functions::OwnFunction;
use regex::Regex;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A constant.
#[derive(Clone, Debug)]
pub(crate) enum CelConstant {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(Arc<str>),
    /// Microseconds since 1970.
    Time(i64),
    /// Microseconds.
    Span(i64),
}

/// What two values are put through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryOperator {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    In,
}

/// What a loop gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoopKind {
    All,
    Exists,
    ExistsOne,
    Filter,
    Map,
}

/// A part of an expression.
#[derive(Clone, Debug)]
pub(crate) enum CelNode {
    CelConstant(CelConstant),
    /// A value that a file gives a name.
    Shared(Arc<Value>),
    /// A variable, by its place among those known.
    Variable(usize),
    /// A loop's variable, by the depth of its loop.
    Local(usize),
    Select {
        of: Box<Self>,
        field: Arc<str>,
        is_optional: bool,
    },
    Has {
        of: Box<Self>,
        field: Arc<str>,
    },
    Index {
        of: Box<Self>,
        by: Box<Self>,
        is_optional: bool,
    },
    List(Vec<Self>),
    Map(Vec<(Self, Self)>),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    Not(Box<Self>),
    Negate(Box<Self>),
    If(Box<[Self; 3]>),
    BinaryOperator(BinaryOperator, Box<[Self; 2]>),
    /// Whether a text is one of a constant list of texts.
    InTexts(Box<Self>, Arc<BTreeSet<String>>),
    LoopKind {
        kind: LoopKind,
        over: Box<Self>,
        only: Option<Box<Self>>,
        body: Box<Self>,
    },
    Matches(Box<Self>, Regex),
    Find(Box<Self>, Regex),
    FindAll(Box<Self>, Regex),
    /// A call of a function that this room evaluates itself.
    OwnFunction(OwnFunction, Vec<Self>),
    /// A call of a function of the library: its name, whether the first argument is its target.
    Library {
        name: Arc<str>,
        has_target: bool,
        arguments: Vec<Self>,
    },
}
