//! YAML by lines: what belongs to a field on the lines below it, and the values of each Secret.
//!
//! The text is not parsed, because it may be cut off, indented differently or quoted in another
//! text.

use super::announced_names::{count, count_back, is_blank, is_name_byte};
use super::flow_maps::kinds_of_secrets;
use crate::decoded::DecodedText;
use std::ops::Range;

/// A line of YAML.
#[derive(Clone, Debug)]
pub(super) struct IndentedLine {
    place: Range<usize>,
    indent: usize,
    /// The column of the first character behind dashes of lists.
    column: usize,
}

impl IndentedLine {
    /// Returns the place behind the indentation.
    pub(super) fn content(&self) -> Range<usize> {
        self.place.start + self.indent..self.place.end
    }

    /// Returns the place behind the dashes of lists.
    pub(super) fn scalar(&self) -> Range<usize> {
        self.place.start + self.column..self.place.end
    }

    pub(super) const fn indent(&self) -> usize {
        self.indent
    }

    /// Returns the column behind the dashes of lists.
    pub(super) const fn column(&self) -> usize {
        self.column
    }

    pub(super) const fn is_item(&self) -> bool {
        self.column > self.indent
    }
}

/// A value of a Secret.
#[derive(Clone, Debug)]
pub(super) struct YamlSecretValue {
    pub(super) place: Range<usize>,
    /// Whether it is a block on its own lines.
    pub(super) is_block: bool,
}

/// A text that may be YAML.
#[derive(Clone, Copy, Debug)]
pub(super) struct YamlLinesText<'t>(pub(super) &'t [u8]);

