//! Owns which members identify the items of a list: those by which Kubernetes merges it, or else a
//! member that every item has and that differs in all. Refuses types: a list is known by its name.

use super::path::{KeyPart, Path, Step};
use crate::object::number;
use serde_json::Value;
use std::collections::BTreeSet;

/// The lists that Kubernetes merges by other members than [`GENERAL`], by the list's name: candidates
/// in the order in which they are tried. The first member of a candidate must be there, the others
/// may be missing.
///
/// They are the merge keys of the API's own types. A list of the same name in a custom resource is
/// matched by the same members where they fit; where they do not, the next candidate is tried.
const TABLE: [(&str, &[&[&str]]); 14] = [
    ("conditions", &[&["type"]]),
    ("ownerReferences", &[&["uid"]]),
    (
        "managedFields",
        &[&["manager", "operation", "subresource", "apiVersion"]],
    ),
    (
        "ports",
        &[
            &["name"],
            &["containerPort", "protocol"],
            &["port", "protocol"],
        ],
    ),
    ("volumeMounts", &[&["mountPath"]]),
    ("volumeDevices", &[&["devicePath"]]),
    ("hostAliases", &[&["ip"]]),
    ("podIPs", &[&["ip"]]),
    ("hostIPs", &[&["ip"]]),
    (
        "topologySpreadConstraints",
        &[&["topologyKey", "whenUnsatisfiable"]],
    ),
    ("taints", &[&["key", "effect"]]),
    ("addresses", &[&["type"], &["ip"]]),
    ("subjects", &[&["name", "namespace", "kind", "apiGroup"]]),
    (
        "relatedObjects",
        &[&["name", "resource", "namespace", "group"]],
    ),
];

/// The members that identify items of any other list, in the order in which they are tried.
const GENERAL: [&[&str]; 7] = [
    &["type"],
    &["name"],
    &["uid"],
    &["key"],
    &["ip"],
    &["id"],
    &["path"],
];

/// What identifies each item of a list, in its order.
pub(super) type Keys = Vec<Vec<KeyPart>>;

/// Gives what identifies the items of two versions of a list; `None` if nothing does in both.
pub(super) fn of(list: Option<&str>, old: &[Value], new: &[Value]) -> Option<(Keys, Keys)> {
    if old.iter().chain(new).any(|item| !item.is_object()) {
        return None;
    }
    let named = TABLE
        .iter()
        .filter(|(name, _)| list == Some(name))
        .flat_map(|(_, candidates)| candidates.iter());
    named
        .chain(GENERAL.iter())
        .find_map(|names| Some((unique(names, old)?, unique(names, new)?)))
}

/// Gives the name of the list that a path leads to, if a member holds it.
pub(super) fn last_member(path: &Path) -> Option<&str> {
    match path.steps().last()? {
        Step::Member(name) => Some(name),
        Step::Item(_) | Step::Index(_) => None,
    }
}

/// Gives the keys of all items if every item has one and no two are equal.
fn unique(names: &[&str], items: &[Value]) -> Option<Keys> {
    let mut seen = BTreeSet::new();
    let mut keys = Vec::with_capacity(items.len());
    for item in items {
        let key = key(names, item)?;
        if !seen.insert(key.clone()) {
            return None;
        }
        keys.push(key);
    }
    Some(keys)
}

fn key(names: &[&str], item: &Value) -> Option<Vec<KeyPart>> {
    let mut parts = Vec::new();
    for (at, name) in names.iter().enumerate() {
        match item.get(name).map(as_key) {
            Some(Some(value)) => parts.push(KeyPart {
                name: (*name).to_owned(),
                value,
            }),
            // The first names the item; an empty text would name it badly.
            _ if at == 0 => return None,
            Some(None) => return None,
            None => {}
        }
    }
    Some(parts)
}

/// Gives the text of a value that can identify something.
fn as_key(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) if number.is_i64() || number.is_u64() => {
            Some(number::written(number))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn keys(list: &str, items: &Value) -> Option<Vec<String>> {
        let (keys, _) = of(Some(list), items.as_array()?, &[])?;
        Some(
            keys.into_iter()
                .map(|key| Step::Item(key).to_string())
                .collect(),
        )
    }

    #[test]
    fn items_are_known_by_what_kubernetes_merges_by() {
        let by_name =
            json!([{"name": "web", "containerPort": 80}, {"name": "x", "containerPort": 80}]);
        assert_eq!(keys("ports", &by_name).expect("keys"), ["[web]", "[x]"]);
        let by_port = json!([
            {"containerPort": 53, "protocol": "UDP"},
            {"containerPort": 53, "protocol": "TCP"},
        ]);
        assert_eq!(
            keys("ports", &by_port).expect("keys"),
            [
                "[containerPort=53,protocol=UDP]",
                "[containerPort=53,protocol=TCP]"
            ]
        );
        let mounts = json!([{"name": "a", "mountPath": "/x"}, {"name": "a", "mountPath": "/y"}]);
        assert_eq!(
            keys("volumeMounts", &mounts).expect("keys"),
            ["[/x]", "[/y]"]
        );
        let owners = json!([{"uid": "1-2", "name": "a"}]);
        assert_eq!(keys("ownerReferences", &owners).expect("keys"), ["[1-2]"]);
    }

    #[test]
    fn other_lists_are_known_by_a_member_that_differs_in_all() {
        let items = json!([{"name": "a", "type": "t"}, {"name": "b", "type": "t"}]);
        assert_eq!(keys("others", &items).expect("keys"), ["[a]", "[b]"]);
        for items in [
            json!([1, 2]),
            json!([{"name": "a"}, {"name": "a"}]),
            json!([{"name": "a"}, {}]),
            json!([{"name": ""}]),
            json!([{"name": {"a": 1}}]),
            json!([{"state": "Completed"}]),
        ] {
            assert_eq!(keys("others", &items), None, "{items}");
        }
    }
}
