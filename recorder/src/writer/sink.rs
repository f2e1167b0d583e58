//! What the writer needs of a file, and how it opens one again after a failure.

use crate::queue::QueueEntry;
use kubereel_format::{
    AppendError, Appender, Bounds, CommitStats, FinishError, FinishStats, ObjectMemory, OpenError,
    ResourceId, Sealed, Seq, Usage,
};
use std::path::PathBuf;

/// A file that records are appended to.
pub(crate) trait Sink: Send {
    /// Returns the number of the next record.
    fn next_seq(&self) -> Seq;
    /// Appends; durable only after [`Self::commit`].
    fn append(&mut self, entry: &QueueEntry) -> Result<(), AppendError>;
    /// Makes everything appended durable.
    fn commit(&mut self) -> Result<CommitStats, AppendError>;
    /// Returns how full the file is.
    fn usage(&mut self) -> Usage;
    /// Counts what was appended so far, in bytes.
    fn appended_bytes(&self) -> u64;
    /// Returns what objects take in memory.
    fn object_memory(&self) -> Vec<ObjectMemory>;
    /// Forgets the objects of a resource that is not recorded any more.
    fn forget_objects(&mut self, resource: ResourceId);
    /// Ends the recording in order; the file is whole from here on.
    fn end(self: Box<Self>) -> Result<Box<dyn WholeFile>, AppendError>;
}

/// A file that is whole, and larger than it need be.
pub(crate) trait WholeFile {
    /// Returns what it is as it stands.
    fn stats(&self) -> FinishStats;
    /// Brings it into its final form.
    fn pack(self: Box<Self>) -> Result<FinishStats, FinishError>;
}

impl WholeFile for Sealed {
    fn stats(&self) -> FinishStats {
        Self::stats(self)
    }

    fn pack(self: Box<Self>) -> Result<FinishStats, FinishError> {
        Self::pack(*self)
    }
}

/// Where a file is found again after it failed.
pub(crate) trait ReelShelf: Send {
    /// Opens it to resume after the last durable record.
    fn reopen(&mut self) -> Result<Box<dyn Sink>, OpenError>;
}

impl Sink for Appender {
    fn next_seq(&self) -> Seq {
        Self::next_seq(self)
    }

    fn append(&mut self, entry: &QueueEntry) -> Result<(), AppendError> {
        match entry {
            QueueEntry::Event(event) => self.append_event(&event.event())?,
            QueueEntry::Note { stamp, note } => self.append_note(*stamp, note.clone())?,
            QueueEntry::Blob { stamp, note, bytes } => {
                self.append_blob_note(*stamp, note.clone(), bytes)?
            }
        };
        Ok(())
    }

    fn commit(&mut self) -> Result<CommitStats, AppendError> {
        Self::commit(self)
    }

    fn usage(&mut self) -> Usage {
        Self::usage(self)
    }

    fn appended_bytes(&self) -> u64 {
        Self::appended_bytes(self)
    }

    fn object_memory(&self) -> Vec<ObjectMemory> {
        Self::object_memory(self)
    }

    fn forget_objects(&mut self, resource: ResourceId) {
        Self::forget_objects(self, resource);
    }

    fn end(self: Box<Self>) -> Result<Box<dyn WholeFile>, AppendError> {
        Ok(Box::new(Self::end(*self)?))
    }
}

/// A reel at a path, and what it may take.
#[derive(Debug)]
pub(crate) struct ReelPath {
    pub(crate) path: PathBuf,
    pub(crate) bounds: Bounds,
}

impl ReelShelf for ReelPath {
    fn reopen(&mut self) -> Result<Box<dyn Sink>, OpenError> {
        Ok(Box::new(Appender::resume_within(&self.path, self.bounds)?))
    }
}
