//! Where everything lies on the screen: view and mouse read the same.

use crate::answer::Panel;
use crate::keymap::grouped;
use crate::model::{ActiveScreen, List, Model, OpenReel, Pane, Panes};
use ratatui::layout::Rect;
use std::ops::Range;
use unicode_width::UnicodeWidthChar;

/// The fewest columns and rows on which anything can be understood.
pub(crate) const SMALLEST: (u16, u16) = (40, 12);
/// From this width on, the panel lies beside the list.
const WIDE: u16 = 110;
/// From this height on, the ruler has a second row.
const HIGH: u16 = 32;
/// Below this height, one pane shows at a time.
const LOW: u16 = 20;
/// From this many rows of the panel on, a part of it stands for what changed about the cursor.
const SPLIT: u16 = 24;
/// The fewest cells of the timeline.
const LEAST_CELLS: u16 = 40;
/// The columns of names, where they need no more: what stands beside the timeline fits.
const GUTTER: u16 = 22;
/// The same on a narrow screen.
const NARROW_GUTTER: u16 = 14;

/// Where everything lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The line that says where one is, and the one about trust.
    pub(crate) title: Rect,
    /// The timeline: stages, rulers, density, marks, as many as fit.
    pub(crate) time: Rect,
    /// The list.
    pub(crate) list: Rect,
    /// The panel; of no height where there is no room.
    pub(crate) panel: Rect,
    /// What changed about the cursor, below the panel; of no height where there is no room.
    pub(crate) standing: Rect,
    /// Between list and panel, where they lie side by side: one column.
    pub(crate) border: Option<Rect>,
    /// All between the timeline and the keys, for what covers list and panel.
    pub(crate) body: Rect,
    /// The keys.
    pub(crate) foot: Rect,
    /// How many columns lie before the first moment.
    pub(crate) gutter: u16,
    /// Whether the last row of the timeline shows the whole reel, of which the window is a part.
    pub(crate) has_minimap: bool,
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

/// Gives the first row that shows, so that a chosen one does, in the middle where it can.
pub(crate) fn first_row(chosen: usize, count: usize, height: u16) -> usize {
    let height = usize::from(height);
    let last = count.saturating_sub(height);
    chosen.saturating_sub(height / 2).min(last)
}

/// Lays out a screen.
pub(crate) fn layout(model: &Model) -> Layout {
    let (width, height) = model.size;
    let is_low = height < LOW;
    let title = Rect::new(0, 0, width, if is_low { 1 } else { 2 });
    let time_height = match height {
        ..LOW => 2,
        LOW..HIGH => 4,
        HIGH.. => 5,
    };
    let foot = Rect::new(0, height.saturating_sub(1), width, 1);
    let open = model.open();
    let has_minimap = !is_low && open.is_some_and(|open| open.window != open.bounds());
    let time_height = time_height + u16::from(has_minimap);
    let panes = open.map_or_else(Panes::default, |open| open.panes);
    // What covers list and panel takes all that the timeline leaves.
    let is_main = matches!(
        model.screen,
        ActiveScreen::Main
            | ActiveScreen::SaveAs(_)
            | ActiveScreen::Seek {
                is_large: false,
                ..
            }
    );
    let is_large = matches!(
        model.screen,
        ActiveScreen::Large | ActiveScreen::Seek { is_large: true, .. }
    );
    // A prompt leaves what it was opened over.
    let is_prompt = is_prompt(&model.screen);
    let is_main = is_main || is_prompt && !model.is_over_large;
    let is_large = is_large || is_prompt && model.is_over_large;
    let below_title = title.height;
    let below_time = below_title + time_height;
    let rest = height.saturating_sub(below_time + 1);
    let is_beside = is_main && !is_low && width >= WIDE;
    let least = GUTTER + LEAST_CELLS;
    let list_width = panes.own(true, width).clamp(least, width.max(least));
    let time_width = if is_beside { list_width } else { width };
    let gutter = gutter(open, time_width);
    let mut layout = Layout {
        title,
        time: Rect::new(0, below_title, time_width, time_height),
        list: Rect::new(0, below_time, width, 0),
        panel: Rect::new(0, below_time, width, 0),
        standing: Rect::new(0, below_time, width, 0),
        border: None,
        body: Rect::new(0, below_time, width, rest),
        foot,
        gutter,
        has_minimap,
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
        split(&mut layout, open);
    } else if is_large || is_low {
        if is_panel_chosen {
            layout.panel.height = rest;
        } else {
            layout.list.height = rest;
        }
    } else {
        // What the list does not need is the panel's.
        let needed = open.map_or(rest, rows_of);
        layout.list.height = panes.own(false, rest).min(needed);
        let below_list = below_time + layout.list.height;
        layout.panel = Rect::new(
            0,
            below_list,
            width,
            rest.saturating_sub(layout.list.height),
        );
    }
    layout
}

/// Tells whether a screen takes no more than the row of the keys, or what it lists above them.
const fn is_prompt(screen: &ActiveScreen) -> bool {
    matches!(
        screen,
        ActiveScreen::GoTo(_) | ActiveScreen::Filter(_) | ActiveScreen::Note(_)
    )
}

/// Gives how many columns lie before the first moment: as many as the longest name takes, if the timeline
/// can spare them.
fn gutter(open: Option<&OpenReel>, time_width: u16) -> u16 {
    let is_narrow = time_width < 60;
    let least = if is_narrow { NARROW_GUTTER } else { GUTTER };
    let names = open.filter(|open| open.list == List::Lanes);
    let longest = names.map_or(0, |open| open.lanes.longest);
    // Saturates: no screen is wider.
    let wanted = u16::try_from(longest).unwrap_or(u16::MAX).saturating_add(2);
    let most = time_width
        .saturating_sub(LEAST_CELLS)
        .min(time_width * 2 / 5);
    wanted.min(most).max(least)
}

