//! Owns where everything lies on the screen: view and mouse read the same. Refuses to draw.

use crate::model::{Model, Screen};
use ratatui::layout::Rect;

/// The fewest columns and rows on which anything can be understood.
pub(crate) const SMALLEST: (u16, u16) = (40, 12);

/// Where everything lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The line that says where one is, and the one about trust.
    pub(crate) title: Rect,
    /// The timeline: stages, ruler, density, marks, as many as fit.
    pub(crate) time: Rect,
    /// The list.
    pub(crate) list: Rect,
    /// The panel; of no height where there is no room.
    pub(crate) panel: Rect,
    /// The keys.
    pub(crate) foot: Rect,
    /// How many columns lie before the first moment.
    pub(crate) gutter: u16,
}

impl Layout {
    /// Gives how many cells the timeline has.
    pub(crate) const fn cells(&self) -> u16 {
        self.time.width.saturating_sub(self.gutter)
    }
}

/// Lays out a screen.
pub(crate) fn layout(model: &Model) -> Layout {
    let (width, height) = model.size;
    let is_low = height < 20;
    let is_narrow = width < 70;
    let title_height = if is_low { 1 } else { 2 };
    let time_height = if is_low { 2 } else { 4 };
    let rest = height.saturating_sub(title_height + time_height + 1);
    let is_panel_focused = model
        .open()
        .is_some_and(|open| open.pane == crate::model::Pane::Panel);
    let list_height = match (&model.screen, is_low) {
        (Screen::Large, _) | (_, true) if is_panel_focused => 0,
        (Screen::Large, _) | (_, true) => rest,
        _ => rest.saturating_mul(9) / 20,
    };
    let row = |y: u16, height: u16| Rect::new(0, y, width, height);
    let below_title = title_height;
    let below_time = below_title + time_height;
    let below_list = below_time + list_height;
    Layout {
        title: row(0, title_height),
        time: row(below_title, time_height),
        list: row(below_time, list_height),
        panel: row(below_list, rest.saturating_sub(list_height)),
        foot: row(height.saturating_sub(1), 1),
        gutter: if is_narrow { 14 } else { 22 },
    }
}
