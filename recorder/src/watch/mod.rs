//! Records one resource: from the socket to the queue. Which resources there are is known to `discover`.

pub(crate) mod context;
mod gap;
mod intake;
mod overlap;
pub(crate) mod state;
pub(crate) mod watcher;
