//! Shared state of the watchers of all resources: the queue, id counters, limits, the current
//! client, and what connections prove about the servers.

use crate::clock::Clock;
use crate::discover::{ApiService, CrdDefinition, Discovery};
use crate::health::Health;
use crate::queue::Queue;
use crate::server::ApiServer;
use crate::watch::gap::WAITING_BYTES;
use kubereel_format::{ConnectionId, Elapsed, GapId, Stamp};
use kubereel_redact::Redactor;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Semaphore, mpsc, watch};

/// The number of lists that are read at once.
const LISTS_AT_ONCE: usize = 20;

/// The number of gaps that are read back at once.
const BACKFILLS_AT_ONCE: usize = 2;

/// The number of lines of more than a few megabytes that are in memory at once.
const LONG_LINES_AT_ONCE: usize = 2;

/// The number of watches that may have a successor at once: the number of connections must not
/// double.
const SUCCESSORS_AT_ONCE: usize = 8;

/// The message of a stream to the supervisor.
#[derive(Debug)]
pub(crate) enum DiscoverySighting {
    /// A definition was created or changed.
    Definition(Box<CrdDefinition>),
    /// An API service was created, changed or deleted.
    ApiService(ApiService),
    /// All existing definitions were received.
    DefinitionsComplete,
}

/// What all watchers share.
#[derive(Debug)]
pub(crate) struct WatchContext {
    /// The queue to the file.
    pub(crate) queue: Arc<Queue>,
    pub(crate) clock: Clock,
    /// The counters.
    pub(crate) health: Arc<Health>,
    pub(crate) numbers: Arc<RecordNumbers>,
    /// Which servers may still have history.
    pub(crate) fleet: ServerFleet,
    /// Redacts secrets.
    pub(crate) redactor: Redactor,
    pub(crate) limits: WatchLimits,
    /// The shortest requested duration of a watch, in seconds.
    pub(crate) watch_secs: u32,
    /// The current client.
    pub(crate) clients: watch::Receiver<Option<Arc<ApiServer>>>,
    /// Requests a new client: a server refused the credentials of this generation.
    pub(crate) refused: watch::Sender<u64>,
    /// The served resources, as discovery reports them.
    pub(crate) discovery: Arc<Discovery>,
    /// The channel for definitions.
    pub(crate) sightings: mpsc::Sender<DiscoverySighting>,
    /// The number of the cluster behind the kubeconfig; it changes when the kubeconfig leads to
    /// another cluster.
    pub(crate) epoch: watch::Receiver<u32>,
    /// Becomes true when the recorder must stop.
    pub(crate) stop: watch::Receiver<bool>,
}

/// Limits on concurrent work of the watchers.
#[derive(Debug)]
pub(crate) struct WatchLimits {
    /// Lists.
    pub(crate) lists: Arc<Semaphore>,
    /// Gaps that are read back.
    pub(crate) backfills: Semaphore,
    /// Bytes of events that wait until a gap is settled.
    pub(crate) waiting_bytes: Arc<Semaphore>,
    /// Long lines in memory.
    pub(crate) long_lines: Arc<Semaphore>,
    /// Watches with a successor.
    pub(crate) successors: Arc<Semaphore>,
}

impl Default for WatchLimits {
    fn default() -> Self {
        Self {
            lists: Arc::new(Semaphore::new(LISTS_AT_ONCE)),
            backfills: Semaphore::new(BACKFILLS_AT_ONCE),
            waiting_bytes: Arc::new(Semaphore::new(WAITING_BYTES)),
            long_lines: Arc::new(Semaphore::new(LONG_LINES_AT_ONCE)),
            successors: Arc::new(Semaphore::new(SUCCESSORS_AT_ONCE)),
        }
    }
}

impl WatchContext {
    /// Reads the clock.
    pub(crate) fn now(&self) -> Stamp {
        self.clock.stamp()
    }

    /// Requests a new client in place of that generation.
    pub(crate) fn refuse(&self, generation: u64) {
        self.refused.send_if_modified(|refused| {
            let is_new = *refused < generation;
            *refused = generation.max(*refused);
            is_new
        });
    }
}

/// Counters for ids that a reel assigns once.
#[derive(Debug)]
pub(crate) struct RecordNumbers {
    connection: AtomicU32,
    gap: AtomicU32,
}

impl RecordNumbers {
    /// Continues from these ids.
    pub(crate) const fn new(connection: u32, gap: u32) -> Self {
        Self {
            connection: AtomicU32::new(connection),
            gap: AtomicU32::new(gap),
        }
    }

    /// Assigns a number to a connection.
    pub(crate) fn connection(&self) -> ConnectionId {
        ConnectionId(self.connection.fetch_add(1, Ordering::Relaxed))
    }

    /// Assigns a number to a gap.
    pub(crate) fn gap(&self) -> GapId {
        GapId(self.gap.fetch_add(1, Ordering::Relaxed))
    }
}

/// What the connections of all streams prove about the servers behind the address.
///
/// A restarting server ends all its connections. A connection that outlived the end of another one
/// therefore leads to a server that has not restarted since then, and that server may still have
/// the history that the restarted one lost.
#[derive(Debug, Default)]
pub(crate) struct ServerFleet {
    state: Mutex<ServerFleetState>,
}

#[derive(Debug, Default)]
struct ServerFleetState {
    open: BTreeMap<u32, Elapsed>,
    has_several: bool,
}

impl ServerFleet {
    /// A watch began.
    pub(crate) fn opened(&self, connection: ConnectionId, at: Elapsed) {
        self.state().open.insert(connection.0, at);
    }

    /// A watch ended.
    pub(crate) fn closed(&self, connection: ConnectionId) {
        self.state().open.remove(&connection.0);
    }

    /// One server had the history that another server had lost.
    pub(crate) fn history_found(&self) {
        self.state().has_several = true;
    }

    /// Returns whether another server may have the history of a stream that broke at that time.
    pub(crate) fn may_know(&self, broke: Option<Elapsed>) -> bool {
        let state = self.state();
        let outlived = |broke| state.open.values().any(|opened| *opened < broke);
        state.has_several || broke.is_some_and(outlived)
    }

    fn state(&self) -> MutexGuard<'_, ServerFleetState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(micros: u64) -> Elapsed {
        Elapsed { micros }
    }

    #[test]
    fn a_connection_that_outlived_the_break_tells_of_another_server() {
        let fleet = ServerFleet::default();
        assert!(!fleet.may_know(Some(at(10))));
        fleet.opened(ConnectionId(1), at(20));
        assert!(!fleet.may_know(Some(at(10))), "it began after the break");
        fleet.opened(ConnectionId(2), at(5));
        assert!(fleet.may_know(Some(at(10))));
        assert!(!fleet.may_know(None));
        fleet.closed(ConnectionId(2));
        assert!(!fleet.may_know(Some(at(10))));
        fleet.history_found();
        assert!(fleet.may_know(None));
    }
}
