//! The cluster's own Events as intervals: one for each time that one was said.

mod said;
mod watch;

pub(crate) use watch::Events;
