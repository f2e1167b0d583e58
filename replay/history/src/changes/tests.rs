//! Property test: the field diff against a slow `apply` that was written from the documentation of
//! paths alone.

use super::{Change, ChangeKind, ComparisonScope, FieldStep};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

/// Applies changes to the old value: members and items are found by their steps, one by one.
fn apply(old: Option<Value>, changes: &[(&[FieldStep], &Change)]) -> Option<Value> {
    if let Some((_, whole)) = changes
        .iter()
        .find(|(steps, one)| steps.is_empty() && one.kind != ChangeKind::Reordered)
    {
        assert_eq!(old, whole.old, "{}", whole.path);
        return whole.new.clone();
    }
    let deeper: Vec<(&FieldStep, &[FieldStep], &Change)> = changes
        .iter()
        .filter_map(|(steps, one)| {
            let (first, rest) = steps.split_first()?;
            Some((first, rest, *one))
        })
        .collect();
    match old {
        Some(Value::Object(mut members)) => {
            for_each_step(&deeper, |step, below| {
                let FieldStep::Member(name) = step else {
                    panic!("{step:?} in an object");
                };
                if let Some(value) = apply(members.remove(name), below) {
                    members.insert(name.clone(), value);
                }
            });
            Some(Value::Object(members))
        }
        Some(Value::Array(items)) => Some(Value::Array(apply_items(items, &deeper))),
        other => {
            assert!(deeper.is_empty(), "{deeper:?} in {other:?}");
            other
        }
    }
}

fn for_each_step<'a>(
    deeper: &[(&'a FieldStep, &'a [FieldStep], &'a Change)],
    mut take: impl FnMut(&FieldStep, &[(&'a [FieldStep], &'a Change)]),
) {
    let mut done: Vec<&FieldStep> = Vec::new();
    for (step, _, _) in deeper {
        if done.contains(step) {
            continue;
        }
        done.push(step);
        let below: Vec<_> = deeper
            .iter()
            .filter(|(other, _, _)| other == step)
            .map(|(_, rest, one)| (*rest, *one))
            .collect();
        take(step, &below);
    }
}

fn apply_items(old: Vec<Value>, deeper: &[(&FieldStep, &[FieldStep], &Change)]) -> Vec<Value> {
    let is_whole = |kind| {
        move |(_, rest, one): &&(&FieldStep, &[FieldStep], &Change)| {
            rest.is_empty() && one.kind == kind
        }
    };
    let place = |step: &FieldStep| match step {
        FieldStep::Index(at) => Some(*at),
        _ => None,
    };
    // Indexes of removed items count in the old list.
    let gone: Vec<usize> = deeper
        .iter()
        .filter(is_whole(ChangeKind::Removed))
        .filter_map(|(step, _, _)| place(step))
        .collect();
    let mut items: Vec<Value> = old
        .into_iter()
        .enumerate()
        .filter(|(at, _)| !gone.contains(at))
        .map(|(_, item)| item)
        .collect();
    let mut added: Vec<(usize, Value)> = deeper
        .iter()
        .filter(is_whole(ChangeKind::Added))
        .filter_map(|(step, _, one)| Some((place(step)?, one.new.clone()?)))
        .collect();
    added.sort_by_key(|(at, _)| *at);
    for (at, item) in added {
        items.insert(at, item);
    }
    let rest: Vec<_> = deeper
        .iter()
        .filter(|(step, rest, one)| {
            let is_done = rest.is_empty()
                && place(step).is_some()
                && [ChangeKind::Added, ChangeKind::Removed].contains(&one.kind);
            !is_done
        })
        .copied()
        .collect();
    for_each_step(&rest, |step, below| {
        let found = match step {
            FieldStep::Index(at) => Some(*at),
            FieldStep::Item(parts) => items.iter().position(|item| {
                parts.iter().all(|part| match item.get(&part.name) {
                    Some(Value::String(text)) => *text == part.value,
                    Some(other) => part.value == format!("{other}"),
                    None => false,
                })
            }),
            FieldStep::Member(name) => panic!("{name} in a list"),
        };
        match found {
            Some(at) => match apply(Some(items[at].clone()), below) {
                Some(item) => items[at] = item,
                None => drop(items.remove(at)),
            },
            None => items.extend(apply(None, below)),
        }
    });
    items
}

/// Sorts lists of named objects: paths do not describe their order.
fn settled(value: Value) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<Value> = items.into_iter().map(settled).collect();
            if items.iter().all(|item| item.get("name").is_some()) {
                items.sort_by_key(ToString::to_string);
            }
            Value::Array(items)
        }
        Value::Object(members) => Value::Object(
            members
                .into_iter()
                .map(|(name, member)| (name, settled(member)))
                .collect(),
        ),
        leaf => leaf,
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0i64..3).prop_map(Value::from),
        "[ab]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        let named = (prop_oneof!["[xyz]", "[1-3]"], inner.clone())
            .prop_map(|(name, more)| json!({"name": name, "more": more}));
        let object = proptest::collection::btree_map("[abc./]{1,2}", inner.clone(), 0..4)
            .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>()));
        prop_oneof![
            2 => proptest::collection::vec(named, 0..5).prop_map(Value::from),
            1 => proptest::collection::vec(inner, 0..5).prop_map(Value::from),
            3 => object,
        ]
    })
}

