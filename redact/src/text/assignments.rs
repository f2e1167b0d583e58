//! Finds values that a text assigns to a name that announces a secret.
//!
//! Read are `name: value` and `name=value` of YAML, JSON, properties, INI, queries and shells, blocks and
//! lists of YAML, neighbours such as `name: X` and `value: Y`, elements and attributes of XML, flags,
//! `.netrc`, and the values of a Secret in YAML. Prose about secrets is left, as far as it can be known.
//!
//! `is_followed` is the quick look at a name: `values` takes nothing where it says no.

use crate::forms;
use crate::mark::{is_encoded_mark, is_mark};
use crate::names::{self, NameClass};
use std::ops::Range;

/// A shorter value after a colon is no secret.
const VALUE_LEAST: usize = 4;

/// The same after `=`, where prose is rarer.
const ASSIGNED_LEAST: usize = 3;

/// How far before a name its file is looked for: `machine HOST login NAME password`.
const NETRC_BYTES: usize = 300;

/// How far behind a name its value may stand, and behind how many other fields.
const NEIGHBOUR_BYTES: usize = 600;
const NEIGHBOURS_MOST: usize = 8;

/// How much of a name is read on each side.
const NAME_BYTES: usize = 128;

/// Words that follow such a name in prose.
#[rustfmt::skip]
const PROSE: [&str; 42] = [
    "required", "incorrect", "invalid", "expired", "missing", "not", "is", "must", "null", "nil", "true", "false",
    "none", "unset", "empty", "failed", "cannot", "rejected", "denied", "unknown", "string", "the", "no", "error",
    "from", "unauthorized", "and", "or", "was", "were", "to", "for", "with", "when", "if", "has", "flag", "flags",
    "option", "should", "will", "found",
];

/// A name in a text.
#[derive(Clone, Debug)]
pub(super) struct TextName {
    pub(super) place: Range<usize>,
    pub(super) class: NameClass,
    /// Whether dashes stand before it.
    is_flag: bool,
}

