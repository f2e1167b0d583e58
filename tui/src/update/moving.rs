//! Moves in time: by cells, events, changes, transitions and anomalies, by the mouse, and by playing.

use super::{choosing, lane_rows, marking, messages, panel, problems};
use crate::lane::{Anomaly, LaneState};
use crate::layout::{Layout, layout};
use crate::model::{ActiveScreen, LanePass, List, Model, OpenReel, Pane, ReelState};
use crate::msg::KeyAction;
use crate::subject::ResourceEvents;
use crate::time::{CursorPlace, SelectionCounts, TimeDirection, TimeSelection, ViewWindow};
use kubereel_format::{RecordedAt, Seq};
use kubereel_history::{Cut, Density, Moment, Track};
use ratatui::layout::{Position, Rect};

/// The speeds at which time moves by itself, in seconds a second.
pub(super) const SPEEDS: [i64; 7] = [1, 3, 10, 30, 100, 300, 1000];

/// Moves; gives a word where it cannot.
pub(super) fn moved(open: &mut OpenReel, act: KeyAction, cells: u16) -> Option<String> {
    let bounds = open.bounds();
    match act {
        KeyAction::Cells(by) => {
            let by = open.window.cell_micros(cells).saturating_mul(by);
            by_micros(open, by);
        }
        KeyAction::Event(way) => return event(open, way),
        KeyAction::Change(way) => return change(open, way),
        KeyAction::Transition(way) => return transition(open, way),
        // In the log, a search that is under way goes on.
        KeyAction::Problem(way) if open.list == List::Stream && !open.stream.wanted.is_empty() => {
            return lane_rows::next_in_log(open, way);
        }
        KeyAction::Problem(way) => return Some(problems::step(open, way)),
        KeyAction::Start => jump(open, CursorPlace::at(&open.timeline, open.timeline.start())),
        KeyAction::End => {
            let end = CursorPlace {
                below: open.timeline.reel().end(),
                at: open.timeline.end(),
            };
            jump(open, end);
        }
        KeyAction::ZoomIn => {
            open.window = open
                .window
                .zoomed(open.place.at, open.window.micros / 2, bounds);
        }
        KeyAction::ZoomOut => {
            let micros = open.window.micros.saturating_mul(2);
            open.window = open.window.zoomed(open.place.at, micros, bounds);
        }
        KeyAction::Pan(tenths) => {
            open.window = open.window.moved(open.window.micros / 10 * tenths, bounds);
        }
        KeyAction::FitAll => open.window = bounds,
        KeyAction::FitSelection if zoom(open) => {}
        KeyAction::FitSelection => return fit(open),
        KeyAction::Back => match open.jumps.back(open.place) {
            Some(place) => stand(open, place),
            None => return Some("no jump to undo".to_owned()),
        },
        KeyAction::Forth => match open.jumps.forth(open.place) {
            Some(place) => stand(open, place),
            None => return Some("no jump to redo".to_owned()),
        },
        KeyAction::Play => open.playing.is_on = !open.playing.is_on,
        KeyAction::Faster | KeyAction::Slower => {
            let at = SPEEDS
                .iter()
                .position(|speed| *speed == open.playing.speed)
                .unwrap_or(0);
            let next = if act == KeyAction::Faster {
                at + 1
            } else {
                at.saturating_sub(1)
            };
            open.playing.speed = SPEEDS.get(next).copied().unwrap_or(open.playing.speed);
        }
        KeyAction::Reverse => open.playing.is_reverse = !open.playing.is_reverse,
        _ => {}
    }
    None
}

/// Moves the cursor as time passes.
pub(super) fn play(open: &mut OpenReel, micros: i64) -> Option<String> {
    if !open.playing.is_on {
        return None;
    }
    let from = open.place.at;
    let way = if open.playing.is_reverse { -1 } else { 1 };
    by_micros(
        open,
        micros
            .saturating_mul(open.playing.speed)
            .saturating_mul(way),
    );
    let edge = if open.playing.is_reverse {
        open.timeline.start()
    } else {
        open.timeline.end()
    };
    if open.place.at == edge {
        open.playing.is_on = false;
    }
    passed(open, from)
}

