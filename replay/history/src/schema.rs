//! The fields of a resource: from the schema in the recorded definition of a custom resource, from the
//! table of Kubernetes' own kinds, else from the fields of recorded objects.

use crate::body_reader::QueryError;
use crate::builtin_kinds;
use crate::moment::Cut;
use crate::object::ObjectForm;
use crate::object_version::ObjectLifetime;
use crate::select::{ObjectFilter, nearest};
use crate::timeline::Timeline;
use kubereel_format::{ResourceInfo, Seq};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The resource of custom resource definitions.
const DEFINITIONS: (&str, &str) = ("apiextensions.k8s.io", "customresourcedefinitions");

/// Members that are maps with free keys, not fields.
pub(crate) const MAPS: [&str; 14] = [
    "labels",
    "annotations",
    "matchLabels",
    "nodeSelector",
    "data",
    "binaryData",
    "stringData",
    "limits",
    "requests",
    "capacity",
    "allocatable",
    "hard",
    "used",
    "parameters",
];

/// A record, and the bytes of its object.
pub(crate) type RecordedBody = (Seq, Arc<[u8]>);

/// Reads the definition of a custom resource at a moment; `None` if it has none.
pub(crate) fn definition(
    timeline: &Timeline,
    resource: &ResourceInfo,
    cut: Cut,
) -> Result<Option<RecordedBody>, QueryError> {
    let is_definitions =
        |info: &&ResourceInfo| (info.group.as_str(), info.plural.as_str()) == DEFINITIONS;
    let Some(definitions) = timeline.resources().iter().find(is_definitions) else {
        return Ok(None);
    };
    let names = [resource.qualified()];
    let filter = ObjectFilter {
        namespace: None,
        names: &names,
    };
    let state = timeline.as_of(timeline.resource_at(definitions, cut).id, cut, &filter);
    let Some(held) = state.objects.first() else {
        return Ok(None);
    };
    Ok(Some((held.seq, timeline.reel().body(held.seq)?)))
}

/// Returns the definitions of a custom resource over time.
pub fn definition_lives(timeline: &Timeline, resource: &ResourceInfo) -> Vec<ObjectLifetime> {
    let is_definitions =
        |info: &&ResourceInfo| (info.group.as_str(), info.plural.as_str()) == DEFINITIONS;
    let definitions = timeline.resources().iter().find(is_definitions);
    definitions.map_or_else(Vec::new, |info| {
        timeline.lives(info.id, "", &resource.qualified())
    })
}

/// Returns whether a resource is a custom one: the reel has its definition, or has no definitions,
/// and its group is not one of Kubernetes' own.
pub fn is_custom_resource(timeline: &Timeline, resource: &ResourceInfo) -> bool {
    let is_definitions =
        |info: &&ResourceInfo| (info.group.as_str(), info.plural.as_str()) == DEFINITIONS;
    let definitions = timeline.resources().iter().find(is_definitions);
    let recorded = definitions.filter(|info| !timeline.objects_of(info.id).is_empty());
    match recorded {
        Some(_) => !definition_lives(timeline, resource).is_empty(),
        None => resource.group.contains('.') && !resource.group.ends_with(".k8s.io"),
    }
}

/// The source of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaSource {
    /// The recorded definition of a custom resource.
    Definition,
    /// The table of the kinds that Kubernetes itself has, in this version.
    Builtin(&'static str),
    /// The number of recorded objects, which need not have every field.
    Objects(usize),
}

/// The fields of a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceSchema {
    /// The source.
    pub source: SchemaSource,
    root: Value,
}

/// One field of a schema.
#[derive(Clone, Copy, Debug)]
pub struct SchemaField<'a>(&'a Value);

impl ResourceSchema {
    /// Finds the fields of a resource at a moment; `None` if there is neither a definition nor an
    /// object, and Kubernetes itself does not have its kind.
    ///
    /// # Errors
    /// When the reel is damaged there, or the definition is invalid.
    pub fn of(
        timeline: &Timeline,
        resource: &ResourceInfo,
        cut: Cut,
    ) -> Result<Option<Self>, QueryError> {
        if let Some(published) = Self::published(timeline, resource, cut)? {
            return Ok(Some(published));
        }
        let held = timeline.as_of(resource.id, cut, &ObjectFilter::default());
        let objects = timeline.read_all(&held.objects, cut, &mut |_| {}, |held, body| {
            ObjectForm::WHOLE
                .of(body, resource)
                .map_err(|source| QueryError::Body {
                    seq: held.seq,
                    source,
                })
        })?;
        let mut observed = ObservedField::default();
        for object in &objects {
            observed.add("", object);
        }
        Ok((!objects.is_empty()).then(|| Self {
            source: SchemaSource::Objects(objects.len()),
            root: observed.schema(),
        }))
    }

