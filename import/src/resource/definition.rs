//! Owns what is read of a custom resource definition: the names of its resource. Refuses schemas
//! and versions: an object says in which version it is.

use serde::Deserialize;

/// What a definition names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Definition {
    pub(crate) group: String,
    pub(crate) kind: String,
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) namespaced: bool,
}

#[derive(Deserialize)]
struct Object {
    spec: Spec,
}

#[derive(Deserialize)]
struct Spec {
    group: String,
    names: Names,
    #[serde(default)]
    scope: String,
}

#[derive(Deserialize)]
struct Names {
    plural: String,
    kind: String,
    #[serde(default)]
    singular: Option<String>,
    #[serde(default, rename = "shortNames")]
    shorts: Option<Vec<String>>,
    #[serde(default)]
    categories: Option<Vec<String>>,
}

impl Definition {
    /// The group and the plural of definitions themselves.
    pub(crate) const RESOURCE: (&str, &str) = ("apiextensions.k8s.io", "customresourcedefinitions");

    /// Reads a definition; `None` if it does not name a resource.
    pub(crate) fn read(object: &[u8]) -> Option<Self> {
        let Object { spec } = serde_json::from_slice(object).ok()?;
        let names = spec.names;
        if names.plural.is_empty() || names.kind.is_empty() || spec.group.is_empty() {
            return None;
        }
        let singular = names.singular.filter(|singular| !singular.is_empty());
        Some(Self {
            group: spec.group,
            singular: singular.unwrap_or_else(|| names.kind.to_lowercase()),
            kind: names.kind,
            plural: names.plural,
            short_names: names.shorts.unwrap_or_default(),
            categories: names.categories.unwrap_or_default(),
            namespaced: spec.scope == "Namespaced",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read() {
        let definition = Definition::read(
            br#"{"spec":{"group":"g.io","scope":"Namespaced","names":{"plural":"oxen","kind":"Ox","shortNames":["ox"]},"versions":[]}}"#,
        )
        .expect("a definition");
        assert_eq!(definition.plural, "oxen");
        assert_eq!(definition.singular, "ox");
        assert_eq!(definition.short_names, ["ox"]);
        assert!(definition.namespaced);
    }

    #[test]
    fn what_names_nothing_is_none() {
        for text in [
            "",
            "{}",
            r#"{"spec":{"group":"g.io","names":{"plural":"","kind":"X"}}}"#,
            r#"{"spec":{"group":"g.io","names":{"plural":"x"}}}"#,
        ] {
            assert_eq!(Definition::read(text.as_bytes()), None, "{text}");
        }
    }
}
