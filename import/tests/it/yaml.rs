//! YAML: read as Kubernetes reads it, kept as JSON.

use super::journey::{at, journey, refused};
use kubereel_import::ImportError;
use std::fmt::Write as _;

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
    assert_eq!(
        journey.names(),
        ["configmaps v1 x/a", "deployments.apps apps/v1 x/d"]
    );
    let bodies: Vec<&str> = journey.events.iter().map(|one| one.body.as_str()).collect();
    assert_eq!(
        bodies,
        [
            r#"{"apiVersion":"v1","data":{"text":"two\nlines\n"},"kind":"ConfigMap","metadata":{"name":"a","namespace":"x"}}"#,
            r#"{"metadata":{"name":"d","namespace":"x"}}"#,
        ]
    );
    assert!(journey.imported.converted);
    assert!(journey.said.iter().any(|text| text.contains("were YAML")));
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
fn what_is_no_yaml_says_where() {
    for text in ["a: [1\nb: 2\n", "kind: Pod\n kind: x\n"] {
        let error = refused(text.as_bytes(), &at(7));
        let is_placed = error.to_string().contains("at line 2");
        assert!(
            matches!(error, ImportError::Yaml { .. }) && is_placed,
            "{error}"
        );
    }
    let error = refused(b"hello\nworld\n", &at(7));
    assert!(matches!(error, ImportError::NotRecognised), "{error}");
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
