//! YAML as kubectl prints it: members in order, lists not indented; whole, or line by line with the number of the
//! field of each line.

use super::yaml_scalar::{ScalarStyle, folded, push_literal, push_text};
use serde_json::{Map, Value};
use std::cmp::Ordering;
use std::convert::Infallible;
use std::fmt;

/// The longest name of a member that YAML takes without `?`.
const LONGEST_SIMPLE_KEY: usize = 128;

/// Writes a value as `kubectl -o yaml` does, except that long lines are not folded: a folded text cannot be searched.
///
/// # Errors
/// When the output cannot be written.
pub fn write_yaml(out: &mut impl fmt::Write, value: &Value) -> fmt::Result {
    write_document(out, value, false)
}

/// Writes a value as `kubectl -o yaml` does, byte for byte: long lines are folded.
///
/// # Errors
/// When the output cannot be written.
pub fn write_folded_yaml(out: &mut impl fmt::Write, value: &Value) -> fmt::Result {
    write_document(out, value, true)
}

fn write_document(out: &mut impl fmt::Write, value: &Value, is_folded: bool) -> fmt::Result {
    let mut document = YamlDocument::new(|line: YamlLine| {
        out.write_str(&line.text)?;
        out.write_char('\n')
    });
    document.is_folded = is_folded;
    document.block(value, 0)?;
    document.end_line()
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
    let mut lines = Vec::new();
    let mut document = YamlDocument::new(|line| {
        lines.push(line);
        Ok::<(), Infallible>(())
    });
    let Ok(()) = document.block(value, 0).and_then(|()| document.end_line());
    lines
}

/// A document that is being written, line by line.
struct YamlDocument<Sink> {
    sink: Sink,
    /// The line that is not complete.
    line: YamlLine,
    /// Whether the line has more than its indentation and the dashes of lists, which the next block goes on behind.
    has_text: bool,
    /// The number of the next field.
    next: usize,
    /// Whether long texts are broken into several lines.
    is_folded: bool,
}

// The depth is bounded: the parser refuses more than 128 levels.
impl<Sink: FnMut(YamlLine) -> Result<(), E>, E> YamlDocument<Sink> {
    const fn new(sink: Sink) -> Self {
        Self {
            sink,
            line: EMPTY_LINE,
            has_text: false,
            next: 0,
            is_folded: false,
        }
    }

    /// Passes the line on, if it has anything.
    fn end_line(&mut self) -> Result<(), E> {
        if self.line == EMPTY_LINE {
            return Ok(());
        }
        self.has_text = false;
        (self.sink)(std::mem::replace(&mut self.line, EMPTY_LINE))
    }

    /// Begins a line at a column; behind the dash of a list the line goes on.
    fn begin(&mut self, column: usize) -> Result<(), E> {
        if self.has_text {
            self.end_line()?;
        }
        if self.line.text.is_empty() {
            self.line.text.extend(std::iter::repeat_n(' ', column));
        }
        Ok(())
    }

    /// Writes a value from a column on, on lines of its own.
    fn block(&mut self, value: &Value, column: usize) -> Result<(), E> {
        match value {
            Value::Object(members) if !members.is_empty() => self.members(members, column),
            Value::Array(items) if !items.is_empty() => items.iter().try_for_each(|item| {
                self.begin(column)?;
                self.line.text.push_str("- ");
                self.item(item, column)
            }),
            leaf => self.leaf(leaf, column),
        }
    }

    fn members(&mut self, members: &Map<String, Value>, column: usize) -> Result<(), E> {
        let mut first = self.next;
        let number = |(name, member)| {
            let number = first;
            first += leaves(member);
            (name, member, number)
        };
        let mut sorted: Vec<(&String, &Value, usize)> = members.iter().map(number).collect();
        sorted.sort_by(|(one, _, _), (other, _, _)| natural_order(one, other));
        for (name, member, number) in sorted {
            self.next = number;
            self.begin(column)?;
            let is_simple = name.len() <= LONGEST_SIMPLE_KEY;
            if !is_simple {
                self.line.text.push_str("? ");
            }
            let style = match ScalarStyle::of_key(name) {
                ScalarStyle::DoubleQuoted if name.is_empty() => ScalarStyle::SingleQuoted,
                style => style,
            };
            push_text(&mut self.line.text, name, style);
            self.has_text = true;
            if !is_simple {
                self.begin(column)?;
                self.line.text.push_str(": ");
                self.item(member, column)?;
                continue;
            }
            self.line.text.push(':');
            match member {
                Value::Object(inner) if !inner.is_empty() => self.block(member, column + INDENT)?,
                // Lists are not indented.
                Value::Array(items) if !items.is_empty() => self.block(member, column)?,
                leaf => {
                    self.line.text.push(' ');
                    self.leaf(leaf, column)?;
                }
            }
        }
        self.next = first;
        Ok(())
    }

