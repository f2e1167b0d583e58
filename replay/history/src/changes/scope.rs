//! Owns what of an object is compared: which fields are asked for and which are noise. Refuses to
//! know where the versions come from.

use super::change::Change;
use super::compare::Comparison;
use super::field::Field;
use super::path::{Path, Step};
use serde_json::Value;

/// Which fields of an object are compared.
///
/// `metadata.managedFields` says who wrote and `metadata.resourceVersion` changes with every write:
/// both are left out unless they are shown or a field names them.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The fields asked for; all if empty.
    pub fields: Vec<Field>,
    /// Whether `metadata.managedFields` are compared.
    pub shows_managed_fields: bool,
    /// Whether `metadata.resourceVersion` is compared.
    pub shows_resource_version: bool,
}

impl Scope {
    /// Gives what changed from one version to the next, members in order.
    ///
    /// Numbers are compared as kubectl reads them: whole ones of 64 bits, all others as doubles.
    pub fn changes(&self, old: &Value, new: &Value) -> Vec<Change> {
        self.differences(Some(old), Some(new))
    }

    /// Gives what the fields asked for hold in one version, as if all of it had appeared.
    pub fn contents(&self, value: &Value) -> Vec<Change> {
        self.differences(None, Some(value))
    }

    /// Gives what the fields asked for held in one version, as if all of it had gone.
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

    /// Tells whether another field holds this one already, so that nothing is said twice.
    fn is_said_by_another(&self, own: usize, field: &Field) -> bool {
        let others = self.fields.iter().enumerate();
        others
            .filter(|(at, _)| *at != own)
            .any(|(at, other)| other.covers(field) && (at < own || !field.covers(other)))
    }

    pub(super) fn hides(&self, path: &Path, member: &str) -> bool {
        let is_metadata = matches!(path.steps(), [Step::Member(only)] if only == "metadata");
        is_metadata
            && match member {
                "managedFields" => !self.shows_managed_fields,
                "resourceVersion" => !self.shows_resource_version,
                _ => false,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes::ChangeKind;
    use serde_json::json;

    fn scope(fields: &[&str]) -> Scope {
        let field = |text: &&str| text.parse().expect("a field");
        Scope {
            fields: fields.iter().map(field).collect(),
            ..Scope::default()
        }
    }

    /// Writes changes as `path: old -> new`.
    fn said(scope: &Scope, old: &Value, new: &Value) -> Vec<String> {
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
            said(&Scope::default(), &old, &new),
            [
                r#"metadata.annotations["a.b/c"]: "1" -> "2""#,
                r#"status.conditions[Degraded].message: "" -> "node""#,
                r#"status.conditions[Degraded].status: "False" -> "True""#,
            ]
        );
        let all = Scope {
            shows_managed_fields: true,
            shows_resource_version: true,
            ..Scope::default()
        };
        let said = said(&all, &old, &new);
        assert!(said.contains(&"metadata.managedFields[m].time: 1 -> 2".to_owned()));
        assert!(said.contains(&r#"metadata.resourceVersion: "1" -> "2""#.to_owned()));
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
            assert_eq!(said(&scope(fields), &old, &new), expected, "{fields:?}");
        }
        let slashed = scope(&[r#".metadata.annotations["a.b/c"]"#, ".metadata.generation"]);
        assert_eq!(
            said(&slashed, &old, &new),
            [r#"metadata.annotations["a.b/c"]: "1" -> "2""#]
        );
    }

    #[test]
    fn a_field_is_found_inside_what_appears_or_goes() {
        let old = json!({"status": {}});
        let new = operator(1, "True", "");
        let scope = scope(&[".status.conditions[Degraded].status"]);
        let there = r#"status.conditions[Degraded].status: - -> "True""#;
        assert_eq!(said(&scope, &old, &new), [there]);
        let gone = r#"status.conditions[Degraded].status: "True" -> -"#;
        assert_eq!(said(&scope, &new, &old), [gone]);
        let contents = scope.contents(&new);
        assert_eq!(contents.len(), 1);
        assert_eq!(contents[0].kind, ChangeKind::Added);
    }

    #[test]
    fn whole_values_appear_go_and_change_their_kind() {
        let scope = Scope::default();
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
            assert_eq!(said(&scope, &old, &new), [expected]);
        }
        assert!(said(&scope, &json!({"a": 1}), &json!({"a": 1.0})).is_empty());
        let order = said(
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