/// Says which gap, outage or flap was passed since a moment: at high speed it is not visible.
fn passed(open: &OpenReel, from: RecordedAt) -> Option<String> {
    let (first, last) = (from.min(open.place.at), from.max(open.place.at));
    let all = open.anomalies();
    let begin = all.partition_point(|one| one.from <= first);
    let end = all.partition_point(|one| one.from <= last);
    let own = all.get(begin..end)?;
    let told = if open.playing.is_reverse {
        own.first()
    } else {
        own.last()
    }?;
    let more = match own.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    let at = open.timeline.written(told.from);
    Some(format!("passed {at}{more}: {}", told.words))
}

/// Goes to a time that was written; gives a word where it names none.
pub(super) fn go_to(open: &mut OpenReel, text: &str) -> Option<String> {
    match Moment::parse_in(text, open.zone) {
        Ok(moment) => to_moment(open, moment),
        Err(error) => Some(format!(
            "{error}; try 14:02, +5m, -30s, rv:1200, problem:1, bookmark:NAME, start, end"
        )),
    }
}

/// Tells whether only the pass over the reel tells when a moment is.
pub(super) const fn is_told_by_pass(moment: Moment) -> bool {
    matches!(
        moment,
        Moment::Problem(_) | Moment::UpgradeStart | Moment::UpgradeEnd
    )
}

/// Gives the place of a moment; else says why there is none.
fn found(open: &OpenReel, moment: Moment) -> Result<Cut, String> {
    if !is_told_by_pass(moment) {
        let cut = open.timeline.resolve_within(moment);
        return cut.map_err(|error| error.to_string());
    }
    let Some(board) = open.board() else {
        return Err(match open.pass {
            LanePass::Under { .. } => "problems and upgrades are not known yet: still loading",
            _ => "problems and upgrades are not known: the reel was not loaded (p x loads it)",
        }
        .to_owned());
    };
    let upgrade = board.upgrade.ok_or("no upgrade was recorded");
    let seq = match moment {
        Moment::Problem(rank) => {
            let listed = board.list().map_or(&[][..], |list| &list.problems);
            let problem = listed.get(rank.get() - 1);
            let count = listed.len();
            problem
                .map(|problem| problem.from.seq)
                .ok_or_else(|| format!("no problem {rank}: the reel has {count}"))?
        }
        Moment::UpgradeStart => upgrade?.first,
        _ => {
            let upgrade = upgrade?;
            upgrade.last.ok_or(upgrade.words_without_end())?
        }
    };
    Ok(open.timeline.shown_by(seq))
}

/// Goes to a moment; gives a word where it has no place.
pub(super) fn to_moment(open: &mut OpenReel, moment: Moment) -> Option<String> {
    if let Moment::Bookmark(name) = moment {
        return match marking::bookmarked(&open.bookmarks.all, name.as_str()) {
            Ok(one) => {
                let place = one.place(&open.timeline);
                jump(open, place);
                None
            }
            Err(word) => Some(word),
        };
    }
    match found(open, moment) {
        Ok(cut) => {
            let place = CursorPlace::of(&open.timeline, cut);
            jump(open, place);
            None
        }
        Err(_) if is_told_by_pass(moment) && matches!(open.pass, LanePass::Under { .. }) => {
            open.awaited = Some(moment);
            Some("still loading: goes there once it is known".to_owned())
        }
        Err(word) => Some(word),
    }
}

/// Puts the cursor at a time, as a jump.
pub(super) fn jump_to(open: &mut OpenReel, at: RecordedAt) {
    let place = CursorPlace::within(&open.timeline, at);
    jump(open, place);
}

fn by_micros(open: &mut OpenReel, by: i64) {
    let at = RecordedAt::from_micros(open.place.at.micros.saturating_add(by));
    let place = CursorPlace::within(&open.timeline, at);
    stand(open, place);
}

pub(super) fn jump(open: &mut OpenReel, place: CursorPlace) {
    open.is_awaiting = false;
    open.jumps.leave(open.place);
    stand(open, place);
}

