//! The writer's loop: append, commit every quarter of a second, and begin again from the last commit when the
//! disk fails.
//!
//! Invariants:
//! * A batch stays in memory until its commit succeeded. After a failure the file is opened anew, its number
//!   of records says what became durable, and the rest of the batch is appended again: nothing is lost, and
//!   nothing is written twice.
//! * The old handle is dropped before a new one is opened: it holds the lock.
//! * The gate decides before each append, so that a note about what is left out is exactly at its place.
//! * The loop ends only when the queue is closed and empty, or when the file cannot be written any more.
//! * A complete file is handed over before it is packed: the other side may say that there is no time.

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

/// So many bytes are committed before their time, so that they do not pile up.
const COMMIT_BYTES: usize = 16 * 1024 * 1024;

/// The time between two tries to write again.
const RETRY_MILLIS: u64 = 1_000;

/// How long writing is tried again before the recorder gives up: with what its end takes, it is gone 10 s
/// after the disk became full, and its caller knows. Committed data can be resumed.
const PATIENCE_MICROS: u64 = 7_000_000;

/// Why a file is not packed when the other side declines it.
const NO_TIME: &str = "there was no time to pack it";

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
    /// Shutdown took longer than it may.
    #[error("shutdown timed out; committed data is readable")]
    Late,
    /// The disk failed until the end.
    #[error("cannot write: {0}")]
    Failing(String),
}

/// What the writer leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenReel {
    /// The file's length, in bytes.
    pub(crate) file_bytes: u64,
    /// How many records the reel holds.
    pub(crate) records: u64,
    /// Why the file is complete and finished, but not packed, if so.
    pub(crate) unpacked: Option<String>,
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
    /// Decides what is no longer written, if the file's size is limited.
    gate: Option<Gate>,
    /// What is lost on purpose.
    loss: Option<SeededLoss>,
    /// What is appended and not yet durable, in order: it is appended again if the disk fails.
    batch: Vec<Queued>,
    batch_bytes: usize,
    batch_since: Option<Elapsed>,
    /// The number of the batch's first record.
    batch_seq: Seq,
}

impl ReelWriter {
    /// Makes a writer; nothing is written before [`Self::run`].
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

    /// Loses some of what comes, for those who test whether that would be noticed.
    pub(crate) fn losing(self, loss: Option<SeededLoss>) -> Self {
        Self { loss, ..self }
    }

    /// Writes until the queue is closed and empty, then finishes the file.
    pub(crate) fn run(mut self) -> Finished {
        let result = self.write_all();
        // Nobody may wait for room that will never come.
        self.queue.close();
        result?;
        let Some(sink) = self.sink.take() else {
            return Err(WriteError::Failing("the file is not open".into()));
        };
        let whole = sink.end()?;
        let stats = whole.stats();
        let unpacked = |stats: FinishStats, why: String| WrittenReel {
            file_bytes: stats.file_bytes,
            records: stats.records,
            unpacked: Some(why),
        };
        if !self.handover.ask(stats) {
            return Ok(unpacked(stats, NO_TIME.to_owned()));
        }
        match whole.pack() {
            Ok(stats) => Ok(WrittenReel {
                file_bytes: stats.file_bytes,
                records: stats.records,
                unpacked: None,
            }),
            // The file stands as it was recorded: complete, and larger than it need be.
            Err(error @ FinishError::Copy { .. }) => {
                let words = error.to_string();
                tracing::warn!(error = words, "the reel is finished, but not packed");
                Ok(unpacked(stats, words))
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

    /// Writes an entry, unless what it is about is left out.
    fn admit(&mut self, queued: Queued) -> Result<(), WriteError> {
        let Some(gate) = &mut self.gate else {
            return self.write(queued);
        };
        let since = queued.since;
        let said = gate.before(&queued.entry);
        let admission = gate.admit(&queued.entry);
        for entry in said {
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

    /// Has the file forget the objects of what is left out since the last time.
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

    /// The batch is in the file. Only now is it counted, so that the reports of a run whose disk is full
    /// tell what the reel holds.
    fn committed(&mut self, stats: &CommitStats) {
        for queued in self.batch.drain(..) {
            self.health.appended(&queued.entry);
        }
        self.health.committed(stats);
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

    /// The file failed: opens it again and appends the batch once more, until the patience is over.
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

    /// Waits for another try, unless the file has failed for too long.
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
        // The old handle goes first: it holds the lock, and a database does not continue after a
        // failed write.
        self.sink = None;
        let mut sink = self
            .shelf
            .reopen()
            .map_err(|error| RetryFailure::Failing(error.to_string()))?;
        // A commit that reported a failure may have happened all the same.
        let done = sink.next_seq().0.saturating_sub(self.batch_seq.0);
        // More than the batch holds: all of it.
        let done = usize::try_from(done).unwrap_or(usize::MAX);
        for queued in self.batch.iter().skip(done) {
            append(sink.as_mut(), &queued.entry)?;
        }
        let stats = sink.commit()?;
        if let Some(gate) = &mut self.gate {
            // It was opened anew and knows all objects again.
            gate.forget_again();
            for resource in gate.take_forgotten() {
                sink.forget_objects(resource);
            }
        }
        self.sink = Some(sink);
        self.committed(&stats);
        Ok(())
    }

    /// The file may not become larger: what is not durable yet is left out, and the reel says so.
    fn give_way(&mut self) -> Result<(), WriteError> {
        let began = self.clock.elapsed();
        loop {
            let Some(gate) = &mut self.gate else {
                return Err(WriteError::Failing("the file may not grow".into()));
            };
            let first = self.batch.first().map(|queued| queued.entry.stamp());
            let said = gate.refused(first.unwrap_or_else(|| self.clock.stamp()));
            let is_last = said.is_empty();
            let since = self.clock.elapsed();
            let kept = std::mem::take(&mut self.batch);
            let mut batch: Vec<Queued> = said
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
                    // Nothing is left that could be left out: the file stays as it is.
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

/// Why another try failed.
enum RetryFailure {
    /// The file may not become larger.
    OverBound,
    /// Something that may pass.
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

/// Appends an entry; one that the format refuses for what it is becomes a note of its bytes.
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

/// The writer's end.
#[derive(Debug)]
pub(crate) struct WriterHandover {
    whole: oneshot::Sender<FinishStats>,
    pack: oneshot::Receiver<bool>,
}

/// The recorder's end.
#[derive(Debug)]
pub(crate) struct HandoverTaker {
    /// What the file is once it is whole.
    pub(crate) whole: oneshot::Receiver<FinishStats>,
    /// Whether to pack it.
    pub(crate) pack: oneshot::Sender<bool>,
}

/// Makes both ends.
pub(crate) fn handover() -> (WriterHandover, HandoverTaker) {
    let (whole_sent, whole) = oneshot::channel();
    let (pack, pack_heard) = oneshot::channel();
    let handover = WriterHandover {
        whole: whole_sent,
        pack: pack_heard,
    };
    (handover, HandoverTaker { whole, pack })
}

impl WriterHandover {
    /// Reports that the file is whole, and waits for the decision whether to pack it.
    pub(super) fn ask(self, stats: FinishStats) -> bool {
        // The receiver that could refuse is gone.
        self.whole.send(stats).is_err() || self.pack.blocking_recv().unwrap_or(true)
    }
}

/// Loses every event of a number, counted among those that came live.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeededLoss {
    every: NonZeroU64,
    seen: u64,
}

impl SeededLoss {
    /// Begins to count.
    pub(crate) const fn new(every: NonZeroU64) -> Self {
        Self { every, seen: 0 }
    }

    /// Returns whether an entry is one to lose.
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
