//! A view of an object of unknown form: a value that is missing, null or of another type is empty,
//! as for the server. Times are shown as ages.

use crate::timetext;
use jiff::Timestamp;
use kubereel_format::RecordedAt;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The server's text for a time that is not set.
pub(crate) const UNKNOWN: &str = "<unknown>";

/// The server's text for an absent value.
pub(crate) const NONE: &str = "<none>";

/// A part of an object, or nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObjectPart<'a>(Option<&'a Value>);

impl<'a> ObjectPart<'a> {
    /// Takes an object.
    pub(crate) const fn of(object: &'a Value) -> Self {
        Self(Some(object))
    }

    /// An absent part.
    pub(crate) const fn none() -> Self {
        Self(None)
    }

    /// Descends to a member of a member.
    pub(crate) fn at(self, path: &str) -> Self {
        let mut members = path.split('.');
        Self(
            members
                .try_fold(self.0, |value, name| {
                    Some(value.and_then(|value| value.get(name)))
                })
                .flatten(),
        )
    }

    /// Returns whether the part exists.
    pub(crate) fn is_there(self) -> bool {
        self.0.is_some_and(|value| !value.is_null())
    }

    /// Reads a text.
    pub(crate) fn text(self) -> &'a str {
        self.0.and_then(Value::as_str).unwrap_or_default()
    }

    /// Reads a text, or another if it is empty.
    pub(crate) fn text_or(self, other: &'a str) -> &'a str {
        match self.text() {
            "" => other,
            text => text,
        }
    }

    /// Returns the value itself.
    pub(crate) const fn value(self) -> Option<&'a Value> {
        self.0
    }

    /// Returns a text, a number or a boolean as text; empty for anything else.
    pub(crate) fn plain(self) -> String {
        match self.0 {
            Some(Value::String(text)) => text.clone(),
            Some(value @ (Value::Bool(_) | Value::Number(_))) => value.to_string(),
            _ => String::new(),
        }
    }

    /// Returns [`Self::plain`], or another text if it is empty.
    pub(crate) fn plain_or(self, other: &str) -> String {
        let text = self.plain();
        if text.is_empty() {
            other.to_owned()
        } else {
            text
        }
    }

    /// Returns the members of an object, by name.
    pub(crate) fn members(self) -> impl Iterator<Item = (&'a str, Self)> {
        let members = self.0.and_then(Value::as_object).into_iter();
        let members = members.flat_map(Map::iter);
        members.map(|(name, value)| (name.as_str(), Self::of(value)))
    }

    /// Reads a whole number.
    pub(crate) fn whole(self) -> i64 {
        self.0.and_then(Value::as_i64).unwrap_or_default()
    }

    /// Reads a boolean.
    pub(crate) fn holds(self) -> bool {
        self.0.and_then(Value::as_bool).unwrap_or_default()
    }

    /// Reads a list.
    pub(crate) fn items(self) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator {
        let items = self
            .0
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice);
        items.iter().map(Self::of)
    }

    /// Reads a time; `None` if it is not set.
    pub(crate) fn time(self) -> Option<Timestamp> {
        parse_time(self.text()).filter(|time| !is_never(*time))
    }

    /// Returns the age of a time at a moment.
    pub(crate) fn since(self, at: RecordedAt) -> String {
        self.time()
            .map_or_else(|| UNKNOWN.to_owned(), |time| time_since(time, at))
    }

    /// Reads names and their texts, sorted.
    pub(crate) fn texts(self) -> BTreeMap<&'a str, &'a str> {
        let members = self.0.and_then(Value::as_object).into_iter();
        let members = members.flat_map(Map::iter);
        members
            .map(|(name, text)| (name.as_str(), Self::of(text).text()))
            .collect()
    }

    /// Reads the object's name.
    pub(crate) fn name(self) -> String {
        self.at("metadata.name").text().to_owned()
    }

    /// Returns the object's age.
    pub(crate) fn age(self, at: RecordedAt) -> String {
        self.at("metadata.creationTimestamp").since(at)
    }
}

/// Midnight at the start of the year 1, which means no time to the server.
const NEVER_SECS: i64 = -62_135_596_800;

