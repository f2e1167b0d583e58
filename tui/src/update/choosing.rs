//! The selection, the open screen, and the available choices. Time moves only to a choice of the
//! user.

use super::palette::PaletteCommand;
use super::{lane_rows, marking, messages, moving, palette, panel, problems};
use crate::answer::{Panel, ResourceChoice, ScreenQuestion};
use crate::effect::Effect;
use crate::findings::JudgingState;
use crate::lane::LaneSubject;
use crate::model::{
    ActiveScreen, ChosenRow, CompareState, LaneAt, LanePass, LaneRow, List, Model, OpenReel, Pane,
    PickerState, ReelState,
};
use crate::msg::KeyAction;
use crate::time::CursorPlace;
use kubereel_format::ResourceId;

/// Gives a row moved by rows, within a count.
pub(super) fn stepped(at: usize, by: i64, count: usize) -> usize {
    // Saturates: no list is longer.
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
    let layout = crate::layout::layout(model);
    let height = layout.panel.height;
    let ReelState::Open(open) = &mut model.reel else {
        return;
    };
    match &mut model.screen {
        ActiveScreen::Kinds(choice) => {
            let count = kinds(open, choice).len();
            choice.at = stepped(choice.at, by, count);
        }
        ActiveScreen::Namespaces(choice) => {
            let count = namespaces(open, choice).len();
            choice.at = stepped(choice.at, by, count);
        }
        ActiveScreen::Problems(at) => {
            *at = stepped(*at, by, open.trouble.count());
        }
        ActiveScreen::Compare(at) => {
            let all = open.compared.difference.as_ref();
            *at = stepped(*at, by, all.map_or(0, |all| all.rows.len()));
        }
        ActiveScreen::Bookmarks(at) => *at = stepped(*at, by, open.bookmarks.all.len()),
        ActiveScreen::GoTo(choice) => {
            let count = palette::entries(open, &choice.text).len();
            choice.at = stepped(choice.at, by, count);
        }
        ActiveScreen::Help(at, of) => {
            let last = crate::layout::last_help_line(of, layout.body);
            *at = stepped(*at, by, last + 1);
        }
        _ if open.pane == Pane::Panel => panel::scroll(open, by, height),
        _ => list_rows(open, by),
    }
}

/// Moves by rows in the list.
pub(super) fn list_rows(open: &mut OpenReel, by: i64) {
    match open.row() {
        Some(from) => {
            open.hidden = None;
            let to = stepped(from, by, open.row_count());
            row(open, to);
        }
        None => first_row(open),
    }
}

/// Selects a row of the list.
pub(super) fn row(open: &mut OpenReel, row: usize) {
    let found = match open.list {
        List::Lanes => match open.lanes.rows.get(row) {
            Some(LaneRow::Head(head)) => {
                let head = ChosenRow::Head(head.section.clone());
                open.lanes.chosen = Some((head, open.selected.clone()));
                return;
            }
            Some(LaneRow::Lane(at, _)) => {
                let is_pin = matches!(at, LaneAt::Pin(_) | LaneAt::PinOf(_));
                let lane = open.lane_at(*at);
                let found = lane.map(|lane| (lane.subject.clone(), lane.condition.clone()));
                open.lanes.is_pin_chosen = is_pin;
                found
            }
            None => None,
        },
        List::Stream => {
            let found = open.stream.rows.get(row).copied().and_then(|row| {
                let (lane, ..) = open.transition(row)?;
                let place = CursorPlace::behind(&open.timeline, row.seq);
                Some((lane.subject.clone(), lane.condition.clone(), row, place))
            });
            let Some((subject, condition, row, place)) = found else {
                return;
            };
            open.stream.choose(row, place);
            // Rows of the log are moments: going down goes on in time.
            moving::stand(open, place);
            Some((subject, condition))
        }
        List::Objects(_) => open.table.as_ref().and_then(|view| {
            let row = view.table.rows.get(*view.rows.get(row)?)?;
            Some((LaneSubject::Object(row.subject.clone()), None))
        }),
    };
    match found {
        Some((LaneSubject::Object(subject), condition)) => {
            open.lanes.chosen = None;
            open.selected = Some(subject);
            if condition.is_some() {
                // Its lane says which field is followed.
                open.field = None;
            }
            open.condition = condition;
        }
        Some((subject, _)) => {
            open.lanes.chosen = Some((ChosenRow::Lane(subject), open.selected.clone()));
            // The panel reports what is chosen.
            open.told = None;
        }
        None => {}
    }
}

