//! The summary of one resource: its events, objects, covered spans and gaps. Whether the state at a moment is
//! known is [`crate::Certainty`].

use crate::coverage::{Coverage, CoveredFrom, GapOutcome, RecordedGap, UnobservedSpan};
use crate::tables::count_of;
use crate::timeline::Timeline;
use crate::timetext::{OptionalRfc3339, Rfc3339};
use kubereel_format::{DocumentKind, EventType, Note, RecordedAt, ResourceId, ResourceInfo};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The summary of one resource.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ResourceSummary {
    /// `plural.group`, or the plural alone for the core group.
    pub resource: String,
    /// The version that was recorded.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// Whether its objects are namespaced.
    pub namespaced: bool,
    /// Whether the cluster did not serve it yet when the recording began; null if that is not
    /// known.
    pub appeared_later: Option<bool>,
    /// All events.
    pub events: u64,
    /// Created objects, and objects of the first list.
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
    /// Whether another tool recorded it, so that its completeness is not known.
    pub imported: bool,
    /// The spans in which every change is in the reel.
    pub covered: Vec<CoveredSummary>,
    /// The spans in which changes may be missing.
    pub gaps: Vec<GapSummary>,
    /// Gaps of which every change was read back from the server's history.
    pub reconstructed: Vec<GapSummary>,
    /// Gaps that the revisions of the cluster's storage prove to be empty.
    pub proven: Vec<GapSummary>,
    /// Other times in which changes may be missing, with the reasons.
    pub unseen: Vec<UnseenSummary>,
    /// For how long it had no watch; the changes of that time were received later.
    pub blind_secs: f64,
}

summaries! {
/// A span in which every change is in the reel.
#[derive(Eq)]
struct CoveredSummary(span: &CoveredFrom) {
    /// When the list that began it was received.
    #[serde(with = "Rfc3339")]
    from: RecordedAt = span.covered.from_time,
    /// When the last event or bookmark was received.
    #[serde(with = "Rfc3339")]
    to: RecordedAt = span.covered.to_time,
    /// The list's resourceVersion.
    from_rv: String = span.covered.from_rv.clone(),
    /// The last resourceVersion that is proven.
    to_rv: String = span.covered.to_rv.clone(),
}

/// A span in which changes may be missing.
struct GapSummary(gap: &RecordedGap) {
    /// When the last watch before it ended.
    #[serde(with = "Rfc3339")]
    from: RecordedAt = gap.from,
    /// When the list that ended it was received.
    #[serde(with = "Rfc3339")]
    to: RecordedAt = gap.gap.to_time,
    /// The time between.
    span_secs: f64 = secs_between(gap.from, gap.gap.to_time),
    /// The last resourceVersion before it, if there was one.
    from_rv: Option<String> = gap.gap.from_rv.clone(),
    /// The resourceVersion of the list that ended it.
    to_rv: String = gap.gap.to_rv.clone(),
    /// The cause.
    cause: String = gap.cause().to_owned(),
    /// An upper bound of the missing changes, if one is known.
    missing_at_most: Option<u64> = gap.missing_at_most(),
    /// The number of differences in the list.
    differences: u64 = gap.gap.differences,
    /// The result of reading it back: `reconstructed`, `partly reconstructed` or `lost`; null if
    /// that was not tried.
    verdict: Option<String> = gap.judgement.as_ref().map(|read| read.verdict.as_str().to_owned()),
    /// The number of events that were read back.
    read_back: u64 = gap.judgement.as_ref().map_or(0, |read| read.reconstructed),
    /// The number of revisions in it without a recorded event; null if the revisions prove nothing
    /// for the resource.
    unexplained: Option<u64> = gap.unexplained,
}

/// A time other than a gap in which changes may be missing.
#[derive(Eq)]
struct UnseenSummary(span: &UnobservedSpan) {
    /// When it began; null if damage took the begin of the recording.
    #[serde(with = "OptionalRfc3339")]
    from: Option<RecordedAt> = span.known_from(),
    /// When it ended; null if damage took the end of the recording.
    #[serde(with = "OptionalRfc3339")]
    to: Option<RecordedAt> = span.known_to(),
    /// The cause.
    why: String = span.reason.to_string(),
}
}

impl UnseenSummary {
    /// Describes the unobserved times that are not gaps: gaps have their own summaries.
    pub(crate) fn all(timeline: &Timeline, resource: ResourceId) -> Vec<Self> {
        let spans = timeline.unobserved(resource);
        spans
            .filter(|span| span.open_gap().is_none())
            .map(Self::of)
            .collect()
    }
}

