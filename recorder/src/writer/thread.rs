//! The writer's loop: append, commit every quarter of a second, and start again from the last
//! commit if the disk fails.
//!
//! Invariants:
//! * A batch stays in memory until its commit succeeded. After a failure the file is opened again;
//!   its number of records shows what became durable, and the rest of the batch is appended again.
//!   Nothing is lost and nothing is written twice.
//! * The old handle is dropped before the file is opened again: it has the lock.
//! * The gate decides before each append, so that the note about an exclusion is exactly at its
//!   place.
//! * The loop ends only when the queue is closed and empty, or when the file cannot be written any
//!   more.
//! * A complete file is offered before it is packed: the recorder may decline for lack of time.

use crate::budget::{Admission, Gate};
use crate::clock::Clock;
use crate::health::Health;
use crate::number::len64;
use crate::queue::{Queue, QueueEntry, QueueTake, Queued};
use crate::writer::sink::{ReelShelf, Sink};
use kubereel_format::{
    AppendError, BlobNote, COMMIT_EVERY_MILLIS, CommitStats, Elapsed, Evidence, FinishError,
    FinishStats, Note, OddLineProblem, Seq,
};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::sync::oneshot;

/// The bytes after which a commit is early, so that the batch stays small.
const COMMIT_BYTES: usize = 16 * 1024 * 1024;

/// The delay before another attempt to write.
const RETRY_MILLIS: u64 = 1_000;

/// How long writing is retried before the recorder gives up. With the time for the end, the
/// recorder exits 10 s after the disk became full, and its caller is informed. Committed data can
/// be resumed.
const PATIENCE_MICROS: u64 = 7_000_000;

/// Why a file is not packed if the recorder declines.
const NO_TIME: &str = "there was no time to pack it";

/// The trouble of a reel without a name, which nothing can end.
const DELETED: &str = "the reel was deleted: nothing that is recorded will be kept";

/// Why the writer gave up.
#[derive(Debug, Error)]
#[non_exhaustive]
pub(crate) enum WriteError {
    /// The file can never take another record.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The file cannot be packed.
    #[error(transparent)]
    Finish(#[from] FinishError),
    /// Shutdown took longer than it may.
    #[error("shutdown timed out; committed data is readable")]
    Late,
    /// The disk failed until the end.
    #[error("cannot write: {0}")]
    Failing(String),
}

/// The result of the writer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenReel {
    /// The file's length, in bytes.
    pub(crate) file_bytes: u64,
    /// The number of records in the reel.
    pub(crate) records: u64,
    /// Why the finished file is not packed, if it is not.
    pub(crate) unpacked: Option<String>,
    /// Whether the file no longer has its name.
    pub(crate) is_moved: bool,
}

/// How the writer ended.
pub(crate) type Finished = Result<WrittenReel, WriteError>;

pub(crate) struct ReelWriter {
    handover: WriterHandover,
    sink: Option<Box<dyn Sink>>,
    shelf: Box<dyn ReelShelf>,
    queue: Arc<Queue>,
    health: Arc<Health>,
    clock: Clock,
    /// Decides which entries are no longer written, if the file's size is limited.
    gate: Option<Gate>,
    /// The intentional loss of tests.
    loss: Option<SeededLoss>,
    /// The appended entries that are not durable yet, in order: they are appended again if the disk
    /// fails.
    batch: Vec<Queued>,
    batch_bytes: usize,
    batch_since: Option<Elapsed>,
    /// The number of the batch's first record.
    batch_seq: Seq,
}

impl ReelWriter {
    /// Creates a writer; [`Self::run`] begins to write.
    pub(crate) fn new(
        sink: Box<dyn Sink>,
        shelf: Box<dyn ReelShelf>,
        queue: Arc<Queue>,
        health: Arc<Health>,
        clock: Clock,
        (gate, handover): (Option<Gate>, WriterHandover),
    ) -> Self {
        let batch_seq = sink.next_seq();
        Self {
            handover,
            sink: Some(sink),
            shelf,
            queue,
            health,
            clock,
            gate,
            loss: None,
            batch: Vec::new(),
            batch_bytes: 0,
            batch_since: None,
            batch_seq,
        }
    }

