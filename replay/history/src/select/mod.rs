//! Names in queries: resources as for kubectl, labels as for `kubectl -l`, and similar names for
//! one that was not found.

mod manifest;
mod resource;
mod selector;

pub use manifest::{MAX_MANIFEST, ManifestError, ManifestObject, manifest_objects};
pub use resource::{ExcludedResource, ObjectFilter, ResourceTable, SelectError, nearest};

pub use selector::{FieldSelector, FieldSelectorError, LabelError, LabelSelector};
