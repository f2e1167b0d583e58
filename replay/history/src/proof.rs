//! What `kubereel verify` says: whether every byte of a reel is as it was written, and whether every change of
//! the cluster is in it.
//!
//! The structs are the documented schema of `verify -o json`: names are stable, times are RFC 3339,
//! durations are in seconds. A reel is complete only if no resource speaks against it. An outage is not a
//! loss: what streams missed in it they received afterwards, or there is a gap.

use crate::coverage::GapOutcome;
use crate::summary::{
    AccountSummary, DamageSummary, GapSummary, NotCoveredSummary, OutageSummary, UnseenSummary,
    not_covered_summaries, outage_summaries,
};
use crate::tables::count_of;
use crate::timeline::Timeline;
use crate::timetext::OptionalRfc3339;
use kubereel_format::{BlobId, DigestBuilder, Note, RecordedAt, Reel, ResourceInfo, Seq};
use serde::Serialize;
use std::collections::BTreeSet;

/// The verdict on a reel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ReelVerdict {
    /// Every byte is as it was written, and every change of every recorded resource is there.
    Complete,
    /// Every byte is as it was written; changes may be missing.
    Incomplete,
    /// Something cannot be read.
    Damaged,
}

/// What a reel proves.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Proof {
    /// The file.
    pub file: String,
    /// The version of its format.
    pub format: String,
    /// Whether its recorder finished it.
    pub finished: bool,
    /// The verdict.
    pub verdict: ReelVerdict,
    /// Why it is not `complete`; empty if it is.
    pub reasons: Vec<String>,
    /// What reading every byte showed.
    pub integrity: Integrity,
    /// What is proven of each recorded resource.
    pub resources: Vec<ResourceProof>,
    /// What of the cluster was not recorded, and why.
    pub not_covered: Vec<NotCoveredSummary>,
    /// What became of the revisions of the cluster's storage, an account an epoch.
    pub accounts: Vec<AccountSummary>,
    /// Why there is no account, if there is none.
    pub no_account: Option<String>,
    /// The times without the API.
    pub outages: OutageSum,
}

/// The times without the API: most cost no event.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct OutageSum {
    /// How many there were, those before the first answer not counted.
    pub count: u64,
    /// How long they lasted in all.
    pub total_secs: f64,
    /// Each of them, also those before the first answer.
    pub each: Vec<OutageSummary>,
}

impl Proof {
    /// Says what the reel proves, given what reading it showed.
    pub fn of(timeline: &Timeline, integrity: Integrity) -> Self {
        let infos = timeline.resources().iter();
        let resources: Vec<ResourceProof> = infos
            .map(|info| ResourceProof::of(timeline, info))
            .collect();
        let not_covered = not_covered_summaries(timeline);
        let reasons = reasons(timeline, &integrity, &resources);
        let verdict = if !integrity.whole {
            ReelVerdict::Damaged
        } else if reasons.is_empty() {
            ReelVerdict::Complete
        } else {
            ReelVerdict::Incomplete
        };
        Self {
            file: timeline.reel().path().display().to_string(),
            format: timeline.reel().format().to_string(),
            finished: timeline.reel().is_finished(),
            verdict,
            reasons,
            integrity,
            resources,
            not_covered,
            accounts: AccountSummary::all(timeline),
            no_account: timeline
                .accounts()
                .err()
                .map(|error| error.as_str().to_owned()),
            outages: outage_sum(timeline),
        }
    }
}

fn outage_sum(timeline: &Timeline) -> OutageSum {
    let each = outage_summaries(timeline);
    let real = || each.iter().filter(|outage| !outage.before_first_answer);
    OutageSum {
        count: real().fold(0, |count, _| count + 1),
        total_secs: real().map(|outage| outage.span_secs).sum(),
        each,
    }
}

/// Says why a reel is not complete.
fn reasons(timeline: &Timeline, integrity: &Integrity, resources: &[ResourceProof]) -> Vec<String> {
    let mut reasons = Vec::new();
    if !integrity.whole {
        reasons.push(counted(integrity.damaged_places, "damaged place", ""));
    }
    if resources.is_empty() {
        reasons.push("nothing was recorded".to_owned());
    }
    for (state, words) in [
        (
            ResourceCompleteness::Incomplete,
            "in which changes may be missing",
        ),
        (ResourceCompleteness::NeverListed, "never listed completely"),
        (
            ResourceCompleteness::Imported,
            "of another tool's recording, which does not tell what it leaves out",
        ),
    ] {
        let found = resources.iter().filter(|one| one.state == state);
        let count = count_of(found.count());
        if count > 0 {
            reasons.push(counted(count, "resource", words));
        }
    }
    let refused = refused(timeline);
    if refused > 0 {
        reasons.push(counted(refused, "resource", "that could not be recorded"));
    }
    reasons
}

/// Counts what was never recorded, and not because it cannot or need not be.
fn refused(timeline: &Timeline) -> u64 {
    let known = |group: &str, plural: &str| {
        let mut infos = timeline.resources().iter();
        infos.any(|info| info.group == group && info.plural == plural)
    };
    let excluded = timeline.resources().excluded().iter();
    let refused = excluded.filter(|one| one.is_loss() && !known(&one.group, &one.plural));
    count_of(refused.count())
}

/// Writes how many there are of something, and what of them.
fn counted(count: u64, one: &str, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {one}{plural} {what}")
        .trim_end()
        .to_owned()
}

/// How complete the recording of a resource is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ResourceCompleteness {
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