    /// Finds all fields that a resource may have; `None` if neither its definition is recorded nor
    /// Kubernetes itself has its kind.
    ///
    /// # Errors
    /// When the reel is damaged there, or the definition is invalid.
    pub fn published(
        timeline: &Timeline,
        resource: &ResourceInfo,
        cut: Cut,
    ) -> Result<Option<Self>, QueryError> {
        if let Some(root) = defined(timeline, resource, cut)? {
            return Ok(Some(Self {
                source: SchemaSource::Definition,
                root: with_metadata(root),
            }));
        }
        Ok(builtin_kinds::schema(resource).map(|root| Self {
            source: SchemaSource::Builtin(builtin_kinds::version()),
            root,
        }))
    }

    /// Returns whether these are all fields that the objects of a recording may have: the kinds of Kubernetes
    /// itself get more with its versions.
    pub fn is_whole(&self, timeline: &Timeline) -> bool {
        match self.source {
            SchemaSource::Definition => true,
            SchemaSource::Builtin(known) => {
                let clusters = timeline.clusters().iter();
                let mut seen = clusters.flat_map(|cluster| &cluster.versions).peekable();
                let is_known = |version: &String| {
                    release(version).is_some_and(|seen| Some(seen) <= release(known))
                };
                seen.peek().is_some() && seen.all(is_known)
            }
            SchemaSource::Objects(_) => false,
        }
    }

    /// Returns the first field of a path that does not exist, with the fields above it, and the similar names.
    ///
    /// Below what may have any fields all exist.
    pub fn unknown_field(&self, path: &str) -> Option<(String, Vec<String>)> {
        let mut field = self.root();
        let mut passed: Vec<&str> = Vec::new();
        for part in path.split('.').filter(|part| !part.is_empty()) {
            if field.is_open() {
                return None;
            }
            passed.push(part);
            let members = field.members();
            let Some((_, member)) = members.iter().find(|(name, _)| *name == part) else {
                let near = nearest(part, members.iter().map(|(name, _)| *name));
                return Some((passed.join("."), near));
            };
            field = *member;
        }
        None
    }

    /// Returns the whole object as a field.
    pub const fn root(&self) -> SchemaField<'_> {
        SchemaField(&self.root)
    }

    /// Finds a field by its path.
    ///
    /// # Errors
    /// The first name of the path that is not a field, and similar names.
    pub fn field<'a>(
        &'a self,
        path: &[&'a str],
    ) -> Result<SchemaField<'a>, (&'a str, Vec<String>)> {
        let mut field = self.root();
        for &name in path {
            let members = field.members();
            let Some((_, member)) = members.iter().find(|(known, _)| *known == name) else {
                let known = members.iter().map(|(known, _)| *known);
                return Err((name, nearest(name, known)));
            };
            field = *member;
        }
        Ok(field)
    }
}

impl<'a> SchemaField<'a> {
    /// Returns the name of its type as kubectl prints it: `string`, `[]Object`,
    /// `map[string]string`.
    pub fn type_name(self) -> String {
        let text = |name| self.0.get(name).and_then(Value::as_str);
        match text("type") {
            Some("array") => match self.0.get("items") {
                Some(items) => format!("[]{}", SchemaField(items).type_name()),
                None => "[]Object".to_owned(),
            },
            Some("object") | None => match self.0.get("additionalProperties") {
                Some(values) if values.is_object() => {
                    format!("map[string]{}", SchemaField(values).type_name())
                }
                _ if is_true(self.0.get("x-kubernetes-int-or-string")) => "IntOrString".to_owned(),
                _ => text(builtin_kinds::TYPE).unwrap_or("Object").to_owned(),
            },
            Some(name) => name.to_owned(),
        }
    }

