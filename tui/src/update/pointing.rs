//! Owns what the mouse does: it points at moments and rows, and its wheel zooms and scrolls. Refuses
//! what keys cannot do.

use super::{choosing, moving};
use crate::layout::layout;
use crate::model::{Model, Reel, Screen};
use crate::msg::{Act, Way};
use ratatui::layout::{Position, Rect};

/// Goes to the moment at which the mouse points.
pub(super) fn pointed(model: &mut Model, x: u16, y: u16) {
    let layout = layout(model);
    let is_in = |area: Rect| area.contains(Position::new(x, y));
    let Reel::Open(open) = &mut model.reel else {
        return;
    };
    let is_moment = matches!(model.screen, Screen::Main | Screen::Large)
        && (is_in(layout.time) || is_in(layout.list) && open.list == crate::model::List::Lanes)
        && x >= layout.gutter;
    if is_moment {
        let cell = x.saturating_sub(layout.gutter);
        let span = open.window.cell(cell, layout.cells());
        moving::jump_to(open, span.start);
    }
}

/// Zooms over the timeline, scrolls elsewhere.
pub(super) fn wheel(model: &mut Model, x: u16, y: u16, way: Way) {
    let layout = layout(model);
    let is_time = layout.time.contains(Position::new(x, y));
    if !is_time {
        return choosing::rows(model, if way == Way::Next { 3 } else { -3 });
    }
    if let Reel::Open(open) = &mut model.reel {
        let act = if way == Way::Next {
            Act::ZoomOut
        } else {
            Act::ZoomIn
        };
        model.word = moving::moved(open, act, layout.cells());
    }
}
