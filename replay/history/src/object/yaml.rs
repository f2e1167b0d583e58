//! Owns YAML as kubectl prints it: members sorted, lists not indented. Refuses anchors and tags:
//! objects have none.

use serde_json::Value;
use serde_saphyr::ser::Error;
use serde_saphyr::ser_options;
use std::fmt;

/// Writes a value as `kubectl -o yaml` does, up to where long lines break.
///
/// # Errors
/// When the output cannot be written.
pub fn write_yaml(out: &mut impl fmt::Write, value: &Value) -> Result<(), Error> {
    let options = ser_options! {
        // A folded text reads well and cannot be searched for.
        folded_wrap_chars: usize::MAX,
    };
    serde_saphyr::to_fmt_writer_with_options(out, value, options)
}

#[cfg(test)]
mod tests {
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
