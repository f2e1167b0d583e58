//! The schema for editors says what the reader takes: every example and built-in file fits it, and its
//! fields are the reader's.

use crate::reference::examples;
use kubereel_monitortests::{RuleSet, builtin_rule_files};
use regex::Regex;
use serde_json::Value;

const SCHEMA: &str = include_str!("../../../../docs/monitortests.schema.json");

fn schema() -> Value {
    serde_json::from_str(SCHEMA).expect("the schema is JSON")
}

/// Judges a value by the words of JSON Schema that our schema has; an unknown word fails.
fn misfits(root: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
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
                if !value.as_str().is_some_and(|text| regex.is_match(text)) {
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
        other => panic!("the schema says {other}"),
    }
}

fn of_yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).expect("YAML")
}

#[test]
fn every_example_and_every_built_in_file_fits() {
    let schema = schema();
    let examples = examples().into_iter().map(|text| ("an example", text));
    for (name, text) in examples.chain(builtin_rule_files()) {
        let misfits = misfits(&schema, &schema, &of_yaml(text), name);
        assert!(misfits.is_empty(), "{misfits:#?}");
    }
}

#[test]
fn what_the_reader_refuses_does_not_fit() {
    let schema = schema();
    let good = examples().into_iter().next().expect("an example");
    let changes = [
        ("  expect:", "  expct: []\n  expect:"),
        ("  - never:", "  - always: 'true'\n    never:"),
        ("  - never:", "  - nevr:"),
        ("  id: ", "  id: A"),
        ("    resource: pods", "    resource: pods\n    where_: x"),
        ("  description:", "  severity: worse\n  description:"),
        ("  description:", "  intervals: {}\n  description:"),
        ("  owner: sig-api-machinery\n", ""),
        ("  - never:", "  - forAtLeast: soon\n    never:"),
    ];
    for (from, to) in changes {
        let from = if from == "  id: " { "- id: " } else { from };
        let to = if to == "  id: A" { "- id: A" } else { to };
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from}");
        assert!(RuleSet::read([("bad", bad.as_str())]).is_err(), "{bad}");
        let misfits = misfits(&schema, &schema, &of_yaml(&bad), "bad");
        assert!(!misfits.is_empty(), "fits, but is refused:\n{bad}");
    }
}

/// The fields that the reader says it knows, where a rule has an unknown one.
fn known_at(text: &str) -> Vec<String> {
    let errors = RuleSet::read([("r", text)]).expect_err(text);
    let hint = &errors.mistakes[0].hint;
    let listed = hint
        .strip_prefix("known here: ")
        .unwrap_or_else(|| panic!("{errors}"));
    let mut known: Vec<String> = listed.split(", ").map(str::to_owned).collect();
    known.sort();
    known
}

#[test]
fn the_fields_are_those_of_the_reader() {
    let schema = schema();
    let rule = |rest: &str| format!("monitortests:\n- {rest}\n");
    let places = [
        ("zzzzzzzzz: 1\n".to_owned(), ""),
        (rule("zzzzzzzzz: 1"), "/$defs/rule"),
        (
            rule("objects: {zzzzzzzzz: 1}"),
            "/$defs/rule/properties/objects",
        ),
        (
            rule("objects: {items: {zzzzzzzzz: 1}}"),
            "/$defs/rule/properties/objects/properties/items",
        ),
        (rule("intervals: {zzzzzzzzz: 1}"), "/$defs/intervals"),
        (
            rule("related: {x: {zzzzzzzzz: 1}}"),
            "/$defs/rule/properties/related/additionalProperties",
        ),
        (
            rule("when: [{zzzzzzzzz: 1}]"),
            "/$defs/rule/properties/when/items",
        ),
        (
            rule("expect: [{zzzzzzzzz: 1}]"),
            "/$defs/rule/properties/expect/items",
        ),
    ];
    let operators = [
        "leadsTo", "until", "stays", "atMost", "flaps", "highest", "total",
    ];
    let operators = operators.map(|name| {
        (
            rule(&format!("expect: [{{{name}: {{zzzzzzzzz: 1}}}}]")),
            format!("/$defs/rule/properties/expect/items/properties/{name}"),
        )
    });
    let places = places.map(|(text, pointer)| (text, pointer.to_owned()));
    for (text, pointer) in places.into_iter().chain(operators) {
        let there = schema.pointer(&format!("{pointer}/properties"));
        let there = there.and_then(Value::as_object).expect(&pointer);
        let mut fields: Vec<String> = there.keys().cloned().collect();
        fields.sort();
        assert_eq!(fields, known_at(&text), "{pointer}");
    }
}
