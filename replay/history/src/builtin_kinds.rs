//! The fields of the kinds that Kubernetes itself has, as its API server publishes them.
//!
//! A reel has no `OpenAPI` document: it would be larger than many a recording. The names and types of
//! the fields change little, and are the same on all clusters of a version; a test makes the table
//! anew of what a real API server publishes.

use kubereel_format::ResourceInfo;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A line for each type: its name, its group, version and kind if it is one, and its fields with their types.
const TABLE: &str = include_str!("builtin_kinds.txt");

/// The word before the group, version and kind of a type.
const KIND: &str = "kind=";
/// The mark of a required field.
const REQUIRED: char = '!';
/// The type that contains itself: below it fields are not judged.
const OPEN: &str = "x-kubernetes-preserve-unknown-fields";

/// The member of a schema that holds the name of its type.
pub(crate) const TYPE: &str = "x-kubernetes-type";

/// The table, read.
struct BuiltinKinds {
    version: &'static str,
    /// The types of kinds, by `group/version/Kind`.
    kinds: BTreeMap<&'static str, &'static str>,
    types: BTreeMap<&'static str, Vec<BuiltinField>>,
}

struct BuiltinField {
    name: &'static str,
    type_name: &'static str,
    is_required: bool,
}

static KINDS: LazyLock<BuiltinKinds> = LazyLock::new(|| BuiltinKinds::read(TABLE));

/// Returns the version of Kubernetes whose kinds these are: `v1.36.3`.
pub(crate) fn version() -> &'static str {
    KINDS.version
}

/// Returns whether a kind is one of Kubernetes itself.
pub(crate) fn has(resource: &ResourceInfo) -> bool {
    type_of(resource).is_some()
}

fn type_of(resource: &ResourceInfo) -> Option<&'static str> {
    let kind = format!("{}/{}/{}", resource.group, resource.version, resource.kind);
    KINDS.kinds.get(kind.as_str()).copied()
}

/// Returns the schema of a kind of Kubernetes; `None` of every other one.
pub(crate) fn schema(resource: &ResourceInfo) -> Option<Value> {
    let name = type_of(resource)?;
    Some(KINDS.schema(name, &mut Vec::new()))
}

/// Returns the schema of the metadata that all objects have.
pub(crate) fn metadata() -> Value {
    KINDS.schema("meta.v1.ObjectMeta", &mut Vec::new())
}

impl BuiltinKinds {
    fn read(table: &'static str) -> Self {
        let mut all = Self {
            version: "",
            kinds: BTreeMap::new(),
            types: BTreeMap::new(),
        };
        for line in table.lines() {
            let mut words = line.split(' ');
            let name = words.next().unwrap_or_default();
            if name == "version" {
                all.version = words.next().unwrap_or_default();
                continue;
            }
            let mut fields = Vec::new();
            for word in words {
                if let Some(kind) = word.strip_prefix(KIND) {
                    all.kinds.insert(kind, name);
                } else if let Some((field, type_name)) = word.split_once(':') {
                    let required = field.strip_suffix(REQUIRED);
                    fields.push(BuiltinField {
                        name: required.unwrap_or(field),
                        type_name,
                        is_required: required.is_some(),
                    });
                }
            }
            all.types.insert(name, fields);
        }
        all
    }

    /// Builds the schema of a type; `within` are the types that it is a part of.
    fn schema(&self, type_name: &'static str, within: &mut Vec<&'static str>) -> Value {
        if let Some(item) = type_name.strip_prefix("[]") {
            return json!({"type": "array", "items": self.schema(item, within)});
        }
        if let Some(value) = type_name.strip_prefix("map[string]") {
            return json!({"type": "object", "additionalProperties": self.schema(value, within)});
        }
        let Some(fields) = self.types.get(type_name) else {
            return match type_name {
                "IntOrString" => json!({"x-kubernetes-int-or-string": true}),
                "Object" => json!({"type": "object", OPEN: true}),
                plain => json!({"type": plain}),
            };
        };
        if within.contains(&type_name) {
            return json!({"type": "object", OPEN: true});
        }
        within.push(type_name);
        let mut properties = Map::new();
        for field in fields {
            let schema = self.schema(field.type_name, within);
            properties.insert(field.name.to_owned(), schema);
        }
        within.pop();
        let required = fields.iter().filter(|field| field.is_required);
        let required: Vec<&str> = required.map(|field| field.name).collect();
        let name = type_name.rsplit('.').next();
        json!({"type": "object", TYPE: name, "properties": properties, "required": required})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_that_a_field_has_is_known() {
        assert!(KINDS.kinds.len() > 50 && KINDS.version.starts_with("v1."));
        let plain = [
            "string",
            "integer",
            "number",
            "boolean",
            "IntOrString",
            "Object",
        ];
        for (name, fields) in &KINDS.types {
            for field in fields {
                let mut of = field.type_name;
                while let Some(inner) = of
                    .strip_prefix("[]")
                    .or_else(|| of.strip_prefix("map[string]"))
                {
                    of = inner;
                }
                let is_known = plain.contains(&of) || KINDS.types.contains_key(of);
                assert!(is_known, "{name}.{}: {}", field.name, field.type_name);
            }
        }
    }

    #[test]
    fn a_type_that_contains_itself_ends() {
        let schema = KINDS.schema("apiextensions.v1.JSONSchemaProps", &mut Vec::new());
        let inner = schema.pointer("/properties/items");
        assert!(inner.is_some(), "{schema}");
    }
}
