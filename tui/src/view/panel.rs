//! The panel: lines about the selected object, cut or wrapped. A blank panel says what is missing.

use super::pen::{ScreenPen, columns};
use crate::answer::{Ink, LineTarget, Panel, PanelLine, ScreenAnswer};
use crate::lane::{LaneReading, LaneState};
use crate::layout::broken_at;
use crate::model::{OpenReel, Pane};
use crate::theme::StyleRole;
use ratatui::style::Modifier;
use unicode_width::UnicodeWidthStr as _;

/// Draws it.
pub(super) fn draw(open: &OpenReel, pen: &mut ScreenPen<'_>) {
    if pen.area.height == 0 {
        return;
    }
    let faint = pen.role(StyleRole::Faint);
    let is_nearby = open.shown_panel() == Panel::Nearby;
    let plain = open.chosen_plain();
    let plain = plain.map(|lane| lane.subject.written(&open.timeline));
    let selected = open.selected.as_ref();
    let Some(selected) = plain
        .or_else(|| about_no_object(open).map(str::to_owned))
        .or_else(|| selected.map(|selected| selected.written(&open.timeline)))
        .or_else(|| (is_nearby || open.told().is_some()).then(String::new))
    else {
        pen.head(0, "nothing selected");
        pen.text(1, 1, "↑ ↓ selects a row, b lists resources", faint);
        return;
    };
    let sign = if open.pane == Pane::Panel { "> " } else { "" };
    if is_nearby {
        pen.head(0, &format!("{sign}RECENT CHANGES · enter goes there"));
    } else {
        head(open, &format!("{sign}{selected}"), pen);
    }
    let Some(ScreenAnswer::Lines(question, lines, _)) = &open.answer else {
        pen.text(1, 1, "loading …", faint);
        return;
    };
    let is_late = open.asked.iter().flatten().all(|asked| asked != question);
    if is_late
        && !open
            .asked
            .iter()
            .flatten()
            .any(|asked| crate::answer::is_same_thing(asked, question))
    {
        pen.text(1, 1, "loading …", faint);
        return;
    }
    let is_chosen = open.pane == Pane::Panel;
    let first = if is_chosen {
        first_line(open, lines, pen)
    } else {
        open.scroll
    };
    let mut y = 1;
    for (at, line) in lines.iter().enumerate().skip(first) {
        if y >= pen.area.height {
            break;
        }
        let next = draw_line(&drawn(open, line), y, pen);
        for row in y..next {
            if at == open.line && is_chosen {
                let chosen = pen.role(StyleRole::Chosen).add_modifier(Modifier::REVERSED);
                pen.paint(0, row, pen.area.width, chosen);
            }
            if is_late {
                // It is how things were where the cursor stood a moment ago.
                pen.paint(0, row, pen.area.width, faint);
            }
        }
        y = next;
    }
}

/// Gives what a problem is about that is shown and is not one of an object.
fn about_no_object(open: &OpenReel) -> Option<&str> {
    let told = open.told().filter(|told| told.subject.is_none())?;
    Some(&told.about)
}

/// Draws what changed about the cursor, in the pane that stands below the panel.
pub(super) fn draw_standing(open: &OpenReel, pen: &mut ScreenPen<'_>) {
    if pen.area.height == 0 {
        return;
    }
    pen.head(0, "RECENT CHANGES · W goes there");
    let Some(ScreenAnswer::Lines(_, lines, _)) = &open.standing else {
        let faint = pen.role(StyleRole::Faint);
        pen.text(1, 1, "loading …", faint);
        return;
    };
    let mut y = 1;
    for line in lines.iter() {
        if y >= pen.area.height {
            return;
        }
        let shown = ShownLine {
            line,
            is_broken: !open.reading.is_cut,
            wanted: "",
            is_marked: false,
        };
        y = draw_line(&shown, y, pen);
    }
}

/// Draws what the panel is about, and what the lane says of it at the cursor.
fn head(open: &OpenReel, selected: &str, pen: &mut ScreenPen<'_>) {
    let panel = open.shown_panel();
    let tab = match open.told().and_then(|told| told.listed) {
        None if open.chosen_plain().is_some() => String::new(),
        Some(place) => format!(" · problem {}", place + 1),
        None => format!(" · {}", panel.word()),
    };
    let field = match (panel, crate::update::followed(open)) {
        (Panel::Yaml, Some(field)) => {
            format!(
                "{tab} · .{}",
                kubereel_history::harmless(&field.to_string())
            )
        }
        _ => tab.clone(),
    };
    let state = state(open);
    let [whole, short, brief] = state
        .as_ref()
        .map_or_else(Default::default, |(state, why)| lengths(*state, why));
    let room = usize::from(pen.area.width);
    let (left, right) = fitted(selected, &[&field, &tab], &[&whole, &short, &brief], room);
    pen.head(0, &left);
    if let Some((state, _)) = state {
        let style = pen.theme.state(state);
        pen.right(0, right, style);
    }
}

