//! The only code that changes the model. Pure: no clock, no terminal, no bodies of the reel.

mod choosing;
mod growing;
mod lane_rows;
mod marking;
mod messages;
mod moving;
mod opening;
pub(crate) mod palette;
mod panel;
mod problems;

pub(crate) use choosing::{kinds, namespaces};
pub(crate) use marking::place_of;
pub(crate) use messages::{begin, update};
pub(crate) use opening::left;
pub(crate) use panel::followed;
