//! Owns which columns a resource's definition names at a moment. Refuses built-in kinds: their
//! columns are the server's own.

use super::cell::Type;
use crate::jsonpath::Path;
use crate::moment::Cut;
use crate::query_error::QueryError;
use crate::select::ObjectFilter;
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
    path: Path,
    kind: Type,
}

impl Defined {
    /// Writes the cell of an object, as of a moment.
    pub(super) fn cell(&self, object: &Value, at: RecordedAt) -> String {
        let value = self.path.first(object);
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
    columns: Option<Vec<Named>>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
    r#type: String,
    #[serde(rename = "jsonPath")]
    path: String,
    #[serde(default)]
    priority: Option<i64>,
}

impl Timeline {
    /// Gives the columns that a resource's definition named at a moment; `None` if it has no
    /// definition, or that names none.
    ///
    /// Columns end before one whose path is none, as the server has it.
    ///
    /// # Errors
    /// When the reel is damaged there, or the definition is none.
    pub(super) fn defined_columns(
        &self,
        resource: &ResourceInfo,
        cut: Cut,
    ) -> Result<Option<Vec<Defined>>, QueryError> {
        let is_definitions = |info: &&ResourceInfo| info.group == GROUP && info.plural == PLURAL;
        let Some(definitions) = self.resources().iter().find(is_definitions) else {
            return Ok(None);
        };
        let names = [resource.qualified()];
        let filter = ObjectFilter {
            namespace: None,
            names: &names,
        };
        let state = self.as_of(self.resource_at(definitions, cut).id, cut, &filter);
        let Some(held) = state.objects.first() else {
            return Ok(None);
        };
        let seq = held.seq;
        let body = self.reel().body(seq)?;
        let definition: Definition =
            serde_json::from_slice(&body).map_err(|source| QueryError::Body { seq, source })?;
        let versions = definition.spec.versions.into_iter();
        let mut recorded = versions.filter(|version| version.name == resource.version);
        let columns = recorded.next().and_then(|version| version.columns);
        let columns = columns.filter(|columns| !columns.is_empty());
        Ok(columns.map(|columns| columns.into_iter().map_while(Defined::of).collect()))
    }
}

impl Defined {
    /// Reads a column; `None` if its path is none.
    fn of(named: Named) -> Option<Self> {
        Some(Self {
            path: Path::parse(&named.path)?,
            kind: Type::named(&named.r#type),
            is_wide: named.priority.is_some_and(|priority| priority != 0),
            name: named.name,
        })
    }
}
