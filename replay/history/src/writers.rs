//! Determines who wrote a version of an object, from the managedFields of two versions and the
//! changes between them. Managers are names that clients chose. If the entries do not identify the
//! writer, it is unknown.

use crate::changes::{Change, ChangeKind, FieldStep};
use jiff::Timestamp;
use kubereel_format::RecordedAt;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The largest number of managers that is read: a server merges the oldest ones beyond ten, and few
/// others apply.
pub(crate) const MOST_MANAGERS: usize = 256;

/// A field manager.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldWriter {
    /// The manager's name.
    pub manager: String,
    /// `Update` or `Apply`.
    pub operation: String,
    /// The written subresource; empty for the object itself.
    pub subresource: String,
    /// When it last changed a field that it manages: by the server's clock, in whole seconds.
    pub at: Option<RecordedAt>,
}

/// An entry of an object's managedFields.
pub(crate) struct ManagedEntry<'a> {
    pub(crate) writer: FieldWriter,
    api_version: &'a str,
    pub(crate) fields: Option<&'a Map<String, Value>>,
}

impl<'a> ManagedEntry<'a> {
    /// Reads the entries of an object; unknown forms are left out, and all entries if there are
    /// more than a server keeps.
    pub(crate) fn of(object: &'a Value) -> Vec<Self> {
        let entries = object
            .get("metadata")
            .and_then(|metadata| metadata.get("managedFields"))
            .and_then(Value::as_array);
        let entries = entries.filter(|entries| entries.len() <= MOST_MANAGERS);
        let entries = entries.into_iter().flatten();
        entries.filter_map(Self::read).collect()
    }

    fn read(entry: &'a Value) -> Option<Self> {
        let text = |member: &str| entry.get(member).and_then(Value::as_str);
        let at = text("time")
            .and_then(|time| time.parse::<Timestamp>().ok())
            .map(|time| RecordedAt::from_micros(time.as_microsecond()));
        Some(Self {
            writer: FieldWriter {
                manager: text("manager")?.to_owned(),
                operation: text("operation").unwrap_or_default().to_owned(),
                subresource: text("subresource").unwrap_or_default().to_owned(),
                at,
            },
            api_version: text("apiVersion").unwrap_or_default(),
            fields: entry.get("fieldsV1").and_then(Value::as_object),
        })
    }

    /// Returns whether two entries are of one manager, by everything that distinguishes managers
    /// for the server.
    pub(crate) fn is_same_manager(&self, other: &Self) -> bool {
        (
            &self.writer.manager,
            &self.writer.operation,
            &self.writer.subresource,
            self.api_version,
        ) == (
            &other.writer.manager,
            &other.writer.operation,
            &other.writer.subresource,
            other.api_version,
        )
    }

    /// Returns whether the entry has a field that an older entry of the same manager does not have.
    pub(crate) fn names_more_than(&self, older: &Self) -> bool {
        match (older.fields, self.fields) {
            (_, None) => false,
            (None, Some(fields)) => !fields.is_empty(),
            (Some(old), Some(new)) => has_more(old, new),
        }
    }

    /// Returns how far above a field of an object the entry names what it manages: 0 for the field itself; `None` if it
    /// does not manage it. Of several managers, those that are nearest manage a field: a map that one created empty may
    /// have members of others.
    pub(crate) fn distance(&self, object: &Value, steps: &[FieldStep]) -> Option<usize> {
        distance(self.fields?, object, steps)
    }
}

/// Returns the names of the managers of some writers, each once, separated by commas.
pub fn managers(writers: &[FieldWriter]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for writer in writers {
        if !names.contains(&writer.manager.as_str()) {
            names.push(&writer.manager);
        }
    }
    names.join(", ")
}

/// Returns the managers of an object that has just been created.
pub(crate) fn at_creation(object: &Value) -> Vec<FieldWriter> {
    let mut writers: Vec<FieldWriter> = ManagedEntry::of(object)
        .into_iter()
        .map(|entry| entry.writer)
        .collect();
    writers.sort();
    writers.dedup();
    writers
}

