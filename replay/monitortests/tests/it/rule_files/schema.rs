//! The schema for editors says what the reader takes: every example and built-in file fits it, and its
//! fields are the reader's.

use crate::rule_files::misfits::misfits;
use crate::rule_files::reference::examples;
use kubereel_monitortests::{RuleSet, builtin_rule_files};
use serde_json::Value;

const SCHEMA: &str = include_str!("../../../../../docs/monitortests.schema.json");

fn schema() -> Value {
    serde_json::from_str(SCHEMA).expect("the schema is JSON")
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
        ("  owner:", "  class: worst\n  owner:"),
        ("  owner:", "  appliesTo: {since: soon}\n  owner:"),
        ("  owner:", "  appliesTo: {till: \"4.9\"}\n  owner:"),
        ("  owner:", "  appliesTo: {platforms: [AWS]}\n  owner:"),
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
        .strip_prefix("available here: ")
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
            rule("appliesTo: {zzzzzzzzz: 1}"),
            "/$defs/rule/properties/appliesTo",
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
