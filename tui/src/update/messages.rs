//! `update`: which part of the model each message is for, and what is asked of the world after it.

use super::{choosing, lane_rows, marking, moving, opening, panel, problems};
use crate::answer::{Answer, LEAST_MICROS, Listing, Nearby, Panel, Question};
use crate::effect::Effect;
use crate::filter::Seen;
use crate::layout::layout;
use crate::model::{Choice, List, Model, Open, Pane, Pass, Reel, Screen, TableView};
use crate::msg::{Act, Msg};
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
        Msg::Act(Act::Quit) => {
            model.is_over = true;
            effects.extend([Effect::StopGathering, Effect::StopJudging]);
        }
        Msg::Act(act) => {
            model.word = None;
            effects.extend(panel::stop_search(model));
            effects.extend(take(model, act));
        }
        Msg::Pointed(x, y) => moving::pointed(model, x, y),
        Msg::Dragged(x, y) => moving::dragged(model, x, y),
        Msg::Pulled(x, y, is_first) => moving::pulled(model, x, y, is_first),
        Msg::Released => moving::released(model),
        Msg::Wheel(x, y, way) => moving::wheel(model, x, y, way),
        Msg::Elapsed(micros) => {
            if let Reel::Open(open) = &mut model.reel {
                let passed = moving::play(open, micros);
                model.word = passed.or(model.word.take());
            }
        }
        msg @ (Msg::Passed(_) | Msg::Gathered(_) | Msg::NotGathered(_)) => {
            effects.extend(take_pass(model, msg));
        }
        Msg::Searched(number, done) => {
            if let Reel::Open(open) = &mut model.reel {
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
            model.screen = Screen::Main;
            model.word = Some(why);
        }
        msg @ (Msg::Judging(_) | Msg::Listed(_) | Msg::NotListed(_)) => {
            effects.extend(problems::heard(model, msg));
        }
        Msg::Answered(answer) => {
            if let Reel::Open(open) = &mut model.reel
                && answered(open, answer)
            {
                choosing::settle(model);
            }
        }
    }
    effects.extend(refresh(model));
    effects
}

