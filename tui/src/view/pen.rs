//! Writing on the screen: clipped to an area, with the styles of the theme.

use crate::layout::broken;
use crate::theme::{StyleRole, Theme};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr as _};

/// Writes on a part of the screen.
pub(super) struct ScreenPen<'a> {
    pub(super) buffer: &'a mut Buffer,
    pub(super) theme: Theme,
    pub(super) area: Rect,
}

impl ScreenPen<'_> {
    /// Writes on another part.
    pub(super) fn on(&mut self, area: Rect) -> ScreenPen<'_> {
        ScreenPen {
            area: area.intersection(self.buffer.area),
            buffer: self.buffer,
            theme: self.theme,
        }
    }

    /// Writes a text from a column of a row on; gives the column after it.
    pub(super) fn text(&mut self, column: u16, row: u16, text: &str, style: Style) -> u16 {
        let room = self.area.width.saturating_sub(column);
        self.within(column, row, text, room, style)
    }

    /// Writes a text within `room` columns; a longer one ends in `…`.
    pub(super) fn within(
        &mut self,
        column: u16,
        row: u16,
        text: &str,
        room: u16,
        style: Style,
    ) -> u16 {
        let room = room.min(self.area.width.saturating_sub(column));
        if row >= self.area.height || room == 0 {
            return column;
        }
        let (x, y) = (self.area.x + column, self.area.y + row);
        let text = &*apart(text);
        let is_cut = text.width() > usize::from(room);
        let own = if is_cut { room.saturating_sub(1) } else { room };
        let (end, _) = self.buffer.set_stringn(x, y, text, usize::from(own), style);
        let end = if is_cut {
            self.buffer.set_stringn(end, y, "…", 1, style).0
        } else {
            end
        };
        end.saturating_sub(self.area.x)
    }

    /// Writes a text on as many rows as it takes, broken between words; gives the row after it.
    pub(super) fn wrapped(&mut self, column: u16, row: u16, text: &str, style: Style) -> u16 {
        let room = usize::from(self.area.width.saturating_sub(column).max(1));
        let mut y = row;
        for part in broken(&apart(text), room) {
            self.text(column, y, part, style);
            y = y.saturating_add(1);
        }
        y
    }

    /// Writes a text that ends at the right edge; gives the column where it begins.
    pub(super) fn right(&mut self, row: u16, text: &str, style: Style) -> u16 {
        let text = &*apart(text);
        let width = columns(text.width()).min(self.area.width);
        let column = self.area.width - width;
        self.text(column, row, text, style);
        column
    }

    /// Gives the style of a part of the screen.
    pub(super) fn role(&self, role: StyleRole) -> Style {
        self.theme.role(role)
    }

    /// Tells whether nothing is written at a place.
    pub(super) fn is_blank(&self, column: u16, row: u16) -> bool {
        let place = (
            self.area.x.saturating_add(column),
            self.area.y.saturating_add(row),
        );
        let cell = self.buffer.cell(place);
        cell.is_some_and(|cell| cell.symbol() == " ")
    }

    /// Changes the style of part of a row, and leaves its letters.
    pub(super) fn paint(&mut self, column: u16, row: u16, width: u16, style: Style) {
        let own = Rect::new(
            self.area.x.saturating_add(column),
            self.area.y.saturating_add(row),
            width,
            1,
        );
        self.buffer.set_style(own.intersection(self.area), style);
    }

    /// Writes a head: a word, and a line to the right edge.
    pub(super) fn head(&mut self, row: u16, words: &str) {
        let style = self.role(StyleRole::Head);
        let end = self.text(0, row, words, style);
        let left = usize::from(self.area.width.saturating_sub(end + 1));
        let faint = self.role(StyleRole::Faint);
        self.text(end + 1, row, &"─".repeat(left), faint);
    }
}

/// Gives a width as columns of a screen; it saturates, for no screen is wider.
pub(super) fn columns(width: usize) -> u16 {
    u16::try_from(width).unwrap_or(u16::MAX)
}

