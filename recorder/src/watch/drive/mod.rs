//! Owns the task of one resource: does what its stream says, and feeds it what came of it. Refuses
//! decisions: when to ask, what to keep and what is lost are the stream's.

mod gap;
mod overlap;
mod pages;
mod probe;
mod read;
mod successor;
mod task;
mod touch;

pub(crate) use task::{Drive, DriveEnd, Leftover, Start};
use task::{HEAD_SECS, Interrupt, interrupt};
