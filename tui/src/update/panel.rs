//! What the panel shows and where its keys are: its lines, their targets, its search, the field that is
//! followed, and the comparison of two moments.

use super::{choosing, lane_rows, messages, moving, opening};
use crate::answer::{
    FieldSearch, Ink, LineTarget, Panel, PanelLine, ScreenAnswer, ScreenSearch, SearchResult,
};
use crate::effect::Effect;
use crate::lane::CONTAINER_PART;
use crate::layout::layout;
use crate::model::{ActiveScreen, List, Model, OpenReel, Pane, ReelState};
use crate::subject::NamedObject;
use crate::time::{CursorPlace, TimeDirection};
use kubereel_format::{EventType, Seq};
use kubereel_history::{FieldPath, harmless};
use std::sync::Arc;

/// Gives how many rows a panel of a height has for lines: the head takes one.
pub(super) fn rows(height: u16) -> usize {
    usize::from(height.saturating_sub(1)).max(1)
}

/// Puts the keys at a line, and scrolls as little as makes it visible.
pub(super) fn stand(open: &mut OpenReel, line: usize, height: u16) {
    open.line = line;
    let first = (line + 1).saturating_sub(rows(height));
    open.scroll = open.scroll.clamp(first, line);
    if open.shown_panel() == Panel::Yaml
        && let Some(field) = field_at(open, line)
    {
        open.field = Some(field);
    }
}

/// Scrolls by lines, as the mouse does; where the keys are in the panel, they go along.
pub(super) fn scroll(open: &mut OpenReel, by: i64, height: u16) {
    let count = open.answer.as_ref().map_or(0, messages::line_count);
    if open.pane == Pane::Panel {
        let line = choosing::stepped(open.line, by, count);
        stand(open, line, height);
    } else {
        let firsts = (count + 1).saturating_sub(rows(height));
        open.scroll = choosing::stepped(open.scroll, by, firsts);
    }
}

/// Takes note that the panel has new lines, perhaps of the same thing at another moment.
pub(super) fn answered(open: &mut OpenReel, is_same: bool) {
    let Some(ScreenAnswer::Lines(_, lines, first)) = &open.answer else {
        return;
    };
    let own = open
        .field
        .as_ref()
        .filter(|_| open.shown_panel() == Panel::Yaml);
    let found = own.and_then(|own| {
        lines
            .iter()
            .position(|line| line.field.as_ref() == Some(own))
    });
    let changed = || {
        lines
            .iter()
            .position(|line| is_changed(line) && line.field.is_some())
    };
    open.line = match found {
        Some(line) => line,
        None if is_same => open.line.min(lines.len().saturating_sub(1)),
        None => changed().unwrap_or(*first),
    };
    if open.pane == Pane::Panel && found.is_some() {
        // Who reads there wants to see what becomes of it.
        open.scroll = open.line.saturating_sub(SPARE);
    }
}

/// How many lines show above the field that is followed.
const SPARE: usize = 4;

fn is_changed(line: &PanelLine) -> bool {
    line.parts.iter().any(|(ink, _)| *ink == Ink::Changed)
}

/// Gives the field that a line of the panel shows.
fn field_at(open: &OpenReel, line: usize) -> Option<FieldPath> {
    match &open.answer {
        Some(ScreenAnswer::Lines(_, lines, _)) => lines.get(line)?.field.clone(),
        _ => None,
    }
}

/// Gives the field that is followed: the one that was chosen, the status of the lane's condition, or
/// the one at the panel's line.
pub(crate) fn followed(open: &OpenReel) -> Option<FieldPath> {
    let at_line = || (open.shown_panel() == Panel::Yaml).then(|| field_at(open, open.line))?;
    let chosen = open.field.clone().or_else(|| field_of_lane(open));
    chosen.or_else(at_line)
}

/// Gives the status of the lane's condition.
fn field_of_lane(open: &OpenReel) -> Option<FieldPath> {
    let condition = open.condition.as_deref();
    let condition = condition.filter(|part| !part.starts_with(CONTAINER_PART))?;
    let key = kubereel_history::KeyPart {
        name: "type".to_owned(),
        value: condition.to_owned(),
    };
    let member = |name: &str| kubereel_history::FieldStep::Member(name.to_owned());
    let item = kubereel_history::FieldStep::Item(vec![key]);
    Some(
        [
            member("status"),
            member("conditions"),
            item,
            member("status"),
        ]
        .into_iter()
        .collect(),
    )
}

