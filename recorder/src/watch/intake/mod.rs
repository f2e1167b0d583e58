//! Owns the way from a line or an item to entries for the file: what is read of it, what the stream
//! says to it, and what of it may be kept. Refuses sockets and the queue: bytes come in, entries go
//! out.

mod connection;
mod failures;
mod held;
mod inlet;
mod settle;
mod successor;
mod write;

pub(crate) use connection::cause_of;
pub(crate) use held::HELD_BYTES;
use inlet::Open;
pub(crate) use inlet::{Flow, Intake};
pub(crate) use settle::{OpenGap, ReadBack};
