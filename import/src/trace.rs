//! SimKube traces, in MessagePack and in JSON: applied and deleted objects with their times.
//!
//! A trace is `{version, config, events: [{ts, applied_objs, deleted_objs}], index,
//! pod_lifecycles}`. Events are passed on while the trace is read, so a damaged trace is imported
//! up to the damage. Its objects are sanitized: they have neither uid nor resourceVersion.

use kubereel_format::RecordedAt;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::fmt;

/// The version of the format that is read.
const VERSION: u64 = 2;

/// A change of one object in a trace.
#[derive(Debug)]
pub(crate) struct TraceChange {
    pub(crate) at: RecordedAt,
    pub(crate) object: Value,
    pub(crate) is_deleted: bool,
}

/// The other content of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TraceRest {
    /// Pods whose lifecycles are in it.
    pub(crate) lifecycles: u64,
    /// Events without an object.
    pub(crate) empty_events: u64,
}

#[derive(Deserialize)]
struct TraceEvent {
    ts: i64,
    #[serde(default)]
    applied_objs: Vec<Value>,
    #[serde(default)]
    deleted_objs: Vec<Value>,
}

/// Reads a trace and passes its changes on in order, until `take` returns `false`.
///
/// # Errors
/// The parser's error, when the trace is damaged or of another version; the changes before it were
/// passed on.
pub(crate) fn read_trace<'de, D: Deserializer<'de>>(
    deserializer: D,
    take: &mut dyn FnMut(TraceChange) -> bool,
) -> Result<TraceRest, D::Error> {
    deserializer.deserialize_map(TraceVisitor { take })
}

struct TraceVisitor<'a> {
    take: &'a mut dyn FnMut(TraceChange) -> bool,
}

impl<'de> Visitor<'de> for TraceVisitor<'_> {
    type Value = TraceRest;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a SimKube trace")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<TraceRest, M::Error> {
        let mut rest = TraceRest::default();
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "version" => {
                    let version: u64 = map.next_value()?;
                    if version != VERSION {
                        return Err(serde::de::Error::custom(format_args!(
                            "version {version} of the trace format is not supported, only {VERSION}"
                        )));
                    }
                }
                "events" => {
                    rest.empty_events = map.next_value_seed(EventsSeed {
                        take: &mut *self.take,
                    })?;
                }
                "pod_lifecycles" => rest.lifecycles = map.next_value::<EntryCount>()?.0,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(rest)
    }
}

struct EventsSeed<'a> {
    take: &'a mut dyn FnMut(TraceChange) -> bool,
}

impl<'de> DeserializeSeed<'de> for EventsSeed<'_> {
    type Value = u64;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u64, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for EventsSeed<'_> {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the events of a trace")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut events: S) -> Result<u64, S::Error> {
        let mut empty: u64 = 0;
        while let Some(event) = events.next_element::<TraceEvent>()? {
            let micros = event.ts.checked_mul(1_000_000);
            let at = micros.filter(|micros| jiff::Timestamp::from_microsecond(*micros).is_ok());
            let at = at.map(RecordedAt::from_micros).ok_or_else(|| {
                serde::de::Error::custom(format_args!("the time {} is not one", event.ts))
            })?;
            if event.applied_objs.is_empty() && event.deleted_objs.is_empty() {
                empty = empty.saturating_add(1);
            }
            let applied = event.applied_objs.into_iter().map(|object| (object, false));
            let deleted = event.deleted_objs.into_iter().map(|object| (object, true));
            for (object, is_deleted) in applied.chain(deleted) {
                let change = TraceChange {
                    at,
                    object,
                    is_deleted,
                };
                if !(self.take)(change) {
                    return Err(serde::de::Error::custom("stopped"));
                }
            }
        }
        Ok(empty)
    }
}

/// The number of entries of a map with any keys: in MessagePack they are arrays.
struct EntryCount(u64);

impl<'de> Deserialize<'de> for EntryCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CountVisitor;

        impl<'de> Visitor<'de> for CountVisitor {
            type Value = EntryCount;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<EntryCount, M::Error> {
                let mut count: u64 = 0;
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
                    count = count.saturating_add(1);
                }
                Ok(EntryCount(count))
            }
        }

        deserializer.deserialize_map(CountVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_read_up_to_its_damage() {
        let text = r#"{"version":2,"config":{"trackedObjects":{}},"events":[
            {"ts":5,"applied_objs":[{"a":1},{"a":2}],"deleted_objs":[]},
            {"ts":6,"applied_objs":[],"deleted_objs":[{"a":1}]},
            {"ts":7}],"index":{},"pod_lifecycles":{"x":1}}"#;
        let read = |text: &str| {
            let mut seen = Vec::new();
            let mut json = serde_json::Deserializer::from_str(text);
            let rest = read_trace(&mut json, &mut |change| {
                seen.push((
                    change.at.micros_since(RecordedAt::default()),
                    change.is_deleted,
                ));
                true
            });
            (seen, rest.map_err(|error| error.to_string()))
        };
        let all = [(5_000_000, false), (5_000_000, false), (6_000_000, true)];
        let (seen, rest) = read(text);
        assert_eq!(seen, all);
        assert_eq!(
            rest,
            Ok(TraceRest {
                lifecycles: 1,
                empty_events: 1
            })
        );
        let (seen, rest) = read(&text[..text.len() - 40]);
        assert_eq!(seen, all);
        assert!(rest.is_err_and(|error| error.contains("line 4")));
        let (seen, rest) = read(&text.replace("\"version\":2", "\"version\":3"));
        assert!(seen.is_empty());
        assert!(
            rest.is_err_and(
                |error| error.contains("version 3 of the trace format is not supported")
            )
        );
    }
}