impl ResourceCompleteness {
    /// Returns whether every change is in the reel.
    pub const fn is_complete(self) -> bool {
        matches!(self, Self::Complete | Self::Reconstructed)
    }
}

/// What is proven of one resource.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ResourceProof {
    /// `plural.group`, or the plural alone for the core group.
    pub resource: String,
    /// The version that was recorded.
    pub version: String,
    /// How complete it is.
    pub state: ResourceCompleteness,
    /// The first moment at which its state is known; `None` if there is none.
    #[serde(with = "OptionalRfc3339")]
    pub from: Option<RecordedAt>,
    /// The last moment that is proven by an event or a bookmark.
    #[serde(with = "OptionalRfc3339")]
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

impl ResourceProof {
    /// Judges one resource by the times in which it was not observed.
    pub fn of(timeline: &Timeline, info: &ResourceInfo) -> Self {
        let coverage = timeline.coverage(info.id);
        let gaps = GapSummary::all(coverage, GapOutcome::MayMiss);
        let reconstructed = GapSummary::all(coverage, GapOutcome::ReadBack);
        let proven = GapSummary::all(coverage, GapOutcome::ProvenEmpty);
        let spans = coverage.map_or(&[][..], |coverage| coverage.spans());
        let state = if coverage.is_some_and(|coverage| coverage.imported().is_some()) {
            ResourceCompleteness::Imported
        } else if spans.is_empty() {
            // Also what was refused: its state was never known.
            ResourceCompleteness::NeverListed
        } else if !timeline.is_fully_observed(info.id) {
            ResourceCompleteness::Incomplete
        } else if !reconstructed.is_empty() || !proven.is_empty() {
            ResourceCompleteness::Reconstructed
        } else {
            ResourceCompleteness::Complete
        };
        let mut missing = gaps.iter().map(|gap| gap.missing_at_most);
        Self {
            resource: info.qualified(),
            version: info.version.clone(),
            state,
            from: spans.first().map(|span| span.covered.from_time),
            to: spans.last().map(|span| span.covered.to_time),
            missing_at_most: missing.try_fold(0u64, |sum, most| Some(sum.saturating_add(most?))),
            gaps,
            reconstructed,
            proven,
            unseen: UnseenSummary::all(timeline, info.id),
        }
    }
}

/// How many damaged places are listed.
const MOST_PLACES: usize = 100;

/// What reading all of a reel showed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Integrity {
    /// Whether every checksum fitted and everything could be decoded.
    pub whole: bool,
    /// The blocks of the file.
    pub blocks: u64,
    /// Events and notes.
    pub records: u64,
    /// The events whose objects were read.
    pub events: u64,
    /// The texts and documents that were read.
    pub texts: u64,
    /// How many bytes objects and texts have, decompressed.
    pub decompressed_bytes: u64,
    /// How many times an object, or a span of them, could not be read.
    pub unreadable: u64,
    /// How many places are damaged.
    pub damaged_places: u64,
    /// The first of them, at most 100.
    pub damage: Vec<DamageSummary>,
    /// The digest of the recording, the same however it is packed; none where records are lost or unreadable.
    pub digest: Option<String>,
}

impl Integrity {
    fn hurt(&mut self, place: String, cause: String) {
        self.take_damage(DamageSummary::of_place(place, cause));
    }

    fn take_damage(&mut self, damage: DamageSummary) {
        self.damaged_places = self.damaged_places.saturating_add(1);
        if self.damage.len() < MOST_PLACES {
            self.damage.push(damage);
        }
    }

    fn took(&mut self, bytes: usize) {
        self.decompressed_bytes = self.decompressed_bytes.saturating_add(count_of(bytes));
    }
}

impl Integrity {
    /// Reads everything in the reel; `progress` gets the number of records that are done.
    pub fn read(timeline: &Timeline, mut progress: impl FnMut(u64)) -> Self {
        let reel = timeline.reel();
        let mut found = Self {
            blocks: count_of(reel.blocks().len()),
            records: reel.end().0,
            ..Self::default()
        };
        for damage in DamageSummary::all(timeline) {
            // What an earlier file lost is not damage of this one.
            if !damage.recovered {
                found.take_damage(damage);
            }
        }
        let mut digest = DigestBuilder::new(reel);
        let mut named = BTreeSet::new();
        for event in reel.scan(Seq(0)) {
            match event {
                Ok(event) => {
                    digest.take(&event);
                    found.events = found.events.saturating_add(1);
                    found.took(event.body.len());
                    progress(event.head.seq.0);
                }
                Err(error) => {
                    found.unreadable = found.unreadable.saturating_add(1);
                    let cause = error.to_string();
                    // One damaged block is one place, however many objects need it.
                    if named.len() < MOST_PLACES && named.insert(cause.clone()) {
                        found.hurt("an object".to_owned(), cause);
                    }
                }
            }
        }
        texts(reel, &mut found);
        found.whole = found.damaged_places == 0;
        found.digest = digest.finish().ok().map(|digest| digest.to_string());
        found
    }
}

fn texts(reel: &Reel, found: &mut Integrity) {
    for entry in reel.notes() {
        let blobs: &[BlobId] = match &entry.note {
            Note::OddLine { blobs, .. } | Note::Document { blobs, .. } => blobs,
            _ => continue,
        };
        for &blob in blobs {
            match reel.blob(blob) {
                Ok(bytes) => {
                    found.texts = found.texts.saturating_add(1);
                    found.took(bytes.len());
                }
                Err(error) => {
                    found.hurt(format!("a text of note {}", entry.seq), error.to_string());
                }
            }
        }
    }
}