    /// Drops some events on purpose, for tests of verification.
    pub(crate) fn losing(self, loss: Option<SeededLoss>) -> Self {
        Self { loss, ..self }
    }

    /// Writes until the queue is closed and empty, then finishes the file.
    pub(crate) fn run(mut self) -> Finished {
        let result = self.write_all();
        // After this no entry is ever written: tasks must not wait for room.
        self.queue.close();
        result?;
        let Some(sink) = self.sink.take() else {
            return Err(WriteError::Failing("the file is not open".into()));
        };
        let whole = sink.end()?;
        whole.check_kept()?;
        let stats = whole.stats();
        let unpacked = |stats: FinishStats, why: String| WrittenReel {
            file_bytes: stats.file_bytes,
            records: stats.records,
            unpacked: Some(why),
            is_moved: false,
        };
        if !self.handover.ask(stats) {
            return Ok(unpacked(stats, NO_TIME.to_owned()));
        }
        match whole.pack() {
            Ok(stats) => Ok(WrittenReel {
                file_bytes: stats.file_bytes,
                records: stats.records,
                unpacked: None,
                is_moved: false,
            }),
            // The file is complete as it was recorded, but larger than it could be.
            Err(error @ (FinishError::Copy { .. } | FinishError::Moved { .. })) => {
                let words = error.to_string();
                tracing::warn!(error = words, "the reel is finished, but not packed");
                Ok(WrittenReel {
                    is_moved: matches!(error, FinishError::Moved { .. }),
                    ..unpacked(stats, words)
                })
            }
            Err(error) => Err(error.into()),
        }
    }

    fn write_all(&mut self) -> Result<(), WriteError> {
        loop {
            match self.queue.take(self.patience()) {
                QueueTake::Some(entries) => {
                    for queued in entries {
                        if self
                            .loss
                            .as_mut()
                            .is_some_and(|loss| loss.takes(&queued.entry))
                        {
                            continue;
                        }
                        self.admit(queued)?;
                        self.commit_if_due()?;
                    }
                }
                QueueTake::Nothing => {}
                QueueTake::Closed => return self.commit(),
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
        let is_due = self.gate.as_ref().is_some_and(Gate::is_commit_due);
        if is_due || self.batch_bytes >= COMMIT_BYTES || self.patience().is_zero() {
            return self.commit();
        }
        Ok(())
    }

    /// Writes an entry, unless its subject is left out.
    fn admit(&mut self, queued: Queued) -> Result<(), WriteError> {
        let Some(gate) = &mut self.gate else {
            return self.write(queued);
        };
        let since = queued.since;
        let notes = gate.before(&queued.entry);
        let admission = gate.admit(&queued.entry);
        for entry in notes {
            self.write(self.queue.unqueued(entry, since))?;
        }
        match admission {
            Admission::Pass => self.write(queued),
            Admission::Instead(entry) => self.write(self.queue.unqueued(*entry, since)),
            Admission::Drop => {
                self.health.count_budget_dropped();
                Ok(())
            }
        }?;
        self.forget();
        Ok(())
    }

    /// Makes the file forget the objects of resources that were left out since the last call.
    fn forget(&mut self) {
        let (Some(gate), Some(sink)) = (&mut self.gate, &mut self.sink) else {
            return;
        };
        for resource in gate.take_forgotten() {
            sink.forget_objects(resource);
        }
    }

    fn write(&mut self, queued: Queued) -> Result<(), WriteError> {
        if self.batch.is_empty() {
            self.batch_since = Some(self.clock.elapsed());
            self.health.set_pending(Some(queued.since));
        }
        let result = match &mut self.sink {
            Some(sink) => {
                let before = sink.appended_bytes();
                let result = append(sink.as_mut(), &queued.entry);
                if let Some(gate) = &mut self.gate {
                    let bytes = sink.appended_bytes().saturating_sub(before);
                    gate.appended(&queued.entry, bytes);
                }
                result
            }
            None => Ok(()),
        };
        self.batch_bytes = self.batch_bytes.saturating_add(queued.entry.bytes());
        self.batch.push(queued);
        match result {
            Ok(()) => {}
            Err(error) => self.recover(error)?,
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
                    self.committed(&stats);
                    return Ok(());
                }
                Err(error) => self.recover(error)?,
            }
        }
    }

