//! Owns what the revisions of the cluster's storage say of a gap: no more can be missing in it than
//! there are revisions that no event explains. Refuses gaps of resources whose versions are no such
//! revisions.

use super::{Coverage, Hole};
use crate::timeline::Timeline;

impl Coverage {
    /// Bounds the gaps, and takes out those in which every revision is explained: nothing was lost.
    pub(crate) fn bound(&mut self, timeline: &Timeline) {
        let count = |hole: &Hole| {
            let mut sequences = timeline.sequences().iter();
            sequences
                .find_map(|sequence| sequence.unexplained_in(timeline, &hole.gap, hole.closed_by))
        };
        for hole in &mut self.holes {
            hole.unexplained = count(hole);
        }
        let wall_of = |seq| timeline.reel().stamp(seq).map(|stamp| stamp.wall);
        let is_proven = |hole: &mut Hole| hole.unexplained == Some(0);
        let proven: Vec<Hole> = self.holes.extract_if(.., is_proven).collect();
        for hole in proven {
            self.join(&hole, wall_of(hole.closed_by).unwrap_or_default());
            self.proven.push(hole);
        }
    }

    /// Gives the gaps of which the revisions prove that nothing was lost, in order.
    pub fn proven(&self) -> &[Hole] {
        &self.proven
    }
}