impl<'t> YamlLinesText<'t> {
    fn get(self, place: Range<usize>) -> &'t [u8] {
        self.0.get(place).unwrap_or_default()
    }

    fn rest(self, at: usize) -> &'t [u8] {
        self.0.get(at..).unwrap_or_default()
    }

    /// Returns the line that begins at a place.
    fn line(self, start: usize) -> Option<IndentedLine> {
        let rest = self.0.get(start..).filter(|rest| !rest.is_empty())?;
        let len = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest.get(..len)?;
        let indent = count(line, |byte| byte == b' ');
        let mut column = indent;
        while line.get(column) == Some(&b'-') && matches!(line.get(column + 1), None | Some(b' ')) {
            column += 1;
            column += count(line.get(column..)?, |byte| byte == b' ');
        }
        let end = line.trim_ascii_end().len().max(column.min(len));
        Some(IndentedLine {
            place: start..start + end,
            indent,
            column,
        })
    }

    /// Returns where the next line begins.
    fn next_line(self, at: usize) -> Option<usize> {
        Some(at + memchr::memchr(b'\n', self.rest(at))? + 1)
    }

    /// Returns the lines with content below a field: `at` is behind its colon. Without a block
    /// header, a list may begin in the column of the field.
    pub(super) fn below(self, at: usize, field: usize, is_scalar: bool) -> Vec<IndentedLine> {
        let column = self.column_of(field);
        let mut lines = Vec::new();
        let mut next = self.next_line(at);
        while let Some(line) = next.and_then(|at| self.line(at)) {
            next = self.next_line(line.place.start);
            if line.content().is_empty() {
                continue;
            }
            let is_list = !is_scalar && line.is_item() && line.indent == column;
            if line.indent <= column && !is_list {
                break;
            }
            lines.push(line);
        }
        lines
    }

    /// Returns the column of a field.
    fn column_of(self, field: usize) -> usize {
        let before = self.get(0..field);
        let line = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        let opening = usize::from(matches!(before.last(), Some(b'"' | b'\'')));
        (field - opening).saturating_sub(line)
    }

    /// Returns where the plain value of a field ends that begins in the line of `at`: lines with a
    /// greater indentation continue it. `None` if it is only that line.
    pub(super) fn continued(self, at: usize, field: usize) -> Option<usize> {
        let column = self.column_of(field);
        let mut end = None;
        let mut next = self.next_line(at);
        while let Some(line) = next.and_then(|at| self.line(at)) {
            next = self.next_line(line.place.start);
            let content = line.content();
            if content.is_empty() {
                continue;
            }
            let value = self.get(content.clone());
            if line.indent <= column
                || value.starts_with(b"#")
                || self.field(line.scalar()).is_some()
            {
                break;
            }
            let comment = memchr::memmem::find(value, b" #");
            let len = comment.unwrap_or(value.len());
            let value = value.get(..len).unwrap_or_default();
            end = Some(content.start + value.trim_ascii_end().len());
            if comment.is_some() {
                break;
            }
        }
        end
    }

    /// Returns the item of a list that follows the item which is the flag at a place, without
    /// quotes.
    pub(super) fn item_behind(self, flag: usize) -> Option<Range<usize>> {
        let start = memchr::memrchr(b'\n', self.get(0..flag)).map_or(0, |at| at + 1);
        let line = self.line(start)?;
        let is_mark = |byte: &u8| matches!(byte, b'"' | b'\'' | b'-');
        if !line.is_item() || !self.get(line.scalar().start..flag).iter().all(is_mark) {
            return None;
        }
        let mut next = self.next_line(start);
        loop {
            let below = next.and_then(|at| self.line(at))?;
            let content = self.get(below.content());
            if content.is_empty() || content.starts_with(b"#") {
                next = self.next_line(below.place.start);
                continue;
            }
            let item = below.scalar();
            let is_next = below.is_item() && below.indent == line.indent;
            return (is_next && self.field(item.clone()).is_none()).then(|| self.unquoted(item));
        }
    }

    /// Returns the place of a scalar without quotes and without a comment.
    fn unquoted(self, place: Range<usize>) -> Range<usize> {
        let text = self.get(place.clone());
        if let Some(quote @ (b'"' | b'\'')) = text.first().copied() {
            return place.start + 1..closing(self.0, place.start + 1, quote, 0).min(place.end);
        }
        let len = memchr::memmem::find(text, b" #").unwrap_or(text.len());
        let len = text.get(..len).unwrap_or_default().trim_ascii_end().len();
        place.start..place.start + len
    }

    /// Returns the place of the block scalar below a field.
    pub(super) fn block_scalar(self, at: usize, field: usize) -> Option<Range<usize>> {
        let lines = self.below(at, field, true);
        Some(lines.first()?.content().start..lines.last()?.content().end)
    }

    /// Reads a line as a field: the length of its name, and where the value begins.
    pub(super) fn field(self, place: Range<usize>) -> Option<(usize, usize)> {
        let line = self.get(place.clone());
        let len = match line.first()? {
            quote @ (b'"' | b'\'') => memchr::memchr(*quote, line.get(1..)?)? + 2,
            _ => count(line, |byte| is_name_byte(byte) || byte == b'/'),
        };
        let is_field = len > 0
            && line.get(len) == Some(&b':')
            && matches!(line.get(len + 1), None | Some(b' ' | b'\t'));
        is_field.then_some((len, place.start + len + 1))
    }

    /// Takes the values of each Secret in YAML.
    pub(super) fn secret_values(self) -> Vec<YamlSecretValue> {
        let mut values = Vec::new();
        for kind in kinds_of_secrets(self.0) {
            self.values_of(kind, &mut values);
        }
        values
    }

    /// Takes the values of the Secret whose `kind` stands at a place.
    fn values_of(self, kind: usize, values: &mut Vec<YamlSecretValue>) {
        let Some((first, column)) = self.object_around(kind) else {
            return;
        };
        let mut next = Some(first);
        let mut is_in_data = false;
        while let Some(line) = next.and_then(|at| self.line(at)) {
            next = self.next_line(line.place.start);
            let content = line.scalar();
            if content.is_empty() {
                continue;
            }
            let is_after = line.place.start > kind
                && (line.indent < column || self.get(line.place.clone()).starts_with(b"---"));
            if is_after {
                break;
            }
            let Some((len, sign)) = self.field(content.clone()) else {
                continue;
            };
            let at = sign + count(self.rest(sign), is_blank);
            if line.column == column {
                let word = self.get(content.start..content.start + len);
                is_in_data = [&b"data"[..], b"stringData"]
                    .iter()
                    .any(|one| word.trim_ascii() == *one);
                if is_in_data && self.rest(at).first() == Some(&b'{') {
                    values.push(YamlSecretValue {
                        place: self.inside_braces(at),
                        is_block: false,
                    });
                }
            } else if is_in_data {
                let rest = self.rest(at);
                let is_block = is_end_of_line(rest) || is_block_header(rest);
                let place = match rest.first() {
                    _ if is_block => self.block_scalar(at, content.start),
                    Some(quote @ (b'"' | b'\'')) => {
                        Some(at + 1..closing(self.0, at + 1, *quote, 0))
                    }
                    _ => Some(at..content.end),
                };
                values.extend(place.map(|place| YamlSecretValue { place, is_block }));
            }
        }
    }

    /// Returns the text between the brace at a place and the one that closes it, without
    /// surrounding white space.
    fn inside_braces(self, at: usize) -> Range<usize> {
        let end = closing_brace(self.rest(at)).map_or(self.0.len(), |len| at + len);
        let len = self.get(at + 1..end).trim_ascii().len();
        let start = at + 1 + count(self.rest(at + 1), |byte| byte.is_ascii_whitespace());
        start..start + len
    }

    /// Returns the first line of the object that contains a `kind`, and the column of its fields.
    fn object_around(self, kind: usize) -> Option<(usize, usize)> {
        let start = |at: usize| memchr::memrchr(b'\n', self.get(0..at)).map_or(0, |at| at + 1);
        let mut first = start(kind);
        let line = self.line(first)?;
        let quotes =
            usize::from(self.get(0..kind).ends_with(b"\"") || self.get(0..kind).ends_with(b"'"));
        let column = kind - quotes - first;
        if column != line.column {
            return None;
        }
        // The first line of the object: the one with the dash of its item, or the first with the
        // indentation of `kind`.
        let mut is_item = line.is_item();
        while first > 0 && !is_item {
            let before = start(first - 1);
            let Some(line) = self.line(before) else { break };
            let is_empty = line.scalar().is_empty();
            let is_mark_of_document = self.get(line.place.clone()).starts_with(b"---");
            if !is_empty && line.column < column || is_mark_of_document {
                break;
            }
            is_item = line.column == column && line.is_item();
            first = before;
        }
        Some((first, column))
    }
}

