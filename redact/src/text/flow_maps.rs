//! Maps in braces within a text, as JSON and YAML have them: their names and values.
//!
//! The text is not parsed, because it may be cut off, and quoted in another text.

use super::announced_names::{count, count_back, is_name_byte, word_before};
use super::yaml_lines::closing;
use std::ops::Range;

/// How deep the maps before a `kind` may be nested in its object: no server sends deeper ones, and
/// maps within maps are read once for each `kind` in them.
const NESTED_MOST: usize = 200;

/// A field of a map, without quotes.
#[derive(Clone, Debug)]
pub(super) struct FlowField {
    pub(super) name: Range<usize>,
    pub(super) value: Range<usize>,
    /// Whether the value is a map.
    is_map: bool,
}

/// A text that may contain maps.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowMapsText<'t>(pub(super) &'t [u8]);

impl<'t> FlowMapsText<'t> {
    fn get(self, place: Range<usize>) -> &'t [u8] {
        self.0.get(place).unwrap_or_default()
    }

    fn rest(self, at: usize) -> &'t [u8] {
        self.0.get(at..).unwrap_or_default()
    }

    /// Returns the values of each Secret in braces.
    pub(super) fn secret_values(self) -> Vec<Range<usize>> {
        let mut values = Vec::new();
        let mut last = 0;
        for kind in kinds_of_secrets(self.0) {
            if let Some(begin) = self.map_around(kind, last) {
                self.values_of(kind, begin, &mut values);
            }
            last = kind;
        }
        values
    }

    fn values_of(self, kind: usize, begin: usize, values: &mut Vec<Range<usize>>) {
        let fields = self.fields(begin);
        // A brace of something else, such as a script around YAML.
        if !fields.iter().any(|field| field.name.start == kind) {
            return;
        }
        let is_data = |field: &&FlowField| {
            field.is_map && matches!(self.get(field.name.clone()), b"data" | b"stringData")
        };
        for data in fields.iter().filter(is_data) {
            let fields = self.fields(data.value.start);
            values.extend(fields.into_iter().map(|field| field.value));
        }
    }

    /// Finds the brace of the map that has a field at a place; `None` if a field at the place
    /// `last` is in the same map.
    fn map_around(self, field: usize, last: usize) -> Option<usize> {
        let (quote, slashes) = self.quote_before(field);
        let mut at = field - quote.map_or(0, |_| 1 + slashes);
        if !self.begins_field(at) {
            return None;
        }
        let mut closed = 0_usize;
        while at > 0 && (at > last || closed > 0) && closed < NESTED_MOST {
            at -= 1;
            match *self.0.get(at)? {
                b'{' if closed == 0 => return Some(at),
                b'{' => closed -= 1,
                b'}' => closed += 1,
                // A string; an apostrophe in it or in prose begins none.
                byte @ (b'"' | b'\'') if self.ends_string(at, byte, slashes) => {
                    at = self.opening(at - slashes, byte, slashes)?;
                }
                _ => {}
            }
        }
        None
    }

    /// Returns whether a field of a map may begin at a place.
    fn begins_field(self, at: usize) -> bool {
        let mut before = self.get(0..at).trim_ascii_end();
        // A line break in a quoted text.
        while let Some(rest) = before.strip_suffix(b"\\n") {
            before = rest.trim_ascii_end();
        }
        matches!(before.last(), Some(b'{' | b','))
    }

    /// Returns the quote before a place, and how many backslashes precede the quote.
    fn quote_before(self, at: usize) -> (Option<u8>, usize) {
        let before = self.get(0..at);
        match before.split_last() {
            Some((quote @ (b'"' | b'\''), before)) => {
                (Some(*quote), count_back(before, |byte| byte == b'\\'))
            }
            _ => (None, 0),
        }
    }

    /// Returns whether the quote at a place closes a string.
    fn ends_string(self, at: usize, quote: u8, slashes: usize) -> bool {
        let escapes = count_back(self.get(0..at), |byte| byte == b'\\');
        let rest = self.rest(at + 1);
        let next = rest.get(blanks(rest));
        escapes == slashes && (quote == b'"' || matches!(next, Some(b',' | b'}' | b']' | b':')))
    }

    /// Finds the quote that opens the string closed behind `end`.
    fn opening(self, end: usize, quote: u8, slashes: usize) -> Option<usize> {
        let before = self.get(0..end);
        let mut places = memchr::memrchr_iter(quote, before);
        let is_it = |at: &usize| {
            let before = before.get(..*at).unwrap_or_default();
            count_back(before, |byte| byte == b'\\') == slashes
        };
        places.find(is_it)
    }

    /// Reads the fields of the map that begins at a place, as far as they can be read.
    pub(super) fn fields(self, begin: usize) -> Vec<FlowField> {
        let mut fields = Vec::new();
        let mut at = begin + 1;
        loop {
            at += blanks(self.rest(at));
            let Some((name, end)) = self.scalar(at) else {
                return fields;
            };
            at = end + blanks(self.rest(end));
            if self.rest(at).first() != Some(&b':') {
                return fields;
            }
            at += 1;
            at += blanks(self.rest(at));
            let is_map = self.rest(at).first() == Some(&b'{');
            let value = if matches!(self.rest(at).first(), Some(b'{' | b'[')) {
                let end = self.nested(at);
                Some((at..end, end))
            } else {
                self.scalar(at)
            };
            let Some((value, end)) = value else {
                return fields;
            };
            fields.push(FlowField {
                name,
                value,
                is_map,
            });
            at = end + blanks(self.rest(end));
            if self.rest(at).first() != Some(&b',') {
                return fields;
            }
            at += 1;
        }
    }

    /// Reads the quoted or bare text at a place: without quotes, and its end with them.
    fn scalar(self, at: usize) -> Option<(Range<usize>, usize)> {
        let rest = self.rest(at);
        let slashes = count(rest, |byte| byte == b'\\');
        if let Some(quote @ (b'"' | b'\'')) = rest.get(slashes).copied() {
            let start = at + slashes + 1;
            let end = closing(self.0, start, quote, slashes);
            return Some((start..end, (end + slashes + 1).min(self.0.len())));
        }
        let len = count(rest, |byte| !matches!(byte, b',' | b'{' | b'}' | b'\n'));
        let is_end = |at: &usize| matches!(rest.get(at + 1), None | Some(b' ' | b'\n' | b','));
        let bare = rest.get(..len).unwrap_or_default();
        let name = memchr::memchr_iter(b':', bare).find(is_end);
        let len = bare.get(..name.unwrap_or(len))?.trim_ascii_end().len();
        (len > 0).then_some((at..at + len, at + len))
    }

    /// Returns the end of the map or list that begins at a place.
    fn nested(self, begin: usize) -> usize {
        let mut open = 0_usize;
        let mut at = begin;
        while let Some(byte) = self.0.get(at).copied() {
            match byte {
                b'{' | b'[' => open += 1,
                b'}' | b']' => open -= 1,
                b'"' | b'\'' => {
                    let slashes = count_back(self.get(begin..at), |byte| byte == b'\\');
                    let before = self.get(begin..at - slashes).trim_ascii_end().last();
                    // A quote within a bare text is a part of it.
                    if matches!(before, Some(b'{' | b'[' | b',' | b':')) {
                        at = closing(self.0, at + 1, byte, slashes) + slashes;
                    }
                }
                _ => {}
            }
            at += 1;
            if open == 0 {
                break;
            }
        }
        at.min(self.0.len())
    }
}

