//! Owns what the recorder can say of itself: counters, and the page that serves them. Refuses to
//! decide anything by them.

mod counters;
mod page;
mod reach;
mod text;

pub use counters::Status;
pub(crate) use counters::{Health, ResourceState, Stand};
pub(crate) use page::{Front, serve};

#[cfg(test)]
pub(crate) use {counters::Stands, reach::Come};
