//! Owns one reel of a series while it is recorded: its task, the way to end it, and words for its timeline.
//! Refuses to be forgotten: whoever ends it waits for it.

use super::start::Started;
use crate::entry::Entry;
use crate::error::RecordError;
use crate::health::Front;
use crate::lifecycle::{Pen, Summary};
use kubereel_format::{Note, SessionEnd};
use std::io;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// How long a word may wait for room in the queue.
const WORD_SECS: u64 = 5;

/// A reel that is recorded.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) name: String,
    pub(super) front: Front,
    /// When this run of it began.
    pub(super) began: Instant,
    /// When the next is due.
    pub(super) due: Instant,
    pen: Pen,
    stop: Option<oneshot::Sender<SessionEnd>>,
    task: JoinHandle<Result<Summary, RecordError>>,
}

impl Running {
    /// Begins to record.
    pub(super) fn begin(started: Started, every: Duration) -> Self {
        let Started {
            name,
            recorder,
            age,
        } = started;
        let began = Instant::now();
        let (front, pen) = (recorder.front(), recorder.pen());
        let (stop, stopped) = oneshot::channel();
        let told = async move { stopped.await.unwrap_or(SessionEnd::Finished) };
        Self {
            name,
            front,
            began,
            due: began + every.saturating_sub(age),
            pen,
            stop: Some(stop),
            task: tokio::spawn(recorder.run_until(told, Box::new(|_| true))),
        }
    }

    /// Writes a word about the reel into it.
    pub(super) async fn label(&self, name: &str, value: &str) {
        let note = Note::Label {
            name: name.to_owned(),
            value: value.to_owned(),
        };
        let stamp = self.pen.clock.stamp();
        let said = self.pen.queue.push(Entry::Note { stamp, note });
        if tokio::time::timeout(Duration::from_secs(WORD_SECS), said)
            .await
            .is_err()
        {
            tracing::warn!(reel = self.name, name, value, "no room for a label");
        }
    }

    /// Tells whether the cluster answers it.
    pub(super) fn is_reached(&self) -> bool {
        let status = self.front.health.status();
        status.is_reachable && !status.is_out
    }

    /// Tells it to end; once is enough.
    pub(super) fn end(&mut self, end: SessionEnd) {
        if let Some(stop) = self.stop.take() {
            // One that ended by itself does not hear it.
            let _heard = stop.send(end);
        }
    }

    /// Waits for its end.
    pub(super) async fn ended(&mut self) -> Result<Summary, RecordError> {
        match (&mut self.task).await {
            Ok(ended) => ended,
            Err(error) => Err(RecordError::System {
                what: "go on recording",
                source: io::Error::other(error),
            }),
        }
    }
}
