//! Imports recordings of other tools into a reel.
//!
//! [`import()`] and [`import_all()`] read, by their content: JSON lines of watch events, as
//! `kubereel export` and other recorders write them; lists of objects in JSON or YAML, each as one
//! moment; folders and archives of them, such as must-gathers; git repositories and bundles of
//! resource-watch; k8shark captures; SimKube traces; audit logs of kube-apiserver; and each of
//! these compressed. An object's bytes, its event's type and the order stay as they are in the
//! input, unless it is not JSON. A part that cannot be read is reported by its place and left out.
//! The reel is marked as imported, because an input does not state its completeness.
//!
//! The crate knows no cluster, no network and no clock: times come from the input.

mod audit;
mod builtin_resources;
mod capture;
mod carried;
mod contents;
mod document;
mod error;
mod existing_objects;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod gather;
mod import;
mod importer;
mod input;
mod meter;
mod moment;
mod ordered;
mod outcome;
mod prepared;
mod reorder;
mod repository;
mod resources;
mod secrets;
mod trace;
mod unsupported;
mod writer;
mod yaml_prefix;

pub use builtin_resources::builtin_resource;
pub use error::{BrokenPart, BrokenParts, BrokenReason, BrokenUnit, GatheredFiles, ImportError};
pub use import::{import, import_all};
pub use outcome::{AuditCounts, DroppedMembers, Imported, ListCounts};
pub use prepared::{ImportContent, ImportInput, ImportOptions};
pub use secrets::SecretCounts;
