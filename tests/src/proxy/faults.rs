//! What the proxy does to connections; plain data, changed while it runs.

use std::num::NonZeroU64;
use std::time::Duration;

/// How a connection is ended, on both sides of the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// With RST, as when a machine restarts or a firewall rejects.
    Reset,
    /// With FIN, as when a load balancer ends an idle connection; what is still inside the proxy is lost.
    Fin,
}

/// Cuts that come by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutEvery {
    /// The time from one cut of all connections to the next; zero is taken as one millisecond.
    pub period: Duration,
    /// How they are cut.
    pub how: Cut,
}

/// Faults of the connections there are and of those to come; none by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Faults {
    /// Added to the way of every byte, in each direction; order and throughput stay.
    pub delay: Duration,
    /// The most bytes a second that one connection carries in one direction.
    pub bytes_per_sec: Option<NonZeroU64>,
    /// Half-open silence: connections stay, new ones are accepted, no byte and no end arrives.
    /// What was sent meanwhile arrives when it is over.
    pub stalled: bool,
    /// Cuts all connections again and again.
    pub cut_every: Option<CutEvery>,
}
