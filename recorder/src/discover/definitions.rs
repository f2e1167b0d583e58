//! Reads custom resource definitions and API services. A definition is the first sign of a new
//! resource; an API service names the group version of another server, up to a minute before
//! discovery does.

use kubereel_format::{ResourceId, ResourceInfo};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The content of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CrdDefinition {
    /// Its resource, without an id, in the stored version if that one is served, else in the first
    /// served version.
    pub(crate) served: Option<ResourceInfo>,
    /// Whether its condition reports that the server serves it.
    pub(crate) is_established: bool,
    /// A fingerprint that differs between two states of a definition if the server starts a new
    /// storage for the resource, and nearly always only then.
    pub(crate) fingerprint: u64,
}

/// The parts of a definition whose change starts a new storage.
#[derive(Deserialize)]
struct DefinitionShape<'a> {
    #[serde(borrow)]
    spec: &'a RawValue,
    #[serde(borrow, default)]
    status: AcceptedNames<'a>,
}

#[derive(Default, Deserialize)]
struct AcceptedNames<'a> {
    #[serde(borrow, default, rename = "acceptedNames")]
    names: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct DefinitionDocument {
    spec: DefinitionSpec,
    #[serde(default)]
    status: ConditionedStatus,
}

#[derive(Deserialize)]
struct DefinitionSpec {
    group: String,
    names: DefinitionNames,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    versions: Vec<DefinitionVersion>,
}

#[derive(Deserialize)]
struct DefinitionNames {
    plural: String,
    #[serde(default)]
    singular: String,
    #[serde(default)]
    kind: String,
    #[serde(default, rename = "shortNames")]
    short_names: Vec<String>,
    #[serde(default)]
    categories: Vec<String>,
}

#[derive(Deserialize)]
struct DefinitionVersion {
    name: String,
    #[serde(default)]
    served: bool,
    #[serde(default)]
    storage: bool,
}

#[derive(Default, Deserialize)]
struct ConditionedStatus {
    #[serde(default)]
    conditions: Option<Vec<DefinitionCondition>>,
}

#[derive(Deserialize)]
struct DefinitionCondition {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    status: String,
}

/// The verbs that every custom resource has.
const VERBS: [&str; 8] = [
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
];

/// Reads a definition; `None` if it cannot be read.
pub(crate) fn definition(object: &[u8]) -> Option<CrdDefinition> {
    let raw: DefinitionDocument = serde_json::from_slice(object).ok()?;
    let versions = &raw.spec.versions;
    let version = versions
        .iter()
        .find(|version| version.served && version.storage)
        .or_else(|| versions.iter().find(|version| version.served));
    let served = version.map(|version| ResourceInfo {
        id: ResourceId::default(),
        group: raw.spec.group.clone(),
        version: version.name.clone(),
        plural: raw.spec.names.plural.clone(),
        singular: raw.spec.names.singular.clone(),
        kind: raw.spec.names.kind.clone(),
        short_names: raw.spec.names.short_names.clone(),
        categories: raw.spec.names.categories.clone(),
        namespaced: raw.spec.scope == "Namespaced",
        verbs: VERBS.map(str::to_owned).to_vec(),
        storage_hash: None,
    });
    let conditions = raw.status.conditions.unwrap_or_default();
    let is_established = conditions
        .iter()
        .any(|condition| condition.kind == "Established" && condition.status == "True");
    Some(CrdDefinition {
        served,
        is_established,
        fingerprint: fingerprint(object)?,
    })
}

fn fingerprint(object: &[u8]) -> Option<u64> {
    let shape: DefinitionShape<'_> = serde_json::from_slice(object).ok()?;
    let mut hasher = DefaultHasher::new();
    shape.spec.get().hash(&mut hasher);
    shape.status.names.map(RawValue::get).hash(&mut hasher);
    Some(hasher.finish())
}

/// A group version that another server serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiService {
    /// The API group.
    pub(crate) group: String,
    pub(crate) version: String,
    /// Whether that server responds.
    pub(crate) is_available: bool,
}

#[derive(Deserialize)]
struct ApiServiceDocument {
    spec: ApiServiceSpec,
    #[serde(default)]
    status: ConditionedStatus,
}

#[derive(Deserialize)]
struct ApiServiceSpec {
    #[serde(default)]
    group: String,
    version: String,
    #[serde(default)]
    service: Option<serde::de::IgnoredAny>,
}

/// Reads an API service; `None` if it has no other server, or cannot be read.
pub(crate) fn api_service(object: &[u8]) -> Option<ApiService> {
    let raw: ApiServiceDocument = serde_json::from_slice(object).ok()?;
    raw.spec.service?;
    let conditions = raw.status.conditions.unwrap_or_default();
    Some(ApiService {
        group: raw.spec.group,
        version: raw.spec.version,
        is_available: conditions
            .iter()
            .any(|condition| condition.kind == "Available" && condition.status == "True"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_stored_version_if_it_is_served() {
        let text = |served: bool| {
            format!(
                r#"{{"spec":{{"group":"x.io","names":{{"plural":"ws","kind":"W","shortNames":["w"]}},"scope":"Namespaced","versions":[{{"name":"v1","served":true,"storage":false}},{{"name":"v2","served":{served},"storage":true}}]}},"status":{{"conditions":[{{"type":"Established","status":"True"}}]}}}}"#
            )
        };
        let definition_of = |served| definition(text(served).as_bytes()).expect("a definition");
        assert_eq!(definition_of(true).served.expect("served").version, "v2");
        assert_eq!(definition_of(false).served.expect("served").version, "v1");
        assert!(definition_of(true).is_established);
    }

    #[test]
    fn only_what_makes_a_server_begin_anew_changes_the_fingerprint() {
        let of = |group: &str, conditions: &str, names: &str| {
            let text = format!(
                r#"{{"spec":{{"group":"{group}","names":{{"plural":"ws","kind":"W"}}}},"status":{{"conditions":{conditions},"acceptedNames":{names}}}}}"#
            );
            definition(text.as_bytes())
                .expect("a definition")
                .fingerprint
        };
        assert_eq!(of("x", "null", "{}"), of("x", "[]", "{}"));
        assert_ne!(of("x", "[]", "{}"), of("y", "[]", "{}"));
        assert_ne!(of("x", "[]", "{}"), of("x", "[]", r#"{"kind":"W"}"#));
    }

    #[test]
    fn a_young_definition_is_not_established() {
        let young = br#"{"spec":{"group":"x.io","names":{"plural":"ws","kind":"W"},"scope":"Cluster","versions":[]},"status":{"conditions":null}}"#;
        let young = definition(young).expect("a definition");
        assert!(!young.is_established);
        assert_eq!(young.served, None);
        assert_eq!(definition(b"{}"), None);
    }

    #[test]
    fn only_other_servers_count() {
        let text = |service: &str, available: &str| {
            format!(
                r#"{{"spec":{{"group":"g.io","version":"v1","service":{service}}},"status":{{"conditions":[{{"type":"Available","status":"{available}"}}]}}}}"#
            )
        };
        let read = |service, available| api_service(text(service, available).as_bytes());
        assert_eq!(read("null", "True"), None);
        let other = read(r#"{"name":"s","namespace":"n"}"#, "True").expect("one");
        assert_eq!(
            (other.group.as_str(), other.version.as_str()),
            ("g.io", "v1")
        );
        assert!(other.is_available);
        assert!(!read(r#"{"name":"s"}"#, "False").expect("one").is_available);
        assert_eq!(api_service(b"[]"), None);
    }
}
