//! Pages as `kubectl describe` prints them: a page of its own for the most important kinds of
//! kubectl, all fields of any other object.
//!
//! The content follows kubectl's own describers: kubernetes
//! `staging/src/k8s.io/kubectl/pkg/describe`.

mod cluster;
mod container;
mod generic;
mod lines;
mod node;
mod object_page;
mod pod;
mod service;
mod storage;
mod surroundings;
mod volume;
mod workload;

pub use lines::PageLine;
pub use object_page::ObjectPage;
pub(crate) use object_page::template_page;
pub use surroundings::IncompleteList;
