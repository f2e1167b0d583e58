//! The output of `kubereel verify`: whether every byte of a reel is intact, and whether every
//! change of the cluster is in it.
//!
//! The structs are the documented schema of `verify -o json`: names are stable, times are RFC 3339,
//! durations are in seconds. A reel is complete only if every resource is. An outage is not a loss:
//! the streams received its changes afterwards, or there is a gap.

use crate::counttext::{count, inflected, number};
use crate::coverage::GapOutcome;
use crate::select::ExcludedResource;
use crate::summary::{
    AccountSummary, DamageSummary, GapSummary, NotCoveredSummary, OutageSummary, UnseenSummary,
    not_covered_summaries, note_texts, outage_summaries,
};
use crate::tables::count_of;
use crate::timeline::Timeline;
use crate::timetext::OptionalRfc3339;
use kubereel_format::{DigestBuilder, RecordedAt, Reel, ResourceInfo};
use serde::Serialize;
use std::collections::BTreeSet;

/// The verdict on a reel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ReelVerdict {
    /// Every byte is intact, and every change of every recorded resource is there.
    Complete,
    /// Every byte is intact; changes may be missing.
    Incomplete,
    /// Some part cannot be read.
    Damaged,
}

/// The proof of a reel.
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
    /// The reasons if it is not `complete`.
    pub reasons: Vec<String>,
    /// The integrity of the bytes.
    pub integrity: Integrity,
    /// The completeness of each recorded resource.
    pub resources: Vec<ResourceProof>,
    /// Resources that were not recorded, and the reasons.
    pub not_covered: Vec<NotCoveredSummary>,
    /// The account of the revisions of the cluster's storage, one for each epoch.
    pub accounts: Vec<AccountSummary>,
    /// Why there is no account.
    pub no_account: Option<String>,
    /// The outages of the API.
    pub outages: OutageSum,
    /// Steps of the recorder's wall clock.
    pub clock_steps: u64,
}

/// The outages of the API. Most lose no event.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct OutageSum {
    /// Their number, without those before the first response.
    pub count: u64,
    /// Their total duration.
    pub total_secs: f64,
    /// Each outage, also those before the first response.
    pub each: Vec<OutageSummary>,
}

impl Proof {
    /// Derives the proof from the result of reading everything.
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
            outages: OutageSum::of(timeline),
            clock_steps: timeline.clock_steps(),
        }
    }
}

impl OutageSum {
    /// Sums the outages of a recording.
    pub fn of(timeline: &Timeline) -> Self {
        let mut sum = Self {
            count: 0,
            total_secs: 0.0,
            each: outage_summaries(timeline),
        };
        sum.count = count_of(sum.counted().count());
        let spans = sum.counted().map(|outage| outage.span_secs);
        // The sum of nothing is negative zero.
        sum.total_secs = spans.sum::<f64>().abs();
        sum
    }

    /// Returns the outages that count: those after the first response.
    pub fn counted(&self) -> impl Iterator<Item = &OutageSummary> {
        let each = self.each.iter();
        each.filter(|outage| !outage.before_first_answer)
    }
}

/// Returns the reasons why a reel is not complete.
fn reasons(timeline: &Timeline, integrity: &Integrity, resources: &[ResourceProof]) -> Vec<String> {
    let mut reasons = Vec::new();
    if !integrity.whole {
        let places = integrity.damaged_places;
        let noun = inflected(places, "place", "places");
        reasons.push(format!("{} damaged {noun}", number(places)));
    }
    if resources.is_empty() {
        let words = if timeline.has_lost_records() {
            "no resource can be read"
        } else {
            "nothing was recorded"
        };
        reasons.push(words.to_owned());
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
        let found = found.count();
        if found > 0 {
            reasons.push(count(found, &format!("resource {words}")));
        }
    }
    let refused = count_of(refused(timeline).count());
    if refused > 0 {
        reasons.push(count(refused, "resource that could not be recorded"));
    }
    reasons
}

/// Returns the resources that were never recorded although they could have been.
fn refused(timeline: &Timeline) -> impl Iterator<Item = &ExcludedResource> {
    let known = |group: &str, plural: &str| {
        let mut infos = timeline.resources().iter();
        infos.any(|info| info.group == group && info.plural == plural)
    };
    let excluded = timeline.resources().excluded().iter();
    excluded.filter(move |one| one.is_loss() && !known(&one.group, &one.plural))
}

/// The completeness of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ResourceCompleteness {
    /// Every change was received.
    Complete,
    /// Every change is there; gaps were read back from the server's history, or proven to be empty.
    Reconstructed,
    /// Changes may be missing.
    Incomplete,
    /// Its state was never known.
    NeverListed,
    /// Another tool recorded it, so its completeness is not known.
    Imported,
}

impl ResourceCompleteness {
    /// Returns whether every change is in the reel.
    pub const fn is_complete(self) -> bool {
        matches!(self, Self::Complete | Self::Reconstructed)
    }
}

