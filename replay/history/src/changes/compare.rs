//! Compares two values field by field, restricted to the requested fields.

use super::change::{Change, ChangeKind, FieldPath, FieldStep};
use super::field::{Field, FieldPattern};
use super::matching::{MatchedItems, last_member, matched};
use crate::object::number;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The fields of an object that are compared.
///
/// `metadata.managedFields` describes writers and `metadata.resourceVersion` changes with every
/// write: both are left out unless they are enabled or requested.
#[derive(Clone, Debug, Default)]
pub struct ComparisonScope {
    /// The requested fields; all if empty.
    pub fields: Vec<Field>,
    /// Whether `metadata.managedFields` are compared.
    pub shows_managed_fields: bool,
    /// Whether `metadata.resourceVersion` is compared.
    pub shows_resource_version: bool,
}

impl ComparisonScope {
    /// Returns the differences of two versions, members in order.
    ///
    /// Numbers are compared as kubectl reads them: integers of 64 bits, all others as doubles.
    pub fn changes(&self, old: &Value, new: &Value) -> Vec<Change> {
        self.differences(Some(old), Some(new))
    }

    /// Returns the requested fields of a version, as additions.
    pub fn contents(&self, value: &Value) -> Vec<Change> {
        self.differences(None, Some(value))
    }

    /// Returns the requested fields of a version, as removals.
    pub fn lost(&self, value: &Value) -> Vec<Change> {
        self.differences(Some(value), None)
    }

    fn differences(&self, old: Option<&Value>, new: Option<&Value>) -> Vec<Change> {
        let mut comparison = Comparison::new(self);
        if self.fields.is_empty() {
            comparison.compare(old, new);
        }
        for (at, field) in self.fields.iter().enumerate() {
            if !self.is_said_by_another(at, field) {
                comparison.descend(old, new, field.wants());
            }
        }
        comparison.found
    }

    /// Returns whether another requested field includes this one, so that no change is reported
    /// twice.
    fn is_said_by_another(&self, own: usize, field: &Field) -> bool {
        let others = self.fields.iter().enumerate();
        others
            .filter(|(at, _)| *at != own)
            .any(|(at, other)| other.covers(field) && (at < own || !field.covers(other)))
    }

    pub(super) fn hides(&self, path: &FieldPath, member: &str) -> bool {
        let is_metadata = matches!(path.steps(), [FieldStep::Member(only)] if only == "metadata");
        is_metadata
            && match member {
                "managedFields" => !self.shows_managed_fields,
                "resourceVersion" => !self.shows_resource_version,
                _ => false,
            }
    }
}

/// The largest number of changes in a list or object before it is reported as one change: more are
/// not readable, and their paths use more memory than the values.
const MOST_CHANGES: usize = 100_000;

/// The state of a comparison.
pub(super) struct Comparison<'a> {
    scope: &'a ComparisonScope,
    pub(super) path: FieldPath,
    pub(super) found: Vec<Change>,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(scope: &'a ComparisonScope) -> Self {
        Self {
            scope,
            path: FieldPath::default(),
            found: Vec::new(),
        }
    }

    /// Compares the values at the current path.
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
            self.path.push(FieldStep::Member(name.clone()));
            self.compare(old.get(name), new.get(name));
            self.path.pop();
        }
    }

    fn items(&mut self, old: &[Value], new: &[Value]) {
        // Most lists are equal, and equality is cheaper than alignment.
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

    pub(super) fn matched(&self, old: &[Value], new: &[Value]) -> MatchedItems {
        matched(last_member(&self.path), old, new)
    }

    /// Returns whether there are too many changes, some of them since `begin`.
    fn is_full(&self, begin: usize) -> bool {
        self.found.len() > MOST_CHANGES && self.found.len() > begin
    }

    /// Replaces the changes since `begin` by one change of the whole value.
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

/// Returns whether two values that are neither two objects nor two lists are equal.
///
/// Numbers are equal if kubectl prints them alike: 1 and 1.0 are.
pub(crate) fn is_same_scalar(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => number::written(a) == number::written(b),
        (a, b) => a == b,
    }
}

