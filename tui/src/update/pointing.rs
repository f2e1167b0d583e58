//! Owns what the mouse does: it points at moments and rows, drags the border of panes, and its wheel
//! zooms and scrolls. Refuses what keys cannot do.

use super::{choosing, lane_rows, moving, picking};
use crate::layout::{Layout, layout};
use crate::model::{List, Model, Pane, Reel, Screen};
use crate::msg::Way;
use kubereel_format::RecordedAt;
use ratatui::layout::{Position, Rect};

/// Takes hold of the border, or goes to the moment at which the mouse points.
pub(super) fn pointed(model: &mut Model, x: u16, y: u16) {
    let layout = layout(model);
    let is_held = model.screen == Screen::Main && layout.is_border(x, y);
    if let Reel::Open(open) = &mut model.reel {
        open.panes.is_held = is_held;
    }
    if is_held {
        return;
    }
    let is_name = x < layout.gutter && layout.list.contains(Position::new(x, y));
    if is_name && matches!(model.screen, Screen::Main | Screen::Large) {
        to_row(model, &layout, y.saturating_sub(layout.list.y));
    } else {
        to_moment(model, &layout, x, y);
    }
}

/// Chooses the lane at which the mouse points; folds a section by its head.
fn to_row(model: &mut Model, layout: &Layout, y: u16) {
    let height = usize::from(layout.list.height);
    if let Reel::Open(open) = &mut model.reel
        && open.list == List::Lanes
        && let Some(row) = open.lanes.shown(height).nth(usize::from(y))
    {
        open.pane = Pane::List;
        choosing::row(open, row);
        if let Some(section) = open.chosen_head().cloned() {
            lane_rows::fold(open, &section);
        }
    }
}

/// Moves what the mouse holds: the border, else the cursor.
pub(super) fn dragged(model: &mut Model, x: u16, y: u16) {
    let layout = layout(model);
    let (width, top, bottom) = (model.size.0, layout.body.y, layout.foot.y);
    match &mut model.reel {
        Reel::Open(open) if open.panes.is_held => {
            open.panes = if layout.border.is_some() {
                open.panes.put(true, x, width)
            } else {
                let all = bottom.saturating_sub(top);
                open.panes.put(false, y.saturating_sub(top), all)
            };
        }
        _ => to_moment(model, &layout, x, y),
    }
}

/// Selects a span of time from where the mouse was pressed to where it is.
pub(super) fn pulled(model: &mut Model, x: u16, y: u16, is_first: bool) {
    let layout = layout(model);
    let at = moment(model, &layout, x, y);
    if let (Some(at), Reel::Open(open)) = (at, &mut model.reel) {
        picking::pull(open, at, is_first);
    }
}

/// Lets go of what the mouse held.
pub(super) fn released(model: &mut Model) {
    if let Reel::Open(open) = &mut model.reel {
        open.panes.is_held = false;
    }
}

/// Goes to the moment at which the mouse points, if it points at one.
fn to_moment(model: &mut Model, layout: &Layout, x: u16, y: u16) {
    let at = moment(model, layout, x, y);
    if let (Some(at), Reel::Open(open)) = (at, &mut model.reel) {
        moving::jump_to(open, at);
    }
}

/// Gives the moment that a cell of the screen stands for.
fn moment(model: &Model, layout: &Layout, x: u16, y: u16) -> Option<RecordedAt> {
    let open = model.open()?;
    let is_in = |area: Rect| area.contains(Position::new(x, y));
    let is_list = is_in(layout.list) && open.list == List::Lanes;
    let is_moment = matches!(model.screen, Screen::Main | Screen::Large)
        && (is_in(layout.time) || is_list)
        && x >= layout.gutter;
    let cell = x.saturating_sub(layout.gutter);
    is_moment.then(|| open.window.cell(cell, layout.cells()).start)
}

/// Zooms over the timeline, about the moment at which the mouse points; scrolls elsewhere.
pub(super) fn wheel(model: &mut Model, x: u16, y: u16, way: Way) {
    let layout = layout(model);
    if !layout.time.contains(Position::new(x, y)) {
        return choosing::rows(model, if way == Way::Next { 3 } else { -3 });
    }
    let at = moment(model, &layout, x, y);
    if let Reel::Open(open) = &mut model.reel {
        let micros = match way {
            Way::Next => open.window.micros.saturating_mul(2),
            Way::Previous => open.window.micros / 2,
        };
        let about = at.unwrap_or(open.place.at);
        open.window = open.window.zoomed(about, micros, open.bounds());
    }
}
