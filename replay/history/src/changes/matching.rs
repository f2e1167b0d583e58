//! Matches the items of two lists: by the keys with which Kubernetes merges them, else by their
//! content.

use super::change::{FieldPath, FieldStep, KeyPart};
use crate::object::number;
use imara_diff::{Algorithm, Diff, InternedInput};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The largest number of pairs of differing items that are compared to match them.
const MOST_CANDIDATES: usize = 1024;

/// An item of either list or of both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ItemPair {
    /// Its index in the old list.
    pub(crate) old: Option<usize>,
    /// Its index in the new list.
    pub(crate) new: Option<usize>,
    /// Its step in a path.
    pub(crate) step: FieldStep,
}

/// Two versions of a list, item by item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MatchedItems {
    /// Every item once: those of the old list in its order, then the new ones.
    pub(crate) pairs: Vec<ItemPair>,
    /// Whether items of both lists were reordered. Only for items with an identity.
    pub(crate) is_reordered: bool,
}

/// Matches the items of two versions of a list.
pub(crate) fn matched(list: Option<&str>, old: &[Value], new: &[Value]) -> MatchedItems {
    match keys_of(list, old, new) {
        Some((old, new)) => by_key(old, new),
        None => MatchedItems {
            pairs: by_place(old, new),
            is_reordered: false,
        },
    }
}

fn by_key(old: ItemKeys, new: ItemKeys) -> MatchedItems {
    let mut places: BTreeMap<_, usize> = new
        .into_iter()
        .enumerate()
        .map(|(at, key)| (key, at))
        .collect();
    let mut pairs = Vec::new();
    let mut is_reordered = false;
    let mut last = None;
    for (at, key) in old.into_iter().enumerate() {
        let place = places.remove(&key);
        is_reordered |= place.is_some() && place < last;
        last = last.max(place);
        pairs.push(ItemPair {
            old: Some(at),
            new: place,
            step: FieldStep::Item(key),
        });
    }
    let mut added: Vec<ItemPair> = places
        .into_iter()
        .map(|(key, at)| ItemPair {
            old: None,
            new: Some(at),
            step: FieldStep::Item(key),
        })
        .collect();
    added.sort_by_key(|pair| pair.new);
    pairs.append(&mut added);
    MatchedItems {
        pairs,
        is_reordered,
    }
}

fn by_place(old: &[Value], new: &[Value]) -> Vec<ItemPair> {
    let mut input: InternedInput<String> = InternedInput::default();
    input.update_before(old.iter().map(Value::to_string));
    input.update_after(new.iter().map(Value::to_string));
    let diff = Diff::compute(Algorithm::Histogram, &input);
    #[expect(
        clippy::expect_used,
        reason = "no supported machine has smaller addresses"
    )]
    let place = |at: u32| usize::try_from(at).expect("a usize has at least 32 bits");
    let mut pairs = Vec::new();
    let (mut old_at, mut new_at) = (0, 0);
    for hunk in diff.hunks() {
        let (before, after) = (place(hunk.before.start), place(hunk.after.start));
        keep(&mut pairs, old_at..before, new_at..after);
        old_at = place(hunk.before.end);
        new_at = place(hunk.after.end);
        let differing = (
            old.get(before..old_at).unwrap_or_default(),
            new.get(after..new_at).unwrap_or_default(),
        );
        for (from, to) in became(differing.0, differing.1) {
            pairs.push(placed(from.map(|at| at + before), to.map(|at| at + after)));
        }
    }
    keep(&mut pairs, old_at..old.len(), new_at..new.len());
    pairs
}

fn keep(pairs: &mut Vec<ItemPair>, old: std::ops::Range<usize>, new: std::ops::Range<usize>) {
    pairs.extend(old.zip(new).map(|(from, to)| placed(Some(from), Some(to))));
}

fn placed(old: Option<usize>, new: Option<usize>) -> ItemPair {
    ItemPair {
        old,
        new,
        step: FieldStep::Index(new.or(old).unwrap_or_default()),
    }
}

/// Matches a run of items with the run that replaced it, in order.
fn became(old: &[Value], new: &[Value]) -> Vec<(Option<usize>, Option<usize>)> {
    let is_small = old.len().saturating_mul(new.len()) <= MOST_CANDIDATES;
    if old.len() == new.len() && !(is_small && old.len() > 1) {
        return (0..old.len()).map(|at| (Some(at), Some(at))).collect();
    }
    if is_small {
        return alike(old, new);
    }
    let gone = (0..old.len()).map(|at| (Some(at), None));
    gone.chain((0..new.len()).map(|at| (None, Some(at))))
        .collect()
}

