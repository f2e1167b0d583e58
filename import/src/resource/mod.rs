//! Which resource an object belongs to: as the line names it, as definitions in the input name it,
//! as Kubernetes and OpenShift name it, or as its kind suggests.

mod builtin;
mod definition;
mod describe;
mod known;
mod plural;
#[cfg(test)]
mod tests;

pub(crate) use definition::Definition;
pub(crate) use known::{Asked, Resources};
