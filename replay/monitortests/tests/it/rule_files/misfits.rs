//! The judgement of a value by a JSON Schema: the words that ours have. It does not handle any
//! other word.

use regex::Regex;
use serde_json::Value;

/// Judges a value by the words of JSON Schema that our schema has; an unknown word fails.
pub(crate) fn misfits(root: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let mut misfits = Vec::new();
    let mut wrong = |what: String| misfits.push(format!("{at}: {what}"));
    let words = schema.as_object().expect("a schema is an object");
    let mut deeper = Vec::new();
    for (word, wanted) in words {
        let list = || wanted.as_array().expect("a list");
        match word.as_str() {
            "$ref" => {
                let pointer = wanted.as_str().expect("a text").trim_start_matches('#');
                let target = root.pointer(pointer).expect("a definition");
                deeper.push((target, value, at.to_owned()));
            }
            "type" => {
                let kinds = wanted.as_array().cloned().unwrap_or(vec![wanted.clone()]);
                if !kinds
                    .iter()
                    .any(|kind| is_of(kind.as_str().expect("a kind"), value))
                {
                    wrong(format!("is no {wanted}"));
                }
            }
            "enum" if !list().contains(value) => wrong(format!("is none of {wanted}")),
            "pattern" => {
                let regex = Regex::new(wanted.as_str().expect("a regex")).expect("a regex");
                // A type that allows null says so beside it.
                if !value.is_null() && !value.as_str().is_some_and(|text| regex.is_match(text)) {
                    wrong(format!("does not match {wanted}"));
                }
            }
            "minimum" if value.as_f64() < wanted.as_f64() => wrong(format!("is below {wanted}")),
            "minItems" if value.as_array().map_or(0, Vec::len) < 1 => wrong("is empty".to_owned()),
            "required" => {
                for name in list().iter().filter_map(Value::as_str) {
                    if value.is_object() && value.get(name).is_none() {
                        wrong(format!("has no {name}"));
                    }
                }
            }
            "oneOf" => {
                let fits = |one: &&Value| misfits_of(root, one, value).is_empty();
                let count = list().iter().filter(fits).count();
                if count != 1 {
                    wrong(format!("fits {count} of {wanted}"));
                }
            }
            "items" => {
                for (place, item) in value.as_array().into_iter().flatten().enumerate() {
                    deeper.push((wanted, item, format!("{at}/{place}")));
                }
            }
            "properties" => {
                for (name, member) in value.as_object().into_iter().flatten() {
                    if let Some(wanted) = wanted.get(name) {
                        deeper.push((wanted, member, format!("{at}/{name}")));
                    }
                }
            }
            "additionalProperties" => {
                let known = schema.get("properties");
                for (name, member) in value.as_object().into_iter().flatten() {
                    if known.is_some_and(|known| known.get(name).is_some()) {
                        continue;
                    }
                    match wanted {
                        Value::Bool(false) => wrong(format!("has an unknown field {name}")),
                        wanted => deeper.push((wanted, member, format!("{at}/{name}"))),
                    }
                }
            }
            "$schema" | "title" | "description" | "$defs" | "enum" | "minimum" | "minItems" => {}
            other => panic!("the schema says {other}, which this test does not know"),
        }
    }
    for (schema, value, at) in deeper {
        misfits.extend(self::misfits(root, schema, value, &at));
    }
    misfits
}

fn misfits_of(root: &Value, schema: &Value, value: &Value) -> Vec<String> {
    misfits(root, schema, value, "")
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        other => panic!("the schema says {other}"),
    }
}
