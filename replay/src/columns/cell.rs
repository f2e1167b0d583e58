//! Owns how a value becomes the text of a cell. Refuses values of another type than the column's, as
//! the server does: the cell is empty then.

use crate::object::number;
use crate::timetext;
use jiff::Timestamp;
use kubereel_format::RecordedAt;
use serde_json::Value;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Text,
    Number,
    Integer,
    Truth,
    /// Shown as the time since.
    Date,
}

impl Type {
    /// Reads the type's name in a definition.
    pub(super) fn named(name: &str) -> Self {
        match name {
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Truth,
            "date" => Self::Date,
            _ => Self::Text,
        }
    }

    /// Writes a value, as of a moment.
    pub(super) fn written(self, value: &Value, at: RecordedAt) -> String {
        let text = match (self, value) {
            (_, Value::Null) => String::new(),
            (Self::Text, Value::String(text)) => text.clone(),
            (Self::Text | Self::Number, Value::Number(number)) => number::written(number),
            (Self::Integer, Value::Number(whole)) => whole
                .as_i64()
                .map_or_else(|| number::written(whole), |whole| whole.to_string()),
            (Self::Text, value) => value.to_string(),
            (Self::Truth, Value::Bool(truth)) => truth.to_string(),
            (Self::Date, Value::String(text)) => since(text, at),
            _ => String::new(),
        };
        one_line(text)
    }
}

/// Writes how long ago a time was.
fn since(text: &str, at: RecordedAt) -> String {
    let Ok(time) = text.parse::<Timestamp>() else {
        return "<invalid>".to_owned();
    };
    let micros = at.micros_since(RecordedAt::from_micros(time.as_microsecond()));
    timetext::age(micros.div_euclid(1_000_000))
}

/// Cuts a text at its first line end, as kubectl does.
fn one_line(text: String) -> String {
    match text.split_once(['\n', '\r', '\u{c}']) {
        Some((first, _)) => format!("{first}..."),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn cells_read_as_the_server_writes_them() {
        let at = RecordedAt::from_micros(1_795_269_660_000_000);
        for (name, value, expected) in [
            ("string", json!("text"), "text"),
            ("string", json!("two\nlines"), "two..."),
            ("string", json!(7), "7"),
            ("string", json!(true), "true"),
            ("string", json!(["a"]), r#"["a"]"#),
            ("string", json!(null), ""),
            ("integer", json!(7), "7"),
            ("integer", json!("7"), ""),
            ("number", json!(1.0), "1"),
            ("boolean", json!(false), "false"),
            ("boolean", json!("false"), ""),
            ("date", json!("2026-11-21T14:00:00Z"), "60s"),
            ("date", json!("yesterday"), "<invalid>"),
            ("date", json!(7), ""),
        ] {
            assert_eq!(
                Type::named(name).written(&value, at),
                expected,
                "{name} {value}"
            );
        }
    }
}
