//! Parses lines and documents: the members of an event, the head of an object, the members that
//! identify a document, and times.
//!
//! The bytes of an object are never changed here.

use crate::error::BrokenReason;
use jiff::Timestamp;
use kubereel_format::RecordedAt;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::error::Category;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::iter;
use std::marker::PhantomData;

/// A parsed line.
#[derive(Debug, Default)]
pub(crate) struct EventLine<'a> {
    /// Its time, as JSON.
    pub(crate) ts: Option<&'a RawValue>,
    /// Its type.
    pub(crate) kind: Option<Cow<'a, str>>,
    /// The API group.
    pub(crate) group: Option<Cow<'a, str>>,
    /// The API version.
    pub(crate) version: Option<Cow<'a, str>>,
    /// The plural name of the resource.
    pub(crate) resource: Option<Cow<'a, str>>,
    /// The object.
    pub(crate) object: Option<&'a RawValue>,
    /// The names of other members.
    pub(crate) others: Vec<Cow<'a, str>>,
}

/// A string that is borrowed where it can be.
#[derive(serde::Deserialize)]
struct BorrowedText<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> EventLine<'a> {
    /// Parses a line.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, BrokenReason> {
        let mut deserializer = serde_json::Deserializer::from_slice(bytes);
        let parsed = deserializer
            .deserialize_map(EventVisitor)
            .and_then(|line| deserializer.end().map(|()| line));
        parsed.map_err(|error| match error.classify() {
            Category::Data => BrokenReason::NotAnEvent(json_error(&error)),
            _ => BrokenReason::NotJson(json_error(&error)),
        })
    }
}

/// Returns the text of an error without its line, which is always 1 here, and without the value that
/// was found: it may be a secret.
pub(crate) fn json_error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text
        .rsplit_once(" at line ")
        .map_or(&*text, |(what, _)| what);
    let what = match error.classify() {
        Category::Data => without_value(what),
        _ => what.into(),
    };
    if error.column() > 0 {
        format!("{what} at byte {}", error.column())
    } else {
        what.into_owned()
    }
}

/// Takes the value out of an error of serde: of `invalid type: string "x", expected a map` the type
/// stays.
fn without_value(what: &str) -> Cow<'_, str> {
    let Some((mistake, found)) = ["invalid type: ", "invalid value: "]
        .iter()
        .find_map(|start| Some((*start, what.strip_prefix(start)?)))
    else {
        return what.into();
    };
    // The value may contain these words, too; what was expected does not.
    let (found, expected) = found.rsplit_once(", expected ").unwrap_or((found, ""));
    let end = found.find(['"', '`']).unwrap_or(found.len());
    let kind = found.get(..end).unwrap_or_default().trim_end();
    format!("{mistake}{kind}, expected {expected}").into()
}

/// Checks that an object can be read again: its text is UTF-8, its numbers are in the range of
/// numbers, and it is not nested deeper than readers go.
///
/// # Errors
/// When a reader of the reel would fail.
pub(crate) fn check_readable(object: &[u8]) -> Result<(), BrokenReason> {
    serde_json::from_slice::<AnyValue>(object)
        .map(|AnyValue| ())
        .map_err(|error| BrokenReason::NotJson(json_error(&error)))
}

/// Any value, read as the readers of a reel read it, and forgotten.
struct AnyValue;

impl<'de> Deserialize<'de> for AnyValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for AnyValue {
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

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self, A::Error> {
        while fields.next_entry::<Self, Self>()?.is_some() {}
        Ok(self)
    }
}

struct EventVisitor;

impl<'a> Visitor<'a> for EventVisitor {
    type Value = EventLine<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the members of an event")
    }

    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut line = EventLine::default();
        while let Some(BorrowedText(name)) = map.next_key()? {
            match name.as_ref() {
                "ts" => put(&mut line.ts, map.next_value()?, &name)?,
                "object" => put(&mut line.object, map.next_value()?, &name)?,
                "type" => text(&mut line.kind, &mut map, &name)?,
                "group" => text(&mut line.group, &mut map, &name)?,
                "version" => text(&mut line.version, &mut map, &name)?,
                "resource" => text(&mut line.resource, &mut map, &name)?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    line.others.push(name);
                }
            }
        }
        Ok(line)
    }
}

