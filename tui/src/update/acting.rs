//! Owns which part of the model each message is for. Refuses details: the other files have them.

use super::{
    anomaly, browsing, choosing, comparing, keeping, lane_rows, marking, moving, opening, panel,
    passing, picking, pointing, problems, refresh, searching, seeking,
};
use crate::answer::Answer;
use crate::effect::Effect;
use crate::model::{Choice, Model, Open, Pane, Reel, Screen, TableView};
use crate::msg::{Act, Msg};

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
            effects.extend(searching::stop(model));
            effects.extend(take(model, act));
        }
        Msg::Pointed(x, y) => pointing::pointed(model, x, y),
        Msg::Dragged(x, y) => pointing::dragged(model, x, y),
        Msg::Pulled(x, y, is_first) => pointing::pulled(model, x, y, is_first),
        Msg::Released => pointing::released(model),
        Msg::Wheel(x, y, way) => pointing::wheel(model, x, y, way),
        Msg::Elapsed(micros) => {
            if let Reel::Open(open) = &mut model.reel {
                let passed = moving::play(open, micros);
                model.word = passed.or(model.word.take());
            }
        }
        msg @ (Msg::Passed(_) | Msg::Gathered(_) | Msg::NotGathered(_)) => {
            effects.extend(passing::heard(model, msg));
        }
        Msg::Searched(number, done) => {
            if let Reel::Open(open) = &mut model.reel {
                open.searches.tell(number, done);
            }
        }
        Msg::Found(number, found) => searching::found(model, number, found),
        Msg::Saved(saved) => {
            model.word = Some(match saved {
                Ok(path) => format!("saved {path}"),
                Err(error) => format!("not saved: {error}"),
            });
        }
        Msg::Fetched(fetched) => {
            let (word, effect) = keeping::fetched(fetched);
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
                browsing::settle(model);
            }
        }
    }
    effects.extend(refresh::refresh(model));
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
            refresh::filtered(open);
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
            seeking::found(open);
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
    seeking::follow(model);
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
        let timeline = std::sync::Arc::clone(&open.timeline);
        open.filter.write(text, timeline.resources());
        refresh::filtered(open);
    }
}

pub(super) fn take(model: &mut Model, act: Act) -> Vec<Effect> {
    match act {
        Act::Bookmark => marking::ask(model),
        Act::Compare => return comparing::step(model),
        Act::Erase => {
            if let Some(text) = written(&mut model.screen) {
                text.pop();
            }
            follow_filter(model);
            seeking::follow(model);
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
        Act::Kinds | Act::Namespaces => browsing::browse(model, act),
        _ => {
            let layout = crate::layout::layout(model);
            let cells = layout.cells();
            let Reel::Open(open) = &mut model.reel else {
                return Vec::new();
            };
            match act {
                Act::AskTime => model.screen = Screen::GoTo(Choice::default()),
                Act::AskFilter if open.pane == Pane::Panel => {
                    model.screen = seeking::begin(open, model.screen == Screen::Large);
                }
                Act::AskFilter => {
                    model.screen = Screen::Filter(open.filter.text().to_owned());
                }
                Act::Order => model.word = browsing::order(open, &model.screen),
                Act::OtherPane | Act::Panel(_) => choosing::panes(open, act),
                Act::Conditions => {
                    choosing::panes(open, act);
                    model.word = Some(open.lanes.grouping.words().to_owned());
                }
                Act::Pick => picking::pick(open),
                Act::Pin => model.word = Some(lane_rows::pin(open)),
                Act::Pods => model.word = lane_rows::pods(open),
                Act::Border(is_larger) => {
                    open.panes = open.panes.moved(layout.border.is_some(), is_larger);
                }
                Act::Save | Act::CopyText => {
                    let (word, effect) = keeping::asked(open, act);
                    model.word = Some(word);
                    return effect.into_iter().collect();
                }
                Act::Wrap => model.word = Some(open.reading.wrap()),
                Act::CopyAddress => {
                    let address = open.address(&model.request.path);
                    model.word = Some(format!("copied: {address}"));
                    return vec![Effect::Copy(address)];
                }
                Act::FieldChange(way) => match searching::field(open, way) {
                    Ok(effect) => return vec![effect],
                    Err(word) => model.word = Some(word),
                },
                Act::Bookmarks => model.screen = Screen::Bookmarks(0),
                Act::Remove => {
                    if let Screen::Bookmarks(at) = model.screen {
                        return marking::remove(open, at).into_iter().collect();
                    }
                }
                Act::Mark(way) => model.word = Some(marking::step(open, way)),
                Act::Anomaly(way) => model.word = Some(anomaly::step(open, way)),
                _ => model.word = moving::moved(open, act, cells),
            }
        }
    }
    Vec::new()
}
