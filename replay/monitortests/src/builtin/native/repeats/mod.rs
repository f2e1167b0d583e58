//! Events that repeat too often: what repeats more than twenty times and is not allowed to fails its
//! namespace. Rust, because the list of what may repeat is data of its own: regular expressions for
//! each key of a locator, and other intervals in which an Event may repeat.

mod allowed;
mod judge;
mod within;

pub(crate) use judge::{RepeatedEvents, Where};
