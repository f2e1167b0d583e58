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

impl Change {
    /// Splits something that appeared or is gone into its leaves; others stay one.
    ///
    /// An empty object or list is a leaf.
    pub fn leaves(self) -> Vec<Self> {
        let (kind, value) = match (self.kind, self.old, self.new) {
            (ChangeKind::Added, None, Some(value)) => (ChangeKind::Added, value),
            (ChangeKind::Removed, Some(value), None) => (ChangeKind::Removed, value),
            (kind, old, new) => {
                let path = self.path;
                return vec![Self {
                    path,
                    kind,
                    old,
                    new,
                }];
            }
        };
        let mut found = Vec::new();
        let mut path = self.path;
        split(&value, kind, &mut path, &mut found);
        found
    }
}

// The depth is bounded: the parser refuses more than 128 levels.
fn split(value: &Value, kind: ChangeKind, path: &mut Path, found: &mut Vec<Change>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, member) in members {
                path.push(Step::Member(name.clone()));
                split(member, kind, path, found);
                path.pop();
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let list = keys::last_member(path).map(str::to_owned);
            let keys = keys::of(list.as_deref(), items, &[]);
            for (at, item) in items.iter().enumerate() {
                let key = keys.as_ref().and_then(|(keys, _)| keys.get(at));
                path.push(key.cloned().map_or(Step::Index(at), Step::Item));
                split(item, kind, path, found);
                path.pop();
            }
        }
        leaf => {
            let (old, new) = match kind {
                ChangeKind::Removed => (Some(leaf.clone()), None),
                _ => (None, Some(leaf.clone())),
            };
            found.push(Change {
                path: path.clone(),
                kind,
                old,
                new,
            });
        }
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
            .leaves()
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
    }
}