/// Puts the cursor somewhere, and the window where it can be seen.
pub(super) fn stand(open: &mut OpenReel, place: CursorPlace) {
    open.place = place;
    open.window = open.window.showing(place.at, open.bounds());
}

fn event(open: &mut OpenReel, way: TimeDirection) -> Option<String> {
    let timeline = std::sync::Arc::clone(&open.timeline);
    let passed = match open.list {
        List::Lanes | List::Stream => {
            let mut cursor = timeline.cursor(Track::Everything, open.place.cut());
            let step = match way {
                TimeDirection::Next => cursor.forward(),
                TimeDirection::Previous => cursor.back(),
            };
            step.map(|step| step.seq)
        }
        List::Objects(resource) => {
            let events = ResourceEvents {
                timeline: &timeline,
                resource,
                namespace: open.namespace.as_deref(),
            };
            match way {
                TimeDirection::Next => events.next(open.place.below),
                TimeDirection::Previous => events.previous(open.place.below),
            }
        }
    };
    let Some(seq) = passed else {
        return Some(match way {
            TimeDirection::Next => "no later event".to_owned(),
            TimeDirection::Previous => "no earlier event".to_owned(),
        });
    };
    let place = match way {
        TimeDirection::Next => CursorPlace::behind(&timeline, seq),
        // One stands behind the event before, or else at the start.
        TimeDirection::Previous => match seq.0.checked_sub(1) {
            Some(before) => CursorPlace::behind(&timeline, Seq(before)),
            None => CursorPlace::at(&timeline, timeline.start()),
        },
    };
    stand(open, place);
    None
}

fn change(open: &mut OpenReel, way: TimeDirection) -> Option<String> {
    let Some(subject) = &open.selected else {
        return Some("nothing selected".to_owned());
    };
    let versions = subject.versions(&open.timeline);
    let next = versions.partition_point(|seq| *seq < open.place.below);
    let found = match way {
        TimeDirection::Next => versions.get(next),
        // The version that holds here came at some earlier time, or just now.
        TimeDirection::Previous => {
            let is_here = next.checked_sub(1).and_then(|at| versions.get(at))
                == open.place.below.0.checked_sub(1).map(Seq).as_ref();
            next.checked_sub(1 + usize::from(is_here))
                .and_then(|at| versions.get(at))
        }
    };
    if let Some(seq) = found {
        let place = CursorPlace::behind(&open.timeline, *seq);
        jump(open, place);
        return None;
    }
    let name = subject.written(&open.timeline);
    let object = (subject.namespace.as_str(), subject.name.as_str());
    let unknown = open.timeline.unknown_since(subject.resource, Some(object));
    if unknown.is_some() && way == TimeDirection::Next {
        return Some(format!("later changes of {name} are not known"));
    }
    let word = way.word();
    Some(format!("no {word} change of {name}"))
}

fn transition(open: &mut OpenReel, way: TimeDirection) -> Option<String> {
    let Some(lane) = open.chosen_lane() else {
        return Some("no lane selected: esc shows the lanes".to_owned());
    };
    let mut last: Option<LaneState> = None;
    let flips = lane.spells.iter().filter(|spell| {
        let is_flip = last != Some(spell.state);
        last = Some(spell.state);
        is_flip
    });
    let here = open.place.below;
    let is_here = |seq: Seq| here.0.checked_sub(1) == Some(seq.0);
    let found = match way {
        TimeDirection::Next => flips.map(|spell| spell.seq).find(|seq| *seq >= here),
        TimeDirection::Previous => flips
            .map(|spell| spell.seq)
            .take_while(|seq| *seq < here && !is_here(*seq))
            .last(),
    };
    match found {
        Some(seq) => {
            let place = CursorPlace::behind(&open.timeline, seq);
            jump(open, place);
            None
        }
        None if way == TimeDirection::Next && lane.is_unknown_after(open.place.at) => {
            Some("later transitions of this lane are not known".to_owned())
        }
        None if way == TimeDirection::Next => Some("no later transition of this lane".to_owned()),
        None => Some("no earlier transition of this lane".to_owned()),
    }
}

