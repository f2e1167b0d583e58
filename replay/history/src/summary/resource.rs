//! Owns what a summary says of one resource: its events, objects, coverage and gaps. Refuses the
//! judgement of a moment: [`crate::Certainty`] is that.

use super::discovery::Named;
use super::written::{rfc3339, secs_between};
use crate::coverage::{Coverage, Hole};
use crate::proof::UnseenSummary;
use crate::timeline::Timeline;
use kubereel_format::{EventType, RecordedAt, ResourceInfo};
use serde::Serialize;
use std::collections::BTreeSet;

/// What is known of one resource.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ResourceSummary {
    /// `plural.group`, or the plural alone for the core group.
    pub resource: String,
    /// The version that was recorded.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// Whether the cluster did not have it yet when the recording began; `None` if that is not known.
    pub appeared_later: Option<bool>,
    /// All events.
    pub events: u64,
    /// Objects that appeared, or were there at the start.
    pub added: u64,
    /// Changes.
    pub modified: u64,
    /// Deletions.
    pub deleted: u64,
    /// Objects ever seen.
    pub objects_seen: u64,
    /// Objects at the end.
    pub objects_live: u64,
    /// Whether every change from its first list to its last moment is in the reel.
    pub whole: bool,
    /// Whether it comes from another tool's recording, which does not tell what it leaves out.
    pub imported: bool,
    /// The spans in which every change is in the reel.
    pub covered: Vec<CoveredSummary>,
    /// The spans in which changes may be missing.
    pub gaps: Vec<GapSummary>,
    /// The gaps of which every change was read back from the server's history.
    pub reconstructed: Vec<GapSummary>,
    /// The gaps of which the revisions of the cluster's storage prove that nothing was lost.
    pub proven: Vec<GapSummary>,
    /// The other times in which changes may be missing, and why.
    pub unseen: Vec<UnseenSummary>,
    /// How long no watch of it ran; what happened then was received later.
    pub blind_secs: f64,
}

/// A span in which every change is in the reel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CoveredSummary {
    /// When the list that began it was received.
    #[serde(serialize_with = "rfc3339")]
    pub from: RecordedAt,
    /// When the last event or bookmark was received.
    #[serde(serialize_with = "rfc3339")]
    pub to: RecordedAt,
    /// The list's resourceVersion.
    pub from_rv: String,
    /// The last one that is proven.
    pub to_rv: String,
}

/// A span in which changes may be missing.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GapSummary {
    /// When the last thing before it was received.
    #[serde(serialize_with = "rfc3339")]
    pub from: RecordedAt,
    /// When the list that ended it was received.
    #[serde(serialize_with = "rfc3339")]
    pub to: RecordedAt,
    /// The time between.
    pub span_secs: f64,
    /// The last resourceVersion before it, if there was one.
    pub from_rv: Option<String>,
    /// The resourceVersion of the list that ended it.
    pub to_rv: String,
    /// Why it opened.
    pub cause: String,
    /// An upper bound of the missing changes, if one is known.
    pub missing_at_most: Option<u64>,
    /// The differences that the list showed.
    pub differences: u64,
    /// What the server's own history told of it: `reconstructed`, `partly reconstructed` or `lost`;
    /// `None` if it was not asked.
    pub verdict: Option<String>,
    /// How many events were read back for it.
    pub read_back: u64,
    /// How many revisions lie in it at which nothing was recorded; `None` if they say nothing of the
    /// resource.
    pub unexplained: Option<u64>,
}

impl Timeline {
    pub(super) fn sum_up(
        &self,
        info: &ResourceInfo,
        first: Option<&BTreeSet<Named>>,
    ) -> ResourceSummary {
        let coverage = self.coverage(info.id);
        let objects = self.objects_of(info.id);
        let (mut added, mut modified, mut deleted, mut live) = (0u64, 0u64, 0u64, 0u64);
        for &object in objects {
            for &seq in self.reel().versions(object) {
                match self.reel().kind_of(seq) {
                    Some(EventType::Added) => added += 1,
                    Some(EventType::Modified) => modified += 1,
                    Some(EventType::Deleted) => deleted += 1,
                    None => {}
                }
            }
            live += u64::from(self.is_alive(object));
        }
        ResourceSummary {
            resource: info.qualified(),
            version: info.version.clone(),
            kind: info.kind.clone(),
            namespaced: info.namespaced,
            appeared_later: first
                .map(|names| !names.contains(&(info.group.clone(), info.plural.clone()))),
            events: added + modified + deleted,
            added,
            modified,
            deleted,
            objects_seen: u64::try_from(objects.len()).unwrap_or(u64::MAX),
            objects_live: live,
            whole: coverage.is_some_and(|coverage| !coverage.spans().is_empty())
                && self.is_fully_observed(info.id),
            imported: coverage.is_some_and(|coverage| coverage.imported().is_some()),
            covered: coverage.map_or_else(Vec::new, covered),
            gaps: coverage.map_or_else(Vec::new, |coverage| {
                coverage.holes().iter().map(GapSummary::of).collect()
            }),
            reconstructed: coverage.map_or_else(Vec::new, |coverage| {
                coverage
                    .reconstructed()
                    .iter()
                    .map(GapSummary::of)
                    .collect()
            }),
            proven: coverage.map_or_else(Vec::new, |coverage| {
                coverage.proven().iter().map(GapSummary::of).collect()
            }),
            unseen: UnseenSummary::beside_gaps(self.unobserved(info.id)),
            blind_secs: coverage.map_or(0.0, |coverage| self.blind_secs(coverage)),
        }
    }

    fn blind_secs(&self, coverage: &Coverage) -> f64 {
        let blind = coverage.blind().iter();
        let secs = blind.map(|blind| secs_between(blind.from, blind.to.unwrap_or(self.end())));
        // The sum of nothing is negative zero.
        secs.sum::<f64>().abs()
    }
}

fn covered(coverage: &Coverage) -> Vec<CoveredSummary> {
    coverage
        .spans()
        .iter()
        .map(|span| CoveredSummary {
            from: span.covered.from_time,
            to: span.covered.to_time,
            from_rv: span.covered.from_rv.clone(),
            to_rv: span.covered.to_rv.clone(),
        })
        .collect()
}

impl GapSummary {
    /// Tells of a gap.
    pub(crate) fn of(hole: &Hole) -> Self {
        let gap = &hole.gap;
        let judged = hole.judged.as_ref();
        Self {
            from: gap.from_time,
            to: gap.to_time,
            span_secs: secs_between(gap.from_time, gap.to_time),
            from_rv: gap.from_rv.clone(),
            to_rv: gap.to_rv.clone(),
            cause: gap.cause.as_str().to_owned(),
            missing_at_most: hole.missing_at_most(),
            differences: gap.differences,
            verdict: judged.map(|judged| judged.verdict.as_str().to_owned()),
            read_back: judged.map_or(0, |judged| judged.reconstructed),
            unexplained: hole.unexplained,
        }
    }
}
