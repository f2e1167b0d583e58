//! Owns the question whether a Secret comes with values. Refuses to take them out.

use crate::base64;
use crate::mark::SENTENCE;
use serde::Deserializer as _;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// kubectl's annotation with the object as it was last applied.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Tells whether a Secret holds a value: one that is neither empty nor a mark. `None` if it cannot be
/// read.
pub fn has_values(object: &[u8]) -> Option<bool> {
    let mut has = false;
    for (name, value) in fields(object)? {
        let value = value.get();
        has |= match name.to_ascii_lowercase().as_str() {
            "data" => holds(value, Spelling::Base64),
            "stringdata" => holds(value, Spelling::Plain),
            "metadata" => fields(value.as_bytes())?.into_iter().any(|(name, value)| {
                name.eq_ignore_ascii_case("annotations")
                    && fields(value.get().as_bytes()).is_some_and(|annotations| {
                        annotations.into_iter().any(|(key, value)| {
                            key.eq_ignore_ascii_case(LAST_APPLIED)
                                && is_value(value.get(), Spelling::Plain)
                        })
                    })
            }),
            _ => false,
        };
    }
    Some(has)
}

/// Tells whether a map holds a value; what is no map is one itself.
fn holds(map: &str, spelling: Spelling) -> bool {
    match fields(map.as_bytes()) {
        Some(values) => values
            .iter()
            .any(|(_, value)| is_value(value.get(), spelling)),
        None => map != "null",
    }
}

fn is_value(json: &str, spelling: Spelling) -> bool {
    let mark = match spelling {
        Spelling::Plain => SENTENCE.to_owned(),
        // Whole groups of three bytes are spelt the same whatever follows.
        Spelling::Base64 => {
            let whole = SENTENCE.len() - SENTENCE.len() % 3;
            base64::encode(SENTENCE.as_bytes().get(..whole).unwrap_or_default())
        }
    };
    let is_marked = json
        .strip_prefix('"')
        .is_some_and(|text| text.starts_with(&mark));
    !matches!(json, "null" | "\"\"") && !is_marked
}

/// How the values of a map are spelt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spelling {
    Base64,
    Plain,
}

/// Lists the fields of a JSON object with their values' bytes, in order and with duplicates.
fn fields(object: &[u8]) -> Option<Vec<(String, &RawValue)>> {
    struct Fields;

    impl<'a> Visitor<'a> for Fields {
        type Value = Vec<(String, &'a RawValue)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<Self::Value, M::Error> {
            let mut fields = Vec::new();
            while let Some(field) = map.next_entry()? {
                fields.push(field);
            }
            Ok(fields)
        }
    }

    let mut deserializer = serde_json::Deserializer::from_slice(object);
    let fields = deserializer.deserialize_map(Fields).ok()?;
    deserializer.end().ok()?;
    Some(fields)
}