impl ResourceSummary {
    pub(super) fn of(
        timeline: &Timeline,
        info: &ResourceInfo,
        first: Option<&FirstDiscovery>,
    ) -> Self {
        let coverage = timeline.coverage(info.id);
        let objects = timeline.objects_of(info.id);
        let reel = timeline.reel();
        let (mut added, mut modified, mut deleted, mut live) = (0u64, 0u64, 0u64, 0u64);
        for &object in objects {
            for &seq in reel.versions(object) {
                match reel.kind_of(seq) {
                    Some(EventType::Added) => added += 1,
                    Some(EventType::Modified) => modified += 1,
                    Some(EventType::Deleted) => deleted += 1,
                    None => {}
                }
            }
            live += u64::from(timeline.is_alive(object));
        }
        Self {
            resource: info.qualified(),
            version: info.version.clone(),
            kind: info.kind.clone(),
            namespaced: info.namespaced,
            appeared_later: first.map(|first| !first.contains(info)),
            events: added + modified + deleted,
            added,
            modified,
            deleted,
            objects_seen: count_of(objects.len()),
            objects_live: live,
            whole: coverage.is_some_and(|coverage| !coverage.spans().is_empty())
                && timeline.is_fully_observed(info.id),
            imported: coverage.is_some_and(|coverage| coverage.imported().is_some()),
            covered: coverage.map_or_else(Vec::new, CoveredSummary::all),
            gaps: GapSummary::all(coverage, GapOutcome::MayMiss),
            reconstructed: GapSummary::all(coverage, GapOutcome::ReadBack),
            proven: GapSummary::all(coverage, GapOutcome::ProvenEmpty),
            unseen: UnseenSummary::all(timeline, info.id),
            blind_secs: coverage.map_or(0.0, unwatched_secs),
        }
    }
}

fn unwatched_secs(coverage: &Coverage) -> f64 {
    let spans = coverage.unwatched();
    let secs = spans.map(|span| secs_between(span.from, span.to));
    // The sum of nothing is negative zero.
    secs.sum::<f64>().abs()
}

impl CoveredSummary {
    fn all(coverage: &Coverage) -> Vec<Self> {
        coverage.spans().iter().map(Self::of).collect()
    }
}

impl GapSummary {
    /// Returns the gaps with a verdict, by their begin.
    pub(crate) fn all(coverage: Option<&Coverage>, outcome: GapOutcome) -> Vec<Self> {
        let gaps = coverage.into_iter();
        let gaps = gaps.flat_map(|coverage| coverage.gaps(outcome));
        gaps.map(Self::of).collect()
    }
}

/// Group and plural name of a resource.
type GroupPlural = (String, String);

#[derive(Deserialize)]
struct DiscoveryDocument {
    /// For an aggregated document: its groups.
    items: Option<Vec<DiscoveredGroup>>,
    /// For a document of one version: that version.
    #[serde(rename = "groupVersion")]
    group_version: Option<String>,
    resources: Option<Vec<LegacyResource>>,
}

#[derive(Deserialize)]
struct DiscoveredGroup {
    #[serde(default)]
    metadata: DiscoveredName,
    #[serde(default)]
    versions: Vec<DiscoveredVersion>,
}

#[derive(Default, Deserialize)]
struct DiscoveredName {
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct DiscoveredVersion {
    #[serde(default)]
    resources: Vec<DiscoveredResource>,
}

#[derive(Deserialize)]
struct DiscoveredResource {
    resource: String,
}

#[derive(Deserialize)]
struct LegacyResource {
    name: String,
}

/// The resources that the server had before the first list was complete.
pub(super) struct FirstDiscovery(BTreeSet<GroupPlural>);

impl FirstDiscovery {
    /// Reads them; `None` if the server's documents are not in the reel.
    pub(super) fn read(timeline: &Timeline) -> Option<Self> {
        let complete = timeline.first_complete()?;
        let mut names = None;
        let before = |entry: &&kubereel_format::NoteEntry| entry.seq < complete;
        for entry in timeline.reel().notes().iter().take_while(before) {
            let Note::Document {
                kind: DocumentKind::Discovery,
                blobs,
                ..
            } = &entry.note
            else {
                continue;
            };
            let mut bytes = Vec::new();
            for blob in blobs {
                bytes.extend_from_slice(&timeline.reel().blob(*blob).ok()?);
            }
            let document: DiscoveryDocument = serde_json::from_slice(&bytes).ok()?;
            document.name_all(names.get_or_insert_with(BTreeSet::new));
        }
        names.map(Self)
    }

    fn contains(&self, info: &ResourceInfo) -> bool {
        let name = (info.group.clone(), info.plural.clone());
        self.0.contains(&name)
    }
}

impl DiscoveryDocument {
    fn name_all(self, names: &mut BTreeSet<GroupPlural>) {
        for group in self.items.into_iter().flatten() {
            for resource in group.versions.into_iter().flat_map(|one| one.resources) {
                names.insert((group.metadata.name.clone(), resource.resource));
            }
        }
        let version = self.group_version.unwrap_or_default();
        let group = version.split_once('/').map_or("", |(group, _)| group);
        for resource in self.resources.into_iter().flatten() {
            names.insert((group.to_owned(), resource.name));
        }
    }
}

/// Returns the seconds between two times, to the microsecond.
pub(super) fn secs_between(from: RecordedAt, to: RecordedAt) -> f64 {
    jiff::SignedDuration::from_micros(to.micros_since(from)).as_secs_f64()
}
