//! Records one resource: from the socket to the queue. Which resources there are is known to `discover`.

pub(crate) mod context;
pub(crate) mod drive;
mod intake;
mod overlap;
pub(crate) mod state;