// The depth is bounded: the parser refuses more than 128 levels.
fn has_more(old: &Map<String, Value>, new: &Map<String, Value>) -> bool {
    new.iter().any(|(name, new)| match (old.get(name), new) {
        (None, _) => true,
        (Some(Value::Object(old)), Value::Object(new)) => has_more(old, new),
        _ => false,
    })
}

fn distance(fields: &Map<String, Value>, value: &Value, steps: &[FieldStep]) -> Option<usize> {
    // An entry without members of its own covers all members.
    if fields.is_empty() {
        return Some(steps.len());
    }
    let Some((step, rest)) = steps.split_first() else {
        return fields.contains_key(".").then_some(0);
    };
    let into = |child: &Value, value: &Value| distance(child.as_object()?, value, rest);
    if let FieldStep::Member(name) = step {
        return into(fields.get(&format!("f:{name}"))?, value.get(name)?);
    }
    let (at, item) = item_at(value, step)?;
    let distances = fields.iter().filter_map(|(name, child)| {
        let is_item = match name.split_once(':') {
            Some(("k", key)) => has_key(item, key),
            Some(("v", text)) => {
                serde_json::from_str(text).is_ok_and(|value: Value| value == *item)
            }
            Some(("i", place)) => place.parse() == Ok(at),
            _ => false,
        };
        is_item.then(|| into(child, item)).flatten()
    });
    distances.min()
}

fn item_at<'a>(value: &'a Value, step: &FieldStep) -> Option<(usize, &'a Value)> {
    let items = value.as_array()?;
    match step {
        FieldStep::Member(_) => None,
        FieldStep::Index(at) => Some((*at, items.get(*at)?)),
        FieldStep::Item(parts) => items.iter().enumerate().find(|(_, item)| {
            parts.iter().all(|part| match item.get(&part.name) {
                Some(Value::String(text)) => *text == part.value,
                Some(Value::Number(number)) => number.to_string() == part.value,
                _ => false,
            })
        }),
    }
}

/// Returns whether an item has the members that a key such as `{"type":"Ready"}` names.
pub(crate) fn has_key(item: &Value, key: &str) -> bool {
    let key: Map<String, Value> = serde_json::from_str(key).unwrap_or_default();
    !key.is_empty()
        && key
            .iter()
            .all(|(name, value)| item.get(name) == Some(value))
}

/// The largest number of key sets of a list; a list normally has one.
const MOST_KEYS: usize = 8;

/// The managers of the current value, by their index in the list of entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnedFields<'a> {
    nodes: Vec<OwnedNode<'a>>,
}

/// What an entry says of a field.
#[derive(Clone, Copy, Debug)]
struct OwnedNode<'a> {
    entry: usize,
    fields: &'a Map<String, Value>,
    /// How far above the field the entry names what it manages.
    distance: usize,
}

/// The managed items of a list, indexed.
pub(crate) struct OwnedListItems<'a> {
    nodes: Vec<ItemNode<'a>>,
}

struct ItemNode<'a> {
    of: OwnedNode<'a>,
    /// The member names in the keys.
    names: BTreeSet<Vec<String>>,
    by_key: BTreeMap<String, &'a Map<String, Value>>,
}

impl<'a> OwnedFields<'a> {
    /// Starts at the root of an object.
    pub(crate) fn root(entries: &[ManagedEntry<'a>]) -> Self {
        let nodes = entries.iter().enumerate();
        Self {
            nodes: nodes
                .filter_map(|(at, entry)| {
                    Some(OwnedNode {
                        entry: at,
                        fields: entry.fields?,
                        distance: 0,
                    })
                })
                .collect(),
        }
    }

    /// Descends to a member.
    pub(crate) fn member(&self, name: &str) -> Self {
        let field = format!("f:{name}");
        let step = |node: &OwnedNode<'a>| {
            // An entry without members of its own covers all members.
            if node.fields.is_empty() {
                return Some(node.above());
            }
            let fields = node.fields.get(&field)?.as_object()?;
            Some(OwnedNode { fields, ..*node })
        };
        Self {
            nodes: self.nodes.iter().filter_map(step).collect(),
        }
    }