fn put<T, E: serde::de::Error>(place: &mut Option<T>, value: T, name: &str) -> Result<(), E> {
    if place.replace(value).is_some() {
        return Err(E::custom(format_args!("{name:?} occurs twice")));
    }
    Ok(())
}

fn text<'a, M: MapAccess<'a>>(
    place: &mut Option<Cow<'a, str>>,
    map: &mut M,
    name: &str,
) -> Result<(), M::Error> {
    let raw: &'a RawValue = map.next_value()?;
    if raw.get() == "null" {
        return Ok(());
    }
    let BorrowedText(value) = serde_json::from_str(raw.get())
        .map_err(|_unread| M::Error::custom(format_args!("{name:?} is not a string")))?;
    put(place, value, name)
}

/// The head of an object; absent fields are empty.
#[derive(Debug, Default)]
pub(crate) struct ImportedHead<'a> {
    /// Its `apiVersion`.
    pub(crate) api_version: Cow<'a, str>,
    /// Its kind.
    pub(crate) kind: Cow<'a, str>,
    /// Its namespace.
    pub(crate) namespace: Cow<'a, str>,
    /// Its name.
    pub(crate) name: Cow<'a, str>,
    /// Its uid.
    pub(crate) uid: Cow<'a, str>,
    /// Its resourceVersion.
    pub(crate) resource_version: Cow<'a, str>,
}

#[derive(Deserialize)]
struct HeadFields<'a> {
    #[serde(borrow, default, rename = "apiVersion")]
    api_version: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "map")]
    metadata: Option<HeadMetadata<'a>>,
}

#[derive(Deserialize)]
struct HeadMetadata<'a> {
    #[serde(borrow, default)]
    namespace: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    uid: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "resourceVersion")]
    resource_version: Option<Cow<'a, str>>,
}

impl<'a> ImportedHead<'a> {
    /// Reads an object's head.
    pub(crate) fn parse(object: &'a [u8]) -> Result<Self, BrokenReason> {
        let mut deserializer = serde_json::Deserializer::from_slice(object);
        let object: HeadFields<'a> = map(&mut deserializer)
            .and_then(|object| deserializer.end().map(|()| object))
            .map_err(|error| BrokenReason::NotAnObject(json_error(&error)))?
            .ok_or_else(|| BrokenReason::NotAnObject("null".to_owned()))?;
        let metadata = object.metadata.ok_or(BrokenReason::NoName)?;
        let name = metadata.name.unwrap_or_default();
        if name.is_empty() {
            return Err(BrokenReason::NoName);
        }
        Ok(Self {
            api_version: object.api_version.unwrap_or_default(),
            kind: object.kind.unwrap_or_default(),
            namespace: metadata.namespace.unwrap_or_default(),
            name,
            uid: metadata.uid.unwrap_or_default(),
            resource_version: metadata.resource_version.unwrap_or_default(),
        })
    }
}

/// Reads an object or null. Serde would also accept an array for a struct.
fn map<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    struct OfMap<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for OfMap<T> {
        type Value = Option<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Self::Value, M::Error> {
            T::deserialize(MapAccessDeserializer::new(map)).map(Some)
        }
    }

    deserializer.deserialize_any(OfMap(PhantomData))
}

/// The members that identify a document.
#[derive(Debug, Default)]
pub(crate) struct DocumentShape<'a> {
    pub(crate) is_event: bool,
    pub(crate) api_version: Cow<'a, str>,
    pub(crate) kind: Cow<'a, str>,
    pub(crate) items: Option<&'a RawValue>,
    metadata: Option<&'a RawValue>,
}

/// The metadata of a list.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListMetadata {
    #[serde(default)]
    pub(crate) resource_version: Option<String>,
    #[serde(default, rename = "continue")]
    rest: Option<String>,
}

impl ListMetadata {
    /// Returns whether it is one page of a list, and items are missing.
    pub(crate) fn is_page(&self) -> bool {
        self.rest.as_ref().is_some_and(|rest| !rest.is_empty())
    }
}

impl<'a> DocumentShape<'a> {
    /// Identifies a document.
    pub(crate) fn of(bytes: &'a [u8]) -> Result<Self, BrokenReason> {
        let mut deserializer = serde_json::Deserializer::from_slice(bytes);
        deserializer
            .deserialize_map(ShapeVisitor)
            .and_then(|shape| deserializer.end().map(|()| shape))
            .map_err(|error| match error.classify() {
                Category::Data => BrokenReason::NotAnObject(json_error(&error)),
                _ => BrokenReason::NotJson(json_error(&error)),
            })
    }
}