    /// Returns its description; empty if there is none.
    pub fn description(self) -> &'a str {
        let text = self.0.get("description").and_then(Value::as_str);
        text.unwrap_or_default()
    }

    /// Returns its allowed values; any if empty.
    pub fn values(self) -> Vec<String> {
        let values = self.0.get("enum").and_then(Value::as_array);
        let values = values.into_iter().flatten();
        values
            .map(|value| {
                value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned)
            })
            .collect()
    }

    /// Returns the fields below it, of an item if it is a list, with their names, sorted.
    pub fn members(self) -> Vec<(&'a str, Self)> {
        let mut here = self.0;
        loop {
            let below = here.get("items").or_else(|| {
                let values = here.get("additionalProperties");
                values.filter(|values| values.is_object())
            });
            match below {
                Some(below) if here.get("properties").is_none() => here = below,
                _ => break,
            }
        }
        let members = here.get("properties").and_then(Value::as_object);
        let members = members.into_iter().flatten();
        let mut members: Vec<(&str, Self)> = members
            .map(|(name, member)| (name.as_str(), Self(member)))
            .collect();
        members.sort_unstable_by_key(|(name, _)| *name);
        members
    }

    /// Returns whether it may have fields that the schema does not name.
    fn is_open(self) -> bool {
        let mut here = self.0;
        while let Some(items) = here.get("items") {
            here = items;
        }
        is_true(here.get("x-kubernetes-preserve-unknown-fields"))
            || here.get("additionalProperties").is_some()
            || here.get("properties").is_none()
    }

    /// Returns whether a field below it is required.
    pub fn requires(self, name: &str) -> bool {
        let mut here = self.0;
        while let Some(items) = here.get("items") {
            here = items;
        }
        let required = here.get("required").and_then(Value::as_array);
        let mut required = required.into_iter().flatten();
        required.any(|one| one.as_str() == Some(name))
    }
}

/// Reads the first two numbers of a version: `v1.36.3`.
fn release(version: &str) -> Option<(u64, u64)> {
    let mut parts = version.strip_prefix('v')?.split('.');
    let mut number = || parts.next()?.parse().ok();
    Some((number()?, number()?))
}

fn is_true(value: Option<&Value>) -> bool {
    value.and_then(Value::as_bool).unwrap_or_default()
}

/// Reads the schema of the recorded version from a definition.
fn defined(
    timeline: &Timeline,
    resource: &ResourceInfo,
    cut: Cut,
) -> Result<Option<Value>, QueryError> {
    let Some((seq, body)) = definition(timeline, resource, cut)? else {
        return Ok(None);
    };
    let definition: Value =
        serde_json::from_slice(&body).map_err(|source| QueryError::Body { seq, source })?;
    let versions = definition.pointer("/spec/versions");
    let mut versions = versions.and_then(Value::as_array).into_iter().flatten();
    let is_recorded = |version: &&Value| {
        version.get("name").and_then(Value::as_str) == Some(resource.version.as_str())
    };
    let version = versions.find(is_recorded);
    let schema = version.and_then(|version| version.pointer("/schema/openAPIV3Schema"));
    Ok(schema.cloned())
}

/// Adds the fields that every object has, which definitions omit.
fn with_metadata(mut root: Value) -> Value {
    let plain = || serde_json::json!({"type": "string"});
    let every = [
        (
            "apiVersion",
            plain(),
            "The group and version of the schema of this object.",
        ),
        ("kind", plain(), "The kind of resource that this object is."),
        (
            "metadata",
            builtin_kinds::metadata(),
            "Standard metadata of an object.",
        ),
    ];
    let Some(members) = root.as_object_mut() else {
        return root;
    };
    let properties = members
        .entry("properties")
        .or_insert_with(|| Value::Object(Map::new()));
    let Some(properties) = properties.as_object_mut() else {
        return root;
    };
    for (name, mut schema, description) in every {
        if let Some(members) = schema.as_object_mut() {
            members.insert("description".to_owned(), description.into());
        }
        match properties.get(name) {
            // A definition names at most the fields of the metadata that it restricts.
            Some(own) if name != "metadata" && own.get("description").is_some() => {}
            _ => drop(properties.insert(name.to_owned(), schema)),
        }
    }
    root
}

/// A field, as observed in objects.
#[derive(Debug, Default)]
struct ObservedField {
    kinds: BTreeSet<&'static str>,
    members: BTreeMap<String, ObservedField>,
    /// The items of a list, or the values of a map.
    items: Option<Box<ObservedField>>,
    is_map: bool,
}

impl ObservedField {
    fn add(&mut self, name: &str, value: &Value) {
        match value {
            Value::Null => {}
            Value::Bool(_) => drop(self.kinds.insert("boolean")),
            Value::String(_) => drop(self.kinds.insert("string")),
            Value::Number(number) => {
                let kind = if number.is_f64() { "number" } else { "integer" };
                self.kinds.insert(kind);
            }
            Value::Array(items) => {
                self.kinds.insert("array");
                let all = self.items.get_or_insert_default();
                for item in items {
                    all.add("", item);
                }
            }
            Value::Object(members) => {
                self.kinds.insert("object");
                // `managedFields` contain a tree of names, not fields.
                self.is_map |= MAPS.contains(&name) || name == "fieldsV1";
                if self.is_map {
                    let all = self.items.get_or_insert_default();
                    for value in members.values() {
                        all.add("fieldsV1", value);
                    }
                    return;
                }
                for (name, value) in members {
                    self.members
                        .entry(name.clone())
                        .or_default()
                        .add(name, value);
                }
            }
        }
    }

