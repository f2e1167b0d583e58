//! The input by its bytes: its form, its lines, and inputs that are read as a whole.
//!
//! Invariants: the form follows from the content, as a pipe has no file name; every length is bounded before it is
//! allocated; a line beyond the bound is skipped and reported, never cut.

use crate::error::ImportError;
use kubereel_format::MAX_BODY;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use std::fmt;
use std::io::{self, BufRead, Read};

/// How much of an input is looked at.
const LOOKED_AT: u64 = 256 * 1024;

/// How often an object is looked for that goes over several lines.
const LONG_LOOKS: usize = 8;

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputForm {
    /// JSON, one event a line.
    Events,
    /// JSON, one object or list a line.
    Objects,
    /// JSON, objects, lists or events over several lines.
    Json,
    /// YAML, one or several documents.
    Yaml,
}

/// Reads the beginning of an input.
pub(crate) fn beginning(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    input.take(LOOKED_AT).read_to_end(&mut start)?;
    Ok(start)
}

/// Judges an input by its beginning.
pub(crate) fn form(start: &[u8]) -> Result<InputForm, ImportError> {
    for (magic, form, program) in [
        (&b"\x28\xb5\x2f\xfd"[..], "zstd", "zstd -dc"),
        (b"\x1f\x8b", "gzip", "gzip -dc"),
        (b"\xfd7zXZ", "xz", "xz -dc"),
        (b"BZh", "bzip2", "bzip2 -dc"),
        (b"PK\x03\x04", "zip", "unzip -p"),
    ] {
        if start.starts_with(magic) {
            return Err(ImportError::Compressed { form, program });
        }
    }
    // The database in which a reel is kept begins so.
    if start.starts_with(b"redb\x1a\x0a") {
        return Err(ImportError::Reel);
    }
    if let Some(offset) = memchr::memchr(0, start) {
        return Err(ImportError::Binary { offset });
    }
    let first = start.iter().find(|byte| !byte.is_ascii_whitespace());
    let Some(first) = first else {
        return Err(ImportError::Empty);
    };
    Ok(match (by_members(start), first) {
        (Some(form), _) => form,
        (None, b'{') => InputForm::Events,
        (None, b'[') => InputForm::Json,
        (None, _) => InputForm::Yaml,
    })
}

/// Judges by the members of the first object that begins a line and has any that tell.
fn by_members(start: &[u8]) -> Option<InputForm> {
    let mut long_looks = 0;
    let mut from = 0;
    while let Some(rest) = start.get(from..).filter(|rest| !rest.is_empty()) {
        let end = memchr::memchr(b'\n', rest);
        let line = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        from += line.len() + 1;
        if !line.starts_with(b"{") {
            continue;
        }
        let of_line = MemberNames::of(line);
        // A line that goes on behind what was looked at may be one document of any length.
        let is_cut = end.is_none();
        if of_line.is_event() && (of_line.is_whole || is_cut) {
            return Some(InputForm::Events);
        }
        if of_line.is_object() && of_line.is_whole {
            return Some(InputForm::Objects);
        }
        if of_line.is_object() && is_cut {
            return Some(InputForm::Json);
        }
        if !of_line.is_whole && long_looks < LONG_LOOKS {
            long_looks += 1;
            let of_rest = MemberNames::of(rest);
            if (of_rest.is_whole || of_rest.is_unfinished)
                && (of_rest.is_object() || of_rest.is_event())
            {
                return Some(InputForm::Json);
            }
        }
    }
    None
}

/// The names of an object's members, as far as it can be read.
#[derive(Debug, Default)]
struct MemberNames {
    names: Vec<String>,
    is_whole: bool,
    /// Whether nothing is wrong with it but that its end is missing.
    is_unfinished: bool,
}