/// Selects the first row that is an object; of other lanes, such as those of tests, the first one.
pub(super) fn first_row(open: &mut OpenReel) {
    let first = match open.list {
        List::Lanes => {
            let is_object = |row: &LaneRow| match row {
                LaneRow::Lane(at, _) => {
                    let lane = open.lane_at(*at);
                    lane.is_some_and(|lane| lane.subject.object().is_some())
                }
                LaneRow::Head(_) => false,
            };
            let is_lane = |row: &LaneRow| matches!(row, LaneRow::Lane(..));
            let rows = &open.lanes.rows;
            let object = rows.iter().position(is_object);
            object.or_else(|| rows.iter().position(is_lane))
        }
        // Its rows are moments, and time moves only where one wants.
        List::Stream => None,
        List::Objects(_) => Some(0),
    };
    if let Some(first) = first {
        row(open, first);
    }
}

/// Takes what is chosen, or shows it large.
pub(super) fn open(model: &mut Model) -> Vec<Effect> {
    let height = crate::layout::layout(model).panel.height;
    let ReelState::Open(open) = &mut model.reel else {
        return Vec::new();
    };
    let screen = std::mem::take(&mut model.screen);
    match screen {
        ActiveScreen::Kinds(choice) => list(open, &choice),
        ActiveScreen::Namespaces(choice) => take_namespace(open, &choice),
        ActiveScreen::Problems(row) => {
            problems::to_row(open, row);
            messages::filtered(open);
        }
        ActiveScreen::GoTo(choice) => return run(model, &choice),
        ActiveScreen::Compare(at) => model.screen = panel::show_difference(open, at),
        ActiveScreen::Bookmarks(at) => model.word = marking::go(open, at),
        ActiveScreen::Note(noting) => {
            let (effect, screen) = marking::take_note(open, noting);
            model.screen = screen.unwrap_or_else(|| model.behind());
            return vec![effect];
        }
        ActiveScreen::Main | ActiveScreen::Large if panel::leads(open) => {
            model.word = panel::follow_target(open);
            // Who went to another moment is in the list.
            if open.pane == Pane::Panel {
                model.screen = screen;
            }
        }
        ActiveScreen::Main
            if open.list == List::Lanes
                && open.pane == Pane::List
                && matches!(open.pass, LanePass::Stopped | LanePass::Failed(_)) =>
        {
            return problems::pass_again(open);
        }
        ActiveScreen::Main => {
            if moving::zoom(open) {
                return Vec::new();
            }
            if open.pane == Pane::List
                && open.list == List::Lanes
                && let Some(section) = open.chosen_head().cloned()
            {
                lane_rows::fold(open, &section);
                return Vec::new();
            }
            if open.pane == Pane::List
                && let Some(word) = problems::to_test(open)
            {
                model.word = Some(word);
                return Vec::new();
            }
            open.pane = Pane::Panel;
            model.screen = ActiveScreen::Large;
        }
        // The log is searched on with the keys for that.
        ActiveScreen::Seek { .. } if panel::is_of_log(open) => {}
        ActiveScreen::Seek { .. } => {
            panel::next_match(open, height);
            model.screen = screen;
        }
        ActiveScreen::SaveAs(saving) => {
            model.screen = saving.of.clone();
            model.word = Some("saving …".to_owned());
            return vec![marking::save(open, *saving)];
        }
        ActiveScreen::Filter(text) => match open.filter.error() {
            // What is wrong stays in sight until it is mended or left.
            Some(_) => model.screen = ActiveScreen::Filter(text),
            None if open.filter.query().is_deep() && !matches!(open.list, List::Objects(_)) => {
                let words =
                    "label and field filters apply to tables (b lists resources), not to lanes";
                model.word = Some(words.to_owned());
            }
            None => {}
        },
        ActiveScreen::Large => {}
        ActiveScreen::Help(_, of) => model.screen = *of,
    }
    Vec::new()
}

