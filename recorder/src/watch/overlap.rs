//! The way to a second connection of a watch before the first one ends: when it is due, its turn among the
//! resources, the request, and the time until it is read; and two helpers of a watch.
//!
//! [`OverlapProbe`] replaces bookmarks for Events: a list of one object, read while the watch runs, names a
//! revision; a watch that runs on long after that has delivered everything up to it.
//!
//! [`ServerWaker`] asks other servers for a custom resource: a server begins to keep its history only when it
//! is first asked, so each is asked before the one that has the history goes away.

use crate::resource::{ResourceRole, WatchTarget};
use crate::server::{ApiServer, Failure, Get, HttpAnswer};
use crate::version::ResourceVersion;
use crate::watch::state::SETTLE_MICROS;
use crate::watch::watcher::{HEAD_SECS, WatchReading};
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

/// How long to wait where a successor is due and cannot be begun.
const LATER: Duration = Duration::from_secs(1);

/// The successor of one connection.
pub(super) struct WatchOverlap {
    stage: SuccessorStage,
    /// A reason for another one came while one was under way.
    is_wanted_again: bool,
    /// One of those that may be under way at once.
    permit: Option<OwnedSemaphorePermit>,
}

enum SuccessorStage {
    /// Not before then, or not at all.
    Idle(Option<Instant>),
    /// Others have successors under way.
    Turn(BoxFuture<Option<OwnedSemaphorePermit>>),
    /// The server is asked.
    Asking(BoxFuture<SuccessorAnswer>),
    /// It was answered, and is read from then on.
    Held(Box<OpenSuccessor>, Instant),
    /// It is read; it is looked at again at that time, though nothing comes.
    Open(Box<OpenSuccessor>, Option<Instant>),
}

/// A successor's request.
pub(super) struct SuccessorRequest {
    pub(super) id: ConnectionId,
    /// It continues from here at least.
    pub(super) from: ResourceVersion,
    pub(super) timeout_secs: u32,
    /// The time for which the connection under way must outlive a list of the present, if the successor
    /// is to continue from there.
    pub(super) outlive: Option<Duration>,
}

/// What came of the request.
pub(super) struct SuccessorAnswer {
    pub(super) request: SuccessorRequest,
    pub(super) server: Arc<ApiServer>,
    pub(super) answer: Result<HttpAnswer, Failure>,
}

/// A successor whose request was answered with success.
pub(super) struct OpenSuccessor {
    pub(super) reading: WatchReading,
    pub(super) from: ResourceVersion,
    pub(super) timeout_secs: u32,
}

/// What has happened on the way.
pub(super) enum SuccessorStep {
    /// It is time.
    Due,
    /// It may be begun.
    Begin(Option<OwnedSemaphorePermit>),
    /// The server has answered, or not.
    Asked(Box<SuccessorAnswer>),
    /// The other connection has outlived the list from which the successor continues: it is to be read now.
    Outlived,
    /// Something came on it.
    Chunk(Result<Option<Bytes>, Failure>),
    /// It has been open for a while.
    Settled,
}