    fn schema(&self) -> Value {
        let kind = match self.kinds.iter().copied().collect::<Vec<_>>().as_slice() {
            [one] => one,
            ["integer", "number"] => "number",
            // A port is a number or a name.
            ["integer", "string"] => {
                return serde_json::json!({"x-kubernetes-int-or-string": true});
            }
            _ => "object",
        };
        let mut schema = Map::new();
        schema.insert("type".to_owned(), kind.into());
        if let Some(items) = &self.items {
            let member = if self.is_map {
                "additionalProperties"
            } else {
                "items"
            };
            schema.insert(member.to_owned(), items.schema());
        }
        if !self.members.is_empty() {
            let members = self.members.iter();
            let members = members.map(|(name, member)| (name.clone(), member.schema()));
            schema.insert(
                "properties".to_owned(),
                members.collect::<Map<_, _>>().into(),
            );
        }
        Value::Object(schema)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn observed(objects: &[Value]) -> ResourceSchema {
        let mut all = ObservedField::default();
        for object in objects {
            all.add("", object);
        }
        ResourceSchema {
            source: SchemaSource::Objects(objects.len()),
            root: all.schema(),
        }
    }

    #[test]
    fn fields_of_objects_have_the_types_of_their_values() {
        let schema = observed(&[
            json!({"metadata": {"labels": {"a": "b"}}, "spec": {"port": 80, "on": true}}),
            json!({"spec": {"port": "http", "list": [{"x": 1}, {"y": 1.5}], "none": null}}),
        ]);
        for (path, expected) in [
            (&["metadata", "labels"][..], "map[string]string"),
            (&["spec"], "Object"),
            (&["spec", "port"], "IntOrString"),
            (&["spec", "on"], "boolean"),
            (&["spec", "list"], "[]Object"),
            (&["spec", "list", "x"], "integer"),
            (&["spec", "list", "y"], "number"),
        ] {
            let field = schema.field(path).expect("a field");
            assert_eq!(field.type_name(), expected, "{path:?}");
        }
        let (wrong, near) = schema.field(&["spec", "prot"]).expect_err("no field");
        assert_eq!((wrong, near.as_slice()), ("prot", &["port".to_owned()][..]));
    }

    #[test]
    fn a_definition_has_words_and_what_every_object_has() {
        let root = with_metadata(
            json!({"type": "object", "required": ["spec"], "properties": {
            "spec": {"type": "object", "description": "what is wanted", "properties": {
                "mode": {"type": "string", "enum": ["A", "B"]},
                "sizes": {"type": "object", "additionalProperties": {"type": "integer"}}}}}}),
        );
        let schema = ResourceSchema {
            source: SchemaSource::Definition,
            root,
        };
        let names: Vec<&str> = schema
            .root()
            .members()
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["apiVersion", "kind", "metadata", "spec"]);
        assert!(schema.root().requires("spec") && !schema.root().requires("kind"));
        let mode = schema.field(&["spec", "mode"]).expect("a field");
        assert_eq!(mode.values(), ["A", "B"]);
        let sizes = schema.field(&["spec", "sizes"]).expect("a field");
        assert_eq!(sizes.type_name(), "map[string]integer");
    }

    #[test]
    fn a_field_that_does_not_exist_is_found_with_those_that_look_like_it() {
        let schema = ResourceSchema {
            source: SchemaSource::Definition,
            root: with_metadata(json!({"properties": {
                "spec": {"properties": {
                    "free": {"x-kubernetes-preserve-unknown-fields": true, "properties": {}},
                    "labels": {"additionalProperties": {"type": "string"}},
                }},
                "status": {"properties": {"conditions": {"items": {"properties": {
                    "type": {}, "lastTransitionTime": {},
                }}}}},
            }})),
        };
        for path in [
            "",
            "metadata.labels.app",
            "metadata.ownerReferences.uid",
            "spec.free.x",
            "spec.labels.app",
            "status.conditions.type",
        ] {
            assert_eq!(schema.unknown_field(path), None, "{path}");
        }
        for (path, wrong, near) in [
            (
                "status.conditions.typ",
                "status.conditions.typ",
                Some("type"),
            ),
            ("metadata.lables.app", "metadata.lables", Some("labels")),
            ("zebra.x", "zebra", None),
        ] {
            let (field, similar) = schema.unknown_field(path).expect("no such field");
            assert_eq!(field, wrong);
            assert_eq!(similar.first().map(String::as_str), near);
        }
    }

    #[test]
    fn versions_are_compared_by_their_release() {
        assert!(release("v1.36.3") > release("v1.9.0+3f5b2e"));
        assert_eq!(release("v1"), None);
        assert_eq!(release("4.22.0"), None);
    }
}
