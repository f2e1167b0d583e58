//! What happened at the proxy so far.

/// Numbers since the start of the proxy; none ever falls.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts {
    /// Connections taken from clients.
    pub accepted: u64,
    /// Of those, the ones that are over, for whatever reason.
    pub closed: u64,
    /// Of those, the ones cut by [`super::Proxy::cut`] or [`super::Faults::cut_every`].
    pub cut: u64,
    /// Of those, the ones reset at once because no backend answered.
    pub without_backend: u64,
    /// Connections that each backend got, in the order of the backends.
    pub per_backend: Vec<u64>,
    /// Bytes handed to clients.
    pub to_client_bytes: u64,
    /// Bytes handed to backends.
    pub to_backend_bytes: u64,
}

impl Counts {
    /// Connections that are open now.
    pub fn open(&self) -> u64 {
        self.accepted - self.closed
    }
}
