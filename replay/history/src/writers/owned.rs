//! Owns the walk over managed fields beside the object they are about: which managers are noted for
//! the value at hand. Refuses a look-up from the root for each value: a whole object is walked once.

use super::managed::Managed;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A list's items are told apart by one set of members; more than these are not looked up.
const MOST_KEYS: usize = 8;

/// The managers whose fields hold the value at hand, by their place in the list of entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Owned<'a> {
    nodes: Vec<(usize, &'a Map<String, Value>)>,
}

/// The managed items of a list, ready to be looked up.
pub(crate) struct OwnedItems<'a> {
    nodes: Vec<ItemNode<'a>>,
}

struct ItemNode<'a> {
    entry: usize,
    /// The node itself, if it holds all that is below it.
    whole: Option<&'a Map<String, Value>>,
    /// The names that keys are made of.
    names: BTreeSet<Vec<String>>,
    by_key: BTreeMap<String, &'a Map<String, Value>>,
}

impl<'a> Owned<'a> {
    /// Begins at an object's root.
    pub(crate) fn root(entries: &[Managed<'a>]) -> Self {
        let nodes = entries.iter().enumerate();
        Self {
            nodes: nodes
                .filter_map(|(at, entry)| Some((at, entry.fields?)))
                .collect(),
        }
    }

    /// Goes to a member.
    pub(crate) fn member(&self, name: &str) -> Self {
        let field = format!("f:{name}");
        let step = |&(entry, node): &(usize, &'a Map<String, Value>)| {
            let child = if node.is_empty() {
                // A field without fields of its own is managed with all that it holds.
                node
            } else {
                node.get(&field)?.as_object()?
            };
            Some((entry, child))
        };
        Self {
            nodes: self.nodes.iter().filter_map(step).collect(),
        }
    }

    /// Prepares to go to the items of a list.
    pub(crate) fn items(&self) -> OwnedItems<'a> {
        let nodes = self
            .nodes
            .iter()
            .map(|&(entry, node)| {
                let mut names = BTreeSet::new();
                let mut by_key = BTreeMap::new();
                for (name, child) in node {
                    let Some(child) = child.as_object() else {
                        continue;
                    };
                    if let Some(key) = name.strip_prefix("k:") {
                        let Ok(key) = serde_json::from_str::<Map<String, Value>>(key) else {
                            continue;
                        };
                        let parts: Vec<String> = sorted(key.keys());
                        if names.len() < MOST_KEYS || names.contains(&parts) {
                            by_key.insert(key_of(&parts, &key), child);
                            names.insert(parts);
                        }
                    } else {
                        by_key.insert(name.clone(), child);
                    }
                }
                ItemNode {
                    entry,
                    whole: node.is_empty().then_some(node),
                    names,
                    by_key,
                }
            })
            .collect();
        OwnedItems { nodes }
    }

    /// Gives the managers of the value at hand, which holds nothing more.
    pub(crate) fn managers(&self) -> impl Iterator<Item = usize> {
        self.nodes
            .iter()
            .filter(|(_, node)| node.is_empty() || node.contains_key("."))
            .map(|(entry, _)| *entry)
    }
}

impl<'a> OwnedItems<'a> {
    /// Goes to an item.
    pub(crate) fn item(&self, at: usize, item: &Value) -> Owned<'a> {
        let step = |node: &ItemNode<'a>| {
            let child = node.whole.or_else(|| {
                let keys = node.names.iter().filter_map(|names| {
                    let members = item.as_object()?;
                    let has_all = names.iter().all(|name| members.contains_key(name));
                    has_all.then(|| key_of(names, members))
                });
                let others = [format!("v:{item}"), format!("i:{at}")];
                keys.chain(others)
                    .find_map(|key| node.by_key.get(&key).copied())
            })?;
            Some((node.entry, child))
        };
        Owned {
            nodes: self.nodes.iter().filter_map(step).collect(),
        }
    }
}

fn sorted<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut names: Vec<String> = names.cloned().collect();
    names.sort_unstable();
    names
}

/// Writes what identifies an item in one spelling.
fn key_of(names: &[String], members: &Map<String, Value>) -> String {
    let parts: Vec<String> = names
        .iter()
        .map(|name| {
            let value = members.get(name).map(ToString::to_string);
            format!("{name:?}={}", value.unwrap_or_default())
        })
        .collect();
    format!("k:{}", parts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn managers_are_found_beside_their_values() {
        let object = json!({"metadata": {"managedFields": [
            {"manager": "a", "fieldsV1": {"f:spec": {"f:ports": {
                "k:{\"protocol\":\"TCP\",\"port\":80}": {".": {}, "f:port": {}},
            }}}},
            {"manager": "b", "fieldsV1": {"f:spec": {"f:ports": {}, "f:args": {"v:\"x\"": {}, "i:1": {}}}}},
            {"manager": "odd", "fieldsV1": {"f:spec": 3, "k:": {}}},
            {"manager": "none"},
        ]}});
        let entries = Managed::of(&object);
        let spec = Owned::root(&entries).member("spec");
        let ports = spec.member("ports").items();
        let web = ports.item(0, &json!({"port": 80, "protocol": "TCP", "name": "web"}));
        let found = |owned: &Owned<'_>| owned.managers().collect::<Vec<_>>();
        assert_eq!(found(&web.member("port")), [0, 1]);
        // An item is managed apart from its members; whoever has the whole list has them all.
        assert_eq!(found(&web.member("name")), [1]);
        assert_eq!(found(&ports.item(1, &json!({"port": 81}))), [1]);
        let args = spec.member("args").items();
        assert_eq!(found(&args.item(0, &json!("x"))), [1]);
        assert_eq!(found(&args.item(1, &json!("y"))), [1]);
        assert_eq!(found(&args.item(2, &json!("z"))), Vec::<usize>::new());
        assert_eq!(
            found(&Owned::root(&entries).member("status")),
            Vec::<usize>::new()
        );
    }
}
