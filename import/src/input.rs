//! Reads the bytes of an input: detects its format, splits it into lines, or reads it as a whole.
//!
//! Invariants: the format follows from the content, because a pipe has no file name; every length
//! is bounded before it is allocated; a line beyond the bound is skipped and reported, never cut.

use crate::error::ImportError;
use crate::unsupported::unsupported;
use kubereel_format::{MAX_BODY, is_reel_start};
use kubereel_unpack::UnpackError;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_saphyr::{Location, NonFiniteFloatPolicy, Spanned};
use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, BufRead, Read};

/// How many lines are searched for an object that spans several lines.
const LONG_LOOKS: usize = 8;

/// The format of an input.
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
    /// JSON, an event of an audit log a line.
    Audit,
    /// A SimKube trace in JSON.
    TraceJson,
    /// A SimKube trace in MessagePack.
    TracePacked,
    /// A tar archive.
    Tar,
    /// A zip archive, such as a k8shark capture.
    Zip,
    /// A git bundle.
    GitBundle,
}

impl InputForm {
    /// Returns whether the format has objects of one moment and nothing else.
    pub(crate) const fn is_moment(self) -> bool {
        matches!(self, Self::Objects | Self::Json | Self::Yaml | Self::Tar)
    }
}

/// The offset of a tar archive's magic number.
const TAR_MARK: std::ops::Range<usize> = 257..262;

/// Detects the format by the beginning of an input.
pub(crate) fn form(start: &[u8]) -> Result<InputForm, ImportError> {
    for (magic, form, program) in [
        (&b"BZh"[..], "bzip2", "bzip2 -dc"),
        (b"\x04\x22\x4d\x18", "LZ4", "lz4 -dc"),
        (b"7z\xbc\xaf\x27\x1c", "7z", "7z x -so"),
    ] {
        if start.starts_with(magic) {
            return Err(ImportError::Compressed { form, program });
        }
    }
    if is_reel_start(start) {
        return Err(ImportError::Reel);
    }
    if start.get(TAR_MARK) == Some(b"ustar") {
        return Ok(InputForm::Tar);
    }
    if start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06") {
        return Ok(InputForm::Zip);
    }
    if start.starts_with(b"# v2 git bundle\n") || start.starts_with(b"# v3 git bundle\n") {
        return Ok(InputForm::GitBundle);
    }
    if is_packed_trace(start) {
        return Ok(InputForm::TracePacked);
    }
    if let Some(format) = unsupported(start) {
        return Err(ImportError::Unsupported {
            what: format.what,
            instead: format.instead,
        });
    }
    if let Some(encoding) = wide_encoding(start) {
        return Err(ImportError::Encoding { encoding });
    }
    if let Some(offset) = memchr::memchr(0, start) {
        // A file that was being written when its machine failed ends with zeros.
        let before = start.get(..offset).unwrap_or_default();
        let lines = memchr::memrchr(b'\n', before).and_then(|end| before.get(..=end));
        let form = lines.and_then(by_members);
        return form.ok_or(ImportError::Binary { offset });
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

/// Returns the encoding of a text in which each ASCII character has a zero byte, as PowerShell writes it.
fn wide_encoding(start: &[u8]) -> Option<&'static str> {
    match start {
        [0xff, 0xfe, ..] | [b'{' | b'[' | b'#' | b'a'..=b'z', 0, ..] => Some("UTF-16LE"),
        [0xfe, 0xff, ..] | [0, b'{' | b'[' | b'#' | b'a'..=b'z', ..] => Some("UTF-16BE"),
        _ => None,
    }
}

/// Returns whether a MessagePack map with the members of a SimKube trace begins here.
fn is_packed_trace(start: &[u8]) -> bool {
    let ([0x81..=0x8f, rest @ ..] | [0xde, _, _, rest @ ..]) = start else {
        return false;
    };
    [&b"\xa7version"[..], b"\xa6config", b"\xa6events"]
        .iter()
        .any(|member| rest.starts_with(member))
}

/// Detects the format by the members of the first object that begins a line and has a telling one.
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
        // A line that continues behind the examined part may be one document of any length.
        let is_cut = end.is_none();
        if of_line.is_trace() {
            return Some(InputForm::TraceJson);
        }
        if of_line.is_audit() && (of_line.is_whole || is_cut) {
            return Some(InputForm::Audit);
        }
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
            if of_rest.is_trace() {
                return Some(InputForm::TraceJson);
            }
            // Damage behind the beginning of an indented list; a list in one line has its items in that line.
            let has_list = of_rest.has("items") && !of_line.has("items");
            if (of_rest.is_whole || of_rest.is_unfinished || has_list)
                && (of_rest.is_object() || of_rest.is_event())
            {
                return Some(InputForm::Json);
            }
        }
    }
    None
}