/// Goes to the time that is written, or runs what is chosen.
fn run(model: &mut Model, choice: &PickerState) -> Vec<Effect> {
    let text = choice.text.trim().to_owned();
    let ReelState::Open(open) = &mut model.reel else {
        return Vec::new();
    };
    if text.is_empty() && choice.at == 0 {
        return Vec::new();
    }
    let entry = palette::entries(open, &text).into_iter().nth(choice.at);
    match entry.map(|entry| entry.command) {
        Some(PaletteCommand::Act(act)) => return messages::take(model, act),
        Some(PaletteCommand::List(resource)) => list_resource(open, resource),
        Some(PaletteCommand::Namespace(name)) => {
            open.namespace = Some(name);
            messages::filtered(open);
        }
        Some(PaletteCommand::Object(subject)) => {
            problems::show(open, subject);
            open.pane = Pane::List;
            messages::reveal(open);
            messages::filtered(open);
        }
        Some(PaletteCommand::Problem(at)) => model.word = problems::to(open, at, 0),
        Some(PaletteCommand::Moment(text)) => model.word = moving::go_to(open, text),
        Some(PaletteCommand::Stage(at)) => moving::jump_to(open, at),
        Some(PaletteCommand::Theme(palette)) => model.theme = model.theme.with(palette),
        Some(PaletteCommand::Time) | None => model.word = moving::go_to(open, &text),
    }
    Vec::new()
}

/// Goes back one step; while the reel is being read, stops that.
pub(super) fn close(model: &mut Model) -> Vec<Effect> {
    let ReelState::Open(open) = &mut model.reel else {
        model.is_over = true;
        return Vec::new();
    };
    match std::mem::take(&mut model.screen) {
        ActiveScreen::Filter(_) => {
            open.filter.cancel();
            messages::filtered(open);
            model.screen = model.behind();
        }
        ActiveScreen::Large => open.pane = Pane::List,
        ActiveScreen::Help(_, of) => model.screen = *of,
        ActiveScreen::Note(noting) => {
            model.screen = match noting.of {
                Some(one) => {
                    let at = open.bookmarks.all.iter().position(|own| *own == one);
                    ActiveScreen::Bookmarks(at.unwrap_or(0))
                }
                None => model.behind(),
            };
        }
        ActiveScreen::SaveAs(saving) => model.screen = saving.of,
        ActiveScreen::Seek { is_large, .. } => {
            open.reading.wanted.clear();
            open.reading.matches.clear();
            open.stream.wanted.clear();
            if is_large {
                model.screen = ActiveScreen::Large;
            }
        }
        ActiveScreen::Main => {
            if open.playing.is_on {
                open.playing.is_on = false;
            } else if open.picked.take().is_some() {
                return Vec::new();
            } else if open.pane == Pane::Panel {
                open.pane = Pane::List;
            } else if !open.stream.wanted.is_empty() {
                open.stream.wanted.clear();
            } else if open.compared.a.take().is_some() {
                open.compared = CompareState::default();
                model.word = Some("A cleared".to_owned());
            } else if !open.filter.is_empty() {
                open.filter.clear();
                messages::filtered(open);
            } else if open.namespace.take().is_some() {
                messages::filtered(open);
            } else if open.list != List::Lanes {
                open.list = List::Lanes;
                open.table = None;
            } else if matches!(open.pass, LanePass::Under { .. }) {
                return vec![Effect::StopGathering];
            } else if matches!(open.trouble.judging, JudgingState::Under(_)) {
                return vec![Effect::StopJudging];
            }
        }
        _ => model.screen = model.behind(),
    }
    Vec::new()
}

/// Changes what the panes show.
pub(super) fn panes(open: &mut OpenReel, act: KeyAction) {
    match act {
        KeyAction::OtherPane => {
            open.pane = match open.pane {
                Pane::List => Pane::Panel,
                Pane::Panel => Pane::List,
            }
        }
        KeyAction::Panel(panel) => {
            panel::show_panel(open, panel);
            if panel == Panel::Nearby {
                // It is there to be walked over.
                open.pane = Pane::Panel;
            }
        }
        KeyAction::Conditions => {
            open.lanes.grouping = open.lanes.grouping.next();
            open.condition = None;
            messages::filtered(open);
        }
        _ => {}
    }
}

/// Gives the resources that the letters leave.
pub(crate) fn kinds<'a>(open: &'a OpenReel, choice: &PickerState) -> Vec<&'a ResourceChoice> {
    let all = open.browse.kinds.iter().flat_map(|kinds| &kinds.rows);
    all.filter(|kind| choice.leaves(&kind.name)).collect()
}