/// Shows something of the object.
pub(super) fn show_panel(open: &mut OpenReel, panel: Panel) {
    let is_told = open.told.take().is_some();
    if open.panel == panel && panel == Panel::Diff && !is_told {
        // Once more: back to the version before.
        open.reading.other = None;
    }
    if open.panel != panel || is_told {
        open.panel = panel;
        open.scroll = 0;
        open.line = 0;
        open.reading.matches.clear();
    }
}

/// Gives where the line leads at which the keys are.
fn target(open: &OpenReel) -> Option<&LineTarget> {
    match &open.answer {
        Some(ScreenAnswer::Lines(_, lines, _)) => lines.get(open.line)?.target.as_ref(),
        _ => None,
    }
}

/// Tells whether the line leads somewhere at which the keys are.
pub(super) fn leads(open: &OpenReel) -> bool {
    open.pane == Pane::Panel && target(open).is_some()
}

/// Goes where that line leads, or marks its version; gives a word for it.
pub(super) fn follow_target(open: &mut OpenReel) -> Option<String> {
    match target(open).cloned()? {
        LineTarget::Object(subject) => {
            let words = subject.written(&open.timeline);
            go_to(open, subject);
            Some(words)
        }
        LineTarget::Moment(seq, subject) => {
            go_back_to(open, seq, subject);
            None
        }
        LineTarget::Version(seq) => {
            let subject = open.selected.clone()?;
            let at = open
                .timeline
                .written(CursorPlace::behind(&open.timeline, seq).at);
            Some(if open.reading.mark(&subject, seq) {
                format!("version of {at} marked: D diffs it with the current one")
            } else {
                "mark removed: D diffs with the previous version".to_owned()
            })
        }
    }
}

/// Selects an object, and lists it if it has no row.
fn go_to(open: &mut OpenReel, subject: NamedObject) {
    let resource = subject.resource;
    open.selected = Some(subject);
    open.condition = None;
    messages::reveal(open);
    if open.row().is_none() {
        open.list = List::Objects(resource);
        open.table = None;
        messages::reveal(open);
    }
}

/// Goes to an object and to the moment at which it changed.
fn go_back_to(open: &mut OpenReel, seq: Seq, subject: NamedObject) {
    let place = CursorPlace::behind(&open.timeline, seq);
    open.selected = Some(subject);
    let (select, namespace) = open.chosen();
    // What was recorded can be named.
    drop(opening::choose(open, &select, &namespace));
    messages::reveal(open);
    let is_new = open.timeline.reel().kind_of(seq) == Some(EventType::Added);
    let panel = if is_new { Panel::Yaml } else { Panel::Diff };
    show_panel(open, panel);
    open.reading.other = None;
    open.pane = Pane::List;
    open.field = None;
    moving::jump(open, place);
}

/// Begins a search.
pub(super) fn begin_seek(open: &mut OpenReel, is_large: bool) -> ActiveScreen {
    if is_of_log(open) {
        open.stream.wanted.clear();
        "search the log".clone_into(&mut open.reading.hint);
    } else {
        open.reading.wanted.clear();
        find_matches(open);
    }
    ActiveScreen::Seek {
        text: String::new(),
        is_large,
    }
}

/// Tells whether a search is one in the log of transitions.
pub(super) fn is_of_log(open: &OpenReel) -> bool {
    open.list == List::Stream && open.pane == Pane::List
}

/// Looks for what is being written.
pub(super) fn follow_seek(model: &mut Model) {
    let height = layout(model).panel.height;
    if let (ActiveScreen::Seek { text, .. }, ReelState::Open(open)) =
        (&model.screen, &mut model.reel)
    {
        let wanted = text.to_lowercase();
        if is_of_log(open) {
            let is_found = lane_rows::seek_in_log(open, wanted);
            let hint = match (text.is_empty(), is_found) {
                (true, _) => "search the log",
                (_, true) => "enter, then n N go to the next, the previous",
                (_, false) => "nowhere",
            };
            hint.clone_into(&mut open.reading.hint);
            return;
        }
        if open.reading.wanted != wanted {
            open.reading.wanted = wanted;
            open.reading.at = 0;
            find_matches(open);
            show_match(open, height);
        }
    }
}

