//! Owns the reading of `metadata.managedFields`: who manages which fields, and since when. Refuses
//! conclusions: `authors` draws them.

use crate::changes::Step;
use jiff::Timestamp;
use kubereel_format::RecordedAt;
use serde_json::{Map, Value};

/// More managers than this are not believed: a server merges the oldest ones beyond ten, and those that
/// apply are few.
const MOST_MANAGERS: usize = 256;

/// A field manager as the server notes it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Writer {
    /// The manager's name.
    pub manager: String,
    /// `Update` or `Apply`.
    pub operation: String,
    /// The subresource that was written; empty for the object itself.
    pub subresource: String,
    /// When it last changed a field that it manages: on the server's clock, whole seconds.
    pub at: Option<RecordedAt>,
}

/// One entry of an object's managedFields.
pub(crate) struct Managed<'a> {
    pub(crate) writer: Writer,
    api_version: &'a str,
    pub(crate) fields: Option<&'a Map<String, Value>>,
}

impl<'a> Managed<'a> {
    /// Reads the entries of an object; those of an unknown form are left out, and all if there are more
    /// than any server keeps.
    pub(crate) fn of(object: &'a Value) -> Vec<Self> {
        let entries = object
            .get("metadata")
            .and_then(|metadata| metadata.get("managedFields"))
            .and_then(Value::as_array);
        let entries = entries.filter(|entries| entries.len() <= MOST_MANAGERS);
        let entries = entries.into_iter().flatten();
        entries.filter_map(Self::read).collect()
    }

    fn read(entry: &'a Value) -> Option<Self> {
        let text = |member: &str| entry.get(member).and_then(Value::as_str);
        let at = text("time")
            .and_then(|time| time.parse::<Timestamp>().ok())
            .map(|time| RecordedAt::from_micros(time.as_microsecond()));
        Some(Self {
            writer: Writer {
                manager: text("manager")?.to_owned(),
                operation: text("operation").unwrap_or_default().to_owned(),
                subresource: text("subresource").unwrap_or_default().to_owned(),
                at,
            },
            api_version: text("apiVersion").unwrap_or_default(),
            fields: entry.get("fieldsV1").and_then(Value::as_object),
        })
    }

    /// Tells whether two entries are of one manager, by all that the server tells managers apart by.
    pub(crate) fn is_same_manager(&self, other: &Self) -> bool {
        (
            &self.writer.manager,
            &self.writer.operation,
            &self.writer.subresource,
            self.api_version,
        ) == (
            &other.writer.manager,
            &other.writer.operation,
            &other.writer.subresource,
            other.api_version,
        )
    }

    /// Tells whether the entry names a field that an older one of the same manager did not.
    pub(crate) fn names_more_than(&self, older: &Self) -> bool {
        match (older.fields, self.fields) {
            (_, None) => false,
            (None, Some(fields)) => !fields.is_empty(),
            (Some(old), Some(new)) => has_more(old, new),
        }
    }

    /// Tells whether the manager manages a field of an object.
    pub(crate) fn manages(&self, object: &Value, steps: &[Step]) -> bool {
        self.fields
            .is_some_and(|fields| manages(fields, object, steps))
    }
}

/// Gives the managers of an object that has only been created.
pub(crate) fn at_creation(object: &Value) -> Vec<Writer> {
    let mut writers: Vec<Writer> = Managed::of(object)
        .into_iter()
        .map(|entry| entry.writer)
        .collect();
    writers.sort();
    writers.dedup();
    writers
}

// The depth is bounded: the parser refuses more than 128 levels.
fn has_more(old: &Map<String, Value>, new: &Map<String, Value>) -> bool {
    new.iter().any(|(name, new)| match (old.get(name), new) {
        (None, _) => true,
        (Some(Value::Object(old)), Value::Object(new)) => has_more(old, new),
        _ => false,
    })
}

fn manages(fields: &Map<String, Value>, value: &Value, steps: &[Step]) -> bool {
    // A field without fields of its own is managed with all that it holds.
    if fields.is_empty() {
        return true;
    }
    let Some((step, rest)) = steps.split_first() else {
        return fields.contains_key(".");
    };
    let into = |child: Option<&Value>, value: Option<&Value>| {
        child
            .and_then(Value::as_object)
            .zip(value)
            .is_some_and(|(fields, value)| manages(fields, value, rest))
    };
    if let Step::Member(name) = step {
        return into(fields.get(&format!("f:{name}")), value.get(name));
    }
    let Some((at, item)) = item_at(value, step) else {
        return false;
    };
    fields.iter().any(|(name, child)| {
        let is_item = match name.split_once(':') {
            Some(("k", key)) => has_key(item, key),
            Some(("v", text)) => {
                serde_json::from_str(text).is_ok_and(|value: Value| value == *item)
            }
            Some(("i", place)) => place.parse() == Ok(at),
            _ => false,
        };
        is_item && into(Some(child), Some(item))
    })
}

fn item_at<'a>(value: &'a Value, step: &Step) -> Option<(usize, &'a Value)> {
    let items = value.as_array()?;
    match step {
        Step::Member(_) => None,
        Step::Index(at) => Some((*at, items.get(*at)?)),
        Step::Item(parts) => items.iter().enumerate().find(|(_, item)| {
            parts.iter().all(|part| match item.get(&part.name) {
                Some(Value::String(text)) => *text == part.value,
                Some(Value::Number(number)) => number.to_string() == part.value,
                _ => false,
            })
        }),
    }
}

/// Tells whether an item has the members that a key such as `{"type":"Ready"}` names.
pub(crate) fn has_key(item: &Value, key: &str) -> bool {
    let key: Map<String, Value> = serde_json::from_str(key).unwrap_or_default();
    !key.is_empty()
        && key
            .iter()
            .all(|(name, value)| item.get(name) == Some(value))
}