impl MemberNames {
    fn of(text: &[u8]) -> Self {
        let mut members = Self::default();
        let mut deserializer = serde_json::Deserializer::from_slice(text);
        let read = Collect(&mut members.names).deserialize(&mut deserializer);
        members.is_whole = read.is_ok();
        members.is_unfinished = read.is_err_and(|error| error.is_eof());
        members
    }

    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|one| one == name)
    }

    fn is_event(&self) -> bool {
        self.has("object") || (self.has("type") && !self.is_object())
    }

    fn is_object(&self) -> bool {
        !self.has("object")
            && ["apiVersion", "kind", "metadata", "items"]
                .iter()
                .any(|name| self.has(name))
    }
}

struct Collect<'a>(&'a mut Vec<String>);

impl<'de> DeserializeSeed<'de> for Collect<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Collect<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(name) = map.next_key()? {
            self.0.push(name);
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

/// The longest line: an object of the greatest length and a kilobyte for each other member's name.
pub(crate) const MAX_LINE: usize = MAX_BODY + 64 * 1024;

/// A line of the input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum InputLine<'a> {
    /// Its bytes, without the line's end.
    Whole(&'a [u8]),
    /// It is too long; its bytes are gone.
    TooLong,
}

/// The lines of an input.
pub(crate) struct InputLines<R> {
    input: R,
    line: Vec<u8>,
    number: u64,
    bytes: u64,
    max: usize,
}

impl<R: BufRead> InputLines<R> {
    /// Begins with the first line.
    pub(crate) const fn new(input: R) -> Self {
        Self::with_max(input, MAX_LINE)
    }

    const fn with_max(input: R, max: usize) -> Self {
        Self {
            input,
            line: Vec::new(),
            number: 0,
            bytes: 0,
            max,
        }
    }

    /// Gives the next line and its number; `None` at the end.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<(u64, InputLine<'_>)>> {
        self.line.clear();
        let mut is_long = false;
        let mut is_any = false;
        loop {
            let buffer = match self.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if buffer.is_empty() {
                break;
            }
            is_any = true;
            let end = memchr::memchr(b'\n', buffer);
            let piece = buffer
                .get(..end.unwrap_or(buffer.len()))
                .unwrap_or_default();
            is_long |= self.line.len().saturating_add(piece.len()) > self.max;
            if is_long {
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(piece);
            }
            let used = piece.len() + usize::from(end.is_some());
            self.input.consume(used);
            self.bytes += len_u64(used);
            if end.is_some() {
                break;
            }
        }
        if !is_any {
            return Ok(None);
        }
        self.number += 1;
        let cut = if is_long {
            InputLine::TooLong
        } else {
            InputLine::Whole(&self.line)
        };
        Ok(Some((self.number, cut)))
    }

    /// Gives how many bytes of the input are done.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// The longest JSON that is read as a whole: a list has to be seen to its end before its kind is
/// known.
pub(crate) const MAX_JSON: u64 = 512 * 1024 * 1024;

/// The longest YAML: in memory it takes more than ten times of that.
pub(crate) const MAX_YAML: u64 = 64 * 1024 * 1024;

/// How deep YAML may be nested. Schemas of definitions go to some fifty.
const MAX_DEPTH: usize = 128;

/// Reads YAML documents.
pub(crate) fn yaml(bytes: &[u8]) -> Result<Vec<Value>, ImportError> {
    let failed = |source| ImportError::Yaml { source };
    let text = str::from_utf8(bytes).map_err(|error| failed(error.into()))?;
    serde_saphyr::from_str_multiple_with_options(text, yaml_options())
        .map_err(|error| failed(error.into()))
}

/// Gives a length or a count in memory as the reel and the summary have it.
#[expect(
    clippy::expect_used,
    reason = "no supported platform has longer addresses"
)]
pub(crate) fn len_u64(len: usize) -> u64 {
    u64::try_from(len).expect("a length fits into 64 bits")
}

pub(crate) fn unread(source: io::Error) -> ImportError {
    ImportError::Read { source }
}

pub(crate) fn whole(input: impl Read, most: u64) -> Result<Vec<u8>, ImportError> {
    let mut bytes = Vec::new();
    let more = most.saturating_add(1);
    let read = input.take(more).read_to_end(&mut bytes).map_err(unread)?;
    if len_u64(read) > most {
        return Err(ImportError::TooLong { most });
    }
    Ok(bytes)
}

