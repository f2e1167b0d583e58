//! Owns one difference between two versions. Refuses to print it: commands and screens do.

use super::keys;
use super::path::{Path, Step};
use serde_json::Value;

/// One difference between two versions of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Where.
    pub path: Path,
    /// What happened there.
    pub kind: ChangeKind,
    /// The value before; `None` if there was none.
    pub old: Option<Value>,
    /// The value after; `None` if there is none.
    pub new: Option<Value>,
}

/// What happened at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// Something appeared.
    Added,
    /// Something is gone.
    Removed,
    /// One value took the place of another.
    Changed,
    /// The items of a list changed places; the values are what identifies those in both lists.
    Reordered,
}

impl ChangeKind {
    /// Gives the word that is shown to people and programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
            Self::Reordered => "reordered",
        }
    }
}

/// The leaves of a change, and how many more there are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Leaves {
    /// The first of them.
    pub first: Vec<Change>,
    /// How many more there are.
    pub rest: usize,
}

impl Change {
    /// Splits something that appeared or is gone into its leaves, at most so many; others stay one.
    ///
    /// An empty object or list is a leaf.
    pub fn leaves(&self, most: usize) -> Leaves {
        let ((ChangeKind::Added, None, Some(value)) | (ChangeKind::Removed, Some(value), None)) =
            (self.kind, &self.old, &self.new)
        else {
            return Leaves {
                first: vec![self.clone()],
                rest: 0,
            };
        };
        let mut split = Split {
            kind: self.kind,
            most,
            path: self.path.clone(),
            leaves: Leaves::default(),
        };
        split.take(value);
        split.leaves
    }
}

struct Split {
    kind: ChangeKind,
    most: usize,
    path: Path,
    leaves: Leaves,
}

impl Split {
    // The depth is bounded: the parser refuses more than 128 levels.
    fn take(&mut self, value: &Value) {
        if self.leaves.first.len() >= self.most {
            self.leaves.rest += count(value);
            return;
        }
        match value {
            Value::Object(members) if !members.is_empty() => {
                for (name, member) in members {
                    self.path.push(Step::Member(name.clone()));
                    self.take(member);
                    self.path.pop();
                }
            }
            Value::Array(items) if !items.is_empty() => {
                let list = keys::last_member(&self.path).map(str::to_owned);
                let keys = keys::of(list.as_deref(), items, &[]);
                for (at, item) in items.iter().enumerate() {
                    let key = keys.as_ref().and_then(|(keys, _)| keys.get(at));
                    self.path
                        .push(key.cloned().map_or(Step::Index(at), Step::Item));
                    self.take(item);
                    self.path.pop();
                }
            }
            leaf => {
                let (old, new) = match self.kind {
                    ChangeKind::Removed => (Some(leaf.clone()), None),
                    _ => (None, Some(leaf.clone())),
                };
                self.leaves.first.push(Change {
                    path: self.path.clone(),
                    kind: self.kind,
                    old,
                    new,
                });
            }
        }
    }
}

/// Counts the leaves of a value.
pub(crate) fn count(value: &Value) -> usize {
    match value {
        Value::Object(members) if !members.is_empty() => members.values().map(count).sum(),
        Value::Array(items) if !items.is_empty() => items.iter().map(count).sum(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_appears_splits_into_leaves() {
        let whole = Change {
            path: [Step::Member("status".to_owned())].into_iter().collect(),
            kind: ChangeKind::Added,
            old: None,
            new: Some(json!({
                "conditions": [{"type": "Degraded", "status": "True"}],
                "empty": {}, "none": [], "list": [1, {"a": null}],
            })),
        };
        let leaves: Vec<(String, Option<Value>)> = whole
            .leaves(100)
            .first
            .into_iter()
            .map(|leaf| (leaf.path.to_string(), leaf.new))
            .collect();
        let expected = [
            ("status.conditions[Degraded].status", json!("True")),
            ("status.conditions[Degraded].type", json!("Degraded")),
            ("status.empty", json!({})),
            ("status.list[0]", json!(1)),
            ("status.list[1].a", json!(null)),
            ("status.none", json!([])),
        ];
        let expected = expected.map(|(path, value)| (path.to_owned(), Some(value)));
        assert_eq!(leaves, expected);
        let cut = whole.leaves(2);
        assert_eq!((cut.first.len(), cut.rest), (2, 4));
    }
}
