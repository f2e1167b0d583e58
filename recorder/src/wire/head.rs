//! Parses the few fields that the recorder needs of a watch line or a list item: type, namespace,
//! name, uid, resourceVersion. The object's bytes are passed on unchanged.

use kubereel_format::EventType;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// A watch line, split into type and object.
#[derive(Debug)]
pub(crate) struct WatchLine<'a> {
    /// The type.
    pub(crate) kind: LineKind<'a>,
    /// The object's bytes, exactly as in the line.
    pub(crate) object: &'a [u8],
}

/// The line of an event, parsed.
#[derive(Debug)]
pub(crate) struct WatchEvent<'a> {
    /// The change.
    pub(crate) kind: EventType,
    /// The head of the object.
    pub(crate) head: ObjectHead<'a>,
    /// The object's bytes, exactly as in the line.
    pub(crate) object: &'a [u8],
}

/// The `type` of a watch line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LineKind<'a> {
    /// An object changed.
    Event(EventType),
    /// A bookmark: no other change up to a resourceVersion.
    Bookmark,
    /// An error: the server ends this watch.
    Error,
    /// An unknown type.
    Unknown(Cow<'a, str>),
}

/// The parsed fields of an object.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ObjectHead<'a> {
    /// Its namespace; empty for cluster-scoped objects.
    #[serde(borrow, default)]
    pub(crate) namespace: Cow<'a, str>,
    /// Its name.
    #[serde(borrow, default)]
    pub(crate) name: Cow<'a, str>,
    /// Its uid.
    #[serde(borrow, default)]
    pub(crate) uid: Cow<'a, str>,
    /// Its resourceVersion.
    #[serde(borrow, default, rename = "resourceVersion")]
    pub(crate) version: Cow<'a, str>,
}

impl ObjectHead<'_> {
    /// Returns whether it names one version of one object, and no part of the name was replaced
    /// while decoding.
    pub(crate) fn is_complete(&self) -> bool {
        let words = [&self.namespace, &self.name, &self.uid, &self.version];
        let is_whole = |word: &&Cow<'_, str>| !word.contains(char::REPLACEMENT_CHARACTER);
        !self.name.is_empty()
            && !self.uid.is_empty()
            && !self.version.is_empty()
            && words.iter().all(is_whole)
    }
}

/// The parsed fields of a bookmark.
#[derive(Debug)]
pub(crate) struct BookmarkHead {
    /// Its resourceVersion; empty if it has none.
    pub(crate) version: String,
    /// Whether it ends the initial events.
    pub(crate) ends_initial: bool,
}

/// The parsed fields of a `Status` object.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct StatusHead {
    /// Its kind: `Status`, if it is one.
    #[serde(default)]
    pub(crate) kind: String,
    /// The HTTP status code; 0 if there is none.
    #[serde(default)]
    pub(crate) code: u16,
    /// The server's message.
    #[serde(default)]
    pub(crate) message: String,
}

#[derive(Deserialize)]
struct RawLine<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Deserialize)]
struct WithHead<'a> {
    #[serde(borrow, deserialize_with = "object")]
    metadata: ObjectHead<'a>,
}

#[derive(Deserialize)]
struct WithAnnotations {
    #[serde(default)]
    metadata: Annotated,
}

#[derive(Default, Deserialize)]
struct Annotated {
    #[serde(default, rename = "resourceVersion")]
    version: String,
    #[serde(default)]
    annotations: Option<std::collections::BTreeMap<String, String>>,
}

/// The annotation by which a server marks the end of the initial events.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// Reads an object. Serde would also accept an array for a struct.
fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct HeadObject<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for HeadObject<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<T, M::Error> {
            T::deserialize(MapAccessDeserializer::new(map))
        }
    }

    deserializer.deserialize_map(HeadObject(PhantomData))
}

fn from_object<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Option<T> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = object(&mut deserializer).ok()?;
    deserializer.end().ok()?;
    Some(value)
}

/// Splits a watch line; `None` if it is not JSON of that form.
pub(crate) fn line(bytes: &[u8]) -> Option<WatchLine<'_>> {
    let raw: RawLine<'_> = from_object(bytes)?;
    let kind = match raw.kind.as_ref() {
        "ADDED" => LineKind::Event(EventType::Added),
        "MODIFIED" => LineKind::Event(EventType::Modified),
        "DELETED" => LineKind::Event(EventType::Deleted),
        "BOOKMARK" => LineKind::Bookmark,
        "ERROR" => LineKind::Error,
        _ => LineKind::Unknown(raw.kind),
    };
    Some(WatchLine {
        kind,
        object: raw.object.get().as_bytes(),
    })
}

