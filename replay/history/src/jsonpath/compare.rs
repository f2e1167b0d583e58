//! Owns comparing in a filter: only values of one kind compare, whole numbers and others are two
//! kinds. Refuses to make one kind of another.

use serde_json::Value;
use std::cmp::Ordering;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// One that there is not: nothing compares by it.
    Unknown,
}

impl Operator {
    /// Reads an operator.
    pub(super) fn named(text: &str) -> Self {
        match text {
            "==" => Self::Equal,
            "!=" => Self::NotEqual,
            "<" => Self::Less,
            "<=" => Self::LessOrEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterOrEqual,
            _ => Self::Unknown,
        }
    }

    /// Tells whether it holds; `None` if the two do not compare.
    pub(super) fn holds(self, left: &Value, right: &Value) -> Option<bool> {
        let order = match (left, right) {
            (Value::Bool(left), Value::Bool(right)) => match self {
                Self::Equal => return Some(left == right),
                Self::NotEqual => return Some(left != right),
                // No truth is less than another.
                _ => return None,
            },
            (Value::String(left), Value::String(right)) => left.cmp(right),
            (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
                (Some(left), Some(right)) => left.cmp(&right),
                (None, None) => left.as_f64()?.partial_cmp(&right.as_f64()?)?,
                _ => return None,
            },
            _ => return None,
        };
        Some(match self {
            Self::Equal => order == Ordering::Equal,
            Self::NotEqual => order != Ordering::Equal,
            Self::Less => order == Ordering::Less,
            Self::LessOrEqual => order != Ordering::Greater,
            Self::Greater => order == Ordering::Greater,
            Self::GreaterOrEqual => order != Ordering::Less,
            Self::Unknown => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_of_one_kind_compare() {
        for (left, operator, right, expected) in [
            (json!("a"), "==", json!("a"), Some(true)),
            (json!("a"), "<", json!("b"), Some(true)),
            (json!(2), ">=", json!(2), Some(true)),
            (json!(2), ">", json!(2), Some(false)),
            (json!(2.5), "<=", json!(2.25), Some(false)),
            (json!(true), "!=", json!(false), Some(true)),
            (json!(true), "<", json!(false), None),
            (json!(2), "==", json!(2.5), None),
            (json!("2"), "==", json!(2), None),
            (json!(null), "==", json!(null), None),
            (json!([1]), "==", json!([1]), None),
            (json!(1), "=", json!(1), None),
        ] {
            let found = Operator::named(operator).holds(&left, &right);
            assert_eq!(found, expected, "{left} {operator} {right}");
        }
    }
}
