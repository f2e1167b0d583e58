//! Owns an object's bytes as the server sent them, laid out to be read. Refuses to change them: order
//! and spelling stay, only spaces are put between.

use super::here::{Here, here};
use super::line::{Ink, Line};
use crate::model::{Place, Subject};
use kubereel_history::{Timeline, harmless};

/// Lines are indented by at most so many levels: deeper ones come from nobody who means well.
const DEEPEST: usize = 64;

/// Reads the lines.
pub(super) fn read(timeline: &Timeline, subject: &Subject, place: Place) -> Vec<Line> {
    let (held, mut lines) = match here(timeline, subject, place) {
        Ok(Here { held, lines, .. }) => (held, lines),
        Err(lines) => return lines,
    };
    match timeline.reel().body(held.seq) {
        Ok(body) => {
            let words = format!(
                "{} bytes as the server sent them, laid out; S saves exactly these",
                body.len()
            );
            lines.push(Line::prose(Ink::Faint, words));
            let text = String::from_utf8_lossy(&body);
            let rows = laid_out(&text);
            lines.extend(rows.iter().map(|row| Line::of(Ink::Plain, harmless(row))));
        }
        Err(error) => {
            let error = harmless(&error.to_string()).into_owned();
            lines.push(Line::prose(
                Ink::Wary,
                format!("it cannot be read: {error}"),
            ));
        }
    }
    lines
}

/// Breaks JSON into lines without understanding more of it than its brackets and texts.
fn laid_out(text: &str) -> Vec<String> {
    let mut rows = vec![String::new()];
    let (mut depth, mut is_text, mut is_escaped) = (0_usize, false, false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if is_text {
            push(&mut rows, letter);
            is_text = letter != '"' || is_escaped;
            is_escaped = letter == '\\' && !is_escaped;
            continue;
        }
        match letter {
            '"' => {
                is_text = true;
                push(&mut rows, letter);
            }
            '{' | '[' => {
                push(&mut rows, letter);
                while letters.next_if(char::is_ascii_whitespace).is_some() {}
                if let Some(end) = letters.next_if(|next| matches!(next, '}' | ']')) {
                    push(&mut rows, end);
                } else {
                    depth += 1;
                    begin(&mut rows, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                begin(&mut rows, depth);
                push(&mut rows, letter);
            }
            ',' => {
                push(&mut rows, letter);
                begin(&mut rows, depth);
            }
            ':' => {
                push(&mut rows, letter);
                push(&mut rows, ' ');
            }
            space if space.is_ascii_whitespace() => {}
            other => push(&mut rows, other),
        }
    }
    rows
}

fn push(rows: &mut [String], letter: char) {
    if let Some(row) = rows.last_mut() {
        row.push(letter);
    }
}

fn begin(rows: &mut Vec<String>, depth: usize) {
    rows.push("  ".repeat(depth.min(DEEPEST)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_spelling_stay() {
        let text = r#"{"b":1.50,"a":{"x":[],"y": [true , "a\"{,\\"]},"c":{ }}"#;
        let expected = [
            "{",
            "  \"b\": 1.50,",
            "  \"a\": {",
            "    \"x\": [],",
            "    \"y\": [",
            "      true,",
            r#"      "a\"{,\\""#,
            "    ]",
            "  },",
            "  \"c\": {}",
            "}",
        ];
        assert_eq!(laid_out(text), expected);
    }

    #[test]
    fn what_is_no_json_is_shown_all_the_same() {
        assert_eq!(laid_out("").concat(), "");
        assert!(laid_out("]]]}{\"").concat().ends_with('"'));
        assert!(laid_out(&"[".repeat(10_000)).len() > 9_000);
    }
}
