//! Finds values that a text assigns to a name that announces a secret.
//!
//! These are `name: value` and `name=value` of YAML, JSON, properties, INI, queries and shells,
//! blocks and lists of YAML, neighbours such as `name: X` and `value: Y`, elements and attributes
//! of XML, flags, `.netrc`, and the values of a Secret in YAML. Prose about secrets is kept, as far
//! as it can be recognized.

use super::announced_names::{
    NAME_BYTES, TextName, begins_escaped_line, begins_line, count, count_back, is_blank,
    is_name_byte, is_neighbour, is_netrc, is_signature, names_in, patch_path, word_before,
};
use super::flow_maps::FlowMapsText;
use super::shell_words::{ShellWord, backquoted, is_open, word_len};
use super::yaml_lines::{IndentedLine, YamlLinesText, closing, is_block_header, is_end_of_line};
use crate::forms;
use crate::mark::{is_encoded_mark, is_mark};
use crate::names::{self, NameClass};
use std::ops::Range;

/// The shortest value after a colon that may be a secret.
const VALUE_LEAST: usize = 4;

/// The same after `=`, where prose is rarer.
const ASSIGNED_LEAST: usize = 3;

/// How far behind a name its value may be, and behind how many other fields.
const NEIGHBOUR_BYTES: usize = 600;
const NEIGHBOURS_MOST: usize = 8;

/// Words that follow such a name in prose.
#[rustfmt::skip]
const PROSE: [&str; 42] = [
    "required", "incorrect", "invalid", "expired", "missing", "not", "is", "must", "null", "nil", "true", "false",
    "none", "unset", "empty", "failed", "cannot", "rejected", "denied", "unknown", "string", "the", "no", "error",
    "from", "unauthorized", "and", "or", "was", "were", "to", "for", "with", "when", "if", "has", "flag", "flags",
    "option", "should", "will", "found",
];

/// Finds the values. In a command every word behind a flag is its value; in other texts it may be the next word of a
/// sentence about the flag.
pub(crate) fn values(text: &[u8], is_command: bool) -> Vec<Range<usize>> {
    let mut search = AssignmentSearch {
        text,
        has_lines: memchr::memchr(b'\n', text).is_some(),
        is_command,
        of: None,
        found: Vec::new(),
    };
    let mut from = 0;
    for name in names_in(text) {
        // A finding is replaced whole: names in it do not count.
        if name.place.start >= from {
            let known = search.found.len();
            let of = text.get(name.place.clone());
            search.of = of.and_then(|of| std::str::from_utf8(of).ok());
            search.name(&name);
            let found = search.found.get(known..).unwrap_or_default();
            from = found
                .iter()
                .map(|place| place.end)
                .max()
                .unwrap_or(from)
                .max(from);
        }
    }
    search.of = None;
    search.secrets();
    search.found
}

/// Where in its line a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NamePosition {
    /// Behind other words.
    Inside,
    /// The first word of a line, or of a field in `{…}`.
    First,
    /// The first word of a line whose break is written as an escape: `users:\n  token: x`.
    FirstEscaped,
}

impl NamePosition {
    fn of(text: &[u8], name: &TextName) -> Self {
        if begins_line(text, name, false) {
            Self::First
        } else if begins_escaped_line(text, name) {
            Self::FirstEscaped
        } else {
            Self::Inside
        }
    }
}

/// How a value is assigned to its name.
#[derive(Clone, Copy, Debug)]
struct AssignmentSign {
    is_colon: bool,
    position: NamePosition,
    /// Whether prose has such a name and a colon, too.
    is_doubtful: bool,
}

struct AssignmentSearch<'t> {
    text: &'t [u8],
    has_lines: bool,
    is_command: bool,
    /// The current name.
    of: Option<&'t str>,
    found: Vec<Range<usize>>,
}

