//! The reading of some fields of an object's bytes. It does not keep the others: they are passed
//! over.

use super::fields::Fields;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// Reads the fields that are asked for.
///
/// # Errors
/// When the bytes are no JSON.
pub(crate) fn pruned(body: &[u8], fields: &Fields) -> Result<Value, serde_json::Error> {
    let mut from = serde_json::Deserializer::from_slice(body);
    let value = PrunedPart(fields).deserialize(&mut from)?;
    from.end()?;
    Ok(value)
}

#[derive(Clone, Copy)]
struct PrunedPart<'a>(&'a Fields);

impl<'de> DeserializeSeed<'de> for PrunedPart<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        if self.0.is_whole() {
            return serde::Deserialize::deserialize(from);
        }
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for PrunedPart<'_> {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(asked) = from.next_key_seed(MemberName(self.0))? {
            if let Some((name, fields)) = asked {
                let value = from.next_value_seed(PrunedPart(fields))?;
                members.insert(name, value);
            } else {
                from.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Value::Object(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = from.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
}

/// Looks a member's name up, without a copy of it: most members are not asked for.
#[derive(Clone, Copy, Debug)]
struct MemberName<'a>(&'a Fields);

impl<'de, 'a> DeserializeSeed<'de> for MemberName<'a> {
    type Value = Option<(String, &'a Fields)>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_str(self)
    }
}

impl<'a> Visitor<'_> for MemberName<'a> {
    type Value = Option<(String, &'a Fields)>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the name of a member")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.below(name).map(|fields| (name.to_owned(), fields)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(body: &Value, paths: &[&str]) -> Value {
        let mut fields = Fields::default();
        for path in paths {
            fields.add(path);
        }
        pruned(body.to_string().as_bytes(), &fields).expect("JSON")
    }

    #[test]
    fn only_what_is_asked_for_is_read() {
        let body = json!({
            "kind": "Pod",
            "metadata": {"name": "a", "labels": {"x": "y"}},
            "status": {"conditions": [{"type": "Ready", "status": "True", "message": "m"}, 7]}
        });
        assert_eq!(
            read(&body, &["metadata.labels", "status.conditions.type"]),
            json!({
                "metadata": {"labels": {"x": "y"}},
                "status": {"conditions": [{"type": "Ready"}, 7]}
            })
        );
        assert_eq!(read(&body, &[""]), body);
    }

    #[test]
    fn bytes_after_the_object_are_an_error() {
        assert!(pruned(b"{} {}", &Fields::default()).is_err());
    }
}
