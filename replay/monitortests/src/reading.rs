//! How fields of objects are read: what is missing or of another type reads as empty. It does not
//! fail: an object that lacks a field says nothing about it.

use kubereel_cluster::StatusCondition;
pub(crate) use kubereel_history::field::{at, items as list, number, text, time};
use kubereel_history::node_roles;
use serde_json::Value;

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

/// Returns a node's roles by its labels, sorted, with commas between.
pub(crate) fn roles(node: &Value) -> String {
    let roles: Vec<&str> = node_roles(node).into_iter().collect();
    roles.join(",")
}