impl AssignmentSearch<'_> {
    fn get(&self, place: Range<usize>) -> &[u8] {
        self.text.get(place).unwrap_or_default()
    }

    fn rest(&self, at: usize) -> &[u8] {
        self.text.get(at..).unwrap_or_default()
    }

    /// Takes a value, unless it may be kept under a name of the class.
    fn take(&mut self, place: Range<usize>, class: NameClass) {
        if self.is_secret(self.get(place.clone()), class) {
            self.found.push(place);
        }
    }

    /// Returns whether a value is one that is not kept under a name of the class.
    fn is_secret(&self, value: &[u8], class: NameClass) -> bool {
        let is_kept = std::str::from_utf8(value).is_ok_and(|value| {
            forms::is_kept(class, value) || self.of.is_some_and(|name| forms::is_count(name, value))
        });
        !value.is_empty() && !is_mark(value) && !is_encoded_mark(value) && !is_kept
    }

    fn name(&mut self, name: &TextName) {
        let is_header = self.is_header(name);
        if !is_header && is_neighbour(self.text, name) {
            self.neighbour(name);
            return;
        }
        if self.element(name) {
            return;
        }
        let rest = self.rest(name.place.end);
        let slashes = count(rest, |byte| byte == b'\\');
        let is_quoted = matches!(rest.get(slashes), Some(b'"' | b'\''));
        let mut at = name.place.end + if is_quoted { slashes + 1 } else { 0 };
        let blanks = count(self.rest(at), is_blank);
        at += blanks;
        let (len, is_colon) = match self.rest(at) {
            [b':', b'/', b'/', ..] | [b'=', b'=', ..] => return,
            [b':', b'=', ..] | [b'=', b'>', ..] => (2, false),
            [b'=', ..] => (1, false),
            [b':', ..] => (1, true),
            _ => {
                if !self.is_argument(name, at) {
                    self.without_sign(name, at, blanks);
                }
                return;
            }
        };
        at += len;
        let position = NamePosition::of(self.text, name);
        let next = self.rest(at).first().copied();
        let is_word = is_weak(self.get(name.place.clone()), name.class);
        // In prose a colon follows such a word, too: `invalid token: expired`. A name that only
        // mentions a secret begins many sentences: `OAuthServerAvailable: no pods`.
        let is_mention = name.class == NameClass::Mentions;
        let value = self.rest(at + count(self.rest(at), is_blank));
        let is_text = is_quoted
            && matches!(
                value.iter().find(|byte| **byte != b'\\'),
                Some(b'"' | b'\'')
            );
        if is_mention && is_colon && (!is_text || is_signature(self.get(name.place.clone()))) {
            return;
        }
        let is_inside = position == NamePosition::Inside;
        if is_colon && is_quoted && is_inside && is_phrase(self.rest(at)) {
            return;
        }
        let is_doubtful = is_colon && !is_quoted && is_word && !is_header;
        if is_doubtful
            && (is_inside
                || next.is_some_and(|byte| {
                    !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'')
                }))
        {
            return;
        }
        let is_line = self.has_lines || position == NamePosition::FirstEscaped;
        let sign = AssignmentSign {
            is_colon,
            position,
            is_doubtful: is_doubtful && !is_line,
        };
        self.assigned(at, name, sign);
    }

    /// Takes the value that is assigned at a place.
    fn assigned(&mut self, at: usize, name: &TextName, sign: AssignmentSign) {
        let is_colon = sign.is_colon;
        let is_spaced = self.rest(at).first().is_some_and(|byte| is_blank(*byte));
        // `NAME=value`, as shells have it.
        let is_joined = !is_colon && !is_spaced;
        let mut at = at + count(self.rest(at), is_blank);
        // A tag or an anchor of YAML.
        while is_colon && matches!(self.rest(at), [b'!' | b'&', ..]) {
            at += count(self.rest(at), |byte| !byte.is_ascii_whitespace());
            at += count(self.rest(at), is_blank);
        }
        let rest = self.rest(at);
        if is_colon && (is_end_of_line(rest) || is_block_header(rest)) {
            self.block(at, name, is_block_header(rest));
            return;
        }
        if rest.first() == Some(&b'[') {
            self.list(at + 1, name.class);
            return;
        }
        if is_colon && rest.first() == Some(&b'{') && self.map(at, name) {
            return;
        }
        let rest = self.rest(at);
        let slashes = count(rest, |byte| byte == b'\\');
        if let Some(quote @ (b'"' | b'\'')) = rest.get(slashes).copied() {
            if !(is_joined && slashes == 0 && self.shell_word(at, name)) {
                self.quoted(at, slashes, quote, name.class);
            }
            return;
        }
        if is_joined && let Some(place) = self.in_quotes(at, name) {
            self.take(place, name.class);
            return;
        }
        let is_line = self.has_lines
            && sign.position == NamePosition::First
            && !self.is_in_flow(name)
            && !name.is_flag;
        if !is_line && !sign.is_doubtful && self.backquoted(at, name) {
            return;
        }
        if !is_line && is_joined && self.shell_word(at, name) {
            return;
        }
        if is_line {
            self.line(at, name, sign);
        } else {
            self.bare(at, name, sign, is_spaced);
        }
    }

    /// Returns the place of a value of several words in the quotes around its name: `'--password=a b'`.
    fn in_quotes(&self, at: usize, name: &TextName) -> Option<Range<usize>> {
        let before = self.get(0..name.place.start);
        let before = before
            .get(..before.len() - count_back(before, |byte| byte == b'-'))
            .unwrap_or_default();
        let (quote, before) = before.split_last()?;
        if !matches!(quote, b'"' | b'\'') {
            return None;
        }
        let slashes = count_back(before, |byte| byte == b'\\');
        let opens = before.get(..before.len() - slashes)?.last();
        if opens.is_some_and(|byte| !is_blank(*byte) && !b"\r\n,=:([{".contains(byte)) {
            return None;
        }
        let rest = self.rest(at);
        let line = memchr::memchr(b'\n', rest).map_or(self.text.len(), |len| at + len);
        let end = closing(self.get(0..line), at, *quote, slashes);
        let value = self.get(at..end);
        let first = count(value, |byte| !is_blank(byte));
        // Other fields or flags follow in the same quotes.
        let is_list = if name.is_flag {
            memchr::memmem::find(value, b" -").is_some()
        } else {
            memchr::memchr(b'=', value).is_some()
        };
        let is_value = end < line
            && first < value.len()
            && !is_list
            && !is_prose_word(value.get(..first)?)
            && !is_reference(value);
        is_value.then_some(at..end)
    }

    /// Takes the value in quotes at a place.
    fn quoted(&mut self, at: usize, slashes: usize, quote: u8, class: NameClass) {
        let start = at + slashes + 1;
        let mut place = start..closing(self.text, start, quote, slashes);
        let tripled = [quote; 3];
        if let Some(rest) = self.rest(at).strip_prefix(&tripled)
            && let Some(len) = memchr::memmem::find(rest, &tripled)
        {
            place = at + 3..at + 3 + len;
        } else if quote == b'\'' && slashes == 0 {
            // YAML writes a quote in single quotes as two.
            while self.rest(place.end).starts_with(b"''") {
                let end = closing(self.text, place.end + 2, quote, 0);
                if end == self.text.len() {
                    break;
                }
                place.end = end;
            }
        }
        if !is_reference(self.get(place.clone())) {
            self.take(place, class);
        }
    }

    /// Takes a word of a shell that has several parts; returns whether it is one.
    fn shell_word(&mut self, at: usize, name: &TextName) -> bool {
        let word = ShellWord::read(self.text, at, name.place.start);
        if !word.is_joined() {
            return false;
        }
        let is_part = |part: &Range<usize>| {
            let value = self.get(part.clone());
            !is_reference(value) && self.is_secret(value, name.class)
        };
        if word.parts.iter().any(is_part) {
            self.found.push(word.place);
        }
        true
    }

    /// Takes a word in backquotes; returns whether there is one.
    fn backquoted(&mut self, at: usize, name: &TextName) -> bool {
        let Some(inner) = backquoted(self.rest(at)) else {
            return false;
        };
        if is_open(self.text, name.place.start, b'`') {
            return false;
        }
        let place = at + inner.start..at + inner.end;
        let value = self.get(place.clone());
        if value.len() >= ASSIGNED_LEAST && !is_prose_word(value) && !is_reference(value) {
            self.take(place, name.class);
        }
        true
    }

    /// Takes the value without quotes that is the rest of its line.
    fn line(&mut self, at: usize, name: &TextName, sign: AssignmentSign) {
        let rest = self.rest(at);
        let line = count(rest, |byte| byte != b'\n' && byte != b'\r');
        let line = rest.get(..line).unwrap_or_default();
        let comment = memchr::memmem::find(line, b" #");
        let value = line.get(..comment.unwrap_or(line.len()));
        let value = value.unwrap_or_default().trim_ascii_end();
        let least = least(sign);
        if sign.is_doubtful && value.len() < least || is_prose_word(value) || is_reference(value) {
            return;
        }
        let place = at..at + value.len();
        if comment.is_none() && is_cut(value) {
            self.properties(place, name.class);
            return;
        }
        if !self.is_secret(value, name.class) {
            return;
        }
        let yaml = YamlLinesText(self.text);
        let end = (sign.is_colon && comment.is_none())
            .then(|| yaml.continued(at, name.place.start))
            .flatten();
        self.found.push(at..end.unwrap_or(place.end));
    }

    /// Takes the value without quotes at a place: a word, or behind a blank several.
    fn bare(&mut self, at: usize, name: &TextName, sign: AssignmentSign, is_spaced: bool) {
        let rest = self.rest(at);
        let is_flow = self.is_in_flow(name);
        let ends = |byte: u8| ends(byte) || is_flow && matches!(byte, b',' | b'}' | b']');
        let trimmed = |len: usize| {
            let value = rest.get(..len).unwrap_or_default();
            let is_tail = |byte| matches!(byte, b',' | b'.' | b')' | b']' | b'}');
            value
                .get(..len - count_back(value, is_tail))
                .unwrap_or_default()
        };
        // A password may begin with this sign, too; behind a blank it begins a placeholder or a redirection.
        let is_angle =
            !is_spaced && matches!(rest, [b'<', byte, ..] if byte.is_ascii_alphanumeric());
        let angle = usize::from(is_angle);
        let len = angle + word_len(rest.get(angle..).unwrap_or_default(), ends);
        let word = trimmed(len);
        let value = if is_spaced && !name.is_flag && !sign.is_doubtful {
            trimmed(phrase_len(rest, len, ends, sign.position))
        } else {
            word
        };
        // A single line in prose: only a value that looks like a credential.
        let is_prose = sign.is_doubtful
            && !(value.len() >= 16 || value.iter().any(u8::is_ascii_digit))
            || sign.is_doubtful && value.len() + at < self.text.len();
        if value.len() < least(sign) || is_prose || is_reference(value) {
            return;
        }
        // A sentence that begins with such a word is not a value.
        let is_sentence = sign.position != NamePosition::FirstEscaped
            && (is_prose_word(word)
                || value.len() > word.len() && !self.is_secret(word, name.class));
        if is_sentence || is_prose_word(value) {
            return;
        }
        self.take(at..at + value.len(), name.class);
    }

    /// Takes a value of properties that a backslash continues on the next lines.
    fn properties(&mut self, first: Range<usize>, class: NameClass) {
        let mut end = first.end;
        let mut value = Vec::new();
        let mut line = self.get(first.clone());
        while is_cut(line) {
            value.extend_from_slice(line.strip_suffix(b"\\").unwrap_or(line));
            let rest = self.rest(end);
            let Some(start) = memchr::memchr(b'\n', rest).map(|at| end + at + 1) else {
                break;
            };
            let start = start + count(self.rest(start), is_blank);
            let len = count(self.rest(start), |byte| byte != b'\n' && byte != b'\r');
            line = self.get(start..start + len).trim_ascii_end();
            end = start + line.len();
        }
        value.extend_from_slice(line.strip_suffix(b"\\").unwrap_or(line));
        if !is_reference(&value) && self.is_secret(&value, class) {
            self.found.push(first.start..end);
        }
    }

    /// Takes the item of a list behind a flag that is an item; returns whether it is one.
    fn is_argument(&mut self, name: &TextName, at: usize) -> bool {
        if !name.is_flag || name.class < NameClass::Possible {
            return false;
        }
        let rest = self.rest(at);
        let place = if rest.first() == Some(&b',') {
            let at = at
                + 1
                + count(rest.get(1..).unwrap_or_default(), |byte| {
                    byte.is_ascii_whitespace()
                });
            let rest = self.rest(at);
            let slashes = count(rest, |byte| byte == b'\\');
            let is_list = self.is_in_brackets(name);
            match rest.get(slashes).copied() {
                Some(quote @ (b'"' | b'\'')) if is_list || self.is_quoted(name) => {
                    let start = at + slashes + 1;
                    start..closing(self.text, start, quote, slashes)
                }
                Some(_) if is_list => {
                    at..at
                        + count(rest, |byte| {
                            !ends(byte) && !matches!(byte, b',' | b']' | b'}')
                        })
                }
                _ => return true,
            }
        } else if is_end_of_line(rest) {
            match YamlLinesText(self.text).item_behind(name.place.start) {
                Some(place) => place,
                None => return false,
            }
        } else {
            return false;
        };
        let value = self.get(place.clone());
        if !value.starts_with(b"-") && !is_reference(value) {
            self.take(place, name.class);
        }
        true
    }

    /// Returns whether a name is that of a header in a command, `-H 'token: VALUE'`. `authorization` has a scheme before
    /// its secret, and a pattern.
    fn is_header(&self, name: &TextName) -> bool {
        let before = self.get(0..name.place.start);
        let quotes = count_back(before, |byte| matches!(byte, b'"' | b'\'' | b'\\'));
        let before = before.get(..before.len() - quotes).unwrap_or_default();
        let between = count_back(before, |byte| is_blank(byte) || byte == b'=');
        let flag = before.get(..before.len() - between).unwrap_or_default();
        let is_authorization = |name: &[u8]| {
            let (_, end) = name.split_at(name.len().saturating_sub(13));
            end.eq_ignore_ascii_case(b"authorization")
        };
        quotes > 0
            && (flag.ends_with(b"-H") || flag.ends_with(b"--header"))
            && !is_authorization(self.get(name.place.clone()))
    }

    /// Returns whether a flag is the whole text between quotes.
    fn is_quoted(&self, name: &TextName) -> bool {
        let before = self.get(0..name.place.start);
        let dashes = count_back(before, |byte| byte == b'-');
        let quote = before
            .len()
            .checked_sub(dashes + 1)
            .and_then(|at| before.get(at));
        matches!(quote, Some(b'"' | b'\''))
    }

    /// Returns whether a name is in `[…]` that begins in its line.
    fn is_in_brackets(&self, name: &TextName) -> bool {
        let near = name.place.start.saturating_sub(NEIGHBOUR_BYTES);
        let before = self.get(near..name.place.start);
        let place = before
            .iter()
            .rposition(|byte| matches!(byte, b'[' | b']' | b'\n'));
        place.and_then(|at| before.get(at)) == Some(&b'[')
    }

    /// Returns whether a name is a field within `{…}`.
    fn is_in_flow(&self, name: &TextName) -> bool {
        let before = self.get(0..name.place.start);
        let before = before.trim_ascii_end();
        let before = before
            .strip_suffix(b"\"")
            .unwrap_or(before)
            .trim_ascii_end();
        matches!(before.last(), Some(b'{' | b','))
    }

    /// Judges a name without a sign of assignment behind it.
    fn without_sign(&mut self, name: &TextName, at: usize, blanks: usize) {
        let is_netrc = is_netrc(self.text, name);
        let at = if is_netrc {
            at + count(self.rest(at), |byte| byte.is_ascii_whitespace())
        } else {
            at
        };
        let rest = self.rest(at);
        if at == name.place.end || !(blanks > 0 || is_netrc) {
            return;
        }
        if name.is_flag && name.class >= NameClass::Possible || is_netrc {
            if let Some(quote @ (b'"' | b'\'')) = rest.first().copied() {
                if is_netrc || !self.shell_word(at, name) {
                    self.quoted(at, 0, quote, name.class);
                }
                return;
            }
            let len = word_len(rest, ends);
            let value = rest.get(..len).unwrap_or_default();
            let is_plain = value.starts_with(b"-") || is_prose_word(value) || is_reference(value);
            // In a sentence, words follow a flag.
            let is_worth = if self.is_command && !is_netrc {
                self.is_argument_of(name, at, value)
            } else {
                value.len() >= VALUE_LEAST
                    && (is_netrc
                        || value.len() >= 16
                        || value.iter().any(|byte| !byte.is_ascii_lowercase()))
            };
            if !is_plain && is_worth {
                self.take(at..at + len, name.class);
            }
            return;
        }
        // `requirepass VALUE` as a line of a file.
        if self.has_lines && name.class == NameClass::Secret && begins_line(self.text, name, false)
        {
            let len = count(rest, |byte| !byte.is_ascii_whitespace());
            let value = rest.get(..len).unwrap_or_default();
            let is_alone = is_end_of_line(rest.get(len..).unwrap_or_default());
            if is_alone
                && value.len() >= VALUE_LEAST
                && !is_prose_word(value)
                && !is_reference(value)
                && value.first().is_some_and(u8::is_ascii_alphanumeric)
            {
                self.take(at..at + len, name.class);
            }
        }
    }

    /// Returns whether the word behind a flag of a command is its value, not an operator of the shell. A flag such as
    /// `--no-password` has none.
    fn is_argument_of(&self, name: &TextName, at: usize, value: &[u8]) -> bool {
        let is_operator = value.first().is_none_or(|byte| b"|()#".contains(byte));
        let is_stream = value.iter().all(u8::is_ascii_digit)
            && matches!(self.rest(at + value.len()), [b'>' | b'<', ..]);
        !is_operator && !is_stream && !self.get(name.place.clone()).starts_with(b"no-")
    }

    /// Judges a name as an element of XML; `false` if it is not one.
    fn element(&mut self, name: &TextName) -> bool {
        let before = self.get(0..name.place.start);
        let near = before.get(before.len().saturating_sub(NAME_BYTES)..);
        let prefix = count_back(near.unwrap_or_default(), |byte| {
            byte.is_ascii_alphanumeric() || byte == b':'
        });
        let before = before.get(..before.len() - prefix).unwrap_or_default();
        if before.last() != Some(&b'<') {
            return before.ends_with(b"</");
        }
        let rest = self.rest(name.place.end);
        let Some(end) = rest
            .iter()
            .take(NEIGHBOUR_BYTES)
            .position(|byte| matches!(byte, b'>' | b'<'))
        else {
            return false;
        };
        if rest.get(end) == Some(&b'>') && !rest.get(..end).is_some_and(|tag| tag.ends_with(b"/")) {
            self.content(name.place.end + end + 1, name.class);
            return true;
        }
        false
    }

    /// Takes the content of an element of XML.
    fn content(&mut self, at: usize, class: NameClass) {
        let rest = self.rest(at);
        let blanks = count(rest, |byte| byte.is_ascii_whitespace());
        let (at, end) = match rest
            .get(blanks..)
            .and_then(|rest| rest.strip_prefix(b"<![CDATA["))
        {
            Some(inner) => (
                at + blanks + 9,
                memchr::memmem::find(inner, b"]]>").unwrap_or(inner.len()),
            ),
            None => (
                at + blanks,
                memchr::memchr(b'<', rest.get(blanks..).unwrap_or_default())
                    .unwrap_or(rest.len() - blanks),
            ),
        };
        let len = self.get(at..at + end).trim_ascii_end().len();
        self.take(at..at + len, class);
    }

    /// Takes the value beside a name: `name: X, value: Y`, in either order, and in XML.
    fn neighbour(&mut self, name: &TextName) {
        let rest = self.rest(name.place.end);
        if rest.starts_with(b"</") {
            let near = rest
                .get(..rest.len().min(NEIGHBOUR_BYTES))
                .unwrap_or_default();
            if let Some(value) = memchr::memmem::find(near, b"<value>") {
                self.content(name.place.end + value + 7, name.class);
            }
            return;
        }
        let mut at = name.place.end;
        for _ in 0..NEIGHBOURS_MOST {
            loop {
                let rest = self.rest(at);
                match rest {
                    // An escaped line break.
                    [b'\\', b'n', ..] => at += 2,
                    [byte, ..] if is_between(*byte) => at += 1,
                    [b'#', ..] if self.begins_comment(at) => {
                        at += count(rest, |byte| byte != b'\n');
                    }
                    _ => break,
                }
            }
            let rest = self.rest(at);
            if at > name.place.end + NEIGHBOUR_BYTES {
                break;
            }
            if rest.first() == Some(&b'>') {
                self.content(at + 1, name.class);
                return;
            }
            let len = count(rest, |byte| byte.is_ascii_alphanumeric());
            let word = std::str::from_utf8(rest.get(..len).unwrap_or_default()).unwrap_or_default();
            if len == 0 || names::is_name_field(word) {
                break;
            }
            let is_value = names::is_value_field(word);
            let field = at;
            at += len;
            at += count(self.rest(at), |byte| {
                matches!(byte, b'"' | b'\'' | b'\\') || is_blank(byte)
            });
            let is_colon = match self.rest(at).first() {
                Some(b':') => true,
                Some(b'=') => false,
                _ => break,
            };
            at += 1;
            if is_value {
                let field = TextName {
                    place: field..field + len,
                    ..name.clone()
                };
                let position = NamePosition::of(self.text, &field);
                self.assigned(at, &field, certain(is_colon, position));
                return;
            }
            // Skips another field.
            let quote = count(self.rest(at), is_blank);
            at += quote;
            at = match self.rest(at).first() {
                Some(quote @ (b'"' | b'\'')) => closing(self.text, at + 1, *quote, 0) + 1,
                _ => {
                    at + count(self.rest(at), |byte| {
                        !matches!(byte, b',' | b'\n' | b';' | b'}' | b'>')
                    })
                }
            };
        }
        self.neighbour_before(name);
    }

    /// Returns whether the `#` at a place begins a comment of YAML.
    fn begins_comment(&self, at: usize) -> bool {
        self.get(0..at).last().is_some_and(u8::is_ascii_whitespace)
    }

    fn neighbour_before(&mut self, name: &TextName) {
        let path = patch_path(self.text, name.place.start);
        let field = word_before(self.text, name.place.start).map(|(start, _)| start);
        let Some(start) = path.or(field) else {
            return;
        };
        let near = start.saturating_sub(NEIGHBOUR_BYTES);
        let before = self.get(near..start);
        let skip = count_back(before, is_between);
        let before = before.get(..before.len() - skip).unwrap_or_default();
        let from = before
            .iter()
            .rposition(|byte| matches!(byte, b'\n' | b'{' | b','))
            .map_or(0, |at| at + 1);
        let field = from
            + count(before.get(from..).unwrap_or_default(), |byte| {
                is_blank(byte) || matches!(byte, b'-' | b'"' | b'\'')
            });
        let rest = before.get(field..).unwrap_or_default();
        let len = count(rest, |byte| byte.is_ascii_alphanumeric());
        let word = std::str::from_utf8(rest.get(..len).unwrap_or_default()).unwrap_or_default();
        let sign = len
            + count(rest.get(len..).unwrap_or_default(), |byte| {
                is_blank(byte) || matches!(byte, b'"' | b'\'')
            });
        let is_colon = match rest.get(sign) {
            Some(b':') => true,
            Some(b'=') => false,
            _ => return,
        };
        if names::is_value_field(word) {
            let (field, sign) = (near + field, near + field + sign + 1);
            let field = TextName {
                place: field..field + len,
                ..name.clone()
            };
            let position = NamePosition::of(self.text, &field);
            self.assigned(sign, &field, certain(is_colon, position));
        }
    }

    /// Takes the items of a list in brackets.
    fn list(&mut self, at: usize, class: NameClass) {
        let mut at = at;
        loop {
            at += count(self.rest(at), |byte| {
                byte.is_ascii_whitespace() || byte == b','
            });
            let rest = self.rest(at);
            let slashes = count(rest, |byte| byte == b'\\');
            let place = match rest.get(slashes).copied() {
                Some(quote @ (b'"' | b'\'')) => {
                    let start = at + slashes + 1;
                    let end = closing(self.text, start, quote, slashes);
                    at = end + slashes + 1;
                    start..end
                }
                None | Some(b']' | b'{' | b'[') => return,
                Some(_) => {
                    let len = count(rest, |byte| {
                        !ends(byte) && !matches!(byte, b',' | b']' | b'}')
                    });
                    if len == 0 {
                        return;
                    }
                    at += len;
                    at - len..at
                }
            };
            if !is_reference(self.get(place.clone())) {
                self.take(place, class);
            }
        }
    }

    /// Takes the fields of a map in braces; returns whether there are any.
    fn map(&mut self, at: usize, name: &TextName) -> bool {
        let fields = FlowMapsText(self.text).fields(at);
        let names: Vec<_> = fields.iter().map(|field| field.name.clone()).collect();
        for (field, class) in fields.into_iter().zip(self.classes_below(name, &names)) {
            if !is_reference(self.get(field.value.clone())) {
                self.take(field.value, class);
            }
        }
        !names.is_empty()
    }

    /// Returns what the fields of a map announce that is below a name; nothing where the names in the map announce it.
    fn classes_below(&self, name: &TextName, fields: &[Range<usize>]) -> Vec<NameClass> {
        let text = |place: &Range<usize>| {
            let word = std::str::from_utf8(self.get(place.clone())).unwrap_or_default();
            word.trim_matches(['"', '\''])
        };
        let above = text(&name.place);
        // Schemas describe a field of this name.
        let is_schema = fields.iter().any(|field| text(field) == "type");
        let has_below = !is_schema && names::has_secrets_below(above, name.class);
        let class = |field| match text(field) {
            word if names::is_value_field(word) => name.class,
            word if has_below && names::class(word) == NameClass::Plain => {
                names::class_below(above, word)
            }
            _ => NameClass::Plain,
        };
        fields.iter().map(class).collect()
    }

    /// Takes what belongs to a field of YAML on the lines below it.
    fn block(&mut self, at: usize, name: &TextName, is_scalar: bool) {
        let yaml = YamlLinesText(self.text);
        let place = if is_scalar {
            yaml.block_scalar(at, name.place.start)
        } else {
            self.nested_fields(&yaml.below(at, name.place.start, false), name)
        };
        if let Some(place) = place
            && !is_reference(self.get(place.clone()))
        {
            self.take(place, name.class);
        }
    }

    /// Takes the items and the value fields of the lines below a field, and returns the place of a
    /// scalar there.
    fn nested_fields(&mut self, lines: &[IndentedLine], name: &TextName) -> Option<Range<usize>> {
        let yaml = YamlLinesText(self.text);
        let (first, column) = lines.first().map(|line| (line.indent(), line.column()))?;
        let field = |line: &IndentedLine| {
            let (len, sign) = yaml.field(line.scalar())?;
            let start = line.scalar().start;
            Some((start..start + len, sign))
        };
        let fields: Vec<_> = lines.iter().filter_map(field).map(|(at, _)| at).collect();
        let mut classes = self.classes_below(name, &fields).into_iter();
        let mut scalar: Option<Range<usize>> = None;
        for line in lines {
            let (content, item) = (line.content(), line.scalar());
            match field(line) {
                Some((place, sign)) => {
                    let class = classes.next().unwrap_or_default();
                    if line.column() == column && class != NameClass::Plain {
                        let field = TextName {
                            place,
                            class,
                            ..name.clone()
                        };
                        self.assigned(sign, &field, certain(true, NamePosition::First));
                    }
                }
                None if line.is_item() => {
                    let quoted = self.get(item.clone());
                    let is_quoted =
                        quoted.len() >= 2 && matches!(quoted.first(), Some(b'"' | b'\''));
                    let place = if is_quoted {
                        item.start + 1..item.end - 1
                    } else {
                        item
                    };
                    self.take(place, name.class);
                }
                None if line.indent() >= first => {
                    let from = scalar.map_or(content.start, |scalar| scalar.start);
                    scalar = Some(from..content.end);
                }
                None => {}
            }
        }
        scalar
    }

    /// Takes the values of each Secret in YAML.
    fn secrets(&mut self) {
        for place in FlowMapsText(self.text).secret_values() {
            self.take_all(place);
        }
        if !self.has_lines {
            return;
        }
        for value in YamlLinesText(self.text).secret_values() {
            if !value.is_block {
                self.take_all(value.place);
            } else if !is_reference(self.get(value.place.clone())) {
                self.take(value.place, NameClass::Secret);
            }
        }
    }

    /// Takes a place unconditionally.
    fn take_all(&mut self, place: Range<usize>) {
        let value = self.get(place.clone());
        if !value.is_empty() && !is_mark(value) && !is_encoded_mark(value) && !is_reference(value) {
            self.found.push(place);
        }
    }
}

