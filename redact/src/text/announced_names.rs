//! Names in a text, with what they announce and their surroundings.
//!
//! [`is_followed`] is the prefilter of a name: `assignments` finds no value if it returns false.

use crate::names::{self, NameClass};
use std::ops::Range;

/// How far before a name its machine is searched: `machine HOST login NAME password`.
const NETRC_BYTES: usize = 300;

/// How far around the path of a JSON patch its `op` is searched.
const PATCH_BYTES: usize = 200;

/// The longest part of a name that is read on each side.
pub(super) const NAME_BYTES: usize = 128;

/// A name in a text.
#[derive(Clone, Debug)]
pub(super) struct TextName {
    pub(super) place: Range<usize>,
    pub(super) class: NameClass,
    /// Whether dashes precede it.
    pub(super) is_flag: bool,
}

pub(super) fn names_in(text: &[u8]) -> impl Iterator<Item = TextName> {
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

pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Reads the name that contains a place, or ends behind it.
pub(super) fn name_at(text: &[u8], at: usize) -> Option<TextName> {
    let at = if text.get(at).is_some_and(|byte| is_name_byte(*byte)) {
        at
    } else {
        at.checked_sub(1)?
    };
    let before = text.get(at.saturating_sub(NAME_BYTES)..at)?;
    let left = count_back(before, is_name_byte);
    let after = text.get(at..)?.iter().take(NAME_BYTES);
    let right = after.take_while(|byte| is_name_byte(**byte)).count();
    let mut place = at - left..at + right;
    // An escape is not a part of a name: `
    // password`.
    place.start = (place.start + escape(text, place.start)).min(place.end);
    // The domain before it: `acme.io/api-token`.
    if place.start > 0 && text.get(place.start - 1) == Some(&b'/') {
        let before = text
            .get(place.start.saturating_sub(NAME_BYTES)..place.start - 1)
            .unwrap_or_default();
        let domain = count_back(before, is_name_byte);
        let from = place.start - 1 - domain;
        let domain = domain.saturating_sub(escape(text, from));
        if domain > 0 {
            place.start -= domain + 1;
        }
        // `secret/node-kubeconfigs` names an object.
        let is_domain = memchr::memchr(b'.', before.get(before.len() - domain..)?).is_some();
        let is_assigned = text.get(place.end) == Some(&b'=');
        if patch_path(text, place.start + domain + usize::from(domain > 0)).is_some() {
            place.start += domain + usize::from(domain > 0);
        } else if domain > 0 && !is_domain && !is_assigned {
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

/// Returns how many letters at a place belong to a JSON escape whose backslash is before them, such
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

/// Returns whether a name belongs to the signature of a URL.
pub(super) fn is_signature(name: &[u8]) -> bool {
    [&b"signature"[..], b"sig"].iter().any(|end| {
        let (first, last) = name.split_at(name.len().saturating_sub(end.len()));
        last.eq_ignore_ascii_case(end) && !first.last().is_some_and(u8::is_ascii_alphanumeric)
    })
}

/// The prefilter of a name, by its surroundings.
pub(super) fn is_followed(text: &[u8], name: &TextName, is_json: bool) -> bool {
    let Some(rest) = text.get(name.place.end..) else {
        return false;
    };
    let slashes = count(rest, |byte| byte == b'\\');
    let is_quoted = matches!(rest.get(slashes), Some(b'"' | b'\''));
    // The walk over the object judges its fields; a text may end in `kind: Secret`.
    if is_json && slashes == 0 && rest.first() == Some(&b'"') {
        let before = text.get(..name.place.start).unwrap_or_default();
        return !before.ends_with(b"\"") && is_kind(text, name);
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
    // The next item of a list may be the value of a flag.
    let is_item = name.is_flag && rest.get(blanks) == Some(&b',');
    let is_break =
        is_item || blanks > 0 || matches!(rest.first(), None | Some(b'\n' | b'\r' | b'\\'));
    is_break
        && (name.is_flag
            || is_netrc(text, name)
            || name.class == NameClass::Secret && blanks > 0 && begins_line(text, name, true))
}

/// Returns whether `<` precedes a name, with or without a namespace prefix.
fn opens_element(text: &[u8], name: usize) -> bool {
    let before = text
        .get(name.saturating_sub(NAME_BYTES)..name)
        .unwrap_or_default();
    let prefix = count_back(before, |byte| is_name_byte(byte) || byte == b':');
    let (before, prefix) = before.split_at(before.len() - prefix);
    before.ends_with(b"<")
        || before.ends_with(b"\\") && matches!(prefix.get(..5), Some(b"u003c" | b"u003C"))
}

/// Returns whether a text begins with `<` or `>` as servers write it in JSON.
fn is_escaped_angle(text: &[u8]) -> bool {
    let slashes = count(text, |byte| byte == b'\\');
    let escape = text.get(slashes..slashes + 5);
    slashes > 0
        && escape.is_some_and(|escape| matches!(escape, b"u003c" | b"u003C" | b"u003e" | b"u003E"))
}

/// Counts the bytes at the start of a text that have a property.
pub(super) fn count(text: &[u8], is_meant: impl Fn(u8) -> bool) -> usize {
    text.iter().take_while(|byte| is_meant(**byte)).count()
}

/// Counts the bytes at the end of a text that have a property.
pub(super) fn count_back(text: &[u8], is_meant: impl Fn(u8) -> bool) -> usize {
    let back = text.iter().rev();
    back.take_while(|byte| is_meant(**byte)).count()
}

pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Returns the word before a place and its begin, skipping quotes, blanks and `:` or `=`.
pub(super) fn word_before(text: &[u8], at: usize) -> Option<(usize, &str)> {
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
    let len = count_back(before, |byte| byte.is_ascii_alphanumeric());
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

/// Returns where the `path` of a JSON patch begins whose last part begins at a place.
pub(super) fn patch_path(text: &[u8], name: usize) -> Option<usize> {
    let near = text.get(name.saturating_sub(NAME_BYTES)..name)?;
    let len = count_back(near, |byte| {
        is_name_byte(byte) || matches!(byte, b'/' | b'~')
    });
    let path = name - len;
    if len == 0 || text.get(path) != Some(&b'/') {
        return None;
    }
    let (start, _) = word_before(text, path).filter(|(_, word)| *word == "path")?;
    let from = start.saturating_sub(PATCH_BYTES);
    let around = text.get(from..text.len().min(name + PATCH_BYTES))?;
    let is_word = |at: &usize| {
        let before = at.checked_sub(1).and_then(|at| around.get(at));
        let end = around.get(at + 2);
        !before.is_some_and(u8::is_ascii_alphabetic)
            && matches!(end, Some(b':' | b'"' | b'\'' | b'\\'))
    };
    memchr::memmem::find_iter(around, b"op")
        .any(|at| is_word(&at))
        .then_some(start)
}

/// Returns whether a name is the value of a `name`, or the end of the path of a JSON patch, so that its own value is
/// beside it.
pub(super) fn is_neighbour(text: &[u8], name: &TextName) -> bool {
    word_before(text, name.place.start).is_some_and(|(_, word)| names::is_name_field(word))
        || patch_path(text, name.place.start).is_some()
        || text
            .get(..name.place.start)
            .is_some_and(|text| text.ends_with(b"<name>") || text.ends_with(br"\u003cname\u003e"))
}

fn is_kind(text: &[u8], name: &TextName) -> bool {
    text.get(name.place.clone()) == Some(b"Secret")
        && word_before(text, name.place.start).is_some_and(|(_, word)| word == "kind")
}

pub(super) fn is_netrc(text: &[u8], name: &TextName) -> bool {
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

/// Returns whether a name is the first word of its line, or of a field in `{…}`. With `is_raw`,
/// escaped line breaks count too.
pub(super) fn begins_line(text: &[u8], name: &TextName, is_raw: bool) -> bool {
    let before = text.get(..name.place.start).unwrap_or_default();
    let is_between = |byte: u8| is_blank(byte) || matches!(byte, b'"' | b'\'' | b'-' | b'\\');
    let skip = count_back(before, is_between);
    let rest = before.get(..before.len() - skip).unwrap_or_default();
    match rest.last() {
        None | Some(b'\n' | b'\r' | b'{' | b',' | b'[') => true,
        // An escaped line break, and the begin of a string.
        Some(b'n' | b'r' | b't' | b':') if is_raw => true,
        _ => rest.ends_with(b"export") || rest.ends_with(b"ENV") || rest.ends_with(b"ARG"),
    }
}

/// Returns whether a name is the first word of a line whose break is written as an escape, as in quoted YAML.
pub(super) fn begins_escaped_line(text: &[u8], name: &TextName) -> bool {
    let mut before = text.get(..name.place.start).unwrap_or_default();
    loop {
        let skip = count_back(before, |byte| {
            is_blank(byte) || matches!(byte, b'"' | b'\'' | b'-')
        });
        before = before.get(..before.len() - skip).unwrap_or_default();
        if before.ends_with(b"\\n") || before.ends_with(b"\\r") {
            return true;
        }
        match before.strip_suffix(b"\\t") {
            Some(rest) => {
                let slashes = count_back(rest, |byte| byte == b'\\');
                before = rest.get(..rest.len() - slashes).unwrap_or_default();
            }
            None => return false,
        }
    }
}
