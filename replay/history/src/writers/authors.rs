//! Owns the conclusion who wrote a version. Refuses guesses: where the managedFields do not tell, the
//! answer is that it is not known.
//!
//! The server renews the time of a manager's entry when the manager sets a field or changes a value,
//! and not when another manager takes a field away from it. Two writes within one second look alike
//! there. Then the only manager of every changed field is the one who wrote: whoever changes a value
//! manages it afterwards.

use super::managed::{Managed, Writer};
use crate::changes::{Change, ChangeKind};
use serde_json::Value;

/// How many changed fields are looked up at most among the managed ones.
const MOST_FIELDS: usize = 256;

/// The times in managedFields are of whole seconds; delivery takes some time too. Versions further
/// apart than this, in microseconds, were not written within one second: 2 s.
const SAME_SECOND_MICROS: i64 = 2_000_000;

/// Who wrote a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authors {
    /// These; several if a gap or a creation hides who wrote which field.
    Named(Vec<Writer>),
    /// The object does not say.
    Unknown,
    /// Nobody is noted for deletions.
    Deletion,
}

impl Authors {
    /// Gives those who are known.
    pub fn writers(&self) -> &[Writer] {
        match self {
            Self::Named(writers) => writers,
            Self::Unknown | Self::Deletion => &[],
        }
    }

    pub(crate) fn of(mut writers: Vec<Writer>) -> Self {
        writers.sort();
        writers.dedup();
        if writers.is_empty() {
            Self::Unknown
        } else {
            Self::Named(writers)
        }
    }
}

/// Says who wrote the new one of two versions that were received `micros` apart.
///
/// `changes` are all changes between them, whatever was asked for.
pub(crate) fn between(old: &Value, new: &Value, changes: &[Change], micros: i64) -> Authors {
    let (before, after) = (Managed::of(old), Managed::of(new));
    let wrote = |entry: &&Managed<'_>| {
        let older = before.iter().find(|older| older.is_same_manager(entry));
        older.is_none_or(|older| older.writer.at != entry.writer.at || entry.names_more_than(older))
    };
    let named: Vec<Writer> = after
        .iter()
        .filter(wrote)
        .map(|entry| entry.writer.clone())
        .collect();
    if !named.is_empty() {
        return Authors::of(named);
    }
    if micros > SAME_SECOND_MICROS {
        return Authors::Unknown;
    }
    Authors::of(only_managers(new, &after, changes).unwrap_or_default())
}

/// Gives the managers of the changed fields; `None` if a field has several.
fn only_managers(new: &Value, managed: &[Managed<'_>], changes: &[Change]) -> Option<Vec<Writer>> {
    let mut found = Vec::new();
    let set = changes
        .iter()
        .filter(|change| matches!(change.kind, ChangeKind::Added | ChangeKind::Changed));
    let mut leaves: Vec<Change> = Vec::new();
    for change in set {
        let mut more = change.leaves(MOST_FIELDS);
        leaves.append(&mut more.first);
        if more.rest > 0 || leaves.len() > MOST_FIELDS {
            return None;
        }
    }
    for leaf in leaves {
        let mut managers = managed
            .iter()
            .filter(|entry| entry.manages(new, leaf.path.steps()));
        // What nobody manages, the server itself sets: the generation, for one.
        let Some(only) = managers.next() else {
            continue;
        };
        if managers.next().is_some() {
            return None;
        }
        found.push(only.writer.clone());
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes::Scope;
    use serde_json::json;

    fn entry(manager: &str, subresource: &str, secs: u32, fields: &Value) -> Value {
        json!({
            "manager": manager, "operation": "Update", "subresource": subresource,
            "apiVersion": "v1", "time": format!("2026-11-21T14:00:{secs:02}Z"), "fieldsV1": fields,
        })
    }

    fn object(value: u32, managed: &[Value]) -> Value {
        json!({
            "metadata": {"generation": value, "managedFields": managed},
            "spec": {"a": value, "b": 1},
            "status": {"c": [{"type": "T", "x": value}]},
        })
    }

    fn authors(old: &Value, new: &Value, millis: i64) -> Vec<String> {
        let changes = Scope::default().changes(old, new);
        between(old, new, &changes, millis * 1000)
            .writers()
            .iter()
            .map(|writer| format!("{}/{}", writer.manager, writer.subresource))
            .collect()
    }

    #[test]
    fn a_renewed_or_new_entry_names_the_writer() {
        let spec = json!({"f:spec": {"f:a": {}, "f:b": {}}});
        let old = object(
            1,
            &[
                entry("m", "", 1, &spec),
                entry("n", "status", 1, &json!({})),
            ],
        );
        let new = object(
            2,
            &[
                entry("m", "", 5, &spec),
                entry("n", "status", 1, &json!({})),
            ],
        );
        assert_eq!(authors(&old, &new, 4000), ["m/"]);
        let both = object(
            2,
            &[
                entry("m", "", 5, &spec),
                entry("n", "status", 6, &json!({})),
            ],
        );
        assert_eq!(authors(&old, &both, 5000), ["m/", "n/status"]);
        let joined = object(
            2,
            &[entry("m", "", 1, &spec), entry("m", "status", 1, &spec)],
        );
        assert!(authors(&old, &joined, 10).contains(&"m/status".to_owned()));
    }

    #[test]
    fn who_loses_a_field_did_not_write() {
        let all = json!({"f:spec": {"f:a": {}, "f:b": {}}});
        let rest = json!({"f:spec": {"f:b": {}}});
        let taken = json!({"f:spec": {"f:a": {}}});
        let old = object(1, &[entry("m", "", 1, &all)]);
        let new = object(
            2,
            &[entry("m", "", 1, &rest), entry("thief", "", 7, &taken)],
        );
        assert_eq!(authors(&old, &new, 6000), ["thief/"]);
        // Within one second, the entry that grew is the writer's.
        let old = object(
            1,
            &[
                entry("m", "", 1, &all),
                entry("thief", "", 1, &json!({"f:x": {}})),
            ],
        );
        let grown = json!({"f:x": {}, "f:spec": {"f:a": {}}});
        let new = object(
            2,
            &[entry("m", "", 1, &rest), entry("thief", "", 1, &grown)],
        );
        assert_eq!(authors(&old, &new, 300), ["thief/"]);
    }

    #[test]
    fn within_one_second_the_only_manager_of_the_field_wrote() {
        let spec = json!({"f:spec": {"f:a": {}}});
        let item =
            json!({"f:status": {"f:c": {".": {}, "k:{\"type\":\"T\"}": {".": {}, "f:x": {}}}}});
        let managed = [entry("m", "", 1, &spec), entry("n", "status", 1, &item)];
        let old = object(1, &managed);
        let new = object(2, &managed);
        assert_eq!(authors(&old, &new, 300), ["m/", "n/status"]);
        // Two seconds later, the time would have been renewed.
        assert!(authors(&old, &new, 3000).is_empty());
        // Shared fields may be anybody's.
        let shared = [entry("m", "", 1, &spec), entry("n", "", 1, &spec)];
        assert!(authors(&object(1, &shared), &object(2, &shared), 300).is_empty());
        assert!(authors(&object(1, &[]), &object(2, &[]), 300).is_empty());
        let odd = json!([7, {"manager": 1}, {"manager": "x", "fieldsV1": 3}]);
        let with = |value| json!({"metadata": {"managedFields": odd}, "spec": {"a": value}});
        assert!(authors(&with(1), &with(2), 300).is_empty());
    }
}