const fn certain(is_colon: bool, position: NamePosition) -> AssignmentSign {
    AssignmentSign {
        is_colon,
        position,
        is_doubtful: false,
    }
}

const fn least(sign: AssignmentSign) -> usize {
    if sign.is_colon {
        VALUE_LEAST
    } else {
        ASSIGNED_LEAST
    }
}

/// Returns how long a value of several words is whose first word has a length: it goes on to the next field, and in a
/// sentence to a word or a sign that passwords rarely have.
fn phrase_len(
    rest: &[u8],
    word: usize,
    ends: impl Fn(u8) -> bool + Copy,
    position: NamePosition,
) -> usize {
    let is_sentence = position == NamePosition::Inside;
    let mut len = word;
    loop {
        let last = len.checked_sub(1).and_then(|at| rest.get(at));
        let is_over = last.is_none_or(|byte| is_sentence && b",;:.)]}".contains(byte));
        let rest = rest.get(len..).unwrap_or_default();
        let blanks = count(rest, is_blank);
        let next = rest.get(blanks..).unwrap_or_default();
        let word = next.get(..word_len(next, ends)).unwrap_or_default();
        if is_over || blanks == 0 || word.is_empty() {
            return len;
        }
        let is_field = match word.get(count(word, is_name_byte)..) {
            Some([b'=', ..]) => position != NamePosition::FirstEscaped,
            Some(tail) => tail == b":",
            None => false,
        };
        let is_prose = is_prose_word(word) || word.starts_with(b"(") || word.starts_with(b"-");
        if is_field || is_sentence && is_prose {
            return len;
        }
        len += blanks + word.len();
    }
}

