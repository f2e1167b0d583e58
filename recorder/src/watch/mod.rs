//! Records one resource: from the socket to the queue. `discover` decides which resources exist.

pub(crate) mod context;
mod gap;
mod intake;
mod overlap;
mod reading;
pub(crate) mod state;
pub(crate) mod watcher;
