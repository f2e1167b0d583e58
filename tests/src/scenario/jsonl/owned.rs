//! Who set which fields: the sets in `managedFields`, from what a write changed.
//!
//! A set is the tree that the server writes: `f:` a field, `k:` an item of a list by its keys, `.`
//! the thing itself. Refuses to know times and managers' names.

use serde_json::{Map, Value};

use super::shape::{Child, Shape};

/// A set of fields.
pub(super) type Fields = Map<String, Value>;

/// What a writer never owns.
const SYSTEM: [&str; 10] = [
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
];

/// The fields of a whole object that a write set or changed.
pub(super) fn changed(shape: &'static Shape, before: &Value, after: &Value) -> Fields {
    let mut fields = Fields::new();
    for (name, value) in after.as_object().into_iter().flatten() {
        if name == "kind" || name == "apiVersion" {
            continue;
        }
        let child = shape.child(name);
        let old = before.get(name);
        if name == "metadata" {
            let mut meta = Fields::new();
            if let Child::Of(shape) = child {
                struct_fields(shape, old, value, &mut meta);
            }
            meta.retain(|key, _| {
                !SYSTEM
                    .iter()
                    .any(|system| key.strip_prefix("f:") == Some(system))
            });
            if !meta.is_empty() {
                fields.insert("f:metadata".to_owned(), Value::Object(meta));
            }
        } else {
            put(&mut fields, name, child, old, value);
        }
    }
    fields
}

fn struct_fields(
    shape: &'static Shape,
    before: Option<&Value>,
    after: &Value,
    fields: &mut Fields,
) {
    for (name, value) in after.as_object().into_iter().flatten() {
        let child = shape.child(name);
        let old = before.and_then(|before| before.get(name));
        put(fields, name, child, old, value);
    }
}

/// Adds what is owned under a key, if anything changed there.
fn put(fields: &mut Fields, name: &str, child: Child, before: Option<&Value>, after: &Value) {
    let says_nothing = match name {
        "eventTime" => after.is_null(),
        "reportingInstance" => after == "",
        _ => false,
    };
    if before == Some(after) || says_nothing {
        return;
    }
    let mut under = Fields::new();
    let is_new = before.is_none();
    match (child, after) {
        (Child::Of(shape), Value::Object(_)) => struct_fields(shape, before, after, &mut under),
        (_, Value::Object(none)) if none.is_empty() => {
            fields.insert(format!("f:{name}"), Value::Object(under));
            return;
        }
        (Child::Part(shape), Value::Object(_)) => {
            struct_fields(shape, before, after, &mut under);
            if is_new {
                itself(&mut under);
            }
        }
        (Child::Deep, Value::Object(values)) => {
            for (key, value) in values {
                let old = before.and_then(|before| before.get(key));
                put(&mut under, key, Child::Deep, old, value);
            }
            if is_new {
                itself(&mut under);
            }
        }
        (Child::Map, Value::Object(values)) => {
            for (key, value) in values {
                if before.and_then(|before| before.get(key)) != Some(value) {
                    under.insert(format!("f:{key}"), Value::Object(Fields::new()));
                }
            }
            if is_new {
                itself(&mut under);
            }
        }
        (Child::Keyed(shape, keys), Value::Array(items)) => {
            for item in items {
                let old = before
                    .and_then(Value::as_array)
                    .and_then(|items| items.iter().find(|old| same(keys, old, item)));
                if old == Some(item) {
                    continue;
                }
                let mut inside = Fields::new();
                // References to owners are owned as wholes.
                if !keys.contains(&"uid") {
                    struct_fields(shape, old, item, &mut inside);
                    if old.is_none() {
                        itself(&mut inside);
                    }
                }
                under.insert(item_key(keys, item), Value::Object(inside));
            }
            // The containers of a Pod are never without an owner: the list itself has none.
            if is_new && !name.ends_with("ontainers") {
                itself(&mut under);
            }
        }
        _ => {
            fields.insert(format!("f:{name}"), Value::Object(under));
            return;
        }
    }
    if !under.is_empty() {
        fields.insert(format!("f:{name}"), Value::Object(under));
    }
}

fn itself(fields: &mut Fields) {
    fields.insert(".".to_owned(), Value::Object(Fields::new()));
}

fn same(keys: &[&str], one: &Value, other: &Value) -> bool {
    keys.iter().all(|key| one.get(*key) == other.get(*key))
}

fn item_key(keys: &[&str], item: &Value) -> String {
    let parts: Map<String, Value> = keys
        .iter()
        .filter_map(|key| Some(((*key).to_owned(), item.get(*key)?.clone())))
        .collect();
    format!("k:{}", Value::Object(parts))
}

/// Adds a set to another.
pub(super) fn add(to: &mut Fields, more: &Fields) {
    for (key, value) in more {
        match (to.get_mut(key), value) {
            (Some(Value::Object(old)), Value::Object(new)) => add(old, new),
            (Some(_), _) => {}
            (None, value) => {
                to.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Takes the leaves of a set from another: what one sets, others set no longer.
pub(super) fn take(from: &mut Fields, less: &Fields) {
    for (key, value) in less {
        let Some(Value::Object(old)) = from.get_mut(key) else {
            continue;
        };
        let Value::Object(new) = value else { continue };
        if !old.is_empty() {
            take(old, new);
        }
        if old.is_empty() {
            from.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::shape::shape_of;
    use super::*;
    use serde_json::json;

    #[test]
    fn a_write_owns_what_it_changed_and_others_lose_it() {
        let before =
            json!({"kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "1", "y": "1"}});
        let mut after = before.clone();
        after["data"]["x"] = json!("2");
        let shape = shape_of("ConfigMap");
        let mut first = changed(shape, &Value::Null, &before);
        assert_eq!(
            Value::Object(first.clone()),
            json!({"f:data": {".": {}, "f:x": {}, "f:y": {}}})
        );
        let second = changed(shape, &before, &after);
        assert_eq!(
            Value::Object(second.clone()),
            json!({"f:data": {"f:x": {}}})
        );
        take(&mut first, &second);
        assert_eq!(
            Value::Object(first),
            json!({"f:data": {".": {}, "f:y": {}}})
        );
    }

    #[test]
    fn conditions_are_owned_one_by_one() {
        let before = json!({"status": {"conditions": [{"type": "A", "status": "True"}]}});
        let after = json!({"status": {"conditions": [{"type": "A", "status": "True"}, {"type": "B", "status": "True"}]}});
        let fields = changed(shape_of("Pod"), &before, &after);
        assert_eq!(
            Value::Object(fields),
            json!({"f:status": {"f:conditions": {"k:{\"type\":\"B\"}": {".": {}, "f:status": {}, "f:type": {}}}}})
        );
    }
}