/// Returns whether a line of properties goes on in the next one. A backslash behind a blank
/// continues a command instead.
fn is_cut(line: &[u8]) -> bool {
    let slashes = count_back(line, |byte| byte == b'\\');
    let before = line.get(..line.len() - slashes).unwrap_or_default();
    slashes % 2 == 1 && !before.last().is_some_and(|byte| is_blank(*byte))
}

/// Returns whether a name is a word that prose uses, too: `token`, `secret`, `auth`.
fn is_weak(name: &[u8], class: NameClass) -> bool {
    class < NameClass::Secret || name.len() <= 6 || name.eq_ignore_ascii_case(b"cookies")
}

fn ends(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || byte.is_ascii_control()
        || matches!(
            byte,
            b'"' | b'\'' | b'`' | b'\\' | b'&' | b';' | b'<' | b'>'
        )
}

/// Returns whether what follows a colon behind a name in quotes is the text of a message, as in `volume "token" : not
/// found`, not a value in quotes or a number.
fn is_phrase(rest: &[u8]) -> bool {
    let blanks = count(rest, is_blank);
    let value = rest.get(blanks..).unwrap_or_default();
    let digits = count(value, |byte| byte.is_ascii_digit());
    let next = value.get(digits..).unwrap_or_default();
    let is_number =
        digits > 0 && (is_end_of_line(next) || matches!(next, [b',' | b'}' | b']', ..]));
    let is_open = matches!(value.first(), Some(b'"' | b'\'' | b'\\' | b'[' | b'{'));
    blanks > 0 && !is_number && !is_open && !is_end_of_line(value)
}

