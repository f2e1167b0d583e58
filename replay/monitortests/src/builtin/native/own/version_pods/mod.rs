//! Failing retrieval of a release's payload (OTA-1321): each attempt with what its Pod went through, the
//! Events about it, and what `ClusterVersion` said then.
//!
//! In Rust, because an attempt is put together of Pods that are deleted, Events that are counted up and
//! a condition that keeps the last message alone.

mod attempt;
mod containers;
mod test;
mod watch;

pub(crate) use test::test;