    /// Writes a value behind the two letters that begin an item of a list.
    fn item(&mut self, value: &Value, column: usize) -> Result<(), E> {
        if is_leaf(value) {
            self.leaf(value, column)
        } else {
            self.block(value, column + INDENT)
        }
    }

    /// Writes a value with one field; further lines of a text are indented from the column of what has it.
    fn leaf(&mut self, value: &Value, column: usize) -> Result<(), E> {
        self.line.field = Some(self.next);
        self.next += 1;
        self.has_text = true;
        let Value::String(text) = value else {
            push_literal(&mut self.line.text, value);
            return Ok(());
        };
        let style = ScalarStyle::of_value(text);
        if style != ScalarStyle::Literal {
            if !self.is_folded {
                push_text(&mut self.line.text, text, style);
                return Ok(());
            }
            let begin = self.line.text.chars().count();
            let mut lines = folded(text, style, begin, column + INDENT).into_iter();
            self.line.text.extend(lines.next());
            for line in lines {
                self.go_on(&line, column)?;
            }
            return Ok(());
        }
        self.line.text.push('|');
        // A reader derives the indentation from the first line, unless that begins with a blank or is empty.
        if text.starts_with([' ', '\n']) {
            self.line.text.push_str(&INDENT.to_string());
        }
        let body = text.strip_suffix('\n');
        match body {
            None => self.line.text.push('-'),
            Some(body) if body.is_empty() || body.ends_with('\n') => self.line.text.push('+'),
            Some(_) => {}
        }
        for line in body.unwrap_or(text).split('\n') {
            self.go_on(line, column)?;
        }
        Ok(())
    }

    /// Writes a further line of a text, indented from the column of what has it; an empty one stays empty.
    fn go_on(&mut self, line: &str, column: usize) -> Result<(), E> {
        (self.sink)(std::mem::replace(&mut self.line, EMPTY_LINE))?;
        self.line.goes_on = true;
        if !line.is_empty() {
            self.line
                .text
                .extend(std::iter::repeat_n(' ', column + INDENT));
            self.line.text.push_str(line);
        }
        Ok(())
    }
}

const INDENT: usize = 2;

const EMPTY_LINE: YamlLine = YamlLine {
    text: String::new(),
    field: None,
    goes_on: false,
};

fn is_leaf(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => true,
    }
}

/// Counts the fields of a value.
fn leaves(value: &Value) -> usize {
    match value {
        Value::Object(members) if !members.is_empty() => members.values().map(leaves).sum(),
        Value::Array(items) if !items.is_empty() => items.iter().map(leaves).sum(),
        _ => 1,
    }
}

/// A part of the name of a member, in the order of names: letters come behind numbers, and numbers behind all else.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum NamePart<'a> {
    End,
    Sign(char),
    /// The digits without leading zeros, and how many there are with them.
    Number(usize, &'a str, usize),
    Letter(char),
}

impl<'a> NamePart<'a> {
    fn first_of(text: &'a str) -> Self {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        match text.chars().next() {
            None => Self::End,
            Some(_) if digits > 0 => {
                let run = text.get(..digits).unwrap_or_default();
                let value = run.trim_start_matches('0');
                Self::Number(value.len(), value, digits)
            }
            Some(letter) if letter.is_alphabetic() => Self::Letter(letter),
            Some(sign) => Self::Sign(sign),
        }
    }
}

