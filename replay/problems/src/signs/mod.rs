//! What versions of objects say is wrong, a function for each family of kinds.

mod condition;
mod kinds;
mod node;
mod openshift;
mod pod;
mod resource;
mod workload;

pub(crate) use kinds::{Reading, paths, read};