impl SuccessorRequest {
    /// Asks the server.
    pub(super) async fn ask(
        mut self,
        target: WatchTarget,
        server: Arc<ApiServer>,
    ) -> SuccessorAnswer {
        if self.outlive.is_some() {
            let now = present(&server, &target).await;
            let now = now.and_then(|now| ResourceVersion::parse(&now));
            let is_later = |now: &ResourceVersion| now.order(&self.from) != Some(Ordering::Less);
            match now.filter(|now| now.number().is_some() && is_later(now)) {
                Some(now) => self.from = now,
                // Without it the successor continues from the position as any other does.
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
    /// Begins: the successor is due `due_micros` after the begin of the first connection, if at
    /// all.
    pub(super) fn new(opened: Instant, due_micros: Option<u64>) -> Self {
        let due = due_micros.map(|micros| opened + Duration::from_micros(micros));
        Self {
            stage: SuccessorStage::Idle(due),
            is_wanted_again: false,
            permit: None,
        }
    }

    /// Waits for the next thing to happen. Dropping this does not cancel what is under way.
    pub(super) async fn turn(&mut self) -> SuccessorStep {
        match &mut self.stage {
            SuccessorStage::Idle(None) => std::future::pending().await,
            SuccessorStage::Idle(Some(due)) => {
                sleep_until(*due).await;
                SuccessorStep::Due
            }
            SuccessorStage::Turn(turn) => SuccessorStep::Begin(turn.await),
            SuccessorStage::Asking(asking) => SuccessorStep::Asked(Box::new(asking.await)),
            SuccessorStage::Held(_, until) => {
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

    /// It is due at once; if one is under way, which may be in vain, then another one behind it.
    pub(super) fn hurry(&mut self) {
        match &mut self.stage {
            SuccessorStage::Idle(due) => *due = Some(Instant::now()),
            _ => self.is_wanted_again = true,
        }
    }

    /// Begins anew after the first connection was let go, for `next` in its place.
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
        self.stage = SuccessorStage::Turn(Box::pin(turn));
    }

    /// The server is asked.
    pub(super) fn asking(
        &mut self,
        permit: Option<OwnedSemaphorePermit>,
        asked: impl Future<Output = SuccessorAnswer> + Send + 'static,
    ) {
        self.permit = permit;
        self.stage = SuccessorStage::Asking(Box::pin(asked));
    }

    /// It is open, and is not read before it was outlived.
    pub(super) fn hold(&mut self, open: OpenSuccessor, outlive: Duration) {
        self.stage = SuccessorStage::Held(Box::new(open), Instant::now() + outlive);
    }

    /// It is open.
    pub(super) fn open(&mut self, open: Box<OpenSuccessor>) {
        let settled = Instant::now() + Duration::from_micros(SETTLE_MICROS);
        self.stage = SuccessorStage::Open(open, Some(settled));
    }

    /// Tries again after `micros`, or after [`LATER`] if that is not known.
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

    /// Returns the successor that waits.
    pub(super) fn take_held(&mut self) -> Option<Box<OpenSuccessor>> {
        match std::mem::replace(&mut self.stage, SuccessorStage::Idle(None)) {
            SuccessorStage::Held(open, _) => Some(open),
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

    /// Returns the connection of the successor that is read, if it is to be given.
    pub(super) fn take_reading_if(&mut self, is_wanted: bool) -> Option<WatchReading> {
        is_wanted.then(|| self.take_reading()).flatten()
    }

    /// Returns the connection of the successor that is read, to read it.
    pub(super) fn reading(&mut self) -> Option<&mut WatchReading> {
        match &mut self.stage {
            SuccessorStage::Open(open, _) => Some(&mut open.reading),
            _ => None,
        }
    }
}

/// How long a watch runs before the list is read, in seconds: before the shortest of them ends.
const LIST_AFTER_SECS: u64 = 190;

/// How long it must run on, in seconds. Events arrive within milliseconds.
const OUTLIVE_SECS: u64 = 30;

/// The longest answer that is read, in bytes: it holds one object.
const MAX_ANSWER: usize = 8 * 1024 * 1024;

type ProbeFuture = Pin<Box<dyn Future<Output = Option<String>> + Send>>;

/// A probe for one watch.
pub(super) struct OverlapProbe(Option<ProbeFuture>);

impl OverlapProbe {
    /// Begins, for the resources that need it.
    pub(super) fn new(target: &WatchTarget, server: &Arc<ApiServer>) -> Self {
        if target.role != ResourceRole::Events {
            return Self(None);
        }
        Self(Some(Box::pin(ask(Arc::clone(server), target.clone()))))
    }

    /// Waits until the watch has outlived the list, and gives the list's version, once.
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

/// How many new connections are made. Behind one address with two servers, none of them and of the
/// watch itself reaches the other one in 3 of 100 cases.
const CONNECTIONS: usize = 4;

/// How long an answer may take, in seconds.
const PATIENCE_SECS: u64 = 10;

/// The waking for one resource.
#[derive(Debug)]
pub(super) struct ServerWaker {
    is_custom: bool,
    /// Something has happened since the servers were last asked.
    is_due: bool,
    /// Ends with its stream.
    asking: JoinSet<()>,
}

impl ServerWaker {
    /// Begins: the first connection is a reason by itself.
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

    /// A connection has ended; if not in order, a server may have begun anew.
    pub(super) fn ended(&mut self, cause: EndCause) {
        self.is_due |= cause != EndCause::Clean;
    }

    /// A request was answered: asks the same of others.
    pub(super) fn connected(&mut self, server: &Arc<ApiServer>, target: &str) {
        while self.asking.try_join_next().is_some() {}
        if !self.is_custom || !std::mem::take(&mut self.is_due) {
            return;
        }
        // Whatever is answered, its body is not read: being asked is enough.
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

    /// Waits for its next step, as long as one that is due takes at most.
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