/// Reads a time as the server does; `None` if it has another form.
pub(crate) fn parse_time(text: &str) -> Option<Timestamp> {
    let is_dated = |at: usize, letter: u8| text.as_bytes().get(at) == Some(&letter);
    // The calendar's parser accepts more forms than RFC 3339.
    let has_form = text.len() >= "2026-11-21T14:00:00Z".len()
        && [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')]
            .into_iter()
            .all(|(at, letter)| is_dated(at, letter));
    has_form.then(|| text.parse().ok()).flatten()
}

/// Returns whether a time means none.
pub(super) fn is_never(time: Timestamp) -> bool {
    time.as_second() == NEVER_SECS && time.subsec_nanosecond() == 0
}

/// Returns the age of a time at a moment.
pub(super) fn time_since(time: Timestamp, at: RecordedAt) -> String {
    let then = RecordedAt::from_micros(time.as_microsecond());
    // Rounded towards zero, as by the server: 1.5 s in the future is zero seconds.
    timetext::age(at.micros_since(then) / 1_000_000)
}

/// Returns the distance of two times as a duration.
pub(crate) fn time_between(from: Timestamp, to: Timestamp) -> String {
    time_since(from, RecordedAt::from_micros(to.as_microsecond()))
}

#[cfg(test)]
mod part_tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_of_another_type_is_empty() {
        let object = json!({"a": {"b": "text", "n": 7, "t": true, "l": ["x"], "null": null}});
        let object = ObjectPart::of(&object);
        assert_eq!(object.at("a.b").text(), "text");
        assert_eq!(object.at("a.n").whole(), 7);
        assert!(object.at("a.t").holds());
        assert_eq!(object.at("a.l").items().len(), 1);
        for path in ["a", "a.b.c", "a.null", "x.y", "a.l"] {
            let part = object.at(path);
            assert_eq!(
                (part.text(), part.whole(), part.holds()),
                ("", 0, false),
                "{path}"
            );
        }
        assert!(object.at("a.b").is_there());
        assert!(!object.at("a.null").is_there());
        assert!(!object.at("a.x").is_there());
        assert_eq!(object.at("a.b").items().len(), 0);
        assert!(object.at("a.b").texts().is_empty());
    }

    #[test]
    fn times_that_are_not_set_are_unknown() {
        let at = RecordedAt::from_micros(1_795_269_660_000_000);
        for (time, expected) in [
            (json!("2026-11-21T14:00:00Z"), "60s"),
            (json!("0001-01-01T00:00:00Z"), UNKNOWN),
            (json!(null), UNKNOWN),
            (json!(7), UNKNOWN),
        ] {
            let object = json!({"metadata": {"creationTimestamp": time}});
            assert_eq!(ObjectPart::of(&object).age(at), expected);
        }
    }
}

#[cfg(test)]
mod elapsed_tests {
    use super::*;

    #[test]
    fn only_the_servers_form_is_a_time() {
        for text in [
            "2026-11-21T14:00:00Z",
            "2026-11-21T14:00:00.123456Z",
            "2026-11-21T15:00:00+01:00",
        ] {
            assert!(parse_time(text).is_some(), "{text}");
        }
        for text in [
            "",
            "null",
            "yesterday",
            "2026-11-21",
            "2026-11-21 14:00:00Z",
            "2026-11-21T14:00Z",
            "20261121T140000Z",
            "2026-11-21T14:00:00",
            "2026-13-21T14:00:00Z",
        ] {
            assert!(parse_time(text).is_none(), "{text}");
        }
    }

    #[test]
    fn the_year_one_is_no_time() {
        let never = parse_time("0001-01-01T00:00:00Z").expect("a time");
        assert!(is_never(never));
        assert!(!is_never(
            parse_time("1970-01-01T00:00:00Z").expect("a time")
        ));
    }

    #[test]
    fn elapsed_time_counts_from_the_moment() {
        let from = parse_time("2026-11-21T14:00:00Z").expect("a time");
        let to = parse_time("2026-11-21T14:02:05Z").expect("a time");
        assert_eq!(time_between(from, to), "2m5s");
        assert_eq!(time_between(to, from), "<invalid>");
    }
}
