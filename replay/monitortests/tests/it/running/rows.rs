//! Rows are what their schema says.

use crate::running::labels::{Change, Labels, run};
use kubereel_monitortests::{CaseRow, CaseRowOrigin};
use serde_json::{Map, Value};

const BAD: &[Change] = &[(5, "a", "bad"), (9, "a", "good")];

fn rows() -> Vec<Map<String, Value>> {
    let tests = vec![
        Labels::new().named("one", "[sig-a] one"),
        Labels::new().named("two", "[sig-a] two").needing("routes"),
    ];
    let report = run(BAD, "", tests);
    let origin = CaseRowOrigin {
        run: "test.reel",
        job: Some("periodic-e2e"),
        build: None,
    };
    let rows = CaseRow::all(&origin, &report).map(|row| {
        let Ok(Value::Object(row)) = serde_json::to_value(row) else {
            panic!("a row is an object");
        };
        row
    });
    rows.collect()
}

#[test]
fn a_row_says_what_was_found_first() {
    let rows = rows();
    let first = &rows[0];
    for (field, value) in [
        ("run", "test.reel"),
        ("job", "periodic-e2e"),
        ("rule", "one"),
        ("name", "[Monitor:labels][sig-a] one"),
        ("verdict", "fail"),
        ("first_time", "2026-11-21T14:00:05.000Z"),
        ("last_time", "2026-11-21T14:00:09.000Z"),
        ("object", "pods/a -n shop"),
        ("message", "a has a wrong label"),
    ] {
        assert_eq!(first[field], value, "{field}");
    }
    assert_eq!(rows[1]["verdict"], "skipped");
    assert_eq!(rows[1]["message"], "routes was not recorded (forbidden)");
}

#[test]
fn the_schema_has_every_field_and_no_other() {
    let schema: Vec<Value> = serde_json::from_str(include_str!(
        "../../../../../docs/monitortest-rows.schema.json"
    ))
    .expect("JSON");
    let names: Vec<&str> = schema
        .iter()
        .filter_map(|field| field["name"].as_str())
        .collect();
    for row in rows() {
        let own: Vec<&str> = row.keys().map(String::as_str).collect();
        let mut sorted = names.clone();
        let mut own_sorted = own.clone();
        sorted.sort_unstable();
        own_sorted.sort_unstable();
        assert_eq!(sorted, own_sorted);
        for field in &schema {
            let value = &row[field["name"].as_str().expect("a name")];
            let is_right = match (field["type"].as_str(), field["mode"].as_str()) {
                (_, Some("NULLABLE")) if value.is_null() => true,
                (Some("STRING"), _) => value.is_string(),
                (Some("INTEGER"), _) => value.is_u64(),
                (Some("TIMESTAMP"), _) => value.as_str().is_some_and(|text| {
                    text.len() >= 24 && text.ends_with('Z') && text.contains('T')
                }),
                _ => false,
            };
            assert!(is_right, "{field}: {value}");
            let words = field["description"].as_str().unwrap_or_default();
            assert!(!words.is_empty(), "{field}");
        }
    }
}
