//! Tests the policy with canaries: in every field of the table, in every encoding, in hostile
//! forms.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "what helps a test may fail it"
)]

mod fields;
mod names;
mod properties;
mod texts;

use kubereel_redact::{Extra, Redactor, ResourceType};
use serde_json::Value;

/// A redactor with its own key and without rules of the user.
pub(crate) fn redactor() -> Redactor {
    Redactor::new(Extra::default()).unwrap()
}

/// Returns an object of a kind without its secrets; it must be JSON and contain no secret.
pub(crate) fn redacted(subject: &ResourceType<'_>, object: &str) -> String {
    let redactor = redactor();
    let once = redactor.object(subject, object.as_bytes()).unwrap();
    let text = String::from_utf8(once.to_vec()).unwrap();
    serde_json::from_str::<Value>(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let twice = redactor.object(subject, &once).unwrap();
    assert_eq!(
        String::from_utf8_lossy(&twice),
        text,
        "a second time changes nothing"
    );
    assert_eq!(redactor.findings(subject, &once), [], "{text}");
    text
}

/// Returns whether two values have the same shape: the same fields, lists of equal length, texts
/// where texts were.
pub(crate) fn same_shape(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, value)| other.get(key).is_some_and(|same| same_shape(value, same)))
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| same_shape(one, other))
        }
        (Value::String(_), Value::String(_)) => true,
        // A number under a name that announces a secret.
        (Value::Number(_), Value::String(mark)) => mark.starts_with("redacted by kubereel: "),
        (one, other) => one == other,
    }
}
