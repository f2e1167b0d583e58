//! The times in which one object was not observed, as `wait` steps through them: places in the order of
//! arrival. Objects that came through them unchanged are known to `marks`.

use super::answer::MissedWhy;
use super::span::WaitSpan;
use crate::coverage::UnobservedReason;
use crate::select::ObjectFilter;
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
    /// Gives the times in which an object was not observed, by their begin.
    pub(super) fn dark(
        &self,
        resource: ResourceId,
        filter: &ObjectFilter<'_>,
        span: &WaitSpan,
    ) -> Vec<Dark> {
        const NEVER: Seq = Seq(u64::MAX);
        let mut dark = Vec::new();
        for unobserved in self.unobserved_spans(resource) {
            let is_late = unobserved.is_late();
            // What no watch saw before the end may have been received after it. Before that, it came.
            if !unobserved.concerns(filter)
                || is_late && !unobserved.holds(span.to.below, span.to.at)
            {
                continue;
            }
            let (below, until) = unobserved.records(self.reel());
            let why = match unobserved.reason {
                _ if unobserved.open_gap().is_some() => MissedWhy::Gap,
                // Each version that cannot be read is reported by itself.
                UnobservedReason::Damaged { .. } => continue,
                _ => MissedWhy::NotObserved,
            };
            dark.push(Dark {
                from: unobserved.from,
                below: if is_late {
                    below.min(span.to.below)
                } else {
                    below
                },
                until: until.filter(|_| !is_late).unwrap_or(NEVER),
                why,
            });
        }
        if span.to.at > self.end() {
            dark.push(Dark {
                from: self.end(),
                below: self.reel().end(),
                until: NEVER,
                why: MissedWhy::RecordingEnded,
            });
        }
        // Where no record came, only the time tells whether it had begun.
        let end = (span.to.below, span.to.at);
        dark.retain(|dark| dark.below < dark.until && (dark.below, dark.from) <= end);
        dark.sort_by_key(|dark| (dark.below, dark.from, dark.until));
        join(dark)
    }
}

/// Makes one time of those that overlap: what ends one of them does not end the other. An object is known
/// to have passed a gap unchanged only where there is nothing but gaps.
fn join(dark: Vec<Dark>) -> Vec<Dark> {
    let mut joined: Vec<Dark> = Vec::new();
    for next in dark {
        match joined.last_mut() {
            Some(last) if next.below < last.until => {
                last.from = last.from.min(next.from);
                last.until = last.until.max(next.until);
                if next.why != last.why {
                    last.why = MissedWhy::NotObserved;
                }
            }
            _ => joined.push(next),
        }
    }
    joined
}
