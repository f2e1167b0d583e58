//! The interface of the writer to a file, and how a file is opened again after a failure.

use crate::queue::QueueEntry;
use kubereel_format::{
    AppendError, Appender, Bounds, CommitStats, FinishError, FinishStats, ObjectMemory, OpenError,
    ResourceId, Sealed, Seq, Usage,
};
use std::path::PathBuf;

/// A file to which records are appended.
pub(crate) trait Sink: Send {
    /// Returns the number of the next record.
    fn next_seq(&self) -> Seq;
    /// Appends a record, which is durable only after [`Self::commit`].
    fn append(&mut self, entry: &QueueEntry) -> Result<(), AppendError>;
    /// Makes everything appended durable.
    fn commit(&mut self) -> Result<CommitStats, AppendError>;
    /// Returns the fill level of the file.
    fn usage(&mut self) -> Usage;
    /// Returns the number of bytes that were appended so far.
    fn appended_bytes(&self) -> u64;
    /// Returns the memory of each resource's objects.
    fn object_memory(&self) -> Vec<ObjectMemory>;
    /// Forgets the objects of a resource that is no longer recorded.
    fn forget_objects(&mut self, resource: ResourceId);
    /// Ends the recording in order; the file is complete afterwards.
    fn end(self: Box<Self>) -> Result<Box<dyn WholeFile>, AppendError>;
}

/// A complete file that is not packed yet.
pub(crate) trait WholeFile {
    /// Returns the file as it is.
    fn stats(&self) -> FinishStats;
    /// Checks that the file was not deleted meanwhile.
    fn check_kept(&self) -> Result<(), FinishError>;
    /// Packs the file.
    fn pack(self: Box<Self>) -> Result<FinishStats, FinishError>;
}

impl WholeFile for Sealed {
    fn stats(&self) -> FinishStats {
        Self::stats(self)
    }

    fn check_kept(&self) -> Result<(), FinishError> {
        Self::check_kept(self)
    }

    fn pack(self: Box<Self>) -> Result<FinishStats, FinishError> {
        Self::pack(*self)
    }
}

/// Where a file is opened again after a failure.
pub(crate) trait ReelShelf: Send {
    /// Opens the file behind its last durable record.
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

/// A reel at a path, with its limits.
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
