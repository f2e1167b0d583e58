//! The only place where the model changes. Pure: no clock, no terminal, no bodies of the reel.

mod acting;
mod anomaly;
mod browsing;
mod choosing;
mod comparing;
mod keeping;
mod lane_rows;
mod marking;
mod moving;
mod opening;
pub(crate) mod palette;
mod panel;
mod passing;
mod picking;
mod pointing;
mod problems;
mod reading;
mod refresh;
mod returning;
mod searching;
mod seeking;

pub(crate) use acting::{begin, update};
pub(crate) use browsing::{kinds, namespaces};
pub(crate) use marking::place_of;
pub(crate) use panel::followed;
pub(crate) use returning::left;
