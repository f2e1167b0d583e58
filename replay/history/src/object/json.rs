//! JSON as kubectl prints it: four spaces, `<`, `>` and `&` escaped. Recorded bytes are written by `export`.

use super::number;
use serde_json::Value;
use std::io::{self, Write};

const INDENT: usize = 4;

/// Writes a value on one line, without spaces, members sorted.
pub(crate) fn compact(value: &Value) -> String {
    let mut value = value.clone();
    value.sort_all_objects();
    let mut text = String::new();
    push(&mut text, &value, None);
    text
}

/// Formats a value as Go prints it: `map[cpu:4 pods:110]`, `[a b]`.
pub(crate) fn in_go(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => number::printed(number),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(in_go).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            let members = members.into_iter();
            let members = members.map(|(name, value)| format!("{name}:{}", in_go(value)));
            format!("map[{}]", members.collect::<Vec<_>>().join(" "))
        }
    }
}

/// Writes a value as `kubectl -o json` does, with a line end after it.
///
/// # Errors
/// When the output cannot be written.
pub fn write_json(out: &mut impl Write, value: &Value) -> io::Result<()> {
    let mut text = String::new();
    push(&mut text, value, Some(0));
    text.push('\n');
    out.write_all(text.as_bytes())
}

/// Writes a value on one line, with a line end: for readers of JSON lines.
///
/// # Errors
/// When the output cannot be written.
pub fn write_json_line(out: &mut impl Write, value: &Value) -> io::Result<()> {
    let mut text = String::new();
    push(&mut text, value, None);
    text.push('\n');
    out.write_all(text.as_bytes())
}

/// Writes a value as an item of a list, on separate lines.
pub(super) fn push_item(text: &mut String, value: &Value) {
    const DEPTH: Option<usize> = Some(2);
    end_lines(text, DEPTH);
    push(text, value, DEPTH);
}

// The depth is bounded: the parser refuses more than 128 levels.
fn push(text: &mut String, value: &Value, depth: Option<usize>) {
    let within = depth.map(|depth| depth + 1);
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(truth) => text.push_str(if *truth { "true" } else { "false" }),
        Value::Number(number) => text.push_str(&number::written(number)),
        Value::String(string) => push_string(text, string),
        Value::Array(items) if items.is_empty() => text.push_str("[]"),
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                begin_line(text, at, within);
                push(text, item, within);
            }
            end_lines(text, depth);
            text.push(']');
        }
        Value::Object(members) if members.is_empty() => text.push_str("{}"),
        Value::Object(members) => {
            text.push('{');
            for (at, (name, member)) in members.iter().enumerate() {
                begin_line(text, at, within);
                push_string(text, name);
                text.push_str(if depth.is_some() { ": " } else { ":" });
                push(text, member, within);
            }
            end_lines(text, depth);
            text.push('}');
        }
    }
}

fn begin_line(text: &mut String, at: usize, depth: Option<usize>) {
    if at > 0 {
        text.push(',');
    }
    end_lines(text, depth);
}

fn end_lines(text: &mut String, depth: Option<usize>) {
    if let Some(depth) = depth {
        text.push('\n');
        text.extend(std::iter::repeat_n(' ', depth * INDENT));
    }
}

fn push_string(text: &mut String, string: &str) {
    text.push('"');
    for c in string.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                text.push_str(&escaped(c));
            }
            _ => text.push(c),
        }
    }
    text.push('"');
}

fn escaped(c: char) -> String {
    format!("\\u{:04x}", u32::from(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn written(value: &Value) -> String {
        let mut out = Vec::new();
        write_json(&mut out, value).expect("memory");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn members_are_sorted_and_indented_by_four() {
        let value = json!({"b": [1, {"z": null, "a": true}], "a": {}, "c": []});
        let expected = r#"{
    "a": {},
    "b": [
        1,
        {
            "a": true,
            "z": null
        }
    ],
    "c": []
}
"#;
        assert_eq!(written(&value), expected);
    }

    #[test]
    fn one_line_has_no_spaces() {
        let value = json!({"b": [1, {"z": null}, []], "a": "<x> y"});
        assert_eq!(
            compact(&value),
            r#"{"a":"\u003cx\u003e y","b":[1,{"z":null},[]]}"#
        );
    }

    #[test]
    fn what_is_written_means_the_same() {
        let value = json!({"s": "<a> & \"b\"\\\n\t\r\u{8}\u{c}\u{1}\u{2028}é😀", "": 1.5});
        let text = written(&value);
        assert!(text.contains(r"\u003ca\u003e \u0026"), "{text}");
        let back: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(back, value);
    }
}