/// Returns whether a value refers to another one, or is not a value: `$(NAME)`, `{{ .Values.name }}`, `<your-token>`,
/// `%(name)s`, a map or a list. A password may begin with each of these signs.
fn is_reference(value: &[u8]) -> bool {
    match value {
        [b'$' | b'%', b'(' | b'{', ..] | [b'{', b'{' | b'%', ..] => true,
        [b'{', rest @ ..] => is_structure(rest, b"}\"'[{<") || is_placeholder(rest, b'}'),
        [b'[', rest @ ..] => is_structure(rest, b"]\"'[{<") || is_placeholder(rest, b']'),
        [b'<', rest @ ..] => is_placeholder(rest, b'>'),
        [b'%', rest @ ..] => is_verb(rest) || is_placeholder(rest, b'%'),
        _ => false,
    }
}

/// Returns whether what follows the brace or the bracket at the beginning of a value belongs to a map or a list.
fn is_structure(rest: &[u8], begins: &[u8]) -> bool {
    let blanks = count(rest, |byte| byte.is_ascii_whitespace() || byte == b'\\');
    let inner = rest.get(blanks..).unwrap_or_default();
    let name = count(inner, |byte| is_name_byte(byte) || byte == b'/');
    let is_field = name > 0 && matches!(inner.get(name), Some(b':' | b'=' | b','));
    blanks > 0 || is_field || inner.first().is_none_or(|byte| begins.contains(byte))
}

