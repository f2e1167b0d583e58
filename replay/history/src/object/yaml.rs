//! YAML as kubectl prints it: members sorted, lists not indented; whole, or line by line with the
//! number of the field of each line.

use serde_json::{Map, Value};
use serde_saphyr::ser::Error;
use serde_saphyr::ser_options;
use std::fmt;

/// Writes a value as `kubectl -o yaml` does, except that long lines are not folded.
///
/// # Errors
/// When the output cannot be written.
pub fn write_yaml(out: &mut impl fmt::Write, value: &Value) -> Result<(), Error> {
    let options = ser_options! {
        // A folded text cannot be searched.
        folded_wrap_chars: usize::MAX,
    };
    serde_saphyr::to_fmt_writer_with_options(out, value, options)
}

/// A line of YAML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlLine {
    /// The text, indented.
    pub text: String,
    /// The number, in the object's order, of the field that begins on this line.
    pub field: Option<usize>,
    /// Whether the line continues the text of the previous field.
    pub goes_on: bool,
}

/// Returns an object as lines.
pub fn yaml_lines(value: &Value) -> Vec<YamlLine> {
    let mut next = 0;
    block(value, &mut next)
}

// The depth is bounded: the parser refuses more than 128 levels.
fn block(value: &Value, next: &mut usize) -> Vec<YamlLine> {
    match value {
        Value::Object(members) if !members.is_empty() => members
            .iter()
            .flat_map(|(name, member)| match member {
                Value::Object(inner) if !inner.is_empty() => {
                    under(&key(name), indented(block(member, next), "  "))
                }
                // Lists are not indented.
                Value::Array(items) if !items.is_empty() => under(&key(name), block(member, next)),
                leaf => {
                    let one = Map::from_iter([(name.clone(), leaf.clone())]);
                    whole(&Value::Object(one), next)
                }
            })
            .collect(),
        Value::Array(items) if !items.is_empty() => items
            .iter()
            .flat_map(|item| {
                let is_leaf = match item {
                    Value::Object(members) => members.is_empty(),
                    Value::Array(items) => items.is_empty(),
                    _ => true,
                };
                if is_leaf {
                    return whole(&Value::Array(vec![item.clone()]), next);
                }
                let mut lines = indented(block(item, next), "  ");
                if let Some(first) = lines.first_mut() {
                    first.text.replace_range(..1, "-");
                }
                lines
            })
            .collect(),
        leaf => whole(leaf, next),
    }
}

/// Writes a value with one field.
fn whole(value: &Value, next: &mut usize) -> Vec<YamlLine> {
    let field = *next;
    *next += 1;
    let mut text = String::new();
    if write_yaml(&mut text, value).is_err() {
        // Writing to memory cannot fail; a value that is not valid YAML is written as JSON, which
        // YAML includes.
        text = value.to_string();
    }
    let lines = text.lines().enumerate();
    lines
        .map(|(at, line)| YamlLine {
            text: line.to_owned(),
            field: (at == 0).then_some(field),
            goes_on: at > 0,
        })
        .collect()
}

/// Returns the name of a member in YAML.
fn key(name: &str) -> String {
    let one = Map::from_iter([(name.to_owned(), Value::Null)]);
    let mut text = String::new();
    let written = write_yaml(&mut text, &Value::Object(one)).ok();
    let key = written.and_then(|()| text.trim_end().strip_suffix(" null"));
    key.map_or_else(|| format!("{}:", Value::from(name)), str::to_owned)
}

fn under(key: &str, lines: Vec<YamlLine>) -> Vec<YamlLine> {
    let mut all = vec![YamlLine {
        text: key.to_owned(),
        field: None,
        goes_on: false,
    }];
    all.extend(lines);
    all
}

fn indented(lines: Vec<YamlLine>, by: &str) -> Vec<YamlLine> {
    let indent = |line: YamlLine| YamlLine {
        // An empty line of a text stays empty.
        text: if line.text.is_empty() {
            String::new()
        } else {
            format!("{by}{}", line.text)
        },
        ..line
    };
    lines.into_iter().map(indent).collect()
}

#[cfg(test)]
mod yaml_tests {
    use super::*;
    use serde_json::json;

    fn written(value: &Value) -> String {
        let mut text = String::new();
        write_yaml(&mut text, value).expect("memory");
        text
    }

    #[test]
    fn lists_are_not_indented_and_long_texts_not_broken() {
        let long = "word ".repeat(60) + "end";
        let value = json!({
            "kind": "Pod",
            "items": [{"a": 1, "b": [true, null]}, "two\nlines\n"],
            "message": long,
            "empty": {},
            "none": [],
        });
        let expected = format!(
            "empty: {{}}\nitems:\n- a: 1\n  b:\n  - true\n  - null\n- |\n  two\n  lines\n\
             kind: Pod\nmessage: {long}\nnone: []\n"
        );
        assert_eq!(written(&value), expected);
    }

    #[test]
    fn texts_that_look_like_something_else_stay_texts() {
        let texts = [
            "",
            " ",
            "true",
            "yes",
            "No",
            "on",
            "y",
            "null",
            "~",
            "1",
            "1e3",
            "0x1f",
            "0o7",
            "012",
            "1_000",
            "1.5",
            ".inf",
            "NaN",
            "12:30:45",
            "2026-11-21",
            "2026-11-21T14:00:00Z",
            "- a",
            "a: b",
            "a #b",
            "#a",
            "&a",
            "*a",
            "!a",
            "|",
            ">",
            "%a",
            "@a",
            "`a`",
            "'a'",
            "\"a\"",
            "{a}",
            "[a]",
            "a\tb",
            "a\nb",
            "a\n",
            "\na",
            " a\nb",
            "a\r\nb",
            "a\u{1}b",
            "é😀",
            "?",
            "? a",
            "-",
            "--- a",
            "...",
            "=",
            "<<",
            "a\\b",
            "trailing ",
            "a\n\n",
            "\u{2028}",
            "\u{feff}a",
        ];
        for text in texts {
            let value = json!({"k": [text], text: 1});
            let yaml = written(&value);
            let back: Value = serde_saphyr::from_str(&yaml)
                .unwrap_or_else(|error| panic!("{text:?} became {yaml}: {error}"));
            assert_eq!(back, value, "{yaml}");
        }
    }
}

#[cfg(test)]
mod yaml_lines_tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_lines_are_the_yaml_that_get_prints() {
        for value in [
            json!({"a": 1, "b": {"c": "x y", "d": {}}, "e": []}),
            json!({"kind": "Pod", "items": [{"a": 1, "b": [true, null]}, "two\nlines\n", [1, [2, 3]], {}, []]}),
            json!({"metadata": {"annotations": {"a.b/c": "yes", "true": "no", "": "\n\nx\n\n  y", "1": "2"}}}),
            json!({"text": "first\n  second\n\nlast", "l": ["a: b", "- c", "x\ny"], "deep": [{"x": {"y": [{"z": "m\nn\n"}]}}]}),
        ] {
            let mut expected = String::new();
            write_yaml(&mut expected, &value).expect("memory");
            let lines = yaml_lines(&value);
            let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
            assert_eq!(
                texts.join(
                    "
"
                ) + "
",
                expected
            );
            let fields: Vec<usize> = lines.iter().filter_map(|line| line.field).collect();
            let counted: Vec<usize> = (0..fields.len()).collect();
            assert_eq!(fields, counted);
            let texts = lines.iter().filter(|line| line.goes_on);
            assert!(texts.clone().all(|line| line.field.is_none()));
            assert_eq!(texts.count() > 0, expected.contains('|'), "{expected}");
        }
    }
}