/// Returns the identities of the items that are in both lists, in the order of each.
fn orders(matched: &MatchedItems) -> (Value, Value) {
    let both = || matched.pairs.iter().filter(|pair| pair.old.is_some());
    let mut after: Vec<_> = both().filter(|pair| pair.new.is_some()).collect();
    let name = |step: &FieldStep| {
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

impl Comparison<'_> {
    /// Follows the steps of a field from the current path and compares the values there.
    // The depth is bounded by that of the values: every level goes one deeper into one of them.
    pub(super) fn descend(
        &mut self,
        old: Option<&Value>,
        new: Option<&Value>,
        wants: &[FieldPattern],
    ) {
        let Some((want, rest)) = wants.split_first() else {
            self.compare(old, new);
            return;
        };
        let members = (
            old.and_then(Value::as_object),
            new.and_then(Value::as_object),
        );
        for name in names(want, members.0, members.1) {
            self.path.push(FieldStep::Member(name.to_owned()));
            self.descend(
                members.0.and_then(|members| members.get(name)),
                members.1.and_then(|members| members.get(name)),
                rest,
            );
            self.path.pop();
        }
        let (before, after) = (items(old), items(new));
        for pair in self.matched(before, after).pairs {
            let old = pair.old.and_then(|at| before.get(at));
            let new = pair.new.and_then(|at| after.get(at));
            let rest = match want {
                // `containers.image` is the image of every container, as in kubectl explain.
                FieldPattern::Member(_) => wants,
                want if want.takes_item(&pair.step, pair.new.or(pair.old), new.or(old)) => rest,
                _ => continue,
            };
            self.path.push(pair.step);
            self.descend(old, new, rest);
            self.path.pop();
        }
    }
}

fn items(value: Option<&Value>) -> &[Value] {
    value
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

/// Returns the members that a step selects, in either version.
fn names<'a>(
    want: &'a FieldPattern,
    old: Option<&'a Map<String, Value>>,
    new: Option<&'a Map<String, Value>>,
) -> Vec<&'a str> {
    let all = || old.into_iter().chain(new).flat_map(Map::keys);
    match want {
        FieldPattern::Member(name) | FieldPattern::Named(name) => {
            let is_there = all().any(|known| known == name);
            is_there.then_some(name.as_str()).into_iter().collect()
        }
        FieldPattern::Every => {
            let mut names: Vec<&str> = all().map(String::as_str).collect();
            names.sort_unstable();
            names.dedup();
            names
        }
        FieldPattern::Place(_) | FieldPattern::Where(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes::ChangeKind;
    use serde_json::json;

    fn scope(fields: &[&str]) -> ComparisonScope {
        let field = |text: &&str| text.parse().expect("a field");
        ComparisonScope {
            fields: fields.iter().map(field).collect(),
            ..ComparisonScope::default()
        }
    }

    /// Formats changes as `path: old -> new`.
    fn change_texts(scope: &ComparisonScope, old: &Value, new: &Value) -> Vec<String> {
        let text = |value: Option<Value>| value.map_or_else(|| "-".to_owned(), |v| v.to_string());
        scope
            .changes(old, new)
            .into_iter()
            .map(|one| format!("{}: {} -> {}", one.path, text(one.old), text(one.new)))
            .collect()
    }

    fn operator(rv: u32, degraded: &str, message: &str) -> Value {
        json!({
            "metadata": {
                "name": "etcd", "resourceVersion": rv.to_string(), "generation": 1,
                "annotations": {"a.b/c": rv.to_string()},
                "managedFields": [{"manager": "m", "time": rv}],
            },
            "status": {"conditions": [
                {"type": "Available", "status": "True"},
                {"type": "Degraded", "status": degraded, "message": message},
            ]},
        })
    }

    #[test]
    fn a_change_names_the_field_and_leaves_noise_out() {
        let (old, new) = (operator(1, "False", ""), operator(2, "True", "node"));
        assert_eq!(
            change_texts(&ComparisonScope::default(), &old, &new),
            [
                r#"metadata.annotations["a.b/c"]: "1" -> "2""#,
                r#"status.conditions[Degraded].message: "" -> "node""#,
                r#"status.conditions[Degraded].status: "False" -> "True""#,
            ]
        );
        let all = ComparisonScope {
            shows_managed_fields: true,
            shows_resource_version: true,
            ..ComparisonScope::default()
        };
        let change_texts = change_texts(&all, &old, &new);
        assert!(change_texts.contains(&"metadata.managedFields[m].time: 1 -> 2".to_owned()));
        assert!(change_texts.contains(&r#"metadata.resourceVersion: "1" -> "2""#.to_owned()));
    }

    #[test]
    fn fields_narrow() {
        let (old, new) = (operator(1, "False", ""), operator(2, "True", "node"));
        let status = r#"status.conditions[Degraded].status: "False" -> "True""#;
        let message = r#"status.conditions[Degraded].message: "" -> "node""#;
        for (fields, expected) in [
            (&[".status.conditions"][..], &[message, status][..]),
            (&["status"], &[message, status]),
            (&[".status.conditions[Degraded].status"], &[status]),
            (&[".status.conditions[\"Degraded\"].status"], &[status]),
            (&[".status.conditions[1].status"], &[status]),
            (&[".status.conditions[*].status"], &[status]),
            (&[".status.conditions.status"], &[status]),
            (&[".status.conditions[type=Degraded].status"], &[status]),
            (
                &[".status.conditions[?(@.type==\"Degraded\")].status"],
                &[status],
            ),
            (&[".status.conditions[Available]"], &[]),
            (&[".status.nothing"], &[]),
            (
                &[".status", ".status.conditions[Degraded]"],
                &[message, status],
            ),
            (&[".status", ".status"], &[message, status]),
            (
                &[".metadata.resourceVersion"],
                &[r#"metadata.resourceVersion: "1" -> "2""#],
            ),
        ] {
            assert_eq!(
                change_texts(&scope(fields), &old, &new),
                expected,
                "{fields:?}"
            );
        }
        let slashed = scope(&[r#".metadata.annotations["a.b/c"]"#, ".metadata.generation"]);
        assert_eq!(
            change_texts(&slashed, &old, &new),
            [r#"metadata.annotations["a.b/c"]: "1" -> "2""#]
        );
    }

    #[test]
    fn a_field_is_found_inside_what_appears_or_goes() {
        let old = json!({"status": {}});
        let new = operator(1, "True", "");
        let scope = scope(&[".status.conditions[Degraded].status"]);
        let there = r#"status.conditions[Degraded].status: - -> "True""#;
        assert_eq!(change_texts(&scope, &old, &new), [there]);
        let gone = r#"status.conditions[Degraded].status: "True" -> -"#;
        assert_eq!(change_texts(&scope, &new, &old), [gone]);
        let contents = scope.contents(&new);
        assert_eq!(contents.len(), 1);
        assert_eq!(contents[0].kind, ChangeKind::Added);
    }

    #[test]
    fn whole_values_appear_go_and_change_their_kind() {
        let scope = ComparisonScope::default();
        for (old, new, expected) in [
            (json!({}), json!({"a": {"b": 1}}), r#"a: - -> {"b":1}"#),
            (json!({"a": {}}), json!({}), "a: {} -> -"),
            (json!({"a": {}}), json!({"a": []}), "a: {} -> []"),
            (json!({"a": null}), json!({"a": 1}), "a: null -> 1"),
            (
                json!({"a": ["x"]}),
                json!({"a": ["x", "y"]}),
                r#"a[1]: - -> "y""#,
            ),
            (
                json!({"a": ["x", "y"]}),
                json!({"a": ["y"]}),
                r#"a[0]: "x" -> -"#,
            ),
        ] {
            assert_eq!(change_texts(&scope, &old, &new), [expected]);
        }
        assert!(change_texts(&scope, &json!({"a": 1}), &json!({"a": 1.0})).is_empty());
        let order = change_texts(
            &scope,
            &json!({"c": [{"name": "a"}, {"name": "b"}]}),
            &json!({"c": [{"name": "b"}, {"name": "a"}, {"name": "n"}]}),
        );
        assert_eq!(
            order,
            [r#"c: ["a","b"] -> ["b","a"]"#, r#"c[n]: - -> {"name":"n"}"#]
        );
    }
}
