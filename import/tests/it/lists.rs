//! Lists of objects, in JSON and YAML: one moment, every item's bytes; YAML is read as Kubernetes reads it.

use super::journey::{at, journey, refused};
use kubereel_format::{EventType, RecordedAt};
use kubereel_import::{BrokenUnit, ImportError, ImportOptions};
use std::fmt::Write as _;

const POD: &str =
    r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"x"},"n":1e3}"#;
const NODE: &str = r#"{ "apiVersion":"v1", "kind":"Node", "metadata":{"name":"n"} }"#;

#[test]
fn every_way_to_write_objects_gives_the_same() {
    for text in [
        format!("{POD}\n{NODE}\n"),
        format!("{POD}\r\n\r\n{NODE}"),
        format!("\u{feff}{POD}\n{NODE}\n"),
        format!(r#"{{"apiVersion":"v1","kind":"List","items":[{POD},{NODE}]}}"#),
        format!(
            "{{\n \"apiVersion\":\"v1\",\n \"items\": [\n{POD},\n{NODE}\n],\n\"kind\":\"List\"}}\n"
        ),
        format!("[{POD},{NODE}]"),
        format!("[\n  {POD}\n,\n  {NODE}\n]\n"),
        format!(r#"{{"items":[{POD},{NODE}]}}"#),
        format!(
            "{{\n\"kind\":\"List\",\"items\":[{POD}]}}\n{{\n\"kind\":\"List\",\"items\":[{{\"kind\":\"List\",\"items\":[{NODE}]}}]}}\n"
        ),
    ] {
        let journey = journey(text.as_bytes(), &at(7));
        assert_eq!(journey.names(), ["pods v1 x/a", "nodes v1 /n"], "{text}");
        let bodies: Vec<&str> = journey.events.iter().map(|one| one.body.as_str()).collect();
        assert_eq!(bodies, [POD, NODE], "{text}");
        for event in &journey.events {
            assert_eq!(event.kind, EventType::Added);
            assert_eq!(event.at, RecordedAt::from_micros(7_000_000));
        }
        assert!(!journey.imported.converted);
        assert_eq!(journey.imported.assumed_at, None);
    }
}

#[test]
fn items_of_a_typed_list_are_what_the_list_says() {
    let text = r#"{"items":[{"metadata":{"name":"a","namespace":"x"}}],"kind":"DeploymentList","apiVersion":"apps/v1","metadata":{"resourceVersion":"9"}}"#;
    let journey = journey(text.as_bytes(), &at(7));
    assert_eq!(journey.names(), ["deployments.apps apps/v1 x/a"]);
    assert_eq!(
        journey.events.first().map(|one| one.body.as_str()),
        Some(r#"{"metadata":{"name":"a","namespace":"x"}}"#)
    );
}

#[test]
fn a_list_of_secrets_is_redacted_even_if_its_items_do_not_say_what_they_are() {
    let text = r#"{"kind":"SecretList","apiVersion":"v1","items":[{"metadata":{"name":"s"},"data":{"k":"Q0FOQVJZ"}}]}"#;
    let mut options = at(7);
    options.redact = true;
    let journey = journey(text.as_bytes(), &options);
    assert_eq!(journey.imported.secrets.with_data, 1);
    assert!(
        journey
            .events
            .iter()
            .all(|one| !one.body.contains("Q0FOQVJZ"))
    );
}

#[test]
fn watch_events_may_go_over_several_lines() {
    let text = format!(
        "{{\n \"type\": \"MODIFIED\",\n \"object\": {POD}\n}}\n{{\n \"type\": \"DELETED\",\n \"object\": {NODE}\n}}\n"
    );
    let journey = journey(text.as_bytes(), &at(7));
    assert_eq!(journey.names(), ["pods v1 x/a", "nodes v1 /n"]);
    assert_eq!(
        journey
            .events
            .iter()
            .map(|one| one.kind)
            .collect::<Vec<_>>(),
        [EventType::Modified, EventType::Deleted]
    );
}

#[test]
fn broken_items_of_a_list_on_a_line_are_numbered() {
    let text = format!("{POD}\n[{NODE},7,[{POD},{{\"metadata\":{{}}}}]]\n7\n");
    let journey = journey(text.as_bytes(), &at(7));
    let broken = &journey.imported.broken;
    assert_eq!(broken.counted, BrokenUnit::Lines);
    let places: Vec<(u64, u64)> = broken
        .first
        .iter()
        .map(|one| (one.number, one.item))
        .collect();
    assert_eq!(places, [(2, 2), (2, 2), (3, 0)]);
}

#[test]
fn broken_items_are_numbered_as_they_stand() {
    let text = format!(
        "{{\"kind\":\"List\",\n\"items\":[{POD},7,{{\"metadata\":{{}}}},{NODE}]}}\n{{\"a\":"
    );
    let journey = journey(text.as_bytes(), &at(7));
    let broken = &journey.imported.broken;
    assert_eq!(broken.counted, BrokenUnit::Objects);
    let said: Vec<String> = broken
        .first
        .iter()
        .map(|one| format!("{} {}", one.number, one.problem))
        .collect();
    assert_eq!(
        said,
        [
            "2 not a Kubernetes object: invalid type: integer, expected an object at byte 1",
            "3 metadata.name is missing",
            "5 not JSON, and nothing after it can be read: EOF while parsing a value at line 3 column 5",
        ]
    );
    assert_eq!(journey.events.len(), 2);
}

#[test]
fn without_a_time_there_is_no_moment() {
    let mut options = ImportOptions::new("test", "a test");
    let error = refused(POD.as_bytes(), &options);
    assert!(matches!(error, ImportError::NoTime), "{error}");
    options.changed_at = Some(RecordedAt::from_micros(9));
    let journey = journey(POD.as_bytes(), &options);
    let expected = Some(RecordedAt::from_micros(9));
    assert_eq!(journey.imported.assumed_at, expected);
    assert!(
        journey
            .said
            .iter()
            .any(|text| text.contains("modification time of the input file")),
        "{:?}",
        journey.said
    );
}

#[test]
fn events_over_several_lines_may_say_their_own_time() {
    let text = format!("{{\n \"ts\": 5,\n \"type\": \"ADDED\",\n \"object\": {POD}\n}}\n");
    let mut options = ImportOptions::new("test", "a test");
    options.changed_at = Some(RecordedAt::from_micros(9));
    let journey = journey(text.as_bytes(), &options);
    assert_eq!(journey.imported.from, RecordedAt::from_micros(5_000_000));
    assert_eq!(journey.imported.assumed_at, None);
    // The time of the file is that of objects, and no object is in these.
    options.changed_at = Some(RecordedAt::from_micros(100_000_000));
    let event_list = format!(r#"[{{"ts": 5, "type": "ADDED", "object": {POD}}}]"#);
    for text in [&text, &event_list] {
        let journey = self::journey(text.as_bytes(), &options);
        assert_eq!(journey.imported.to, RecordedAt::from_micros(5_000_000));
    }
    let error = refused(
        format!("{text}{NODE}").as_bytes(),
        &ImportOptions::new("test", "a test"),
    );
    assert!(matches!(error, ImportError::NoTime), "{error}");
}

#[test]
fn lists_in_lists_end() {
    let mut text = POD.to_owned();
    for _ in 0..2000 {
        text = format!(r#"{{"kind":"List","items":[{text}]}}"#);
    }
    let error = refused(text.as_bytes(), &at(7));
    assert!(matches!(error, ImportError::Nothing { .. }), "{error}");
}

#[test]
fn nothing_to_take_is_an_error() {
    let error = refused(br#"{"kind":"Status"}"#, &at(7));
    assert!(matches!(error, ImportError::Nothing { .. }), "{error}");
}

#[test]
fn a_list_without_items_is_a_reel_without_objects() {
    for text in [
        "[]",
        r#"{"kind":"List","items":[]}"#,
        r#"{"apiVersion":"v1","kind":"PodList","metadata":{"resourceVersion":"7"},"items":[]}"#,
        "apiVersion: v1\nitems: []\nkind: List\n",
        r#"{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":null}"#,
    ] {
        let journey = journey(text.as_bytes(), &at(7));
        assert_eq!(
            (journey.events.len(), journey.imported.lists.empty),
            (0, 1),
            "{text}"
        );
        assert_eq!(journey.imported.from, RecordedAt::from_micros(7_000_000));
    }
}

#[test]
fn documents_and_lists_become_json() {
    let text = "\
# a comment
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: x}
data:
  text: |
    two
    lines
---
---
apiVersion: apps/v1
kind: DeploymentList
items:
- metadata:
    name: d
    namespace: x
";
    let journey = journey(text.as_bytes(), &at(7));
    let expected = ["configmaps v1 x/a", "deployments.apps apps/v1 x/d"];
    assert_eq!(journey.names(), expected);
    let bodies: Vec<&str> = journey.events.iter().map(|one| one.body.as_str()).collect();
    let expected = [
        r#"{"apiVersion":"v1","data":{"text":"two\nlines\n"},"kind":"ConfigMap","metadata":{"name":"a","namespace":"x"}}"#,
        r#"{"metadata":{"name":"d","namespace":"x"}}"#,
    ];
    assert_eq!(bodies, expected);
    assert!(journey.imported.converted);
    assert!(
        journey
            .said
            .iter()
            .any(|text| text.contains("converted from YAML"))
    );
}

#[test]
fn scalars_mean_what_they_mean_to_kubernetes() {
    let text = "\
apiVersion: v1
kind: X
metadata:
  name: a
spec: {yes: yes, t: true, q: \"yes\", n: null, e: , s: 10.5, i: 12345678901, o: 0644, time: 2026-11-21T14:00:00Z, big: 1e3, v: 1.10.0, sexagesimal: '12:30'}
";
    let journey = journey(text.as_bytes(), &at(7));
    let body = &journey.events.first().expect("one").body;
    let body: serde_json::Value = serde_json::from_str(body).expect("JSON");
    let expected = serde_json::json!({
        "yes": true, "t": true, "q": "yes", "n": null, "e": null, "s": 10.5, "i": 12_345_678_901_u64,
        "o": 420, "time": "2026-11-21T14:00:00Z", "big": 1000.0, "v": "1.10.0", "sexagesimal": "12:30",
    });
    assert_eq!(body.get("spec"), Some(&expected));
}

#[test]
fn numbers_beyond_any_float_are_strings() {
    let text = "apiVersion: v1\nkind: X\nmetadata:\n  name: é\n  labels: {commit: 1e54321, neg: -1e999, '1e777': 1e5}\nspec:\n- &a 9e99999 # a comment\n- *a\n- |\n  1e54321\n";
    let journey = journey(text.as_bytes(), &at(7));
    let body = &journey.events.first().expect("one").body;
    let body: serde_json::Value = serde_json::from_str(body).expect("JSON");
    let labels = serde_json::json!({"commit": "1e54321", "neg": "-1e999", "1e777": 100_000.0});
    assert_eq!(body.pointer("/metadata/labels"), Some(&labels));
    let spec = serde_json::json!(["9e99999", "9e99999", "1e54321\n"]);
    assert_eq!(body.get("spec"), Some(&spec));
    let error = refused(b"kind: Secret\ndata: !!float 9e99999\n", &at(7)).to_string();
    let expected = "cannot parse the input as YAML: value out of range, line 2, column 15";
    assert_eq!(error, expected);
}

#[test]
fn an_object_of_yaml_has_the_number_and_the_line_of_its_document() {
    let pod = |name: &str, uid: &str| {
        format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: s, uid: {uid}}}\n")
    };
    let text = [
        pod("a", "one"),
        "kind: [\n".to_owned(),
        "kind: Pod\nkind: Pod\n".to_owned(),
        pod("b", "7"),
        pod("c", "two"),
    ];
    let journey = journey(text.join("---\n").as_bytes(), &at(7));
    let mut broken = journey.imported.broken.first.iter();
    let broken = broken.find(|one| one.line > 0).expect("one of a document");
    assert_eq!((broken.number, broken.line), (4, 10));
    assert_eq!(
        broken.problem.to_string(),
        "not a Kubernetes object: invalid type: integer, expected a string"
    );
    assert_eq!(
        (journey.imported.broken.count, journey.events.len()),
        (3, 2)
    );
}

#[test]
fn what_is_no_yaml_says_where() {
    for text in ["a: [1\nb: 2\n", "kind: Pod\n kind: x\n"] {
        let error = refused(text.as_bytes(), &at(7));
        let is_placed = error.to_string().contains("at line 2");
        assert!(
            matches!(error, ImportError::Yaml { .. }) && is_placed,
            "{error}"
        );
    }
    let error = refused(b"kind: Secret\ndata:\n  hunter2: a\n  hunter2: b\n", &at(7));
    let expected = "cannot parse the input as YAML: duplicate key, line 4, column 3";
    assert_eq!(error.to_string(), expected);
    let error = refused(b"hello\nworld\n", &at(7));
    assert!(matches!(error, ImportError::NotRecognised), "{error}");
}

#[test]
fn a_list_that_is_cut_off_gives_its_whole_items_and_the_place() {
    let json =
        format!("{{\n \"apiVersion\":\"v1\",\n \"items\": [\n{POD},\n{NODE},\n{{\"kind\":\"Pod\",");
    let yaml = "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n    namespace: x\n\
                - apiVersion: v1\n  kind: Node\n  metadata:\n    name: 'n'\n\
                - apiVersion: v1\n  kind: Node\n  metadata:\n    name: cut\n";
    for (text, place) in [(json.as_str(), "line 6"), (yaml, "the item at line 12")] {
        let journey = journey(text.as_bytes(), &at(7));
        assert_eq!(journey.names(), ["pods v1 x/a", "nodes v1 /n"], "{text}");
        let broken = &journey.imported.broken;
        let part = broken.first.first().expect("the cut");
        assert_eq!((broken.count, part.number), (1, 3), "{text}");
        assert!(part.problem.to_string().contains(place), "{}", part.problem);
    }
}

#[test]
fn what_is_before_damage_in_the_middle_is_imported() {
    let list = format!(
        "{{\n  \"apiVersion\": \"v1\",\n  \"items\": [\n{POD},\n{{\"kind\": Pod}},\n{NODE}\n  ]\n}}\n"
    );
    let lines = format!("{POD}\n{}", "\0".repeat(600));
    let yaml = "items:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a, namespace: x}\n- kind: [\n- apiVersion: v1\n  \
                kind: Node\n  metadata: {name: m}\nkind: List\n";
    for (text, number) in [(list.as_str(), 2), (&lines, 2), (yaml, 2)] {
        let journey = journey(text.as_bytes(), &at(7));
        assert_eq!(journey.names(), ["pods v1 x/a"], "{text}");
        let broken = &journey.imported.broken;
        let part = broken.first.first().expect("the damage");
        assert_eq!((broken.count, part.number), (1, number), "{text}");
    }
    let documents = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: x}\n---\na:\n\tb\n---\napiVersion: \
                     v1\nkind: Node\nmetadata: {name: m}\n";
    let journey = journey(documents.as_bytes(), &at(7));
    assert_eq!(journey.names(), ["pods v1 x/a", "nodes v1 /m"]);
    let part = journey.imported.broken.first.first().expect("the damage");
    let text = part.problem.to_string();
    assert!(
        part.number == 0 && text.contains("line 6") && !text.contains("missing"),
        "{text}"
    );
}

#[test]
fn aliases_do_not_grow_without_bound() {
    let mut text = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..12 {
        let before = format!("*a{}", level - 1);
        let row = vec![before; 10].join(",");
        writeln!(text, "a{level}: &a{level} [{row}]").expect("memory");
    }
    let error = refused(text.as_bytes(), &at(7));
    assert!(matches!(error, ImportError::Yaml { .. }), "{error}");
}
