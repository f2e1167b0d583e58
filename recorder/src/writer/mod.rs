//! Owns the file: one thread takes entries from the queue, appends them, and makes them durable in groups.
//! No entry is dropped: what cannot be written is tried again, and meanwhile the queue fills and the sockets
//! are not read.

mod sink;
mod thread;

pub(crate) use sink::ReelPath;
#[cfg(test)]
pub(crate) use thread::WrittenReel;
pub(crate) use thread::{
    Finished, HandoverTaker, ReelWriter, SeededLoss, WriteError, WriterHandover, handover,
};

#[cfg(test)]
mod tests;