    /// The batch is durable. Counters change only now, so that the reports of a run with a full
    /// disk match the reel.
    fn committed(&mut self, stats: &CommitStats) {
        for queued in self.batch.drain(..) {
            self.health.appended(&queued.entry);
        }
        self.health.committed(stats);
        if stats.is_deleted && self.health.status().write_trouble != DELETED {
            tracing::error!("{DELETED}");
            self.health.set_write_trouble(DELETED);
        }
        if let Some(sink) = &mut self.sink {
            self.batch_seq = sink.next_seq();
            if let Some(gate) = &mut self.gate {
                gate.committed(sink.usage(), &sink.object_memory());
            }
        }
        self.batch_bytes = 0;
        self.batch_since = None;
        self.health.set_pending(None);
    }

    /// The file failed: opens it again and appends the batch once more, until the patience is
    /// exhausted.
    fn recover(&mut self, error: AppendError) -> Result<(), WriteError> {
        if matches!(error, AppendError::OverBound { .. }) {
            return self.give_way();
        }
        if !is_disk(&error) {
            return Err(error.into());
        }
        let mut words = error.to_string();
        tracing::error!(error = %words, "cannot write; trying again");
        self.health.set_write_trouble(&words);
        let began = self.clock.elapsed();
        loop {
            match self.try_again() {
                Ok(()) => break,
                Err(RetryFailure::OverBound) => return self.give_way(),
                Err(RetryFailure::Failing(again)) => words = again,
            }
            self.wait_since(began, &words)?;
        }
        tracing::info!("writing again");
        self.health.set_write_trouble("");
        let micros = self.clock.elapsed().micros.saturating_sub(began.micros);
        let secs = micros.div_ceil(1_000_000);
        self.write(self.mark(format!(
            "the reel could not be written for {secs} s: {words}"
        )))
    }

    /// Waits before another attempt, unless the file has failed for too long.
    fn wait_since(&self, began: Elapsed, words: &str) -> Result<(), WriteError> {
        let micros = self.clock.elapsed().micros.saturating_sub(began.micros);
        if micros >= PATIENCE_MICROS {
            return Err(WriteError::Failing(words.to_owned()));
        }
        std::thread::sleep(Duration::from_millis(RETRY_MILLIS));
        Ok(())
    }

    fn mark(&self, text: String) -> Queued {
        let stamp = self.clock.stamp();
        let note = Note::Mark { text };
        self.queue
            .unqueued(QueueEntry::Note { stamp, note }, stamp.elapsed)
    }

    fn try_again(&mut self) -> Result<(), RetryFailure> {
        // The old handle is dropped first: it has the lock, and a database does not continue after
        // a failed write.
        self.sink = None;
        let mut sink = self
            .shelf
            .reopen()
            .map_err(|error| RetryFailure::Failing(error.to_string()))?;
        // A commit that reported a failure may have succeeded all the same.
        let done = sink.next_seq().0.saturating_sub(self.batch_seq.0);
        // More than the batch has: all of it is durable.
        let done = usize::try_from(done).unwrap_or(usize::MAX);
        for queued in self.batch.iter().skip(done) {
            append(sink.as_mut(), &queued.entry)?;
        }
        let stats = sink.commit()?;
        if let Some(gate) = &mut self.gate {
            // The new appender has read all objects again.
            gate.forget_again();
            for resource in gate.take_forgotten() {
                sink.forget_objects(resource);
            }
        }
        self.sink = Some(sink);
        self.committed(&stats);
        Ok(())
    }

