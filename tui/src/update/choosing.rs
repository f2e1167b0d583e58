//! Owns what is selected and which screen is open. Refuses to move in time, except to what somebody
//! chose.

use super::palette::Command;
use super::{
    browsing, comparing, lane_rows, marking, moving, palette, panel, picking, problems, reading,
    refresh, seeking,
};
use crate::effect::Effect;
use crate::model::{
    Choice, Compared, Judging, LaneAt, LaneRow, List, Model, Open, Pane, Panel, Pass, Reel, Screen,
};
use crate::msg::Act;

/// Gives a place moved by rows, within so many.
fn stepped(at: usize, by: i64, count: usize) -> usize {
    let by_rows = usize::try_from(by.unsigned_abs()).unwrap_or(usize::MAX);
    let to = if by < 0 {
        at.saturating_sub(by_rows)
    } else {
        at.saturating_add(by_rows)
    };
    to.min(count.saturating_sub(1))
}

/// Moves by rows in what is open.
pub(super) fn rows(model: &mut Model, by: i64) {
    let height = crate::layout::layout(model).panel.height;
    let Reel::Open(open) = &mut model.reel else {
        return;
    };
    match &mut model.screen {
        Screen::Kinds(choice) => {
            let count = browsing::kinds(open, choice).len();
            choice.at = stepped(choice.at, by, count);
        }
        Screen::Namespaces(choice) => {
            let count = browsing::namespaces(open, choice).len();
            choice.at = stepped(choice.at, by, count);
        }
        Screen::Problems(at) => {
            *at = stepped(*at, by, open.trouble.count());
        }
        Screen::Compare(at) => {
            let all = open.compared.difference.as_ref();
            *at = stepped(*at, by, all.map_or(0, |all| all.rows.len()));
        }
        Screen::Bookmarks(at) => *at = stepped(*at, by, open.bookmarks.all.len()),
        Screen::GoTo(choice) => {
            let count = palette::entries(open, &choice.text).len();
            choice.at = stepped(choice.at, by, count);
        }
        Screen::Help(at, _) => *at = stepped(*at, by, crate::keymap::bindings().count()),
        _ if open.pane == Pane::Panel => {
            let count = open.answer.as_ref().map_or(0, refresh::line_count);
            let line = stepped(open.line, by, count);
            panel::stand(open, line, height);
        }
        _ => match open.row() {
            Some(from) => {
                let to = stepped(from, by, open.row_count());
                row(open, to);
            }
            None => first_row(open),
        },
    }
}

/// Selects a row of the list.
pub(super) fn row(open: &mut Open, row: usize) {
    let found = match open.list {
        List::Lanes => match open.lanes.rows.get(row) {
            Some(LaneRow::Head(head)) => {
                open.lanes.head = Some((head.section.clone(), open.selected.clone()));
                return;
            }
            Some(LaneRow::Lane(at)) => {
                let is_pin = !matches!(at, LaneAt::Board(_));
                let lane = open.lane_at(*at);
                let found = lane.map(|lane| (lane.subject.clone(), lane.condition.clone()));
                open.lanes.is_pin_chosen = is_pin;
                found
            }
            None => None,
        },
        List::Objects(_) => open.table.as_ref().and_then(|view| {
            let row = view.table.rows.get(*view.rows.get(row)?)?;
            Some((row.subject.clone(), None))
        }),
    };
    if let Some((subject, condition)) = found {
        open.lanes.head = None;
        open.selected = Some(subject);
        open.condition = condition;
    }
}

/// Selects the first row that is an object.
pub(super) fn first_row(open: &mut Open) {
    let first = match open.list {
        List::Lanes => open.lanes.first_lane(),
        List::Objects(_) => Some(0),
    };
    if let Some(first) = first {
        row(open, first);
    }
}

