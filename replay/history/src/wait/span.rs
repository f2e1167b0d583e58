//! Owns the time that a wait searches. Refuses what is in it: `marks` finds that.

use super::goal::WaitFor;
use crate::coverage::Coverage;
use crate::cursor::Track;
use crate::moment::Cut;
use crate::timeline::Timeline;
use kubereel_format::{RecordedAt, ResourceId, Seq};

/// A place in a reel: after all records below one, at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant {
    /// The first record that does not count.
    pub below: Seq,
    /// The time.
    pub at: RecordedAt,
}

/// The time that is searched; its ends belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitSpan {
    /// Where it begins: the state there is judged first.
    pub from: Instant,
    /// Where it ends.
    pub to: Instant,
}

impl Timeline {
    /// Finds the time that is searched for objects of a resource: from a moment, or from the first at
    /// which the resource is known (and Events, if those are waited for), to another, but no longer than
    /// `timeout_micros`.
    pub fn wait_span(
        &self,
        resource: ResourceId,
        goals: &[WaitFor],
        from: Option<Cut>,
        to: Cut,
        timeout_micros: Option<i64>,
    ) -> WaitSpan {
        let from = from.map_or_else(
            || {
                let own = self.first_known(resource);
                let of_events = goals.iter().any(WaitFor::is_momentary);
                let events = self.event_resources().first().copied();
                let events = events.filter(|_| of_events).map(|id| self.first_known(id));
                events.map_or(own, |events| own.max(events))
            },
            |from| self.instant(resource, from),
        );
        let mut to = self.instant(resource, to);
        if let Some(timeout) = timeout_micros {
            let latest = self.instant(resource, self.moved(from.at, timeout));
            if latest.at < to.at {
                to = Instant {
                    below: latest.below.max(from.below),
                    at: latest.at,
                };
            }
            if timeout == 0 {
                to = from;
            }
        }
        WaitSpan { from, to }
    }

    /// Turns a moment into a place in the order of arrival.
    pub(super) fn instant(&self, resource: ResourceId, cut: Cut) -> Instant {
        let cut = match cut {
            Cut::Arrival { .. } => cut,
            Cut::Revision(_) => self.cursor(Track::Resource(resource), cut).cut(),
        };
        match cut {
            Cut::Arrival { below, wall } => Instant { below, at: wall },
            // A cursor stands between records, never at a resourceVersion.
            Cut::Revision(_) => Instant {
                below: self.reel().end(),
                at: self.end(),
            },
        }
    }

    fn first_known(&self, resource: ResourceId) -> Instant {
        let first = self.coverage(resource).and_then(Coverage::first_known);
        first.map_or(
            Instant {
                below: Seq(0),
                at: self.start(),
            },
            |(seq, at)| Instant {
                below: Seq(seq.0.saturating_add(1)),
                at,
            },
        )
    }
}
