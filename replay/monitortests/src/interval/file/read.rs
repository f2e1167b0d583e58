//! The reading of files of intervals. It does not handle files without bounds: bytes, items and
//! depth are limited, and an item that cannot be read is named by its number.

use super::item::FileItem;
use crate::interval::{Interval, Intervals, SharedTexts};
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufReader, Read};
use thiserror::Error;

/// A file may have this many bytes: the largest that are known have a tenth of it.
pub const MAX_FILE_BYTES: u64 = 1 << 30;

/// A file may have this many intervals.
pub const MAX_ITEMS: usize = 4_000_000;

/// Why a file of intervals cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum IntervalFileError {
    /// The file cannot be read.
    #[error("the file cannot be read: {source}")]
    Io {
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// It has too many bytes.
    #[error("the file has more than {limit} bytes")]
    TooLong {
        /// How many it may have.
        limit: u64,
    },
    /// It has too many intervals.
    #[error("the file has more than {limit} intervals")]
    TooMany {
        /// How many it may have.
        limit: usize,
    },
    /// It is no JSON, or no list of intervals.
    #[error("not a file of intervals: {source}")]
    Json {
        /// What the parser says.
        #[source]
        source: serde_json::Error,
    },
    /// An interval in it cannot be read.
    #[error("item {number} of the file cannot be read: {why}")]
    FileItem {
        /// The place of the interval, from 0.
        number: usize,
        /// Why not.
        why: String,
    },
    /// It has no member `items`.
    #[error("not a file of intervals: it has no \"items\"")]
    NoItems,
}

/// Reads a file of intervals of any generation.
///
/// The run's first and last moment are those of its intervals. An interval without a begin gets the
/// run's first moment.
///
/// # Errors
/// When the file cannot be read, is none, is too large, or holds an interval that upstream refuses.
pub fn read_intervals(from: impl Read) -> Result<Intervals, IntervalFileError> {
    read_within(from, MAX_FILE_BYTES, MAX_ITEMS)
}

fn read_within(
    from: impl Read,
    max_bytes: u64,
    max_items: usize,
) -> Result<Intervals, IntervalFileError> {
    let mut limited = from.take(max_bytes.saturating_add(1));
    let mut taken = ReadItems {
        limit: max_items,
        words: SharedTexts::default(),
        intervals: Vec::new(),
        unbegun: Vec::new(),
        failed: None,
        has_items: false,
    };
    let read = {
        let mut parser = serde_json::Deserializer::from_reader(BufReader::new(&mut limited));
        let whole = IntervalFile(&mut taken).deserialize(&mut parser);
        whole.and_then(|()| parser.end())
    };
    if limited.limit() == 0 {
        return Err(IntervalFileError::TooLong { limit: max_bytes });
    }
    if let Some(failed) = taken.failed {
        return Err(failed);
    }
    if let Err(source) = read {
        return Err(if source.is_io() {
            IntervalFileError::Io {
                source: source.into(),
            }
        } else {
            IntervalFileError::Json { source }
        });
    }
    if !taken.has_items {
        return Err(IntervalFileError::NoItems);
    }
    Ok(taken.into_intervals())
}

/// What was read so far.
struct ReadItems {
    limit: usize,
    words: SharedTexts,
    intervals: Vec<Interval>,
    /// The places of those without a begin.
    unbegun: Vec<usize>,
    failed: Option<IntervalFileError>,
    has_items: bool,
}

impl ReadItems {
    fn take(&mut self, item: FileItem) -> Result<(), IntervalFileError> {
        let number = self.intervals.len();
        if number >= self.limit {
            return Err(IntervalFileError::TooMany { limit: self.limit });
        }
        let read = item.interval(&mut self.words);
        let (from, interval) = read.map_err(|why| IntervalFileError::FileItem { number, why })?;
        if from.is_none() {
            self.unbegun.push(number);
        }
        self.intervals.push(interval);
        Ok(())
    }

    fn into_intervals(mut self) -> Intervals {
        let begun = |(place, interval): (usize, &Interval)| {
            let is_begun = self.unbegun.binary_search(&place).is_err();
            is_begun.then_some(interval.from).or(interval.to)
        };
        let start = self.intervals.iter().enumerate().filter_map(begun).min();
        let start = start.unwrap_or_default();
        for place in &self.unbegun {
            if let Some(interval) = self.intervals.get_mut(*place) {
                interval.from = start;
            }
        }
        let ends = self.intervals.iter();
        let end = ends.map(|interval| interval.to_or(interval.from)).max();
        Intervals::new(self.intervals, start, end.unwrap_or(start).max(start))
    }
}

/// The whole file: an object with `items`, or the list alone.
struct IntervalFile<'a>(&'a mut ReadItems);

impl<'de> DeserializeSeed<'de> for IntervalFile<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for IntervalFile<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object with items")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<(), A::Error> {
        while let Some(name) = from.next_key::<Cow<'de, str>>()? {
            if name == "items" {
                self.0.has_items = true;
                from.next_value_seed(FileItems(self.0))?;
            } else {
                from.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

struct FileItems<'a>(&'a mut ReadItems);

