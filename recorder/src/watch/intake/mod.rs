//! Owns the way from a line or an item to entries for the file: what is read of it, what the stream
//! says to it, and what of it may be kept. Refuses sockets and the queue: bytes come in, entries go
//! out.

mod connection;
mod inlet;
mod write;

use inlet::Open;
pub(crate) use inlet::{Flow, Intake};
