//! Which versions show only that their object existed before anybody looked at its resource.

use crate::coverage::Coverage;
use kubereel_format::{Evidence, RecordedAt, ResourceId};
use std::collections::BTreeMap;

/// An object that an import shows for the first time this long after its creation was there before.
const OLD_MICROS: i64 = 60 * 1_000_000;

/// When each resource was first looked at.
///
/// The first list of a recorder says so of its objects. The lists of an import say it only by their time, and each
/// file has a time of its own.
#[derive(Clone, Debug, Default)]
pub struct FirstLooks {
    start: RecordedAt,
    imported: BTreeMap<ResourceId, RecordedAt>,
}

impl FirstLooks {
    /// Reads them from what was observed of a recording that begins at a time.
    pub(crate) fn of(start: RecordedAt, coverage: &BTreeMap<ResourceId, Coverage>) -> Self {
        let only_imported = coverage.iter().filter(|(_, own)| own.is_only_imported());
        let imported = only_imported.filter_map(|(id, own)| Some((*id, own.imported()?.since)));
        Self {
            start,
            imported: imported.collect(),
        }
    }

    /// Returns whether a version is of the first look at its resource. `created` is what the object says of its
    /// creation.
    pub fn has(
        &self,
        resource: ResourceId,
        evidence: Evidence,
        at: RecordedAt,
        created: Option<RecordedAt>,
    ) -> bool {
        let is_listed = || {
            let first = self.imported.get(&resource);
            matches!(evidence, Evidence::Imported | Evidence::Listed)
                && first.is_some_and(|first| at <= *first)
                && created.is_some_and(|created| at.micros_since(created) > OLD_MICROS)
        };
        evidence.is_first_look(at, self.start) || is_listed()
    }

    /// Returns whether only another tool recorded a resource.
    pub fn is_imported(&self, resource: ResourceId) -> bool {
        self.imported.contains_key(&resource)
    }
}
