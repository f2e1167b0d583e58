//! A change of one field, and the path of the field.

use super::matching::{keys_of, last_member};
use kubereel_format::worded;
use serde_json::Value;
use std::fmt;

/// The place of a field in an object.
///
/// The object itself is `.`, members follow a dot: `spec.replicas`. A member that is not made of
/// letters, digits, `_`, `-` and `$` stands in brackets as JSON writes a text:
/// `metadata.annotations["a.b/c"]`. An item of a list stands in brackets by what identifies it,
/// `conditions[Degraded]`, `ports[containerPort=8080,protocol=TCP]`, or else by its place:
/// `args[2]`. The place of an item that is removed counts in the old list, any other in the new
/// one.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldPath {
    steps: Vec<FieldStep>,
}

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FieldStep {
    /// To a member of an object.
    Member(String),
    /// To the item of a list with these identifying members.
    Item(Vec<KeyPart>),
    /// To the item at an index of a list, counted from 0.
    Index(usize),
}

/// An identifying member of a list item.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyPart {
    /// The member's name.
    pub name: String,
    /// Its value as text.
    pub value: String,
}

impl FieldPath {
    /// Returns the steps from the object's root.
    pub fn steps(&self) -> &[FieldStep] {
        &self.steps
    }

    pub(crate) fn push(&mut self, step: FieldStep) {
        self.steps.push(step);
    }

    pub(crate) fn pop(&mut self) {
        self.steps.pop();
    }

    /// Returns whether it is the path of the object itself.
    pub fn is_root(&self) -> bool {
        self.steps.is_empty()
    }
}

impl FromIterator<FieldStep> for FieldPath {
    fn from_iter<I: IntoIterator<Item = FieldStep>>(steps: I) -> Self {
        Self {
            steps: steps.into_iter().collect(),
        }
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_root() {
            return f.write_str(".");
        }
        for (at, step) in self.steps.iter().enumerate() {
            match step {
                FieldStep::Member(name) if is_plain_member(name) => {
                    let dot = if at == 0 { "" } else { "." };
                    write!(f, "{dot}{name}")?;
                }
                FieldStep::Member(name) => write!(f, "[{}]", quoted(name))?,
                other => write!(f, "{other}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for FieldStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Member(name) => f.write_str(name),
            Self::Index(at) => write!(f, "[{at}]"),
            Self::Item(parts) => {
                f.write_str("[")?;
                match parts.as_slice() {
                    // A number alone would be read as an index.
                    [only] if !is_digits(&only.value) => f.write_str(&key_value(&only.value))?,
                    parts => {
                        for (at, part) in parts.iter().enumerate() {
                            let comma = if at == 0 { "" } else { "," };
                            let value = key_value(&part.value);
                            write!(f, "{comma}{}={value}", part.name)?;
                        }
                    }
                }
                f.write_str("]")
            }
        }
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn key_value(value: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:@+~".contains(c);
    if !value.is_empty() && value.chars().all(is_plain) {
        value.to_owned()
    } else {
        quoted(value)
    }
}

fn is_plain_member(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || "_-$".contains(c))
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// One difference between two versions of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The path.
    pub path: FieldPath,
    /// The kind of change.
    pub kind: ChangeKind,
    /// The value before; `None` if there was none.
    pub old: Option<Value>,
    /// The value after; `None` if there is none.
    pub new: Option<Value>,
}

worded! {
/// A kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// A value was added.
    Added = "added",
    /// A value was removed.
    Removed = "removed",
    /// A value was replaced.
    Changed = "changed",
    /// The items of a list were reordered; the values are the identities of those in both lists.
    Reordered = "reordered",
    /// It is not known whether the value changed: two sessions of a recorder redacted it.
    Unknown = "unknown",
}
}

/// The first leaves of a change, and the number of others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Leaves {
    /// The first of them.
    pub first: Vec<Change>,
    /// The number of others.
    pub rest: usize,
}

impl Change {
    /// Splits an added or removed value into its leaves, at most `most` of them; a longer list
    /// stays one change.
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
        let mut split = LeafSplit {
            kind: self.kind,
            most,
            path: self.path.clone(),
            leaves: Leaves::default(),
        };
        split.take(value);
        split.leaves
    }
}

struct LeafSplit {
    kind: ChangeKind,
    most: usize,
    path: FieldPath,
    leaves: Leaves,
}

impl LeafSplit {
    // The depth is bounded: the parser refuses more than 128 levels.
    fn take(&mut self, value: &Value) {
        if self.leaves.first.len() >= self.most {
            self.leaves.rest += count(value);
            return;
        }
        match value {
            Value::Object(members) if !members.is_empty() => {
                for (name, member) in members {
                    self.path.push(FieldStep::Member(name.clone()));
                    self.take(member);
                    self.path.pop();
                }
            }
            Value::Array(items) if !items.is_empty() => {
                let list = last_member(&self.path).map(str::to_owned);
                let keys = keys_of(list.as_deref(), items, &[]);
                for (at, item) in items.iter().enumerate() {
                    let key = keys.as_ref().and_then(|(keys, _)| keys.get(at));
                    self.path
                        .push(key.cloned().map_or(FieldStep::Index(at), FieldStep::Item));
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
mod path_tests {
    use super::*;

    fn member(name: &str) -> FieldStep {
        FieldStep::Member(name.to_owned())
    }

    fn item(parts: &[(&str, &str)]) -> FieldStep {
        let part = |(name, value): &(&str, &str)| KeyPart {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
        };
        FieldStep::Item(parts.iter().map(part).collect())
    }

    #[test]
    fn paths_are_written_so_that_each_names_one_place() {
        let both = [("containerPort", "8080"), ("protocol", "TCP")];
        for (steps, text) in [
            (vec![], "."),
            (vec![member("spec"), member("replicas")], "spec.replicas"),
            (
                vec![member("metadata"), member("labels"), member("a.b/c")],
                r#"metadata.labels["a.b/c"]"#,
            ),
            (vec![member(""), member("a\"b")], r#"[""]["a\"b"]"#),
            (
                vec![
                    member("conditions"),
                    item(&[("type", "Degraded")]),
                    member("status"),
                ],
                "conditions[Degraded].status",
            ),
            (
                vec![member("ports"), item(&[("port", "80")])],
                "ports[port=80]",
            ),
            (
                vec![member("ports"), item(&both)],
                "ports[containerPort=8080,protocol=TCP]",
            ),
            (
                vec![member("env"), item(&[("name", "a b")])],
                r#"env["a b"]"#,
            ),
            (
                vec![member("env"), item(&[("name", "a]b")])],
                r#"env["a]b"]"#,
            ),
            (vec![member("args"), FieldStep::Index(2)], "args[2]"),
        ] {
            assert_eq!(steps.into_iter().collect::<FieldPath>().to_string(), text);
        }
    }
}

#[cfg(test)]
mod change_tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_appears_splits_into_leaves() {
        let whole = Change {
            path: [FieldStep::Member("status".to_owned())]
                .into_iter()
                .collect(),
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
