//! Writes a document with its keys in the order of its shape. Refuses to change anything else.

use serde_json::Value;

use super::shape::{Child, Shape};

/// Writes a document as the API server does.
pub(super) fn write(value: &Value, shape: &'static Shape, out: &mut String) {
    let Value::Object(fields) = value else {
        return plain(value, out);
    };
    out.push('{');
    let mut is_first = true;
    let mut key = |name: &str, out: &mut String| {
        if !is_first {
            out.push(',');
        }
        is_first = false;
        text(name, out);
        out.push(':');
    };
    if shape.is_sorted {
        for (name, value) in fields {
            key(name, out);
            write_child(value, shape.child(name), out);
        }
        out.push('}');
        return;
    }
    for (name, child) in shape.keys() {
        if let Some(value) = fields.get(name) {
            key(name, out);
            write_child(value, child, out);
        }
    }
    for (name, value) in fields.iter().filter(|(name, _)| !shape.knows(name)) {
        key(name, out);
        plain(value, out);
    }
    out.push('}');
}

fn write_child(value: &Value, child: Child, out: &mut String) {
    match (child, value) {
        (Child::Of(shape) | Child::Part(shape) | Child::Atomic(shape), value) => {
            write(value, shape, out);
        }
        (Child::Each(shape) | Child::Keyed(shape, _), Value::Array(items)) => {
            out.push('[');
            for (nth, item) in items.iter().enumerate() {
                if nth > 0 {
                    out.push(',');
                }
                write(item, shape, out);
            }
            out.push(']');
        }
        (Child::Values(shape), Value::Object(fields)) => {
            out.push('{');
            for (nth, (name, value)) in fields.iter().enumerate() {
                if nth > 0 {
                    out.push(',');
                }
                text(name, out);
                out.push(':');
                write(value, shape, out);
            }
            out.push('}');
        }
        _ => plain(value, out),
    }
}

/// Writes a document with sorted keys.
fn plain(value: &Value, out: &mut String) {
    match value {
        Value::String(content) => text(content, out),
        // Writing a document out cannot fail.
        other => out.push_str(&other.to_string()),
    }
}

fn text(content: &str, out: &mut String) {
    let is_simple = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    if content.bytes().all(is_simple) {
        out.push('"');
        out.push_str(content);
        out.push('"');
    } else {
        out.push_str(&Value::from(content).to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::super::shape::shape_of;
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_of_built_in_kinds_are_in_the_order_of_the_server() {
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod", "zz": 1,
            "metadata": {"uid": "u", "name": "a\"b", "labels": {"b": "", "a": ""}},
            "status": {"conditions": [{"status": "True", "type": "Ready"}]},
        });
        let mut out = String::new();
        write(&pod, shape_of("Pod"), &mut out);
        assert_eq!(
            out,
            r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a\"b","uid":"u","labels":{"a":"","b":""}},"status":{"conditions":[{"type":"Ready","status":"True"}]},"zz":1}"#
        );
        assert_eq!(serde_json::from_str::<Value>(&out).unwrap(), pod);
    }

    #[test]
    fn keys_of_custom_resources_are_sorted() {
        let custom = json!({"kind": "X", "apiVersion": "a/v1", "metadata": {"uid": "u", "name": "n"}, "status": {"z": 1, "conditions": [], "a": 2}});
        let mut out = String::new();
        write(&custom, shape_of("X"), &mut out);
        assert_eq!(
            out,
            r#"{"apiVersion":"a/v1","kind":"X","metadata":{"name":"n","uid":"u"},"status":{"a":2,"conditions":[],"z":1}}"#
        );
    }
}
