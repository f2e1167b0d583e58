//! Owns the little that is read of an object: what it is, and which. Refuses everything else of it:
//! its bytes are kept as they are.

use crate::broken::Problem;
use crate::line;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// What is read of an object; what it does not say is empty.
#[derive(Debug, Default)]
pub(crate) struct Head<'a> {
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
struct Object<'a> {
    #[serde(borrow, default, rename = "apiVersion")]
    api_version: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "map")]
    metadata: Option<Metadata<'a>>,
}

#[derive(Deserialize)]
struct Metadata<'a> {
    #[serde(borrow, default)]
    namespace: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    uid: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "resourceVersion")]
    resource_version: Option<Cow<'a, str>>,
}

impl<'a> Head<'a> {
    /// Reads an object's head.
    pub(crate) fn parse(object: &'a [u8]) -> Result<Self, Problem> {
        let mut deserializer = serde_json::Deserializer::from_slice(object);
        let object: Object<'a> = map(&mut deserializer)
            .and_then(|object| deserializer.end().map(|()| object))
            .map_err(|error| Problem::NotAnObject(line::words(&error)))?
            .ok_or_else(|| Problem::NotAnObject("null".to_owned()))?;
        let metadata = object.metadata.ok_or(Problem::NoName)?;
        let name = metadata.name.unwrap_or_default();
        if name.is_empty() {
            return Err(Problem::NoName);
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

/// Reads an object or null. By itself serde takes an array for a struct as well.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_is_empty() {
        let head = Head::parse(br#"{"metadata":{"name":"a","uid":null}}"#).expect("a head");
        assert_eq!(head.name, "a");
        assert_eq!(
            [head.api_version, head.kind, head.namespace, head.uid],
            ["", "", "", ""]
        );
    }

    #[test]
    fn what_is_no_object_says_so() {
        for (text, words) in [
            ("7", "no Kubernetes object: invalid type: integer `7`"),
            ("null", "no Kubernetes object: null"),
            ("[]", "no Kubernetes object: invalid type: sequence"),
            ("{}", "the object has no metadata.name"),
            (r#"{"metadata":{}}"#, "the object has no metadata.name"),
            (
                r#"{"metadata":[]}"#,
                "no Kubernetes object: invalid type: sequence",
            ),
            (
                r#"{"kind":7}"#,
                "no Kubernetes object: invalid type: integer `7`",
            ),
        ] {
            let problem = Head::parse(text.as_bytes())
                .expect_err("broken")
                .to_string();
            assert!(problem.starts_with(words), "{problem:?} for {text:?}");
        }
    }
}
