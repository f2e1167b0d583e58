//! Records one resource: from the socket to the queue. `discover` decides which resources exist.

mod connection_notes;
pub(crate) mod context;
mod gap;
mod intake;
mod kept_line;
mod list_failures;
mod messages;
mod overlap;
mod reading;
pub(crate) mod state;
pub(crate) mod watcher;