/// Takes letters apart that some terminals draw as one and others as several: what follows them would
/// not stand where it should. Flags become the letters that they are made of.
fn apart(text: &str) -> Cow<'_, str> {
    const FLAG_A: u32 = 0x1f1e6;
    let alone = |letter: char| match letter {
        '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}' => None,
        '\u{1f1e6}'..='\u{1f1ff}' => {
            let place = u32::from(letter).saturating_sub(FLAG_A);
            char::from_u32(u32::from('A').saturating_add(place))
        }
        letter => Some(letter),
    };
    if text.is_ascii() || text.chars().all(|letter| alone(letter) == Some(letter)) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().filter_map(alone).collect())
}

/// Cuts a text in its middle, so that `room` columns hold it: names differ at their beginning or their end.
/// `head` of them are those of its beginning.
fn cut_at(text: &str, room: usize, head: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    let tail = room.saturating_sub(head + 1);
    let fill = |letters: &mut dyn Iterator<Item = char>, room: usize| {
        let mut columns = 0;
        let fitting = letters.take_while(|letter| {
            columns += UnicodeWidthChar::width(*letter).unwrap_or(0);
            columns <= room
        });
        fitting.collect::<Vec<char>>()
    };
    let begin = fill(&mut letters.iter().copied(), head);
    let end = fill(&mut letters.iter().rev().copied(), tail);
    begin
        .into_iter()
        .chain(['…'])
        .chain(end.into_iter().rev())
        .collect()
}

/// Shortens names to `room` columns, and no two different ones to the same text: where their middles are
/// all that differs, they are cut elsewhere, and numbered where that does not help.
pub(super) fn distinct(names: &[String], room: usize) -> Vec<String> {
    let room = room.max(3);
    let cut = |name: &String, head: usize| {
        if name.width() <= room {
            name.clone()
        } else {
            cut_at(name, room, head)
        }
    };
    let mut alike: BTreeMap<String, BTreeSet<&String>> = BTreeMap::new();
    for name in names {
        alike.entry(cut(name, room / 2)).or_default().insert(name);
    }
    let (alone, alike): (Vec<_>, Vec<_>) = alike.into_iter().partition(|(_, own)| own.len() == 1);
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut short: BTreeMap<&String, String> = BTreeMap::new();
    for (text, own) in alone {
        taken.insert(text.clone());
        short.extend(own.into_iter().map(|name| (name, text.clone())));
    }
    for own in alike.into_iter().map(|(_, own)| own) {
        let apart = (0..room).find(|head| {
            let texts: BTreeSet<String> = own.iter().map(|name| cut(name, *head)).collect();
            texts.len() == own.len() && texts.is_disjoint(&taken)
        });
        let mut number = 0_usize;
        for name in own {
            let text = apart.map_or_else(
                || {
                    loop {
                        number += 1;
                        let number = format!("~{number}");
                        let room = room.saturating_sub(number.len()).max(1);
                        let text = cut_at(name, room, room / 2) + &number;
                        if !taken.contains(&text) {
                            return text;
                        }
                    }
                },
                |head| cut(name, head),
            );
            taken.insert(text.clone());
            short.insert(name, text);
        }
    }
    let text = |name| short.get(name).cloned().unwrap_or_default();
    names.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_cut_where_they_do_not_differ() {
        let names = |names: &[&str], room| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            distinct(&names, room)
        };
        let expected = ["clust…caler", "dns"];
        assert_eq!(names(&["cluster-autoscaler", "dns"], 11), expected);
        let pods = ["web-7d4b9c5f6-abcde-0", "web-7d4b9c5f6-xbcde-0"];
        let short = names(&pods, 12);
        assert_ne!(short[0], short[1], "{short:?}");
        let odd = ["aaaaaaaa-1-bbbbbbbb-1-cccc", "aaaaaaaa-2-bbbbbbbb-1-cccc"];
        let short = names(&odd, 8);
        assert_ne!(short[0], short[1], "{short:?}");
    }

    proptest! {
        #[test]
        fn no_two_names_look_alike(all in prop::collection::btree_set("[ab日-]{1,14}", 1..9), room in 8_usize..16) {
            let names: Vec<String> = all.into_iter().collect();
            let short = distinct(&names, room);
            let unlike: BTreeSet<&String> = short.iter().collect();
            prop_assert_eq!(unlike.len(), names.len(), "{:?}", short);
            prop_assert!(short.iter().all(|name| name.width() <= room), "{:?}", short);
        }
    }
}