struct ShapeVisitor;

impl<'a> Visitor<'a> for ShapeVisitor {
    type Value = DocumentShape<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut shape = DocumentShape::default();
        let (mut has_type, mut has_object) = (false, false);
        while let Some(name) = map.next_key::<Cow<'a, str>>()? {
            match name.as_ref() {
                "type" => {
                    has_type = true;
                    map.next_value::<IgnoredAny>()?;
                }
                "object" => {
                    has_object = true;
                    map.next_value::<IgnoredAny>()?;
                }
                "apiVersion" => shape.api_version = string_or_empty(map.next_value()?),
                "kind" => shape.kind = string_or_empty(map.next_value()?),
                "items" => shape.items = Some(map.next_value()?),
                "metadata" => shape.metadata = Some(map.next_value()?),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        shape.is_event = has_type && has_object;
        Ok(shape)
    }
}

/// Returns a string; any other value does not name what a list contains.
fn string_or_empty(value: &RawValue) -> Cow<'_, str> {
    serde_json::from_str(value.get()).unwrap_or_default()
}

/// The deepest nesting of lists in lists.
const DEPTH: usize = 8;

/// The suffix of a list's kind.
const LIST: &str = "List";

/// The group of audit events.
const AUDIT: &str = "audit.k8s.io/";

/// The kind that a list declares for its items.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ListType<'a> {
    pub(crate) api_version: &'a str,
    pub(crate) kind: &'a str,
}

