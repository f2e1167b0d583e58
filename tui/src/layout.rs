//! Where everything lies on the screen: view and mouse read the same.

use crate::model::{ActiveScreen, Model, OpenReel, Pane, Panes};
use ratatui::layout::Rect;

/// The fewest columns and rows on which anything can be understood.
pub(crate) const SMALLEST: (u16, u16) = (40, 12);
/// From this width on, the panel lies beside the list.
const WIDE: u16 = 110;
/// From this height on, the ruler has a second row.
const HIGH: u16 = 32;
/// Below this height, one pane shows at a time.
const LOW: u16 = 20;
/// How many rows the strip of changes takes.
const STRIP: u16 = 6;
/// The fewest rows of the list.
const LEAST_ROWS: u16 = 4;
/// The fewest cells of the timeline.
const LEAST_CELLS: u16 = 40;

/// Where everything lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The line that says where one is, and the one about trust.
    pub(crate) title: Rect,
    /// The timeline: stages, rulers, density, marks, as many as fit.
    pub(crate) time: Rect,
    /// The list.
    pub(crate) list: Rect,
    /// What changed about the cursor, below the list; of no height where it is not shown.
    pub(crate) strip: Rect,
    /// The panel; of no height where there is no room.
    pub(crate) panel: Rect,
    /// Between list and panel, where they lie side by side: one column.
    pub(crate) border: Option<Rect>,
    /// All between the timeline and the keys, for what covers list and panel.
    pub(crate) body: Rect,
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

    /// Tells whether a cell of the screen lies on what divides list and panel.
    pub(crate) const fn is_border(&self, x: u16, y: u16) -> bool {
        match self.border {
            Some(border) => x == border.x && y >= border.y && y < border.y + border.height,
            // The head of the panel divides them.
            None => self.panel.height > 0 && self.list.height > 0 && y == self.panel.y,
        }
    }
}

/// Lays out a screen.
pub(crate) fn layout(model: &Model) -> Layout {
    let (width, height) = model.size;
    let is_low = height < LOW;
    let gutter = if width < 70 { 14 } else { 22 };
    let title = Rect::new(0, 0, width, if is_low { 1 } else { 2 });
    let time_height = match height {
        ..LOW => 2,
        LOW..HIGH => 4,
        HIGH.. => 5,
    };
    let foot = Rect::new(0, height.saturating_sub(1), width, 1);
    let open = model.open();
    let panes = open.map_or_else(Panes::default, |open| open.panes);
    // What covers list and panel takes all that the timeline leaves.
    let is_main = matches!(
        model.screen,
        ActiveScreen::Main
            | ActiveScreen::GoTo(_)
            | ActiveScreen::Filter(_)
            | ActiveScreen::Note(_)
            | ActiveScreen::Seek {
                is_large: false,
                ..
            }
    );
    let is_large = matches!(
        model.screen,
        ActiveScreen::Large | ActiveScreen::Seek { is_large: true, .. }
    );
    let below_title = title.height;
    let below_time = below_title + time_height;
    let rest = height.saturating_sub(below_time + 1);
    let list_width = panes
        .own(true, width)
        .clamp(gutter + LEAST_CELLS, width.max(gutter + LEAST_CELLS));
    let is_beside = is_main && !is_low && width >= WIDE;
    let time_width = if is_beside { list_width } else { width };
    let mut layout = Layout {
        title,
        time: Rect::new(0, below_title, time_width, time_height),
        list: Rect::new(0, below_time, width, 0),
        strip: Rect::new(0, below_time, width, 0),
        panel: Rect::new(0, below_time, width, 0),
        border: None,
        body: Rect::new(0, below_time, width, rest),
        foot,
        gutter,
    };
    let is_panel_chosen = open.is_some_and(|open| open.pane == Pane::Panel);
    if is_beside {
        let border = Rect::new(list_width, below_title, 1, rest + time_height);
        layout.border = Some(border);
        layout.panel = Rect {
            x: list_width + 1,
            width: width.saturating_sub(list_width + 1),
            ..border
        };
        layout.list = Rect::new(0, below_time, list_width, rest);
        divide(&mut layout, open);
    } else if is_large || is_low {
        if is_panel_chosen {
            layout.panel.height = rest;
        } else {
            layout.list.height = rest;
        }
    } else {
        layout.list.height = panes.own(false, rest);
        let below_list = below_time + layout.list.height;
        layout.panel = Rect::new(
            0,
            below_list,
            width,
            rest.saturating_sub(layout.list.height),
        );
        divide(&mut layout, open);
    }
    layout
}

/// Gives the strip of changes the last rows of the list, if it is shown and there is room.
fn divide(layout: &mut Layout, open: Option<&OpenReel>) {
    let list = &mut layout.list;
    if open.is_none_or(|open| !open.has_changed_strip) || list.height < LEAST_ROWS + STRIP {
        return;
    }
    list.height -= STRIP;
    layout.strip = Rect {
        y: list.y + list.height,
        height: STRIP,
        ..*list
    };
}
