//! Owns the recording of one resource: from the socket to the queue. Refuses to know which resources
//! there are: `discover` does.

pub(crate) mod context;
pub(crate) mod drive;
pub(crate) mod head;
mod intake;
pub(crate) mod known;
mod line;
pub(crate) mod split;
pub(crate) mod state;
pub(crate) mod target;
pub(crate) mod version;
