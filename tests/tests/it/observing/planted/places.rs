//! Where a secret is planted: the field, and the encoding of the text.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use miniz_oxide::deflate::{compress_to_vec, compress_to_vec_zlib};
use serde_json::{Value, json};

use super::Planted;
use super::search::percent;

/// A field.
#[derive(Clone, Copy)]
enum Field {
    Message,
    Annotation,
    Variable,
    Argument,
    ConfigMap,
    Condition,
}

pub(super) struct Place {
    name: &'static str,
    field: Field,
    encode: fn(&str) -> String,
}

const fn place(name: &'static str, field: Field, encode: fn(&str) -> String) -> Place {
    Place {
        name,
        field,
        encode,
    }
}

pub(super) const PLACES: &[Place] = &[
    place("a message", Field::Message, str::to_owned),
    place("an annotation", Field::Annotation, str::to_owned),
    place("a variable", Field::Variable, str::to_owned),
    place("an argument", Field::Argument, |text| {
        format!("echo {text}")
    }),
    place("a ConfigMap", Field::ConfigMap, str::to_owned),
    place("a condition", Field::Condition, |text| {
        format!("failed: {text}")
    }),
    place("JSON in a string", Field::Annotation, |text| {
        json!({"a": [text]}).to_string()
    }),
    place("JSON in JSON in a string", Field::Message, |text| {
        json!({"a": json!({"b": text}).to_string()}).to_string()
    }),
    place("base64", Field::Condition, |text| STANDARD.encode(text)),
    place("base64 twice", Field::Message, |text| {
        STANDARD.encode(STANDARD.encode(text))
    }),
    place("base64 for URLs, no padding", Field::Variable, |text| {
        URL_SAFE_NO_PAD.encode(text)
    }),
    place("base64 in lines", Field::Annotation, |text| {
        let encoded = STANDARD.encode(format!("{text}\n{text}"));
        let lines = encoded.as_bytes().chunks(64).map(String::from_utf8_lossy);
        lines.collect::<Vec<_>>().join("\n")
    }),
    place("percent encoding", Field::Message, percent),
    place("gzip", Field::Annotation, |text| {
        let head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
        STANDARD.encode([&head[..], &compress_to_vec(text.as_bytes(), 6)].concat())
    }),
    place("zlib", Field::Message, |text| {
        STANDARD.encode(compress_to_vec_zlib(text.as_bytes(), 6))
    }),
    place("deflate", Field::Annotation, |text| {
        STANDARD.encode(compress_to_vec(text.as_bytes(), 6))
    }),
    place("zstd", Field::Condition, |text| {
        STANDARD.encode(zstd::bulk::compress(text.as_bytes(), 3).unwrap_or_default())
    }),
    place("gzip of base64", Field::Message, |text| {
        let head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
        let inner = STANDARD.encode(text);
        STANDARD.encode([&head[..], &compress_to_vec(inner.as_bytes(), 6)].concat())
    }),
];

impl Place {
    pub(super) fn plant(
        &self,
        class: &'static str,
        is_documented: bool,
        text: &str,
        secret: String,
    ) -> Planted {
        let text = (self.encode)(text);
        let (resource, metadata, members) = match self.field {
            Field::Message => (
                "events",
                Value::Null,
                json!({"message": text, "reason": "Planted"}),
            ),
            Field::Annotation => (
                "pods",
                json!({"annotations": {"acme.io/note": text}}),
                json!({"spec": {}}),
            ),
            Field::Variable => (
                "pods",
                Value::Null,
                json!({"spec": {"containers": [{"name": "a", "env": [{"name": "SETTING", "value": text}]}]}}),
            ),
            Field::Argument => (
                "pods",
                Value::Null,
                json!({"spec": {"containers": [{"name": "a", "command": ["/bin/sh", "-c", text]}]}}),
            ),
            Field::ConfigMap => ("configmaps", Value::Null, json!({"data": {"file": text}})),
            Field::Condition => (
                "pods",
                Value::Null,
                json!({"status": {"conditions": [{"type": "Ready", "status": "False", "message": text}]}}),
            ),
        };
        Planted {
            class,
            is_documented,
            place: self.name,
            resource,
            metadata: inner(&metadata),
            members: inner(&members),
            secrets: vec![secret],
        }
    }
}

/// The members of an object without its braces.
pub(super) fn inner(object: &Value) -> String {
    if object.is_null() {
        return String::new();
    }
    let text = object.to_string();
    let text = text
        .strip_prefix('{')
        .and_then(|text| text.strip_suffix('}'));
    text.unwrap_or_default().to_owned()
}
