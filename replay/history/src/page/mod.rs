//! Objects described on a page, as `kubectl describe` describes them: a page of its own for the kinds that kubectl
//! knows and that matter most, all fields of any other object.
//!
//! What a page says follows kubectl's own describers: kubernetes `staging/src/k8s.io/kubectl/pkg/describe`.

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
