//! Merge patches, as RFC 7386 has them: members are set, null takes them away, lists are replaced.

use serde_json::Value;

/// Merges a patch into a value.
pub fn merge(into: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *into = patch;
        return;
    };
    if !into.is_object() {
        *into = Value::Object(serde_json::Map::new());
    }
    let members = into.as_object_mut().expect("an object by now");
    for (name, value) in patch {
        if value.is_null() {
            members.remove(&name);
        } else {
            merge(members.entry(name).or_insert(Value::Null), value);
        }
    }
}
