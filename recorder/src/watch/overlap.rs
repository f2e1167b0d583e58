//! Opens the second connection of a watch before the first one ends: when it is due, its turn among
//! the resources, the request, and the time until it is read.
//!
//! Invariants:
//! * At most one successor exists for a connection; a later reason waits until it is decided.
//! * A successor has a permit while it exists, except that of Events: the number of connections of
//!   all resources is bounded.
//! * A successor of Events is not read before the first connection has outlived the list from which
//!   the successor continues. Events have no bookmarks, so nothing else proves that every event
//!   before that list was delivered.
//!
//! Two helpers of a watch are here as well. [`OverlapProbe`] replaces bookmarks for Events: a list
//! of one object, read while the watch runs, names a revision; a watch that runs on long after that
//! list has delivered everything up to it. [`ServerWaker`] requests a custom resource from the
//! other servers: a server keeps history only from the first request on, so each server must be
//! asked before the one with the history goes away.

use crate::resource::{ResourceRole, WatchTarget};
use crate::server::{ApiServer, Failure, Get, HttpAnswer};
use crate::version::ResourceVersion;
use crate::watch::reading::WatchReading;
use crate::watch::state::SETTLE_MICROS;
use crate::watch::watcher::HEAD_SECS;
use crate::wire::ListSplitter;
use bytes::Bytes;
use kubereel_format::{ConnectionId, EndCause};
use std::cmp::Ordering;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// The delay before another attempt if a successor is due and cannot be opened.
const LATER: Duration = Duration::from_secs(1);

/// The successor of one connection.
pub(super) struct WatchOverlap {
    stage: SuccessorStage,
    /// Another reason for a successor arrived while one was being opened.
    is_wanted_again: bool,
    /// The permit of the successor.
    permit: Option<OwnedSemaphorePermit>,
}

enum SuccessorStage {
    /// Not before that time, or not at all.
    Idle(Option<Instant>),
    /// Waits for a permit: other resources have successors.
    Queued(BoxFuture<Option<OwnedSemaphorePermit>>),
    /// The request was sent.
    Requesting(BoxFuture<SuccessorAnswer>),
    /// The request succeeded; reading begins at that time.
    Outliving(Box<OpenSuccessor>, Instant),
    /// The connection is read; its state is checked again at that time even if nothing arrives.
    Open(Box<OpenSuccessor>, Option<Instant>),
}

/// The request of a successor.
pub(super) struct SuccessorRequest {
    pub(super) id: ConnectionId,
    /// The version from which it continues at least.
    pub(super) from: ResourceVersion,
    pub(super) timeout_secs: u32,
    /// How long the current connection must outlive a list of the present, if the successor
    /// continues from that list.
    pub(super) outlive: Option<Duration>,
}

/// The result of the request.
pub(super) struct SuccessorAnswer {
    pub(super) request: SuccessorRequest,
    pub(super) server: Arc<ApiServer>,
    pub(super) answer: Result<HttpAnswer, Failure>,
}

/// A successor whose request succeeded.
pub(super) struct OpenSuccessor {
    pub(super) reading: WatchReading,
    pub(super) from: ResourceVersion,
    pub(super) timeout_secs: u32,
}

/// The next event on the way to a successor.
pub(super) enum SuccessorStep {
    /// A successor is due.
    Due,
    /// A permit was granted.
    Begin(Option<OwnedSemaphorePermit>),
    /// The request succeeded or failed.
    Answered(Box<SuccessorAnswer>),
    /// The first connection has outlived the list from which the successor continues: the successor
    /// is read from now on.
    Outlived,
    /// Data arrived on the successor.
    Chunk(Result<Option<Bytes>, Failure>),
    /// The successor has been open for a while.
    Settled,
}

impl SuccessorRequest {
    /// Sends the request.
    pub(super) async fn ask(
        mut self,
        target: WatchTarget,
        server: Arc<ApiServer>,
    ) -> SuccessorAnswer {
        if self.outlive.is_some() {
            // The version of the position may be compacted already, because no bookmark moved it:
            // the successor continues from the present, and the first connection must deliver what
            // lies between.
            let now = present(&server, &target).await;
            let now = now.and_then(|now| ResourceVersion::parse(&now));
            let is_later = |now: &ResourceVersion| now.order(&self.from) != Some(Ordering::Less);
            match now.filter(|now| now.number().is_some() && is_later(now)) {
                Some(now) => self.from = now,
                // Without a list of the present, the successor continues from the position like any
                // other.
                None => self.outlive = None,
            }
        }
        let path = target.watch(&self.from, self.timeout_secs);
        let answer = server.get(Get::json(&path, HEAD_SECS)).await;
        SuccessorAnswer {
            request: self,
            server,
            answer,
        }
    }
}