    /// The file may not grow: what is not durable yet is left out, and the reel notes it.
    fn give_way(&mut self) -> Result<(), WriteError> {
        let began = self.clock.elapsed();
        loop {
            let Some(gate) = &mut self.gate else {
                return Err(WriteError::Failing("the file may not grow".into()));
            };
            let first = self.batch.first().map(|queued| queued.entry.stamp());
            let notes = gate.refused(first.unwrap_or_else(|| self.clock.stamp()));
            let is_last = notes.is_empty();
            let since = self.clock.elapsed();
            let kept = std::mem::take(&mut self.batch);
            let mut batch: Vec<Queued> = notes
                .into_iter()
                .map(|entry| self.queue.unqueued(entry, since))
                .collect();
            if !is_last {
                batch.extend(kept.into_iter().filter(|queued| {
                    let is_kept = matches!(gate.admit(&queued.entry), Admission::Pass);
                    if !is_kept {
                        self.health.count_budget_dropped();
                    }
                    is_kept
                }));
            }
            self.batch = batch;
            loop {
                match self.try_again() {
                    Ok(()) => return Ok(()),
                    // Nothing more can be left out: the file stays as it is.
                    Err(RetryFailure::OverBound) if is_last => {
                        return Err(WriteError::Failing("the reel is full".into()));
                    }
                    Err(RetryFailure::OverBound) => break,
                    Err(RetryFailure::Failing(words)) => {
                        self.health.set_write_trouble(&words);
                        self.wait_since(began, &words)?;
                    }
                }
            }
        }
    }
}

/// Why another attempt failed.
enum RetryFailure {
    /// The file may not grow.
    OverBound,
    /// A failure that may be temporary.
    Failing(String),
}

impl From<AppendError> for RetryFailure {
    fn from(error: AppendError) -> Self {
        match error {
            AppendError::OverBound { .. } => Self::OverBound,
            other => Self::Failing(other.to_string()),
        }
    }
}

/// Appends an entry. An entry that the format refuses becomes a note of its bytes.
fn append(sink: &mut dyn Sink, entry: &QueueEntry) -> Result<(), AppendError> {
    let error = match sink.append(entry) {
        Ok(()) => return Ok(()),
        Err(error) if is_about_entry(&error) => error,
        Err(error) => return Err(error),
    };
    let QueueEntry::Event(event) = entry else {
        return Err(error);
    };
    // The deletion of an object that was never written hides nothing; the record keeps its place.
    let problem = if event.body.is_none() {
        OddLineProblem::Truncated
    } else {
        tracing::error!(%error, "a record is kept as a line");
        OddLineProblem::Unparsable
    };
    let bytes = event.body.as_deref().unwrap_or_default();
    sink.append(&QueueEntry::Blob {
        stamp: event.stamp,
        note: BlobNote::OddLine {
            connection: event.connection,
            problem,
            len: len64(bytes.len()),
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

/// The writer's end of the channel.
#[derive(Debug)]
pub(crate) struct WriterHandover {
    whole: oneshot::Sender<FinishStats>,
    pack: oneshot::Receiver<bool>,
}

/// The recorder's end of the channel.
#[derive(Debug)]
pub(crate) struct HandoverTaker {
    /// The result of a complete file.
    pub(crate) whole: oneshot::Receiver<FinishStats>,
    /// Whether to pack it.
    pub(crate) pack: oneshot::Sender<bool>,
}

/// Creates both ends.
pub(crate) fn handover() -> (WriterHandover, HandoverTaker) {
    let (whole_sent, whole) = oneshot::channel();
    let (pack, pack_receiver) = oneshot::channel();
    let handover = WriterHandover {
        whole: whole_sent,
        pack: pack_receiver,
    };
    (handover, HandoverTaker { whole, pack })
}

impl WriterHandover {
    /// Reports that the file is complete, and waits for the decision whether to pack it.
    pub(super) fn ask(self, stats: FinishStats) -> bool {
        // The receiver that could decline is gone.
        self.whole.send(stats).is_err() || self.pack.blocking_recv().unwrap_or(true)
    }
}

/// Drops every n-th live event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeededLoss {
    every: NonZeroU64,
    seen: u64,
}

impl SeededLoss {
    /// Creates one.
    pub(crate) const fn new(every: NonZeroU64) -> Self {
        Self { every, seen: 0 }
    }

    /// Returns whether to drop an entry.
    pub(super) fn takes(&mut self, entry: &QueueEntry) -> bool {
        let QueueEntry::Event(event) = entry else {
            return false;
        };
        if event.evidence != Evidence::Live {
            return false;
        }
        self.seen = self.seen.saturating_add(1);
        self.seen.is_multiple_of(self.every.get())
    }
}
