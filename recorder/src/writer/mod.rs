//! Owns the file: one thread takes entries from the queue, appends them, and commits them in
//! groups. No entry is dropped: a failed write is retried, and meanwhile the queue fills and the
//! sockets are not read.

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
