//! The unbroken chain of events of one resource: its end, and where a watch resumes.
//!
//! Invariants:
//! * The end moves to a version that a watch has reached, and never backwards. Only a complete
//!   list sets it anew.
//! * Without a watch cache several deletions can share a version. Those at exactly the version of
//!   the end are remembered: a watch resumes one version earlier, and recognizes them when they
//!   arrive again. With a watch cache no two deletions share a version, and none is remembered.

use crate::known::Uid;
use crate::version::ResourceVersion;
use kubereel_format::RecordedAt;
use std::cmp::Ordering;

/// The end of an unbroken chain of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WatchPosition {
    /// The last version that was received or proven.
    pub(crate) version: ResourceVersion,
    /// When data was last received.
    pub(crate) at: RecordedAt,
}

/// An unbroken chain of events, if the recording ever was complete.
#[derive(Debug)]
pub(super) struct WatchChain {
    /// Whether no two changes share a version.
    is_cached: bool,
    end: Option<WatchPosition>,
    /// The objects deleted at exactly the version of the end.
    deleted_here: Vec<Uid>,
}

impl WatchChain {
    /// Creates the chain that ends where an earlier one ended.
    pub(super) fn new(
        is_cached: bool,
        end: Option<WatchPosition>,
        mut deleted_here: Vec<Uid>,
    ) -> Self {
        if is_cached {
            deleted_here.clear();
        }
        Self {
            is_cached,
            end,
            deleted_here,
        }
    }

    /// Returns whether no two changes share a version.
    pub(super) const fn is_cached(&self) -> bool {
        self.is_cached
    }

    /// Returns the end.
    pub(super) const fn end(&self) -> Option<&WatchPosition> {
        self.end.as_ref()
    }

    /// Returns the version of the end.
    pub(super) fn version(&self) -> Option<&ResourceVersion> {
        self.end.as_ref().map(|end| &end.version)
    }

    /// Returns the version of the end, if it is a number.
    pub(super) fn number(&self) -> Option<u128> {
        self.version()?.number()
    }

    /// Returns the version from which a watch resumes.
    ///
    /// If deletions share the version of the end, some of them may still be missing: the watch
    /// resumes one version earlier.
    pub(super) fn resume_from(&self) -> Option<ResourceVersion> {
        let version = self.version()?;
        if self.deleted_here.is_empty() {
            return Some(version.clone());
        }
        Some(version.previous().unwrap_or_else(|| version.clone()))
    }

    /// Returns the deletions that a watch from [`Self::resume_from`] repeats.
    pub(super) fn deleted_here(&self) -> &[Uid] {
        &self.deleted_here
    }

    /// Returns whether the deletion of an object at that version is remembered.
    pub(super) fn has_deletion(&self, uid: &Uid, version: &ResourceVersion) -> bool {
        self.version() == Some(version) && self.deleted_here.contains(uid)
    }

    /// Compares a version with the end, if both are numbers.
    pub(super) fn order(&self, version: &ResourceVersion) -> Option<Ordering> {
        version.order(self.version()?)
    }

    /// Returns an upper bound of the changes from the end to a version. Where deletions share a
    /// version, the distance between versions bounds nothing.
    pub(super) fn changes_until(&self, version: &ResourceVersion) -> Option<u64> {
        if !self.is_cached {
            return None;
        }
        let distance = version.number()?.checked_sub(self.number()?)?;
        u64::try_from(distance).ok()
    }

    /// Data arrived on a watch. The end of the connection bounds a later gap: everything up to the
    /// last received byte was observed.
    pub(super) const fn received(&mut self, at: RecordedAt) {
        if let Some(end) = &mut self.end {
            end.at = at;
        }
    }

    /// Moves the end to `version`, unless the end is there or beyond.
    pub(super) fn advance(
        &mut self,
        version: ResourceVersion,
        deleted: Option<Uid>,
        at: RecordedAt,
    ) {
        match self.version().map(|end| version.order(end)) {
            // A lower version comes from a connection that is behind, or from a server that breaks
            // the order. The chain up to the end stays proven.
            Some(Some(Ordering::Less)) => return,
            // No watch can resume from a version that is not a number.
            Some(None) if version.number().is_none() && self.number().is_some() => return,
            Some(Some(Ordering::Equal)) => {}
            Some(Some(Ordering::Greater) | None) | None => self.begin(version, at),
        }
        // Only without a watch cache can further deletions with this version be missing.
        if let (Some(uid), false) = (deleted, self.is_cached) {
            self.deleted_here.push(uid);
        }
    }

    /// The state is complete as of `version`: the chain begins there.
    pub(super) fn begin(&mut self, version: ResourceVersion, at: RecordedAt) {
        self.deleted_here.clear();
        self.end = Some(WatchPosition { version, at });
    }

    /// Versions of another cluster follow: no watch repeats the deletions at the end.
    pub(super) fn forget_deletions(&mut self) {
        self.deleted_here.clear();
    }

    /// Takes the end: the chain is over.
    pub(super) fn take_end(&mut self) -> Option<WatchPosition> {
        self.deleted_here.clear();
        self.end.take()
    }

    /// Returns the end, and the deletions that are remembered there.
    pub(super) fn into_parts(self) -> (Option<WatchPosition>, Vec<Uid>) {
        (self.end, self.deleted_here)
    }
}
