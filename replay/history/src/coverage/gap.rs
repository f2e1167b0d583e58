//! Gaps, and the proofs about the changes in them: by the server's own history, and by the
//! revisions of the cluster's storage.
//!
//! A gap is declared since the last data before it. The watch observed the resource for longer: changes may be
//! missing only since it ended, as in a reel that ends there.

use super::Coverage;
use super::chain::{RecorderEnd, UnwatchedTime};
use crate::session::Outage;
use kubereel_format::{Gap, GapCause, GapId, GapVerdict, Note, RecordedAt, Seq};

/// A gap, the record after which the state is known again, and the proofs about its changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedGap {
    /// The gap, as it was declared.
    pub gap: Gap,
    /// Since when changes may be missing: when the last watch before it ended.
    pub from: RecordedAt,
    /// The record that completed the list after it.
    pub closed_by: Seq,
    /// The result of reading it back, if that was tried.
    pub judgement: Option<GapJudgement>,
    /// The number of revisions in it without a recorded event, of any resource; `None` if the
    /// revisions prove nothing for this resource.
    pub unexplained: Option<u64>,
    /// How much is known of the recorder at its begin.
    pub(super) recorder: RecorderEnd,
}

/// Whether changes are missing in a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapOutcome {
    /// Changes may be missing.
    MayMiss,
    /// Every change was read back from the server's history; the changes were received after the
    /// gap.
    ReadBack,
    /// The revisions of the cluster's storage prove that there was no change.
    ProvenEmpty,
}

/// The result of reading a gap back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GapJudgement {
    /// The verdict.
    pub verdict: GapVerdict,
    /// The number of events that were read back and written for it.
    pub reconstructed: u64,
    /// An upper bound of the missing changes, if one is known.
    pub missing_at_most: Option<u64>,
    /// The number of requests.
    pub requests: u32,
    /// Why no more was found; may be empty.
    pub detail: String,
}

impl GapJudgement {
    /// Reads a note, if it is a verdict on a gap.
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
    pub(super) const fn new(gap: Gap, closed_by: Seq, recorder: RecorderEnd) -> Self {
        Self {
            from: gap.from_time,
            gap,
            closed_by,
            judgement: None,
            unexplained: None,
            recorder,
        }
    }

    /// Returns why it is a gap. A killed recorder ran for a while after its last record: of that
    /// time, a gap does not say that no recorder ran.
    pub const fn cause(&self) -> &'static str {
        match self.gap.cause {
            GapCause::RecorderStopped => self.recorder.no_recorder(),
            cause => cause.as_str(),
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

    /// Returns the lowest bound of the missing changes: that of the gap, that of the verdict, or
    /// the number of unexplained revisions.
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
    /// Adds a verdict to its gap; a verdict on a gap that was never declared is ignored.
    pub(super) fn judge(&mut self, id: GapId, judgement: GapJudgement) {
        let mut gaps = self.gaps.iter_mut().rev();
        if let Some(gap) = gaps.find(|gap| gap.gap.id == id) {
            gap.judgement = Some(judgement);
        }
    }

    /// Finds when the last watch before each gap ended.
    pub(super) fn date_gaps(&mut self, outages: &[Outage]) {
        self.unwatched.sort_by_key(|time| time.from);
        for gap in &mut self.gaps {
            let (last, to) = (gap.gap.from_time, gap.gap.to_time);
            let is_around =
                |time: &&UnwatchedTime| time.from < to && time.to.is_none_or(|end| end > last);
            let mut unwatched = self.unwatched.iter().filter(is_around).peekable();
            while let Some(time) = unwatched.next() {
                let next = unwatched.peek().map_or(to, |next| next.from);
                if !time.is_bridged(next) {
                    gap.from = time.from.max(last);
                    break;
                }
            }
            // Nothing shows that a watch went on after a time without an answer in which it was silent.
            for outage in outages.iter().filter(|one| !one.is_before_first_answer) {
                if outage.to > last && outage.from < gap.from {
                    gap.from = outage.from.max(last);
                }
            }
        }
    }

    /// Returns whether changes may be missing in one of the gaps.
    pub(super) fn has_open_gaps(&self) -> bool {
        let mut gaps = self.gaps.iter();
        gaps.any(|gap| gap.outcome() == GapOutcome::MayMiss)
    }

    /// Bounds the loss of the gaps: a gap cannot miss more changes than it has unexplained
    /// revisions.
    pub(super) fn bound_gaps(&mut self, unexplained: impl Fn(&RecordedGap) -> Option<u64>) {
        for gap in &mut self.gaps {
            if gap.outcome() == GapOutcome::MayMiss {
                gap.unexplained = unexplained(gap);
            }
        }
        self.join_gaps(GapOutcome::ProvenEmpty);
    }

    /// Merges the two covered spans around each gap in which nothing is missing.
    pub(super) fn join_gaps(&mut self, outcome: GapOutcome) {
        for gap in self.gaps.iter().filter(|gap| gap.outcome() == outcome) {
            let mut spans = self.covered.iter();
            // If no span begins with the list of the gap, or none precedes it, there is nothing to
            // merge.
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