/// Takes what is chosen, or shows it large.
pub(super) fn open(model: &mut Model) -> Vec<Effect> {
    let height = crate::layout::layout(model).panel.height;
    let Reel::Open(open) = &mut model.reel else {
        return Vec::new();
    };
    let screen = std::mem::take(&mut model.screen);
    match screen {
        Screen::Kinds(choice) => browsing::list(open, &choice),
        Screen::Namespaces(choice) => browsing::take_namespace(open, &choice),
        Screen::Problems(row) => {
            problems::to_row(open, row);
            refresh::filtered(open);
        }
        Screen::GoTo(choice) => return run(model, &choice),
        Screen::Compare(at) => model.screen = comparing::show(open, at),
        Screen::Bookmarks(at) => model.word = marking::go(open, at),
        Screen::Note(noting) => {
            let (effect, screen) = marking::take(open, noting);
            model.screen = screen;
            return vec![effect];
        }
        Screen::Main | Screen::Large if reading::leads(open) => {
            model.word = reading::follow(open);
            // Who went to another moment is in the list.
            if open.pane == Pane::Panel {
                model.screen = screen;
            }
        }
        Screen::Main
            if open.list == List::Lanes
                && open.pane == Pane::List
                && matches!(open.pass, Pass::Stopped | Pass::Failed(_)) =>
        {
            return problems::pass_again(open);
        }
        Screen::Main => {
            if picking::zoom(open) {
                return Vec::new();
            }
            if open.pane == Pane::List
                && open.list == List::Lanes
                && let Some(section) = open.chosen_head().cloned()
            {
                lane_rows::fold(open, &section);
                return Vec::new();
            }
            open.pane = Pane::Panel;
            model.screen = Screen::Large;
        }
        Screen::Seek { .. } => {
            seeking::next(open, height);
            model.screen = screen;
        }
        Screen::Filter(text) => match open.filter.error() {
            // What is wrong stays in sight until it is mended or left.
            Some(_) => model.screen = Screen::Filter(text),
            None if open.filter.query().is_deep() && open.list == List::Lanes => {
                let words = "label: and fields narrow tables (b lists objects), not lanes";
                model.word = Some(words.to_owned());
            }
            None => {}
        },
        Screen::Large => {}
        Screen::Help(_, of) => model.screen = *of,
    }
    Vec::new()
}

/// Goes to the time that is written, or runs what is chosen.
fn run(model: &mut Model, choice: &Choice) -> Vec<Effect> {
    let text = choice.text.trim().to_owned();
    let Reel::Open(open) = &mut model.reel else {
        return Vec::new();
    };
    if text.is_empty() && choice.at == 0 {
        return Vec::new();
    }
    let entry = palette::entries(open, &text).into_iter().nth(choice.at);
    match entry.map(|entry| entry.command) {
        Some(Command::Act(act)) => return super::acting::take(model, act),
        Some(Command::List(resource)) => browsing::list_resource(open, resource),
        Some(Command::Namespace(name)) => {
            open.namespace = Some(name);
            refresh::filtered(open);
        }
        Some(Command::Time) | None => model.word = moving::go_to(open, &text),
    }
    Vec::new()
}

/// Goes back one step; while the reel is being read, stops that.
pub(super) fn close(model: &mut Model) -> Vec<Effect> {
    let Reel::Open(open) = &mut model.reel else {
        model.is_over = true;
        return Vec::new();
    };
    match std::mem::take(&mut model.screen) {
        Screen::Filter(_) => {
            open.filter.clear();
            refresh::filtered(open);
        }
        Screen::Large => open.pane = Pane::List,
        Screen::Help(_, of) => model.screen = *of,
        Screen::Note(noting) => {
            if let Some(one) = noting.of {
                let at = open.bookmarks.all.iter().position(|own| *own == one);
                model.screen = Screen::Bookmarks(at.unwrap_or(0));
            }
        }
        Screen::Seek { is_large, .. } => {
            open.reading.wanted.clear();
            open.reading.matches.clear();
            if is_large {
                model.screen = Screen::Large;
            }
        }
        Screen::Main => {
            if open.playing.is_on {
                open.playing.is_on = false;
            } else if open.picked.take().is_some() {
                return Vec::new();
            } else if open.pane == Pane::Panel {
                open.pane = Pane::List;
            } else if open.compared.a.take().is_some() {
                open.compared = Compared::default();
                model.word = Some("A is dropped".to_owned());
            } else if !open.filter.is_empty() {
                open.filter.clear();
                refresh::filtered(open);
            } else if matches!(open.list, List::Objects(_)) {
                open.list = List::Lanes;
                open.table = None;
            } else if matches!(open.pass, Pass::Under { .. }) {
                return vec![Effect::StopGathering];
            } else if matches!(open.trouble.judging, Judging::Under(_)) {
                return vec![Effect::StopJudging];
            }
        }
        _ => {}
    }
    Vec::new()
}

/// Changes what the panes show.
pub(super) fn panes(open: &mut Open, act: Act) {
    match act {
        Act::OtherPane => {
            open.pane = match open.pane {
                Pane::List => Pane::Panel,
                Pane::Panel => Pane::List,
            }
        }
        Act::Panel(panel) => {
            reading::show(open, panel);
            if panel == Panel::Nearby {
                // It is there to be walked over.
                open.pane = Pane::Panel;
            }
        }
        Act::Conditions => {
            open.lanes.grouping = open.lanes.grouping.next();
            open.condition = None;
            refresh::filtered(open);
        }
        _ => {}
    }
}
