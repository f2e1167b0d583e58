//! Origins carried from version to version, against a slow oracle that compares flat lists of fields.

use super::origin::{Brought, OriginSource};
use super::tree::{Growth, Tree};
use crate::writers::{Authors, Managed};
use kubereel_format::{RecordedAt, Seq};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn brought(seq: u64) -> Brought {
    Brought {
        seq: Seq(seq),
        at: RecordedAt::from_micros(0),
        authors: Authors::Unknown,
        is_old: false,
        is_after_gap: false,
    }
}

/// Writes every field that holds no others with its place, items by their names.
fn flat(place: &str, value: &Value, found: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, member) in members {
                flat(&format!("{place}.{name}"), member, found);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                flat(&format!("{place}[{}]", item["name"]), item, found);
            }
        }
        leaf => drop(found.insert(place.to_owned(), leaf.clone())),
    }
}

fn origins(place: &str, value: &Value, tree: &Tree, found: &mut BTreeMap<String, u64>) {
    match (value, tree) {
        (Value::Object(members), Tree::Members(trees)) => {
            assert_eq!(members.len(), trees.len());
            for (name, member) in members {
                origins(&format!("{place}.{name}"), member, &trees[name], found);
            }
        }
        (Value::Array(items), Tree::Items(trees)) => {
            assert_eq!(items.len(), trees.len());
            for (item, tree) in items.iter().zip(trees) {
                origins(&format!("{place}[{}]", item["name"]), item, tree, found);
            }
        }
        (_, Tree::Leaf(origin)) => {
            let OriginSource::Recorded(seq, _) = origin.source else {
                panic!("{origin:?}");
            };
            found.insert(place.to_owned(), seq.0);
        }
        other => panic!("{other:?}"),
    }
}

fn version() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        (0i64..3).prop_map(Value::from),
        Just(json!({})),
        Just(json!([]))
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        let items = proptest::collection::btree_map("[xyz]", inner.clone(), 1..4);
        let items = items.prop_map(|items| {
            let items = items.into_iter();
            let items: Vec<Value> = items
                .map(|(name, more)| json!({"name": name, "more": more}))
                .collect();
            Value::from(items)
        });
        let object = proptest::collection::btree_map("[abc]", inner, 1..4)
            .prop_map(|members| Value::Object(members.into_iter().collect()));
        prop_oneof![items, object]
    })
}

proptest! {
    #[test]
    fn each_field_is_put_down_to_the_version_that_changed_it_last(
        versions in proptest::collection::vec(version(), 1..8)
    ) {
        let mut last: Option<(Value, Tree)> = None;
        let mut expected: BTreeMap<String, (Value, u64)> = BTreeMap::new();
        for (seq, version) in (0u64..).zip(&versions) {
            let step = brought(seq);
            let tree = {
                let (old, tree) = last.take().unzip();
                Growth::new(&step, &[]).grow(old.as_ref().zip(tree), version)
            };
            last = Some((version.clone(), tree));
            let mut now = BTreeMap::new();
            flat("", version, &mut now);
            expected = now
                .into_iter()
                .map(|(place, value)| {
                    let since = match expected.get(&place) {
                        Some((old, since)) if *old == value => *since,
                        _ => seq,
                    };
                    (place, (value, since))
                })
                .collect();
        }
        let (value, tree) = last.expect("a version");
        let mut found = BTreeMap::new();
        origins("", &value, &tree, &mut found);
        let expected: BTreeMap<String, u64> =
            expected.into_iter().map(|(place, (_, since))| (place, since)).collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn the_manager_of_the_field_is_named_among_those_who_wrote() {
    let entry = |manager: &str, fields: Value| json!({"manager": manager, "operation": "Update", "time": "2026-11-21T14:00:00Z", "fieldsV1": fields});
    let version = |a: u32| {
        json!({"metadata": {"managedFields": [
            entry("m", json!({"f:spec": {"f:a": {}}})),
            entry("n", json!({"f:spec": {"f:b": {}}})),
        ]}, "spec": {"a": a, "b": 1, "c": a}})
    };
    let (first, second) = (version(1), version(2));
    let writers = |object: &Value| {
        let entries = Managed::of(object);
        Authors::of(entries.iter().map(|entry| entry.writer.clone()).collect())
    };
    let name = |tree: &Tree, field: &str| -> (OriginSource, Vec<String>) {
        let Tree::Members(members) = tree else {
            panic!("{tree:?}")
        };
        let Tree::Members(spec) = &members["spec"] else {
            panic!("{members:?}")
        };
        let Tree::Leaf(origin) = &spec[field] else {
            panic!("{spec:?}")
        };
        let names = origin.writers.iter().map(|writer| writer.manager.clone());
        (origin.source, names.collect())
    };
    let old = Brought {
        is_old: true,
        ..brought(1)
    };
    let entries = Managed::of(&first);
    let tree = Growth::new(&old, &entries).grow(None, &first);
    let at = RecordedAt::from_micros(1_795_269_600_000_000);
    assert_eq!(
        name(&tree, "a"),
        (OriginSource::ManagedFields(Some(at)), vec!["m".to_owned()])
    );
    assert_eq!(name(&tree, "c"), (OriginSource::Unknown, Vec::new()));
    let new = Brought {
        authors: writers(&second),
        ..brought(2)
    };
    let entries = Managed::of(&second);
    let tree = Growth::new(&new, &entries).grow(Some((&first, tree)), &second);
    let recorded = OriginSource::Recorded(Seq(2), RecordedAt::from_micros(0));
    assert_eq!(name(&tree, "a"), (recorded, vec!["m".to_owned()]));
    assert_eq!(name(&tree, "b").1, ["n"]);
    // Two wrote, and nobody manages it: who set it is not known.
    assert_eq!(name(&tree, "c"), (recorded, Vec::new()));
}