/// A part of a document that is not split further.
#[derive(Debug)]
pub(crate) enum Leaf<'a> {
    /// An event of a watch.
    Event(&'a [u8]),
    /// An event of an audit log.
    Audit(&'a [u8]),
    /// An object, and what its list declares about it.
    Object(&'a [u8], ListType<'a>),
    /// An object outside of a list.
    Single(&'a [u8]),
    /// A list, before its items.
    List(ListType<'a>, ListMetadata),
    /// A list without items.
    EmptyList(ListType<'a>),
    /// It cannot be read.
    Broken(BrokenReason),
}

/// Splits a document: an object, an event, or lists of them, also nested.
///
/// `take` receives the number of each in its list, from 1; 0 outside of lists.
///
/// # Errors
/// When `take` fails.
pub(crate) fn leaves<E>(
    document: &[u8],
    take: &mut impl FnMut(u64, Leaf<'_>) -> Result<(), E>,
) -> Result<(), E> {
    nested(document, ListType::default(), ListPlace::default(), take)
}

/// Where a part of a document stands.
#[derive(Clone, Copy, Default)]
struct ListPlace {
    /// In how many lists.
    depth: usize,
    /// Its number in the innermost, from 1; 0 outside of lists.
    item: u64,
}

impl ListPlace {
    /// Splits the items of a list that stands here.
    fn each<E>(
        self,
        items: &[&RawValue],
        listed: ListType<'_>,
        take: &mut impl FnMut(u64, Leaf<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let depth = self.depth + 1;
        (1..).zip(items).try_for_each(|(item, json)| {
            nested(json.get().as_bytes(), listed, Self { depth, item }, take)
        })
    }
}

fn nested<E>(
    bytes: &[u8],
    listed: ListType<'_>,
    place: ListPlace,
    take: &mut impl FnMut(u64, Leaf<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let bytes = bytes.trim_ascii();
    if bytes.starts_with(b"[") {
        return items(bytes, listed, (place, None), take);
    }
    let shape = match DocumentShape::of(bytes) {
        Ok(shape) => shape,
        Err(problem) => return take(place.item, Leaf::Broken(problem)),
    };
    if shape.is_event {
        return take(place.item, Leaf::Event(bytes));
    }
    let list_of = shape.kind.strip_suffix(LIST);
    let declared = match list_of {
        Some(kind) if !kind.is_empty() => ListType {
            api_version: &shape.api_version,
            kind,
        },
        _ => ListType::default(),
    };
    if let Some(items_json) = shape.items
        && (list_of.is_some() || shape.kind.is_empty())
    {
        match items_json.get() {
            array if array.starts_with('[') => {
                return items(array.as_bytes(), declared, (place, shape.metadata), take);
            }
            // So a server's own types write a list without items, as kubectl cluster-info dump does.
            "null" if list_of.is_some() => return take(place.item, Leaf::EmptyList(declared)),
            _ => {}
        }
    }
    let is_audit = shape.api_version.starts_with(AUDIT)
        || (shape.api_version.is_empty() && listed.api_version.starts_with(AUDIT));
    take(
        place.item,
        if is_audit {
            Leaf::Audit(bytes)
        } else if place.depth == 0 {
            Leaf::Single(bytes)
        } else {
            Leaf::Object(bytes, listed)
        },
    )
}

fn items<E>(
    array: &[u8],
    listed: ListType<'_>,
    (place, metadata): (ListPlace, Option<&RawValue>),
    take: &mut impl FnMut(u64, Leaf<'_>) -> Result<(), E>,
) -> Result<(), E> {
    match serde_json::from_slice::<Vec<&RawValue>>(array) {
        Ok(_) if place.depth >= DEPTH => {
            let why = format!("more than {DEPTH} lists in lists");
            take(place.item, Leaf::Broken(BrokenReason::NotAnObject(why)))
        }
        Ok(items) => {
            let metadata = metadata.and_then(|json| serde_json::from_str(json.get()).ok());
            let metadata = metadata.unwrap_or_default();
            take(place.item, Leaf::List(listed, metadata))?;
            if items.is_empty() {
                return take(place.item, Leaf::EmptyList(listed));
            }
            place.each(&items, listed, take)
        }
        Err(error) => take(
            place.item,
            Leaf::Broken(BrokenReason::NotJson(json_error(&error))),
        ),
    }
}

/// A part of a text of JSON documents.
pub(crate) enum JsonPart<'a> {
    Document(&'a [u8]),
    /// The rest, from the document on that is damaged or cut off.
    Damaged(&'a [u8], BrokenReason),
}

/// Splits a text into JSON documents, one after another; damage is the last part.
pub(crate) fn json_parts(text: &[u8]) -> impl Iterator<Item = JsonPart<'_>> {
    let mut documents = serde_json::Deserializer::from_slice(text).into_iter::<&RawValue>();
    let mut is_damaged = false;
    iter::from_fn(move || {
        let begin = documents.byte_offset();
        let document = documents.next().filter(|_| !is_damaged)?;
        is_damaged = document.is_err();
        Some(document.map_or_else(
            |error| {
                let rest = text.get(begin..).unwrap_or_default();
                JsonPart::Damaged(rest, BrokenReason::Rest(error.to_string()))
            },
            |document| JsonPart::Document(document.get().as_bytes()),
        ))
    })
}

/// Splits the items of a list that stand before the place where its JSON is damaged or ends.
///
/// # Errors
/// When `take` fails.
pub(crate) fn leaves_before_damage<E>(
    list: &[u8],
    take: &mut impl FnMut(u64, Leaf<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut read = DamagedList::default();
    let mut deserializer = serde_json::Deserializer::from_slice(list);
    // The error is that of the whole document, which the caller has.
    if list.trim_ascii_start().starts_with(b"[") {
        let _damage = ItemsVisitor(&mut read.items).deserialize(&mut deserializer);
    } else {
        let _damage = deserializer.deserialize_map(&mut read);
    }
    let kind = read.kind.strip_suffix(LIST).unwrap_or_default();
    let listed = if kind.is_empty() {
        ListType::default()
    } else {
        ListType {
            api_version: &read.api_version,
            kind,
        }
    };
    ListPlace::default().each(&read.items, listed, take)
}

/// A list, as far as it can be parsed.
#[derive(Default)]
struct DamagedList<'a> {
    api_version: Cow<'a, str>,
    kind: Cow<'a, str>,
    items: Vec<&'a RawValue>,
}

impl<'a> Visitor<'a> for &mut DamagedList<'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(name) = map.next_key::<Cow<'a, str>>()? {
            match name.as_ref() {
                "apiVersion" => self.api_version = string_or_empty(map.next_value()?),
                "kind" => self.kind = string_or_empty(map.next_value()?),
                "items" => map.next_value_seed(ItemsVisitor(&mut self.items))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// Collects the items of an array, those before an error too.
struct ItemsVisitor<'a, 'de>(&'a mut Vec<&'de RawValue>);

impl<'de> DeserializeSeed<'de> for ItemsVisitor<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ItemsVisitor<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut items: S) -> Result<(), S::Error> {
        while let Some(item) = items.next_element()? {
            self.0.push(item);
        }
        Ok(())
    }
}

const MICROS: i64 = 1_000_000;

/// The number of digits of a fraction that are used.
const FRACTION: usize = 6;

/// Reads a JSON value as a time.
pub(crate) fn time(json: &str) -> Option<RecordedAt> {
    if json.starts_with('"') {
        let text: String = serde_json::from_str(json).ok()?;
        let at = text.parse::<Timestamp>().ok()?;
        return Some(RecordedAt::from_micros(at.as_microsecond()));
    }
    let micros = seconds(json)?;
    // All readers have the limits of the calendar.
    Timestamp::from_microsecond(micros).ok()?;
    Some(RecordedAt::from_micros(micros))
}

/// Reads a JSON number without an exponent, exactly.
fn seconds(number: &str) -> Option<i64> {
    let (is_negative, digits) = match number.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, number),
    };
    if digits.contains(['e', 'E']) {
        return scientific(number);
    }
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let micros = whole.parse::<i64>().ok()?.checked_mul(MICROS)?;
    let fraction = fraction.get(..FRACTION).unwrap_or(fraction);
    let micros = micros.checked_add(format!("{fraction:0<FRACTION$}").parse().ok()?)?;
    Some(if is_negative { -micros } else { micros })
}

/// Reads a JSON number in the notation that programs use for large ones: `1.6782e9`.
fn scientific(number: &str) -> Option<i64> {
    let secs: f64 = number.parse().ok()?;
    let duration = jiff::SignedDuration::try_from_secs_f64(secs).ok()?;
    i64::try_from(duration.as_micros()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_apart_and_the_object_keeps_its_bytes() {
        let line = EventLine::parse(
            br#" {"object": {"a" : 1e3, "b":"\u0041"} ,"_src":{"x":1},"ts":7.5,"type":"ADDED","group":"","resource":null} "#,
        )
        .expect("a line");
        assert_eq!(
            line.object.map(RawValue::get),
            Some(r#"{"a" : 1e3, "b":"\u0041"}"#)
        );
        assert_eq!(line.ts.map(RawValue::get), Some("7.5"));
        assert_eq!(line.kind.as_deref(), Some("ADDED"));
        assert_eq!(line.group.as_deref(), Some(""));
        assert_eq!(line.resource, None);
        assert_eq!(line.others, ["_src"]);
    }

    #[test]
    fn what_is_no_event_says_why() {
        for (text, words) in [
            (&b"{"[..], "not JSON: EOF while parsing an object at byte 1"),
            (
                b"[]",
                "not an event: invalid type: sequence, expected an object with the members of an event",
            ),
            (br#"{"type":1}"#, "not an event: \"type\" is not a string"),
            (br#"{"ts":1,"ts":2}"#, "not an event: \"ts\" occurs twice"),
            (
                b"{\"object\":{\"a\":\"\xff\"}}",
                "not JSON: invalid unicode code point",
            ),
            (b"{} {}", "not JSON: trailing characters"),
        ] {
            let problem = EventLine::parse(text).expect_err("broken").to_string();
            assert!(problem.starts_with(words), "{problem:?} for {text:?}");
        }
    }

    #[test]
    fn what_is_not_said_is_empty() {
        let head = ImportedHead::parse(br#"{"metadata":{"name":"a","uid":null}}"#).expect("a head");
        assert_eq!(head.name, "a");
        assert_eq!(
            [head.api_version, head.kind, head.namespace, head.uid],
            ["", "", "", ""]
        );
    }

    #[test]
    fn what_is_no_object_says_so() {
        for (text, words) in [
            (
                "7",
                "not a Kubernetes object: invalid type: integer, expected",
            ),
            (
                r#"{"kind":"A","metadata":"hunter2, expected \"x\""}"#,
                "not a Kubernetes object: invalid type: string, expected an object at byte",
            ),
            ("null", "not a Kubernetes object: null"),
            ("[]", "not a Kubernetes object: invalid type: sequence"),
            ("{}", "metadata.name is missing"),
            (r#"{"metadata":{}}"#, "metadata.name is missing"),
            (
                r#"{"metadata":[]}"#,
                "not a Kubernetes object: invalid type: sequence",
            ),
            (
                r#"{"kind":7}"#,
                "not a Kubernetes object: invalid type: integer, expected a",
            ),
        ] {
            let problem = ImportedHead::parse(text.as_bytes())
                .expect_err("broken")
                .to_string();
            assert!(problem.starts_with(words), "{problem:?} for {text:?}");
            assert!(!problem.contains("hunter2"), "{problem}");
        }
    }

    #[test]
    fn what_a_reader_of_the_reel_cannot_read_is_broken() {
        let nested = |depth| [b"[".repeat(depth), b"]".repeat(depth)].concat();
        for (text, words) in [
            (nested(127), None),
            (nested(128), Some("not JSON: recursion limit exceeded")),
            (
                b"{\"a\":\"\xff\"}".to_vec(),
                Some("not JSON: invalid unicode"),
            ),
            (br#"{"a":"\ud800"}"#.to_vec(), Some("not JSON: ")),
            (
                b"{\"a\":1e400}".to_vec(),
                Some("not JSON: number out of range"),
            ),
            (br#"{"a":[1,-1,1.5,true,null,"b"]}"#.to_vec(), None),
        ] {
            let is_read = serde_json::from_slice::<serde_json::Value>(&text).is_ok();
            let problem = check_readable(&text)
                .err()
                .map(|problem| problem.to_string());
            assert_eq!(problem.is_none(), is_read, "{problem:?}");
            let starts = problem
                .as_deref()
                .zip(words)
                .map(|(problem, words)| problem.starts_with(words));
            assert_ne!(starts, Some(false), "{problem:?}");
            assert_eq!(problem.is_none(), words.is_none(), "{problem:?}");
        }
    }

    #[test]
    fn seconds_and_rfc_3339_are_read_to_the_microsecond() {
        for (json, micros) in [
            ("1678262400", 1_678_262_400_000_000),
            ("1678262400.5", 1_678_262_400_500_000),
            ("1678262400.123456", 1_678_262_400_123_456),
            ("1678262400.1234569", 1_678_262_400_123_456),
            ("0.000001", 1),
            ("-1.25", -1_250_000),
            ("1.6782624e9", 1_678_262_400_000_000),
            ("\"2023-03-08T08:00:00Z\"", 1_678_262_400_000_000),
            ("\"2023-03-08T08:00:00.123456789Z\"", 1_678_262_400_123_456),
            ("\"2023-03-08T10:00:00+02:00\"", 1_678_262_400_000_000),
        ] {
            assert_eq!(time(json), Some(RecordedAt::from_micros(micros)), "{json}");
        }
    }

    #[test]
    fn a_list_that_is_cut_anywhere_gives_its_whole_items() {
        let list =
            r#"{"apiVersion":"v1","kind":"PodList","items":[{"a":1},{"b":[2]}],"metadata":{}}"#;
        let array = r#"[{"a":1},{"b":[2]}]"#;
        for (text, named) in [(list, "Pod"), (array, "")] {
            for cut in 0..text.len() {
                let mut found = Vec::new();
                let taken: Result<(), ()> =
                    leaves_before_damage(&text.as_bytes()[..cut], &mut |_, leaf| {
                        if let Leaf::Object(bytes, listed) = leaf {
                            found.push((bytes.to_vec(), listed.kind.to_owned()));
                        }
                        Ok(())
                    });
                taken.expect("taken");
                let ends = [r#"{"a":1}"#, r#"{"b":[2]}"#];
                let expected: Vec<(Vec<u8>, String)> = ends
                    .iter()
                    .filter(|item| text.find(*item).expect("there") + item.len() <= cut)
                    .map(|item| (item.as_bytes().to_vec(), named.to_owned()))
                    .collect();
                assert_eq!(found, expected, "{}", &text[..cut]);
            }
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        for json in [
            "null",
            "true",
            "{}",
            "\"\"",
            "\"yesterday\"",
            "\"2023-03-08\"",
            "1e300",
            "99999999999999999999",
            "9223372036854775",
            "-",
        ] {
            assert_eq!(time(json), None, "{json}");
        }
    }
}
