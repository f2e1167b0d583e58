//! Owns how a value becomes the text of a cell. Refuses values of another type than the column's, as
//! the server does: the cell is empty then.

use super::elapsed;
use super::part::UNKNOWN;
use crate::object::{compact, number};
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
    /// A type that there is not: nothing is shown.
    Other,
}

impl Type {
    /// Reads the type's name in a definition.
    pub(super) fn named(name: &str) -> Self {
        match name {
            "string" => Self::Text,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Truth,
            "date" => Self::Date,
            _ => Self::Other,
        }
    }

    /// Writes a value, as of a moment.
    pub(super) fn written(self, value: &Value, at: RecordedAt) -> String {
        match (self, value) {
            (Self::Text, Value::Null) => "<no value>".to_owned(),
            (Self::Text, Value::String(text)) => text.clone(),
            (Self::Text, Value::Number(number)) => number::printed(number),
            (Self::Text, value) => compact(value),
            (Self::Number, Value::Number(number)) => number::double(number),
            // Past 64 bits the server's answer depends on its processor; the number is the truth.
            (Self::Integer, Value::Number(number)) => number::truncated(number)
                .map_or_else(|| number::printed(number), |whole| whole.to_string()),
            (Self::Truth, Value::Bool(truth)) => truth.to_string(),
            (Self::Date, Value::String(text)) => date(text, at),
            _ => String::new(),
        }
    }
}

fn date(text: &str, at: RecordedAt) -> String {
    if matches!(text, "" | "null") {
        return UNKNOWN.to_owned();
    }
    match elapsed::parse(text) {
        None => "<invalid>".to_owned(),
        Some(time) if elapsed::is_never(time) => UNKNOWN.to_owned(),
        Some(time) => elapsed::since(time, at),
    }
}

/// Makes a cell fit a line, as kubectl does: cut at its first line end, and without what could
/// begin a terminal's command.
pub(super) fn one_line(text: &str) -> String {
    let (first, more) = match text.split_once(['\n', '\r', '\u{c}']) {
        Some((first, _)) => (first, "..."),
        None => (text, ""),
    };
    first.replace('\u{1b}', "^[") + more
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
            ("string", json!("two\nlines"), "two\nlines"),
            ("string", json!(7), "7"),
            ("string", json!(1e7), "1e+07"),
            ("string", json!(true), "true"),
            (
                "string",
                json!(["<a>", {"c": 1.0, "b": null}]),
                r#"["\u003ca\u003e",{"b":null,"c":1}]"#,
            ),
            ("string", json!(null), "<no value>"),
            ("integer", json!(7), "7"),
            ("integer", json!(7.9), "7"),
            ("integer", json!("7"), ""),
            ("integer", json!(null), ""),
            ("number", json!(1.0), "1"),
            ("number", json!(0.00001), "1e-05"),
            ("number", json!("1"), ""),
            ("boolean", json!(false), "false"),
            ("boolean", json!("false"), ""),
            ("date", json!("2026-11-21T14:00:00Z"), "60s"),
            ("date", json!("yesterday"), "<invalid>"),
            ("date", json!("0001-01-01T00:00:00Z"), "<unknown>"),
            ("date", json!(""), "<unknown>"),
            ("date", json!(7), ""),
            ("date", json!(null), ""),
            ("object", json!("text"), ""),
        ] {
            assert_eq!(
                Type::named(name).written(&value, at),
                expected,
                "{name} {value}"
            );
        }
    }

    #[test]
    fn a_cell_is_one_line() {
        for (text, expected) in [
            ("one", "one"),
            ("two\nlines", "two..."),
            ("cut\rhere", "cut..."),
            ("cut\u{c}here", "cut..."),
            ("\n", "..."),
            ("\u{1b}[31mred\tand\u{1b}", "^[[31mred\tand^["),
        ] {
            assert_eq!(one_line(text), expected, "{text:?}");
        }
    }
}
