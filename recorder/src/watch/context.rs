//! What the watchers of all resources share: the queue, numbers, limits, the client of the moment, and what
//! their connections say about the servers.

use crate::clock::Clock;
use crate::discover::{ApiService, CrdDefinition, Discovery};
use crate::health::Health;
use crate::queue::Queue;
use crate::server::ApiServer;
use crate::watch::gap::HELD_BYTES;
use kubereel_format::{ConnectionId, Elapsed, GapId, Stamp};
use kubereel_redact::Redactor;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Semaphore, mpsc, watch};

/// How many lists are read at once.
const LISTS_AT_ONCE: usize = 20;

/// How many gaps are read back at once.
const BACKFILLS_AT_ONCE: usize = 2;

/// The number of lines of more than a few megabytes that are in memory at once.
const LONG_LINES_AT_ONCE: usize = 2;

/// How many watches have a successor beside them at once: connections are not to double.
const SUCCESSORS_AT_ONCE: usize = 8;

/// The message of a stream to the supervisor.
#[derive(Debug)]
pub(crate) enum DiscoverySighting {
    /// A definition was created or changed.
    Definition(Box<CrdDefinition>),
    /// An API service was created, changed or deleted.
    ApiService(ApiService),
    /// All definitions that there are have been seen.
    DefinitionsComplete,
}

/// What all watchers share.
#[derive(Debug)]
pub(crate) struct WatchContext {
    /// The way to the file.
    pub(crate) queue: Arc<Queue>,
    pub(crate) clock: Clock,
    /// The counters.
    pub(crate) health: Arc<Health>,
    pub(crate) numbers: Arc<RecordNumbers>,
    /// What is known of the servers.
    pub(crate) fleet: ServerFleet,
    /// Hides what is secret.
    pub(crate) redactor: Redactor,
    pub(crate) limits: WatchLimits,
    /// How long a watch is to last at least, in seconds.
    pub(crate) watch_secs: u32,
    /// The client of the moment.
    pub(crate) clients: watch::Receiver<Option<Arc<ApiServer>>>,
    /// Asks for a new client: the credentials of this generation were refused.
    pub(crate) refused: watch::Sender<u64>,
    /// What is served.
    pub(crate) discovery: Arc<Discovery>,
    /// The channel for definitions.
    pub(crate) sightings: mpsc::Sender<DiscoverySighting>,
    /// The number of the cluster behind the kubeconfig; it changes when another is found there.
    pub(crate) epoch: watch::Receiver<u32>,
    /// Becomes true when the recorder is to stop.
    pub(crate) stop: watch::Receiver<bool>,
}

/// Bounds on what the watchers do at once.
#[derive(Debug)]
pub(crate) struct WatchLimits {
    /// Lists that are read.
    pub(crate) lists: Arc<Semaphore>,
    /// Gaps that are read back.
    pub(crate) backfills: Semaphore,
    /// Bytes that wait for gaps to be settled.
    pub(crate) held: Arc<Semaphore>,
    /// Long lines in memory.
    pub(crate) long_lines: Arc<Semaphore>,
    /// Watches that have a successor beside them.
    pub(crate) successors: Arc<Semaphore>,
}

impl Default for WatchLimits {
    fn default() -> Self {
        Self {
            lists: Arc::new(Semaphore::new(LISTS_AT_ONCE)),
            backfills: Semaphore::new(BACKFILLS_AT_ONCE),
            held: Arc::new(Semaphore::new(HELD_BYTES)),
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

    /// Asks for a new client in the place of that generation.
    pub(crate) fn refuse(&self, generation: u64) {
        self.refused.send_if_modified(|refused| {
            let is_new = *refused < generation;
            *refused = generation.max(*refused);
            is_new
        });
    }
}

/// The numbers that a reel gives out once.
#[derive(Debug)]
pub(crate) struct RecordNumbers {
    connection: AtomicU32,
    gap: AtomicU32,
}

impl RecordNumbers {
    /// Goes on from these.
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

/// What the connections of all streams tell about the servers behind the address.
///
/// A server that restarts ends every connection to it. A connection that outlived the end of
/// another therefore leads to a server that has not restarted since, and may still have the history
/// that a restarted one has lost.
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
    /// A watch is running.
    pub(crate) fn opened(&self, connection: ConnectionId, at: Elapsed) {
        self.state().open.insert(connection.0, at);
    }

    /// It has ended.
    pub(crate) fn closed(&self, connection: ConnectionId) {
        self.state().open.remove(&connection.0);
    }

    /// One server had the history that another had lost.
    pub(crate) fn history_found(&self) {
        self.state().has_several = true;
    }

    /// Returns whether another server may have the history of a stream that broke then.
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
