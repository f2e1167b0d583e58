//! `update`: which part of the model handles each message, and the effects that follow.

use super::{choosing, growing, lane_rows, marking, moving, opening, panel, problems};
use crate::answer::{
    LEAST_MICROS, MOST_READ, MOST_READ_STANDING, NearbyQuery, Panel, ScreenAnswer, ScreenQuestion,
    TableQuery,
};
use crate::effect::Effect;
use crate::filter::FilterCandidate;
use crate::layout::{Layout, layout};
use crate::model::{
    ActiveScreen, LanePass, List, MOST_WRITTEN_BYTES, Model, OpenReel, Pane, PickerState,
    ReelState, TableView,
};
use crate::msg::{KeyAction, Msg};
use crate::subject::NamedObject;
use kubereel_history::Density;
use std::sync::Arc;

/// Gives what is to be done first.
pub(crate) fn begin(model: &Model) -> Vec<Effect> {
    vec![Effect::Open(Box::new(model.request.clone()))]
}

/// Takes a message in, and gives what is to be done.
pub(crate) fn update(model: &mut Model, msg: Msg) -> Vec<Effect> {
    let mut effects = Vec::new();
    match msg {
        Msg::Resized(width, height) => model.size = (width, height),
        Msg::Kept(kept) => model.kept = Some(kept),
        Msg::Bookmarks(changed) => marking::changed(model, changed),
        Msg::Opened(opened) => effects.extend(opening::opened(model, opened)),
        Msg::Letter(letter) => write(model, letter),
        Msg::Pasted(text) => effects.extend(paste(model, &text)),
        Msg::Act(act) => {
            model.word = None;
            problems::stop_awaiting(model, act);
            effects.extend(panel::stop_search(model));
            let was_over_large = match model.screen {
                ActiveScreen::Main => false,
                ActiveScreen::Large => true,
                _ => model.is_over_large,
            };
            model.is_over_large = was_over_large;
            effects.extend(take(model, act));
        }
        Msg::Pointed(x, y) => moving::pointed(model, x, y),
        Msg::Dragged(x, y) => moving::dragged(model, x, y),
        Msg::Pulled(x, y, is_first) => moving::pulled(model, x, y, is_first),
        Msg::Released => moving::released(model),
        Msg::Wheel(x, y, way) => moving::wheel(model, x, y, way),
        Msg::Elapsed(micros) => {
            if let ReelState::Open(open) = &mut model.reel {
                let passed = moving::play(open, micros);
                model.word = passed.or(model.word.take());
            }
        }
        msg @ (Msg::Passed(_) | Msg::Gathered(_) | Msg::NotGathered(_)) => {
            effects.extend(take_pass(model, msg));
        }
        Msg::Searched(number, done) => {
            if let ReelState::Open(open) = &mut model.reel {
                open.searches.tell(number, done);
            }
        }
        Msg::Found(number, found) => panel::search_done(model, number, found),
        Msg::Saved(saved) => {
            model.word = Some(match saved {
                Ok(path) => format!("saved {path}"),
                Err(error) => format!("not saved: {error}"),
            });
        }
        Msg::Fetched(fetched) => {
            let (word, effect) = marking::copy_document(fetched);
            model.word = Some(word);
            effects.extend(effect);
        }
        Msg::NotAnswered(why) => {
            model.screen = ActiveScreen::Main;
            model.word = Some(why);
        }
        msg @ (Msg::Live(_) | Msg::Grown(_) | Msg::Regathered(_) | Msg::NotFollowed(_)) => {
            effects.extend(growing::heard(model, msg));
        }
        msg @ (Msg::Judging(_) | Msg::Listed(_) | Msg::NotListed(_)) => {
            effects.extend(problems::heard(model, msg));
        }
        Msg::Answered(answer) => {
            let height = layout(model).panel.height;
            if let ReelState::Open(open) = &mut model.reel {
                let are_parts = matches!(answer, ScreenAnswer::Parts(..));
                let is_first = answered(open, answer, height);
                if let Some(why) = lane_rows::without_parts(open).filter(|_| are_parts) {
                    model.word = Some(why.to_owned());
                }
                if is_first {
                    choosing::settle(model);
                }
            }
        }
    }
    effects.extend(refresh(model));
    effects
}

