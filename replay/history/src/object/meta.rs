//! Owns the metadata of an object that questions need. Refuses everything else of the body.

use jiff::Timestamp;
use kubereel_format::RecordedAt;
use serde::Deserialize;
use std::collections::BTreeMap;

/// What selecting and listing need of an object's metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// When the server created it, on the server's clock.
    pub created: Option<RecordedAt>,
}

#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    metadata: Option<Metadata>,
}

#[derive(Default, Deserialize)]
struct Metadata {
    #[serde(default)]
    labels: Option<BTreeMap<String, String>>,
    #[serde(default, rename = "creationTimestamp")]
    creation_timestamp: Option<String>,
}

impl Meta {
    /// Reads it from an object's bytes.
    ///
    /// # Errors
    /// When the bytes are no JSON object with metadata of the usual form.
    pub fn of(body: &[u8]) -> Result<Self, serde_json::Error> {
        let body: Body = serde_json::from_slice(body)?;
        let metadata = body.metadata.unwrap_or_default();
        let created = metadata
            .creation_timestamp
            .and_then(|text| text.parse::<Timestamp>().ok())
            .map(|at| RecordedAt::from_micros(at.as_microsecond()));
        Ok(Self {
            labels: metadata.labels.unwrap_or_default(),
            created,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_creation_are_read() {
        let body = br#"{"kind":"Pod","metadata":{"name":"a","labels":{"app":"x"},
            "creationTimestamp":"2026-11-21T14:00:00Z"},"spec":{"deep":[1,2]}}"#;
        let meta = Meta::of(body).expect("usual form");
        assert_eq!(meta.labels.get("app").map(String::as_str), Some("x"));
        let created = meta.created.expect("a timestamp");
        assert_eq!(created.micros, 1_795_269_600_000_000);
    }

    #[test]
    fn missing_and_null_metadata_are_empty() {
        for body in [
            &b"{}"[..],
            br#"{"metadata":null}"#,
            br#"{"metadata":{"labels":null,"creationTimestamp":null}}"#,
        ] {
            assert_eq!(Meta::of(body).expect("allowed"), Meta::default());
        }
    }

    #[test]
    fn what_is_no_object_is_an_error() {
        for body in [&b""[..], b"7", b"{", br#"{"metadata":{"labels":{"a":1}}}"#] {
            assert!(Meta::of(body).is_err());
        }
    }
}