/// Finds the lines that hold what is looked for.
pub(super) fn find_matches(open: &mut OpenReel) {
    let wanted = open.reading.wanted.as_str();
    let lines = match &open.answer {
        Some(ScreenAnswer::Lines(_, lines, _)) if !wanted.is_empty() => lines.as_slice(),
        _ => &[],
    };
    let all = (0..).zip(lines);
    let all = all.filter(|(_, line)| line.text().to_lowercase().contains(wanted));
    let matches: Vec<usize> = all.map(|(at, _)| at).collect();
    open.reading.at = open.reading.at.min(matches.len().saturating_sub(1));
    open.reading.hint = match (wanted.is_empty(), matches.len()) {
        (true, _) => "search the panel".to_owned(),
        (_, 0) => "nowhere".to_owned(),
        (_, count) => format!("{} of {count}, enter next", open.reading.at + 1),
    };
    open.reading.matches = matches;
}

/// Shows the next line that holds what is looked for.
pub(super) fn next_match(open: &mut OpenReel, height: u16) {
    let count = open.reading.matches.len();
    open.reading.at = (open.reading.at + 1) % count.max(1);
    find_matches(open);
    show_match(open, height);
}

fn show_match(open: &mut OpenReel, height: u16) {
    if let Some(line) = open.reading.matches.get(open.reading.at).copied() {
        stand(open, line, height);
    }
}

/// Looks for a change of the field that is followed.
pub(super) fn search_field(open: &mut OpenReel, way: TimeDirection) -> Result<Effect, String> {
    let Some(subject) = open.selected.clone() else {
        return Err("nothing selected".to_owned());
    };
    let Some(field) = followed(open) else {
        return Err("no field selected: y shows the fields, tab and ↓ select one".to_owned());
    };
    let word = if way == TimeDirection::Next {
        "next"
    } else {
        "previous"
    };
    let words = format!("the {word} change of .{}", harmless(&field.to_string()));
    if field_of_lane(open).is_none() {
        // The line at which the keys are may be another one after the jump.
        open.field = Some(field.clone());
    }
    let search = ScreenSearch::Field(FieldSearch {
        subject,
        field,
        from: open.place,
        way,
    });
    let number = open.searches.begin(words);
    Ok(Effect::Search(Arc::clone(&open.timeline), number, search))
}

/// Stops looking, if something is looked for.
pub(super) fn stop_search(model: &mut Model) -> Option<Effect> {
    let ReelState::Open(open) = &mut model.reel else {
        return None;
    };
    open.searches.now.take().map(|_| Effect::StopSearch)
}

/// Takes what was found.
pub(super) fn search_done(model: &mut Model, number: u64, found: SearchResult) {
    let ReelState::Open(open) = &mut model.reel else {
        return;
    };
    if !open.searches.end(number) {
        return;
    }
    match found {
        SearchResult::Difference(difference) => {
            open.compared.difference = Some(difference);
            model.screen = ActiveScreen::Compare(0);
        }
        SearchResult::Field(found) => {
            if let Some(place) = found.place {
                moving::jump(open, place);
            }
            model.word = Some(found.words);
        }
    }
}

/// Sets A, or compares it with here.
pub(super) fn step_compare(model: &mut Model) -> Vec<Effect> {
    let ReelState::Open(open) = &mut model.reel else {
        return Vec::new();
    };
    let Some(a) = open.compared.a else {
        open.compared.a = Some(open.place);
        let at = open.place.written(&open.timeline);
        model.word = Some(format!("A is {at}: move the cursor, then v compares"));
        return Vec::new();
    };
    if a == open.place {
        model.word = Some("A is here: move the cursor, then v compares; esc clears A".to_owned());
        return Vec::new();
    }
    let words = format!("differences between {} and here", a.written(&open.timeline));
    let number = open.searches.begin(words);
    let search = ScreenSearch::Compare(a, open.place);
    vec![Effect::Search(Arc::clone(&open.timeline), number, search)]
}

/// Shows one object of those that differ, field by field.
pub(super) fn show_difference(open: &mut OpenReel, at: usize) -> ActiveScreen {
    let row = open
        .compared
        .difference
        .as_ref()
        .and_then(|all| all.rows.get(at));
    let Some(subject) = row.map(|row| row.subject.clone()) else {
        return ActiveScreen::Main;
    };
    open.selected = Some(subject);
    open.condition = None;
    open.told = None;
    open.panel = Panel::Between;
    open.pane = Pane::Panel;
    open.scroll = 0;
    open.line = 0;
    ActiveScreen::Large
}