/// The beginnings of lines as API servers write them, up to the object.
const EVENT_BEGINS: [(&str, EventType); 3] = [
    (r#"{"type":"MODIFIED","object":"#, EventType::Modified),
    (r#"{"type":"ADDED","object":"#, EventType::Added),
    (r#"{"type":"DELETED","object":"#, EventType::Deleted),
];

/// Splits the line of an event and parses the head of its object, in one pass; `None` unless the line is spelled as API
/// servers do. Then [`line()`] and [`head`] decide.
pub(crate) fn event(bytes: &[u8]) -> Option<WatchEvent<'_>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (kind, rest) = EVENT_BEGINS
        .iter()
        .find_map(|(begin, kind)| Some((*kind, text.strip_prefix(begin)?)))?;
    // Serde would also accept an array for a struct.
    if !rest.starts_with('{') {
        return None;
    }
    let mut objects = serde_json::Deserializer::from_str(rest).into_iter::<WithHead<'_>>();
    let with = objects.next()?.ok()?;
    let (object, end) = rest.split_at_checked(objects.byte_offset())?;
    (end == "}").then_some(WatchEvent {
        kind,
        head: with.metadata,
        object: object.as_bytes(),
    })
}

/// Parses the head of an object; `None` if it is not an object with metadata.
pub(crate) fn head(object: &[u8]) -> Option<ObjectHead<'_>> {
    let with: WithHead<'_> = from_object(object)?;
    Some(with.metadata)
}

/// Parses a bookmark; `None` if it is not an object.
pub(crate) fn bookmark(object: &[u8]) -> Option<BookmarkHead> {
    let with: WithAnnotations = from_object(object)?;
    let annotations = with.metadata.annotations.unwrap_or_default();
    Some(BookmarkHead {
        version: with.metadata.version,
        ends_initial: annotations.get(INITIAL_EVENTS_END).map(String::as_str) == Some("true"),
    })
}

/// Parses a `Status`; fields that cannot be read stay empty.
pub(crate) fn status(object: &[u8]) -> StatusHead {
    serde_json::from_slice(object).unwrap_or_default()
}

/// Returns the message of an error's body: that of a `Status`, else the first line.
pub(crate) fn error_message(body: &[u8]) -> String {
    let status = status(body);
    if !status.message.is_empty() {
        return status.message;
    }
    let text = String::from_utf8_lossy(body);
    let line = text.lines().next().unwrap_or_default();
    line.chars().take(ERROR_LETTERS).collect()
}

/// The longest part of an error's body that is not a `Status`, in letters.
const ERROR_LETTERS: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hands_on_the_exact_bytes_of_the_object() {
        let text = br#" {"type" : "MODIFIED","object": {"kind":"X", "metadata":{"name":"n\u0061","uid":"u","resourceVersion":"7","x":1e3}, "n":100000000000000000000000000000001 } }"#;
        let line = line(text).expect("a line");
        assert_eq!(line.kind, LineKind::Event(EventType::Modified));
        assert_eq!(
            line.object,
            br#"{"kind":"X", "metadata":{"name":"n\u0061","uid":"u","resourceVersion":"7","x":1e3}, "n":100000000000000000000000000000001 }"#
        );
        let head = head(line.object).expect("a head");
        assert_eq!(head.name, "na");
        assert_eq!(head.namespace, "");
        assert_eq!(head.version, "7");
    }

    #[test]
    fn tells_the_end_of_the_initial_objects() {
        let end = bookmark(br#"{"kind":"ConfigMap","metadata":{"resourceVersion":"12","creationTimestamp":null,"annotations":{"k8s.io/initial-events-end":"true"}}}"#).expect("a bookmark");
        assert!(end.ends_initial);
        assert_eq!(end.version, "12");
        let plain = bookmark(br#"{"metadata":{"resourceVersion":"13"}}"#).expect("a bookmark");
        assert!(!plain.ends_initial);
    }

    #[test]
    fn refuses_what_is_no_event() {
        for text in [
            &b""[..],
            b"{",
            b"[]",
            br#"{"type":"ADDED"}"#,
            br#"{"object":{}}"#,
            br#"{"type":1,"object":{}}"#,
            br#"["ADDED",{}]"#,
            b"{\"type\":\"ADDED\",\"object\":{\"a\":\"\xff\"}}",
            b"<html></html>",
        ] {
            assert!(line(text).is_none(), "{}", String::from_utf8_lossy(text));
        }
        for text in [
            &b"{}"[..],
            br#"{"metadata":[]}"#,
            br#"{"metadata":{"name":7}}"#,
        ] {
            assert!(head(text).is_none(), "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn the_line_of_an_event_is_read_in_one_pass() {
        let text = br#"{"type":"DELETED","object":{"metadata":{"name":"a","uid":"u","resourceVersion":"7"},"n":[1e3]}}"#;
        let line = event(text).expect("an event");
        assert_eq!(line.kind, EventType::Deleted);
        assert_eq!(line.head.version, "7");
        assert!(line.object.ends_with(b"[1e3]}"));
    }

    proptest! {
        #[test]
        fn one_pass_reads_what_two_read(
            kind in "ADDED|MODIFIED|DELETED|BOOKMARK",
            parts in prop::collection::vec(
                prop_oneof![
                    Just(r#"{"metadata":{"name":"a","uid":"u","resourceVersion":"7"}}"#.to_owned()),
                    Just(r#"{"metadata":{"na\u006de":"\u0061"},"a":[{},1e3,"}"]}"#.to_owned()),
                    "[\\]\\[\\{\\}\" \u{e9},:\\\\0-9a-z]{0,3}",
                ],
                1..3,
            ),
            end in "\\}{0,2}|\\} |,\"object\":1\\}",
            cut: prop::sample::Index,
            byte in prop::option::of(any::<u8>()),
        ) {
            let mut text = format!(r#"{{"type":"{kind}","object":{}{end}"#, parts.concat()).into_bytes();
            if let Some(byte) = byte {
                let at = cut.index(text.len());
                text[at] = byte;
            }
            if let Some(found) = event(&text) {
                let line = line(&text).expect("a line");
                prop_assert_eq!(line.kind, LineKind::Event(found.kind));
                prop_assert_eq!(line.object, found.object);
                let head = head(line.object).expect("a head");
                prop_assert_eq!(format!("{head:?}"), format!("{:?}", found.head));
            }
        }
    }

    #[test]
    fn reads_a_status() {
        let text = br#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version: 417 (422)","reason":"Expired","code":410}"#;
        assert_eq!(
            status(text),
            StatusHead {
                kind: "Status".into(),
                code: 410,
                message: "too old resource version: 417 (422)".into()
            }
        );
        assert_eq!(status(b"service unavailable"), StatusHead::default());
    }
}
