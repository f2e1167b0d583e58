//! Gaps: what the server's own history and the revisions of the cluster's storage prove of the changes in them.

use super::Coverage;
use kubereel_format::{Gap, GapId, GapVerdict, Note, Seq};

/// A gap, the record after which the state is known again, and what is known of the changes in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedGap {
    /// The gap, as it was declared.
    pub gap: Gap,
    /// The record that completed the list after it.
    pub closed_by: Seq,
    /// What the server's own history showed of it, if it was read.
    pub judgement: Option<GapJudgement>,
    /// The number of revisions in it at which nothing was recorded, of any resource; `None` if the
    /// revisions say nothing of this one.
    pub unexplained: Option<u64>,
}

/// Whether changes are missing in a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapOutcome {
    /// Changes may be missing.
    MayMiss,
    /// Every change was read back from the server's history; they were received after the gap.
    ReadBack,
    /// The revisions of the cluster's storage prove that there was no change.
    ProvenEmpty,
}

/// What the server's own history showed of a gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GapJudgement {
    /// In one word.
    pub verdict: GapVerdict,
    /// The number of events that were read back and written for it.
    pub reconstructed: u64,
    /// An upper bound of the changes that are still missing, if one is known.
    pub missing_at_most: Option<u64>,
    /// The number of requests that it took.
    pub requests: u32,
    /// Why no more was found; may be empty.
    pub detail: String,
}

impl GapJudgement {
    /// Reads a note, if it is a judgement.
    pub(super) fn of(note: &Note) -> Option<Self> {
        let Note::GapJudged {
            gap: _,
            verdict,
            reconstructed,
            missing_at_most,
            requests,
            detail,
        } = note
        else {
            return None;
        };
        Some(Self {
            verdict: *verdict,
            reconstructed: *reconstructed,
            missing_at_most: *missing_at_most,
            requests: *requests,
            detail: detail.clone(),
        })
    }
}

impl RecordedGap {
    pub(super) const fn new(gap: Gap, closed_by: Seq) -> Self {
        Self {
            gap,
            closed_by,
            judgement: None,
            unexplained: None,
        }
    }

    /// Returns whether changes may be missing in it.
    pub fn outcome(&self) -> GapOutcome {
        let verdict = self.judgement.as_ref().map(|judgement| judgement.verdict);
        if verdict == Some(GapVerdict::Reconstructed) {
            GapOutcome::ReadBack
        } else if self.unexplained == Some(0) {
            GapOutcome::ProvenEmpty
        } else {
            GapOutcome::MayMiss
        }
    }

    /// Returns the closest bound of what is missing: the gap's own, the judgement's, or the count of the
    /// revisions that nothing explains.
    pub fn missing_at_most(&self) -> Option<u64> {
        let judgement = self.judgement.as_ref();
        let bounds = [
            self.gap.missing_at_most,
            judgement.and_then(|judgement| judgement.missing_at_most),
            self.unexplained,
        ];
        bounds.into_iter().flatten().min()
    }
}

impl Coverage {
    /// Notes a judgement of one of the gaps; a judgement of a gap that was never declared is ignored.
    pub(super) fn judge(&mut self, id: GapId, judgement: GapJudgement) {
        let mut gaps = self.gaps.iter_mut().rev();
        if let Some(gap) = gaps.find(|gap| gap.gap.id == id) {
            gap.judgement = Some(judgement);
        }
    }

    /// Returns whether changes may be missing in one of the gaps.
    pub(super) fn has_open_gaps(&self) -> bool {
        let mut gaps = self.gaps.iter();
        gaps.any(|gap| gap.outcome() == GapOutcome::MayMiss)
    }

    /// Bounds what the gaps may have lost: no more can be missing in one than there are revisions that no
    /// event explains.
    pub(super) fn bound_gaps(&mut self, unexplained: impl Fn(&RecordedGap) -> Option<u64>) {
        for gap in &mut self.gaps {
            if gap.outcome() == GapOutcome::MayMiss {
                gap.unexplained = unexplained(gap);
            }
        }
        self.join_gaps(GapOutcome::ProvenEmpty);
    }

    /// Makes one covered span of the two around each gap of an outcome in which nothing is missing.
    pub(super) fn join_gaps(&mut self, outcome: GapOutcome) {
        for gap in self.gaps.iter().filter(|gap| gap.outcome() == outcome) {
            let mut spans = self.covered.iter();
            // Where no span begins with the gap's list, or nothing came before it, nothing was parted.
            let Some(after) = spans.position(|span| span.covered.from_rv == gap.gap.to_rv) else {
                continue;
            };
            let Some(before) = after.checked_sub(1) else {
                continue;
            };
            let joined = self.covered.remove(after);
            if let Some(span) = self.covered.get_mut(before) {
                span.proven_by = span.proven_by.max(joined.proven_by);
                span.covered.to_rv = joined.covered.to_rv;
                span.covered.to_time = span.covered.to_time.max(joined.covered.to_time);
            }
        }
    }
}