/// Returns the places of each `kind` whose value is `Secret`.
pub(super) fn kinds_of_secrets(text: &[u8]) -> impl Iterator<Item = usize> {
    memchr::memmem::find_iter(text, b"Secret").filter_map(|at| {
        let is_end = |byte: &u8| !is_name_byte(*byte);
        let is_alone = text.get(at + 6).is_none_or(is_end);
        match word_before(text, at) {
            Some((kind, "kind")) if is_alone => Some(kind),
            _ => None,
        }
    })
}

/// Counts the white space that begins a text, plain or escaped.
fn blanks(rest: &[u8]) -> usize {
    let mut at = 0;
    loop {
        match rest.get(at..).unwrap_or_default() {
            [b'\\', b'n' | b'r' | b't', ..] => at += 2,
            [byte, ..] if byte.is_ascii_whitespace() => at += 1,
            _ => return at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let places = FlowMapsText(text.as_bytes()).secret_values();
        places.into_iter().map(|place| &text[place]).collect()
    }

    #[test]
    fn every_value_of_a_secret_in_braces_is_found() {
        for (text, expected) in [
            (
                "{apiVersion: v1, kind: Secret, stringData: {zz: one, 'y': 'two}'}}",
                vec!["one", "two}"],
            ),
            (
                r#"got {"data":{"a":"o}ne","b":"t\"wo"},"kind":"Secret"} ok"#,
                vec!["o}ne", r#"t\"wo"#],
            ),
            (
                r#"msg="{\"kind\":\"Secret\",\"data\":{\"a\":\"b25l\"}}""#,
                vec!["b25l"],
            ),
            (
                r#"[{"kind":"Pod","data":{"a":"b"}},{"kind": "Secret", "metadata": {"name":"x"}, "data": {"c": "d"#,
                vec!["d"],
            ),
            (
                "it's {kind: Secret, data: {a: b25l, c: {d: e}}}",
                vec!["b25l", "{d: e}"],
            ),
            (
                "{\n  \"kind\": \"Secret\",\n  \"stringData\": {\n    \"a\": \"x y\"\n  }\n}",
                vec!["x y"],
            ),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn other_maps_are_left() {
        for text in [
            r#"{"kind":"Pod","data":{"a":"b"},"ref":{"kind":"Secret","name":"x"}}"#,
            "{kind: SecretList, data: {a: b}}",
            "if x; then {\n  cat <<EOF\nkind: Secret\ndata:\n  a: b\nEOF\n}",
            r#"{"kind":"Secret","data":null,"type":"Opaque"}"#,
            "kind: Secret data: {a: b}",
        ] {
            assert_eq!(found(text), Vec::<&str>::new(), "{text}");
        }
    }
}
