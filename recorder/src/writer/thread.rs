//! Owns the writer's loop: append, commit every quarter of a second, and begin again from the last
//! commit when the disk fails. Refuses to end before the queue is empty, unless the file cannot be
//! written any more.

use super::sink::{Shelf, Sink};
use crate::clock::Clock;
use crate::entry::Entry;
use crate::health::Health;
use crate::quota::{Queue, Queued, Taken};
use kubereel_format::{
    AppendError, BlobNote, COMMIT_EVERY_MILLIS, Elapsed, FinishError, FinishStats, OddLineProblem,
    Seq,
};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// So many bytes are committed before their time, so that they do not pile up.
const COMMIT_BYTES: usize = 16 * 1024 * 1024;

/// The time between two tries to write again.
const RETRY_MILLIS: u64 = 1_000;

/// How often writing is tried again once the recorder is to stop.
const LAST_TRIES: u32 = 5;

/// The writer gave up.
#[derive(Debug, Error)]
#[non_exhaustive]
pub(crate) enum WriteError {
    /// The file cannot take another record, ever.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The file cannot be brought into its final form.
    #[error(transparent)]
    Finish(#[from] FinishError),
    /// The disk failed until the end.
    #[error("cannot write: {0}")]
    Failing(String),
}

/// How the writer ended.
pub(crate) type Finished = Result<FinishStats, WriteError>;

/// The writer.
pub(crate) struct Writer {
    sink: Option<Box<dyn Sink>>,
    shelf: Box<dyn Shelf>,
    queue: Arc<Queue>,
    health: Arc<Health>,
    clock: Clock,
    /// What is appended and not yet durable, in order: it is appended again if the disk fails.
    batch: Vec<Queued>,
    batch_bytes: usize,
    batch_since: Option<Elapsed>,
    /// The number of the batch's first record.
    batch_seq: Seq,
}

impl Writer {
    /// Makes a writer; nothing is written before [`Self::run`].
    pub(crate) fn new(
        sink: Box<dyn Sink>,
        shelf: Box<dyn Shelf>,
        queue: Arc<Queue>,
        health: Arc<Health>,
        clock: Clock,
    ) -> Self {
        let batch_seq = sink.next_seq();
        Self {
            sink: Some(sink),
            shelf,
            queue,
            health,
            clock,
            batch: Vec::new(),
            batch_bytes: 0,
            batch_since: None,
            batch_seq,
        }
    }

    /// Writes until the queue is closed and empty, then finishes the file.
    pub(crate) fn run(mut self) -> Finished {
        let result = self.write_all();
        // Nobody may wait for room that will never come.
        self.queue.close();
        result?;
        match self.sink.take() {
            Some(sink) => Ok(sink.finish()?),
            None => Err(WriteError::Failing("the file is not open".into())),
        }
    }

    fn write_all(&mut self) -> Result<(), WriteError> {
        loop {
            match self.queue.take(self.patience()) {
                Taken::Some(entries) => {
                    for queued in entries {
                        self.write(queued)?;
                        self.commit_if_due()?;
                    }
                }
                Taken::Nothing => {}
                Taken::Closed => return self.commit(),
            }
            self.health.set_queued(self.queue.held_bytes());
            self.commit_if_due()?;
        }
    }

    fn patience(&self) -> Duration {
        let full = Duration::from_millis(COMMIT_EVERY_MILLIS);
        let Some(since) = self.batch_since else {
            return full;
        };
        let waited = self.clock.elapsed().micros.saturating_sub(since.micros);
        full.saturating_sub(Duration::from_micros(waited))
    }

    fn commit_if_due(&mut self) -> Result<(), WriteError> {
        if self.batch_since.is_none() {
            return Ok(());
        }
        if self.batch_bytes >= COMMIT_BYTES || self.patience().is_zero() {
            return self.commit();
        }
        Ok(())
    }