fn fit(open: &mut OpenReel) -> Option<String> {
    let Some(subject) = &open.selected else {
        return Some("nothing selected".to_owned());
    };
    let lives = open
        .timeline
        .lives(subject.resource, &subject.namespace, &subject.name);
    let Some(first) = lives.first() else {
        return Some(format!(
            "{} was never observed",
            subject.written(&open.timeline)
        ));
    };
    let ends = lives
        .iter()
        .map(|life| life.to().unwrap_or(open.timeline.end()));
    let end = ends.max().unwrap_or(first.from);
    open.window = ViewWindow::whole(first.from, end).moved(0, open.bounds());
    None
}

/// Steps to the next or the previous one; gives the words.
pub(super) fn step_anomaly(open: &mut OpenReel, way: TimeDirection) -> String {
    let is_whole = open.board().is_some();
    let here = (open.place.at, Some(open.place.below));
    // A flap lies where its record was seen.
    let key = |one: &Anomaly| (one.from, one.seq.map(|seq| Seq(seq.0 + 1)));
    let all = open.anomalies();
    let found = match way {
        TimeDirection::Next => all
            .iter()
            .find(|one| key(one) > here && one.from >= open.place.at),
        TimeDirection::Previous => all
            .iter()
            .rfind(|one| key(one) < here && one.from < open.place.at),
    };
    let Some(found) = found.cloned() else {
        let word = way.word();
        let doubt = if is_whole {
            ""
        } else {
            "; flaps are unknown until the reel is loaded"
        };
        return format!("no {word} gap, outage or flap{doubt}");
    };
    let place = match found.seq {
        Some(seq) => CursorPlace::behind(&open.timeline, seq),
        None => CursorPlace::at(&open.timeline, found.from),
    };
    if let Some((subject, condition)) = found.lane {
        open.list = List::Lanes;
        open.selected = Some(subject);
        open.condition = condition.filter(|_| open.lanes.grouping.has_conditions());
        messages::reveal(open);
    }
    jump(open, place);
    found.words
}

/// Begins a span at the cursor; again: fixes its end.
pub(super) fn pick(open: &mut OpenReel) {
    let here = open.place.at;
    open.picked = Some(match open.picked {
        Some(picked) if !picked.is_fixed() => picked.to(here),
        _ => TimeSelection::begin(here),
    });
}

/// Begins a span where the mouse is, or puts its end there.
pub(super) fn pull(open: &mut OpenReel, at: RecordedAt, is_first: bool) {
    open.picked = Some(match open.picked {
        Some(picked) if !is_first => picked.to(at),
        _ => TimeSelection::begin(at).to(at),
    });
}

/// Zooms to the span, if there is one.
pub(super) fn zoom(open: &mut OpenReel) -> bool {
    let Some(picked) = open.picked.take() else {
        return false;
    };
    open.window = picked.span(open.place.at).moved(0, open.bounds());
    true
}

/// Counts what lies in the span, if it is another one than before.
pub(super) fn count_selection(open: &mut OpenReel) {
    let span = open.picked.map(|picked| picked.span(open.place.at));
    if open.picked_content.map(|content| content.span) == span {
        return;
    }
    open.picked_content = span.map(|window| {
        let span = window.from..window.end();
        let counts = Density::of(&open.timeline, span.clone(), 1, None).counts;
        let lanes = open.board().map_or(&[][..], |board| &board.lanes).iter();
        let lanes = lanes.filter(|lane| lane.condition.is_none());
        SelectionCounts {
            span: window,
            events: counts.iter().sum(),
            changes: lanes.map(|lane| lane.changes(&span)).sum(),
        }
    });
}

/// Takes hold of the border, or goes to the moment at which the mouse points.
pub(super) fn pointed(model: &mut Model, x: u16, y: u16) {
    let layout = layout(model);
    let is_held = model.screen == ActiveScreen::Main && layout.is_border(x, y);
    if let ReelState::Open(open) = &mut model.reel {
        open.panes.is_held = is_held;
    }
    if is_held {
        return;
    }
    let is_name = x < layout.gutter && layout.list.contains(Position::new(x, y));
    if is_name && matches!(model.screen, ActiveScreen::Main | ActiveScreen::Large) {
        to_row(model, &layout, y.saturating_sub(layout.list.y));
    } else {
        to_cell(model, &layout, x, y);
    }
}

