//! Owns the verdict on one resource: complete from when to when, or what may be missing. Refuses to
//! judge otherwise than [`Timeline::unobserved`] does: this is the same truth in other words.

use crate::coverage::{Hole, UnobservedReason, UnobservedSpan};
use crate::summary::{GapSummary, rfc3339, rfc3339_or_none};
use crate::timeline::Timeline;
use kubereel_format::{RecordedAt, ResourceInfo};
use serde::Serialize;

/// How complete the recording of a resource is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ResourceState {
    /// Every change was received.
    Complete,
    /// Every change is there; gaps were closed from the server's history, or shown to be empty.
    Reconstructed,
    /// Changes may be missing.
    Incomplete,
    /// Its state was never known.
    NeverListed,
    /// It comes from another tool's recording, which does not tell what it leaves out.
    Imported,
}

impl ResourceState {
    /// Tells whether every change is in the reel.
    pub const fn is_complete(self) -> bool {
        matches!(self, Self::Complete | Self::Reconstructed)
    }
}

/// What is proven of one resource.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ResourceProof {
    /// `plural.group`, or the plural alone for the core group.
    pub resource: String,
    /// The version that was recorded.
    pub version: String,
    /// How complete it is.
    pub state: ResourceState,
    /// The first moment at which its state is known; `None` if there is none.
    #[serde(serialize_with = "rfc3339_or_none")]
    pub from: Option<RecordedAt>,
    /// The last moment that is proven by an event or a bookmark.
    #[serde(serialize_with = "rfc3339_or_none")]
    pub to: Option<RecordedAt>,
    /// The gaps in which changes may be missing.
    pub gaps: Vec<GapSummary>,
    /// The gaps of which every change was read back.
    pub reconstructed: Vec<GapSummary>,
    /// The gaps of which the revisions prove that nothing was lost.
    pub proven: Vec<GapSummary>,
    /// The other times in which changes may be missing, and why.
    pub unseen: Vec<UnseenSummary>,
    /// An upper bound of the changes that may be missing in its gaps; `None` if there is none.
    pub missing_at_most: Option<u64>,
}

/// A time other than a gap in which changes may be missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UnseenSummary {
    /// When it began.
    #[serde(serialize_with = "rfc3339")]
    pub from: RecordedAt,
    /// When it ended.
    #[serde(serialize_with = "rfc3339")]
    pub to: RecordedAt,
    /// Why.
    pub why: String,
}

impl UnseenSummary {
    /// Tells of the spans that are no gaps: those have words of their own.
    pub(crate) fn beside_gaps<'a>(spans: impl Iterator<Item = &'a UnobservedSpan>) -> Vec<Self> {
        spans
            .filter(|span| !matches!(span.reason, UnobservedReason::Gap { .. }))
            .map(|span| Self {
                from: span.from,
                to: span.to,
                why: span.reason.to_string(),
            })
            .collect()
    }
}

impl Timeline {
    /// Judges one resource.
    pub fn resource_proof(&self, info: &ResourceInfo) -> ResourceProof {
        let coverage = self.coverage(info.id);
        let holes = coverage.map_or(&[][..], |coverage| coverage.holes());
        let read_back = coverage.map_or(&[][..], |coverage| coverage.reconstructed());
        let proven = coverage.map_or(&[][..], |coverage| coverage.proven());
        let spans = coverage.map_or(&[][..], |coverage| coverage.spans());
        let is_imported = coverage.is_some_and(|coverage| coverage.imported().is_some());
        let unseen = UnseenSummary::beside_gaps(self.unobserved(info.id));
        let state = if is_imported {
            ResourceState::Imported
        } else if spans.is_empty() {
            // Also what was refused: its state was never known.
            ResourceState::NeverListed
        } else if !self.is_fully_observed(info.id) {
            ResourceState::Incomplete
        } else if !read_back.is_empty() || !proven.is_empty() {
            ResourceState::Reconstructed
        } else {
            ResourceState::Complete
        };
        let told = |holes: &[Hole]| holes.iter().map(GapSummary::of).collect();
        ResourceProof {
            resource: info.qualified(),
            version: info.version.clone(),
            state,
            from: spans.first().map(|span| span.covered.from_time),
            to: spans.last().map(|span| span.covered.to_time),
            gaps: told(holes),
            reconstructed: told(read_back),
            proven: told(proven),
            unseen,
            missing_at_most: holes.iter().try_fold(0u64, |sum, hole| {
                Some(sum.saturating_add(hole.missing_at_most()?))
            }),
        }
    }
}