/// Reads YAML as Kubernetes does, within bounds that a long list keeps.
fn yaml_options() -> serde_saphyr::Options {
    #[expect(clippy::expect_used, reason = "the constant is below 2^32")]
    let most = usize::try_from(MAX_YAML).expect("a length in memory");
    serde_saphyr::options! {
        with_snippet: false,
        legacy_octal_numbers: true,
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            // Every node takes a byte or more, so that the length bounds them.
            max_documents: most,
            max_events: most,
            max_nodes: most,
            max_total_scalar_bytes: most,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    #[test]
    fn the_content_tells_the_form() {
        let long = format!(r#"{{"apiVersion":"v1","items":[{{"a":"{}"#, "x".repeat(200));
        for (text, expected) in [
            (r#"{"ts":1,"type":"ADDED","object":{}}"#, InputForm::Events),
            ("{\"type\":\"ADDED\"}\n", InputForm::Events),
            (
                "garbage\n{\"ts\":1,\"obj\n{\"object\":{}}\n",
                InputForm::Events,
            ),
            (
                "{\"foo\":1}\n\n{\"type\":\"ADDED\",\"object\":{}}",
                InputForm::Events,
            ),
            ("{\"foo\n", InputForm::Events),
            (
                "{\"kind\":\"Pod\"}\n{\"kind\":\"Pod\"}\n",
                InputForm::Objects,
            ),
            (r#"{"kind":"List","items":[]}"#, InputForm::Objects),
            (&long, InputForm::Json),
            (
                "{\n  \"apiVersion\": \"v1\",\n  \"items\": [",
                InputForm::Json,
            ),
            (
                "{\n \"type\": \"ADDED\",\n \"object\": {}\n}\n",
                InputForm::Json,
            ),
            ("[\n  {}]", InputForm::Json),
            ("apiVersion: v1\nkind: Pod\n", InputForm::Yaml),
            ("# a comment\n---\nkind: Pod", InputForm::Yaml),
        ] {
            let found = form(text.as_bytes()).expect("a form");
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_text_is_told_apart() {
        for (bytes, words) in [
            (&b""[..], "the input is empty"),
            (b" \n\t\n", "the input is empty"),
            (b"\x28\xb5\x2f\xfd\x04", "the input is compressed (zstd)"),
            (b"\x1f\x8b\x08", "the input is compressed (gzip)"),
            (
                b"redb\x1a\x0a\xa9\x0d\x0a\x00",
                "the input is already a reel",
            ),
            (b"ab\x00", "the input is neither JSON nor YAML: byte 2 is 0"),
        ] {
            assert_eq!(form(bytes).expect_err("none").to_string(), words);
        }
    }

    fn cut(input: &[u8], buffer: usize, max: usize) -> Vec<Option<Vec<u8>>> {
        let mut lines = InputLines::with_max(BufReader::with_capacity(buffer, input), max);
        let mut all = Vec::new();
        while let Some((number, cut)) = lines.next_line().expect("memory") {
            all.push(match cut {
                InputLine::Whole(line) => Some(line.to_vec()),
                InputLine::TooLong => None,
            });
            assert_eq!(usize::try_from(number), Ok(all.len()));
        }
        assert_eq!(usize::try_from(lines.bytes()), Ok(input.len()));
        all
    }

    #[test]
    fn lines_are_whole_whatever_the_buffer() {
        for buffer in 1..12 {
            let lines = cut(b"ab\n\ncdefg\nhi", buffer, 5);
            let expected = ["ab", "", "cdefg", "hi"].map(|line| Some(line.as_bytes().to_vec()));
            assert_eq!(lines, expected);
            let lines = cut(b"ab\ncdefgh\nhi\n", buffer, 5);
            let expected = [Some(b"ab".to_vec()), None, Some(b"hi".to_vec())];
            assert_eq!(lines, expected);
            assert!(cut(b"", buffer, 5).is_empty());
        }
    }
}