/// Gives the descriptions of a state, from the longest to the shortest: with the whole reason, with the
/// condition only that it begins with ("Degraded=True"), without one.
fn lengths(state: LaneState, why: &str) -> [String; 3] {
    let brief = format!(" {} {}", state.glyph(), state.word());
    let first = why.split_whitespace().next();
    let condition = first.filter(|word| word.contains('=')).unwrap_or_default();
    let with = |why: &str| {
        if why.is_empty() {
            brief.clone()
        } else {
            format!("{brief} {why}")
        }
    };
    [with(why), with(condition), brief.clone()]
}

/// Chooses what is written on the left and the right of `room` columns: the longest that fits, of the
/// right first. What is selected stands alone on the left only where not even the shortest right has
/// room for more. It is cut last, and at its beginning: names that are alike differ at their end.
fn fitted<'a>(
    selected: &str,
    lefts: &[&str],
    rights: &[&'a str],
    room: usize,
) -> (String, &'a str) {
    let taken = |right: &str| right.width() + usize::from(!right.is_empty());
    for lefts in [lefts, &[""]] {
        for right in rights {
            for left in lefts {
                if selected.width() + left.width() + taken(right) <= room {
                    return (format!("{selected}{left}"), right);
                }
            }
        }
    }
    let right = rights.last().copied().unwrap_or_default();
    let (kind, name) = selected.rsplit_once(' ').unwrap_or(("", selected));
    let room = room.saturating_sub(taken(right) + kind.width() + " …".width());
    let fits = |(at, _): &(usize, char)| name.get(*at..).is_some_and(|end| end.width() <= room);
    let end = name.char_indices().find(fits);
    let end = end.and_then(|(at, _)| name.get(at..)).unwrap_or_default();
    (format!("{kind} …{end}"), right)
}

/// Gives the first line that shows, so that the one at which the keys are does, also where lines above
/// it take several rows.
fn first_line(open: &OpenReel, lines: &[PanelLine], pen: &ScreenPen<'_>) -> usize {
    let width = usize::from(pen.area.width);
    let mut room = usize::from(pen.area.height.saturating_sub(1));
    let mut first = open.line;
    loop {
        let own = lines
            .get(first)
            .map_or(1, |line| rows_of(&drawn(open, line), width));
        if own > room {
            return (first + 1).min(open.line).max(open.scroll);
        }
        room -= own;
        if first <= open.scroll {
            return open.scroll;
        }
        first -= 1;
    }
}

fn drawn<'a>(open: &'a OpenReel, line: &'a PanelLine) -> ShownLine<'a> {
    let has_found = !open.reading.matches.is_empty();
    ShownLine {
        line,
        is_broken: !open.reading.is_cut,
        wanted: if has_found { &open.reading.wanted } else { "" },
        is_marked: is_marked(open, line),
    }
}

/// Tells whether a line is the version that was marked.
fn is_marked(open: &OpenReel, line: &PanelLine) -> bool {
    let subject = open.selected.as_ref();
    let other = subject.and_then(|subject| open.reading.other_of(subject));
    matches!(line.target, Some(LineTarget::Version(seq)) if Some(seq) == other)
}

/// Gives what the selected lane says at the cursor, and why.
fn state(open: &OpenReel) -> Option<(LaneState, String)> {
    if about_no_object(open).is_some() && open.chosen_plain().is_none() {
        // The chosen lane is that of an object.
        return None;
    }
    let lane = open.chosen_lane()?;
    let (state, why) = lane.at(open.place);
    if lane.reading == LaneReading::Presence && state != LaneState::Unknown {
        return None;
    }
    Some((state, why.to_string()))
}

/// Where less is left for the text, what stands at the right end is left out.
const NARROWEST_TEXT: usize = 24;

/// How a line is drawn.
struct ShownLine<'a> {
    /// The line.
    pub(super) line: &'a PanelLine,
    /// Whether it is broken where it is too long.
    is_broken: bool,
    /// What is looked for, in lower case; empty for nothing.
    pub(super) wanted: &'a str,
    /// Whether it is the version that was marked.
    is_marked: bool,
}

/// Gives how much of a row the text may take, and whether what stands beside it shows.
fn text_room(line: &PanelLine, width: usize) -> (usize, bool) {
    let own: usize = line.parts.iter().map(|(_, text)| text.width()).sum();
    let aside = line.aside.width();
    let has_room = aside > 0 && own.max(NARROWEST_TEXT) + aside + 3 <= width;
    let is_kept = aside > 0 && !has_room && width > NARROWEST_TEXT + aside + 3;
    let room = if is_kept { width - aside - 2 } else { width };
    (room, has_room || is_kept)
}