impl WatchOverlap {
    /// Creates a state in which the successor is due `due_micros` after the begin of the first
    /// connection, if at all.
    pub(super) fn new(opened: Instant, due_micros: Option<u64>) -> Self {
        let due = due_micros.map(|micros| opened + Duration::from_micros(micros));
        Self {
            stage: SuccessorStage::Idle(due),
            is_wanted_again: false,
            permit: None,
        }
    }

    /// Waits for the next event. Dropping the future cancels nothing.
    pub(super) async fn turn(&mut self) -> SuccessorStep {
        match &mut self.stage {
            SuccessorStage::Idle(None) => std::future::pending().await,
            SuccessorStage::Idle(Some(due)) => {
                sleep_until(*due).await;
                SuccessorStep::Due
            }
            SuccessorStage::Queued(turn) => SuccessorStep::Begin(turn.await),
            SuccessorStage::Requesting(asking) => SuccessorStep::Answered(Box::new(asking.await)),
            SuccessorStage::Outliving(_, until) => {
                sleep_until(*until).await;
                SuccessorStep::Outlived
            }
            SuccessorStage::Open(open, settled) => {
                let look = *settled;
                tokio::select! {
                    chunk = open.reading.chunk() => SuccessorStep::Chunk(chunk),
                    () = sleep_until(look.unwrap_or_else(Instant::now)), if look.is_some() => {
                        *settled = None;
                        SuccessorStep::Settled
                    }
                }
            }
        }
    }

    /// Makes a successor due at once. If one is already being opened, which may fail, another one
    /// follows it.
    pub(super) fn hurry(&mut self) {
        match &mut self.stage {
            SuccessorStage::Idle(due) => *due = Some(Instant::now()),
            _ => self.is_wanted_again = true,
        }
    }

    /// Starts over with `next` after the first connection was dropped.
    pub(super) fn follow(&mut self, next: Self) {
        let is_wanted = self.is_wanted_again;
        *self = next;
        if is_wanted {
            self.hurry();
        }
    }

    /// Waits for its turn.
    pub(super) fn queue(
        &mut self,
        turn: impl Future<Output = Option<OwnedSemaphorePermit>> + Send + 'static,
    ) {
        self.stage = SuccessorStage::Queued(Box::pin(turn));
    }

    /// The request was sent.
    pub(super) fn asking(
        &mut self,
        permit: Option<OwnedSemaphorePermit>,
        asked: impl Future<Output = SuccessorAnswer> + Send + 'static,
    ) {
        self.permit = permit;
        self.stage = SuccessorStage::Requesting(Box::pin(asked));
    }

    /// The successor is open, and is read only after the first connection has outlived its list.
    pub(super) fn hold(&mut self, open: OpenSuccessor, outlive: Duration) {
        self.stage = SuccessorStage::Outliving(Box::new(open), Instant::now() + outlive);
    }

    /// The successor is open.
    pub(super) fn open(&mut self, open: Box<OpenSuccessor>) {
        let settled = Instant::now() + Duration::from_micros(SETTLE_MICROS);
        self.stage = SuccessorStage::Open(open, Some(settled));
    }

    /// Tries again after `micros`, or after [`LATER`] if that is unknown.
    pub(super) fn later(&mut self, micros: Option<u64>) {
        let wait = micros.map_or(LATER, Duration::from_micros);
        let wait = if std::mem::take(&mut self.is_wanted_again) {
            Duration::ZERO
        } else {
            wait
        };
        self.permit = None;
        self.stage = SuccessorStage::Idle(Some(Instant::now() + wait));
    }

    /// Returns the successor that waits to be read.
    pub(super) fn take_waiting(&mut self) -> Option<Box<OpenSuccessor>> {
        match std::mem::replace(&mut self.stage, SuccessorStage::Idle(None)) {
            SuccessorStage::Outliving(open, _) => Some(open),
            stage => {
                self.stage = stage;
                None
            }
        }
    }

    /// Returns the connection of the successor that is read.
    pub(super) fn take_reading(&mut self) -> Option<WatchReading> {
        match std::mem::replace(&mut self.stage, SuccessorStage::Idle(None)) {
            SuccessorStage::Open(open, _) => Some(open.reading),
            stage => {
                self.stage = stage;
                None
            }
        }
    }

    /// Takes the connection of the successor out.
    pub(super) fn take_reading_if(&mut self, is_wanted: bool) -> Option<WatchReading> {
        is_wanted.then(|| self.take_reading()).flatten()
    }

    /// Returns the connection of the successor mutably, to read it.
    pub(super) fn reading(&mut self) -> Option<&mut WatchReading> {
        match &mut self.stage {
            SuccessorStage::Open(open, _) => Some(&mut open.reading),
            _ => None,
        }
    }
}

/// How long a watch runs before the list is read, in seconds: less than the shortest watch.
const LIST_AFTER_SECS: u64 = 190;

