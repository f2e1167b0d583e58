//! Values beside the field that names them: `name: X` and `value: Y` of one object, in either order,
//! operations of a JSON patch, and properties in XML.

use super::announced_names::{TextName, count, count_back, is_blank, patch_path, word_before};
use super::yaml_lines::closing;
use crate::names;
use std::ops::Range;

/// How far behind a name its value may be, and behind how many other fields.
pub(super) const NEIGHBOUR_BYTES: usize = 600;
const NEIGHBOURS_MOST: usize = 8;

/// The value beside a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ValueBeside {
    /// The content of an element of XML whose tag ends before this place.
    Content(usize),
    /// The value of a field.
    Assigned {
        /// The place behind the sign.
        at: usize,
        /// The name of the field.
        field: Range<usize>,
        is_colon: bool,
    },
}

impl ValueBeside {
    /// Finds the value of a name that is the value of a field itself.
    pub(super) fn of(text: &[u8], name: &TextName) -> Option<Self> {
        let rest = text.get(name.place.end..).unwrap_or_default();
        if rest.starts_with(b"</") {
            let near = rest.get(..rest.len().min(NEIGHBOUR_BYTES))?;
            let value = memchr::memmem::find(near, b"<value>")?;
            return Some(Self::Content(name.place.end + value + 7));
        }
        Self::behind(text, name).or_else(|| Self::before(text, name))
    }

    fn behind(text: &[u8], name: &TextName) -> Option<Self> {
        let after = |at: usize| text.get(at..).unwrap_or_default();
        let mut at = name.place.end;
        for _ in 0..NEIGHBOURS_MOST {
            at = skip_between(text, at);
            let rest = after(at);
            if at > name.place.end + NEIGHBOUR_BYTES {
                return None;
            }
            if rest.first() == Some(&b'>') {
                return Some(Self::Content(at + 1));
            }
            let len = count(rest, |byte| byte.is_ascii_alphanumeric());
            let word = std::str::from_utf8(rest.get(..len).unwrap_or_default()).unwrap_or_default();
            if len == 0 || names::is_name_field(word) {
                return None;
            }
            let field = at..at + len;
            at += len;
            at += count(after(at), |byte| {
                matches!(byte, b'"' | b'\'' | b'\\') || is_blank(byte)
            });
            let is_colon = is_colon(after(at).first())?;
            at += 1;
            if names::is_value_field(word) {
                return Some(Self::Assigned {
                    at,
                    field,
                    is_colon,
                });
            }
            // Skips another field.
            at += count(after(at), is_blank);
            at = match after(at).first() {
                Some(quote @ (b'"' | b'\'')) => closing(text, at + 1, *quote, 0) + 1,
                _ => {
                    at + count(after(at), |byte| {
                        !matches!(byte, b',' | b'\n' | b';' | b'}' | b'>')
                    })
                }
            };
        }
        None
    }

    fn before(text: &[u8], name: &TextName) -> Option<Self> {
        let path = patch_path(text, name.place.start);
        let field = word_before(text, name.place.start).map(|(start, _)| start);
        let start = path.or(field)?;
        let near = start.saturating_sub(NEIGHBOUR_BYTES);
        let before = text.get(near..start).unwrap_or_default();
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
        let is_colon = is_colon(rest.get(sign))?;
        let (field, sign) = (near + field, near + field + sign + 1);
        names::is_value_field(word).then_some(Self::Assigned {
            at: sign,
            field: field..field + len,
            is_colon,
        })
    }
}

/// Returns whether a sign of assignment is a colon; `None` if it is not one.
fn is_colon(sign: Option<&u8>) -> Option<bool> {
    match sign {
        Some(b':') => Some(true),
        Some(b'=') => Some(false),
        _ => None,
    }
}

/// Returns the place of the next field: behind separators, escaped line breaks and comments.
fn skip_between(text: &[u8], mut at: usize) -> usize {
    loop {
        let rest = text.get(at..).unwrap_or_default();
        match rest {
            // An escaped line break.
            [b'\\', b'n', ..] => at += 2,
            [byte, ..] if is_between(*byte) => at += 1,
            [b'#', ..] if begins_comment(text, at) => at += count(rest, |byte| byte != b'\n'),
            _ => return at,
        }
    }
}

/// Returns whether the `#` at a place begins a comment of YAML.
fn begins_comment(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).and_then(<[u8]>::last);
    before.is_some_and(u8::is_ascii_whitespace)
}

/// Returns whether a byte may separate two fields.
fn is_between(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'\\' | b',' | b';')
}