/// Takes an answer in, for a panel of a height; tells whether it is the first one of a list to choose from.
fn answered(open: &mut OpenReel, answer: ScreenAnswer, height: u16) -> bool {
    let asked = open.asked.iter().flatten();
    if !asked.clone().any(|asked| asked == answer.question()) {
        // It was overtaken by a later question.
        return false;
    }
    match answer {
        ScreenAnswer::Table(question, table) => {
            open.table = Some(TableView {
                question,
                table,
                rows: Vec::new(),
                widths: Vec::new(),
            });
            filtered(open);
            if open.selected.is_none() {
                choosing::first_row(open);
            }
        }
        ScreenAnswer::Lines(ScreenQuestion::Standing(..), ..) => open.standing = Some(answer),
        ScreenAnswer::Lines(_, ref lines, first) => {
            let count = lines.len();
            let is_same = open
                .answer
                .as_ref()
                .is_some_and(|old| crate::answer::is_same_thing(old.question(), answer.question()));
            // Who reads on while time moves is not thrown back to the first line.
            if !is_same || first > 0 {
                open.scroll = first;
            }
            if open.scroll >= count {
                // The same thing may have fewer lines at this moment: the panel would be blank.
                open.scroll = count.saturating_sub(panel::rows(height));
            }
            open.answer = Some(answer);
            panel::answered(open, is_same);
            panel::find_matches(open);
        }
        ScreenAnswer::Parts(question, parts) => lane_rows::take_parts(open, &question, parts),
        ScreenAnswer::Writers(_, writers) => open.stream.learn(writers.into_iter()),
        ScreenAnswer::Kinds(_, kinds) => return open.browse.kinds.replace(kinds).is_none(),
        ScreenAnswer::Namespaces(_, namespaces) => {
            return open.browse.namespaces.replace(namespaces).is_none();
        }
    }
    false
}

fn write(model: &mut Model, letter: char) {
    if let Some(text) = written(&mut model.screen)
        && text.len() < MOST_WRITTEN_BYTES
        && !letter.is_control()
    {
        text.push(letter);
    }
    follow_filter(model);
    panel::follow_seek(model);
}

/// Writes a text from the clipboard: its letters are no keys. Where nothing is written, it is a time or a command.
fn paste(model: &mut Model, text: &str) -> Vec<Effect> {
    let is_open = matches!(model.reel, ReelState::Open(_));
    let effects = if is_open && matches!(model.screen, ActiveScreen::Main | ActiveScreen::Large) {
        update(model, Msg::Act(KeyAction::AskTime))
    } else {
        Vec::new()
    };
    text.chars().for_each(|letter| write(model, letter));
    effects
}

/// Gives the text that is being written.
fn written(screen: &mut ActiveScreen) -> Option<&mut String> {
    match screen {
        ActiveScreen::Filter(text) | ActiveScreen::Seek { text, .. } => Some(text),
        ActiveScreen::Note(noting) => Some(&mut noting.text),
        ActiveScreen::SaveAs(saving) => Some(&mut saving.text),
        ActiveScreen::Kinds(choice)
        | ActiveScreen::Namespaces(choice)
        | ActiveScreen::GoTo(choice) => {
            // Other rows are left: the first of them is the best guess.
            choice.at = 0;
            Some(&mut choice.text)
        }
        _ => None,
    }
}

/// Filters as the words are written.
fn follow_filter(model: &mut Model) {
    if let (ActiveScreen::Filter(text), ReelState::Open(open)) = (&model.screen, &mut model.reel) {
        let timeline = Arc::clone(&open.timeline);
        open.filter.write(text, timeline.resources());
        filtered(open);
    }
}

/// Finds where the last word of a text begins, as a shell does: blanks behind it belong to it.
fn word_start(text: &str) -> usize {
    let words = text.trim_end();
    words
        .rfind(char::is_whitespace)
        .map_or(0, |blank| words.ceil_char_boundary(blank.saturating_add(1)))
}

