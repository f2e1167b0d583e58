//! A TCP proxy that stands in for everything that goes wrong between a recorder and a cluster.
//!
//! It owns one loopback port and spreads its connections over backends in turn, as a load
//! balancer does, passing over those that refuse. While it runs a test can delay, throttle,
//! silence and cut connections or have new ones refused, and await what happened by its counts.
//! It looks at no byte: TLS passes through, so it can never end a TLS stream politely.
//! It runs on a thread of its own, so neither a busy test nor the end of a test's runtime
//! changes what its clients see.

mod link;
#[cfg(test)]
mod tests;

pub use link::ConnectProxy;
pub use link::Counts;
pub use link::Proxy;
pub use link::{Cut, CutEvery, Faults};
