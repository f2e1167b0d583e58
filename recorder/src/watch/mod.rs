//! Records one resource: from the socket to the queue. `discover` decides which resources exist.

mod connection_notes;
pub(crate) mod context;
mod gap;
mod intake;
mod interrupts;
mod kept_line;
mod list_failures;
mod messages;
mod missing;
mod overlap;
mod page_reading;
mod reading;
pub(crate) mod state;
pub(crate) mod watcher;