/// The fields with which a Secret may begin behind other words of its line.
const FIELDS: [&[u8]; 6] = [
    b"apiVersion",
    b"kind",
    b"data",
    b"stringData",
    b"metadata",
    b"type",
];

/// Takes the values of each Secret in YAML whose line breaks are written as escapes, within a line.
pub(super) fn written_secret_values(text: &[u8]) -> Vec<YamlSecretValue> {
    let mut values = Vec::new();
    let mut from = 0;
    for kind in kinds_of_secrets(text) {
        if kind < from {
            continue;
        }
        let (before, rest) = text.split_at(kind);
        let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        from = kind + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = text.get(start..from).unwrap_or_default();
        for start in [Some(start), first_field(line).map(|at| start + at)]
            .into_iter()
            .flatten()
        {
            let Some(lines) = text
                .get(start..from)
                .and_then(DecodedText::from_written_lines)
            else {
                continue;
            };
            let found = YamlLinesText(lines.text()).secret_values().into_iter();
            values.extend(found.filter_map(|value| {
                let place = lines.place(&value.place)?;
                Some(YamlSecretValue {
                    place: start + place.start..start + place.end,
                    ..value
                })
            }));
        }
    }
    values
}

/// Returns where the last field of an object begins before the first written line break, behind other words.
fn first_field(line: &[u8]) -> Option<usize> {
    let head = line.get(..memchr::memmem::find(line, b"\\n")?)?;
    let begins = |name: &[u8]| {
        let mut places = memchr::memmem::rfind_iter(head, name);
        places.find(|at| {
            let before = at.checked_sub(1).and_then(|at| head.get(at));
            let is_inside = before.is_none_or(|byte| is_name_byte(*byte));
            !is_inside && head.get(at + name.len()) == Some(&b':')
        })
    };
    FIELDS.into_iter().filter_map(begins).max()
}

pub(super) fn is_end_of_line(rest: &[u8]) -> bool {
    matches!(
        rest.get(count(rest, is_blank)),
        None | Some(b'\n' | b'\r' | b'#')
    )
}

/// Returns whether a block of YAML begins here: `|`, `>-`, `|2+`.
pub(super) fn is_block_header(rest: &[u8]) -> bool {
    let [b'|' | b'>', rest @ ..] = rest else {
        return false;
    };
    let marks = count(rest, |byte| {
        byte.is_ascii_digit() || matches!(byte, b'-' | b'+')
    });
    marks <= 2
        && is_end_of_line(rest.get(marks..).unwrap_or_default())
        && memchr::memchr(b'\n', rest).is_some()
}

/// Returns the place of the brace that closes the one at the beginning.
fn closing_brace(text: &[u8]) -> Option<usize> {
    let mut open = 0_usize;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'{' => open += 1,
            b'}' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some(at);
        }
    }
    None
}

/// Finds the closing quote of a value: one with no more backslashes before it than the first has.
pub(super) fn closing(text: &[u8], start: usize, quote: u8, slashes: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    for found in memchr::memchr_iter(quote, rest) {
        let before = rest.get(..found).unwrap_or_default();
        let escapes = count_back(before, |byte| byte == b'\\');
        if escapes <= slashes {
            return start + found - escapes;
        }
    }
    text.len()
}
