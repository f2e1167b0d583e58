//! Owns what one JSON document is: an event, an object, a list of them. Refuses lists in lists
//! without end.

use crate::broken::{Counted, Problem};
use crate::error::ImportError;
use crate::line;
use crate::resource::Asked;
use crate::take::Take;
use kubereel_format::EventType;
use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// How deep lists may stand in lists.
const DEPTH: usize = 8;

/// The ending of a list's kind.
const LIST: &str = "List";

/// What a list says of its items.
#[derive(Clone, Copy, Debug, Default)]
struct Listed<'a> {
    api_version: &'a str,
    kind: &'a str,
}

/// The members that tell what a document is.
#[derive(Debug, Default)]
pub(crate) struct Shape<'a> {
    is_event: bool,
    api_version: Cow<'a, str>,
    kind: Cow<'a, str>,
    items: Option<&'a RawValue>,
}

impl Take {
    /// Takes a document: all that stands in one line, or in one place of a longer text.
    pub(crate) fn document(&mut self, number: u64, bytes: &[u8]) -> Result<(), ImportError> {
        self.nested(number, bytes, Listed::default(), 0)
    }

    fn nested(
        &mut self,
        number: u64,
        bytes: &[u8],
        listed: Listed<'_>,
        depth: usize,
    ) -> Result<(), ImportError> {
        let bytes = bytes.trim_ascii();
        if bytes.starts_with(b"[") {
            return self.items(number, bytes, listed, depth);
        }
        let shape = match Shape::of(bytes) {
            Ok(shape) => shape,
            Err(problem) => {
                let number = self.count(number);
                self.broken(number, problem);
                return Ok(());
            }
        };
        if shape.is_event {
            let number = self.count(number);
            return self.line(number, bytes);
        }
        let list_of = shape.kind.strip_suffix(LIST);
        if let Some(items) = shape.items
            && items.get().starts_with('[')
            && (list_of.is_some() || shape.kind.is_empty())
        {
            let listed = match list_of {
                Some(kind) if !kind.is_empty() => Listed {
                    api_version: &shape.api_version,
                    kind,
                },
                _ => Listed::default(),
            };
            return self.items(number, items.get().as_bytes(), listed, depth);
        }
        let number = self.count(number);
        let named = Asked {
            api_version: listed.api_version,
            kind: listed.kind,
            ..Asked::default()
        };
        let at = self.listed_at.ok_or(ImportError::NoTime)?;
        self.has_listed = true;
        let outcome = self.object(at, EventType::Added, &named, bytes);
        self.settle(number, outcome)
    }

    fn items(
        &mut self,
        number: u64,
        array: &[u8],
        listed: Listed<'_>,
        depth: usize,
    ) -> Result<(), ImportError> {
        let problem = match serde_json::from_slice::<Vec<&RawValue>>(array) {
            Ok(_) if depth >= DEPTH => {
                Problem::NotAnObject(format!("more than {DEPTH} lists in lists"))
            }
            Ok(items) => {
                for item in items {
                    self.nested(number, item.get().as_bytes(), listed, depth + 1)?;
                }
                return Ok(());
            }
            Err(error) => Problem::NotJson(line::words(&error)),
        };
        let number = self.count(number);
        self.broken(number, problem);
        Ok(())
    }

    /// Gives the number of what comes next: its line's, or its own.
    const fn count(&mut self, line: u64) -> u64 {
        match self.broken.counted {
            Counted::Lines => line,
            Counted::Objects => {
                self.objects += 1;
                self.objects
            }
        }
    }
}

impl<'a> Shape<'a> {
    /// Reads what a document is.
    pub(crate) fn of(bytes: &'a [u8]) -> Result<Self, Problem> {
        let mut deserializer = serde_json::Deserializer::from_slice(bytes);
        deserializer
            .deserialize_map(Members)
            .and_then(|shape| deserializer.end().map(|()| shape))
            .map_err(|error| match error.classify() {
                serde_json::error::Category::Data => Problem::NotAnObject(line::words(&error)),
                _ => Problem::NotJson(line::words(&error)),
            })
    }
}

struct Members;

impl<'a> Visitor<'a> for Members {
    type Value = Shape<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut shape = Shape::default();
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
                "apiVersion" => shape.api_version = text(map.next_value()?),
                "kind" => shape.kind = text(map.next_value()?),
                "items" => shape.items = Some(map.next_value()?),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        shape.is_event = has_type && has_object;
        Ok(shape)
    }
}

/// Gives a string; what is none is not what a list says of itself.
fn text(value: &RawValue) -> Cow<'_, str> {
    serde_json::from_str(value.get()).unwrap_or_default()
}
