//! How people name things: resources as for kubectl, labels as for `kubectl -l`, and the nearest
//! names when a name is wrong.

mod field;
mod label;
mod manifest;
mod nearest;
mod resource;

pub use field::{FieldSelector, FieldSelectorError};
pub use label::{LabelError, LabelSelector};
pub use manifest::{MAX_MANIFEST, ManifestError, ManifestObject, manifest_objects};
pub use resource::{ExcludedResource, ObjectFilter, ResourceTable, SelectError};

pub(crate) use nearest::nearest;