/// Gives how many rows a line takes.
fn rows_of(drawn: &ShownLine<'_>, width: usize) -> usize {
    let (room, _) = text_room(drawn.line, width);
    let text = drawn.line.text();
    if drawn.is_broken && text.width() > room {
        wrapped_rows(&[(Ink::Plain, text.as_str())], room).len()
    } else {
        1
    }
}

/// Draws a line from a row on; gives the row after it.
fn draw_line(drawn: &ShownLine<'_>, y: u16, pen: &mut ScreenPen<'_>) -> u16 {
    let line = drawn.line;
    let (room, shows_aside) = text_room(line, usize::from(pen.area.width));
    let own: usize = line.parts.iter().map(|(_, text)| text.width()).sum();
    let parts = highlighted(&line.parts, drawn.wanted);
    let mut next = y;
    if drawn.is_broken && own > room {
        for row in wrapped_rows(&parts, room) {
            draw_parts(&row, next, room, pen);
            next = next.saturating_add(1);
        }
    } else {
        draw_parts(&parts, y, room, pen);
        next = next.saturating_add(1);
    }
    if drawn.is_marked {
        let chosen = pen.role(StyleRole::Chosen);
        pen.text(0, y, "◆", chosen);
    }
    if shows_aside {
        let faint = pen.role(StyleRole::Faint);
        pen.right(y, &line.aside, faint);
    }
    next
}

fn draw_parts(parts: &[(Ink, &str)], y: u16, room: usize, pen: &mut ScreenPen<'_>) {
    let room = columns(room);
    let mut x = 0;
    for (ink, text) in parts {
        let style = pen.theme.ink(*ink);
        x = pen.within(x, y, text, room.saturating_sub(x), style);
    }
}

/// Breaks parts into rows; rows after the first are indented as the first one is.
fn wrapped_rows<'a>(parts: &[(Ink, &'a str)], room: usize) -> Vec<Vec<(Ink, &'a str)>> {
    const BLANKS: &str = "                ";
    let text: String = parts.iter().map(|(_, text)| *text).collect();
    // A line that changed last begins with a mark.
    let blanks = text
        .chars()
        .take_while(|letter| matches!(letter, ' ' | '▌'));
    let indent = blanks.count();
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
fn highlighted<'a>(parts: &'a [(Ink, String)], wanted: &str) -> Vec<(Ink, &'a str)> {
    let mut all = Vec::new();
    for (ink, text) in parts {
        let mut rest = text.as_str();
        while let Some(at) = find_text(rest, wanted) {
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
fn find_text(text: &str, wanted: &str) -> Option<std::ops::Range<usize>> {
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
    fn a_reason_that_does_not_fit_leaves_its_condition() {
        assert_eq!(
            lengths(LaneState::Bad, "Degraded=True NodeInstallerDegraded"),
            [
                " ▓ bad Degraded=True NodeInstallerDegraded",
                " ▓ bad Degraded=True",
                " ▓ bad"
            ]
        );
        let [whole, short, brief] = lengths(LaneState::Bad, "no conditions yet");
        assert_eq!(whole, " ▓ bad no conditions yet");
        assert_eq!([short, brief], [" ▓ bad"; 2]);
        assert_eq!(lengths(LaneState::Bad, ""), [" ▓ bad"; 3]);
    }

    #[test]
    fn a_name_is_cut_last_and_keeps_its_end() {
        let pod = "> pod openshift-cluster-version/version-4.21.9-m9667";
        let told = |room| {
            let (left, right) = fitted(
                pod,
                &[" · yaml · .status", " · yaml"],
                &[" ▓ bad Why", " ▓ bad"],
                room,
            );
            format!("{left}|{right}")
        };
        assert_eq!(told(80), format!("{pod} · yaml · .status| ▓ bad Why"));
        assert_eq!(told(72), format!("{pod} · yaml| ▓ bad Why"));
        assert_eq!(told(66), format!("{pod} · yaml| ▓ bad"));
        assert_eq!(told(65), format!("{pod}| ▓ bad Why"));
        assert_eq!(told(59), format!("{pod}| ▓ bad"));
        assert_eq!(told(36), "> pod …n/version-4.21.9-m9667| ▓ bad");
        assert_eq!(told(9), "> pod …| ▓ bad");
    }

    #[test]
    fn what_is_looked_for_is_marked_in_whatever_case() {
        let parts = [
            (Ink::Plain, "a Web web".to_owned()),
            (Ink::Faint, "éWEBé".to_owned()),
        ];
        let found: Vec<&str> = highlighted(&parts, "web")
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
            let rows = wrapped_rows(&parts, room);
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