impl<'de> DeserializeSeed<'de> for FileItems<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FileItems<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list of intervals")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<(), A::Error> {
        loop {
            let number = self.0.intervals.len();
            let item = match from.next_element::<FileItem>() {
                Ok(Some(item)) => item,
                Ok(None) => return Ok(()),
                Err(error) => {
                    let why = error.to_string();
                    self.0.failed = Some(IntervalFileError::FileItem { number, why });
                    return Err(error);
                }
            };
            if let Err(failed) = self.0.take(item) {
                self.0.failed = Some(failed);
                return Err(A::Error::custom("stopped"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::Level;
    use kubereel_format::RecordedAt;

    fn read(text: &str) -> Result<Intervals, String> {
        read_intervals(text.as_bytes()).map_err(|error| error.to_string())
    }

    fn at(text: &str) -> RecordedAt {
        kubereel_history::timetext::parsed(text).expect("a time")
    }

    #[test]
    fn all_generations_read() {
        let first = r#"{"items":[{"level":"Warning","locator":"ns/a pod/b","message":"reason/X y",
            "initiatedAt":"2021-01-01T00:00:01Z"}]}"#;
        let second = r#"{"items":[{"level":"Warning","locator":"ns/a pod/b","message":"reason/X y",
            "from":"2021-01-01T00:00:01Z","to":"2021-01-01T00:00:01.25Z"}]}"#;
        let third = r#"{"items":[{"level":"Warning","locator":"old","message":"old","source":"S",
            "tempStructuredLocator":{"type":"Pod","keys":{"namespace":"a","pod":"b"}},
            "tempStructuredMessage":{"reason":"X","cause":"","humanMessage":"y","annotations":{"reason":"X"}},
            "from":"2021-01-01T00:00:01Z","to":null}]}"#;
        let fourth = r#"{"items":[{"level":"Warning","locator":"old","message":"old","display":true,
            "locator":{"type":"Pod","keys":{"namespace":"a","pod":"b"}},
            "message":{"reason":"X","cause":"","humanMessage":"y","annotations":{"reason":"X"}},
            "from":"2021-01-01T00:00:01Z","more":{"of":["this"]}}],"kind":"List"}"#;
        let ends = [
            Some(at("2021-01-01T00:00:01Z")),
            Some(at("2021-01-01T00:00:01.250Z")),
            None,
            None,
        ];
        for (text, to) in [first, second, third, fourth].into_iter().zip(ends) {
            let intervals = read(text).expect(text);
            let [one] = intervals.all() else {
                panic!("one interval in {text}");
            };
            assert_eq!(one.level, Level::Warning, "{text}");
            assert_eq!(one.locator.to_string(), "namespace/a pod/b", "{text}");
            assert_eq!(&*one.locator.kind, "Pod", "{text}");
            assert_eq!(one.message.to_string(), "reason/X y", "{text}");
            assert_eq!(
                (one.from, one.to),
                (at("2021-01-01T00:00:01Z"), to),
                "{text}"
            );
        }
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let good = r#"{"level":"Info","locator":"a/b","message":"","from":"2021-01-01T00:00:01Z"}"#;
        let told = |bad: &str| read(&format!("{{\"items\":[{good},{bad}]}}")).unwrap_err();
        assert!(told(r#"{"level":"Fatal"}"#).contains("item 1 of the file"));
        assert!(told(r#"{"level":"Fatal"}"#).contains("\"Fatal\""));
        assert!(told(r#"{"level":"Info","from":"noon"}"#).contains("item 1"));
        assert!(told("7").contains("item 1"));
        assert!(told(&"[".repeat(200_000)).contains("item 1"));
        assert!(read("{}").unwrap_err().contains("no \"items\""));
        assert!(read("[]").is_err());
        assert!(read("").is_err());
        assert!(read(&format!("{{\"items\":[{good}]}} 7")).is_err());
        assert!(read("{\"items\":null}").expect("none").all().is_empty());
    }

    #[test]
    fn bounds_hold() {
        let good = r#"{"level":"Info","from":"2021-01-01T00:00:01Z"}"#;
        let text = format!("{{\"items\":[{good},{good}]}}");
        let long = read_within(text.as_bytes(), 20, 9).unwrap_err();
        assert!(
            matches!(long, IntervalFileError::TooLong { limit: 20 }),
            "{long}"
        );
        let many = read_within(text.as_bytes(), 1000, 1).unwrap_err();
        assert!(
            matches!(many, IntervalFileError::TooMany { limit: 1 }),
            "{many}"
        );
    }

    #[test]
    fn what_has_no_begin_begins_with_the_run() {
        let text = r#"{"items":[{"level":"Info","from":null,"to":"2021-01-01T00:00:09Z"},
            {"level":"Info","from":"2021-01-01T00:00:05Z","to":"2021-01-01T00:00:05Z"}]}"#;
        let intervals = read(text).expect("intervals");
        assert_eq!(intervals.start(), at("2021-01-01T00:00:05Z"));
        assert_eq!(intervals.end(), at("2021-01-01T00:00:09Z"));
        assert!(
            intervals
                .all()
                .iter()
                .all(|one| one.from == intervals.start())
        );
    }
}