/// Gives the namespaces that the letters leave, with their objects; `None` stands for all of them.
pub(crate) fn namespaces<'a>(
    open: &'a OpenReel,
    choice: &PickerState,
) -> Vec<Option<&'a (String, usize)>> {
    let rows = open.browse.namespaces.iter().flat_map(|all| &all.rows);
    let rows = rows.filter(|(name, _)| choice.leaves(name)).map(Some);
    let all = choice.text.trim().is_empty().then_some(None);
    all.into_iter().chain(rows).collect()
}

/// Asks for what a screen has to choose from.
pub(super) fn question(open: &OpenReel, screen: &ActiveScreen) -> Option<ScreenQuestion> {
    match screen {
        ActiveScreen::Kinds(_) => Some(ScreenQuestion::Kinds(open.browse.kinds_order, open.place)),
        ActiveScreen::Namespaces(_) => {
            counted(open).map(|id| ScreenQuestion::Namespaces(id, open.place))
        }
        _ => None,
    }
}

/// Gives the resource whose objects are counted in namespaces: the one listed, else pods.
fn counted(open: &OpenReel) -> Option<ResourceId> {
    match open.list {
        List::Objects(resource) => Some(resource),
        List::Lanes | List::Stream => open
            .timeline
            .resources()
            .find("pods")
            .ok()
            .map(|info| info.id),
    }
}

/// Opens a list to choose from; gives a word where there is nothing to choose.
pub(super) fn browse(model: &mut Model, act: KeyAction) {
    let ReelState::Open(open) = &mut model.reel else {
        return;
    };
    if act == KeyAction::Kinds {
        open.browse.kinds = None;
        model.screen = ActiveScreen::Kinds(PickerState::default());
        return;
    }
    let info = counted(open).and_then(|id| open.timeline.resources().get(id));
    match info {
        Some(info) if info.namespaced => {
            open.browse.namespaces = None;
            model.screen = ActiveScreen::Namespaces(PickerState::default());
        }
        Some(info) => {
            let name = info.qualified();
            model.word = Some(format!("{name} are not namespaced"));
        }
        None => model.word = Some("no pods recorded: b lists other resources".to_owned()),
    }
}

/// Stands at what is listed, once there is something to choose from.
pub(super) fn settle(model: &mut Model) {
    let ReelState::Open(open) = &mut model.reel else {
        return;
    };
    match &mut model.screen {
        ActiveScreen::Kinds(choice) => {
            let listed = match open.list {
                List::Objects(resource) => Some(resource),
                List::Lanes | List::Stream => {
                    open.selected.as_ref().map(|subject| subject.resource)
                }
            };
            let all = kinds(open, choice);
            let at = all.iter().position(|kind| Some(kind.resource) == listed);
            choice.at = at.unwrap_or(0);
        }
        ActiveScreen::Namespaces(choice) => {
            let all = namespaces(open, choice);
            let at = all
                .iter()
                .position(|row| row.map(|row| &row.0) == open.namespace.as_ref());
            choice.at = at.unwrap_or(0);
        }
        _ => {}
    }
}

/// Lists the objects of the resource that is chosen.
pub(super) fn list(open: &mut OpenReel, choice: &PickerState) {
    let Some(resource) = kinds(open, choice).get(choice.at).map(|kind| kind.resource) else {
        return;
    };
    list_resource(open, resource);
}

/// Lists the objects of a resource.
fn list_resource(open: &mut OpenReel, resource: ResourceId) {
    open.list = List::Objects(resource);
    open.pane = Pane::List;
    open.selected = None;
    open.condition = None;
    open.table = None;
    open.answer = None;
}

/// Takes the namespace that is chosen.
pub(super) fn take_namespace(open: &mut OpenReel, choice: &PickerState) {
    let rows = namespaces(open, choice);
    let Some(row) = rows.get(choice.at) else {
        return;
    };
    open.namespace = row.map(|row| row.0.clone());
    messages::filtered(open);
}

/// Turns the order round of what is listed; gives a word where nothing is.
pub(super) fn order(open: &mut OpenReel, screen: &ActiveScreen) -> Option<String> {
    match (screen, open.list) {
        (ActiveScreen::Kinds(_), _) => open.browse.kinds_order = open.browse.kinds_order.other(),
        (ActiveScreen::Namespaces(_), _) => {}
        (_, List::Objects(_)) => open.browse.order = open.browse.order.other(),
        (_, List::Lanes | List::Stream) => {
            return Some("lanes cannot be sorted: b lists resources".to_owned());
        }
    }
    None
}
