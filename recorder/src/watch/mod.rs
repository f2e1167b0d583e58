//! Owns the recording of one resource: from the socket to the queue. Refuses to know which resources
//! there are: `discover` does.

pub(crate) mod context;
pub(crate) mod drive;
mod intake;
mod overlap;
pub(crate) mod state;
