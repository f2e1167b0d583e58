//! Owns what a reel says of itself: of each resource, what it has, what it claims and what it says is
//! missing, by revisions. Refuses to compare it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use kubereel_format::{EpochId, EventType, Evidence, Note, Reel, ResourceInfo, Seq};
use kubereel_history::{
    Coverage, GapOutcome, Integrity, Proof, RecordedGap, ResourceProof, Timeline, UnobservedReason,
    UnobservedSpan,
};

/// Everything that a reel claims.
pub struct Claims {
    timeline: Timeline,
    proof: Proof,
    /// From which record on which epoch is recorded.
    epochs: Vec<(Seq, EpochId, String)>,
    pub(super) resources: Vec<Said>,
}

/// What is said of one resource.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) info: ResourceInfo,
    /// Whether `verify` calls it complete.
    pub(super) is_complete: bool,
    /// Namespace, name and revision, whether it is a deletion; and whether it was read back.
    has: BTreeMap<(EpochId, String, String, u128, bool), bool>,
    /// The spans in which every change is claimed.
    pub(super) spans: Vec<Stretch>,
    /// The gaps in which changes may be missing, with the most that may be.
    pub(super) gaps: Vec<(Stretch, Option<u64>)>,
    /// The gaps in which none is missing, they say.
    pub(super) closed: Vec<Stretch>,
    /// Whether the reel says that it was not recorded for a time.
    pub(super) is_excluded: bool,
    /// How many lines are kept that are no events; each tells of a change that is not in the state.
    pub(super) unread: u64,
}

/// The revisions after the first bound, up to and including the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) epoch: EpochId,
    pub(super) after: u128,
    pub(super) to: u128,
}

impl Stretch {
    pub(super) fn holds(&self, epoch: EpochId, revision: u128) -> bool {
        self.epoch == epoch && self.after < revision && revision <= self.to
    }
}

impl fmt::Debug for Claims {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reel = self.reel().path();
        out.debug_struct("Claims")
            .field("reel", &reel)
            .finish_non_exhaustive()
    }
}

impl Claims {
    /// Reads them.
    ///
    /// # Errors
    /// When the reel cannot be opened, or is damaged.
    pub fn read(reel: &Path) -> Result<Self> {
        let timeline = Timeline::open(reel)?;
        let damage = timeline.reel().damage();
        ensure!(damage.is_empty(), "damaged: {damage:?}");
        let proof = Proof::of(&timeline, Integrity::read(&timeline, |_| {}));
        let epochs = epochs(timeline.reel());
        let mut claims = Self {
            resources: Vec::new(),
            timeline,
            proof,
            epochs,
        };
        let infos: Vec<ResourceInfo> = claims.timeline.resources().iter().cloned().collect();
        for info in infos {
            let said = claims.said(info)?;
            claims.resources.push(said);
        }
        Ok(claims)
    }

    /// The reel.
    pub fn reel(&self) -> &Reel {
        self.timeline.reel()
    }

    /// The timeline.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// What `verify` says in full.
    pub fn proof(&self) -> &Proof {
        &self.proof
    }

    /// The first epoch of the cluster with this uid.
    pub fn epoch_of_cluster(&self, uid: &str) -> Option<EpochId> {
        let mut epochs = self.epochs.iter();
        epochs
            .find(|(_, _, named)| named == uid)
            .map(|(_, epoch, _)| *epoch)
    }

    fn epoch_at(&self, seq: Seq) -> EpochId {
        let known = self.epochs.partition_point(|(from, ..)| *from <= seq);
        let last = known.checked_sub(1).and_then(|last| self.epochs.get(last));
        last.map_or_else(EpochId::default, |(_, epoch, _)| *epoch)
    }

    fn said(&self, info: ResourceInfo) -> Result<Said> {
        let proof = ResourceProof::of(&self.timeline, &info);
        let told = self.timeline.coverage(info.id);
        let mut said = Said {
            is_complete: proof.state.is_complete(),
            has: self.has(&info),
            spans: Vec::new(),
            gaps: Vec::new(),
            closed: Vec::new(),
            is_excluded: told.is_some_and(is_excluded),
            unread: told.map_or(0, unparsed_lines),
            info,
        };
        let Some(told) = told else {
            return Ok(said);
        };
        for span in told.spans() {
            let covered = &span.covered;
            let number = |text: &str| text.parse::<u128>().with_context(|| format!("{covered:?}"));
            said.spans.push(Stretch {
                epoch: self.epoch_at(span.begun_by),
                after: number(&covered.from_rv)?,
                to: number(&covered.to_rv)?,
            });
        }
        for hole in told.gaps(GapOutcome::MayMiss) {
            let most = hole
                .missing_at_most()
                .map(|most| most.saturating_add(hole.gap.differences));
            said.gaps
                .extend(self.stretches(hole).into_iter().map(|one| (one, most)));
        }
        let closed = told
            .gaps(GapOutcome::ReadBack)
            .chain(told.gaps(GapOutcome::ProvenEmpty));
        for hole in closed {
            said.closed.extend(self.stretches(hole));
        }
        Ok(said)
    }

