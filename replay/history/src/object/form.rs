//! An object as kubectl prints it, with its type and without managedFields, and the metadata for
//! selecting and listing. Recorded bytes are never changed: the form is a copy.

use crate::timetext;
use kubereel_format::{RecordedAt, ResourceInfo};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// How objects are printed.
#[derive(Clone, Copy, Debug, Default)]
pub struct ObjectForm {
    /// Whether `metadata.managedFields` are printed.
    pub shows_managed_fields: bool,
}

impl ObjectForm {
    /// With managedFields.
    pub const WHOLE: Self = Self {
        shows_managed_fields: true,
    };

    /// Parses an object and gives it this form.
    ///
    /// Items of a list come from the server without `apiVersion` and `kind`; kubectl adds them.
    ///
    /// # Errors
    /// When the bytes are not a JSON object.
    pub fn of(self, body: &[u8], resource: &ResourceInfo) -> Result<Value, serde_json::Error> {
        let mut object: Map<String, Value> = serde_json::from_slice(body)?;
        let mut fill = |member: &str, value: &str| {
            let is_missing = object
                .get(member)
                .and_then(Value::as_str)
                .is_none_or(str::is_empty);
            if is_missing {
                object.insert(member.to_owned(), Value::from(value));
            }
        };
        fill("apiVersion", &resource.api_version());
        fill("kind", &resource.kind);
        if !self.shows_managed_fields
            && let Some(Value::Object(metadata)) = object.get_mut("metadata")
        {
            metadata.remove("managedFields");
        }
        let mut object = Value::Object(object);
        // kubectl prints members in order, whatever map type the JSON library uses.
        object.sort_all_objects();
        Ok(object)
    }
}

/// Returns an object's name as `-o name` prints it: `pod/a`, `deployment.apps/a`.
pub fn name_of(resource: &ResourceInfo, name: &str) -> String {
    let kind = resource.kind.to_lowercase();
    if resource.group.is_empty() {
        format!("{kind}/{name}")
    } else {
        format!("{kind}.{}/{name}", resource.group)
    }
}

/// The metadata of an object for selecting and listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectMeta {
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// When the server created it, by the server's clock.
    pub created: Option<RecordedAt>,
}

#[derive(Deserialize)]
struct MetaBody {
    #[serde(default)]
    metadata: Option<MetaFields>,
}

#[derive(Default, Deserialize)]
struct MetaFields {
    #[serde(default)]
    labels: Option<BTreeMap<String, String>>,
    #[serde(default, rename = "creationTimestamp")]
    creation_timestamp: Option<String>,
}

impl ObjectMeta {
    /// Parses it from an object's bytes.
    ///
    /// # Errors
    /// When the bytes are not a JSON object with metadata of the usual form.
    pub fn of(body: &[u8]) -> Result<Self, serde_json::Error> {
        let body: MetaBody = serde_json::from_slice(body)?;
        let metadata = body.metadata.unwrap_or_default();
        let created = metadata
            .creation_timestamp
            .and_then(|text| timetext::parsed(&text));
        Ok(Self {
            labels: metadata.labels.unwrap_or_default(),
            created,
        })
    }
}

#[cfg(test)]
mod form_tests {
    use super::*;
    use kubereel_format::ResourceId;
    use serde_json::json;

    fn pods() -> ResourceInfo {
        ResourceInfo::new(ResourceId(0), "v1", "pods", "Pod")
    }

    #[test]
    fn a_list_item_gets_its_type() {
        let body = br#"{"metadata":{"name":"a","managedFields":[{"manager":"m"}]}}"#;
        let shown = ObjectForm::default().of(body, &pods()).expect("an object");
        assert_eq!(
            shown,
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}})
        );
    }

    #[test]
    fn a_type_that_is_there_stays() {
        let body = br#"{"apiVersion":"v2","kind":"Other"}"#;
        let shown = ObjectForm::default().of(body, &pods()).expect("an object");
        assert_eq!(shown, json!({"apiVersion": "v2", "kind": "Other"}));
    }

    #[test]
    fn managed_fields_are_shown_when_asked_for() {
        let body = br#"{"metadata":{"managedFields":[]}}"#;
        let form = ObjectForm {
            shows_managed_fields: true,
        };
        let shown = form.of(body, &pods()).expect("an object");
        assert!(shown.pointer("/metadata/managedFields").is_some());
    }

    #[test]
    fn names_carry_kind_and_group() {
        assert_eq!(name_of(&pods(), "a"), "pod/a");
        let mut resource = pods();
        resource.group = "apps".to_owned();
        resource.kind = "Deployment".to_owned();
        assert_eq!(name_of(&resource, "a"), "deployment.apps/a");
    }
}

#[cfg(test)]
mod meta_tests {
    use super::*;

    #[test]
    fn labels_and_creation_are_read() {
        let body = br#"{"kind":"Pod","metadata":{"name":"a","labels":{"app":"x"},
            "creationTimestamp":"2026-11-21T14:00:00Z"},"spec":{"deep":[1,2]}}"#;
        let meta = ObjectMeta::of(body).expect("usual form");
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
            assert_eq!(
                ObjectMeta::of(body).expect("allowed"),
                ObjectMeta::default()
            );
        }
    }

    #[test]
    fn what_is_no_object_is_an_error() {
        for body in [&b""[..], b"7", b"{", br#"{"metadata":{"labels":{"a":1}}}"#] {
            assert!(ObjectMeta::of(body).is_err());
        }
    }
}
