//! Counts the redactions in files of objects, by rule, kind and place.
//!
//! `cargo run --release -p kubereel-redact --example hidden_counts -- [--values] FILE…`: JSON lines
//! of objects, or of events with an `object`. With `--values` each value that is redacted by its
//! name or place is shown by its first letters, as `kubereel scan` shows it.

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "an example prints, and may fail"
)]

use kubereel_redact::{Extra, Redactor, ResourceType};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};

/// Formats a path without the numbers of items, so that items of a list are counted together.
fn place(path: &str) -> String {
    let mut place = String::new();
    let mut is_number = false;
    for letter in path.chars() {
        match letter {
            '[' => is_number = true,
            ']' => is_number = false,
            _ => {}
        }
        if !is_number || !letter.is_ascii_digit() {
            place.push(letter);
        }
    }
    place
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let shows = words.iter().any(|word| word == "--values");
    let redactor = Redactor::new(Extra::default()).expect("random bytes");
    let (mut objects, mut bytes, mut config_values, mut config_touched) =
        (0_u64, 0_usize, 0_usize, 0_usize);
    let mut counts: BTreeMap<(String, String, String), u64> = BTreeMap::new();
    let mut rules: BTreeMap<String, u64> = BTreeMap::new();
    for file in words.iter().filter(|word| !word.starts_with("--")) {
        let lines = BufReader::new(std::fs::File::open(file).expect("a readable file")).lines();
        for line in lines {
            let value: Value = serde_json::from_str(&line.expect("text")).expect("a line of JSON");
            let object = value.get("object").unwrap_or(&value);
            let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
            let (kind, version) = (text("kind"), text("apiVersion"));
            let group = version.split_once('/').map_or("", |(group, _)| group);
            let subject = ResourceType::new(group, "").with_kind(kind);
            let body = object.to_string();
            (objects, bytes) = (objects + 1, bytes + body.len());
            for finding in redactor.findings(&subject, body.as_bytes()) {
                let begin = if shows {
                    format!(" {}… ({})", finding.begin, finding.len)
                } else {
                    String::new()
                };
                let key = (
                    finding.rule.clone(),
                    kind.to_owned(),
                    place(&finding.path) + &begin,
                );
                *counts.entry(key).or_default() += 1;
                *rules.entry(finding.rule).or_default() += 1;
            }
            if kind == "ConfigMap" {
                let kept = redactor
                    .object(&subject, body.as_bytes())
                    .expect("readable");
                let after: Value = serde_json::from_slice(&kept).expect("JSON");
                let data = |value: &Value| {
                    value
                        .get("data")
                        .and_then(Value::as_object)
                        .cloned()
                        .unwrap_or_default()
                };
                let (before, after) = (data(object), data(&after));
                config_values += before.len();
                config_touched += before
                    .iter()
                    .filter(|(key, value)| after.get(*key) != Some(value))
                    .count();
            }
        }
    }
    println!(
        "{objects} objects, {bytes} bytes; values of ConfigMaps: {config_values}, changed {config_touched}"
    );
    for (rule, count) in &rules {
        println!("{count:8} {rule}");
    }
    let mut sorted: Vec<_> = counts.into_iter().collect();
    sorted.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    for ((rule, kind, place), count) in sorted {
        println!("{count:8} {rule:16} {kind:28} {place}");
    }
}
