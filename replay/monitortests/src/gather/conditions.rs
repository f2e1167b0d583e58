//! The instants of conditions by all that the reel knows: each interval of a state begins with one.

use super::ledger::{Draft, Ledger};
use super::mode::Mode;
use super::{operators, version};
use crate::interval::Interval;
use kubereel_cluster::{StateInterval, StateKind, StateTrack};
use std::sync::Arc;

/// Returns the instants of operators and of the version.
pub(crate) fn instants(tracks: &[StateTrack]) -> impl Iterator<Item = Interval> + use<> {
    let mut ledger = Ledger::default();
    for track in tracks {
        for (_, run) in track.runs(|state| Arc::clone(&state.status)) {
            for (place, interval) in run.iter().enumerate() {
                // The time that a condition gives is that of its status.
                let since = interval.since.filter(|_| place == 0);
                if let Some(draft) = instant(interval) {
                    let own = Mode::Exact.own_time(since, interval.from.at);
                    ledger.add(&draft.own_time(own));
                }
            }
        }
    }
    ledger.into_intervals()
}

fn instant<'a>(interval: &StateInterval<'a>) -> Option<Draft<'a>> {
    let (object, state) = (interval.object, interval.state);
    let condition = interval.aspect.condition()?;
    let at = (interval.from.at, interval.from.seq);
    let text = (&*state.status, &*state.reason, &*state.message);
    match object.kind {
        StateKind::Operator => Some(operators::instant(&object.name, at, condition, text)),
        StateKind::Version if object.name == version::VERSION => {
            Some(version::instant(at, condition, text))
        }
        _ => None,
    }
}