    /// Prepares to descend to the items of a list.
    pub(crate) fn items(&self) -> OwnedListItems<'a> {
        let nodes = self
            .nodes
            .iter()
            .map(|&of| {
                let mut names = BTreeSet::new();
                let mut by_key = BTreeMap::new();
                for (name, child) in of.fields {
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
                ItemNode { of, names, by_key }
            })
            .collect();
        OwnedListItems { nodes }
    }

    /// Returns the managers of the current value, which has no members.
    pub(crate) fn managers(&self) -> impl Iterator<Item = usize> {
        let is_own =
            |node: &&OwnedNode<'_>| node.fields.is_empty() || node.fields.contains_key(".");
        let own = self.nodes.iter().filter(is_own);
        let nearest = own.clone().map(|node| node.distance).min();
        let own = own.filter(move |node| Some(node.distance) == nearest);
        own.map(|node| node.entry)
    }
}

impl OwnedNode<'_> {
    /// Returns what it says of a member of what it covers.
    const fn above(self) -> Self {
        Self {
            distance: self.distance + 1,
            ..self
        }
    }
}

impl<'a> OwnedListItems<'a> {
    /// Descends to an item.
    pub(crate) fn item(&self, at: usize, item: &Value) -> OwnedFields<'a> {
        let step = |node: &ItemNode<'a>| {
            if node.of.fields.is_empty() {
                return Some(node.of.above());
            }
            let fields = {
                let keys = node.names.iter().filter_map(|names| {
                    let members = item.as_object()?;
                    let has_all = names.iter().all(|name| members.contains_key(name));
                    has_all.then(|| key_of(names, members))
                });
                let others = [format!("v:{item}"), format!("i:{at}")];
                keys.chain(others)
                    .find_map(|key| node.by_key.get(&key).copied())?
            };
            Some(OwnedNode { fields, ..node.of })
        };
        OwnedFields {
            nodes: self.nodes.iter().filter_map(step).collect(),
        }
    }
}

fn sorted<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut names: Vec<String> = names.cloned().collect();
    names.sort_unstable();
    names
}

/// Returns the identity of an item in a canonical spelling.
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

/// The largest number of changed fields that are looked up among the managed ones.
const MOST_FIELDS: usize = 256;

/// The times in managedFields have whole seconds, and delivery takes some time. Versions further
/// apart than this, in microseconds, were not written within one second: 2 s.
const SAME_SECOND_MICROS: i64 = 2_000_000;

/// The writer of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authors {
    /// These; several if a gap or a creation hides who wrote which field.
    Named(Vec<FieldWriter>),
    /// The object does not contain the information.
    Unknown,
    /// Deletions have no manager.
    Deletion,
}

impl Authors {
    /// Returns the known writers.
    pub fn writers(&self) -> &[FieldWriter] {
        match self {
            Self::Named(writers) => writers,
            Self::Unknown | Self::Deletion => &[],
        }
    }

    /// Returns their names, separated by commas; empty if none is known.
    pub fn names(&self) -> String {
        let mut names: Vec<&str> = self
            .writers()
            .iter()
            .map(|one| one.manager.as_str())
            .collect();
        names.dedup();
        names.join(",")
    }

    pub(crate) fn of(mut writers: Vec<FieldWriter>) -> Self {
        writers.sort();
        writers.dedup();
        if writers.is_empty() {
            Self::Unknown
        } else {
            Self::Named(writers)
        }
    }
}

