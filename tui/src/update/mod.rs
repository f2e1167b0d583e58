//! The only place where the model changes. Pure: no clock, no terminal, no bodies of the reel.

mod acting;
mod browsing;
mod choosing;
mod filter;
mod moving;
mod opening;
mod pointing;
mod refresh;

pub(crate) use acting::{begin, update};
pub(crate) use browsing::{kinds, namespaces};
pub(crate) use choosing::ranked;