/// Chooses the lane at which the mouse points; folds a section by its head.
fn to_row(model: &mut Model, layout: &Layout, y: u16) {
    let height = usize::from(layout.list.height);
    if let ReelState::Open(open) = &mut model.reel
        && open.list == List::Lanes
        && let Some(row) = open.lanes.shown(height).nth(usize::from(y))
    {
        open.pane = Pane::List;
        choosing::row(open, row);
        if let Some(section) = open.chosen_head().cloned() {
            lane_rows::fold(open, &section);
        }
    }
}

/// Moves what the mouse holds: the border, else the cursor.
pub(super) fn dragged(model: &mut Model, x: u16, y: u16) {
    let layout = layout(model);
    let (width, top, bottom) = (model.size.0, layout.body.y, layout.foot.y);
    match &mut model.reel {
        ReelState::Open(open) if open.panes.is_held => {
            open.panes = if layout.border.is_some() {
                open.panes.put(true, x, width)
            } else {
                let all = bottom.saturating_sub(top);
                open.panes.put(false, y.saturating_sub(top), all)
            };
        }
        _ => to_cell(model, &layout, x, y),
    }
}

/// Selects a span of time from where the mouse was pressed to where it is.
pub(super) fn pulled(model: &mut Model, x: u16, y: u16, is_first: bool) {
    let layout = layout(model);
    let at = moment(model, &layout, x, y);
    if let (Some(at), ReelState::Open(open)) = (at, &mut model.reel) {
        pull(open, at, is_first);
    }
}

/// Releases what the mouse dragged.
pub(super) fn released(model: &mut Model) {
    if let ReelState::Open(open) = &mut model.reel {
        open.panes.is_held = false;
    }
}

/// Goes to the moment at which the mouse points, if it points at one.
fn to_cell(model: &mut Model, layout: &Layout, x: u16, y: u16) {
    let at = moment(model, layout, x, y);
    if let (Some(at), ReelState::Open(open)) = (at, &mut model.reel) {
        jump_to(open, at);
    }
}

/// Gives the moment that a cell of the screen stands for.
fn moment(model: &Model, layout: &Layout, x: u16, y: u16) -> Option<RecordedAt> {
    let open = model.open()?;
    let is_in = |area: Rect| area.contains(Position::new(x, y));
    let is_list = is_in(layout.list) && open.list == List::Lanes;
    let is_moment = matches!(model.screen, ActiveScreen::Main | ActiveScreen::Large)
        && (is_in(layout.time) || is_list)
        && x >= layout.gutter;
    let cell = x.saturating_sub(layout.gutter);
    is_moment.then(|| open.window.cell(cell, layout.cells()).start)
}

/// Zooms over the timeline, about the moment at which the mouse points; scrolls elsewhere.
pub(super) fn wheel(model: &mut Model, x: u16, y: u16, way: TimeDirection) {
    let layout = layout(model);
    let place = Position::new(x, y);
    if !layout.time.contains(place) {
        let by = if way == TimeDirection::Next { 3 } else { -3 };
        let is_over = matches!(model.screen, ActiveScreen::Main | ActiveScreen::Large);
        return match &mut model.reel {
            ReelState::Open(open) if is_over && layout.panel.contains(place) => {
                panel::scroll(open, by, layout.panel.height);
            }
            ReelState::Open(open) if is_over && layout.list.contains(place) => {
                choosing::list_rows(open, by);
            }
            // What stands below the panel has no more lines than it shows.
            _ if is_over => {}
            _ => choosing::rows(model, by),
        };
    }
    let at = moment(model, &layout, x, y);
    if let ReelState::Open(open) = &mut model.reel {
        let micros = match way {
            TimeDirection::Next => open.window.micros.saturating_mul(2),
            TimeDirection::Previous => open.window.micros / 2,
        };
        let about = at.unwrap_or(open.place.at);
        open.window = open.window.zoomed(about, micros, open.bounds());
    }
}