/// The names of an object's members, as far as it can be parsed.
#[derive(Debug, Default)]
struct MemberNames {
    names: Vec<String>,
    is_whole: bool,
    /// Whether its only error is a missing end.
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

    fn is_trace(&self) -> bool {
        self.has("events") && self.has("config") && self.has("version")
    }

    fn is_audit(&self) -> bool {
        self.has("auditID") && self.has("stage")
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

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
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

/// The longest line: the longest object and a kilobyte for the name of each other member.
pub(crate) const MAX_LINE: usize = MAX_BODY + 64 * 1024;

/// A line of the input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum InputLine<'a> {
    /// Its bytes, without the line end.
    Whole(&'a [u8]),
    /// It is too long; its bytes are dropped.
    TooLong,
}

/// The lines of an input.
pub(crate) struct InputLines<R> {
    input: R,
    line: Vec<u8>,
    /// Whether the current line is too long.
    is_long: bool,
    number: u64,
    max: usize,
}

impl<R: BufRead> InputLines<R> {
    /// Takes the reader, with the first line.
    pub(crate) const fn new(input: R) -> Self {
        Self::with_max(input, MAX_LINE)
    }

    const fn with_max(input: R, max: usize) -> Self {
        Self {
            input,
            line: Vec::new(),
            is_long: false,
            number: 0,
            max,
        }
    }

    /// Returns the next line and its number; `None` at the end.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<(u64, InputLine<'_>)>> {
        self.line.clear();
        self.is_long = false;
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
            self.is_long |= self.line.len().saturating_add(piece.len()) > self.max;
            if self.is_long {
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(piece);
            }
            let used = piece.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_some() {
                break;
            }
        }
        if !is_any {
            return Ok(None);
        }
        self.number += 1;
        Ok(Some((self.number, self.current())))
    }

    /// Returns the line that was read last.
    pub(crate) const fn current(&self) -> InputLine<'_> {
        if self.is_long {
            InputLine::TooLong
        } else {
            InputLine::Whole(self.line.as_slice())
        }
    }
}

/// The longest JSON that is read as a whole: the kind of a list is known only at its end.
pub(crate) const MAX_JSON: u64 = 512 * 1024 * 1024;

/// The longest YAML: in memory it uses more than ten times its length.
pub(crate) const MAX_YAML: u64 = 64 * 1024 * 1024;

/// The deepest nesting of YAML. Schemas in definitions have about fifty levels.
const MAX_DEPTH: usize = 128;

/// A document of YAML, as JSON.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct YamlPart {
    /// The line at which it begins, from 1.
    pub(crate) line: u64,
    pub(crate) value: Value,
}

/// Reads YAML documents.
pub(crate) fn yaml(bytes: &[u8]) -> Result<Vec<YamlPart>, ImportError> {
    let failed = |source| ImportError::Yaml { source };
    let text = str::from_utf8(bytes).map_err(|error| failed(error.into()))?;
    let read = |text: &str| serde_saphyr::from_str_multiple_with_options(text, yaml_options());
    let documents = match read(text) {
        Err(serde_saphyr::Error::NonFiniteFloat { .. }) => read(&overflows_quoted(text)),
        documents => documents,
    };
    let documents: Vec<Spanned<Value>> = documents.map_err(|error| failed(error.into()))?;
    let documents = documents.into_iter().map(|one| YamlPart {
        line: one.defined.line(),
        value: one.value,
    });
    Ok(documents.collect())
}

/// Puts quotes around numbers that are beyond any float, such as the digest `1e54321`: in YAML of Kubernetes they are
/// strings.
fn overflows_quoted(text: &str) -> String {
    let mut options = yaml_options();
    options.non_finite_float_policy = NonFiniteFloatPolicy::PassThrough;
    // An error in the text is that of its next reading.
    let nodes: Vec<Spanned<YamlNode>> =
        serde_saphyr::from_str_multiple_with_options(text, options).unwrap_or_default();
    let mut places = BTreeSet::new();
    for node in nodes {
        node.value.collect(&node.defined, &mut places);
    }
    let mut quoted = String::with_capacity(text.len());
    let mut rest = 0;
    for (start, end) in places {
        let number = text.get(start..end).unwrap_or_default();
        let digits = number.trim_start_matches(['-', '+']);
        if let Some(before) = text.get(rest..start)
            && digits.starts_with(|first: char| first.is_ascii_digit())
        {
            quoted.extend([before, "'", number, "'"]);
            rest = end;
        }
    }
    quoted.push_str(text.get(rest..).unwrap_or_default());
    quoted
}

