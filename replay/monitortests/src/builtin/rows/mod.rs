//! The table of upstream's JUnit names, in two parts: those that need objects and those that need
//! Events.

mod events;
mod objects;
mod table;

pub use table::rows;
