//! Owns the form in which kubectl shows an object: with its type, without managedFields. Refuses to
//! change a recorded byte: the form is a copy.

use kubereel_format::ResourceInfo;
use serde_json::{Map, Value};

/// How objects are shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Form {
    /// Whether `metadata.managedFields` are shown.
    pub shows_managed_fields: bool,
}

impl Form {
    /// Reads an object's bytes and gives it this form.
    ///
    /// Items of a list come from the server without `apiVersion` and `kind`; kubectl fills them in.
    ///
    /// # Errors
    /// When the bytes are no JSON object.
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
        // kubectl prints members in order, whatever map the JSON library was built with.
        object.sort_all_objects();
        Ok(object)
    }
}

/// Gives an object's name as `-o name` prints it: `pod/a`, `deployment.apps/a`.
pub fn name_of(resource: &ResourceInfo, name: &str) -> String {
    let kind = resource.kind.to_lowercase();
    if resource.group.is_empty() {
        format!("{kind}/{name}")
    } else {
        format!("{kind}.{}/{name}", resource.group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_format::ResourceId;
    use serde_json::json;

    fn pods() -> ResourceInfo {
        ResourceInfo {
            id: ResourceId(0),
            group: String::new(),
            version: "v1".to_owned(),
            plural: "pods".to_owned(),
            singular: "pod".to_owned(),
            kind: "Pod".to_owned(),
            short_names: vec!["po".to_owned()],
            categories: Vec::new(),
            namespaced: true,
            verbs: Vec::new(),
            storage_hash: None,
        }
    }

    #[test]
    fn a_list_item_gets_its_type() {
        let body = br#"{"metadata":{"name":"a","managedFields":[{"manager":"m"}]}}"#;
        let shown = Form::default().of(body, &pods()).expect("an object");
        assert_eq!(
            shown,
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}})
        );
    }

    #[test]
    fn a_type_that_is_there_stays() {
        let body = br#"{"apiVersion":"v2","kind":"Other"}"#;
        let shown = Form::default().of(body, &pods()).expect("an object");
        assert_eq!(shown, json!({"apiVersion": "v2", "kind": "Other"}));
    }

    #[test]
    fn managed_fields_are_shown_when_asked_for() {
        let body = br#"{"metadata":{"managedFields":[]}}"#;
        let form = Form {
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