    /// A gap between two lives has the end of the one and the begin of the other.
    fn stretches(&self, hole: &RecordedGap) -> Vec<Stretch> {
        let number = |text: &str| text.parse::<u128>().ok();
        let after = hole.gap.from_rv.as_deref().and_then(number);
        let to = number(&hole.gap.to_rv).unwrap_or(u128::MAX);
        let now = self.epoch_at(hole.closed_by);
        if hole.gap.cause != kubereel_format::GapCause::NewEpoch {
            let after = after.unwrap_or(0);
            return vec![Stretch {
                epoch: now,
                after,
                to,
            }];
        }
        let before = EpochId(now.0.saturating_sub(1));
        let ended = Stretch {
            epoch: before,
            after: after.unwrap_or(0),
            to: u128::MAX,
        };
        let begun = Stretch {
            epoch: now,
            after: 0,
            to,
        };
        vec![ended, begun]
    }

    fn has(&self, info: &ResourceInfo) -> BTreeMap<(EpochId, String, String, u128, bool), bool> {
        let reel = self.timeline.reel();
        let mut has = BTreeMap::new();
        for &object in self.timeline.objects_of(info.id) {
            let Some(key) = self.timeline.key_of(object) else {
                continue;
            };
            for &seq in reel.versions(object) {
                let (Some(head), Some(rv)) = (reel.head(seq), reel.rv_of(seq)) else {
                    continue;
                };
                // Nobody told its revision: it is the list's.
                if head.evidence == Evidence::Inferred {
                    continue;
                }
                let is_deletion = head.kind == EventType::Deleted;
                let epoch = self.epoch_at(seq);
                let place = (
                    epoch,
                    key.namespace.clone(),
                    key.name.clone(),
                    rv,
                    is_deletion,
                );
                let is_read_back = head.evidence == Evidence::Reconstructed;
                // What came live as well was not missing.
                let known = has.entry(place).or_insert(is_read_back);
                *known &= is_read_back;
            }
        }
        has
    }
}

impl Said {
    /// Whether a change is in the reel, and then whether it was read back.
    pub(super) fn has(
        &self,
        epoch: EpochId,
        namespace: &str,
        name: &str,
        revision: u128,
        is_deletion: bool,
    ) -> Option<bool> {
        let (namespace, name) = (namespace.to_owned(), name.to_owned());
        let place = (epoch, namespace, name, revision, is_deletion);
        self.has.get(&place).copied()
    }

    /// Whether a revision lies before everything or behind everything that is claimed in its epoch.
    pub(super) fn is_outside(&self, epoch: EpochId, revision: u128) -> bool {
        let mut spans = self.spans.iter().filter(|span| span.epoch == epoch);
        let bounds: BTreeSet<u128> = spans
            .by_ref()
            .flat_map(|span| [span.after, span.to])
            .collect();
        let (Some(first), Some(last)) = (bounds.first(), bounds.last()) else {
            return true;
        };
        revision <= *first || *last < revision
    }
}

/// The epochs in the order in which they were met.
fn epochs(reel: &Reel) -> Vec<(Seq, EpochId, String)> {
    let named = reel.notes().iter().filter_map(|entry| match &entry.note {
        Note::Cluster { epoch, uid, .. } => Some((entry.seq, *epoch, uid.clone())),
        _ => None,
    });
    named.collect()
}

fn is_excluded(told: &Coverage) -> bool {
    let is_it = |span: &UnobservedSpan| matches!(span.reason, UnobservedReason::NotRecorded { .. });
    told.unobserved_spans().iter().any(is_it)
}

fn unparsed_lines(told: &Coverage) -> u64 {
    let lines = told
        .unobserved_spans()
        .iter()
        .map(|span| match span.reason {
            UnobservedReason::Unparsed { lines, .. } => lines,
            _ => 0,
        });
    lines.sum()
}
