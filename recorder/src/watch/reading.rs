//! A connection that is read: its bytes, its lines, its silence, and its end.
//!
//! Invariants:
//! * A line that is longer than [`LONG_LINE`] is read on only with a permit.
//! * Dropping the future of the next event loses nothing.

use crate::resource::WatchTarget;
use crate::server::{ApiServer, Failure, HttpAnswer};
use crate::watch::intake::cause_of;
use crate::watch::overlap::{OverlapProbe, SuccessorStep, WatchOverlap};
use crate::wire::{LinePiece, LineSplitter};
use bytes::Bytes;
use kubereel_format::{ConnectionId, EndCause};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, sleep_until, timeout_at};

/// A line of more bytes than this needs a permit before more of it is read.
const LONG_LINE: usize = 2 * 1024 * 1024;

/// How a stream ended.
pub(super) enum WatchEnd {
    /// Without a status.
    Ended { cause: EndCause, detail: String },
    /// With a status.
    Refused { code: u16, message: String },
}

/// A connection that sends nothing for this long is noted as open, in seconds: a reel that is being
/// recorded must not show a quiet resource as not watched. A refusal inside the stream, which is not
/// worth a note, comes at once.
const QUIET_SECS: u64 = 1;

/// One of two connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionSide {
    /// The current connection.
    Lead,
    /// Its successor.
    Successor,
}

/// A connection that is read.
pub(super) struct WatchReading {
    answer: HttpAnswer,
    server: Arc<ApiServer>,
    id: ConnectionId,
    splitter: LineSplitter,
    long_line: Option<OwnedSemaphorePermit>,
    probe: OverlapProbe,
    /// When the response arrived.
    opened: Instant,
    last_received: Instant,
    /// When it counts as quiet, until that was reported.
    quiet_at: Option<Instant>,
}

/// What happened first.
pub(super) enum WatchSignal {
    Chunk(Result<Option<Bytes>, Failure>),
    Silence,
    /// The connection stays open; returned once.
    Quiet,
    Outlived(String),
    Successor(SuccessorStep),
    DefinitionChanged,
}

impl WatchEnd {
    pub(super) fn ended(cause: EndCause, detail: &str) -> Self {
        Self::Ended {
            cause,
            detail: detail.to_owned(),
        }
    }

    /// Returns the cause and its words.
    pub(super) fn cause_and_text(&self) -> (EndCause, &str) {
        match self {
            Self::Ended { cause, detail } => (*cause, detail),
            Self::Refused { code, message } => (cause_of(*code), message),
        }
    }
}

impl WatchReading {
    /// Creates a reader.
    pub(super) fn new(
        answer: HttpAnswer,
        server: &Arc<ApiServer>,
        id: ConnectionId,
        target: &WatchTarget,
    ) -> Self {
        let opened = Instant::now();
        Self {
            answer,
            server: Arc::clone(server),
            id,
            splitter: LineSplitter::new(),
            long_line: None,
            probe: OverlapProbe::new(target, server),
            opened,
            last_received: opened,
            quiet_at: Some(opened + Duration::from_secs(QUIET_SECS)),
        }
    }

    /// Returns the number of the connection.
    pub(super) const fn id(&self) -> ConnectionId {
        self.id
    }

    pub(super) const fn server(&self) -> &Arc<ApiServer> {
        &self.server
    }

    /// Returns when the response arrived.
    pub(super) const fn opened(&self) -> Instant {
        self.opened
    }

    /// Takes in received bytes.
    pub(super) fn push(&mut self, chunk: Bytes) {
        self.splitter.push(chunk);
    }

    /// Returns the next line, or part of a long one.
    pub(super) fn next_piece(&mut self) -> Option<LinePiece> {
        self.splitter.next_piece()
    }

    /// Returns the bytes behind the last line.
    pub(super) fn rest(&mut self) -> Option<LinePiece> {
        self.splitter.rest()
    }

    /// Begins the time without data anew.
    pub(super) fn received(&mut self) {
        self.last_received = Instant::now();
    }

    /// Waits for the permit of a long line. A successor does not wait: the current connection may
    /// have the permit, and both are read by this task.
    pub(super) async fn wait_for_room(
        &mut self,
        permits: &Arc<Semaphore>,
        side: ConnectionSide,
    ) -> Option<WatchEnd> {
        if self.splitter.buffered() < LONG_LINE {
            self.long_line = None;
            return None;
        }
        if self.long_line.is_some() {
            return None;
        }
        let permits = Arc::clone(permits);
        if side == ConnectionSide::Lead {
            self.long_line = permits.acquire_owned().await.ok();
            return None;
        }
        match permits.try_acquire_owned() {
            Ok(permit) => self.long_line = Some(permit),
            Err(_) => {
                return Some(WatchEnd::ended(EndCause::Clean, "no room for a long line"));
            }
        }
        None
    }

    /// Waits for the next bytes. Dropping the future loses nothing.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, Failure> {
        self.answer.chunk().await
    }

    /// Waits for the first event. Neither connection may delay the other.
    pub(super) async fn next_signal(
        &mut self,
        idle_secs: u32,
        overlap: &mut WatchOverlap,
        changes: &mut watch::Receiver<u32>,
    ) -> WatchSignal {
        let silent = self.last_received + Duration::from_secs(u64::from(idle_secs));
        tokio::select! {
            chunk = timeout_at(silent, self.answer.chunk()) => match chunk {
                Ok(chunk) => WatchSignal::Chunk(chunk),
                Err(_) => WatchSignal::Silence,
            },
            version = self.probe.outlived() => WatchSignal::Outlived(version),
            turn = overlap.turn() => WatchSignal::Successor(turn),
            () = until(self.quiet_at) => {
                self.quiet_at = None;
                WatchSignal::Quiet
            }
            () = changed(changes) => WatchSignal::DefinitionChanged,
        }
    }
}

/// Waits until a moment; forever if there is none.
async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// Waits for a change; forever if the sender is gone.
async fn changed(changes: &mut watch::Receiver<u32>) {
    if changes.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}
