//! Owns how a line of a panel falls into rows: cut or broken, what is looked for marked. Refuses to
//! choose which lines show.

use super::pen::{Pen, broken_at};
use crate::answer::{Ink, Line};
use crate::theme::Role;
use unicode_width::UnicodeWidthStr as _;

/// Where less is left for the text, what stands at the right end is left out.
const NARROWEST_TEXT: usize = 24;

/// How a line is drawn.
pub(super) struct Drawn<'a> {
    /// The line.
    pub(super) line: &'a Line,
    /// Whether it is broken where it is too long.
    pub(super) is_broken: bool,
    /// What is looked for, in lower case; empty for nothing.
    pub(super) wanted: &'a str,
    /// Whether it is the version that was marked.
    pub(super) is_marked: bool,
}

/// Gives how much of a row the text may take, and whether what stands beside it shows.
fn room(line: &Line, width: usize) -> (usize, bool) {
    let own: usize = line.parts.iter().map(|(_, text)| text.width()).sum();
    let aside = line.aside.width();
    let has_room = aside > 0 && own.max(NARROWEST_TEXT) + aside + 3 <= width;
    let is_kept = aside > 0 && !has_room && width > NARROWEST_TEXT + aside + 3;
    let room = if is_kept { width - aside - 2 } else { width };
    (room, has_room || is_kept)
}

/// Gives how many rows a line takes.
pub(super) fn rows_of(drawn: &Drawn<'_>, width: usize) -> usize {
    let (room, _) = room(drawn.line, width);
    let text = drawn.line.text();
    if drawn.is_broken && text.width() > room {
        rows(&[(Ink::Plain, text.as_str())], room).len()
    } else {
        1
    }
}

/// Draws a line from a row on; gives the row after it.
pub(super) fn draw(drawn: &Drawn<'_>, y: u16, pen: &mut Pen<'_>) -> u16 {
    let line = drawn.line;
    let (room, shows_aside) = room(line, usize::from(pen.area.width));
    let own: usize = line.parts.iter().map(|(_, text)| text.width()).sum();
    let parts = marked(&line.parts, drawn.wanted);
    let mut next = y;
    if drawn.is_broken && own > room {
        for row in rows(&parts, room) {
            row_of(&row, next, room, pen);
            next = next.saturating_add(1);
        }
    } else {
        row_of(&parts, y, room, pen);
        next = next.saturating_add(1);
    }
    if drawn.is_marked {
        let chosen = pen.role(Role::Chosen);
        pen.text(0, y, "◆", chosen);
    }
    if shows_aside {
        let faint = pen.role(Role::Faint);
        pen.right(y, &line.aside, faint);
    }
    next
}

fn row_of(parts: &[(Ink, &str)], y: u16, room: usize, pen: &mut Pen<'_>) {
    let room = u16::try_from(room).unwrap_or(u16::MAX);
    let mut x = 0;
    for (ink, text) in parts {
        let style = pen.theme.ink(*ink);
        x = pen.within(x, y, text, room.saturating_sub(x), style);
    }
}

/// Breaks parts into rows; rows after the first are indented as the first one is.
fn rows<'a>(parts: &[(Ink, &'a str)], room: usize) -> Vec<Vec<(Ink, &'a str)>> {
    const BLANKS: &str = "                ";
    let text: String = parts.iter().map(|(_, text)| *text).collect();
    let indent = text.len() - text.trim_start_matches(' ').len();
    let indent = (indent + 2).min(BLANKS.len()).min(room / 3);
    let first = broken_at(&text, room).into_iter().next().unwrap_or(0..0);
    let mut places = vec![first.clone()];
    let rest = text.get(first.end..).unwrap_or_default();
    let from = text.len() - rest.trim_start_matches(' ').len();
    if from < text.len() {
        let rest = text.get(from..).unwrap_or_default();
        let later = broken_at(rest, room - indent).into_iter();
        places.extend(later.map(|row| row.start + from..row.end + from));
    }
    let mut all = Vec::new();
    for (number, place) in places.into_iter().enumerate() {
        let mut row = Vec::new();
        if number > 0 {
            row.extend(BLANKS.get(..indent).map(|blanks| (Ink::Plain, blanks)));
        }
        let mut at = 0;
        for (ink, part) in parts {
            let from = place.start.max(at).saturating_sub(at);
            let to = place.end.min(at + part.len()).saturating_sub(at);
            if let Some(piece) = part.get(from..to).filter(|piece| !piece.is_empty()) {
                row.push((*ink, piece));
            }
            at += part.len();
        }
        all.push(row);
    }
    all
}

/// Marks what is looked for, where it lies within one part.
fn marked<'a>(parts: &'a [(Ink, String)], wanted: &str) -> Vec<(Ink, &'a str)> {
    let mut all = Vec::new();
    for (ink, text) in parts {
        let mut rest = text.as_str();
        while let Some(at) = place(rest, wanted) {
            let (before, found) = rest.split_at_checked(at.start).unwrap_or((rest, ""));
            let (found, after) = found
                .split_at_checked(at.end - at.start)
                .unwrap_or((found, ""));
            all.extend([(*ink, before), (Ink::Found, found)]);
            rest = after;
        }
        all.push((*ink, rest));
    }
    all.retain(|(_, text)| !text.is_empty());
    all
}

/// Finds a text whose letters may be larger or smaller.
fn place(text: &str, wanted: &str) -> Option<std::ops::Range<usize>> {
    if wanted.is_empty() {
        return None;
    }
    text.char_indices().find_map(|(at, _)| {
        let rest = text.get(at..)?;
        let mut lower = rest.char_indices().flat_map(|(place, letter)| {
            let end = place + letter.len_utf8();
            letter.to_lowercase().map(move |small| (end, small))
        });
        let mut end = 0;
        for letter in wanted.chars() {
            let (after, small) = lower.next()?;
            if small != letter {
                return None;
            }
            end = after;
        }
        Some(at..at + end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_looked_for_is_marked_in_whatever_case() {
        let parts = [
            (Ink::Plain, "a Web web".to_owned()),
            (Ink::Faint, "éWEBé".to_owned()),
        ];
        let found: Vec<&str> = marked(&parts, "web")
            .into_iter()
            .filter(|(ink, _)| *ink == Ink::Found)
            .map(|(_, text)| text)
            .collect();
        assert_eq!(found, ["Web", "web", "WEB"]);
    }

    proptest! {
        #[test]
        fn rows_hold_all_letters_and_fit(one in "[a-c 日é]{0,30}", other in "[a-c ]{0,30}", room in 6_usize..20) {
            let parts = [(Ink::Plain, one.as_str()), (Ink::Faint, other.as_str())];
            let rows = rows(&parts, room);
            let text: String = rows.iter().flatten().map(|(_, text)| *text).collect();
            let letters = |text: &str| text.replace(' ', "");
            prop_assert_eq!(letters(&text), letters(&format!("{one}{other}")));
            for row in rows {
                let width: usize = row.iter().map(|(_, text)| text.width()).sum();
                prop_assert!(width <= room, "{row:?}");
            }
        }
    }
}
