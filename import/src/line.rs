//! Owns one line of events: its members, and the object's bytes as they stand in it. Refuses to
//! look into the object.

use crate::broken::Problem;
use serde::Deserializer as _;
use serde::de::{Error as _, MapAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// A line, taken apart.
#[derive(Debug, Default)]
pub(crate) struct Line<'a> {
    /// When it came, as JSON.
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
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Line<'a> {
    /// Takes a line apart.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, Problem> {
        let mut deserializer = serde_json::Deserializer::from_slice(bytes);
        let parsed = deserializer
            .deserialize_map(Members)
            .and_then(|line| deserializer.end().map(|()| line));
        parsed.map_err(|error| match error.classify() {
            Category::Data => Problem::NotAnEvent(words(&error)),
            _ => Problem::NotJson(words(&error)),
        })
    }
}

/// Gives an error's words; its line is always 1 and says nothing.
pub(crate) fn words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((what, _)) if error.column() > 0 => format!("{what} at byte {}", error.column()),
        Some((what, _)) => what.to_owned(),
        None => text,
    }
}

struct Members;

impl<'a> Visitor<'a> for Members {
    type Value = Line<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the members of an event")
    }

    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut line = Line::default();
        while let Some(Text(name)) = map.next_key()? {
            match name.as_ref() {
                "ts" => put(&mut line.ts, map.next_value()?, &name)?,
                "object" => put(&mut line.object, map.next_value()?, &name)?,
                "type" => text(&mut line.kind, &mut map, &name)?,
                "group" => text(&mut line.group, &mut map, &name)?,
                "version" => text(&mut line.version, &mut map, &name)?,
                "resource" => text(&mut line.resource, &mut map, &name)?,
                _ => {
                    map.next_value::<serde::de::IgnoredAny>()?;
                    line.others.push(name);
                }
            }
        }
        Ok(line)
    }
}

fn put<T, E: serde::de::Error>(place: &mut Option<T>, value: T, name: &str) -> Result<(), E> {
    if place.replace(value).is_some() {
        return Err(E::custom(format_args!("{name:?} stands there twice")));
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
    let Text(value) = serde_json::from_str(raw.get())
        .map_err(|_unread| M::Error::custom(format_args!("{name:?} is no string")))?;
    put(place, value, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_apart_and_the_object_keeps_its_bytes() {
        let line = Line::parse(
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
            (&b"{"[..], "no JSON: EOF while parsing an object at byte 1"),
            (
                b"[]",
                "no event: invalid type: sequence, expected an object with the members of an event",
            ),
            (br#"{"type":1}"#, "no event: \"type\" is no string"),
            (br#"{"ts":1,"ts":2}"#, "no event: \"ts\" stands there twice"),
            (
                b"{\"object\":{\"a\":\"\xff\"}}",
                "no JSON: invalid unicode code point",
            ),
            (b"{} {}", "no JSON: trailing characters"),
        ] {
            let problem = Line::parse(text).expect_err("broken").to_string();
            assert!(problem.starts_with(words), "{problem:?} for {text:?}");
        }
    }
}
