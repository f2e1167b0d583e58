//! Owns which columns a resource's definition names at a moment. Refuses built-in kinds: their
//! columns are the server's own.

use super::cell::Type;
use super::path::Path;
use crate::as_of::Filter;
use crate::query_error::QueryError;
use crate::resolve::Cut;
use crate::timeline::Timeline;
use kubereel_format::{RecordedAt, ResourceInfo};
use serde::Deserialize;
use serde_json::Value;

const GROUP: &str = "apiextensions.k8s.io";
const PLURAL: &str = "customresourcedefinitions";

/// A column that a definition names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Defined {
    pub(super) name: String,
    /// Whether it is shown only where there is room.
    pub(super) is_wide: bool,
    path: Option<Path>,
    kind: Type,
}

impl Defined {
    /// Writes the cell of an object, as of a moment.
    pub(super) fn cell(&self, object: &Value, at: RecordedAt) -> String {
        let value = self.path.as_ref().and_then(|path| path.first(object));
        value.map_or_else(String::new, |value| self.kind.written(value, at))
    }
}

#[derive(Deserialize)]
struct Definition {
    spec: Spec,
}

#[derive(Deserialize)]
struct Spec {
    #[serde(default)]
    versions: Vec<Version>,
}

#[derive(Deserialize)]
struct Version {
    name: String,
    #[serde(default, rename = "additionalPrinterColumns")]
    columns: Vec<Named>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
    r#type: String,
    #[serde(rename = "jsonPath")]
    path: String,
    #[serde(default)]
    priority: i64,
}

impl Timeline {
    /// Gives the columns that a resource's definition named at a moment; none if it has no
    /// definition, or that names none.
    ///
    /// # Errors
    /// When the reel is damaged there, or the definition is none.
    pub(super) fn defined_columns(
        &self,
        resource: &ResourceInfo,
        cut: Cut,
    ) -> Result<Vec<Defined>, QueryError> {
        let is_definitions = |info: &&ResourceInfo| info.group == GROUP && info.plural == PLURAL;
        let Some(definitions) = self.resources().iter().find(is_definitions) else {
            return Ok(Vec::new());
        };
        let names = [resource.qualified()];
        let filter = Filter {
            namespace: None,
            names: &names,
        };
        let state = self.as_of(self.resource_at(definitions, cut).id, cut, &filter);
        let Some(held) = state.objects.first() else {
            return Ok(Vec::new());
        };
        let seq = held.seq;
        let body = self.reel().body(seq)?;
        let definition: Definition =
            serde_json::from_slice(&body).map_err(|source| QueryError::Body { seq, source })?;
        let versions = definition.spec.versions.into_iter();
        let mut recorded = versions.filter(|version| version.name == resource.version);
        let columns = recorded
            .next()
            .map_or_else(Vec::new, |version| version.columns);
        Ok(columns.into_iter().map(Defined::from).collect())
    }
}

impl From<Named> for Defined {
    fn from(named: Named) -> Self {
        Self {
            path: Path::parse(&named.path),
            kind: Type::named(&named.r#type),
            is_wide: named.priority != 0,
            name: named.name,
        }
    }
}