/// Takes an answer in; tells whether it is the first one of a list to choose from.
fn answered(open: &mut Open, answer: Answer) -> bool {
    let asked = open.asked.iter().flatten();
    if !asked.clone().any(|asked| asked == answer.question()) {
        // It was overtaken by a later question.
        return false;
    }
    match answer {
        Answer::Table(question, table) => {
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
        Answer::Lines(_, _, first) => {
            let is_same = open
                .answer
                .as_ref()
                .is_some_and(|old| crate::answer::is_same_thing(old.question(), answer.question()));
            // Who reads on while time moves is not thrown back to the first line.
            if !is_same || first > 0 {
                open.scroll = first;
            }
            open.answer = Some(answer);
            panel::answered(open, is_same);
            panel::find_matches(open);
        }
        Answer::Kinds(_, kinds) => return open.browse.kinds.replace(kinds).is_none(),
        Answer::Namespaces(_, namespaces) => {
            return open.browse.namespaces.replace(namespaces).is_none();
        }
    }
    false
}

fn write(model: &mut Model, letter: char) {
    const MOST: usize = 200;
    if let Some(text) = written(&mut model.screen)
        && text.len() < MOST
        && !letter.is_control()
    {
        text.push(letter);
    }
    follow_filter(model);
    panel::follow_seek(model);
}

/// Gives the text that is being written.
fn written(screen: &mut Screen) -> Option<&mut String> {
    match screen {
        Screen::Filter(text) | Screen::Seek { text, .. } => Some(text),
        Screen::Note(noting) => Some(&mut noting.text),
        Screen::Kinds(choice) | Screen::Namespaces(choice) | Screen::GoTo(choice) => {
            // Other rows are left: the first of them is the best guess.
            choice.at = 0;
            Some(&mut choice.text)
        }
        _ => None,
    }
}

/// Filters as the words are written.
fn follow_filter(model: &mut Model) {
    if let (Screen::Filter(text), Reel::Open(open)) = (&model.screen, &mut model.reel) {
        let timeline = Arc::clone(&open.timeline);
        open.filter.write(text, timeline.resources());
        filtered(open);
    }
}

pub(super) fn take(model: &mut Model, act: Act) -> Vec<Effect> {
    match act {
        Act::Bookmark => marking::ask(model),
        Act::Compare => return panel::step_compare(model),
        Act::Erase => {
            if let Some(text) = written(&mut model.screen) {
                text.pop();
            }
            follow_filter(model);
            panel::follow_seek(model);
        }
        Act::Help => {
            model.screen = match std::mem::take(&mut model.screen) {
                Screen::Help(_, of) => *of,
                of => Screen::Help(0, Box::new(of)),
            }
        }
        Act::Open => return choosing::open(model),
        Act::Close => return choosing::close(model),
        Act::Rows(by) => choosing::rows(model, by),
        Act::Problems | Act::ProblemOrder | Act::Again | Act::First => {
            return problems::act(model, act);
        }
        Act::Kinds | Act::Namespaces => choosing::browse(model, act),
        _ => {
            let layout = layout(model);
            let cells = layout.cells();
            let Reel::Open(open) = &mut model.reel else {
                return Vec::new();
            };
            match act {
                Act::AskTime => model.screen = Screen::GoTo(Choice::default()),
                Act::AskFilter if open.pane == Pane::Panel => {
                    model.screen = panel::begin_seek(open, model.screen == Screen::Large);
                }
                Act::AskFilter => {
                    model.screen = Screen::Filter(open.filter.text().to_owned());
                }
                Act::Order => model.word = choosing::order(open, &model.screen),
                Act::OtherPane | Act::Panel(_) => choosing::panes(open, act),
                Act::Conditions => {
                    choosing::panes(open, act);
                    model.word = Some(open.lanes.grouping.words().to_owned());
                }
                Act::Pick => moving::pick(open),
                Act::Pin => model.word = Some(lane_rows::pin(open)),
                Act::Pods => model.word = lane_rows::pods(open),
                Act::Border(is_larger) => {
                    open.panes = open.panes.moved(layout.border.is_some(), is_larger);
                }
                Act::Save | Act::CopyText => {
                    let (word, effect) = marking::ask_document(open, act);
                    model.word = Some(word);
                    return effect.into_iter().collect();
                }
                Act::Wrap => model.word = Some(open.reading.wrap()),
                Act::CopyAddress => {
                    let address = open.address(&model.request.path);
                    model.word = Some(format!("copied: {address}"));
                    return vec![Effect::Copy(address)];
                }
                Act::FieldChange(way) => match panel::search_field(open, way) {
                    Ok(effect) => return vec![effect],
                    Err(word) => model.word = Some(word),
                },
                Act::Bookmarks => model.screen = Screen::Bookmarks(0),
                Act::Remove => {
                    if let Screen::Bookmarks(at) = model.screen {
                        return marking::remove(open, at).into_iter().collect();
                    }
                }
                Act::Mark(way) => model.word = Some(marking::step_mark(open, way)),
                Act::Anomaly(way) => model.word = Some(moving::step_anomaly(open, way)),
                _ => model.word = moving::moved(open, act, cells),
            }
        }
    }
    Vec::new()
}

/// Takes in what the pass says.
pub(super) fn take_pass(model: &mut Model, msg: Msg) -> Vec<Effect> {
    let Reel::Open(open) = &mut model.reel else {
        return Vec::new();
    };
    match msg {
        Msg::Passed(done) => {
            if matches!(open.pass, Pass::Under { .. }) {
                open.pass = Pass::Under { done };
            }
            Vec::new()
        }
        Msg::Gathered(board) => {
            open.pass = board.map_or(Pass::Stopped, Pass::Done);
            filtered(open);
            if open.selected.is_none() {
                choosing::first_row(open);
            }
            problems::list(open)
        }
        Msg::NotGathered(why) => {
            open.pass = Pass::Failed(why);
            problems::list(open)
        }
        _ => Vec::new(),
    }
}

/// Brings everything up to date, and gives what must be asked.
pub(super) fn refresh(model: &mut Model) -> Vec<Effect> {
    let layout = layout(model);
    let (cells, has_panel) = (layout.cells(), layout.panel.height > 0);
    let Reel::Open(open) = &mut model.reel else {
        return Vec::new();
    };
    let is_fresh = open
        .density
        .as_ref()
        .is_some_and(|(window, of, _)| (*window, *of) == (open.window, cells));
    if !is_fresh && cells > 0 {
        let span = open.window.from..open.window.end();
        let density = open.timeline.density(span, usize::from(cells), None);
        open.density = Some((open.window, cells, density));
    }
    lane_rows::refresh(open, &layout);
    moving::count_selection(open);
    let wanted = [
        table(open),
        panel(open, cells).filter(|_| has_panel),
        choosing::question(open, &model.screen),
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

pub(super) fn table(open: &Open) -> Option<Question> {
    match open.list {
        List::Lanes => None,
        List::Objects(resource) => {
            let listing = Listing {
                resource,
                namespace: open.namespace.clone(),
                order: open.browse.order,
                filter: Arc::clone(open.sieve(resource)),
            };
            Some(Question::Table(listing, open.place))
        }
    }
}

pub(super) fn panel(open: &Open, cells: u16) -> Option<Question> {
    if open.panel == Panel::Nearby {
        let asked = Nearby {
            micros: open.window.cell_micros(cells).max(LEAST_MICROS),
            filter: open.filter.text().to_owned(),
            namespace: open.namespace.clone(),
        };
        return Some(Question::Nearby(asked, open.place));
    }
    let subject = open.selected.clone()?;
    Some(match open.panel {
        Panel::Between => Question::Between(subject, open.compared.a, open.place),
        Panel::Yaml | Panel::Nearby => Question::Yaml(subject, open.place),
        Panel::History => Question::History(subject, open.place),
        Panel::Events => Question::Events(subject, open.place),
        Panel::Diff => {
            let other = open.reading.other_of(&subject);
            Question::Diff(subject, open.place, other)
        }
        Panel::Blame => Question::Blame(subject, open.place),
        Panel::Owners => Question::Owners(subject, open.place),
        Panel::Conditions => Question::Conditions(subject, open.place),
        Panel::Raw => Question::Raw(subject, open.place),
    })
}

/// Finds the rows that the filter leaves.
pub(super) fn filtered(open: &mut Open) {
    lane_rows::arrange(open);
    let query = open.filter.query();
    if let Some(view) = &mut open.table {
        let rows = view.table.rows.iter().enumerate().filter(|(_, row)| {
            let texts = row.cells.iter().map(String::as_str);
            let seen = Seen {
                resource: row.subject.resource,
                namespace: &row.subject.namespace,
                texts,
            };
            // A table has no states; the words are looked for as they are.
            query.admits(&seen, |state| row.says(state.word()))
        });
        view.rows = rows.map(|(at, _)| at).collect();
        view.measure();
    }
}

/// Gives how many lines an answer has.
pub(super) fn line_count(answer: &Answer) -> usize {
    match answer {
        Answer::Table(_, table) => table.rows.len(),
        Answer::Lines(_, lines, _) => lines.len(),
        Answer::Kinds(_, kinds) => kinds.rows.len(),
        Answer::Namespaces(_, namespaces) => namespaces.rows.len(),
    }
}
