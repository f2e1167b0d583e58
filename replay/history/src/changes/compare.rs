//! Owns the comparison of two values: members by name, items as `matching` pairs them. Refuses to
//! read a body: it takes values.

use super::change::{Change, ChangeKind};
use super::keys;
use super::matching::{Matched, matched};
use super::path::{Path, Step};
use super::scope::Scope;
use crate::object::number;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Beyond so many changes, a list or object that holds many is one change: nobody reads them, and
/// their paths take more memory than the values.
const MOST_CHANGES: usize = 100_000;

/// A comparison under way.
pub(super) struct Comparison<'a> {
    scope: &'a Scope,
    pub(super) path: Path,
    pub(super) found: Vec<Change>,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(scope: &'a Scope) -> Self {
        Self {
            scope,
            path: Path::default(),
            found: Vec::new(),
        }
    }

    /// Compares what stands at the current path.
    // The depth is bounded: the parser refuses more than 128 levels.
    pub(super) fn compare(&mut self, old: Option<&Value>, new: Option<&Value>) {
        match (old, new) {
            (None, None) => {}
            (Some(Value::Object(old)), Some(Value::Object(new))) => self.members(old, new),
            (Some(Value::Array(old)), Some(Value::Array(new))) => self.items(old, new),
            (Some(old), Some(new)) if is_same_scalar(old, new) => {}
            (old, new) => {
                let kind = match (old, new) {
                    (None, _) => ChangeKind::Added,
                    (_, None) => ChangeKind::Removed,
                    _ => ChangeKind::Changed,
                };
                self.push(kind, old.cloned(), new.cloned());
            }
        }
    }

    fn members(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        let begin = self.found.len();
        let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for name in names {
            if self.is_full(begin) {
                let (old, new) = (Value::from(old.clone()), Value::from(new.clone()));
                self.replace(begin, old, new);
                return;
            }
            if self.scope.hides(&self.path, name) {
                continue;
            }
            self.path.push(Step::Member(name.clone()));
            self.compare(old.get(name), new.get(name));
            self.path.pop();
        }
    }

    fn items(&mut self, old: &[Value], new: &[Value]) {
        // Most lists did not change, and equality is cheaper than alignment.
        if old == new {
            return;
        }
        let begin = self.found.len();
        let matched = self.matched(old, new);
        if matched.is_reordered {
            let (before, after) = orders(&matched);
            self.push(ChangeKind::Reordered, Some(before), Some(after));
        }
        for pair in matched.pairs {
            if self.is_full(begin) {
                self.replace(begin, Value::from(old), Value::from(new));
                return;
            }
            self.path.push(pair.step);
            self.compare(
                pair.old.and_then(|at| old.get(at)),
                pair.new.and_then(|at| new.get(at)),
            );
            self.path.pop();
        }
    }

    pub(super) fn matched(&self, old: &[Value], new: &[Value]) -> Matched {
        matched(keys::last_member(&self.path), old, new)
    }

    /// Tells whether there are too many changes, some of them since `begin`.
    fn is_full(&self, begin: usize) -> bool {
        self.found.len() > MOST_CHANGES && self.found.len() > begin
    }

    /// Puts one change of the whole in the place of those since `begin`.
    fn replace(&mut self, begin: usize, old: Value, new: Value) {
        self.found.truncate(begin);
        self.push(ChangeKind::Changed, Some(old), Some(new));
    }

    fn push(&mut self, kind: ChangeKind, old: Option<Value>, new: Option<Value>) {
        self.found.push(Change {
            path: self.path.clone(),
            kind,
            old,
            new,
        });
    }
}

/// Tells whether two values that are neither two objects nor two lists are the same.
///
/// Numbers are the same if kubectl writes them alike: 1 and 1.0 are.
pub(crate) fn is_same_scalar(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => number::written(a) == number::written(b),
        (a, b) => a == b,
    }
}

/// Names the items that are in both lists, in the order of each.
fn orders(matched: &Matched) -> (Value, Value) {
    let both = || matched.pairs.iter().filter(|pair| pair.old.is_some());
    let mut after: Vec<_> = both().filter(|pair| pair.new.is_some()).collect();
    let name = |step: &Step| {
        let text = step.to_string();
        let inner = text
            .strip_prefix('[')
            .and_then(|text| text.strip_suffix(']'));
        Value::from(inner.unwrap_or(&text))
    };
    let before = after.iter().map(|pair| name(&pair.step)).collect();
    after.sort_by_key(|pair| pair.new);
    let after = after.iter().map(|pair| name(&pair.step)).collect();
    (before, after)
}
