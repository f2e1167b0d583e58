//! Owns how a span of time is selected, and what becomes of it. Refuses to move the cursor.

use crate::model::{Content, Open, Picked};
use kubereel_format::RecordedAt;
use kubereel_history::Density;

/// Begins a span at the cursor; again: fixes its end.
pub(super) fn pick(open: &mut Open) {
    let here = open.place.at;
    open.picked = Some(match open.picked {
        Some(picked) if !picked.is_fixed() => picked.to(here),
        _ => Picked::begin(here),
    });
}

/// Begins a span where the mouse is, or puts its end there.
pub(super) fn pull(open: &mut Open, at: RecordedAt, is_first: bool) {
    open.picked = Some(match open.picked {
        Some(picked) if !is_first => picked.to(at),
        _ => Picked::begin(at).to(at),
    });
}

/// Zooms to the span, if there is one.
pub(super) fn zoom(open: &mut Open) -> bool {
    let Some(picked) = open.picked.take() else {
        return false;
    };
    open.window = picked.span(open.place.at).moved(0, open.bounds());
    true
}

/// Counts what lies in the span, if it is another one than before.
pub(super) fn refresh(open: &mut Open) {
    let span = open.picked.map(|picked| picked.span(open.place.at));
    if open.picked_content.map(|content| content.span) == span {
        return;
    }
    open.picked_content = span.map(|window| {
        let span = window.from..window.end();
        let counts = Density::of(&open.timeline, span.clone(), 1, None).counts;
        let lanes = open.board().map_or(&[][..], |board| &board.lanes).iter();
        let lanes = lanes.filter(|lane| lane.condition.is_none());
        Content {
            span: window,
            events: counts.iter().sum(),
            changes: lanes.map(|lane| lane.changes(&span)).sum(),
        }
    });
}