pub(super) fn take(model: &mut Model, act: KeyAction) -> Vec<Effect> {
    if matches!(model.screen, ActiveScreen::Problems(_)) && act.shows_object() {
        let mut effects = choosing::open(model);
        // A list without rows leads nowhere.
        model.screen = ActiveScreen::Main;
        // Opening it explains it; the key again would show the YAML.
        if act != KeyAction::Explain {
            effects.extend(take(model, act));
        }
        return effects;
    }
    match act {
        KeyAction::Quit => {
            model.is_over = true;
            return vec![Effect::StopGathering, Effect::StopJudging];
        }
        KeyAction::Bookmark => marking::ask(model),
        KeyAction::Save => marking::ask_save(model),
        KeyAction::Compare => return panel::step_compare(model),
        KeyAction::Erase | KeyAction::EraseWord | KeyAction::EraseAll => {
            if let Some(text) = written(&mut model.screen) {
                match act {
                    KeyAction::EraseAll => text.clear(),
                    KeyAction::EraseWord => text.truncate(word_start(text)),
                    _ => drop(text.pop()),
                }
            }
            follow_filter(model);
            panel::follow_seek(model);
        }
        KeyAction::Help => {
            model.screen = match std::mem::take(&mut model.screen) {
                ActiveScreen::Help(_, of) => *of,
                of => ActiveScreen::Help(0, Box::new(of)),
            }
        }
        KeyAction::Open => return choosing::open(model),
        KeyAction::Close => return choosing::close(model),
        KeyAction::Rows(by) => choosing::rows(model, by),
        KeyAction::Problems
        | KeyAction::ProblemOrder
        | KeyAction::Again
        | KeyAction::First
        | KeyAction::Explain => {
            return problems::act(model, act);
        }
        KeyAction::Kinds | KeyAction::Namespaces => choosing::browse(model, act),
        _ => return take_on_timeline(model, act),
    }
    Vec::new()
}

/// Gives the rows of the list to the panel where only one of the two shows, so that a key that changes the panel does
/// so in sight.
pub(super) const fn show_panel_pane(open: &mut OpenReel, layout: Layout) {
    if layout.panel.height == 0 {
        open.pane = Pane::Panel;
    }
}

/// Takes what a key means with the timeline in sight.
fn take_on_timeline(model: &mut Model, act: KeyAction) -> Vec<Effect> {
    let layout = layout(model);
    let cells = layout.cells();
    let ReelState::Open(open) = &mut model.reel else {
        return Vec::new();
    };
    match act {
        KeyAction::AskTime => model.screen = ActiveScreen::GoTo(PickerState::default()),
        KeyAction::Search if open.pane == Pane::Panel || open.list == List::Stream => {
            model.screen = panel::begin_seek(open, model.screen == ActiveScreen::Large);
        }
        KeyAction::Search | KeyAction::AskFilter => {
            model.screen = ActiveScreen::Filter(open.filter.begin());
        }
        KeyAction::Order => model.word = choosing::order(open, &model.screen),
        KeyAction::OtherPane => choosing::panes(open, act),
        KeyAction::Panel(_) => {
            choosing::panes(open, act);
            show_panel_pane(open, layout);
        }
        KeyAction::Conditions => {
            choosing::panes(open, act);
            model.word = Some(open.lanes.grouping.words().to_owned());
        }
        KeyAction::Pick => moving::pick(open),
        KeyAction::Pin => model.word = Some(lane_rows::pin(open)),
        KeyAction::Stream => model.word = lane_rows::stream(open),
        KeyAction::Pods => model.word = lane_rows::pods(open),
        KeyAction::Unfold => {
            open.pane = Pane::List;
            model.screen = ActiveScreen::Main;
            model.word = lane_rows::unfold(open);
        }
        KeyAction::Border(is_larger) => {
            open.panes = open.panes.moved(layout.border.is_some(), is_larger);
        }
        KeyAction::CopyText | KeyAction::CopyAddress => {
            let (word, effect) = marking::copy(open, act, &model.request.path);
            model.word = Some(word);
            return effect.into_iter().collect();
        }
        KeyAction::Zone => {
            let (word, effects) = problems::step_zone(open);
            model.word = Some(word);
            return effects;
        }
        KeyAction::Wrap => model.word = Some(open.reading.wrap()),
        KeyAction::FieldChange(way) => match panel::search_field(open, way) {
            Ok(effect) => return vec![effect],
            Err(word) => model.word = Some(word),
        },
        KeyAction::Bookmarks => model.screen = ActiveScreen::Bookmarks(0),
        KeyAction::Remove => {
            if let ActiveScreen::Bookmarks(at) = model.screen {
                return marking::remove(open, at).into_iter().collect();
            }
        }
        KeyAction::Mark(way) => model.word = Some(marking::step_mark(open, way)),
        KeyAction::Anomaly(way) => model.word = Some(moving::step_anomaly(open, way)),
        _ => model.word = moving::moved(open, act, cells),
    }
    Vec::new()
}

