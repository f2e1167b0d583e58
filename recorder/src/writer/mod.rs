//! Owns the file: one thread takes entries from the queue, appends them, and makes them durable in
//! groups. Refuses to drop an entry: what cannot be written is tried again, and meanwhile the queue
//! fills and the sockets are not read.

mod sink;
mod thread;

pub(crate) use sink::ReelPath;
#[cfg(test)]
use sink::{Shelf, Sink};
pub(crate) use thread::{Finished, WriteError, Writer};

#[cfg(test)]
mod tests;