/// Two versions: often the second is the first with one part replaced.
fn versions() -> impl Strategy<Value = (Value, Value)> {
    let member = || proptest::collection::btree_map("[abc]", value(), 0..4);
    (member(), member(), any::<bool>()).prop_map(|(old, other, is_near)| {
        let mut new = if is_near { old.clone() } else { other.clone() };
        if let Some((name, part)) = other.into_iter().next() {
            new.insert(name, part);
        }
        let object = |members: std::collections::BTreeMap<String, Value>| {
            Value::Object(members.into_iter().collect())
        };
        (object(old), object(new))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]
    #[test]
    fn changes_lead_from_the_old_version_to_the_new((old, new) in versions()) {
        let changes = ComparisonScope::default().changes(&old, &new);
        let steps: Vec<_> = changes.iter().map(|one| (one.path.steps(), one)).collect();
        let applied = apply(Some(old), &steps).expect("the object is still there");
        prop_assert_eq!(settled(applied), settled(new), "{:#?}", changes);
    }

    #[test]
    fn any_text_is_a_field_or_an_error(text in "[a.\\[\\]\"'=,*?@()\\\\é0-9{}$]{0,24}") {
        if let Ok(field) = text.parse::<crate::changes::Field>() {
            prop_assert_eq!(field.to_string(), text);
            let scope = ComparisonScope { fields: vec![field], ..ComparisonScope::default() };
            let value = json!({"a": [{"name": "a", "0": 1}], "0": {"é": "a"}});
            prop_assert!(scope.changes(&value, &value).is_empty());
        }
    }

    #[test]
    fn nothing_changed_from_a_version_to_itself(value in value()) {
        let changes = ComparisonScope::default().changes(&value, &value);
        prop_assert!(changes.is_empty(), "{changes:?}");
    }

    #[test]
    fn every_path_is_a_field_that_finds_its_change((old, new) in versions()) {
        for change in ComparisonScope::default().changes(&old, &new) {
            if change.path.is_root() || change.kind == ChangeKind::Reordered {
                continue;
            }
            let field = change.path.to_string().parse().expect("a path is a field");
            let scope = ComparisonScope { fields: vec![field], ..ComparisonScope::default() };
            let found = scope.changes(&old, &new);
            prop_assert!(found.contains(&change), "{} not in {:?}", change.path, found);
        }
    }
}

#[test]
fn hostile_objects_take_bounded_time() {
    const ITEMS: u32 = 100_000;
    let texts =
        |step: u32| -> Value { (0..ITEMS).map(|at| Value::from(at * step % 7919)).collect() };
    let named = |from: u32| -> Value {
        (from..from + ITEMS)
            .map(|at| json!({"name": at.to_string()}))
            .collect()
    };
    let alike = |which: &str| -> Value { (0..ITEMS).map(|_| json!({"a": which})).collect() };
    let pairs = [
        (texts(1), texts(5)),
        (named(0), named(50_000)),
        (alike("x"), alike("y")),
        (alike("x"), json!([{"a": "x"}, {"a": "y"}])),
    ];
    let begun = Instant::now();
    for (old, new) in pairs {
        let changes = ComparisonScope::default().changes(&json!({"l": old}), &json!({"l": new}));
        assert!(!changes.is_empty());
    }
    let words = |step: u32| -> String {
        let words: Vec<String> = (0..ITEMS / 8)
            .map(|at| (at * step % 31).to_string())
            .collect();
        words.join(" ")
    };
    assert!(!super::words(&words(1), &words(7)).is_empty());
    // A quadratic algorithm needs hours for these.
    assert!(
        begun.elapsed() < Duration::from_mins(1),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn more_changes_than_anybody_reads_are_one() {
    let list = |from: u32| -> Value {
        (0..150_000u32)
            .map(|at| json!({"name": at.to_string(), "v": from + at}))
            .collect()
    };
    let (old, new) = (json!({"a": 1, "l": list(0)}), json!({"a": 2, "l": list(1)}));
    let changes = ComparisonScope::default().changes(&old, &new);
    let paths: Vec<String> = changes.iter().map(|one| one.path.to_string()).collect();
    assert_eq!(paths, ["a", "l"]);
    assert_eq!(changes[1].kind, ChangeKind::Changed);
}

#[test]
fn odd_bodies_are_compared_as_they_are_read() {
    let read = |text: &str| -> Value { serde_json::from_str(text).expect("JSON") };
    let scope = ComparisonScope::default();
    // Of members with equal names the last one counts, as in Go.
    assert!(
        scope
            .changes(&read(r#"{"a":1,"a":2}"#), &read(r#"{"a":2}"#))
            .is_empty()
    );
    let huge = scope.changes(
        &read(r#"{"a":1e300}"#),
        &read(r#"{"a":123456789012345678901234567890}"#),
    );
    assert_eq!(huge.len(), 1);
    let deep = |leaf: &str| {
        read(&format!(
            "{}{leaf}{}",
            r#"{"a":"#.repeat(120),
            "}".repeat(120)
        ))
    };
    assert_eq!(scope.changes(&deep("1"), &deep("2")).len(), 1);
}
