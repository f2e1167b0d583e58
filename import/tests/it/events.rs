//! JSON lines of events.

use super::journey::{at, journey, whatever};
use kubereel_format::EventType;
use kubereel_import::ImportOptions;
use proptest::prelude::*;
use serde_json::{Value, json};

/// JSON in any valid spelling: white space and escapes.
fn spelt(value: &Value, space: &str) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(name, member)| {
                    format!(
                        "{space}{}{space}:{space}{}",
                        json!(name),
                        spelt(member, space)
                    )
                })
                .collect();
            format!("{{{}{space}}}", members.join(","))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| spelt(item, space)).collect();
            format!("[{space}{}{space}]", items.join(","))
        }
        Value::String(text) if text.contains('/') => json!(text).to_string().replace('/', "\\/"),
        other => other.to_string(),
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z/\"\\\\\n\u{e9}\u{1f600}]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z.\u{e9}]{1,6}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

#[derive(Clone, Debug)]
struct Spoken {
    micros: i64,
    kind: EventType,
    body: String,
    line: String,
}

fn spoken() -> impl Strategy<Value = Spoken> {
    let kind = prop_oneof![
        Just(EventType::Added),
        Just(EventType::Modified),
        Just(EventType::Deleted)
    ];
    let space = prop_oneof![Just(""), Just(" "), Just("\t ")];
    let resource = prop_oneof![
        Just(("v1", "Pod")),
        Just(("apps/v1", "Deployment")),
        Just(("g.io/v1", "Ox")),
        Just(("v1", "Secret")),
    ];
    let times = 0..4_000_000_000_000_000_i64;
    (times, kind, resource, "[a-c]", 0..3_u8, value(), space, any::<bool>()).prop_map(
        |(micros, kind, (api_version, of), name, uid, value, space, is_first)| {
            let object = json!({
                "apiVersion": api_version,
                "kind": of,
                "metadata": {"name": name, "uid": uid.to_string(), "resourceVersion": "7"},
                "value": value,
            });
            let body = spelt(&object, space);
            let ts = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
            let word = kind.as_str();
            let line = if is_first {
                format!("{{\"object\":{body}{space},\"type\":\"{word}\",\"ts\":{ts},\"extra\":[{{}}]}}")
            } else {
                format!("{space}{{\"ts\":{ts},\"type\":\"{word}\",\"object\":{space}{body}}}{space}")
            };
            Spoken {
                micros,
                kind,
                body,
                line,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn bytes_types_times_and_order_stay(
        spoken in prop::collection::vec(spoken(), 1..40),
        garbage in prop::collection::vec((0..40_usize, "[^\n{\u{feff}]{0,20}"), 0..4),
    ) {
        let mut lines: Vec<String> = spoken.iter().map(|one| one.line.clone()).collect();
        // Garbage before indented lines may be YAML as well.
        lines[0] = lines[0].trim_start().to_owned();
        for (place, text) in &garbage {
            lines.insert((*place).min(lines.len()), text.clone());
        }
        let broken = garbage.iter().filter(|(_, text)| !text.trim_ascii().is_empty()).count();
        let text = lines.join("\n").replace('\0', "?");
        let journey = journey(text.as_bytes(), &ImportOptions::new("test", "a test"));
        prop_assert_eq!(journey.imported.broken.count, u64::try_from(broken).expect("a count"));
        prop_assert_eq!(journey.events.len(), spoken.len());
        for (kept, spoken) in journey.events.iter().zip(&spoken) {
            prop_assert_eq!(&kept.body, &spoken.body);
            prop_assert_eq!(kept.kind, spoken.kind);
            prop_assert_eq!(kept.at.micros, spoken.micros);
        }
    }

    #[test]
    fn no_bytes_make_it_stumble(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        // Any input ends as an import or as an error, and an error leaves no file.
        whatever(&bytes, &at(1));
        let mut line = br#"{"ts":1,"type":"ADDED","object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}}"#.to_vec();
        line.push(b'\n');
        line.extend(&bytes);
        if !bytes.contains(&0) {
            let journey = journey(&line, &at(1));
            prop_assert!(journey.imported.events > 0);
        }
    }
}

#[test]
fn a_name_may_come_back_with_another_uid() {
    let line = |uid: &str| {
        format!(
            r#"{{"ts":1,"type":"MODIFIED","object":{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"a","uid":"{uid}"}}}}}}"#
        )
    };
    let text = [line("1"), line("2"), line("1")].join("\n");
    let journey = journey(text.as_bytes(), &ImportOptions::new("test", "a test"));
    assert_eq!(journey.events.len(), 3);
}

#[test]
fn times_may_go_back() {
    let line = |ts: &str| {
        format!(
            r#"{{"ts":{ts},"type":"MODIFIED","object":{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"a"}}}}}}"#
        )
    };
    let text = [line("5"), line("3.5"), line("\"1970-01-01T00:00:04Z\"")].join("\n");
    let journey = journey(text.as_bytes(), &ImportOptions::new("test", "a test"));
    let times: Vec<i64> = journey.events.iter().map(|one| one.at.micros).collect();
    assert_eq!(times, [5_000_000, 3_500_000, 4_000_000]);
    assert_eq!(journey.imported.to.micros, 5_000_000);
}

#[test]
fn a_secret_nested_too_deep_is_kept_without_its_depths() {
    let line = |object: &str| format!(r#"{{"ts":1,"type":"ADDED","object":{object}}}"#);
    let text = [
        line(&format!(
            r#"{{"apiVersion":"v1","kind":"Secret","metadata":{{"name":"s"}},"x":{}"canary"{}}}"#,
            "[".repeat(300),
            "]".repeat(300)
        )),
        line(r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}"#),
        line(r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"t"}}"#),
    ]
    .join("\n");
    let mut options = at(1);
    options.redact = true;
    let journey = journey(text.as_bytes(), &options);
    assert_eq!(journey.imported.broken.count, 0);
    let expected = ["secrets v1 /s", "pods v1 /a", "secrets v1 /t"];
    assert_eq!(journey.names(), expected);
    assert_eq!(journey.connected, ["secrets v1", "pods v1"]);
    for kept in &journey.events {
        assert!(!kept.body.contains("canary"), "{}", kept.body);
    }
}