/// Returns whether the rest of a value is words, as people fill them in: `your-token>`.
fn is_placeholder(rest: &[u8], end: u8) -> bool {
    let len = count(rest, |byte| byte != end);
    let words = std::str::from_utf8(rest.get(..len).unwrap_or_default()).unwrap_or_default();
    !words.is_empty()
        && words
            .split(|sign: char| sign.is_whitespace() || sign.is_ascii_punctuation())
            .all(forms::is_atom)
}

/// Returns whether the rest of a value is a directive of a format, `%s` or `%08x`, or encodes a sign.
fn is_verb(rest: &[u8]) -> bool {
    let flags = count(rest, |byte| {
        byte.is_ascii_digit() || b"+-# .!".contains(&byte)
    });
    let next = rest.get(flags..).unwrap_or_default();
    let is_alone = !next.get(1).is_some_and(u8::is_ascii_alphanumeric);
    next.first().is_none_or(u8::is_ascii_alphabetic) && is_alone
}

/// Returns whether a byte may separate two fields.
fn is_between(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'\\' | b',' | b';')
}

fn is_prose_word(value: &[u8]) -> bool {
    PROSE
        .iter()
        .any(|word| value.eq_ignore_ascii_case(word.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let mut places = values(text.as_bytes(), false);
        places.sort_by_key(|place| (place.start, place.end));
        places.dedup();
        let found: Vec<&str> = places.into_iter().map(|place| &text[place]).collect();
        assert!(
            found.is_empty() || crate::text::triggers::suspects_as_is(text.as_bytes()),
            "{text}"
        );
        found
    }

    /// Texts, and the value that each of them names.
    const NAMED: &[(&str, &str)] = &[
        ("password: hunter2, user: x", "hunter2"),
        ("DB_PASSWORD=hunter2;Host=a", "hunter2"),
        (r#"{"password":"hun ter2"}"#, "hun ter2"),
        (r#"{\"password\":\"a\\\"b\",\"x\":1}"#, r#"a\\\"b"#),
        (r#"{"pin":123456,"x":1}"#, "123456"),
        ("?a=1&token=abcdef&b=2", "abcdef"),
        ("?apikey=a1b&b=2", "a1b"),
        ("aws_secret_access_key = wJalrXUtnFEMI", "wJalrXUtnFEMI"),
        (r#""auth": "dXNlcg=="#, "dXNlcg=="),
        ("run --bot-token 1234567 now", "1234567"),
        ("run --token=12-34567 now", "12-34567"),
        ("run --password 'two words' now", "two words"),
        ("&X-Amz-Signature=abc123&x", "abc123"),
        ("&sig=abc123&x", "abc123"),
        ("passwd='it''", "it"),
        ("a: 1\ntoken: abcdef\nb: 2\n", "abcdef"),
        ("a: 1\npassword: two words # why\nb: 2\n", "two words"),
        ("a:\n  psk: 'x y'\n", "x y"),
        ("a: {token: abc1, b: 2}\n", "abc1"),
        (
            "a:\n- password: |\n    one\n\n    two\n  b: c\n",
            "one\n\n    two",
        ),
        ("secret: >-\n  one\nb: c\n", "one"),
        ("password:\n  one2\nb: c\n", "one2"),
        ("tokens:\n- one2\nb: c\n", "one2"),
        ("tokens: [one2, \"true\"]\n", "one2"),
        ("password:\n  value: one2\n", "one2"),
        (
            "- name: DB_PASSWORD\n  value: one2\n- name: A\n  value: b\n",
            "one2",
        ),
        (
            "- name: A\n  value: b\n- value: one2\n  name: DB_PASSWORD\n",
            "one2",
        ),
        (
            "- {name: DB_PASSWORD, required: true, value: one2}\n",
            "one2",
        ),
        (
            "- name: DB_PASSWORD\n  description: 'a b'\n  value: |\n    one2\n",
            "one2",
        ),
        ("[db]\nuser = a\npassword = one two\n", "one two"),
        ("db.user=a\ndb.password=one2\n", "one2"),
        ("machine h.example login bob password one-two", "one-two"),
        (
            "machine h.example\n  login bob\n  password onetwo\n",
            "onetwo",
        ),
        ("<a><password>one</password></a>", "one"),
        (
            "<a><x:apiKey type=\"s\"><![CDATA[o<e]]></x:apiKey></a>",
            "o<e",
        ),
        ("<user name=\"a\" password=\"one\"/>", "one"),
        ("<property name=\"password\" value=\"one\"/>", "one"),
        ("<entry key=\"password\">one</entry>", "one"),
        (
            "<property><name>a.password</name>\n<value>one</value></property>",
            "one",
        ),
        ("port 1\nrequirepass one2\n", "one2"),
        ("kind: Secret\ndata:\n  plain: b25l\ntype: Opaque\n", "b25l"),
        (
            "- apiVersion: v1\n  stringData:\n    a.b: |\n      one\n      two\n  kind: Secret\n- kind: Pod\n  data:\n    x: y\n",
            "one\n      two",
        ),
        ("kind: Secret\ndata: {a: b25l}\n", "a: b25l"),
        ("export API_TOKEN=one2\n", "one2"),
        ("a:\n  password: 'abc''one'\nb: 'c'\n", "abc''one"),
        (
            "passphrase: two words\n  one\n\n  one2\nb: c\n",
            "two words\n  one\n\n  one2",
        ),
        ("- password: two\n    one # why\n    x\n", "two\n    one"),
        ("- name: DB_PASSWORD\n  # why\n  value: \"one2\"\n", "one2"),
        ("- name: DB_PASSWORD # why\n  value: one2\n", "one2"),
        ("args: [\"--client-secret\", \"one2\"]\n", "one2"),
        ("args: [--client-secret, one2, --x]\n", "one2"),
        ("run {\"args\":[\"--client-secret\",\"one2\"]}", "one2"),
        (
            "x: {\\\"args\\\":[\\\"--client-secret\\\", \\\"one2\\\"]}",
            "one2",
        ),
        ("args:\n- --client-secret\n- one2\n- --x\n", "one2"),
        (
            "args:\n  - \"--client-secret\"\n  # why\n  - 'one2' # x\n",
            "one2",
        ),
        ("passwords:\n- name: a\n  value: one2\n", "one2"),
        ("passwords:\n  - name: a\n    value: one2\n", "one2"),
        ("DB_PASSWORD=$'one2' ./x", "$'one2'"),
        ("PASSWORD=a'b'one2 ./x", "a'b'one2"),
        ("run PASSWORD=`one2` now", "one2"),
        ("export PASSWORD='it'\\''s one2'", "'it'\\''s one2'"),
        ("PASSWORD=\"a b\"one2 ./x", "\"a b\"one2"),
        ("run --password 'a'\"one2\" now", "'a'\"one2\""),
        (
            "db.password=abc\\\n   one\\\n   two\nb=c\n",
            "abc\\\n   one\\\n   two",
        ),
        ("db.password=\\\n   one2\nb=c\n", "\\\n   one2"),
        ("PASSWORD = '''one2'''", "one2"),
        ("PASSWORD = \"\"\"one2\"\"\"", "one2"),
        (
            "{apiVersion: v1, kind: Secret, stringData: {zz: one2}}",
            "one2",
        ),
        (
            r#"applied: {"kind":"Secret","stringData":{"zz":"one2"}} ok"#,
            "one2",
        ),
        ("password: Rex7 my dog", "Rex7 my dog"),
        ("password: my dog Rex7", "my dog Rex7"),
        ("password: my dog, user: x", "my dog"),
        ("password = my dog Rex7", "my dog Rex7"),
        ("{user: bob, password: Rex7 my dog}", "Rex7 my dog"),
        ("login failed, password: Rex7 my dog", "Rex7 my dog"),
        (
            "login with password: Rex7 my dog for user bob",
            "Rex7 my dog",
        ),
        ("login with password: my dog (1st try)", "my dog"),
        ("run app '--password=my dog' --x", "my dog"),
        ("run \"PASSWORD=my dog\" --x", "my dog"),
        ("run {\\\"x\\\":\\\"--password=my dog\\\"}", "my dog"),
        ("ARGS=\"--password=one2 --x=y\"", "one2"),
        ("run \"password=one2 host=y\"", "one2"),
        ("run --password=my\\ dog x", "my\\ dog"),
        ("run --password My\\ dog x", "My\\ dog"),
        ("bad \"users:\\n- user:\\n    token: one2\\n\"", "one2"),
        ("bad \"a: b\\r\\ntoken: my dog\\r\\n\"", "my dog"),
        (r#"bad \"a: b\\n\\tsecret: one2\\nc: d\""#, "one2"),
        ("bad 'a: b\\napiKey: one2'", "one2"),
        (
            "- op: replace\n  path: /spec/password\n  value: one2\n- op: remove\n  path: /a\n",
            "one2",
        ),
        (
            r#"[{\"op\":\"add\",\"path\":\"/metadata/annotations/acme.io~1api-token\",\"value\":\"one2\"}]"#,
            "one2",
        ),
        ("- value: one2\n  path: /password\n  op: add\n", "one2"),
        ("max_tokens: 4096\ntoken: one2\n", "one2"),
        ("MAX_TOKENS=4096 TOKEN=4096 ./x", "4096"),
        ("curl -H 'token: one2' https://x", "one2"),
        ("curl --header=\"apikey: one2\" x", "one2"),
        ("curl \\\n  -H 'x-auth: one2' \\\n  https://x\n", "one2"),
        ("a:\n  password: \"%9kQ!rT2zLw\"\n", "%9kQ!rT2zLw"),
        ("a:\n  password: '<8kQ!rT2zLw'\n", "<8kQ!rT2zLw"),
        ("a:\n  password: '[7kQ!rT2zLw'\n", "[7kQ!rT2zLw"),
        ("PGPASSWORD='{6kQ!rT2zLw' psql", "{6kQ!rT2zLw"),
        ("user=app password=%5kQ!rT2zLw dbname=x", "%5kQ!rT2zLw"),
        ("UID=sa;PWD={4kQ!rT2zLw};Encrypt=yes", "{4kQ!rT2zLw"),
        ("PASSWORD=<3kQ!rT2zLw ./x", "<3kQ!rT2zLw"),
        ("run --password=<3kQ!rT2zLw x", "<3kQ!rT2zLw"),
        ("a:\n  passwords:\n    alice: zq7Vx2\n", "zq7Vx2"),
        ("tokens:\n  ci:\n  - zq7Vx2\nb: c\n", "zq7Vx2"),
        ("password:\n  current: zq7Vx2\n", "zq7Vx2"),
        ("got {\"apiKeys\":{\"prod\":\"zq7Vx2\"}}", "zq7Vx2"),
        ("patch -p '{\"stringData\":{\"foo\":\"word\"}}'", "word"),
        ("a: {password: {value: word}}\n", "word"),
    ];

    #[test]
    fn values_are_found_where_they_are_named() {
        for (text, expected) in NAMED {
            assert_eq!(found(text), [*expected], "{text}");
        }
    }

    #[test]
    fn in_a_command_every_word_behind_a_flag_is_its_value() {
        for (text, expected) in [
            ("app --password changeme", "changeme"),
            ("redis-server --requirepass changeme\n", "changeme"),
            ("app --token sunflower --x", "sunflower"),
            ("app --password abc", "abc"),
            ("app --no-password mydb", ""),
            ("oc whoami --show-token 2>/dev/null", ""),
            ("app --token | cat", ""),
            ("app --password $(cat /x)", ""),
            ("echo the flag --token must be set", ""),
        ] {
            let places = values(text.as_bytes(), true);
            let found: Vec<&str> = places.into_iter().map(|place| &text[place]).collect();
            assert_eq!(found.concat(), expected, "{text}");
        }
    }

    #[test]
    fn prose_and_references_are_left() {
        for text in [
            "invalid password: incorrect",
            "secret \"pull-secret\" not found",
            "failed to get secret: it is gone",
            "invalid bearer token: token lookup failed",
            "the flag --token must be set",
            "password: $(PASSWORD)",
            "password={{ .Values.password }}",
            "\"token\": null",
            "secretName=1234567",
            "password: \"\"",
            "secretName: x2y\ntokenTTL: 10m\npublicKey: abc1\n",
            "tls:\n  key: /etc/tls/key.pem\n  secretName: x\n",
            "auth: oauth-openshift\nkey: value\n",
            "a:\n  secret:\n    secretName: abc1\n    items: [a]\n",
            "rules:\n- apiGroups: [\"\"]\n  resources: [secrets]\n  verbs: [get]\n",
            "kind: SecretList\ndata:\n  a: b\n",
            "<secretRef>one2</secretRef>",
            "http://token://x",
            "OAuthServerAvailable: no pods\nOAuthDegraded: x2y\n",
            "a: \"secret/node-kubeconfigs\": secret \"x2\" not found",
            "volume \"cloud-credential-operator-cert\" : secret \"x2\" not found\n",
            "exec run \\\n  --kubeconfig=/etc/kubernetes/static-pod-resources/configmaps/cert-syncer-kubeconfig/kubeconfig \\\n  --client-cert-auth=true \\\n",
            "X_KUBECONFIG=$CONF_DIR/whereabouts.kubeconfig\n",
            "the user authentication using keystone password credentials of x2",
            "run --privkey /ovn-cert/tls.key \\\n",
            "{\"signature\": \"https://a.example/x2y.sig\"}",
            "args: [\"--token-ttl\", \"x2y\", \"--token\", \"--x2y\"]\n",
            "the flags --password, --token, X2y and others",
            "args:\n- --token\n- --x2y\n- --password\n- $(PASSWORD)\nb:\n- x2y\n",
            "- name: DB_PASSWORD\n  # value: x2y\n- name: A\n  value: x2y\n",
            "passwords:\n- name: x2y\n  value: $(PASSWORD)\n",
            "TOKEN=`cat /run/x2y` ./x",
            "the variable `PASSWORD=` and `x2y`",
            "TOKEN=\"$(cat /run/a)\"'' ./x",
            "tls.key=\\\n  /etc/tls/key.pem\n",
            "password: null\n  x2y\n",
            "{kind: ConfigMap, data: {zz: x2y}}",
            "password: must contain 8 letters",
            "spec.password: Invalid value: must be set",
            "run \"--password=$(PASSWORD) x2y\"",
            "got \"token=invalid or expired\"",
            "bad \"users:\\n  token: expired\\n\"",
            "the folder C:\\new, invalid token: x2y",
            "max_tokens: 4096",
            "- path: /run/secrets/token\n  value: x2y\n",
            "- op: replace\n  path: /spec/replicas\n  value: x2y\n",
            "failed for volume \"session-secret\" : secret \"x2y\" not found",
            "controller \"oauth-token\": context deadline exceeded (x2y)",
            "exec: \"oauth\": executable file x2y not found",
            "secret \"pull-secret\": Forbidden: may not be x2y",
            "couldn't get 'kubeconfig': x2y is missing",
            "check \"token\": 500 x2y",
            "curl -H \"token: $TOKEN\" -H 'x-auth: $(X2Y)' x",
            "password: <your-password>",
            "password=<set to the key 'x' in secret 'y'>",
            "token=%s, secret=%q",
            "password: \"%(password)s\"\ntoken: '{token}'\nsecret: '[REDACTED]'\n",
            "password=%PASSWORD% run",
            "\"credentials\": \"{\\\"x\\\": 1}\"",
            "{\"tokens\": {\"ci\": {\"path\": \"x\"}}}",
            "token:\n  audience: x2y\n  path: x2y\n  expirationSeconds: 3607\n",
            "password:\n  secretKeyRef:\n    name: x2y\n    key: x2y\n",
            "password:\n  type: string\n  pattern: ^x2y$\n",
        ] {
            assert_eq!(found(text), Vec::<&str>::new(), "{text}");
        }
    }
}