/// Takes in what the pass says.
fn take_pass(model: &mut Model, msg: Msg) -> Vec<Effect> {
    let ReelState::Open(open) = &mut model.reel else {
        return Vec::new();
    };
    match msg {
        Msg::Passed(done) => {
            if matches!(open.pass, LanePass::Under { .. }) {
                open.pass = LanePass::Under { done };
            }
            Vec::new()
        }
        // A later pass knows more.
        Msg::Gathered(_) if open.live.is_some() && open.board().is_some() => Vec::new(),
        Msg::Gathered(board) => {
            if let Some(names) = board.as_ref().map(|board| board.left_out.join(", "))
                && !names.is_empty()
            {
                model.word = Some(format!(
                    "{names}: too many for a lane each, only those with problems have one; b lists all"
                ));
            }
            open.pass = board.map_or(LanePass::Stopped, LanePass::Done);
            if model.request.select.is_some() {
                opening::list_without_lane(open);
            }
            filtered(open);
            if open.selected.is_none() {
                choosing::first_row(open);
            }
            problems::list(open)
        }
        Msg::NotGathered(why) => {
            open.pass = LanePass::Failed(why);
            problems::list(open)
        }
        _ => Vec::new(),
    }
}

/// Brings everything up to date, and gives the questions that are missing an answer.
pub(super) fn refresh(model: &mut Model) -> Vec<Effect> {
    let layout = layout(model);
    let (cells, has_panel) = (layout.cells(), layout.panel.height > 0);
    let has_standing = layout.standing.height > 0;
    let ReelState::Open(open) = &mut model.reel else {
        return Vec::new();
    };
    growing::look(open);
    let is_fresh = open
        .density
        .as_ref()
        .is_some_and(|(window, of, _)| (*window, *of) == (open.window, cells));
    if !is_fresh && cells > 0 {
        let span = open.window.from..open.window.end();
        let density = Density::of(&open.timeline, span, usize::from(cells), None);
        open.density = Some((open.window, cells, density));
    }
    lane_rows::refresh(open, &layout);
    moving::count_selection(open);
    let wanted = [
        table(open),
        panel(open, cells).filter(|_| has_panel),
        choosing::question(open, &model.screen),
        has_standing
            .then(|| ScreenQuestion::Standing(nearby(open, cells, MOST_READ_STANDING), open.place)),
        lane_rows::parts_question(open),
        lane_rows::writers_question(open, layout.list.height),
    ];
    let mut effects = Vec::new();
    for (asked, wanted) in open.asked.iter_mut().zip(wanted) {
        if *asked != wanted {
            if let Some(question) = &wanted {
                effects.push(Effect::Ask(Arc::clone(&open.timeline), question.clone()));
            }
            *asked = wanted;
        }
    }
    effects
}

pub(super) fn table(open: &OpenReel) -> Option<ScreenQuestion> {
    match open.list {
        List::Lanes | List::Stream => None,
        List::Objects(resource) => {
            let listing = TableQuery {
                resource,
                namespace: open.namespace.clone(),
                order: open.browse.order,
                filter: Arc::clone(open.sieve(resource)),
            };
            Some(ScreenQuestion::Table(listing, open.place))
        }
    }
}

/// Asks which seconds before the cursor, and which objects, the recent changes are of.
fn nearby(open: &OpenReel, cells: u16, most: usize) -> NearbyQuery {
    NearbyQuery {
        micros: open.window.cell_micros(cells).max(LEAST_MICROS),
        filter: open.filter.text().to_owned(),
        namespace: open.namespace.clone(),
        most,
    }
}

pub(super) fn panel(open: &OpenReel, cells: u16) -> Option<ScreenQuestion> {
    if let Some(entry) = open.told() {
        return Some(ScreenQuestion::Problem(Arc::clone(entry), open.place));
    }
    if open.panel == Panel::Nearby {
        return Some(ScreenQuestion::Nearby(
            nearby(open, cells, MOST_READ),
            open.place,
        ));
    }
    if let Some(lane) = open.chosen_plain() {
        let text = lane_rows::plain_text(open, lane);
        return Some(ScreenQuestion::PlainLane(text.into(), open.place));
    }
    let subject = open.selected.clone()?;
    Some(match open.shown_panel() {
        Panel::Between => ScreenQuestion::Between(subject, open.compared.a, open.place),
        Panel::Yaml | Panel::Nearby | Panel::Problem => ScreenQuestion::Yaml(subject, open.place),
        Panel::History => ScreenQuestion::History(subject, open.place),
        Panel::Events => ScreenQuestion::Events(subject, open.place),
        Panel::Diff => {
            let other = open.reading.other_of(&subject);
            ScreenQuestion::Diff(subject, open.place, other)
        }
        Panel::Blame => ScreenQuestion::Blame(subject, open.place),
        Panel::Owners => ScreenQuestion::Owners(subject, open.place),
        Panel::Conditions => ScreenQuestion::Conditions(subject, open.place),
        Panel::Raw => ScreenQuestion::Raw(subject, open.place),
    })
}