/// Matches items so that most members stay equal. Items without an equal member are not matched,
/// unless both sides have the same number.
fn alike(old: &[Value], new: &[Value]) -> Vec<(Option<usize>, Option<usize>)> {
    let equal_count = old.len() == new.len();
    let score = |from: usize, to: usize| {
        let shared = old
            .get(from)
            .zip(new.get(to))
            .map_or(0, |(a, b)| shared_members(a, b) * 2);
        // The same number as before: a text at the same index is the same item with a new value.
        shared + usize::from(equal_count && from == to)
    };
    let width = new.len() + 1;
    let mut best = vec![0usize; (old.len() + 1) * width];
    let get = |best: &[usize], i: usize, j: usize| best.get(i * width + j).copied().unwrap_or(0);
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            let here = score(i, j);
            let paired = if here > 0 {
                here + get(&best, i + 1, j + 1)
            } else {
                0
            };
            let value = paired.max(get(&best, i + 1, j)).max(get(&best, i, j + 1));
            if let Some(slot) = best.get_mut(i * width + j) {
                *slot = value;
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < old.len() || j < new.len() {
        let here = get(&best, i, j);
        let step = score(i, j);
        if i < old.len() && j < new.len() && step > 0 && here == step + get(&best, i + 1, j + 1) {
            pairs.push((Some(i), Some(j)));
            (i, j) = (i + 1, j + 1);
        } else if i < old.len() && (j >= new.len() || here == get(&best, i + 1, j)) {
            pairs.push((Some(i), None));
            i += 1;
        } else {
            pairs.push((None, Some(j)));
            j += 1;
        }
    }
    pairs
}

fn shared_members(a: &Value, b: &Value) -> usize {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => a
            .iter()
            .filter(|(name, value)| b.get(*name) == Some(value))
            .count(),
        _ => 0,
    }
}

/// The lists that Kubernetes merges by other members than [`GENERAL`], by the list's name:
/// candidates in the order in which they are tried. The first member of a candidate is required,
/// the others are optional.
///
/// They are the merge keys of the API's own types. A list of the same name in a custom resource is
/// matched by the same members if they fit; otherwise the next candidate is tried.
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

/// The identifying members of any other list, in the order in which they are tried.
const GENERAL: [&[&str]; 7] = [
    &["type"],
    &["name"],
    &["uid"],
    &["key"],
    &["ip"],
    &["id"],
    &["path"],
];

/// The identity of each item of a list, in its order.
pub(crate) type ItemKeys = Vec<Vec<KeyPart>>;

/// Returns the identities of the items of two versions of a list; `None` if no member identifies
/// them in both.
pub(crate) fn keys_of(
    list: Option<&str>,
    old: &[Value],
    new: &[Value],
) -> Option<(ItemKeys, ItemKeys)> {
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

/// Returns the name of the list at a path, if it is a member.
pub(crate) fn last_member(path: &FieldPath) -> Option<&str> {
    match path.steps().last()? {
        FieldStep::Member(name) => Some(name),
        FieldStep::Item(_) | FieldStep::Index(_) => None,
    }
}

/// Returns the keys of all items if every item has one and no two are equal.
fn unique(names: &[&str], items: &[Value]) -> Option<ItemKeys> {
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
            // The first member names the item; an empty name is not useful.
            _ if at == 0 => return None,
            Some(None) => return None,
            None => {}
        }
    }
    Some(parts)
}

/// Returns the text of a value that can be an identity.
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
mod matching_tests {
    use super::*;
    use serde_json::json;

    fn pairs(old: &Value, new: &Value) -> Vec<(Option<usize>, Option<usize>)> {
        let items = |value: &Value| value.as_array().cloned().expect("a list");
        matched(None, &items(old), &items(new))
            .pairs
            .into_iter()
            .map(|pair| (pair.old, pair.new))
            .collect()
    }

    #[test]
    fn an_item_put_before_others_moves_none_of_them() {
        let a = json!({"state": "Completed", "version": "a"});
        let running = json!({"state": "Partial", "version": "b"});
        let done = json!({"state": "Completed", "version": "b"});
        assert_eq!(
            pairs(&json!([a]), &json!([running, a])),
            [(None, Some(0)), (Some(0), Some(1))]
        );
        assert_eq!(
            pairs(&json!([running, a]), &json!([done, a])),
            [(Some(0), Some(0)), (Some(1), Some(1))]
        );
        // Both exist at once: the version identifies the older one.
        let was = json!({"state": "Partial", "version": "a"});
        assert_eq!(
            pairs(&json!([was]), &json!([running, a])),
            [(Some(0), Some(0)), (None, Some(1))],
            "one member is shared either way: the first is taken"
        );
    }

    #[test]
    fn texts_are_aligned_and_keyed_items_looked_up() {
        assert_eq!(
            pairs(&json!(["a", "b", "c"]), &json!(["a", "c", "d"])),
            [
                (Some(0), Some(0)),
                (Some(1), None),
                (Some(2), Some(1)),
                (None, Some(2))
            ]
        );
        let old = json!([{"name": "a"}, {"name": "b"}]);
        let new = json!([{"name": "b"}, {"name": "c"}]);
        assert_eq!(
            pairs(&old, &new),
            [(Some(0), None), (Some(1), Some(0)), (None, Some(1))]
        );
    }

    #[test]
    fn a_change_of_order_is_noticed() {
        let items = |names: &[&str]| -> Vec<Value> {
            names.iter().map(|name| json!({"name": name})).collect()
        };
        let is_reordered =
            |old: &[&str], new: &[&str]| matched(None, &items(old), &items(new)).is_reordered;
        assert!(is_reordered(&["a", "b"], &["b", "a"]));
        assert!(!is_reordered(&["a", "b"], &["c", "a", "b"]));
        assert!(!is_reordered(&["a", "b", "c"], &["a", "c"]));
    }
}

#[cfg(test)]
mod keys_tests {
    use super::*;
    use serde_json::json;

    fn keys(list: &str, items: &Value) -> Option<Vec<String>> {
        let (keys, _) = keys_of(Some(list), items.as_array()?, &[])?;
        Some(
            keys.into_iter()
                .map(|key| FieldStep::Item(key).to_string())
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
