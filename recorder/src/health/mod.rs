//! What the recorder says of itself while it runs: counters, and the page that serves them.

mod access;
mod counters;
mod page;
mod reach;
mod text;

pub use access::{StatusAccess, StatusToken, StatusTokenError};
pub use counters::Status;
pub(crate) use counters::{Health, ResourceState, Stand};
pub(crate) use page::{Front, serve};

#[cfg(test)]
pub(crate) use {counters::Stands, reach::Come};