    fn write(&mut self, queued: Queued) -> Result<(), WriteError> {
        if self.batch.is_empty() {
            self.batch_since = Some(self.clock.elapsed());
            self.health.set_pending(Some(queued.since));
        }
        let result = match &mut self.sink {
            Some(sink) => append(sink.as_mut(), &queued.entry),
            None => Ok(()),
        };
        self.batch_bytes = self.batch_bytes.saturating_add(queued.entry.bytes());
        self.batch.push(queued);
        match result {
            Ok(()) => {}
            Err(error) => self.recover(error)?,
        }
        if let Some(queued) = self.batch.last() {
            self.health.appended(&queued.entry);
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), WriteError> {
        loop {
            let Some(sink) = &mut self.sink else {
                return Err(WriteError::Failing("the file is not open".into()));
            };
            match sink.commit() {
                Ok(stats) => {
                    self.batch_seq = sink.next_seq();
                    self.health.committed(&stats);
                    break;
                }
                Err(error) => self.recover(error)?,
            }
        }
        self.batch.clear();
        self.batch_bytes = 0;
        self.batch_since = None;
        self.health.set_pending(None);
        Ok(())
    }

    /// The file failed: opens it again and appends the batch once more, for as long as it takes.
    fn recover(&mut self, error: AppendError) -> Result<(), WriteError> {
        if !is_disk(&error) {
            return Err(error.into());
        }
        let mut words = error.to_string();
        tracing::error!(error = %words, "cannot write; trying again");
        self.health.set_write_trouble(&words);
        let mut tries_after_close = 0;
        loop {
            // The old handle goes first: it holds the lock, and a database does not go on after a
            // failed write.
            self.sink = None;
            match self.try_again() {
                Ok(()) => break,
                Err(again) => words = again,
            }
            if self.queue.is_closed() {
                tries_after_close += 1;
                if tries_after_close > LAST_TRIES {
                    return Err(WriteError::Failing(words));
                }
            }
            std::thread::sleep(Duration::from_millis(RETRY_MILLIS));
        }
        tracing::info!("writing again");
        self.health.set_write_trouble("");
        Ok(())
    }

    fn try_again(&mut self) -> Result<(), String> {
        let mut sink = self.shelf.reopen().map_err(|error| error.to_string())?;
        // A commit that reported a failure may have happened all the same.
        let done = sink.next_seq().0.saturating_sub(self.batch_seq.0);
        let done = usize::try_from(done).unwrap_or(usize::MAX);
        for queued in self.batch.iter().skip(done) {
            append(sink.as_mut(), &queued.entry).map_err(|error| error.to_string())?;
        }
        sink.commit().map_err(|error| error.to_string())?;
        self.sink = Some(sink);
        Ok(())
    }
}

/// Appends an entry; one that the format refuses for what it is becomes a note of its bytes.
fn append(sink: &mut dyn Sink, entry: &Entry) -> Result<(), AppendError> {
    let error = match sink.append(entry) {
        Ok(()) => return Ok(()),
        Err(error) if is_about_entry(&error) => error,
        Err(error) => return Err(error),
    };
    tracing::error!(%error, "a record is kept as a line");
    let Entry::Event(event) = entry else {
        return Err(error);
    };
    let bytes = event.body.as_deref().unwrap_or_default();
    sink.append(&Entry::Blob {
        stamp: event.stamp,
        note: BlobNote::OddLine {
            connection: event.connection,
            problem: OddLineProblem::Unparsable,
            len: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        },
        bytes: bytes.to_vec(),
    })
}

fn is_about_entry(error: &AppendError) -> bool {
    matches!(
        error,
        AppendError::BodyTooLong { .. }
            | AppendError::NameTooLong { .. }
            | AppendError::UnknownResource { .. }
            | AppendError::NoLastBody
    )
}

fn is_disk(error: &AppendError) -> bool {
    matches!(error, AppendError::Storage { .. } | AppendError::Read(_))
}