/// Finds the values.
pub(crate) fn values(text: &[u8]) -> Vec<Range<usize>> {
    let mut search = Search {
        text,
        has_lines: memchr::memchr(b'\n', text).is_some(),
        found: Vec::new(),
    };
    let mut from = 0;
    for name in names_in(text) {
        // What was found is replaced whole: names in it are none.
        if name.place.start >= from {
            let known = search.found.len();
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
    search.secrets();
    search.found
}

fn names_in(text: &[u8]) -> impl Iterator<Item = TextName> {
    let mut from = 0;
    names::places(text).filter_map(move |at| {
        if at < from {
            return None;
        }
        let name = name_at(text, at)?;
        from = name.place.end;
        (name.class >= NameClass::Mentions).then_some(name)
    })
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Reads the name that a place lies in, or ends behind.
pub(super) fn name_at(text: &[u8], at: usize) -> Option<TextName> {
    let at = if text.get(at).is_some_and(|byte| is_name_byte(*byte)) {
        at
    } else {
        at.checked_sub(1)?
    };
    let before = text.get(at.saturating_sub(NAME_BYTES)..at)?;
    let left = before
        .iter()
        .rev()
        .take_while(|byte| is_name_byte(**byte))
        .count();
    let after = text.get(at..)?.iter().take(NAME_BYTES);
    let right = after.take_while(|byte| is_name_byte(**byte)).count();
    let mut place = at - left..at + right;
    // An escape is no part of a name: `\npassword`.
    place.start = (place.start + escape(text, place.start)).min(place.end);
    // The domain before it: `acme.io/api-token`.
    if place.start > 0 && text.get(place.start - 1) == Some(&b'/') {
        let before = text
            .get(place.start.saturating_sub(NAME_BYTES)..place.start - 1)
            .unwrap_or_default();
        let domain = before
            .iter()
            .rev()
            .take_while(|byte| is_name_byte(**byte))
            .count();
        let from = place.start - 1 - domain;
        let domain = domain.saturating_sub(escape(text, from));
        if domain > 0 {
            place.start -= domain + 1;
        }
        // `secret/node-kubeconfigs` is an object.
        let is_domain = memchr::memchr(b'.', before.get(before.len() - domain..)?).is_some();
        let is_assigned = text.get(place.end) == Some(&b'=');
        if domain > 0 && !is_domain && !is_assigned {
            return Some(TextName {
                place,
                class: NameClass::Plain,
                is_flag: false,
            });
        }
    }
    let is_flag = text.get(place.start) == Some(&b'-');
    let is_mark_of_end = |at: usize| matches!(text.get(at), Some(b'-' | b'.'));
    while place.start < place.end && is_mark_of_end(place.start) {
        place.start += 1;
    }
    while place.start < place.end && is_mark_of_end(place.end - 1) {
        place.end -= 1;
    }
    let name = std::str::from_utf8(text.get(place.clone())?).ok()?;
    let class = if is_signature(name.as_bytes()) {
        NameClass::Mentions
    } else {
        names::class(name)
    };
    Some(TextName {
        place,
        class,
        is_flag,
    })
}

/// Gives how many letters that stand here belong to an escape of JSON whose backslash is before them, such
/// as `\u003c`, which servers write for `<`.
fn escape(text: &[u8], start: usize) -> usize {
    if start.checked_sub(1).and_then(|at| text.get(at)) != Some(&b'\\') {
        return 0;
    }
    match text.get(start..).unwrap_or_default() {
        [b'u', hex @ ..] if hex.len() >= 4 && hex.iter().take(4).all(u8::is_ascii_hexdigit) => 5,
        [b'n' | b't' | b'r' | b'b' | b'f', ..] => 1,
        _ => 0,
    }
}

/// Tells whether a name is of the signature of a URL.
fn is_signature(name: &[u8]) -> bool {
    [&b"signature"[..], b"sig"].iter().any(|end| {
        let (first, last) = name.split_at(name.len().saturating_sub(end.len()));
        last.eq_ignore_ascii_case(end) && !first.last().is_some_and(u8::is_ascii_alphanumeric)
    })
}

/// The quick look at what stands around a name.
pub(super) fn is_followed(text: &[u8], name: &TextName, is_json: bool) -> bool {
    let Some(rest) = text.get(name.place.end..) else {
        return false;
    };
    let slashes = count(rest, |byte| byte == b'\\');
    let is_quoted = matches!(rest.get(slashes), Some(b'"' | b'\''));
    // The walk over the object judges its fields.
    if is_json && slashes == 0 && rest.first() == Some(&b'"') {
        return false;
    }
    let at = if is_quoted { slashes + 1 } else { 0 };
    let rest = rest.get(at..).unwrap_or_default();
    let blanks = count(rest, is_blank);
    if matches!(rest.get(blanks), Some(b':' | b'=' | b'>')) {
        return true;
    }
    if is_neighbour(text, name)
        || is_kind(text, name)
        || matches!(rest, [b'<', ..])
        || is_escaped_angle(rest)
        || opens_element(text, name.place.start)
    {
        return true;
    }
    let is_break = blanks > 0 || matches!(rest.first(), None | Some(b'\n' | b'\r' | b'\\'));
    is_break
        && (name.is_flag
            || is_netrc(text, name)
            || name.class == NameClass::Secret && blanks > 0 && begins_line(text, name, true))
}

/// Tells whether `<` stands before a name, with the prefix of a namespace between them or without.
fn opens_element(text: &[u8], name: usize) -> bool {
    let before = text
        .get(name.saturating_sub(NAME_BYTES)..name)
        .unwrap_or_default();
    let is_prefix = |byte: &&u8| is_name_byte(**byte) || **byte == b':';
    let prefix = before.iter().rev().take_while(is_prefix).count();
    let (before, prefix) = before.split_at(before.len() - prefix);
    before.ends_with(b"<")
        || before.ends_with(b"\\") && matches!(prefix.get(..5), Some(b"u003c" | b"u003C"))
}

/// Tells whether a text begins with `<` or `>` as JSON of servers has it.
fn is_escaped_angle(text: &[u8]) -> bool {
    let slashes = count(text, |byte| byte == b'\\');
    let escape = text.get(slashes..slashes + 5);
    slashes > 0
        && escape.is_some_and(|escape| matches!(escape, b"u003c" | b"u003C" | b"u003e" | b"u003E"))
}

fn count(text: &[u8], is_meant: impl Fn(u8) -> bool) -> usize {
    text.iter().take_while(|byte| is_meant(**byte)).count()
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Gives the word before a place, over quotes, blanks and `:` or `=` between them; and where it begins.
fn word_before(text: &[u8], at: usize) -> Option<(usize, &str)> {
    let is_between = |byte: u8| is_blank(byte) || matches!(byte, b'"' | b'\'' | b'\\');
    let mut end = at;
    let mut is_assigned = false;
    while let Some(byte) = end.checked_sub(1).and_then(|at| text.get(at)).copied() {
        match byte {
            b':' | b'=' if !is_assigned => is_assigned = true,
            byte if is_between(byte) => {}
            _ => break,
        }
        end -= 1;
    }
    let before = text.get(end.saturating_sub(NAME_BYTES)..end)?;
    let len = before
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    let word = std::str::from_utf8(text.get(end - len..end)?).ok()?;
    let word_start = end - len;
    // `\nname: X` in a text within a text.
    let is_escaped = word_start.checked_sub(1).and_then(|at| text.get(at)) == Some(&b'\\');
    let word = if is_escaped {
        word.get(1..).unwrap_or_default()
    } else {
        word
    };
    is_assigned.then_some((end - word.len(), word))
}

/// Tells whether a name is the value of a `name`, so that its own value stands beside it.
fn is_neighbour(text: &[u8], name: &TextName) -> bool {
    word_before(text, name.place.start).is_some_and(|(_, word)| names::is_name_field(word))
        || text
            .get(..name.place.start)
            .is_some_and(|text| text.ends_with(b"<name>") || text.ends_with(br"\u003cname\u003e"))
}

fn is_kind(text: &[u8], name: &TextName) -> bool {
    text.get(name.place.clone()) == Some(b"Secret")
        && word_before(text, name.place.start).is_some_and(|(_, word)| word == "kind")
}

fn is_netrc(text: &[u8], name: &TextName) -> bool {
    let before = text
        .get(name.place.start.saturating_sub(NETRC_BYTES)..name.place.start)
        .unwrap_or_default();
    [&b"login "[..], b"machine "]
        .iter()
        .any(|word| memchr::memmem::find(before, word).is_some())
        && text.get(name.place.clone()).is_some_and(|name| {
            name.eq_ignore_ascii_case(b"password") || name.eq_ignore_ascii_case(b"passwd")
        })
}

/// Tells whether a name is the first word of its line, or of a field in `{…}`. With `is_raw`, escaped breaks
/// of lines are such too.
fn begins_line(text: &[u8], name: &TextName, is_raw: bool) -> bool {
    let before = text.get(..name.place.start).unwrap_or_default();
    let is_between = |byte: u8| is_blank(byte) || matches!(byte, b'"' | b'\'' | b'-' | b'\\');
    let skip = before
        .iter()
        .rev()
        .take_while(|byte| is_between(**byte))
        .count();
    let rest = before.get(..before.len() - skip).unwrap_or_default();
    match rest.last() {
        None | Some(b'\n' | b'\r' | b'{' | b',' | b'[') => true,
        // An escaped break, and the begin of a string.
        Some(b'n' | b'r' | b't' | b':') if is_raw => true,
        _ => rest.ends_with(b"export") || rest.ends_with(b"ENV") || rest.ends_with(b"ARG"),
    }
}

/// One line of a text: where it stands, and the column of its first letter behind dashes of lists.
#[derive(Clone, Debug)]
struct Line {
    place: Range<usize>,
    indent: usize,
    column: usize,
}

struct Search<'t> {
    text: &'t [u8],
    has_lines: bool,
    found: Vec<Range<usize>>,
}

impl Search<'_> {
    fn get(&self, place: Range<usize>) -> &[u8] {
        self.text.get(place).unwrap_or_default()
    }

    fn rest(&self, at: usize) -> &[u8] {
        self.text.get(at..).unwrap_or_default()
    }

    /// Takes a place, unless what stands there may stay under a name of the class.
    fn take(&mut self, place: Range<usize>, class: NameClass) {
        let value = self.get(place.clone());
        let is_kept = std::str::from_utf8(value).is_ok_and(|value| forms::is_kept(class, value));
        if !value.is_empty() && !is_mark(value) && !is_encoded_mark(value) && !is_kept {
            self.found.push(place);
        }
    }

    fn name(&mut self, name: &TextName) {
        if is_neighbour(self.text, name) {
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
                self.without_sign(name, at, blanks);
                return;
            }
        };
        at += len;
        let begins = begins_line(self.text, name, false);
        let next = self.rest(at).first().copied();
        let is_word = is_weak(self.get(name.place.clone()), name.class);
        // In prose a colon follows such a word, too: `invalid token: expired`.
        // A name that only mentions a secret begins many sentences: `OAuthServerAvailable: no pods`.
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
        let is_doubtful = is_colon && !is_quoted && is_word;
        if is_doubtful
            && (!begins
                || next.is_some_and(|byte| {
                    !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'')
                }))
        {
            return;
        }
        self.assigned(at, name, is_colon, begins, is_doubtful && !self.has_lines);
    }

    /// Takes the value that is assigned from a place on.
    fn assigned(
        &mut self,
        at: usize,
        name: &TextName,
        is_colon: bool,
        begins: bool,
        is_doubtful: bool,
    ) {
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
        let slashes = count(rest, |byte| byte == b'\\');
        if let Some(quote @ (b'"' | b'\'')) = rest.get(slashes).copied() {
            let start = at + slashes + 1;
            let place = start..closing(self.text, start, quote, slashes);
            if !is_reference(self.get(place.clone())) {
                self.take(place, name.class);
            }
            return;
        }
        let is_flow = self.is_in_flow(name);
        let is_line = self.has_lines && begins && !is_flow && !name.is_flag;
        let len = if is_line {
            let line = count(rest, |byte| byte != b'\n' && byte != b'\r');
            let line = rest.get(..line).unwrap_or_default();
            memchr::memmem::find(line, b" #").unwrap_or(line.len())
        } else {
            count(rest, |byte| {
                !(ends(byte) || is_flow && matches!(byte, b',' | b'}' | b']'))
            })
        };
        let value = rest.get(..len).unwrap_or_default();
        let value = if is_line {
            value.trim_ascii_end()
        } else {
            let tail = value.iter().rev();
            let tail = tail
                .take_while(|byte| matches!(byte, b',' | b'.' | b')' | b']' | b'}'))
                .count();
            value.get(..len - tail).unwrap_or_default()
        };
        let least = if is_colon {
            VALUE_LEAST
        } else {
            ASSIGNED_LEAST
        };
        let is_short = value.len() < least && (is_doubtful || !is_line);
        // A single line in prose: only what looks like a credential.
        let is_prose = is_doubtful && !(value.len() >= 16 || value.iter().any(u8::is_ascii_digit))
            || is_doubtful && value.len() + at < self.text.len();
        if is_short || is_prose || is_prose_word(value) || is_reference(value) {
            return;
        }
        let place = at..at + value.len();
        self.take(place, name.class);
    }

    /// Tells whether a name is a field within `{…}`.
    fn is_in_flow(&self, name: &TextName) -> bool {
        let before = self.get(0..name.place.start);
        let before = before.trim_ascii_end();
        let before = before
            .strip_suffix(b"\"")
            .unwrap_or(before)
            .trim_ascii_end();
        matches!(before.last(), Some(b'{' | b','))
    }

    /// Judges a name that no sign of assignment follows.
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
                let place = at + 1..closing(self.text, at + 1, quote, 0);
                if !is_reference(self.get(place.clone())) {
                    self.take(place, name.class);
                }
                return;
            }
            let len = count(rest, |byte| !ends(byte));
            let value = rest.get(..len).unwrap_or_default();
            let is_plain = value.len() < VALUE_LEAST
                || value.starts_with(b"-")
                || is_prose_word(value)
                || is_reference(value);
            // Of a sentence, a flag is followed by words.
            let is_worth = is_netrc
                || value.len() >= 16
                || value.iter().any(|byte| !byte.is_ascii_lowercase());
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

    /// Judges a name as an element of XML; `false` if it is none.
    fn element(&mut self, name: &TextName) -> bool {
        let before = self.get(0..name.place.start);
        let prefix = before
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b':')
            .take(NAME_BYTES)
            .count();
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

    /// Takes what an element of XML contains, from a place on.
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
        let is_between = |byte: u8| {
            byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'\\' | b',' | b';')
        };
        let mut at = name.place.end;
        for _ in 0..NEIGHBOURS_MOST {
            loop {
                let rest = self.rest(at);
                match rest {
                    // An escaped break of lines.
                    [b'\\', b'n', ..] => at += 2,
                    [byte, ..] if is_between(*byte) => at += 1,
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
                self.assigned(
                    at,
                    &field,
                    is_colon,
                    self.has_lines && begins_line(self.text, &field, false),
                    false,
                );
                return;
            }
            // Over another field.
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

    fn neighbour_before(&mut self, name: &TextName) {
        let Some((start, _)) = word_before(self.text, name.place.start) else {
            return;
        };
        let near = start.saturating_sub(NEIGHBOUR_BYTES);
        let before = self.get(near..start);
        let is_between = |byte: &u8| {
            byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'\\' | b',' | b';')
        };
        let skip = before
            .iter()
            .rev()
            .take_while(|byte| is_between(byte))
            .count();
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
            self.assigned(
                sign,
                &field,
                is_colon,
                begins_line(self.text, &field, false),
                false,
            );
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

    /// Gives the line that begins at a place.
    fn line(&self, start: usize) -> Option<Line> {
        let rest = self.text.get(start..).filter(|rest| !rest.is_empty())?;
        let len = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest.get(..len)?;
        let indent = count(line, |byte| byte == b' ');
        let mut column = indent;
        while line.get(column) == Some(&b'-') && matches!(line.get(column + 1), None | Some(b' ')) {
            column += 1;
            column += count(line.get(column..)?, |byte| byte == b' ');
        }
        let end = line.trim_ascii_end().len().max(column.min(len));
        Some(Line {
            place: start..start + end,
            indent,
            column,
        })
    }

    /// Gives where the next line begins.
    fn next_line(&self, at: usize) -> Option<usize> {
        Some(at + memchr::memchr(b'\n', self.rest(at))? + 1)
    }

    /// Takes what belongs to a field of YAML on the lines below it.
    fn block(&mut self, at: usize, name: &TextName, is_scalar: bool) {
        let start = self.get(0..name.place.start);
        let line = memchr::memrchr(b'\n', start).map_or(0, |at| at + 1);
        let opening = usize::from(matches!(start.last(), Some(b'"' | b'\'')));
        let column = (name.place.start - opening).saturating_sub(line);
        let mut taken: Option<Range<usize>> = None;
        let mut next = self.next_line(at);
        let mut first: Option<usize> = None;
        while let Some(line) = next.and_then(|at| self.line(at)) {
            next = self.next_line(line.place.start);
            let content = line.place.start + line.indent..line.place.end;
            if content.start >= content.end {
                continue;
            }
            let is_item = line.column > line.indent;
            let is_below = line.indent > column || !is_scalar && is_item && line.indent == column;
            if !is_below {
                break;
            }
            let first = *first.get_or_insert(line.indent);
            if is_scalar {
                let from = taken.map_or(content.start, |taken| taken.start);
                taken = Some(from..content.end);
                continue;
            }
            let scalar = line.place.start + line.column..line.place.end;
            let field = self.field(scalar.clone());
            match field {
                Some(_) if line.indent != first => {}
                Some((len, sign)) => {
                    let field = self.get(scalar.start..scalar.start + len);
                    let word = std::str::from_utf8(field)
                        .unwrap_or_default()
                        .trim_matches(['"', '\'']);
                    if names::is_value_field(word) {
                        let field = TextName {
                            place: scalar.start..scalar.start + len,
                            ..name.clone()
                        };
                        self.assigned(sign, &field, true, true, false);
                    }
                }
                None if is_item => {
                    let quoted = self.get(scalar.clone());
                    let is_quoted =
                        quoted.len() >= 2 && matches!(quoted.first(), Some(b'"' | b'\''));
                    let place = if is_quoted {
                        scalar.start + 1..scalar.end - 1
                    } else {
                        scalar
                    };
                    self.take(place, name.class);
                }
                None if line.indent >= first => {
                    let from = taken.map_or(content.start, |taken| taken.start);
                    taken = Some(from..content.end);
                }
                None => {}
            }
        }
        if let Some(place) = taken
            && !is_reference(self.get(place.clone()))
        {
            self.take(place, name.class);
        }
    }

    /// Reads a line as a field: the length of its name, and where the value begins.
    fn field(&self, place: Range<usize>) -> Option<(usize, usize)> {
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
    fn secrets(&mut self) {
        if !self.has_lines {
            return;
        }
        let text = self.text;
        for at in memchr::memmem::find_iter(text, b"Secret") {
            let place = at..at + 6;
            let name = TextName {
                place,
                class: NameClass::Secret,
                is_flag: false,
            };
            let is_alone = text.get(at + 6).is_none_or(|byte| !is_name_byte(*byte));
            if let Some((kind, "kind")) = word_before(text, at)
                && is_alone
            {
                self.secret(kind, &name);
            }
        }
    }

    fn secret(&mut self, kind: usize, name: &TextName) {
        let start = |at: usize| memchr::memrchr(b'\n', self.get(0..at)).map_or(0, |at| at + 1);
        let mut first = start(kind);
        let Some(line) = self.line(first) else {
            return;
        };
        let quotes =
            usize::from(self.get(0..kind).ends_with(b"\"") || self.get(0..kind).ends_with(b"'"));
        let column = kind - quotes - first;
        if column != line.column {
            return;
        }
        // The first line of the object: the one with the dash of its item, or the first as deep as `kind`.
        let mut is_item = line.column > line.indent;
        while first > 0 && !is_item {
            let before = start(first - 1);
            let Some(line) = self.line(before) else { break };
            let is_empty = line.place.start + line.column >= line.place.end;
            let is_mark_of_document = self.get(line.place.clone()).starts_with(b"---");
            if !is_empty && line.column < column || is_mark_of_document {
                break;
            }
            is_item = line.column == column && line.column > line.indent;
            first = before;
        }
        let mut next = Some(first);
        let mut is_in_data = false;
        while let Some(line) = next.and_then(|at| self.line(at)) {
            next = self.next_line(line.place.start);
            let content = line.place.start + line.column..line.place.end;
            if content.start >= content.end {
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
            let field = TextName {
                place: content.start..content.start + len,
                ..name.clone()
            };
            if line.column == column {
                let word = self.get(field.place.clone());
                is_in_data = [&b"data"[..], b"stringData"]
                    .iter()
                    .any(|one| word.trim_ascii() == *one);
                let flow = sign + count(self.rest(sign), is_blank);
                if is_in_data && self.rest(flow).first() == Some(&b'{') {
                    let end =
                        closing_brace(self.rest(flow)).map_or(self.text.len(), |len| flow + len);
                    let inner = self.get(flow + 1..end).trim_ascii().len();
                    let skip = count(self.rest(flow + 1), |byte| byte.is_ascii_whitespace());
                    self.take_all(flow + 1 + skip..flow + 1 + skip + inner);
                }
            } else if is_in_data {
                let at = sign + count(self.rest(sign), is_blank);
                let rest = self.rest(at);
                if is_end_of_line(rest) || is_block_header(rest) {
                    self.block(at, &field, true);
                } else {
                    let quote = rest
                        .first()
                        .copied()
                        .filter(|byte| matches!(byte, b'"' | b'\''));
                    let place = match quote {
                        Some(quote) => at + 1..closing(self.text, at + 1, quote, 0),
                        None => at..content.end,
                    };
                    self.take_all(place);
                }
            }
        }
    }

    /// Takes a place whatever stands there.
    fn take_all(&mut self, place: Range<usize>) {
        let value = self.get(place.clone());
        if !value.is_empty() && !is_mark(value) && !is_encoded_mark(value) && !is_reference(value) {
            self.found.push(place);
        }
    }
}

/// Tells whether a name is a word that prose uses, too: `token`, `secret`, `auth`.
fn is_weak(name: &[u8], class: NameClass) -> bool {
    class < NameClass::Secret || name.len() <= 6 || name.eq_ignore_ascii_case(b"cookies")
}

fn is_end_of_line(rest: &[u8]) -> bool {
    matches!(
        rest.get(count(rest, is_blank)),
        None | Some(b'\n' | b'\r' | b'#')
    )
}

/// Tells whether a block of YAML begins here: `|`, `>-`, `|2+`.
fn is_block_header(rest: &[u8]) -> bool {
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

fn ends(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || byte.is_ascii_control()
        || matches!(
            byte,
            b'"' | b'\'' | b'`' | b'\\' | b'&' | b';' | b'<' | b'>'
        )
}

/// Tells whether a value stands for one that is elsewhere, or is no value.
fn is_reference(value: &[u8]) -> bool {
    matches!(
        value,
        [b'$', b'(' | b'{', ..] | [b'{' | b'[' | b'<' | b'%', ..]
    )
}

fn is_prose_word(value: &[u8]) -> bool {
    PROSE
        .iter()
        .any(|word| value.eq_ignore_ascii_case(word.as_bytes()))
}

/// Gives the place of the brace that closes the one at the beginning.
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

/// Finds the quote that closes a value: one with no more backslashes before it than the first has.
fn closing(text: &[u8], start: usize, quote: u8, slashes: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    for found in memchr::memchr_iter(quote, rest) {
        let before = rest.get(..found).unwrap_or_default();
        let escapes = before
            .iter()
            .rev()
            .take_while(|byte| **byte == b'\\')
            .count();
        if escapes <= slashes {
            return start + found - escapes;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let mut places = values(text.as_bytes());
        places.sort_by_key(|place| (place.start, place.end));
        places.dedup();
        let found: Vec<&str> = places.into_iter().map(|place| &text[place]).collect();
        assert!(
            found.is_empty() || crate::text::triggers::suspects_as_is(text.as_bytes()),
            "{text}"
        );
        found
    }

    #[test]
    fn values_are_found_where_they_are_named() {
        for (text, expected) in [
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
        ] {
            assert_eq!(found(text), [expected], "{text}");
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
        ] {
            assert_eq!(found(text), Vec::<&str>::new(), "{text}");
        }
    }
}
