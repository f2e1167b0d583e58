//! Owns the file: one thread takes entries from the queue, appends them, and makes them durable in
//! groups. Refuses to drop an entry: what cannot be written is tried again, and meanwhile the queue
//! fills and the sockets are not read.

mod sink;
mod thread;

pub(crate) use sink::ReelPath;
#[cfg(test)]
pub(crate) use thread::Written;
pub(crate) use thread::{Finished, Handover, SeededLoss, Taker, WriteError, Writer, handover};

#[cfg(test)]
mod tests;
