//! Owns the times in which a resource was not seen. Refuses the objects that came through them
//! unchanged: `marks` knows those.

use super::answer::MissedWhy;
use super::span::WaitSpan;
use crate::coverage::Certainty;
use crate::resolve::Cut;
use crate::timeline::Timeline;
use kubereel_format::{RecordedAt, ResourceId, Seq};

/// A time in which changes may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dark {
    pub(super) from: RecordedAt,
    /// The first record that lies in it.
    pub(super) below: Seq,
    /// The first record after it.
    pub(super) until: Seq,
    pub(super) why: MissedWhy,
}

impl Timeline {
    /// Gives the times in which a resource was not seen, by their begin.
    pub(super) fn dark(&self, resource: ResourceId, span: &WaitSpan) -> Vec<Dark> {
        let never = Seq(u64::MAX);
        let after = |seq: Seq| Seq(seq.0.saturating_add(1));
        let mut dark = Vec::new();
        let coverage = self.coverage(resource);
        let begins = coverage.map_or(&[][..], |coverage| coverage.spans());
        let imported = coverage.and_then(|coverage| coverage.imported());
        let first = begins.first().map(|span| span.begun_by);
        let first = first.or_else(|| imported.map(|imported| imported.begun_by));
        dark.push(Dark {
            from: self.start(),
            below: Seq(0),
            until: first.map_or(never, after),
            why: MissedWhy::NotObserved,
        });
        for hole in coverage.map_or(&[][..], |coverage| coverage.holes()) {
            dark.push(Dark {
                from: hole.gap.from_time,
                // A clock that stepped back must not hide a gap.
                below: self
                    .reel()
                    .seq_after(hole.gap.from_time)
                    .min(hole.closed_by),
                until: after(hole.closed_by),
                why: MissedWhy::Gap,
            });
        }
        for excluded in coverage.map_or(&[][..], |coverage| coverage.excluded()) {
            let again = begins.iter().find(|span| span.begun_by > excluded.since);
            dark.push(Dark {
                from: self.wall_of(excluded.since),
                below: excluded.since,
                until: again.map_or(never, |span| after(span.begun_by)),
                why: MissedWhy::NotObserved,
            });
        }
        for unparsed in coverage.map_or(&[][..], |coverage| coverage.unparsed()) {
            dark.push(Dark {
                from: unparsed.from,
                below: unparsed.since(),
                until: unparsed.until().map_or(never, after),
                why: MissedWhy::NotObserved,
            });
        }
        let end = Cut::Arrival {
            below: span.to.below,
            wall: span.to.at,
        };
        // What no watch saw before the end may have been received after it, or never.
        if let Certainty::Blind { from, .. } = self.certainty(resource, end) {
            dark.push(Dark {
                from,
                below: self.reel().seq_after(from).min(span.to.below),
                until: never,
                why: MissedWhy::NotObserved,
            });
        }
        if span.to.at > self.end() {
            dark.push(Dark {
                from: self.end(),
                below: self.reel().end(),
                until: never,
                why: MissedWhy::RecordingEnded,
            });
        }
        dark.retain(|dark| dark.below < dark.until && dark.below <= span.to.below);
        dark.sort_by_key(|dark| (dark.below, dark.until));
        dark
    }
}
