//! Fields of an object's JSON by JSON pointer. A field that is missing or has another type reads as
//! empty: an object without a field makes no statement about it.

use crate::timetext;
use kubereel_format::RecordedAt;
use serde_json::Value;

/// Finds a value at a JSON pointer.
///
/// `Value::pointer` allocates a text for each part of the pointer; only parts with escapes need
/// one.
pub fn at<'a>(value: &'a Value, pointer: &str) -> Option<&'a Value> {
    if pointer.contains('~') {
        return value.pointer(pointer);
    }
    let mut parts = pointer.split('/');
    if parts.next() != Some("") {
        return None;
    }
    parts.try_fold(value, |value, part| match value {
        Value::Object(members) => members.get(part),
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Returns a text at a JSON pointer; empty if there is none.
pub fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    let found = at(value, pointer).and_then(Value::as_str);
    found.unwrap_or_default()
}

/// Returns a whole number at a JSON pointer.
pub fn number(value: &Value, pointer: &str) -> Option<i64> {
    at(value, pointer).and_then(Value::as_i64)
}

/// Returns a time at a JSON pointer.
pub fn time(value: &Value, pointer: &str) -> Option<RecordedAt> {
    timetext::parsed(text(value, pointer))
}

/// Returns whether the value at a JSON pointer is `true`.
pub fn is_true(value: &Value, pointer: &str) -> bool {
    at(value, pointer).and_then(Value::as_bool) == Some(true)
}

/// Returns whether somebody has asked for the deletion of an object.
pub fn is_being_deleted(object: &Value) -> bool {
    !text(object, "/metadata/deletionTimestamp").is_empty()
}

/// Whether a controller has observed the last change of an object's spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObservedGeneration {
    /// It reports none.
    NotReported,
    /// It has observed an older one.
    Older,
    /// It has observed the present one, or the object has no generation.
    Present,
}

impl ObservedGeneration {
    /// Compares the generation that a status is about with that of its object.
    pub fn of(observed: Option<i64>, generation: Option<i64>) -> Self {
        let generation = generation.unwrap_or(0);
        match observed.unwrap_or(0) {
            observed if observed >= generation => Self::Present,
            0 => Self::NotReported,
            _ => Self::Older,
        }
    }

    /// Reads it of an object's status.
    pub fn of_status(object: &Value) -> Self {
        let observed = number(object, "/status/observedGeneration");
        Self::of(observed, number(object, "/metadata/generation"))
    }
}

/// Returns the items of a list at a JSON pointer; none if there is no list.
pub fn items<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    let found = at(value, pointer).and_then(Value::as_array);
    found.map_or(&[], Vec::as_slice)
}

/// Returns the reference of an object to the owner that controls it.
pub fn controller(object: &Value) -> Option<&Value> {
    let mut owners = items(object, "/metadata/ownerReferences").iter();
    owners.find(|owner| is_true(owner, "/controller"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn finds_what_the_library_finds() {
        let value = json!({"a": {"b": [{"c": 1}, "x"], "": 2, "d/e": 3}, "f": null});
        for pointer in [
            "",
            "/",
            "/a",
            "/a/",
            "/a/b",
            "/a/b/0/c",
            "/a/b/1",
            "/a/b/2",
            "/a/b/x",
            "/a/d~1e",
            "/f",
            "/f/g",
            "a",
            "/a/b/0/c/d",
        ] {
            assert_eq!(at(&value, pointer), value.pointer(pointer), "{pointer}");
        }
    }

    #[test]
    fn only_one_owner_is_the_controller() {
        let owner = |name: &str, controls: Value| json!({"name": name, "controller": controls});
        let owners = json!([
            owner("a", json!(false)),
            owner("b", json!(null)),
            owner("c", json!(true))
        ]);
        let object = json!({"metadata": {"ownerReferences": owners}});
        assert_eq!(
            controller(&object).map(|owner| text(owner, "/name")),
            Some("c")
        );
        assert_eq!(
            controller(&json!({"metadata": {"ownerReferences": [{"name": "a"}]}})),
            None
        );
    }
}
