//! Owns the judgement of what an input is, by its first bytes. Refuses names of files: what comes
//! through a pipe has none.

use crate::error::ImportError;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use std::fmt;
use std::io::{self, Read};

/// How much of an input is looked at.
const LOOKED_AT: u64 = 256 * 1024;

/// How often an object is looked for that goes over several lines.
const LONG_LOOKS: usize = 8;

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
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
pub(crate) fn form(start: &[u8]) -> Result<Form, ImportError> {
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
        (None, b'{') => Form::Events,
        (None, b'[') => Form::Json,
        (None, _) => Form::Yaml,
    })
}

/// Judges by the members of the first object that begins a line and has any that tell.
fn by_members(start: &[u8]) -> Option<Form> {
    let mut long_looks = 0;
    let mut from = 0;
    while let Some(rest) = start.get(from..).filter(|rest| !rest.is_empty()) {
        let end = memchr::memchr(b'\n', rest);
        let line = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        from += line.len() + 1;
        if !line.starts_with(b"{") {
            continue;
        }
        let of_line = Members::of(line);
        // A line that goes on behind what was looked at may be one document of any length.
        let is_cut = end.is_none();
        if of_line.is_event() && (of_line.is_whole || is_cut) {
            return Some(Form::Events);
        }
        if of_line.is_object() && of_line.is_whole {
            return Some(Form::Objects);
        }
        if of_line.is_object() && is_cut {
            return Some(Form::Json);
        }
        if !of_line.is_whole && long_looks < LONG_LOOKS {
            long_looks += 1;
            let of_rest = Members::of(rest);
            if (of_rest.is_whole || of_rest.is_unfinished)
                && (of_rest.is_object() || of_rest.is_event())
            {
                return Some(Form::Json);
            }
        }
    }
    None
}

/// The names of an object's members, as far as it can be read.
#[derive(Debug, Default)]
struct Members {
    names: Vec<String>,
    is_whole: bool,
    /// Whether nothing is wrong with it but that its end is missing.
    is_unfinished: bool,
}

impl Members {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_tells_the_form() {
        let long = format!(r#"{{"apiVersion":"v1","items":[{{"a":"{}"#, "x".repeat(200));
        for (text, expected) in [
            (r#"{"ts":1,"type":"ADDED","object":{}}"#, Form::Events),
            ("{\"type\":\"ADDED\"}\n", Form::Events),
            ("garbage\n{\"ts\":1,\"obj\n{\"object\":{}}\n", Form::Events),
            (
                "{\"foo\":1}\n\n{\"type\":\"ADDED\",\"object\":{}}",
                Form::Events,
            ),
            ("{\"foo\n", Form::Events),
            ("{\"kind\":\"Pod\"}\n{\"kind\":\"Pod\"}\n", Form::Objects),
            (r#"{"kind":"List","items":[]}"#, Form::Objects),
            (&long, Form::Json),
            ("{\n  \"apiVersion\": \"v1\",\n  \"items\": [", Form::Json),
            ("{\n \"type\": \"ADDED\",\n \"object\": {}\n}\n", Form::Json),
            ("[\n  {}]", Form::Json),
            ("apiVersion: v1\nkind: Pod\n", Form::Yaml),
            ("# a comment\n---\nkind: Pod", Form::Yaml),
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
                "the input is a reel already",
            ),
            (b"ab\x00", "the input is neither JSON nor YAML: byte 2 is 0"),
        ] {
            assert_eq!(form(bytes).expect_err("none").to_string(), words);
        }
    }
}
