//! Owns the record of what was asked and what became of each answer, and the pulse that wakes waiting tests.
//! Refuses to judge it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::fault::End;

/// A request's head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// `GET`.
    pub method: String,
    /// Path and query as sent.
    pub target: String,
    /// The path, still encoded.
    pub path: String,
    /// The query's parameters, decoded, in order.
    pub query: Vec<(String, String)>,
    /// The headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
}

impl Asked {
    /// The first value of a query parameter.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        first(&self.query, name)
    }

    /// The first value of a header, named in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        first(&self.headers, name)
    }

    /// Whether it asks for a watch.
    pub fn is_watch(&self) -> bool {
        matches!(self.parameter("watch"), Some("true" | "1"))
    }
}

fn first<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs
        .iter()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.as_str())
}

/// Who ended an answer, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The server, by its own rules, by a fault or by order.
    Server(End),
    /// The client went away.
    Client,
}

/// How far an answer has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// The status code, once there is one.
    pub status: Option<u16>,
    /// Whole lines written; a document counts as one.
    pub lines: usize,
    /// Bytes the socket took, head included.
    pub bytes_accepted: usize,
    /// Since when the socket has taken nothing more.
    pub stalled_since: Option<Instant>,
    /// Since when it says nothing more on purpose.
    pub silent_since: Option<Instant>,
    /// When and how it ended.
    pub ended: Option<(Instant, Ending)>,
}

/// One request and its answer.
#[derive(Debug)]
pub struct Exchange {
    /// Counts requests from zero.
    pub number: usize,
    /// Counts connections from zero.
    pub connection: usize,
    /// When its head was complete.
    pub at: Instant,
    /// What was asked.
    pub asked: Asked,
    progress: Mutex<Progress>,
}

impl Exchange {
    /// How far the answer has come.
    pub fn progress(&self) -> Progress {
        *locked(&self.progress)
    }

    pub(crate) fn note(&self, change: impl FnOnce(&mut Progress)) {
        change(&mut locked(&self.progress));
    }
}

/// Every request so far.
#[derive(Debug, Default)]
pub(crate) struct Log {
    exchanges: Mutex<Vec<Arc<Exchange>>>,
}

impl Log {
    pub(crate) fn begin(&self, connection: usize, asked: Asked) -> Arc<Exchange> {
        let mut exchanges = locked(&self.exchanges);
        let exchange = Arc::new(Exchange {
            number: exchanges.len(),
            connection,
            at: Instant::now(),
            asked,
            progress: Mutex::new(Progress::default()),
        });
        exchanges.push(Arc::clone(&exchange));
        exchange
    }

    pub(crate) fn all(&self) -> Vec<Arc<Exchange>> {
        locked(&self.exchanges).clone()
    }
}

/// How long a waiting test sleeps at most before it looks again.
const PAUSE: Duration = Duration::from_millis(500);

/// Wakes waiting tests whenever anything happened.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    beats: Mutex<u64>,
    beat: Condvar,
}

impl Pulse {
    pub(crate) fn beat(&self) {
        *locked(&self.beats) += 1;
        self.beat.notify_all();
    }

    /// Waits until `look` finds something. It is asked at each beat, and now and then without one: what
    /// it looks for may also lie in a file, or come with time.
    pub(crate) fn wait<T>(
        &self,
        what: &str,
        timeout: Duration,
        mut look: impl FnMut() -> Option<T>,
    ) -> Result<T> {
        let deadline = Instant::now() + timeout;
        loop {
            let seen = *locked(&self.beats);
            if let Some(found) = look() {
                return Ok(found);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                bail!("waited {timeout:?} in vain for {what}");
            }
            let waited = self
                .beat
                .wait_timeout_while(locked(&self.beats), left.min(PAUSE), |beats| *beats == seen)
                .unwrap_or_else(PoisonError::into_inner);
            drop(waited);
        }
    }
}

/// Locks, also after another test thread panicked: the state is only ever replaced whole.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