/// How long the watch must run on after the list, in seconds. Events arrive within milliseconds.
const OUTLIVE_SECS: u64 = 30;

/// The longest answer that is read, in bytes: it holds one object.
const MAX_ANSWER: usize = 8 * 1024 * 1024;

type ProbeFuture = Pin<Box<dyn Future<Output = Option<String>> + Send>>;

/// The probe of one watch.
pub(super) struct OverlapProbe(Option<ProbeFuture>);

impl OverlapProbe {
    /// Creates a probe, for the resources that need one.
    pub(super) fn new(target: &WatchTarget, server: &Arc<ApiServer>) -> Self {
        if target.role != ResourceRole::Events {
            return Self(None);
        }
        Self(Some(Box::pin(ask(Arc::clone(server), target.clone()))))
    }

    /// Waits until the watch has outlived the list, and returns the version of the list, once.
    pub(super) async fn outlived(&mut self) -> String {
        if let Some(asking) = &mut self.0 {
            let version = asking.await;
            self.0 = None;
            if let Some(version) = version {
                return version;
            }
        }
        std::future::pending().await
    }
}

async fn ask(server: Arc<ApiServer>, target: WatchTarget) -> Option<String> {
    tokio::time::sleep(Duration::from_secs(LIST_AFTER_SECS)).await;
    let version = present(&server, &target).await?;
    tokio::time::sleep(Duration::from_secs(OUTLIVE_SECS)).await;
    Some(version)
}

/// Reads the version of a list of one object.
pub(super) async fn present(server: &ApiServer, target: &WatchTarget) -> Option<String> {
    let path = target.page(Some(1), None);
    let answer = server.get(Get::json(&path, HEAD_SECS)).await.ok()?;
    if answer.status != 200 {
        return None;
    }
    let bytes = answer.read(MAX_ANSWER, HEAD_SECS).await.ok()?;
    let mut splitter = ListSplitter::new();
    splitter.push(&bytes, &mut Vec::new());
    Some(splitter.finish()?.version)
}

/// The number of new connections. Behind one address with two servers, all of them and the watch
/// itself reach the same server in 3 of 100 cases.
const CONNECTIONS: usize = 4;

/// The longest time for a response, in seconds.
const PATIENCE_SECS: u64 = 10;

/// The requests to other servers for one resource.
#[derive(Debug)]
pub(super) struct ServerWaker {
    is_custom: bool,
    /// Something happened since the other servers were last asked.
    is_due: bool,
    /// Ends with its stream.
    asking: JoinSet<()>,
}

impl ServerWaker {
    /// Creates a waker: the first connection is a reason by itself.
    pub(super) fn new(is_custom: bool) -> Self {
        Self {
            is_custom,
            is_due: true,
            asking: JoinSet::new(),
        }
    }

    /// Returns whether the resource is a custom one.
    pub(super) const fn is_custom(&self) -> bool {
        self.is_custom
    }

    /// A connection ended. If it did not end in order, a server may have restarted.
    pub(super) fn ended(&mut self, cause: EndCause) {
        self.is_due |= cause != EndCause::Clean;
    }

    /// A request succeeded: sends the same request to other servers.
    pub(super) fn connected(&mut self, server: &Arc<ApiServer>, target: &str) {
        while self.asking.try_join_next().is_some() {}
        if !self.is_custom || !std::mem::take(&mut self.is_due) {
            return;
        }
        // The response body is not read: the request alone makes the server keep history.
        let path = target.split('?').next().unwrap_or(target);
        let path = format!("{path}?watch=true&timeoutSeconds=1&resourceVersion=0");
        for _ in 0..CONNECTIONS {
            let server = Arc::clone(server);
            let path = path.clone();
            self.asking.spawn(async move {
                drop(server.get(Get::json(&path, PATIENCE_SECS)).await);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits for the next request that is due.
    async fn is_due(overlap: &mut WatchOverlap) -> bool {
        let turn = tokio::time::timeout(Duration::from_millis(500), overlap.turn());
        matches!(turn.await, Ok(SuccessorStep::Due))
    }

    #[tokio::test]
    async fn a_reason_that_comes_while_one_is_under_way_is_not_forgotten() {
        let later = Some(3_600_000_000);
        let mut overlap = WatchOverlap::new(Instant::now(), later);
        overlap.queue(std::future::pending());
        overlap.hurry();
        overlap.later(later);
        assert!(is_due(&mut overlap).await, "it was refused");
        overlap.queue(std::future::pending());
        overlap.hurry();
        overlap.follow(WatchOverlap::new(Instant::now(), later));
        assert!(is_due(&mut overlap).await, "it has taken over");
        overlap.queue(std::future::pending());
        overlap.later(later);
        assert!(!is_due(&mut overlap).await, "nothing has happened");
    }
}