/// Gives how many rows the list can fill.
fn rows_of(open: &OpenReel) -> u16 {
    let count = open.row_count();
    let heads = if open.list == List::Lanes { 0 } else { 3 };
    // Before they are known, the list keeps its share.
    match count {
        0 => u16::MAX,
        count => u16::try_from(count + heads).unwrap_or(u16::MAX),
    }
}

/// Lets what changed about the cursor stand below the panel, where there is room.
fn split(layout: &mut Layout, open: Option<&OpenReel>) {
    let panel = &mut layout.panel;
    let is_shown = open.is_some_and(|open| open.shown_panel() != Panel::Nearby);
    if !is_shown || panel.height < SPLIT {
        return;
    }
    let own = panel.height * 2 / 5;
    panel.height -= own;
    layout.standing = Rect {
        y: panel.y + panel.height,
        height: own,
        ..*panel
    };
}

/// The column of the page of keys in which what they do begins.
pub(crate) const HELP_DOES: u16 = 16;
/// The rows above its lines: the head, and the signs of states.
pub(crate) const HELP_TOP: u16 = 2;

/// A line of the page of keys.
pub(crate) enum HelpLine {
    /// What the keys below it have in common.
    Head(&'static str),
    /// A key, or none where the words before go on.
    Keys(&'static str, String),
}

/// Gives the lines of the page of keys of a screen, on `width` columns.
pub(crate) fn help_lines(of: &ActiveScreen, width: u16) -> Vec<HelpLine> {
    let room = usize::from(width.saturating_sub(HELP_DOES)).max(1);
    let mut lines = Vec::new();
    let put = |lines: &mut Vec<HelpLine>, keys, does| {
        for (number, words) in broken(does, room).into_iter().enumerate() {
            let keys = if number == 0 { keys } else { "" };
            lines.push(HelpLine::Keys(keys, words.to_owned()));
        }
    };
    for (head, rows) in grouped(of) {
        if rows.is_empty() {
            continue;
        }
        lines.push(HelpLine::Head(head));
        for row in rows {
            put(&mut lines, row.shown, row.does);
        }
    }
    lines.push(HelpLine::Head("SIGNS"));
    for (sign, meaning) in SIGNS {
        put(&mut lines, sign, meaning);
    }
    lines
}

/// The signs of the screen that are not those of states.
const SIGNS: [(&str, &str); 6] = [
    ("╌ ┼", "the object exists, it changed"),
    ("▲", "a problem"),
    (
        "▵",
        "planned, normal during an installation, or a finding that fails no run",
    ),
    ("░", "a gap: not observed"),
    ("╳", "an outage of the API"),
    (
        "problems N +M",
        "N problems, and M other findings: of tests, of the recording",
    ),
];

/// Gives the last line of the page of keys at which an area can begin: then it is full.
pub(crate) fn last_help_line(of: &ActiveScreen, area: Rect) -> usize {
    let height = usize::from(area.height.saturating_sub(HELP_TOP));
    help_lines(of, area.width).len().saturating_sub(height)
}

/// Breaks a text into rows of at most `room` columns, between words where it can.
pub(crate) fn broken(text: &str, room: usize) -> Vec<&str> {
    let rows = broken_at(text, room).into_iter();
    rows.filter_map(|row| text.get(row)).collect()
}

/// Gives the places of those rows in the text; spaces at which it is broken are left out.
pub(crate) fn broken_at(text: &str, room: usize) -> Vec<Range<usize>> {
    let room = room.max(2);
    let mut rows = Vec::new();
    let mut from = 0;
    loop {
        let rest = text.get(from..).unwrap_or_default();
        let mut columns = 0;
        let over = rest.char_indices().find(|(_, letter)| {
            columns += UnicodeWidthChar::width(*letter).unwrap_or(0);
            columns > room
        });
        let Some((end, _)) = over else {
            rows.push(from..text.len());
            return rows;
        };
        let fits = rest.get(..end).unwrap_or_default();
        let at_space = rest.get(end..).is_some_and(|rest| rest.starts_with(' '));
        // A word that is longer than half a row is broken where the row ends.
        let space = fits.rfind(' ').filter(|at| *at > end / 2);
        let cut = if at_space { end } else { space.unwrap_or(end) };
        rows.push(from..from + cut);
        let after = rest.get(cut..).unwrap_or_default();
        from += cut;
        if at_space || space.is_some() {
            from += after.len() - after.trim_start_matches(' ').len();
        }
        if from >= text.len() {
            return rows;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr as _;

    #[test]
    fn texts_are_broken_between_words() {
        assert_eq!(broken("one two three", 8), ["one two", "three"]);
        assert_eq!(broken("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(broken("日本語", 4), ["日本", "語"]);
        assert_eq!(broken("", 4), [""]);
    }

    proptest! {
        #[test]
        fn no_row_is_too_wide_and_no_letter_is_lost(text in "[a-c 日é]{0,60}", room in 0_usize..12) {
            let rows = broken(&text, room);
            prop_assert!(rows.iter().all(|row| row.width() <= room.max(2)), "{rows:?}");
            let letters = |text: &str| text.replace(' ', "");
            prop_assert_eq!(letters(&rows.concat()), letters(&text));
        }
    }
}