/// The proof of one resource.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ResourceProof {
    /// `plural.group`, or the plural alone for the core group.
    pub resource: String,
    /// The version that was recorded.
    pub version: String,
    /// Its completeness.
    pub state: ResourceCompleteness,
    /// The first moment at which its state is known; `None` if there is none.
    #[serde(with = "OptionalRfc3339")]
    pub from: Option<RecordedAt>,
    /// The last moment that is proven by an event or a bookmark.
    #[serde(with = "OptionalRfc3339")]
    pub to: Option<RecordedAt>,
    /// The gaps in which changes may be missing.
    pub gaps: Vec<GapSummary>,
    /// Gaps of which every change was read back.
    pub reconstructed: Vec<GapSummary>,
    /// Gaps that the revisions prove to be empty.
    pub proven: Vec<GapSummary>,
    /// Other times in which changes may be missing, with the reasons.
    pub unseen: Vec<UnseenSummary>,
    /// An upper bound of the changes that may be missing in its gaps; `None` if there is none.
    pub missing_at_most: Option<u64>,
}

impl ResourceProof {
    /// Judges one resource by its unobserved spans.
    pub fn of(timeline: &Timeline, info: &ResourceInfo) -> Self {
        let coverage = timeline.coverage(info.id);
        let gaps = GapSummary::all(coverage, GapOutcome::MayMiss);
        let reconstructed = GapSummary::all(coverage, GapOutcome::ReadBack);
        let proven = GapSummary::all(coverage, GapOutcome::ProvenEmpty);
        let spans = coverage.map_or(&[][..], |coverage| coverage.spans());
        let state = if coverage.is_some_and(|coverage| coverage.imported().is_some()) {
            ResourceCompleteness::Imported
        } else if spans.is_empty() {
            // Also a refused resource: its state was never known.
            ResourceCompleteness::NeverListed
        } else if !timeline.is_fully_observed(info.id) {
            ResourceCompleteness::Incomplete
        } else if !reconstructed.is_empty() || !proven.is_empty() {
            ResourceCompleteness::Reconstructed
        } else {
            ResourceCompleteness::Complete
        };
        let unseen = UnseenSummary::all(timeline, info.id);
        let mut missing = gaps.iter().map(|gap| gap.missing_at_most);
        let missing = missing.try_fold(0u64, |sum, most| Some(sum.saturating_add(most?)));
        // Without a list, or outside of gaps, no revisions bound the changes.
        let is_bounded = unseen.is_empty() && state != ResourceCompleteness::NeverListed;
        Self {
            resource: info.qualified(),
            version: info.version.clone(),
            state,
            from: spans.first().map(|span| span.covered.from_time),
            to: spans.last().map(|span| span.covered.to_time),
            missing_at_most: missing.filter(|_| is_bounded),
            gaps,
            reconstructed,
            proven,
            unseen,
        }
    }
}

/// The number of damaged places that are listed.
const MOST_PLACES: usize = 100;

/// The result of reading all of a reel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Integrity {
    /// Whether every checksum matched and everything could be decoded.
    pub whole: bool,
    /// The number of blocks.
    pub blocks: u64,
    /// The number of events and notes.
    pub records: u64,
    /// The number of events whose body was read.
    pub events: u64,
    /// The number of texts and documents that were read.
    pub texts: u64,
    /// The decompressed bytes of bodies and texts.
    pub decompressed_bytes: u64,
    /// The number of events whose objects cannot be read.
    pub unreadable: u64,
    /// The number of other unreadable records, as far as it is known: notes, and those of which not even that is known.
    pub lost_records: u64,
    /// The number of damaged places.
    pub damaged_places: u64,
    /// The first of them, at most 100.
    pub damage: Vec<DamageSummary>,
    /// The digest of the recording; `None` if records are lost or unreadable.
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
    /// Reads everything in the reel; `progress` receives the number of processed records.
    pub fn read(timeline: &Timeline, mut progress: impl FnMut(u64)) -> Self {
        let reel = timeline.reel();
        let mut found = Self {
            blocks: count_of(reel.blocks().len()),
            records: reel.end().0,
            lost_records: reel.losses().records,
            ..Self::default()
        };
        for damage in DamageSummary::all(timeline) {
            // The loss of an earlier file is not damage of this one.
            if !damage.recovered {
                found.take_damage(damage);
            }
        }
        let mut digest = DigestBuilder::new(reel);
        // The damaged places of a reel with losses name all that cannot be read.
        let mut named = BTreeSet::new();
        for event in reel.scan() {
            match event {
                Ok(event) => {
                    digest.take(&event);
                    found.events = found.events.saturating_add(1);
                    found.took(event.body.len());
                    progress(event.head.seq.0);
                }
                Err(_) if reel.has_losses() => {}
                Err(error) => {
                    let cause = error.to_string();
                    // One damaged block is one place, however many bodies depend on it.
                    if named.len() < MOST_PLACES && named.insert(cause.clone()) {
                        found.hurt("an object".to_owned(), cause);
                    }
                }
            }
        }
        found.unreadable = reel.event_count().saturating_sub(found.events);
        texts(reel, &mut found);
        found.whole = found.damaged_places == 0;
        found.digest = digest.finish().ok().map(|digest| digest.to_string());
        found
    }
}

fn texts(reel: &Reel, found: &mut Integrity) {
    for (note, text) in note_texts(reel) {
        match text {
            Ok(bytes) => {
                found.texts = found.texts.saturating_add(1);
                found.took(bytes.len());
            }
            // The damaged places of a reel with losses name it.
            Err(_) if reel.has_losses() => {}
            Err(error) => found.hurt(format!("a text of note {note}"), error.to_string()),
        }
    }
}
