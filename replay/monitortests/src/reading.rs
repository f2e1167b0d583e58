//! Owns how fields of objects are read: what is missing or of another type reads as empty. Refuses to
//! fail: an object that lacks a field says nothing about it.

use kubereel_cluster::StatusCondition;
use kubereel_format::RecordedAt;
use kubereel_history::timetext;
use serde_json::Value;

/// Finds a value at a JSON pointer.
///
/// `Value::pointer` makes a text of each part of the pointer; only those with escapes need it.
pub(crate) fn at<'a>(value: &'a Value, pointer: &str) -> Option<&'a Value> {
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

/// Gives a text at a JSON pointer; empty if there is none.
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    let found = at(value, pointer).and_then(Value::as_str);
    found.unwrap_or_default()
}

/// Gives a whole number at a JSON pointer.
pub(crate) fn number(value: &Value, pointer: &str) -> Option<i64> {
    at(value, pointer).and_then(Value::as_i64)
}

/// Gives a time at a JSON pointer.
pub(crate) fn time(value: &Value, pointer: &str) -> Option<RecordedAt> {
    timetext::parsed(text(value, pointer))
}

/// Gives the items of a list at a JSON pointer; none if there is no list.
pub(crate) fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    let found = at(value, pointer).and_then(Value::as_array);
    found.map_or(&[], Vec::as_slice)
}

/// Finds the item of a list with a value under a name: `type` of conditions, `name` of containers.
pub(crate) fn item<'a>(items: &'a [Value], name: &str, value: &str) -> Option<&'a Value> {
    items
        .iter()
        .find(|item| item.get(name).and_then(Value::as_str) == Some(value))
}

/// Finds an object's condition of a type.
pub(crate) fn condition_of<'a>(object: &'a Value, kind: &str) -> Option<StatusCondition<'a>> {
    StatusCondition::all(object).find(|one| one.kind == kind)
}

/// Gives a node's roles by its labels, sorted, with commas between.
pub(crate) fn roles(node: &Value) -> String {
    let labels = at(node, "/metadata/labels").and_then(Value::as_object);
    let names = labels
        .into_iter()
        .flatten()
        .filter_map(|(name, _)| name.strip_prefix("node-role.kubernetes.io/"));
    let mut names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.join(",")
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
}