/// Finds the rows that the filter leaves.
pub(super) fn filtered(open: &mut OpenReel) {
    lane_rows::arrange(open);
    let query = open.filter.query();
    if let Some(view) = &mut open.table {
        let rows = view.table.rows.iter().enumerate();
        let rows = rows.filter(|(_, row)| row.passes(query));
        view.rows = rows.map(|(at, _)| at).collect();
        view.measure();
    }
    keep_in_sight(open);
}

/// Selects something else while a filter hides what is selected, and that again once it shows.
fn keep_in_sight(open: &mut OpenReel) {
    if let Some(hidden) = open.hidden.take() {
        let now = open.selected.replace(hidden);
        if is_in_sight(open) {
            open.condition = None;
            return;
        }
        open.hidden = std::mem::replace(&mut open.selected, now);
    }
    if is_in_sight(open) || !is_hidden(open) {
        return;
    }
    let selected = open.selected.take();
    open.hidden = open.hidden.take().or(selected);
    open.condition = None;
    choosing::first_row(open);
}

/// Tells whether the list shows what is selected. Rows of the log are moments: it shows an object if it has any of it.
fn is_in_sight(open: &OpenReel) -> bool {
    match (&open.selected, open.list) {
        (Some(selected), List::Stream) => lane_rows::is_admitted(open, selected).unwrap_or(false),
        _ => open.row().is_some(),
    }
}

/// Removes the namespace and the filter where they hide the object that the user went to.
pub(super) fn reveal(open: &mut OpenReel) {
    let Some(selected) = open.selected.clone() else {
        return;
    };
    let own = &selected.namespace;
    let is_elsewhere = |only: &String| !own.is_empty() && only != own;
    let is_other = open.namespace.as_ref().is_some_and(is_elsewhere);
    let is_dropped = !open.filter.is_empty() && !is_let_through(open, &selected);
    if !is_other && !is_dropped {
        return;
    }
    if is_other {
        open.namespace = None;
    }
    if is_dropped {
        open.filter.clear();
    }
    open.hidden = None;
    filtered(open);
}

/// Tells whether the filter lets the row of an object through. Where its row is not known yet, its name decides.
fn is_let_through(open: &OpenReel, object: &NamedObject) -> bool {
    let query = open.filter.query();
    if !matches!(open.list, List::Objects(_)) {
        if let Some(is_admitted) = lane_rows::is_admitted(open, object) {
            return is_admitted;
        }
    } else if let Some(view) = &open.table
        && let Some(row) = view.table.rows.iter().find(|row| row.subject == *object)
    {
        return row.passes(query);
    } else if query.is_deep() {
        return false;
    }
    let seen = FilterCandidate {
        resource: Some(object.resource),
        namespace: &object.namespace,
        texts: std::iter::once(object.name.as_str()),
    };
    query.admits(&seen, |_| false)
}

/// Tells whether the list has what is selected, and only the filter keeps it from showing.
fn is_hidden(open: &OpenReel) -> bool {
    let Some(selected) = &open.selected else {
        return open.hidden.is_some();
    };
    match (open.list, &open.table) {
        (List::Lanes | List::Stream, _) => {
            let board = open.board().map_or(&[][..], |board| &board.lanes);
            let pins = open.pins.lanes().iter();
            let mut lanes = board.iter().chain(pins);
            lanes.any(|lane| lane.subject.is(selected))
        }
        (List::Objects(_), Some(view)) => {
            let mut rows = view.table.rows.iter();
            rows.any(|row| row.subject == *selected)
        }
        (List::Objects(_), _) => false,
    }
}

/// Gives how many lines an answer has.
pub(super) fn line_count(answer: &ScreenAnswer) -> usize {
    match answer {
        ScreenAnswer::Table(_, table) => table.rows.len(),
        ScreenAnswer::Lines(_, lines, _) => lines.len(),
        ScreenAnswer::Parts(..) | ScreenAnswer::Writers(..) => 0,
        ScreenAnswer::Kinds(_, kinds) => kinds.rows.len(),
        ScreenAnswer::Namespaces(_, namespaces) => namespaces.rows.len(),
    }
}