/// A node of YAML, for the places of floats that are not finite.
#[derive(Debug, Default)]
struct YamlNode {
    is_infinite: bool,
    /// The places of those inside it.
    inner: Vec<(usize, usize)>,
}

impl YamlNode {
    /// Adds the places of the node and of those inside it.
    fn collect(self, location: &Location, places: &mut impl Extend<(usize, usize)>) {
        let span = location.span();
        let bytes = span.byte_offset().zip(span.byte_len());
        let place = bytes.filter(|_| self.is_infinite).and_then(|(at, len)| {
            let start = usize::try_from(at).ok()?;
            Some((start, start.checked_add(usize::try_from(len).ok()?)?))
        });
        places.extend(place);
        places.extend(self.inner);
    }
}

impl<'de> Deserialize<'de> for YamlNode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self::default())
    }
}

impl<'de> Visitor<'de> for YamlNode {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(mut self, float: f64) -> Result<Self, E> {
        self.is_infinite = float.is_infinite();
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Self, A::Error> {
        while let Some(item) = items.next_element::<Spanned<Self>>()? {
            item.value.collect(&item.defined, &mut self.inner);
        }
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<Self, A::Error> {
        while let Some((_, field)) = fields.next_entry::<IgnoredAny, Spanned<Self>>()? {
            field.value.collect(&field.defined, &mut self.inner);
        }
        Ok(self)
    }
}

/// Converts a length or a count for the reel and the summary.
#[expect(
    clippy::expect_used,
    reason = "no supported platform has longer addresses"
)]
pub(crate) fn len_u64(len: usize) -> u64 {
    u64::try_from(len).expect("a length fits into 64 bits")
}

/// Makes the error of an input that cannot be read further; the source of an unpacking error names
/// the place.
pub(crate) fn unread(source: io::Error) -> ImportError {
    match UnpackError::of_io(source) {
        Ok(source) => ImportError::Unpack { source },
        Err(source) => ImportError::Read { source },
    }
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

/// Reads YAML as Kubernetes does, with limits that a long list does not reach.
fn yaml_options() -> serde_saphyr::Options {
    #[expect(clippy::expect_used, reason = "the constant is below 2^32")]
    let most = usize::try_from(MAX_YAML).expect("a length in memory");
    serde_saphyr::options! {
        with_snippet: false,
        legacy_octal_numbers: true,
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            // Every node needs at least one byte, so the length bounds the nodes.
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
            (
                "{\n  \"apiVersion\": \"v1\",\n  \"items\": [\n    {\"a\": b},\n    {}\n  ]\n}\n",
                InputForm::Json,
            ),
            (
                "{\"kind\":\"List\",\"items\":[{\"a\n{\"object\":{}}\n",
                InputForm::Events,
            ),
            ("{\"object\":{}}\n{\"obj\0\0\0", InputForm::Events),
            ("[\n  {}]", InputForm::Json),
            ("apiVersion: v1\nkind: Pod\n", InputForm::Yaml),
            ("# a comment\n---\nkind: Pod", InputForm::Yaml),
            (
                r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"1","stage":"ResponseComplete"}"#,
                InputForm::Audit,
            ),
            (
                r#"{"version":2,"config":{},"events":[{"ts":1"#,
                InputForm::TraceJson,
            ),
            (
                "{\n \"version\": 2,\n \"config\": {},\n \"events\": [\n",
                InputForm::TraceJson,
            ),
            ("# v2 git bundle\n", InputForm::GitBundle),
            ("PK\u{3}\u{4}", InputForm::Zip),
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
            (b"BZh91AY", "the input is compressed (bzip2)"),
            (
                b"redb\x1a\x0a\xa9\x0d\x0a\x00",
                "the input is already a reel",
            ),
            (b"\xd7KR\x8b\x01\x00", "the input is already a reel"),
            (b"ab\x00", "the input is neither JSON nor YAML: byte 2 is 0"),
            (
                b"ab\n\x00",
                "the input is neither JSON nor YAML: byte 3 is 0",
            ),
            (b"\xff\xfe{\x00", "the input is UTF-16LE, not UTF-8"),
            (b"{\x00\n\x00", "the input is UTF-16LE, not UTF-8"),
            (b"\x00{\x00\n", "the input is UTF-16BE, not UTF-8"),
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
