//! Owns what the server's own history told of a gap, as the reel notes it. Refuses to call a gap
//! closed unless every change in it was read back.

use super::{Blind, Coverage, Hole};
use kubereel_format::{GapId, GapVerdict, Note, RecordedAt};

/// What became of a gap when the server's history was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// In one word.
    pub verdict: GapVerdict,
    /// How many events were read back and written for it.
    pub reconstructed: u64,
    /// An upper bound of the changes that are still missing, if one is known.
    pub missing_at_most: Option<u64>,
    /// How many requests it took.
    pub requests: u32,
    /// Why no more was found; may be empty.
    pub detail: String,
}

impl Judged {
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

impl Hole {
    /// Tells whether every change in the gap was read back.
    pub fn is_reconstructed(&self) -> bool {
        let judged = self.judged.as_ref();
        judged.is_some_and(|judged| judged.verdict == GapVerdict::Reconstructed)
    }

    /// Gives the closest bound of what is missing: the gap's own, the judgement's, or the count of the
    /// revisions that nothing explains.
    pub fn missing_at_most(&self) -> Option<u64> {
        let judged = self.judged.as_ref();
        let bounds = [
            self.gap.missing_at_most,
            judged.and_then(|judged| judged.missing_at_most),
            self.unexplained,
        ];
        bounds.into_iter().flatten().min()
    }
}

impl Coverage {
    /// Notes a judgement of one of the gaps; a reel that names none is not believed.
    pub(super) fn judge(&mut self, gap: GapId, judged: Judged) {
        if let Some(hole) = self.holes.iter_mut().rev().find(|hole| hole.gap.id == gap) {
            hole.judged = Some(judged);
        }
    }

    /// Takes out the gaps in which nothing is missing, and joins what they had parted.
    ///
    /// Their changes were received late, as after a time without a watch.
    pub(super) fn join_reconstructed(&mut self, end_of: impl Fn(&Hole) -> RecordedAt) {
        let is_closed = |hole: &mut Hole| hole.is_reconstructed();
        let closed: Vec<Hole> = self.holes.extract_if(.., is_closed).collect();
        for hole in closed {
            self.join(&hole, end_of(&hole));
            self.reconstructed.push(hole);
        }
    }

    /// Joins what a gap in which nothing is missing had parted; it was closed then.
    pub(super) fn join(&mut self, hole: &Hole, closed: RecordedAt) {
        let after = self
            .spans
            .iter()
            .position(|span| span.covered.from_rv == hole.gap.to_rv);
        if let Some(after) = after
            && let Some(before) = after.checked_sub(1)
        {
            let joined = self.spans.remove(after);
            if let Some(span) = self.spans.get_mut(before) {
                span.proven_by = span.proven_by.max(joined.proven_by);
                span.covered.to_rv = joined.covered.to_rv;
                span.covered.to_time = span.covered.to_time.max(joined.covered.to_time);
            }
        }
        self.blind.push(Blind {
            from: hole.gap.from_time,
            to: Some(closed.max(hole.gap.to_time)),
            is_resumed: true,
        });
        self.blind.sort_by_key(|blind| (blind.from, blind.to));
    }
}
