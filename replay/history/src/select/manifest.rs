//! The objects in a manifest in YAML or JSON.

use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

/// The longest manifest, in bytes: 16 MiB, far more than a server accepts.
pub const MAX_MANIFEST: usize = 16 * 1024 * 1024;

/// The deepest nesting of lists.
const DEPTH: usize = 8;

/// The deepest nesting of a manifest. Schemas in definitions have about fifty levels.
const MAX_NESTING: usize = 128;

/// An object in a manifest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ManifestObject {
    /// The API group; empty for the core group.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The namespace; empty if the manifest has none.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl ManifestObject {
    /// Returns its resource in the syntax of [`crate::ResourceTable::find`]: `deployment.apps`.
    pub fn resource(&self) -> String {
        let kind = self.kind.to_lowercase();
        if self.group.is_empty() {
            kind
        } else {
            format!("{kind}.{}", self.group)
        }
    }
}

/// A manifest cannot be read.
#[derive(Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ManifestError {
    /// It is longer than [`MAX_MANIFEST`].
    #[error("longer than {} bytes", MAX_MANIFEST)]
    TooLong,
    /// It is neither YAML nor JSON.
    #[error("invalid YAML: {cause}")]
    Syntax {
        /// The parser's error, with the place.
        cause: String,
    },
    /// Lists are nested too deeply.
    #[error("lists are nested more than {} deep", DEPTH)]
    TooDeep,
    /// A document is not an object.
    #[error("document {document} is not an object: it has no {missing}")]
    NoObject {
        /// Which one, from 1.
        document: usize,
        /// What is missing.
        missing: &'static str,
    },
    /// It has no objects.
    #[error("no objects found")]
    Empty,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ManifestDocument {
    api_version: Option<String>,
    kind: Option<String>,
    metadata: Option<ManifestMetadata>,
    items: Option<Vec<Value>>,
}

#[derive(Deserialize)]
struct ManifestMetadata {
    namespace: Option<String>,
    name: Option<String>,
}

/// Finds the objects in a manifest: of every document, and every item of lists.
///
/// # Errors
/// When it is too long, not valid YAML, or has no objects.
pub fn manifest_objects(bytes: &[u8]) -> Result<Vec<ManifestObject>, ManifestError> {
    if bytes.len() > MAX_MANIFEST {
        return Err(ManifestError::TooLong);
    }
    let failed = |error: &dyn std::error::Error| ManifestError::Syntax {
        cause: error
            .to_string()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned(),
    };
    let text = str::from_utf8(bytes).map_err(|error| failed(&error))?;
    let options = serde_saphyr::options! {
        with_snippet: false,
        budget: serde_saphyr::budget! {
            max_depth: MAX_NESTING,
            // Every node needs at least one byte, so the length bounds them.
            max_documents: MAX_MANIFEST,
            max_events: MAX_MANIFEST,
            max_nodes: MAX_MANIFEST,
            max_total_scalar_bytes: MAX_MANIFEST,
        },
    };
    let documents: Vec<Value> = serde_saphyr::from_str_multiple_with_options(text, options)
        .map_err(|error| failed(&error))?;
    let mut objects = Vec::new();
    let named = documents.into_iter().filter(|document| !document.is_null());
    for (place, document) in named.enumerate() {
        take(document, place + 1, 0, &mut objects)?;
    }
    if objects.is_empty() {
        return Err(ManifestError::Empty);
    }
    Ok(objects)
}

fn take(
    value: Value,
    document: usize,
    depth: usize,
    objects: &mut Vec<ManifestObject>,
) -> Result<(), ManifestError> {
    if depth > DEPTH {
        return Err(ManifestError::TooDeep);
    }
    let missing = |missing| ManifestError::NoObject { document, missing };
    let read: ManifestDocument = serde_json::from_value(value).map_err(|_other| missing("kind"))?;
    if let Some(items) = read.items {
        for item in items {
            take(item, document, depth + 1, objects)?;
        }
        return Ok(());
    }
    let given =
        |text: Option<String>, what| text.filter(|text| !text.is_empty()).ok_or(missing(what));
    let api_version = given(read.api_version, "apiVersion")?;
    let kind = given(read.kind, "kind")?;
    let (name, namespace) = read
        .metadata
        .map_or((None, None), |metadata| (metadata.name, metadata.namespace));
    let group = api_version
        .split_once('/')
        .map_or("", |(group, _)| group)
        .to_owned();
    objects.push(ManifestObject {
        group,
        kind,
        namespace: namespace.unwrap_or_default(),
        name: given(name, "metadata.name")?,
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_and_lists_name_objects() {
        let text = "\
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: shop}
---
---
apiVersion: v1
kind: List
items:
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: b}
";
        let objects = manifest_objects(text.as_bytes()).expect("objects");
        let words: Vec<_> = objects
            .iter()
            .map(|object| {
                (
                    object.resource(),
                    object.namespace.as_str(),
                    object.name.as_str(),
                )
            })
            .collect();
        assert_eq!(
            words,
            [
                ("pod".to_owned(), "shop", "a"),
                ("deployment.apps".to_owned(), "", "b")
            ]
        );
        let json = br#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}"#;
        assert_eq!(manifest_objects(json).expect("objects").len(), 1);
    }

    #[test]
    fn what_names_nothing_is_refused() {
        let error = |text: &str| {
            manifest_objects(text.as_bytes())
                .expect_err(text)
                .to_string()
        };
        assert_eq!(error(""), "no objects found");
        assert_eq!(
            error("just words"),
            "document 1 is not an object: it has no kind"
        );
        assert_eq!(
            error("apiVersion: v1\nkind: Pod\n"),
            "document 1 is not an object: it has no metadata.name"
        );
        assert!(error("a: [").starts_with("invalid YAML: "));
        let nested = format!("{}{}", "{items: [".repeat(12), "]}".repeat(12));
        assert_eq!(error(&nested), "lists are nested more than 8 deep");
    }
}