/// Compares the names of members as kubectl sorts them in YAML, numbers by their values. The order of kubectl has
/// cycles, as `10 < 1b < 2 < 10`; this one reads `1b` as a number and a letter always.
fn natural_order(one: &str, other: &str) -> Ordering {
    let pairs = one.char_indices().zip(other.chars());
    let differs = pairs.into_iter().find(|((_, one), other)| one != other);
    let at = differs.map_or(one.len().min(other.len()), |((at, _), _)| at);
    let begins_with_digit = |text: &str| {
        text.get(at..)
            .is_some_and(|rest| rest.starts_with(|l: char| l.is_ascii_digit()))
    };
    let from = if begins_with_digit(one) || begins_with_digit(other) {
        // The number that the names differ in begins before the first difference.
        let before = one.get(..at).unwrap_or_default();
        before
            .trim_end_matches(|letter: char| letter.is_ascii_digit())
            .len()
    } else {
        at
    };
    let first = NamePart::first_of(one.get(from..).unwrap_or_default());
    first.cmp(&NamePart::first_of(other.get(from..).unwrap_or_default()))
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

    /// The expected text is what kubectl v1.36.3 prints.
    #[test]
    fn long_texts_are_folded_as_kubectl_folds_them() {
        let words = "a long text with many words that goes on and on beyond eighty columns, because a \
                     message of a condition is often as long as this one";
        let value = json!({
            "data": {
                "a": format!("note: {words}"),
                "b": words,
                "c": format!("one\ttab {words}"),
                "d": format!("two  blanks {}  here {words}", "x".repeat(70)),
                "e": format!("tab\t {}  two blanks {words}", "x".repeat(70)),
                "f": "y".repeat(100),
                "g": format!("line {words}\nnext"),
                "h": format!("it's 'quoted': {words}"),
            },
            "items": [words, [words]],
        });
        let (x, y) = ("x".repeat(70), "y".repeat(100));
        let expected = format!(
            "\
data:
  a: 'note: a long text with many words that goes on and on beyond eighty columns,
    because a message of a condition is often as long as this one'
  b: a long text with many words that goes on and on beyond eighty columns, because
    a message of a condition is often as long as this one
  c: \"one\\ttab a long text with many words that goes on and on beyond eighty columns,
    because a message of a condition is often as long as this one\"
  d: two  blanks {x}  here
    a long text with many words that goes on and on beyond eighty columns, because
    a message of a condition is often as long as this one
  e: \"tab\\t {x}
    \\ two blanks a long text with many words that goes on and on beyond eighty columns,
    because a message of a condition is often as long as this one\"
  f: {y}
  g: |-
    line {words}
    next
  h: 'it''s ''quoted'': a long text with many words that goes on and on beyond eighty
    columns, because a message of a condition is often as long as this one'
"
        );
        let mut text = String::new();
        write_folded_yaml(&mut text, &value).expect("memory");
        assert!(text.starts_with(&expected), "{text}");
        let back: Value = serde_saphyr::from_str(&text).expect("YAML");
        assert_eq!(back, value, "{text}");
        let mut plain = String::new();
        write_yaml(&mut plain, &value).expect("memory");
        assert_ne!(plain, text);
    }

    #[test]
    fn members_are_sorted_as_kubectl_sorts_them() {
        let names = [
            "", "-a", ".a", "0", "00", "1", "2", "02", "10", "10a", "A", "a", "a-b", "a.b", "a2",
            "a10", "ab", "é",
        ];
        for one in 0..names.len() {
            for other in 0..names.len() {
                let (first, second) = (names[one], names[other]);
                assert_eq!(
                    natural_order(first, second),
                    one.cmp(&other),
                    "{first:?} {second:?}"
                );
            }
        }
        let value = json!({"a10": {"x": 1, "y": 2}, "a2": 3, "z": 4});
        assert_eq!(written(&value), "a2: 3\na10:\n  x: 1\n  \"y\": 2\nz: 4\n");
        let fields: Vec<Option<usize>> = yaml_lines(&value).iter().map(|line| line.field).collect();
        assert_eq!(fields, [Some(2), None, Some(0), Some(1), Some(3)]);
    }

    #[test]
    fn long_names_are_written_with_a_question_mark() {
        let name = "n".repeat(129);
        for member in [
            json!(1),
            json!("a\nb\n"),
            json!({"x": 1, "z": [1]}),
            json!([1, {"x": 2}]),
        ] {
            let value = json!({name.as_str(): member, "o": {name.as_str(): member}});
            let yaml = written(&value);
            assert!(yaml.contains(&format!("? {name}\n: ")), "{yaml}");
            let back: Value = serde_saphyr::from_str(&yaml).expect("YAML");
            assert_eq!(back, value, "{yaml}");
        }
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
            let value = json!({"k": [text, [text]], "o": [{"a": text}], "p": {"a": text}, text: 1});
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
