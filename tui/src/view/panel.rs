//! Owns the panel: lines about the selected object. Refuses a blank one: it says what is missing.

use super::line::{self, Drawn};
use super::pen::Pen;
use crate::answer::{Answer, Line, Target};
use crate::lane::{LaneReading, LaneState};
use crate::model::{Open, Pane, Panel};
use crate::theme::Role;
use ratatui::style::Modifier;
use unicode_width::UnicodeWidthStr as _;

/// Draws it.
pub(super) fn draw(open: &Open, pen: &mut Pen<'_>) {
    if pen.area.height == 0 {
        return;
    }
    let faint = pen.role(Role::Faint);
    let is_nearby = open.panel == Panel::Nearby;
    let Some(selected) = open
        .selected
        .as_ref()
        .map(|selected| selected.written(&open.timeline))
        .or_else(|| is_nearby.then(String::new))
    else {
        pen.head(0, "nothing is selected");
        pen.text(1, 1, "↑ ↓ selects a row, b browses resources", faint);
        return;
    };
    let sign = if open.pane == Pane::Panel { "> " } else { "" };
    if is_nearby {
        pen.head(0, &format!("{sign}CHANGED HERE · enter goes there"));
    } else {
        head(open, &format!("{sign}{selected}"), pen);
    }
    let Some(Answer::Lines(question, lines, _)) = &open.answer else {
        pen.text(1, 1, "reading …", faint);
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
        pen.text(1, 1, "reading …", faint);
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
        let next = line::draw(&drawn(open, line), y, pen);
        for row in y..next {
            if at == open.line && is_chosen {
                let chosen = pen.role(Role::Chosen).add_modifier(Modifier::REVERSED);
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

/// Draws what the panel is about, and what the lane says of it at the cursor.
fn head(open: &Open, selected: &str, pen: &mut Pen<'_>) {
    let tab = format!(" · {}", open.panel.word());
    let field = match (open.panel, crate::update::followed(open)) {
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

/// Gives what is said of a state, from the longest to the shortest: with the whole reason, with the
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

/// Chooses what is written on the left and the right of so many columns: the longest that fits, of the
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
fn first_line(open: &Open, lines: &[Line], pen: &Pen<'_>) -> usize {
    let width = usize::from(pen.area.width);
    let mut room = usize::from(pen.area.height.saturating_sub(1));
    let mut first = open.line;
    loop {
        let own = lines
            .get(first)
            .map_or(1, |line| line::rows_of(&drawn(open, line), width));
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

fn drawn<'a>(open: &'a Open, line: &'a Line) -> Drawn<'a> {
    let has_found = !open.reading.matches.is_empty();
    Drawn {
        line,
        is_broken: line.is_prose || open.reading.is_wrapped,
        wanted: if has_found { &open.reading.wanted } else { "" },
        is_marked: is_marked(open, line),
    }
}

/// Tells whether a line is the version that was marked.
fn is_marked(open: &Open, line: &Line) -> bool {
    let subject = open.selected.as_ref();
    let other = subject.and_then(|subject| open.reading.other_of(subject));
    matches!(line.target, Some(Target::Version(seq)) if Some(seq) == other)
}

/// Gives what the selected lane says at the cursor, and why.
fn state(open: &Open) -> Option<(LaneState, String)> {
    let lane = open.chosen_lane()?;
    let (state, why) = lane.at(open.place.at);
    if lane.reading == LaneReading::Presence && state != LaneState::Unknown {
        return None;
    }
    Some((state, why.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