/// Returns who wrote the newer of two versions that were received `micros` apart.
///
/// `changes` are all changes between them, whatever fields are requested.
pub(crate) fn between(old: &Value, new: &Value, changes: &[Change], micros: i64) -> Authors {
    let named = noted(old, new);
    if !named.is_empty() {
        return Authors::of(named);
    }
    if micros > SAME_SECOND_MICROS {
        return Authors::Unknown;
    }
    let after = ManagedEntry::of(new);
    Authors::of(only_managers(new, &after, changes).unwrap_or_default())
}

/// Returns the managers whose entries differ between two versions: by their times, or by more
/// fields. `None` if the writer may have written twice within one second.
pub(crate) fn noted(old: &Value, new: &Value) -> Vec<FieldWriter> {
    let (before, after) = (ManagedEntry::of(old), ManagedEntry::of(new));
    let wrote = |entry: &&ManagedEntry<'_>| {
        let older = before.iter().find(|older| older.is_same_manager(entry));
        older.is_none_or(|older| older.writer.at != entry.writer.at || entry.names_more_than(older))
    };
    let named = after.iter().filter(wrote);
    named.map(|entry| entry.writer.clone()).collect()
}

/// Returns the managers of the changed fields; `None` if a field has several.
fn only_managers(
    new: &Value,
    managed: &[ManagedEntry<'_>],
    changes: &[Change],
) -> Option<Vec<FieldWriter>> {
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
        let managers = managed.iter().filter_map(|entry| {
            let distance = entry.distance(new, leaf.path.steps())?;
            Some((distance, entry))
        });
        let nearest = managers.clone().map(|(distance, _)| distance).min();
        let mut managers = managers.filter(|(distance, _)| Some(*distance) == nearest);
        // The server itself sets unmanaged fields, such as the generation.
        let Some((_, only)) = managers.next() else {
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
mod owned_tests {
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
        let entries = ManagedEntry::of(&object);
        let spec = OwnedFields::root(&entries).member("spec");
        let ports = spec.member("ports").items();
        let web = ports.item(0, &json!({"port": 80, "protocol": "TCP", "name": "web"}));
        let found = |owned: &OwnedFields<'_>| owned.managers().collect::<Vec<_>>();
        // The second one only created the list.
        assert_eq!(found(&web.member("port")), [0]);
        // An item is managed apart from its members; a manager of the whole list has them all.
        assert_eq!(found(&web.member("name")), [1]);
        assert_eq!(found(&ports.item(1, &json!({"port": 81}))), [1]);
        let args = spec.member("args").items();
        assert_eq!(found(&args.item(0, &json!("x"))), [1]);
        assert_eq!(found(&args.item(1, &json!("y"))), [1]);
        assert_eq!(found(&args.item(2, &json!("z"))), Vec::<usize>::new());
        assert_eq!(
            found(&OwnedFields::root(&entries).member("status")),
            Vec::<usize>::new()
        );
    }
}

#[cfg(test)]
mod authors_tests {
    use super::*;
    use crate::changes::ComparisonScope;
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
        let changes = ComparisonScope::default().changes(old, new);
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
        // Within one second, the entry that grew belongs to the writer.
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
        // Two seconds later, the time would differ.
        assert!(authors(&old, &new, 3000).is_empty());
        // Any manager of a shared field may be the writer.
        let shared = [entry("m", "", 1, &spec), entry("n", "", 1, &spec)];
        assert!(authors(&object(1, &shared), &object(2, &shared), 300).is_empty());
        assert!(authors(&object(1, &[]), &object(2, &[]), 300).is_empty());
        // Who created the map does not manage what others put into it.
        let created = entry("creator", "", 1, &json!({"f:spec": {}}));
        let patched = [created, entry("m", "", 1, &spec)];
        let written = authors(&object(1, &patched), &object(2, &patched), 300);
        assert_eq!(written, ["m/"]);
        let odd = json!([7, {"manager": 1}, {"manager": "x", "fieldsV1": 3}]);
        let with = |value| json!({"metadata": {"managedFields": odd}, "spec": {"a": value}});
        assert!(authors(&with(1), &with(2), 300).is_empty());
    }
}
