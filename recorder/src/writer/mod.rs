//! Owns the file: one thread takes entries from the queue, appends them, and makes them durable in
//! groups. Refuses to drop an entry: what cannot be written is tried again, and meanwhile the queue
//! fills and the sockets are not read.

mod handover;
mod loss;
mod sink;
mod thread;

pub(crate) use handover::{Handover, Taker, handover};
pub(crate) use loss::SeededLoss;
pub(crate) use sink::ReelPath;
#[cfg(test)]
use sink::{Shelf, Sink, Whole};
#[cfg(test)]
pub(crate) use thread::Written;
pub(crate) use thread::{Finished, WriteError, Writer};

#[cfg(test)]
mod tests;
